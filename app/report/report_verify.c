/* verify.json as a table, and the warnings of a run. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../text/html.h"
#include "../text/table.h"
#include "core/base/names.h"
#include "report.h"

enum { MAX_ANALYSIS = 6 };

/* An analysis in verify.json: a member itself, or "analysis" in it. */
typedef struct analysis {
    char name[64];
    const hx_json_value *value;
} analysis;

static const char *name_of(const char *key)
{
    static const char *const known[][2] = {{"grey", "Grey"},
                                           {"black_white", "0/1"},
                                           {"quadratic", "0/1, quadratic"},
                                           {"surface", "Surface"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i][0], key) == 0) return known[i][1];
    return key;
}

static int is_analysis(const hx_json_value *v)
{
    return hx_json_at(v, "volume") && !isnan(hx_json_number_at(v, "compliance")) &&
           strcmp(v->key ? v->key : "", "difference_percent") != 0;
}

static size_t find_analyses(const hx_report_run *run, analysis found[MAX_ANALYSIS])
{
    size_t n = 0;
    const hx_json_value *const root = run->verify.root;
    for (const hx_json_value *m = root ? root->first : NULL; m && n < MAX_ANALYSIS; m = m->next) {
        const hx_json_value *const inner = hx_json_at(m, "analysis");
        const hx_json_value *const value = is_analysis(m)                ? m
                                           : inner && is_analysis(inner) ? inner
                                                                         : NULL;
        if (!value) continue;
        snprintf(found[n].name, sizeof found[n].name, "%s", name_of(m->key));
        found[n++].value = value;
    }
    return n;
}

/* Writes a row; percentages are relative to the first value, and are given only if they are
 * meaningful. */
static void put_row_as(FILE *f, const analysis *a, size_t n, const char *name, const char *unit,
                       const char *key, int with_difference)
{
    const double first = hx_json_number_at(a[0].value, key);
    char text[64];
    int known = 0;
    for (size_t i = 0; i < n; i++) known |= !isnan(hx_json_number_at(a[i].value, key));
    if (!known) return;
    fprintf(f, "<tr><th scope=\"row\">%s%s", name, unit[0] ? "," : "");
    hx_html_text(f, unit);
    fputs("</th>", f);
    for (size_t i = 0; i < n; i++) {
        const double value = hx_json_number_at(a[i].value, key);
        fprintf(f, "<td>%s", hx_report_number(value, text, sizeof text));
        if (i > 0 && with_difference) hx_report_write_difference(first, value, f);
        fputs("</td>", f);
    }
    fputs("</tr>\n", f);
}

static void put_row(FILE *f, const analysis *a, size_t n, const char *name, const char *unit,
                    const char *key)
{
    put_row_as(f, a, n, name, unit, key, 1);
}

static void put_cases(FILE *f, const analysis *a, size_t n)
{
    const hx_json_value *cases[MAX_ANALYSIS];
    char text[64];
    size_t n_case = 0;
    for (size_t i = 0; i < n; i++) {
        const hx_json_value *const list = hx_json_at(a[i].value, "case_compliance");
        cases[i] = list ? list->first : NULL;
        if (list && list->n > n_case) n_case = list->n;
    }
    for (size_t c = 0; n_case > 1 && c < n_case; c++) {
        fprintf(f, "<tr><th scope=\"row\" class=\"sub\">case %zu</th>", c + 1);
        for (size_t i = 0; i < n; i++) {
            const double value = cases[i] ? cases[i]->number : NAN;
            fprintf(f, "<td>%s</td>", hx_report_number(value, text, sizeof text));
            if (cases[i]) cases[i] = cases[i]->next;
        }
        fputs("</tr>\n", f);
    }
}

/* Stresses outside the zones without limits, where they are largest, and the factor of safety. */
static void put_stresses(FILE *f, const analysis *a, size_t n, const hx_units *u)
{
    int known = 0;
    put_row(f, a, n, "&hellip; outside the zones without limits", u->stress,
            "stresses.outside_zones.value");
    for (size_t i = 0; i < n; i++)
        known |= hx_json_at(a[i].value, "stresses.outside_zones.point") != NULL;
    if (known) fputs("<tr><th scope=\"row\" class=\"sub\">at</th>", f);
    for (size_t i = 0; known && i < n; i++) {
        const hx_json_value *const x = hx_json_at(a[i].value, "stresses.outside_zones.point");
        fputs("<td>", f);
        for (const hx_json_value *c = x ? x->first : NULL; c; c = c->next)
            fprintf(f, "%.4g%s", c->number, c->next ? ", " : "");
        fputs("</td>", f);
    }
    if (known) fputs("</tr>\n", f);
    put_row(f, a, n, "&hellip; in 99.9 % of that volume at most", u->stress,
            "stresses.quantile_99_9");
    put_row(f, a, n, "Largest in the zones", u->stress, "stresses.in_zones.value");
    put_row_as(f, a, n, "Factor of safety", "", "stresses.factor_of_safety", 0);
}

