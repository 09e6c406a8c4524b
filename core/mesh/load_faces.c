#include "load_faces.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/vec3.h"
#include "hex8.h"

int64_t hx_set_inner_faces(const hx_mesh *mesh, const hx_set *set)
{
    int64_t n = 0;
    for (int64_t i = 0; i < set->n_face; i++) n += hx_mesh_face_is_inner(mesh, set->face[i]);
    return n;
}

/* The set's own faces on the boundary. */
static int own_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face)
{
    if (set->n_face == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(face, (size_t)set->n_face, sizeof **face, "load faces"));
    for (int64_t i = 0; i < set->n_face; i++)
        if (!hx_mesh_face_is_inner(mesh, set->face[i])) (*face)[(*n_face)++] = set->face[i];
    return HX_OK;
}

/* Elements at the nodes of a set, ascending; the caller frees *elem. */
static int list_elements(const hx_mesh *mesh, const hx_set *set, int64_t *n, int32_t **elem)
{
    *n = 0;
    for (int64_t i = 0; i < set->n_node; i++)
        *n += mesh->node_elem_ptr[set->node[i] + 1] - mesh->node_elem_ptr[set->node[i]];
    HX_TRY(hx_alloc_raw(elem, (size_t)*n, sizeof **elem, "load faces"));
    *n = 0;
    for (int64_t i = 0; i < set->n_node; i++)
        for (int64_t k = mesh->node_elem_ptr[set->node[i]];
             k < mesh->node_elem_ptr[set->node[i] + 1]; k++)
            (*elem)[(*n)++] = (int32_t)(mesh->node_elem[k] / 8);
    hx_sort_i32(*elem, *n);
    *n = hx_unique_i32(*elem, *n);
    return HX_OK;
}

/* Equivalent to hx_mesh_boundary_faces, but visits only the elements of a small set. */
static int faces_nearby(const hx_mesh *mesh, const hx_set *set, const uint8_t *flag,
                        int64_t *n_face, int64_t **face)
{
    int32_t *elem = NULL;
    int64_t n;
    HX_TRY(list_elements(mesh, set, &n, &elem));
    const int rc = hx_alloc_raw(face, 6 * (size_t)n, sizeof **face, "load faces");
    for (int64_t k = 0; rc == HX_OK && k < 6 * n; k++) {
        const int64_t e = elem[k / 6];
        int32_t node[4];
        int n_held = 0;
        const int n_corner = hx_cell_face(mesh->conn + 8 * e, (int)(k % 6), node);
        for (int a = 0; a < n_corner; a++) n_held += flag[node[a]];
        if (n_corner < 3 || n_held < n_corner) continue;
        if (hx_mesh_face_neighbour(mesh, e, n_corner, node) < 0)
            (*face)[(*n_face)++] = 6 * e + k % 6;
    }
    free(elem);
    return rc;
}

/* The faces of any set; there may be none. */
static int list_load_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face)
{
    *face = NULL;
    *n_face = 0;
    if (set->n_face > 0 || set->rule != HX_SET_PLAIN) return own_faces(mesh, set, n_face, face);
    uint8_t *flag = NULL;
    HX_TRY(hx_alloc(&flag, (size_t)mesh->n_node, 1, "load faces"));
    for (int64_t i = 0; i < set->n_node; i++) flag[set->node[i]] = 1;
    const int rc = set->n_node > mesh->n_node / 64
                       ? hx_mesh_boundary_faces(mesh, flag, n_face, face)
                       : faces_nearby(mesh, set, flag, n_face, face);
    free(flag);
    return rc;
}

/* Raises HX_EINPUT if a set without boundary faces names other faces, or is a union of such a
 * set. */
static int check_inner(const hx_mesh *mesh, const hx_set *set)
{
    if (set->n_face > 0)
        return HX_RAISE(
            HX_EINPUT,
            "set '%s' has %lld face%s, all of them between two elements instead of on the "
            "boundary: name faces on the boundary, or a set of nodes",
            set->name, (long long)set->n_face, set->n_face == 1 ? "" : "s");
    for (size_t i = 0; set->rule == HX_SET_OR && i < set->n_part; i++) {
        const hx_set *const part = hx_mesh_find_set(mesh, set->part[i]);
        if (part) HX_TRY(check_inner(mesh, part));
    }
    return HX_OK;
}

int hx_load_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face)
{
    HX_TRY(list_load_faces(mesh, set, n_face, face));
    if (*n_face > 0) return HX_OK;
    const int rc = check_inner(mesh, set);
    if (rc < 0) {
        free(*face);
        *face = NULL;
    }
    return rc;
}

/* mask[n_elem] has bit f for face f: combines it with the faces of the next part according to the
 * rule. */
static int combine_part(const hx_mesh *mesh, const hx_set *part, hx_set_rule rule, uint8_t *mask)
{
    int64_t n = 0, *face = NULL;
    uint8_t *in_part = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&in_part, (size_t)mesh->n_elem, 1, "faces of a set"));
    HX_TRY_FAIL(list_load_faces(mesh, part, &n, &face));
    for (int64_t i = 0; i < n; i++) in_part[face[i] / 6] |= (uint8_t)(1u << face[i] % 6);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        mask[e] = (uint8_t)(rule == HX_SET_OR    ? mask[e] | in_part[e]
                            : rule == HX_SET_AND ? mask[e] & in_part[e]
                                                 : mask[e] & ~in_part[e]);
fail:
    free(in_part);
    free(face);
    return rc;
}

/* Initial faces of the combination: none, or all of the boundary. */
static int first_mask(const hx_mesh *mesh, hx_set_rule rule, uint8_t *mask)
{
    int64_t n = 0, *face = NULL;
    if (rule == HX_SET_OR) return HX_OK;
    HX_TRY(hx_mesh_boundary_faces(mesh, NULL, &n, &face));
    for (int64_t i = 0; i < n; i++) mask[face[i] / 6] |= (uint8_t)(1u << face[i] % 6);
    free(face);
    return HX_OK;
}

int hx_combine_faces(const hx_mesh *mesh, const hx_set *set, int64_t *n_face, int64_t **face)
{
    uint8_t *mask = NULL;
    int64_t n = 0;
    int rc;
    *n_face = 0;
    *face = NULL;
    HX_TRY_FAIL(hx_alloc(&mask, (size_t)mesh->n_elem, 1, "faces of a set"));
    HX_TRY_FAIL(first_mask(mesh, set->rule, mask));
    for (size_t i = 0; i < set->n_part; i++) {
        const hx_set *const part = hx_mesh_find_set(mesh, set->part[i]);
        if (part) HX_TRY_FAIL(combine_part(mesh, part, set->rule, mask));
    }
    for (int64_t k = 0; k < 6 * mesh->n_elem; k++) n += mask[k / 6] >> k % 6 & 1;
    if (n == 0) goto fail;
    HX_TRY_FAIL(hx_alloc_raw(face, (size_t)n, sizeof **face, "faces of a set"));
    for (int64_t k = 0; k < 6 * mesh->n_elem; k++)
        if (mask[k / 6] >> k % 6 & 1) (*face)[(*n_face)++] = k;
fail:
    free(mask);
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
