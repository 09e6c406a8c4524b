#include "load_faces.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "hex8.h"

static int own_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face)
{
    HX_TRY(hx_alloc_raw(face, (size_t)set->n_face, sizeof **face, "load faces"));
    for (int64_t i = 0; i < set->n_face; i++)
        if (!hx_mesh_face_is_inner(mesh, set->face[i])) (*face)[(*n_face)++] = set->face[i];
    if (*n_face > 0) return HX_OK;
    free(*face);
    *face = NULL;
    return HX_RAISE(HX_EINPUT,
                    "set '%s' names %lld face%s, none on the boundary of the part but between two "
                    "elements: name faces on the boundary, or a set of nodes",
                    set->name, (long long)set->n_face, set->n_face == 1 ? "" : "s");
}

int64_t hx_set_inner_faces(const hx_mesh *mesh, const hx_set *set)
{
    int64_t n = 0;
    for (int64_t i = 0; i < set->n_face; i++) n += hx_mesh_face_is_inner(mesh, set->face[i]);
    return n;
}

int hx_load_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face)
{
    uint8_t *flag = NULL;
    int rc;
    *face = NULL;
    *n_face = 0;
    if (set->n_face > 0) return own_faces(mesh, set, n_face, face);
    HX_TRY(hx_alloc(&flag, (size_t)mesh->n_node, 1, "load faces"));
    for (int64_t i = 0; i < set->n_node; i++) flag[set->node[i]] = 1;
    rc = hx_mesh_boundary_faces(mesh, flag, n_face, face);
    free(flag);
    return rc;
}

void hx_face_points(const hx_mesh *mesh, int64_t face, int32_t node[4], hx_face_point point[4])
{
    static const double sign[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
    const int32_t *conn = mesh->conn + 8 * (face / 6);
    const int *corner = hx_hex_face[face % 6];
    for (int a = 0; a < 4; a++) node[a] = conn[corner[a]];
    for (int q = 0; q < 4; q++) {
        const double xi = hx_hex8_gauss(q, 0), eta = hx_hex8_gauss(q, 1);
        double d_xi[3] = {0.0}, d_eta[3] = {0.0};
        memset(point[q].x, 0, sizeof point[q].x);
        for (int a = 0; a < 4; a++) {
            const double *x = mesh->xyz + 3 * (int64_t)node[a];
            point[q].shape[a] = 0.25 * (1.0 + sign[a][0] * xi) * (1.0 + sign[a][1] * eta);
            for (int i = 0; i < 3; i++) {
                d_xi[i] += 0.25 * sign[a][0] * (1.0 + sign[a][1] * eta) * x[i];
                d_eta[i] += 0.25 * sign[a][1] * (1.0 + sign[a][0] * xi) * x[i];
                point[q].x[i] += point[q].shape[a] * x[i];
            }
        }
        hx_cross3(d_xi, d_eta, point[q].normal);
    }
}

double hx_faces_area(const hx_mesh *mesh, int64_t n_face, const int64_t *face)
{
    double area = 0.0;
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        hx_face_point point[4];
        hx_face_points(mesh, face[f], node, point);
        for (int q = 0; q < 4; q++) area += hx_norm3(point[q].normal);
    }
    return area;
}
