#include "limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/vec3.h"
#include "history_columns.h"
#include "session.h"

/* --- names --- */

enum { NAME = 256 };

static const hx_config_constraint *constraint_of(const hx_session *s, size_t i)
{
    const hx_config_constraint *const list = s->cfg.optimization.constraints.entry;
    return &list[i];
}

static int has_column(const hx_session *s, const char *name)
{
    return hx_history_has_column(name, s->problem.cases.n, hx_session_other_objective(s));
}

/* The name without its case: the config's, or the kind, with a number if several constraints have
 * it or if it names another column. */
static void base_name(const hx_session *s, size_t i, char name[NAME])
{
    const hx_config_constraint *const own = constraint_of(s, i);
    int n = 0, at = 0;
    for (size_t k = 0; k < s->cfg.optimization.constraints.n; k++) {
        const hx_config_constraint *const c = constraint_of(s, k);
        if (c->name || strcmp(c->kind, own->kind) != 0) continue;
        n++;
        if (k <= i) at++;
    }
    if (own->name)
        hx_fit(name, NAME, "%s", own->name);
    else if (n == 1 && !has_column(s, own->kind))
        hx_fit(name, NAME, "%s", own->kind);
    else
        hx_fit(name, NAME, "%s_%d", own->kind, at);
}

static int check_name(const hx_limits *limits, const hx_session *s, int i)
{
    const char *const name = limits->name[i];
    if (has_column(s, name))
        return HX_RAISE(HX_EINPUT,
                        "%s: name: '%s' is the name of another column of history.csv; give the "
                        "limit a name of its own",
                        limits->origin[i], name);
    for (int k = 0; k < i; k++)
        if (strcmp(limits->name[k], name) == 0)
            return HX_RAISE(HX_EINPUT, "%s: name: '%s' is also the name of the limit of %s",
                            limits->origin[i], name, limits->origin[k]);
    return HX_OK;
}

/* --- creation --- */

/* Number of limits that a constraint makes. */
static int count_cases(const hx_session *s, const hx_config_constraint *c,
                       const hx_response_kind *kind)
{
    if (!(kind->takes & HX_TAKES_CASE)) return 1;
    return c->load_case.n > 0 ? (int)c->load_case.n : s->problem.cases.n;
}

static int check_cases(const hx_session *s, const hx_config_constraint *c)
{
    const int n = s->problem.cases.n;
    for (size_t i = 0; i < c->load_case.n; i++)
        if ((int)c->load_case.value[i] > n)
            return HX_RAISE(HX_EINPUT, "%s: case: there is no load case %d; the loads have %d %s",
                            c->origin, (int)c->load_case.value[i], n, hx_noun(n, "case", "cases"));
    return HX_OK;
}

static hx_response_params params_of(const hx_session *s, const hx_config_constraint *c,
                                    int load_case)
{
    hx_response_params params = {.set = c->set,
                                 .set_2 = c->set_2,
                                 .is_magnitude = c->magnitude,
                                 .of_largest = c->of == HX_OF_LARGEST,
                                 .load_case = load_case,
                                 .radius = isnan(c->radius) ? 0.0 : c->radius};
    if (strcmp(c->kind, "stress") == 0) {
        params.relaxation = isnan(c->relaxation) ? HX_STRESS_RELAXATION : c->relaxation;
        params.is_lagrangian = c->method != HX_METHOD_NORM;
        params.exclude = s->zone;
        params.n_exclude = s->n_zone;
    }
    for (int i = 0; i < 3 && !isnan(c->direction[0]); i++) params.direction[i] = c->direction[i];
    return params;
}

/* Appends the limit of a constraint in a load case (0-based; HX_ALL_CASES: in all). */
static int add_limit(hx_limits *limits, const hx_session *s, size_t constraint, int load_case,
                     int has_suffix)
{
    const hx_config_constraint *const c = constraint_of(s, constraint);
    const int i = limits->n;
    char name[NAME], full[NAME + 16];
    base_name(s, constraint, name);
    if (has_suffix)
        hx_fit(full, sizeof full, "%s_case%d", name, load_case + 1);
    else
        hx_fit(full, sizeof full, "%s", name);
    limits->n = i + 1;
    HX_TRY(hx_strdup(&limits->name[i], full));
    HX_TRY(hx_strdup(&limits->origin[i], c->origin));
    HX_TRY(check_name(limits, s, i));
    hx_constraint_spec *const spec = &limits->spec[i];
    *spec = (hx_constraint_spec){.kind = hx_session_response_kind(c->kind),
                                 .params = params_of(s, c, load_case),
                                 .max = c->max,
                                 .min = c->min,
                                 .name = limits->name[i]};
    spec->params.origin = limits->origin[i];
    return HX_OK;
}

