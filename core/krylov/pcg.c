#include "pcg.h"

#include <math.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/fault.h"
#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "pcg_internal.h"

/* p = z + beta p */
static int take_direction(const hx_pcg_run *s)
{
    const hx_pcg *const v = s->pcg;
    const hx_pcg_single *const w = &v->single;
    HX_TRY(hx_span_begin(s->dev, HX_SPAN_VECTORS, -1));
    if (s->is_single)
        HX_TRY(s->ops->direction_single(s->dev, v->n, w->d_m, w->d_r, w->d_p, v->d_state));
    else if (v->d_z_single)
        HX_TRY(s->ops->direction_rounded(s->dev, v->n, v->d_z_single, v->d_p, v->d_state));
    else
        HX_TRY(s->ops->direction(s->dev, v->n, s->d_m, v->d_z, v->d_r, v->d_p, v->d_state));
    return hx_span_end(s->dev, HX_SPAN_VECTORS);
}

/* q = A p, and p'q if the operator sums it. */
static int take_product(const hx_pcg_run *s)
{
    const hx_pcg *const v = s->pcg;
    HX_TRY(hx_pcg_mark_event(s, HX_PCG_MARK_PRODUCT));
    HX_TRY(hx_span_begin(s->dev, HX_SPAN_PRODUCT, -1));
    if (s->is_single)
        HX_TRY(s->a->apply_single(s->a, v->single.d_p, v->single.d_q));
    else if (s->a->apply_dot)
        HX_TRY(s->a->apply_dot(s->a, v->d_p, v->d_q, v->d_sum));
    else
        HX_TRY(s->a->apply(s->a, v->d_p, v->d_q));
    HX_TRY(hx_span_end(s->dev, HX_SPAN_PRODUCT));
    return hx_pcg_mark_event(s, HX_PCG_MARK_PRODUCT_END);
}

/* alpha = r'z / p'q */
static int take_alpha(const hx_pcg_run *s)
{
    const hx_pcg *const v = s->pcg;
    HX_TRY(hx_span_begin(s->dev, HX_SPAN_SCALARS, -1));
    if (s->is_single)
        HX_TRY(s->ops->alpha_single(s->dev, v->n, v->single.d_p, v->single.d_q, v->d_state));
    else if (s->a->apply_dot)
        HX_TRY(s->ops->alpha_from(s->dev, v->d_sum, v->d_state));
    else
        HX_TRY(s->ops->alpha(s->dev, v->n, v->d_p, v->d_q, v->d_state));
    return hx_span_end(s->dev, HX_SPAN_SCALARS);
}

/* u += alpha p, r -= alpha q, r'r, and the test; if M^-1 is a diagonal, also r'z and beta. */
static int update_u_and_r(const hx_pcg_run *s)
{
    const hx_pcg *const v = s->pcg;
    const hx_pcg_single *const w = &v->single;
    const int64_t n = v->n;
    HX_TRY(hx_span_begin(s->dev, HX_SPAN_VECTORS, -1));
    if (s->is_single)
        HX_TRY(s->ops->update_single(s->dev, n, n, w->d_m, w->d_p, w->d_q, w->d_u, w->d_r,
                                     v->d_state));
    else
        HX_TRY(s->ops->update(s->dev, n, n, s->d_m, v->d_p, v->d_q, s->d_u, v->d_r, v->d_state));
    return hx_span_end(s->dev, HX_SPAN_VECTORS);
}

/* beta = r'z / (r'z of the last step), or by the flexible rule. */
static int take_beta(const hx_pcg_run *s)
{
    const hx_pcg *const v = s->pcg;
    const double *const d_q = s->pc->kind->rounded ? v->d_q : NULL;
    HX_TRY(hx_span_begin(s->dev, HX_SPAN_SCALARS, -1));
    if (v->d_z_single)
        HX_TRY(s->ops->beta_rounded(s->dev, v->n, v->d_r, v->d_z_single, d_q, v->d_state));
    else
        HX_TRY(s->ops->beta(s->dev, v->n, v->d_r, v->d_z, d_q, v->d_state));
    return hx_span_end(s->dev, HX_SPAN_SCALARS);
}

