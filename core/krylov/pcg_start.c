/* Residuals, and the start of PCG from them, in double precision. */
#include <math.h>

#include "../base/fault.h"
#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "pcg_internal.h"

int hx_load_expand(hx_device *dev, const hx_load *load, int64_t n, double *d_to)
{
    const size_t bytes = (size_t)n * sizeof *d_to;
    if (load->d_f) return dev->ops->copy(dev, d_to, load->d_f, bytes);
    HX_TRY(dev->ops->zero(dev, d_to, bytes));
    return dev->ops->vector->put_entries(dev, load->n_entry, load->d_at, load->d_value, d_to);
}

int hx_pcg_full_load(const hx_pcg_run *s, double *d_scratch, const double **d_f)
{
    *d_f = s->load->d_f ? s->load->d_f : d_scratch;
    return s->load->d_f ? HX_OK : hx_load_expand(s->dev, s->load, s->pcg->n, d_scratch);
}

int hx_pcg_exact_product(const hx_linear *a, const double *d_x, double *d_y)
{
    HX_IN_SPAN(a->dev, HX_SPAN_PRODUCT, -1, hx_linear_apply_all(a->exact ? a->exact : a, d_x, d_y));
    return HX_OK;
}

int hx_pcg_load_norm(hx_pcg_run *s)
{
    const hx_pcg *const pcg = s->pcg;
    const hx_vector_ops *const vector = s->dev->ops->vector;
    const double *d_f;
    double square;
    if (s->a->d_prescribed) {
        HX_TRY(hx_pcg_full_load(s, pcg->d_p, &d_f));
        HX_TRY(hx_pcg_exact_product(s->a, s->a->d_prescribed, pcg->d_q));
        HX_TRY(vector->subtract(s->dev, pcg->n, d_f, pcg->d_q, pcg->d_r));
    } else {
        HX_TRY(hx_load_expand(s->dev, s->load, pcg->n, pcg->d_r));
    }
    HX_TRY(hx_linear_constrain(s->a, pcg->d_r));
    HX_TRY(vector->dot(s->dev, pcg->n, pcg->d_r, pcg->d_r, &square));
    s->norm = sqrt(square);
    return HX_OK;
}

/* Upper bound on |r| / |f| at which an estimated error may end a solve (or 10 times the square root
 * of the tolerance, if that is smaller). In a first solve with point Jacobi, the estimate may look
 * converged before the iterations have reached the supports. */
#define ROOF 0.1

int hx_pcg_put_state(hx_pcg_run *s)
{
    const hx_pcg_params *params = &s->pcg->params;
    const double scale = s->is_single ? s->norm : 1.0;
    const double bound = hx_pcg_ease(s) * (params->tolerance * (s->norm / scale));
    const double rounding = HX_PCG_ROUNDING * (s->norm / scale);
    const double roof = fmin(ROOF, 10.0 * sqrt(params->tolerance)) * (s->norm / scale);
    const double stop[] = {
        [HX_PCG_RELATIVE] = bound * bound,
        [HX_PCG_ABSOLUTE] = params->tolerance / scale / scale,
        [HX_PCG_COMPLIANCE] = params->tolerance,
    };
    hx_pcg_state state = {
        .criterion = params->criterion,
        .stop = stop[params->criterion],
        .beta = 0.0, /* so the first direction is z */
        .iterations = s->state.iterations,
        .max_iterations = params->max_iterations,
        .is_early = s->is_z_late,
    };
    if (params->criterion == HX_PCG_COMPLIANCE) {
        state.rest = INFINITY;
        state.slow = s->pcg->slow;
        state.scale = s->pcg->scale / scale / scale;
        state.floor = rounding * rounding;
        state.roof = roof * roof;
    }
    return s->dev->ops->upload(s->dev, s->pcg->d_state, &state, sizeof state);
}

int hx_pcg_put_energy(hx_pcg_run *s, const double *d_f)
{
    hx_pcg *pcg = s->pcg;
    const double scale = s->is_single ? s->norm : 1.0;
    double product[2];
    if (pcg->params.criterion != HX_PCG_COMPLIANCE) return HX_OK;
    const double *const d_left[] = {d_f, s->d_u}, *const d_right[] = {s->d_u, pcg->d_q};
    HX_TRY(s->dev->ops->vector->dots(s->dev, pcg->n, 2, d_left, d_right, product));
    s->energy = 2.0 * product[0] - product[1];
    const double energy = s->energy / scale / scale;
    return s->dev->ops->upload(s->dev, &pcg->d_state->energy, &energy, sizeof energy);
}

