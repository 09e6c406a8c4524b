/* Output of `hextop verify`: tables, warnings, JSON. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/summary.h"
#include "../session/compliance_ratio.h"
#include "../session/machine.h"
#include "../text/json.h"
#include "../text/table.h"
#include "core/base/atomic_file.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/problem/simp.h"
#include "verify.h"

/* Prints and keeps a warning. */
static void warn_verify(hx_verify *v, const char *fmt, ...) HX_PRINTF(2, 3);

static void warn_verify(hx_verify *v, const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    char *const text = hx_fit_all(line, sizeof line, fmt, args);
    va_end(args);
    hx_log_warning("%s", text);
    if (v->n_warning < sizeof v->warning / sizeof v->warning[0] &&
        hx_strdup(&v->warning[v->n_warning], text) == HX_OK)
        v->n_warning++;
    if (text != line) free(text);
}

/* --- tables --- */

/* Prints the results of quadratic elements, which show the error of linear ones. */
static void print_quadratic(const hx_verify *v)
{
    static const char *const name[2] = {"0/1 linear", "quadratic"};
    const hx_verify_quadratic *const q = &v->quadratic;
    char a[32], b[32], c[32];
    if (!q->requested) return;
    hx_log_info("\nquadratic %s, %s %s%s, %s %s, %s of memory; %s, %d %s, %.3g s", q->element,
                hx_format_count(q->n_elem, a, sizeof a), hx_noun(q->n_elem, "element", "elements"),
                q->solid_only ? " of the largest solid piece, without void" : "",
                hx_format_count(q->n_point, b, sizeof b), hx_noun(q->n_point, "point", "points"),
                hx_format_bytes((double)q->bytes, c, sizeof c), q->solver,
                q->analysis.pcg_iterations,
                hx_noun(q->analysis.pcg_iterations, "iteration", "iterations"), q->seconds);
    hx_verify_print_pair(v, name, &v->analysis[HX_VERIFY_SOLID], &q->analysis);
}

static void print_design(const hx_verify *v)
{
    const hx_units *const u = &v->session.cfg.units;
    char a[32], b[32], text[HX_ORIGIN_TEXT];
    hx_log_info("result    %s", v->result);
    if (!hx_result_origin_is_off(&v->origin))
        hx_log_info("origin    %s", hx_result_origin_text(&v->origin, text));
    hx_log_info("mesh      %s, %s %s", v->session.mesh.name,
                hx_format_count(v->session.mesh.n_elem, a, sizeof a),
                hx_noun(v->session.mesh.n_elem, "element", "elements"));
    hx_log_info("0/1       %s %s solid: density >= %.6g, %s",
                hx_format_count(v->n_solid, a, sizeof a),
                hx_noun(v->n_solid, "element is", "elements are"), v->threshold,
                v->threshold_given ? "as given" : hx_part_threshold_text(&v->part));
    if (v->part.n_solid > 0)
        hx_log_info("          %s of them are forced solid (passive or loaded), %s of these have "
                    "less density",
                    hx_format_count(v->part.n_solid, a, sizeof a),
                    hx_format_count(v->n_filled, b, sizeof b));
    if (v->part.n_void > 0)
        hx_log_info("          %s %s forced void (passive)",
                    hx_format_count(v->part.n_void, a, sizeof a),
                    hx_noun(v->part.n_void, "element is", "elements are"));
    hx_log_info("volume    %.6g%s, target %.6g%s", v->volume, u->volume, v->part.target, u->volume);
    const hx_problem *const problem = &v->session.problem;
    const double rho_min = v->session.design.rho_min;
    hx_log_info(
        "void      has %.3g %s, from rho_min = %g",
        hx_simp_between(problem->least, problem->young, v->session.design.penalty.last, rho_min) /
            problem->young,
        hx_problem_is_heat(problem) ? "of the conductivity" : "E", rho_min);
    if (v->session.cfg.optimization.continuation.given)
        hx_log_info("penalty   %g, the final value of the continuation: a run that stopped earlier "
                    "had less",
                    v->session.design.penalty.last);
    char surface[64] = "", hinges[256];
    if (v->n_surface_piece > 0)
        snprintf(surface, sizeof surface, "; the surface has %s",
                 hx_format_count(v->n_surface_piece, a, sizeof a));
    hx_log_info("pieces    %s, counting elements that share a node as connected; %s if they must "
                "share a face%s",
                hx_format_count(v->attached.pieces.n, a, sizeof a),
                hx_format_count(v->n_face_piece, b, sizeof b), surface);
    if (v->hinges.n_place > 0)
        hx_log_info("hinges    elements share no face at %s%s",
                    hx_verify_hinges_text(v, hinges, sizeof hinges),
                    v->n_surface_piece < 0 ? ""
                                           : "; the surface does not follow single tetrahedra");
    hx_verify_print_thickness(v);
    hx_log_info("%s", "");
}

