#include "skin.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/vec3.h"
#include "face_tree.h"
#include "load_faces.h"

/* Decides for a sequence of points whether each is within a distance. A distance is measured only
 * if needed: a point that has moved less from the last measured one than that one's margin to the
 * limit is on the same side. */
typedef struct side {
    const hx_face_tree *tree;
    double limit, distance; /* of the last measured point */
    double x[3];
    int is_measured;
} side;

static int is_within(side *s, const double x[3])
{
    const double d[3] = {x[0] - s->x[0], x[1] - s->x[1], x[2] - s->x[2]};
    const double moved = hx_norm3(d);
    if (!s->is_measured || !(moved < fabs(s->distance - s->limit))) {
        const double at_most = (s->distance + moved) * (1.0 + 1e-12);
        s->distance = hx_face_tree_distance(s->tree, x, s->is_measured ? at_most : INFINITY);
        memcpy(s->x, x, sizeof s->x);
        s->is_measured = 1;
    }
    return s->distance <= s->limit;
}

/* Tolerance for a centroid whose distance is exactly the thickness: the rounding of coordinates far
 * from the origin. */
static double rounding_of(const hx_mesh *mesh, double thickness)
{
    double far = 0.0;
    for (int i = 0; i < 3; i++)
        far = fmax(far, fmax(fabs(mesh->box_min[i]), fabs(mesh->box_max[i])));
    return fmax(1e-9 * thickness, 16.0 * DBL_EPSILON * far);
}

int hx_skin_flag(const hx_mesh *mesh, const hx_set *set, double thickness, uint8_t *flag,
                 int64_t *n)
{
    enum { CHUNK = 1024 }; /* elements per chunk, independent of the number of threads */
    const double limit = thickness + rounding_of(mesh, thickness);
    const int64_t n_chunk = (mesh->n_elem + CHUNK - 1) / CHUNK;
    hx_face_tree tree;
    int64_t n_face = 0, *face = NULL, count = 0;
    int rc;
    memset(&tree, 0, sizeof tree);
    HX_TRY_FAIL(hx_load_faces(mesh, set, &n_face, &face));
    HX_TRY_FAIL(hx_face_tree_create(&tree, mesh, n_face, face, set->n_node, set->node));
    /* flag the elements of the faces, or, without faces, of the nodes */
    for (int64_t f = 0; f < n_face; f++) flag[face[f] / 6] = 1;
    for (int64_t k = 0; n_face == 0 && k < set->n_node; k++) {
        const int64_t node = set->node[k];
        for (int64_t i = mesh->node_elem_ptr[node]; i < mesh->node_elem_ptr[node + 1]; i++)
            flag[mesh->node_elem[i] / 8] = 1;
    }
#pragma omp parallel for schedule(dynamic) reduction(+ : count)
    for (int64_t chunk = 0; chunk < n_chunk; chunk++) {
        const int64_t begin = chunk * CHUNK;
        const int64_t end = begin + CHUNK < mesh->n_elem ? begin + CHUNK : mesh->n_elem;
        side s = {.tree = &tree, .limit = limit};
        for (int64_t e = begin; e < end; e++) {
            double x[3];
            hx_mesh_centroid(mesh, e, x);
            if (!flag[e]) flag[e] = (uint8_t)is_within(&s, x);
            count += flag[e];
        }
    }
    *n = count;
fail:
    hx_face_tree_free(&tree);
    free(face);
    return rc;
}