/* HX_EINPUT: a name in `exclude` is that of no set, or of one without elements. */
static int check_excluded(const hx_session *s, const hx_config_constraint *c,
                          const hx_response_kind *kind)
{
    hx_response_params params = params_of(s, c, HX_ALL_CASES);
    if (c->exclude.n == 0) return HX_OK;
    params.exclude = (const char *const *)c->exclude.word;
    params.n_exclude = (int)c->exclude.n;
    params.origin = c->origin;
    return hx_response_check(kind, "constraint", &s->problem, &params);
}

static int add_constraint(hx_limits *limits, const hx_session *s, size_t constraint)
{
    const hx_config_constraint *const c = constraint_of(s, constraint);
    const hx_response_kind *const kind = hx_session_response_kind(c->kind);
    const int n = count_cases(s, c, kind);
    HX_TRY(check_cases(s, c));
    HX_TRY(check_excluded(s, c, kind));
    for (int k = 0; k < n; k++) {
        const int of_case = c->load_case.n > 0 ? (int)c->load_case.value[k] - 1 : k;
        HX_TRY(add_limit(limits, s, constraint,
                         kind->takes & HX_TAKES_CASE ? of_case : HX_ALL_CASES, n > 1));
    }
    return HX_OK;
}

/* --- checks --- */

static int is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* 1: both limits are about the same place, and a load case. */
static int is_same_place(const hx_constraint_spec *a, const hx_constraint_spec *b)
{
    return a->kind == b->kind && is_same_text(a->params.set, b->params.set) &&
           is_same_text(a->params.set_2, b->params.set_2) &&
           a->params.load_case == b->params.load_case &&
           !(fabs(a->params.radius - b->params.radius) > 0.0);
}

static int has_direction(const hx_constraint_spec *spec)
{
    return hx_norm3(spec->params.direction) > 0.0;
}

/* Cosine of the directions, exactly 1 or -1 if they are parallel; both are given. */
static double cosine_of(const hx_constraint_spec *a, const hx_constraint_spec *b)
{
    const double *const p = a->params.direction, *const q = b->params.direction;
    const double cosine = (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]) / (hx_norm3(p) * hx_norm3(q));
    return fabs(cosine) < 1.0 - 1e-12 ? cosine : cosine > 0.0 ? 1.0 : -1.0;
}

/* 1: both limit the same value; -1: the one limits the negative value of the other; 0: neither. */
static int relation(const hx_constraint_spec *a, const hx_constraint_spec *b)
{
    const hx_response_params *const p = &a->params, *const q = &b->params;
    if (!is_same_place(a, b) || p->is_magnitude != q->is_magnitude ||
        p->of_largest != q->of_largest)
        return 0;
    if (!has_direction(a) || !has_direction(b)) return !has_direction(a) && !has_direction(b);
    const double cosine = cosine_of(a, b);
    if (fabs(cosine) < 1.0) return 0;
    if (cosine > 0.0 || p->is_magnitude) return 1;
    return p->of_largest ? 0 : -1; /* the largest of the negative values is the negative lowest */
}

/* The least value of a that b requires, because a is the size of the value of b, at least, or the
 * largest value beside a mean; -INFINITY: a can have any. */
static double required(const hx_session *s, const hx_constraint_spec *a,
                       const hx_constraint_spec *b)
{
    const int is_size = a->params.is_magnitude || (s->problem.components == 3 && !has_direction(a));
    if (!is_same_place(a, b) || a->params.of_largest < b->params.of_largest) return -INFINITY;
    if (has_direction(a) && (!has_direction(b) || fabs(cosine_of(a, b)) < 1.0)) return -INFINITY;
    if (is_size) return fmax(b->min, -b->max);
    if (b->params.is_magnitude || (has_direction(a) && cosine_of(a, b) < 0.0)) return -INFINITY;
    return b->min;
}

