#include "least_volume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/memory.h"

/* LEAST_LEFT: the volume that must be left so that designs can differ, relative to the volume that
 * is taken, which filters spread around passive elements. LEAST_OF_WHOLE: its upper bound, relative
 * to the whole volume, without passive elements. LITTLE_LEFT: below this a warning is printed. */
#define LEAST_LEFT 1e-2
#define LEAST_OF_WHOLE 1e-5
#define LITTLE_LEFT 0.1

/* Values of beta whose ratio is below this count as one. */
#define BETA_RATIO 1.2

/* Device data while the values of beta are traversed. */
typedef struct smeared {
    hx_filter *filter; /* its d_filtered is the filtered design at rho_min, not projected */
    double *d_volume, *d_physical;
    double total; /* volume of the whole mesh */
} smeared;

/* Filters, without projecting, the design whose free elements all have one density. */
static int filter_uniform(smeared *s, double density, double *design)
{
    hx_filter *const filter = s->filter;
    const hx_problem *problem = filter->problem;
    hx_device *dev = filter->dev;
    const int64_t n = problem->mesh->n_elem;
    const size_t bytes = (size_t)n * sizeof *design;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        design[e] = isnan(problem->passive.density[e]) ? density : problem->passive.density[e];
    HX_TRY(dev->ops->upload(dev, s->d_physical, design, bytes));
    return hx_filter_forward_unprojected(filter, s->d_physical);
}

/* Volume fraction of the filtered design after projection with this beta. */
static int project_smeared(const smeared *s, double beta, hx_volume_at *at)
{
    const hx_filter *const filter = s->filter;
    hx_device *dev = filter->dev;
    const int64_t n = filter->problem->mesh->n_elem;
    hx_projection projection = filter->projection;
    double mass, grey;
    projection.beta = beta;
    HX_TRY(hx_filter_finish(s->filter, &projection, s->d_physical));
    HX_TRY(dev->ops->design->measure(dev, n, s->d_physical, s->d_volume, NULL, &mass, &grey));
    *at = (hx_volume_at){mass / s->total, beta};
    return HX_OK;
}

typedef struct extremes {
    hx_volume_at first, lowest, highest;
} extremes;

static int find_extremes(extremes *x, const smeared *s, const hx_schedule *beta)
{
    hx_schedule walk = *beta;
    HX_TRY(project_smeared(s, walk.value, &x->first));
    x->lowest = x->highest = x->first;
    double done = walk.value;
    while (!hx_schedule_ended(&walk)) {
        const double before = walk.value;
        hx_schedule_advance(&walk, 1);
        if (!(walk.value > before)) return HX_OK; /* the step is too small for double precision */
        if (walk.value < BETA_RATIO * done && !hx_schedule_ended(&walk)) continue;
        hx_volume_at at;
        HX_TRY(project_smeared(s, walk.value, &at));
        if (at.fraction < x->lowest.fraction) x->lowest = at;
        if (at.fraction > x->highest.fraction) x->highest = at;
        done = walk.value;
    }
    return HX_OK;
}

static void put_least(hx_least_volume *least, const extremes *x)
{
    least->first = x->first;
    least->lowest = x->lowest;
    least->highest = x->highest;
}

static void put_most(hx_least_volume *least, const extremes *x)
{
    least->most.first = x->first;
    least->most.lowest = x->lowest;
    least->most.highest = x->highest;
}

static extremes constant(double fraction, double beta)
{
    const hx_volume_at at = {fraction, beta};
    return (extremes){at, at, at};
}

static int has_void(const hx_problem *problem)
{
    const double passive = problem->total_volume - problem->design_volume;
    return problem->passive.mass < passive * (1.0 - 1e-9);
}

/* For filters that leave densities unchanged, or without passive elements. */
static void add_volumes(hx_least_volume *least, const hx_filter *filter)
{
    const hx_problem *const problem = filter->problem;
    const double rho_min = filter->design->rho_min, beta = filter->design->beta.value;
    const double mass = problem->passive.mass, total = problem->total_volume;
    const extremes low = constant((mass + rho_min * problem->design_volume) / total, beta);
    const extremes high =
        constant(has_void(problem) ? (mass + problem->design_volume) / total : 1.0, beta);
    put_least(least, &low);
    put_most(least, &high);
}

