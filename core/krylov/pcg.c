#include "pcg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/fault.h"
#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "../operator/interface_ops.h"
#include "pcg_internal.h"

static int is_z_vector(const hx_pcg *pcg)
{
    return pcg->d_z || pcg->d_z_single;
}

/* Event marks within an iteration, for timing. */
enum { MARK_BEGIN, MARK_PRODUCT, MARK_PRODUCT_END, MARK_PRECOND, MARK_PRECOND_END, MARK_END };

int hx_load_expand(hx_device *dev, const hx_load *load, int64_t n, double *d_to)
{
    const size_t bytes = (size_t)n * sizeof *d_to;
    if (load->d_f) return dev->ops->copy(dev, d_to, load->d_f, bytes);
    HX_TRY(dev->ops->zero(dev, d_to, bytes));
    return dev->ops->vector->put_entries(dev, load->n_entry, load->d_at, load->d_value, d_to);
}

/* *d_f: the load as a full vector, expanded into d_scratch if it is a list of entries. */
static int vector_of(const hx_pcg *pcg, const hx_load *load, double *d_scratch, const double **d_f)
{
    *d_f = load->d_f ? load->d_f : d_scratch;
    return load->d_f ? HX_OK : hx_load_expand(pcg->dev, load, pcg->n, d_scratch);
}

/* y = A x on all rows, with the exact operator if there is one. */
static int exact_product(const hx_linear *a, const double *d_x, double *d_y)
{
    HX_IN_SPAN(a->dev, HX_SPAN_PRODUCT, -1, hx_linear_apply_all(a->exact ? a->exact : a, d_x, d_y));
    return HX_OK;
}

/* Norm of the load on free degrees of freedom, including the load from prescribed displacements.
 * Uses r, p and q as scratch. */
static int load_norm(hx_pcg *pcg, const hx_linear *a, const hx_load *load, double *norm)
{
    const hx_device_ops *ops = pcg->dev->ops;
    const double *d_f;
    double square;
    if (a->d_prescribed) {
        HX_TRY(vector_of(pcg, load, pcg->d_p, &d_f));
        HX_TRY(exact_product(a, a->d_prescribed, pcg->d_q));
        HX_TRY(ops->vector->subtract(pcg->dev, pcg->n, d_f, pcg->d_q, pcg->d_r));
    } else {
        HX_TRY(hx_load_expand(pcg->dev, load, pcg->n, pcg->d_r));
    }
    HX_TRY(hx_linear_constrain(a, pcg->d_r));
    HX_TRY(ops->vector->dot(pcg->dev, pcg->n, pcg->d_r, pcg->d_r, &square));
    *norm = sqrt(square);
    return HX_OK;
}

static int read_state(hx_pcg_run *s)
{
    hx_device *dev = s->pcg->dev;
    HX_IN_SPAN_OF_HOST(dev, HX_SPAN_LOOK, -1,
                       dev->ops->download(dev, &s->state, s->pcg->d_state, sizeof s->state));
    if (HX_FAULT(breakdown)) s->state.reason = HX_PCG_INDEFINITE;
    if (HX_FAULT(nan)) {
        s->state.reason = HX_PCG_NAN;
        s->state.rr = NAN;
    }
    if (s->pcg->watch) s->pcg->watch(s->pcg->context, s->state.iterations, sqrt(s->state.rr));
    return HX_OK;
}

/* Upper bound on |r| / |f| at which an estimated error may end a solve (or 10 times the square root
 * of the tolerance, if that is smaller). In a first solve with point Jacobi, the estimate may look
 * converged before the iterations have reached the supports. */
#define ROOF 0.1

/* Fraction of hx_pcg_state.slow that is kept from one solve to the next. */
#define SLOW_FADE 0.9

static int iterate_double(hx_pcg_run *s, int marked);

/* 1 if an iteration begins by computing z of the last residual, so that no z is computed for a
 * residual that ends the solve. Not for the criterion `absolute`, which tests r'z. */
static int makes_z_late(const hx_pcg_run *s)
{
    return s->iterate == iterate_double && is_z_vector(s->pcg) &&
           s->pcg->params.criterion != HX_PCG_ABSOLUTE;
}