/* Preconditioned conjugate gradients (Hestenes and Stiefel 1952), in double precision or, with
 * is_single, in single precision. Beside each step: the vectors that it passes through memory,
 * with + if it writes them, first if z is a vector, then if M^-1 is a diagonal m, which is fused
 * into the passes. Without the work of A and M they are 13 in either case, or 11 if A sums p'q.
 * The flexible beta reads q as well (on the CPU z twice), and a z in single precision counts
 * half. All scalars stay on the device, which does nothing more once a test has ended the solve;
 * the host looks at them once per batch. Over subdomains, core/dist/dist_pcg.c completes each
 * sum over the ranks. */
static int run_pcg(hx_pcg_run *s)
{
    int changed, has_run;
    /* r = f - A u, z = M^-1 r, p = 0, beta = 0, test */
    HX_TRY(s->is_single ? hx_pcg_start_mixed(s) : hx_pcg_start(s));
    hx_pcg_begin_monitoring(s);
    while (s->state.reason == HX_PCG_RUNNING && !s->is_stalled) {
        int rc = HX_OK;
        const int n = hx_pcg_begin_batch(s);
        for (int i = 0; i < n; i++) {
            HX_TRY_FAIL(hx_pcg_begin_iteration(s, i == 0));
            if (s->is_z_late && !s->has_z) {
                /* z = M^-1 r                         | r, +z            | none */
                HX_TRY_FAIL(hx_pcg_precondition(s));
                /* beta = r'z / (r'z of last step)    | r, z             | fused into the update */
                HX_TRY_FAIL(take_beta(s));
            }
            /* p = z + beta p                         | z, p, +p         | m, r, p, +p */
            HX_TRY_FAIL(take_direction(s));
            /* q = A p, and p'q if A can sum it       | p, +q            | p, +q */
            HX_TRY_FAIL(take_product(s));
            /* alpha = r'z / p'q                      | p, q, or none    | p, q, or none */
            HX_TRY_FAIL(take_alpha(s));
            /* u += alpha p, r -= alpha q, r'r, test  | p q u r +u +r    | p q u r m +u +r */
            HX_TRY_FAIL(update_u_and_r(s));
            if (s->is_z_vector && !s->is_z_late) { /* z and beta, as above, for a test of r'z */
                HX_TRY_FAIL(hx_pcg_precondition(s));
                HX_TRY_FAIL(take_beta(s));
            }
            HX_TRY_FAIL(hx_pcg_end_iteration(s));
        }
    fail:
        HX_TRY(hx_pcg_end_batch(s, rc, &has_run));
        if (!has_run) continue;
        if (s->is_single) {
            HX_TRY(hx_pcg_replace_residual(s));
            continue;
        }
        HX_TRY(hx_pcg_refine(s));
        HX_TRY(hx_pcg_monitor(s, &changed));
        if (changed) HX_TRY(hx_pcg_start(s));
    }
    return HX_OK;
}

/* Fraction of hx_pcg_state.slow that is kept from one solve to the next. */
#define SLOW_FADE 0.9

/* Energy and error of the result for the criterion `compliance`. In mixed precision the last true
 * residual provided the energy. With prescribed displacements f'u + r'u is not used, because it
 * lacks the work of the reactions. */
static int find_energy(hx_pcg_run *s)
{
    hx_pcg *const pcg = s->pcg;
    hx_pcg_result *const result = s->result;
    double product[2];
    if (pcg->params.criterion != HX_PCG_COMPLIANCE) return HX_OK;
    pcg->slow = SLOW_FADE * s->state.slow;
    result->energy = s->is_single ? s->energy : s->state.energy;
    result->error = s->is_single ? s->state.rest * s->norm * s->norm : s->state.rest;
    if (!s->is_single && !s->a->d_prescribed) {
        const double *d_f;
        HX_TRY(hx_pcg_full_load(s, pcg->d_q, &d_f));
        const double *const d_left[] = {d_f, pcg->d_r}, *const d_right[] = {s->d_u, s->d_u};
        HX_TRY(s->dev->ops->vector->dots(s->dev, pcg->n, 2, d_left, d_right, product));
        result->energy = product[0] + product[1];
    }
    result->scale = pcg->scale > 0.0 ? pcg->scale : fabs(result->energy);
    return HX_OK;
}

