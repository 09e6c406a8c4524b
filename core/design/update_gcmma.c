/* The globally convergent method of moving asymptotes (Svanberg 2002): a design is accepted if no
 * function is larger than its approximation. Otherwise the functions become more convex, and another
 * design is proposed about the last accepted one, the centre, in the same iteration. So the designs
 * of a run are the accepted ones, whose objective decreases, apart from the cost of violated
 * limits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "analysis_internal.h"
#include "update_mma.h"

enum { MOST_REJECTED = 20 }; /* designs in succession */

/* Excess over the approximation that counts, relative to the scaled functions, whose solves and sums
 * are not exact. */
#define TOLERANCE 1e-6

typedef struct gcmma {
    hx_update_mma_state mma;
    /* [n_elem]: the centre, and derivatives there, of which those of the objective are the first;
     * two rows of one response share them (owned) */
    double *d_centre, *d_derivative[1 + HX_MMA_MOST];
    /* of the centre, scaled; has_centre = 0: the next design is accepted */
    int has_centre, n_rejected;
    double objective, value[HX_MMA_MOST], convexity[1 + HX_MMA_MOST];
    /* of the proposal, which is the next analysed design: value of every function, and distance */
    double approximate[1 + HX_MMA_MOST], distance;
    double penalty; /* of the centre's analysis */
} gcmma;

/* 0: function i, 0 for the objective, is the second row of a response. */
static int is_first_of_response(const hx_update *update, int i)
{
    return i < 2 || update->row[i - 1].response != update->row[i - 2].response;
}

static void destroy_gcmma(hx_update *update)
{
    gcmma *own = update->impl;
    hx_device *dev = update->dev;
    if (own) {
        hx_update_mma_close(update, &own->mma);
        dev->ops->release(dev, own->d_centre);
        for (int i = 0; i <= update->n_row; i++)
            if (is_first_of_response(update, i)) dev->ops->release(dev, own->d_derivative[i]);
    }
    free(own);
    update->impl = NULL;
}

static int create_fields(hx_update *update, gcmma *own)
{
    hx_device *dev = update->dev;
    const size_t bytes = (size_t)update->problem->mesh->n_elem * sizeof(double);
    HX_TRY(hx_update_mma_open(update, &own->mma));
    HX_TRY(dev->ops->alloc(dev, bytes, &own->d_centre));
    for (int i = 0; i <= update->n_row; i++)
        if (is_first_of_response(update, i))
            HX_TRY(dev->ops->alloc(dev, bytes, &own->d_derivative[i]));
        else
            own->d_derivative[i] = own->d_derivative[i - 1];
    return HX_OK;
}

static int create_gcmma(hx_update *update)
{
    gcmma *own;
    if (update->filter->kind->is_heuristic)
        return HX_RAISE(HX_EINPUT,
                        "optimization.update = \"gcmma\" compares designs with what derivatives "
                        "predict, and the filter '%s' has none: use "
                        "optimization.filter.kind = \"density\", or optimization.update = \"mma\"",
                        update->filter->kind->name);
    HX_TRY(hx_alloc(&own, 1, sizeof *own, "method of moving asymptotes"));
    update->impl = own;
    const int rc = create_fields(update, own);
    if (rc < 0) destroy_gcmma(update);
    return rc;
}

static double value_of(const hx_mma *method, int i)
{
    return i == 0 ? method->objective : method->value[i - 1];
}

/* 1 if the analysed design is not larger than its approximation in any function. */
static int is_accepted(const gcmma *own, const hx_mma *method)
{
    for (int i = 0; i <= method->at.m; i++) {
        const double value = value_of(method, i);
        if (!(value <= own->approximate[i] + TOLERANCE * fmax(1.0, fabs(value)))) return 0;
    }
    return 1;
}

/* The functions become so convex that the rejected design would almost be accepted. */
static void raise_convexity(gcmma *own, const hx_mma *method)
{
    for (int i = 0; i <= method->at.m; i++) {
        const double excess = value_of(method, i) - own->approximate[i], was = own->convexity[i];
        if (!(excess > 0.0)) continue;
        const double wanted = 1.1 * (was + excess / own->distance);
        own->convexity[i] = was > 0.0 ? fmin(10.0 * was, wanted) : wanted;
    }
}

/* The analysed design becomes the centre: its values and derivatives are kept, and the asymptotes
 * follow the change from the last centre. */
static int take_centre(hx_update *update, gcmma *own)
{
    hx_device *dev = update->dev;
    hx_mma *const method = &own->mma.method;
    const size_t bytes = (size_t)method->at.n * sizeof(double);
    double sum[2 + HX_MMA_MOST];
    if (own->has_centre) {
        hx_device_mma step = method->at;
        step.d_proposal = (double *)method->at.d_design; /* only read */
        step.d_design = own->d_centre;
        HX_TRY(dev->ops->design->mma_settle(dev, &step));
    }
    HX_TRY(dev->ops->copy(dev, own->d_centre, method->at.d_design, bytes));
    HX_TRY(dev->ops->design->mma_begin(dev, &method->at, sum));
    for (int i = 0; i <= method->at.m; i++) {
        const double *const d_from = method->at.d_derivative[i];
        if (d_from && is_first_of_response(update, i))
            HX_TRY(dev->ops->copy(dev, own->d_derivative[i], d_from, bytes));
        own->convexity[i] = 0.1 * sum[1 + i] / fmax(1.0, sum[0]);
    }
    own->objective = method->objective;
    memcpy(own->value, method->value, sizeof own->value);
    own->has_centre = 1;
    own->n_rejected = 0;
    return HX_OK;
}

