/* Mesh, problem and design of a session. */
#define _XOPEN_SOURCE 700 /* realpath */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../text/log.h"
#include "../text/table.h"
#include "amount_limits.h"
#include "config_problem.h"
#include "continuation.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/files/result_match.h"
#include "file_material.h"
#include "file_unread.h"
#include "footprint.h"
#include "meant_sets.h"
#include "mesh_input.h"
#include "moved_mesh.h"
#include "result_path.h"
#include "session_internal.h"
#include "solid_limits.h"

/* Replaces a path of the config by the absolute path, so that the resolved config works from any
 * folder. */
static int resolve_file(hx_session *s, const char *key, char **word)
{
    char *path = NULL;
    HX_TRY(hx_config_resolve_path(&s->cfg, *word, &path));
    char *absolute = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
    int rc = HX_OK;
    if (absolute)
        rc = hx_config_set_word(word, absolute);
    else if (errno == ENOENT && word == &s->cfg.mesh.file && hx_model_is_cad(path))
        rc = hx_config_set_word(word, path); /* the mesh of a CAD model may be kept */
    else
        rc = hx_session_blame(s, key,
                              HX_RAISE(HX_EINPUT, "cannot read '%s': %s%s", path, strerror(errno),
                                       word == &s->cfg.mesh.file
                                           ? "; if it was moved, write its new path here, or add "
                                             "mesh.file=PATH to commands that take KEY=VALUE"
                                           : ""));
    free(absolute);
    free(path);
    return rc;
}

/* Splines are analysed as splines unless another element is given. HX_EINPUT: the file is a
 * mesh. */
static int choose_element(hx_session *s)
{
    const int is_spline = s->spline.n_patch > 0;
    if (is_spline && !hx_config_given(&s->cfg, "solver.element")) {
        if (s->own_element) /* the config's element, which a command may replace */
            s->own_element = 1 + (int)HX_ELEMENT_SPLINE;
        else
            s->cfg.solver.element = HX_ELEMENT_SPLINE;
    }
    if (is_spline || s->cfg.solver.element != HX_ELEMENT_SPLINE) return HX_OK;
    return hx_session_blame(
        s, "solver.element",
        HX_RAISE(HX_EINPUT, "\"spline\" belongs to files of splines (G+Smo .xml, MFEM NURBS "
                            ".mesh); a mesh has \"linear\" or \"quadratic\" elements"));
}

/* 1 if an operator of that name supports the config's elements on a possible device. */
static int has_elements(const hx_config *cfg, const char *name)
{
    const int components = hx_config_is_heat(cfg) ? 1 : 3,
              any = hx_config_is_auto(cfg->solver.device);
    for (size_t i = 0; hx_devices[i]; i++) {
        int substituted;
        if (!any && strcmp(cfg->solver.device, hx_devices[i]->name) != 0) continue;
        const hx_operator_kind *const op_kind = hx_operator_kind_of(
            hx_operator_kind_resolve(hx_devices[i]->name, name, &substituted), components);
        if (op_kind && op_kind->space_bytes) return 1;
    }
    return 0;
}

/* An element given on the command line takes precedence over an operator of the config that does
 * not support it: the config of a run names the operator that its own element had. */
static int choose_operator(hx_session *s)
{
    hx_config *const cfg = &s->cfg;
    char place[HX_CONFIG_PLACE];
    if (cfg->solver.element == HX_ELEMENT_LINEAR || hx_config_is_auto(cfg->solver.op)) return HX_OK;
    if (!hx_config_is_argument(cfg, "solver.element") ||
        hx_config_is_argument(cfg, "solver.operator") || has_elements(cfg, cfg->solver.op))
        return HX_OK;
    hx_log_info("operator auto instead of %s (%s), which does not support %s elements",
                cfg->solver.op, hx_config_place(cfg, "solver.operator", place, sizeof place),
                cfg->solver.element == HX_ELEMENT_SPLINE ? "spline" : "quadratic");
    return hx_config_set_word(&cfg->solver.op, "auto");
}

/* Generates or reads the mesh, or the part of it that this process has. */
static int get_mesh(hx_session *s)
{
    hx_generate_params params;
    HX_TRY(hx_session_make_dist_mesh(s));
    if (s->mesh.ownership) return HX_OK;
    if (!s->cfg.mesh.generator) return hx_session_read_file(s);
    hx_session_generate_params(s, &params);
    params.in_order = s->cfg.mesh.reorder && s->cfg.mesh.shuffle == 0;
    return hx_generate(hx_generator_find(s->cfg.mesh.generator), &s->mesh, &params);
}

