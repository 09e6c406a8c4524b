/* Congruent elements: classes of parallelepipeds with equal edges, wherever they lie in the mesh.
 *
 * Only parallelepipeds (constant Jacobian) are classified. In the modes of the trilinear map their
 * stiffness has 171 entries, or 45 for a box along the axes, and multiplying with these is less
 * work than computing the product from coordinates. The stiffness of other shapes has 441 entries,
 * which is more work. */
#ifndef HX_CONGRUENCE_H
#define HX_CONGRUENCE_H

#include "../mesh/mesh.h"

HX_C_BEGIN

enum { HX_MAX_CLASS = 16 };

/* Two edges are equal if they differ by less than this, relative to the longest edge. */
#define HX_CONGRUENCE_TOLERANCE 1e-12

typedef struct hx_congruence {
    int n_class;
    double jacobian[HX_MAX_CLASS][3][3]; /* [class][k][i] = dx_i / dxi_k, half the edges */
    int64_t n_member[HX_MAX_CLASS];
    int8_t *elem_class; /* [n_elem] class of each element, -1: none (owned) */
} hx_congruence;

/* Classes are in the order of their first element. Classes with fewer than `smallest` elements are
 * dissolved, and so are those beyond HX_MAX_CLASS and those found after the first 64 different
 * sizes. Takes one pass over the elements, plus one pass over the unclassified elements for each
 * batch of new sizes. The result does not depend on the number of threads. */
int hx_congruence_create(hx_congruence *congruence, const hx_mesh *mesh, int64_t smallest);

/* Lists in (*elem)[n_elem + n_class], owned by the caller, the elements of each class in ascending
 * order, each class followed by -1. The elements of no class follow from *n_classed on, also
 * ascending. O(n_elem). */
int hx_congruence_list(const hx_congruence *congruence, int64_t n_elem, int32_t **elem,
                       int64_t *n_classed);

/* Fraction of the elements (0 to 1) that are in classes with at least a 256th of all elements,
 * estimated from a sample of 4096. O(1). */
double hx_congruence_share(const hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_congruence_free(hx_congruence *congruence);

HX_C_END

#endif
