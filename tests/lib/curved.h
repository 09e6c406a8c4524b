/* Straight meshes bent by a map that their edges follow, like in a file with quadratic elements. */
#ifndef HX_TEST_CURVED_H
#define HX_TEST_CURVED_H

#include <stdlib.h>
#include <string.h>

#include "core/space/space.h"

typedef void (*curved_map)(const double x[3], double y[3]);

/* Maps the nodes of a raw mesh and gives it the images of its mid-side nodes, once for each cell
 * that has the edge. */
static inline int curved_bend(hx_mesh *mesh, curved_map map)
{
    hx_cell_rule rule[HX_N_CELL_RULE];
    double y[3];
    for (int k = 0; k < HX_N_CELL_RULE; k++) hx_cell_rule_make((hx_cell_kind)k, &rule[k]);
    HX_TRY(hx_middles_alloc(&mesh->middles, HX_RULE_EDGES * mesh->n_elem));
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const hx_cell_kind kind = hx_cell_kind_of(mesh->conn + 8 * e);
        int32_t corner[8];
        hx_cell_rule_corners(kind, mesh->conn + 8 * e, corner);
        for (int i = 0; i < rule[kind].n_edge; i++) {
            const int32_t end[2] = {corner[rule[kind].edge[i][0]], corner[rule[kind].edge[i][1]]};
            double x[3];
            for (int d = 0; d < 3; d++)
                x[d] =
                    0.5 * (mesh->xyz[3 * (int64_t)end[0] + d] + mesh->xyz[3 * (int64_t)end[1] + d]);
            map(x, y);
            hx_middles_put(&mesh->middles, end, y);
        }
    }
    for (int64_t a = 0; a < mesh->n_node; a++) {
        map(mesh->xyz + 3 * a, y);
        memcpy(mesh->xyz + 3 * a, y, sizeof y);
    }
    return HX_OK;
}

#endif
