#include "analyse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../diag/diag.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/sum.h"
#include "core/base/vec3.h"

/* Default tolerance of |r| / |f|. Stresses need a smaller one than the designs for which the
 * config's tolerance is meant. */
static const double tolerance = 1e-10;

/* --- the analysed densities --- */

static int read_options(hx_analyse *a, const hx_options *options)
{
    const char *const threshold = hx_option_text(options, HX_ANALYSE_THRESHOLD);
    const char *const named = hx_option_text(options, HX_ANALYSE_DENSITY);
    if (named) HX_TRY(hx_result_locate(&a->path, named));
    HX_TRY(hx_output_names_check_result(&a->outputs, &a->path));
    HX_TRY(hx_output_names_check(&a->outputs));
    a->result = a->path.file;
    HX_TRY(hx_option_read_number("--threshold", threshold, 1.0, &a->threshold));
    HX_TRY(hx_preserve_read(hx_option_text(options, HX_ANALYSE_PRESERVE), &a->preserve));
    HX_TRY(hx_option_read_integer("--modes", hx_option_text(options, HX_ANALYSE_MODES), 1,
                                  HX_MOST_MODES, &a->modes.n));
    a->threshold_given = !isnan(a->threshold);
    a->solid_only = hx_option_given(options, HX_ANALYSE_SOLID_ONLY);
    a->is_black_white =
        a->solid_only || a->threshold_given || hx_option_given(options, HX_ANALYSE_BLACK_WHITE);
    if (a->result) return HX_OK;
    if (a->is_black_white || hx_option_given(options, HX_ANALYSE_PRESERVE))
        return HX_RAISE(HX_EINPUT,
                        "%s applies to the densities of a result: name the result with --density",
                        a->solid_only        ? "--solid-only"
                        : a->threshold_given ? "--threshold"
                        : a->is_black_white  ? "--black-white"
                                             : "--preserve");
    return HX_OK;
}

/* Modes converge in few iterations only with multigrid, on meshes of any size. */
static int choose_precond_of_modes(hx_session *s)
{
    char **const precond = &s->cfg.solver.preconditioner;
    if (!hx_config_is_auto(*precond) || s->cfg.solver.precision == HX_PRECISION_MIXED) return HX_OK;
    return hx_config_set_word(precond, "multigrid");
}

static int read_analysis_config(hx_session *s, const hx_options *options)
{
    HX_TRY(hx_config_read(&s->cfg, options->argument[0], options->n_argument - 1,
                          options->argument + 1));
    hx_config_solve_by_residual(&s->cfg);
    if (s->cfg.solver.criterion == HX_PCG_RELATIVE)
        s->cfg.solver.tolerance = fmin(s->cfg.solver.tolerance, tolerance);
    return hx_option_given(options, HX_ANALYSE_MODES) ? choose_precond_of_modes(s) : HX_OK;
}

static int make_densities(hx_analyse *a)
{
    const hx_session *s = a->session;
    const int64_t n = s->mesh.n_elem;
    HX_TRY(hx_alloc_raw(&a->rho, (size_t)n, sizeof *a->rho, "densities"));
    HX_TRY(hx_alloc_raw(&a->is_counted, (size_t)n, 1, "elements"));
    HX_TRY(hx_alloc(&a->counted_node, (size_t)s->mesh.n_node, 1, "nodes"));
    /* Gives solid elements density 1; passive elements keep their density. */
    hx_problem_solid_density(&s->problem, a->rho);
    for (int64_t e = 0; e < n; e++) {
        if (a->result && !a->solid_only)
            a->rho[e] = a->is_black_white ? a->design.black_white[e]
                                          : fmax(a->design.density[e], s->design.rho_min);
        a->is_counted[e] = a->result && !a->solid_only ? a->design.is_solid[e] : a->rho[e] > 0.1;
        a->n_counted += a->is_counted[e];
        for (int i = 0; a->is_counted[e] && i < 8; i++)
            a->counted_node[s->mesh.conn[8 * e + i]] = 1;
    }
    a->volume = hx_dot(n, s->problem.volume, a->rho);
    a->mass = a->volume;
    if (s->problem.materials.n > 0) HX_TRY(hx_problem_mass_volume(&s->problem, a->rho, &a->mass));
    a->mass *= s->cfg.material.density;
    return HX_OK;
}

