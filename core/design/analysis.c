#include "analysis_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../base/sum.h"
#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "../operator/element_ops.h"
#include "../operator/interface_ops.h"
#include "design_ops.h"

/* 1 if a case has both loads that depend on the density and other loads, so that the other loads
 * are stored separately. */
static int keeps_static(const hx_problem *problem, int c)
{
    const hx_body_field *const body = hx_problem_body(problem, c);
    const hx_expansion_field *const expansion = hx_problem_expands(problem, c);
    return (body && !body->alone) || (expansion && !expansion->alone);
}

static int64_t force_entries(const hx_problem *problem)
{
    return problem->components * problem->space.n_point;
}

/* Counts -0 as an entry, so that stored entries reproduce the vector bit by bit. */
static int is_entry(double force)
{
    return force != 0.0 || signbit(force);
}

/* first[i]: number of entries of a case in the parts before part i. Returns the total number. */
static int64_t count_entries(const hx_problem *problem, int c, int64_t first[HX_N_PART + 1])
{
    const double *force = problem->cases.force[c];
    const int64_t n_dof = force_entries(problem);
    first[0] = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t n = 0;
        for (int64_t i = hx_part_begin(n_dof, part); i < hx_part_begin(n_dof, part + 1); i++)
            n += is_entry(force[i]);
        first[part + 1] = n;
    }
    for (int part = 0; part < HX_N_PART; part++) first[part + 1] += first[part];
    return first[HX_N_PART];
}

/* 1 if the entries of a case's force need less than half the memory of a vector. Mixed precision
 * always stores a vector, because it has no spare vector to expand the entries into during a
 * solve. */
static int is_sparse(const hx_problem *problem, hx_precision precision, int c, int64_t n_entry)
{
    return precision == HX_PRECISION_DOUBLE && !hx_problem_load_varies(problem, c) &&
           4 * n_entry <= force_entries(problem);
}

size_t hx_analysis_load_bytes(const hx_problem *problem, hx_precision precision)
{
    int64_t first[HX_N_PART + 1];
    size_t bytes = 0;
    for (int c = 0; c < problem->cases.n; c++) {
        const int64_t n = count_entries(problem, c, first);
        bytes += is_sparse(problem, precision, c, n)
                     ? (size_t)n * (sizeof(int64_t) + sizeof(double))
                     : (size_t)(1 + keeps_static(problem, c)) * (size_t)force_entries(problem) *
                           sizeof(double);
        const hx_expansion_field *const expansion = hx_problem_expands(problem, c);
        if (expansion && expansion->strain) bytes += (size_t)problem->mesh->n_elem * sizeof(double);
    }
    return bytes;
}

static int64_t vector_entries(const hx_analysis *a)
{
    return a->op->linear.n;
}

static size_t vector_bytes(const hx_analysis *a)
{
    return (size_t)vector_entries(a) * sizeof(double);
}

/* First guess of PCG: the prescribed displacements, 0 elsewhere. */
static int reset_displacement(const hx_analysis *a, double *d_u)
{
    const hx_operator *op = a->op;
    const size_t bytes = vector_bytes(a);
    if (op->d_prescribed) return op->dev->ops->copy(op->dev, d_u, op->d_prescribed, bytes);
    return op->dev->ops->zero(op->dev, d_u, bytes);
}

/* Lists the positions and values of the entries of a case. */
static void list_entries(const hx_problem *problem, int c, const int64_t first[HX_N_PART + 1],
                         int64_t *at, double *value)
{
    const double *force = problem->cases.force[c];
    const int64_t n_dof = force_entries(problem);
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t n = first[part];
        for (int64_t i = hx_part_begin(n_dof, part); i < hx_part_begin(n_dof, part + 1); i++) {
            if (!is_entry(force[i])) continue;
            at[n] = i;
            value[n++] = force[i];
        }
    }
}

static int put_entries(hx_analysis *a, int c, const int64_t first[HX_N_PART + 1])
{
    const int64_t n = first[HX_N_PART];
    hx_case_load *const to = &a->load[c];
    int64_t *at = NULL;
    double *value = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&at, (size_t)n, sizeof *at, "loads"));
    HX_TRY_FAIL(hx_alloc_raw(&value, (size_t)n, sizeof *value, "loads"));
    list_entries(a->op->problem, c, first, at, value);
    to->n_entry = n;
    HX_TRY_FAIL(hx_device_put(a->op->dev, &to->d_at, at, (size_t)n * sizeof *at));
    HX_TRY_FAIL(hx_device_put(a->op->dev, &to->d_value, value, (size_t)n * sizeof *value));
    rc = HX_OK;
