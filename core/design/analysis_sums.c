/* Sums of forces and reactions of a case; with several processes each adds its own part. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "analysis_internal.h"

static const char what[] = "sums of forces";

/* (*is_own)[n_point of the subdomain]; the caller frees it. */
static int flag_own(const hx_analysis *a, uint8_t **is_own)
{
    const hx_subdomain *const subdomain = &a->dist->subdomain;
    const size_t n = (size_t)subdomain->space.n_point;
    HX_TRY(hx_alloc_raw(is_own, n, 1, what));
    memset(*is_own, 1, n);
    for (int64_t k = 0; k < subdomain->n_other; k++) (*is_own)[subdomain->other[k]] = 0;
    return HX_OK;
}

/* total[components] := sum over own points of value[n_point][components], over all components or
 * only over fixed ones. */
static void sum_points(const hx_problem *subdomain, const uint8_t *is_own, int at_fixed,
                       const double *value, double total[3])
{
    const int c = subdomain->components;
    const int64_t n = subdomain->space.n_point;
    double part[3][HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t p = hx_part_begin(n, i); p < hx_part_begin(n, i + 1); p++)
            for (int k = 0; is_own[p] && k < c; k++)
                if (!at_fixed || (subdomain->supports.fixed[p] >> k & 1))
                    sum[k] += value[c * p + k];
        for (int k = 0; k < 3; k++) part[k][i] = sum[k];
    }
    for (int k = 0; k < 3; k++) total[k] = hx_sum_parts(part[k]);
}

/* Contribution of convection to the forces, which is not a load. */
static double sum_films(const hx_problem *subdomain, const uint8_t *is_own)
{
    double sum = 0.0;
    for (int64_t k = 0; k < subdomain->films.n; k++)
        if (is_own[subdomain->films.node[k]]) sum += subdomain->films.source[k];
    return sum;
}

/* Adds the loads by mass of own elements. */
static int add_body(const hx_analysis *a, int load_case, double total[3])
{
    const hx_problem *const subdomain = a->op->problem;
    const size_t n = (size_t)subdomain->mesh->n_elem;
    hx_device *const dev = a->op->dev;
    double *rho, body[3];
    if (!hx_problem_body(subdomain, load_case)) return HX_OK;
    HX_TRY(hx_alloc_raw(&rho, n, sizeof *rho, what));
    const int rc = dev->ops->download(dev, rho, a->d_rho, n * sizeof *rho);
    if (rc == HX_OK) hx_problem_total_body(subdomain, load_case, rho, body);
    for (int i = 0; rc == HX_OK && i < 3; i++) total[i] += body[i];
    free(rho);
    return rc;
}

int hx_analysis_sum_load(const hx_analysis *a, int load_case, double total[3])
{
    const hx_problem *const subdomain = a->op->problem;
    uint8_t *is_own;
    HX_TRY(flag_own(a, &is_own));
    sum_points(subdomain, is_own, 0, subdomain->cases.force[load_case], total);
    total[0] -= sum_films(subdomain, is_own);
    free(is_own);
    HX_TRY(add_body(a, load_case, total));
    return hx_dist_sum(a->dist, 3, total);
}

int hx_analysis_sum_reaction(hx_analysis *a, int load_case, double total[3])
{
    const hx_problem *const subdomain = a->op->problem;
    const size_t n = (size_t)subdomain->components * (size_t)subdomain->space.n_point;
    hx_device *const dev = a->op->dev;
    uint8_t *is_own = NULL;
    double *value = NULL;
    int rc;
    HX_TRY_FAIL(hx_analysis_find_residual(a, load_case));
    HX_TRY_FAIL(flag_own(a, &is_own));
    HX_TRY_FAIL(hx_alloc_raw(&value, n, sizeof *value, what));
    HX_TRY_FAIL(dev->ops->download(dev, value, a->pcg->d_q, n * sizeof *value));
    sum_points(subdomain, is_own, 1, value, total);
    rc = hx_dist_sum(a->dist, 3, total);
fail:
    free(is_own);
    free(value);
    return rc;
}
