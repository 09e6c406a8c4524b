/* The filter by a Helmholtz equation (Lazarov and Sigmund, Int. J. Numer. Meth. Engng 86, 2011):
 *
 *     -r^2 lap(x) + x = rho,  no flux through the boundary,  r = R / (2 sqrt(3)),
 *
 * solved on the nodes; the filtered density of an element is the mean of its corners
 * (core/design/helmholtz_map.h). */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/design/filter.h"
#include "core/design/helmholtz_map.h"

typedef struct helmholtz_filter {
    hx_helmholtz_map map;
    double *d_warm; /* [map.a.n] solution of the last forward */
} helmholtz_filter;

static size_t helmholtz_bytes(const hx_mesh *mesh, const hx_filter_params *params)
{
    const int64_t n = params->n_point > 0 ? params->n_point : mesh->n_node;
    return hx_helmholtz_map_bytes(mesh, params->n_point) + (size_t)n * sizeof(double);
}

static int create_helmholtz(hx_filter *filter)
{
    hx_device *dev = filter->dev;
    helmholtz_filter *impl;
    HX_TRY(hx_alloc(&impl, 1, sizeof *impl, "helmholtz filter"));
    filter->impl = impl;
    HX_TRY(hx_helmholtz_map_create(
        &impl->map, dev, filter->problem, filter->params.radius / (2.0 * sqrt(3.0)),
        "filter 'helmholtz'",
        "try another radius, or filter \"density\", which solves no equation"));
    const size_t nodal = (size_t)impl->map.a.n * sizeof(double);
    HX_TRY(dev->ops->alloc(dev, nodal, &impl->d_warm));
    return dev->ops->zero(dev, impl->d_warm, nodal);
}

static int forward_helmholtz(hx_filter *filter, const double *d_design, double *d_filtered)
{
    helmholtz_filter *impl = filter->impl;
    return hx_helmholtz_map_forward(&impl->map, d_design, impl->d_warm, d_filtered);
}

static int backward_helmholtz(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv)
{
    helmholtz_filter *impl = filter->impl;
    (void)d_design;
    HX_TRY(hx_helmholtz_map_transpose(&impl->map, d_dc));
    return d_dv ? hx_helmholtz_map_transpose(&impl->map, d_dv) : HX_OK;
}

static int snapshot(hx_filter *filter, hx_snapshot *image)
{
    helmholtz_filter *impl = filter->impl;
    return hx_filter_snapshot_nodes(filter, image, "helmholtz.x", impl->d_warm);
}

static int reset(hx_filter *filter)
{
    helmholtz_filter *impl = filter->impl;
    return filter->dev->ops->zero(filter->dev, impl->d_warm,
                                  (size_t)impl->map.a.n * sizeof *impl->d_warm);
}

static void destroy_helmholtz(hx_filter *filter)
{
    helmholtz_filter *impl = filter->impl;
    if (!impl) return;
    filter->dev->ops->release(filter->dev, impl->d_warm);
    hx_helmholtz_map_free(&impl->map);
    free(impl);
    filter->impl = NULL;
}

const hx_filter_kind hx_filter_helmholtz = {
    .name = "helmholtz",
    .help =
        "densities smoothed by a Helmholtz equation, in a time that hardly depends on the radius",
    .needs_radius = 1,
    .maps_design = 1,
    .is_distributed = 1,
    .bytes_per_elem = 120,
    .bytes = helmholtz_bytes,
    .create = create_helmholtz,
    .forward = forward_helmholtz,
    .backward = backward_helmholtz,
    .snapshot = snapshot,
    .reset = reset,
    .destroy = destroy_helmholtz,
};