/* --- warnings --- */

/* Warns if quadratic elements, which are less stiff, give another compliance than linear ones. */
static void warn_quadratic(hx_verify *v)
{
    const hx_verify_analysis *const a = &v->analysis[HX_VERIFY_SOLID], *const b =
                                                                           &v->quadratic.analysis;
    if (!v->quadratic.requested) return;
    if (b->reason != HX_PCG_CONVERGED)
        warn_verify(v, "the solve with quadratic elements did not converge (%s, |r|/|f| = %.2g)",
                    hx_pcg_reason_name(b->reason), b->pcg_residual);
    const double percent = hx_verify_compliance_percent(v, a->compliance, b->compliance);
    if (fabs(percent) > v->tolerance)
        warn_verify(
            v,
            "with quadratic elements the compliance differs by %+.1f %% from that with linear "
            "ones: the mesh is too coarse for this part; use a finer mesh, or solver.element = "
            "\"quadratic\"",
            percent);
}

static void warn_pieces(hx_verify *v)
{
    char a[32], b[32], hinges[256];
    const int64_t n_floating = hx_attached_count_floating(&v->attached);
    if (n_floating > 0)
        warn_verify(v, "the solid falls into %s %s: %s %s not connected to the largest",
                    hx_format_count(v->attached.pieces.n, a, sizeof a),
                    hx_noun(v->attached.pieces.n, "piece", "pieces"),
                    hx_format_count(n_floating, b, sizeof b),
                    hx_noun(n_floating, "element is", "elements are"));
    if (v->n_surface_piece > v->attached.pieces.n)
        warn_verify(
            v,
            "the surface falls into %s %s whose elements touch only at nodes or edges: such "
            "hinges cannot be made",
            hx_format_count(v->n_surface_piece, a, sizeof a),
            hx_noun(v->n_surface_piece, "piece", "pieces"));
    else if (v->n_surface_piece < 0 && v->hinges.n_place > 0)
        warn_verify(v,
                    "solid elements touch only at a node or an edge: such hinges cannot be made "
                    "(%s); %s",
                    hx_verify_hinges_text(v, hinges, sizeof hinges),
                    isnan(v->session.cfg.optimization.minimum_length)
                        ? "optimization.minimum_length, of four elements or more, avoids them"
                        : "a larger optimization.minimum_length leaves fewer");
}

static void warn_thickness(hx_verify *v)
{
    char text[256];
    for (int i = 0; hx_verify_warn_thickness(v, i, text, sizeof text); i++)
        if (text[0]) warn_verify(v, "%s", text);
}

static void warn_set(hx_verify *v, const char *what, size_t i, const char *set)
{
    hx_attached_nodes nodes;
    hx_attached_set(&v->attached, set, &nodes);
    if (hx_attached_is_floating(&nodes))
        warn_verify(v, "%s[%zu]: set '%s' is not attached to the largest piece", what, i, set);
}

static void warn_support(hx_verify *v, size_t i, const hx_config_support *support)
{
    hx_attached_nodes nodes;
    if (!support->from) {
        warn_set(v, "supports", i, support->set);
        return;
    }
    hx_attached_file_supports(&v->attached, &nodes);
    if (hx_attached_is_floating(&nodes))
        warn_verify(
            v,
            "supports[%zu]: the supports from the mesh's file are not attached to the largest "
            "piece",
            i);
}

