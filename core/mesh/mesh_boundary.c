/* Faces that belong to only one element. */
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "mesh.h"
#include "node_star.h"

/* Returns 1 if a hexahedron that names node[0] also names the other nodes of the face: it has the
 * face. */
static int names_all(const int32_t conn[8], const int32_t node[4])
{
    int n_interface = 0;
    for (int i = 0; i < 8; i++)
        n_interface += conn[i] == node[1] || conn[i] == node[2] || conn[i] == node[3];
    return n_interface == 3;
}

/* Returns 1 if any cell has the face with n corners. Its nodes may be a face, part of one, or
 * neither. */
static int has_face(const int32_t conn[8], int n, const int32_t node[4])
{
    const int32_t last = node[n - 1];
    int has_1 = 0, has_2 = 0, has_last = 0;
    for (int i = 0; i < 8; i++) {
        has_1 |= conn[i] == node[1];
        has_2 |= conn[i] == node[2];
        has_last |= conn[i] == last;
    }
    return (has_1 & has_2 & has_last) && hx_cell_find_face(conn, n, node) >= 0;
}

int64_t hx_mesh_face_neighbour(const hx_mesh *mesh, int64_t e, int n, const int32_t node[4])
{
    const int is_mixed = hx_mesh_is_collapsed(mesh);
    int64_t last = e; /* corners of one element are consecutive */
    for (int64_t k = mesh->node_elem_ptr[node[0]]; k < mesh->node_elem_ptr[node[0] + 1]; k++) {
        const int64_t other = mesh->node_elem[k] / 8;
        if (other == e || other == last) continue;
        const int32_t *const conn = mesh->conn + 8 * other;
        if (is_mixed ? has_face(conn, n, node) : names_all(conn, node)) return other;
        last = other;
    }
    return -1;
}

int hx_mesh_face_is_inner(const hx_mesh *mesh, int64_t face)
{
    int32_t node[4];
    const int n = hx_cell_face(mesh->conn + 8 * (face / 6), (int)(face % 6), node);
    return n < 3 || hx_mesh_face_neighbour(mesh, face / 6, n, node) >= 0;
}

/* hx_cell_face, with a shortcut for hexahedra. */
static int list_corners(const int32_t conn[8], int is_mixed, int face, int32_t node[4])
{
    if (is_mixed) return hx_cell_face(conn, face, node);
    for (int i = 0; i < 4; i++) node[i] = conn[hx_hex_face[face][i]];
    return 4;
}

/* Returns 1 if all corners of a face are flagged. */
static int are_flagged(const uint8_t *node_flag, int n, const int32_t *node)
{
    int all = 1;
    for (int i = 0; node_flag && i < n; i++) all &= node_flag[node[i]] != 0;
    return all;
}

/* Returns 1 if too few corners of an element are flagged for a face of it. */
static int has_no_face(const uint8_t *node_flag, const int32_t conn[8])
{
    int n = 0;
    for (int i = 0; node_flag && i < 8; i++) n += node_flag[conn[i]] != 0;
    return node_flag && n < 3;
}

/* mask[n_elem]: bit f: face f is selected; returns the number of faces. */
static int64_t mark_faces(const hx_mesh *mesh, int is_mixed, const uint8_t *node_flag,
                          uint8_t *mask)
{
    int64_t n = 0;
#pragma omp parallel for reduction(+ : n)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + (size_t)e * 8;
        unsigned bits = 0;
        mask[e] = 0;
        if (has_no_face(node_flag, conn)) continue;
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
    return n;
}

/* face[] := faces of the mask, ascending. */
static void list_masked_faces(int64_t n_elem, const uint8_t *mask, int64_t *face)
{
    int64_t first[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n_elem, part + 1);
        int64_t n = 0;
        for (int64_t e = hx_part_begin(n_elem, part); e < end; e++)
            for (int f = 0; mask[e] >> f; f++) n += mask[e] >> f & 1;
        first[part + 1] = n;
    }
    for (int part = 0; part < HX_N_PART; part++) first[part + 1] += first[part];
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n_elem, part + 1);
        int64_t next = first[part];
        for (int64_t e = hx_part_begin(n_elem, part); e < end; e++)
            for (int f = 0; mask[e] >> f; f++)
                if (mask[e] >> f & 1) face[next++] = e * 6 + f;
    }
}

int hx_mesh_boundary_faces(const hx_mesh *mesh, const uint8_t *node_flag, int64_t *n_face,
                           int64_t **face)
{
    int rc = HX_OK;
    /* flag[n_node]: used if all faces are selected; 1 if a boundary face may be at the node */
    uint8_t *mask = NULL, *flag = NULL;
    const int is_mixed = hx_mesh_is_collapsed(mesh);
    *face = NULL;
    *n_face = 0;
    if (!mesh->node_elem_ptr)
        return HX_RAISE(HX_EINTERNAL, "%s: boundary faces of an unfinished mesh", mesh->name);
    HX_TRY_FAIL(hx_alloc_raw(&mask, (size_t)mesh->n_elem, 1, "flags of boundary faces"));
    if (!node_flag && !is_mixed) {
        HX_TRY_FAIL(hx_alloc_raw(&flag, (size_t)mesh->n_node, 1, "flags of boundary faces"));
        /* hexahedra: flag[node] := 1 if a face at the node may belong to only one element */
#pragma omp parallel for schedule(static)
        for (int64_t a = 0; a < mesh->n_node; a++) flag[a] = !hx_node_star_of(mesh, a).is_closed;
    }
    *n_face = mark_faces(mesh, is_mixed, flag ? flag : node_flag, mask);
    HX_TRY_FAIL(hx_alloc_raw(face, (size_t)*n_face, sizeof **face, "boundary faces"));
    list_masked_faces(mesh->n_elem, mask, *face);
fail:
    if (rc < 0) *n_face = 0;
    free(flag);
    free(mask);
    return rc;
}
