#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/output.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/sum.h"
#include "core/base/vec3.h"
#include "core/files/result_match.h"
#include "core/files/vtk.h"

/* A number above 0, of an option; NaN if it was not given. */
static int read_number(const char *name, const char *text, double most, double *value)
{
    char *end = NULL;
    *value = (double)NAN;
    if (!text) return HX_OK;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value > 0.0 && *value <= most) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s '%s' is not a number above 0 and at most %g", name, text, most);
}

const char *hx_verify_element_word(size_t i)
{
    static const char *const word[HX_N_VERIFY_ELEMENT] = {"linear", "quadratic", "quadratic-solid"};
    return i < HX_N_VERIFY_ELEMENT ? word[i] : NULL;
}

static int read_element(hx_verify *v, const char *text)
{
    const char *valid[HX_N_VERIFY_ELEMENT];
    char hint[128];
    for (size_t i = 0; i < HX_N_VERIFY_ELEMENT; i++) {
        valid[i] = hx_verify_element_word(i);
        if (strcmp(text, valid[i]) != 0) continue;
        v->quadratic.asked = i != HX_VERIFY_LINEAR;
        v->quadratic.solid_only = i == HX_VERIFY_QUADRATIC_SOLID;
        return HX_OK;
    }
    return HX_RAISE(HX_EINPUT, "--element: unknown '%s'%s", text,
                    hx_name_hint(text, valid, HX_N_VERIFY_ELEMENT, hint, sizeof hint));
}

static int read_options(hx_verify *v, const hx_options *options)
{
    const char *const threshold = hx_option_text(options, HX_VERIFY_THRESHOLD),
                      *const tolerance = hx_option_text(options, HX_VERIFY_TOLERANCE);
    HX_TRY(read_number("--threshold", threshold, 1.0, &v->threshold));
    HX_TRY(read_number("--tolerance", tolerance, 1e6, &v->tolerance));
    HX_TRY(hx_preserve_read(hx_option_text(options, HX_VERIFY_PRESERVE), &v->preserve));
    v->threshold_given = !isnan(v->threshold);
    return read_element(v, hx_option_text(options, HX_VERIFY_ELEMENT));
}

/* The file holds physical densities: nothing is filtered or projected. The filter keeps the
 * densities of passive elements, so it is made for each analysis. */
static int make_filter(hx_session *s)
{
    static const hx_filter_params params = {0};
    hx_filter_free(&s->filter);
    return hx_filter_create(&s->filter, hx_filter_find("none"), &s->device, &s->problem, &params);
}

static int read_densities(hx_verify *v)
{
    const hx_session *s = &v->session;
    const int64_t n = s->mesh.n_elem;
    hx_result_match match;
    HX_TRY(hx_alloc_raw(&v->density, (size_t)n, sizeof *v->density, "densities"));
    HX_TRY(hx_result_read(v->result, "density", &s->mesh, s->problem.rho_min, s->problem.rho_min,
                          v->density, &match));
    v->n_missing = match.n_missing;
    for (int64_t e = 0; e < n; e++)
        if (!(v->density[e] >= 0.0 && v->density[e] <= 1.0))
            return HX_RAISE(HX_EINPUT, "%s: the density of element %lld is %g, not in [0, 1]",
                            v->result, (long long)hx_mesh_elem_number(&s->mesh, e), v->density[e]);
    return HX_OK;
}

static int is_dense(const hx_verify *v, int64_t e)
{
    return v->part.state[e] != HX_PART_VOID && v->density[e] >= v->threshold;
}

static int make_black_white(hx_verify *v)
{
    const hx_problem *problem = &v->session.problem;
    const int64_t n = v->session.mesh.n_elem;
    HX_TRY(hx_alloc_raw(&v->black_white, (size_t)n, sizeof *v->black_white, "densities"));
    HX_TRY(hx_alloc(&v->is_solid, (size_t)n, sizeof *v->is_solid, "solid elements"));
    HX_TRY(hx_part_create(&v->part, &v->session, v->density, v->preserve));
    if (!v->threshold_given)
        HX_TRY(hx_part_threshold(&v->part, &v->session, v->density, &v->threshold));
    double largest = 0.0;
    for (int64_t e = 0; e < n; e++) {
        largest = fmax(largest, v->density[e]);
        v->is_solid[e] = v->part.state[e] == HX_PART_SOLID || is_dense(v, e);
        v->n_solid += v->is_solid[e];
        v->n_filled += v->is_solid[e] && !is_dense(v, e);
        if (v->is_solid[e]) v->volume += problem->volume[e];
        v->black_white[e] = v->is_solid[e] ? 1.0 : problem->rho_min;
    }
    if (v->n_solid > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: no element has a density of %g, the largest is %.4g", v->result,
                    v->threshold, largest);
}

