/* hextop check: estimate of the time of the run, from a timed PCG iteration. */
#include <math.h>
#include <stdlib.h>

#include "../session/iterations_guess.h"
#include "../text/table.h"
#include "check.h"
#include "core/base/clock.h"
#include "core/base/memory.h"

/* A measurement that takes more seconds than this is not repeated with warm caches. */
static const double long_enough = 2.0;

/* Times PCG iterations with the right-hand side d_f and the vector d_u: as many as the time allows,
 * up to 20. */
static int measure_iteration(hx_session *s, const double *d_f, double *d_u, double *seconds)
{
    enum { FEW = 2, MOST = 20 };
    hx_device *dev = &s->device;
    const size_t bytes = (size_t)s->solver.op.linear.n * sizeof(double);
    hx_pcg_result result = {0};
    const int most = s->solver.pcg.params.max_iterations;
    *seconds = 0.0;
    for (int n = FEW; n > 0;) {
        if (s->solver.op.d_prescribed)
            HX_TRY(dev->ops->copy(dev, d_u, s->solver.op.d_prescribed, bytes));
        else
            HX_TRY(dev->ops->zero(dev, d_u, bytes));
        s->solver.pcg.params.max_iterations = n;
        const int rc =
            hx_pcg_solve(&s->solver.pcg, &s->solver.op.linear, &s->solver.pc, d_f, d_u, &result);
        s->solver.pcg.params.max_iterations = most;
        HX_TRY(rc);
        /* starting costs about as much as one more iteration: residual and preconditioner */
        if (result.iterations > 0) *seconds = result.seconds / (result.iterations + 1);
        n = n == FEW && result.seconds < long_enough ? MOST : 0;
    }
    return HX_OK;
}

/* Times the set-up of the preconditioner and a PCG iteration, for the uniform design. */
static int measure_solver(hx_session *s, double *setup, double *seconds)
{
    int rc;
    double *modulus = NULL, *force = NULL, *d_u = NULL, *d_f = NULL;
    hx_device *dev = &s->device;
    const size_t bytes = (size_t)s->solver.op.linear.n * sizeof(double);
    *setup = *seconds = 0.0;
    if (hx_log_is_terminal()) hx_log_status("measuring a PCG iteration ...");
    /* Sets the stiffness of the uniform design. */
    const size_t n_elem = (size_t)s->mesh.n_elem;
    const double density = hx_session_typical_density(s);
    HX_TRY_FAIL(hx_alloc_raw(&modulus, n_elem, sizeof *modulus, "moduli"));
#pragma omp parallel for schedule(static)
    for (size_t e = 0; e < n_elem; e++) modulus[e] = density;
    hx_problem_modulus(&s->problem, s->design.penalty.last, modulus, modulus);
    HX_TRY_FAIL(hx_operator_set_modulus(&s->solver.op, modulus));
    /* Times the set-up of the preconditioner. If it is short, the set-up is repeated, because
     * later designs also repeat it. */
    *setup = 0.0;
    for (int pass = 0; pass < 2 && *setup < long_enough; pass++) {
        const double begin = hx_clock();
        HX_TRY_FAIL(hx_precond_setup(&s->solver.pc));
        HX_TRY_FAIL(s->device.ops->sync(&s->device));
        *setup = hx_clock() - begin;
    }
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &d_u));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &d_f));
    HX_TRY_FAIL(hx_alloc_raw(&force, bytes, 1, "loads"));
    HX_TRY_FAIL(hx_problem_nodal_force(&s->problem, 0, NULL, force));
    hx_problem_add_expansion(&s->problem, 0, modulus, force);
    HX_TRY_FAIL(dev->ops->upload(dev, d_f, force, bytes));
    HX_TRY_FAIL(measure_iteration(s, d_f, d_u, seconds));
fail:
    if (d_u) dev->ops->release(dev, d_u);
    if (d_f) dev->ops->release(dev, d_f);
    free(modulus);
    free(force);
    return rc;
}

int hx_check_time(hx_session *s)
{
    double setup, seconds;
    char a[32], b[32], c[32], d[32];
    const hx_iterations_guess n = hx_guess_iterations(s);
    const int n_case = s->problem.cases.n, n_design = s->cfg.optimization.iterations;
    HX_TRY(measure_solver(s, &setup, &seconds));
    const double solve = setup + seconds * n.likely * n_case,
                 least = (setup + seconds * n.least * n_case) * n_design,
                 most = (setup + seconds * n.most * n_case) * n_design;
    hx_log_info("\n"
                "time      rough estimate: %s per PCG iteration (measured now),",
                hx_format_seconds(seconds, a, sizeof a));
    hx_log_info("          about %.0f iterations per solve (from similar examples; yours may take "
                "%.0f to %.0f):",
                n.likely, n.least, n.most);
    hx_log_info("          %s per design iteration, %s for %d (%s to %s)",
                hx_format_seconds(solve, a, sizeof a),
                hx_format_seconds(solve * n_design, b, sizeof b), n_design,
                hx_format_seconds(least, c, sizeof c), hx_format_seconds(most, d, sizeof d));
    return HX_OK;
}
