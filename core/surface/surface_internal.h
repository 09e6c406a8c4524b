/* Shared by the surface_*.c files; not installed. */
#ifndef HX_SURFACE_INTERNAL_H
#define HX_SURFACE_INTERNAL_H

#include <string.h>

#include "../base/vec3.h"
#include "surface.h"

/* A vertex keeps this fraction of its mesh edge from both ends, so that no triangle degenerates if
 * a node has exactly the value of the threshold. */
#define HX_SURFACE_MARGIN 0.02

/* Position of a vertex on the edge between an inside and an outside node. */
static inline void hx_surface_cut(const double *in, const double *out, double share, double x[3])
{
    for (int d = 0; d < 3; d++) x[d] = in[d] + share * (out[d] - in[d]);
}

/* Its relative position, from the inside node: u = value - threshold, u_in > 0 >= u_out. */
static inline double hx_surface_share(double u_in, double u_out)
{
    const double share = u_in / (u_in - u_out);
    if (share < HX_SURFACE_MARGIN) return HX_SURFACE_MARGIN;
    return share > 1.0 - HX_SURFACE_MARGIN ? 1.0 - HX_SURFACE_MARGIN : share;
}

/* For faces with two diagonal corners inside and two outside: whether the inside is connected. The
 * products commute, so both neighbours agree. */
static inline int hx_surface_joined(double in_a, double in_b, double out_a, double out_b)
{
    return in_a * in_b > out_a * out_b;
}

/* Bit of hx_surface_field.body above the bits of the faces. */
enum { HX_BODY_SOLID = 1 << 6 };

static inline int hx_surface_is_solid(const hx_surface_field *field, int64_t e)
{
    return field->body && field->body[e] != 0;
}

/* Treatment of an element: free, a body that ends at its faces, or cut by the nodal density with
 * its own density 1. */
enum { HX_SOLID_NONE, HX_SOLID_BODY, HX_SOLID_CUT };

/* state[n_elem] := one of these, is_kept[n_node] := 1 for nodes that stay inside. is_solid: like in
 * hx_surface_field_create(). O(n). */
int hx_surface_sort_solid(const hx_surface_field *field, const uint8_t *is_solid, uint8_t *state,
                          uint8_t *is_kept);

/* For a mesh of hexahedra: is_ragged[n_elem] := 1 for forced-solid elements of a body, connected by
 * nodes, whose interface with free elements consists everywhere of steps of one element. O(n). */
int hx_surface_find_ragged(const hx_mesh *mesh, const uint8_t *is_solid, uint8_t *is_ragged);

/* Adds the body: sets field->body and appends the body's faces against free elements to
 * field->face. Does nothing if no element has state[n_elem] HX_SOLID_BODY. */
int hx_surface_body_create(hx_surface_field *field, const uint8_t *state);

/* Motion of a vertex; one that slides stays on its mesh edge, one that is held on its plane or
 * line. */
enum { HX_VERTEX_FIXED, HX_VERTEX_SLIDES, HX_VERTEX_FREE, HX_VERTEX_IN_PLANE, HX_VERTEX_ON_LINE };

/* A surface during smoothing (all borrowed). */
typedef struct hx_surface_motion {
    hx_surface *surface;
    const hx_mesh *mesh;
    const int32_t *first, *corner; /* [n_vertex + 1], [3 n_tri] corners at each vertex */
    const uint8_t *kind;           /* [n_vertex] HX_VERTEX_* */
    /* [n_vertex][3] unit normal of the plane or direction of the line; NULL: no vertex is held */
    const double *hold;
} hx_surface_motion;

/* Connected surfaces, pieces and cavities, and their volumes. */
typedef struct hx_shells {
    int64_t n;
    int32_t *of;    /* [n_vertex] shell of each vertex (owned) */
    double *volume; /* [n] (owned) */
} hx_shells;

/* Shells of a surface with its vertices at xyz[n_vertex][3], in the order of their smallest
 * vertices. O(n). */
int hx_shells_create(hx_shells *shells, const hx_surface *surface, const double *xyz);
/* Accepts a zeroed struct. */
void hx_shells_free(hx_shells *shells);