/* Least thickness and gaps of the 0/1 design and of the surface, beside what the config wants. */
static void put_thickness(FILE *f, const hx_json_value *root, const hx_units *u)
{
    static const char *const key[2][3] = {
        {"minimum_length", "thickness.design.least_thickness", "thickness.surface.least_thickness"},
        {"minimum_gap", "thickness.design.least_gap", "thickness.surface.least_gap"}};
    static const char *const name[2] = {"Least thickness", "Least gap"};
    for (int i = 0; i < 2; i++) {
        char text[3][32], path[64];
        snprintf(path, sizeof path, "thickness.%s", key[i][0]);
        const double wanted = hx_json_number_at(root, path);
        if (isnan(wanted)) continue;
        hx_report_number(wanted, text[0], sizeof text[0]);
        for (int k = 1; k < 3; k++) {
            const double value = hx_json_number_at(root, key[i][k]);
            if (isnan(value))
                snprintf(text[k], sizeof text[k], "none");
            else
                hx_report_number(value, text[k], sizeof text[k]);
        }
        fputs("<p>", f);
        hx_html_printf(f, "%s: %s in the 0/1 design, %s in the surface; %s = %s%s.", name[i],
                       text[1], text[2], key[i][0], text[0], u->length);
        fputs("</p>\n", f);
    }
}

void hx_report_write_verify(const hx_report_run *run, FILE *f)
{
    analysis a[MAX_ANALYSIS];
    const size_t n = find_analyses(run, a);
    const hx_units *u = &run->units;
    char text[32];
    if (n == 0) return;
    fputs("<section><h3>The design as it would be made</h3>\n<div class=\"wide\"><table "
          "class=\"compare\"><caption>",
          f);
    hx_html_printf(f, "hextop verify of %s",
                   hx_json_text_at(run->verify.root, "result", "the result"));
    const double solid = hx_json_number_at(run->verify.root, "elements_solid");
    const double threshold = hx_json_number_at(run->verify.root, "threshold");
    if (!isnan(solid) && !isnan(threshold))
        hx_html_printf(f, "; 0/1: %s elements with a density of at least %.4g",
                       hx_report_number(solid, text, sizeof text), threshold);
    fputs("</caption><thead><tr><td></td>", f);
    for (size_t i = 0; i < n; i++) {
        fputs("<th scope=\"col\">", f);
        hx_html_text(f, a[i].name);
        fputs("</th>", f);
    }
    fputs("</tr></thead><tbody>\n", f);
    put_row_as(f, a, n, "Compliance", u->work, "compliance",
               !hx_report_is_shifted(run->verify.root));
    put_cases(f, a, n);
    put_row(f, a, n, "Volume fraction", "", "volume");
    put_row(f, a, n, "Largest displacement", u->length, "displacement.value");
    put_row(f, a, n, "Largest von Mises stress", u->stress, "von_mises.value");
    put_stresses(f, a, n, u);
    /* Writes the highest temperatures, without percentages, since these would depend on the
     * zero of the scale. Then writes their differences from the lowest held or ambient
     * temperature. */
    const double from = hx_json_number_at(a[0].value, "reference_temperature");
    char name[64];
    put_row_as(f, a, n, "Highest temperature", u->temperature, "temperature.value", 0);
    snprintf(name, sizeof name, "Highest temperature above %.6g%s", from, u->temperature);
    put_row_as(f, a, n, name, "", "temperature_above_reference", 1);
    put_row(f, a, n, "Largest heat flux", u->flux, "heat_flux.value");
    const hx_json_value *value[MAX_ANALYSIS];
    for (size_t i = 0; i < n; i++) value[i] = a[i].value;
    hx_report_write_made_limits(n, value, f);
    fputs("</tbody></table></div>\n", f);
    put_thickness(f, run->verify.root, u);
    fputs("</section>\n", f);
}

/* --- warnings --- */

