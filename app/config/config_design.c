/* Rules of the objective, the constraints, the volume, the update and the filter of a config. */
#include <math.h>
#include <string.h>

#include "config_check.h"
#include "config_schema.h"
#include "core/base/names.h"
#include "core/design/stress_limit.h"
#include "core/registry.h"

static int is_kind(const char *kind, const char *name)
{
    return strcmp(kind, name) == 0;
}

static int is_amount(const char *kind)
{
    return is_kind(kind, "volume") || is_kind(kind, "mass");
}

/* 1: an amount of material or of its presence, which is at least 0 and which void meets. */
static int is_share(const char *kind)
{
    return is_amount(kind) || is_kind(kind, "local_volume");
}

/* 1: kinds without a sign, whose own name suits messages. */
static int is_size(const char *kind)
{
    return is_share(kind) || is_kind(kind, "stress");
}

static const hx_config_constraint *constraint_of(const hx_config *cfg, size_t i)
{
    const hx_config_constraint *const list = cfg->optimization.constraints.entry;
    return &list[i];
}

static int has_volume_limit(const hx_config *cfg)
{
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++)
        if (is_kind(constraint_of(cfg, i)->kind, "volume")) return 1;
    return 0;
}

/* 1 if a constraint may need material. Void has no amount, and any compliance. */
static int has_other_limit(const hx_config *cfg)
{
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++) {
        const hx_config_constraint *const c = constraint_of(cfg, i);
        if (is_kind(c->kind, "compliance") ? !isnan(c->max) : !is_share(c->kind)) return 1;
    }
    return 0;
}

/* 1 if a constraint requires an amount of material. */
static int has_least_amount(const hx_config *cfg)
{
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++)
        if (is_amount(constraint_of(cfg, i)->kind) && constraint_of(cfg, i)->min > 0.0) return 1;
    return 0;
}

int hx_config_needs_derivatives(const hx_config *cfg)
{
    if (!is_kind(cfg->optimization.objective.kind, "compliance")) return 1;
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++)
        if (!is_kind(constraint_of(cfg, i)->kind, "volume")) return 1;
    return cfg->optimization.objective.load_case > 0 || hx_config_sweep(cfg) != NULL;
}

const char *hx_config_sweep(const hx_config *cfg)
{
    return cfg->optimization.overhang.given  ? "optimization.overhang"
           : cfg->optimization.draw.given    ? "optimization.draw"
           : cfg->optimization.milling.n > 0 ? "optimization.milling"
                                             : NULL;
}

int hx_config_limits_stresses(const hx_config *cfg)
{
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++)
        if (is_kind(constraint_of(cfg, i)->kind, "stress") &&
            constraint_of(cfg, i)->method != HX_METHOD_NORM)
            return 1;
    return 0;
}

int hx_config_analyses_all(const hx_config *cfg)
{
    static const char *const signed_kinds[] = {"displacement", "temperature", "reaction"};
    const int analysed = cfg->optimization.analysed;
    if (!(cfg->optimization.projection.erosion > 0.0 ||
          cfg->optimization.projection.dilation > 0.0))
        return 0;
    for (size_t i = 0;
         analysed <= HX_ANALYSED_AUTO && i < sizeof signed_kinds / sizeof *signed_kinds; i++)
        if (is_kind(cfg->optimization.objective.kind, signed_kinds[i])) return 1;
    return analysed == HX_ANALYSED_ALL;
}

int hx_config_chooses_beta(const hx_config *cfg)
{
    return cfg->optimization.projection.given && hx_config_limits_stresses(cfg) &&
           !hx_config_given(cfg, "optimization.projection.beta_max");
}

double hx_config_usual_penalty(const hx_config *cfg)
{
    return cfg->optimization.projection.given && hx_config_limits_stresses(cfg)
               ? hx_stress_penalty.last
               : hx_design_defaults.penalty.last;
}

double hx_config_usual_beta_max(const hx_config *cfg)
{
    static const double usual = 32.0, least = 10.0, per_element = 5.0;
    if (!hx_config_limits_stresses(cfg)) return usual;
    return fmin(usual, fmax(least, per_element * cfg->optimization.filter.in_elements));
}

/* --- one constraint --- */

static int check_direction(const char *origin, const double direction[3])
{
    if (isnan(direction[0])) return HX_OK;
    for (int i = 0; i < 3; i++)
        if (fabs(direction[i]) > 0.0) return HX_OK;
    return hx_config_fault(origin, "direction",
                           "it has the length 0; give a vector of any length, for example "
                           "direction = [0.0, 0.0, -1.0]");
}

/* The keys of an objective or a constraint, against those that its kind takes. group: NULL or not a
 * group: only the kind is given. */