static int make_arrays(hx_analyse *a)
{
    const hx_session *s = a->session;
    const size_t n = (size_t)s->problem.components * (size_t)s->space.n_point;
    const size_t n_case = (size_t)s->problem.cases.n;
    HX_TRY(hx_alloc(&a->load_case, n_case, sizeof *a->load_case, "load cases"));
    for (size_t c = 0; c < n_case; c++) {
        HX_TRY(hx_alloc(&a->load_case[c].support, s->cfg.supports.n, sizeof(hx_analyse_sum),
                        "reactions"));
        HX_TRY(hx_alloc(&a->load_case[c].spring_of, s->cfg.springs.n, sizeof(hx_analyse_sum),
                        "reactions"));
    }
    HX_TRY(hx_alloc_raw(&a->u, n, sizeof *a->u, "displacements"));
    HX_TRY(hx_alloc_raw(&a->reaction, n, sizeof *a->reaction, "reactions"));
    return hx_alloc_raw(&a->modulus, (size_t)s->mesh.n_elem, sizeof *a->modulus, "moduli");
}

int hx_analyse_open(hx_analyse *a, const hx_options *options)
{
    hx_session *s = &a->whole;
    a->session = s;
    s->outputs = &a->outputs;
    HX_TRY(read_options(a, options));
    HX_TRY(read_analysis_config(s, options));
    HX_TRY(hx_session_make_mesh(s));
    if (a->modes.n > 0) s->lacking = &a->lacking;
    HX_TRY(hx_session_make_problem(s));
    s->lacking = NULL;
    if (a->result) {
        HX_TRY(hx_solid_design_create(&a->design, s, a->result, a->threshold, a->preserve));
        hx_result_origin_excuse(&a->design.origin, options->n_argument - 1, options->argument + 1);
    }
    if (a->solid_only) {
        s = a->session = &a->solid;
        HX_TRY(read_analysis_config(s, options));
        /* the operator that was selected for the whole part */
        HX_TRY(hx_config_set_word(&s->cfg.solver.op, a->whole.cfg.solver.op));
        HX_TRY(hx_solid_session_make(s, &a->whole, &a->design, 0));
    }
    HX_TRY(make_densities(a));
    /* Warns of loads and supports that act only on void, like `check`. */
    hx_diags diags = {0};
    if (a->lacking.n == 0) hx_diag_loads(&diags, s);
    hx_diags_free(&diags);
    HX_TRY(hx_session_open_device(s));
    HX_TRY(hx_session_make_solver(s));
    return make_arrays(a);
}

const char *hx_analyse_design_name(const hx_analyse *a)
{
    if (!a->result) return "as it is";
    return a->solid_only ? "0/1, only the solid" : a->is_black_white ? "0/1" : "grey";
}

/* --- a case --- */

/* Keeps the value if it exceeds that of the peak. number: number of the element if point > 0,
 * otherwise of the node. */
static void offer_peak(hx_analyse_peak *peak, double value, int64_t number, int point,
                       const double x[3])
{
    if (peak->is_set && !(value > peak->value)) return;
    const hx_place place = {point ? HX_AT_ELEMENT : HX_AT_NODE, number, 0};
    *peak = (hx_analyse_peak){1, value, place, point, {x[0], x[1], x[2]}};
}

/* Finds the largest value of sign * u over all points of the counted cells (NULL: all). */
static void find_extreme(const hx_analyse *a, const uint8_t *is_counted, double sign,
                         hx_analyse_peak *peak)
{
    const hx_session *const s = a->session;
    hx_space_largest found;
    hx_space_find_largest(&s->space, is_counted, s->problem.components, sign, a->u, &found);
    if (!found.is_set) return;
    *peak = (hx_analyse_peak){.is_set = 1, .value = found.value};
    peak->place = hx_place_of(&found, &s->mesh, NULL, NULL);
    memcpy(peak->x, found.x, sizeof peak->x);
}

static void find_displacement(const hx_analyse *a, hx_analyse_case *of)
{
    if (!hx_problem_is_heat(&a->session->problem)) {
        find_extreme(a, a->is_counted, 1.0, &of->peak[HX_PEAK_DISPLACEMENT]);
        return;
    }
    /* the analysed part includes void */
    find_extreme(a, NULL, 1.0, &of->peak[HX_PEAK_DISPLACEMENT]);
    find_extreme(a, NULL, -1.0, &of->peak[HX_PEAK_COMPRESSION]);
}

/* Principal stresses differ from the mean stress by at most 2/3 of the von Mises stress, so only
 * few have to be computed. */
static void offer_principal(hx_analyse_case *of, const double *stress, double von_mises,
                            int64_t number, int point, const double x[3])
{
    hx_analyse_peak *const most = &of->peak[HX_PEAK_TENSION];
    hx_analyse_peak *const least = &of->peak[HX_PEAK_COMPRESSION]; /* of the negative */
    const double mean = (stress[0] + stress[1] + stress[2]) / 3.0;
    const double reach = von_mises * (2.0 / 3.0) * (1.0 + 1e-9);
    double principal[3];
    if (most->is_set && mean + reach <= most->value && reach - mean <= least->value) return;
    hx_principal_stresses(stress, principal);
    offer_peak(most, principal[0], number, point, x);
    offer_peak(least, -principal[2], number, point, x);
}

