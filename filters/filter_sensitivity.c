/* The sensitivity filter (P1, section 2; Sigmund 1997):
 *
 *     dc_e <- sum_i H_ei rho_i dc_i / (rho_e sum_i H_ei),  H_ei = R - |x_e - x_i|
 *
 * over elements whose centroids lie within R, optionally with H_ei times the volume of i (graded
 * meshes). The physical density is the design. The result is not the derivative of any function, so
 * H may be rounded to single precision (cone.h). */
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/design/cone.h"
#include "core/design/filter.h"
#include "core/linalg/vector_ops.h"

static size_t sensitivity_bytes(const hx_mesh *mesh, const hx_filter_params *params)
{
    return hx_cone_bytes(mesh, params->voxel_bytes, params->volume_weighted, 1);
}

static int create_sensitivity(hx_filter *filter)
{
    hx_cone *cone;
    HX_TRY(hx_alloc(&cone, 1, sizeof *cone, "sensitivity filter"));
    filter->impl = cone;
    return hx_cone_create(cone, filter->dev, filter->problem, &filter->params, 1, 1);
}

static int forward_sensitivity(hx_filter *filter, const double *d_design, double *d_filtered)
{
    return filter->dev->ops->copy(filter->dev, d_filtered, d_design,
                                  (size_t)filter->problem->mesh->n_elem * sizeof *d_design);
}

static int backward_sensitivity(hx_filter *filter, const double *d_design, double *d_dc,
                                double *d_dv)
{
    const hx_cone *cone = filter->impl;
    hx_device *dev = filter->dev;
    const hx_device_ops *ops = dev->ops;
    const int64_t n = filter->problem->mesh->n_elem;
    const double *const d_weighted = d_dc;
    (void)d_dv;
    HX_TRY(ops->vector->multiply(dev, n, d_design, d_dc, d_dc));
    if (cone->d_volume) HX_TRY(ops->vector->multiply(dev, n, cone->d_volume, d_dc, d_dc));
    HX_TRY(hx_cone_sum(cone, 1, &d_weighted, &d_dc));
    HX_TRY(ops->vector->divide(dev, n, d_dc, d_design, d_dc));
    return ops->vector->divide(dev, n, d_dc, cone->d_sum_weight, d_dc);
}

static void destroy_sensitivity(hx_filter *filter)
{
    if (filter->impl) hx_cone_free(filter->impl);
    free(filter->impl);
    filter->impl = NULL;
}

const hx_filter_kind hx_filter_sensitivity = {
    .name = "sensitivity",
    .help = "weighted mean of the sensitivities within a radius (Sigmund 1997)",
    .needs_radius = 1,
    .is_heuristic = 1,
    .keeps_range = 1,
    .sums_pairs = 1,
    .is_distributed = 1,
    .bytes_per_elem = 48,
    .bytes = sensitivity_bytes,
    .create = create_sensitivity,
    .forward = forward_sensitivity,
    .backward = backward_sensitivity,
    .destroy = destroy_sensitivity,
};