/* HX_EINPUT: limit i permits less than limit k requires. */
static int check_required(const hx_limits *limits, const hx_session *s, int i, int k)
{
    const hx_constraint_spec *const a = &limits->spec[i], *const b = &limits->spec[k];
    const double least = required(s, a, b);
    if (!(a->max < least)) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: max = %g contradicts the limit '%s' (%s), with which this value is at "
                    "least %g",
                    limits->origin[i], a->max, b->name, limits->origin[k], least);
}

/* HX_EINPUT: no value meets two limits. */
static int check_pair(const hx_limits *limits, int i, int k)
{
    const hx_constraint_spec *const a = &limits->spec[i], *const b = &limits->spec[k];
    const int sign = relation(a, b);
    if (sign == 0) return HX_OK;
    const double max = sign > 0 ? b->max : -b->min, min = sign > 0 ? b->min : -b->max;
    if (a->min > max)
        return HX_RAISE(HX_EINPUT,
                        "%s: min = %g contradicts the limit '%s' (%s) of the same value: it is at "
                        "most %g there",
                        limits->origin[i], a->min, b->name, limits->origin[k], max);
    if (a->max < min)
        return HX_RAISE(HX_EINPUT,
                        "%s: max = %g contradicts the limit '%s' (%s) of the same value: it is at "
                        "least %g there",
                        limits->origin[i], a->max, b->name, limits->origin[k], min);
    return HX_OK;
}

static int check_number(const hx_limits *limits, const hx_session *s)
{
    const hx_update_kind *const update = hx_session_update(s);
    const int is_worst = hx_session_objective(s)->is_worst_case,
              n_objective = is_worst ? s->problem.cases.n : 0;
    int n = (s->design.volume_fraction > 0.0) + n_objective;
    char place[HX_CONFIG_PLACE];
    for (int i = 0; i < limits->n; i++)
        if (!limits->spec[i].params.is_lagrangian)
            n += !isnan(limits->spec[i].max) + !isnan(limits->spec[i].min);
    if (n <= update->most_rows) return HX_OK;
    return HX_RAISE(
        HX_EINPUT,
        "%s: there are %d limits, but update '%s' takes at most %d; max and min count as two, each "
        "load case counts by itself%s%s; limit fewer cases, for example case = [1, 2]",
        hx_config_place(&s->cfg,
                        limits->n > 0 ? "optimization.constraints" : "optimization.objective",
                        place, sizeof place),
        n, update->name, update->most_rows,
        s->design.volume_fraction > 0.0 ? ", volume_fraction is one" : "",
        is_worst ? ", and so is each case of the objective" : "");
}

/* An element with at most this passive density counts as void. */
static const double most_void = 0.1;

/* *is_void = 1 if passive void surrounds all nodes of the set. Collective if the mesh is
 * distributed. */
static int find_void(const hx_session *s, const hx_set *set, int *is_void)
{
    const double *const passive = s->problem.passive.density;
    const hx_mesh *const mesh = &s->mesh;
    int64_t n[2] = {set ? set->n_node : 0, 0}; /* nodes; elements around them that may be solid */
    for (int64_t k = 0; passive && k < n[0]; k++) {
        const int64_t end = mesh->node_elem_ptr[set->node[k] + 1];
        for (int64_t i = mesh->node_elem_ptr[set->node[k]]; i < end; i++)
            n[1] += !(passive[mesh->node_elem[i] / 8] <= most_void);
    }
    if (!passive) n[1] = 1;
    HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(mesh), 2, n));
    *is_void = n[0] > 0 && n[1] == 0;
    return HX_OK;
}

static int check_void(const hx_session *s, const hx_response_params *params)
{
    const char *const set[2] = {params->set, params->set_2};
    for (int i = 0; i < 2; i++) {
        int is_void = 0;
        if (!set[i]) continue;
        HX_TRY(find_void(s, hx_mesh_find_set(&s->mesh, set[i]), &is_void));
        if (is_void)
            return HX_RAISE(
                HX_EINPUT,
                "%s: %s '%s' lies entirely in passive void, where values of a design "
                "have no meaning; take a set of the part, or make elements there passive "
                "solid",
                params->origin, i == 0 ? "set" : "set_2", set[i]);
    }
    return HX_OK;
}

