#include "verify.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../output/output.h"
#include "../result/solid_design.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/sum.h"
#include "core/files/vtk.h"

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
        v->quadratic.requested = i != HX_VERIFY_LINEAR;
        v->quadratic.solid_only = i == HX_VERIFY_QUADRATIC_SOLID;
        return HX_OK;
    }
    return HX_RAISE(HX_EINPUT, "--element: unknown '%s'%s", text,
                    hx_name_hint(text, valid, HX_N_VERIFY_ELEMENT, hint, sizeof hint));
}

static int read_made(const char *text, hx_verify_made_kind *kind)
{
    const char *valid[HX_N_MADE];
    char hint[128];
    for (size_t i = 0; i < HX_N_MADE; i++) {
        valid[i] = hx_verify_made_word(i);
        *kind = (hx_verify_made_kind)i;
        if (strcmp(text, valid[i]) == 0) return HX_OK;
    }
    return HX_RAISE(HX_EINPUT, "--made: unknown '%s'%s", text,
                    hx_name_hint(text, valid, HX_N_MADE, hint, sizeof hint));
}

static int make_black_white(hx_verify *v)
{
    hx_solid_design design;
    HX_TRY(hx_solid_design_create(&design, &v->session, v->result, v->threshold, v->preserve));
    v->density = design.density;
    v->black_white = design.black_white;
    v->is_solid = design.is_solid;
    v->part = design.part;
    v->threshold = design.threshold;
    v->n_missing = design.n_missing;
    v->origin = design.origin;
    hx_result_origin_excuse(&v->origin, v->n_override, v->override);
    v->n_solid = design.n_solid;
    v->n_filled = design.n_filled;
    v->volume = design.volume;
    return HX_OK;
}

int hx_verify_locate(hx_verify *v, const hx_options *options)
{
    const char *const *const argument = options->argument;
    const size_t n = options->n_argument;
    const int has_config = n > 1 && (!strchr(argument[1], '=') || access(argument[1], F_OK) == 0);
    HX_TRY(hx_result_locate(&v->path, argument[0]));
    v->result = v->path.file;
    HX_TRY(hx_verify_find_search(v));
    v->config = has_config ? argument[1] : v->path.config;
    v->override = argument + 1 + has_config;
    v->n_override = n - 1 - (size_t)has_config;
    if (v->config) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "there is no config.cfg beside %s; name the config of the run: hextop verify "
                    "%s CONFIG",
                    v->result, argument[0]);
}

/* The solid elements count. */
static int create_samples(hx_verify *v)
{
    HX_TRY(hx_verify_samples_create(&v->samples, v->session.mesh.n_elem));
    for (int64_t e = 0; e < v->samples.n; e++)
        v->samples.volume[e] = v->is_solid[e] ? v->session.problem.volume[e] : 0.0;
    hx_verify_mark_zones(v, v->samples.is_zone);
    return HX_OK;
}

