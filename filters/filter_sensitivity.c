/* The sensitivity filter (P1, section 2; Sigmund 1997):
 *
 *     dc_e <- sum_i H_ei rho_i dc_i / (rho_e sum_i H_ei),  H_ei = R - |x_e - x_i|
 *
 * over elements whose centroids lie within R, optionally H_ei times the volume of i (graded
 * meshes). The physical density is the design. Neighbours are stored, weights recomputed: 4 bytes a
 * pair. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/filter.h"
#include "core/memory.h"
#include "core/neighbours.h"

typedef struct sensitivity_filter {
    hx_neighbours neighbours;
    double *weighted; /* [n_elem] rho_i dc_i */
} sensitivity_filter;

static int create(hx_filter *filter)
{
    const hx_mesh *mesh = filter->problem->mesh;
    sensitivity_filter *impl;
    HX_TRY(hx_alloc(&impl, 1, sizeof *impl, "sensitivity filter"));
    filter->impl = impl;
    HX_TRY(hx_neighbours_create(&impl->neighbours, mesh, filter->params.radius));
    HX_TRY(hx_alloc(&impl->weighted, (size_t)mesh->n_elem, sizeof *impl->weighted,
                    "sensitivity filter"));
    filter->bytes = impl->neighbours.bytes + (size_t)mesh->n_elem * sizeof *impl->weighted;
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
    const hx_neighbours *nb = &impl->neighbours;
    const double *volume = filter->params.volume_weighted ? filter->problem->volume : NULL;
    (void)dv;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < nb->n; e++) impl->weighted[e] = design[e] * dc[e];
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t e = 0; e < nb->n; e++) {
        const double *x = nb->centroid + 3 * e;
        double sum = 0.0, sum_weight = 0.0;
        for (int64_t k = nb->ptr[e]; k < nb->ptr[e + 1]; k++) {
            const int64_t i = nb->index[k];
            const double *y = nb->centroid + 3 * i;
            const double distance =
                sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                     (x[2] - y[2]) * (x[2] - y[2]));
            const double weight = (nb->radius - distance) * (volume ? volume[i] : 1.0);
            sum += weight * impl->weighted[i];
            sum_weight += weight;
        }
        dc[e] = sum / (design[e] * sum_weight);
    }
    return HX_OK;
}

static void destroy(hx_filter *filter)
{
    sensitivity_filter *impl = filter->impl;
    if (!impl) return;
    hx_neighbours_free(&impl->neighbours);
    free(impl->weighted);
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