/* What each node hangs on. */
static int make_pieces(hx_verify *v)
{
    const hx_mesh *mesh = &v->session.mesh;
    const double *volume = v->session.problem.volume;
    hx_pieces faces;
    HX_TRY(hx_pieces_create(&faces, mesh, v->is_solid, volume, HX_PIECES_BY_FACES));
    v->n_face_piece = faces.n;
    hx_pieces_free(&faces);
    HX_TRY(hx_pieces_create(&v->pieces, mesh, v->is_solid, volume, HX_PIECES_BY_NODES));
    HX_TRY(hx_alloc(&v->node, (size_t)mesh->n_node, sizeof *v->node, "nodes"));
    for (int64_t k = 0; k < 8 * mesh->n_elem; k++) {
        const int32_t piece = v->pieces.of[k / 8];
        const uint8_t state = piece < 0 ? HX_NODE_VOID : piece == 0 ? HX_NODE_MAIN : HX_NODE_LOOSE;
        if (state > v->node[mesh->conn[k]]) v->node[mesh->conn[k]] = state;
    }
    return hx_conditions_nodes(mesh, v->session.conditions.n_support, v->session.conditions.support,
                               &v->held);
}

int hx_verify_open(hx_verify *v, const hx_options *options)
{
    hx_session *s = &v->session;
    v->result = options->argument[0];
    HX_TRY(read_options(v, options));
    HX_TRY(hx_config_read(&s->cfg, options->argument[1], options->n_argument - 2,
                          options->argument + 2));
    if (v->quadratic.asked && hx_config_is_heat(&s->cfg))
        return HX_RAISE(HX_EINPUT, "--element quadratic knows no physics = \"heat\": add "
                                   "solver.element=quadratic to the command instead");
    if (v->quadratic.asked)
        s->cfg.solver.element = HX_ELEMENT_LINEAR; /* what it is compared with */
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_session_make_problem(s));
    HX_TRY(read_densities(v));
    HX_TRY(make_black_white(v));
    HX_TRY(make_pieces(v));
    HX_TRY(hx_session_open_device(s));
    HX_TRY(hx_session_make_solver(s));
    HX_TRY(hx_alloc_raw(&v->u, (size_t)s->problem.components * (size_t)s->space.n_point,
                        sizeof *v->u, "displacements"));
    if (hx_config_is_heat(&s->cfg))
        HX_TRY(hx_alloc_raw(&v->flux, 3 * (size_t)s->mesh.n_elem, sizeof *v->flux, "heat fluxes"));
    HX_TRY(hx_alloc_raw(&v->modulus, (size_t)s->mesh.n_elem, sizeof *v->modulus, "moduli"));
    return hx_alloc_raw(&v->stress, (size_t)s->mesh.n_elem, sizeof *v->stress, "stresses");
}

static void find_displacement(const hx_verify *v, int load_case, hx_verify_peak *peak)
{
    const hx_mesh *mesh = &v->session.mesh;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int is_heat = hx_config_is_heat(&v->session.cfg); /* void is a part of it */
        const double size = is_heat ? v->u[a] : hx_norm3(v->u + 3 * a);
        if (v->node[a] == HX_NODE_VOID && !is_heat) continue;
        if (peak->load_case > 0 && !(size > peak->value)) continue;
        peak->value = size;
        peak->load_case = load_case;
        peak->number = hx_mesh_node_number(mesh, a);
        memcpy(peak->point, mesh->xyz + 3 * a, sizeof peak->point);
    }
}

static void find_stress(const hx_verify *v, int load_case, hx_verify_peak *peak)
{
    const hx_mesh *mesh = &v->session.mesh;
    int64_t best = -1;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const double stress = v->stress[e];
        if (!v->is_solid[e] || (peak->load_case > 0 && !(stress > peak->value))) continue;
        peak->value = stress;
        peak->load_case = load_case;
        best = e;
    }
    if (best < 0) return;
    peak->number = hx_mesh_elem_number(mesh, best);
    hx_mesh_centroid(mesh, best, peak->point);
}

