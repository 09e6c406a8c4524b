/* Temperature of a set: the mean, the difference of the means of two sets, or the largest. It is
 * absolute: the solved difference to the reference plus the reference (problem.h). */
#include "response_set.h"

static int check(const hx_problem *problem, const hx_response_params *params)
{
    const char *const origin = params->origin ? params->origin : "temperature";
    if (!hx_problem_is_heat(problem))
        return HX_RAISE(HX_EINPUT, "%s: only physics = \"heat\" has temperatures", origin);
    return hx_field_check(problem, params, "temperature", "the temperature of");
}

/* The reference in the value: none in a difference. */
static double temperature_zero(const hx_problem *problem, const hx_response_params *params)
{
    double weight = 0.0;
    if (params->set_2) return 0.0;
    if (params->load_case != HX_ALL_CASES) return problem->reference;
    for (int c = 0; c < problem->cases.n; c++) weight += problem->cases.weight[c];
    return weight * problem->reference;
}

static int temperature_value(const hx_response *o, double *temperature)
{
    HX_TRY(hx_field_value(o, temperature));
    *temperature += temperature_zero(o->analysis->problem, &o->params);
    return HX_OK;
}

static int temperature_report(const hx_response *o, double *temperature)
{
    HX_TRY(hx_field_report(o, temperature));
    *temperature += temperature_zero(o->analysis->problem, &o->params);
    return HX_OK;
}

const hx_response_kind hx_response_temperature = {
    .name = "temperature",
    .help = "temperature of a set: mean, difference of two means, or the largest",
    .is_objective = 1,
    .is_constraint = 1,
    .takes = HX_TAKES_SET | HX_TAKES_SET_2 | HX_TAKES_LARGEST | HX_TAKES_MAGNITUDE | HX_TAKES_CASE,
    .needs = HX_TAKES_SET,
    .is_distributed = 1,
    .heat_unit = HX_VALUE_TEMPERATURE,
    .check = check,
    .bytes = hx_response_set_bytes,
    .create = hx_field_create,
    .prepare = hx_field_prepare,
    .accept = hx_field_accept,
    .value = temperature_value,
    .report = temperature_report,
    .adjoint_load = hx_field_load,
    .zero = temperature_zero,
    .snapshot = hx_field_snapshot,
    .destroy = hx_field_destroy,
};
