/* Output of `hextop analyse`: tables, warnings, JSON. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/summary.h"
#include "../session/machine.h"
#include "../text/json.h"
#include "../text/table.h"
#include "analyse.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/vec3.h"

/* Prints and keeps a warning. */
static void warn_analysis(hx_analyse *a, const char *fmt, ...) HX_PRINTF(2, 3);

static void warn_analysis(hx_analyse *a, const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    char *const text = hx_fit_all(line, sizeof line, fmt, args);
    va_end(args);
    hx_log_warning("%s", text);
    if (a->n_warning < sizeof a->warning / sizeof a->warning[0] &&
        hx_strdup(&a->warning[a->n_warning], text) == HX_OK)
        a->n_warning++;
    if (text != line) free(text);
}

static int is_heat(const hx_analyse *a)
{
    return hx_config_is_heat(&a->session->cfg);
}

/* Number of cases that were solved. */
static int n_case(const hx_analyse *a)
{
    return a->lacking.n > 0 ? 0 : a->session->problem.cases.n;
}

static const char *set_name(const hx_session *s, const char *set)
{
    return set ? set : s->mesh.name; /* from = "file" */
}

/* --- tables --- */

static void print_design(const hx_analyse *a)
{
    const hx_session *const s = a->session;
    const hx_units *const u = &s->cfg.units;
    char x[160], y[32], element[64], text[HX_ORIGIN_TEXT];
    hx_log_info("mesh      %s, %s %s, %s", s->mesh.name,
                hx_format_count(s->mesh.n_elem, x, sizeof x),
                hx_noun(s->mesh.n_elem, "element", "elements"),
                hx_space_text(&s->space, element, sizeof element));
    if (a->result) hx_log_info("result    %s", a->result);
    if (a->result && !hx_result_origin_is_off(&a->design.origin))
        hx_log_info("origin    %s", hx_result_origin_text(&a->design.origin, text));
    if (!a->result)
        hx_log_info("design    as meshed: %s",
                    s->problem.passive.n > 0 ? "solid except passive elements" : "solid");
    else if (!a->is_black_white)
        hx_log_info("design    grey, as in the result");
    else
        hx_log_info("design    0/1%s, %s", a->solid_only ? ", only the solid" : "",
                    hx_solid_design_text(&a->design, a->threshold_given, x, sizeof x));
    hx_log_info("volume    %.6g%s of %.6g%s", a->volume, u->volume, s->mesh.total_volume,
                u->volume);
    if (!isnan(a->mass)) hx_log_info("mass      %s", hx_units_mass_text(u, a->mass, x, sizeof x));
    hx_log_info("solver    %s, |r| <= %.2g |f|", hx_session_operator_text(s, x, sizeof x),
                s->cfg.solver.tolerance);
    if (a->lacking.n == 0)
        hx_log_info("nodes     have the mean stress of their elements, extrapolated from the Gauss "
                    "points%s%s%s",
                    a->nodal.n_mixed > 0 ? "; at " : "",
                    a->nodal.n_mixed > 0 ? hx_format_count(a->nodal.n_mixed, y, sizeof y) : "",
                    a->nodal.n_mixed > 0 ? " of them, elements with less than half the stiffness "
                                           "of the stiffest are left out"
                                         : "");
    if (a->lacking.n == 0) hx_log_info("compliance  %.6g%s", a->compliance, u->work);
}

/* Values that are only rounding, relative to other values of their kind or to `size`, are printed
 * as 0. */
static void add_three(hx_table *table, const double value[3], double size)
{
    const double least = 1e-9 * fmax(hx_norm3(value), size);
    for (int i = 0; i < 3; i++)
        hx_table_add(table, "%.6g", fabs(value[i]) > least ? value[i] : 0.0);
}

static void add_sum(hx_table *table, const char *what, const char *set, const hx_analyse_sum *sum,
                    int heat)
{
    hx_table_add(table, "%s%s%s", what, set ? " " : "", set ? set : "");
    if (heat) {
        hx_table_add(table, "%.6g", sum->force[0]);
        return;
    }
    add_three(table, sum->force, 0.0);
    add_three(table, sum->moment, 0.0);
}

