/* Displacement of a set: the mean, signed in a direction or as a size, the difference of the means
 * of two sets, or the largest. */
#include "response_set.h"

static int check(const hx_problem *problem, const hx_response_params *params)
{
    if (hx_problem_is_heat(problem))
        return HX_RAISE(HX_EINPUT, "%s: physics = \"heat\" has no displacements; use temperature",
                        params->origin ? params->origin : "displacement");
    return hx_field_check(problem, params, "displacement", "the displacement of");
}

const hx_response_kind hx_response_displacement = {
    .name = "displacement",
    .help = "displacement of a set: mean in a direction, size of the mean, or the largest",
    .is_objective = 1,
    .is_constraint = 1,
    .takes = HX_TAKES_SET | HX_TAKES_DIRECTION | HX_TAKES_SET_2 | HX_TAKES_MAGNITUDE |
             HX_TAKES_LARGEST | HX_TAKES_CASE,
    .needs = HX_TAKES_SET,
    .is_distributed = 1,
    .unit = HX_VALUE_LENGTH,
    .check = check,
    .bytes = hx_response_set_bytes,
    .create = hx_field_create,
    .prepare = hx_field_prepare,
    .accept = hx_field_accept,
    .value = hx_field_value,
    .report = hx_field_report,
    .adjoint_load = hx_field_load,
    .snapshot = hx_field_snapshot,
    .destroy = hx_field_destroy,
};
