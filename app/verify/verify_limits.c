/* The limits of the config on every design that verify analyses, and the verdict. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../session/limits.h"
#include "../text/table.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/design/local_volume.h"
#include "verify.h"

/* 1 if the sets of a limit are on the mesh. */
static int is_there(const hx_mesh *mesh, const hx_response_params *params)
{
    for (int i = 0; i < params->n_exclude; i++)
        if (!hx_mesh_find_set(mesh, params->exclude[i])) return 0;
    return (!params->set || hx_mesh_find_set(mesh, params->set)) &&
           (!params->set_2 || hx_mesh_find_set(mesh, params->set_2));
}

int hx_verify_find_limits(const hx_verify *v, hx_analysis *analysis, const hx_constraint_spec *spec,
                          const double *density, hx_verify_analysis *a)
{
    const int n = v->session.limits.n;
    const hx_mesh *const mesh = analysis->problem->mesh;
    if (n == 0) return HX_OK;
    HX_TRY(hx_alloc(&a->limit, (size_t)n, sizeof *a->limit, "limits"));
    for (int i = 0; i < n; i++) {
        a->limit[i] = NAN;
        if (!is_there(mesh, &spec[i].params)) continue;
        if (spec[i].kind == &hx_response_local_volume && mesh != &v->session.mesh) {
            a->limit[i] =
                v->analysis[HX_VERIFY_SOLID].limit[i]; /* a mesh of the solid has no void */
            continue;
        }
        hx_limit_value found;
        HX_TRY(hx_limit_values(analysis, 1, &spec[i], density, a->volume, &found));
        a->limit[i] = found.value;
    }
    return HX_OK;
}

int hx_verify_find_mass(const hx_problem *problem, const double *rho, double *mass)
{
    double sum;
    *mass = (double)NAN;
    if (!(problem->density > 0.0)) return HX_OK;
    HX_TRY(hx_problem_mass_volume(problem, rho, &sum));
    *mass = problem->density * sum;
    return HX_OK;
}

const hx_verify_analysis *hx_verify_made(const hx_verify *v, const char **name)
{
    *name = "surface";
    if (v->surface.path) return &v->surface.analysis;
    *name = "quadratic";
    if (v->quadratic.requested) return &v->quadratic.analysis;
    *name = "0/1";
    return &v->analysis[HX_VERIFY_SOLID];
}

/* A design in a sentence. */
static const char *design_text(const hx_verify *v, const hx_verify_analysis *a)
{
    return a == &v->surface.analysis     ? "surface"
           : a == &v->quadratic.analysis ? "0/1 design with quadratic elements"
                                         : "0/1 design";
}

static int is_unknown(const hx_verify *v, const hx_verify_analysis *a, int i)
{
    char text[512];
    return hx_verify_unknown(v, a, i, text, sizeof text)[0] != '\0';
}

/* Violation of limit i by a design; NAN if it cannot be judged there. */
static double violation_of(const hx_verify *v, const hx_verify_analysis *a, int i)
{
    return is_unknown(v, a, i) ? (double)NAN
                               : hx_limit_violation(&v->session.limits, i, a->limit[i]);
}

/* Violation of limit i by the made part. */
static double made_violation(const hx_verify *v, int i)
{
    const char *name;
    return violation_of(v, hx_verify_made(v, &name), i);
}

static int is_missed(const hx_verify *v, int i)
{
    return !(100.0 * made_violation(v, i) <= v->limit_tolerance);
}

int hx_verify_count_missed(const hx_verify *v)
{
    int n = 0;
    for (int i = 0; i < v->session.limits.n; i++) n += is_missed(v, i);
    return n;
}

static void add_value(hx_table *table, double value)
{
    if (isnan(value))
        hx_table_add(table, "unknown");
    else
        hx_table_add(table, "%.6g", value);
}

/* "met", "missed by 3 %", "unknown: ..." */
static void add_state(hx_table *table, const hx_verify *v, int i)
{
    const char *name;
    char why[512];
    const hx_verify_analysis *const a = hx_verify_made(v, &name);
    if (hx_verify_unknown(v, a, i, why, sizeof why)[0])
        hx_table_add(table, "unknown: %s", why);
    else if (is_missed(v, i))
        hx_table_add(table, "missed by %.3g %%", 100.0 * made_violation(v, i));
    else
        hx_table_add(table, "met");
}

