/* Surfaces to measure: the boundary of a 0/1 design, and the whole of a part that is cut at a plane
 * of symmetry. */
#include <math.h>
#include <stdlib.h>
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

/* 1: the face of a solid element that is outer lies on the mesh's boundary, or the element is forced
 * solid. */
static uint8_t is_cap(const hx_mesh *mesh, const uint8_t *forced, int64_t e, int n,
                      const int32_t node[4])
{
    return (forced && forced[e]) || hx_mesh_face_neighbour(mesh, e, n, node) < 0;
}

int hx_surface_of_elements(const hx_mesh *mesh, const uint8_t *solid, const uint8_t *forced,
                           hx_surface *surface)
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
    HX_TRY_FAIL(hx_alloc_raw(&surface->is_cap, (size_t)n_tri, 1, "surface"));
    memcpy(surface->xyz, mesh->xyz, 3 * n_node * sizeof *surface->xyz);
    surface->n_vertex = mesh->n_node;
    for (int64_t k = 0; k < 6 * mesh->n_elem; k++) {
        if (!solid[k / 6]) continue;
        const int n = hx_cell_face(mesh->conn + 8 * (k / 6), (int)(k % 6), node);
        if (!is_outer(mesh, solid, k / 6, n, node)) continue;
        const uint8_t cap = is_cap(mesh, forced, k / 6, n, node);
        for (int i = 2; i < n; i++) {
            surface->is_cap[surface->n_tri] = cap;
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

/* --- the whole of a half --- */

/* 1: all corners of triangle t lie in the plane. */
static int is_in_plane(const hx_surface *s, int64_t t, const uint8_t *is_on)
{
    const int32_t *const v = s->tri + 3 * t;
    return is_on[v[0]] && is_on[v[1]] && is_on[v[2]];
}

/* Vertices: those of the half, then the images of those that are not in the plane; image[v] := the
 * number of the image of v. */
static int mirror_vertices(hx_surface *s, int axis, double at, const uint8_t *is_on, int32_t *image)
{
    const int64_t n = s->n_vertex;
    double *const xyz = realloc(s->xyz, 6 * (size_t)n * sizeof *xyz + 1);
    if (!xyz) return HX_RAISE(HX_ENOMEM, "no memory for the image of a surface");
    s->xyz = xyz;
    for (int64_t v = 0; v < n; v++) {
        image[v] = is_on[v] ? (int32_t)v : (int32_t)s->n_vertex;
        if (is_on[v]) continue;
        double *const x = xyz + 3 * s->n_vertex++;
        memcpy(x, xyz + 3 * v, 3 * sizeof *x);
        x[axis] = 2.0 * at - x[axis];
    }
    return HX_OK;
}

static int mirror(hx_surface *s, int axis, double at, const uint8_t *is_on, int32_t *image)
{
    const size_t n = (size_t)s->n_tri;
    if (2 * s->n_vertex > INT32_MAX || 6 * s->n_tri > INT32_MAX)
        return HX_RAISE(HX_EINPUT, "the surface has more than 2^31 corners with its image");
    HX_TRY(mirror_vertices(s, axis, at, is_on, image));
    int32_t *const tri = realloc(s->tri, 6 * n * sizeof *tri + 1);
    if (tri) s->tri = tri;
    uint8_t *const cap = s->is_cap && tri ? realloc(s->is_cap, 2 * n + 1) : NULL;
    if (cap) s->is_cap = cap;
    if (!tri || (s->is_cap && !cap))
        return HX_RAISE(HX_ENOMEM, "no memory for the image of a surface");
    int64_t kept = 0;
    for (int64_t t = 0; t < s->n_tri; t++) {
        if (is_in_plane(s, t, is_on)) continue;
        memmove(tri + 3 * kept, tri + 3 * t, 3 * sizeof *tri);
        if (cap) cap[kept] = cap[t];
        kept++;
    }
    for (int64_t t = 0; t < kept; t++) {
        const int32_t *const v = tri + 3 * t;
        int32_t *const w = tri + 3 * (kept + t);
        w[0] = image[v[0]];
        w[1] = image[v[2]];
        w[2] = image[v[1]];
        if (cap) cap[kept + t] = cap[t];
    }
    s->n_tri = 2 * kept;
    return HX_OK;
}

int hx_surface_mirror_at(hx_surface *s, int axis, double at, double tolerance)
{
    uint8_t *is_on = NULL;
    int32_t *image = NULL;
    int rc;
    free(s->edge);
    s->edge = NULL;
    HX_TRY_FAIL(hx_alloc(&is_on, (size_t)s->n_vertex, 1, "image of a surface"));
    HX_TRY_FAIL(hx_alloc_raw(&image, (size_t)s->n_vertex, sizeof *image, "image of a surface"));
    for (int64_t v = 0; v < s->n_vertex; v++)
        is_on[v] = fabs(s->xyz[3 * v + axis] - at) <= tolerance;
    rc = mirror(s, axis, at, is_on, image);
fail:
    free(is_on);
    free(image);
    return rc;
}