/* Adds a sum of reactions. It may cancel down to the rounding of the forces in it. */
static void add_reaction(hx_table *table, const hx_analyse *a, const hx_analyse_case *of,
                         const char *what, const char *set, const hx_analyse_sum *sum)
{
    const hx_mesh *const mesh = &a->session->mesh;
    double far[3];
    if (is_heat(a)) {
        add_sum(table, what, set, sum, 1);
        return;
    }
    for (int i = 0; i < 3; i++) far[i] = fmax(fabs(mesh->box_min[i]), fabs(mesh->box_max[i]));
    hx_table_add(table, "%s%s%s", what, set ? " " : "", set ? set : "");
    add_three(table, sum->force, of->size);
    add_three(table, sum->moment, of->size * hx_norm3(far));
}

static void print_sums(const hx_analyse *a, const hx_analyse_case *of)
{
    const hx_session *const s = a->session;
    const hx_config_support *support = s->cfg.supports.entry;
    const hx_config_spring *spring = s->cfg.springs.entry;
    const int heat = is_heat(a);
    hx_analyse_sum film = of->film;
    hx_table table;
    hx_table_begin(&table, heat ? "lr" : "lrrrrrr");
    static const char *const head[] = {"Fx", "Fy", "Fz", "Mx", "My", "Mz"};
    hx_table_add(&table, "%s", "");
    if (is_heat(a))
        hx_table_add(&table, "heat%s%s", a->session->cfg.units.power[0] ? "," : "",
                     a->session->cfg.units.power);
    for (int i = 0; !is_heat(a) && i < 6; i++) hx_table_add(&table, "%s", head[i]);
    add_sum(&table, heat ? "sources" : "loads", NULL, &of->load, heat);
    for (size_t i = 0; i < s->cfg.supports.n; i++)
        add_reaction(&table, a, of, "support", set_name(s, support[i].set), &of->support[i]);
    if (s->cfg.supports.n > 1) add_reaction(&table, a, of, "all supports", NULL, &of->reaction);
    for (size_t i = 0; i < s->cfg.springs.n; i++)
        add_sum(&table, "springs", set_name(s, spring[i].set), &of->spring_of[i], heat);
    if (s->cfg.springs.n > 1) add_sum(&table, "all springs", NULL, &of->spring, heat);
    film.force[0] = -film.force[0];
    if (s->problem.films.n > 0) add_sum(&table, "convection", NULL, &film, heat);
    /* The sum of all forces should be 0. */
    hx_table_add(&table, "sum");
    for (int i = 0; i < (heat ? 1 : 3); i++) hx_table_add(&table, "%.1e", of->balance.force[i]);
    for (int i = 0; !heat && i < 3; i++) hx_table_add(&table, "%.1e", of->balance.moment[i]);
    hx_table_end(&table, 2);
}

/* Keys of JSON; NULL: heat has no such key. */
static const char *peak_key(const hx_analyse *a, int kind)
{
    static const char *const key[2][HX_N_PEAK] = {
        {"displacement", "von_mises", "tension", "compression", "von_mises_node"},
        {"temperature", "heat_flux", NULL, "lowest_temperature", "heat_flux_node"}};
    return key[is_heat(a)][kind];
}

/* The largest compression and the lowest temperature are found as the largest negated values. */
static double peak_value(const hx_analyse_peak *peak, int kind)
{
    return kind == HX_PEAK_COMPRESSION ? -peak->value : peak->value;
}

static void print_peaks(const hx_analyse *a, const hx_analyse_case *of)
{
    static const char *const text[2][HX_N_PEAK] = {
        {"displacement", "von Mises, Gauss point", "principal stress, highest", "  lowest",
         "von Mises, node"},
        {"temperature, highest", "heat flux, Gauss point", NULL, "temperature, lowest",
         "heat flux, node"}};
    const hx_units *const u = &a->session->cfg.units;
    const int heat = is_heat(a);
    hx_table table;
    hx_table_begin(&table, "lrll");
    for (int k = 0; k < HX_N_PEAK; k++) {
        const hx_analyse_peak *const peak = &of->peak[k];
        const int is_first = k == HX_PEAK_DISPLACEMENT || (heat && k == HX_PEAK_COMPRESSION);
        char where[HX_PLACE_TEXT + 32], place[HX_PLACE_TEXT];
        if (!text[heat][k] || !peak->is_set) continue;
        snprintf(where, sizeof where, peak->point ? "%s, point %d" : "%s",
                 hx_place_text(&peak->place, place), peak->point);
        hx_table_add(&table, "%s", text[heat][k]);
        hx_table_add(&table, "%.6g%s", peak_value(peak, k),
                     is_first ? (heat ? u->temperature : u->length) : (heat ? u->flux : u->stress));
        hx_table_add(&table, "%s", where);
        hx_table_add(&table, "at %.5g, %.5g, %.5g", peak->x[0], peak->x[1], peak->x[2]);
    }
    hx_table_end(&table, 2);
}

