/* The 0/1 design again with quadratic elements: what the mesh of linear ones leaves out. Of the
 * whole mesh, void included, or of the largest solid piece alone where that does not fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/output.h"
#include "../session/config_problem.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/vec3.h"
#include "core/solver/precond.h"
#include "verify.h"

/* What is analysed. */
typedef struct part {
    const hx_mesh *mesh;      /* of the session, or `own` (borrowed) */
    const int32_t *node_map;  /* [n_node] node of the session's mesh; NULL: the same (owned) */
    const int32_t *elem_map;  /* [n_elem] likewise */
    hx_mesh own;              /* of the solid alone (owned) */
    hx_conditions conditions; /* of the solid alone (owned) */
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
    hx_conditions_free(&p->conditions);
    hx_mesh_free(&p->own);
    free((void *)(uintptr_t)p->node_map);
    free((void *)(uintptr_t)p->elem_map);
    memset(p, 0, sizeof *p);
}

static int is_kept(const hx_verify *v, int64_t e)
{
    return v->pieces.of[e] == 0;
}

/* new_node[node of the mesh] := number in the part, -1: not in it; and both maps back. */
static int number_part(const hx_verify *v, part *p, int32_t *new_node, int32_t *new_elem)
{
    const hx_mesh *mesh = &v->session.mesh;
    int32_t *node = NULL, *elem = NULL;
    int64_t n_node = 0, n_elem = 0;
    HX_TRY(hx_alloc_raw(&node, (size_t)mesh->n_node, sizeof *node, "solid part"));
    p->node_map = node;
    HX_TRY(hx_alloc_raw(&elem, (size_t)v->pieces.n_elem[0], sizeof *elem, "solid part"));
    p->elem_map = elem;
    for (int64_t a = 0; a < mesh->n_node; a++) new_node[a] = -1;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        new_elem[e] = is_kept(v, e) ? (int32_t)n_elem : -1;
        if (!is_kept(v, e)) continue;
        elem[n_elem++] = (int32_t)e;
        for (int a = 0; a < 8; a++) new_node[mesh->conn[8 * e + a]] = 0;
    }
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (new_node[a] < 0) continue;
        node[n_node] = (int32_t)a;
        new_node[a] = (int32_t)n_node++;
    }
    p->own.n_node = n_node;
    p->own.n_elem = n_elem;
    return HX_OK;
}

static int copy_mesh(const hx_verify *v, part *p, const int32_t *new_node)
{
    const hx_mesh *mesh = &v->session.mesh;
    const int64_t n_node = p->own.n_node, n_elem = p->own.n_elem;
    double *xyz = NULL;
    int32_t *conn = NULL;
    memset(&p->own, 0, sizeof p->own);
    HX_TRY(hx_alloc_raw(&xyz, (size_t)n_node, 3 * sizeof *xyz, "solid part"));
    const int rc = hx_alloc_raw(&conn, (size_t)n_elem, 8 * sizeof *conn, "solid part");
    if (rc < 0) {
        free(xyz);
        return rc;
    }
    for (int64_t a = 0; a < n_node; a++)
        memcpy(xyz + 3 * a, mesh->xyz + 3 * (int64_t)p->node_map[a], 3 * sizeof *xyz);
    for (int64_t k = 0; k < 8 * n_elem; k++)
        conn[k] = new_node[mesh->conn[8 * (int64_t)p->elem_map[k / 8] + k % 8]];
    HX_TRY(hx_mesh_create(&p->own, mesh->name, n_node, xyz, n_elem, conn));
    return hx_middles_copy(&p->own.middles, &mesh->middles, new_node);
}

