#include "limit_values.h"

#include <string.h>

#include "../linalg/vector_ops.h"

static int find_value(hx_analysis *analysis, const hx_measured *measured,
                      const hx_constraint_spec *spec, double *value)
{
    hx_response response;
    int rc;
    memset(&response, 0, sizeof response);
    HX_TRY_FAIL(
        hx_response_create(&response, spec->kind, "constraint", analysis, measured, &spec->params));
    if (spec->kind->prepare) HX_TRY_FAIL(spec->kind->prepare(&response));
    HX_TRY_FAIL(spec->kind->value(&response, value));
fail:
    hx_response_free(&response);
    return rc;
}

int hx_limit_values(hx_analysis *analysis, int n, const hx_constraint_spec *spec,
                    const double *density, double volume, double *value)
{
    hx_device *const dev = analysis->dev;
    const hx_problem *const problem = analysis->fields;
    const int64_t n_elem = problem->mesh->n_elem;
    const size_t bytes = (size_t)n_elem * sizeof(double);
    double *d_physical = NULL, *d_volume = NULL;
    int rc = HX_OK;
    HX_TRY_FAIL(hx_device_put(dev, &d_volume, problem->volume, bytes));
    if (density) {
        HX_TRY_FAIL(hx_device_put(dev, &d_physical, density, bytes));
    } else {
        HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &d_physical));
        HX_TRY_FAIL(dev->ops->vector->fill(dev, n_elem, 1.0, d_physical));
    }
    const hx_measured measured = {
        .d_physical = d_physical, .d_volume = d_volume, .volume = volume};
    for (int i = 0; i < n; i++)
        HX_TRY_FAIL(find_value(analysis, &measured, &spec[i], &value[i]));
fail:
    dev->ops->release(dev, d_physical);
    dev->ops->release(dev, d_volume);
    return rc;
}