/* 1 if a load takes heat out of the part in a load case (0-based). */
static int is_cooled(const hx_session *s, int load_case)
{
    const hx_config_load *const load = s->cfg.loads.entry;
    int any = 0;
    for (size_t i = 0; i < s->cfg.loads.n; i++)
        if (load_case == HX_ALL_CASES || load[i].load_case == load_case + 1)
            any |= load[i].source < 0.0 || load[i].heat < 0.0 || load[i].flux < 0.0 ||
                   load[i].node_heat < 0.0;
    return any;
}

/* HX_EINPUT: a limit of a temperature equals the lowest prescribed or ambient one, from which
 * violations are measured, or is below it although no load takes heat out of the part. */
static int check_lowest(const hx_limits *limits, const hx_session *s, int i)
{
    const hx_constraint_spec *const spec = &limits->spec[i];
    const double zero = limits->zero[i];
    const char *const unit = hx_response_unit_text(s, spec->kind);
    if (!spec->kind->zero || spec->params.set_2) return HX_OK; /* not of an absolute temperature */
    if (spec->max == zero || spec->min == zero)
        return HX_RAISE(HX_EINPUT,
                        "%s: %s = %g%s is the lowest prescribed or ambient temperature, from which "
                        "a violation is measured; give a limit that differs from it",
                        limits->origin[i], spec->max == zero ? "max" : "min", zero, unit);
    if (is_cooled(s, spec->params.load_case)) return HX_OK;
    if (spec->max < zero)
        return HX_RAISE(HX_EINPUT,
                        "%s: max = %g%s cannot be met: the lowest prescribed or ambient "
                        "temperature is %g%s, and no load takes heat out of the part; give a max "
                        "above %g%s, or lower that temperature",
                        limits->origin[i], spec->max, unit, zero, unit, zero, unit);
    if (spec->min < zero)
        return HX_RAISE(HX_EINPUT,
                        "%s: min = %g%s limits nothing: the lowest prescribed or ambient "
                        "temperature is %g%s, and no load takes heat out of the part; leave min "
                        "out, or give one above %g%s",
                        limits->origin[i], spec->min, unit, zero, unit, zero, unit);
    return HX_OK;
}

static int find_zeros(hx_limits *limits, const hx_session *s)
{
    HX_TRY(hx_alloc(&limits->zero, (size_t)limits->n, sizeof *limits->zero, "limits"));
    for (int i = 0; i < limits->n; i++)
        limits->zero[i] =
            hx_response_zero(limits->spec[i].kind, &s->problem, &limits->spec[i].params);
    return HX_OK;
}

static int check_limits(const hx_limits *limits, const hx_session *s)
{
    for (int i = 0; i < limits->n; i++) {
        const hx_constraint_spec *const spec = &limits->spec[i];
        HX_TRY(hx_response_check(spec->kind, "constraint", &s->problem, &spec->params));
        HX_TRY(check_void(s, &spec->params));
        HX_TRY(check_lowest(limits, s, i));
        for (int k = 0; k < i; k++) {
            HX_TRY(check_pair(limits, i, k));
            HX_TRY(check_required(limits, s, i, k));
            HX_TRY(check_required(limits, s, k, i));
        }
    }
    return check_number(limits, s);
}

int hx_limits_create(hx_limits *limits, const hx_session *s)
{
    const size_t n = s->cfg.optimization.constraints.n;
    size_t most = 0;
    memset(limits, 0, sizeof *limits);
    for (size_t i = 0; i < n; i++) {
        const hx_config_constraint *const c = constraint_of(s, i);
        most += (size_t)count_cases(s, c, hx_session_response_kind(c->kind));
    }
    HX_TRY(hx_alloc(&limits->spec, most, sizeof *limits->spec, "limits"));
    HX_TRY(hx_alloc(&limits->name, most, sizeof *limits->name, "limits"));
    HX_TRY(hx_alloc(&limits->origin, most, sizeof *limits->origin, "limits"));
    for (size_t i = 0; i < n; i++) HX_TRY(add_constraint(limits, s, i));
    HX_TRY(find_zeros(limits, s));
    return check_limits(limits, s);
}

void hx_limits_free(hx_limits *limits)
{
    for (int i = 0; i < limits->n; i++) {
        free(limits->name[i]);
        free(limits->origin[i]);
    }
    free(limits->name);
    free(limits->origin);
    free(limits->spec);
    free(limits->zero);
    free(limits->solid);
    memset(limits, 0, sizeof *limits);
}