typedef struct seen {
    hx_analyse *a;
    int load_case;
    float *largest; /* [n_elem] mean over the points of each cell, for the file; or NULL */
    FILE *points;
} seen;

static double size_of(const hx_analyse *a, const double *value)
{
    return hx_problem_is_heat(&a->session->problem) ? hx_norm3(value) : hx_von_mises(value);
}

/* Adds n cells to the peaks, nodal means, energy and the table of Gauss points. */
static int see(void *context, int64_t first, int64_t n, const hx_cell_stress *cell)
{
    seen *const s = context;
    hx_analyse *const a = s->a;
    hx_analyse_case *const of = &a->load_case[s->load_case];
    const int is_heat = hx_problem_is_heat(&a->session->problem);
    for (int64_t k = 0; k < n; k++) {
        const int64_t e = first + k, number = hx_mesh_elem_number(&a->session->mesh, e);
        double largest = 0.0;
        of->strain_energy += 0.5 * hx_stress_work(&a->stress, &cell[k], a->modulus[e]);
        for (int q = 0; q < cell[k].n; q++) {
            const double *const x = cell[k].x[q], size = size_of(a, cell[k].value[q]);
            largest = fmax(largest, size);
            if (!a->is_counted[e]) continue;
            offer_peak(&of->peak[HX_PEAK_VON_MISES], size, number, q + 1, x);
            if (!is_heat) offer_principal(of, cell[k].value[q], size, number, q + 1, x);
        }
        if (s->largest) s->largest[e] = (float)largest;
    }
    hx_nodal_stress_add(&a->nodal, first, n, cell);
    if (s->points) hx_analyse_write_points(a, s->load_case, first, n, cell, s->points);
    return HX_OK;
}

static int add_field(hx_analyse *a, const char *name, int c, hx_vtk_where where, hx_vtk_type type,
                     int n, void *data)
{
    char text[64];
    return hx_fields_add(&a->fields, &a->session->mesh, where, type, n,
                         hx_fields_case_name(name, c, text, sizeof text), data);
}

static int keep_fields(hx_analyse *a, int c)
{
    const hx_space *const space = &a->session->space;
    const int64_t n = a->session->mesh.n_node;
    double *u = NULL, *stress = NULL, *principal = NULL, *reaction = NULL;
    float *von_mises = NULL;
    if (hx_problem_is_heat(&a->session->problem)) {
        const size_t n_node = (size_t)a->session->mesh.n_node;
        double *t = NULL, *flux = NULL, *flow = NULL;
        HX_TRY(add_field(a, "temperature", c, HX_VTK_POINT, HX_VTK_F64, 1, &t));
        HX_TRY(add_field(a, "heat_flux", c, HX_VTK_POINT, HX_VTK_F64, 3, &flux));
        hx_space_at_nodes(space, 1, a->u, t);
        memcpy(flux, a->nodal.value, 3 * n_node * sizeof *flux);
        /* the reactions belong to control points, not to nodes */
        if (space->element == HX_ELEMENT_SPLINE) return HX_OK;
        HX_TRY(add_field(a, "heat_flow", c, HX_VTK_POINT, HX_VTK_F64, 1, &flow));
        memcpy(flow, a->reaction, n_node * sizeof *flow);
        return HX_OK;
    }
    HX_TRY(add_field(a, "displacement", c, HX_VTK_POINT, HX_VTK_F64, 3, &u));
    HX_TRY(add_field(a, "stress", c, HX_VTK_POINT, HX_VTK_F64, HX_STRESS_COMPONENTS, &stress));
    HX_TRY(add_field(a, "von_mises", c, HX_VTK_POINT, HX_VTK_F32, 1, &von_mises));
    HX_TRY(add_field(a, "principal", c, HX_VTK_POINT, HX_VTK_F64, 3, &principal));
    hx_space_at_nodes(space, 3, a->u, u);
    memcpy(stress, a->nodal.value, HX_STRESS_COMPONENTS * (size_t)n * sizeof *stress);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n; k++) {
        hx_principal_stresses(stress + HX_STRESS_COMPONENTS * k, principal + 3 * k);
        von_mises[k] = (float)hx_von_mises(stress + HX_STRESS_COMPONENTS * k);
    }
    if (space->element == HX_ELEMENT_SPLINE) return HX_OK; /* control points have it */
    HX_TRY(add_field(a, "reaction", c, HX_VTK_POINT, HX_VTK_F64, 3, &reaction));
    memcpy(reaction, a->reaction, 3 * (size_t)n * sizeof *reaction);
    return HX_OK;
}

