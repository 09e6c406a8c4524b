#include "plan_coarse.h"

#include <stdlib.h>
#include <string.h>

#include "mg_params.h"

void hx_coarse_plan_make(hx_coarse_plan *plan, const hx_problem *problem,
                         const hx_precond_kind *kind, const hx_device_ops *device)
{
    if (plan->mesh != problem->mesh) hx_coarse_plan_free(plan);
    plan->mesh = problem->mesh;
    if (plan->coarsening > 0.0 || !kind->plan) return;
    if (kind->plan(plan, problem, device) < 0) hx_error_clear();
}

void hx_coarse_plan_finish(hx_coarse_plan *plan, const hx_problem *problem,
                           const hx_precond_kind *kind)
{
    if (plan->mesh != problem->mesh || !kind->plan_more) return;
    if (kind->plan_more(plan, problem) < 0) hx_error_clear();
}

hx_coarse_draft *hx_coarse_plan_take_draft(const hx_problem *problem, double coarsening)
{
    hx_coarse_plan *const plan = problem->coarse_plan;
    if (!plan || plan->mesh != problem->mesh || plan->coarsening != coarsening) return NULL;
    hx_coarse_draft *const draft = plan->draft;
    plan->draft = NULL;
    return draft;
}

int hx_coarse_plan_take_finished(const hx_problem *problem, double coarsening, hx_coarse *coarse)
{
    hx_coarse_plan *const plan = problem->coarse_plan;
    if (!plan || plan->mesh != problem->mesh || plan->coarsening != coarsening || !plan->finished)
        return 0;
    *coarse = *plan->finished;
    free(plan->finished);
    plan->finished = NULL;
    return 1;
}

double hx_coarse_plan_aspect(const hx_problem *problem)
{
    const hx_coarse_plan *const plan = problem->coarse_plan;
    if (plan && plan->mesh == problem->mesh && plan->aspect > 0.0) return plan->aspect;
    return hx_coarse_aspect(problem->mesh, hx_mg_params_of(problem));
}

void hx_coarse_plan_free(hx_coarse_plan *plan)
{
    hx_coarse_draft_free(plan->draft);
    if (plan->finished) hx_coarse_free(plan->finished);
    free(plan->finished);
    memset(plan, 0, sizeof *plan);
}
