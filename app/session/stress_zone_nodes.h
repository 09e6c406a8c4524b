/* The nodes about which zones without stress limits lie (stress_zones.h). */
#ifndef HX_STRESS_ZONE_NODES_H
#define HX_STRESS_ZONE_NODES_H

#include "../config/config.h"
#include "core/mesh/mesh.h"
#include "core/problem/conditions.h"

/* What zones lie about, as bits. */
enum {
    HX_ZONE_SUPPORT = 1,
    HX_ZONE_SPRING = 2,
    HX_ZONE_POINT_LOAD = 4,
    HX_ZONE_RIGID = 8,
    HX_ZONE_PASSIVE = 16
};

/* Sets is_marked[n_node] of the nodes, which is 0 before, and adds their HX_ZONE_* to *kinds:
 *
 * - nodes held by supports or springs that are part of no face all of whose corners are held in the
 *   same components, and the rims of faces that are held in two components or more;
 * - nodes of forces that span no face, and of rigid sets;
 * - ends of edges at which the boundary, without passive void, turns inwards by more than 30
 *   degrees and all elements are passive solid, so that no design can round them.
 *
 * density[n_elem]: that of passive elements, NaN where free; NULL: all are free. Supports and loads
 * that the mesh file states count if the config takes them. unzoned: what has no zone, and why, for
 * messages; "" if there is nothing. O(n_elem). */
int hx_stress_zone_nodes(const hx_config *cfg, const hx_mesh *mesh, const hx_conditions *conditions,
                         const double *density, uint8_t *is_marked, unsigned *kinds, char *unzoned,
                         size_t n_unzoned);

/* A passive element of at most this density is void, and no zone makes it solid. */
#define HX_ZONE_MOST_VOID 0.5

#endif