fail:
    free(at);
    free(value);
    return rc;
}

static int put_load(hx_analysis *a, int c)
{
    const hx_problem *problem = a->op->problem;
    hx_device *dev = a->op->dev;
    hx_case_load *const to = &a->load[c];
    const size_t bytes = vector_bytes(a);
    int64_t first[HX_N_PART + 1];
    const int64_t n_entry = count_entries(problem, c, first);
    if (is_sparse(problem, a->pcg->params.precision, c, n_entry)) return put_entries(a, c, first);
    HX_TRY(dev->ops->alloc(dev, bytes, &to->d_f));
    if (keeps_static(problem, c)) HX_TRY(dev->ops->alloc(dev, bytes, &to->d_static));
    return dev->ops->upload(dev, to->d_static ? to->d_static : to->d_f, problem->cases.force[c],
                            bytes);
}

static hx_load load_of(const hx_analysis *a, int c)
{
    const hx_case_load *const from = &a->load[c];
    return (hx_load){from->d_f, from->n_entry, from->d_at, from->d_value};
}

int hx_analysis_force(const hx_analysis *a, int load_case, double *d_f)
{
    const hx_load load = load_of(a, load_case);
    return hx_load_expand(a->op->dev, &load, vector_entries(a), d_f);
}

static int create_cases(hx_analysis *a)
{
    const hx_problem *problem = a->op->problem;
    hx_device *dev = a->op->dev;
    const size_t n_case = (size_t)problem->cases.n, bytes = vector_bytes(a);
    HX_TRY(hx_alloc(&a->load_case, n_case, sizeof *a->load_case, "load cases"));
    HX_TRY(hx_alloc(&a->d_u, n_case, sizeof *a->d_u, "load cases"));
    HX_TRY(hx_alloc(&a->load, n_case, sizeof *a->load, "load cases"));
    for (size_t c = 0; c < n_case; c++) {
        HX_TRY(dev->ops->alloc(dev, bytes, &a->d_u[c]));
        HX_TRY(put_load(a, (int)c));
        HX_TRY(hx_analysis_put_strains(a, (int)c));
        HX_TRY(reset_displacement(a, a->d_u[c]));
    }
    return HX_OK;
}

int hx_analysis_create(hx_analysis *a, hx_operator *op, hx_precond *pc, hx_pcg *pcg, int warm_start)
{
    memset(a, 0, sizeof *a);
    a->problem = op->problem->whole ? op->problem->whole : op->problem;
    a->op = op;
    a->pc = pc;
    a->pcg = pcg;
    a->warm_start = warm_start;
    a->dist = op->dev->ops->interface ? hx_dist_of(op->dev) : NULL;
    a->fields = op->problem;
    a->dev = op->dev;
    a->d_modulus = op->model.d_modulus;
    if (a->problem->cases.body && !op->dev->ops->body)
        return HX_RAISE(HX_EINPUT, "device '%s' does not support loads by mass",
                        op->dev->ops->name);
    if (a->problem->cases.expansion && !op->dev->ops->expansion)
        return HX_RAISE(HX_EINPUT, "device '%s' does not support thermal expansion",
                        op->dev->ops->name);
    const int rc = create_cases(a);
    if (rc < 0) hx_analysis_free(a);
    return rc;
}

/* The vectors of the last designs are stored if they take at most this many bytes; if they take
 * more, only if this many times as much memory is available. */
#define FOLLOW_ALWAYS 1e9
#define FOLLOW_ROOM 8

static size_t follow_bytes(const hx_problem *problem, int n_vector)
{
    return (size_t)n_vector * (size_t)force_entries(problem) * sizeof(float);
}

size_t hx_analysis_follow_bytes(const hx_problem *problem, int n_vector)
{
    const size_t bytes = follow_bytes(problem, n_vector);
    return (double)bytes <= FOLLOW_ALWAYS ? bytes : 0;
}

int hx_analysis_alloc_last(const hx_analysis *a, float **d_last)
{
    hx_device *dev = a->op->dev;
    const size_t bytes = (size_t)vector_entries(a) * sizeof(float);
    HX_TRY(dev->ops->alloc(dev, bytes, d_last));
    return dev->ops->zero(dev, *d_last, bytes);
}

