/* Which sets move as rigid bodies, and what their projectors need. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../mesh/load_faces.h"
#include "problem_internal.h"
#include "symmetric.h"

/* Centre of the nodes, and the pseudo-inverse of their second moment: nodes in a line do not turn
 * about it, a single one does not turn. */
static void measure_set(const hx_space *space, const int32_t *node, hx_rigid_set *set)
{
    double moment[3][3] = {{0.0}}, value[3], axis[3][3];
    memset(set->centre, 0, sizeof set->centre);
    memset(set->inverse, 0, sizeof set->inverse);
    for (int64_t k = 0; k < set->n; k++)
        for (int i = 0; i < 3; i++) set->centre[i] += space->xyz[3 * (int64_t)node[k] + i];
    for (int i = 0; i < 3; i++) set->centre[i] /= (double)set->n;
    for (int64_t k = 0; k < set->n; k++) {
        double d[3];
        for (int i = 0; i < 3; i++) d[i] = space->xyz[3 * (int64_t)node[k] + i] - set->centre[i];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                moment[i][j] += (i == j ? hx_dot3(d, d) : 0.0) - d[i] * d[j];
    }
    const double size = space->mesh->elem_size, least = 1e-10 * size * size;
    hx_symmetric3_eigen(moment, value, axis);
    for (int k = 0; k < 3; k++) {
        if (!(value[k] > fmax(least, 1e-12 * value[2]))) continue;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) set->inverse[i][j] += axis[k][i] * axis[k][j] / value[k];
    }
}

/* owner[node]: 1 where a rigid set has it already. */
static int add_set(hx_problem *problem, const hx_load_spec *load, const hx_set *from,
                   uint8_t *owner)
{
    const hx_mesh *mesh = problem->mesh;
    hx_rigid_set *set = &problem->rigid.set[problem->rigid.n];
    int64_t n;
    int32_t *middle;
    set->first = problem->rigid.n_node;
    for (int64_t k = 0; k < from->n_node; k++) {
        const int32_t node = from->node[k];
        const long long number = (long long)hx_mesh_node_number(mesh, node);
        if (problem->supports.fixed[node])
            return HX_RAISE(HX_EINPUT,
                            "%s: node %lld of set '%s' is held by a support, and a rigid set moves "
                            "as one: leave it out of one of them, or use coupling = "
                            "\"distributing\"",
                            load->origin, number, load->set);
        if (owner[node])
            return HX_RAISE(HX_EINPUT,
                            "%s: node %lld of set '%s' belongs to another rigid set: rigid sets "
                            "must not meet; join them in one set",
                            load->origin, number, load->set);
        owner[node] = 1;
        problem->rigid.node[problem->rigid.n_node++] = node;
    }
    HX_TRY(hx_space_set_middles(&problem->space, from, &n, &middle));
    for (int64_t k = 0; k < n; k++) problem->rigid.node[problem->rigid.n_node++] = middle[k];
    free(middle);
    set->n = problem->rigid.n_node - set->first;
    measure_set(&problem->space, problem->rigid.node + set->first, set);
    problem->rigid.n++;
    return HX_OK;
}

static int is_first_of_set(const hx_problem_params *params, size_t i)
{
    if (params->load[i].kind != HX_LOAD_REMOTE_RIGID) return 0;
    for (size_t k = 0; k < i; k++)
        if (params->load[k].kind == HX_LOAD_REMOTE_RIGID &&
            strcmp(params->load[k].set, params->load[i].set) == 0)
            return 0;
    return 1;
}

int hx_problem_add_rigid_sets(hx_problem *problem, const hx_problem_params *params)
{
    const hx_mesh *mesh = problem->mesh;
    uint8_t *owner = NULL;
    size_t n_set = 0, n_node = 0;
    int rc;
    for (size_t i = 0; i < params->n_load; i++) {
        const hx_set *set;
        if (!is_first_of_set(params, i)) continue;
        HX_TRY(hx_problem_find_set(mesh, params->load[i].set, params->load[i].origin, &set));
        n_set++;
        n_node += (size_t)set->n_node;
    }
    if (n_set == 0) return HX_OK;
    n_node += (size_t)problem->space.n_edge; /* no middle is in two: their ends would be */
    HX_TRY_FAIL(hx_alloc(&owner, (size_t)mesh->n_node, sizeof *owner, "rigid sets"));
    HX_TRY_FAIL(hx_alloc(&problem->rigid.set, n_set, sizeof *problem->rigid.set, "rigid sets"));
    HX_TRY_FAIL(hx_alloc(&problem->rigid.node, n_node, sizeof(int32_t), "rigid sets"));
    for (size_t i = 0; i < params->n_load; i++)
        if (is_first_of_set(params, i))
            HX_TRY_FAIL(add_set(problem, &params->load[i],
                                hx_mesh_find_set(mesh, params->load[i].set), owner));
    rc = HX_OK;
fail:
    free(owner);
    return rc;
}