static void warn_loads(hx_verify *v)
{
    const hx_config *cfg = &v->session.cfg;
    const hx_config_load *load = cfg->loads.entry;
    const hx_config_support *support = cfg->supports.entry;
    const hx_config_spring *spring = cfg->springs.entry;
    for (size_t i = 0; i < cfg->supports.n; i++) warn_support(v, i, &support[i]);
    for (size_t i = 0; i < cfg->springs.n; i++) warn_set(v, "springs", i, spring[i].set);
    if (hx_config_is_heat(cfg)) return; /* sources and convection may act on void */
    for (size_t i = 0; i < cfg->loads.n; i++) warn_set(v, "loads", i, load[i].set);
    for (int c = 0; c < v->session.problem.cases.n; c++) {
        hx_attached_nodes nodes;
        char a[32];
        hx_attached_loads(&v->attached, c, &nodes);
        const int64_t n_off = nodes.n[HX_NODE_VOID] + nodes.n[HX_NODE_FLOATING];
        const double off = nodes.force[HX_NODE_VOID] + nodes.force[HX_NODE_FLOATING];
        if (n_off > 0)
            warn_verify(
                v,
                "case %d: %s loaded %s, with %.1f %% of the force, are on void or on pieces that "
                "are not connected: their motion dominates the compliance",
                c + 1, hx_format_count(n_off, a, sizeof a), hx_noun(n_off, "node", "nodes"),
                100.0 * off / (off + nodes.force[HX_NODE_MAIN]));
    }
}

/* Warns of loads on elements that only --preserve makes solid: the design has no material there. */
static void warn_filled(hx_verify *v)
{
    for (int c = 0; c < v->session.problem.cases.n; c++) {
        if (hx_config_is_heat(&v->session.cfg)) return; /* heat can enter at any density */
        const double share = hx_verify_filled_force(v, c);
        if (share > 0.01)
            warn_verify(v,
                        "case %d: %.1f %% of the force acts on elements below the threshold that "
                        "--preserve makes solid: the design itself has no material there",
                        c + 1, 100.0 * share);
    }
}

/* Warns of a result that was written with a threshold. Returns 1 if so much of the volume is
 * missing that the 0/1 design, or its differences from the run's grey design, cannot be relied
 * on. */
static int warn_missing(hx_verify *v)
{
    static const double enough = 0.98;
    char count[32], text[HX_PART_TEXT];
    if (v->n_missing == 0) return 0;
    hx_format_count(v->n_missing, count, sizeof count);
    hx_log_info("%s lacks %s elements, because it was written with a threshold: their density is "
                "taken as rho_min",
                v->result, count);
    if (!v->threshold_given && hx_part_short_text(&v->part, v->result, text, sizeof text)) {
        warn_verify(v, "%s", text);
        return 1;
    }
    if (v->part.may_have_less || v->part.mass >= enough * v->part.wanted) return 0;
    warn_verify(
        v,
        "the densities in %s have a volume of %.3g instead of %.3g; the rest is in the %s elements "
        "below output.threshold, which the file lacks: the grey design is %s than in the run, so "
        "the differences are not reliable; write the last design with a lower output.threshold, "
        "or none",
        v->result, v->part.mass, v->part.wanted, count,
        hx_config_is_heat(&v->session.cfg) ? "a worse conductor" : "softer");
    return 1;
}

void hx_verify_print(hx_verify *v)
{
    char text[HX_ORIGIN_TEXT];
    print_design(v);
    static const char *const name[2] = {"grey", "0/1"};
    hx_verify_print_pair(v, name, &v->analysis[HX_VERIFY_GREY], &v->analysis[HX_VERIFY_SOLID]);
    print_quadratic(v);
    if (v->surface.path) hx_verify_print_surface(v);
    if (v->surface.left[0]) hx_log_info("\nsurface   not analysed: %s", v->surface.left);
    hx_verify_print_stresses(v);
    hx_verify_print_refined(v);
    hx_verify_print_limits(v);
    /* Explains why no percentage is given for the compliances. */
    if (hx_compliance_is_shifted(&v->session))
        hx_log_info("  no percentage for compliances: prescribed %s shift their zero",
                    hx_config_is_heat(&v->session.cfg) ? "temperatures" : "displacements");
    hx_log_info("%s", "");
    if (hx_result_origin_is_off(&v->origin))
        warn_verify(v, "%s is %s", v->result, hx_result_origin_text(&v->origin, text));
    if (!warn_missing(v)) {
        char differences[HX_VERIFY_DIFFERENCES];
        if (hx_verify_differences(v, differences, sizeof differences))
            warn_verify(v, "%s", differences);
    }
    for (int i = 0; i < HX_N_VERIFY; i++)
        if (v->analysis[i].reason != HX_PCG_CONVERGED)
            warn_verify(v, "the solve of the %s design did not converge (%s, |r|/|f| = %.2g)",
                        i == HX_VERIFY_GREY ? "grey" : "0/1",
                        hx_pcg_reason_name(v->analysis[i].reason), v->analysis[i].pcg_residual);
    warn_quadratic(v);
    char found[4096];
    for (size_t i = 0; v->surface.path && hx_verify_warn_surface(v, i, found, sizeof found); i++)
        if (found[0]) warn_verify(v, "%s", found);
    warn_pieces(v);
    warn_thickness(v);
    warn_loads(v);
    warn_filled(v);
    if (hx_verify_warn_strength(v, found, sizeof found)[0]) warn_verify(v, "%s", found);
    if (hx_verify_warn_edges(v, found, sizeof found)[0]) warn_verify(v, "%s", found);
    if (hx_verify_warn_refined(v, found, sizeof found)[0]) warn_verify(v, "%s", found);
    for (int i = 0; i < v->session.limits.n; i++) {
        char missed[1024];
        if (hx_verify_warn_limit(v, i, missed, sizeof missed)[0]) warn_verify(v, "%s", missed);
    }
    if (v->n_warning == 0)
        hx_log_info("%sdifferences below %g %%, one piece, all attached%s",
                    hx_compliance_is_shifted(&v->session) ? "other " : "", v->tolerance,
                    v->session.limits.n > 0 ? ", all limits met" : "");
}