/* What of a set the part has: its faces where it names faces, else its nodes. */
static int copy_set(part *p, const hx_set *set, const int32_t *new_node, const int32_t *new_elem)
{
    int32_t *node = NULL;
    int64_t *face = NULL, n = 0;
    int rc;
    if (set->n_face > 0) {
        HX_TRY_FAIL(hx_alloc_raw(&face, (size_t)set->n_face, sizeof *face, "solid part"));
        for (int64_t i = 0; i < set->n_face; i++)
            if (new_elem[set->face[i] / 6] >= 0)
                face[n++] = 6 * (int64_t)new_elem[set->face[i] / 6] + set->face[i] % 6;
        HX_TRY_FAIL(hx_mesh_add_face_set(&p->own, set->name, n, face));
    } else {
        HX_TRY_FAIL(hx_alloc_raw(&node, (size_t)set->n_node, sizeof *node, "solid part"));
        for (int64_t i = 0; i < set->n_node; i++)
            if (new_node[set->node[i]] >= 0) node[n++] = new_node[set->node[i]];
        HX_TRY_FAIL(hx_mesh_add_node_set(&p->own, set->name, n, node));
    }
    rc = HX_OK;
fail:
    free(node);
    free(face);
    return rc;
}

/* Those of the file's values whose nodes the part has. */
static int copy_values(const hx_mesh *mesh, int64_t n, const hx_file_value *from,
                       const int32_t *new_node, int64_t *n_to, hx_file_value **to)
{
    int32_t *node = NULL;
    HX_TRY(hx_conditions_nodes(mesh, n, from, &node));
    const int rc = hx_alloc_raw(to, (size_t)n, sizeof **to, "solid part");
    for (int64_t i = 0; rc == HX_OK && i < n; i++) {
        if (new_node[node[i]] < 0) continue;
        (*to)[*n_to] = from[i];
        (*to)[(*n_to)++].node = new_node[node[i]];
    }
    free(node);
    return rc;
}

static int copy_middles(const hx_verify *v, part *p, const int32_t *new_node)
{
    const hx_conditions *from = &v->session.conditions;
    int32_t *end = NULL;
    HX_TRY(hx_conditions_ends(&v->session.mesh, from->n_middle, from->middle, &end));
    const int rc = hx_alloc_raw(&p->conditions.middle, (size_t)from->n_middle, sizeof *from->middle,
                                "solid part");
    for (int64_t i = 0; rc == HX_OK && i < from->n_middle; i++) {
        const int32_t now[2] = {new_node[end[2 * i]], new_node[end[2 * i + 1]]};
        if (now[0] < 0 || now[1] < 0) continue;
        hx_file_middle *const to = &p->conditions.middle[p->conditions.n_middle++];
        *to = from->middle[i];
        memcpy(to->end, now, sizeof now);
    }
    free(end);
    return rc;
}

static int copy_conditions(const hx_verify *v, part *p, const int32_t *new_node)
{
    const hx_conditions *from = &v->session.conditions;
    const hx_mesh *mesh = &v->session.mesh;
    p->conditions.n_case = from->n_case;
    p->conditions.is_second_order = from->is_second_order;
    HX_TRY(copy_middles(v, p, new_node));
    HX_TRY(hx_strdup(&p->conditions.fault, from->fault));
    HX_TRY(copy_values(mesh, from->n_support, from->support, new_node, &p->conditions.n_support,
                       &p->conditions.support));
    return copy_values(mesh, from->n_force, from->force, new_node, &p->conditions.n_force,
                       &p->conditions.force);
}

/* The mesh of the largest solid piece. */
static int make_solid(const hx_verify *v, part *p)
{
    const hx_mesh *mesh = &v->session.mesh;
    int32_t *new_node = NULL, *new_elem = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&new_node, (size_t)mesh->n_node, sizeof *new_node, "solid part"));
    HX_TRY_FAIL(hx_alloc_raw(&new_elem, (size_t)mesh->n_elem, sizeof *new_elem, "solid part"));
    HX_TRY_FAIL(number_part(v, p, new_node, new_elem));
    HX_TRY_FAIL(copy_mesh(v, p, new_node));
    for (size_t i = 0; i < mesh->n_set; i++)
        HX_TRY_FAIL(copy_set(p, &mesh->set[i], new_node, new_elem));
    HX_TRY_FAIL(copy_conditions(v, p, new_node));
    HX_TRY_FAIL(hx_mesh_finish(&p->own));
    p->mesh = &p->own;
    rc = HX_OK;
