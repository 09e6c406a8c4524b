/* Problems for the tests of responses on boxes of mixed cells: elasticity and heat with everything
 * that the physics knows. */
#ifndef HX_TEST_RESPONSE_MODELS_H
#define HX_TEST_RESPONSE_MODELS_H

#include "mixed_model.h"

/* Adds the nodes of a set `inner`, on no boundary if there are any, those of an edge, and the set
 * `hole`. */
static inline int add_sets(hx_mesh *mesh, const double length[3])
{
    int32_t *const node = malloc((size_t)mesh->n_node * sizeof *node), hole[2] = {1, 2};
    int64_t n = 0;
    if (!node) abort();
    for (int32_t i = 0; i < mesh->n_node; i++) {
        const double *const x = mesh->xyz + 3 * (int64_t)i;
        if (x[0] > 0.3 * length[0] && x[0] < 0.7 * length[0]) node[n++] = i;
    }
    int rc = hx_mesh_add_node_set(mesh, "inner", n, node);
    n = 0;
    for (int32_t i = 0; i < mesh->n_node; i++) {
        const double *const x = mesh->xyz + 3 * (int64_t)i;
        if (x[0] > 0.3 * length[0] && x[1] < 0.1 * length[1] && x[2] < 0.1 * length[2])
            node[n++] = i;
    }
    if (rc == HX_OK) rc = hx_mesh_add_node_set(mesh, "line", n, node);
    if (rc == HX_OK) rc = hx_mesh_add_elem_set(mesh, "hole", 2, hole);
    free(node);
    return rc;
}

enum { PRESCRIBED = 1, RIGID = 2, PASSIVE = 4, SPRINGS = 8, WEIGHT = 16, ALL_OF_THEM = 31 };

static inline int make_elastic(hx_problem *problem, const hx_mesh *mesh, const hx_space *space,
                               int with)
{
    static const hx_support_spec support[2] = {
        {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
        {"inner", "test", HX_FIX_Y, {0.0, -0.03, 0.0}}};
    static const hx_passive_spec passive = {"hole", "test", 0.7};
    static const hx_spring_spec spring = {"right", "test", {0.3, 0.5, 0.2}, HX_SPRING_TOTAL};
    static const double weight[2] = {0.7, 2.5};
    const hx_load_spec load[3] = {
        {.set = "right",
         .origin = "test",
         .kind = with & RIGID ? HX_LOAD_REMOTE_RIGID : HX_LOAD_NODE_FORCE,
         .value = {0.1, 0.0, -0.3},
         .load_case = 1,
         .moment = {0.0, 0.2, 0.0},
         .point = {3.0, 0.5, 0.5}},
        {"inner", "test", HX_LOAD_NODE_FORCE, {0.02, 0.05, 0.0}, 2},
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.2, 0.1, -0.7}, .load_case = 2}};
    hx_problem_params params = fixture_problem();
    params.young = 7.0;
    params.density = 0.4;
    params.space = space;
    params.support = support;
    params.n_support = with & PRESCRIBED ? 2 : 1;
    params.load = load;
    params.n_load = with & WEIGHT ? 3 : 2;
    params.passive = &passive;
    params.n_passive = with & PASSIVE ? 1 : 0;
    params.spring = &spring;
    params.n_spring = with & SPRINGS ? 1 : 0;
    params.weight = weight;
    params.n_weight = 2;
    return hx_problem_create(problem, mesh, &params);
}

static inline int make_thermal(hx_problem *problem, const hx_mesh *mesh, const hx_space *space,
                               int with)
{
    static const hx_support_spec support[2] = {{"left", "test", HX_FIX_X, {20.0}},
                                               {"right", "test", HX_FIX_X, {35.0}}};
    static const hx_load_spec load[2] = {
        {.origin = "test", .kind = HX_LOAD_SOURCE, .value = {3.0}, .load_case = 1},
        {"inner", "test", HX_LOAD_NODE_HEAT, {0.5}, 2}};
    static const hx_convection_spec film = {"surface", "test", 0.4, 25.0};
    static const double weight[2] = {0.7, 2.5};
    hx_problem_params params = fixture_problem();
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 2.5;
    params.space = space;
    params.support = support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 2;
    params.convection = &film;
    params.n_convection = with & SPRINGS ? 1 : 0;
    params.weight = weight;
    params.n_weight = 2;
    return hx_problem_create(problem, mesh, &params);
}

#endif
