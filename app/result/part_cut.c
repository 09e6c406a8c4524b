/* The mesh of a part from which a surface is cut. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/surface/surface.h"
#include "part.h"

/* Makes `own` from the kept elements, and reduces rho and is_solid to them. */
static int keep_elements(const hx_mesh *mesh, const uint8_t *keep, int64_t n_elem, double *rho,
                         uint8_t *is_solid, hx_mesh *own)
{
    int rc;
    int32_t *number = NULL, *conn = NULL;
    double *xyz = NULL;
    HX_TRY_FAIL(hx_alloc(&number, (size_t)mesh->n_node, sizeof *number, "numbers of nodes"));
    /* number[n_node] := new number of each node of a kept element, -1 for other nodes. */
    int32_t n_node = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) number[a] = -1;
    for (int64_t k = 0; k < 8 * mesh->n_elem; k++)
        if (keep[k / 8]) number[mesh->conn[k]] = 0;
    for (int64_t a = 0; a < mesh->n_node; a++)
        if (number[a] == 0) number[a] = n_node++;
    HX_TRY_FAIL(hx_alloc(&xyz, 3 * (size_t)n_node, sizeof *xyz, "nodes"));
    HX_TRY_FAIL(hx_alloc(&conn, 8 * (size_t)n_elem, sizeof *conn, "elements"));
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (number[a] < 0) continue;
        memcpy(xyz + 3 * (int64_t)number[a], mesh->xyz + 3 * a, 3 * sizeof *xyz);
    }
    for (int64_t e = 0, at = 0; e < mesh->n_elem; e++) {
        if (!keep[e]) continue;
        for (int i = 0; i < 8; i++) conn[8 * at + i] = number[mesh->conn[8 * e + i]];
        is_solid[at] = is_solid[e];
        rho[at++] = rho[e];
    }
    rc = hx_mesh_create(own, mesh->name, n_node, xyz, n_elem, conn);
    xyz = NULL; /* ownership was taken */
    conn = NULL;
    if (rc == HX_OK) rc = hx_mesh_finish(own);
fail:
    free(number);
    free(xyz);
    free(conn);
    return rc;
}

int hx_part_cut(const hx_result_part *part, const hx_session *s, double *rho, uint8_t **is_solid,
                hx_mesh *own, const hx_mesh **mesh)
{
    const int64_t n_elem = s->mesh.n_elem;
    *mesh = &s->mesh;
    HX_TRY(hx_alloc(is_solid, (size_t)n_elem, 1, "solid elements"));
    for (int64_t e = 0; e < n_elem; e++) {
        if (part->state[e] != HX_PART_SOLID) continue;
        (*is_solid)[e] = 1;
        for (int f = 0; f < 6; f++)
            if (part->kept_face[e] >> f & 1u) (*is_solid)[e] |= hx_surface_kept_face(f);
    }
    if (part->n_void == 0) return HX_OK;
    /* Leaves out passive void, so that the border of the void becomes the mesh's boundary. */
    uint8_t *keep = NULL;
    if (part->n_void == s->mesh.n_elem)
        return HX_RAISE(HX_EINPUT, "all elements are passive void: the part is empty");
    HX_TRY(hx_alloc(&keep, (size_t)s->mesh.n_elem, 1, "elements of the surface"));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) keep[e] = part->state[e] != HX_PART_VOID;
    const int rc =
        keep_elements(&s->mesh, keep, s->mesh.n_elem - part->n_void, rho, *is_solid, own);
    free(keep);
    HX_TRY(rc);
    *mesh = own;
    return HX_OK;
}

int hx_part_fine_image(const hx_result_part *part, const hx_session *s, int requested,
                       hx_fine_image *fine)
{
    uint8_t *keep = NULL;
    if (part->n_void == 0) return hx_fine_image_create(fine, s, NULL, requested);
    HX_TRY(hx_alloc(&keep, (size_t)s->mesh.n_elem, 1, "elements of the surface"));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) keep[e] = part->state[e] != HX_PART_VOID;
    const int rc = hx_fine_image_create(fine, s, keep, requested);
    free(keep);
    return rc;
}
