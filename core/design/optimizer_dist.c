/* The optimizer with a distributed design: the root announces each operation, and all processes
 * execute it together, each for its elements. With one process, or if the root holds the design,
 * nothing is announced. */
#include "analysis_internal.h"
#include "optimizer_internal.h"

/* Values of hx_dist_call.what; lower values are those of the analysis. */
enum { STEP = HX_CALL_OPTIMIZER, ADVANCE, UNDO, DENSITY, SENSITIVITY, ENERGY, SAVE, LOAD };

static int send_optimizer_call(const hx_optimizer *opt, int32_t what)
{
    const hx_dist_call call = {.what = what};
    return opt->analysis->is_joint ? hx_dist_send_call(opt->analysis->dist, &call) : HX_OK;
}

/* A result that is not finite is not finite in all processes, so they agree without
 * communication. */
static int mark_design_lost(const hx_optimizer *opt, int rc)
{
    if (rc < 0 && rc != HX_ENUMERIC && opt->analysis->is_joint) opt->analysis->dist->is_lost = 1;
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
    return hx_analysis_stiffness_error(opt->analysis, opt->d_dv, error);
}

int hx_optimizer_snapshot(hx_optimizer *opt, hx_snapshot *image)
{
    HX_TRY(send_optimizer_call(opt, image->mode == HX_SNAPSHOT_SAVE ? SAVE : LOAD));
    return mark_design_lost(opt, hx_optimizer_snapshot_local(opt, image, image->mode));
}

static int answer(hx_optimizer *opt, const hx_dist_call *call)
{
    hx_iteration unused;
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
    case SAVE:
        return hx_optimizer_snapshot_local(opt, NULL, HX_SNAPSHOT_SAVE);
    case LOAD:
        return hx_optimizer_snapshot_local(opt, NULL, HX_SNAPSHOT_LOAD);
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
