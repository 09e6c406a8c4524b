/* The part inside a closed surface, analysed with quadratic tetrahedra. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/output.h"
#include "../session/config_problem.h"
#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/design/stress_limit.h"
#include "verify.h"

/* --- analysis --- */

typedef struct solve {
    hx_space space;
    hx_problem problem;
    hx_device device;
    hx_analysis analysis;
} solve;

int hx_verify_open_surface(hx_verify *v)
{
    if (hx_log_is_terminal()) hx_log_status("meshing what %s encloses ...", v->surface.path);
    return hx_surface_part_create(&v->surface.part, &v->session, v->surface.path,
                                  &v->surface.options);
}

/* Scratch of the results of one case after the other. */
typedef struct results {
    double *u, *modulus;
    float *stress;
    uint8_t *is_zone;              /* [n_elem of the session's mesh] */
    uint8_t *is_zone_tet, *counts; /* [n_tet] */
    uint8_t *is_sharp;             /* [n_node] at sharp edges */
    int32_t *elem;                 /* [n_tet] see hx_verify_surface_elements */
    hx_verify_samples samples;     /* of nodes */
    hx_stress way;
} results;

static void results_free(results *r)
{
    free(r->u);
    free(r->modulus);
    free(r->stress);
    free(r->is_zone);
    free(r->is_zone_tet);
    free(r->is_sharp);
    free(r->counts);
    free(r->elem);
    hx_verify_samples_free(&r->samples);
}

static int results_create(hx_verify *v, const solve *s, results *r)
{
    const hx_mesh *const cut = s->space.mesh;
    const size_t n_elem = (size_t)cut->n_elem;
    HX_TRY(hx_alloc_raw(&r->u, 3 * (size_t)s->space.n_point, sizeof *r->u, "displacements"));
    HX_TRY(hx_alloc_raw(&r->modulus, n_elem, sizeof *r->modulus, "moduli"));
    HX_TRY(hx_alloc_raw(&r->stress, n_elem, sizeof *r->stress, "stresses"));
    HX_TRY(hx_alloc(&r->is_zone, (size_t)v->session.mesh.n_elem, 1, "zones"));
    HX_TRY(hx_alloc(&r->is_zone_tet, n_elem, 1, "zones"));
    HX_TRY(hx_alloc(&r->counts, n_elem, 1, "zones"));
    HX_TRY(hx_alloc(&r->is_sharp, (size_t)cut->n_node, 1, "zones"));
    HX_TRY(hx_alloc(&r->elem, n_elem, sizeof *r->elem, "zones"));
    hx_stress_create(&r->way, &s->problem);
    HX_TRY(hx_analysis_modulus(&s->analysis, r->modulus));
    hx_verify_mark_zones(v, r->is_zone);
    if (v->session.cfg.solver.element == HX_ELEMENT_SPLINE) return HX_OK; /* which has no zones */
    HX_TRY(hx_verify_surface_elements(v, r->elem));
    HX_TRY(hx_verify_surface_edges(v, r->elem, r->is_sharp));
    return hx_verify_surface_zones(v, r->is_zone, r->elem, s->problem.volume, r->is_sharp,
                                   r->is_zone_tet);
}

/* Offers the stresses of nodes: those of tetrahedra outside the zones (is_zone = 0), then of nodes
 * that only touch tetrahedra in them. */
static int offer_stresses(results *r, int load_case, int is_zone)
{
    const hx_mesh *const cut = r->way.problem->mesh;
    hx_smooth_stress smooth;
    for (int64_t t = 0; t < cut->n_elem; t++) r->counts[t] = r->is_zone_tet[t] == is_zone;
    HX_TRY(hx_smooth_stress_create(&smooth, &r->way, r->modulus, r->u, r->counts));
    for (int64_t a = 0; a < cut->n_node; a++) {
        if (!(smooth.volume[a] > 0.0)) continue;
        if (is_zone && r->samples.volume[a] > 0.0 && !r->samples.is_zone[a]) continue;
        r->samples.volume[a] = smooth.volume[a];
        r->samples.is_zone[a] = (uint8_t)is_zone;
        hx_verify_samples_offer(&r->samples, a, load_case, smooth.value[a]);
    }
    hx_smooth_stress_free(&smooth);
    return HX_OK;
}

