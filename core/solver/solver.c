#include "solver.h"

#include <stdio.h>
#include <string.h>

static int choose_operator(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                           const hx_solver_params *params, const hx_precond_kind *kind,
                           hx_choice *choice)
{
    if (!params->op_kind) {
        HX_TRY(hx_choose_operator(choice, &params->choose, dev, problem, kind, &solver->op));
        snprintf(solver->note, sizeof solver->note, "%s", choice->note);
        return HX_OK;
    }
    choice->op_kind = hx_operator_kind_of(params->op_kind, problem->components);
    if (!choice->op_kind)
        return HX_RAISE(HX_EINPUT,
                        "operator '%s' on device '%s' does not support physics = \"heat\"",
                        params->op_kind->name, params->op_kind->device);
    choice->layout = params->choose.layout;
    if (!(choice->op_kind->layouts & HX_LAYOUT_BIT(choice->layout)))
        choice->layout = hx_layout_first(choice->op_kind);
    return HX_OK;
}

/* Creates operator, preconditioner and PCG as chosen or named. */
static int create_parts(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                        const hx_solver_params *params, const hx_choice *choice,
                        const hx_precond_kind *kind)
{
    const hx_choose_params *choose = &params->choose;
    const hx_pcg_params pcg = {
        .criterion = choose->criterion,
        .tolerance =
            params->tolerance > 0.0 ? params->tolerance : hx_pcg_tolerance(choose->criterion),
        .max_iterations = params->max_iterations > 0 ? params->max_iterations : 10000,
        .precision = choose->precision,
    };
    const size_t vector =
        (size_t)problem->components * (size_t)problem->space.n_point * sizeof(double);
    if (!solver->op.dev) /* otherwise a timing has left it set up */
        HX_TRY(hx_operator_create(&solver->op, dev, choice->op_kind, choice->layout, problem,
                                  choose->other_bytes +
                                      hx_precond_bytes(kind, problem, dev->ops, choice->op_kind) +
                                      (size_t)hx_pcg_vectors(kind, problem->rigid.n > 0) * vector));
    HX_TRY(hx_precond_create(&solver->pc, kind, &solver->op.linear, &solver->op));
    return hx_pcg_create(&solver->pcg, &pcg, &solver->op.linear, &solver->pc);
}

static void free_parts(hx_solver *solver)
{
    hx_pcg_free(&solver->pcg);
    hx_precond_free(&solver->pc);
    hx_operator_free(&solver->op);
}

static int create_solver(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                         const hx_solver_params *params)
{
    const hx_choose_params *choose = &params->choose;
    const hx_precond_kind *kind = params->precond;
    hx_choice choice = {0};
    const hx_choose_less less = {!params->op_kind, !params->precond, &choice, &kind};
    if (!kind) kind = hx_choose_precond(choose, dev->ops, hx_choose_size(&problem->space));
    if (!kind)
        return HX_RAISE(HX_EINPUT, "no preconditioner of this build may be chosen automatically");
    HX_TRY(choose_operator(solver, dev, problem, params, kind, &choice));
    if (!params->precond)
        HX_TRY(hx_choose_smaller_precond(choose, dev, problem, choice.op_kind, choice.layout,
                                         solver->op.device_bytes, &kind));
    for (;;) {
        const int rc = create_parts(solver, dev, problem, params, &choice, kind);
        if (rc != HX_ENOMEM && rc != HX_EENV) return rc;
        free_parts(solver);
        if (!hx_choose_take_less(choose, dev, problem, &less))
            return hx_choose_suggest(choose, dev, problem, kind, 0, rc);
        hx_error_clear();
        snprintf(solver->note, sizeof solver->note, "%s", choice.note);
    }
}

int hx_solver_create(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params)
{
    memset(solver, 0, sizeof *solver);
    const int rc = create_solver(solver, dev, problem, params);
    if (rc < 0) hx_solver_free(solver);
    return rc;
}

void hx_solver_free(hx_solver *solver)
{
    free_parts(solver);
    memset(solver, 0, sizeof *solver);
}