static int alloc_last(hx_analysis *a)
{
    const size_t n_case = (size_t)a->problem->cases.n;
    HX_TRY(hx_alloc(&a->d_last, n_case, sizeof *a->d_last, "load cases"));
    for (size_t c = 0; c < n_case; c++) HX_TRY(hx_analysis_alloc_last(a, &a->d_last[c]));
    return HX_OK;
}

static void free_last(hx_analysis *a)
{
    for (int c = 0; a->d_last && c < a->problem->cases.n; c++)
        a->op->dev->ops->release(a->op->dev, a->d_last[c]);
    free(a->d_last);
    a->d_last = NULL;
}

int hx_analysis_has_room(const hx_analysis *a, int n_vector, int *has_room)
{
    const double bytes = (double)follow_bytes(a->op->problem, n_vector);
    size_t n_free, n_total;
    HX_TRY(a->op->dev->ops->memory(a->op->dev, &n_free, &n_total));
    double n_against = bytes > FOLLOW_ALWAYS && (double)n_free < FOLLOW_ROOM * bytes;
    if (a->dist) HX_TRY(hx_dist_sum(a->dist, 1, &n_against)); /* in all processes or in none */
    *has_room = n_against == 0.0;
    return HX_OK;
}

int hx_analysis_follow(hx_analysis *a)
{
    int has_room;
    if (!a->warm_start || a->op->d_prescribed || a->d_last) return HX_OK;
    HX_TRY(hx_analysis_has_room(a, a->problem->cases.n, &has_room));
    if (!has_room) return HX_OK;
    const int rc = alloc_last(a);
    if (rc < 0) free_last(a);
    return rc;
}

/* Displacements of the previous design; an image has them if the run kept them. */
int hx_analysis_snapshot_last(hx_analysis *a, hx_snapshot *image)
{
    hx_device *dev = a->op->dev;
    char name[HX_SNAPSHOT_NAME] = "analysis.last 1";
    if (image->mode == HX_SNAPSHOT_LOAD) {
        if (!hx_snapshot_has(image, name))
            free_last(a);
        else if (!a->d_last)
            HX_TRY(alloc_last(a));
    }
    for (int c = 0; a->d_last && c < a->problem->cases.n; c++) {
        snprintf(name, sizeof name, "analysis.last %d", c + 1);
        HX_TRY(hx_snapshot_device(image, name, dev, a->d_last[c],
                                  (size_t)vector_entries(a) * sizeof(float)));
    }
    return HX_OK;
}

int hx_analysis_open(hx_analysis *a, hx_device *dev, const hx_problem *problem,
                     const hx_solver_params *params)
{
    hx_solver *solver;
    memset(a, 0, sizeof *a);
    HX_TRY(hx_alloc(&solver, 1, sizeof *solver, "solver"));
    int rc = hx_solver_create(solver, dev, problem, params);
    if (rc == HX_OK) rc = hx_analysis_create(a, &solver->op, &solver->pc, &solver->pcg, 1);
    if (rc == HX_OK) {
        a->own = solver;
    } else {
        hx_solver_free(solver);
        free(solver);
    }
    return rc;
}

/* Updates K and the density-dependent loads from the densities. */
static int update_operator(hx_analysis *a)
{
    hx_device *dev = a->op->dev;
    const hx_device_model *const model = &a->op->model;
    HX_TRY(dev->ops->design->modulus(dev, model->n_elem, &model->materials, a->problem->least,
                                     a->problem->young, a->penalty, a->d_rho, model->d_modulus));
    HX_TRY(hx_operator_update(a->op));
    return hx_analysis_update_loads(a);
}

/* Updates K and everything derived from it. */
static int assemble(hx_analysis *a)
{
    hx_device *dev = a->op->dev;
    HX_IN_SPAN(dev, HX_SPAN_MODULUS, -1, update_operator(a));
    HX_TRY(dev->ops->sync(dev));
    const double begin = hx_clock();
    HX_IN_SPAN(dev, HX_SPAN_SETUP, -1, hx_precond_setup(a->pc));
    HX_TRY(dev->ops->sync(dev));
    a->record.prepare_seconds = hx_clock() - begin;
    return HX_OK;
}