/* The peaks of a case over nodes and elements of the new mesh. */
static void offer_peaks(const solve *s, const results *r, int load_case, hx_verify_analysis *a)
{
    const hx_mesh *const cut = s->space.mesh;
    hx_verify_offer_displacement(&s->space, cut, NULL, NULL, NULL, 3, load_case, r->u,
                                 &a->displacement);
    for (int64_t e = 0; e < cut->n_elem; e++) {
        const double size = r->stress[e];
        if (a->stress.load_case > 0 && !(size > a->stress.value)) continue;
        a->stress = (hx_verify_peak){size, load_case, {HX_AT_ELEMENT, e, 0}, {0}};
        hx_mesh_centroid(cut, e, a->stress.point);
    }
}

/* Offers the largest mean stress of a case over the tetrahedra in a solid element, of which they
 * fill a fair part. */
static int offer_means(const hx_verify *v, const solve *s, const results *r, int load_case,
                       hx_verify_peak *peak)
{
    static const double least_filled = 0.5;
    const hx_mesh *const mesh = &v->session.mesh;
    const double *const whole = v->session.problem.volume;
    double *sum, *volume;
    HX_TRY(hx_alloc(&sum, 2 * (size_t)mesh->n_elem, sizeof *sum, "stresses of elements"));
    volume = sum + mesh->n_elem;
    for (int64_t t = 0; t < s->space.mesh->n_elem; t++) {
        const int32_t e = r->elem[t];
        if (e < 0) continue;
        sum[e] += s->problem.volume[t] * (double)r->stress[t];
        volume[e] += s->problem.volume[t];
    }
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (!v->is_solid[e] || r->is_zone[e] || !(volume[e] >= least_filled * whole[e])) continue;
        const double mean = sum[e] / volume[e];
        if (peak->load_case > 0 && !(mean > peak->value)) continue;
        *peak = (hx_verify_peak){
            mean, load_case, {HX_AT_ELEMENT, hx_mesh_elem_number(mesh, e), 0}, {0}};
        hx_mesh_centroid(mesh, e, peak->point);
    }
    free(sum);
    return HX_OK;
}

/* A field of the session's elements: the largest stress at the nodes of the tetrahedra in each. */
static int keep_field(hx_verify *v, const results *r)
{
    const hx_mesh *const mesh = &v->session.mesh, *const cut = &v->surface.part.mesh;
    float *field = NULL;
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1, HX_FIELDS_SURFACE_STRESS,
                         &field));
    for (int64_t t = 0; t < 8 * cut->n_elem; t++) {
        const int32_t e = r->elem[t / 8];
        const float value = (float)r->samples.value[cut->conn[t]];
        if (e >= 0 && value > field[e]) field[e] = value;
    }
    return HX_OK;
}

/* What brings the displacements of a case. */
typedef struct reader {
    solve *s;
    results *r;
} reader;

static int read_case(void *context, int load_case)
{
    reader *const from = context;
    return hx_analysis_point_displacement(&from->s->analysis, load_case, from->r->u);
}

/* Stresses at nodes, of all cases: r->samples. */
static int find_stresses(hx_verify *v, solve *s, results *r, hx_verify_analysis *a)
{
    memset(&a->stresses.outside, 0, sizeof a->stresses.outside);
    hx_verify_samples_free(&r->samples);
    HX_TRY(hx_verify_samples_create(&r->samples, s->space.mesh->n_node));
    for (int c = 0; c < s->problem.cases.n; c++) {
        HX_TRY(hx_analysis_point_displacement(&s->analysis, c, r->u));
        HX_TRY(offer_stresses(r, c + 1, 0));
        if (v->surface.n_zone > 0) HX_TRY(offer_stresses(r, c + 1, 1));
    }
    return hx_verify_samples_judge(&r->samples, s->space.mesh, 1, &a->stresses);
}

/* Zones about sharp edges, then without those at which stresses are small. */
static int find_zones(hx_verify *v, solve *s, results *r, hx_verify_analysis *a)
{
    HX_TRY(find_stresses(v, s, r, a));
    if (!hx_verify_drop_edges(v, &r->samples, a->stresses.outside.value, r->is_sharp)) return HX_OK;
    HX_TRY(hx_verify_surface_zones(v, r->is_zone, r->elem, s->problem.volume, r->is_sharp,
                                   r->is_zone_tet));
    return find_stresses(v, s, r, a);
}

