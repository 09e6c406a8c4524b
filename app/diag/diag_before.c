/* Warnings that need no solve. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../session/continuation.h"
#include "../text/log.h"
#include "../text/table.h"
#include "attached.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/sum.h"
#include "core/mesh/mesh_check.h"
#include "core/spline/spline.h"
#include "diag.h"

static void judge_thickness(hx_diags *diags, const hx_session *s)
{
    double share = 0.0;
    if (hx_config_is_heat(&s->cfg) || s->cfg.solver.element != HX_ELEMENT_LINEAR) return;
    if (hx_diag_thin_tetrahedra(&s->mesh, &share) < 0) return;
    if (share > hx_diag_limit(HX_DIAG_THIN_TETRAHEDRA))
        hx_diags_add(
            diags, HX_DIAG_THIN_TETRAHEDRA, share,
            "%.0f %% of the elements are tetrahedra with all corners on the surface: most of "
            "the part is hardly more than one element thick, and linear tetrahedra are "
            "far too stiff in bending",
            100.0 * share);
}

static void judge_place(hx_diags *diags, const hx_mesh *mesh)
{
    double far = 0.0;
    for (int i = 0; i < 3; i++)
        far = fmax(far, fmax(fabs(mesh->box_min[i]), fabs(mesh->box_max[i])));
    const double step = far * DBL_EPSILON / mesh->elem_size;
    if (step > hx_diag_limit(HX_DIAG_FAR_FROM_ORIGIN))
        hx_diags_add(diags, HX_DIAG_FAR_FROM_ORIGIN, step,
                     "coordinates of up to %g are rounded to steps of %.2g of the element size",
                     far, step);
}

/* Nodes that should coincide are well within 1e-4 of an element size of each other. Merging is
 * recommended only if it helps. It cannot help if mesh.merge is not given, since a mesh whose
 * bodies it would join was refused. */
static const char *joining(const hx_session *s, char *text, size_t n_text)
{
    const double radius = 1e-4 * s->mesh.elem_size;
    int helps = 0;
    if (!isnan(s->cfg.mesh.merge) && hx_mesh_merge_helps(&s->mesh, radius, &helps) < 0) helps = 0;
    if (!helps)
        hx_fit(text, n_text,
               "unite them in the original model, or remove those that are not needed; each "
               "body that remains needs supports of its own");
    else
        hx_fit(text, n_text,
               "`mesh.merge=%.2g` merges coincident nodes if the bodies should be one", radius);
    return text;
}

void hx_diag_mesh(hx_diags *diags, const hx_session *s)
{
    const hx_mesh_quality *const q = &s->quality;
    char text[32], remedy[HX_REMEDY];
    if (q->n_poor > 0)
        hx_diags_add(diags, HX_DIAG_POOR_ELEMENTS, q->min_scaled_jacobian,
                     "%s element%s a scaled Jacobian below 0.2 (worst: %.3f, element %lld): the "
                     "solver will converge slowly, and %s will be inaccurate there",
                     hx_format_count(q->n_poor, text, sizeof text),
                     q->n_poor == 1 ? " has" : "s have", q->min_scaled_jacobian,
                     (long long)q->worst_elem,
                     hx_config_is_heat(&s->cfg) ? "heat fluxes" : "stresses");
    if (q->n_body > 1)
        hx_diags_advise(
            diags, HX_DIAG_BODIES, (double)q->n_body, joining(s, remedy, sizeof remedy),
            "the mesh consists of %lld bodies that share no node (the largest has %s elements; "
            "element %lld at %.4g, %.4g, %.4g belongs to another one)",
            (long long)q->n_body, hx_format_count(q->largest_body, text, sizeof text),
            (long long)q->other_body_elem, q->other_body_xyz[0], q->other_body_xyz[1],
            q->other_body_xyz[2]);
    if (q->n_hinge > 0)
        hx_diags_add(diags, HX_DIAG_HINGES, (double)q->n_hinge,
                     "at %s nodes, elements touch without sharing a face and form hinges",
                     hx_format_count(q->n_hinge, text, sizeof text));
    judge_thickness(diags, s);
    judge_place(diags, &s->mesh);
}