/* Warns of load cases whose last solve did not converge. */
static void judge_solves(hx_report_run *run)
{
    const hx_json_value *const cases = hx_json_at(run->summary.root, "cases");
    for (const hx_json_value *c = cases ? cases->first : NULL; c; c = c->next) {
        const char *const outcome = hx_json_text_at(c, "pcg_outcome", "converged");
        if (strcmp(outcome, "converged") != 0)
            hx_report_say(&run->warning, "The last solve of case %g did not converge: %s.",
                          hx_json_number_at(c, "case"), outcome);
    }
    const double missed = hx_json_number_at(run->summary.root, "solves_not_converged");
    if (missed > 0.0)
        hx_report_say(&run->warning, "PCG did not converge in %g design iterations.", missed);
    const double fell_back =
        hx_json_number_at(run->summary.root, "solves_finished_in_double_precision");
    if (fell_back > 0.0)
        hx_report_say(&run->warning,
                      "%g solves were finished in double precision, since single precision did not "
                      "reach the tolerance.",
                      fell_back);
}

static void judge_design(hx_report_run *run)
{
    const hx_json_value *const s = run->summary.root;
    const hx_json_value *const v = hx_json_at(run->summary.root, "volume_met");
    if (v && v->kind == HX_JSON_BOOL && !(v->number > 0.0))
        hx_report_say(&run->warning, "The volume is %.5g instead of %.5g.",
                      hx_json_number_at(s, "volume"), hx_json_number_at(s, "volume_target"));
    const double grey = hx_json_number_at(s, "greyness");
    if (grey > 0.2)
        hx_report_say(&run->warning,
                      "The design is not black-and-white (greyness %.2f; 0 means every element is "
                      "solid or void), so the extracted part will have a different stiffness%s",
                      grey, run->verify.root ? "." : "; `hextop verify` analyses it.");
    if (hx_json_number_at(s, "mesh.quality.bodies") > 1.0)
        hx_report_say(&run->warning, "The mesh falls into %g bodies that share no node.",
                      hx_json_number_at(s, "mesh.quality.bodies"));
    if (hx_json_number_at(s, "mesh.quality.poor_elements") > 0.0)
        hx_report_say(&run->warning, "%g elements of the mesh have a poor shape.",
                      hx_json_number_at(s, "mesh.quality.poor_elements"));
}

static void judge_part(hx_report_run *run)
{
    const hx_report_part *part = &run->part;
    if (!part->is_there) return;
    if (part->shape.n_shell > 1)
        hx_report_say(
            &run->warning, "The part has %lld separate %s; the largest has %.4g %% of the volume.",
            (long long)part->shape.n_shell, hx_noun(part->shape.n_shell, "piece", "pieces"),
            100.0 * part->shape.largest_share);
    if (part->shape.n_cavity > 0)
        hx_report_say(&run->warning, "The part has %lld closed cavit%s.",
                      (long long)part->shape.n_cavity, part->shape.n_cavity == 1 ? "y" : "ies");
}

/* 1 if a warning has this text already. */
static int is_said(const hx_report_run *run, const char *text)
{
    for (size_t i = 0; i < run->warning.n; i++)
        if (strcmp(run->warning.line[i], text) == 0) return 1;
    return 0;
}

/* Collects the warnings of the run from the summary. Returns 0 if the summary has none. */
static int judge_list(hx_report_run *run)
{
    const hx_json_value *const list = hx_json_at(run->summary.root, "warnings");
    if (!list) return 0;
    for (const hx_json_value *v = list->first; v; v = v->next) {
        const char *const remedy = hx_json_text_at(v, "remedy", "");
        hx_report_say(&run->warning, "%s%s%s", hx_json_text_at(v, "text", ""),
                      remedy[0] ? "; " : "", remedy);
    }
    return 1;
}

/* Collects lines "... warning: TEXT" of run.log that are not in the summary. */
static void judge_log(hx_report_run *run)
{
    char path[4096], *bytes = NULL;
    size_t n;
    snprintf(path, sizeof path, "%.4000s/run.log", run->folder);
    if (hx_read_file(path, &bytes, &n) < 0) {
        hx_error_clear();
        return;
    }
    for (char *line = bytes; line;) {
        char *const end = strchr(line, '\n');
        if (end) *end = '\0';
        const char *const found = strstr(line, "warning: ");
        if (found && !is_said(run, found + strlen("warning: ")))
            hx_report_say(&run->warning, "%s", found + strlen("warning: "));
        line = end ? end + 1 : NULL;
    }
    free(bytes);
}

void hx_report_judge(hx_report_run *run)
{
    if (!judge_list(run)) { /* the run is not finished, or an older version wrote it */
        judge_design(run);
        judge_solves(run);
    }
    judge_part(run);
    const hx_json_value *const list = hx_json_at(run->verify.root, "warnings");
    for (const hx_json_value *v = list ? list->first : NULL; v; v = v->next)
        if (v->kind == HX_JSON_STRING) hx_report_say(&run->warning, "verify: %s", v->text);
    judge_log(run);
}