static int read_results(hx_verify *v, solve *s, hx_verify_analysis *a)
{
    const int has_elements = v->session.cfg.solver.element != HX_ELEMENT_SPLINE;
    results r = {0};
    int rc;
    HX_TRY_FAIL(results_create(v, s, &r));
    HX_TRY_FAIL(find_zones(v, s, &r, a));
    for (int c = 0; c < s->problem.cases.n; c++) {
        HX_TRY_FAIL(hx_analysis_point_displacement(&s->analysis, c, r.u));
        hx_output_von_mises(&s->problem, r.modulus, r.u, r.stress);
        offer_peaks(s, &r, c + 1, a);
        a->case_compliance[c] = s->analysis.load_case[c].compliance;
        if (has_elements) HX_TRY_FAIL(offer_means(v, s, &r, c + 1, &a->stresses.of_element));
        HX_TRY_FAIL(
            hx_verify_surface_limits(v, &r.way, c, r.modulus, r.u, r.is_zone_tet, r.elem, a));
    }
    hx_verify_find_sharpest(v, &r.samples, r.is_sharp);
    const hx_verify_solved solved = {&s->problem, &s->device, r.u, r.is_zone_tet, r.elem};
    reader from = {s, &r};
    if (has_elements)
        HX_TRY_FAIL(hx_verify_refine_stresses(v, &solved, &r.samples, read_case, &from));
    if (v->with_fields && has_elements) HX_TRY_FAIL(keep_field(v, &r));
fail:
    results_free(&r);
    return rc;
}

static int make_problem(hx_verify *v, solve *s)
{
    hx_verify_surface *const f = &v->surface;
    size_t n_free = 0, n_total = 0;
    char a[32], b[32];
    HX_TRY(hx_device_open(&s->device, v->session.device.ops));
    HX_TRY(hx_space_create(&s->space, &f->part.mesh, HX_ELEMENT_QUADRATIC));
    HX_TRY(hx_config_make_problem(&f->part.cfg, &s->space, &f->part.conditions, &s->problem, NULL,
                                  NULL));
    s->problem.multigrid = &v->session.cfg.solver.multigrid;
    HX_TRY(hx_verify_count_bytes(v, &s->problem, &s->device, &f->bytes));
    HX_TRY(s->device.ops->memory(&s->device, &n_free, &n_total));
    if (n_free == 0 || f->bytes <= n_free) return HX_OK;
    return HX_RAISE(HX_EENV, "%lld quadratic %s need %s of memory, %s is free",
                    (long long)f->part.mesh.n_elem,
                    hx_noun(f->part.mesh.n_elem, "tetrahedron", "tetrahedra"),
                    hx_format_bytes((double)f->bytes, a, sizeof a),
                    hx_format_bytes((double)n_free, b, sizeof b));
}

/* The sets of limits have their own names on the mesh of tetrahedra. Limits on stresses have their
 * own way (hx_verify_surface_limits), and no value here. */
static int find_limits(const hx_verify *v, solve *s, hx_verify_analysis *a)
{
    const hx_limits *const limits = &v->session.limits;
    hx_constraint_spec *spec;
    HX_TRY(hx_alloc(&spec, (size_t)limits->n, sizeof *spec, "limits"));
    for (int i = 0; i < limits->n; i++) {
        spec[i] = limits->spec[i];
        hx_response_params *const params = &spec[i].params;
        params->set = spec[i].kind == &hx_response_stress
                          ? "" /* which is not found */
                          : hx_surface_part_set(&v->surface.part, params->set);
        params->set_2 = hx_surface_part_set(&v->surface.part, params->set_2);
    }
    const int rc = hx_verify_find_limits(v, &s->analysis, spec, NULL, a);
    free(spec);
    return rc;
}

