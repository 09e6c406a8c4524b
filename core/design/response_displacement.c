/* Mean displacement of a set in a direction: l'u, as a weighted sum over the load cases. The mean
 * is over the area of the boundary faces that the set spans, else over the volume of its elements,
 * else over the length of the edges between its nodes, so that it depends neither on the density of
 * the mesh nor on the numbering; single nodes count equally. l is the load of a total force of size
 * 1 on the set, so the adjoint displacements are the answer to that force. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../linalg/vector_ops.h"
#include "../mesh/load_faces.h"
#include "response.h"

/* weight[n_node] += the volume of the set's elements around each node. */
static void weigh_by_volume(const hx_problem *problem, const hx_set *set, double *weight)
{
    for (int64_t k = 0; k < set->n_elem; k++) {
        const int64_t e = set->elem[k];
        for (int a = 0; a < 8; a++)
            weight[problem->mesh->conn[8 * e + a]] += problem->volume[e] / 8.0;
    }
}

/* Half the length of the edges from a node to nodes of the set (in[n_node]), each once. */
static double half_edges(const hx_mesh *mesh, int32_t node, const uint8_t *in)
{
    enum { MOST = 128 };
    int32_t done[MOST];
    double length = 0.0;
    int n = 0;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
        const int64_t e = mesh->node_elem[k] >> 3;
        const int a = (int)(mesh->node_elem[k] & 7u), ring = a & 4;
        const int next[3] = {ring + ((a + 1) & 3), ring + ((a + 3) & 3), a ^ 4};
        for (int i = 0; i < 3; i++) {
            const int32_t other = mesh->conn[8 * e + next[i]];
            int known = other == node || !in[other];
            double d[3];
            for (int j = 0; j < n; j++) known |= done[j] == other;
            if (known || n == MOST) continue;
            done[n++] = other;
            for (int j = 0; j < 3; j++)
                d[j] = mesh->xyz[3 * (int64_t)other + j] - mesh->xyz[3 * (int64_t)node + j];
            length += 0.5 * hx_norm3(d);
        }
    }
    return length;
}

/* weight[n_node] := the weights of the set's nodes, if it spans no boundary face. */
static int weigh_nodes(const hx_problem *problem, const hx_set *set, double *weight)
{
    const hx_mesh *const mesh = problem->mesh;
    uint8_t *in;
    int n_alone = 0;
    if (set->n_elem > 0) {
        weigh_by_volume(problem, set, weight);
        return HX_OK;
    }
    HX_TRY(hx_alloc(&in, (size_t)mesh->n_node, 1, "nodes of a set"));
    for (int64_t k = 0; k < set->n_node; k++) in[set->node[k]] = 1;
    for (int64_t k = 0; k < set->n_node; k++) {
        weight[set->node[k]] = half_edges(mesh, set->node[k], in);
        n_alone += !(weight[set->node[k]] > 0.0);
    }
    for (int64_t k = 0; n_alone > 0 && k < set->n_node; k++) weight[set->node[k]] = 1.0;
    free(in);
    return HX_OK;
}

/* l[n_point][3] += the mean over the nodes of a set that spans no boundary face. */
static int add_at_nodes(const hx_problem *problem, const hx_set *set, const double *direction,
                        double *l)
{
    double *weight, total = 0.0;
    HX_TRY(hx_alloc(&weight, (size_t)problem->mesh->n_node, sizeof *weight, "weights of nodes"));
    const int rc = weigh_nodes(problem, set, weight);
    for (int64_t k = 0; k < set->n_node; k++) total += weight[set->node[k]];
    for (int64_t k = 0; rc == HX_OK && k < set->n_node; k++) {
        const hx_set one = {.n_node = 1, .node = &set->node[k]};
        hx_problem_add_at_nodes(&problem->space, &one, 3, direction, weight[*one.node] / total, l);
    }
    free(weight);
    return rc;
}

