#include "amount_limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/fit.h"
#include "core/base/reduce.h"
#include "core/design/local_volume.h"

/* Relative excess that the rounding of a printed amount makes. */
#define ROUNDING 1e-5

/* The free elements of a material. */
typedef struct heap {
    double volume, density;
} heap;

/* What designs can have, as sums over the mesh. A design has the fixed amounts, and of each heap a
 * volume from rho_min to 1 times that of its elements. */
typedef struct amounts {
    double total_volume, rho_min;
    double fixed_volume, fixed_mass; /* passive elements */
    int n;
    heap heap[HX_MOST_MATERIALS]; /* [n], the lightest first */
} amounts;

static int compare_heaps(const void *a, const void *b)
{
    const double x = ((const heap *)a)->density, y = ((const heap *)b)->density;
    return (x > y) - (x < y);
}

static int find_amounts(const hx_session *s, amounts *found)
{
    const hx_problem *const problem = &s->problem;
    const hx_materials *const materials = &problem->materials;
    const double *const passive = problem->passive.density;
    double sum[2 + HX_MOST_MATERIALS] = {0.0}; /* fixed mass, fixed volume, volumes of heaps */
    for (int64_t e = hx_mesh_own_begin(&s->mesh); e < hx_mesh_own_end(&s->mesh); e++) {
        const double volume = problem->volume[e];
        if (!passive || isnan(passive[e])) {
            sum[2 + (materials->n ? materials->number[e] : 0)] += volume;
            continue;
        }
        sum[0] += hx_problem_mass_factor(problem, e) * problem->density * volume * passive[e];
        sum[1] += volume * passive[e];
    }
    found->n = materials->n ? materials->n : 1;
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(&s->mesh), 2 + found->n, sum));
    found->total_volume = problem->total_volume;
    found->rho_min = s->design.rho_min;
    found->fixed_mass = sum[0];
    found->fixed_volume = sum[1];
    for (int i = 0; i < found->n; i++)
        found->heap[i] =
            (heap){sum[2 + i], problem->density * (materials->n ? materials->mass[i] : 1.0)};
    qsort(found->heap, (size_t)found->n, sizeof *found->heap, compare_heaps);
    return HX_OK;
}

/* The mass of a design of the given volume fraction whose material is the lightest possible, or the
 * heaviest. */
static double mass_at(const amounts *of, double fraction, int is_heaviest)
{
    double mass = of->fixed_mass, left = fraction * of->total_volume - of->fixed_volume;
    for (int i = 0; i < of->n; i++) {
        mass += of->rho_min * of->heap[i].volume * of->heap[i].density;
        left -= of->rho_min * of->heap[i].volume;
    }
    for (int k = 0; k < of->n && left > 0.0; k++) {
        const heap *const h = &of->heap[is_heaviest ? of->n - 1 - k : k];
        const double more = fmin(left, (1.0 - of->rho_min) * h->volume);
        mass += more * h->density;
        left -= more;
    }
    return mass;
}

/* A bound of the volume fraction, and what sets it. */
typedef struct bound {
    double fraction;
    char text[256]; /* subject and verb: "rho_min takes" */
} bound;

/* The bounds by passive elements and rho_min. */
static void find_bounds(const hx_session *s, bound *least, bound *most)
{
    const int has_passive = s->problem.passive.density != NULL;
    *least = (bound){.fraction = s->least_volume.lowest.fraction};
    *most = (bound){.fraction = s->least_volume.most.highest.fraction};
    hx_fit(least->text, sizeof least->text, "%s%srho_min %s", has_passive ? "passive elements" : "",
           !has_passive                        ? ""
           : hx_filter_maps_design(&s->filter) ? ", with the filter, and "
                                               : " and ",
           has_passive ? "take" : "takes");
    hx_fit(most->text, sizeof most->text, "%s",
           has_passive ? "passive elements leave" : "the solid part has");
}

