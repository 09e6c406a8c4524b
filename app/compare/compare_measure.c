/* Measures one operator on the current device and mesh: check, timing, solve. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../output/stats.h"
#include "compare.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/quantile.h"
#include "core/base/sum.h"
#include "core/files/vtk.h"
#include "core/operator/assembled.h"

typedef struct measurement {
    hx_session *s;
    const hx_compare_plan *plan;
    const hx_compare_reference *ref;
    hx_compare_forecast *forecast;
    hx_compare_row *row;
    double *d_x, *d_y; /* [n_dof] (owned) */
} measurement;

static size_t vector_bytes(const hx_session *s)
{
    return (size_t)s->problem.components * (size_t)s->problem.space.n_point * sizeof(double);
}

/* Device bytes of the whole measurement. */
static size_t bytes_needed(const measurement *m)
{
    const hx_session *s = m->s;
    hx_account account = {0};
    if (m->plan->pcg) return hx_session_device_bytes(s);
    if (s->problem.space.element == HX_ELEMENT_LINEAR)
        return hx_operator_bytes(&s->mesh, s->solver.op_kind, s->solver.layout) +
               2 * vector_bytes(s);
    hx_operator_account(&account, &s->problem, s->solver.op_kind, s->solver.layout);
    return hx_account_sum(&account) + 2 * vector_bytes(s);
}

static int is_lack_of_memory(int rc)
{
    return rc == HX_EENV || rc == HX_ENOMEM;
}

/* Sets up the operator and two vectors; only the operator is timed. */
static int set_up(measurement *m)
{
    hx_session *s = m->s;
    hx_device *dev = &s->device;
    const double begin = hx_clock();
    if (m->plan->pcg)
        HX_TRY(hx_session_make_operator(s));
    else
        HX_TRY(hx_operator_create(&s->solver.op, dev, s->solver.op_kind, s->solver.layout,
                                  &s->problem, 2 * vector_bytes(s)));
    HX_TRY(dev->ops->sync(dev));
    m->row->f.setup_seconds = hx_clock() - begin;
    HX_TRY(dev->ops->alloc(dev, vector_bytes(s), &m->d_x));
    HX_TRY(dev->ops->alloc(dev, vector_bytes(s), &m->d_y));
    return hx_operator_set_modulus(&s->solver.op, m->ref->modulus);
}

static void release_vectors(measurement *m)
{
    hx_device *dev = &m->s->device;
    if (m->d_x) dev->ops->release(dev, m->d_x);
    if (m->d_y) dev->ops->release(dev, m->d_y);
    m->d_x = m->d_y = NULL;
}

/* y = K x for all rows. y is filled with NaN before, so rows that are not written are noticed. */
static int checked_product(measurement *m, const double *x, double *y)
{
    hx_device *dev = &m->s->device;
    const size_t bytes = vector_bytes(m->s);
    for (int64_t i = 0; i < m->ref->n_dof; i++) y[i] = NAN;
    HX_TRY(dev->ops->upload(dev, m->d_y, y, bytes));
    HX_TRY(dev->ops->upload(dev, m->d_x, x, bytes));
    /* Times n <= N_BATCH products one by one. One more product runs before them, so that the device
     * is busy when the first mark is set. */
    HX_TRY(m->s->solver.op.op_kind->apply(m->s->solver.op.state, m->d_x, m->d_y));
    return dev->ops->download(dev, y, m->d_y, bytes);
}

static int check_measurement(measurement *m)
{
    const hx_compare_reference *ref = m->ref;
    hx_compare_figures *f = &m->row->f;
    const int64_t n = ref->n_dof;
    double *y = ref->y;
    HX_TRY(checked_product(m, ref->x, y));
    const double zkx = hx_dot(n, ref->z, y);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) y[i] -= ref->kx[i];
    f->error = sqrt(hx_dot(n, y, y)) / ref->kx_norm;
    HX_TRY(checked_product(m, ref->z, y));
    f->symmetry = fabs(zkx - hx_dot(n, ref->x, y)) / (ref->z_norm * ref->kx_norm);
    f->error_bound = m->s->solver.op_kind->error > 0.0 ? m->s->solver.op_kind->error : 1e-12;
    if (!(f->error <= f->error_bound && f->symmetry <= f->error_bound))
        m->row->status = HX_COMPARE_WRONG;
    return HX_OK;
}

enum { N_WARM = 3, N_BATCH = HX_N_MARK - 1 };

