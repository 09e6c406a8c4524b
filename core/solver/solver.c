#include "solver.h"

#include <stdio.h>
#include <string.h>

#include "../multigrid/plan_coarse.h"
#include "../operator/plan_operator.h"

static void take_choice(hx_solver *solver, const hx_choice *choice)
{
    solver->op_kind = choice->op_kind;
    solver->layout = choice->layout;
    snprintf(solver->note, sizeof solver->note, "%s", choice->note);
}

static int choose_operator(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                           const hx_solver_params *params)
{
    hx_choice choice = {.layout = params->choose.layout};
    if (!params->op_kind) {
        HX_TRY(hx_choose_operator(&choice, &params->choose, dev, problem, solver->precond,
                                  &solver->op));
        take_choice(solver, &choice);
        return HX_OK;
    }
    choice.op_kind = hx_operator_kind_of(params->op_kind, problem->components);
    if (!choice.op_kind)
        return HX_RAISE(HX_EINPUT,
                        "operator '%s' on device '%s' does not support physics = \"heat\"",
                        params->op_kind->name, params->op_kind->device);
    if (!(choice.op_kind->layouts & HX_LAYOUT_BIT(choice.layout)))
        choice.layout = hx_layout_first(choice.op_kind);
    take_choice(solver, &choice);
    return HX_OK;
}

/* Replaces a preconditioner that does not fit into memory by a smaller one. */
static int fit_precond(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                       const hx_choose_params *params)
{
    const hx_precond_kind *const chosen = solver->precond;
    HX_TRY(hx_choose_smaller_precond(params, dev, problem, solver->op_kind, solver->layout,
                                     solver->op.device_bytes, &solver->precond));
    if (solver->precond == chosen) return HX_OK;
    return hx_notes_add(&solver->notes, HX_NOTE_WARNING,
                        "%s does not fit into the memory of device '%s': %s is used, which takes "
                        "many times more iterations",
                        chosen->name, dev->ops->name, solver->precond->name);
}

int hx_solver_choose(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params)
{
    const int64_t size = hx_choose_size(&hx_problem_whole(problem)->space);
    solver->chose_operator = !params->op_kind;
    solver->chose_precond = !params->precond;
    solver->part = HX_SOLVER_PRECOND;
    solver->precond =
        params->precond ? params->precond : hx_choose_precond(&params->choose, dev->ops, size);
    if (!solver->precond)
        return HX_RAISE(HX_EINPUT, "no preconditioner of this build may be chosen automatically");
    solver->part = HX_SOLVER_OPERATOR;
    HX_TRY(choose_operator(solver, dev, problem, params));
    solver->part = HX_SOLVER_PRECOND;
    return solver->chose_precond ? fit_precond(solver, dev, problem, &params->choose) : HX_OK;
}

/* solve: preconditioner and PCG. */
static int make_operator(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                         const hx_solver_params *params, const hx_account *solve)
{
    const size_t other = params->choose.other_bytes - params->held_bytes + hx_account_sum(solve);
    solver->part = HX_SOLVER_OPERATOR;
    const int rc =
        hx_operator_create(&solver->op, dev, solver->op_kind, solver->layout, problem, other);
    if (problem->operator_plan) hx_operator_plan_drop_lists(problem->operator_plan);
    return rc;
}

int hx_solver_make_operator(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                            const hx_solver_params *params)
{
    hx_account solve = {0};
    hx_choose_account(&solve, dev->ops, problem, solver->op_kind, solver->precond);
    return make_operator(solver, dev, problem, params, &solve);
}

