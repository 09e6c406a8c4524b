#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/sum.h"
#include "../mesh/skin.h"
#include "problem_internal.h"
#include "simp.h"

#define DEFAULT_LEAST 1e-3 /* smallest conductivity relative to the largest */

hx_problem_params hx_problem_defaults(void)
{
    return (hx_problem_params){
        .origin = "problem", .young = 1.0, .poisson = 0.3, .conductivity = 1.0, .rho_min = 0.001};
}

const char *hx_physics_name(hx_physics physics)
{
    return physics == HX_PHYSICS_HEAT ? "heat" : "elasticity";
}

/* Also refuses NaN. */
static int check_range(const hx_problem_params *params, const char *key, double value, double low,
                       double high, const char *right)
{
    if (value >= low && value <= high) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: %s = %g is out of range; it must be %s", params->origin, key,
                    value, right);
}

static int check_material(const hx_problem_params *params)
{
    if (params->physics == HX_PHYSICS_HEAT) return hx_problem_check_conduction(params);
    HX_TRY(check_range(params, "material.E", params->young, 1e-300, 1e300, "above 0"));
    return check_range(params, "material.nu", params->poisson, -0.999, 0.499,
                       "between -0.999 and 0.499");
}

/* Prescribes the points of a support's set. */
static int hold_points(hx_problem *problem, const hx_support_spec *support, int64_t n,
                       const int32_t *point)
{
    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < problem->components; i++)
            if (support->fix >> i & 1u)
                HX_TRY(hx_problem_hold(problem, support->origin, point[k], i, support->value[i]));
    return HX_OK;
}

static int add_support(hx_problem *problem, const hx_conditions *conditions,
                       const hx_support_spec *support)
{
    const hx_set *set;
    if (!support->set) return hx_problem_add_file_supports(problem, conditions, support);
    int64_t n;
    HX_TRY(hx_problem_find_set(problem->mesh, support->set, support->origin, &set));
    HX_TRY(hx_mesh_count_all(problem->mesh, set->n_node, &n));
    if (n == 0)
        return HX_RAISE(HX_EINPUT, "%s: set '%s' contains no node to support", support->origin,
                        support->set);
    int32_t *point;
    HX_TRY(hx_problem_set_points(&problem->space, set, support->origin, &n, &point));
    const int rc = hold_points(problem, support, n, point);
    free(point);
    return rc;
}

/* 1 if the support prescribes a nonzero displacement, or a temperature other than the reference. */
static int moves(const hx_problem *problem, const hx_conditions *conditions,
                 const hx_support_spec *support)
{
    int any = 0;
    if (!support->set) return hx_conditions_move(conditions);
    for (int k = 0; k < problem->components; k++)
        any |= (support->fix >> k & 1u) && support->value[k] != problem->reference;
    return any;
}

/* HX_EINPUT: no unknown is left, so that every result would be a prescribed value. */
static int check_free(const hx_problem *problem, const hx_problem_params *params)
{
    const unsigned all = (1u << problem->components) - 1u;
    int64_t n_free = 0;
    if (params->n_support == 0) return HX_OK;
    for (int64_t k = 0; k < problem->space.n_point; k++)
        n_free += (problem->supports.fixed[k] & all) != all;
    HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(problem->mesh), 1, &n_free));
    if (n_free > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: the supports fix every %s of the part in every direction, so nothing is "
                    "left to solve; fix less, or refine the mesh",
                    params->support[params->n_support - 1].origin,
                    problem->space.element == HX_ELEMENT_LINEAR ? "node" : "point");
}

static int add_problem_load(hx_problem *problem, const hx_problem_params *params,
                            const hx_load_spec *load)
{
    if (hx_load_is_heat(load) != hx_problem_is_heat(problem))
        return HX_RAISE(HX_EINPUT, "%s: this load does not exist for physics = \"%s\"",
                        load->origin, hx_physics_name(problem->physics));
    if (hx_load_is_body(load)) return hx_problem_add_body(problem, params, load);
    if (load->kind == HX_LOAD_TEMPERATURE_CHANGE)
        return hx_problem_add_temperature(problem, params, load);
    if (load->kind == HX_LOAD_FROM_FILE) return hx_problem_add_file_forces(problem, params, load);
    double *const force = problem->cases.force[load->load_case - 1];
    return hx_load_is_heat(load) ? hx_problem_add_heat(&problem->space, load, force)
                                 : hx_problem_add_load(&problem->space, load, force);
}

