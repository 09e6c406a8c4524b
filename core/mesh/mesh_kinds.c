/* How many elements of each kind there are, and how long an element is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "hex_jacobian.h"
#include "mesh_internal.h"

/* What a part of the elements, or all, have of each kind. */
typedef struct kinds {
    int64_t n[HX_N_SOLID];
    double volume[HX_N_SOLID], edge[HX_N_SOLID]; /* sums; of an element's edges their mean */
} kinds;

static double mean_edge(const double *xyz, const int32_t conn[8])
{
    int32_t edge[12][2];
    double sum = 0.0;
    const int n = hx_cell_edges(conn, edge);
    for (int i = 0; i < n; i++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = xyz[3 * (int64_t)edge[i][1] + k] - xyz[3 * (int64_t)edge[i][0] + k];
        sum += hx_norm3(d);
    }
    return sum / n;
}

static void add_element(const hx_mesh *mesh, int64_t e, kinds *k)
{
    const int32_t *const conn = mesh->conn + 8 * e;
    const hx_cell_kind kind = hx_cell_kind_of(conn);
    hx_hex_map map;
    hx_hex_map_init(&map, mesh->xyz, conn);
    k->n[kind]++;
    k->volume[kind] += hx_hex_volume(&map);
    k->edge[kind] += mean_edge(mesh->xyz, conn);
}

/* Length of an element of one kind. */
static double size_of(const kinds *k, int kind)
{
    const double n = (double)k->n[kind];
    return kind == HX_CELL_HEXAHEDRON ? cbrt(k->volume[kind] / n) : k->edge[kind] / n;
}

static int count_own(const hx_mesh *mesh, kinds *all)
{
    const int64_t begin = hx_mesh_own_begin(mesh), n = hx_mesh_own_end(mesh) - begin;
    kinds *part = NULL;
    *all = (kinds){{0}, {0.0}, {0.0}};
    HX_TRY(hx_alloc(&part, HX_N_PART, sizeof *part, "kinds of elements"));
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++)
        for (int64_t e = hx_part_begin(n, i); e < hx_part_begin(n, i + 1); e++)
            add_element(mesh, begin + e, &part[i]);
    for (int kind = 0; kind < HX_N_SOLID; kind++)
        for (int i = 0; i < HX_N_PART; i++) {
            all->n[kind] += part[i].n[kind];
            all->volume[kind] += part[i].volume[kind];
            all->edge[kind] += part[i].edge[kind];
        }
    free(part);
    return HX_OK;
}

int hx_mesh_measure_kinds(hx_mesh *mesh)
{
    kinds all;
    double size = 0.0, volume = 0.0;
    HX_TRY(count_own(mesh, &all));
    HX_TRY(hx_all_sum_i64(hx_mesh_all(mesh), HX_N_SOLID, all.n));
    HX_TRY(hx_all_sum(hx_mesh_all(mesh), HX_N_SOLID, all.volume));
    HX_TRY(hx_all_sum(hx_mesh_all(mesh), HX_N_SOLID, all.edge));
    for (int kind = 0; kind < HX_N_SOLID; kind++) {
        if (all.n[kind] == 0) continue;
        size += all.volume[kind] * size_of(&all, kind);
        volume += all.volume[kind];
    }
    memcpy(mesh->n_kind, all.n, sizeof all.n);
    mesh->elem_size = size / volume;
    return HX_OK;
}