/* 1 if the mesh was generated in the requested order. */
static int is_in_order(const hx_session *s)
{
    return s->cfg.mesh.generator && s->cfg.mesh.shuffle == 0 && s->mesh.elem_orig;
}

/* Makes the raw mesh, renumbers it as requested, and validates it. */
static int make_raw_mesh(hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    double begin = hx_session_begin_step(HX_SETUP_MESH);
    HX_TRY(get_mesh(s));
    hx_session_end_step(s, HX_SETUP_MESH, begin);
    HX_TRY(choose_element(s));
    HX_TRY(choose_operator(s));
    HX_TRY(hx_footprint_check(s));
    if (cfg->mesh.shuffle != 0) {
        begin = hx_session_begin_step(HX_SETUP_SHUFFLE);
        HX_TRY(hx_mesh_shuffle(&s->mesh, (uint64_t)cfg->mesh.shuffle));
        hx_session_end_step(s, HX_SETUP_SHUFFLE, begin);
    }
    if (cfg->mesh.reorder && s->spline.n_patch == 0 &&
        !s->mesh.ownership) { /* elements of an image are spans of the spline */
        begin = hx_session_begin_step(HX_SETUP_REORDER);
        if (!is_in_order(s)) HX_TRY(hx_mesh_reorder(&s->mesh));
        hx_session_end_step(s, HX_SETUP_REORDER, begin);
    }
    begin = hx_session_begin_step(HX_SETUP_FINISH);
    HX_TRY(hx_mesh_finish(&s->mesh));
    if (cfg->mesh.file) HX_TRY(hx_input_check(&s->mesh, cfg->mesh.merge));
    hx_session_end_step(s, HX_SETUP_FINISH, begin);
    return HX_OK;
}

/* HX_EINPUT: names all sets of the config whose names the mesh has already. */
static int check_set_names(const hx_session *s)
{
    const hx_config_set *const set = s->cfg.sets.entry;
    const hx_config_set *first = NULL;
    char names[2048] = "";
    size_t n = 0;
    for (size_t i = 0; i < s->cfg.sets.n; i++) {
        if (!hx_mesh_find_set(&s->mesh, set[i].name)) continue;
        if (n++ == 0) first = &set[i];
        const size_t used = strlen(names);
        hx_fit(names + used, sizeof names - used, "%s\"%.60s\"", n > 1 ? ", " : "", set[i].name);
    }
    if (n < 2) return HX_OK; /* hx_mesh_add_region refuses a single one */
    return HX_RAISE(
        HX_EINPUT,
        "%s: the mesh has sets with the names of %zu %s of the config: %s; choose others",
        first->origin, n, hx_noun(n, "set", "sets"), names);
}

/* Reads the mesh of the config; if its file does not exist because the folder of the run was moved,
 * the same mesh from its new path. The mesh of a CAD model is kept in the folder of the run. */
static int read_mesh(hx_session *s, const char *key)
{
    hx_moved_mesh moved = {0};
    char *gone = NULL;
    int rc;
    const char *const file = s->cfg.mesh.file; /* valid until it is replaced */
    const int has_file = file != NULL;
    if (file && file[0] == '/' && !s->comm && access(file, F_OK) != 0 && !hx_model_is_cad(file)) {
        HX_TRY_FAIL(hx_strdup(&gone, file));
        HX_TRY_FAIL(hx_moved_mesh_find(s->cfg.path, gone, &moved));
    }
    if (moved.file) HX_TRY_FAIL(hx_config_set_word(&s->cfg.mesh.file, moved.file));
    if (has_file) HX_TRY_FAIL(resolve_file(s, key, &s->cfg.mesh.file));
    if (s->outputs) HX_TRY_FAIL(hx_output_names_check_config(s->outputs, &s->cfg));
    if (has_file) HX_TRY_FAIL(hx_session_check_model(s));
    rc = make_raw_mesh(s);
    if (rc == HX_OK && moved.file) rc = hx_moved_mesh_check(s, &moved, gone);
    if (rc < 0) rc = hx_session_blame(s, key, rc);
fail:
    hx_moved_mesh_free(&moved);
    free(gone);
    return rc;
}

