#include "voxels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static const char what[] = "the filter's voxels";

/* A grid that centroids may lie on. */
typedef struct grid {
    double lower[3], step[3],
        off; /* the lowest point; from one to the next; HX_VOXELS_OFF of that */
    int64_t n[3];
} grid;

/* Lengths of an element's box along the axes. */
static void measure(const hx_mesh *mesh, int64_t elem, double length[3])
{
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int c = 0; c < 8; c++) {
            const double x = mesh->xyz[3 * (int64_t)mesh->conn[8 * elem + c] + d];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        length[d] = high - low;
    }
}

/* The point of the grid that x lies on; -1: none. */
static int64_t point_of(const grid *g, const double x[3])
{
    int64_t at[3];
    for (int d = 0; d < 3; d++) {
        const double place = floor((x[d] - g->lower[d]) / g->step[d] + 0.5);
        if (!(place >= 0.0 && place < (double)g->n[d])) return -1;
        if (!(fabs(x[d] - (g->lower[d] + place * g->step[d])) <= g->off)) return -1;
        at[d] = (int64_t)place;
    }
    return (at[2] * g->n[1] + at[1]) * g->n[0] + at[0];
}

/* A few elements say whether it is worth a look at all: all are whole steps from the first. */
static int is_likely(const hx_mesh *mesh, const double step[3])
{
    enum { SAMPLES = 64 };
    double first[3], x[3];
    hx_mesh_centroid(mesh, 0, first);
    for (int64_t i = 0; i < SAMPLES; i++) {
        hx_mesh_centroid(mesh, i * (mesh->n_elem - 1) / SAMPLES, x);
        for (int d = 0; d < 3; d++) {
            const double steps = (x[d] - first[d]) / step[d];
            if (!(fabs(steps - floor(steps + 0.5)) <= 1e-6)) return 0;
        }
    }
    return 1;
}

/* The grid that the first element and the bounds of all name; 0: no voxels, or too few for it. */
static int find_grid(grid *g, const hx_mesh *mesh)
{
    double length[3], upper[3], n_point = 1.0;
    measure(mesh, 0, length);
    for (int d = 0; d < 3; d++)
        if (!(length[d] > 0.0)) return 0;
    if (!is_likely(mesh, length)) return 0;
    hx_mesh_centroid_bounds(mesh, g->lower, upper);
    g->off = INFINITY;
    for (int d = 0; d < 3; d++) {
        const double steps = floor((upper[d] - g->lower[d]) / length[d] + 0.5);
        n_point *= steps + 1.0;
        if (!(n_point <= (double)HX_VOXELS_SPARSE * (double)mesh->n_elem)) return 0;
        g->n[d] = 1 + (int64_t)steps;
        g->step[d] = steps > 0.0 ? (upper[d] - g->lower[d]) / steps : length[d];
        g->off = fmin(g->off, HX_VOXELS_OFF * g->step[d]);
    }
    return n_point < (double)INT32_MAX;
}

/* elem[]; *fits = 0: an element lies beside the grid, or two at a point. */
static int place_elements(hx_voxels *v, const grid *g, const hx_mesh *mesh, int *fits)
{
    const int64_t n_point = g->n[0] * g->n[1] * g->n[2];
    int all = 1;
    HX_TRY(hx_alloc_raw(&v->elem, (size_t)n_point, sizeof *v->elem, what));
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < n_point; p++) v->elem[p] = -1;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        const int64_t p = point_of(g, x);
        all = all && p >= 0;
        if (p < 0) continue;
#pragma omp atomic write
        v->elem[p] = (int32_t)e;
    }
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t p = 0; p < n_point; p++) n += v->elem[p] >= 0;
    *fits = all && n == mesh->n_elem;
    return HX_OK;
}

static double distance(const grid *g, int i, int j, int k)
{
    const double x = i * g->step[0], y = j * g->step[1], z = k * g->step[2];
    return sqrt(x * x + y * y + z * z);
}

/* Points along each axis whose distance is below the radius; 0: too many. */
static int find_reach(hx_voxels *v, const grid *g, double radius)
{
    for (int d = 0; d < 3; d++) {
        while (v->reach[d] < HX_VOXELS_REACH && (v->reach[d] + 1) * g->step[d] < radius)
            v->reach[d]++;
        if ((v->reach[d] + 1) * g->step[d] < radius) return 0;
    }
    return 1;
}

static int fill_weights(hx_voxels *v, const grid *g, double radius)
{
    HX_TRY(hx_alloc_raw(&v->width, (size_t)hx_voxels_rows(v), sizeof *v->width, what));
    HX_TRY(hx_alloc_raw(&v->weight, (size_t)hx_voxels_weights(v), sizeof *v->weight, what));
    int32_t *width = v->width;
    double *weight = v->weight;
    for (int k = 0; k <= v->reach[2]; k++)
        for (int j = 0; j <= v->reach[1]; j++) {
            int furthest = -1;
            for (int i = 0; i <= v->reach[0]; i++) {
                const double w = radius - distance(g, i, j, k);
                if (w > 0.0) furthest = i;
                *weight++ = w > 0.0 ? w : 0.0;
            }
            *width++ = furthest;
        }
    return HX_OK;
}

static void shape(hx_voxels *v, const grid *g)
{
    memcpy(v->n, g->n, sizeof v->n);
    v->line = g->n[0] + v->reach[0];
}

int hx_voxels_create(hx_voxels *voxels, const hx_mesh *mesh, double radius)
{
    grid g = {.off = 0.0};
    int rc, fits = 0;
    memset(voxels, 0, sizeof *voxels);
    if (mesh->n_elem == 0 || !find_grid(&g, mesh) || !find_reach(voxels, &g, radius)) goto none;
    HX_TRY_FAIL(place_elements(voxels, &g, mesh, &fits));
    if (!fits) goto none;
    shape(voxels, &g);
    HX_TRY_FAIL(fill_weights(voxels, &g, radius));
    return HX_OK;
none:
    rc = HX_OK;
fail:
    hx_voxels_free(voxels);
    return rc;
}

int64_t hx_voxels_values(const hx_voxels *voxels)
{
    return voxels->reach[0] + voxels->line * voxels->n[1] * voxels->n[2] + HX_VOXELS_PADDING;
}

int64_t hx_voxels_rows(const hx_voxels *voxels)
{
    return (int64_t)(voxels->reach[2] + 1) * (voxels->reach[1] + 1);
}

int64_t hx_voxels_weights(const hx_voxels *voxels)
{
    return hx_voxels_rows(voxels) * (voxels->reach[0] + 1);
}

size_t hx_voxels_bytes(const hx_mesh *mesh, double radius)
{
    grid g = {.off = 0.0};
    hx_voxels v = {.line = 0};
    int all = 1;
    if (mesh->n_elem == 0 || !find_grid(&g, mesh) || !find_reach(&v, &g, radius)) return 0;
#pragma omp parallel for schedule(static) reduction(&& : all)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        all = all && point_of(&g, x) >= 0;
    }
    if (!all) return 0;
    shape(&v, &g);
    return (size_t)(v.n[0] * v.n[1] * v.n[2] + hx_voxels_rows(&v)) * sizeof(int32_t) +
           (size_t)(hx_voxels_weights(&v) + hx_voxels_values(&v)) * sizeof(double);
}

void hx_voxels_free(hx_voxels *voxels)
{
    free(voxels->elem);
    free(voxels->width);
    free(voxels->weight);
    memset(voxels, 0, sizeof *voxels);
}
