/* Stresses of a displacement, of heat fluxes of a temperature: at the points that the cells are
 * integrated at, and at their nodes.
 *
 * Points: 2x2x2 of linear hexahedra, wedges and pyramids, which are the collapsed hexahedron's; one
 * of linear tetrahedra, whose stress is constant; those of cell_rule.h of quadratic cells; degree +
 * 1 a direction of splines. First coordinate first.
 *
 * Nodes: in each cell the function of its own shape functions that fits the values at the points
 * best, by least squares without weights (of hex8 and tet4 it meets them all; of tet10, which has
 * fewer points than shape functions, that of its corners'); of a spline its own stress there. Then
 * the mean over the cells at a node; those that are softer than half the stiffest one there are
 * left out, since stresses jump where the modulus does. */
#ifndef HX_STRESS_H
#define HX_STRESS_H

#include "../problem/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_STRESS_COMPONENTS = 6, HX_FLUX_COMPONENTS = 3, HX_STRESS_POINTS = 125 };

/* One cell. Stresses (force/length^2) are xx, yy, zz, xy, yz, xz, VTK's order; fluxes
 * (power/length^2) x, y, z. */
typedef struct hx_cell_stress {
    int n, n_corner;
    double x[HX_STRESS_POINTS][3],
        volume[HX_STRESS_POINTS]; /* place; its share of the cell's volume */
    double value[HX_STRESS_POINTS][HX_STRESS_COMPONENTS];
    int32_t node[8]; /* [n_corner] of the mesh */
    double corner[8][HX_STRESS_COMPONENTS];
} hx_cell_stress;

typedef struct hx_stress {
    const hx_problem *problem; /* (borrowed) */
    int n_component;           /* HX_STRESS_COMPONENTS, or HX_FLUX_COMPONENTS of heat */
    double fit[HX_N_SOLID][8][HX_RULE_GAUSS]; /* value at a corner by those at the points */
} hx_stress;

void hx_stress_create(hx_stress *s, const hx_problem *problem);

/* One cell of modulus E rho^p (of heat the conductivity); u[n_point][components]. */
void hx_stress_cell(const hx_stress *s, int64_t cell, double modulus, const double *u,
                    hx_cell_stress *out);

/* Every cell, in the order of the mesh, some at a time: computed by all threads, visited by one.
 * Stops at an error of `visit`, which it returns. O(n_elem), 1 MB. */
typedef int (*hx_stress_visit)(void *context, int64_t first, int64_t n, const hx_cell_stress *cell);
int hx_stress_each(const hx_stress *s, const double *modulus, const double *u,
                   hx_stress_visit visit, void *context);

/* int stress : strain dV, twice the energy; of heat flux . -grad T. */
double hx_stress_work(const hx_stress *s, const hx_cell_stress *cell, double modulus);

double hx_von_mises(const double stress[HX_STRESS_COMPONENTS]);
/* Descending. */
void hx_principal_stresses(const double stress[HX_STRESS_COMPONENTS], double principal[3]);

/* Means at the nodes of the mesh. */
typedef struct hx_nodal_stress {
    const hx_mesh *mesh;   /* (borrowed) */
    const double *modulus; /* [n_elem] (borrowed) */
    int n_component;
    double *value;    /* [n_node][n_component] (owned) */
    double *stiffest; /* [n_node] modulus of the cells there (owned) */
    int32_t *count;   /* [n_node] cells that take part (owned) */
    int64_t n_mixed;  /* nodes where some do not */
} hx_nodal_stress;

/* 60 bytes a node, the result's 48 included. */
int hx_nodal_stress_create(hx_nodal_stress *nodal, const hx_stress *s, const double *modulus);
/* value := 0; then every cell once, in blocks as hx_stress_each has them; then the means. */
void hx_nodal_stress_begin(hx_nodal_stress *nodal);
void hx_nodal_stress_add(hx_nodal_stress *nodal, int64_t first, int64_t n,
                         const hx_cell_stress *cell);
void hx_nodal_stress_finish(hx_nodal_stress *nodal);
void hx_nodal_stress_free(hx_nodal_stress *nodal);

#ifdef __cplusplus
}
#endif

#endif