/* Measures the loads added so far; skipped for a single load, which cannot cancel. */
static void measure_loads(hx_problem *problem, const hx_problem_params *params, int load_case)
{
    if (params->n_load + (problem->films.n > 0) < 2) return;
    for (int c = 0; c < problem->cases.n; c++)
        if (load_case == 0 || c == load_case - 1) hx_problem_measure_case(problem, c);
}

static int add_loads(hx_problem *problem, const hx_problem_params *params)
{
    /* Creates the load cases without their loads. */
    const size_t n_dof = (size_t)problem->components * (size_t)problem->space.n_point;
    int n_case = params->n_weight > 0 ? (int)params->n_weight : 1;
    for (size_t i = 0; i < params->n_load; i++) {
        const hx_load_spec *load = &params->load[i];
        const int last = hx_load_last_case(params->conditions, load);
        if (last < 1)
            return HX_RAISE(HX_EINPUT, "%s: case = %d must be at least 1; load cases count from 1",
                            load->origin, last);
        if (params->n_weight > 0 && last > n_case)
            return HX_RAISE(HX_EINPUT, "%s: case = %d, but weights has %d entr%s", load->origin,
                            last, n_case, n_case == 1 ? "y" : "ies");
        if (last > 1000)
            return HX_RAISE(HX_EINPUT, "%s: case = %d must be at most 1000", load->origin, last);
        if (last > n_case) n_case = last;
    }
    problem->cases.n = n_case;
    HX_TRY(hx_alloc(&problem->cases.weight, (size_t)n_case, sizeof(double), "weights"));
    HX_TRY(hx_alloc(&problem->cases.force, (size_t)n_case, sizeof(double *), "loads"));
    for (int c = 0; c < n_case; c++) {
        problem->cases.weight[c] = params->n_weight > 0 ? params->weight[c] : 1.0;
        if (!(problem->cases.weight[c] > 0.0) || problem->cases.weight[c] > 1e300)
            return HX_RAISE(HX_EINPUT, "%s: weights[%d] = %g must be above 0", params->origin, c,
                            problem->cases.weight[c]);
        HX_TRY(hx_alloc(&problem->cases.force[c], n_dof, sizeof(double), "loads"));
    }
    HX_TRY(hx_alloc(&problem->cases.size, (size_t)n_case, sizeof(double), "loads"));
    HX_TRY(hx_alloc(&problem->cases.body_size, (size_t)n_case, sizeof(double), "loads"));
    /* the ambient temperature of convection acts in all cases */
    for (int c = 0; c < problem->cases.n; c++)
        for (int64_t k = 0; k < problem->films.n; k++)
            problem->cases.force[c][problem->films.node[k]] += problem->films.source[k];
    if (problem->films.n > 0) measure_loads(problem, params, 0);
    for (size_t i = 0; i < params->n_load; i++) {
        const hx_load_spec *const load = &params->load[i];
        HX_TRY(add_problem_load(problem, params, load));
        if (!hx_load_is_field(load))
            measure_loads(problem, params, load->kind == HX_LOAD_FROM_FILE ? 0 : load->load_case);
    }
    HX_TRY(hx_problem_add_rigid_sets(problem, params));
    /* a process without loaded nodes in its part of the mesh uses the sizes of the others */
    HX_TRY(hx_reduce_max(hx_mesh_reduce(problem->mesh), problem->cases.n, problem->cases.size));
    return hx_problem_finish_body(problem);
}

/* Describes why a load case has no effect. */
static const char *missing_load(const hx_problem *problem, const hx_problem_params *params, int c,
                                int applied, int64_t n_body)
{
    const int is_heat = hx_problem_is_heat(problem);
    if (problem->supports.prescribed && n_body > 1)
        return "deforms nothing: the part is in pieces that are not connected, the prescribed "
               "displacements move each of them as a rigid body, and no load acts on a free degree "
               "of freedom; connect the pieces, or add a load";
    if (problem->supports.prescribed)
        return "deforms nothing: the prescribed displacements move the part as a rigid body, and "
               "no load acts on a free degree of freedom; add a load, or change the value of a "
               "support";
    if (!applied && fmax(problem->cases.size[c], problem->cases.body_size[c]) > 0.0)
        return is_heat ? "has loads that cancel each other up to rounding, so no heat flows; omit "
                         "one, or assign them to different cases"
                       : "has loads that cancel each other up to rounding, so no force acts on the "
                         "part; omit one, or assign them to different cases";
    if (applied)
        return is_heat ? "acts only on nodes with a prescribed temperature; move the load, or "
                         "remove the support of its set"
                       : "acts only on fixed degrees of freedom; move the load, or remove the "
                         "support of its set";
    if (params->n_load == 0)
        return is_heat ? "has no heat: add a source, heat or flux to loads, or a second temperature"
                       : "has no load: add an entry to loads, or a support with a value";
    return is_heat ? "has no load, or only loads of zero heat; add one, or number the cases "
                     "without a gap"
                   : "has no load, or only loads of zero force; add one, or number the cases "
                     "without a gap";
}