/* text := the value converted from SI units to the config's unit (which is `si` SI units), if that
 * gives a plausible material; otherwise only a question. */
static const char *in_si(const char *key, double value, double si, double least, double most,
                         char *text, size_t n_text)
{
    if (value >= least && value <= most && si > 0.0)
        hx_fit(text, n_text, "`%s=%.6g` if the value was meant in SI units", key, value / si);
    else
        hx_fit(text, n_text, "check its unit");
    return text;
}

/* If the config states units, E and density must be plausible for a material. group: "material", or
 * an entry of `materials`; NaN: it does not give the value. */
static void judge_unit(hx_diags *diags, const hx_session *s, const char *group, double young,
                       double density)
{
    const hx_units *u = &s->cfg.units;
    const double pascal = young * u->pascal, kilograms = density * u->density_si;
    /* bounds of E and density, in SI units */
    const double least[] = {1e3, 0.1}, most[] = {2e12, 3e4};
    char key[2][40], stress[96], mass[96];
    snprintf(key[0], sizeof key[0], "%.30s.E", group);
    snprintf(key[1], sizeof key[1], "%.30s.density", group);
    in_si(key[0], young, u->pascal, least[0], most[0], stress, sizeof stress);
    in_si(key[1], density, u->density_si, least[1], most[1], mass, sizeof mass);
    if (pascal > most[0])
        hx_diags_advise(diags, HX_DIAG_UNIT, young, stress,
                        "%s = %g%s is above that of diamond (1.2 TPa)", key[0], young, u->stress);
    if (pascal < least[0])
        hx_diags_advise(diags, HX_DIAG_UNIT, young, stress,
                        "%s = %g%s is below that of the softest gels (1 kPa)", key[0], young,
                        u->stress);
    if (kilograms > most[1])
        hx_diags_advise(diags, HX_DIAG_UNIT, density, mass,
                        "%s = %g%s is above that of osmium (22,590 kg/m^3)", key[1], density,
                        u->density);
    if (kilograms < least[1])
        hx_diags_advise(diags, HX_DIAG_UNIT, density, mass,
                        "%s = %g%s is below that of air (1 kg/m^3)", key[1], density, u->density);
}

static void judge_units(hx_diags *diags, const hx_session *s)
{
    const hx_config_material *const other = s->cfg.materials.entry;
    char group[32];
    if (!s->cfg.units.system[0]) return;
    judge_unit(diags, s, "material", s->cfg.material.young, s->cfg.material.density);
    for (size_t i = 0; i < s->cfg.materials.n; i++) {
        snprintf(group, sizeof group, "materials[%zu]", i);
        judge_unit(diags, s, group, other[i].young, other[i].density);
    }
}

void hx_diag_material(hx_diags *diags, const hx_session *s)
{
    const double nu = s->cfg.material.poisson;
    if (hx_config_is_heat(&s->cfg)) return;
    judge_units(diags, s);
    if (nu > hx_diag_limit(HX_DIAG_NEAR_INCOMPRESSIBLE) &&
        s->cfg.solver.element == HX_ELEMENT_LINEAR)
        hx_diags_add(diags, HX_DIAG_NEAR_INCOMPRESSIBLE, nu,
                     "material.nu = %g makes the material nearly incompressible: linear elements "
                     "lock and are much too stiff",
                     nu);
}

/* Sums over one of HX_N_PART ranges of points: magnitudes of all nodal forces of a load case, and
 * of their components on fixed degrees of freedom. */
static void add_forces(const hx_problem *problem, int load_case, int part, double *all,
                       double *held)
{
    const double *const force = problem->cases.force[load_case];
    const int64_t end = hx_part_begin(problem->space.n_point, part + 1);
    const int n = problem->components;
    for (int64_t p = hx_part_begin(problem->space.n_point, part); p < end; p++) {
        double size = 0.0, fixed = 0.0; /* squares */
        for (int i = 0; i < n; i++) {
            const double f = force[n * p + i];
            size += f * f;
            if (problem->supports.fixed[p] >> i & 1) fixed += f * f;
        }
        if (size == 0.0 || !hx_mesh_owns_node(problem->mesh, p)) continue; /* most are 0 */
        *all += sqrt(size);
        *held += sqrt(fixed);
    }
}

