#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../linalg/vector_ops.h"
#include "optimizer_internal.h"
#include "root.h"

/* Fills design[n_elem] on the host with the given densities; passive elements get theirs.
 * HX_EINPUT: the density of an element is invalid. */
static int fill_given(const hx_optimizer *opt, const double *density, double *design)
{
    const hx_problem *const problem = opt->problem;
    const double *const passive = problem->passive.density;
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t e = 0; e < problem->mesh->n_elem; e++) {
        const double rho = passive && !isnan(passive[e]) ? passive[e] : density[e];
        if (!(rho >= 0.0 && rho <= 1.0) && e < bad) bad = e;
        design[e] = fmax(rho, opt->design->rho_min);
    }
    if (bad == INT64_MAX) return HX_OK;
    return HX_RAISE(HX_EINPUT, "initial density of element %lld is %g; it must be in [0, 1]",
                    (long long)hx_mesh_elem_number(hx_problem_whole(problem)->mesh,
                                                   problem->whole ? problem->whole_elem[bad] : bad),
                    density[bad]);
}

/* Assigns rho to the free elements; passive ones take their values from design[n_elem] (NULL
 * without them). */
static int put_uniform(hx_optimizer *opt, double rho, double *design)
{
    const hx_problem *problem = opt->problem;
    hx_device *dev = opt->analysis->dev;
    const int64_t n = problem->mesh->n_elem;
    if (!design) return dev->ops->vector->fill(dev, n, rho, opt->d_design);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        design[e] = !isnan(problem->passive.density[e]) ? problem->passive.density[e] : rho;
    return dev->ops->upload(dev, opt->d_design, design, (size_t)n * sizeof *design);
}

/* A uniform design whose physical density has the prescribed volume. */
static int fit_uniform(hx_optimizer *opt)
{
    const double wanted = opt->design->volume_fraction * opt->total_volume;
    const double rho_min = opt->design->rho_min;
    double rho = hx_design_initial_density(opt->design, opt->problem), mass, *design = NULL;
    hx_root root = {0};
    int rc = HX_OK;
    if (opt->problem->passive.density)
        HX_TRY(
            hx_alloc_raw(&design, (size_t)opt->problem->mesh->n_elem, sizeof *design, "densities"));
    for (int i = 0; i < HX_VOLUME_TRIALS; i++) {
        HX_TRY_FAIL(put_uniform(opt, rho, design));
        HX_TRY_FAIL(hx_filter_mass(opt->filter, opt->d_design, opt->d_volume, &mass));
        const double error = mass - wanted, before = rho;
        if (!(fabs(error) > HX_VOLUME_EXACT * wanted)) break;
        rho = fmin(1.0, fmax(rho_min, hx_root_next(&root, rho, error / opt->total_volume)));
        if (rho == before) break; /* an end of the range is the nearest */
    }
fail:
    free(design);
    return rc;
}

/* Uses `density`, or the densities of passive elements. */
static int put_design(hx_optimizer *opt, const double *density)
{
    const size_t n = (size_t)opt->problem->mesh->n_elem;
    hx_device *dev = opt->analysis->dev;
    double *design = NULL;
    HX_TRY(hx_alloc_raw(&design, n, sizeof *design, "densities"));
    int rc = HX_OK;
    if (density)
        rc = fill_given(opt, density, design);
    else
        hx_design_fill(opt->design, opt->problem, design);
    if (rc == HX_OK) rc = dev->ops->upload(dev, opt->d_design, design, n * sizeof *design);
    free(design);
    return rc;
}

int hx_optimizer_start(hx_optimizer *opt, const double *density)
{
    const hx_problem *const problem = opt->problem;
    hx_device *const dev = opt->analysis->dev;
    if (density || problem->passive.density)
        HX_TRY(put_design(opt, density));
    else
        HX_TRY(dev->ops->vector->fill(dev, problem->mesh->n_elem,
                                      hx_design_initial_density(opt->design, problem),
                                      opt->d_design));
    const int fits = !density && !(opt->design->start > 0.0) && opt->design->volume_fraction > 0.0;
    return fits && hx_filter_maps_design(opt->filter) ? fit_uniform(opt) : HX_OK;
}