/* If only the weights define a case after the last load's, the error is reported for the
 * weights. */
static int raise_unloaded(const hx_problem *problem, const hx_problem_params *params, int c,
                          int applied, int64_t n_body)
{
    const int n_weight = (int)params->n_weight;
    int n = 0; /* the last case of a load */
    for (size_t i = 0; i < params->n_load; i++) {
        const int last = hx_load_last_case(params->conditions, &params->load[i]);
        if (last > n) n = last;
    }
    if (n > 0 && c >= n)
        return HX_RAISE(HX_EINPUT, "%s: %d %s, but there %s %d load case%s",
                        params->weight_origin ? params->weight_origin : "weights", n_weight,
                        hx_noun(n_weight, "entry", "entries"), n == 1 ? "is" : "are", n,
                        n == 1 ? "" : "s");
    return HX_RAISE(HX_EINPUT, "%s: load case %d %s", params->origin, c + 1,
                    missing_load(problem, params, c, applied, n_body));
}

/* Every case must load something that can move, or prescribed values must deform the part. */
static int check_loaded(const hx_problem *problem, const hx_problem_params *params)
{
    const int64_t n_dof = problem->components * problem->space.n_point;
    const int n = problem->components;
    int64_t n_body = 1;
    if (problem->supports.prescribed) {
        int is_rigid;
        HX_TRY(hx_problem_is_moved_rigidly(problem, &is_rigid, &n_body));
        if (!is_rigid) return HX_OK;
    }
    for (int c = 0; c < problem->cases.n; c++) {
        const double rounding = HX_LOADS_CANCEL * problem->cases.size[c];
        int applied = 0, acting = 0;
        if (hx_problem_load_varies(problem, c))
            continue; /* acts on every node, and not all are fixed */
#pragma omp parallel for schedule(static) reduction(| : applied, acting)
        for (int64_t k = 0; k < n_dof; k++) {
            if (!(fabs(problem->cases.force[c][k]) > rounding)) continue;
            applied = 1;
            acting |= !(problem->supports.fixed[k / n] >> (k % n) & 1);
        }
        int64_t any[2] = {applied, acting};
        HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(problem->mesh), 2, any));
        applied = any[0] > 0;
        if (any[1] > 0) continue;
        return raise_unloaded(problem, params, c, applied, n_body);
    }
    return HX_OK;
}

/* Sets the density of the elements of one entry. */
static int make_passive(hx_problem *problem, const hx_set *set, const hx_passive_spec *passive)
{
    const hx_mesh *mesh = problem->mesh;
    uint8_t *flag = NULL;
    int64_t n;
    if (passive->skin == 0.0) {
        for (int64_t k = 0; k < set->n_elem; k++)
            problem->passive.density[set->elem[k]] = passive->density;
        return HX_OK;
    }
    HX_TRY(hx_alloc(&flag, (size_t)mesh->n_elem, 1, "elements of a skin"));
    const int rc = hx_skin_flag(mesh, set, passive->skin, flag, &n);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", passive->origin);
    for (int64_t e = 0; rc == HX_OK && e < mesh->n_elem; e++)
        if (flag[e]) problem->passive.density[e] = passive->density;
    free(flag);
    return rc;
}

