/* Nodal forces of a load: point forces, shared totals, and consistent loads of tractions on faces.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hex8.h"
#include "memory.h"
#include "problem_internal.h"

/* The faces a surface load acts on: the set's own, or the boundary faces its nodes span. The caller
 * frees *face. */
static int faces_of_set(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face)
{
    uint8_t *flag = NULL;
    int rc;
    if (set->n_face > 0) {
        HX_TRY(hx_alloc_raw(face, (size_t)set->n_face, sizeof **face, "load faces"));
        memcpy(*face, set->face, (size_t)set->n_face * sizeof **face);
        *n_face = set->n_face;
        return HX_OK;
    }
    *face = NULL;
    *n_face = 0;
    HX_TRY(hx_alloc(&flag, (size_t)mesh->n_node, 1, "load faces"));
    for (int64_t i = 0; i < set->n_node; i++) flag[set->node[i]] = 1;
    rc = hx_mesh_boundary_faces(mesh, flag, n_face, face);
    free(flag);
    return rc;
}

/* Calls for each 2x2 Gauss point of a face: weights shape[4] and area vector n (outward). */
typedef struct face_point {
    double shape[4];
    double normal[3]; /* length = area of the point */
} face_point;

static void face_points(const hx_mesh *mesh, int64_t face, int32_t node[4], face_point point[4])
{
    static const double sign[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
    const int32_t *conn = mesh->conn + 8 * (face / 6);
    const int *corner = hx_hex_face[face % 6];
    for (int a = 0; a < 4; a++) node[a] = conn[corner[a]];
    for (int q = 0; q < 4; q++) {
        const double xi = hx_hex8_gauss(q, 0), eta = hx_hex8_gauss(q, 1);
        double d_xi[3] = {0.0}, d_eta[3] = {0.0};
        for (int a = 0; a < 4; a++) {
            const double *x = mesh->xyz + 3 * (int64_t)node[a];
            point[q].shape[a] = 0.25 * (1.0 + sign[a][0] * xi) * (1.0 + sign[a][1] * eta);
            for (int i = 0; i < 3; i++) {
                d_xi[i] += 0.25 * sign[a][0] * (1.0 + sign[a][1] * eta) * x[i];
                d_eta[i] += 0.25 * sign[a][1] * (1.0 + sign[a][0] * xi) * x[i];
            }
        }
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            point[q].normal[i] = d_xi[j] * d_eta[k] - d_xi[k] * d_eta[j];
        }
    }
}

static double norm3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double area_of_faces(const hx_mesh *mesh, int64_t n_face, const int64_t *face)
{
    double area = 0.0;
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        face_point point[4];
        face_points(mesh, face[f], node, point);
        for (int q = 0; q < 4; q++) area += norm3(point[q].normal);
    }
    return area;
}

/* Traction t (force per area) or, if t is NULL, pressure p against the outward normal. */
static void add_traction(const hx_mesh *mesh, int64_t n_face, const int64_t *face, const double *t,
                         double p, double *force)
{
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        face_point point[4];
        face_points(mesh, face[f], node, point);
        for (int q = 0; q < 4; q++) {
            const double area = norm3(point[q].normal);
            for (int a = 0; a < 4; a++)
                for (int i = 0; i < 3; i++)
                    force[3 * (int64_t)node[a] + i] +=
                        point[q].shape[a] * (t ? t[i] * area : -p * point[q].normal[i]);
        }
    }
}

static void add_node_force(const hx_set *set, const double value[3], double share, double *force)
{
    for (int64_t k = 0; k < set->n_node; k++)
        for (int i = 0; i < 3; i++) force[3 * (int64_t)set->node[k] + i] += share * value[i];
}

int hx_problem_add_load(const hx_mesh *mesh, const hx_load_spec *load, double *force)
{
    const hx_set *set;
    int64_t n_face = 0, *face = NULL;
    for (int i = 0; i < 3; i++) {
        const double size = fabs(load->value[i]);
        if (!isfinite(size))
            return HX_RAISE(HX_EINPUT, "%s: a load of %g is not finite", load->origin,
                            load->value[i]);
        if (size > 0.0 && size < 1e-140) /* its square would be 0, and so the norm of the load */
            return HX_RAISE(HX_EINPUT,
                            "%s: a load of %g is too small for double precision; other units "
                            "would help",
                            load->origin, load->value[i]);
    }
    HX_TRY(hx_problem_find_set(mesh, load->set, load->origin, &set));
    if (set->n_node == 0)
        return HX_RAISE(HX_EINPUT, "%s: set '%s' holds no node, the load would act on nothing",
                        load->origin, load->set);
    if (load->kind == HX_LOAD_NODE_FORCE) {
        add_node_force(set, load->value, 1.0, force);
        return HX_OK;
    }
    HX_TRY(faces_of_set(mesh, set, &n_face, &face));
    if (load->kind == HX_LOAD_TOTAL_FORCE && n_face == 0) {
        add_node_force(set, load->value, 1.0 / (double)set->n_node, force);
    } else if (n_face == 0) {
        free(face);
        return HX_RAISE(HX_EINPUT,
                        "%s: set '%s' spans no boundary face (%lld nodes), a %s needs a surface: "
                        "name a set of faces, or use total_force or node_force",
                        load->origin, load->set, (long long)set->n_node,
                        load->kind == HX_LOAD_PRESSURE ? "pressure" : "traction");
    } else if (load->kind == HX_LOAD_TOTAL_FORCE) {
        const double area = area_of_faces(mesh, n_face, face);
        const double t[3] = {load->value[0] / area, load->value[1] / area, load->value[2] / area};
        add_traction(mesh, n_face, face, t, 0.0, force);
    } else {
        add_traction(mesh, n_face, face, load->kind == HX_LOAD_TRACTION ? load->value : NULL,
                     load->value[0], force);
    }
    free(face);
    return HX_OK;
}
