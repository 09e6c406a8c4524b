/* No filter: the physical density is the design. Expect checkerboards. */
#include "core/filter.h"

static int create(hx_filter *filter)
{
    (void)filter;
    return HX_OK;
}

static int forward(hx_filter *filter, const double *design, double *physical)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < filter->problem->mesh->n_elem; e++) physical[e] = design[e];
    return HX_OK;
}

static int backward(hx_filter *filter, const double *design, double *dc, double *dv)
{
    (void)filter, (void)design, (void)dc, (void)dv;
    return HX_OK;
}

static void destroy(hx_filter *filter)
{
    (void)filter;
}

const hx_filter_kind hx_filter_none = {
    .name = "none",
    .help = "no filter (results depend on the mesh and may show checkerboards)",
    .needs_radius = 0,
    .create = create,
    .forward = forward,
    .backward = backward,
    .destroy = destroy,
};