fail:
    free(new_node);
    free(new_elem);
    return rc;
}

/* Space and problem; passive elements have their densities already. */
static int make_problem(const hx_verify *v, part *p)
{
    hx_config cfg = v->session.cfg; /* borrows all that it points to */
    const hx_conditions *conditions = p->mesh == &p->own ? &p->conditions : &v->session.conditions;
    cfg.passive.n = 0;
    HX_TRY(hx_space_create(&p->space, p->mesh, HX_ELEMENT_QUADRATIC));
    return hx_config_make_problem(&cfg, &p->space, conditions, &p->problem, NULL);
}

/* Operators and preconditioners to choose from, by themselves: the one that stores least. */
static hx_solver_params solver_params(const hx_verify *v)
{
    hx_solver_params params = hx_solver_defaults();
    params.choose.deterministic = 1;
    params.tolerance = v->session.cfg.solver.tolerance;
    params.max_iterations = v->session.cfg.solver.max_iterations;
    return params;
}

/* Device bytes of an analysis of the problem. */
static int count_bytes(const hx_verify *v, const part *p, size_t *bytes)
{
    const hx_solver_params params = solver_params(v);
    const size_t vector = 3 * (size_t)p->space.n_point * sizeof(double);
    const hx_precond_kind *kind =
        hx_choose_precond(&params.choose, p->device.ops, hx_choose_size(&p->space));
    hx_account account = {0};
    hx_operator none = {0};
    hx_choice choice;
    HX_TRY(hx_choose_operator(&choice, &params.choose, (hx_device *)(uintptr_t)&p->device,
                              &p->problem, kind, &none));
    hx_operator_account(&account, &p->problem, choice.strategy, choice.layout);
    *bytes =
        hx_account_sum(&account) +
        hx_precond_bytes(kind, &p->problem, p->device.ops, choice.strategy) +
        (size_t)(hx_pcg_vectors(kind, p->problem.rigid.n > 0) + hx_analysis_vectors(&p->problem)) *
            vector;
    return HX_OK;
}

/* The whole mesh (solid = 0) or the solid alone, up to the problem; *bytes that its analysis takes
 * and *n_free that there are, 0: unknown. */
static int open_part(const hx_verify *v, int solid, part *p, size_t *bytes, size_t *n_free)
{
    size_t n_total;
    memset(p, 0, sizeof *p);
    p->mesh = &v->session.mesh;
    HX_TRY(hx_device_open(&p->device, v->session.device.ops));
    if (solid) HX_TRY(make_solid(v, p));
    HX_TRY(make_problem(v, p));
    HX_TRY(count_bytes(v, p, bytes));
    return p->device.ops->memory(&p->device, n_free, &n_total);
}

/* The part that fits, and how much it takes. */
static int find_part(hx_verify *v, part *p)
{
    hx_verify_quadratic *const q = &v->quadratic;
    size_t whole = 0, solid = 0, n_free = 0;
    char a[32], b[32], c[32];
    if (!q->solid_only) {
        HX_TRY(open_part(v, 0, p, &whole, &n_free));
        q->bytes = whole;
        if (n_free == 0 || whole <= n_free) return HX_OK;
        part_free(p);
    }
    HX_TRY(open_part(v, 1, p, &solid, &n_free));
    q->solid_only = 1;
    q->bytes = solid;
    if (n_free == 0 || solid <= n_free) return HX_OK;
    return HX_RAISE(HX_EENV,
                    "quadratic elements need %s of memory for the whole mesh and %s for the solid "
                    "alone, %s is free: take a coarser mesh, or verify with linear elements",
                    whole > 0 ? hx_format_bytes((double)whole, a, sizeof a) : "more",
                    hx_format_bytes((double)solid, b, sizeof b),
                    hx_format_bytes((double)n_free, c, sizeof c));
}