/* Uploads the initial state. The system solved is K u / scale = f / scale. */
static int begin_pcg(hx_pcg_run *s, double scale, int iterations)
{
    const hx_pcg_params *params = &s->pcg->params;
    hx_device *dev = s->pcg->dev;
    const double bound = params->tolerance * (s->norm / scale);
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
        .iterations = iterations,
        .max_iterations = params->max_iterations,
        .is_early = makes_z_late(s),
    };
    if (params->criterion == HX_PCG_COMPLIANCE) {
        state.rest = INFINITY;
        state.slow = s->pcg->slow;
        state.scale = s->pcg->scale / scale / scale;
        state.floor = rounding * rounding;
        state.roof = roof * roof;
    }
    return dev->ops->upload(dev, s->pcg->d_state, &state, sizeof state);
}

/* Uploads 2 f'u - u'Ku of the scaled system, given q = K u. Waits. */
static int put_energy(hx_pcg_run *s, const double *d_f, double scale)
{
    hx_pcg *pcg = s->pcg;
    hx_device *dev = pcg->dev;
    double product[2];
    if (pcg->params.criterion != HX_PCG_COMPLIANCE) return HX_OK;
    const double *const d_left[] = {d_f, s->d_u}, *const d_right[] = {s->d_u, pcg->d_q};
    HX_TRY(dev->ops->vector->dots(dev, pcg->n, 2, d_left, d_right, product));
    s->energy = 2.0 * product[0] - product[1];
    const double energy = s->energy / scale / scale;
    return dev->ops->upload(dev, &pcg->d_state->energy, &energy, sizeof energy);
}

static int product(const hx_pcg_run *s)
{
    const hx_pcg *pcg = s->pcg;
    if (s->a->apply_dot) return s->a->apply_dot(s->a, pcg->d_p, pcg->d_q, pcg->d_sum);
    return s->a->apply(s->a, pcg->d_p, pcg->d_q);
}

static int take_alpha(const hx_pcg_run *s)
{
    const hx_pcg *pcg = s->pcg;
    const hx_pcg_ops *ops = pcg->dev->ops->pcg;
    if (s->a->apply_dot) return ops->alpha_from(pcg->dev, pcg->d_sum, pcg->d_state);
    return ops->alpha(pcg->dev, pcg->n, pcg->d_p, pcg->d_q, pcg->d_state);
}

static int product_and_alpha(const hx_pcg_run *s, int marked)
{
    hx_device *dev = s->pcg->dev;
    if (marked) HX_TRY(dev->ops->mark(dev, MARK_PRODUCT));
    HX_IN_SPAN(dev, HX_SPAN_PRODUCT, -1, product(s));
    if (marked) HX_TRY(dev->ops->mark(dev, MARK_PRODUCT_END));
    HX_IN_SPAN(dev, HX_SPAN_SCALARS, -1, take_alpha(s));
    return HX_OK;
}

/* The inverse diagonal that the fused passes apply. NULL: z is a vector of its own. */
static const double *fused_diagonal(const hx_pcg_run *s)
{
    return is_z_vector(s->pcg) ? NULL : s->pc->d_inverse_diagonal;
}

/* z = P M^-1 r. */
static int precondition(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    const hx_precond *pc = s->pc;
    if (pc->kind->apply)
        HX_TRY(pc->kind->apply(s->pc, pcg->d_r, pcg->d_z));
    else
        HX_TRY(pcg->dev->ops->vector->multiply(pcg->dev, pcg->n, pc->d_inverse_diagonal, pcg->d_r,
                                               pcg->d_z));
    return pcg->d_z ? hx_linear_project(s->a, pcg->d_z) : HX_OK;
}

static int apply_precond(hx_pcg_run *s)
{
    HX_IN_SPAN(s->pcg->dev, HX_SPAN_PRECONDITIONER, -1, precondition(s));
    return HX_OK;
}

static int take_direction(const hx_pcg_run *s)
{
    const hx_pcg *pcg = s->pcg;
    const hx_pcg_ops *ops = pcg->dev->ops->pcg;
    if (pcg->d_z_single)
        return ops->direction_rounded(pcg->dev, pcg->n, pcg->d_z_single, pcg->d_p, pcg->d_state);
    return ops->direction(pcg->dev, pcg->n, fused_diagonal(s), pcg->d_z, pcg->d_r, pcg->d_p,
                          pcg->d_state);
}

