#include "filter.h"

#include <math.h>
#include <string.h>

int hx_filter_create(hx_filter *filter, const hx_filter_kind *kind, hx_device *dev,
                     const hx_problem *problem, const hx_filter_params *params)
{
    memset(filter, 0, sizeof *filter);
    filter->kind = kind;
    filter->dev = dev;
    filter->problem = problem;
    filter->params = *params;
    if (kind->needs_radius && !(params->radius > 0.0 && isfinite(params->radius)))
        return HX_RAISE(HX_EINPUT, "filter '%s' needs a radius above 0, got %g", kind->name,
                        params->radius);
    const int rc = kind->create(filter);
    if (rc < 0) hx_filter_free(filter);
    return rc;
}

int hx_filter_forward(hx_filter *filter, const double *d_design, double *d_physical)
{
    return filter->kind->forward(filter, d_design, d_physical);
}

int hx_filter_backward(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv)
{
    return filter->kind->backward(filter, d_design, d_dc, d_dv);
}

void hx_filter_free(hx_filter *filter)
{
    if (filter->kind) filter->kind->destroy(filter);
    memset(filter, 0, sizeof *filter);
}
