/* Numbers of elements of each kind, and the length of an element. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "hex_jacobian.h"
#include "mesh_internal.h"
#include "mesh_kinds.h"

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

void hx_kinds_add(hx_kinds *k, const double *xyz, const int32_t conn[8])
{
    const hx_cell_kind kind = hx_cell_kind_of(conn);
    hx_hex_map map;
    if (kind == HX_CELL_OTHER) return;
    hx_hex_map_init(&map, xyz, conn);
    k->n[kind]++;
    k->volume[kind] += hx_hex_volume(&map);
    if (kind != HX_CELL_HEXAHEDRON) k->edge[kind] += mean_edge(xyz, conn);
}

void hx_kinds_join(hx_kinds *to, const hx_kinds *more)
{
    for (int kind = 0; kind < HX_N_SOLID; kind++) {
        to->n[kind] += more->n[kind];
        to->volume[kind] += more->volume[kind];
        to->edge[kind] += more->edge[kind];
    }
}

int hx_kinds_sum(const hx_reduce *reduce, hx_kinds *k)
{
    HX_TRY(hx_reduce_sum_i64(reduce, HX_N_SOLID, k->n));
    HX_TRY(hx_reduce_sum(reduce, HX_N_SOLID, k->volume));
    return hx_reduce_sum(reduce, HX_N_SOLID, k->edge);
}

/* Length of an element of one kind. */
static double size_of(const hx_kinds *k, int kind)
{
    const double n = (double)k->n[kind];
    return kind == HX_CELL_HEXAHEDRON ? cbrt(k->volume[kind] / n) : k->edge[kind] / n;
}

double hx_kinds_size(const hx_kinds *k)
{
    double size = 0.0, volume = 0.0;
    for (int kind = 0; kind < HX_N_SOLID; kind++) {
        if (k->n[kind] == 0) continue;
        size += k->volume[kind] * size_of(k, kind);
        volume += k->volume[kind];
    }
    return size / volume;
}

static int count_own(const hx_mesh *mesh, hx_kinds *all)
{
    const int64_t begin = hx_mesh_own_begin(mesh), n = hx_mesh_own_end(mesh) - begin;
    hx_kinds *part = NULL;
    *all = (hx_kinds){{0}, {0.0}, {0.0}};
    HX_TRY(hx_alloc(&part, HX_N_PART, sizeof *part, "kinds of elements"));
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++)
        for (int64_t e = hx_part_begin(n, i); e < hx_part_begin(n, i + 1); e++)
            hx_kinds_add(&part[i], mesh->xyz, mesh->conn + 8 * (begin + e));
    for (int i = 0; i < HX_N_PART; i++) hx_kinds_join(all, &part[i]);
    free(part);
    return HX_OK;
}

int hx_mesh_measure_kinds(hx_mesh *mesh)
{
    hx_kinds all;
    HX_TRY(count_own(mesh, &all));
    HX_TRY(hx_kinds_sum(hx_mesh_reduce(mesh), &all));
    memcpy(mesh->n_kind, all.n, sizeof all.n);
    mesh->elem_size = hx_kinds_size(&all);
    return HX_OK;
}
