/* Two analyses side by side: their differences in percent, as a table and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../session/compliance_ratio.h"
#include "../text/json.h"
#include "../text/log.h"
#include "../text/table.h"
#include "verify.h"

double hx_verify_percent(double a, double b)
{
    if (fabs(a) > 0.0) return 100.0 * (b - a) / fabs(a);
    return fabs(b) > 0.0 ? (double)NAN : 0.0;
}

/* --- table --- */

const char *hx_verify_difference(double a, double b, double percent, char *text, size_t n_text)
{
    if (isnan(percent))
        snprintf(text, n_text, "-");
    else if (percent > 999.0 && a > 0.0)
        snprintf(text, n_text, "%.3g times", b / a);
    else
        snprintf(text, n_text, "%+.1f %%", percent);
    return text;
}

static void add_row_as(hx_table *table, const char *what, double a, double b, double percent)
{
    char text[32];
    hx_table_add(table, "%s", what);
    hx_table_add(table, "%.6g", a);
    hx_table_add(table, "%.6g", b);
    hx_table_add(table, "%s", hx_verify_difference(a, b, percent, text, sizeof text));
}

static void add_verify_row(hx_table *table, const char *what, double a, double b)
{
    add_row_as(table, what, a, b, hx_verify_percent(a, b));
}

double hx_verify_compliance_percent(const hx_verify *v, double a, double b)
{
    return hx_compliance_percent(hx_compliance_is_shifted(&v->session), a, b);
}

static void add_compliance(hx_table *table, const hx_verify *v, const char *what, double a,
                           double b)
{
    add_row_as(table, what, a, b, hx_verify_compliance_percent(v, a, b));
}

/* "compliance, N mm", or "compliance" if the config has no units; returns text. */
static const char *label(const char *what, const char *unit, char *text, size_t n_text)
{
    snprintf(text, n_text, "%s%s%s", what, unit[0] ? "," : "", unit);
    return text;
}

/* Adds the places of the peaks. */
static void add_places(hx_table *table, const char *kind, const hx_verify_peak *a,
                       const hx_verify_peak *b, int n_case)
{
    const hx_verify_peak *const peak[2] = {a, b};
    hx_table_add(table, "  %s%s", kind, n_case > 1 ? ", case" : "");
    for (int i = 0; i < 2; i++) {
        const hx_place *const at = &peak[i]->place;
        char text[HX_PLACE_TEXT];
        if (strcmp(kind, "element") == 0)
            snprintf(text, sizeof text, "%lld", (long long)at->number);
        else
            hx_place_numbers(at, text);
        if (n_case > 1)
            hx_table_add(table, "%s, %d", text, peak[i]->load_case);
        else
            hx_table_add(table, "%s", text);
    }
    hx_table_add(table, "%s", "");
    hx_table_add(table, "  at");
    for (int i = 0; i < 2; i++) {
        const double *const x = peak[i]->point;
        hx_table_add(table, "%.4g, %.4g, %.4g", x[0], x[1], x[2]);
    }
    hx_table_add(table, "%s", "");
}

/* The value at a node to which the percentages of a peak refer: the displacement; or the
 * temperature minus the lowest held or ambient one, which does not depend on the zero of the
 * scale. */
static double over_reference(const hx_verify *v, const hx_verify_analysis *a)
{
    return a->displacement.value - v->session.problem.reference;
}

/* Adds the largest displacement; for heat the highest temperature and its difference from the
 * reference. */
static void add_peak(hx_table *table, const hx_verify *v, const hx_verify_analysis *a,
                     const hx_verify_analysis *b)
{
    const hx_units *const u = &v->session.cfg.units;
    char text[96], what[64];
    if (!hx_config_is_heat(&v->session.cfg)) {
        add_verify_row(table, label("largest displacement", u->length, text, sizeof text),
                       a->displacement.value, b->displacement.value);
        return;
    }
    hx_table_add(table, "%s", label("highest temperature", u->temperature, text, sizeof text));
    hx_table_add(table, "%.6g", a->displacement.value);
    hx_table_add(table, "%.6g", b->displacement.value);
    hx_table_add(table, "%s", "");
    snprintf(what, sizeof what, "  above %.6g", v->session.problem.reference);
    add_verify_row(table, label(what, u->temperature, text, sizeof text), over_reference(v, a),
                   over_reference(v, b));
}