static int check_keys(const hx_config *cfg, const char *kind, const char *role, const char *origin,
                      const hx_value *group)
{
    static const struct {
        const char *key;
        unsigned bit;
    } list[] = {{"set", HX_TAKES_SET},
                {"set_2", HX_TAKES_SET_2},
                {"of", HX_TAKES_LARGEST},
                {"direction", HX_TAKES_DIRECTION},
                {"case", HX_TAKES_CASE},
                {"magnitude", HX_TAKES_MAGNITUDE},
                {"relaxation", HX_TAKES_RELAXATION},
                {"method", HX_TAKES_METHOD},
                {"exclude", HX_TAKES_EXCLUDE},
                {"exclude_radius", HX_TAKES_EXCLUDE_RADIUS},
                {"radius", HX_TAKES_RADIUS}};
    const hx_response_kind *const found = hx_response_kind_find(kind);
    const unsigned takes = hx_response_takes(found, hx_config_is_heat(cfg));
    unsigned given = 0;
    for (size_t i = 0; group && group->kind == HX_VALUE_GROUP && i < sizeof list / sizeof list[0];
         i++) {
        const hx_value *const value = hx_value_member(group, list[i].key);
        const int changes_nothing = /* magnitude = false */
            value && value->kind == HX_VALUE_BOOL && !value->integer && takes & list[i].bit;
        if (value && !changes_nothing) given |= list[i].bit;
    }
    return hx_response_check_given(found, role, origin, hx_config_is_heat(cfg), given);
}

/* Set, second set and direction of a response; text is its place. */
static int check_place(const char *origin, const char *set, const char *set_2, int of,
                       const double direction[3])
{
    if (set_2 && of == HX_OF_LARGEST)
        return hx_config_fault(origin, "of",
                               "with set_2 the difference of two means is taken; leave out "
                               "of = \"max\" or set_2");
    if (set_2 && strcmp(set, set_2) == 0)
        return hx_config_fault(origin, "set_2", "'%s' is also the set, so the difference is 0",
                               set);
    return check_direction(origin, direction);
}

/* Temperatures are measured from the lowest prescribed one, which hx_limits_create checks. */
static int check_zero(const hx_config_constraint *c, const char *key, double limit)
{
    if (!(limit <= 0.0 && limit >= 0.0) || (is_kind(c->kind, "temperature") && !c->set_2))
        return HX_OK;
    return hx_config_fault(c->origin, key,
                           "a limit of 0 has no scale by which its violation can be measured; "
                           "give the smallest value that matters, for example %s = 0.001",
                           key);
}

/* 1 if no value of the response is negative. Without a direction, a displacement or a force is a
 * length; a heat flow has a sign. */
static int is_never_negative(const hx_config *cfg, const hx_config_constraint *c)
{
    if (is_size(c->kind)) return 1;
    if (!is_kind(c->kind, "displacement") && !is_kind(c->kind, "reaction")) return 0;
    return c->magnitude || (isnan(c->direction[0]) && !hx_config_is_heat(cfg));
}

static int check_bounds(const hx_config *cfg, const hx_config_constraint *c)
{
    const double largest = fmax(c->max, c->min); /* of the one if the other is NaN */
    if (isnan(c->max) && isnan(c->min))
        return hx_config_fault(c->origin, "",
                               "neither max nor min; give one or both, for "
                               "example max = 0.3");
    HX_TRY(check_zero(c, "max", c->max));
    HX_TRY(check_zero(c, "min", c->min));
    if (c->min > c->max)
        return hx_config_fault(c->origin, "min", "%g is above max = %g, so no design meets both",
                               c->min, c->max);
    if (is_never_negative(cfg, c) && c->max < 0.0)
        return hx_config_fault(c->origin, "max", "%g is negative, but %s is at least 0", c->max,
                               is_size(c->kind) ? c->kind : "a magnitude");
    if (is_never_negative(cfg, c) && c->min < 0.0)
        return hx_config_fault(c->origin, "min",
                               "%g is negative, but %s is at least 0; leave min out%s", c->min,
                               is_size(c->kind) ? c->kind : "a magnitude",
                               is_size(c->kind) ? "" : ", or give a direction for a signed value");
    if (is_kind(c->kind, "volume") && largest > 1.0)
        return hx_config_fault(c->origin, c->max > 1.0 ? "max" : "min",
                               "%g is above 1: it is a share of the whole volume, passive elements "
                               "included",
                               largest);
    if (is_kind(c->kind, "local_volume") && c->max >= 1.0)
        return hx_config_fault(c->origin, "max",
                               "%g limits nothing: it is the fraction of a ball that may be solid, "
                               "below 1; give for example max = 0.6",
                               c->max);
    return HX_OK;
}