/* --- JSON --- */

static void write_quadratic(hx_json *json, const hx_verify *v)
{
    const hx_verify_quadratic *const q = &v->quadratic;
    if (!q->requested) return;
    hx_json_open_object(json, "quadratic");
    hx_json_string(json, "element", q->element);
    hx_json_bool(json, "solid_only", q->solid_only);
    hx_json_integer(json, "elements", q->n_elem);
    hx_json_integer(json, "points", q->n_point);
    hx_json_integer(json, "bytes", (int64_t)q->bytes);
    hx_json_number(json, "seconds", q->seconds);
    hx_verify_write_analysis(json, v, "analysis", &q->analysis);
    hx_verify_write_differences(json, v, &v->analysis[HX_VERIFY_SOLID], &q->analysis);
    hx_json_close_object(json);
}

static void write_nodes(hx_json *json, const hx_attached_nodes *nodes, int with_force)
{
    hx_json_integer(json, "nodes_on_largest_piece", nodes->n[HX_NODE_MAIN]);
    hx_json_integer(json, "nodes_on_floating_pieces", nodes->n[HX_NODE_FLOATING]);
    hx_json_integer(json, "nodes_on_void", nodes->n[HX_NODE_VOID]);
    if (!with_force) return;
    hx_json_number(json, "force_on_largest_piece", nodes->force[HX_NODE_MAIN]);
    hx_json_number(json, "force_on_floating_pieces", nodes->force[HX_NODE_FLOATING]);
    hx_json_number(json, "force_on_void", nodes->force[HX_NODE_VOID]);
}

static void write_attachment(hx_json *json, const char *set, const hx_attached_nodes *nodes)
{
    hx_json_open_object(json, NULL);
    hx_json_string(json, "set", set);
    write_nodes(json, nodes, 0);
    hx_json_close_object(json);
}

static void write_set(hx_json *json, const hx_verify *v, const char *set)
{
    hx_attached_nodes nodes;
    hx_attached_set(&v->attached, set, &nodes);
    write_attachment(json, set, &nodes);
}

static void write_support(hx_json *json, const hx_verify *v, const hx_config_support *support)
{
    hx_attached_nodes nodes;
    if (!support->from) {
        write_set(json, v, support->set);
        return;
    }
    hx_attached_file_supports(&v->attached, &nodes);
    write_attachment(json, NULL, &nodes);
}

