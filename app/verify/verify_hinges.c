/* Determines whether parts of the solid are connected only at nodes or edges. For hexahedra, common
 * faces decide. With tetrahedra, a threshold nearly always leaves single elements that touch at an
 * edge, and the surface does not follow them; so they are judged by the pieces of the surface that
 * `hextop surface` cuts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../result/members.h"
#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/union_find.h"
#include "core/base/vec3.h"
#include "core/surface/surface.h"
#include "verify.h"

/* Counts connected surfaces that enclose a volume, without cavities. */
static int count_shells(const hx_surface *surface, int64_t *n_shell)
{
    const size_t n = (size_t)surface->n_vertex;
    int32_t *parent = NULL;
    double *volume = NULL;
    int rc;
    *n_shell = 0;
    HX_TRY_FAIL(hx_alloc_raw(&parent, n, sizeof *parent, "pieces"));
    HX_TRY_FAIL(hx_alloc(&volume, n, sizeof *volume, "pieces"));
    for (size_t i = 0; i < n; i++) parent[i] = (int32_t)i;
    for (int64_t t = 0; t < surface->n_tri; t++)
        for (int k = 1; k < 3; k++) hx_unite(parent, surface->tri[3 * t], surface->tri[3 * t + k]);
    /* Six times the volume between a triangle and the origin. */
    for (int64_t t = 0; t < surface->n_tri; t++) {
        const int32_t *const tri = surface->tri + 3 * t;
        const double *const xyz = surface->xyz;
        volume[hx_root(parent, tri[0])] += hx_triple3(
            xyz + 3 * (int64_t)tri[0], xyz + 3 * (int64_t)tri[1], xyz + 3 * (int64_t)tri[2]);
    }
    for (size_t i = 0; i < n; i++) *n_shell += volume[i] > 0.0;
fail:
    free(parent);
    free(volume);
    return rc;
}

/* Counts the pieces of the surface at the volume of the solid. */
static int count_surface(hx_verify *v, hx_surface_field *field, const double *rho,
                         const uint8_t *is_solid)
{
    hx_surface surface;
    double threshold, volume;
    memset(&surface, 0, sizeof surface);
    HX_TRY(hx_surface_threshold(field, v->volume, &threshold, &volume));
    const hx_fine_image none = {0};
    hx_surface_repairs repairs;
    const int repaired = hx_members_repair(field, &none, field->mesh, rho, is_solid, v->volume,
                                           &threshold, &repairs, NULL);
    hx_surface_repairs_free(&repairs);
    HX_TRY(repaired);
    int rc = hx_surface_extract(&surface, field, threshold);
    if (rc == HX_OK) rc = count_shells(&surface, &v->n_surface_piece);
    hx_surface_free(&surface);
    return rc;
}

static int cut_surface(hx_verify *v)
{
    const hx_session *const s = &v->session;
    const size_t n = (size_t)s->mesh.n_elem;
    const hx_mesh *mesh = NULL;
    hx_mesh own;
    hx_surface_field field;
    double *rho = NULL;
    uint8_t *is_solid = NULL;
    int rc;
    memset(&own, 0, sizeof own);
    memset(&field, 0, sizeof field);
    HX_TRY_FAIL(hx_alloc_raw(&rho, n, sizeof *rho, "densities"));
    memcpy(rho, v->density, n * sizeof *rho);
    HX_TRY_FAIL(hx_part_cut(&v->part, s, rho, &is_solid, &own, &mesh));
    HX_TRY_FAIL(hx_surface_field_create(&field, mesh, rho, is_solid));
    HX_TRY_FAIL(count_surface(v, &field, rho, is_solid));
fail:
    hx_surface_field_free(&field);
    hx_mesh_free(&own);
    free(is_solid);
    free(rho);
    return rc;
}

const char *hx_verify_hinges_text(const hx_verify *v, char *text, size_t n_text)
{
    const hx_hinges *const h = &v->hinges;
    char edges[32], points[32], places[32], n_edge[48] = "", n_point[48] = "", where[96] = "";
    if (h->n_edge > 0)
        snprintf(n_edge, sizeof n_edge, "%s %s", hx_format_count(h->n_edge, edges, sizeof edges),
                 hx_noun(h->n_edge, "edge", "edges"));
    if (h->n_point > 0)
        snprintf(n_point, sizeof n_point, "%s %s",
                 hx_format_count(h->n_point, points, sizeof points),
                 hx_noun(h->n_point, "node", "nodes"));
    if (h->n_place > 1)
        snprintf(where, sizeof where, "in %s places, the largest ",
                 hx_format_count(h->n_place, places, sizeof places));
    const double *const x = v->session.mesh.xyz + 3 * (h->node < 0 ? 0 : h->node);
    snprintf(text, n_text, "%s%s%s, %sat %.6g, %.6g, %.6g", n_edge,
             n_edge[0] && n_point[0] ? " and " : "", n_point, where, x[0], x[1], x[2]);
    return text;
}

int hx_verify_count_pieces(hx_verify *v)
{
    const hx_mesh *const mesh = &v->session.mesh;
    hx_pieces faces;
    HX_TRY(
        hx_pieces_create(&faces, mesh, v->is_solid, v->session.problem.volume, HX_PIECES_BY_FACES));
    v->n_face_piece = faces.n;
    v->n_surface_piece = -1;
    hx_pieces_free(&faces);
    HX_TRY(hx_hinges_find(mesh, v->is_solid, &v->hinges));
    if (mesh->n_kind[HX_CELL_TETRAHEDRON] == 0) return HX_OK;
    const int rc = cut_surface(v);
    if (rc != HX_EINPUT) return rc;
    hx_error_clear(); /* everything is solid, or nothing is */
    return HX_OK;
}