/* Times n <= N_BATCH fills one by one, after one more fill. */
static int time_batch(const measurement *m, int n, double *seconds)
{
    const hx_operator *op = &m->s->solver.op;
    const hx_device_ops *ops = op->dev->ops;
    HX_TRY(op->op_kind->apply(op->state, m->d_x, m->d_y));
    HX_TRY(ops->mark(op->dev, 0));
    for (int i = 0; i < n; i++) {
        HX_TRY(op->op_kind->apply(op->state, m->d_x, m->d_y));
        HX_TRY(ops->mark(op->dev, i + 1));
    }
    HX_TRY(ops->sync(op->dev));
    for (int i = 0; i < n; i++) HX_TRY(ops->elapsed(op->dev, i, i + 1, &seconds[i]));
    return HX_OK;
}

static void fill_times(hx_compare_figures *f, double *seconds, size_t n)
{
    hx_sort_values(seconds, n);
    f->product_repeats = (double)n;
    f->product_median_seconds = hx_quantile(seconds, n, 0.5);
    f->product_lower_quartile_seconds = hx_quantile(seconds, n, 0.25);
    f->product_upper_quartile_seconds = hx_quantile(seconds, n, 0.75);
    f->product_min_seconds = seconds[0];
    f->product_max_seconds = seconds[n - 1];
}

static int time_products(measurement *m)
{
    double once = INFINITY, *seconds;
    int n = m->plan->repeats, rc = HX_OK;
    for (int i = 0; i < N_WARM; i++) {
        double warm;
        HX_TRY(time_batch(m, 1, &warm));
        once = fmin(once, warm);
    }
    if (n == 0) n = (int)fmin(fmax(ceil(0.5 / fmax(once, 1e-9)), 7.0), 101.0);
    HX_TRY(hx_alloc(&seconds, (size_t)n, sizeof *seconds, "timings"));
    for (int done = 0; done < n && rc == HX_OK; done += N_BATCH)
        rc = time_batch(m, n - done < N_BATCH ? n - done : N_BATCH, seconds + done);
    if (rc == HX_OK) fill_times(&m->row->f, seconds, (size_t)n);
    free(seconds);
    return rc;
}

/* Times an operator's matrix: the steps of its pattern, and the values of a design. */
static int measure_matrix(measurement *m)
{
    const hx_operator *op = &m->s->solver.op;
    hx_compare_figures *f = &m->row->f;
    double seconds[N_BATCH];
    const int requested = m->plan->repeats;
    const int n = requested > 0 && requested < N_BATCH ? requested : N_BATCH;
    if (!hx_compare_is_matrix(op->op_kind)) return HX_OK;
    const hx_assembled *a = op->op_kind->assembled(op->state);
    f->pattern_seconds = 0.0;
    for (int i = 0; i < a->steps.n; i++) f->pattern_seconds += a->steps.step[i].seconds;
    f->matrix_bytes =
        (double)hx_device_pattern_bytes(&a->pattern) + (double)hx_matrix_bytes(&a->matrix, op->dev);
    /* Bytes of the matrix that a product reads. */
    if (op->problem->space.element != HX_ELEMENT_LINEAR) {
        const hx_device_pattern *const p = &a->pattern;
        const int is_bsr =
            a->matrix.spec.format == HX_FORMAT_BSR; /* pointers and columns of the pattern */
        f->nominal_bytes_per_element =
            ((double)hx_matrix_bytes(&a->matrix, op->dev) +
             (is_bsr ? 4.0 * (double)p->n_entry + 8.0 * (double)(p->n_row + 1) : 0.0)) /
            (double)op->model.n_elem;
    }
    /* Bytes of a matrix that a product reads. */
    const hx_device_ops *ops = op->dev->ops;
    HX_TRY(op->op_kind->update(op->state));
    HX_TRY(ops->mark(op->dev, 0));
    for (int i = 0; i < n; i++) {
        HX_TRY(op->op_kind->update(op->state));
        HX_TRY(ops->mark(op->dev, i + 1));
    }
    HX_TRY(ops->sync(op->dev));
    for (int i = 0; i < n; i++) HX_TRY(ops->elapsed(op->dev, i, i + 1, &seconds[i]));
    hx_sort_values(seconds, (size_t)n);
    f->fill_seconds = hx_quantile(seconds, (size_t)n, 0.5);
    f->fill_spread =
        (hx_quantile(seconds, (size_t)n, 0.75) - hx_quantile(seconds, (size_t)n, 0.25)) /
        f->fill_seconds;
    return HX_OK;
}