static int walk_through(hx_least_volume *least, smeared *s, const hx_schedule *beta, double *design)
{
    const hx_problem *const problem = s->filter->problem;
    hx_device *const dev = s->filter->dev;
    const size_t bytes = (size_t)problem->mesh->n_elem * sizeof *design;
    extremes x = constant(1.0, beta->value);
    HX_TRY(hx_device_put(dev, &s->d_volume, problem->volume, bytes));
    HX_TRY(dev->ops->alloc(dev, bytes, &s->d_physical));
    put_most(least, &x);
    if (has_void(problem)) {
        HX_TRY(filter_uniform(s, 1.0, design));
        HX_TRY(find_extremes(&x, s, beta));
        put_most(least, &x);
    }
    HX_TRY(filter_uniform(s, s->filter->design->rho_min, design));
    HX_TRY(find_extremes(&x, s, beta));
    put_least(least, &x);
    return HX_OK;
}

int hx_least_volume_find(hx_least_volume *least, hx_filter *filter)
{
    const hx_problem *problem = filter->problem;
    smeared s = {.filter = filter, .total = problem->total_volume};
    double *design = NULL;
    if (!problem->passive.density ||
        !hx_filter_maps_design(filter)) { /* filters preserve uniform densities */
        add_volumes(least, filter);
        return HX_OK;
    }
    HX_TRY(hx_alloc_raw(&design, (size_t)problem->mesh->n_elem, sizeof *design, "densities"));
    const int rc = walk_through(least, &s, &filter->design->beta, design);
    filter->dev->ops->release(filter->dev, s.d_physical);
    filter->dev->ops->release(filter->dev, s.d_volume);
    free(design);
    return rc;
}

static const char *sweeps(const hx_filter *filter)
{
    return filter->sweep.n_graph > 0 ? " and the sweep changes them" : "";
}

/* Writes "the passive elements, as filter 'density' spreads them, and rho_min already take", with
 * `already` as " already" or ""; returns text. */
static const char *takers(const hx_filter *filter, const char *already, char *text, size_t n_text)
{
    if (!filter->problem->passive.density)
        snprintf(text, n_text, "rho_min%s takes", already);
    else if (!hx_filter_maps_design(filter))
        snprintf(text, n_text, "the passive elements and rho_min%s take", already);
    else
        snprintf(text, n_text,
                 "the passive elements, as filter '%s' spreads them%s, and rho_min%s "
                 "take",
                 filter->kind->name, sweeps(filter), already);
    return text;
}

/* The volume fraction that designs need in addition to what is taken. */
static double margin_of(const hx_filter *filter, double taken)
{
    const double margin = LEAST_LEFT * taken;
    return filter->problem->passive.density ? margin : fmin(margin, LEAST_OF_WHOLE);
}

/* The least fraction above the taken one plus its margin, rounded up to a tenth of the margin or
 * finer. */
static double round_up(const hx_filter *filter, double taken)
{
    const double margin = margin_of(filter, taken);
    const double per_one = pow(10.0, ceil(log10(10.0 / margin) - 1e-9));
    return fmin(1.0, floor((taken + margin) * per_one + 1e-6 + 1.0) / per_one);
}

double hx_least_volume_round_down(double fraction)
{
    return floor(1e4 * fraction * (1.0 + 1e-9)) / 1e4;
}

/* Writes "the passive elements leave"; returns text. */
static const char *leavers(const hx_filter *filter, char *text, size_t n_text)
{
    if (!hx_filter_maps_design(filter))
        snprintf(text, n_text, "the passive elements leave");
    else
        snprintf(text, n_text, "the passive elements, as filter '%s' spreads them, leave",
                 filter->kind->name);
    return text;
}

/* 1 if no design has the volume. With a sweep it is an upper limit, since optimality criteria do not
 * support one. */
static int exceeds(const hx_filter *filter, double wanted, const hx_volume_at *most)
{
    return filter->sweep.n_graph == 0 && wanted > most->fraction * (1.0 + 1e-9);
}

