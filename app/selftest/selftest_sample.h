/* Small parts with all references of a check: element matrices by B'DB as in textbooks, on the
 * host, in double precision, independent of the code of operators and matrices. */
#ifndef HX_SELFTEST_SAMPLE_H
#define HX_SELFTEST_SAMPLE_H

#include "core/problem/problem.h"

typedef enum {
    HX_SAMPLE_HEXAHEDRA,
    HX_SAMPLE_TETRAHEDRA, /* 6 per box cell */
    HX_SAMPLE_MIXED       /* layers in z: hexahedra, pyramids, wedges, tetrahedra; n[2] = 4 */
} hx_sample_cells;

/* "hexahedra", ... */
const char *hx_sample_name(hx_sample_cells cells);

typedef enum {
    HX_SAMPLE_CANTILEVER, /* the face x = 0 is fixed; x = max is pulled or, for heat, heated */
    HX_SAMPLE_BAR,        /* x = 0 slides in its plane, x = max is pulled along x */
    HX_SAMPLE_HELD        /* u of hx_sample_field is prescribed on the whole boundary */
} hx_sample_hold;

typedef struct hx_sample_spec {
    hx_sample_cells cells;
    int n[3]; /* box cells */
    double length[3];
    double distort; /* fraction of a box cell by which inner, face and edge nodes move */
    hx_element element;
    hx_physics physics;
    hx_sample_hold hold;
    double contrast; /* largest modulus over the smallest, random; 1: solid */
    int no_poisson;  /* 1: Poisson's ratio is 0, not 0.3 */
} hx_sample_spec;

/* Its parts point to each other, so it must not move. */
typedef struct hx_sample {
    hx_sample_spec spec;
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
    int c;      /* unknowns per point */
    int64_t n;  /* unknowns */
    int order;  /* number of rows of the largest element matrix */
    double *ke; /* [n_elem][order * order] for unit modulus, row-major from the first row (owned) */
    double *modulus; /* [n_elem] 1 / contrast .. 1 (owned) */
    double *density; /* [n_elem] densities that give these moduli with an exponent of 1 (owned) */
} hx_sample;

/* A solid cantilever of linear elements and unit cells, distorted, as a default. */
hx_sample_spec hx_sample_box(hx_sample_cells cells, int nx, int ny, int nz);

/* Nodes and elements are shuffled. Free it, even after a failure. */
int hx_sample_create(hx_sample *s, const hx_sample_spec *spec);
/* Accepts a zeroed struct. */
void hx_sample_free(hx_sample *s);

/* The raw mesh with sets left, right (x), origin, corner-y, corner-z. */
int hx_sample_make_mesh(hx_mesh *mesh, const hx_sample_spec *spec);

/* u = A x + b; for heat its first component. */
void hx_sample_field(const double x[3], double u[3]);

/* y = K x for all rows; diagonal[n]; energy[n_elem] of x for unit modulus. NULL: not needed. */
void hx_sample_product(const hx_sample *s, const double *x, double *y, double *diagonal,
                       double *energy);
/* k[n][n]. */
void hx_sample_dense(const hx_sample *s, double *k);

/* Solves K u = f of case 0 with supports, by conjugate gradients with the diagonal to a residual of
 * 1e-14, or as far as rounding allows. HX_ENUMERIC: 1e-12 is not reached. */
int hx_sample_solve(const hx_sample *s, double *u);

static inline int hx_sample_is_fixed(const hx_sample *s, int64_t dof)
{
    return s->problem.supports.fixed[dof / s->c] >> (dof % s->c) & 1;
}

/* Uniform in [low, high), determined by seed and index. */
double hx_sample_random(uint64_t seed, int64_t index, double low, double high);

#endif
