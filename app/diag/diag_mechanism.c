/* Warnings about a displacement that is minimized with its sign, as that of a compliant mechanism's
 * output: nothing resists it there, or no solid element is there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/vec3.h"
#include "diag_internal.h"

/* What the set of the objective has along its direction. Sums over all processes. */
typedef struct port {
    int64_t n_node;
    int64_t n_spring; /* nodes with a spring along the direction */
    int64_t n_load;   /* nodes with a force along it, in any case */
    int64_t n_solid;  /* nodes at a passive solid element */
} port;

/* An element with at least this passive density counts as solid. */
#define LEAST_SOLID 0.5

static int is_solid_there(const hx_session *s, int32_t node)
{
    const double *const passive = s->problem.passive.density;
    const hx_mesh *const mesh = &s->mesh;
    for (int64_t k = mesh->node_elem_ptr[node]; passive && k < mesh->node_elem_ptr[node + 1]; k++)
        if (passive[mesh->node_elem[k] >> 3] >= LEAST_SOLID) return 1;
    return 0;
}

static int is_loaded(const hx_problem *problem, int64_t node, const double direction[3])
{
    for (int c = 0; c < problem->cases.n; c++) {
        const double *const f = problem->cases.force[c] + 3 * node;
        if (fabs(f[0] * direction[0] + f[1] * direction[1] + f[2] * direction[2]) > 0.0) return 1;
    }
    return 0;
}

/* has_spring[n_point] := 1 at points with a spring along the direction. */
static void mark_springs(const hx_problem *problem, const double direction[3], uint8_t *has_spring)
{
    for (int64_t k = 0; k < problem->springs.n; k++) {
        const int64_t at = problem->springs.dof[k];
        if (problem->springs.stiffness[k] > 0.0 && fabs(direction[at % 3]) > 0.0)
            has_spring[at / 3] = 1;
    }
}

static int find_port(const hx_session *s, port *found)
{
    const hx_problem *const problem = &s->problem;
    const double *const direction = s->cfg.optimization.objective.direction;
    const hx_set *const set = hx_mesh_find_set(&s->mesh, s->cfg.optimization.objective.set);
    uint8_t *has_spring;
    HX_TRY(hx_alloc(&has_spring, (size_t)problem->space.n_point + 1, 1, "nodes of a set"));
    mark_springs(problem, direction, has_spring);
    int64_t n[4] = {0};
    for (int64_t k = 0; set && k < set->n_node; k++) {
        const int32_t node = set->node[k];
        if (!hx_mesh_owns_node(&s->mesh, node)) continue;
        n[0]++;
        n[1] += has_spring[node];
        n[2] += is_loaded(problem, node, direction);
        n[3] += is_solid_there(s, node);
    }
    free(has_spring);
    HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(&s->mesh), 4, n));
    *found = (port){n[0], n[1], n[2], n[3]};
    return HX_OK;
}

/* 1 if a displacement along a direction is minimized, whose nodes are points of the space. */
static int has_signed_objective(const hx_session *s)
{
    return !hx_config_is_heat(&s->cfg) && s->problem.space.element != HX_ELEMENT_SPLINE &&
           s->cfg.optimization.objective.kind && /* a session of a mesh alone has none */
           hx_session_objective(s) == hx_session_response_kind("displacement") &&
           !isnan(s->cfg.optimization.objective.direction[0]) &&
           !s->cfg.optimization.objective.magnitude && !s->cfg.optimization.objective.set_2;
}

int hx_diag_mechanism(hx_diags *diags, const hx_session *s)
{
    const char *const set = s->cfg.optimization.objective.set;
    char remedy[HX_REMEDY];
    port at;
    if (!has_signed_objective(s)) return HX_OK;
    HX_TRY(find_port(s, &at));
    if (at.n_spring == 0 && at.n_load == 0 && !s->problem.supports.prescribed) {
        const double *const d = s->cfg.optimization.objective.direction;
        hx_fit(
            remedy, sizeof remedy,
            "`'springs[%zu]={set=\"%s\";stiffness=[%s,%s,%s];}'`, with the stiffness of what the "
            "part is to move",
            s->cfg.springs.n, set, fabs(d[0]) > 0.0 ? "0.01" : "0.0",
            fabs(d[1]) > 0.0 ? "0.01" : "0.0", fabs(d[2]) > 0.0 ? "0.01" : "0.0");
        hx_diags_advise(diags, HX_DIAG_FREE_OUTPUT, (double)at.n_node, remedy,
                        "neither a spring nor a load along the direction is at set '%s', whose "
                        "displacement is minimized: the best design transmits no force to it, and "
                        "may leave it unconnected",
                        set);
    }
    if (at.n_spring > 0 && at.n_load == 0 && at.n_solid == 0) {
        char skin[48] = "";
        if (hx_mesh_find_set(&s->mesh, set)->n_elem == 0)
            snprintf(skin, sizeof skin, "skin=%.3g;", 2.0 * s->mesh.elem_size);
        hx_fit(remedy, sizeof remedy, "`'passive[%zu]={set=\"%s\";%s}'`", s->cfg.passive.n, set,
               skin);
        hx_diags_advise(diags, HX_DIAG_SOFT_PORT, (double)at.n_node, remedy,
                        "no passive solid element is at set '%s', whose displacement is minimized "
                        "against a spring: the displacement may be that of grey or void",
                        set);
    }
    return HX_OK;
}
