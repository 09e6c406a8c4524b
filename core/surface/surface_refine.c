/* Transfers a field to a finer mesh of the same part. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"

/* Reference coordinates of a hexahedron's corners along r, s, t. */
static const int corner_at[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                    {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

/* The coarse nodal values at corner a of fine element e, interpolated trilinearly in its coarse
 * element. */
static double value_in(const hx_surface_field *coarse, int64_t e, int a, int n)
{
    const int64_t per = (int64_t)n * n * n, k = e % per;
    const int at[3] = {(int)(k % n) + corner_at[a][0], (int)(k / n % n) + corner_at[a][1],
                       (int)(k / n / n) + corner_at[a][2]};
    const int32_t *const conn = coarse->mesh->conn + 8 * (e / per);
    double sum = 0.0;
    for (int c = 0; c < 8; c++) {
        double share = 1.0;
        for (int d = 0; d < 3; d++) share *= (double)(corner_at[c][d] ? at[d] : n - at[d]) / n;
        /* nodes of a free element are never HUGE_VAL */
        if (share > 0.0) sum += share * coarse->value[conn[c]];
    }
    return sum;
}

/* Value from the first free element around a node; all free elements there agree up to rounding. */
static double value_at(const hx_surface_field *fine, const hx_surface_field *coarse, int64_t node,
                       int n)
{
    const hx_mesh *const mesh = fine->mesh;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
        const int64_t e = mesh->node_elem[k] / 8;
        if (!hx_surface_is_solid(fine, e))
            return value_in(coarse, e, (int)(mesh->node_elem[k] % 8), n);
    }
    return HUGE_VAL;
}

static int refine_body(hx_surface_field *fine, const hx_surface_field *coarse, int n)
{
    uint8_t *state = NULL;
    if (!coarse->body) return HX_OK;
    HX_TRY(hx_alloc_raw(&state, (size_t)fine->mesh->n_elem, 1, "states of elements"));
    for (int64_t e = 0; e < fine->mesh->n_elem; e++)
        state[e] =
            hx_surface_is_solid(coarse, e / ((int64_t)n * n * n)) ? HX_SOLID_BODY : HX_SOLID_NONE;
    const int rc = hx_surface_body_create(fine, state);
    free(state);
    return rc;
}

int hx_surface_field_refine(hx_surface_field *fine, const hx_surface_field *coarse,
                            const hx_mesh *mesh, int n)
{
    int rc;
    memset(fine, 0, sizeof *fine);
    fine->mesh = mesh;
    HX_TRY_FAIL(
        hx_alloc_raw(&fine->value, (size_t)mesh->n_node, sizeof(double), "nodal densities"));
    HX_TRY_FAIL(hx_mesh_boundary_faces(mesh, NULL, &fine->n_face, &fine->face));
    HX_TRY_FAIL(refine_body(fine, coarse, n));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) fine->value[a] = value_at(fine, coarse, a, n);
    return HX_OK;
fail:
    hx_surface_field_free(fine);
    return rc;
}
