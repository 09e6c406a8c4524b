/* No filter: the physical density is the design. Expect checkerboards. */
#include "core/design/filter.h"

static size_t unfiltered_bytes(const hx_mesh *mesh, const hx_filter_params *params)
{
    (void)mesh, (void)params;
    return 0;
}

static int create_unfiltered(hx_filter *filter)
{
    (void)filter;
    return HX_OK;
}

static int forward_unfiltered(hx_filter *filter, const double *d_design, double *d_filtered)
{
    return filter->dev->ops->copy(filter->dev, d_filtered, d_design,
                                  (size_t)filter->problem->mesh->n_elem * sizeof *d_design);
}

static int backward_unfiltered(hx_filter *filter, const double *d_design, double *d_dc,
                               double *d_dv)
{
    (void)filter, (void)d_design, (void)d_dc, (void)d_dv;
    return HX_OK;
}

static void destroy_unfiltered(hx_filter *filter)
{
    (void)filter;
}

const hx_filter_kind hx_filter_none = {
    .name = "none",
    .help = "no filter (results depend on the mesh and may show checkerboards)",
    .needs_radius = 0,
    .keeps_range = 1,
    .is_distributed = 1,
    .bytes = unfiltered_bytes,
    .create = create_unfiltered,
    .forward = forward_unfiltered,
    .backward = backward_unfiltered,
    .destroy = destroy_unfiltered,
};
