/* Results of an analysis for the whole problem, on the host of the first rank: gathered from the
 * subdomains, or the operator's if there is one rank. Arrays of the whole are NULL on the
 * others. */
#include <stdlib.h>

#include "../base/memory.h"
#include "analysis_internal.h"

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
    if (a->dist) return HX_RAISE(HX_EINTERNAL, "densities of the whole mesh need one process");
    HX_TRY(upload_density(a, rho));
    return hx_analysis_solve(a, a->d_density, penalty);
}

static size_t field_bytes(const hx_analysis *a)
{
    return (size_t)a->op->model.n_elem * sizeof(double);
}

int hx_analysis_download(const hx_analysis *a, const double *d_field, double *host)
{
    if (a->dist) return hx_dist_gather_field(a->dist, d_field, host);
    return a->dev->ops->download(a->dev, host, d_field, field_bytes(a));
}

int hx_analysis_upload(const hx_analysis *a, const double *host, double *d_field)
{
    if (a->dist) return hx_dist_scatter_field(a->dist, host, d_field);
    return a->dev->ops->upload(a->dev, d_field, host, field_bytes(a));
}

int hx_analysis_modulus(const hx_analysis *a, double *host)
{
    return hx_analysis_download(a, a->d_modulus, host);
}

int hx_analysis_point_displacement(const hx_analysis *a, int load_case, double *u)
{
    if (!a->dist)
        return a->dev->ops->download(a->dev, u, a->d_u[load_case],
                                     (size_t)hx_analysis_whole_entries(a) * sizeof *u);
    return hx_dist_gather_vector(a->dist, a->problem->components, a->d_u[load_case], u);
}

/* (*u)[n_point][components] of a case on the host of the first rank, NULL on the others; the caller
 * frees it. HX_ENOMEM on all ranks. */
static int download_points(const hx_analysis *a, int load_case, double **u)
{
    const size_t n = (size_t)hx_analysis_whole_entries(a);
    int rc = HX_OK;
    *u = NULL;
    if (!a->dist || hx_dist_is_root(a->dist))
        rc = hx_alloc_raw(u, n, sizeof **u,
                          a->problem->components == 1 ? "temperatures" : "displacements");
    if (a->dist) rc = hx_dist_agree(a->dist, rc);
    return rc == HX_OK ? hx_analysis_point_displacement(a, load_case, *u) : rc;
}

int hx_analysis_displacement(const hx_analysis *a, int load_case, double *u)
{
    const size_t n = (size_t)a->problem->components * (size_t)a->problem->mesh->n_node;
    double *points;
    if (!a->dist && a->problem->space.element != HX_ELEMENT_SPLINE)
        return a->dev->ops->download(a->dev, u, a->d_u[load_case], n * sizeof *u);
    const int rc = download_points(a, load_case, &points);
    if (rc == HX_OK && points)
        hx_space_at_nodes(&a->problem->space, a->problem->components, points, u);
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

int hx_analysis_put_vector(const hx_analysis *a, const double *whole, double **d_v)
{
    const int64_t n = a->op->linear.n, c = a->problem->components;
    double *own;
    if (!a->dist) return hx_device_put(a->dev, d_v, whole, (size_t)n * sizeof *whole);
    HX_TRY(hx_alloc_raw(&own, (size_t)n, sizeof *own, "vector of a subdomain"));
    for (int64_t k = 0; k < n; k++) own[k] = whole[c * a->dist->subdomain.node[k / c] + k % c];
    const int rc = hx_device_put(a->dev, d_v, own, (size_t)n * sizeof *own);
    free(own);
    return rc;
}

int hx_analysis_load(const hx_analysis *a, int load_case, double total[3])
{
    const hx_problem *problem = a->problem;
    const size_t n = (size_t)problem->mesh->n_elem;
    double *rho, body[3];
    if (a->dist) {
        HX_TRY(hx_analysis_check_ranks(a));
        return hx_dist_note_error(a->dist, hx_analysis_sum_load(a, load_case, total));
    }
    hx_problem_total_force(problem, load_case, total);
    if (!hx_problem_body(problem, load_case)) return HX_OK;
    HX_TRY(hx_alloc_raw(&rho, n, sizeof *rho, "densities"));
    const int rc = hx_analysis_download(a, a->d_rho, rho);
    if (rc == HX_OK) hx_problem_total_body(problem, load_case, rho, body);
    for (int i = 0; rc == HX_OK && i < 3; i++) total[i] += body[i];
    free(rho);
    return rc;
}

int hx_analysis_residual(hx_analysis *a, int load_case, double *residual)
{
    if (a->dist) return HX_RAISE(HX_EINTERNAL, "residuals of the whole mesh need one process");
    HX_TRY(hx_analysis_find_residual(a, load_case));
    return a->dev->ops->download(a->dev, residual, a->pcg->d_q,
                                 (size_t)hx_analysis_whole_entries(a) * sizeof *residual);
}

int hx_analysis_reaction(hx_analysis *a, int load_case, double total[3])
{
    const hx_problem *problem = a->problem;
    const int64_t n = hx_analysis_whole_entries(a), c = problem->components;
    double *reaction;
    if (a->dist) {
        HX_TRY(hx_analysis_check_ranks(a));
        return hx_dist_note_error(a->dist, hx_analysis_sum_reaction(a, load_case, total));
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
    const int rc = download_points(a, load_case, &u);
    for (int64_t k = 0; rc == HX_OK && u && k < problem->springs.n; k++)
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
    const int rc = download_points(a, load_case, &t);
    for (int64_t k = 0; rc == HX_OK && t && k < films->n; k++) {
        *heat -= films->source[k];
        for (int64_t j = films->ptr[k]; j < films->ptr[k + 1]; j++)
            *heat += films->value[j] * t[films->col[j]];
    }
    free(t);
    return rc;
}