int hx_session_make_mesh(hx_session *s)
{
    const char *key = s->cfg.mesh.file ? "mesh.file" : "mesh.generator";
    /* mpirun may have bound the process to one core */
    if (s->comm) HX_TRY(hx_session_set_threads(s));
    HX_TRY(read_mesh(s, key));
    HX_TRY(hx_resolve_meant_sets(&s->cfg, &s->mesh));
    const int is_heat =
        hx_config_is_heat(&s->cfg) || (s->has_physics_of_file && s->conditions.is_heat);
    HX_TRY(hx_handle_unread(&s->cfg, is_heat, &s->conditions));
    HX_TRY(hx_warn_of_units(&s->cfg, &s->conditions.units));
    HX_TRY(hx_take_file_material(&s->cfg, &s->conditions.material, !s->is_draft));
    const double begin = hx_session_begin_step(HX_SETUP_SETS);
    const hx_config_set *set = s->cfg.sets.entry;
    HX_TRY(check_set_names(s));
    for (size_t i = 0; i < s->cfg.sets.n; i++) {
        hx_region region;
        hx_config_region(&set[i], &region);
        const int added = hx_mesh_add_region(&s->mesh, set[i].name, &region);
        if (added == HX_EINPUT) hx_error_prefix("%s: ", set[i].origin);
        if (added < 0) return added;
    }
    hx_session_end_step(s, HX_SETUP_SETS, begin);
    return s->mesh.ownership ? HX_OK : hx_session_distribute_mesh(s);
}

/* HX_EINPUT: the radius exceeds the part, so that all densities would be equal. */
static int check_radius(const hx_session *s)
{
    double diagonal = 0.0;
    for (int i = 0; i < 3; i++) diagonal = hypot(diagonal, s->mesh.box_max[i] - s->mesh.box_min[i]);
    if (s->filter_radius <= diagonal) return HX_OK;
    return hx_session_blame(s, "optimization.filter.radius",
                            HX_RAISE(HX_EINPUT,
                                     "a radius of %.4g%s is more than the diagonal of the part's "
                                     "bounding box, %.4g%s: 1.5 to 6 elements are usual",
                                     s->filter_radius, s->cfg.units.length, diagonal,
                                     s->cfg.units.length));
}

/* HX_EINPUT: a least length is below three elements, with which no threshold holds it. */
static int check_length(const hx_session *s, const char *key, double length)
{
    static const double least = 3.0;
    const double elements = length / s->mesh.elem_size;
    char text[64];
    if (isnan(length) || elements >= least * (1.0 - 1e-9)) return HX_OK;
    return hx_session_blame(
        s, key,
        HX_RAISE(
            HX_EINPUT,
            "%g%s is %.3g elements%s, but a length needs at least %g: take elements of at most "
            "%.4g%s, or a length of at least %.4g%s",
            length, s->cfg.units.length, elements, hx_session_element_text(s, text, sizeof text),
            least, length / least, s->cfg.units.length, least * s->mesh.elem_size,
            s->cfg.units.length));
}

/* The final beta of a projection follows from the filter radius in elements, unless the config states
 * it. */
static void choose_beta(hx_session *s)
{
    hx_config *const cfg = &s->cfg;
    cfg->optimization.filter.in_elements = s->filter_radius / s->mesh.elem_size;
    if (!hx_config_chooses_beta(cfg)) return;
    cfg->optimization.projection.beta_max =
        fmax(hx_config_usual_beta_max(cfg), cfg->optimization.projection.beta);
    s->design.beta = hx_beta_schedule(cfg);
}

/* Computes the filter radius as a length; the config receives the radius of the generator. */
static int resolve_radius(hx_session *s)
{
    hx_config *cfg = &s->cfg;
    double *radius = &cfg->optimization.filter.radius;
    s->filter_radius = 0.0;
    if (!hx_filter_find(cfg->optimization.filter.kind)->needs_radius) return HX_OK;
    if (isnan(*radius)) {
        if (!cfg->mesh.generator)
            return hx_config_blame(cfg, "optimization.filter.radius",
                                   HX_RAISE(HX_EINPUT, "required with mesh.file; for example "
                                                       "radius = 3.0; unit = \"element\";"));
        hx_generate_params params;
        hx_session_generate_params(s, &params);
        *radius = hx_generator_radius(hx_generator_find(cfg->mesh.generator), &params,
                                      hx_mesh_n_elem_all(&s->mesh));
        cfg->optimization.filter.unit = HX_UNIT_ELEMENT;
    }
    const int in_elements = cfg->optimization.filter.unit == HX_UNIT_ELEMENT;
    s->filter_radius = *radius * (in_elements ? s->mesh.elem_size : 1.0);
    HX_TRY(check_length(s, "optimization.minimum_length", cfg->optimization.minimum_length));
    HX_TRY(check_length(s, "optimization.minimum_gap", cfg->optimization.minimum_gap));
    choose_beta(s);
    HX_TRY(check_radius(s));
    if (!s->comm) hx_session_count_voxels(s);
    return HX_OK;
}