/* first[n_vertex + 1], corner[3 n_tri] := the corners at each vertex, in ascending order. */
void hx_surface_list_corners(const hx_surface *surface, int32_t *first, int32_t *corner);

/* Area-weighted sum of the normals of a vertex's triangles: six times the gradient of the
 * volume. */
void hx_surface_vertex_normal(const hx_surface_motion *m, int64_t v, double n[3]);

/* Moves vertices, including those that slide or are held, until every shell has its volume to 1e-6.
 * The error is larger if none of a shell's vertices can move further. At most 20 passes over the
 * triangles. */
int hx_surface_restore(const hx_surface_motion *motion, const hx_shells *shells);

/* The corner after corner c in its triangle. */
static inline int64_t hx_corner_next(int64_t c)
{
    return c % 3 == 2 ? c - 2 : c + 1;
}

/* The corner of the next triangle around the same vertex. */
static inline int64_t hx_corner_turn(const int32_t *opposite, int64_t c)
{
    return hx_corner_next(opposite[c]);
}

/* opposite[3 n_tri] := for the half-edge from each corner to the next one, the half-edge with the
 * same ends in reverse; -1 unless there is exactly one. group may be NULL; otherwise *group gets
 * the half-edges sorted by edge, which the caller frees. *n_bad: number of edges without exactly
 * one pair. */
int hx_surface_pair(int64_t n_vertex, int64_t n_tri, const int32_t *tri, int32_t *opposite,
                    int32_t **group, int64_t *n_bad);

/* Cuts the surface open where it touches itself. */
int hx_surface_make_manifold(hx_surface *surface);

/* Counts pairs of triangles without a common vertex that intersect. crosses[n_tri], if not NULL,
 * becomes 1 for triangles of such pairs and is unchanged for others. O(n) if triangles are of
 * similar size. */
int hx_surface_find_crossings(const double *xyz, int64_t n_tri, const int32_t *tri,
                              uint8_t *crosses, int64_t *n_crossing);

/* Quality of the worst triangle, and the value below which 1 % of the triangles lie. O(n). */
int hx_surface_quality(const double *xyz, int64_t n_tri, const int32_t *tri, double *worst,
                       double *low);

/* Collapses edges until at most n_want triangles are left or no edge can be removed. Changes xyz
 * (in a box of size 1) and tri in place; tri[t][0] = -1: removed. into[n_vertex] := the vertex that
 * each was merged into, or itself. HX_EINPUT: the surface is not closed. */
int hx_surface_collapse(int64_t n_vertex, double *xyz, int64_t n_tri, int32_t *tri, int64_t n_want,
                        int32_t *into, int64_t *n_left);

/* x[k] := corner k of triangle t, with the vertices at xyz. */
static inline void hx_triangle_corners(const hx_surface *s, const double *xyz, int64_t t,
                                       const double *x[3])
{
    for (int k = 0; k < 3; k++) x[k] = xyz + 3 * (int64_t)s->tri[3 * t + k];
}

/* (b - a) x (c - a): along the normal, twice the area in length. */
static inline void hx_triangle_normal2(const double a[3], const double b[3], const double c[3],
                                       double n[3])
{
    double u[3], v[3];
    for (int d = 0; d < 3; d++) {
        u[d] = b[d] - a[d];
        v[d] = c[d] - a[d];
    }
    hx_cross3(u, v, n);
}

/* Barycentric coordinates of the point of triangle a, b, c that is nearest to x (Ericson 2005,
 * 5.1.5). */
void hx_triangle_nearest(const double *a, const double *b, const double *c, const double *x,
                         double share[3]);

/* Quality of a triangle: 4 sqrt(3) area / sum of the squared edges; 1: equilateral, 0: no area. */
static inline double hx_triangle_quality(const double a[3], const double b[3], const double c[3])
{
    double n[3], sum = 0.0;
    hx_triangle_normal2(a, b, c, n);
    for (int d = 0; d < 3; d++)
        sum += (b[d] - a[d]) * (b[d] - a[d]) + (c[d] - b[d]) * (c[d] - b[d]) +
               (a[d] - c[d]) * (a[d] - c[d]);
    return sum > 0.0 ? 3.4641016151377544 * hx_norm3(n) / sum : 0.0;
}

#endif
