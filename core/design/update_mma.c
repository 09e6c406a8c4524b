/* The method of moving asymptotes (mma.h), for several constraints, each an upper limit. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "analysis_internal.h"
#include "mma.h"
#include "update.h"

/* Scales, with which multipliers and cost of the artificial variables fit each other (Svanberg
 * 2007, section 3): of a limit that is exceeded by its own size, and of the objective's derivative
 * summed over the elements of the first design, for an objective of 1 to 10. */
#define LIMIT_SCALE 10.0
#define SLOPE_SCALE 30.0

typedef struct mma {
    hx_mma method;
    double *d_state;  /* [n_elem] asymptotes (owned) */
    double objective; /* scale of the objective, the same in all designs; 0: not yet known */
} mma;

static void destroy_mma(hx_update *update)
{
    mma *own = update->impl;
    if (own) update->dev->ops->release(update->dev, own->d_state);
    free(own);
    update->impl = NULL;
}

static size_t field_bytes(const hx_update *update)
{
    return (size_t)update->problem->mesh->n_elem * sizeof(double);
}

static int forget_asymptotes(hx_update *update)
{
    const mma *own = update->impl;
    return update->dev->ops->zero(update->dev, own->d_state, field_bytes(update));
}

static int create_mma(hx_update *update)
{
    mma *own;
    for (int i = 0; i < update->n_constraint; i++)
        if (update->constraint[i].limit == 0.0)
            return HX_RAISE(HX_EINPUT,
                            "constraint '%s' has the limit 0, to which no value can be related: "
                            "use a small limit instead",
                            update->constraint[i].kind->name);
    HX_TRY(hx_alloc(&own, 1, sizeof *own, "method of moving asymptotes"));
    update->impl = own;
    own->method = hx_mma_defaults;
    int rc = update->dev->ops->alloc(update->dev, field_bytes(update), &own->d_state);
    if (rc == HX_OK) rc = forget_asymptotes(update);
    if (rc < 0) destroy_mma(update);
    return rc;
}

/* The scaled problem about the analysed design. */
static void describe(const hx_update *update, const hx_update_step *step, hx_mma *method)
{
    const mma *const own = update->impl;
    hx_device_mma *const at = &method->at;
    at->n = update->problem->mesh->n_elem;
    at->m = update->n_constraint;
    at->low = update->design->rho_min;
    at->move = update->design->move;
    at->first = 0.5 / (1.0 + update->filter->projection.beta);
    at->d_design = step->d_design;
    at->d_passive = update->filter->d_passive;
    at->d_state = own->d_state;
    at->d_proposal = step->d_proposal;
    at->groups = update->groups;
    at->d_derivative[0] = step->d_dc;
    at->scale[0] = own->objective;
    method->objective = own->objective * step->value;
    for (int i = 0; i < at->m; i++) {
        const hx_response *const g = &update->constraint[i];
        at->d_derivative[1 + i] = g->d_derivative;
        at->scale[1 + i] = LIMIT_SCALE / fabs(g->limit);
        method->value[i] = at->scale[1 + i] * (g->in_largest ? g->now : g->now - g->limit);
        method->a[i] = g->in_largest;
        if (g->in_largest) { /* z is the objective */
            at->d_derivative[0] = NULL;
            method->objective = 0.0;
        }
    }
}

/* From the first design. */
static int find_scale(hx_update *update, const hx_device_mma *at)
{
    mma *own = update->impl;
    hx_device_mma once = *at;
    double sum[2 + HX_MMA_MOST];
    once.scale[0] = 1.0;
    HX_TRY(update->dev->ops->design->mma_begin(update->dev, &once, sum));
    own->objective = sum[1] > 0.0 ? SLOPE_SCALE / sum[1] : 1.0;
    return HX_OK;
}

static int propose(hx_update *update, hx_update_step *step)
{
    mma *own = update->impl;
    hx_mma *const method = &own->method;
    describe(update, step, method);
    if (!(own->objective > 0.0)) {
        HX_TRY(find_scale(update, &method->at));
        method->at.scale[0] = own->objective;
        method->objective = own->objective * step->value;
    }
    if (step->is_again) /* the proposal stays; the next function is steeper (Guest et al. 2011) */
        HX_TRY(forget_asymptotes(update));
    else
        HX_TRY(hx_mma_propose(update->dev, method));
    step->trials++;
    step->change = method->change;
    step->kkt = method->kkt;
    return HX_OK;
}

static int snapshot(hx_update *update, hx_snapshot *image)
{
    mma *own = update->impl;
    hx_mma *const method = &own->method;
    HX_TRY(hx_snapshot_host(image, "mma.objective", &own->objective, sizeof own->objective));
    HX_TRY(hx_snapshot_host(image, "mma.has multipliers", &method->has_lambda,
                            sizeof method->has_lambda));
    HX_TRY(hx_snapshot_host(image, "mma.multipliers", method->at.lambda, sizeof method->at.lambda));
    HX_TRY(hx_snapshot_host(image, "mma.values", method->last, sizeof method->last));
    return hx_analysis_snapshot_field(update->constraint[0].analysis, image, "mma.asymptotes",
                                      own->d_state);
}

const hx_update_kind hx_update_mma = {
    .name = "mma",
    .help = "method of moving asymptotes, for several constraints; the volume is an upper limit",
    .most_constraints = HX_MMA_MOST,
    .is_distributed = 1,
    .bytes_per_elem = sizeof(double),
    .create = create_mma,
    .propose = propose,
    .snapshot = snapshot,
    .destroy = destroy_mma,
};
