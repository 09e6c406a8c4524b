/* Elements along a surface. */
#ifndef HX_SKIN_H
#define HX_SKIN_H

#include "../base/c_linkage.h"
#include "mesh.h"

HX_C_BEGIN

/* flag[e] := 1 ([n_elem]) for the elements within `thickness` (length, > 0) of the set's boundary
 * faces, or of its nodes if it spans no face: those whose centroid is at most that far away, and
 * always those that have such a face or node. flag must be 0 before; *n counts them. O(n_elem + n
 * log faces) for n elements nearby. */
int hx_skin_flag(const hx_mesh *mesh, const hx_set *set, double thickness, uint8_t *flag,
                 int64_t *n);

HX_C_END

#endif
