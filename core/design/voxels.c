#include "voxels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static const char what[] = "the filter's voxels";

static double distance(const hx_voxel_grid *g, int i, int j, int k)
{
    const double x = i * g->step[0], y = j * g->step[1], z = k * g->step[2];
    return sqrt(x * x + y * y + z * z);
}

/* Sets the number of points along each axis within the radius; 0: too many. */
static int find_reach(hx_voxels *v, const hx_voxel_grid *g, double radius)
{
    for (int d = 0; d < 3; d++) {
        while (v->reach[d] < HX_VOXELS_REACH && (v->reach[d] + 1) * g->step[d] < radius)
            v->reach[d]++;
        if ((v->reach[d] + 1) * g->step[d] < radius) return 0;
    }
    return 1;
}

static int fill_weights(hx_voxels *v, const hx_voxel_grid *g, double radius)
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

static void shape(hx_voxels *v, const hx_voxel_grid *g)
{
    memcpy(v->n, g->n, sizeof v->n);
    v->line = g->n[0] + v->reach[0];
}

static double off_of(const hx_voxel_grid *grid)
{
    return HX_VOXELS_OFF * hx_voxel_grid_edge(grid);
}

int hx_voxels_create(hx_voxels *voxels, const hx_mesh *mesh, double radius)
{
    hx_voxel_grid g;
    int rc, fits = 0;
    memset(voxels, 0, sizeof *voxels);
    if (!hx_voxel_grid_find(&g, mesh) || !find_reach(voxels, &g, radius)) goto none;
    HX_TRY_FAIL(hx_voxel_grid_place(&g, mesh, off_of(&g), &voxels->elem, &fits));
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

/* Finds the grid of a mesh and the reach of the weights in it; returns 0 if there is none. */
static int find_grid(const hx_mesh *mesh, double radius, hx_voxel_grid *g, hx_voxels *v)
{
    memset(v, 0, sizeof *v);
    return hx_voxel_grid_find(g, mesh) && find_reach(v, g, radius) &&
           hx_voxel_grid_fits(g, mesh, off_of(g));
}

size_t hx_voxels_taken(const hx_voxels *v)
{
    if (v->n[0] == 0) return 0;
    return (size_t)(v->n[0] * v->n[1] * v->n[2] + hx_voxels_rows(v)) * sizeof(int32_t) +
           (size_t)(hx_voxels_weights(v) + hx_voxels_values(v)) * sizeof(double);
}

static size_t bytes_of(hx_voxels *v, const hx_voxel_grid *g)
{
    shape(v, g);
    return hx_voxels_taken(v);
}

size_t hx_voxels_bytes(const hx_mesh *mesh, double radius)
{
    hx_voxel_grid g;
    hx_voxels v;
    return find_grid(mesh, radius, &g, &v) ? bytes_of(&v, &g) : 0;
}

size_t hx_voxels_bytes_around(const hx_mesh *part, const hx_mesh *mesh, double radius)
{
    hx_voxel_grid g;
    hx_voxels v;
    double low[3], high[3];
    if (!find_grid(mesh, radius, &g, &v)) return 0;
    hx_mesh_centroid_bounds(part, low, high);
    for (int d = 0; d < 3; d++) {
        const int64_t n =
            1 + (int64_t)floor((high[d] - low[d]) / g.step[d] + 0.5) + 2 * (int64_t)v.reach[d];
        g.n[d] = n < g.n[d] ? n : g.n[d];
    }
    if (hx_voxel_grid_size(&g) > HX_VOXEL_SPARSE * part->n_elem) return 0;
    return bytes_of(&v, &g);
}

void hx_voxels_free(hx_voxels *voxels)
{
    hx_free_large(voxels->elem,
                  (size_t)(voxels->n[0] * voxels->n[1] * voxels->n[2]) * sizeof *voxels->elem);
    free(voxels->width);
    free(voxels->weight);
    memset(voxels, 0, sizeof *voxels);
}
