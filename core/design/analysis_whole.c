/* Results of an analysis for the whole problem. In one process these are the operator's. With
 * several processes the root notifies the others, which perform the same operation on their
 * subdomains, and scatters or gathers the data. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "analysis_internal.h"
#include "design_ops.h"

static int send_analysis_call(const hx_analysis *a, int32_t what, int32_t number, double value)
{
    const hx_dist_call call = {what, number, value};
    return a->dist ? hx_dist_send_call(a->dist, &call) : HX_OK;
}

/* Notifies the other processes unless the design is distributed, because they then call it
 * themselves. */
static int tell_unless_joint(const hx_analysis *a, int32_t what, double value)
{
    return a->is_joint ? HX_OK : send_analysis_call(a, what, 0, value);
}

/* Records that an operation failed in this process while others may continue. */
static int mark_lost(const hx_analysis *a, int rc)
{
    if (rc < 0 && a->dist) a->dist->is_lost = 1;
    return rc;
}

static int analysis_is_root(const hx_analysis *a)
{
    return a->dist->comm->rank == HX_DIST_ROOT;
}

/* Allocates a field at its first use. */
static int need_field(hx_analysis *a, int64_t n, double **d_field)
{
    hx_device *dev = a->op->dev;
    return *d_field ? HX_OK : dev->ops->alloc(dev, (size_t)n * sizeof(double), d_field);
}

static int solve_spread(hx_analysis *a, double penalty)
{
    if (!a->dist) return hx_analysis_solve_local(a, penalty);
    if (!a->is_joint) HX_TRY(hx_dist_scatter(a->dist, a->d_rho, a->d_rho_local));
    const double begin = hx_clock();
    const int rc = hx_analysis_solve_local(a, penalty);
    a->dist->figures.solve_seconds += hx_clock() - begin;
    return rc;
}

int hx_analysis_solve(hx_analysis *a, const double *d_rho, double penalty)
{
    a->d_rho = d_rho;
    if (!a->is_joint) HX_TRY(send_analysis_call(a, HX_CALL_SOLVE, a->design, penalty));
    if (a->d_modulus_whole)
        HX_TRY(a->dev->ops->design->modulus(a->dev, a->problem->mesh->n_elem, a->problem->least,
                                            a->problem->young, penalty, d_rho, a->d_modulus_whole));
    return mark_lost(a, solve_spread(a, penalty));
}

/* Uploads rho, or 1 everywhere, to d_density. */
static int upload_density(hx_analysis *a, const double *rho)
{
    hx_device *dev = a->dev;
    const size_t n = (size_t)a->problem->mesh->n_elem, bytes = n * sizeof(double);
    double *solid;
    if (!a->d_density) HX_TRY(dev->ops->alloc(dev, bytes, &a->d_density));
    if (rho) return dev->ops->upload(dev, a->d_density, rho, bytes);
    HX_TRY(hx_alloc_raw(&solid, n, sizeof *solid, "densities"));
    for (size_t e = 0; e < n; e++) solid[e] = 1.0;
    const int rc = dev->ops->upload(dev, a->d_density, solid, bytes);
    free(solid);
    return rc;
}

int hx_analysis_solve_density(hx_analysis *a, const double *rho, double penalty)
{
    if (a->is_joint)
        return HX_RAISE(
            HX_EINTERNAL,
            "densities of the whole mesh are not accepted if the design is distributed");
    HX_TRY(upload_density(a, rho));
    return hx_analysis_solve(a, a->d_density, penalty);
}

int hx_analysis_compliance(hx_analysis *a, double *compliance)
{
    if (isnan(a->compliance)) HX_TRY(tell_unless_joint(a, HX_CALL_COMPLIANCE, 0.0));
    return mark_lost(a, hx_analysis_compliance_local(a, compliance));
}

/* Computes both this process' part of the energies and the gathered field. */
static int collect_energy(hx_analysis *a, double *d_energy)
{
    const int64_t n = a->op->model.n_elem;
    HX_TRY(need_field(a, n, &a->d_field));
    HX_TRY(need_field(a, n, &a->d_work));
    HX_TRY(hx_analysis_energy_local(a, a->d_field, a->d_work));
    return hx_dist_gather(a->dist, a->d_field, d_energy);
}

