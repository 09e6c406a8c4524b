/* The optimizer with several ranks: the root announces each operation, and all execute it together,
 * each for its elements. With one rank nothing is announced. */
#include "analysis_internal.h"
#include "optimizer_internal.h"

/* Values of hx_dist_call.what; lower values are those of the analysis. */
enum { STEP = HX_CALL_OPTIMIZER, ADVANCE, UNDO, DENSITY, SENSITIVITY, ENERGY, ERROR, SAVE, LOAD };

static int send_optimizer_call(const hx_optimizer *opt, int32_t what)
{
    const hx_dist_call call = {.what = what};
    return opt->analysis->dist ? hx_dist_send_call(opt->analysis->dist, &call) : HX_OK;
}

/* A result that is not finite is not finite in all processes, so they agree without
 * communication. */
static int mark_design_lost(const hx_optimizer *opt, int rc)
{
    if (rc < 0 && rc != HX_ENUMERIC && opt->analysis->dist) opt->analysis->dist->is_lost = 1;
    return rc;
}

int hx_optimizer_step(hx_optimizer *opt, hx_iteration *record)
{
    HX_TRY(send_optimizer_call(opt, STEP));
    return mark_design_lost(opt, hx_optimizer_step_local(opt, record));
}

void hx_optimizer_advance(hx_optimizer *opt)
{
    if (send_optimizer_call(opt, ADVANCE) < 0) hx_error_clear(); /* the next call reports it */
    hx_optimizer_advance_local(opt);
}

int hx_optimizer_undo(hx_optimizer *opt)
{
    HX_TRY(send_optimizer_call(opt, UNDO));
    return mark_design_lost(opt, hx_optimizer_undo_local(opt));
}

int hx_optimizer_density(const hx_optimizer *opt, double *host)
{
    HX_TRY(send_optimizer_call(opt, DENSITY));
    return mark_design_lost(opt, hx_analysis_download(opt->analysis, opt->d_physical, host));
}

int hx_optimizer_sensitivity(const hx_optimizer *opt, double *host)
{
    HX_TRY(send_optimizer_call(opt, SENSITIVITY));
    return mark_design_lost(opt, hx_analysis_download(opt->analysis, opt->d_dc, host));
}

int hx_optimizer_energy(hx_optimizer *opt, double *host)
{
    HX_TRY(send_optimizer_call(opt, ENERGY));
    return mark_design_lost(opt, hx_optimizer_energy_local(opt, host));
}

int hx_optimizer_stiffness_error(hx_optimizer *opt, double *error)
{
    HX_TRY(send_optimizer_call(opt, ERROR));
    return mark_design_lost(opt, hx_analysis_stiffness_error(opt->analysis, opt->d_dv, error));
}

static int snapshot_shared(hx_optimizer *opt, hx_snapshot *image)
{
    hx_dist *const dist = opt->analysis->dist;
    image->reduce = dist ? &dist->reduce.base : NULL;
    const int rc = hx_optimizer_snapshot_local(opt, image);
    image->reduce = NULL;
    return rc;
}

int hx_optimizer_snapshot(hx_optimizer *opt, hx_snapshot *image)
{
    HX_TRY(send_optimizer_call(opt, image->mode == HX_SNAPSHOT_SAVE ? SAVE : LOAD));
    return mark_design_lost(opt, snapshot_shared(opt, image));
}

/* A rank without the image takes part with an empty one. */
static int follow_snapshot(hx_optimizer *opt, hx_snapshot_mode mode)
{
    hx_snapshot empty = {0};
    hx_snapshot_begin(&empty, mode);
    return snapshot_shared(opt, &empty);
}

static int answer(hx_optimizer *opt, const hx_dist_call *call)
{
    hx_iteration unused;
    double error;
    switch (call->what) {
    case STEP:
        return hx_optimizer_step_local(opt, &unused);
    case ADVANCE:
        hx_optimizer_advance_local(opt);
        return HX_OK;
    case UNDO:
        return hx_optimizer_undo_local(opt);
    case DENSITY:
        return hx_analysis_download(opt->analysis, opt->d_physical, NULL);
    case SENSITIVITY:
        return hx_analysis_download(opt->analysis, opt->d_dc, NULL);
    case ENERGY:
        return hx_optimizer_energy_local(opt, NULL);
    case ERROR:
        return hx_analysis_stiffness_error(opt->analysis, opt->d_dv, &error);
    case SAVE:
        return follow_snapshot(opt, HX_SNAPSHOT_SAVE);
    case LOAD:
        return follow_snapshot(opt, HX_SNAPSHOT_LOAD);
    default:
        return hx_analysis_answer(opt->analysis, call);
    }
}

int hx_optimizer_serve(hx_optimizer *opt)
{
    for (;;) {
        hx_dist_call call;
        HX_TRY(hx_dist_receive_call(opt->analysis->dist, &call));
        if (call.what == HX_CALL_DISMISS) return HX_OK;
        const int rc = answer(opt, &call);
        if (rc < 0 && rc != HX_ENUMERIC) return rc;
        if (rc < 0) hx_error_clear(); /* the root reports it */
    }
}
