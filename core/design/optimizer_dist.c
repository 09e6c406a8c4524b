/* The followers' part of a run: they join in each collective function that the root announces. */
#include <stdlib.h>

#include "../base/memory.h"
#include "analysis_internal.h"
#include "optimizer.h"

/* A follower's checkpoint has no entries. */
static int join_snapshot(hx_optimizer *opt, hx_snapshot_mode mode)
{
    hx_snapshot empty = {0};
    hx_snapshot_begin(&empty, mode);
    return hx_optimizer_snapshot(opt, &empty);
}

static int join_report(hx_analysis *a)
{
    hx_dist_report *report;
    HX_TRY(hx_alloc(&report, (size_t)a->dist->comm->size, sizeof *report, "report"));
    const int rc = hx_analysis_report(a, report);
    free(report);
    return rc;
}

static int join_analysis(hx_analysis *a, const hx_dist_call *call)
{
    double total[3];
    switch (call->what) {
    case HX_CALL_MODULUS:
        return hx_analysis_modulus(a, NULL);
    case HX_CALL_DISPLACEMENT:
        return hx_analysis_point_displacement(a, call->number, NULL);
    case HX_CALL_TOTAL_LOAD:
        return hx_analysis_load(a, call->number, total);
    case HX_CALL_REACTION:
        return hx_analysis_reaction(a, call->number, total);
    case HX_CALL_REPORT:
        return join_report(a);
    default:
        if (call->what >= HX_DIST_OTHER && a->dist->answer)
            return a->dist->answer(a->dist->context, call);
        return HX_RAISE(HX_EINTERNAL, "unknown operation %d for the processes", call->what);
    }
}

static int join(hx_optimizer *opt, const hx_dist_call *call)
{
    hx_iteration unused;
    double error;
    switch (call->what) {
    case HX_CALL_STEP:
        return hx_optimizer_step(opt, &unused);
    case HX_CALL_ADVANCE:
        hx_optimizer_advance(opt);
        return HX_OK;
    case HX_CALL_UNDO:
        return hx_optimizer_undo(opt);
    case HX_CALL_DENSITY:
        return hx_optimizer_density(opt, NULL);
    case HX_CALL_SENSITIVITY:
        return hx_optimizer_sensitivity(opt, NULL);
    case HX_CALL_ENERGY:
        return hx_optimizer_energy(opt, NULL);
    case HX_CALL_STIFFNESS_ERROR:
        return hx_optimizer_stiffness_error(opt, &error);
    case HX_CALL_SAVE:
        return join_snapshot(opt, HX_SNAPSHOT_SAVE);
    case HX_CALL_LOAD:
        return join_snapshot(opt, HX_SNAPSHOT_LOAD);
    default:
        return join_analysis(opt->analysis, call);
    }
}

int hx_optimizer_serve(hx_optimizer *opt)
{
    for (;;) {
        hx_dist_call call;
        HX_TRY(hx_dist_receive_call(opt->analysis->dist, &call));
        if (call.what == HX_CALL_DISMISS) return HX_OK;
        const int rc = join(opt, &call);
        if (rc < 0 && rc != HX_ENUMERIC) return rc;
        if (rc < 0) hx_error_clear(); /* the root reports it */
    }
}

void hx_analysis_dismiss(hx_analysis *a)
{
    if (hx_analysis_announce(a, HX_CALL_DISMISS, 0) < 0) hx_error_clear();
}