/* Adds a solve of one load case to the row's figures. */
static void add_solve(hx_compare_row *row, const hx_pcg_result *pcg)
{
    hx_compare_figures *f = &row->f;
    if (isnan(f->pcg_iterations))
        f->pcg_iterations = f->pcg_seconds = f->pcg_spmv_seconds = f->pcg_residual = 0.0;
    f->pcg_iterations += pcg->iterations;
    f->pcg_seconds += pcg->seconds;
    f->pcg_spmv_seconds += pcg->spmv_seconds;
    f->pcg_residual = fmax(f->pcg_residual, pcg->residual);
    if (pcg->reason > row->pcg_reason) row->pcg_reason = pcg->reason;
}

/* Solves K u = f of a case from zero, with u in d_x and f in d_y. */
static int solve_case(measurement *m, int load_case, hx_pcg_result *result)
{
    hx_session *s = m->s;
    hx_device *dev = &s->device;
    const size_t bytes = vector_bytes(s);
    HX_TRY(hx_problem_nodal_force(&s->problem, load_case, m->ref->density, m->ref->y));
    hx_problem_add_expansion(&s->problem, load_case, m->ref->modulus, m->ref->y);
    HX_TRY(dev->ops->upload(dev, m->d_y, m->ref->y, bytes));
    if (s->solver.op.d_prescribed)
        HX_TRY(dev->ops->copy(dev, m->d_x, s->solver.op.d_prescribed, bytes));
    else
        HX_TRY(dev->ops->zero(dev, m->d_x, bytes));
    return hx_pcg_solve(&s->solver.pcg, &s->solver.op.linear, &s->solver.pc, m->d_y, m->d_x,
                        result);
}

static int write_density(const hx_session *s, const char *path, double *rho)
{
    const hx_vtk_field density = {"density", HX_VTK_CELL, HX_VTK_F64, 1, rho};
    HX_TRY(hx_optimizer_density(&s->opt, rho));
    return hx_vtk_write(path, &s->mesh, "hextop compare", s->cfg.output.format, &density, 1);
}

/* Times how long it takes to write the analysed densities, as a run does. */
static int time_output(const measurement *m, double *seconds)
{
    const hx_session *s = m->s;
    double *rho;
    char path[PATH_MAX];
    HX_TRY(hx_alloc_raw(&rho, (size_t)s->mesh.n_elem, sizeof *rho, "densities"));
    snprintf(path, sizeof path, "%.3000s/compare-density.%ld.vtk", s->cfg.output.directory,
             (long)getpid());
    const double begin = hx_clock();
    const int rc = write_density(s, path, rho);
    *seconds = hx_clock() - begin;
    free(rho);
    unlink(path);
    return rc;
}

/* Times the first design iteration by stage (P1, Figure 15). */
static int iterate_design(measurement *m, double precomputation_seconds)
{
    hx_session *s = m->s;
    hx_compare_figures *f = &m->row->f;
    hx_iteration it;
    const double begin = hx_clock();
    HX_TRY(hx_session_make_design(s));
    f->stage_precomputation_seconds = precomputation_seconds + hx_clock() - begin;
    const int rc = hx_optimizer_step(&s->opt, &it);
    for (int c = 0; c < s->problem.cases.n; c++) add_solve(m->row, &s->analysis.load_case[c].pcg);
    if (rc == HX_ENUMERIC) { /* operators that follow may succeed */
        snprintf(m->row->note, sizeof m->row->note, "%.250s", hx_error_message());
        hx_error_clear();
        return HX_OK;
    }
    HX_TRY(rc);
    f->stage_pcg_seconds = it.stage[HX_STAGE_PCG];
    f->stage_compliance_seconds = it.stage[HX_STAGE_COMPLIANCE];
    f->stage_filter_seconds = it.stage[HX_STAGE_FILTER];
    f->stage_update_seconds = it.stage[HX_STAGE_UPDATE];
    return time_output(m, &f->stage_output_seconds);
}

static int solve_cases(measurement *m)
{
    for (int c = 0; c < m->s->problem.cases.n; c++) {
        hx_pcg_result result;
        HX_TRY(solve_case(m, c, &result));
        add_solve(m->row, &result);
    }
    return HX_OK;
}

