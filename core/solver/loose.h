/* Loose bits of a design: parts of stiff elements that hang on much softer ones alone, or by a
 * hinge on others. Their rigid motions cost next to no energy; each is an eigenvector with a small
 * eigenvalue of its own that no lattice shows where two parts lie in a cell, and a preconditioner
 * wants to be told of them (multigrid_loose.c).
 *
 * Parts are joined by faces, of elements above some share of the largest modulus; shares are
 * several, since what hangs on grey is part of what hangs on void. Parts that touch in nodes are
 * taken together as well. Of each part, but for large ones that supports or springs hold, six
 * motions: rigid on its nodes, 0 elsewhere. Those are kept whose energy is small beside that of
 * other motions of the same nodes. A node belongs to one part of a share, the largest; motions in
 * which another part only goes along are combinations.
 *
 * Several processes, each with a share of the mesh (common_host.h), find the same parts in the same
 * order, as one would but for rounding; of their matrices each has what is at its own points. */
#ifndef HX_LOOSE_H
#define HX_LOOSE_H

#include "../problem/problem.h"
#include "common_host.h"

enum { HX_LOOSE_MOTIONS = 6, HX_LOOSE_MOST = 100 /* parts; the softest */ };

/* A sparse matrix: row i, of entry at[i] of a vector, has [first[i], first[i + 1]). */
typedef struct hx_loose_rows {
    int64_t n, n_entry;
    int64_t *first, *at, *column; /* [n + 1], [n], [n_entry] (owned, like the next) */
    double *value;                /* [n_entry] */
} hx_loose_rows;

/* Z, the motions of all parts side by side, 0 at fixed degrees of freedom. */
typedef struct hx_loose {
    int n_part, n_column;         /* six columns a part, of all processes */
    hx_loose_rows motion, forces; /* Z, K Z without rows of 0; by entries, all that are here */
    hx_loose_rows motion_transposed, forces_transposed; /* by columns; own entries, for sums */
    hx_loose_rows inverse; /* (Z'K Z)^-1 without what is 0, as for columns that others give;
                              symmetric to the bit */
} hx_loose;

/* A part that may be loose, before it is chosen. */
typedef struct hx_loose_part {
    int64_t n_all; /* nodes, of all processes */
    int64_t n_node, n_own, n_touched;
    int32_t *node;            /* [n_node] here, ascending: own ones first (owned) */
    int32_t *touched;         /* [n_touched] nodes here where K Z is not 0, ascending (owned) */
    double *force;            /* [n_touched][3][6] K Z of the elements here (owned) */
    double centre[3], radius; /* rotations are about it, over it */
    uint64_t mark;            /* the same for parts of the same nodes */
    uint32_t lowest; /* of its elements' numbers in the file, by which parts that are alike are in
                        order */
    int is_held, is_chosen, is_strained; /* is_strained: its motions strain an element or spring */
    double softness; /* trace of (Z'K Z)^-1 Z'D Z, D ~ diag K; 0: large and held */
} hx_loose_part;

/* The parts of a design on linear elements, elasticity, in a fixed order; the caller frees each and
 * the list, also of what fails. The same for any number of threads. others: of the device, or NULL;
 * the problem and modulus[n_elem] are those of the share. O(n_elem), and some 600 bytes a part in
 * each process. Collective. */
int hx_loose_find_parts(const hx_problem *problem, const hx_common_host *others,
                        const double *modulus, hx_loose_part **part, int64_t *n_part);
void hx_loose_part_free(hx_loose_part *part);
/* Motion k of a part at a place. */
void hx_loose_motion(const hx_loose_part *part, const double x[3], int k, double u[3]);

/* All of the above, chosen; n_part = 0: nothing is loose. */
int hx_loose_create(hx_loose *loose, const hx_problem *problem, const hx_common_host *others,
                    const double *modulus);
/* Accepts a zeroed struct. */
void hx_loose_free(hx_loose *loose);

#endif
