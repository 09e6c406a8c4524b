/* The body of forced-solid elements, which exists in addition to the iso-surface of the other
 * elements. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"

int hx_surface_body_create(hx_surface_field *field, const uint8_t *state)
{
    const hx_mesh *mesh = field->mesh;
    int64_t n_solid = 0, *face = NULL;
    for (int64_t e = 0; e < mesh->n_elem; e++) n_solid += state[e] == HX_SOLID_BODY;
    if (n_solid == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&field->body, (size_t)mesh->n_elem, 1, "elements that are solid"));
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t e = 0; e < field->mesh->n_elem; e++) {
        const int is_body = state[e] == HX_SOLID_BODY;
        field->body[e] = is_body ? HX_BODY_SOLID : 0;
        for (int f = 0; is_body && f < 6; f++) {
            /* An element that does not belong to the body lies across a face. */
            int32_t node[4];
            const int n_corner = hx_cell_face(field->mesh->conn + 8 * e, f, node);
            const int64_t other =
                n_corner < 3 ? -1 : hx_mesh_face_neighbour(field->mesh, e, n_corner, node);
            if (!(other >= 0 && state[other] != HX_SOLID_BODY)) continue;
            field->body[e] |= (uint8_t)(1u << f);
            n++;
        }
    }
    const int64_t n_face = field->n_face + n;
    HX_TRY(hx_alloc_raw(&face, (size_t)n_face, sizeof *face, "faces of the solid elements"));
    memcpy(face, field->face, (size_t)field->n_face * sizeof *face);
    for (int64_t e = 0, at = field->n_face; e < mesh->n_elem; e++)
        for (int f = 0; f < 6; f++)
            if (field->body[e] >> f & 1u) face[at++] = 6 * e + f;
    free(field->face);
    field->face = face;
    field->n_face = n_face;
    return HX_OK;
}