int hx_analysis_energy(hx_analysis *a, double *d_energy, double *d_work)
{
    if (!a->dist || a->is_joint) return mark_lost(a, hx_analysis_energy_local(a, d_energy, d_work));
    HX_TRY(send_analysis_call(a, HX_CALL_ENERGY, 0, 0.0));
    return mark_lost(a, collect_energy(a, d_energy));
}

static int collect_body_work(hx_analysis *a)
{
    hx_device *dev = a->op->dev;
    const int64_t n = a->op->model.n_elem;
    HX_TRY(need_field(a, n, &a->d_field));
    HX_TRY(dev->ops->zero(dev, a->d_field, (size_t)n * sizeof *a->d_field));
    HX_TRY(hx_analysis_body_work_local(a, a->d_field));
    return hx_dist_gather(a->dist, a->d_field, a->d_field_whole);
}

int hx_analysis_body_work(hx_analysis *a, double *d_dc)
{
    const int64_t n = a->problem->mesh->n_elem;
    if (!a->problem->cases.body) return HX_OK;
    if (!a->dist || a->is_joint) return mark_lost(a, hx_analysis_body_work_local(a, d_dc));
    HX_TRY(need_field(a, n, &a->d_field_whole));
    HX_TRY(send_analysis_call(a, HX_CALL_BODY_WORK, 0, 0.0));
    HX_TRY(mark_lost(a, collect_body_work(a)));
    return a->dev->ops->vector->axpy(a->dev, n, 1.0, a->d_field_whole, d_dc);
}

static int local_stiffness_error(hx_analysis *a, double *error)
{
    HX_TRY(need_field(a, a->op->model.n_elem, &a->d_field));
    return hx_analysis_stiffness_error_local(a, a->d_field, error);
}

int hx_analysis_stiffness_error(hx_analysis *a, double *d_work, double *error)
{
    double compliance;
    if (!a->dist) return hx_analysis_stiffness_error_local(a, d_work, error);
    HX_TRY(hx_analysis_compliance(a, &compliance));
    HX_TRY(send_analysis_call(a, HX_CALL_STIFFNESS_ERROR, 0, 0.0));
    return mark_lost(a, local_stiffness_error(a, error));
}

int hx_analysis_download(const hx_analysis *a, const double *d_field, double *host)
{
    if (a->is_joint) return hx_dist_gather_field(a->dist, d_field, host);
    return a->dev->ops->download(a->dev, host, d_field,
                                 (size_t)a->fields->mesh->n_elem * sizeof *host);
}

int hx_analysis_modulus(const hx_analysis *a, double *host)
{
    if (a->is_joint) HX_TRY(send_analysis_call(a, HX_CALL_MODULUS, 0, 0.0));
    return mark_lost(a, hx_analysis_download(a, a->d_modulus, host));
}

static int download_density(const hx_analysis *a, double *host)
{
    if (a->is_joint) HX_TRY(send_analysis_call(a, HX_CALL_DENSITY, 0, 0.0));
    return mark_lost(a, hx_analysis_download(a, a->d_rho, host));
}

int hx_analysis_point_displacement(const hx_analysis *a, int load_case, double *u)
{
    if (!a->dist)
        return a->dev->ops->download(a->dev, u, a->d_u[load_case],
                                     (size_t)hx_analysis_whole_entries(a) * sizeof *u);
    HX_TRY(send_analysis_call(a, HX_CALL_DISPLACEMENT, load_case, 0.0));
    return hx_dist_gather_vector(a->dist, a->problem->components, a->d_u[load_case], u);
}

int hx_analysis_displacement(const hx_analysis *a, int load_case, double *u)
{
    const size_t n = (size_t)a->problem->components * (size_t)a->problem->mesh->n_node;
    double *points;
    if (!a->dist && a->problem->space.element != HX_ELEMENT_SPLINE)
        return a->dev->ops->download(a->dev, u, a->d_u[load_case], n * sizeof *u);
    HX_TRY(hx_alloc_raw(&points, (size_t)hx_analysis_whole_entries(a), sizeof *points,
                        "displacements"));
    const int rc = hx_analysis_point_displacement(a, load_case, points);
    if (rc == HX_OK) hx_space_at_nodes(&a->problem->space, a->problem->components, points, u);
    free(points);
    return rc;
}