/* Narrows the bounds by the limits of the volume and volume_fraction. */
static void narrow_bounds(const hx_session *s, bound *least, bound *most)
{
    const double wanted = hx_session_volume_wanted(s);
    if (wanted < most->fraction) {
        most->fraction = wanted;
        hx_fit(most->text, sizeof most->text, "optimization.volume_fraction = %g permits", wanted);
    }
    for (int i = 0; i < s->limits.n; i++) {
        const hx_constraint_spec *const spec = &s->limits.spec[i];
        if (spec->kind != &hx_response_volume) continue;
        if (spec->max < most->fraction) {
            most->fraction = spec->max;
            hx_fit(most->text, sizeof most->text, "the limit '%s' (%s) permits", spec->name,
                   s->limits.origin[i]);
        }
        if (spec->min > least->fraction) {
            least->fraction = spec->min;
            hx_fit(least->text, sizeof least->text, "the limit '%s' (%s) requires", spec->name,
                   s->limits.origin[i]);
        }
    }
}

/* HX_EINPUT: the limit asks for less than the least or more than the most. */
static int check_amount(const hx_session *s, int i, double lowest, const char *takes,
                        double highest, const char *leaves)
{
    const hx_constraint_spec *const spec = &s->limits.spec[i];
    const char *const unit = hx_response_unit_text(s, spec->kind), *const name = spec->kind->name;
    if (spec->max < lowest * (1.0 - ROUNDING))
        return HX_RAISE(HX_EINPUT, "%s: max: a %s of %g%s cannot be met: %s at least %.6g%s",
                        s->limits.origin[i], name, spec->max, unit, takes, lowest, unit);
    if (spec->min > highest * (1.0 + ROUNDING))
        return HX_RAISE(HX_EINPUT, "%s: min: a %s of %g%s cannot be met: %s at most %.6g%s",
                        s->limits.origin[i], name, spec->min, unit, leaves, highest, unit);
    return HX_OK;
}

/* 1: volume_fraction or a limit restricts the material from above, or less of it may be better. */
static int restricts_material(const hx_session *s)
{
    int any = hx_session_volume_wanted(s) > 0.0 || hx_problem_loads_vary(&s->problem) ||
              s->problem.supports.prescribed != NULL;
    for (int i = 0; i < s->limits.n; i++) {
        const hx_constraint_spec *const spec = &s->limits.spec[i];
        const int is_amount = spec->kind == &hx_response_volume ||
                              spec->kind == &hx_response_mass ||
                              spec->kind == &hx_response_local_volume;
        any |= !isnan(is_amount ? spec->max : spec->min);
    }
    return any;
}

/* Warns that nothing keeps the stiffest design from being solid. */
static void warn_of_solid(const hx_session *s)
{
    const hx_response_kind *const objective = hx_session_objective(s);
    if (objective != &hx_response_compliance && !objective->is_worst_case) return;
    if (s->limits.n == 0 || restricts_material(s) || !hx_session_is_first(s)) return;
    hx_log_warning("no limit restricts the material, and more of it lowers the compliance, so the "
                   "design will be solid; add optimization.volume_fraction or a limit of the mass, "
                   "or minimize the mass: `optimization.objective=mass`");
}

int hx_limits_check_amounts(const hx_session *s)
{
    bound least, most;
    amounts all;
    find_bounds(s, &least, &most);
    warn_of_solid(s);
    for (int i = 0; i < s->limits.n; i++)
        if (s->limits.spec[i].kind == &hx_response_volume)
            HX_TRY(check_amount(s, i, least.fraction, least.text, most.fraction, most.text));
    narrow_bounds(s, &least, &most);
    if (s->problem.density > 0.0) HX_TRY(find_amounts(s, &all));
    for (int i = 0; i < s->limits.n; i++)
        if (s->limits.spec[i].kind == &hx_response_mass)
            HX_TRY(check_amount(s, i, mass_at(&all, least.fraction, 0), least.text,
                                mass_at(&all, most.fraction, 1), most.text));
    return HX_OK;
}
