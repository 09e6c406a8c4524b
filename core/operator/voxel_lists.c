#include "voxel_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static const char what[] = "voxels";

/* Finds the places of the nodes from `begin` on; returns 0 if one of them is at no place. *n:
 * number of nodes. */
static int find_nodes(const hx_voxel_grid *g, const hx_mesh *mesh, double off, int64_t begin,
                      int *n, int32_t *place)
{
    const int64_t rest = mesh->n_node - begin;
    double x[3][HX_VOXEL_BLOCK];
    *n = rest < HX_VOXEL_BLOCK ? (int)rest : HX_VOXEL_BLOCK;
    for (int i = 0; i < *n; i++)
        for (int d = 0; d < 3; d++) x[d][i] = mesh->xyz[3 * (begin + i) + d];
    return hx_voxel_grid_points(g, off, *n, x, place);
}

/* *fits = 0: a node is at no place, or two nodes are at the same one. */
static int place_nodes(hx_voxel_lists *v, const hx_voxel_grid *g, const hx_mesh *mesh, int *fits)
{
    const int64_t n_place = hx_voxel_lists_nodes(v);
    const double off = HX_VOXEL_LISTS_OFF * hx_voxel_grid_edge(g);
    hx_voxel_grid of_nodes = *g; /* shifted by half a step from that of the elements */
    for (int d = 0; d < 3; d++) {
        of_nodes.lower[d] = g->lower[d] - 0.5 * g->step[d];
        of_nodes.n[d] = g->n[d] + 1;
    }
    int all = 1;
    int64_t n_placed = 0;
    HX_TRY(hx_alloc_raw(&v->node, (size_t)n_place, sizeof *v->node, what));
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < n_place; p++) v->node[p] = -1;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t begin = 0; begin < mesh->n_node; begin += HX_VOXEL_BLOCK) {
        int32_t place[HX_VOXEL_BLOCK];
        int n;
        all = find_nodes(&of_nodes, mesh, off, begin, &n, place) && all;
        for (int i = 0; i < n; i++) {
            if (place[i] < 0) continue;
#pragma omp atomic write
            v->node[place[i]] = (int32_t)(begin + i);
        }
    }
#pragma omp parallel for schedule(static) reduction(+ : n_placed)
    for (int64_t p = 0; p < n_place; p++) n_placed += v->node[p] >= 0;
    *fits = all && n_placed == mesh->n_node;
    return HX_OK;
}

/* Returns 1 if the nodes at the corners of a place are those of its element, in any order. `low`
 * points to the lowest corner; off[8]: offsets from it to the corners in the order of
 * VTK_HEXAHEDRON, which is mostly also the order of the element. */
static int has_corners(const int32_t *low, const int64_t off[8], const int32_t conn[8])
{
    int n_found = 0, in_order = 1;
    for (int c = 0; c < 8; c++) in_order &= low[off[c]] == conn[c];
    if (in_order) return 1;
    for (int c = 0; c < 8; c++) {
        int is_its = 0;
        for (int a = 0; a < 8; a++) is_its |= conn[a] == low[off[c]];
        n_found += is_its;
    }
    return n_found == 8;
}

static int all_have_corners(const hx_voxel_lists *v, const hx_mesh *mesh)
{
    const int64_t along = v->n[0] + 1, up = along * (v->n[1] + 1);
    const int64_t off[8] = {0, 1, 1 + along, along, up, up + 1, up + 1 + along, up + along};
    int all = 1;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t row = 0; row < v->n[1] * v->n[2]; row++) {
        const int32_t *const elem = v->elem + row * v->n[0];
        const int32_t *const low = v->node + row / v->n[1] * up + row % v->n[1] * along;
        for (int64_t i = 0; i < v->n[0] && all; i++)
            all = elem[i] < 0 || has_corners(low + i, off, mesh->conn + 8 * (int64_t)elem[i]);
    }
    return all;
}

int hx_voxel_lists_create(hx_voxel_lists *lists, const hx_mesh *mesh)
{
    hx_voxel_grid g;
    int rc, fits = 0;
    memset(lists, 0, sizeof *lists);
    if (!hx_voxel_grid_find(&g, mesh)) return HX_OK;
    memcpy(lists->n, g.n, sizeof lists->n);
    memcpy(lists->edge, g.step, sizeof lists->edge);
    HX_TRY_FAIL(hx_voxel_grid_place(&g, mesh, HX_VOXEL_LISTS_OFF * hx_voxel_grid_edge(&g),
                                    &lists->elem, &fits));
    if (fits) HX_TRY_FAIL(place_nodes(lists, &g, mesh, &fits));
    if (fits && all_have_corners(lists, mesh)) return HX_OK;
    rc = HX_OK;
fail:
    hx_voxel_lists_free(lists);
    return rc;
}

int64_t hx_voxel_lists_elems(const hx_voxel_lists *lists)
{
    return lists->n[0] * lists->n[1] * lists->n[2];
}

int64_t hx_voxel_lists_nodes(const hx_voxel_lists *lists)
{
    return (lists->n[0] + 1) * (lists->n[1] + 1) * (lists->n[2] + 1);
}

void hx_voxel_lists_free(hx_voxel_lists *lists)
{
    hx_free_large(lists->elem, (size_t)hx_voxel_lists_elems(lists) * sizeof *lists->elem);
    hx_free_large(lists->node, (size_t)hx_voxel_lists_nodes(lists) * sizeof *lists->node);
    memset(lists, 0, sizeof *lists);
}