int hx_analysis_own_modulus(const hx_analysis *a, double *own)
{
    const hx_operator *const op = a->op;
    return op->dev->ops->download(op->dev, own, op->model.d_modulus,
                                  (size_t)op->model.n_elem * sizeof *own);
}

int hx_analysis_own_displacement(const hx_analysis *a, int load_case, double *own)
{
    const hx_operator *const op = a->op;
    const size_t n = (size_t)a->problem->components * (size_t)op->model.n_point;
    return op->dev->ops->download(op->dev, own, a->d_u[load_case], n * sizeof *own);
}

int hx_analysis_reset(hx_analysis *a)
{
    HX_TRY(tell_unless_joint(a, HX_CALL_FORGET, 0.0));
    return mark_lost(a, hx_analysis_reset_local(a));
}

int hx_analysis_load(const hx_analysis *a, int load_case, double total[3])
{
    const hx_problem *problem = a->problem;
    const size_t n = (size_t)problem->mesh->n_elem;
    double *rho, body[3];
    if (a->is_joint) {
        HX_TRY(send_analysis_call(a, HX_CALL_APPLIED, load_case, 0.0));
        return mark_lost(a, hx_analysis_applied_local(a, load_case, total));
    }
    hx_problem_total_force(problem, load_case, total);
    if (!hx_problem_body(problem, load_case)) return HX_OK;
    HX_TRY(hx_alloc_raw(&rho, n, sizeof *rho, "densities"));
    const int rc = download_density(a, rho);
    if (rc == HX_OK) hx_problem_total_body(problem, load_case, rho, body);
    for (int i = 0; rc == HX_OK && i < 3; i++) total[i] += body[i];
    free(rho);
    return rc;
}

static int collect_residual(hx_analysis *a, int load_case, double *residual)
{
    HX_TRY(hx_analysis_residual_local(a, load_case));
    return hx_dist_gather_vector(a->dist, a->problem->components, a->pcg->d_q, residual);
}

int hx_analysis_residual(hx_analysis *a, int load_case, double *residual)
{
    HX_TRY(send_analysis_call(a, HX_CALL_RESIDUAL, load_case, 0.0));
    if (a->dist) return mark_lost(a, collect_residual(a, load_case, residual));
    HX_TRY(hx_analysis_residual_local(a, load_case));
    return a->dev->ops->download(a->dev, residual, a->pcg->d_q,
                                 (size_t)hx_analysis_whole_entries(a) * sizeof *residual);
}

int hx_analysis_reaction(hx_analysis *a, int load_case, double total[3])
{
    const hx_problem *problem = a->problem;
    const int64_t n = hx_analysis_whole_entries(a), c = problem->components;
    double *reaction;
    if (a->dist) {
        HX_TRY(send_analysis_call(a, HX_CALL_REACTION, load_case, 0.0));
        return mark_lost(a, hx_analysis_reaction_local(a, load_case, total));
    }
    HX_TRY(hx_alloc_raw(&reaction, (size_t)n, sizeof *reaction, "reactions"));
    const int rc = hx_analysis_residual(a, load_case, reaction);
    total[0] = total[1] = total[2] = 0.0;
    for (int64_t k = 0; rc == HX_OK && k < n; k++)
        if (problem->supports.fixed[k / c] >> (k % c) & 1) total[k % c] += reaction[k];
    free(reaction);
    return rc;
}

int hx_analysis_spring_force(const hx_analysis *a, int load_case, double total[3])
{
    const hx_problem *problem = a->problem;
    double *u;
    total[0] = total[1] = total[2] = 0.0;
    if (problem->springs.n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&u, (size_t)hx_analysis_whole_entries(a), sizeof *u, "displacements"));
    const int rc = hx_analysis_point_displacement(a, load_case, u);
    for (int64_t k = 0; rc == HX_OK && k < problem->springs.n; k++)
        total[problem->springs.dof[k] % 3] -=
            problem->springs.stiffness[k] * u[problem->springs.dof[k]];
    free(u);
    return rc;
}