static int take_beta(const hx_pcg_run *s)
{
    const hx_pcg *pcg = s->pcg;
    const hx_pcg_ops *ops = pcg->dev->ops->pcg;
    const double *d_q = s->pc->kind->rounded ? pcg->d_q : NULL;
    if (pcg->d_z_single)
        return ops->beta_rounded(pcg->dev, pcg->n, pcg->d_r, pcg->d_z_single, d_q, pcg->d_state);
    return ops->beta(pcg->dev, pcg->n, pcg->d_r, pcg->d_z, d_q, pcg->d_state);
}

/* Computes z of the residual and beta. */
static int renew_z(hx_pcg_run *s, int marked)
{
    hx_device *dev = s->pcg->dev;
    if (marked) HX_TRY(dev->ops->mark(dev, MARK_PRECOND));
    HX_TRY(apply_precond(s));
    if (marked) HX_TRY(dev->ops->mark(dev, MARK_PRECOND_END));
    HX_IN_SPAN(dev, HX_SPAN_SCALARS, -1, take_beta(s));
    return HX_OK;
}

static int iterate_double(hx_pcg_run *s, int marked)
{
    hx_pcg *pcg = s->pcg;
    hx_device *dev = pcg->dev;
    const hx_device_ops *ops = dev->ops;
    const double *d_m = fused_diagonal(s);
    const int64_t n = pcg->n;
    const int is_late = makes_z_late(s);
    if (marked) HX_TRY(ops->mark(dev, MARK_BEGIN));
    if (is_late && !s->has_z) HX_TRY(renew_z(s, marked));
    HX_IN_SPAN(dev, HX_SPAN_VECTORS, -1, take_direction(s));
    HX_TRY(product_and_alpha(s, marked));
    HX_IN_SPAN(
        dev, HX_SPAN_VECTORS, -1,
        ops->pcg->update(dev, n, n, d_m, pcg->d_p, pcg->d_q, s->d_u, pcg->d_r, pcg->d_state));
    if (is_z_vector(pcg) && !is_late) HX_TRY(renew_z(s, marked));
    return marked ? ops->mark(dev, MARK_END) : HX_OK;
}

static int iterate_single(hx_pcg_run *s, int marked)
{
    const hx_pcg_single *v = &s->pcg->single;
    hx_pcg_state *d_state = s->pcg->d_state;
    hx_device *dev = s->pcg->dev;
    const hx_device_ops *ops = dev->ops;
    const int64_t n = s->pcg->n;
    if (marked) HX_TRY(ops->mark(dev, MARK_BEGIN));
    HX_IN_SPAN(dev, HX_SPAN_VECTORS, -1,
               ops->pcg->direction_single(dev, n, v->d_m, v->d_r, v->d_p, d_state));
    if (marked) HX_TRY(ops->mark(dev, MARK_PRODUCT));
    HX_IN_SPAN(dev, HX_SPAN_PRODUCT, -1, s->a->apply_single(s->a, v->d_p, v->d_q));
    if (marked) HX_TRY(ops->mark(dev, MARK_PRODUCT_END));
    HX_IN_SPAN(dev, HX_SPAN_SCALARS, -1, ops->pcg->alpha_single(dev, n, v->d_p, v->d_q, d_state));
    HX_IN_SPAN(dev, HX_SPAN_VECTORS, -1,
               ops->pcg->update_single(dev, n, n, v->d_m, v->d_p, v->d_q, v->d_u, v->d_r, d_state));
    return marked ? ops->mark(dev, MARK_END) : HX_OK;
}

static int queue_iterations(hx_pcg_run *s)
{
    for (int i = 0; i < s->pcg->params.check_every; i++)
        HX_IN_SPAN(s->pcg->dev, HX_SPAN_ITERATION, -1, s->iterate(s, i == 0));
    return HX_OK;
}

void hx_pcg_reset_recording(hx_pcg *pcg)
{
    if (pcg->recording) pcg->dev->ops->record_free(pcg->dev, pcg->recording);
    pcg->recording = NULL;
}

static int record_iterations(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    const hx_device_ops *ops = pcg->dev->ops;
    HX_TRY(ops->record_begin(pcg->dev));
    const int queued = queue_iterations(s);
    const int rc = ops->record_end(pcg->dev, &pcg->recording);
    return queued < 0 ? queued : rc;
}

/* Queues the iterations until the next status check. A device that can record does so once and
 * replays the recording for the same vectors. What cannot be recorded is queued normally, and
 * reports its error there if it fails. */
