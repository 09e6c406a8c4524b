/* Decides which forced-solid elements end at their faces, and which are cut by the nodal density
 * like free ones. The latter are, for example, the elements of a skin on a mesh of tetrahedra or
 * unstructured hexahedra, whose surface is ragged. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"

/* Properties of a node as bits. */
enum {
    SOLID_FACE = 1, /* boundary faces of forced-solid elements */
    FREE_FACE = 2,  /* boundary faces of other elements */
    KEPT_FACE = 4,  /* faces that are kept */
    /* on a kept face, or with boundary faces of forced-solid elements only: stays inside */
    KEPT = 8,
    CORE = 16, /* kept, or all its elements are forced solid */
    NEAR = 32  /* a forced-solid element with a core node */
};

static void mark_faces(const hx_surface_field *field, const uint8_t *is_solid, uint8_t *at)
{
    for (int64_t i = 0; i < field->n_face; i++) {
        const int64_t e = field->face[i] / 6;
        const int f = (int)(field->face[i] % 6);
        int32_t node[4];
        const int n = hx_cell_face(field->mesh->conn + 8 * e, f, node);
        uint8_t here = is_solid[e] ? SOLID_FACE : FREE_FACE;
        if (is_solid[e] & hx_surface_kept_face(f)) here |= KEPT_FACE;
        for (int k = 0; k < n; k++) at[node[k]] |= here;
    }
}

static void mark_cores(const hx_mesh *mesh, const uint8_t *is_solid, uint8_t *at)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int faces = at[a] & (SOLID_FACE | FREE_FACE);
        int64_t k = mesh->node_elem_ptr[a];
        if (at[a] & KEPT_FACE || faces == SOLID_FACE) at[a] |= KEPT;
        while (k < mesh->node_elem_ptr[a + 1] && is_solid[mesh->node_elem[k] / 8]) k++;
        if (at[a] & KEPT || k == mesh->node_elem_ptr[a + 1]) at[a] |= CORE;
    }
}

/* 1 if a node of the element has this bit. */
static int has(const hx_mesh *mesh, const uint8_t *at, int64_t e, unsigned bit)
{
    unsigned any = 0;
    for (int i = 0; i < 8; i++) any |= at[mesh->conn[8 * e + i]];
    return (any & bit) != 0;
}

int hx_surface_sort_solid(const hx_surface_field *field, const uint8_t *is_solid, uint8_t *state,
                          uint8_t *is_kept)
{
    const hx_mesh *mesh = field->mesh;
    const int is_mixed = hx_mesh_is_collapsed(mesh);
    uint8_t *ragged = NULL; /* is_solid of elements that may be cut */
    memset(is_kept, 0, (size_t)mesh->n_node);
    HX_TRY(hx_alloc(&ragged, (size_t)mesh->n_elem, 1, "elements that are solid"));
    const int rc = is_mixed ? HX_OK : hx_surface_find_ragged(mesh, is_solid, ragged);
    for (int64_t e = 0; e < mesh->n_elem; e++) ragged[e] = is_mixed || ragged[e] ? is_solid[e] : 0;
    mark_faces(field, ragged, is_kept);
    mark_cores(mesh, ragged, is_kept);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (!ragged[e] || !has(mesh, is_kept, e, CORE)) continue;
        for (int i = 0; i < 8; i++) is_kept[mesh->conn[8 * e + i]] |= NEAR;
    }
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        state[e] = is_solid[e] ? HX_SOLID_BODY : HX_SOLID_NONE;
        if (ragged[e] && has(mesh, is_kept, e, NEAR)) state[e] = HX_SOLID_CUT;
    }
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) is_kept[a] = (is_kept[a] & KEPT) != 0;
    free(ragged);
    return rc;
}
