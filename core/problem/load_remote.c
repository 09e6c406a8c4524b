/* A force and a moment at a point, distributed to the nodes of a set without stiffening it (RBE3,
 * the distributing coupling).
 *
 * With weights w_a, W = sum w_a, the nodes' centroid c and d_a = x_a - c, the force F at the point
 * p and the moment M are equivalent to F and M_c = M + (p - c) x F at c. The nodal forces
 *
 *     f_a = w_a (F / W + theta x d_a),   T theta = M_c,   T = sum w_a (|d_a|^2 I - d_a d_a')
 *
 * have exactly that resultant, and among all forces that do the smallest sum of |f_a|^2 / w_a. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../mesh/load_faces.h"
#include "problem_internal.h"
#include "symmetric.h"

/* Moments of the nodes' positions and weights. */
typedef struct share {
    double weight, centroid[3];  /* W, c */
    double value[3], axis[3][3]; /* principal moments and axes of T */
    double size;                 /* largest |d_a|: length */
} share;

/* The points that receive the load: the set's nodes and the mid-edge points of its edges. */
typedef struct taker {
    const double *xyz; /* of the space */
    int64_t n;
    int32_t *point; /* [n] (owned) */
    double *weight; /* [n] (owned) */
} taker;

/* For a spline: lists the control points of the set's faces. */
static int list_control_points(taker *t, const hx_space *space, const hx_set *set,
                               const char *origin)
{
    int64_t n_face = 0, *face = NULL;
    uint8_t *marked = NULL;
    int rc;
    t->xyz = space->xyz;
    HX_TRY_FAIL(hx_alloc(&marked, (size_t)space->n_point, 1, "shares of a load"));
    HX_TRY_FAIL(hx_problem_faces(space->mesh, set, origin, &n_face, &face));
    if (n_face == 0)
        HX_TRY_FAIL(hx_problem_refuse_spline(space, origin,
                                             "a remote load on a set without faces acts on nodes"));
    for (int64_t f = 0; f < n_face; f++) {
        hx_space_face at;
        hx_space_face_of(space, face[f], &at);
        for (int a = 0; a < at.n; a++) {
            t->n += !marked[at.point[a]];
            marked[at.point[a]] = 1;
        }
    }
    HX_TRY_FAIL(hx_alloc_raw(&t->point, (size_t)t->n, sizeof *t->point, "shares of a load"));
    HX_TRY_FAIL(hx_alloc_raw(&t->weight, (size_t)t->n, sizeof *t->weight, "shares of a load"));
    t->n = 0;
    for (int64_t a = 0; a < space->n_point; a++)
        if (marked[a]) t->point[t->n++] = (int32_t)a;
    rc = HX_OK;
fail:
    free(marked);
    free(face);
    return rc;
}

static int list_takers(taker *t, const hx_space *space, const hx_set *set, const char *origin)
{
    int64_t n = 0;
    int32_t *middle = NULL;
    int rc;
    if (space->element == HX_ELEMENT_SPLINE) return list_control_points(t, space, set, origin);
    t->xyz = space->xyz;
    HX_TRY_FAIL(hx_space_set_middles(space, set, &n, &middle));
    t->n = set->n_node + n;
    HX_TRY_FAIL(hx_alloc_raw(&t->point, (size_t)t->n, sizeof *t->point, "shares of a load"));
    HX_TRY_FAIL(hx_alloc_raw(&t->weight, (size_t)t->n, sizeof *t->weight, "shares of a load"));
    memcpy(t->point, set->node, (size_t)set->n_node * sizeof *t->point);
    if (n > 0) memcpy(t->point + set->n_node, middle, (size_t)n * sizeof *t->point);
fail:
    free(middle);
    return rc;
}

/* Each point's share of the area of the set's faces; without faces 1 at nodes and 0 at mid-edge
 * points. */