static void add_result(hx_analysis_record *record, const hx_pcg_result *pcg)
{
    record->pcg_iterations += pcg->iterations;
    record->pcg_fell_back += pcg->fell_back;
    record->pcg_refinements += pcg->refinements;
    record->pcg_took_exact += pcg->took_exact;
    record->pcg_residual = fmax(record->pcg_residual, pcg->residual / pcg->eased);
    record->spmv_seconds += pcg->spmv_seconds;
    record->precond_seconds += pcg->precond_seconds;
    if (pcg->reason > record->reason) record->reason = pcg->reason;
}

static int has_broken_down(const hx_pcg_result *result)
{
    return result->reason == HX_PCG_INDEFINITE || result->reason == HX_PCG_NAN;
}

/* Resets first guesses to finite values: those of a first design, and 0 for adjoint solutions. */
static int reset(const hx_analysis *a, double *d_u)
{
    for (int c = 0; c < a->problem->cases.n; c++)
        if (a->d_u[c] == d_u) return reset_displacement(a, d_u);
    return a->op->dev->ops->zero(a->op->dev, d_u, vector_bytes(a));
}

static int solve_load(hx_analysis *a, const hx_load *load, double *d_u, hx_pcg_result *result)
{
    HX_TRY(hx_pcg_solve_load(a->pcg, &a->op->linear, a->pc, load, d_u, result));
    if (has_broken_down(result)) {
        const hx_pcg_result first = *result;
        if (first.reason == HX_PCG_NAN) HX_TRY(reset(a, d_u));
        HX_TRY(hx_pcg_solve_load(a->pcg, &a->op->linear, a->pc, load, d_u, result));
        result->iterations += first.iterations;
        result->refinements += first.refinements;
        result->seconds += first.seconds;
        result->spmv_seconds += first.spmv_seconds;
        result->precond_seconds += first.precond_seconds;
        a->record.pcg_restarts++;
    }
    add_result(&a->record, result);
    return HX_OK;
}

int hx_analysis_solve_for(hx_analysis *a, const double *d_f, double *d_u, hx_pcg_result *result)
{
    const hx_load load = {.d_f = d_f};
    return solve_load(a, &load, d_u, result);
}

/* *energy = u'Ku of the elements only, without springs and convection: the energy behind the
 * sensitivities, also with prescribed displacements. */
static int element_energy(const hx_analysis *a, const double *d_u, double *energy)
{
    const hx_operator *op = a->op;
    HX_TRY(hx_operator_energy(op, d_u, a->d_energy));
    return op->dev->ops->vector->field_dot(op->dev, op->model.n_elem, a->d_energy,
                                           op->model.d_modulus, energy);
}

/* 1 if 2 f'u - u'Ku differs from the energy of the elements. */
static int is_energy_apart(const hx_analysis *a)
{
    return a->pcg->params.criterion == HX_PCG_COMPLIANCE &&
           (a->op->d_prescribed || a->problem->springs.n > 0 || a->problem->films.n > 0);
}

enum { MOST_PASSES = 8 };

/* Solves a case. The energy of a first guess may be far off, so the solve is continued until its
 * error is small relative to the final energy. */
static int solve_by_energy(hx_analysis *a, int c)
{
    const hx_load load = load_of(a, c);
    hx_pcg_result *result = &a->load_case[c].pcg;
    int n_iteration = 0;
    double energy;
    HX_TRY(element_energy(a, a->d_u[c], &energy));
    for (int i = 0; i < MOST_PASSES; i++) {
        a->pcg->scale = energy;
        HX_TRY(solve_load(a, &load, a->d_u[c], result));
        n_iteration += result->iterations;
        result->iterations = n_iteration;
        HX_TRY(element_energy(a, a->d_u[c], &energy));
        if (result->reason != HX_PCG_CONVERGED || result->residual <= HX_PCG_ROUNDING) break;
        if (result->error <= a->pcg->params.tolerance * energy) break;
    }
    result->scale = energy;
    return HX_OK;
}

static int solve_case(hx_analysis *a, int c)
{
    const hx_load load = load_of(a, c);
    if (!is_energy_apart(a)) return solve_load(a, &load, a->d_u[c], &a->load_case[c].pcg);
    if (!a->d_energy)
        HX_TRY(a->op->dev->ops->alloc(a->op->dev, (size_t)a->op->model.n_elem * sizeof(double),
                                      &a->d_energy));
    const int rc = solve_by_energy(a, c);
    a->pcg->scale = 0.0;
    return rc;
}