/* text := arguments that remove the loads of a case that act only on fixed nodes, or "" if there
 * are no such loads, or no others. The last load is removed first, because removing an entry
 * renumbers those after it. */
static int held_words(const hx_session *s, int load_case, char *text, size_t n_text)
{
    const hx_config_load *const load = s->cfg.loads.entry;
    size_t used = hx_fit(text, n_text, "`");
    int n_held = 0, n_other = 0;
    for (size_t i = s->cfg.loads.n; i-- > 0 && used < n_text;) {
        int is_held = 0;
        if (load[i].load_case != load_case + 1) continue;
        /* is_held: 1 if every node of the set is fixed in all components. Collective. */
        if (s->space.element != HX_ELEMENT_SPLINE) {
            const hx_set *const set = load[i].set ? hx_mesh_find_set(&s->mesh, load[i].set) : NULL;
            const unsigned all = (1u << s->problem.components) - 1;
            int64_t n[2] = {0, 0}; /* not fixed, fixed */
            for (int64_t k = 0; set && k < set->n_node; k++)
                if (hx_mesh_owns_node(&s->mesh, set->node[k]))
                    n[(s->problem.supports.fixed[set->node[k]] & all) == all]++;
            HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(&s->mesh), 2, n));
            is_held = n[0] == 0 && n[1] > 0;
        }
        n_held += is_held;
        n_other += !is_held;
        if (is_held)
            used += hx_fit(text + used, n_text - used, "%sloads[%zu]=", n_held > 1 ? " " : "", i);
    }
    if (n_held == 0 || n_other == 0 || used + 64 > n_text)
        text[0] = '\0';
    else
        hx_fit(text + used, n_text - used, "` removes what acts on fixed nodes only");
    return HX_OK;
}

/* 1 if some element is passive and mostly solid: the rest of the part carries its weight. */
static int has_passive_solid(const hx_session *s)
{
    const hx_config_passive *const passive = s->cfg.passive.entry;
    for (size_t i = 0; i < s->cfg.passive.n; i++)
        if (passive[i].density > 0.5) return 1;
    return 0;
}

/* nodal: sum of the magnitudes of nodal forces. */
static int is_weight_only(const hx_session *s, int load_case, double nodal)
{
    return nodal <= 0.0 && hx_problem_body(&s->problem, load_case) &&
           !hx_problem_expands(&s->problem, load_case) && !s->problem.supports.prescribed &&
           !has_passive_solid(s) && hx_session_objective(s) == &hx_response_compliance;
}

/* 1 if the compliance of a case is minimized or limited. */
static int uses_compliance(const hx_session *s, int load_case)
{
    const hx_response_kind *const objective = hx_session_objective(s);
    const int only = s->cfg.optimization.objective.load_case;
    int any = (objective == &hx_response_compliance || objective->is_worst_case) &&
              (only == 0 || only == load_case + 1);
    for (int i = 0; i < s->limits.n; i++) {
        const hx_constraint_spec *const limit = &s->limits.spec[i];
        any |= limit->kind == &hx_response_compliance &&
               (limit->params.load_case == HX_ALL_CASES || limit->params.load_case == load_case);
    }
    return any;
}

static void judge_expansion(hx_diags *diags, const hx_session *s)
{
    int n = 0, first = 0;
    for (int c = s->problem.cases.n; c-- > 0;)
        if (hx_problem_expands(&s->problem, c) && uses_compliance(s, c)) {
            n++;
            first = c + 1;
        }
    if (n > 0)
        hx_diags_add(diags, HX_DIAG_EXPANSION, n,
                     "load case %d has a temperature change, whose load grows with the stiffness: "
                     "its compliance is a misleading measure of stiffness, and the best design "
                     "may be grey or none",
                     first);
}

