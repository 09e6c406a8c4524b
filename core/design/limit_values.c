#include "limit_values.h"

#include <math.h>
#include <string.h>

#include "../base/vec3.h"
#include "../linalg/vector_ops.h"
#include "design_ops.h"
#include "local_volume.h"

/* 1 if the work of the loads decreases with every element's stiffness: the loads do not depend on
 * the density, and no displacement is prescribed. */
static int has_constant_loads(const hx_analysis *a)
{
    return !hx_problem_loads_vary(a->problem) && !a->op->d_prescribed;
}

static int find_bounds(hx_response *o, const hx_constraint_spec *spec, hx_limit_value *value)
{
    const hx_response_params *const params = &spec->params;
    const hx_problem *const problem = o->analysis->problem;
    const int c = params->load_case;
    value->is_highest = spec->kind == &hx_response_volume || spec->kind == &hx_response_mass ||
                        spec->kind == &hx_response_local_volume;
    value->is_lowest = spec->kind == &hx_response_compliance && has_constant_loads(o->analysis);
    if (value->is_highest || value->is_lowest || !has_constant_loads(o->analysis)) return HX_OK;
    const int is_linear = hx_norm3(params->direction) > 0.0 || hx_problem_is_heat(problem);
    if (!o->d_adjoint || o->kind->finish_adjoint || !is_linear || params->of_largest || c < 0)
        return HX_OK;
    HX_TRY(hx_response_find_multiple(o, c));
    value->is_lowest = o->multiple[c] > 0.0;
    value->is_highest = o->multiple[c] < 0.0;
    return HX_OK;
}

static int find_value(hx_analysis *analysis, const hx_measured *measured,
                      const hx_constraint_spec *spec, hx_limit_value *value)
{
    hx_response response;
    hx_response_params params = spec->params;
    int rc;
    params.is_lagrangian = 0; /* the value needs no multipliers */
    params.is_measured = 1;
    memset(&response, 0, sizeof response);
    HX_TRY_FAIL(
        hx_response_create(&response, spec->kind, "constraint", analysis, measured, &params));
    HX_TRY_FAIL(hx_response_prepare(&response));
    HX_TRY_FAIL(hx_response_report(&response, &value->value));
    HX_TRY_FAIL(find_bounds(&response, spec, value));
fail:
    hx_response_free(&response);
    return rc;
}

int hx_limit_values_of(hx_analysis *analysis, int n, const hx_constraint_spec *spec,
                       const double *d_physical, const double *d_volume, double volume,
                       hx_limit_value *value)
{
    hx_device *const dev = analysis->dev;
    const hx_problem *const problem = analysis->fields;
    hx_measured measured = {
        .d_physical = d_physical, .d_made = d_physical, .d_volume = d_volume, .volume = volume};
    if (isnan(volume)) {
        double mass, grey;
        HX_TRY(dev->ops->design->measure(dev, problem->mesh->n_elem, d_physical, d_volume, NULL,
                                         &mass, &grey));
        measured.volume = mass / problem->total_volume;
    }
    for (int i = 0; i < n; i++) HX_TRY(find_value(analysis, &measured, &spec[i], &value[i]));
    return HX_OK;
}

int hx_limit_values(hx_analysis *analysis, int n, const hx_constraint_spec *spec,
                    const double *density, double volume, hx_limit_value *value)
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
    rc = hx_limit_values_of(analysis, n, spec, d_physical, d_volume, volume, value);
fail:
    dev->ops->release(dev, d_physical);
    dev->ops->release(dev, d_volume);
    return rc;
}