static int fill_weights(taker *t, const hx_space *space, const hx_set *set,
                        const hx_load_spec *load)
{
    int64_t n_face = 0, *face = NULL;
    double *area = NULL;
    int rc;
    rc = HX_OK;
    if (!load->equally || space->element == HX_ELEMENT_SPLINE)
        HX_TRY_FAIL(hx_problem_faces(space->mesh, set, load->origin, &n_face, &face));
    for (int64_t k = 0; k < t->n; k++) t->weight[k] = n_face == 0 && k < set->n_node ? 1.0 : 0.0;
    if (n_face == 0) goto fail;
    HX_TRY_FAIL(hx_alloc(&area, (size_t)space->n_point, sizeof *area, "shares of a load"));
    for (int64_t f = 0; f < n_face; f++) {
        hx_space_face at;
        hx_space_face_of(space, face[f], &at);
        for (int q = 0; q < at.n_gauss; q++)
            for (int a = 0; a < at.n; a++)
                area[at.point[a]] += at.shape[q][a] * hx_norm3(at.at[q].normal);
    }
    for (int64_t k = 0; k < t->n; k++) t->weight[k] = area[t->point[k]];
fail:
    free(area);
    free(face);
    return rc;
}

static void measure_share(const taker *from, share *s)
{
    double t[3][3] = {{0.0}};
    memset(s, 0, sizeof *s);
    for (int64_t k = 0; k < from->n; k++) {
        s->weight += from->weight[k];
        for (int i = 0; i < 3; i++)
            s->centroid[i] += from->weight[k] * from->xyz[3 * (int64_t)from->point[k] + i];
    }
    for (int i = 0; i < 3; i++) s->centroid[i] /= s->weight;
    for (int64_t k = 0; k < from->n; k++) {
        double d[3];
        for (int i = 0; i < 3; i++)
            d[i] = from->xyz[3 * (int64_t)from->point[k] + i] - s->centroid[i];
        const double dd = hx_dot3(d, d);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                t[i][j] += from->weight[k] * ((i == j ? dd : 0.0) - d[i] * d[j]);
        if (from->weight[k] > 0.0) s->size = fmax(s->size, sqrt(dd));
    }
    hx_symmetric3_eigen(t, s->value, s->axis);
}

/* Solves T theta = moment; there is no solution for a moment about a line that contains all
 * nodes. */
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
                return HX_RAISE(
                    HX_EINPUT,
                    "%s: set '%s' is a single node, or its nodes coincide, so it cannot "
                    "take the moment; name a set whose nodes lie apart",
                    load->origin, load->set);
            return HX_RAISE(HX_EINPUT,
                            "%s: the nodes of set '%s' lie on a line along (%.3g, %.3g, %.3g) and "
                            "cannot take the moment of %g about it; name a set whose nodes do not "
                            "lie on a line",
                            load->origin, load->set, axis[0], axis[1], axis[2], about);
        }
    }
    return HX_OK;
}

int hx_load_add_remote(const hx_space *space, const hx_set *set, const hx_load_spec *load,
                       double *force)
{
    double arm[3], moment[3], theta[3];
    taker t = {0};
    share s;
    int rc;
    HX_TRY_FAIL(list_takers(&t, space, set, load->origin));
    HX_TRY_FAIL(fill_weights(&t, space, set, load));
    measure_share(&t, &s);
    for (int i = 0; i < 3; i++) arm[i] = load->point[i] - s.centroid[i];
    hx_cross3(arm, load->value, moment);
    const double scale = hx_norm3(load->moment) + hx_norm3(load->value) * (hx_norm3(arm) + s.size);
    for (int i = 0; i < 3; i++) moment[i] += load->moment[i];
    HX_TRY_FAIL(solve_rotation(space->mesh, load, &s, moment, scale, theta));
    for (int64_t k = 0; k < t.n; k++) {
        const int64_t point = t.point[k];
        double d[3], turn[3];
        for (int i = 0; i < 3; i++) d[i] = t.xyz[3 * point + i] - s.centroid[i];
        hx_cross3(theta, d, turn);
        for (int i = 0; i < 3; i++)
            force[3 * point + i] += t.weight[k] * (load->value[i] / s.weight + turn[i]);
    }
fail:
    free(t.point);
    free(t.weight);
    return rc;
}