static int run_iterations(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    hx_device *dev = pcg->dev;
    const double *d_u = s->iterate == iterate_single ? NULL : s->d_u;
    if (pcg->recording && (pcg->d_recorded_u != d_u || pcg->recorded_a != s->a ||
                           pcg->recorded_version != s->pc->version))
        hx_pcg_reset_recording(pcg);
    if (!pcg->recording && dev->ops->record_begin && !pcg->cannot_record) {
        pcg->d_recorded_u = d_u;
        pcg->recorded_a = s->a;
        pcg->recorded_version = s->pc->version;
        pcg->cannot_record = record_iterations(s);
        if (pcg->cannot_record < 0) {
            hx_pcg_reset_recording(pcg);
            snprintf(pcg->not_recorded, sizeof pcg->not_recorded, "%s", hx_error_message());
            hx_error_clear();
        }
    }
    return pcg->recording ? dev->ops->replay(dev, pcg->recording) : queue_iterations(s);
}

/* Reading the timers makes the device wait, so time is sampled only after the first status checks
 * and every few of the later ones. */
enum { SAMPLES_FIRST = 2, SAMPLES_EVERY = 8 };

/* is_first: z was computed before the iteration, so its time is added. */
static int sample(hx_pcg_run *s, int is_first)
{
    hx_device *dev = s->pcg->dev;
    double product, precond = 0.0, all;
    HX_TRY(dev->ops->elapsed(dev, MARK_PRODUCT, MARK_PRODUCT_END, &product));
    HX_TRY(dev->ops->elapsed(dev, MARK_BEGIN, MARK_END, &all));
    if (is_z_vector(s->pcg) && s->iterate == iterate_double)
        HX_TRY(dev->ops->elapsed(dev, MARK_PRECOND, MARK_PRECOND_END, &precond));
    s->spmv_sampled += product;
    s->precond_sampled += precond;
    s->all_sampled += is_first ? precond + all : all;
    return HX_OK;
}

/* The first iteration of a solve that computes z late. Its z exists already, so it differs from the
 * later iterations and is not recorded. Its time is used only if it remains the only sample. */
static int advance_first(hx_pcg_run *s)
{
    hx_device *dev = s->pcg->dev;
    HX_IN_SPAN(dev, HX_SPAN_ITERATION, -1, s->iterate(s, 1));
    s->has_z = 0;
    HX_TRY(read_state(s));
    return s->all_sampled > 0.0 || s->state.reason == HX_PCG_RUNNING ? HX_OK : sample(s, 1);
}

/* Runs to the next status check and samples the time of the first iteration. */
static int advance(hx_pcg_run *s)
{
    if (s->has_z && makes_z_late(s)) return advance_first(s);
    HX_TRY(run_iterations(s));
    HX_TRY(read_state(s));
    if (s->n_look++ >= SAMPLES_FIRST && s->n_look % SAMPLES_EVERY != 0) return HX_OK;
    return sample(s, 0);
}

/* Scales the initial guess u to its best multiple in the energy norm, (f'u / u'K u) u, and q = K u
 * with it. If the new design is uniformly stiffer than the one the guess belongs to, no iteration
 * is needed to correct for that. Not applied with prescribed displacements, which must not be
 * scaled. */
static int scale_guess(hx_pcg_run *s, const double *d_f)
{
    hx_pcg *pcg = s->pcg;
    hx_device *dev = pcg->dev;
    double product[2];
    if (s->a->d_prescribed) return HX_OK;
    const double *const d_left[] = {s->d_u, d_f}, *const d_right[] = {pcg->d_q, s->d_u};
    HX_TRY(dev->ops->vector->dots(dev, pcg->n, 2, d_left, d_right, product));
    const double energy = product[0], work = product[1];
    const double factor = work / energy;
    if (!(energy > 0.0) || !(factor > 0.0) || !isfinite(factor) || fabs(factor - 1.0) < 1e-4)
        return HX_OK;
    HX_TRY(dev->ops->vector->axpy(dev, pcg->n, factor - 1.0, s->d_u, s->d_u));
    return dev->ops->vector->axpy(dev, pcg->n, factor - 1.0, pcg->d_q, pcg->d_q);
}

/* r = f - K u with the exact K on the free degrees of freedom, q = K u. p may hold f until it is
 * set to 0. */
