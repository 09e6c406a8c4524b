/* The sensitivity filter (P1, section 2; Sigmund 1997):
 *
 *     dc_e <- sum_i H_ei rho_i dc_i / (rho_e sum_i H_ei),  H_ei = R - |x_e - x_i|
 *
 * over elements whose centroids lie within R, optionally H_ei times the volume of i (graded
 * meshes). The physical density is the design. Nothing is stored for a pair: the weights come from
 * the centroids each time, their sums once. */
#include <stdlib.h>

#include "core/cells.h"
#include "core/filter.h"
#include "core/memory.h"

typedef struct sensitivity_filter {
    hx_device_cells cells;
    double *d_sum_weight; /* [n_elem] sum_i H_ei */
    double *d_volume;     /* [n_elem] if it weighs, or NULL */
} sensitivity_filter;

static size_t bytes(const hx_mesh *mesh, const hx_filter_params *params)
{
    const size_t field = (size_t)mesh->n_elem * sizeof(double);
    return hx_device_cells_bytes(mesh->n_elem) + (params->volume_weighted ? 2 : 1) * field;
}

/* sum_weight: of the volumes, or of ones. */
static int sum_weights(hx_filter *filter, sensitivity_filter *impl)
{
    const size_t n = (size_t)filter->problem->mesh->n_elem;
    hx_device *dev = filter->dev;
    double *ones = NULL;
    const double *weight = filter->problem->volume;
    int rc;
    if (!filter->params.volume_weighted) {
        HX_TRY(hx_alloc_raw(&ones, n, sizeof *ones, "sensitivity filter"));
#pragma omp parallel for schedule(static)
        for (size_t e = 0; e < n; e++) ones[e] = 1.0;
        weight = ones;
    } else {
        HX_TRY(dev->ops->alloc(dev, n * sizeof(double), &impl->d_volume));
        HX_TRY(dev->ops->upload(dev, impl->d_volume, weight, n * sizeof(double)));
    }
    HX_TRY_FAIL(dev->ops->alloc(dev, n * sizeof(double), &impl->d_sum_weight));
    HX_TRY_FAIL(dev->ops->upload(dev, impl->d_sum_weight, weight, n * sizeof(double)));
    rc = dev->ops->cone_sum(dev, &impl->cells, filter->params.radius, impl->d_sum_weight,
                            impl->d_sum_weight);
fail:
    free(ones);
    return rc;
}

static int create(hx_filter *filter)
{
    sensitivity_filter *impl;
    HX_TRY(hx_alloc(&impl, 1, sizeof *impl, "sensitivity filter"));
    filter->impl = impl;
    HX_TRY(hx_device_cells_create(&impl->cells, filter->dev, filter->problem->mesh,
                                  filter->params.radius));
    return sum_weights(filter, impl);
}

static int forward(hx_filter *filter, const double *d_design, double *d_physical)
{
    return filter->dev->ops->copy(filter->dev, d_physical, d_design,
                                  (size_t)filter->problem->mesh->n_elem * sizeof *d_design);
}

static int backward(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv)
{
    const sensitivity_filter *impl = filter->impl;
    hx_device *dev = filter->dev;
    const hx_device_ops *ops = dev->ops;
    const int64_t n = impl->cells.n;
    (void)d_dv;
    HX_TRY(ops->multiply(dev, n, d_design, d_dc, d_dc));
    if (impl->d_volume) HX_TRY(ops->multiply(dev, n, impl->d_volume, d_dc, d_dc));
    HX_TRY(ops->cone_sum(dev, &impl->cells, filter->params.radius, d_dc, d_dc));
    HX_TRY(ops->divide(dev, n, d_dc, d_design, d_dc));
    return ops->divide(dev, n, d_dc, impl->d_sum_weight, d_dc);
}

static void destroy(hx_filter *filter)
{
    sensitivity_filter *impl = filter->impl;
    hx_device *dev = filter->dev;
    if (!impl) return;
    hx_device_cells_free(&impl->cells, dev);
    dev->ops->release(dev, impl->d_sum_weight);
    dev->ops->release(dev, impl->d_volume);
    free(impl);
    filter->impl = NULL;
}

const hx_filter_kind hx_filter_sensitivity = {
    .name = "sensitivity",
    .help = "weighted mean of the sensitivities within a radius (the paper's)",
    .needs_radius = 1,
    .bytes = bytes,
    .create = create,
    .forward = forward,
    .backward = backward,
    .destroy = destroy,
};
