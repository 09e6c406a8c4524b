/* Counts pieces, through holes and cavities of a set of elements by its Euler characteristic. */
#include "solid_shape.h"

#include <stdlib.h>

#include "../base/memory.h"
#include "../base/union_find.h"
#include "surface_patch.h"

enum { MOST_EDGES = 512 }; /* maximum number of edges at a node; others are ignored */

/* Number of edges of solid elements from node a to nodes with higher numbers; *is_used: 1 if a
 * solid element has the node. */
static int count_edges_at(const hx_mesh *mesh, const uint8_t *solid, int32_t a, int *is_used)
{
    int32_t other[MOST_EDGES];
    int n = 0;
    *is_used = 0;
    for (int64_t j = mesh->node_elem_ptr[a]; j < mesh->node_elem_ptr[a + 1]; j++) {
        const int32_t *const conn = mesh->conn + 8 * (int64_t)(mesh->node_elem[j] / 8);
        if (!solid[mesh->node_elem[j] / 8]) continue;
        *is_used = 1;
        for (int i = 0; i < 12; i++) {
            const int32_t x = conn[hx_hex_edge[i][0]], y = conn[hx_hex_edge[i][1]];
            const int32_t b = x == a ? y : x;
            int k = 0;
            if ((x != a && y != a) || b <= a) continue;
            while (k < n && other[k] != b) k++;
            if (k == n && n < MOST_EDGES) other[n++] = b;
        }
    }
    return n;
}

/* Nodes - edges + faces - elements of the solid. Joins the nodes of each piece and the void
 * elements that share a face; is_open[e] := 1 for void elements at the mesh's boundary. */
static int64_t count_cells(const hx_mesh *mesh, const uint8_t *solid, int32_t *piece,
                           int32_t *hollow, uint8_t *is_open)
{
    int64_t euler = 0;
#pragma omp parallel for schedule(static) reduction(+ : euler)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        int is_used;
        const int n = count_edges_at(mesh, solid, (int32_t)a, &is_used);
        euler += is_used - n;
    }
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        euler -= solid[e] != 0;
        for (int i = 1; solid[e] && i < 8; i++) hx_unite(piece, conn[0], conn[i]);
        for (int f = 0; f < 6; f++) {
            int32_t node[4];
            const int n = hx_cell_face(conn, f, node);
            if (n < 3) continue;
            const int64_t other = hx_mesh_face_neighbour(mesh, e, n, node);
            if (solid[e])
                euler += other < 0 || !solid[other] || other > e;
            else if (other < 0)
                is_open[e] = 1;
            else if (!solid[other])
                hx_unite(hollow, (int32_t)e, (int32_t)other);
        }
    }
    return euler;
}

int hx_solid_shape_count(const hx_mesh *mesh, const uint8_t *solid, hx_solid_shape *shape)
{
    int rc;
    int32_t *piece = NULL, *hollow = NULL;
    uint8_t *is_open = NULL, *is_used = NULL;
    *shape = (hx_solid_shape){0};
    HX_TRY_FAIL(hx_alloc_raw(&piece, (size_t)mesh->n_node, sizeof *piece, "pieces"));
    HX_TRY_FAIL(hx_alloc(&is_used, (size_t)mesh->n_node, 1, "pieces"));
    HX_TRY_FAIL(hx_alloc_raw(&hollow, (size_t)mesh->n_elem, sizeof *hollow, "cavities"));
    HX_TRY_FAIL(hx_alloc(&is_open, (size_t)mesh->n_elem, 1, "cavities"));
    for (int64_t a = 0; a < mesh->n_node; a++) piece[a] = (int32_t)a;
    for (int64_t e = 0; e < mesh->n_elem; e++) hollow[e] = (int32_t)e;
    const int64_t euler = count_cells(mesh, solid, piece, hollow, is_open);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (is_open[e]) is_open[hx_root(hollow, (int32_t)e)] = 1;
        if (solid[e]) is_used[hx_root(piece, mesh->conn[8 * e])] = 1;
    }
    for (int64_t e = 0; e < mesh->n_elem; e++)
        shape->n_cavity += !solid[e] && hx_root(hollow, (int32_t)e) == e && !is_open[e];
    for (int64_t a = 0; a < mesh->n_node; a++) shape->n_piece += is_used[a];
    shape->n_hole = shape->n_piece + shape->n_cavity - euler;
fail:
    free(piece);
    free(is_used);
    free(hollow);
    free(is_open);
    return rc;
}