static int judge_held_loads(hx_diags *diags, const hx_session *s)
{
    const int n_case = s->problem.cases.n, is_heat = hx_config_is_heat(&s->cfg);
    char remedy[HX_REMEDY];
    for (int c = 0; c < n_case; c++) {
        double held;
        /* share: fraction of a load case's nodal forces that act on supports directly.
         * Collective if the mesh is distributed, like all functions that judge loads. */
        double all[HX_N_PART] = {0.0}, on_held[HX_N_PART] = {0.0}, whole[2];
#pragma omp parallel for schedule(static)
        for (int part = 0; part < HX_N_PART; part++)
            add_forces(&s->problem, c, part, &all[part], &on_held[part]);
        whole[0] = hx_sum_parts(all);
        whole[1] = hx_sum_parts(on_held);
        HX_TRY(hx_reduce_sum(hx_mesh_reduce(s->problem.mesh), 2, whole));
        held = whole[0] > 0.0 ? whole[1] / whole[0] : 0.0;
        const double percent = 100.0 * held;
        if (is_weight_only(s, c, whole[0]))
            hx_diags_add(diags, HX_DIAG_WEIGHT_ONLY, c + 1.0,
                         "load case %d has loads by mass only: less material is always stiffer "
                         "under its own weight",
                         c + 1);
        if (!(held > hx_diag_limit(HX_DIAG_LOAD_ON_SUPPORT))) continue;
        if (held >= 1.0 && !hx_problem_body(&s->problem, c) && !s->problem.supports.prescribed)
            continue; /* hx_problem refuses it */
        HX_TRY(held_words(s, c, remedy, sizeof remedy));
        if (is_heat)
            hx_diags_advise(diags, HX_DIAG_LOAD_ON_SUPPORT, held, remedy,
                            "%.0f %% of the heat of load case %d enters at nodes with a prescribed "
                            "temperature and does not flow through the part",
                            percent, c + 1);
        else
            hx_diags_advise(diags, HX_DIAG_LOAD_ON_SUPPORT, held, remedy,
                            "%.0f %% of the nodal forces of load case %d act on fixed degrees of "
                            "freedom: the supports carry them, and the part does not",
                            percent, c + 1);
    }
    return HX_OK;
}

/* 1 if all elements at the nodal point are passive and nearly void. */
static int is_void_node(const hx_problem *problem, int64_t i)
{
    int64_t k;
    const int64_t end = hx_space_nodal_cells(&problem->space, i, &k);
    for (; k < end; k++) {
        const double rho = problem->passive.density[hx_space_nodal_cell(&problem->space, k)];
        if (isnan(rho) || rho > 0.1) return 0;
    }
    return 1;
}

/* rounding: [cases.n] */
static int is_loaded(const hx_session *s, const double *rounding, int64_t nodal)
{
    for (int c = 0; c < s->problem.cases.n; c++)
        if (hx_attached_force(s, c, nodal) > rounding[c]) return 1;
    return 0;
}

/* Marks the elements around a nodal point; threads may do so at once. */
static void mark_around(const hx_session *s, int64_t nodal, uint8_t *at_elem)
{
    int64_t k;
    const int64_t end = hx_space_nodal_cells(&s->problem.space, nodal, &k);
    for (; k < end; k++) {
#pragma omp atomic write
        at_elem[hx_space_nodal_cell(&s->problem.space, k)] = 1;
    }
}

/* A support that touches some void is normal, but one that touches only void has no effect. */
static int judge_void_support(hx_diags *diags, const hx_session *s, uint8_t *at_elem)
{
    const hx_config_support *const support = s->cfg.supports.entry;
    char remedy[HX_REMEDY];
    for (size_t i = 0; i < s->cfg.supports.n; i++) {
        int64_t n[2];
        /* n[0] := number of nodes of a set that touch only void, n[1] := number of its other
         * nodes. at_elem[n_elem] marks the elements at the former. */
        const hx_set *const set =
            support[i].set ? hx_mesh_find_set(&s->mesh, support[i].set) : NULL;
        n[0] = n[1] = 0;
        memset(at_elem, 0, (size_t)s->mesh.n_elem);
        for (int64_t k = 0; set && k < set->n_node; k++) {
            if (!hx_mesh_owns_node(&s->mesh, set->node[k])) continue;
            const int is_void = is_void_node(&s->problem, set->node[k]);
            if (is_void) mark_around(s, set->node[k], at_elem);
            n[!is_void]++;
        }
        HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(&s->mesh), 2, n));
        if (n[0] == 0 || n[1] > 0) continue;
        HX_TRY(hx_diag_void_remedy(s, at_elem, remedy, sizeof remedy));
        hx_diags_advise(diags, HX_DIAG_PASSIVE_VOID_SUPPORT, (double)n[0], remedy,
                        "supports[%zu]: all nodes of '%s' touch passive void only, so this support "
                        "has no effect",
                        i, support[i].set);
    }
    return HX_OK;
}

