#include "voxel_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static const char what[] = "voxels";

/* The place of a node; -1: it lies beside all. */
static int64_t place_of(const hx_voxel_lists *v, const hx_voxel_grid *g, const double x[3],
                        double off)
{
    int64_t at[3];
    for (int d = 0; d < 3; d++) {
        const double first = g->lower[d] - 0.5 * g->step[d];
        const double place = floor((x[d] - first) / g->step[d] + 0.5);
        if (!(place >= 0.0 && place <= (double)g->n[d])) return -1;
        if (!(fabs(x[d] - (first + place * g->step[d])) <= off)) return -1;
        at[d] = (int64_t)place;
    }
    return (at[2] * (v->n[1] + 1) + at[1]) * (v->n[0] + 1) + at[0];
}

/* *fits = 0: a node lies beside all places, or two at one. */
static int place_nodes(hx_voxel_lists *v, const hx_voxel_grid *g, const hx_mesh *mesh, int *fits)
{
    const int64_t n_place = hx_voxel_lists_nodes(v);
    const double off = HX_VOXEL_LISTS_OFF * hx_voxel_grid_edge(g);
    int all = 1;
    int64_t n = 0;
    HX_TRY(hx_alloc_raw(&v->node, (size_t)n_place, sizeof *v->node, what));
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < n_place; p++) v->node[p] = -1;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int64_t p = place_of(v, g, mesh->xyz + 3 * a, off);
        all = all && p >= 0;
        if (p < 0) continue;
#pragma omp atomic write
        v->node[p] = (int32_t)a;
    }
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t p = 0; p < n_place; p++) n += v->node[p] >= 0;
    *fits = all && n == mesh->n_node;
    return HX_OK;
}

/* 1 if the nodes at the corners of a place are those of its element, in whatever order. */
static int has_corners(const hx_voxel_lists *v, const hx_mesh *mesh, int64_t i, int64_t j,
                       int64_t k)
{
    const int32_t elem = v->elem[(k * v->n[1] + j) * v->n[0] + i];
    int n_found = 0;
    if (elem < 0) return 1;
    for (int c = 0; c < 8; c++) {
        const int64_t row = (k + (c >> 2)) * (v->n[1] + 1) + j + (c >> 1 & 1);
        const int32_t node = v->node[row * (v->n[0] + 1) + i + (c & 1)];
        int is_its = 0;
        for (int a = 0; a < 8; a++) is_its |= mesh->conn[8 * (int64_t)elem + a] == node;
        n_found += is_its;
    }
    return n_found == 8;
}

static int all_have_corners(const hx_voxel_lists *v, const hx_mesh *mesh)
{
    int all = 1;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t row = 0; row < v->n[1] * v->n[2]; row++)
        for (int64_t i = 0; i < v->n[0]; i++)
            all = all && has_corners(v, mesh, i, row % v->n[1], row / v->n[1]);
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
    free(lists->elem);
    free(lists->node);
    memset(lists, 0, sizeof *lists);
}