static int find_residual(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    const double *d_f;
    HX_TRY(vector_of(pcg, s->load, pcg->d_p, &d_f));
    HX_TRY(exact_product(s->a, s->d_u, pcg->d_q));
    if (s->state.iterations == 0) HX_TRY(scale_guess(s, d_f));
    HX_TRY(put_energy(s, d_f, 1.0));
    HX_TRY(pcg->dev->ops->vector->subtract(pcg->dev, pcg->n, d_f, pcg->d_q, pcg->d_r));
    return hx_linear_constrain(s->a, pcg->d_r);
}

/* p = 0, z = M^-1 r, and the first convergence test. Waits. Sets has_z for the first iteration. */
static int start_from_residual(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    hx_device *dev = pcg->dev;
    const hx_device_ops *ops = dev->ops;
    const int64_t n = pcg->n;
    HX_TRY(ops->zero(dev, pcg->d_p, (size_t)n * sizeof(double)));
    if (is_z_vector(pcg)) {
        HX_TRY(ops->mark(dev, MARK_PRECOND));
        HX_TRY(apply_precond(s));
        HX_TRY(ops->mark(dev, MARK_PRECOND_END));
    }
    s->has_z = 1;
    if (pcg->d_z_single)
        HX_TRY(ops->pcg->start_rounded(dev, n, pcg->d_z_single, pcg->d_r, pcg->d_state));
    else
        HX_TRY(ops->pcg->start(dev, n, fused_diagonal(s), pcg->d_z, pcg->d_r, pcg->d_state));
    return read_state(s);
}

static int start_double(hx_pcg_run *s)
{
    HX_TRY(find_residual(s));
    return start_from_residual(s);
}

/* Continues a solve whose recurrence, with the operator as it is stored, satisfies the criterion,
 * from the residual of the exact operator if that does not (iterative refinement). u holds the sum
 * of the corrections. If the corrections gain nothing more, or if the stored operator is not
 * positive definite, the solve continues with the exact operator. Waits. */
static int refine(hx_pcg_run *s, hx_pcg_refinement *refinement, hx_pcg_result *result)
{
    const hx_pcg *const pcg = s->pcg;
    double rr;
    HX_TRY(find_residual(s));
    HX_TRY(pcg->dev->ops->vector->dot(pcg->dev, pcg->n, pcg->d_r, pcg->d_r, &rr));
    if (pcg->params.criterion == HX_PCG_RELATIVE && sqrt(rr) <= pcg->params.tolerance * s->norm) {
        /* the usual case: converged without another application of the preconditioner */
        s->state.rr = rr;
        s->state.reason = HX_PCG_CONVERGED;
        return HX_OK;
    }
    const int is_idle = hx_pcg_refinement_is_over(refinement, rr);
    /* as accurate as rounding in double precision allows */
    if (is_idle && !s->a->exact) return HX_OK;
    if (is_idle || s->state.reason == HX_PCG_INDEFINITE) {
        s->a = s->a->exact;
        *refinement = (hx_pcg_refinement){.best = INFINITY};
        result->took_exact = 1;
    }
    HX_TRY(hx_pcg_put_refinement_stop(s, rr));
    HX_TRY(start_from_residual(s));
    result->refinements += s->state.reason == HX_PCG_RUNNING;
    return HX_OK;
}

static int solve_double(hx_pcg_run *s, int iterations, hx_pcg_result *result)
{
    hx_pcg_refinement p = {.best = INFINITY};
    hx_pcg_asking asked;
    int changed;
    s->iterate = iterate_double;
    s->n_look = 0;
    HX_TRY(begin_pcg(s, 1.0, iterations));
    HX_TRY(start_double(s));
    hx_pcg_begin_asking(&asked, &s->state);
    while (s->state.reason == HX_PCG_RUNNING) {
        HX_TRY(advance(s));
        if ((s->a->exact && s->state.reason == HX_PCG_INDEFINITE) ||
            ((s->a->exact || result->took_exact) && s->state.reason == HX_PCG_CONVERGED))
            HX_TRY(refine(s, &p, result));
        if (s->state.reason != HX_PCG_RUNNING) continue;
        HX_TRY(hx_pcg_ask(s, s->state.iterations - iterations, &asked, &changed));
        if (!changed) continue;
        HX_TRY(begin_pcg(s, 1.0, s->state.iterations));
        HX_TRY(start_double(s));
    }
    return HX_OK;
}