static int judge_void_load(hx_diags *diags, const hx_session *s, uint8_t *at_elem)
{
    const int is_heat = hx_config_is_heat(&s->cfg);
    int64_t n;
    char text[32], remedy[HX_REMEDY];
    /* n: number of loaded nodal points that touch only void; at_elem[n_elem] := 1 for the
     * elements there. */
    const int n_case = s->problem.cases.n;
    int64_t n_void = 0;
    double *rounding = NULL;
    HX_TRY(hx_alloc_raw(&rounding, (size_t)n_case, sizeof *rounding, "load cases"));
    for (int c = 0; c < n_case; c++) rounding[c] = hx_attached_rounding(s, c);
    int rc = hx_reduce_max(hx_mesh_reduce(&s->mesh), n_case, rounding);
    memset(at_elem, 0, (size_t)s->mesh.n_elem);
#pragma omp parallel for schedule(static) reduction(+ : n_void)
    for (int64_t a = 0; a < hx_space_n_nodal(&s->space); a++) {
        const int is_node = a < s->mesh.n_node; /* otherwise the middle of an edge */
        if ((is_node && !hx_mesh_owns_node(&s->mesh, a)) || !is_loaded(s, rounding, a) ||
            !is_void_node(&s->problem, a))
            continue;
        mark_around(s, a, at_elem);
        n_void++;
    }
    free(rounding);
    if (rc == HX_OK) rc = hx_reduce_sum_i64(hx_mesh_reduce(&s->mesh), 1, &n_void);
    n = n_void;
    HX_TRY(rc);
    if (n == 0) return HX_OK;
    HX_TRY(hx_diag_void_remedy(s, at_elem, remedy, sizeof remedy));
    hx_diags_advise(diags, HX_DIAG_PASSIVE_VOID_LOAD, (double)n, remedy,
                    "%s %s node%s passive void only: %s %s will dominate the compliance",
                    hx_format_count(n, text, sizeof text), is_heat ? "heated" : "loaded",
                    n == 1 ? " touches" : "s touch", n == 1 ? "its" : "their",
                    is_heat ? "temperature" : "displacement");
    return HX_OK;
}

static int judge_void(hx_diags *diags, const hx_session *s)
{
    uint8_t *at_elem;
    if (s->cfg.passive.n == 0 || !s->problem.passive.density)
        return HX_OK; /* or only passive solid elements */
    HX_TRY(hx_alloc_raw(&at_elem, (size_t)s->mesh.n_elem, 1, "elements of void"));
    int rc = judge_void_load(diags, s, at_elem);
    if (rc == HX_OK && !hx_config_is_heat(&s->cfg)) rc = judge_void_support(diags, s, at_elem);
    free(at_elem);
    return rc;
}

static int judge_loads(hx_diags *diags, const hx_session *s)
{
    HX_TRY(judge_held_loads(diags, s));
    judge_expansion(diags, s);
    HX_TRY(hx_diag_mechanism(diags, s));
    HX_TRY(judge_void(diags, s));
    HX_TRY(hx_diag_void(diags, s));
    return hx_diag_part(diags, s);
}

void hx_diag_loads(hx_diags *diags, const hx_session *s)
{
    if (judge_loads(diags, s) == HX_OK) return;
    hx_log_warning("could not check if the supports can carry all loads: %s", hx_error_message());
    hx_error_clear();
}

/* For a mesh that no rank has as a whole: all ranks judge the loads together. */
static int judge_shared_loads(hx_diags *diags, hx_session *s)
{
    return hx_session_note_error(s, judge_loads(diags, s));
}