void hx_verify_print_limits(const hx_verify *v)
{
    const hx_limits *const limits = &v->session.limits;
    /* in the order of the columns; NULL: not analysed */
    const struct {
        const char *name;
        const hx_verify_analysis *of;
    } column[] = {{"grey", &v->analysis[HX_VERIFY_GREY]},
                  {"0/1", &v->analysis[HX_VERIFY_SOLID]},
                  {"quadratic", v->quadratic.requested ? &v->quadratic.analysis : NULL},
                  {"surface", v->surface.path ? &v->surface.analysis : NULL}};
    enum { N_COLUMN = sizeof column / sizeof column[0] };
    char align[N_COLUMN + 4] = "ll", text[160];
    hx_table table;
    if (limits->n == 0 || hx_log_get_level() < HX_LOG_NORMAL) return;
    for (int k = 0; k < N_COLUMN; k++)
        if (column[k].of) strcat(align, "r");
    strcat(align, "l");
    const char *unused;
    hx_log_info("\nlimits, judged on the %s, tolerance %g %%",
                design_text(v, hx_verify_made(v, &unused)), v->limit_tolerance);
    hx_table_begin(&table, align);
    hx_table_add(&table, "%s", "");
    hx_table_add(&table, "%s", "");
    for (int k = 0; k < N_COLUMN; k++)
        if (column[k].of) hx_table_add(&table, "%s", column[k].name);
    hx_table_add(&table, "%s", "");
    for (int i = 0; i < limits->n; i++) {
        const hx_constraint_spec *const spec = &limits->spec[i];
        const char *const unit = hx_response_unit_text(&v->session, spec->kind);
        hx_table_add(&table, "%s", spec->name);
        hx_table_add(&table, "%s", hx_bound_text(spec->max, spec->min, unit, text, sizeof text));
        for (int k = 0; k < N_COLUMN; k++)
            if (column[k].of) add_value(&table, column[k].of->limit[i]);
        add_state(&table, v, i);
    }
    hx_table_end(&table, 2);
    if (v->is_by_search)
        hx_log_info("  the bounds are those of the search, %s%s%s", v->search,
                    v->of_run[0] ? "; the run of this try had " : "", v->of_run);
}

const char *hx_verify_warn_limit(const hx_verify *v, int i, char *text, size_t n_text)
{
    const hx_constraint_spec *const spec = &v->session.limits.spec[i];
    const char *const unit = hx_response_unit_text(&v->session, spec->kind);
    const char *name;
    char bound[160], why[512], advice[256], from[96] = "";
    const hx_verify_analysis *const a = hx_verify_made(v, &name);
    const double value = a->limit[i];
    text[0] = '\0';
    if (!is_missed(v, i)) return text;
    if (hx_verify_unknown(v, a, i, why, sizeof why)[0]) {
        const int is_solid = a->share && a->share[i].is_loose;
        hx_verify_solid_advice(v, a->share && !is_solid ? a->share[i].set : NULL, advice,
                               sizeof advice);
        hx_fit(text, n_text, "limit '%s' cannot be judged: %s%s%s", spec->name, why,
               advice[0] ? "; " : "", advice);
        return text;
    }
    if (spec->kind->zero && !spec->params.set_2)
        snprintf(from, sizeof from, " of its distance from %g%s", v->session.limits.zero[i], unit);
    hx_fit(text, n_text, "limit '%s' is missed by %.3g %%%s: %.6g%s on the %s, %s is required%s",
           spec->name, 100.0 * made_violation(v, i), from, value, unit, design_text(v, a),
           hx_bound_text(spec->max, spec->min, unit, bound, sizeof bound),
           v->search
               ? "" /* the search goes on */
               : "; tighten it in the config and run again, or let `hextop lightest` do that");
    return text;
}

void hx_verify_write_limits(hx_json *json, const hx_verify *v, const hx_verify_analysis *a)
{
    const hx_limits *const limits = &v->session.limits;
    if (limits->n == 0) return;
    hx_json_open_array(json, "limits");
    for (int i = 0; i < limits->n; i++) {
        const hx_constraint_spec *const spec = &limits->spec[i];
        const char *const unit = hx_response_unit_text(&v->session, spec->kind);
        const double violation = violation_of(v, a, i);
        char why[512];
        hx_json_open_object(json, NULL);
        hx_json_string(json, "name", spec->name);
        hx_json_string(json, "kind", spec->kind->name);
        hx_json_string(json, "unit", unit[0] ? unit + 1 : NULL);
        hx_json_number(json, "value", a->limit[i]);
        if (a == &v->surface.analysis && v->surface.refined.limit &&
            !isnan(v->surface.refined.limit[i]))
            hx_json_number(json, "split_once", v->surface.refined.limit[i]);
        hx_json_number(json, "max", spec->max);
        hx_json_number(json, "min", spec->min);
        hx_json_number(json, "violation", violation);
        hx_json_bool(json, "met", 100.0 * violation <= v->limit_tolerance);
        if (hx_verify_unknown(v, a, i, why, sizeof why)[0]) hx_json_string(json, "unknown", why);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}
