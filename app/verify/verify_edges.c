/* Sharp edges of the part that is made at which the boundary turns inwards and that no design can
 * round: those of the model, with material kept on both sides, and those where the part meets a
 * passive solid. Stresses grow there without bound as the mesh is refined, so the surface is
 * judged from a distance of two elements of the design on. */
#include <math.h>
#include <stdlib.h>

#include "../result/element_finder.h"
#include "../session/stress_zone_edges.h"
#include "../session/stress_zone_nodes.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/vec3.h"
#include "verify.h"

/* How far beyond a face of the part the model has to end, in elements of the design. */
static const double step_in_elements = 0.1;

/* Least distance from such an edge at which stresses are judged, in elements of the design:
 * tetrahedra of their size do not resolve what is nearer. At most the radius of the zones. */
static const double radius_in_elements = 2.0;

/* Edges with less than this share of the largest stress need no zone. */
static const double small = 0.5;

typedef struct sides {
    const hx_mesh *cut;
    const hx_element_finder *finder;
    const double *density; /* of passive elements, NaN where free; NULL: all are free */
    double step;
} sides;

/* 1 if the model ends beyond a point, or has passive void there. */
static int ends_at(const sides *s, const double x[3])
{
    const int64_t e = hx_element_find(s->finder, x);
    if (e < 0 || hx_element_beyond(s->finder, e, x) > 0.5 * s->step) return 1;
    return s->density && s->density[e] <= HX_ZONE_MOST_VOID;
}

/* 1 if a boundary face of a tetrahedron lies on the boundary of the model. */
static int is_of_model(const sides *s, int64_t t, int n, const int32_t *corner)
{
    double inside[3], middle[3], u[3], v[3], normal[3], to[3], x[3];
    const double *const a = s->cut->xyz + 3 * (int64_t)corner[0],
                        *const b = s->cut->xyz + 3 * (int64_t)corner[1],
                        *const c = s->cut->xyz + 3 * (int64_t)corner[n - 1];
    hx_mesh_centroid(s->cut, t, inside);
    for (int d = 0; d < 3; d++) {
        middle[d] = (a[d] + b[d] + c[d]) / 3.0;
        u[d] = b[d] - a[d];
        v[d] = c[d] - a[d];
        to[d] = middle[d] - inside[d];
    }
    hx_cross3(u, v, normal);
    const double size = hx_norm3(normal), side = hx_dot3(normal, to) < 0.0 ? -1.0 : 1.0;
    if (!(size > 0.0)) return 0;
    for (int d = 0; d < 3; d++) x[d] = middle[d] + side * s->step / size * normal[d];
    return ends_at(s, x);
}

/* part_faces[n_tet] := bit f for the local faces on the boundary of the model. */
static void find_part_faces(const sides *s, uint8_t *part_faces)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t t = 0; t < s->cut->n_elem; t++)
        for (int f = 0; f < 6; f++) {
            int32_t corner[4];
            const int n = hx_cell_face(s->cut->conn + 8 * t, f, corner);
            if (n < 3 || hx_mesh_face_neighbour(s->cut, t, n, corner) >= 0) continue;
            if (is_of_model(s, t, n, corner)) part_faces[t] |= (uint8_t)(1u << f);
        }
}

static void count_sharp_nodes(hx_verify *v, const uint8_t *is_sharp)
{
    v->surface.edges.n = 0;
    for (int64_t a = 0; a < v->surface.part.mesh.n_node; a++) v->surface.edges.n += is_sharp[a];
}

