#include "plan.h"

#include <stdlib.h>
#include <string.h>

/* Empties the plan if it belongs to another mesh. */
static void begin_plan(hx_plan *plan, const hx_mesh *mesh)
{
    if (plan->mesh == mesh) return;
    hx_plan_free(plan);
    plan->mesh = mesh;
}

void hx_plan_operator(hx_plan *plan, const hx_problem *problem, const hx_operator_kind *op_kind)
{
    begin_plan(plan, problem->mesh);
    if (plan->op_kind == op_kind) return;
    hx_plan_drop_lists(plan);
    plan->op_kind = NULL;
    if (!op_kind->plan || problem->space.element != HX_ELEMENT_LINEAR) return;
    if (op_kind->plan(&plan->lists, problem->mesh) < 0) {
        hx_error_clear();
        return;
    }
    plan->op_kind = op_kind;
    plan->bytes = op_kind->plan_bytes(plan->lists, &plan->single_bytes);
}

void hx_plan_precond(hx_plan *plan, const hx_problem *problem, const hx_precond_kind *kind,
                     const hx_device_ops *device)
{
    begin_plan(plan, problem->mesh);
    if (plan->coarsening > 0.0 || !kind->plan) return;
    if (kind->plan(plan, problem, device) < 0) hx_error_clear();
}

void hx_plan_finish_precond(hx_plan *plan, const hx_problem *problem, const hx_precond_kind *kind)
{
    if (plan->mesh != problem->mesh || !kind->plan_more) return;
    if (kind->plan_more(plan, problem) < 0) hx_error_clear();
}

const hx_plan *hx_plan_of(const hx_problem *problem, const hx_operator_kind *op_kind)
{
    const hx_plan *const plan = problem->plan;
    return plan && plan->mesh == problem->mesh && plan->op_kind == op_kind ? plan : NULL;
}

hx_coarse_draft *hx_plan_take_coarse(const hx_problem *problem, double coarsening)
{
    hx_plan *const plan = problem->plan;
    if (!plan || plan->mesh != problem->mesh || plan->coarsening != coarsening) return NULL;
    hx_coarse_draft *const draft = plan->coarse;
    plan->coarse = NULL;
    return draft;
}

int hx_plan_take_finished(const hx_problem *problem, double coarsening, hx_coarse *coarse)
{
    hx_plan *const plan = problem->plan;
    if (!plan || plan->mesh != problem->mesh || plan->coarsening != coarsening || !plan->finished)
        return 0;
    *coarse = *plan->finished;
    free(plan->finished);
    plan->finished = NULL;
    return 1;
}

double hx_plan_aspect(const hx_problem *problem)
{
    const hx_plan *const plan = problem->plan;
    if (plan && plan->mesh == problem->mesh && plan->aspect > 0.0) return plan->aspect;
    return hx_coarse_aspect(problem->mesh);
}

void hx_plan_drop_lists(hx_plan *plan)
{
    if (plan->lists) plan->op_kind->plan_free(plan->lists);
    plan->lists = NULL;
}

void hx_plan_free(hx_plan *plan)
{
    hx_plan_drop_lists(plan);
    hx_coarse_draft_free(plan->coarse);
    if (plan->finished) hx_coarse_free(plan->finished);
    free(plan->finished);
    memset(plan, 0, sizeof *plan);
}