/* r = (f - K u) / |f|, computed with u in double precision; the direction is kept. */
static int true_residual(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    hx_device *dev = pcg->dev;
    const hx_device_ops *ops = dev->ops;
    float *d_r = pcg->single.d_r;
    HX_TRY(exact_product(s->a, s->d_u, pcg->d_q));
    HX_TRY(put_energy(s, s->load->d_f, s->norm));
    HX_TRY(ops->vector->subtract_single(dev, pcg->n, 1.0 / s->norm, s->load->d_f, pcg->d_q, d_r));
    HX_TRY(hx_linear_constrain_single(s->a, d_r));
    HX_TRY(ops->pcg->start_single(dev, pcg->n, pcg->single.d_m, d_r, pcg->d_state));
    return read_state(s);
}

/* u += the increment. Several ranks may hold increments at an interface point that differ by single
 * precision rounding, and a residual summed from subdomains with different u would not reveal it;
 * therefore u is made consistent. */
static int flush_increment(hx_pcg_run *s)
{
    hx_device *dev = s->pcg->dev;
    const int64_t n = s->pcg->n;
    HX_TRY(dev->ops->vector->flush_single(dev, n, s->norm, s->pcg->single.d_u, s->d_u));
    return hx_interface_make_consistent(dev, s->a->components, s->d_u);
}

static int start_single(hx_pcg_run *s)
{
    hx_pcg *pcg = s->pcg;
    hx_device *dev = pcg->dev;
    const hx_device_ops *ops = dev->ops;
    const int64_t n = pcg->n;
    const double *d_m = s->pc->d_inverse_diagonal;
    if (!d_m) { /* identity preconditioner */
        HX_TRY(ops->zero(dev, pcg->d_q, (size_t)n * sizeof(double)));
        HX_TRY(ops->vector->invert(dev, n, pcg->d_q));
        d_m = pcg->d_q;
    }
    HX_TRY(ops->vector->subtract_single(dev, n, 1.0, d_m, NULL, pcg->single.d_m));
    HX_TRY(ops->zero(dev, pcg->single.d_p, (size_t)n * sizeof(float)));
    HX_TRY(ops->zero(dev, pcg->single.d_u, (size_t)n * sizeof(float)));
    return true_residual(s);
}

/* The residual is replaced when |r| has dropped to DROP times its largest value since the last
 * replacement, so that the rounding error of the floats stays small compared with the remaining
 * residual, and at the latest after LONGEST iterations, to see how far the two have drifted apart.
 * After MAX_LOST lost replacements in a row, single precision is abandoned. */
#define DROP 0.1
enum { LONGEST = 1000, MAX_LOST = 3 };

/* Tracks whether single precision still makes progress. A replacement is lost if the true residual
 * is at least twice that of the recurrence and more than half of the smallest true one so far. */
typedef struct progress {
    double best, largest; /* r'r: smallest true value; largest value since the last replacement */
    int replaced_at, n_lost;
} progress;

static int is_due(const hx_pcg_run *s, progress *p)
{
    p->largest = fmax(p->largest, s->state.rr);
    return s->state.reason != HX_PCG_RUNNING || s->state.rr <= DROP * DROP * p->largest ||
           s->state.iterations - p->replaced_at >= LONGEST;
}

static void judge_recurrence(const hx_pcg_run *s, progress *p, double recurrence)
{
    const double rr = s->state.rr;
    const int lost = rr > 4.0 * recurrence && rr > 0.25 * p->best;
    p->n_lost = lost ? p->n_lost + 1 : 0;
    p->best = fmin(p->best, rr);
    p->largest = rr;
    p->replaced_at = s->state.iterations;
}

/* Solves in mixed precision. state.reason becomes HX_PCG_CONVERGED or HX_PCG_MAX_ITER only by a
 * true residual; any other outcome must be examined in double precision. u holds the progress
 * made. */
static int solve_mixed(hx_pcg_run *s, hx_pcg_result *result)
{
    s->iterate = iterate_single;
    HX_TRY(begin_pcg(s, s->norm, 0));
    HX_TRY(start_single(s));
    progress p = {.best = s->state.rr, .largest = s->state.rr};
    while (s->state.reason == HX_PCG_RUNNING && p.n_lost < MAX_LOST) {
        HX_TRY(advance(s));
        if (!is_due(s, &p)) continue;
        /* the increment may contain NaN and is discarded */
        if (s->state.reason == HX_PCG_NAN) return HX_OK;
        HX_TRY(flush_increment(s));
        if (s->state.reason == HX_PCG_INDEFINITE) return HX_OK;
        const double recurrence = s->state.rr;
        HX_TRY(true_residual(s));
        judge_recurrence(s, &p, recurrence);
        result->replacements++;
    }
    return HX_OK;
}