static int check_cases(const hx_config_constraint *c, const hx_value *entry)
{
    if (c->load_case.n == 0 && hx_value_member(entry, "case"))
        return hx_config_fault(c->origin, "case",
                               "the list is empty; leave the key out for every "
                               "case");
    for (size_t i = 0; i < c->load_case.n; i++)
        for (size_t k = 0; k < i; k++)
            if ((int)c->load_case.value[i] == (int)c->load_case.value[k])
                return hx_config_fault(c->origin, "case", "case %d occurs twice",
                                       (int)c->load_case.value[i]);
    return HX_OK;
}

enum { MOST_NAME = 64 }; /* bytes; a column of history.csv and of the table at the end */

static int check_name(const hx_config_constraint *c)
{
    const char *const name = c->name;
    if (!name) return HX_OK;
    const size_t n = strlen(name);
    for (const unsigned char *ch = (const unsigned char *)name; *ch; ch++)
        if (*ch < 0x20 || *ch == 0x7f || *ch == ',' || *ch == '"')
            return hx_config_fault(c->origin, "name",
                                   "it names a column of history.csv, so it cannot contain commas, "
                                   "quotes, tabs or line ends");
    if (n == 0)
        return hx_config_fault(c->origin, "name",
                               "the text is empty; leave the key out for the kind's name");
    if (name[0] == ' ' || name[n - 1] == ' ')
        return hx_config_fault(c->origin, "name", "'%s' begins or ends with a space", name);
    if (n > MOST_NAME)
        return hx_config_fault(c->origin, "name", "its length of %zu is above %d", n, MOST_NAME);
    return HX_OK;
}

static int check_constraints(const hx_config *cfg)
{
    const hx_value *const list = hx_value_find(cfg->tree, "optimization.constraints");
    if (list && cfg->optimization.constraints.n == 0)
        return hx_config_fault(list->origin, "optimization.constraints",
                               "the list is empty; leave the key out");
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++) {
        const hx_config_constraint *const c = constraint_of(cfg, i);
        HX_TRY(check_keys(cfg, c->kind, "constraint", c->origin, list->child[i]));
        HX_TRY(check_place(c->origin, c->set, c->set_2, c->of, c->direction));
        HX_TRY(check_bounds(cfg, c));
        HX_TRY(check_cases(c, list->child[i]));
        HX_TRY(check_name(c));
    }
    return HX_OK;
}

/* --- what belongs together --- */

/* HX_EINPUT: two limits of an amount contradict each other. Other pairs are compared with the mesh
 * (session/limits.c). */
static int check_amounts(const hx_config *cfg)
{
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++)
        for (size_t k = 0; k < cfg->optimization.constraints.n; k++) {
            const hx_config_constraint *const c = constraint_of(cfg, i), *const d =
                                                                             constraint_of(cfg, k);
            if (is_amount(c->kind) && is_kind(c->kind, d->kind) && c->min > d->max)
                return hx_config_fault(c->origin, "min",
                                       "%g contradicts max = %g of the %s in another constraint "
                                       "(%s), so no design meets both",
                                       c->min, d->max, c->kind, d->origin);
        }
    return HX_OK;
}

static int check_objective(const hx_config *cfg)
{
    static const char key[] = "optimization.objective";
    const char *const kind = cfg->optimization.objective.kind;
    char place[HX_CONFIG_PLACE];
    hx_config_place(cfg, key, place, sizeof place);
    HX_TRY(check_keys(cfg, kind, "objective", place, hx_value_find(cfg->tree, key)));
    HX_TRY(check_place(place, cfg->optimization.objective.set, cfg->optimization.objective.set_2,
                       cfg->optimization.objective.of, cfg->optimization.objective.direction));
    if (!is_amount(kind) || has_other_limit(cfg)) return HX_OK;
    HX_TRY(check_amounts(cfg));
    return hx_config_fault(
        hx_config_origin(cfg, key), key,
        "%s; add one that does, for example constraints = ( { kind = \"displacement\"; "
        "set = \"...\"; max = 0.3; } )",
        has_least_amount(cfg)
            ? "no limit determines where material is needed, so any part of the amount that "
              "min requires is optimal"
        : is_kind(kind, "mass") ? "no limit needs material, so the part of least mass is empty"
                                : "no limit needs material, so the part of least volume is empty");
}

