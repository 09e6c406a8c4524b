/* The method of moving asymptotes (mma.h), for several constraints, each an upper limit. */
#include "update_mma.h"

#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "analysis_internal.h"

/* Scales, with which multipliers and cost of the artificial variables fit each other (Svanberg
 * 2007): of a limit that is exceeded by its own size, of the largest value of the first design if
 * the largest of some is minimised, and of the objective's derivative summed over the elements of
 * the first design, for an objective of 1 to 10. */
#define LIMIT_SCALE 10.0
#define SLOPE_SCALE 30.0

/* What the largest of values that may be negative is at least in an approximation. */
#define LARGEST_SIGNED 1e3

/* Relative violation of a limit above which the asymptotes are cautious. A displacement grows with
 * the inverse cube of a density, and far from its limit the approximation with asymptotes below 0
 * promises so much that elements with small derivatives are emptied, and the part with them. */
#define VIOLATED 0.1

/* Factor on the largest distance of the asymptotes in a design whose Lagrangian increased, if an
 * augmented Lagrangian is part of the objective. Its curvature of mu is no part of the separable
 * approximation, so that designs swing about their optimum, a lighter one after a heavier one. */
#define AUGMENTED_CLOSER 0.3

int hx_update_mma_open(hx_update *update, hx_update_mma_state *state)
{
    hx_device *dev = update->dev;
    const size_t bytes = (size_t)update->problem->mesh->n_elem * sizeof(double);
    state->method = hx_mma_defaults;
    HX_TRY(dev->ops->alloc(dev, bytes, &state->d_state));
    return hx_update_mma_forget(update, state);
}

void hx_update_mma_close(hx_update *update, hx_update_mma_state *state)
{
    update->dev->ops->release(update->dev, state->d_state);
    state->d_state = NULL;
}

int hx_update_mma_forget(hx_update *update, hx_update_mma_state *state)
{
    return update->dev->ops->zero(update->dev, state->d_state,
                                  (size_t)update->problem->mesh->n_elem * sizeof(double));
}

/* Derivatives and scaled values. If the largest of some constraints is minimised, z is the
 * objective. */
static void describe_functions(const hx_update *update, const hx_update_step *step,
                               hx_update_mma_state *state)
{
    hx_mma *const method = &state->method;
    hx_device_mma *const at = &method->at;
    at->m = update->n_row;
    at->d_derivative[0] = step->d_dc;
    at->scale[0] = state->objective;
    at->is_cautious = 0;
    method->objective = state->objective * step->value;
    method->added = state->objective * step->convexity;
    method->shift = 0.0;
    for (int i = 0; i < at->m; i++) {
        const hx_limit_row *const row = &update->row[i];
        const hx_response *const g = row->response;
        at->d_derivative[1 + i] = g->d_derivative;
        at->scale[1 + i] = row->in_largest ? state->objective * row->weight
                                           : row->sign * LIMIT_SCALE / fabs(row->bound - row->zero);
        method->value[i] = at->scale[1 + i] * (row->in_largest ? g->now : g->now - row->bound);
        method->a[i] = row->in_largest;
        method->is_linear[i] = g->kind->is_linear && hx_filter_is_linear(update->filter);
        if (!row->in_largest) {
            at->is_cautious |= !g->kind->is_linear && method->value[i] > VIOLATED * LIMIT_SCALE;
            continue;
        }
        at->d_derivative[0] = NULL;
        method->objective = 0.0;
        if (row->is_signed)
            method->shift = fmax(method->shift, LARGEST_SIGNED + fabs(method->value[i]));
    }
    /* an objective that has grown does not pay for a violated limit */
    method->c = hx_mma_defaults.c * fmax(1.0, 0.1 * fabs(method->objective));
}

