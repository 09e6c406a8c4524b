/* The sensitivity filter (P1, section 2; Sigmund 1997):
 *
 *     dc_e <- sum_i H_ei rho_i dc_i / (rho_e sum_i H_ei),  H_ei = R - |x_e - x_i|
 *
 * over elements whose centroids lie within R, optionally H_ei times the volume of i (graded
 * meshes). The physical density is the design. Nothing is stored for a pair: the weights come from
 * the centroids each time, their sums once. */
#include <stdlib.h>
#include <string.h>

#include "core/cells.h"
#include "core/filter.h"
#include "core/memory.h"

typedef struct sensitivity_filter {
    hx_cells cells;
    double *weighted;   /* [n_elem] rho_i dc_i, times the volume if it weighs */
    double *sum_weight; /* [n_elem] sum_i H_ei */
} sensitivity_filter;

static int create(hx_filter *filter)
{
    const hx_mesh *mesh = filter->problem->mesh;
    const size_t n = (size_t)mesh->n_elem;
    sensitivity_filter *impl;
    HX_TRY(hx_alloc(&impl, 1, sizeof *impl, "sensitivity filter"));
    filter->impl = impl;
    HX_TRY(hx_cells_create(&impl->cells, mesh, filter->params.radius));
    HX_TRY(hx_alloc(&impl->weighted, n, sizeof *impl->weighted, "sensitivity filter"));
    HX_TRY(hx_alloc(&impl->sum_weight, n, sizeof *impl->sum_weight, "sensitivity filter"));
    filter->bytes = hx_cells_bytes(&impl->cells) + 2 * n * sizeof(double);
    for (size_t e = 0; e < n; e++)
        impl->weighted[e] = filter->params.volume_weighted ? filter->problem->volume[e] : 1.0;
    hx_cone_sum(&impl->cells, filter->params.radius, impl->weighted, impl->sum_weight);
    return HX_OK;
}

static int forward(hx_filter *filter, const double *design, double *physical)
{
    memcpy(physical, design, (size_t)filter->problem->mesh->n_elem * sizeof *physical);
    return HX_OK;
}

static int backward(hx_filter *filter, const double *design, double *dc, double *dv)
{
    sensitivity_filter *impl = filter->impl;
    const double *volume = filter->params.volume_weighted ? filter->problem->volume : NULL;
    const int64_t n = impl->cells.n;
    (void)dv;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        impl->weighted[e] = design[e] * dc[e] * (volume ? volume[e] : 1.0);
    hx_cone_sum(&impl->cells, filter->params.radius, impl->weighted, dc);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) dc[e] /= design[e] * impl->sum_weight[e];
    return HX_OK;
}

static void destroy(hx_filter *filter)
{
    sensitivity_filter *impl = filter->impl;
    if (!impl) return;
    hx_cells_free(&impl->cells);
    free(impl->weighted);
    free(impl->sum_weight);
    free(impl);
    filter->impl = NULL;
}

const hx_filter_kind hx_filter_sensitivity = {
    .name = "sensitivity",
    .help = "weighted mean of the sensitivities within a radius (the paper's)",
    .needs_radius = 1,
    .create = create,
    .forward = forward,
    .backward = backward,
    .destroy = destroy,
};