const char *hx_session_element_text(const hx_session *s, char *text, size_t n_text)
{
    text[0] = '\0';
    if (hx_mesh_is_collapsed(&s->mesh))
        snprintf(text, n_text, " of %.4g%s", s->mesh.elem_size, s->cfg.units.length);
    return text;
}

/* The repetitions of the config, at most HX_CONFIG_MOST_REPETITIONS; their number. */
static size_t list_repetitions(const hx_config *cfg,
                               hx_repetition repetition[HX_CONFIG_MOST_REPETITIONS])
{
    const hx_config_repetition *const entry = cfg->optimization.repetition.entry;
    const size_t n = cfg->optimization.repetition.n;
    for (size_t i = 0; i < n; i++) {
        repetition[i] = (hx_repetition){.origin = entry[i].origin,
                                        .kind = (hx_repetition_kind)entry[i].kind,
                                        .copies = entry[i].copies};
        memcpy(repetition[i].point, entry[i].point, sizeof repetition[i].point);
        memcpy(repetition[i].direction,
               entry[i].kind == HX_REPETITION_CYCLIC ? entry[i].axis : entry[i].step,
               sizeof repetition[i].direction);
    }
    return n;
}

/* Links variables by symmetry, repetition and extrusion. */
static int make_groups(hx_session *s)
{
    hx_symmetry_plane plane[3];
    hx_repetition repetition[HX_CONFIG_MOST_REPETITIONS];
    char place[HX_CONFIG_PLACE];
    const hx_config *cfg = &s->cfg;
    const hx_config_plane *const cfg_plane = cfg->optimization.symmetry.entry;
    hx_groups_params params = {.n_plane = cfg->optimization.symmetry.n,
                               .plane = plane,
                               .n_repetition = list_repetitions(cfg, repetition),
                               .repetition = repetition,
                               .is_extruded = !isnan(cfg->optimization.extrusion[0])};
    for (size_t i = 0; i < params.n_plane; i++) {
        plane[i].origin = cfg_plane[i].origin;
        memcpy(plane[i].point, cfg_plane[i].point, sizeof plane[i].point);
        memcpy(plane[i].normal, cfg_plane[i].normal, sizeof plane[i].normal);
    }
    params.extrusion_origin = hx_config_place(cfg, "optimization.extrusion", place, sizeof place);
    memcpy(params.extrusion, cfg->optimization.extrusion, sizeof params.extrusion);
    return hx_groups_create(&s->groups, &s->problem, &params);
}

/* The zones without stress limits, whose default radius is twice that of the filter. */
static int add_stress_zones(hx_session *s)
{
    const hx_config *const cfg = &s->cfg;
    double radius = cfg->optimization.filter.radius;
    int in_elements = cfg->optimization.filter.unit == HX_UNIT_ELEMENT;
    if (!hx_filter_find(cfg->optimization.filter.kind)->needs_radius) radius = 0.0;
    if (isnan(radius) && cfg->mesh.generator) {
        hx_generate_params params;
        hx_session_generate_params(s, &params);
        radius = hx_generator_radius(hx_generator_find(cfg->mesh.generator), &params,
                                     hx_mesh_n_elem_all(&s->mesh));
        in_elements = 1;
    }
    if (isnan(radius)) radius = 0.0; /* resolve_radius refuses it */
    if (!s->mesh.ownership)
        HX_TRY(hx_stress_zones_add(&s->zones, cfg, &s->mesh, &s->conditions,
                                   radius * (in_elements ? s->mesh.elem_size : 1.0)));
    s->n_zone = hx_stress_zone_names(cfg, &s->mesh, s->zone);
    return HX_OK;
}