static int see_case(hx_analyse *a, int c, FILE *points)
{
    hx_session *const s = a->session;
    hx_analyse_case *const of = &a->load_case[c];
    seen context = {.a = a, .load_case = c, .points = points};
    const double begin = hx_clock();
    of->compliance = s->analysis.load_case[c].compliance;
    of->pcg = s->analysis.load_case[c].pcg;
    HX_TRY(hx_analysis_point_displacement(&s->analysis, c, a->u));
    HX_TRY(hx_analyse_sum_forces(a, c));
    if (hx_problem_is_heat(&s->problem))
        for (int64_t p = 0; p < s->space.n_point; p++) a->u[p] += s->problem.reference;
    if (a->with_fields)
        HX_TRY(add_field(
            a, hx_problem_is_heat(&s->problem) ? "heat_flux_largest" : "von_mises_largest", c,
            HX_VTK_CELL, HX_VTK_F32, 1, &context.largest));
    find_displacement(a, of);
    hx_stress_select(&a->stress, c);
    hx_nodal_stress_begin(&a->nodal);
    HX_TRY(hx_stress_each(&a->stress, a->modulus, a->u, see, &context));
    hx_nodal_stress_finish(&a->nodal);
    const hx_mesh *mesh = &a->session->mesh;
    for (int64_t k = 0; k < mesh->n_node; k++)
        if (a->counted_node[k])
            offer_peak(&of->peak[HX_PEAK_NODE],
                       size_of(a, a->nodal.value + a->nodal.n_component * k),
                       hx_mesh_node_number(mesh, k), 0, mesh->xyz + 3 * k);
    a->seconds[1] += hx_clock() - begin;
    if (!isfinite(of->compliance) || !isfinite(of->strain_energy))
        return HX_RAISE(HX_ENUMERIC,
                        "case %d: the solve returned displacements that are not finite (PCG: "
                        "%s): " HX_NOT_FINITE_REMEDY,
                        c + 1, hx_pcg_reason_name(of->pcg.reason));
    return a->with_fields ? keep_fields(a, c) : HX_OK;
}

static int add_density(hx_analyse *a)
{
    double *density = NULL;
    HX_TRY(hx_fields_add(&a->fields, &a->session->mesh, HX_VTK_CELL, HX_VTK_F64, 1, "density",
                         &density));
    memcpy(density, a->rho, (size_t)a->session->mesh.n_elem * sizeof *density);
    return HX_OK;
}

/* K of the densities, without a solve. */
static int set_stiffness(hx_analyse *a)
{
    hx_session *const s = a->session;
    hx_problem_modulus(&s->problem, s->design.penalty.last, a->rho, a->modulus);
    HX_TRY(hx_operator_set_modulus(&s->solver.op, a->modulus));
    return hx_precond_setup(&s->solver.pc);
}

int hx_analyse_find_modes(hx_analyse *a)
{
    hx_session *const s = a->session;
    if (a->modes.n == 0) return HX_OK;
    return hx_modes_find(&a->modes, &s->solver.op, &s->solver.pc, a->rho,
                         a->with_fields ? &a->fields : NULL);
}

int hx_analyse_solve(hx_analyse *a, int with_fields, FILE *points)
{
    hx_session *const s = a->session;
    const double begin = hx_clock();
    a->with_fields = with_fields;
    if (with_fields) HX_TRY(add_density(a));
    if (a->lacking.n > 0) return set_stiffness(a);
    HX_TRY(hx_analysis_create(&s->analysis, &s->solver.op, &s->solver.pc, &s->solver.pcg, 0));
    HX_TRY(hx_analysis_solve_density(&s->analysis, a->rho, s->design.penalty.last));
    HX_TRY(hx_analysis_compliance(&s->analysis, &a->compliance));
    HX_TRY(hx_analysis_modulus(&s->analysis, a->modulus));
    a->seconds[0] = hx_clock() - begin;
    hx_stress_create(&a->stress, &s->problem);
    HX_TRY(hx_nodal_stress_create(&a->nodal, &a->stress, a->modulus));
    if (points) hx_analyse_write_head(a, points);
    for (int c = 0; c < s->problem.cases.n; c++) HX_TRY(see_case(a, c, points));
    return HX_OK;
}

void hx_analyse_free(hx_analyse *a)
{
    for (int c = 0; a->load_case && c < a->session->problem.cases.n; c++) {
        free(a->load_case[c].support);
        free(a->load_case[c].spring_of);
    }
    for (size_t i = 0; i < a->n_warning; i++) free(a->warning[i]);
    hx_notes_free(&a->lacking);
    free(a->load_case);
    free(a->rho);
    free(a->modulus);
    free(a->is_counted);
    free(a->counted_node);
    hx_result_path_free(&a->path);
    free(a->u);
    free(a->reaction);
    hx_fields_free(&a->fields);
    hx_nodal_stress_free(&a->nodal);
    hx_solid_design_free(&a->design);
    hx_session_free(&a->solid);
    hx_session_free(&a->whole);
    memset(a, 0, sizeof *a);
}