static int check_most(const hx_least_volume *least, const hx_filter *filter)
{
    const double wanted = filter->design->volume_fraction;
    const double first = hx_least_volume_round_down(least->most.first.fraction),
                 lowest = hx_least_volume_round_down(least->most.lowest.fraction);
    char what[128], later[64] = "";
    if (!exceeds(filter, wanted, &least->most.first)) return HX_OK;
    if (lowest < first)
        snprintf(later, sizeof later, " (%.4g at beta = %g)", lowest, least->most.lowest.beta);
    return HX_RAISE(HX_EINPUT,
                    "volume_fraction = %g cannot be met: %s at most %.4g of the volume%s; set "
                    "volume_fraction to at most %.4g, or make fewer elements passive or give them "
                    "larger densities",
                    wanted, leavers(filter, what, sizeof what), first, later, lowest);
}

int hx_least_volume_check(const hx_least_volume *least, const hx_filter *filter)
{
    const double wanted = filter->design->volume_fraction;
    char what[128], later[128] = "";
    if (wanted == 0.0) return HX_OK; /* none is prescribed */
    HX_TRY(check_most(least, filter));
    if (wanted > least->first.fraction + margin_of(filter, least->first.fraction)) return HX_OK;
    if (wanted > least->lowest.fraction * (1.0 + LITTLE_LEFT))
        snprintf(later, sizeof later, " (%.4g if the projection begins with beta = %g)",
                 least->lowest.fraction, least->lowest.beta);
    return HX_RAISE(
        HX_EINPUT,
        "volume_fraction = %g %s: %s %.4g of the volume%s; set volume_fraction to at least %.6g%s",
        wanted,
        wanted > least->first.fraction ? "leaves almost no volume to design" : "cannot be met",
        takers(filter, " already", what, sizeof what), least->first.fraction, later,
        round_up(filter, least->highest.fraction),
        !filter->problem->passive.density ? ""
        : hx_filter_maps_design(filter)   ? ", make fewer elements solid, or reduce the radius"
                                          : ", or make fewer elements solid");
}

static int note_most(const hx_least_volume *least, const hx_filter *filter, hx_notes *notes)
{
    const double wanted = filter->design->volume_fraction;
    const hx_volume_at *const lowest = &least->most.lowest;
    char what[128];
    if (!exceeds(filter, wanted, lowest)) return HX_OK;
    return hx_notes_add(notes, HX_NOTE_WARNING,
                        "volume_fraction = %g can be met only at the beginning of the run: %s at "
                        "most %.4g at beta = %g; the largest value for the whole run is %.4g",
                        wanted, leavers(filter, what, sizeof what), lowest->fraction, lowest->beta,
                        hx_least_volume_round_down(lowest->fraction));
}

int hx_least_volume_note(const hx_least_volume *least, const hx_filter *filter, hx_notes *notes)
{
    const double wanted = filter->design->volume_fraction;
    const hx_volume_at *const highest = &least->highest;
    char what[128], at[48] = "";
    if (wanted == 0.0) return HX_OK;
    HX_TRY(note_most(least, filter, notes));
    if (wanted > highest->fraction * (1.0 + LITTLE_LEFT)) return HX_OK;
    takers(filter, "", what, sizeof what);
    if (highest->beta > 0.0) snprintf(at, sizeof at, " at beta = %g", highest->beta);
    if (wanted > highest->fraction + margin_of(filter, highest->fraction))
        return hx_notes_add(
            notes, HX_NOTE_WARNING,
            "volume_fraction = %g leaves only %.2g of the volume to design, because "
            "%s %.4g%s; this may be too little for a connected part, so set a "
            "larger volume_fraction",
            wanted, wanted - highest->fraction, what, highest->fraction, at);
    return hx_notes_add(notes, HX_NOTE_WARNING,
                        "volume_fraction = %g can be met only at the beginning of the run: %s "
                        "%.4g%s; the smallest value for the whole run is %.6g",
                        wanted, what, highest->fraction, at, round_up(filter, highest->fraction));
}