int hx_verify_open(hx_verify *v, const hx_options *options)
{
    hx_session *s = &v->session;
    hx_verify_made_kind made;
    HX_TRY(read_made(hx_option_text(options, HX_VERIFY_MADE), &made));
    v->surface.path = hx_option_text(options, HX_VERIFY_SURFACE);
    HX_TRY(hx_surface_part_read_options(hx_option_text(options, HX_VERIFY_REFINE),
                                        hx_option_text(options, HX_VERIFY_MESHER),
                                        &v->surface.options));
    const char *const threshold = hx_option_text(options, HX_VERIFY_THRESHOLD),
                      *const tolerance = hx_option_text(options, HX_VERIFY_TOLERANCE),
                      *const limit = hx_option_text(options, HX_VERIFY_LIMIT_TOLERANCE);
    HX_TRY(hx_option_read_number("--threshold", threshold, 1.0, &v->threshold));
    HX_TRY(hx_option_read_number("--tolerance", tolerance, 1e6, &v->tolerance));
    HX_TRY(hx_option_read_number("--limit-tolerance", limit, 1e6, &v->limit_tolerance));
    HX_TRY(hx_preserve_read(hx_option_text(options, HX_VERIFY_PRESERVE), &v->preserve));
    v->threshold_given = !isnan(v->threshold);
    HX_TRY(read_element(v, hx_option_text(options, HX_VERIFY_ELEMENT)));
    s->outputs = &v->outputs;
    HX_TRY(hx_config_read(&s->cfg, v->config, v->n_override, v->override));
    hx_config_solve_by_residual(&s->cfg);
    if (v->quadratic.solid_only && hx_config_is_heat(&s->cfg))
        return HX_RAISE(HX_EINPUT, "--element quadratic-solid leaves out void, through which heat "
                                   "flows, too: use --element quadratic with physics = \"heat\"");
    if (v->surface.path && hx_config_is_heat(&s->cfg))
        return HX_RAISE(HX_EINPUT, "--surface does not support physics = \"heat\"");
    if (v->quadratic.requested) {
        s->own_element = 1 + (int)s->cfg.solver.element;
        /* because the design is compared with linear elements */
        s->cfg.solver.element = HX_ELEMENT_LINEAR;
    }
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_session_make_problem(s));
    HX_TRY(hx_verify_take_search(v));
    if (v->surface.path) HX_TRY(hx_verify_open_surface(v));
    HX_TRY(make_black_white(v));
    HX_TRY(hx_verify_open_made(v, made));
    /* Finds the pieces of the solid, and the piece of each node. */
    HX_TRY(hx_verify_count_pieces(v));
    HX_TRY(hx_verify_measure_thickness(v));
    HX_TRY(hx_attached_create(&v->attached, &v->session, v->is_solid));
    if (s->limits.n > 0) HX_TRY(hx_attached_find_held(&v->attached));
    HX_TRY(hx_session_open_device(s));
    HX_TRY(hx_session_make_solver(s));
    HX_TRY(hx_alloc_raw(&v->u, (size_t)s->problem.components * (size_t)s->space.n_point,
                        sizeof *v->u, "displacements"));
    if (hx_config_is_heat(&s->cfg))
        HX_TRY(hx_alloc_raw(&v->flux, 3 * (size_t)s->mesh.n_elem, sizeof *v->flux, "heat fluxes"));
    HX_TRY(hx_alloc_raw(&v->modulus, (size_t)s->mesh.n_elem, sizeof *v->modulus, "moduli"));
    HX_TRY(hx_alloc_raw(&v->stress, (size_t)s->mesh.n_elem, sizeof *v->stress, "stresses"));
    return hx_config_is_heat(&s->cfg) ? HX_OK : create_samples(v);
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
    peak->place = (hx_place){HX_AT_ELEMENT, hx_mesh_elem_number(mesh, best), 0};
    hx_mesh_centroid(mesh, best, peak->point);
}

static int keep_fields(hx_verify *v, int c)
{
    const hx_mesh *mesh = &v->session.mesh;
    double *u = NULL;
    float *stress = NULL;
    char name[64];
    if (hx_config_is_heat(&v->session.cfg)) {
        double *t = NULL;
        float *flux = NULL;
        HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_POINT, HX_VTK_F64, 1,
                             hx_fields_case_name("temperature", c, name, sizeof name), &t));
        memcpy(t, v->u, (size_t)mesh->n_node * sizeof *t);
        HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 3,
                             hx_fields_case_name("heat_flux", c, name, sizeof name), &flux));
        memcpy(flux, v->flux, 3 * (size_t)mesh->n_elem * sizeof *flux);
        return HX_OK;
    }
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_POINT, HX_VTK_F64, 3,
                         hx_fields_case_name("displacement", c, name, sizeof name), &u));
    memcpy(u, v->u, 3 * (size_t)mesh->n_node * sizeof *u);
    HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1,
                         hx_fields_case_name("von_mises", c, name, sizeof name), &stress));
    memcpy(stress, v->stress, (size_t)mesh->n_elem * sizeof *stress);
    return HX_OK;
}