int hx_session_make_problem(hx_session *s)
{
    hx_notes notes = {0};
    const double begin = hx_session_begin_step(HX_SETUP_PROBLEM);
    int rc = s->cfg.solver.element == HX_ELEMENT_SPLINE
                 ? hx_space_create_spline(&s->space, &s->mesh, &s->spline)
                 : hx_space_create(&s->space, &s->mesh, s->cfg.solver.element);
    if (rc < 0) return hx_session_blame(s, "solver.element", rc);
    HX_TRY(add_stress_zones(s));
    s->design = hx_design_of(&s->cfg);
    HX_TRY(hx_design_check(&s->design, s->cfg.path));
    rc =
        hx_config_make_problem(&s->cfg, &s->space, &s->conditions, &s->problem, &notes, s->lacking);
    hx_log_notes(&notes);
    HX_TRY(rc);
    s->problem.operator_plan = &s->operator_plan;
    s->problem.coarse_plan = &s->coarse_plan;
    s->problem.multigrid = &s->cfg.solver.multigrid;
    s->loads_of = NULL;
    HX_TRY(hx_session_choose_update(s));
    HX_TRY(hx_session_check_objective(s, s->comm ? s->comm->size : 1));
    hx_limits_free(&s->limits);
    HX_TRY(hx_limits_create(&s->limits, s));
    HX_TRY(resolve_radius(s));
    HX_TRY(make_groups(s));
    HX_TRY(hx_session_make_sweep(s));
    hx_session_end_step(s, HX_SETUP_PROBLEM, begin);
    return HX_OK;
}

/* "5 copies about an axis, 4 copies along a step, " */
static void put_copies(const hx_config_list *repetition, int is_extruded, char *text, size_t n_text)
{
    const hx_config_repetition *const entry = repetition->entry;
    size_t n = 0;
    for (size_t i = 0; i < repetition->n && n < n_text; i++)
        n += (size_t)snprintf(text + n, n_text - n, "%d copies %s%s", entry[i].copies,
                              entry[i].kind == HX_REPETITION_CYCLIC ? "about an axis"
                                                                    : "along a step",
                              i + 1 < repetition->n || is_extruded ? ", " : "");
}

const char *hx_session_groups_text(const hx_session *s, char *text, size_t n_text)
{
    const hx_groups *groups = &s->groups;
    const size_t n_plane = s->cfg.optimization.symmetry.n;
    const int is_extruded = !isnan(s->cfg.optimization.extrusion[0]);
    const hx_config_list *const repetition = &s->cfg.optimization.repetition;
    char planes[48] = "", copies[96] = "", off[96] = "", alone[64] = "", a[32], b[32], c[32];
    if (n_plane > 0)
        snprintf(planes, sizeof planes, "%zu symmetry plane%s%s", n_plane, n_plane > 1 ? "s" : "",
                 is_extruded || repetition->n > 0 ? ", " : "");
    if (repetition->n > 0) put_copies(repetition, is_extruded, copies, sizeof copies);
    if (groups->n_shifted > 0)
        snprintf(off, sizeof off, "; %s without an exact %simage (up to %.2g elements off)",
                 hx_format_count(groups->n_shifted, a, sizeof a),
                 repetition->n > 0 ? "" : "mirror ", groups->shift);
    if (groups->n_alone > 0)
        snprintf(alone, sizeof alone, "; %s without an image",
                 hx_format_count(groups->n_alone, a, sizeof a));
    snprintf(text, n_text, "%s of %s %s in %s %s (%s%s%s)%s%s",
             hx_format_count(groups->n_member, a, sizeof a),
             hx_format_count(s->mesh.n_elem - s->problem.passive.n, b, sizeof b),
             hx_noun(s->mesh.n_elem - s->problem.passive.n, "element", "elements"),
             hx_format_count(groups->n_group, c, sizeof c),
             hx_noun(groups->n_group, "group", "groups"), planes, copies,
             is_extruded ? "extruded" : "", off, alone);
    return text;
}

double hx_session_mass(const hx_session *s, double volume_fraction)
{
    return s->cfg.material.density * s->mesh.total_volume * volume_fraction;
}

/* Replaces a name of a result by the file. */
static int locate_result(char **word)
{
    hx_result_path result;
    HX_TRY(hx_result_locate(&result, *word));
    const int rc = hx_config_set_word(word, result.file);
    hx_result_path_free(&result);
    return rc;
}