static int add_passive(hx_problem *problem, const hx_problem_params *params)
{
    const hx_mesh *mesh = problem->mesh;
    if (params->n_passive == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&problem->passive.density, (size_t)mesh->n_elem, sizeof(double),
                        "passive elements"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) problem->passive.density[e] = NAN;
    for (size_t i = 0; i < params->n_passive; i++) {
        const hx_passive_spec *passive = &params->passive[i];
        const hx_set *set;
        HX_TRY(hx_problem_find_set(mesh, passive->set, passive->origin, &set));
        int64_t n;
        if (!(passive->skin >= 0.0) || isinf(passive->skin))
            return HX_RAISE(HX_EINPUT, "%s: skin = %g must be a thickness above 0", passive->origin,
                            passive->skin);
        HX_TRY(hx_mesh_count_all(mesh, passive->skin > 0.0 ? set->n_node : set->n_elem, &n));
        if (n == 0)
            return HX_RAISE(
                HX_EINPUT, "%s: set '%s' contains no %s to make passive%s", passive->origin,
                passive->set, passive->skin > 0.0 ? "node" : "element",
                set->n_node > 0 ? "; skin = THICKNESS makes the elements near it passive" : "");
        if (!(passive->density >= params->rho_min && passive->density <= 1.0))
            return HX_RAISE(HX_EINPUT,
                            "%s: density = %g must be between rho_min = %g (void) and 1 (solid)",
                            passive->origin, passive->density, params->rho_min);
        HX_TRY(make_passive(problem, set, passive));
    }
    return HX_OK;
}

static int add_volumes(hx_problem *problem, const hx_problem_params *params)
{
    const hx_mesh *mesh = problem->mesh;
    HX_TRY(hx_alloc_raw(&problem->volume, (size_t)mesh->n_elem, sizeof(double), "volumes"));
    hx_mesh_volumes(mesh, problem->volume);
    /* Sums the volumes of own elements over all processes: of all elements and of the free
     * ones; counts the passive ones. */
    const int64_t begin = hx_mesh_own_begin(mesh), end = hx_mesh_own_end(mesh);
    const double *const volume = problem->volume, *const density = problem->passive.density;
    double sum[3] = {hx_sum(end - begin, volume + begin), 0.0,
                     0.0}; /* sums over all elements and passive elements, mass of the latter */
    for (int64_t e = begin; density && e < end; e++) {
        if (isnan(density[e])) continue;
        problem->passive.n++;
        sum[1] += volume[e];
        sum[2] += volume[e] * density[e];
    }
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(mesh), 3, sum));
    HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(mesh), 1, &problem->passive.n));
    problem->total_volume = sum[0];
    problem->design_volume = sum[0] - sum[1];
    problem->passive.mass = sum[2];
    if (problem->passive.n == hx_mesh_n_elem_all(mesh))
        return HX_RAISE(HX_EINPUT, "%s: every element is passive, so nothing is left to design",
                        params->origin);
    return HX_OK;
}

/* Turns the error into a note if the caller wants one. */
static int forgive(int rc, const hx_problem_params *params)
{
    if (rc != HX_EINPUT || !params->lacking) return rc;
    rc = hx_notes_add(params->lacking, HX_NOTE_WARNING, "%s", hx_error_message());
    if (rc == HX_OK) hx_error_clear();
    return rc;
}

int hx_problem_create(hx_problem *problem, const hx_mesh *mesh, const hx_problem_params *params)
{
    int rc;
    memset(problem, 0, sizeof *problem);
    problem->mesh = mesh;
    problem->space = params->space ? *params->space : hx_space_linear(mesh);
    problem->physics = params->physics;
    problem->density = params->density;
    problem->expansion = params->expansion;
    if (hx_problem_is_heat(problem)) {
        problem->components = 1;
        problem->young = params->conductivity;
        problem->least = params->conductivity_min > 0.0 ? params->conductivity_min
                                                        : DEFAULT_LEAST * params->conductivity;
        hx_problem_find_reference(problem, params);
    } else {
        const double nu = params->poisson;
        problem->components = 3;
        problem->young = params->young;
        problem->poisson = nu;
        problem->lambda = nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
        problem->mu = 0.5 / (1.0 + nu);
    }
    HX_TRY_FAIL(check_material(params));
    const size_t n_dof = (size_t)problem->components * (size_t)problem->space.n_point;
    int any = 0;
    for (size_t i = 0; i < params->n_support; i++)
        any |= moves(problem, params->conditions, &params->support[i]);
    HX_TRY_FAIL(hx_alloc(&problem->supports.fixed, (size_t)problem->space.n_point, 1, "supports"));
    if (any)
        HX_TRY_FAIL(
            hx_alloc(&problem->supports.prescribed, n_dof, sizeof(double), "prescribed values"));
    for (size_t i = 0; i < params->n_support; i++)
        HX_TRY_FAIL(add_support(problem, params->conditions, &params->support[i]));
    HX_TRY_FAIL(check_free(problem, params));
    HX_TRY_FAIL(hx_problem_add_springs(problem, params));
    HX_TRY_FAIL(hx_problem_add_films(problem, params));
    HX_TRY_FAIL(add_loads(problem, params));
    HX_TRY_FAIL(add_passive(problem, params));
    HX_TRY_FAIL(add_volumes(problem, params));
    HX_TRY_FAIL(hx_problem_add_materials(problem, params));
    HX_TRY_FAIL(hx_problem_finish_expansion(problem));
    HX_TRY_FAIL(forgive(check_loaded(problem, params), params));
    rc = hx_problem_is_heat(problem) ? hx_problem_check_held(problem, params->origin)
                                     : hx_problem_check_supported(problem, params->origin);
    HX_TRY_FAIL(forgive(rc, params));
    HX_TRY_FAIL(hx_problem_note_faces(mesh, params));
    return HX_OK;
fail:
    hx_problem_free(problem);
    return rc;
}