/* text := the radius as an argument, in the config's unit. */
static const char *radius_of(const hx_session *s, double in_elements, char *text, size_t n_text)
{
    const int is_relative = s->cfg.optimization.filter.unit == HX_UNIT_ELEMENT;
    hx_fit(text, n_text, "`optimization.filter.radius=%.4g` is %.2g elements; 1.5 to 6 are usual",
           is_relative ? in_elements : in_elements * s->mesh.elem_size, in_elements);
    return text;
}

void hx_diag_filter(hx_diags *diags, const hx_session *s)
{
    const double in_elements = s->filter_radius / s->mesh.elem_size, usual = 2.5;
    char remedy[HX_REMEDY];
    if (!(s->filter_radius > 0.0)) return;
    if (in_elements < hx_diag_limit(HX_DIAG_FILTER_SMALL))
        hx_diags_advise(diags, HX_DIAG_FILTER_SMALL, in_elements,
                        radius_of(s, usual, remedy, sizeof remedy),
                        "the filter radius of %.2g elements reaches hardly any neighbour: "
                        "checkerboards are likely",
                        in_elements);
    if (in_elements > hx_diag_limit(HX_DIAG_FILTER_LARGE))
        hx_diags_advise(
            diags, HX_DIAG_FILTER_LARGE, in_elements, radius_of(s, usual, remedy, sizeof remedy),
            "the filter radius of %.3g elements blurs the design and costs time", in_elements);
    /* A function of degree p covers p + 1 spans, so it connects parts of the design that fewer
     * void spans separate. */
    if (s->space.element != HX_ELEMENT_SPLINE) return;
    const int degree = hx_spline_degree(s->space.spline);
    const double share = in_elements / (0.5 * (degree + 1));
    if (share < hx_diag_limit(HX_DIAG_FILTER_SPLINE))
        hx_diags_advise(diags, HX_DIAG_FILTER_SPLINE, share,
                        radius_of(s, 0.5 * (degree + 1) * 1.05, remedy, sizeof remedy),
                        "the filter radius of %.2g spans is less than half of the %d spans that a "
                        "function of degree %d covers: such functions carry load across gaps that "
                        "are narrower, so "
                        "the design may consist of separate pieces",
                        in_elements, degree + 1, degree);
}

/* 1 if mesh.mirrored could give each element its image: the triangles of an STL file are not cut. */
static int could_be_mirrored(const hx_session *s)
{
    const char *const file = s->cfg.mesh.file;
    const hx_model_format *const format = file ? hx_model_format_of_file(file) : NULL;
    return !s->cfg.mesh.mirrored && format && strcmp(format->name, "STL") != 0 &&
           hx_model_is_cad(file);
}

void hx_diag_groups(hx_diags *diags, const hx_session *s)
{
    const hx_groups *const groups = &s->groups;
    const double n_free = (double)(s->mesh.n_elem - s->problem.passive.n);
    const double alone = (double)groups->n_alone / n_free, off = (double)groups->n_shifted / n_free;
    const int has_planes = s->cfg.optimization.symmetry.n > 0;
    const int is_repeated = s->cfg.optimization.repetition.n > 0;
    const char *const free_it = is_repeated
                                    ? "check the axis, step, point and copies of the repetitions; "
                                      "`optimization.repetition=` removes them"
                                : has_planes && could_be_mirrored(s)
                                    ? "`mesh.mirrored=true` meshes one side and mirrors it, if the "
                                      "halves of the CAD model agree; `optimization.symmetry=` "
                                      "removes the planes"
                                : has_planes ? "check the points and normals of the planes; "
                                               "`optimization.symmetry=` removes the planes"
                                             : "`optimization.extrusion=` removes the extrusion";
    if (groups->n_group == 0) return;
    if (alone > hx_diag_limit(HX_DIAG_NO_IMAGE))
        hx_diags_advise(
            diags, HX_DIAG_NO_IMAGE, alone, free_it,
            "%.0f %% of the elements have no image in the part and keep densities of their own",
            100.0 * alone);
    if (off > hx_diag_limit(HX_DIAG_NOT_SYMMETRIC))
        hx_diags_advise(
            diags, HX_DIAG_NOT_SYMMETRIC, off, free_it,
            "the mesh itself does not have the %s of the design: %.0f %% of the "
            "elements share the density of an element up to %.2g element sizes away from their "
            "image",
            is_repeated ? "repetition" : "symmetry or extrusion", 100.0 * off, groups->shift);
}