int hx_session_first_density(const hx_session *s, double **density)
{
    *density = NULL;
    if (!hx_problem_loads_vary(&s->problem)) return HX_OK;
    HX_TRY(hx_alloc_raw(density, (size_t)s->mesh.n_elem, sizeof **density, "densities"));
    hx_design_fill(&s->design, &s->problem, *density);
    return HX_OK;
}

int hx_session_read_initial(hx_session *s, double **density)
{
    char **path = &s->cfg.optimization.initial;
    const double rho_min = s->design.rho_min;
    hx_result_match match;
    char count[32];
    *density = NULL;
    if (!*path) return HX_OK;
    HX_TRY(resolve_file(s, "optimization.initial", path));
    HX_TRY(hx_session_blame(s, "optimization.initial", locate_result(path)));
    HX_TRY(hx_alloc_raw(density, (size_t)s->mesh.n_elem, sizeof **density, "initial densities"));
    HX_TRY(hx_session_blame(
        s, "optimization.initial",
        hx_result_read(*path, "density", &s->mesh, rho_min, rho_min, *density, &match)));
    if (match.n_missing > 0)
        hx_log_warning(
            "optimization.initial: %s lacks %s %s, because it was written with a threshold: they "
            "start at rho_min = %g, from which optimality criteria hardly raise them",
            *path, hx_format_count(match.n_missing, count, sizeof count),
            hx_noun(match.n_missing, "element", "elements"), rho_min);
    return HX_OK;
}

int hx_session_make_filter(hx_session *s)
{
    hx_filter_params params = hx_session_filter_params(s);
    params.voxels = &s->voxels;
    const int rc = hx_filter_create(&s->filter, hx_filter_find(s->cfg.optimization.filter.kind),
                                    hx_session_solver_device(s), hx_session_solved(s), &params);
    return rc < 0 ? hx_session_blame(s, "optimization.filter.radius", rc) : rc;
}

/* HX_EINPUT: the move limit is at or below the tolerance, which every design would meet. */
static int check_change(const hx_session *s)
{
    const double move = s->cfg.optimization.move, tolerance = s->cfg.optimization.change_tolerance;
    if (!(tolerance > 0.0) || move > tolerance) return HX_OK;
    return hx_config_blame(&s->cfg, "optimization.move",
                           HX_RAISE(HX_EINPUT,
                                    "%g is not above optimization.change_tolerance = %g: with this "
                                    "move limit every design would count as converged; use a "
                                    "smaller tolerance, such as optimization.change_tolerance=%g",
                                    move, tolerance, 0.05 * move));
}

int hx_session_check_volume(hx_session *s)
{
    hx_notes notes = {0};
    if (s->has_checked_volume) return HX_OK;
    HX_TRY(check_change(s));
    if (!s->filter.kind) HX_TRY(hx_session_make_filter(s));
    HX_TRY(hx_least_volume_find(&s->least_volume, &s->filter));
    HX_TRY(hx_limits_check_amounts(s));
    s->has_checked_volume = 1;
    if (isnan(hx_session_volume_wanted(s))) return HX_OK;
    int rc = hx_least_volume_check(&s->least_volume, &s->filter);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", s->cfg.path);
    if (rc == HX_OK) rc = hx_least_volume_note(&s->least_volume, &s->filter, &notes);
    hx_log_notes(&notes);
    return rc;
}

/* Greyness of the free elements; NaN if the filter does not change the densities. */
static double measure_greyness(const hx_session *s, const double *density)
{
    const hx_problem *const p = &s->problem;
    double sum = 0.0;
    if (!density) return (double)NAN;
    for (int64_t e = 0; e < s->mesh.n_elem; e++)
        if (!p->passive.density || isnan(p->passive.density[e]))
            sum += p->volume[e] * density[e] * (1.0 - density[e]);
    return 4.0 * sum / p->design_volume;
}

/* Index of this process' first element in the whole mesh. */
static int64_t first_element(const hx_session *s)
{
    return s->dist.comm ? s->dist.subdomain.first[s->comm->rank] : 0;
}