static int keep_heat_fields(hx_verify *v, int c)
{
    const hx_mesh *mesh = &v->session.mesh;
    double *t = NULL;
    float *flux = NULL;
    char name[64];
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_POINT, HX_VTK_F64, 1,
                         hx_fields_case_name("temperature", c, name, sizeof name), &t));
    memcpy(t, v->u, (size_t)mesh->n_node * sizeof *t);
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 3,
                         hx_fields_case_name("heat_flux", c, name, sizeof name), &flux));
    memcpy(flux, v->flux, 3 * (size_t)mesh->n_elem * sizeof *flux);
    return HX_OK;
}

static int keep_fields(hx_verify *v, int c)
{
    const hx_mesh *mesh = &v->session.mesh;
    double *u = NULL;
    float *stress = NULL;
    char name[64];
    if (hx_config_is_heat(&v->session.cfg)) return keep_heat_fields(v, c);
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_POINT, HX_VTK_F64, 3,
                         hx_fields_case_name("displacement", c, name, sizeof name), &u));
    memcpy(u, v->u, 3 * (size_t)mesh->n_node * sizeof *u);
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1,
                         hx_fields_case_name("von_mises", c, name, sizeof name), &stress));
    memcpy(stress, v->stress, (size_t)mesh->n_elem * sizeof *stress);
    return HX_OK;
}

static int keep_densities(hx_verify *v)
{
    const hx_mesh *mesh = &v->session.mesh;
    double *density = NULL, *black_white = NULL;
    int32_t *piece = NULL;
    const size_t n = (size_t)mesh->n_elem;
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_F64, 1, "density", &density));
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_F64, 1, "density01", &black_white));
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_I32, 1, "piece", &piece));
    memcpy(density, v->density, n * sizeof *density);
    memcpy(black_white, v->black_white, n * sizeof *black_white);
    for (size_t e = 0; e < n; e++) piece[e] = v->pieces.of[e] + 1;
    return HX_OK;
}

/* Of heat: temperatures from the unknowns, fluxes, and their length for the stress. */
static void find_fluxes(hx_verify *v)
{
    const hx_session *s = &v->session;
    for (int64_t a = 0; a < s->space.n_point; a++) v->u[a] += s->problem.reference;
    hx_output_heat_flux(s, v->modulus, v->u, v->flux);
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        const float *const q = v->flux + 3 * e;
        v->stress[e] = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    }
}

/* Peaks of all cases from the optimizer's displacements. */
static int find_peaks(hx_verify *v, hx_verify_analysis *a, int with_fields)
{
    hx_session *s = &v->session;
    HX_TRY(hx_analysis_modulus(&s->analysis, v->modulus));
    for (int c = 0; c < s->problem.cases.n; c++) {
        HX_TRY(hx_analysis_point_displacement(&s->analysis, c, v->u));
        if (hx_config_is_heat(&s->cfg))
            find_fluxes(v);
        else
            hx_output_von_mises(&s->problem, v->modulus, v->u, v->stress);
        find_displacement(v, c + 1, &a->displacement);
        find_stress(v, c + 1, &a->stress);
        if (with_fields) HX_TRY(keep_fields(v, c));
    }
    return HX_OK;
}

static int analyse(hx_verify *v, const double *density, hx_verify_analysis *a, int with_fields)
{
    hx_session *s = &v->session;
    const size_t n_case = (size_t)s->problem.cases.n;
    static const hx_least_volume any = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}}; /* as the file has */
    const hx_optimizer_params params = {.move = 0.2, .damping = 0.5, .least = &any};
    hx_iteration record;
    HX_TRY(hx_alloc(&a->case_compliance, n_case, sizeof *a->case_compliance, "load cases"));
    HX_TRY(make_filter(s));
    HX_TRY(hx_analysis_create(&s->analysis, &s->op, &s->pc, &s->pcg, 0));
    HX_TRY(hx_optimizer_create(&s->opt, &params, &s->analysis, &s->filter, density));
    HX_TRY(hx_optimizer_step(&s->opt, &record)); /* its proposal is left alone */
    a->compliance = record.compliance;
    a->reason = record.reason;
    a->pcg_iterations = record.pcg_iterations;
    a->pcg_residual = record.pcg_residual;
    for (size_t c = 0; c < n_case; c++) a->case_compliance[c] = record.load_case[c].compliance;
    HX_TRY(find_peaks(v, a, with_fields));
    hx_optimizer_free(&s->opt);
    hx_analysis_free(&s->analysis);
    return HX_OK;
}

/* Volume fraction of weight[e]. */
static double volume_fraction(const hx_verify *v, const double *weight)
{
    const hx_problem *problem = &v->session.problem;
    const int64_t n = v->session.mesh.n_elem;
    return hx_dot(n, problem->volume, weight) / hx_sum(n, problem->volume);
}