int hx_verify_surface_edges(hx_verify *v, const int32_t *elem, uint8_t *is_sharp)
{
    const hx_mesh *const mesh = &v->session.mesh, *const cut = &v->surface.part.mesh;
    const double *const density = v->session.problem.passive.density;
    hx_verify_edges *const edges = &v->surface.edges;
    hx_element_finder finder = {0};
    sides s = {cut, &finder, density, step_in_elements * mesh->elem_size};
    uint8_t *part_faces = NULL, *is_passive = NULL;
    int64_t n_edge;
    int rc = HX_OK;
    edges->radius = fmin(v->session.zones.radius, radius_in_elements * mesh->elem_size);
    if (!(edges->radius > 0.0)) return HX_OK;
    HX_TRY_FAIL(hx_alloc(&part_faces, (size_t)cut->n_elem, 1, "faces at edges"));
    HX_TRY_FAIL(hx_alloc(&is_passive, (size_t)cut->n_elem, 1, "faces at edges"));
    HX_TRY_FAIL(hx_element_finder_create(&finder, mesh));
    find_part_faces(&s, part_faces);
    for (int64_t t = 0; density && t < cut->n_elem; t++)
        is_passive[t] = elem[t] >= 0 && density[elem[t]] > HX_ZONE_MOST_VOID;
    HX_TRY_FAIL(hx_stress_zone_sharp_edges(cut, part_faces, is_passive, is_sharp, &n_edge));
    count_sharp_nodes(v, is_sharp);
fail:
    hx_element_finder_free(&finder);
    free(part_faces);
    free(is_passive);
    return rc;
}

int hx_verify_mark_edges(const hx_verify *v, const uint8_t *is_sharp, uint8_t *is_zone_tet)
{
    const hx_mesh *const cut = &v->surface.part.mesh;
    if (v->surface.edges.n == 0) return HX_OK;
    for (int64_t k = 0; k < 8 * cut->n_elem; k++)
        if (is_sharp[cut->conn[k]]) is_zone_tet[k / 8] = 1;
    return hx_stress_zones_mark_near(cut, is_sharp, v->surface.edges.radius, is_zone_tet);
}

int hx_verify_drop_edges(hx_verify *v, const hx_verify_samples *samples, double outside,
                         uint8_t *is_sharp)
{
    const int64_t before = v->surface.edges.n;
    for (int64_t a = 0; a < samples->n; a++)
        if (is_sharp[a] && samples->value[a] < small * outside) is_sharp[a] = 0;
    count_sharp_nodes(v, is_sharp);
    return v->surface.edges.n < before;
}

void hx_verify_find_sharpest(hx_verify *v, const hx_verify_samples *s, const uint8_t *is_sharp)
{
    hx_verify_peak *const peak = &v->surface.edges.largest;
    const hx_mesh *const cut = &v->surface.part.mesh;
    for (int64_t a = 0; a < s->n; a++) {
        if (!is_sharp[a] || !(s->volume[a] > 0.0)) continue;
        if (peak->load_case > 0 && !(s->value[a] > peak->value)) continue;
        *peak = (hx_verify_peak){
            .value = s->value[a], .load_case = s->load_case[a], .place = {HX_AT_NODE, a, 0}};
        for (int d = 0; d < 3; d++) peak->point[d] = cut->xyz[3 * a + d];
    }
}

const char *hx_verify_warn_edges(const hx_verify *v, char *text, size_t n_text)
{
    const hx_verify_edges *const e = &v->surface.edges;
    const hx_units *const u = &v->session.cfg.units;
    const double *const x = e->largest.point;
    text[0] = '\0';
    if (e->n == 0) return text;
    hx_fit(text, n_text,
           "the part has sharp edges that turn inwards, of the model or at passive solids, where "
           "stresses grow without bound as the mesh is refined (%.4g%s on this one, at %.4g, %.4g, "
           "%.4g); they are judged from %.3g%s beyond such edges; round the edge in the model, or "
           "name a set there in `exclude`",
           e->largest.value, u->stress, x[0], x[1], x[2], e->radius, u->length);
    return text;
}

void hx_verify_write_edges(hx_json *json, const hx_verify *v)
{
    const hx_verify_edges *const e = &v->surface.edges;
    if (e->n == 0) return;
    hx_json_open_object(json, "sharp_edges");
    hx_json_integer(json, "nodes", e->n);
    hx_json_number(json, "radius", e->radius);
    hx_json_number(json, "value", e->largest.value);
    hx_json_integer(json, "case", e->largest.load_case);
    hx_json_numbers(json, "point", 3, e->largest.point);
    hx_json_close_object(json);
}
