#include "plan_operator.h"

#include <string.h>

void hx_operator_plan_make(hx_operator_plan *plan, const hx_problem *problem,
                           const hx_operator_kind *op_kind)
{
    if (plan->mesh != problem->mesh) hx_operator_plan_free(plan);
    plan->mesh = problem->mesh;
    if (plan->op_kind == op_kind) return;
    hx_operator_plan_drop_lists(plan);
    plan->op_kind = NULL;
    if (!op_kind->plan || problem->space.element != HX_ELEMENT_LINEAR) return;
    if (op_kind->plan(&plan->lists, problem->mesh) < 0) {
        hx_error_clear();
        return;
    }
    plan->op_kind = op_kind;
    plan->bytes = op_kind->plan_bytes(plan->lists, &plan->single_bytes);
}

const hx_operator_plan *hx_operator_plan_of(const hx_problem *problem,
                                            const hx_operator_kind *op_kind)
{
    const hx_operator_plan *const plan = problem->operator_plan;
    return plan && plan->mesh == problem->mesh && plan->op_kind == op_kind ? plan : NULL;
}

void hx_operator_plan_drop_lists(hx_operator_plan *plan)
{
    if (plan->lists) plan->op_kind->plan_free(plan->lists);
    plan->lists = NULL;
}

void hx_operator_plan_free(hx_operator_plan *plan)
{
    hx_operator_plan_drop_lists(plan);
    memset(plan, 0, sizeof *plan);
}
