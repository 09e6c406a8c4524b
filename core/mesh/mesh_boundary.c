/* Faces that belong to one element only. */
#include <stdlib.h>

#include "../base/memory.h"
#include "mesh.h"

/* Whether a cell has the face: of hexahedra four nodes that they name are one; nodes of others may
 * be one, a part of one, or none. */
static int has_face(const int32_t conn[8], int is_mixed, int n, const int32_t node[4])
{
    int n_common = 0;
    for (int i = 0; i < 8; i++)
        n_common += conn[i] == node[1] || conn[i] == node[2] || (n > 3 && conn[i] == node[3]);
    if (n_common < n - 1) return 0; /* corners of one node count several times */
    return n == 4 && (!is_mixed || !hx_cell_is_collapsed(conn))
               ? n_common == 3
               : hx_cell_find_face(conn, n, node) >= 0;
}

int64_t hx_mesh_face_neighbour(const hx_mesh *mesh, int64_t e, int n, const int32_t node[4])
{
    const int is_mixed = hx_mesh_is_collapsed(mesh);
    for (int64_t k = mesh->node_elem_ptr[node[0]]; k < mesh->node_elem_ptr[node[0] + 1]; k++) {
        const int64_t other = mesh->node_elem[k] / 8;
        if (other != e && has_face(mesh->conn + 8 * other, is_mixed, n, node)) return other;
    }
    return -1;
}

int hx_mesh_face_is_inner(const hx_mesh *mesh, int64_t face)
{
    int32_t node[4];
    const int n = hx_cell_face(mesh->conn + 8 * (face / 6), (int)(face % 6), node);
    return n < 3 || hx_mesh_face_neighbour(mesh, face / 6, n, node) >= 0;
}

/* hx_cell_face, of a hexahedron without looking. */
static int list_corners(const int32_t conn[8], int is_mixed, int face, int32_t node[4])
{
    if (is_mixed) return hx_cell_face(conn, face, node);
    for (int i = 0; i < 4; i++) node[i] = conn[hx_hex_face[face][i]];
    return 4;
}

/* Whether all corners of a face are wanted. */
static int are_flagged(const uint8_t *node_flag, int n, const int32_t *node)
{
    int all = 1;
    for (int i = 0; node_flag && i < n; i++) all &= node_flag[node[i]] != 0;
    return all;
}

int hx_mesh_boundary_faces(const hx_mesh *mesh, const uint8_t *node_flag, int64_t *n_face,
                           int64_t **face)
{
    int rc = HX_OK;
    uint8_t *mask = NULL; /* [n_elem] bit f: face f is wanted */
    int64_t n = 0, filled = 0;
    const int is_mixed = hx_mesh_is_collapsed(mesh);
    *face = NULL;
    *n_face = 0;
    if (!mesh->node_elem_ptr)
        return HX_RAISE(HX_EINTERNAL, "%s: boundary faces of an unfinished mesh", mesh->name);
    HX_TRY(hx_alloc_raw(&mask, (size_t)mesh->n_elem, 1, "flags of boundary faces"));
#pragma omp parallel for reduction(+ : n)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + (size_t)e * 8;
        unsigned bits = 0;
        for (int f = 0; f < 6; f++) {
            int32_t node[4];
            const int n_corner = list_corners(conn, is_mixed, f, node);
            if (n_corner < 3 || !are_flagged(node_flag, n_corner, node)) continue;
            if (hx_mesh_face_neighbour(mesh, e, n_corner, node) >= 0) continue;
            bits |= 1u << f;
            n++;
        }
        mask[e] = (uint8_t)bits;
    }
    HX_TRY_FAIL(hx_alloc_raw(face, (size_t)n, sizeof **face, "boundary faces"));
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int f = 0; mask[e] && f < 6; f++)
            if (mask[e] & (1u << f)) (*face)[filled++] = e * 6 + f;
    *n_face = n;
fail:
    free(mask);
    return rc;
}