static int is_final(const hx_pcg_run *s)
{
    return s->state.reason == HX_PCG_CONVERGED || s->state.reason == HX_PCG_MAX_ITER;
}

static int find_result(hx_pcg_run *s, double started)
{
    hx_pcg_result *const result = s->result;
    if (HX_FAULT(nan)) {
        const double nan = NAN;
        HX_TRY(s->dev->ops->upload(s->dev, s->d_u, &nan, sizeof nan));
    }
    /* The criterion `absolute` also holds for a z that is 0, of a preconditioner that is not
     * positive definite, such as multigrid's for a negative K. */
    if (s->state.reason == HX_PCG_CONVERGED && s->pcg->params.criterion == HX_PCG_ABSOLUTE &&
        s->state.rz == 0.0 && s->state.rr > 0.0)
        s->state.reason = HX_PCG_INDEFINITE;
    result->reason = (hx_pcg_reason)s->state.reason;
    result->iterations = s->state.iterations;
    if (s->pc->iterations < result->iterations) s->pc->iterations = result->iterations;
    result->residual = sqrt(s->state.rr) / (s->is_single ? 1.0 : s->norm);
    result->norm = s->norm;
    result->eased = hx_pcg_ease(s);
    HX_TRY(find_energy(s));
    result->seconds = hx_clock() - started;
    if (s->all_sampled > 0.0) {
        result->spmv_seconds = result->seconds * s->spmv_sampled / s->all_sampled;
        result->precond_seconds = result->seconds * s->precond_sampled / s->all_sampled;
    }
    return HX_OK;
}

int hx_pcg_solve_load(hx_pcg *pcg, const hx_linear *a, hx_precond *pc, const hx_load *load,
                      double *d_u, hx_pcg_result *result)
{
    hx_device *dev = pcg->dev;
    const double started = hx_clock();
    hx_pcg_run s = {.pcg = pcg,
                    .dev = dev,
                    .ops = dev->ops->pcg,
                    .a = a,
                    .pc = pc,
                    .load = load,
                    .d_u = d_u,
                    .result = result,
                    .refinement.best = INFINITY};
    memset(result, 0, sizeof *result);
    result->eased = 1.0;
    HX_TRY(hx_pcg_load_norm(&s));
    if (s.norm == 0.0) { /* no load: the solution is the prescribed displacements, or 0 */
        const size_t bytes = (size_t)pcg->n * sizeof(double);
        result->reason = HX_PCG_CONVERGED;
        return a->d_prescribed ? dev->ops->copy(dev, d_u, a->d_prescribed, bytes)
                               : dev->ops->zero(dev, d_u, bytes);
    }
    if (pcg->params.precision == HX_PRECISION_MIXED && isfinite(s.norm)) {
        s.is_single = 1;
        HX_TRY(run_pcg(&s));
        result->fell_back = !is_final(&s);
    }
    if (!is_final(&s)) {
        s.is_single = s.is_stalled = s.n_look = 0;
        s.n_begun = s.state.iterations;
        s.is_z_vector = pcg->d_z || pcg->d_z_single;
        s.d_m = s.is_z_vector ? NULL : pc->d_inverse_diagonal;
        s.is_z_late = s.is_z_vector && pcg->params.criterion != HX_PCG_ABSOLUTE;
        HX_TRY(run_pcg(&s));
    }
    return find_result(&s, started);
}

int hx_pcg_solve(hx_pcg *pcg, const hx_linear *a, hx_precond *pc, const double *d_f, double *d_u,
                 hx_pcg_result *result)
{
    const hx_load load = {.d_f = d_f};
    return hx_pcg_solve_load(pcg, a, pc, &load, d_u, result);
}
