/* The density filter (Bruns and Tortorelli 2001; Bourdin 2001):
 *
 *     filtered_e = sum_i H_ei v_i rho_i / sum_i H_ei v_i,  H_ei = R - |x_e - x_i|
 *
 * over elements whose centroids lie within R; v_i is 1, or the volume of i (graded meshes). H is
 * symmetric, so the transpose of the filter divides before the sum and multiplies after it.
 *
 * If it is padded, void of the density rho_min outside the mesh (pad.h) takes part in both sums, up
 * to the largest sum of an element that no void is near to:
 *
 *     filtered_e = (sum_i H_ei v_i rho_i + m_e rho_min) / (sum_i H_ei v_i + m_e). */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/design/cone.h"
#include "core/design/filter.h"
#include "core/design/pad.h"
#include "core/dist/dist.h"
#include "core/linalg/vector_ops.h"

extern const hx_filter_kind hx_filter_density; /* below */

typedef struct density_filter {
    hx_cone cone;   /* its sums of weights are those of the denominators */
    double *d_void; /* [n_elem] m_e rho_min / denominator; NULL: not padded (owned) */
} density_filter;

static size_t density_bytes(const hx_mesh *mesh, const hx_filter_params *params)
{
    const size_t field = (size_t)mesh->n_elem * sizeof(double);
    return hx_cone_bytes(mesh, params->voxel_bytes, params->volume_weighted,
                         hx_filter_kind_sums(&hx_filter_density, params)) +
           (params->is_padded ? field : 0);
}

/* *full: the largest sum of weights of an element that no void is near to; 0: there is none. */
static int find_full(const hx_filter *filter, const double *sum, const double *missing,
                     double *full)
{
    *full = 0.0;
    for (int64_t e = 0; e < filter->problem->mesh->n_elem; e++)
        if (missing[e] == 0.0) *full = fmax(*full, sum[e]);
    if (!filter->dev->ops->interface) return HX_OK;
    return hx_reduce_max(&hx_dist_of(filter->dev)->reduce.base, 1, full);
}

/* missing[e] becomes the density that void adds, and sum[e] the denominator. */
static void join_void(const hx_filter *filter, double full, double *sum, double *missing)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < filter->problem->mesh->n_elem; e++) {
        double whole = sum[e] + missing[e];
        if (full > 0.0 && whole > full) whole = fmax(full, sum[e]);
        missing[e] = filter->design->rho_min * (whole - sum[e]) / whole;
        sum[e] = whole;
    }
}

static int pad(hx_filter *filter, density_filter *own)
{
    hx_device *const dev = filter->dev;
    const size_t n = (size_t)filter->problem->mesh->n_elem, bytes = n * sizeof(double);
    double *sum, *missing, full;
    int rc;
    HX_TRY(hx_alloc_raw(&sum, 2 * n, sizeof *sum, "border of the filter"));
    missing = sum + n;
    HX_TRY_FAIL(hx_pad_weights(filter->problem, filter->params.radius,
                               filter->params.volume_weighted, missing));
    HX_TRY_FAIL(dev->ops->download(dev, sum, own->cone.d_sum_weight, bytes));
    HX_TRY_FAIL(find_full(filter, sum, missing, &full));
    join_void(filter, full, sum, missing);
    HX_TRY_FAIL(dev->ops->upload(dev, own->cone.d_sum_weight, sum, bytes));
    HX_TRY_FAIL(hx_device_put(dev, &own->d_void, missing, bytes));
fail:
    free(sum);
    return rc;
}

static int create_density(hx_filter *filter)
{
    density_filter *own;
    HX_TRY(hx_alloc(&own, 1, sizeof *own, "density filter"));
    filter->impl = own;
    HX_TRY(hx_cone_create(&own->cone, filter->dev, filter->problem, &filter->params,
                          hx_filter_kind_sums(filter->kind, &filter->params), 0));
    return filter->params.is_padded ? pad(filter, own) : HX_OK;
}

static int forward_density(hx_filter *filter, const double *d_design, double *d_filtered)
{
    const density_filter *const own = filter->impl;
    const hx_cone *const cone = &own->cone;
    hx_device *dev = filter->dev;
    const hx_device_ops *ops = dev->ops;
    const int64_t n = filter->problem->mesh->n_elem;
    const double *d_weighted = d_design;
    if (cone->d_volume) {
        HX_TRY(ops->vector->multiply(dev, n, cone->d_volume, d_design, d_filtered));
        d_weighted = d_filtered;
    }
    HX_TRY(hx_cone_sum(cone, 1, &d_weighted, &d_filtered));
    HX_TRY(ops->vector->divide(dev, n, d_filtered, cone->d_sum_weight, d_filtered));
    return own->d_void ? ops->vector->axpy(dev, n, 1.0, own->d_void, d_filtered) : HX_OK;
}

/* If both derivatives are needed, they are summed together and share the weights. */
static int backward_density(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv)
{
    const density_filter *const own = filter->impl;
    const hx_cone *const cone = &own->cone;
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
    density_filter *const own = filter->impl;
    if (own) filter->dev->ops->release(filter->dev, own->d_void);
    if (own) hx_cone_free(&own->cone);
    free(own);
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
