/* Problems on boxes of collapsed cells (mixed_mesh.h): numberings turned at random, shuffled or
 * reordered, with node sets `left` and `right` (ends in x) and `surface` (the box's faces). */
#ifndef HX_TEST_MIXED_MODEL_H
#define HX_TEST_MIXED_MODEL_H

#include "fixture.h"
#include "mixed_mesh.h"

typedef struct mixed_model {
    hx_mesh mesh;
    hx_problem problem;
} mixed_model;

typedef enum { MIXED_LEFT, MIXED_RIGHT, MIXED_SURFACE, MIXED_N_SET } mixed_set;

static inline int mixed_is_in(const mixed_box *box, mixed_set set, const double x[3])
{
    const double right = box->length[0] > 0.0 ? box->length[0] : box->n[0];
    int on_face = 0;
    if (set == MIXED_LEFT) return x[0] <= 0.0;
    if (set == MIXED_RIGHT) return x[0] >= right;
    for (int d = 0; d < 3; d++) {
        const double length = box->length[d] > 0.0 ? box->length[d] : box->n[d];
        on_face |= x[d] <= 0.0 || x[d] >= length;
    }
    return on_face;
}

static inline int mixed_name_ends(hx_mesh *mesh, const mixed_box *box)
{
    static const char *const name[MIXED_N_SET] = {"left", "right", "surface"};
    int32_t *const node = malloc((size_t)mesh->n_node * sizeof *node);
    int rc = node ? HX_OK : HX_RAISE(HX_ENOMEM, "nodes");
    for (int set = 0; rc == HX_OK && set < MIXED_N_SET; set++) {
        int64_t n = 0;
        for (int64_t a = 0; a < mesh->n_node; a++)
            if (mixed_is_in(box, (mixed_set)set, mesh->xyz + 3 * a)) node[n++] = (int32_t)a;
        rc = hx_mesh_add_node_set(mesh, name[set], n, node);
    }
    free(node);
    return rc;
}

static inline int mixed_create_part(hx_mesh *mesh, const mixed_box *box, fixture_order order)
{
    HX_TRY(mixed_create(mesh, box));
    HX_TRY(mixed_name_ends(mesh, box));
    mixed_turn(mesh, 11);
    return fixture_finish(mesh, order);
}

/* Fixed on the left, pulled down at the nodes on the right. */
static inline int mixed_create_cantilever(mixed_model *m, const mixed_box *box, fixture_order order)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "test", HX_LOAD_NODE_FORCE, {0.1, 0.0, -1.0}, 1};
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    memset(m, 0, sizeof *m);
    HX_TRY(mixed_create_part(&m->mesh, box, order));
    return hx_problem_create(&m->problem, &m->mesh, &params);
}

static inline void mixed_model_free(mixed_model *m)
{
    hx_problem_free(&m->problem);
    hx_mesh_free(&m->mesh);
}

#endif
