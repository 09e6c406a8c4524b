/* Congruent elements: classes of parallelepipeds with the same edges, wherever they lie in the
 * mesh.
 *
 * Only parallelepipeds (constant Jacobian) are classed: in the modes of the trilinear map their
 * stiffness has 171 entries, 45 for a box along the axes, which is less work than computing a
 * product from coordinates; that of other shapes has 441, which is not. */
#ifndef HX_CONGRUENCE_H
#define HX_CONGRUENCE_H

#include "../mesh/mesh.h"

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
 * dissolved, as are those beyond HX_MAX_CLASS and beyond the first 64 sizes. A pass over the
 * elements, and one over those not yet classed wherever further sizes appear; the same for any
 * number of threads. */
int hx_congruence_create(hx_congruence *congruence, const hx_mesh *mesh, int64_t smallest);

/* (*elem)[n_elem + n_class], the caller's: the elements of each class, ascending, with a -1 after
 * them; from *n_classed on those of none, ascending. O(n_elem). */
int hx_congruence_list(const hx_congruence *congruence, int64_t n_elem, int32_t **elem,
                       int64_t *n_classed);

/* Share of the elements (0 to 1) that are in classes of a 256th of them or more, from a sample of
 * 4096. O(1). */
double hx_congruence_share(const hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_congruence_free(hx_congruence *congruence);

#ifdef __cplusplus
}
#endif

#endif