/* Finds the peaks of all cases from the optimizer's displacements. */
static int find_peaks(hx_verify *v, hx_verify_analysis *a, int with_fields)
{
    hx_session *s = &v->session;
    HX_TRY(hx_analysis_modulus(&s->analysis, v->modulus));
    if (v->samples.n > 0)
        memset(v->samples.load_case, 0, (size_t)v->samples.n * sizeof *v->samples.load_case);
    for (int c = 0; c < s->problem.cases.n; c++) {
        HX_TRY(hx_analysis_point_displacement(&s->analysis, c, v->u));
        if (hx_config_is_heat(&s->cfg))
            hx_verify_find_fluxes(&s->problem, v->modulus, v->u, v->flux, v->stress);
        else
            hx_output_von_mises(&s->problem, v->modulus, v->u, v->stress);
        const uint8_t *const is_counted = hx_config_is_heat(&s->cfg) ? NULL : v->is_solid;
        hx_verify_offer_displacement(&s->space, &s->mesh, NULL, NULL, is_counted,
                                     s->problem.components, c + 1, v->u, &a->displacement);
        HX_TRY(hx_space_leave_nodes(&s->space, s->problem.components, v->u));
        find_stress(v, c + 1, &a->stress);
        for (int64_t e = 0; e < v->samples.n; e++)
            hx_verify_samples_offer(&v->samples, e, c + 1, v->stress[e]);
        if (with_fields) HX_TRY(keep_fields(v, c));
    }
    if (v->samples.n == 0) return HX_OK;
    return hx_verify_samples_judge(&v->samples, &s->mesh, 0, &a->stresses);
}

/* counted[n_elem]: the densities that count as mass. */
static int analyse_density(hx_verify *v, const double *density, const double *counted,
                           hx_verify_analysis *a, int with_fields)
{
    hx_session *s = &v->session;
    const size_t n_case = (size_t)s->problem.cases.n;
    /* as in the result file */
    static const hx_least_volume any = {.most = {.first = {INFINITY, 0.0}}};
    const hx_optimizer_params params = {.least = &any};
    hx_iteration record;
    HX_TRY(hx_alloc(&a->case_compliance, n_case, sizeof *a->case_compliance, "load cases"));
    /* The file contains physical densities, so nothing is filtered or projected. The filter
     * keeps the densities of passive elements, so a new one is made for each analysis. */
    const hx_filter_params none = {.design = &s->design};
    s->design.penalty =
        (hx_schedule){.value = s->design.penalty.last, .last = s->design.penalty.last};
    s->design.beta = (hx_schedule){0};
    s->design.erosion = s->design.dilation = 0.0;
    s->design.analyses_all = 0;
    /* the update, whose proposal is not used, needs a volume */
    if (!(s->design.volume_fraction > 0.0)) s->design.volume_fraction = 1.0;
    hx_filter_free(&s->filter);
    HX_TRY(hx_filter_create(&s->filter, hx_filter_find("none"), &s->device, &s->problem, &none));
    HX_TRY(hx_analysis_create(&s->analysis, &s->solver.op, &s->solver.pc, &s->solver.pcg, 0));
    HX_TRY(hx_optimizer_create(&s->opt, &params, &s->analysis, &s->filter, density));
    HX_TRY(hx_optimizer_step(&s->opt, &record)); /* the proposed design is not used */
    a->compliance = record.compliance;
    a->reason = record.reason;
    a->pcg_iterations = record.pcg_iterations;
    a->pcg_residual = record.pcg_residual;
    for (size_t c = 0; c < n_case; c++) a->case_compliance[c] = record.load_case[c].compliance;
    HX_TRY(hx_verify_find_mass(&s->problem, counted, &a->mass));
    HX_TRY(hx_verify_find_limits(v, &s->analysis, s->limits.spec, counted, a));
    HX_TRY(find_peaks(v, a, with_fields));
    hx_optimizer_free(&s->opt);
    hx_analysis_free(&s->analysis);
    return HX_OK;
}