/* Magnitude of the sum of forces, relative to the sum of their magnitudes. */
static double imbalance(const hx_analyse_case *of)
{
    const double sum = hx_norm3(of->balance.force);
    return of->size > 0.0 ? sum / of->size : sum;
}

static void warn_all(hx_analyse *a)
{
    char count[32], text[HX_PART_TEXT];
    if (a->result && hx_result_origin_is_off(&a->design.origin))
        warn_analysis(a, "%s is %s", a->result, hx_result_origin_text(&a->design.origin, text));
    if (a->is_black_white && !a->threshold_given &&
        hx_part_short_text(&a->design.part, a->result, text, sizeof text))
        warn_analysis(a, "%s", text);
    if (a->design.n_missing > 0 && !a->is_black_white)
        warn_analysis(
            a,
            "%s lacks %s %s, because it was written with a threshold: their density is taken as "
            "rho_min",
            a->result, hx_format_count(a->design.n_missing, count, sizeof count),
            hx_noun(a->design.n_missing, "element", "elements"));
    for (int k = a->modes.result.n_converged; k < a->modes.n; k++)
        warn_analysis(a, "mode %d did not converge: its residual is %.2g", k + 1,
                      a->modes.result.residual[k]);
    for (int c = 0; c < n_case(a); c++) {
        const hx_analyse_case *const of = &a->load_case[c];
        if (of->pcg.reason != HX_PCG_CONVERGED)
            warn_analysis(a, "case %d: the solve did not converge (%s, |r|/|f| = %.2g)", c + 1,
                          hx_pcg_reason_name(of->pcg.reason), of->pcg.residual);
        if (!(imbalance(of) < 1e-6))
            warn_analysis(
                a, "case %d: loads and reactions do not balance: they differ by %.2g of the forces",
                c + 1, imbalance(of));
    }
}

void hx_analyse_print(hx_analyse *a)
{
    print_design(a);
    const hx_session *const s = a->session;
    const hx_units *const u = &s->cfg.units;
    for (size_t i = 0; i < a->lacking.n; i++)
        hx_log_info("modes only: %s", a->lacking.note[i].text);
    for (int c = 0; c < n_case(a); c++) {
        const hx_analyse_case *const of = &a->load_case[c];
        hx_log_info("\ncase %d, weight %g: compliance %.6g%s, %s %.6g%s; %d %s", c + 1,
                    s->problem.cases.weight[c], of->compliance, u->work,
                    is_heat(a) ? "half the dissipation" : "strain energy", of->strain_energy,
                    u->work, of->pcg.iterations,
                    hx_noun(of->pcg.iterations, "iteration", "iterations"));
        if (hx_log_get_level() < HX_LOG_NORMAL) continue;
        print_sums(a, of);
        print_peaks(a, of);
    }
    if (!is_heat(a) && n_case(a) > 0)
        hx_log_info("\n"
                    "forces%s%s act on the part, moments%s%s are about the origin",
                    u->force[0] ? "," : "", u->force, u->work[0] ? "," : "", u->work);
    if (a->modes.n > 0) hx_modes_print(&a->modes, u);
    hx_log_detail("solves %.3f s, stresses %.3f s, %zu %s of fields", a->seconds[0], a->seconds[1],
                  a->fields.bytes, hx_noun(a->fields.bytes, "byte", "bytes"));
    warn_all(a);
}

/* --- JSON --- */

static void write_sum(hx_json *json, const hx_analyse *a, const char *key, const char *set,
                      const hx_analyse_sum *sum)
{
    hx_json_open_object(json, key);
    if (set) hx_json_string(json, "set", set);
    if (is_heat(a)) {
        hx_json_number(json, "heat", sum->force[0]);
    } else {
        hx_json_numbers(json, "force", 3, sum->force);
        hx_json_numbers(json, "moment", 3, sum->moment);
    }
    hx_json_close_object(json);
}

