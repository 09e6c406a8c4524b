/* Middles of curved edges, from the file to the finished mesh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "mesh_internal.h"

static const char *const WHAT = "middles of curved edges";

int hx_middles_alloc(hx_middles *middles, int64_t n)
{
    memset(middles, 0, sizeof *middles);
    HX_TRY(hx_alloc_raw(&middles->end, (size_t)n, 2 * sizeof *middles->end, WHAT));
    const int rc = hx_alloc_raw(&middles->xyz, (size_t)n, 3 * sizeof *middles->xyz, WHAT);
    if (rc < 0) hx_middles_free(middles);
    return rc;
}

void hx_middles_put(hx_middles *middles, const int32_t end[2], const double x[3])
{
    if (end[0] == end[1]) return; /* the edge was collapsed by merging */
    const int64_t k = middles->n++;
    middles->end[2 * k] = end[0] < end[1] ? end[0] : end[1];
    middles->end[2 * k + 1] = end[0] < end[1] ? end[1] : end[0];
    memmove(middles->xyz + 3 * k, x, 3 * sizeof *x);
}

void hx_middles_renumber(hx_middles *middles, const int32_t *node_new)
{
    const int64_t n = middles->n;
    middles->n = 0;
    for (int64_t k = 0; k < n; k++) {
        const int32_t end[2] = {node_new[middles->end[2 * k]], node_new[middles->end[2 * k + 1]]};
        if (end[0] >= 0 && end[1] >= 0) hx_middles_put(middles, end, middles->xyz + 3 * k);
    }
}

int hx_middles_copy(hx_middles *to, const hx_middles *from, const int32_t *node_new)
{
    memset(to, 0, sizeof *to);
    if (from->n == 0) return HX_OK;
    HX_TRY(hx_middles_alloc(to, from->n));
    to->n = from->n;
    memcpy(to->end, from->end, 2 * (size_t)from->n * sizeof *to->end);
    memcpy(to->xyz, from->xyz, 3 * (size_t)from->n * sizeof *to->xyz);
    hx_middles_renumber(to, node_new);
    return HX_OK;
}

size_t hx_middles_bytes(const hx_middles *middles)
{
    return (size_t)middles->n * (2 * sizeof *middles->end + 3 * sizeof *middles->xyz);
}

void hx_middles_free(hx_middles *middles)
{
    free(middles->end);
    free(middles->xyz);
    memset(middles, 0, sizeof *middles);
}

static int check_finite(const hx_mesh *mesh)
{
    for (int64_t k = 0; k < mesh->middles.n; k++) {
        const double *const x = mesh->middles.xyz + 3 * k;
        if (isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2])) continue;
        return HX_RAISE(
            HX_EINPUT,
            "%s: the mid-side node between nodes %lld and %lld has the coordinates (%g, %g, %g)",
            mesh->name, (long long)hx_mesh_node_number(mesh, mesh->middles.end[2 * k]),
            (long long)hx_mesh_node_number(mesh, mesh->middles.end[2 * k + 1]), x[0], x[1], x[2]);
    }
    return HX_OK;
}

int hx_middles_finish(hx_mesh *mesh)
{
    hx_middles *const m = &mesh->middles, sorted = {0};
    uint64_t *key = NULL;
    int32_t *order = NULL;
    int rc;
    if (m->n == 0) return HX_OK;
    HX_TRY(check_finite(mesh));
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)m->n, sizeof *key, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)m->n, sizeof *order, WHAT));
    for (int64_t k = 0; k < m->n; k++)
        key[k] = (uint64_t)m->end[2 * k] << 32 | (uint64_t)m->end[2 * k + 1];
    HX_TRY_FAIL(hx_radix_sort(key, order, m->n, 63));
    HX_TRY_FAIL(hx_middles_alloc(&sorted, m->n));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < m->n; k++) {
        const int64_t old = order[k];
        memcpy(sorted.end + 2 * k, m->end + 2 * old, 2 * sizeof *sorted.end);
        memcpy(sorted.xyz + 3 * k, m->xyz + 3 * old, 3 * sizeof *sorted.xyz);
    }
    sorted.n = m->n;
    hx_middles_free(m);
    *m = sorted;
fail:
    free(key);
    free(order);
    return rc;
}