static void write_attachments(hx_json *json, const hx_verify *v)
{
    const hx_config *cfg = &v->session.cfg;
    const hx_config_load *load = cfg->loads.entry;
    const hx_config_support *support = cfg->supports.entry;
    const hx_config_spring *spring = cfg->springs.entry;
    hx_json_open_array(json, "supports");
    for (size_t i = 0; i < cfg->supports.n; i++) write_support(json, v, &support[i]);
    hx_json_close_array(json);
    hx_json_open_array(json, "springs");
    for (size_t i = 0; i < cfg->springs.n; i++) write_set(json, v, spring[i].set);
    hx_json_close_array(json);
    hx_json_open_array(json, "loads");
    for (size_t i = 0; i < cfg->loads.n; i++) write_set(json, v, load[i].set);
    hx_json_close_array(json);
    hx_json_open_array(json, "cases");
    for (int c = 0; c < v->session.problem.cases.n; c++) {
        hx_attached_nodes nodes;
        hx_attached_loads(&v->attached, c, &nodes);
        hx_json_open_object(json, NULL);
        hx_json_integer(json, "case", c + 1);
        write_nodes(json, &nodes, 1);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}

/* Writes a path relative to the folder of verify.json, so that the folder can be moved with its
 * contents. */
static int write_path(hx_json *json, const char *key, const char *from, const char *file)
{
    char *shown = NULL;
    HX_TRY(hx_path_seen_from(from, file, &shown));
    hx_json_string(json, key, shown);
    free(shown);
    return HX_OK;
}

int hx_verify_write(const hx_verify *v, const char *path)
{
    int rc;
    hx_atomic_file file;
    hx_json json;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, path));
    hx_json_begin(&json, file.stream);
    hx_json_open_object(&json, NULL);
    hx_units_write(&v->session.cfg.units, &json, "units");
    HX_TRY_FAIL(write_path(&json, "result", path, v->result));
    HX_TRY_FAIL(write_path(&json, "config", path, v->config));
    hx_result_origin_write(&json, &v->origin);
    hx_json_open_array(&json, "overrides");
    for (size_t i = 0; i < v->n_override; i++) hx_json_string(&json, NULL, v->override[i]);
    hx_json_close_array(&json);
    hx_json_integer(&json, "elements", v->session.mesh.n_elem);
    hx_json_integer(&json, "elements_missing", v->n_missing);
    hx_json_integer(&json, "elements_solid", v->n_solid);
    hx_json_integer(&json, "elements_forced_solid", v->part.n_solid);
    hx_json_integer(&json, "elements_forced_void", v->part.n_void);
    hx_json_integer(&json, "elements_solid_below_threshold", v->n_filled);
    hx_json_number(&json, "volume_target", v->part.target);
    hx_json_number(&json, "volume_solid", v->volume);
    hx_json_number(&json, "threshold", v->threshold);
    hx_json_bool(&json, "threshold_keeps_volume", !v->threshold_given);
    hx_json_number(&json, "rho_min", v->session.design.rho_min);
    hx_json_number(&json, "tolerance_percent", v->tolerance);
    if (v->session.limits.n > 0) {
        const char *made;
        hx_verify_made(v, &made);
        hx_json_number(&json, "limit_tolerance_percent", v->limit_tolerance);
        hx_json_string(&json, "limits_judged_on", made);
        if (v->is_by_search) /* seen from the folder of the result */
            hx_json_string(&json, "limits_of", "../lightest.json");
        hx_json_bool(&json, "limits_met", hx_verify_count_missed(v) == 0);
    }
    hx_json_bool(&json, "compliance_has_ratio", !hx_compliance_is_shifted(&v->session));
    hx_verify_write_analysis(&json, v, "grey", &v->analysis[HX_VERIFY_GREY]);
    hx_verify_write_analysis(&json, v, "black_white", &v->analysis[HX_VERIFY_SOLID]);
    hx_verify_write_differences(&json, v, &v->analysis[HX_VERIFY_GREY],
                                &v->analysis[HX_VERIFY_SOLID]);
    write_quadratic(&json, v);
    if (v->surface.path) hx_verify_write_surface(&json, v);
    hx_json_open_object(&json, "pieces");
    hx_json_integer(&json, "joined_by_nodes", v->attached.pieces.n);
    hx_json_integer(&json, "joined_by_faces", v->n_face_piece);
    if (v->n_surface_piece >= 0) hx_json_integer(&json, "surface_shells", v->n_surface_piece);
    hx_json_integer(&json, "hinge_edges", v->hinges.n_edge);
    hx_json_integer(&json, "hinge_nodes", v->hinges.n_point);
    hx_json_integer(&json, "hinge_places", v->hinges.n_place);
    if (v->hinges.n_place > 0)
        hx_json_numbers(&json, "largest_hinge", 3, v->session.mesh.xyz + 3 * v->hinges.node);
    hx_json_integer(&json, "largest_elements", v->attached.pieces.n_elem[0]);
    hx_json_number(&json, "largest_volume", v->attached.pieces.volume[0]);
    hx_json_close_object(&json);
    hx_verify_write_thickness(&json, v);
    write_attachments(&json, v);
    hx_json_open_array(&json, "warnings");
    for (size_t i = 0; i < v->n_warning; i++) hx_json_string(&json, NULL, v->warning[i]);
    hx_json_close_array(&json);
    hx_summary_write_versions(&json);
    hx_machine_write(&json, &v->session.device);
    hx_json_close_object(&json);
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}