static void write_sums(hx_json *json, const hx_analyse *a, const hx_analyse_case *of)
{
    const hx_session *const s = a->session;
    const hx_config_support *support = s->cfg.supports.entry;
    const hx_config_spring *spring = s->cfg.springs.entry;
    write_sum(json, a, "loads", NULL, &of->load);
    hx_json_open_array(json, "supports");
    for (size_t i = 0; i < s->cfg.supports.n; i++)
        write_sum(json, a, NULL, set_name(s, support[i].set), &of->support[i]);
    hx_json_close_array(json);
    write_sum(json, a, "reactions", NULL, &of->reaction);
    hx_json_open_array(json, "springs");
    for (size_t i = 0; i < s->cfg.springs.n; i++)
        write_sum(json, a, NULL, set_name(s, spring[i].set), &of->spring_of[i]);
    hx_json_close_array(json);
    if (s->cfg.springs.n > 0) write_sum(json, a, "spring_forces", NULL, &of->spring);
    if (is_heat(a)) write_sum(json, a, "convection", NULL, &of->film);
    write_sum(json, a, "sum", NULL, &of->balance);
    hx_json_number(json, "imbalance", imbalance(of));
}

static void write_peaks(hx_json *json, const hx_analyse *a, const hx_analyse_case *of)
{
    hx_json_open_object(json, "largest");
    for (int k = 0; k < HX_N_PEAK; k++) {
        const hx_analyse_peak *const peak = &of->peak[k];
        if (!peak_key(a, k) || !peak->is_set) continue;
        hx_json_open_object(json, peak_key(a, k));
        hx_json_number(json, "value", peak_value(peak, k));
        hx_place_write(json, &peak->place);
        if (peak->point) hx_json_integer(json, "gauss_point", peak->point);
        hx_json_numbers(json, "point", 3, peak->x);
        hx_json_close_object(json);
    }
    hx_json_close_object(json);
}

static void write_design(hx_json *json, const hx_analyse *a)
{
    const hx_session *const s = a->session;
    char element[64];
    hx_units_write(&s->cfg.units, json, "units");
    hx_json_string(json, "config", s->cfg.path);
    hx_json_string(json, "result", a->result);
    if (a->result) hx_result_origin_write(json, &a->design.origin);
    hx_json_string(json, "design", hx_analyse_design_name(a));
    if (a->is_black_white) hx_json_number(json, "threshold", a->design.threshold);
    hx_json_integer(json, "elements", s->mesh.n_elem);
    hx_json_integer(json, "elements_missing", a->design.n_missing);
    hx_json_integer(json, "elements_counted", a->n_counted);
    hx_json_string(json, "element", hx_space_text(&s->space, element, sizeof element));
    hx_json_number(json, "tolerance", s->cfg.solver.tolerance);
    hx_json_number(json, "volume", a->volume);
    hx_json_number(json, "mass", a->mass);
    hx_json_number(json, "compliance", a->compliance);
    hx_json_integer(json, "nodes_without_softer_elements", a->nodal.n_mixed);
}

int hx_analyse_write(const hx_analyse *a, const char *path)
{
    int rc;
    hx_atomic_file file;
    hx_json json;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, path));
    hx_json_begin(&json, file.stream);
    hx_json_open_object(&json, NULL);
    write_design(&json, a);
    hx_json_open_array(&json, "cases");
    for (int c = 0; c < n_case(a); c++) {
        const hx_analyse_case *const of = &a->load_case[c];
        hx_json_open_object(&json, NULL);
        hx_json_integer(&json, "case", c + 1);
        hx_json_number(&json, "weight", a->session->problem.cases.weight[c]);
        hx_json_number(&json, "compliance", of->compliance);
        hx_json_number(&json, is_heat(a) ? "half_dissipation" : "strain_energy", of->strain_energy);
        hx_json_string(&json, "pcg_outcome", hx_pcg_reason_name(of->pcg.reason));
        hx_json_integer(&json, "pcg_iterations", of->pcg.iterations);
        hx_json_number(&json, "pcg_residual", of->pcg.residual);
        write_sums(&json, a, of);
        write_peaks(&json, a, of);
        hx_json_close_object(&json);
    }
    hx_json_close_array(&json);
    hx_modes_write(&a->modes, &a->session->cfg.units, &json);
    hx_json_open_array(&json, "warnings");
    for (size_t i = 0; i < a->n_warning; i++) hx_json_string(&json, NULL, a->warning[i]);
    hx_json_close_array(&json);
    hx_summary_write_versions(&json);
    hx_machine_write(&json, &a->session->device);
    hx_json_close_object(&json);
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}
