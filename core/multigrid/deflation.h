/* Floating components of a design: components of stiff elements that are connected
 * to the rest only by much softer elements or by a hinge. Their rigid-body motions need almost no
 * energy. Each is an eigenvector with a small eigenvalue that the coarse grids cannot represent if
 * two components lie in one cell, so multigrid deflates these motions (multigrid_deflation.c).
 *
 * A component consists of elements that are connected by faces and whose modulus, relative to that
 * of their material, is above some fraction of the largest one; if two materials differ so much
 * that solid of one is void beside the other, moduli themselves are compared, too. Several such
 * fractions are used, because a component that is attached to grey elements is itself part of a
 * larger one that floats in void. Components that touch at nodes are also considered together as
 * one. Each component contributes six motions, which are rigid on its nodes and 0 elsewhere, unless
 * the component is large and supports or springs hold it. Only motions whose energy is small
 * compared with that of other motions of the same nodes are kept. For each fraction a node belongs
 * to one component, the largest that contains it; motions in which a neighbouring component moves
 * along are linear combinations of the columns.
 *
 * If several ranks have one subdomain each (interface_host.h), they find the same components in the
 * same order as a single process would, up to rounding. Each rank stores the part of the matrices
 * that belongs to its own points. */
#ifndef HX_DEFLATION_H
#define HX_DEFLATION_H

#include "../operator/interface_host.h"
#include "../problem/problem.h"

enum { HX_DEFLATION_MOTIONS = 6 };

/* A sparse matrix: row i, which is entry at[i] of a vector, has the entries first[i] .. first[i +
 * 1]. */
typedef struct hx_deflation_rows {
    int64_t n, n_entry;
    int64_t *first, *at, *column; /* [n + 1], [n], [n_entry] (owned, like the next) */
    double *value;                /* [n_entry] */
} hx_deflation_rows;

/* The deflation space Z: the motions of all components side by side, 0 at fixed degrees of
 * freedom. */
typedef struct hx_deflation {
    int n_part, n_column; /* six columns per component, on all ranks */
    /* Z, and K Z without zero rows, by vector entries: all that this rank has */
    hx_deflation_rows motion, forces;
    /* by columns, only entries that this rank owns, for sums */
    hx_deflation_rows motion_transposed, forces_transposed;
    /* (Z'K Z)^-1 without its zeros, which include the rows of linearly dependent columns; bitwise
     * symmetric */
    hx_deflation_rows inverse;
} hx_deflation;

/* A component that may be floating, before the selection. */
typedef struct hx_floating_component {
    int64_t n_all; /* number of nodes on all ranks */
    int64_t n_node, n_own, n_touched;
    /* [n_node] nodes on this rank, ascending; the rank's own nodes come first (owned) */
    int32_t *node;
    int32_t *touched; /* [n_touched] nodes on this rank where K Z is not 0, ascending (owned) */
    double *force;    /* [n_touched][3][6] K Z from the elements of this rank (owned) */
    double centre[3], radius; /* centre of rotations, and the length that scales them */
    uint64_t mark;            /* hash, equal for components with the same nodes */
    /* lowest file number of its elements, which sorts components that are otherwise equal */
    uint32_t lowest;
    /* is_held: supports and springs leave no rigid motion; is_strained: its motions strain an
     * element or spring */
    int is_held, is_chosen, is_strained;
    double softness; /* trace of (Z'K Z)^-1 Z'D Z, D ~ diag K; 0: large and held */
} hx_floating_component;

/* Finds the components of a design of linear elements in elasticity, in a fixed order. The caller
 * frees each component and the list, also after an error. The result does not depend on the number
 * of threads. others: from the device, or NULL; `problem` and modulus[n_elem] are those of the
 * subdomain. O(n_elem), and about 600 bytes per component on each rank. Collective. */
int hx_find_floating_components(const hx_problem *problem, const hx_interface_host *others,
                                const double *modulus, hx_floating_component **part,
                                int64_t *n_part);
void hx_floating_component_free(hx_floating_component *part);
/* Motion k of a component at position x. */
void hx_floating_motion(const hx_floating_component *part, const double x[3], int k, double u[3]);

/* Finds and selects the components and computes all matrices; n_part = 0: nothing is floating. */
int hx_deflation_create(hx_deflation *deflation, const hx_problem *problem,
                        const hx_interface_host *others, const double *modulus);
/* Accepts a zeroed struct. */
void hx_deflation_free(hx_deflation *deflation);

#endif
