/* The density filter (Bruns and Tortorelli 2001; Bourdin 2001):
 *
 *     filtered_e = sum_i H_ei v_i rho_i / sum_i H_ei v_i,  H_ei = R - |x_e - x_i|
 *
 * over elements whose centroids lie within R; v_i is 1, or the volume of i (graded meshes). H is
 * symmetric, so the transpose of the filter divides before the sum and multiplies after it. */
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/design/cone.h"
#include "core/design/filter.h"
#include "core/linalg/vector_ops.h"

extern const hx_filter_kind hx_filter_density; /* below */

static size_t density_bytes(const hx_mesh *mesh, const hx_filter_params *params)
{
    return hx_cone_bytes(mesh, params->voxel_bytes, params->volume_weighted,
                         hx_filter_kind_sums(&hx_filter_density, params));
}

static int create_density(hx_filter *filter)
{
    hx_cone *cone;
    HX_TRY(hx_alloc(&cone, 1, sizeof *cone, "density filter"));
    filter->impl = cone;
    return hx_cone_create(cone, filter->dev, filter->problem, &filter->params,
                          hx_filter_kind_sums(filter->kind, &filter->params), 0);
}

static int forward_density(hx_filter *filter, const double *d_design, double *d_filtered)
{
    const hx_cone *cone = filter->impl;
    hx_device *dev = filter->dev;
    const hx_device_ops *ops = dev->ops;
    const int64_t n = filter->problem->mesh->n_elem;
    const double *d_weighted = d_design;
    if (cone->d_volume) {
        HX_TRY(ops->vector->multiply(dev, n, cone->d_volume, d_design, d_filtered));
        d_weighted = d_filtered;
    }
    HX_TRY(hx_cone_sum(cone, 1, &d_weighted, &d_filtered));
    return ops->vector->divide(dev, n, d_filtered, cone->d_sum_weight, d_filtered);
}

/* If both derivatives are needed, they are summed together and share the weights. */
static int backward_density(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv)
{
    const hx_cone *cone = filter->impl;
    hx_device *dev = filter->dev;
    const hx_vector_ops *ops = dev->ops->vector;
    const int64_t n = filter->problem->mesh->n_elem;
    double *const d_sum[2] = {d_dc, d_dv};
    const double *const d_value[2] = {d_dc, d_dv};
    const int n_field = d_dv ? 2 : 1;
    (void)d_design;
    for (int i = 0; i < n_field; i++)
        HX_TRY(ops->divide(dev, n, d_sum[i], cone->d_sum_weight, d_sum[i]));
    HX_TRY(hx_cone_sum(cone, n_field, d_value, d_sum));
    for (int i = 0; i < n_field && cone->d_volume; i++)
        HX_TRY(ops->multiply(dev, n, cone->d_volume, d_sum[i], d_sum[i]));
    return HX_OK;
}

static void destroy_density(hx_filter *filter)
{
    if (filter->impl) hx_cone_free(filter->impl);
    free(filter->impl);
    filter->impl = NULL;
}

const hx_filter_kind hx_filter_density = {
    .name = "density",
    .help = "weighted mean of the densities within a radius, with exact derivatives",
    .needs_radius = 1,
    .maps_design = 1,
    .keeps_range = 1,
    .sums_pairs = 2,
    .is_distributed = 1,
    .bytes_per_elem = 56,
    .bytes = density_bytes,
    .create = create_density,
    .forward = forward_density,
    .backward = backward_density,
    .destroy = destroy_density,
};
