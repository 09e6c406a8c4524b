/* Derivatives of the compliance with respect to the design, through filter and projection, compared
 * with differences. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "selftest_job.h"

enum { N_TRIED = 4 };

/* The compliance with one density of the design changed. */
static int compliance_at(hx_selftest_job *job, int64_t e, double rho, double *compliance)
{
    double *const d_rho = job->opt.d_design + e;
    hx_device *const dev = job->filter.dev;
    double was;
    HX_TRY(dev->ops->download(dev, &was, d_rho, sizeof was));
    HX_TRY(dev->ops->upload(dev, d_rho, &rho, sizeof rho));
    HX_TRY(hx_selftest_job_step(job, compliance));
    return dev->ops->upload(dev, d_rho, &was, sizeof was);
}

static int compare_differences(hx_selftest_job *job, int64_t n, const double *rho, double *dc,
                               double *error)
{
    double compliance, scale = 0.0, worst = 0.0;
    HX_TRY(hx_selftest_job_step(job, &compliance));
    HX_TRY(hx_optimizer_sensitivity(&job->opt, dc));
    for (int64_t e = 0; e < n; e++) hx_selftest_worst(&scale, fabs(dc[e]));
    for (int i = 0; i < N_TRIED; i++) {
        const int64_t e = (2 * i + 1) * n / (2 * N_TRIED);
        double slope;
        /* Central difference of five points, with an error of order h^4. */
        const double h = 1e-3 * rho[e];
        double c[4];
        for (int k = 0; k < 4; k++)
            HX_TRY(compliance_at(job, e, rho[e] + (k < 2 ? k - 2 : k - 1) * h, &c[k]));
        slope = (c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h);
        hx_selftest_worst(&worst, fabs(slope - dc[e]));
    }
    *error = worst / scale;
    return HX_OK;
}

static int check_sensitivities(hx_selftest *t, const hx_sample *s, double *rho,
                               const hx_filter_kind *kind, double beta)
{
    const hx_selftest_job_params params = {.filter = kind->name,
                                           .radius = kind->needs_radius ? 1.6 : 0.0,
                                           .design = hx_selftest_half(beta),
                                           .tolerance = 1e-13,
                                           .density = rho};
    const int64_t n = s->mesh.n_elem;
    hx_selftest_job job;
    double error = NAN;
    hx_selftest_begin(t, "%s, %s%s", s->c == 1 ? "heat" : "elasticity", kind->name,
                      beta > 0.0 ? " and projection" : "");
    int rc = hx_selftest_job_open(&job, t, &s->problem, &params);
    if (rc >= 0) rc = compare_differences(&job, n, rho, rho + n, &error);
    hx_selftest_job_close(&job);
    return hx_selftest_end(t, rc, error, 1e-7, "central differences");
}

static int run_sensitivities(hx_selftest *t, hx_physics physics)
{
    hx_sample_spec spec = hx_sample_box(HX_SAMPLE_HEXAHEDRA, 5, 3, 3);
    double *rho = NULL;
    hx_sample s;
    int rc = HX_OK;
    if (!hx_selftest_operator(t, physics == HX_PHYSICS_HEAT ? 1 : 3, HX_ELEMENT_LINEAR)) return rc;
    spec.physics = physics;
    HX_TRY_FAIL(hx_sample_create(&s, &spec));
    HX_TRY_FAIL(hx_alloc(&rho, 2 * (size_t)s.mesh.n_elem, sizeof *rho, "densities"));
    for (int64_t e = 0; e < s.mesh.n_elem; e++) rho[e] = hx_sample_random(31, e, 0.2, 0.9);
    for (size_t i = 0; t->parts.filters[i]; i++) {
        const hx_filter_kind *const kind = t->parts.filters[i];
        if (kind->is_heuristic) continue; /* its result is not a derivative */
        HX_TRY_FAIL(check_sensitivities(t, &s, rho, kind, 0.0));
        if (kind->maps_design) HX_TRY_FAIL(check_sensitivities(t, &s, rho, kind, 3.0));
    }
fail:
    free(rho);
    hx_sample_free(&s);
    return rc;
}

int hx_selftest_sensitivities(hx_selftest *t)
{
    HX_TRY(run_sensitivities(t, HX_PHYSICS_ELASTICITY));
    return run_sensitivities(t, HX_PHYSICS_HEAT);
}
