/* Reaction of the supports of a set: the sum of K u - f over its held degrees of freedom, in a
 * direction or as a size; for heat the heat that flows into the part there. With e = 1 at these
 * degrees of freedom, times the direction,
 *
 *     dR/drho = (lambda - e)'(df/drho - dK/drho u),  K lambda = K e at free degrees of freedom,
 *
 * so after the solve e is subtracted from lambda, which is 0 where e is not. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/reduce.h"
#include "../base/vec3.h"
#include "../linalg/vector_ops.h"
#include "analysis_internal.h"
#include "response_set.h"

static const char *origin_of(const hx_response_params *params)
{
    return params->origin ? params->origin : "reaction";
}

/* e[n_point][components] of component i; the caller frees it. */
static int make_held(const hx_problem *problem, const hx_response_params *params, int i, double **e)
{
    const hx_set *const set = hx_mesh_find_set(problem->mesh, params->set);
    const int c = problem->components;
    const double size = hx_norm3(params->direction);
    int32_t *point;
    int64_t n;
    HX_TRY(hx_response_check_set(problem, params->set, origin_of(params)));
    HX_TRY(hx_space_set_points(&problem->space, set, &n, &point));
    const int rc =
        hx_alloc(e, (size_t)c * (size_t)problem->space.n_point, sizeof **e, "reaction of a set");
    for (int64_t k = 0; rc == HX_OK && k < n; k++)
        for (int j = 0; j < c; j++) {
            const double along = c == 3 && size > 0.0 ? params->direction[j] / size : j == i;
            if (problem->supports.fixed[point[k]] >> j & 1) (*e)[c * (int64_t)point[k] + j] = along;
        }
    free(point);
    return rc;
}

/* HX_EINPUT: no degree of freedom of the set is held, or none in the direction. */
static int check_held(const hx_problem *problem, const hx_response_params *params)
{
    const int n = hx_response_set_vectors(problem, params);
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double *e;
        HX_TRY(make_held(problem, params, i, &e));
        for (int64_t k = 0; k < problem->components * problem->space.n_point; k++)
            sum += fabs(e[k]);
        free(e);
    }
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(problem->mesh), 1, &sum));
    if (sum > 0.0) return HX_OK;
    return HX_RAISE(
        HX_EINPUT,
        "%s: no support holds set '%s'%s, so it has no reaction; name the set of a "
        "support",
        origin_of(params), params->set,
        problem->components == 3 && hx_norm3(params->direction) > 0.0 ? " in this direction" : "");
}

static int create_held(hx_response *o)
{
    return hx_response_set_create(o, make_held);
}

static int measure_reactions(hx_response *o)
{
    for (int c = 0; c < o->analysis->problem->cases.n; c++) {
        if (!hx_response_has_case(o, c)) continue;
        HX_TRY(hx_analysis_find_residual(o->analysis, c));
        HX_TRY(hx_response_set_measure(o, c, o->analysis->pcg->d_q));
    }
    return HX_OK;
}

static int reaction(const hx_response *o, double *sum)
{
    double slope[3];
    *sum = 0.0;
    for (int c = 0; c < o->analysis->problem->cases.n; c++)
        if (hx_response_has_case(o, c))
            *sum += hx_response_weight(o, c) * hx_response_set_value(o, c, slope);
    return HX_OK;
}

/* Vector d_e := e of the value of a case. */
static int fill_held(const hx_response *o, int c, double *d_e)
{
    double slope[3];
    hx_response_set_value(o, c, slope);
    return hx_response_set_load(o, hx_response_weight(o, c), slope, d_e);
}

static int load_held(const hx_response *o, int c, double *d_load)
{
    double *const d_e = o->analysis->pcg->d_p;
    HX_TRY(fill_held(o, c, d_e));
    return hx_operator_apply_exact(o->analysis->op, d_e, d_load);
}

static int subtract_held(const hx_response *o, int c, double *d_adjoint)
{
    hx_device *const dev = o->analysis->dev;
    HX_TRY(fill_held(o, c, o->d_load));
    return dev->ops->vector->axpy(dev, o->analysis->op->linear.n, -1.0, o->d_load, d_adjoint);
}

const hx_response_kind hx_response_reaction = {
    .name = "reaction",
    .help = "sum of the reactions of the supports of a set, in a direction or its size",
    .is_objective = 1,
    .is_constraint = 1,
    .takes = HX_TAKES_SET | HX_TAKES_DIRECTION | HX_TAKES_MAGNITUDE | HX_TAKES_CASE,
    .not_in_heat = HX_TAKES_DIRECTION,
    .needs = HX_TAKES_SET,
    .is_distributed = 1,
    .unit = HX_VALUE_FORCE,
    .heat_unit = HX_VALUE_POWER,
    .check = check_held,
    .bytes = hx_response_set_bytes,
    .create = create_held,
    .prepare = measure_reactions,
    .value = reaction,
    .adjoint_load = load_held,
    .finish_adjoint = subtract_held,
    .destroy = hx_response_set_destroy,
};