/* The problem about the centre. */
static void describe_centre(const gcmma *own, hx_mma *method)
{
    method->at.d_design = own->d_centre;
    for (int i = 0; i <= method->at.m; i++) {
        if (method->at.d_derivative[i]) method->at.d_derivative[i] = own->d_derivative[i];
        method->at.convexity[i] = own->convexity[i];
    }
    method->objective = own->objective;
    memcpy(method->value, own->value, sizeof own->value);
    method->has_convexity = 1;
    memset(method->is_linear, 0, sizeof method->is_linear); /* compared with its approximation */
}

static int propose_about_centre(hx_update *update, hx_update_step *step)
{
    gcmma *own = update->impl;
    hx_mma *const method = &own->mma.method;
    describe_centre(own, method);
    HX_TRY(hx_mma_solve(update->dev, method));
    memcpy(own->approximate, method->approximate, sizeof own->approximate);
    own->approximate[0] += own->objective;
    own->distance = method->distance;
    HX_TRY(hx_mma_measure(update->dev, method));
    step->change = method->change;
    step->free_change = method->free_change;
    step->kkt = method->kkt;
    return HX_OK;
}

static int judge(hx_update *update, hx_update_step *step)
{
    gcmma *own = update->impl;
    hx_mma *const method = &own->mma.method;
    const double penalty = update->analysis->penalty;
    if (penalty != own->penalty) own->has_centre = 0; /* the functions are others */
    own->penalty = penalty;
    if (!own->has_centre || own->n_rejected == MOST_REJECTED) return HX_OK;
    HX_TRY(hx_update_mma_describe(update, step, &own->mma));
    if (is_accepted(own, method)) return HX_OK;
    raise_convexity(own, method);
    own->n_rejected++;
    step->is_rejected = 1;
    return propose_about_centre(update, step);
}

static int propose(hx_update *update, hx_update_step *step)
{
    gcmma *own = update->impl;
    step->trials++;
    step->change = own->mma.method.change;
    step->free_change = own->mma.method.free_change;
    step->kkt = own->mma.method.kkt;
    if (step->is_again) { /* the proposal stays, but the next functions are others */
        own->has_centre = 0;
        return hx_update_mma_forget(update, &own->mma);
    }
    HX_TRY(hx_update_mma_describe(update, step, &own->mma));
    HX_TRY(take_centre(update, own));
    return propose_about_centre(update, step);
}

static int snapshot_fields(hx_update *update, hx_snapshot *image)
{
    gcmma *own = update->impl;
    hx_analysis *const analysis = update->analysis;
    char name[HX_SNAPSHOT_NAME];
    HX_TRY(hx_update_mma_snapshot(update, &own->mma, image));
    HX_TRY(hx_analysis_snapshot_field(analysis, image, "gcmma.centre", own->d_centre));
    for (int i = 0; i <= update->n_row; i++) {
        if (!is_first_of_response(update, i)) continue;
        snprintf(name, sizeof name, "gcmma.derivative %d", i);
        HX_TRY(hx_analysis_snapshot_field(analysis, image, name, own->d_derivative[i]));
    }
    return HX_OK;
}

static int snapshot_gcmma(hx_update *update, hx_snapshot *image)
{
    gcmma *own = update->impl;
    HX_TRY(snapshot_fields(update, image));
    HX_TRY(hx_snapshot_host(image, "gcmma.has centre", &own->has_centre, sizeof own->has_centre));
    HX_TRY(hx_snapshot_host(image, "gcmma.rejected", &own->n_rejected, sizeof own->n_rejected));
    HX_TRY(hx_snapshot_host(image, "gcmma.objective", &own->objective, sizeof own->objective));
    HX_TRY(hx_snapshot_host(image, "gcmma.values", own->value, sizeof own->value));
    HX_TRY(hx_snapshot_host(image, "gcmma.convexity", own->convexity, sizeof own->convexity));
    HX_TRY(hx_snapshot_host(image, "gcmma.approximate", own->approximate, sizeof own->approximate));
    HX_TRY(hx_snapshot_host(image, "gcmma.distance", &own->distance, sizeof own->distance));
    return hx_snapshot_host(image, "gcmma.penalty", &own->penalty, sizeof own->penalty);
}

const hx_update_kind hx_update_gcmma = {
    .name = "gcmma",
    .help = "mma with steps that are repeated, more cautiously, if a function exceeds its "
            "approximation; for runs that oscillate",
    .most_rows = HX_MMA_MOST,
    .is_distributed = 1,
    .is_upper_limit = 1,
    .bytes_per_elem = 3 * sizeof(double),
    .bytes_per_response = sizeof(double),
    .create = create_gcmma,
    .judge = judge,
    .propose = propose,
    .snapshot = snapshot_gcmma,
    .destroy = destroy_gcmma,
};