static int analyse_surface(hx_verify *v, solve *s)
{
    hx_verify_surface *const f = &v->surface;
    hx_verify_analysis *const a = &f->analysis;
    const hx_solver_params params = hx_verify_solver_params(v);
    const double begin = hx_clock();
    HX_TRY(make_problem(v, s));
    HX_TRY(hx_alloc(&a->case_compliance, (size_t)s->problem.cases.n, sizeof *a->case_compliance,
                    "load cases"));
    HX_TRY(hx_analysis_open(&s->analysis, &s->device, &s->problem, &params));
    hx_log_notes(&s->analysis.own->notes);
    HX_TRY(hx_analysis_solve_density(&s->analysis, NULL, v->session.design.penalty.last));
    HX_TRY(hx_analysis_compliance(&s->analysis, &a->compliance));
    a->reason = s->analysis.record.reason;
    a->pcg_iterations = s->analysis.record.pcg_iterations;
    a->pcg_residual = s->analysis.record.pcg_residual;
    a->volume = f->part.mesh.total_volume / v->session.mesh.total_volume;
    HX_TRY(hx_verify_find_mass(&s->problem, NULL, &a->mass));
    HX_TRY(find_limits(v, s, a));
    HX_TRY(hx_verify_find_shares(v, a));
    HX_TRY(read_results(v, s, a));
    f->n_point = s->space.n_point;
    hx_space_text(&s->space, f->element, sizeof f->element);
    snprintf(f->solver, sizeof f->solver, "%s, %s", s->analysis.op->op_kind->name,
             s->analysis.pc->kind->name);
    f->seconds = hx_clock() - begin;
    return HX_OK;
}

int hx_verify_analyse_surface(hx_verify *v)
{
    solve s;
    memset(&s, 0, sizeof s);
    hx_session_drop_operator(&v->session); /* its memory is needed here */
    const int rc = analyse_surface(v, &s);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", v->surface.path);
    hx_analysis_free(&s.analysis);
    hx_device_close(&s.device);
    hx_problem_free(&s.problem);
    hx_space_free(&s.space);
    return rc;
}

void hx_verify_surface_free(hx_verify_surface *surface)
{
    hx_surface_part_free(&surface->part);
    free(surface->refined.limit);
}

/* --- report --- */

void hx_verify_print_surface(const hx_verify *v)
{
    static const char *const name[2] = {"0/1", "surface"};
    const hx_verify_surface *const f = &v->surface;
    const hx_surface_part *const p = &f->part;
    const hx_units *const u = &v->session.cfg.units;
    const int by_gmsh = strncmp(p->mesher, "gmsh", 4) == 0;
    char a[32], b[32], c[32];
    hx_log_info("\nsurface   %s: %s %s, %lld piece%s", f->path,
                hx_format_count(p->surface.n_tri, a, sizeof a),
                hx_noun(p->surface.n_tri, "triangle", "triangles"), (long long)p->surface.n_shell,
                p->surface.n_shell == 1 ? "" : "s");
    hx_log_info("          volume %.6g%s, the 0/1 design's %.6g; in tetrahedra %.6g",
                p->surface.volume, u->volume, v->volume, p->cut.volume);
    hx_log_info("%-9s %s %s, %s split %d time%s; quality %.2g at worst, %.2g in the mean; %.3g s",
                p->mesher, hx_format_count(p->mesh.n_elem, a, sizeof a),
                hx_noun(p->mesh.n_elem, "tetrahedron", "tetrahedra"), by_gmsh ? "each" : "cells",
                p->cut.n_refine, p->cut.n_refine == 1 ? "" : "s", p->cut.worst, p->cut.mean,
                p->seconds);
    for (size_t i = 0; i < p->notes.n; i++)
        if (p->notes.note[i].level == HX_NOTE_INFO)
            hx_log_info("          %s", p->notes.note[i].text);
    for (size_t i = 0; i < p->n_set; i++) {
        const hx_surface_set *const set = &p->set[i];
        if (set->area > 0.0)
            hx_log_info("          set '%s': %.4g %% of its area is on the surface", set->from,
                        100.0 * set->found_area / set->area);
        else
            hx_log_info("          set '%s': %lld of %lld %s are on the surface", set->from,
                        (long long)set->n_found, (long long)set->n_node,
                        hx_noun(set->n_node, "node", "nodes"));
    }
    hx_log_info("quadratic %s, %s %s, %s of memory; %s, %d %s, %.3g s", f->element,
                hx_format_count(f->n_point, b, sizeof b), hx_noun(f->n_point, "point", "points"),
                hx_format_bytes((double)f->bytes, c, sizeof c), f->solver,
                f->analysis.pcg_iterations,
                hx_noun(f->analysis.pcg_iterations, "iteration", "iterations"), f->seconds);
    hx_verify_print_pair(v, name, &v->analysis[HX_VERIFY_SOLID], &f->analysis);
}