/* Peaks of a case over nodes and elements of solid. */
static void find_peaks(const hx_verify *v, const part *p, int load_case, const double *u,
                       const float *stress, hx_verify_analysis *a)
{
    const hx_mesh *mesh = &v->session.mesh;
    for (int64_t k = 0; k < p->mesh->n_node; k++) {
        const int64_t node = p->node_map ? p->node_map[k] : k;
        const double size = hx_norm3(u + 3 * k);
        if (v->node[node] == HX_NODE_VOID ||
            (a->displacement.load_case > 0 && !(size > a->displacement.value)))
            continue;
        a->displacement = (hx_verify_peak){size, load_case, hx_mesh_node_number(mesh, node), {0}};
        memcpy(a->displacement.point, mesh->xyz + 3 * node, sizeof a->displacement.point);
    }
    for (int64_t k = 0; k < p->mesh->n_elem; k++) {
        const int64_t e = p->elem_map ? p->elem_map[k] : k;
        const double size = stress[k];
        if (!v->is_solid[e] || (a->stress.load_case > 0 && !(size > a->stress.value))) continue;
        a->stress = (hx_verify_peak){size, load_case, hx_mesh_elem_number(mesh, e), {0}};
        hx_mesh_centroid(mesh, e, a->stress.point);
    }
}

static int read_results(const hx_verify *v, part *p, hx_verify_analysis *a)
{
    double *u = NULL, *modulus = NULL;
    float *stress = NULL;
    int rc;
    const size_t n_elem = (size_t)p->mesh->n_elem;
    HX_TRY_FAIL(hx_alloc_raw(&u, 3 * (size_t)p->space.n_point, sizeof *u, "displacements"));
    HX_TRY_FAIL(hx_alloc_raw(&modulus, n_elem, sizeof *modulus, "moduli"));
    HX_TRY_FAIL(hx_alloc_raw(&stress, n_elem, sizeof *stress, "stresses"));
    HX_TRY_FAIL(hx_analysis_modulus(&p->analysis, modulus));
    for (int c = 0; c < p->problem.cases.n; c++) {
        HX_TRY_FAIL(hx_analysis_point_displacement(&p->analysis, c, u));
        hx_output_von_mises(&p->problem, modulus, u, stress);
        find_peaks(v, p, c + 1, u, stress, a);
        a->case_compliance[c] = p->analysis.load_case[c].compliance;
    }
    rc = HX_OK;
fail:
    free(u);
    free(modulus);
    free(stress);
    return rc;
}

static int analyse(hx_verify *v, part *p)
{
    hx_verify_quadratic *const q = &v->quadratic;
    hx_verify_analysis *const a = &q->analysis;
    const hx_solver_params params = solver_params(v);
    const double begin = hx_clock();
    HX_TRY(hx_alloc(&a->case_compliance, (size_t)p->problem.cases.n, sizeof *a->case_compliance,
                    "load cases"));
    HX_TRY(hx_analysis_open(&p->analysis, &p->device, &p->problem, &params));
    HX_TRY(hx_analysis_solve_density(&p->analysis, p->mesh == &p->own ? NULL : v->black_white,
                                     p->problem.penalty));
    HX_TRY(hx_analysis_compliance(&p->analysis, &a->compliance));
    a->reason = p->analysis.record.reason;
    a->pcg_iterations = p->analysis.record.pcg_iterations;
    a->pcg_residual = p->analysis.record.pcg_residual;
    a->volume = v->analysis[HX_VERIFY_SOLID].volume;
    HX_TRY(read_results(v, p, a));
    q->n_elem = p->mesh->n_elem;
    q->n_point = p->space.n_point;
    q->seconds = hx_clock() - begin;
    hx_space_text(&p->space, q->element, sizeof q->element);
    snprintf(q->solver, sizeof q->solver, "%s, %s", p->analysis.op->strategy->name,
             p->analysis.pc->kind->name);
    return HX_OK;
}

int hx_verify_analyse_quadratic(hx_verify *v)
{
    part p;
    hx_session_drop_operator(&v->session); /* its memory is of more use here */
    int rc = find_part(v, &p);
    if (rc == HX_OK) rc = analyse(v, &p);
    if (rc == HX_EINPUT && v->quadratic.solid_only)
        hx_error_prefix("quadratic elements, the solid alone: ");
    part_free(&p);
    return rc;
}