/* Threads in excess of the cores have to take turns. */
static void judge_threads(hx_diags *diags, const hx_session *s)
{
#ifdef _OPENMP
    const int n = s->cfg.solver.threads, n_core = omp_get_num_procs();
    if ((double)n > hx_diag_limit(HX_DIAG_THREADS) * n_core)
        hx_diags_add(
            diags, HX_DIAG_THREADS, n,
            "solver.threads = %d exceeds the %d core%s available here: threads that share a "
            "core wait for each other",
            n, n_core, n_core == 1 ? "" : "s");
#else
    (void)diags, (void)s;
#endif
}

/* The continued values that will not reach the end of their schedule. */
static const char *last_values(const hx_config *cfg)
{
    const hx_schedule penalty = hx_penalty_schedule(cfg), beta = hx_beta_schedule(cfg);
    const int n = cfg->optimization.iterations;
    const int rises = (hx_schedule_iterations(&penalty) >= n && !hx_schedule_ended(&penalty)) |
                      (hx_schedule_iterations(&beta) >= n && !hx_schedule_ended(&beta)) << 1;
    return rises == 1   ? "penalty reaches its final value"
           : rises == 2 ? "beta reaches its final value"
                        : "penalty and beta reach their final values";
}

static double void_stiffness(const hx_config *cfg)
{
    return pow(cfg->optimization.rho_min, cfg->optimization.penalty);
}

int hx_diag_soft_void(const hx_session *s, char *remedy, size_t n_remedy)
{
    const double usual = hx_config_usual_penalty(&s->cfg);
    hx_config other = s->cfg; /* (borrowed) all pointers */
    if (!(void_stiffness(&s->cfg) < hx_diag_limit(HX_DIAG_SOFT_VOID))) return 0;
    other.optimization.penalty = fmin(usual, s->cfg.optimization.penalty);
    if (other.optimization.penalty < s->cfg.optimization.penalty &&
        !(void_stiffness(&other) < hx_diag_limit(HX_DIAG_SOFT_VOID)))
        hx_fit(remedy, n_remedy, "`optimization.penalty=%g` is usual", usual);
    else
        hx_fit(remedy, n_remedy, "`optimization.rho_min=%.1g` makes void stiff enough",
               fmin(0.5, 1.1 * pow(1e-9, 1.0 / s->cfg.optimization.penalty)));
    return 1;
}

/* Settings with which PCG may break down, or which end the run before the design converges. */
static void judge_optimizer(hx_diags *diags, const hx_session *s)
{
    const double tolerance = s->cfg.optimization.change_tolerance,
                 rho_min = s->cfg.optimization.rho_min, penalty = s->cfg.optimization.penalty;
    char remedy[HX_REMEDY];
    const int n = s->cfg.optimization.iterations;
    hx_fit(remedy, sizeof remedy,
           n < 100 ? "`optimization.change_tolerance=0.01 optimization.iterations=100` is usual"
                   : "`optimization.change_tolerance=0.01` is usual");
    if (tolerance > hx_diag_limit(HX_DIAG_CHANGE_TOLERANCE))
        hx_diags_advise(diags, HX_DIAG_CHANGE_TOLERANCE, tolerance, remedy,
                        "optimization.change_tolerance = %g ends the run while densities still "
                        "change by up to %g, before the design converges",
                        tolerance, tolerance);
    if (hx_diag_soft_void(s, remedy, sizeof remedy))
        hx_diags_advise(diags, HX_DIAG_SOFT_VOID, void_stiffness(&s->cfg), remedy,
                        "void has %.1g of the solid's stiffness (optimization.rho_min = %g to the "
                        "power of optimization.penalty = %g), which double precision can hardly "
                        "resolve: PCG may not converge",
                        void_stiffness(&s->cfg), rho_min, penalty);
}

