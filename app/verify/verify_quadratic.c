/* The 0/1 design analysed with quadratic elements, which shows the error of linear elements on this
 * mesh. The whole mesh is analysed, void included; if that does not fit into memory, only the
 * largest solid piece. For heat it is always the whole mesh, since void also conducts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/output.h"
#include "../result/solid_mesh.h"
#include "../session/config_problem.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/krylov/precond.h"
#include "core/operator/conduction_ops.h"
#include "core/registry.h"
#include "verify.h"

/* The mesh that is analysed. */
typedef struct part {
    const hx_mesh *mesh;     /* mesh of the session, or `own` (borrowed) */
    const int32_t *node_map; /* [n_node] node of the session's mesh; NULL: the same (borrowed) */
    const int32_t *elem_map; /* [n_elem] likewise */
    hx_solid_mesh own;       /* used if only the solid is analysed (owned) */
    hx_space space;
    hx_problem problem;
    hx_device device;
    hx_analysis analysis;
} part;

static void part_free(part *p)
{
    hx_analysis_free(&p->analysis);
    hx_device_close(&p->device);
    hx_problem_free(&p->problem);
    hx_space_free(&p->space);
    hx_solid_mesh_free(&p->own);
    memset(p, 0, sizeof *p);
}

hx_solver_params hx_verify_solver_params(const hx_verify *v)
{
    hx_solver_params params = hx_solver_defaults();
    params.choose.deterministic = 1;
    params.tolerance = v->session.cfg.solver.tolerance;
    params.max_iterations = v->session.cfg.solver.max_iterations;
    return params;
}

int hx_verify_count_bytes(const hx_verify *v, const hx_problem *problem, hx_device *device,
                          size_t *bytes)
{
    hx_solver_params params = hx_verify_solver_params(v);
    const size_t vector =
        (size_t)problem->components * (size_t)problem->space.n_point * sizeof(double);
    const hx_precond_kind *kind =
        hx_choose_precond(&params.choose, device->ops, hx_choose_size(&problem->space));
    hx_operator none = {0};
    hx_choice choice;
    HX_TRY(hx_choose_operator(&choice, &params.choose, device, problem, kind, &none));
    params.choose.other_bytes = (size_t)problem->cases.n * vector +
                                hx_analysis_load_bytes(problem, params.choose.precision);
    *bytes =
        hx_choose_bytes(&params.choose, device->ops, problem, choice.op_kind, choice.layout, kind);
    return HX_OK;
}

/* Opens the whole mesh (solid = 0) or only the solid, up to the problem. *bytes: memory that its
 * analysis needs; *n_free: free memory, 0: unknown. */
static int open_part(const hx_verify *v, int solid, part *p, size_t *bytes, size_t *n_free)
{
    size_t n_total;
    memset(p, 0, sizeof *p);
    p->mesh = &v->session.mesh;
    /* The session's device; the CPU if that device does not support quadratic elements of
     * heat. */
    const hx_device_ops *const ops = v->session.device.ops;
    const int has = !hx_config_is_heat(&v->session.cfg) || ops->conduction->quadratic;
    HX_TRY(hx_device_open(&p->device, has ? ops : hx_device_find("cpu")));
    /* The mesh of the largest solid piece. */
    if (solid) {
        const int64_t n = v->session.mesh.n_elem;
        uint8_t *is_kept = NULL;
        HX_TRY(hx_alloc_raw(&is_kept, (size_t)n, 1, "solid part"));
        for (int64_t e = 0; e < n; e++) is_kept[e] = v->attached.pieces.of[e] == 0;
        const int rc =
            hx_solid_mesh_create(&p->own, &v->session.mesh, &v->session.conditions, is_kept, 0);
        free(is_kept);
        p->mesh = &p->own.mesh;
        p->node_map = p->own.node;
        p->elem_map = p->own.elem;
        HX_TRY(rc);
    }
    /* Makes space and problem; passive elements have their densities already. */
    hx_config cfg = v->session.cfg; /* borrows everything that it points to */
    const hx_conditions *conditions =
        p->mesh == &p->own.mesh ? &p->own.conditions : &v->session.conditions;
    cfg.passive.n = cfg.materials.n = 0;
    HX_TRY(hx_space_create(&p->space, p->mesh, HX_ELEMENT_QUADRATIC));
    HX_TRY(hx_config_make_problem(&cfg, &p->space, conditions, &p->problem, NULL, NULL));
    HX_TRY(hx_problem_copy_materials(&p->problem, &v->session.problem, p->elem_map));
    p->problem.multigrid = &v->session.cfg.solver.multigrid;
    HX_TRY(hx_verify_count_bytes(v, &p->problem, &p->device, bytes));
    return p->device.ops->memory(&p->device, n_free, &n_total);
}