int hx_analysis_go_along(hx_analysis *a, const double *d_f, double *d_u, float *d_last)
{
    hx_device *dev = a->op->dev;
    const hx_vector_ops *vector = dev->ops->vector;
    const int64_t n = vector_entries(a);
    double *const d_d = a->pcg->d_p, *const d_kd = a->pcg->d_q;
    double product[3];
    HX_TRY(dev->ops->copy(dev, d_d, d_u, vector_bytes(a)));
    HX_TRY(vector->flush_single(dev, n, -1.0, d_last, d_d));
    /* rounding to single precision violates the rigid sets, and PCG steps cannot correct that */
    HX_TRY(hx_operator_project(a->op, d_d));
    HX_TRY(vector->subtract_single(dev, n, 1.0, d_u, NULL, d_last));
    HX_TRY(a->op->linear.apply(&a->op->linear, d_d, d_kd));
    const double *const d_left[] = {d_d, d_f, d_u}, *const d_right[] = {d_kd, d_d, d_kd};
    HX_TRY(vector->dots(dev, n, 3, d_left, d_right, product));
    const double dd = product[0], step = (product[1] - product[2]) / dd;
    /* the step is not a number if u has not changed or is not finite */
    return isfinite(step) && dd > 0.0 ? vector->axpy(dev, n, step, d_d, d_u) : HX_OK;
}

static int follow_case(hx_analysis *a, int c)
{
    HX_TRY(hx_analysis_force(a, c, a->pcg->d_r));
    return hx_analysis_go_along(a, a->pcg->d_r, a->d_u[c], a->d_last[c]);
}

int hx_analysis_solve(hx_analysis *a, const double *d_rho, double penalty)
{
    const double begin = hx_clock();
    double error = 0.0, scale = 0.0;
    a->d_rho = d_rho;
    a->penalty = penalty;
    a->compliance = NAN;
    memset(&a->record, 0, sizeof a->record);
    HX_TRY(assemble(a));
    for (int c = 0; c < a->problem->cases.n; c++) {
        if (!a->warm_start) HX_TRY(reset_displacement(a, a->d_u[c]));
        if (a->d_last) HX_TRY(follow_case(a, c));
        HX_TRY(solve_case(a, c));
        HX_TRY(hx_interface_make_consistent(a->op->dev, a->problem->components, a->d_u[c]));
        error += a->problem->cases.weight[c] * a->load_case[c].pcg.error;
        scale += a->problem->cases.weight[c] * a->load_case[c].pcg.scale;
    }
    a->record.pcg_error = error > 0.0 ? error / scale : 0.0;
    if (a->dist) a->dist->figures.solve_seconds += hx_clock() - begin;
    return HX_OK;
}

/* 2 f'u - u'Ku without the constant contribution of the ambient temperatures of convection; if no
 * load acts, minus the dissipated energy. Without convection and prescribed values it is f'u. */
static int case_compliance(hx_analysis *a, int c, double *compliance)
{
    const hx_operator *op = a->op;
    const hx_vector_ops *vector = op->dev->ops->vector;
    const int64_t n = vector_entries(a);
    double uku;
    if (a->pcg->params.criterion == HX_PCG_COMPLIANCE && !op->d_prescribed) {
        *compliance = a->load_case[c].pcg.energy - a->problem->films.offset;
        return HX_OK;
    }
    const double *d_f = a->load[c].d_f;
    if (!d_f) HX_TRY(hx_analysis_force(a, c, a->pcg->d_q));
    HX_TRY(vector->dot(op->dev, n, d_f ? d_f : a->pcg->d_q, a->d_u[c], compliance));
    if (!op->d_prescribed && a->problem->films.offset == 0.0) return HX_OK;
    HX_TRY(hx_operator_apply_exact(op, a->d_u[c], a->pcg->d_q));
    HX_TRY(vector->dot(op->dev, n, a->d_u[c], a->pcg->d_q, &uku));
    *compliance = 2.0 * *compliance - uku - a->problem->films.offset;
    return HX_OK;
}

int hx_analysis_compliance(hx_analysis *a, double *compliance)
{
    double sum = 0.0;
    for (int c = 0; isnan(a->compliance) && c < a->problem->cases.n; c++) {
        HX_TRY(case_compliance(a, c, &a->load_case[c].compliance));
        sum += a->problem->cases.weight[c] * a->load_case[c].compliance;
    }
    if (isnan(a->compliance)) a->compliance = sum;
    *compliance = a->compliance;
    return HX_OK;
}

