/* The solution in the tables of P2: a cube held at one side, by PCG with a stored matrix. */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/registry.h"
#include "papers.h"

/* Sets up operator and PCG, with all moduli 1, and solves. */
static int solve_bench(hx_solver *solver, hx_device *dev, const hx_problem *problem,
                       hx_bench_solve *out)
{
    const size_t n = 3 * (size_t)problem->mesh->n_node;
    const size_t n_elem = (size_t)problem->mesh->n_elem;
    double *force = NULL, *modulus = NULL, *d_f = NULL, *d_u = NULL;
    hx_pcg_result result = {0};
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&force, n, sizeof *force, "loads"));
    HX_TRY_FAIL(hx_alloc_raw(&modulus, n_elem, sizeof *modulus, "moduli"));
    for (size_t e = 0; e < n_elem; e++) modulus[e] = 1.0;
    HX_TRY_FAIL(hx_problem_nodal_force(problem, 0, NULL, force));
    HX_TRY_FAIL(hx_device_put(dev, &d_f, force, n * sizeof *force));
    HX_TRY_FAIL(dev->ops->alloc(dev, n * sizeof *force, &d_u));
    HX_TRY_FAIL(hx_operator_set_modulus(&solver->op, modulus));
    HX_TRY_FAIL(hx_precond_setup(&solver->pc));
    const int most = solver->pcg.params.max_iterations;
    for (int warm = 1; warm >= 0; warm--) { /* the first solve loads code used for the first time */
        solver->pcg.params.max_iterations = warm ? 1 : most;
        HX_TRY_FAIL(dev->ops->zero(dev, d_u, n * sizeof *force));
        HX_TRY_FAIL(dev->ops->sync(dev));
        HX_TRY_FAIL(hx_pcg_solve(&solver->pcg, &solver->op.linear, &solver->pc, d_f, d_u, &result));
    }
    *out = (hx_bench_solve){.iterations = result.iterations,
                            .converged = result.reason == HX_PCG_CONVERGED,
                            .seconds = result.seconds};
fail:
    if (d_f) dev->ops->release(dev, d_f);
    if (d_u) dev->ops->release(dev, d_u);
    free(force);
    free(modulus);
    return rc;
}

int hx_bench_solve_cube(hx_bench_solve *out, hx_device *dev, const hx_mesh *mesh,
                        const char *precond)
{
    const hx_support_spec support = {
        .set = "left", .origin = "paperbench", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {.set = "right",
                               .origin = "paperbench",
                               .kind = HX_LOAD_TRACTION,
                               .value = {0.0, 0.0, -1.0},
                               .load_case = 1};
    hx_problem_params params = hx_problem_defaults();
    hx_solver_params asked = hx_solver_defaults();
    hx_problem problem;
    hx_solver solver;
    *out = (hx_bench_solve){.seconds = (double)NAN};
    asked.op_kind = hx_operator_kind_find(dev->ops->name, "bsr");
    asked.precond = hx_precond_find(precond);
    asked.tolerance = 1e-6;
    if (!asked.op_kind || !asked.precond) return HX_OK;
    params.origin = "paperbench";
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    HX_TRY(hx_problem_create(&problem, mesh, &params));
    int rc = hx_solver_create(&solver, dev, &problem, &asked);
    if (rc == HX_OK) {
        rc = solve_bench(&solver, dev, &problem, out);
        hx_solver_free(&solver);
    }
    hx_problem_free(&problem);
    return rc;
}
