/* Faces that belong to one element only. */
#include <stdlib.h>

#include "../base/memory.h"
#include "mesh.h"

/* Whether another element than e has all four nodes. */
static int is_shared(const hx_mesh *mesh, int64_t e, const int32_t node[4])
{
    for (int64_t k = mesh->node_elem_ptr[node[0]]; k < mesh->node_elem_ptr[node[0] + 1]; k++) {
        const int64_t other = mesh->node_elem[k] / 8;
        if (other == e) continue;
        const int32_t *const conn = mesh->conn + (size_t)other * 8;
        int n_common = 0;
        for (int i = 0; i < 8; i++)
            n_common += conn[i] == node[1] || conn[i] == node[2] || conn[i] == node[3];
        if (n_common == 3) return 1;
    }
    return 0;
}

int hx_mesh_face_is_inner(const hx_mesh *mesh, int64_t face)
{
    const int32_t *const conn = mesh->conn + 8 * (face / 6);
    int32_t node[4];
    for (int i = 0; i < 4; i++) node[i] = conn[hx_hex_face[face % 6][i]];
    return is_shared(mesh, face / 6, node);
}

int hx_mesh_boundary_faces(const hx_mesh *mesh, const uint8_t *node_flag, int64_t *n_face,
                           int64_t **face)
{
    int rc = HX_OK;
    uint8_t *mask = NULL; /* [n_elem] bit f: face f is wanted */
    int64_t n = 0, filled = 0;
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
            int wanted = 1;
            for (int i = 0; i < 4; i++) {
                node[i] = conn[hx_hex_face[f][i]];
                if (node_flag && !node_flag[node[i]]) wanted = 0;
            }
            if (!wanted || is_shared(mesh, e, node)) continue;
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