int hx_analysis_find_residual(const hx_analysis *a, int c)
{
    const hx_vector_ops *vector = a->op->dev->ops->vector;
    double *const d_q = a->pcg->d_q, *const d_p = a->pcg->d_p;
    HX_TRY(hx_operator_apply_exact(a->op, a->d_u[c], d_q));
    HX_TRY(hx_analysis_force(a, c, d_p));
    return vector->subtract(a->op->dev, vector_entries(a), d_q, d_p, d_q);
}

/* *error = u'(K u - f) of a case over the free degrees of freedom: the error left by refinement
 * with the exact K. */
static int case_residual_error(const hx_analysis *a, int c, double *error)
{
    const hx_operator *op = a->op;
    HX_TRY(hx_analysis_find_residual(a, c));
    HX_TRY(hx_operator_restrict(op, a->pcg->d_q));
    return op->dev->ops->vector->dot(op->dev, vector_entries(a), a->d_u[c], a->pcg->d_q, error);
}

/* *error = u'(K - K*)u of a case, with K computed from the elements in double precision and K* the
 * operator's. Both are without springs and films. */
static int case_stiffness_error(const hx_analysis *a, int c, double *d_work, double *error)
{
    const hx_operator *op = a->op;
    const hx_vector_ops *vector = op->dev->ops->vector;
    double exact, used;
    if (op->exact_state) return case_residual_error(a, c, error);
    HX_TRY(hx_operator_energy(op, a->d_u[c], d_work));
    HX_TRY(vector->field_dot(op->dev, op->model.n_elem, d_work, op->model.d_modulus, &exact));
    HX_TRY(op->op_kind->apply(op->state, a->d_u[c], a->pcg->d_q));
    HX_TRY(hx_interface_add(op->dev, op->linear.components, a->pcg->d_q));
    HX_TRY(vector->dot(op->dev, vector_entries(a), a->d_u[c], a->pcg->d_q, &used));
    *error = exact - used;
    return HX_OK;
}

int hx_analysis_stiffness_error(hx_analysis *a, double *d_work, double *error)
{
    double compliance, sum = 0.0;
    HX_TRY(hx_analysis_compliance(a, &compliance));
    for (int c = 0; c < a->problem->cases.n; c++) {
        double of_case;
        HX_TRY(case_stiffness_error(a, c, d_work, &of_case));
        sum += a->problem->cases.weight[c] * of_case;
    }
    *error = sum != 0.0 ? sum / fabs(compliance) : 0.0;
    return HX_OK;
}

int hx_analysis_energy(hx_analysis *a, double *d_energy, double *d_work)
{
    hx_device *dev = a->op->dev;
    const int64_t n = a->op->model.n_elem;
    HX_TRY(dev->ops->zero(dev, d_energy, (size_t)n * sizeof *d_energy));
    for (int c = 0; c < a->problem->cases.n; c++) {
        HX_TRY(hx_operator_energy(a->op, a->d_u[c], d_work));
        HX_TRY(dev->ops->vector->axpy(dev, n, a->problem->cases.weight[c], d_work, d_energy));
    }
    return HX_OK;
}

int hx_analysis_reset(hx_analysis *a)
{
    for (int c = 0; c < a->problem->cases.n; c++) HX_TRY(reset_displacement(a, a->d_u[c]));
    a->pcg->slow = 0.0;
    if (a->pc->kind->reset) a->pc->kind->reset(a->pc);
    return HX_OK;
}

static void release_load(hx_device *dev, const hx_case_load *load)
{
    dev->ops->release(dev, load->d_f);
    dev->ops->release(dev, load->d_static);
    dev->ops->release(dev, load->d_at);
    dev->ops->release(dev, load->d_value);
    dev->ops->release(dev, load->d_strain);
}

void hx_analysis_free(hx_analysis *a)
{
    hx_device *dev = a->op ? a->op->dev : NULL;
    for (int c = 0; dev && c < a->problem->cases.n; c++) {
        if (a->d_u) dev->ops->release(dev, a->d_u[c]);
        if (a->load) release_load(dev, &a->load[c]);
    }
    if (dev) free_last(a);
    if (dev) dev->ops->release(dev, a->d_density);
    if (dev) dev->ops->release(dev, a->d_energy);
    free(a->d_u);
    free(a->load);
    free(a->load_case);
    if (a->own) hx_solver_free(a->own);
    free(a->own);
    memset(a, 0, sizeof *a);
}
