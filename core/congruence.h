/* Congruent elements: classes of parallelepipeds with the same edges, wherever they lie in the
 * mesh.
 *
 * Only parallelepipeds (constant Jacobian) are classed: in the modes of the trilinear map their
 * stiffness has 171 entries, 45 for a box along the axes, which is less work than computing a
 * product from coordinates; that of other shapes has 441, which is not. */
#ifndef HX_CONGRUENCE_H
#define HX_CONGRUENCE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_MAX_CLASS = 16 };

/* Edges agree if they differ by less than this, relative to the longest. */
#define HX_CONGRUENCE_TOLERANCE 1e-12

typedef struct hx_congruence {
    int n_class;
    double jacobian[HX_MAX_CLASS][3][3]; /* [class][k][i] = dx_i / dxi_k; half the edges */
    int64_t n_member[HX_MAX_CLASS];
    int8_t *elem_class; /* [n_elem], -1: in none (owned) */
} hx_congruence;

/* Classes in the order of their first element. A class of fewer than `smallest` elements is
 * dissolved, as are those beyond HX_MAX_CLASS and beyond the first 64 sizes. O(n_elem) a size, the
 * same for any number of threads. */
int hx_congruence_create(hx_congruence *congruence, const hx_mesh *mesh, int64_t smallest);

/* Accepts a zeroed struct. */
void hx_congruence_free(hx_congruence *congruence);

#ifdef __cplusplus
}
#endif

#endif
