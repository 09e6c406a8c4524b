/* Surfaces in boxes of every kind of cell, and what is cut out of them. */
#ifndef HX_TEST_CUT_CASE_H
#define HX_TEST_CUT_CASE_H

#include "core/mesh/load_faces.h"
#include "core/surface/cut_mesh.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"

/* 12 triangles around a box, from squares 0 4 6 2 ... of its corners in binary numbering. */
static inline void cut_add_box(hx_surface *s, const double low[3], const double high[3])
{
    static const int side[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    const int first = (int)s->n_vertex;
    s->xyz = realloc(s->xyz, 3 * (size_t)(first + 8) * sizeof *s->xyz);
    s->tri = realloc(s->tri, 3 * (size_t)(s->n_tri + 12) * sizeof *s->tri);
    if (!s->xyz || !s->tri) abort();
    for (int i = 0; i < 8; i++)
        for (int d = 0; d < 3; d++) s->xyz[3 * (first + i) + d] = i >> d & 1 ? high[d] : low[d];
    s->n_vertex += 8;
    for (int f = 0; f < 12; f++)
        for (int k = 0; k < 3; k++)
            s->tri[3 * (s->n_tri + f) + k] = first + side[f / 2][k == 0 ? 0 : k + f % 2];
    s->n_tri += 12;
}

static inline void cut_make_mesh(hx_mesh *mesh, int kind, int n, double distort)
{
    const mixed_box box = {.kind = (mixed_kind)kind, .n = {n, n, n}, .distort = distort, .seed = 5};
    memset(mesh, 0, sizeof *mesh);
    CHECK_OK(mixed_create(mesh, &box));
    mixed_turn(mesh, 5);
    CHECK_OK(fixture_finish(mesh, FIXTURE_SHUFFLED));
}

static inline double cut_volume_of(const hx_surface *s)
{
    hx_surface_report r;
    CHECK_OK(hx_surface_check(s, HX_SURFACE_F64, &r));
    CHECK(r.is_closed_manifold);
    return r.volume;
}

/* A finished mesh of the inside; its boundary is closed because the vector areas sum to 0. */
static inline void cut_out(hx_mesh *mesh, const hx_surface *s, const hx_mesh *around, int n_refine,
                           hx_cut_report *r)
{
    int32_t *piece = NULL, last = 0;
    int64_t n_face = 0, *face = NULL;
    double sum[3] = {0.0, 0.0, 0.0};
    memset(mesh, 0, sizeof *mesh);
    CHECK_OK(hx_cut_mesh_create(mesh, s, around, n_refine, &piece, r));
    for (int64_t e = 0; e < mesh->n_elem; e++) last = piece[e] > last ? piece[e] : last;
    CHECK(last + 1 == r->n_piece);
    CHECK_OK(hx_mesh_finish(mesh)); /* refuses inverted elements */
    CHECK(mesh->n_kind[HX_CELL_TETRAHEDRON] == mesh->n_elem && mesh->n_elem == r->n_tet);
    CHECK_REL(mesh->total_volume, r->volume, 1e-12);
    CHECK(r->worst > 0.0 && r->mean > 0.4);
    CHECK_OK(hx_mesh_boundary_faces(mesh, NULL, &n_face, &face));
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        hx_face_point point[4];
        hx_face_points(mesh, face[f], node, point);
        for (int q = 0; q < 4; q++)
            for (int d = 0; d < 3; d++) sum[d] += point[q].normal[d];
    }
    const double cell = cbrt(mesh->total_volume / (double)mesh->n_elem);
    for (int d = 0; d < 3; d++) CHECK_ABS(sum[d], 0.0, 1e-9 * fmax(1.0, cell * cell));
    free(face);
    free(piece);
}

#endif
