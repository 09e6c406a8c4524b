#include "least_volume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/memory.h"

/* What must be left of the volume for designs to differ, relative; what is so little that it is
 * said. */
#define LEAST_LEFT 1e-2
#define LITTLE_LEFT 0.1

/* Betas that differ by less than this factor count as one. */
#define BETA_RATIO 1.2

/* On the device while betas are walked through. */
typedef struct smeared {
    hx_filter *filter; /* its d_filtered is the design at rho_min, not projected */
    double *d_volume, *d_physical;
    double total; /* volume, of the whole */
} smeared;

/* The design whose free elements are at rho_min, through the filter but not projected. */
static int filter_least(smeared *s, double *design)
{
    hx_filter *const filter = s->filter;
    const hx_problem *problem = filter->problem;
    hx_device *dev = filter->dev;
    const int64_t n = problem->mesh->n_elem;
    const size_t bytes = (size_t)n * sizeof *design;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        design[e] =
            isnan(problem->passive.density[e]) ? problem->rho_min : problem->passive.density[e];
    HX_TRY(hx_device_put(dev, &s->d_physical, design, bytes));
    HX_TRY(hx_device_put(dev, &s->d_volume, problem->volume, bytes));
    return hx_filter_forward_unprojected(filter, s->d_physical);
}

/* Volume fraction of what is filtered, projected with this beta. */
static int project(const smeared *s, double beta, hx_volume_at *at)
{
    const hx_filter *const filter = s->filter;
    hx_device *dev = filter->dev;
    const int64_t n = filter->problem->mesh->n_elem;
    hx_projection projection = filter->projection;
    double mass, grey;
    projection.beta = beta;
    HX_TRY(dev->ops->design->project(dev, n, &projection, filter->d_passive, filter->d_filtered,
                                     s->d_physical));
    HX_TRY(dev->ops->design->measure(dev, n, s->d_physical, s->d_volume, NULL, &mass, &grey));
    *at = (hx_volume_at){mass / s->total, beta};
    return HX_OK;
}

static int find_extremes(hx_least_volume *least, const smeared *s, const hx_stair *beta)
{
    hx_stair walk = *beta;
    HX_TRY(project(s, walk.value, &least->first));
    least->lowest = least->highest = least->first;
    double done = walk.value;
    while (!hx_stair_ended(&walk)) {
        const double before = walk.value;
        hx_stair_climb(&walk, 1);
        if (!(walk.value > before)) return HX_OK; /* too small a step for double precision */
        if (walk.value < BETA_RATIO * done && !hx_stair_ended(&walk)) continue;
        hx_volume_at at;
        HX_TRY(project(s, walk.value, &at));
        if (at.fraction < least->lowest.fraction) least->lowest = at;
        if (at.fraction > least->highest.fraction) least->highest = at;
        done = walk.value;
    }
    return HX_OK;
}

int hx_least_volume_find(hx_least_volume *least, hx_filter *filter, const hx_stair *beta)
{
    const hx_problem *problem = filter->problem;
    const size_t n = (size_t)problem->mesh->n_elem;
    const hx_stair still = {.value = filter->params.beta, .last = filter->params.beta};
    const hx_stair *const stair = beta->every > 0 ? beta : &still;
    smeared s = {.filter = filter, .total = problem->total_volume};
    double *design = NULL;
    int rc;
    if (!problem->passive.density ||
        !hx_filter_maps_design(filter)) { /* filters keep what is uniform */
        const double mass = problem->passive.mass + problem->rho_min * problem->design_volume;
        least->first.fraction = mass / s.total;
        least->first.beta = stair->value;
        least->lowest = least->highest = least->first;
        return HX_OK;
    }
    HX_TRY_FAIL(hx_alloc_raw(&design, n, sizeof *design, "densities"));
    HX_TRY_FAIL(filter_least(&s, design));
    rc = find_extremes(least, &s, stair);
fail:
    filter->dev->ops->release(filter->dev, s.d_physical);
    filter->dev->ops->release(filter->dev, s.d_volume);
    free(design);
    return rc;
}

/* "the passive regions, as filter 'density' spreads them, and rho_min"; returns text. */
static const char *takers(const hx_filter *filter, char *text, size_t n_text)
{
    if (!filter->problem->passive.density)
        snprintf(text, n_text, "rho_min alone");
    else if (!hx_filter_maps_design(filter))
        snprintf(text, n_text, "the passive regions and rho_min");
    else
        snprintf(text, n_text, "the passive regions, as filter '%s' spreads them, and rho_min",
                 filter->kind->name);
    return text;
}

/* A fraction of four digits that leaves something to design. */
static double round_up(double fraction)
{
    return fmin(1.0, floor(1e4 * fraction * (1.0 + LEAST_LEFT) + 1.0) / 1e4);
}

int hx_least_volume_check(const hx_least_volume *least, const hx_filter *filter)
{
    const double wanted = filter->problem->volume_fraction;
    char what[128], later[128] = "";
    if (wanted > least->first.fraction * (1.0 + LEAST_LEFT)) return HX_OK;
    if (wanted > least->lowest.fraction * (1.0 + LITTLE_LEFT))
        snprintf(later, sizeof later, " (%.4g at beta = %g, a projection to begin with)",
                 least->lowest.fraction, least->lowest.beta);
    return HX_RAISE(HX_EINPUT,
                    "volume_fraction = %g %s: %s already take %.4g of the volume%s; the "
                    "least that works is %.4g: ask for that or more%s",
                    wanted,
                    wanted > least->first.fraction ? "leaves next to nothing to design"
                                                   : "cannot be met",
                    takers(filter, what, sizeof what), least->first.fraction, later,
                    round_up(least->highest.fraction),
                    !filter->problem->passive.density ? ""
                    : hx_filter_maps_design(filter) ? ", make less solid, or take a smaller radius"
                                                    : ", or make less solid");
}

int hx_least_volume_note(const hx_least_volume *least, const hx_filter *filter, hx_notes *notes)
{
    const double wanted = filter->problem->volume_fraction;
    const hx_volume_at *const highest = &least->highest;
    char what[128], at[48] = "";
    if (wanted > highest->fraction * (1.0 + LITTLE_LEFT)) return HX_OK;
    takers(filter, what, sizeof what);
    if (highest->beta > 0.0) snprintf(at, sizeof at, " at beta = %g", highest->beta);
    if (wanted > highest->fraction * (1.0 + LEAST_LEFT))
        return hx_notes_add(notes, HX_NOTE_WARNING,
                            "volume_fraction = %g leaves %.2g of the volume to design: %s take "
                            "%.4g%s; a part needs more to hang together",
                            wanted, wanted - highest->fraction, what, highest->fraction, at);
    return hx_notes_add(notes, HX_NOTE_WARNING,
                        "volume_fraction = %g can be met at the start only: %s take %.4g%s; the "
                        "least that works to the end is %.4g",
                        wanted, what, highest->fraction, at, round_up(highest->fraction));
}