/* Fills l[n_point][3]. */
static int fill_mean(const hx_problem *problem, const hx_response_params *params, double *l)
{
    const double *const d = params->direction, size = hx_norm3(d);
    const hx_load_spec force = {.set = params->set,
                                .origin = params->origin ? params->origin : "displacement",
                                .kind = HX_LOAD_TOTAL_FORCE,
                                .value = {d[0] / size, d[1] / size, d[2] / size},
                                .load_case = 1};
    const hx_set *const set = hx_mesh_find_set(problem->mesh, params->set);
    int64_t n_face = 0, *face = NULL;
    if (set) HX_TRY(hx_load_faces(problem->mesh, set, &n_face, &face));
    free(face);
    if (set && n_face == 0 && set->n_node > 0) return add_at_nodes(problem, set, force.value, l);
    return hx_problem_add_load(&problem->space, &force, l); /* also refuses an unknown set */
}

static int make_mean(const hx_problem *problem, const hx_response_params *params, double **l)
{
    HX_TRY(hx_alloc(l, 3 * (size_t)problem->space.n_point, sizeof **l, "displacement of a set"));
    const int rc = fill_mean(problem, params, *l);
    if (rc < 0) free(*l);
    return rc;
}

static int check_mean(const hx_problem *problem, const hx_response_params *params)
{
    const char *const origin = params->origin ? params->origin : "displacement";
    double *l, left = 0.0;
    if (hx_problem_is_heat(problem))
        return HX_RAISE(HX_EINPUT, "%s: physics = \"heat\" has no displacements", origin);
    HX_TRY(make_mean(problem, params, &l));
    for (int64_t p = 0; p < problem->space.n_point; p++)
        for (int i = 0; i < 3; i++)
            if (!(problem->supports.fixed[p] & (1u << i))) left += fabs(l[3 * p + i]);
    free(l);
    if (left > 0.0) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: supports prescribe the displacement of set '%s' in this direction, so no "
                    "design changes it",
                    origin, params->set);
}

static size_t mean_bytes(const hx_problem *problem, const hx_response_params *params)
{
    (void)params;
    return 3 * (size_t)problem->space.n_point * sizeof(double);
}

static int create_mean(hx_response *o)
{
    double *l, *d_l = NULL;
    HX_TRY(make_mean(o->analysis->problem, &o->params, &l));
    const int rc = hx_analysis_put_vector(o->analysis, l, &d_l);
    o->impl = d_l;
    free(l);
    return rc;
}

static int find_mean(const hx_response *o, double *mean)
{
    const hx_analysis *const a = o->analysis;
    double part;
    *mean = 0.0;
    for (int c = 0; c < a->problem->cases.n; c++) {
        if (!hx_response_has_case(o, c)) continue;
        HX_TRY(a->dev->ops->vector->dot(a->dev, a->op->linear.n, o->impl, a->d_u[c], &part));
        *mean += hx_response_weight(o, c) * part;
    }
    return HX_OK;
}

static int load_mean(const hx_response *o, int load_case, double *d_load)
{
    const hx_analysis *const a = o->analysis;
    const int64_t n = a->op->linear.n;
    HX_TRY(a->dev->ops->zero(a->dev, d_load, (size_t)n * sizeof *d_load));
    return a->dev->ops->vector->axpy(a->dev, n, hx_response_weight(o, load_case), o->impl, d_load);
}

static void destroy_mean(hx_response *o)
{
    o->analysis->dev->ops->release(o->analysis->dev, o->impl);
}

static hx_response_unit unit(const hx_problem *problem)
{
    (void)problem;
    return HX_VALUE_LENGTH;
}

const hx_response_kind hx_response_displacement = {
    .name = "displacement",
    .help = "mean displacement of a set in a direction, as a weighted sum over the load cases",
    .is_objective = 1,
    .is_constraint = 1,
    .takes = HX_TAKES_SET | HX_TAKES_DIRECTION | HX_TAKES_CASE,
    .needs = HX_TAKES_SET | HX_TAKES_DIRECTION,
    .is_distributed = 1,
    .unit = unit,
    .check = check_mean,
    .bytes = mean_bytes,
    .create = create_mean,
    .value = find_mean,
    .adjoint_load = load_mean,
    .destroy = destroy_mean,
};
