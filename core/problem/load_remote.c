/* A force and a moment at a point, shared by the nodes of a set without stiffening it (RBE3, the
 * distributing coupling).
 *
 * With weights w_a, W = sum w_a, the nodes' centroid c and d_a = x_a - c, the force F at the point
 * p and the moment M are F and M_c = M + (p - c) x F at c. The nodal forces f_a = w_a (F / W +
 * theta x d_a),   T theta = M_c,   T = sum w_a (|d_a|^2 I - d_a d_a') have exactly that resultant,
 * and of all that do the least sum of |f_a|^2 / w_a. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../mesh/load_faces.h"
#include "problem_internal.h"
#include "symmetric.h"

/* What the nodes' positions and weights amount to. */
typedef struct share {
    double weight, centroid[3];  /* W, c */
    double value[3], axis[3][3]; /* principal moments and axes of T */
    double size;                 /* largest |d_a|: length */
} share;

/* weight[k] of the set's node k: its share of the area of the set's faces, or 1 without faces. */
static int fill_weights(const hx_mesh *mesh, const hx_set *set, const char *origin, double *weight)
{
    int64_t n_face = 0, *face = NULL;
    double *area = NULL;
    int rc;
    HX_TRY_FAIL(hx_problem_faces(mesh, set, origin, &n_face, &face));
    for (int64_t k = 0; k < set->n_node; k++) weight[k] = n_face > 0 ? 0.0 : 1.0;
    if (n_face == 0) goto fail;
    HX_TRY_FAIL(hx_alloc(&area, (size_t)mesh->n_node, sizeof *area, "shares of a load"));
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        hx_face_point point[4];
        hx_face_points(mesh, face[f], node, point);
        for (int q = 0; q < 4; q++)
            for (int a = 0; a < 4; a++)
                area[node[a]] += point[q].shape[a] * hx_norm3(point[q].normal);
    }
    for (int64_t k = 0; k < set->n_node; k++) weight[k] = area[set->node[k]];
fail:
    free(area);
    free(face);
    return rc;
}

static void measure_share(const hx_mesh *mesh, const hx_set *set, const double *weight, share *s)
{
    double t[3][3] = {{0.0}};
    memset(s, 0, sizeof *s);
    for (int64_t k = 0; k < set->n_node; k++) {
        s->weight += weight[k];
        for (int i = 0; i < 3; i++)
            s->centroid[i] += weight[k] * mesh->xyz[3 * (int64_t)set->node[k] + i];
    }
    for (int i = 0; i < 3; i++) s->centroid[i] /= s->weight;
    for (int64_t k = 0; k < set->n_node; k++) {
        double d[3];
        for (int i = 0; i < 3; i++)
            d[i] = mesh->xyz[3 * (int64_t)set->node[k] + i] - s->centroid[i];
        const double dd = hx_dot3(d, d);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) t[i][j] += weight[k] * ((i == j ? dd : 0.0) - d[i] * d[j]);
        if (weight[k] > 0.0) s->size = fmax(s->size, sqrt(dd));
    }
    hx_symmetric3_eigen(t, s->value, s->axis);
}

/* theta of T theta = moment; a moment about a line on which all nodes lie has none. */
static int solve_rotation(const hx_mesh *mesh, const hx_load_spec *load, const share *s,
                          const double moment[3], double scale, double theta[3])
{
    double extent[3];
    for (int i = 0; i < 3; i++) extent[i] = mesh->box_max[i] - mesh->box_min[i];
    const double diagonal = hx_norm3(extent);
    const double least = fmax(1e-10 * s->value[2], 1e-14 * s->weight * diagonal * diagonal);
    memset(theta, 0, 3 * sizeof *theta);
    for (int k = 0; k < 3; k++) {
        const double *axis = s->axis[k];
        const double about = hx_dot3(axis, moment);
        if (s->value[k] > least) {
            for (int i = 0; i < 3; i++) theta[i] += about / s->value[k] * axis[i];
        } else if (fabs(about) > 1e-9 * scale) {
            if (!(s->value[2] > least))
                return HX_RAISE(HX_EINPUT,
                                "%s: set '%s' is one node, or nodes in one place, and cannot take "
                                "the moment: name a set that extends",
                                load->origin, load->set);
            return HX_RAISE(HX_EINPUT,
                            "%s: the nodes of set '%s' lie on a line along (%.3g, %.3g, %.3g) and "
                            "cannot take the moment of %g about it: name a set that extends across",
                            load->origin, load->set, axis[0], axis[1], axis[2], about);
        }
    }
    return HX_OK;
}

int hx_load_add_remote(const hx_mesh *mesh, const hx_set *set, const hx_load_spec *load,
                       double *force)
{
    double *weight = NULL, arm[3], moment[3], theta[3];
    share s;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&weight, (size_t)set->n_node, sizeof *weight, "shares of a load"));
    HX_TRY_FAIL(fill_weights(mesh, set, load->origin, weight));
    measure_share(mesh, set, weight, &s);
    for (int i = 0; i < 3; i++) arm[i] = load->point[i] - s.centroid[i];
    hx_cross3(arm, load->value, moment);
    const double scale = hx_norm3(load->moment) + hx_norm3(load->value) * (hx_norm3(arm) + s.size);
    for (int i = 0; i < 3; i++) moment[i] += load->moment[i];
    HX_TRY_FAIL(solve_rotation(mesh, load, &s, moment, scale, theta));
    for (int64_t k = 0; k < set->n_node; k++) {
        const int64_t node = set->node[k];
        double d[3], turn[3];
        for (int i = 0; i < 3; i++) d[i] = mesh->xyz[3 * node + i] - s.centroid[i];
        hx_cross3(theta, d, turn);
        for (int i = 0; i < 3; i++)
            force[3 * node + i] += weight[k] * (load->value[i] / s.weight + turn[i]);
    }
fail:
    free(weight);
    return rc;
}