/* Raises HX_EENV with the memory that either part needs; 0: not counted or not possible. */
static int refuse_quadratic(const hx_verify *v, size_t whole, size_t solid, size_t n_free)
{
    char a[32], b[32], c[32], alone[64] = "";
    if (!hx_config_is_heat(&v->session.cfg))
        snprintf(alone, sizeof alone, " and %s for only the solid",
                 hx_format_bytes((double)solid, b, sizeof b));
    return HX_RAISE(HX_EENV,
                    "quadratic elements need %s of memory for the whole mesh%s, %s is free: use a "
                    "coarser mesh, or verify with linear elements",
                    whole > 0 ? hx_format_bytes((double)whole, a, sizeof a) : "more", alone,
                    hx_format_bytes((double)n_free, c, sizeof c));
}

/* Finds the part that fits into memory, and the bytes that it takes. */
static int find_part(hx_verify *v, part *p)
{
    hx_verify_quadratic *const q = &v->quadratic;
    size_t whole = 0, solid = 0, n_free = 0;
    if (!q->solid_only) {
        HX_TRY(open_part(v, 0, p, &whole, &n_free));
        q->bytes = whole;
        if (n_free == 0 || whole <= n_free) return HX_OK;
        if (hx_config_is_heat(&v->session.cfg)) return refuse_quadratic(v, whole, 0, n_free);
        part_free(p);
    }
    HX_TRY(open_part(v, 1, p, &solid, &n_free));
    q->solid_only = 1;
    q->bytes = solid;
    if (n_free == 0 || solid <= n_free) return HX_OK;
    return refuse_quadratic(v, whole, solid, n_free);
}

/* Finds the peaks of a case over nodes and elements of the solid. */
static void find_peaks(const hx_verify *v, const part *p, int load_case, const double *u,
                       const float *stress, hx_verify_analysis *a)
{
    const hx_mesh *mesh = &v->session.mesh;
    const int has_void = p->mesh == mesh && !hx_config_is_heat(&v->session.cfg);
    hx_verify_offer_displacement(&p->space, mesh, p->node_map, p->elem_map,
                                 has_void ? v->is_solid : NULL, p->problem.components, load_case, u,
                                 &a->displacement);
    for (int64_t k = 0; k < p->mesh->n_elem; k++) {
        const int64_t e = p->elem_map ? p->elem_map[k] : k;
        const double size = stress[k];
        if (!v->is_solid[e] || (a->stress.load_case > 0 && !(size > a->stress.value))) continue;
        a->stress = (hx_verify_peak){
            size, load_case, {HX_AT_ELEMENT, hx_mesh_elem_number(mesh, e), 0}, {0}};
        hx_mesh_centroid(mesh, e, a->stress.point);
    }
}

/* The elements of the part that are solid, with zones as in the session's mesh. */
static int create_samples(const hx_verify *v, const part *p, hx_verify_samples *samples)
{
    HX_TRY(hx_verify_samples_create(samples, p->mesh->n_elem));
    for (int64_t k = 0; k < samples->n; k++) {
        const int64_t e = p->elem_map ? p->elem_map[k] : k;
        samples->volume[k] = v->is_solid[e] ? v->session.problem.volume[e] : 0.0;
        samples->is_zone[k] = v->samples.is_zone[e];
    }
    return HX_OK;
}