static int make_parts(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                      const hx_solver_params *params)
{
    const hx_choose_params *const choose = &params->choose;
    const hx_pcg_params pcg = {
        .criterion = choose->criterion,
        .tolerance =
            params->tolerance > 0.0 ? params->tolerance : hx_pcg_tolerance(choose->criterion),
        .max_iterations = params->max_iterations > 0 ? params->max_iterations : 10000,
        .precision = choose->precision,
    };
    const hx_problem *const whole = hx_problem_whole(problem);
    hx_account solve = {0};
    /* lists of the mesh, unless they exist, so that they are counted and used */
    if (problem->operator_plan && !solver->op.dev)
        hx_operator_plan_make(problem->operator_plan, problem, solver->op_kind);
    if (whole->coarse_plan)
        hx_coarse_plan_make(whole->coarse_plan, whole, solver->precond, dev->ops);
    hx_choose_account(&solve, dev->ops, problem, solver->op_kind, solver->precond);
    if (!solver->op.dev) /* otherwise the timing has left it set up */
        HX_TRY(make_operator(solver, dev, problem, params, &solve));
    solver->account = solver->op.account;
    hx_account_add_all(&solver->account, &solve);
    solver->part = HX_SOLVER_PRECOND;
    HX_TRY(hx_precond_create(&solver->pc, solver->precond, &solver->op.linear, &solver->op));
    solver->part = HX_SOLVER_PCG;
    return hx_pcg_create(&solver->pcg, &pcg, &solver->op.linear, &solver->pc);
}

/* Adds a warning that names the replacement of the operator or preconditioner that did not get its
 * memory. The recorded message gives the reason and is then cleared. */
static void note_less(hx_solver *solver, const hx_device *dev, const hx_operator_kind *op_kind,
                      const hx_precond_kind *precond)
{
    const int is_operator = op_kind != solver->op_kind;
    char why[HX_MESSAGE_SIZE];
    snprintf(why, sizeof why, "%s", hx_error_message());
    (void)hx_notes_add(&solver->notes, HX_NOTE_WARNING,
                       "%s%s needs more memory than device '%s' has (%s): %s is used, which %s",
                       is_operator ? "operator " : "", is_operator ? op_kind->name : precond->name,
                       dev->ops->name, why,
                       is_operator ? solver->op_kind->name : solver->precond->name,
                       is_operator ? "stores less" : "takes many times more iterations");
    hx_error_clear();
}

int hx_solver_take_less(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                        const hx_solver_params *params, int rc)
{
    const hx_operator_kind *const op_kind = solver->op_kind;
    const hx_precond_kind *const precond = solver->precond;
    hx_choice choice = {.op_kind = op_kind, .layout = solver->layout};
    const hx_choose_less less = {solver->chose_operator, solver->chose_precond, &choice,
                                 &solver->precond};
    if (problem->whole) return 0;
    hx_solver_free_parts(solver);
    if (!hx_choose_take_less(&params->choose, dev, problem, &less)) {
        (void)hx_choose_suggest(&params->choose, dev, problem, precond, params->held_bytes, rc);
        return 0;
    }
    if (choice.op_kind != op_kind) take_choice(solver, &choice);
    note_less(solver, dev, op_kind, precond);
    return 1;
}

int hx_solver_make(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                   const hx_solver_params *params)
{
    int rc;
    do {
        rc = make_parts(solver, dev, problem, params);
    } while ((rc == HX_ENOMEM || rc == HX_EENV) &&
             hx_solver_take_less(solver, dev, problem, params, rc));
    if (rc < 0) hx_solver_free_parts(solver);
    return rc;
}

int hx_solver_create(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params)
{
    memset(solver, 0, sizeof *solver);
    int rc = hx_solver_choose(solver, dev, problem, params);
    if (rc == HX_OK) rc = hx_solver_make(solver, dev, problem, params);
    if (rc < 0) hx_solver_free(solver);
    return rc;
}

void hx_solver_free_parts(hx_solver *solver)
{
    hx_pcg_free(&solver->pcg);
    hx_precond_free(&solver->pc);
    hx_operator_free(&solver->op);
}

void hx_solver_free(hx_solver *solver)
{
    hx_solver_free_parts(solver);
    hx_notes_free(&solver->notes);
    memset(solver, 0, sizeof *solver);
}
