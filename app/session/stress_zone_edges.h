/* Re-entrant edges of passive solids, about which zones without stress limits lie. */
#ifndef HX_STRESS_ZONE_EDGES_H
#define HX_STRESS_ZONE_EDGES_H

#include "core/mesh/mesh.h"

/* is_marked[n_node] := 1 at the ends of edges where the boundary turns inwards by more than 30
 * degrees and whose elements are all passive solid, so that no design can round them; passive void
 * does not belong to the part. density[n_elem]: NaN where free. *is_any = 1 if there are some, else
 * unchanged. O(n log n) for n faces of passive solids. */
int hx_stress_zone_edges(const hx_mesh *mesh, const double *density, uint8_t *is_marked,
                         int *is_any);

#endif
