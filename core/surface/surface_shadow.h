/* Nodal densities without undercuts, before a threshold is chosen: for parts that leave a mould or
 * are milled. */
#ifndef HX_SURFACE_SHADOW_H
#define HX_SURFACE_SHADOW_H

#include "surface.h"

HX_C_BEGIN

typedef struct hx_shadow_limit {
    int n;                        /* directions */
    const double (*direction)[3]; /* [n] of length 1, from the part towards the mould or the tool */
    /* a point of the plane at which two mould halves part, which leave along direction[0] and
     * against it; NULL: none */
    const double *parting;
} hx_shadow_limit;

/* Raises nodal densities of free elements until no density increases along one of the directions
 * from a node to where its ray leaves the element: the level set of any threshold then has no
 * undercut at a node. With several directions a node keeps the least of the densities that these
 * would give it. Forced-solid elements cast no shadow. *n_raised: nodes that changed by more than
 * 1e-6. Needs the mesh's node -> element lists. O(n) times the number of passes, a few if rays go
 * from node to node, at most 50. The result does not depend on the number of threads. */
int hx_surface_cast_shadows(hx_surface_field *field, const hx_shadow_limit *limit,
                            int64_t *n_raised);

HX_C_END

#endif