int hx_verify_analyse(hx_verify *v, int with_fields)
{
    hx_problem *problem = &v->session.problem;
    const int64_t n = v->session.mesh.n_elem;
    hx_verify_analysis *const grey = &v->analysis[HX_VERIFY_GREY];
    hx_verify_analysis *const solid = &v->analysis[HX_VERIFY_SOLID];
    HX_TRY(analyse(v, v->density, grey, 0));
    for (int64_t e = 0; e < n; e++)
        if (problem->passive.density && !isnan(problem->passive.density[e]))
            problem->passive.density[e] =
                v->black_white[e]; /* which would keep a grey density else */
    if (with_fields) HX_TRY(keep_densities(v));
    HX_TRY(analyse(v, v->black_white, solid, with_fields));
    grey->volume = volume_fraction(v, v->density);
    solid->volume = v->volume / hx_sum(n, problem->volume);
    return v->quadratic.asked ? hx_verify_analyse_quadratic(v) : HX_OK;
}

void hx_verify_set(const hx_verify *v, const char *name, hx_verify_nodes *nodes)
{
    const hx_set *set = name ? hx_mesh_find_set(&v->session.mesh, name) : NULL;
    memset(nodes, 0, sizeof *nodes);
    for (int64_t k = 0; set && k < set->n_node; k++) nodes->n[v->node[set->node[k]]]++;
}

/* Components of a node follow each other in the file's list. */
void hx_verify_file_supports(const hx_verify *v, hx_verify_nodes *nodes)
{
    memset(nodes, 0, sizeof *nodes);
    for (int64_t k = 0; k < v->session.conditions.n_support; k++)
        if (k == 0 || v->held[k] != v->held[k - 1]) nodes->n[v->node[v->held[k]]]++;
}

/* Size of the force at a node, or of the heat. */
static double force_at(const hx_verify *v, int load_case, int64_t node)
{
    const double *const force = v->session.problem.cases.force[load_case];
    return hx_config_is_heat(&v->session.cfg) ? fabs(force[node]) : hx_norm3(force + 3 * node);
}

void hx_verify_loads(const hx_verify *v, int load_case, hx_verify_nodes *nodes)
{
    memset(nodes, 0, sizeof *nodes);
    for (int64_t a = 0; a < v->session.mesh.n_node; a++) {
        const double size = force_at(v, load_case, a);
        if (!(size > 0.0)) continue;
        nodes->n[v->node[a]]++;
        nodes->force[v->node[a]] += size;
    }
}

/* is_grown[n_node] := 1 for nodes of elements that the density makes solid. */
static void mark_dense(const hx_verify *v, uint8_t *is_grown)
{
    const hx_mesh *mesh = &v->session.mesh;
    for (int64_t k = 0; k < 8 * mesh->n_elem; k++)
        if (is_dense(v, k / 8)) is_grown[mesh->conn[k]] = 1;
}

int hx_verify_filled_force(const hx_verify *v, int load_case, double *share)
{
    const int64_t n = v->session.mesh.n_node;
    uint8_t *is_grown = NULL;
    double all = 0.0, filled = 0.0;
    HX_TRY(hx_alloc(&is_grown, (size_t)n, 1, "nodes of dense elements"));
    mark_dense(v, is_grown);
    for (int64_t a = 0; a < n; a++) {
        const double size = force_at(v, load_case, a);
        all += size;
        if (v->node[a] != HX_NODE_VOID && !is_grown[a]) filled += size;
    }
    free(is_grown);
    *share = all > 0.0 ? filled / all : 0.0;
    return HX_OK;
}

double hx_verify_percent(double a, double b)
{
    if (fabs(a) > 0.0) return 100.0 * (b - a) / fabs(a);
    return fabs(b) > 0.0 ? (double)NAN : 0.0;
}

void hx_verify_free(hx_verify *v)
{
    for (int i = 0; i < HX_N_VERIFY; i++) free(v->analysis[i].case_compliance);
    free(v->quadratic.analysis.case_compliance);
    for (size_t i = 0; i < v->n_warning; i++) free(v->warning[i]);
    hx_fields_free(&v->fields);
    hx_part_free(&v->part);
    hx_pieces_free(&v->pieces);
    free(v->density);
    free(v->black_white);
    free(v->is_solid);
    free(v->node);
    free(v->held);
    free(v->u);
    free(v->modulus);
    free(v->stress);
    free(v->flux);
    hx_session_free(&v->session);
    memset(v, 0, sizeof *v);
}
