/* The boundary of a 0/1 design as a surface. */
#include <string.h>

#include "../base/memory.h"
#include "surface_patch.h"
#include "surface_thickness.h"

static int is_outer(const hx_mesh *mesh, const uint8_t *solid, int64_t e, int n,
                    const int32_t node[4])
{
    const int64_t other = n < 3 ? e : hx_mesh_face_neighbour(mesh, e, n, node);
    return n >= 3 && (other < 0 || !solid[other]);
}

int hx_surface_of_elements(const hx_mesh *mesh, const uint8_t *solid, hx_surface *surface)
{
    int rc;
    int64_t n_tri = 0;
    int32_t node[4];
    memset(surface, 0, sizeof *surface);
    for (int64_t k = 0; k < 6 * mesh->n_elem; k++) {
        if (!solid[k / 6]) continue;
        const int n = hx_cell_face(mesh->conn + 8 * (k / 6), (int)(k % 6), node);
        if (is_outer(mesh, solid, k / 6, n, node)) n_tri += n - 2;
    }
    if (3 * n_tri > INT32_MAX)
        return HX_RAISE(HX_EINPUT, "the boundary of the 0/1 design has more than 2^31 corners");
    const size_t n_node = (size_t)mesh->n_node;
    HX_TRY_FAIL(hx_alloc_raw(&surface->xyz, 3 * n_node, sizeof *surface->xyz, "surface"));
    HX_TRY_FAIL(hx_alloc_raw(&surface->tri, 3 * (size_t)n_tri, sizeof *surface->tri, "surface"));
    memcpy(surface->xyz, mesh->xyz, 3 * n_node * sizeof *surface->xyz);
    surface->n_vertex = mesh->n_node;
    for (int64_t k = 0; k < 6 * mesh->n_elem; k++) {
        if (!solid[k / 6]) continue;
        const int n = hx_cell_face(mesh->conn + 8 * (k / 6), (int)(k % 6), node);
        if (!is_outer(mesh, solid, k / 6, n, node)) continue;
        for (int i = 2; i < n; i++) {
            int32_t *const tri = surface->tri + 3 * surface->n_tri++;
            tri[0] = node[0];
            tri[1] = node[i - 1];
            tri[2] = node[i];
        }
    }
fail:
    if (rc < 0) hx_surface_free(surface);
    return rc;
}