int hx_pcg_read_state(hx_pcg_run *s)
{
    HX_IN_SPAN_OF_HOST(s->dev, HX_SPAN_LOOK, -1,
                       s->dev->ops->download(s->dev, &s->state, s->pcg->d_state, sizeof s->state));
    if (HX_FAULT(breakdown)) s->state.reason = HX_PCG_INDEFINITE;
    if (HX_FAULT(nan)) {
        s->state.reason = HX_PCG_NAN;
        s->state.rr = NAN;
    }
    if (s->pcg->watch) s->pcg->watch(s->pcg->context, s->state.iterations, sqrt(s->state.rr));
    return HX_OK;
}

/* Scales the initial guess u to its best multiple in the energy norm, (f'u / u'K u) u, and q = K u
 * with it. If the new design is uniformly stiffer than the one the guess belongs to, no iteration
 * is needed to correct for that. Not applied with prescribed displacements, which must not be
 * scaled. */
static int scale_guess(hx_pcg_run *s, const double *d_f)
{
    hx_pcg *pcg = s->pcg;
    double product[2];
    if (s->a->d_prescribed) return HX_OK;
    const double *const d_left[] = {s->d_u, d_f}, *const d_right[] = {pcg->d_q, s->d_u};
    HX_TRY(s->dev->ops->vector->dots(s->dev, pcg->n, 2, d_left, d_right, product));
    const double energy = product[0], work = product[1];
    const double factor = work / energy;
    if (!(energy > 0.0) || !(factor > 0.0) || !isfinite(factor) || fabs(factor - 1.0) < 1e-4)
        return HX_OK;
    HX_TRY(s->dev->ops->vector->axpy(s->dev, pcg->n, factor - 1.0, s->d_u, s->d_u));
    return s->dev->ops->vector->axpy(s->dev, pcg->n, factor - 1.0, pcg->d_q, pcg->d_q);
}

int hx_pcg_residual(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    const double *d_f;
    HX_TRY(hx_pcg_full_load(s, pcg->d_p, &d_f));
    HX_TRY(hx_pcg_exact_product(s->a, s->d_u, pcg->d_q));
    if (s->state.iterations == 0) HX_TRY(scale_guess(s, d_f));
    HX_TRY(hx_pcg_put_energy(s, d_f));
    HX_TRY(s->dev->ops->vector->subtract(s->dev, pcg->n, d_f, pcg->d_q, pcg->d_r));
    return hx_linear_constrain(s->a, pcg->d_r);
}

int hx_pcg_precondition(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    HX_TRY(hx_pcg_mark_event(s, HX_PCG_MARK_PRECOND));
    HX_TRY(hx_span_begin(s->dev, HX_SPAN_PRECONDITIONER, -1));
    if (s->pc->kind->apply)
        HX_TRY(s->pc->kind->apply(s->pc, pcg->d_r, pcg->d_z));
    else
        HX_TRY(s->dev->ops->vector->multiply(s->dev, pcg->n, s->pc->d_inverse_diagonal, pcg->d_r,
                                             pcg->d_z));
    if (pcg->d_z) HX_TRY(hx_linear_project(s->a, pcg->d_z));
    HX_TRY(hx_span_end(s->dev, HX_SPAN_PRECONDITIONER));
    return hx_pcg_mark_event(s, HX_PCG_MARK_PRECOND_END);
}

int hx_pcg_start_from_residual(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    HX_TRY(s->dev->ops->zero(s->dev, pcg->d_p, (size_t)pcg->n * sizeof(double)));
    s->is_marked = 1;
    if (s->is_z_vector) HX_TRY(hx_pcg_precondition(s));
    s->has_z = 1;
    if (pcg->d_z_single)
        HX_TRY(s->ops->start_rounded(s->dev, pcg->n, pcg->d_z_single, pcg->d_r, pcg->d_state));
    else
        HX_TRY(s->ops->start(s->dev, pcg->n, s->d_m, pcg->d_z, pcg->d_r, pcg->d_state));
    return hx_pcg_read_state(s);
}

int hx_pcg_start(hx_pcg_run *s)
{
    HX_TRY(hx_pcg_put_state(s));
    HX_TRY(hx_pcg_residual(s));
    return hx_pcg_start_from_residual(s);
}