void hx_verify_print_pair(const hx_verify *v, const char *const name[2],
                          const hx_verify_analysis *a, const hx_verify_analysis *b)
{
    const hx_units *const u = &v->session.cfg.units;
    const int n_case = v->session.problem.cases.n;
    char text[64];
    hx_table table;
    if (hx_log_get_level() < HX_LOG_NORMAL) return;
    hx_table_begin(&table, "lrrr");
    hx_table_add(&table, "%s", "");
    hx_table_add(&table, "%s", name[0]);
    hx_table_add(&table, "%s", name[1]);
    hx_table_add(&table, "difference");
    add_compliance(&table, v, label("compliance", u->work, text, sizeof text), a->compliance,
                   b->compliance);
    for (int c = 0; n_case > 1 && c < n_case; c++) {
        char what[48];
        snprintf(what, sizeof what, "  case %d, weight %g", c + 1,
                 v->session.problem.cases.weight[c]);
        add_compliance(&table, v, what, a->case_compliance[c], b->case_compliance[c]);
    }
    add_verify_row(&table, "volume fraction", a->volume, b->volume);
    if (!isnan(a->mass))
        add_verify_row(&table, label("mass", u->mass, text, sizeof text), a->mass, b->mass);
    const int is_heat = hx_config_is_heat(&v->session.cfg);
    add_peak(&table, v, a, b);
    add_places(&table, "node", &a->displacement, &b->displacement, n_case);
    add_verify_row(&table,
                   is_heat ? label("largest heat flux", u->flux, text, sizeof text)
                           : label("largest von Mises", u->stress, text, sizeof text),
                   a->stress.value, b->stress.value);
    add_places(&table, "element", &a->stress, &b->stress, n_case);
    hx_table_end(&table, 2);
}

/* --- JSON --- */

static void write_peak(hx_json *json, const char *key, const hx_verify_peak *peak)
{
    hx_json_open_object(json, key);
    hx_json_number(json, "value", peak->value);
    hx_json_integer(json, "case", peak->load_case);
    hx_place_write(json, &peak->place);
    hx_json_numbers(json, "point", 3, peak->point);
    hx_json_close_object(json);
}

/* Key of a peak at a node (0) or in an element (1). */
static const char *peak_key(const hx_verify *v, int of_element)
{
    static const char *const key[2][2] = {{"displacement", "von_mises"},
                                          {"temperature", "heat_flux"}};
    return key[hx_config_is_heat(&v->session.cfg)][of_element];
}

void hx_verify_write_analysis(hx_json *json, const hx_verify *v, const char *key,
                              const hx_verify_analysis *a)
{
    hx_json_open_object(json, key);
    hx_json_number(json, "compliance", a->compliance);
    hx_json_numbers(json, "case_compliance", (size_t)v->session.problem.cases.n,
                    a->case_compliance);
    hx_json_number(json, "volume", a->volume);
    if (!isnan(a->mass)) hx_json_number(json, "mass", a->mass);
    write_peak(json, peak_key(v, 0), &a->displacement);
    if (hx_config_is_heat(&v->session.cfg)) {
        hx_json_number(json, "reference_temperature", v->session.problem.reference);
        hx_json_number(json, "temperature_above_reference", over_reference(v, a));
    }
    write_peak(json, peak_key(v, 1), &a->stress);
    hx_verify_write_stresses(json, v, a);
    hx_verify_write_limits(json, v, a);
    hx_json_string(json, "pcg_outcome", hx_pcg_reason_name(a->reason));
    hx_json_integer(json, "pcg_iterations", a->pcg_iterations);
    hx_json_number(json, "pcg_residual", a->pcg_residual);
    hx_json_close_object(json);
}

void hx_verify_write_differences(hx_json *json, const hx_verify *v, const hx_verify_analysis *a,
                                 const hx_verify_analysis *b)
{
    hx_json_open_object(json, "difference_percent");
    hx_json_number(json, "compliance",
                   hx_verify_compliance_percent(v, a->compliance, b->compliance));
    hx_json_number(json, "volume", hx_verify_percent(a->volume, b->volume));
    hx_json_number(json, peak_key(v, 0),
                   hx_verify_percent(over_reference(v, a), over_reference(v, b)));
    hx_json_number(json, peak_key(v, 1), hx_verify_percent(a->stress.value, b->stress.value));
    hx_json_close_object(json);
}