static int read_results(const hx_verify *v, part *p, hx_verify_analysis *a)
{
    const int is_heat = hx_config_is_heat(&v->session.cfg);
    const size_t n_elem = (size_t)p->mesh->n_elem;
    const size_t n = (size_t)p->problem.components * (size_t)p->space.n_point;
    double *u = NULL, *modulus = NULL;
    float *stress = NULL, *flux = NULL;
    hx_verify_samples samples = {0};
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&u, n, sizeof *u, "displacements"));
    if (is_heat) HX_TRY_FAIL(hx_alloc_raw(&flux, 3 * n_elem, sizeof *flux, "heat fluxes"));
    HX_TRY_FAIL(hx_alloc_raw(&modulus, n_elem, sizeof *modulus, "moduli"));
    HX_TRY_FAIL(hx_alloc_raw(&stress, n_elem, sizeof *stress, "stresses"));
    HX_TRY_FAIL(hx_analysis_modulus(&p->analysis, modulus));
    if (!is_heat) HX_TRY_FAIL(create_samples(v, p, &samples));
    for (int c = 0; c < p->problem.cases.n; c++) {
        HX_TRY_FAIL(hx_analysis_point_displacement(&p->analysis, c, u));
        if (is_heat)
            hx_verify_find_fluxes(&p->problem, modulus, u, flux, stress);
        else
            hx_output_von_mises(&p->problem, modulus, u, stress);
        find_peaks(v, p, c + 1, u, stress, a);
        for (int64_t k = 0; k < samples.n; k++)
            hx_verify_samples_offer(&samples, k, c + 1, stress[k]);
        a->case_compliance[c] = p->analysis.load_case[c].compliance;
    }
    if (!is_heat) HX_TRY_FAIL(hx_verify_samples_judge(&samples, p->mesh, 0, &a->stresses));
fail:
    hx_verify_samples_free(&samples);
    free(u);
    free(modulus);
    free(stress);
    free(flux);
    return rc;
}

static int find_limits(const hx_verify *v, part *p, hx_verify_analysis *a)
{
    const size_t n = (size_t)p->mesh->n_elem;
    const hx_constraint_spec *const spec = v->session.limits.spec;
    double *counted;
    HX_TRY(hx_alloc_raw(&counted, n, sizeof *counted, "densities"));
    for (size_t k = 0; k < n; k++)
        counted[k] = v->is_solid[p->elem_map ? (size_t)p->elem_map[k] : k] ? 1.0 : 0.0;
    const int rc = hx_verify_find_limits(v, &p->analysis, spec, counted, a);
    free(counted);
    return rc;
}

static int analyse_quadratic(hx_verify *v, part *p)
{
    hx_verify_quadratic *const q = &v->quadratic;
    hx_verify_analysis *const a = &q->analysis;
    const hx_solver_params params = hx_verify_solver_params(v);
    const double begin = hx_clock();
    HX_TRY(hx_alloc(&a->case_compliance, (size_t)p->problem.cases.n, sizeof *a->case_compliance,
                    "load cases"));
    HX_TRY(hx_analysis_open(&p->analysis, &p->device, &p->problem, &params));
    hx_log_notes(&p->analysis.own->notes);
    HX_TRY(hx_analysis_solve_density(&p->analysis, p->mesh == &p->own.mesh ? NULL : v->black_white,
                                     v->session.design.penalty.last));
    HX_TRY(hx_analysis_compliance(&p->analysis, &a->compliance));
    a->reason = p->analysis.record.reason;
    a->pcg_iterations = p->analysis.record.pcg_iterations;
    a->pcg_residual = p->analysis.record.pcg_residual;
    a->volume = v->analysis[HX_VERIFY_SOLID].volume;
    a->mass = v->analysis[HX_VERIFY_SOLID].mass;
    HX_TRY(find_limits(v, p, a));
    HX_TRY(hx_verify_find_shares(v, a));
    HX_TRY(read_results(v, p, a));
    q->n_elem = p->mesh->n_elem;
    q->n_point = p->space.n_point;
    q->seconds = hx_clock() - begin;
    hx_space_text(&p->space, q->element, sizeof q->element);
    snprintf(q->solver, sizeof q->solver, "%s, %s", p->analysis.op->op_kind->name,
             p->analysis.pc->kind->name);
    return HX_OK;
}

int hx_verify_analyse_quadratic(hx_verify *v)
{
    part p;
    /* the analysis needs the memory of the session's solver */
    hx_session_drop_operator(&v->session);
    int rc = find_part(v, &p);
    if (rc == HX_OK) rc = analyse_quadratic(v, &p);
    if (rc == HX_EINPUT && v->quadratic.solid_only)
        hx_error_prefix("quadratic elements, only the solid: ");
    part_free(&p);
    return rc;
}