static int make_design(hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    const hx_optimizer_params params = {
        .objective = hx_session_objective(s),
        .objective_params = hx_session_objective_params(s),
        .n_constraint = s->limits.n,
        .constraint = s->limits.spec,
        .update = hx_session_update(s),
        .least = &s->least_volume,
        .keep_within = s->limits.n > 0 ? HX_LIMIT_MET : 0.0,
    };
    int rc;
    double *density = NULL;
    HX_TRY(hx_session_check_volume(s));
    HX_TRY_FAIL(hx_session_read_initial(s, &density));
    s->initial_greyness = measure_greyness(s, density);
    HX_TRY_FAIL(hx_analysis_create(&s->analysis, &s->solver.op, &s->solver.pc, &s->solver.pcg,
                                   cfg->solver.warm_start));
    HX_TRY_FAIL(hx_analysis_follow(&s->analysis));
    rc = hx_optimizer_create(&s->opt, &params, &s->analysis, &s->filter,
                             density ? density + first_element(s) : NULL);
    if (rc < 0) rc = density ? hx_session_blame(s, "optimization.initial", rc) : rc;
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(hx_optimizer_link(&s->opt, &s->groups));
fail:
    free(density);
    return rc;
}

int hx_session_make_design(hx_session *s)
{
    const double begin = hx_session_begin_step(HX_SETUP_DESIGN);
    for (;;) {
        const int rc = make_design(s);
        if (rc == HX_OK) break;
        if (rc != HX_ENOMEM || !hx_session_take_less(s, rc)) return rc;
        HX_TRY(hx_session_make_solver(s));
    }
    s->host_bytes = hx_session_mesh_bytes(s) + hx_problem_bytes(&s->problem);
    hx_session_end_step(s, HX_SETUP_DESIGN, begin);
    return HX_OK;
}

/* Makes the KKT residual relative to that of the first design that meets all limits. Multipliers of
 * limits that are far from met are as large as the update permits, and so is a residual with
 * them. */
static void scale_kkt(hx_session *s, hx_iteration *it)
{
    if (!(s->first_kkt > 0.0) && it->kkt > 0.0 && hx_limits_are_met(it, hx_session_update(s)))
        s->first_kkt = it->kkt;
    if (s->first_kkt > 0.0) it->kkt /= s->first_kkt;
}

int hx_session_return_result(hx_session *s, const hx_iteration *last, hx_iteration *it)
{
    HX_TRY(hx_optimizer_return_result(&s->opt, last, it));
    if (s->first_kkt > 0.0) it->kkt /= s->first_kkt;
    return HX_OK;
}

int hx_session_step(hx_session *s, hx_iteration *it)
{
    for (;;) {
        const int rc = hx_optimizer_step(&s->opt, it);
        if (rc == HX_OK) scale_kkt(s, it);
        if (rc != HX_ENOMEM) return rc;
        if (s->opt.iteration > 1) return hx_session_suggest(s, rc);
        if (!hx_session_take_less(s, rc)) return rc;
        HX_TRY(hx_session_make_solver(s));
        HX_TRY(hx_session_make_design(s));
    }
}

void hx_session_drop_operator(hx_session *s)
{
    hx_optimizer_free(&s->opt);
    hx_analysis_free(&s->analysis);
    hx_solver_free_parts(&s->solver);
}

int hx_session_open(hx_session *s)
{
    hx_device_start_begin(&s->device_start, s->cfg.solver.device, s->comm ? s->comm->host_rank : 0);
    s->other_bytes = hx_footprint_planned(&s->cfg);
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_session_make_problem(s));
    HX_TRY(hx_session_open_device(s));
    HX_TRY(hx_session_make_solver(s));
    if (s->judges_solid && s->limits.n > 0) {
        HX_TRY(hx_session_agree(s, hx_session_check_volume(s))); /* before anything is solved */
        HX_TRY(hx_session_agree(s, hx_session_judge_solid(s, 0)));
    }
    return hx_session_make_design(s);
}

void hx_session_free(hx_session *s)
{
    hx_device_start_end(&s->device_start); /* the thread that starts the driver must end first */
    hx_session_end_measuring(s);
    hx_session_drop_operator(s);
    hx_solver_free(&s->solver);
    hx_filter_free(&s->filter);
    hx_dist_free(&s->dist);
    hx_device_close(&s->device);
    hx_groups_free(&s->groups);
    hx_sweep_free(&s->sweep);
    hx_limits_free(&s->limits);
    hx_operator_plan_free(&s->operator_plan);
    hx_coarse_plan_free(&s->coarse_plan);
    hx_voxels_free(&s->voxels);
    hx_problem_free(&s->problem);
    hx_space_free(&s->space);
    free(s->set_size);
    hx_conditions_free(&s->conditions);
    hx_spline_free(&s->spline);
    hx_mesh_free(&s->mesh);
    hx_config_free(&s->cfg);
    memset(s, 0, sizeof *s);
}