/* Energy and error of the result for the criterion `compliance`. In mixed precision the last true
 * residual provided the energy. With prescribed displacements f'u + r'u is not used, because it
 * lacks the work of the reactions. */
static int find_energy(hx_pcg_run *s, hx_pcg_result *result)
{
    hx_pcg *pcg = s->pcg;
    hx_device *dev = pcg->dev;
    const int in_single = s->iterate == iterate_single;
    double product[2];
    if (pcg->params.criterion != HX_PCG_COMPLIANCE) return HX_OK;
    pcg->slow = SLOW_FADE * s->state.slow;
    result->energy = in_single ? s->energy : s->state.energy;
    result->error = in_single ? s->state.rest * s->norm * s->norm : s->state.rest;
    if (!in_single && !s->a->d_prescribed) {
        const double *d_f;
        HX_TRY(vector_of(pcg, s->load, pcg->d_q, &d_f));
        const double *const d_left[] = {d_f, pcg->d_r}, *const d_right[] = {s->d_u, s->d_u};
        HX_TRY(dev->ops->vector->dots(dev, pcg->n, 2, d_left, d_right, product));
        result->energy = product[0] + product[1];
    }
    result->scale = pcg->scale > 0.0 ? pcg->scale : fabs(result->energy);
    return HX_OK;
}

static int is_final(const hx_pcg_run *s)
{
    return s->state.reason == HX_PCG_CONVERGED || s->state.reason == HX_PCG_MAX_ITER;
}

int hx_pcg_solve(hx_pcg *pcg, const hx_linear *a, hx_precond *pc, const double *d_f, double *d_u,
                 hx_pcg_result *result)
{
    const hx_load load = {.d_f = d_f};
    return hx_pcg_solve_load(pcg, a, pc, &load, d_u, result);
}

int hx_pcg_solve_load(hx_pcg *pcg, const hx_linear *a, hx_precond *pc, const hx_load *load,
                      double *d_u, hx_pcg_result *result)
{
    hx_device *dev = pcg->dev;
    const double started = hx_clock();
    hx_pcg_run s = {.pcg = pcg, .a = a, .pc = pc, .load = load, .d_u = d_u};
    memset(result, 0, sizeof *result);
    HX_TRY(load_norm(pcg, a, load, &s.norm));
    if (s.norm == 0.0) { /* no load: the solution is the prescribed displacements, or 0 */
        const size_t bytes = (size_t)pcg->n * sizeof(double);
        if (a->d_prescribed)
            HX_TRY(dev->ops->copy(dev, d_u, a->d_prescribed, bytes));
        else
            HX_TRY(dev->ops->zero(dev, d_u, bytes));
        result->reason = HX_PCG_CONVERGED;
        return HX_OK;
    }
    double scale = s.norm;
    if (pcg->params.precision == HX_PRECISION_MIXED && isfinite(s.norm)) {
        HX_TRY(solve_mixed(&s, result));
        result->fell_back = !is_final(&s);
        scale = 1.0;
    }
    if (!is_final(&s)) {
        HX_TRY(solve_double(&s, s.state.iterations, result));
        scale = s.norm;
    }
    if (HX_FAULT(nan)) {
        const double nan = NAN;
        HX_TRY(dev->ops->upload(dev, d_u, &nan, sizeof nan));
    }
    /* The criterion `absolute` also holds for a z that is 0, of a preconditioner that is not positive
     * definite, such as multigrid's for a negative K. */
    if (s.state.reason == HX_PCG_CONVERGED && pcg->params.criterion == HX_PCG_ABSOLUTE &&
        s.state.rz == 0.0 && s.state.rr > 0.0)
        s.state.reason = HX_PCG_INDEFINITE;
    result->reason = (hx_pcg_reason)s.state.reason;
    result->iterations = s.state.iterations;
    if (pc->iterations < result->iterations) pc->iterations = result->iterations;
    result->residual = sqrt(s.state.rr) / scale;
    HX_TRY(find_energy(&s, result));
    result->seconds = hx_clock() - started;
    if (s.all_sampled > 0.0) {
        result->spmv_seconds = result->seconds * s.spmv_sampled / s.all_sampled;
        result->precond_seconds = result->seconds * s.precond_sampled / s.all_sampled;
    }
    return HX_OK;
}