/* Warns of large differences between a design and the part made from it. Possible causes are linear
 * elements, and pieces that the surface lacks. */
static void warn_differences(const hx_verify *v, const hx_verify_analysis *design, char *text,
                             size_t n_text)
{
    const int64_t n = v->attached.pieces.n;
    const int is_linear =
        !v->quadratic.requested && v->session.cfg.solver.element == HX_ELEMENT_LINEAR;
    if (!hx_verify_surface_differences(v, design, text, n_text)) return;
    size_t used = strlen(text);
    if (is_linear)
        used += hx_fit(text + used, n_text - used,
                       "; --element quadratic prints how much of it comes from linear elements");
    if (n > 1)
        hx_fit(text + used, n_text - used,
               "; the 0/1 design is in %lld %s, which the surface may lack", (long long)n,
               hx_noun(n, "piece", "pieces"));
}

static void warn_solve(const hx_verify_analysis *a, char *text, size_t n_text)
{
    if (a->reason == HX_PCG_CONVERGED) return;
    snprintf(text, n_text, "the solve of the surface did not converge (%s, |r|/|f| = %.2g)",
             hx_pcg_reason_name(a->reason), a->pcg_residual);
}

const char *hx_verify_warn_surface(const hx_verify *v, size_t i, char *text, size_t n_text)
{
    const hx_verify_analysis *const a =
        v->quadratic.requested ? &v->quadratic.analysis : &v->analysis[HX_VERIFY_SOLID];
    const hx_verify_analysis *const b = &v->surface.analysis;
    const hx_notes *const notes = &v->surface.part.notes;
    text[0] = '\0';
    if (i == 0)
        warn_differences(v, a, text, n_text);
    else if (i == 1)
        warn_solve(b, text, n_text);
    else if (i >= 2 + notes->n)
        return NULL;
    else if (notes->note[i - 2].level == HX_NOTE_WARNING)
        snprintf(text, n_text, "%s", notes->note[i - 2].text);
    return text;
}

void hx_verify_write_surface(hx_json *json, const hx_verify *v)
{
    const hx_verify_surface *const f = &v->surface;
    const hx_surface_part *const p = &f->part;
    hx_json_open_object(json, "surface");
    hx_json_string(json, "file", f->is_made ? NULL : f->path);
    hx_json_integer(json, "triangles", p->surface.n_tri);
    hx_json_integer(json, "pieces", p->surface.n_shell);
    hx_json_number(json, "volume_enclosed", p->surface.volume);
    hx_json_string(json, "mesher", p->mesher);
    hx_json_integer(json, "cells_split", p->cut.n_refine);
    hx_json_string(json, "element", f->element);
    hx_json_integer(json, "elements", p->mesh.n_elem);
    hx_json_integer(json, "points", f->n_point);
    hx_json_number(json, "volume_meshed", p->mesh.total_volume);
    hx_json_number(json, "worst_quality", p->cut.worst);
    hx_json_number(json, "mean_quality", p->cut.mean);
    hx_json_integer(json, "pieces_left_out", p->n_dropped);
    if (f->n_zone > 0) hx_json_number(json, "zones_share", f->zone_share);
    hx_verify_write_edges(json, v);
    hx_verify_write_refined(json, v);
    hx_json_integer(json, "bytes", (int64_t)f->bytes);
    hx_json_number(json, "mesh_seconds", p->seconds);
    hx_json_number(json, "seconds", f->seconds);
    hx_json_open_array(json, "sets");
    for (size_t i = 0; i < p->n_set; i++) {
        const hx_surface_set *const set = &p->set[i];
        hx_json_open_object(json, NULL);
        hx_json_string(json, "set", set->from);
        hx_json_bool(json, "by_nodes", set->by_nodes);
        hx_json_number(json, "area", set->area);
        hx_json_number(json, "area_found", set->found_area);
        hx_json_integer(json, "nodes", set->n_node);
        hx_json_integer(json, "nodes_found", set->n_found);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
    hx_verify_write_analysis(json, v, "analysis", &f->analysis);
    hx_verify_write_differences(json, v, &v->analysis[HX_VERIFY_SOLID], &f->analysis);
    hx_json_close_object(json);
}
