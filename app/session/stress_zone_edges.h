/* Re-entrant edges that no design can round, about which zones without stress limits lie: of
 * passive solids, and of the part that is made. */
#ifndef HX_STRESS_ZONE_EDGES_H
#define HX_STRESS_ZONE_EDGES_H

#include "core/mesh/mesh.h"

/* is_marked[n_node] := 1 at the ends of edges where the boundary turns inwards by more than 30
 * degrees and whose elements are all passive solid, so that no design can round them; passive void
 * does not belong to the part. density[n_elem]: NaN where free. *is_any = 1 if there are some, else
 * unchanged. O(n log n) for n faces of passive solids. */
int hx_stress_zone_edges(const hx_mesh *mesh, const double *density, uint8_t *is_marked,
                         int *is_any);

/* is_marked[n_node] := 1 at the ends of edges of the boundary of a mesh of the part that is made,
 * which turns inwards there by more than 30 degrees, if both faces lie on the boundary of the model
 * (part_faces[n_elem]: bit f: local face f does) or an element at the edge is passive solid
 * (is_passive[n_elem]). *n_edge: their number. O(n log n) for n faces of the boundary. */
int hx_stress_zone_sharp_edges(const hx_mesh *mesh, const uint8_t *part_faces,
                               const uint8_t *is_passive, uint8_t *is_marked, int64_t *n_edge);

#endif