/* Void counts as no mass. */
static int analyse_black_white(hx_verify *v, hx_verify_analysis *solid, int with_fields)
{
    const int64_t n = v->session.mesh.n_elem;
    double *counted;
    HX_TRY(hx_alloc_raw(&counted, (size_t)n, sizeof *counted, "densities"));
    for (int64_t e = 0; e < n; e++) counted[e] = v->is_solid[e] ? 1.0 : 0.0;
    const int rc = analyse_density(v, v->black_white, counted, solid, with_fields);
    free(counted);
    return rc;
}

int hx_verify_analyse(hx_verify *v, int with_fields)
{
    hx_problem *problem = &v->session.problem;
    const int64_t n = v->session.mesh.n_elem;
    v->with_fields = with_fields;
    hx_verify_analysis *const grey = &v->analysis[HX_VERIFY_GREY];
    hx_verify_analysis *const solid = &v->analysis[HX_VERIFY_SOLID];
    /* Volume fraction of the weights weight[e]. */
    grey->volume = hx_dot(n, problem->volume, v->density) / hx_sum(n, problem->volume);
    solid->volume = v->volume / hx_sum(n, problem->volume);
    HX_TRY(analyse_density(v, v->density, v->density, grey, 0));
    for (int64_t e = 0; e < n; e++)
        /* otherwise the filter would keep the grey density of a passive element */
        if (problem->passive.density && !isnan(problem->passive.density[e]))
            problem->passive.density[e] = v->black_white[e];
    if (with_fields) {
        const hx_mesh *mesh = &v->session.mesh;
        double *density = NULL, *black_white = NULL;
        int32_t *piece = NULL;
        const size_t n_elem = (size_t)mesh->n_elem;
        HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_F64, 1, "density", &density));
        HX_TRY(
            hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_F64, 1, "density01", &black_white));
        HX_TRY(hx_fields_add(&v->fields, mesh, HX_VTK_CELL, HX_VTK_I32, 1, "piece", &piece));
        memcpy(density, v->density, n_elem * sizeof *density);
        memcpy(black_white, v->black_white, n_elem * sizeof *black_white);
        for (size_t e = 0; e < n_elem; e++) piece[e] = v->attached.pieces.of[e] + 1;
    }
    HX_TRY(analyse_black_white(v, solid, with_fields));
    HX_TRY(hx_verify_find_shares(v, solid));
    if (v->quadratic.requested) HX_TRY(hx_verify_analyse_quadratic(v));
    return v->surface.path ? hx_verify_excuse_made(v, hx_verify_analyse_surface(v)) : HX_OK;
}

double hx_verify_filled_force(const hx_verify *v, int load_case)
{
    double all = 0.0, filled = 0.0;
    for (int64_t i = 0; i < hx_space_n_nodal(&v->session.space); i++) {
        const double size = hx_attached_force(&v->session, load_case, i);
        all += size;
        if (size > 0.0 && hx_attached_state(&v->attached, i) != HX_NODE_VOID &&
            !hx_part_is_grown(&v->part, &v->session.space, v->density, v->threshold, i))
            filled += size;
    }
    return all > 0.0 ? filled / all : 0.0;
}

static void free_analysis(hx_verify_analysis *a)
{
    free(a->case_compliance);
    free(a->limit);
    free(a->share);
}

void hx_verify_free(hx_verify *v)
{
    for (int i = 0; i < HX_N_VERIFY; i++) free_analysis(&v->analysis[i]);
    free_analysis(&v->quadratic.analysis);
    free_analysis(&v->surface.analysis);
    hx_verify_surface_free(&v->surface);
    hx_fields_free(&v->fields);
    for (size_t i = 0; i < v->n_warning; i++) free(v->warning[i]);
    hx_part_free(&v->part);
    hx_attached_free(&v->attached);
    free(v->density);
    free(v->black_white);
    free(v->is_solid);
    free(v->u);
    free(v->modulus);
    free(v->stress);
    free(v->flux);
    hx_verify_samples_free(&v->samples);
    hx_session_free(&v->session);
    hx_result_path_free(&v->path);
    free(v->search);
    memset(v, 0, sizeof *v);
}
