#include "skin.h"

#include <stdlib.h>
#include <string.h>

#include "face_tree.h"
#include "load_faces.h"

/* The elements that the faces, or without them the nodes, belong to. */
static void flag_first_layer(const hx_mesh *mesh, const hx_set *set, int64_t n_face,
                             const int64_t *face, uint8_t *flag)
{
    for (int64_t f = 0; f < n_face; f++) flag[face[f] / 6] = 1;
    for (int64_t k = 0; n_face == 0 && k < set->n_node; k++) {
        const int64_t node = set->node[k];
        for (int64_t i = mesh->node_elem_ptr[node]; i < mesh->node_elem_ptr[node + 1]; i++)
            flag[mesh->node_elem[i] / 8] = 1;
    }
}

static void centroid(const hx_mesh *mesh, int64_t e, double x[3])
{
    const int32_t *conn = mesh->conn + 8 * e;
    for (int i = 0; i < 3; i++) {
        x[i] = 0.0;
        for (int a = 0; a < 8; a++) x[i] += 0.125 * mesh->xyz[3 * (int64_t)conn[a] + i];
    }
}

int hx_skin_flag(const hx_mesh *mesh, const hx_set *set, double thickness, uint8_t *flag,
                 int64_t *n)
{
    hx_face_tree tree;
    int64_t n_face = 0, *face = NULL, count = 0;
    int rc;
    memset(&tree, 0, sizeof tree);
    HX_TRY_FAIL(hx_load_faces(mesh, set, &n_face, &face));
    HX_TRY_FAIL(hx_face_tree_create(&tree, mesh, n_face, face, set->n_node, set->node));
    flag_first_layer(mesh, set, n_face, face, flag);
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : count)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        if (!flag[e]) {
            centroid(mesh, e, x);
            flag[e] =
                (uint8_t)hx_face_tree_within(&tree, x, thickness * (1.0 + 1e-9)); /* rounding */
        }
        count += flag[e];
    }
    *n = count;
fail:
    hx_face_tree_free(&tree);
    free(face);
    return rc;
}