/* From the first design. */
static int find_scale(hx_update *update, const hx_update_step *step, hx_update_mma_state *state)
{
    hx_device_mma once = state->method.at;
    double sum[2 + HX_MMA_MOST], largest = 0.0;
    for (int i = 0; i < update->n_row; i++)
        if (update->row[i].in_largest && !update->row[i].is_signed)
            largest = fmax(largest, fabs(update->row[i].weight * update->row[i].response->now));
    if (largest > 0.0) {
        state->objective = LIMIT_SCALE / largest;
        return HX_OK;
    }
    once.d_derivative[0] = step->d_dc;
    once.scale[0] = 1.0;
    once.m = 0;
    HX_TRY(update->dev->ops->design->mma_begin(update->dev, &once, sum));
    state->objective = sum[1] > 0.0 ? SLOPE_SCALE / sum[1] : 1.0;
    return HX_OK;
}

int hx_update_mma_describe(hx_update *update, const hx_update_step *step,
                           hx_update_mma_state *state)
{
    hx_device_mma *const at = &state->method.at;
    at->n = update->problem->mesh->n_elem;
    at->low = update->design->rho_min;
    at->move = update->design->move;
    /* nearer for a steep projection (Guest 2011) */
    at->first = 0.5 / (1.0 + update->filter->projection.beta);
    at->d_design = step->d_design;
    at->d_passive = update->filter->d_passive;
    at->d_state = state->d_state;
    at->d_proposal = step->d_proposal;
    at->groups = update->groups;
    if (step->is_other) state->method.last[0] = INFINITY;
    if (!(state->objective > 0.0)) HX_TRY(find_scale(update, step, state));
    describe_functions(update, step, state);
    return HX_OK;
}

int hx_update_mma_snapshot(hx_update *update, hx_update_mma_state *state, hx_snapshot *image)
{
    hx_mma *const method = &state->method;
    HX_TRY(hx_snapshot_host(image, "mma.objective", &state->objective, sizeof state->objective));
    HX_TRY(hx_snapshot_host(image, "mma.has multipliers", &method->has_lambda,
                            sizeof method->has_lambda));
    HX_TRY(hx_snapshot_host(image, "mma.multipliers", method->at.lambda, sizeof method->at.lambda));
    HX_TRY(hx_snapshot_host(image, "mma.values", method->last, sizeof method->last));
    HX_TRY(hx_snapshot_host(image, "mma.offsets", method->offset, sizeof method->offset));
    HX_TRY(hx_snapshot_newer(image, "mma.first kkt", &method->first_kkt, sizeof method->first_kkt));
    return hx_analysis_snapshot_field(update->analysis, image, "mma.asymptotes", state->d_state);
}

static void destroy_mma(hx_update *update)
{
    if (update->impl) hx_update_mma_close(update, update->impl);
    free(update->impl);
    update->impl = NULL;
}

static int create_mma(hx_update *update)
{
    hx_update_mma_state *state;
    HX_TRY(hx_alloc(&state, 1, sizeof *state, "method of moving asymptotes"));
    update->impl = state;
    const int rc = hx_update_mma_open(update, state);
    if (rc < 0) destroy_mma(update);
    return rc;
}

static int propose(hx_update *update, hx_update_step *step)
{
    hx_update_mma_state *const state = update->impl;
    const double beta = update->filter->projection.beta;
    hx_mma_limit_asymptotes(&state->method, beta);
    if (step->is_augmented && beta > 0.0) state->method.farthest_if_worse *= AUGMENTED_CLOSER;
    HX_TRY(hx_update_mma_describe(update, step, state));
    if (step->is_again) /* the proposal stays, but the next functions are others */
        HX_TRY(hx_update_mma_forget(update, state));
    else
        HX_TRY(hx_mma_propose(update->dev, &state->method));
    step->trials++;
    step->change = state->method.change;
    step->free_change = state->method.free_change;
    step->kkt = state->method.kkt;
    return HX_OK;
}

static int snapshot_mma(hx_update *update, hx_snapshot *image)
{
    return hx_update_mma_snapshot(update, update->impl, image);
}

const hx_update_kind hx_update_mma = {
    .name = "mma",
    .help = "method of moving asymptotes, for several constraints; the volume is an upper limit",
    .most_rows = HX_MMA_MOST,
    .is_distributed = 1,
    .is_upper_limit = 1,
    .bytes_per_elem = sizeof(double),
    .create = create_mma,
    .propose = propose,
    .snapshot = snapshot_mma,
    .destroy = destroy_mma,
};