int hx_analysis_film_heat(const hx_analysis *a, int load_case, double *heat)
{
    const hx_films *films = &a->problem->films;
    double *t;
    *heat = 0.0;
    if (films->n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&t, (size_t)hx_analysis_whole_entries(a), sizeof *t, "temperatures"));
    const int rc = hx_analysis_point_displacement(a, load_case, t);
    for (int64_t k = 0; rc == HX_OK && k < films->n; k++) {
        *heat -= films->source[k];
        for (int64_t j = films->ptr[k]; j < films->ptr[k + 1]; j++)
            *heat += films->value[j] * t[films->col[j]];
    }
    free(t);
    return rc;
}

int hx_analysis_snapshot(hx_analysis *a, hx_snapshot *image)
{
    HX_TRY(
        tell_unless_joint(a, image->mode == HX_SNAPSHOT_SAVE ? HX_CALL_SAVE : HX_CALL_LOAD, 0.0));
    return mark_lost(a, hx_analysis_snapshot_local(a, image, image->mode));
}

int hx_analysis_report(hx_analysis *a, hx_dist_report *report)
{
    HX_TRY(send_analysis_call(a, HX_CALL_REPORT, 0, 0.0));
    return mark_lost(a, hx_dist_gather_report(a->dist, report));
}

/* The solve stage of a process that takes part while the root holds the design. */
static int solve_stage(hx_analysis *a, double penalty)
{
    HX_IN_STAGE(a->op->dev, HX_SPAN_PCG, -1, solve_spread(a, penalty));
    return HX_OK;
}

static int solve_of_design(hx_analysis *a, const hx_dist_call *call)
{
    HX_IN_STAGE(a->op->dev, HX_SPAN_DESIGN, call->number, solve_stage(a, call->value));
    return HX_OK;
}

/* Sends this process' report to the root. */
static int send_report(hx_analysis *a)
{
    hx_dist_report *report;
    HX_TRY(hx_alloc(&report, (size_t)a->dist->comm->size, sizeof *report, "report"));
    const int rc = hx_dist_gather_report(a->dist, report);
    free(report);
    return rc;
}

int hx_analysis_answer(hx_analysis *a, const hx_dist_call *call)
{
    double unused, total[3];
    switch (call->what) {
    case HX_CALL_SOLVE:
        return solve_of_design(a, call);
    case HX_CALL_COMPLIANCE:
        return hx_analysis_compliance_local(a, &unused);
    case HX_CALL_ENERGY:
        return collect_energy(a, NULL);
    case HX_CALL_BODY_WORK:
        return collect_body_work(a);
    case HX_CALL_STIFFNESS_ERROR:
        return local_stiffness_error(a, &unused);
    case HX_CALL_DENSITY:
        return hx_analysis_download(a, a->d_rho, NULL);
    case HX_CALL_MODULUS:
        return hx_analysis_download(a, a->d_modulus, NULL);
    case HX_CALL_DISPLACEMENT:
        return hx_dist_gather_vector(a->dist, a->problem->components, a->d_u[call->number], NULL);
    case HX_CALL_RESIDUAL:
        return collect_residual(a, call->number, NULL);
    case HX_CALL_FORGET:
        return hx_analysis_reset_local(a);
    case HX_CALL_SAVE:
        return hx_analysis_snapshot_local(a, NULL, HX_SNAPSHOT_SAVE);
    case HX_CALL_LOAD:
        return hx_analysis_snapshot_local(a, NULL, HX_SNAPSHOT_LOAD);
    case HX_CALL_REPORT:
        return send_report(a);
    case HX_CALL_APPLIED:
        return hx_analysis_applied_local(a, call->number, total);
    case HX_CALL_REACTION:
        return hx_analysis_reaction_local(a, call->number, total);
    default:
        if (call->what >= HX_DIST_OTHER && a->dist->answer)
            return a->dist->answer(a->dist->context, call);
        return HX_RAISE(HX_EINTERNAL, "unknown operation %d for the processes", call->what);
    }
}

int hx_analysis_serve(hx_analysis *a)
{
    for (;;) {
        hx_dist_call call;
        HX_TRY(hx_dist_receive_call(a->dist, &call));
        if (call.what == HX_CALL_DISMISS) return HX_OK;
        HX_TRY(hx_analysis_answer(a, &call));
    }
}

void hx_analysis_dismiss(hx_analysis *a)
{
    if (a->dist && analysis_is_root(a) && send_analysis_call(a, HX_CALL_DISMISS, 0, 0.0) < 0)
        hx_error_clear();
}
