/* Stresses from displacements, or heat fluxes from temperatures, at the integration points of the
 * cells and at the nodes.
 *
 * Points: 2x2x2 for linear hexahedra, wedges and pyramids (those of the collapsed hexahedron); one
 * for linear tetrahedra, whose stress is constant; those of cell_rule.h for quadratic cells; degree
 * + 1 per direction for splines. The first coordinate is fastest.
 *
 * Nodes: in each cell the values at the points are fitted by the cell's own shape functions, with
 * unweighted least squares (exact for hex8 and tet4; tet10 has fewer points than shape functions
 * and uses those of its corners). A spline's stress is evaluated at the nodes. The nodal value is
 * the mean over the cells at a node. Cells with less than half the stiffness of the stiffest cell
 * at the node are left out, since stresses jump where the modulus does. */
#ifndef HX_STRESS_H
#define HX_STRESS_H

#include "../problem/problem.h"

HX_C_BEGIN

enum { HX_STRESS_COMPONENTS = 6, HX_FLUX_COMPONENTS = 3, HX_STRESS_POINTS = 125 };

/* One cell. Stresses (force/length^2) are xx, yy, zz, xy, yz, xz in VTK's order; fluxes
 * (power/length^2) x, y, z. */
typedef struct hx_cell_stress {
    int n, n_corner;
    double x[HX_STRESS_POINTS][3],
        volume[HX_STRESS_POINTS]; /* coordinates, and share of the cell's volume */
    double value[HX_STRESS_POINTS][HX_STRESS_COMPONENTS];
    int32_t node[8]; /* [n_corner] nodes of the mesh */
    double corner[8][HX_STRESS_COMPONENTS];
} hx_cell_stress;

typedef struct hx_stress {
    const hx_problem *problem;           /* (borrowed) */
    int n_component;                     /* HX_STRESS_COMPONENTS, or HX_FLUX_COMPONENTS for heat */
    const hx_expansion_field *expansion; /* of the case; NULL: none (borrowed) */
    /* weights of the values at the points for the value at a corner */
    double fit[HX_N_SOLID][8][HX_RULE_GAUSS];
} hx_stress;

void hx_stress_create(hx_stress *s, const hx_problem *problem);

/* The case (0-based) whose displacements follow: its thermal expansion causes no stress. Not needed
 * if no case expands. */
void hx_stress_select(hx_stress *s, int load_case);

/* Computes one cell with modulus E rho^p (for heat the conductivity) from
 * u[n_point][components]. */
void hx_stress_cell(const hx_stress *s, int64_t cell, double modulus, const double *u,
                    hx_cell_stress *out);

/* Visits every cell in the order of the mesh, in blocks that all threads compute and one thread
 * visits. Stops at an error of `visit`, which it returns. O(n_elem), 1 MB. */
typedef int (*hx_stress_visit)(void *context, int64_t first, int64_t n, const hx_cell_stress *cell);
int hx_stress_each(const hx_stress *s, const double *modulus, const double *u,
                   hx_stress_visit visit, void *context);

/* int stress : elastic strain dV, twice the energy; for heat flux . -grad T. */
double hx_stress_work(const hx_stress *s, const hx_cell_stress *cell, double modulus);

double hx_von_mises(const double stress[HX_STRESS_COMPONENTS]);
/* The principal stresses in descending order. */
void hx_principal_stresses(const double stress[HX_STRESS_COMPONENTS], double principal[3]);

/* Means at the nodes of the mesh. */
typedef struct hx_nodal_stress {
    const hx_mesh *mesh;   /* (borrowed) */
    const double *modulus; /* [n_elem] (borrowed) */
    int n_component;
    double *value;    /* [n_node][n_component] (owned) */
    double *stiffest; /* [n_node] largest modulus of the cells at the node (owned) */
    int32_t *count;   /* [n_node] number of cells in the mean (owned) */
    int64_t n_mixed;  /* nodes at which cells are left out */
} hx_nodal_stress;

/* 60 bytes per node, including the 48 of the result. */
int hx_nodal_stress_create(hx_nodal_stress *nodal, const hx_stress *s, const double *modulus);
/* Usage: begin zeroes `value`; add is called for every cell once, in the blocks of hx_stress_each;
 * finish computes the means. */
void hx_nodal_stress_begin(hx_nodal_stress *nodal);
void hx_nodal_stress_add(hx_nodal_stress *nodal, int64_t first, int64_t n,
                         const hx_cell_stress *cell);
void hx_nodal_stress_finish(hx_nodal_stress *nodal);
void hx_nodal_stress_free(hx_nodal_stress *nodal);

/* Von Mises stresses at the nodes of the mesh, from means that are weighted by the volumes of the
 * cells, so that flat cells, whose own stresses are the least accurate, count little. */
typedef struct hx_smooth_stress {
    double *value;  /* [n_node] von Mises stress of the mean; 0 where volume is 0 (owned) */
    double *volume; /* [n_node] share of the volume of the cells that count (owned) */
} hx_smooth_stress;

/* counts[n_elem]: 1: the cell counts; NULL: all do. As in hx_nodal_stress, cells with less than
 * half the modulus of the stiffest one at a node count only for the volume there. u[n_point][3].
 * O(n_elem); 72 bytes per node, of which 16 remain. Does not depend on the number of threads. */
int hx_smooth_stress_create(hx_smooth_stress *smooth, const hx_stress *s, const double *modulus,
                            const double *u, const uint8_t *counts);
void hx_smooth_stress_free(hx_smooth_stress *smooth);

/* *quantile := the smallest value[n] such that at least `share` of the weight[n] >= 0 belongs to
 * values that do not exceed it; 0 without weight. 16 bytes per value; O(n log n). */
int hx_weighted_quantile(int64_t n, const double *value, const double *weight, double share,
                         double *quantile);

HX_C_END

#endif
