/* Design runs: operator, preconditioner, filter and optimizer of the parts. */
#include "selftest_job.h"
#include "core/base/names.h"

#include <string.h>

const hx_filter_kind *hx_selftest_filter(const hx_selftest *t, const char *name)
{
    for (size_t i = 0; t->parts.filters[i]; i++)
        if (strcmp(t->parts.filters[i]->name, name) == 0) return t->parts.filters[i];
    return NULL;
}

hx_design_params hx_selftest_half(double beta)
{
    hx_design_params design = hx_design_defaults;
    design.volume_fraction = 0.5;
    design.beta = (hx_schedule){.value = beta, .last = beta};
    return design;
}

int hx_selftest_job_open(hx_selftest_job *job, hx_selftest *t, const hx_problem *problem,
                         const hx_selftest_job_params *params)
{
    const hx_operator_kind *const op_kind =
        hx_selftest_operator(t, problem->components, problem->space.element);
    const hx_filter_kind *const kind = hx_selftest_filter(t, params->filter);
    const hx_precond_kind *const precond =
        hx_selftest_precond(t, params->precond ? params->precond : "jacobi");
    const hx_filter_params filter = {.radius = params->radius, .design = &job->design};
    const hx_optimizer_params optimizer = {0};
    memset(job, 0, sizeof *job);
    job->design = params->design;
    if (!op_kind || !kind || !precond)
        return HX_RAISE(HX_EINPUT,
                        "operator, filter '%s' or preconditioner '%s' is not available here",
                        params->filter, params->precond ? params->precond : "jacobi");
    const hx_solver_params solver =
        hx_selftest_solver_params(t, op_kind, precond, params->tolerance);
    HX_TRY(hx_analysis_open(&job->analysis, &t->device, problem, &solver));
    HX_TRY(hx_filter_create(&job->filter, kind, &t->device, problem, &filter));
    return hx_optimizer_create(&job->opt, &optimizer, &job->analysis, &job->filter,
                               params->density);
}

int hx_selftest_job_step(hx_selftest_job *job, double *compliance)
{
    hx_iteration record;
    HX_TRY(hx_optimizer_step(&job->opt, &record));
    *compliance = record.compliance;
    if (record.reason == HX_PCG_CONVERGED) return HX_OK;
    return HX_RAISE(HX_ENUMERIC, "PCG: %s after %d %s", hx_pcg_reason_name(record.reason),
                    record.pcg_iterations,
                    hx_noun(record.pcg_iterations, "iteration", "iterations"));
}

void hx_selftest_job_close(hx_selftest_job *job)
{
    hx_optimizer_free(&job->opt);
    hx_filter_free(&job->filter);
    hx_analysis_free(&job->analysis);
}