static int solve_measurement(measurement *m, double mesh_seconds)
{
    hx_session *s = m->s;
    double warm;
    hx_compare_meter meter;
    const double begin = hx_clock();
    int rc = hx_session_make_solver(s);
    if (rc == HX_EINPUT || is_lack_of_memory(rc)) { /* the figures of the product remain */
        snprintf(m->row->note, sizeof m->row->note, "no PCG: %.240s", hx_error_message());
        hx_error_clear();
        return HX_OK;
    }
    HX_TRY(rc);
    const double solver_seconds = hx_clock() - begin;
    /* Runs PCG once, since a device loads some code at its first use. *seconds: time of one
     * iteration, including the start. */
    hx_pcg_params *params = &m->s->solver.pcg.params;
    const int max_iterations = params->max_iterations;
    hx_pcg_result result;
    HX_TRY(hx_precond_setup(&m->s->solver.pc));
    params->max_iterations = 1;
    HX_TRY(solve_case(m, 0, &result));
    warm = result.seconds;
    params->max_iterations = max_iterations;
    hx_compare_forecast_solve(m->forecast, s, m->row, warm);
    hx_compare_meter_begin(&meter, s, m->forecast->iterations / s->problem.cases.n);
    if (m->plan->paper) {
        release_vectors(m); /* the optimizer has a solver of its own */
        rc = iterate_design(m, mesh_seconds + m->row->f.setup_seconds + solver_seconds);
    } else {
        rc = solve_cases(m);
    }
    hx_compare_meter_end(&meter);
    return rc;
}

static void show_step(const hx_session *s, const char *step)
{
    if (hx_log_is_terminal())
        hx_log_status("%s, %s: %s %s: %s", s->mesh.name, s->device.ops->name,
                      s->solver.op_kind->name, hx_layout_name(s->solver.layout), step);
}

static int take_measurement(measurement *m, double mesh_seconds)
{
    hx_session *s = m->s;
    size_t n_free = 0, n_total = 0;
    const size_t needed = bytes_needed(m);
    m->row->f.device_bytes = (double)needed;
    HX_TRY(s->device.ops->memory(&s->device, &n_free, &n_total));
    show_step(s, "set-up");
    const int rc = set_up(m);
    if (is_lack_of_memory(rc)) {
        /* The error just raised becomes the note of the row, which is skipped. */
        char a[32], b[32];
        m->row->status = HX_COMPARE_SKIPPED;
        if (n_free > 0 && needed > n_free)
            snprintf(m->row->note, sizeof m->row->note,
                     "does not fit into memory: needs %s, %s is free",
                     hx_format_bytes((double)needed, a, sizeof a),
                     hx_format_bytes((double)n_free, b, sizeof b));
        else
            snprintf(m->row->note, sizeof m->row->note, "does not fit into memory: %.200s",
                     hx_error_message());
        hx_error_clear();
        return HX_OK;
    }
    if (rc == HX_EINPUT) {
        /* The device does not support the operator. */
        m->row->status = HX_COMPARE_REFUSED;
        snprintf(m->row->note, sizeof m->row->note, "%.250s", hx_error_message());
        hx_error_clear();
        return HX_OK;
    }
    HX_TRY(rc);
    show_step(s, "check");
    HX_TRY(check_measurement(m));
    show_step(s, "products");
    HX_TRY(time_products(m));
    HX_TRY(measure_matrix(m));
    if (!m->plan->pcg) return HX_OK;
    show_step(s, "PCG");
    return solve_measurement(m, mesh_seconds);
}

int hx_compare_measure(hx_session *s, const hx_compare_plan *plan, const hx_compare_reference *ref,
                       double mesh_seconds, hx_compare_forecast *forecast, hx_compare_row *row)
{
    measurement m = {.s = s, .plan = plan, .ref = ref, .forecast = forecast, .row = row};
    hx_compare_clear_figures(&row->f);
    row->op_kind = s->solver.op_kind;
    row->layout = s->solver.layout;
    row->status = HX_COMPARE_OK;
    row->pcg_reason = HX_PCG_RUNNING;
    row->note[0] = '\0';
    row->f.bytes_per_element =
        (double)(s->problem.space.element == HX_ELEMENT_LINEAR
                     ? s->solver.op_kind->bytes(&s->mesh, s->solver.layout)
                     : s->solver.op_kind->space_bytes(&s->problem.space, s->solver.layout)) /
        (double)s->mesh.n_elem;
    row->f.nominal_bytes_per_element = s->solver.op_kind->bytes_per_elem;
    const int rc = take_measurement(&m, mesh_seconds);
    release_vectors(&m);
    hx_session_drop_operator(s);
    if (rc == HX_OK) hx_compare_forecast_left(forecast, row);
    return rc;
}
