/* The supports of each element: those below it whose centroids lie in a cone. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "bins.h"
#include "sweep.h"

/* Distance from the lowest plane below which a node lies on the base plate, relative to the height
 * of the mesh. */
static const double ON_PLATE = 1e-6;

typedef struct cones {
    const hx_mesh *mesh;
    const hx_bins *bins;
    const double *up, *height; /* [3]; [n_elem] of centroids */
    const uint8_t *base;
    double slope; /* tangent of the half angle */
} cones;

static int64_t clamped(const hx_bins *bins, int axis, double x)
{
    const double cell = floor((x - bins->origin[axis]) / bins->size);
    const double last = (double)bins->n_cell[axis] - 1.0;
    return (int64_t)fmin(fmax(cell, 0.0), last);
}

/* Writes the supports of element e to list, or only counts them if list is NULL. */
static int64_t visit_cone(const cones *c, int64_t e, int32_t *list)
{
    const hx_bins *const bins = c->bins;
    double x[3], extent;
    int64_t first[3], last[3], n = 0;
    if (c->base[e]) return 0;
    hx_sweep_height(c->mesh, e, c->up, &extent);
    hx_mesh_centroid(c->mesh, e, x);
    const double depth = HX_SWEEP_REACH * extent, radius = depth * c->slope;
    for (int d = 0; d < 3; d++) { /* the box of apex and disc */
        const double tip = x[d] - depth * c->up[d];
        const double wide = radius * sqrt(fmax(0.0, 1.0 - c->up[d] * c->up[d]));
        first[d] = clamped(bins, d, fmin(x[d], tip - wide));
        last[d] = clamped(bins, d, fmax(x[d], tip + wide));
    }
    for (int64_t k = first[2]; k <= last[2]; k++)
        for (int64_t j = first[1]; j <= last[1]; j++) {
            const int64_t row = (k * bins->n_cell[1] + j) * bins->n_cell[0];
            for (int64_t p = bins->start[row + first[0]]; p < bins->start[row + last[0] + 1]; p++) {
                const double d[3] = {x[0] - bins->x[p], x[1] - bins->y[p], x[2] - bins->z[p]};
                const int32_t i = bins->member[p];
                const double drop = c->height[e] - c->height[i], wide = c->slope * drop;
                const double along = hx_dot3(d, c->up), aside = hx_dot3(d, d) - along * along;
                if (!(drop > 0.0 && drop <= depth) || aside > wide * wide) continue;
                if (list) list[n] = i;
                n++;
            }
        }
    return n;
}

static int list_supports(hx_sweep_inputs *inputs, const cones *c)
{
    const int64_t n = c->mesh->n_elem;
    HX_TRY(hx_alloc(&inputs->start, (size_t)n + 1, sizeof *inputs->start, "supports"));
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t e = 0; e < n; e++) inputs->start[e + 1] = visit_cone(c, e, NULL);
    for (int64_t e = 0; e < n; e++) inputs->start[e + 1] += inputs->start[e];
    HX_TRY(
        hx_alloc_raw(&inputs->input, (size_t)inputs->start[n], sizeof *inputs->input, "supports"));
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t e = 0; e < n; e++) visit_cone(c, e, inputs->input + inputs->start[e]);
    return HX_OK;
}

/* base[e]: 1 if the element touches the plane of the lowest node. */
static void mark_lowest(const hx_mesh *mesh, const double up[3], uint8_t *base)
{
    double low = INFINITY, high = -INFINITY;
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high)
    for (int64_t i = 0; i < mesh->n_node; i++) {
        const double h = hx_dot3(mesh->xyz + 3 * i, up);
        if (h < low) low = h;
        if (h > high) high = h;
    }
    const double limit = low + ON_PLATE * (high - low);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int a = 0; a < 8; a++)
            if (hx_dot3(mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + a], up) <= limit) base[e] = 1;
}

static int mark_set(const hx_mesh *mesh, const char *name, uint8_t *base)
{
    uint8_t *is_node;
    int64_t n = 0;
    const hx_set *const set = hx_mesh_find_set(mesh, hx_mesh_name_for(mesh, name, HX_USE_ELEMS));
    if (!set) return HX_RAISE(HX_EINPUT, "base = \"%s\": the mesh has no such set", name);
    for (int64_t i = 0; i < set->n_elem; i++) base[set->elem[i]] = 1;
    if (set->n_elem > 0) return HX_OK;
    HX_TRY(hx_alloc(&is_node, (size_t)mesh->n_node, sizeof *is_node, "nodes of the base"));
    for (int64_t i = 0; i < set->n_node; i++) is_node[set->node[i]] = 1;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        for (int a = 0; a < 8; a++) base[e] |= is_node[mesh->conn[8 * e + a]];
        n += base[e];
    }
    free(is_node);
    return n > 0
               ? HX_OK
               : HX_RAISE(HX_EINPUT, "base = \"%s\": the set has neither elements nor nodes", name);
}

int hx_sweep_cones(hx_sweep_inputs *inputs, const hx_mesh *mesh, const hx_sweep_params *params)
{
    const double *const up = params->direction[0];
    const size_t n = (size_t)mesh->n_elem;
    hx_bins bins;
    HX_TRY(hx_alloc(&inputs->base, n, sizeof *inputs->base, "elements of the base"));
    HX_TRY(hx_alloc_raw(&inputs->key, n, sizeof *inputs->key, "heights"));
    if (params->base)
        HX_TRY(mark_set(mesh, params->base, inputs->base));
    else
        mark_lowest(mesh, up, inputs->base);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double extent;
        inputs->key[e] = hx_sweep_height(mesh, e, up, &extent);
    }
    HX_TRY(hx_bins_create(&bins, mesh, mesh->elem_size));
    const cones c = {
        mesh,         &bins,
        up,           inputs->key,
        inputs->base, tan((90.0 - params->angle + HX_SWEEP_SLACK) * 0.017453292519943295)};
    const int rc = list_supports(inputs, &c);
    hx_bins_free(&bins);
    return rc;
}