void hx_problem_modulus(const hx_problem *problem, double penalty, const double *rho,
                        double *modulus)
{
    const double young = problem->young, least = problem->least;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < problem->mesh->n_elem; e++)
        modulus[e] = hx_simp_between(least, hx_problem_stiffness_factor(problem, e) * young,
                                     penalty, rho[e]);
}

void hx_problem_total_force(const hx_problem *problem, int load_case, double total[3])
{
    const int n = problem->components;
    total[0] = total[1] = total[2] = 0.0;
    for (int64_t node = 0; node < problem->space.n_point; node++)
        for (int i = 0; i < n; i++) total[i] += problem->cases.force[load_case][n * node + i];
    for (int64_t k = 0; k < problem->films.n; k++) total[0] -= problem->films.source[k];
}

size_t hx_problem_bytes(const hx_problem *problem)
{
    const size_t n_node = (size_t)problem->space.n_point, n_elem = (size_t)problem->mesh->n_elem;
    size_t bytes = n_node + n_elem * sizeof(double);
    const size_t vector = n_node * (size_t)problem->components * sizeof(double);
    if (problem->supports.prescribed) bytes += vector;
    if (problem->films.n > 0) {
        bytes += (size_t)problem->films.n * (sizeof(int32_t) + sizeof(int64_t) + sizeof(double));
        bytes += (size_t)problem->films.ptr[problem->films.n] *
                 (sizeof(int32_t) + (problem->films.square ? 2 : 1) * sizeof(double));
    }
    if (problem->passive.density) bytes += n_elem * sizeof(double);
    if (problem->materials.n)
        bytes += n_elem + (size_t)problem->materials.n * (4 * sizeof(double) + sizeof(int64_t));
    bytes += (size_t)problem->springs.n * (sizeof(int64_t) + sizeof(double));
    bytes += (size_t)problem->rigid.n_node * sizeof(int32_t);
    if (problem->cases.body) bytes += (size_t)problem->cases.n * sizeof *problem->cases.body;
    for (int c = 0; problem->cases.expansion && c < problem->cases.n; c++)
        bytes += sizeof *problem->cases.expansion +
                 (problem->cases.expansion[c].strain ? n_elem * sizeof(double) : 0);
    return bytes + (size_t)problem->cases.n * vector;
}

void hx_problem_free(hx_problem *problem)
{
    for (int c = 0; problem->cases.force && c < problem->cases.n; c++)
        free(problem->cases.force[c]);
    hx_problem_free_expansion(problem);
    free(problem->cases.force);
    free(problem->cases.body);
    free(problem->cases.size);
    free(problem->cases.body_size);
    free(problem->cases.weight);
    free(problem->supports.fixed);
    free(problem->supports.prescribed);
    free(problem->springs.dof);
    free(problem->rigid.set);
    free(problem->rigid.node);
    free(problem->springs.stiffness);
    free(problem->films.node);
    free(problem->films.ptr);
    free(problem->films.col);
    free(problem->films.value);
    free(problem->films.source);
    free(problem->films.square);
    free(problem->volume);
    free(problem->passive.density);
    free(problem->materials.number);
    free(problem->materials.stiffness);
    free(problem->materials.mass);
    free(problem->materials.expansion);
    free(problem->materials.count);
    free(problem->materials.volume);
    memset(problem, 0, sizeof *problem);
}