static int check_volume(const hx_config *cfg)
{
    static const char key[] = "optimization.volume_fraction";
    const char *const kind = cfg->optimization.objective.kind;
    const hx_value *const group = hx_value_find(cfg->tree, "optimization");
    if (isnan(cfg->optimization.volume_fraction)) {
        if (cfg->optimization.constraints.n > 0 ||
            (!is_kind(kind, "compliance") && !is_kind(kind, "worst_compliance")))
            return HX_OK;
        return hx_config_fault(
            group ? group->origin : cfg->path, key, "required key is missing; for example %s",
            group ? "volume_fraction = 0.3" : "optimization = { volume_fraction = 0.3; };");
    }
    if (is_amount(kind))
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "the %s is minimized, so it is not prescribed; leave the key out "
                               "(optimization.start sets the first density)",
                               kind);
    if (has_volume_limit(cfg))
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "a constraint of kind \"volume\" limits the volume already; keep "
                               "one of them");
    return HX_OK;
}

static int check_start(const hx_config *cfg)
{
    static const char key[] = "optimization.start";
    if (isnan(cfg->optimization.start)) return HX_OK;
    if (cfg->optimization.initial)
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "optimization.initial gives the first design; keep one of them");
    if (cfg->optimization.start < cfg->optimization.rho_min)
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "%g is below optimization.rho_min = %g", cfg->optimization.start,
                               cfg->optimization.rho_min);
    return HX_OK;
}

static int check_update(const hx_config *cfg)
{
    static const char key[] = "optimization.update";
    const int has_variants =
        cfg->optimization.projection.erosion > 0.0 || cfg->optimization.projection.dilation > 0.0;
    if (has_variants && strcmp(cfg->optimization.update, "gcmma") == 0)
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "gcmma compares designs by values, but with minimum_length, an "
                               "erosion or a dilation the derivative of the volume is that of "
                               "another design than its value; use \"auto\" or \"mma\"");
    if (hx_config_is_auto(cfg->optimization.update) ||
        hx_update_find(cfg->optimization.update) != &hx_update_oc)
        return HX_OK;
    if (hx_response_kind_find(cfg->optimization.objective.kind)->is_worst_case)
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "optimality criteria cannot minimize the largest of several "
                               "compliances; use \"auto\", \"mma\" or \"gcmma\"");
    if (cfg->optimization.constraints.n > 0)
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "optimality criteria take no constraints beside volume_fraction; "
                               "use \"auto\", \"mma\" or \"gcmma\"");
    if (hx_config_sweep(cfg))
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "optimality criteria do not support %s; use \"auto\", \"mma\" or "
                               "\"gcmma\"",
                               hx_config_sweep(cfg));
    if (isnan(cfg->optimization.volume_fraction))
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "optimality criteria need optimization.volume_fraction; give it, "
                               "or use \"auto\", \"mma\" or \"gcmma\"");
    return HX_OK;
}

enum { MOST_MILLING = 8 };

/* HX_EINPUT: two of overhang, draw and milling, or too many directions. */
static int check_sweep(const hx_config *cfg)
{
    static const char milling[] = "optimization.milling";
    const hx_value *const value = hx_value_find(cfg->tree, milling);
    const size_t n = cfg->optimization.milling.n;
    const char *const first = hx_config_sweep(cfg);
    if (value && (n == 0 || n > MOST_MILLING))
        return hx_config_fault(value->origin, milling, "%zu %s; 1 to %d can be given", n,
                               hx_noun(n, "direction", "directions"), MOST_MILLING);
    if (!first) return HX_OK;
    const char *const other = cfg->optimization.overhang.given && cfg->optimization.draw.given
                                  ? "optimization.draw"
                              : strcmp(first, milling) != 0 && n > 0 ? milling
                                                                     : NULL;
    if (!other) return HX_OK;
    return hx_config_fault(
        hx_config_origin(cfg, other), other,
        "is given beside %s; only one of overhang, draw and milling can be given", first);
}

static int check_filter(const hx_config *cfg)
{
    static const char key[] = "optimization.filter.kind";
    const char *const filter = cfg->optimization.filter.kind;
    if (hx_config_sweep(cfg) && hx_filter_find(filter)->is_heuristic)
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "filter '%s' filters only derivatives, but %s needs filtered "
                               "densities: write kind = \"density\" or \"helmholtz\"",
                               filter, hx_config_sweep(cfg));
    if (!hx_config_needs_derivatives(cfg) || !hx_filter_find(filter)->is_heuristic) return HX_OK;
    return hx_config_fault(hx_config_origin(cfg, key), key,
                           "filter '%s' changes derivatives by a rule that fits only the "
                           "compliance at a given volume; constraints and other objectives need "
                           "exact ones: write kind = \"density\" or \"helmholtz\"",
                           filter);
}

int hx_config_check_design(const hx_config *cfg)
{
    HX_TRY(check_constraints(cfg));
    HX_TRY(check_objective(cfg));
    HX_TRY(check_volume(cfg));
    HX_TRY(check_start(cfg));
    HX_TRY(check_update(cfg));
    HX_TRY(check_sweep(cfg));
    return check_filter(cfg);
}