void hx_diag_solver(hx_diags *diags, const hx_session *s)
{
    const hx_config *const cfg = &s->cfg;
    const int n = hx_continuation_iterations(cfg);
    const double tolerance = cfg->solver.tolerance;
    char remedy[HX_REMEDY];
    hx_fit(remedy, sizeof remedy, "`optimization.iterations=%d` adds 20 to these", n + 20);
    if (n >= cfg->optimization.iterations)
        hx_diags_advise(
            diags, HX_DIAG_TOO_FEW_ITERATIONS, cfg->optimization.iterations, remedy,
            "optimization.iterations = %d ends the run before %s, which may take %d %s, and the "
            "design needs some more to converge",
            cfg->optimization.iterations, last_values(cfg), n,
            hx_noun(n, "iteration", "iterations"));
    if (cfg->solver.criterion == HX_PCG_RELATIVE && tolerance > hx_diag_limit(HX_DIAG_TOLERANCE))
        hx_diags_add(
            diags, HX_DIAG_TOLERANCE, tolerance,
            "solver.tolerance = %g accepts a residual of this fraction of the load: compliance "
            "and sensitivities are inaccurate",
            tolerance);
    if (cfg->solver.criterion == HX_PCG_COMPLIANCE &&
        tolerance > hx_diag_limit(HX_DIAG_TOLERANCE_COMPLIANCE))
        hx_diags_add(
            diags, HX_DIAG_TOLERANCE_COMPLIANCE, tolerance,
            "solver.tolerance = %g of the compliance allows relative errors of about %.1g in the "
            "sensitivities: the run may lead to another design",
            tolerance, 2.0 * sqrt(tolerance));
    judge_optimizer(diags, s);
    judge_threads(diags, s);
}

double hx_diag_host_bytes(const hx_session *s, double *have)
{
    const int shared = strcmp(s->device.ops->name, "cpu") == 0;
    const double host = (double)hx_session_mesh_bytes(s) + (double)hx_problem_bytes(&s->problem);
    const double taken =
        s->device_bytes > 0 ? (double)s->device_bytes : (double)s->solver.op.device_bytes;
    *have = (double)hx_host_memory_available() + host + (shared ? taken : 0.0);
    return host + (shared ? (double)hx_session_device_bytes(s) : 0.0);
}

void hx_diag_memory(hx_diags *diags, const hx_session *s, double want, double have)
{
    (void)s;
    if (have > 0.0 && want > hx_diag_limit(HX_DIAG_MEMORY) * have)
        hx_diags_add(diags, HX_DIAG_MEMORY, want / have,
                     "the run will need nearly all of the host memory, or more");
}

void hx_diag_disk(hx_diags *diags, const hx_session *s, double want, double have)
{
    if (have > 0.0 && want > hx_diag_limit(HX_DIAG_DISK) * have)
        hx_diags_add(diags, HX_DIAG_DISK, want / have, "the files may not fit on the disk of %s",
                     s->cfg.output.directory);
}

int hx_diags_meanwhile(hx_diags *diags, hx_session *s)
{
    if (!s->measuring.is_running) return HX_OK;
    HX_TRY(hx_session_measure(s));
    hx_diag_mesh(diags, s);
    return HX_OK;
}

int hx_diags_before(hx_diags *diags, hx_session *s)
{
    double want, have;
    if (!hx_session_is_first(s)) return s->mesh.ownership ? judge_shared_loads(diags, s) : HX_OK;
    if (!s->measuring.is_running) HX_TRY(hx_session_measure(s));
    if (s->mesh.ownership) {
        judge_place(diags, &s->mesh);
        HX_TRY(judge_shared_loads(diags, s));
    } else {
        if (!s->measuring.is_running) hx_diag_mesh(diags, s);
        hx_diag_loads(diags, s);
    }
    hx_diag_material(diags, s);
    hx_diag_filter(diags, s);
    hx_diag_groups(diags, s);
    hx_diag_solver(diags, s);
    want = hx_diag_host_bytes(s, &have);
    hx_diag_memory(diags, s, want, have);
    return HX_OK;
}
