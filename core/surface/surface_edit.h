/* Edits of a closed triangle surface through its half-edges: triangles around a vertex, collapse,
 * flip; not installed. */
#ifndef HX_SURFACE_EDIT_H
#define HX_SURFACE_EDIT_H

#include "surface_mirror.h"

enum { HX_FAN_MOST = 48 }; /* maximum number of triangles around a vertex that is edited */

/* Connectivity of a closed manifold surface. Half-edge c leads from corner c to the next corner of
 * its triangle (all borrowed). */
typedef struct hx_half_edges {
    int32_t *tri;      /* [n_tri][3]; [0] = -1: removed */
    int32_t *opposite; /* [n_tri][3] half-edge with the same ends in reverse */
    int32_t *corner;   /* [n_vertex] one corner of each vertex, -1: removed */
} hx_half_edges;

/* Corners of the triangles around v, counter-clockwise; returns their number, 0 if there are more
 * than HX_FAN_MOST. */
int hx_fan_list(const hx_half_edges *h, int32_t v, int32_t fan[HX_FAN_MOST]);

/* The half-edge of a fan that leads to vertex b, -1: none. */
int32_t hx_fan_find(const hx_half_edges *h, const int32_t *fan, int n, int32_t b);

/* 1 if the surface stays a closed manifold when the edge between the vertices of two fans is
 * collapsed: the only vertices connected to both ends are the two opposite the edge, and the
 * surface is not a tetrahedron. */
int hx_fan_may_merge(const hx_half_edges *h, const int32_t *fan_a, int n_a, const int32_t *fan_b,
                     int n_b);

/* Removes the two triangles at half-edge c and the vertex at its end, which merges into the vertex
 * at its start. fan_b[n_b]: the fan of the removed vertex. */
void hx_half_edge_collapse(const hx_half_edges *h, int64_t c, const int32_t *fan_b, int n_b);

/* Replaces the edge of half-edge c by the other diagonal of its two triangles. The caller has
 * checked that the ends have at least four triangles and that the diagonal is no edge yet. */
void hx_half_edge_flip(const hx_half_edges *h, int64_t c);

/* Triangles below this quality are improved. */
#define HX_QUALITY_GOAL 0.3

/* A surface whose triangles are improved one by one. */
typedef struct hx_surface_editor {
    const hx_surface *surface;
    hx_half_edges edges;
    /* [n_vertex] number of directions in which a vertex may not move, because caps in different
     * planes meet there: 0 free, 1 in a plane, 2 along a line, 3 not at all (owned) */
    uint8_t *rank;
    double *hold; /* [n_vertex][3] unit normal of the plane, or direction of the line (owned) */
    double reach; /* longest edge of the triangle that is being improved */
    /* planes by which the surface is its own mirror image (borrowed) */
    const hx_mirrors *mirrors;
} hx_surface_editor;

/* Improves triangle t by the best edit that leaves no triangle worse than the worst before; returns
 * 1 if there was one. With planes of symmetry, t must be one of mirrors->n_own, and its images are
 * edited like it. */
int hx_surface_edit(hx_surface_editor *m, int64_t t);

/* Vector from the axis or centre of a seat to x. */
static inline void hx_seat_radial(const hx_surface_seat *seat, const double x[3], double radial[3])
{
    for (int d = 0; d < 3; d++) radial[d] = x[d] - seat->center[d];
    const double height = seat->is_sphere ? 0.0 : hx_dot3(radial, seat->axis);
    for (int d = 0; d < 3; d++) radial[d] -= height * seat->axis[d];
}

/* 1 if x is on a seat, within 1e-6 of its radius. */
static inline int hx_seat_has(const hx_surface_seat *seat, const double x[3])
{
    double radial[3];
    hx_seat_radial(seat, x, radial);
    return fabs(hx_norm3(radial) - seat->radius) <= 1e-6 * seat->radius;
}

/* Moves vertices of caps onto the seats to which they belong, and sets their rank to 3. */
void hx_surface_seat_vertices(hx_surface_editor *m, const hx_mesh *mesh, int64_t n_seat,
                              const hx_surface_seat *seat);

/* Quality of a triangle of the surface. */
double hx_surface_quality_of(const hx_surface *s, int64_t t);

#endif
