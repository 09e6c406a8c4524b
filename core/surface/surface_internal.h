/* Shared by the surface_*.c files; not installed. */
#ifndef HX_SURFACE_INTERNAL_H
#define HX_SURFACE_INTERNAL_H

#include <string.h>

#include "../base/vec3.h"
#include "surface.h"

/* A vertex keeps this share of its mesh edge from both ends, so that no triangle vanishes where a
 * node has the threshold's value. */
#define HX_SURFACE_MARGIN 0.02

/* Place of a vertex on the edge between an inside and an outside node. */
static inline void hx_surface_cut(const double *in, const double *out, double share, double x[3])
{
    for (int d = 0; d < 3; d++) x[d] = in[d] + share * (out[d] - in[d]);
}

/* Where that is, from the inside: u = value - threshold, u_in > 0 >= u_out. */
static inline double hx_surface_share(double u_in, double u_out)
{
    const double share = u_in / (u_in - u_out);
    if (share < HX_SURFACE_MARGIN) return HX_SURFACE_MARGIN;
    return share > 1.0 - HX_SURFACE_MARGIN ? 1.0 - HX_SURFACE_MARGIN : share;
}

/* Faces whose diagonal corners are inside, the others outside: whether the inside is joined. The
 * products commute, so that both neighbours find the same. */
static inline int hx_surface_joined(double in_a, double in_b, double out_a, double out_b)
{
    return in_a * in_b > out_a * out_b;
}

/* Bits of hx_surface_field.body above those of the faces. */
enum { HX_BODY_SOLID = 1 << 6 };

static inline int hx_surface_is_solid(const hx_surface_field *field, int64_t e)
{
    return field->body && field->body[e] != 0;
}

/* What becomes of an element: it is free, it ends at its faces, or it is cut by the nodal density,
 * its own being 1. */
enum { HX_SOLID_NONE, HX_SOLID_BODY, HX_SOLID_CUT };

/* state[n_elem] := one of these, is_kept[n_node] := 1 for nodes that stay inside. is_solid: as
 * hx_surface_field_create() takes it. O(n). */
int hx_surface_sort_solid(const hx_surface_field *field, const uint8_t *is_solid, uint8_t *state,
                          uint8_t *is_kept);

/* Of a mesh of hexahedra: is_ragged[n_elem] := 1 for solid elements of a body, joined by nodes,
 * whose border against free elements has steps of one element all over. O(n). */
int hx_surface_find_ragged(const hx_mesh *mesh, const uint8_t *is_solid, uint8_t *is_ragged);

/* field->body, and the body's faces against free elements at the end of field->face; nothing where
 * there is no HX_SOLID_BODY in state ([n_elem]). */
int hx_surface_body_create(hx_surface_field *field, const uint8_t *state);

/* What a vertex may do when the surface is smoothed; one that slides stays on its mesh edge. */
enum { HX_VERTEX_FIXED, HX_VERTEX_SLIDES, HX_VERTEX_FREE };

/* A surface that is being smoothed, all borrowed. */
typedef struct hx_surface_motion {
    hx_surface *surface;
    const hx_mesh *mesh;
    const int32_t *first, *corner; /* [n_vertex + 1], [3 n_tri] corners of the vertices */
    const uint8_t *kind;           /* [n_vertex] HX_VERTEX_* */
    const double *before;          /* [n_vertex][3] where the vertices were */
} hx_surface_motion;

/* Sum of the normals, by area, of a vertex's triangles: six times the volume's gradient. */
void hx_surface_vertex_normal(const hx_surface_motion *m, int64_t v, double n[3]);

/* Moves vertices, also those that slide, until every shell (piece or cavity) has its volume before
 * to 1e-6; less exact if none of its vertices can move on. 20 passes over the triangles at most. */
int hx_surface_restore(const hx_surface_motion *motion);

/* Connected surfaces, cavities included. O(n). */
int hx_surface_count_shells(const hx_surface *surface, int64_t *n);

/* Corner after corner c of its triangle. */
static inline int64_t hx_corner_next(int64_t c)
{
    return c % 3 == 2 ? c - 2 : c + 1;
}

/* Corner of the next triangle around the same vertex. */
static inline int64_t hx_corner_turn(const int32_t *opposite, int64_t c)
{
    return hx_corner_next(opposite[c]);
}

/* opposite[3 n_tri]: half-edge (corner, from it to the next) with the same vertices the other way
 * round, -1 where there is not exactly one. group, if not NULL: *group gets the half-edges sorted
 * by edge (the caller's to free). *n_bad: edges without exactly one pair. */
int hx_surface_pair(int64_t n_vertex, int64_t n_tri, const int32_t *tri, int32_t *opposite,
                    int32_t **group, int64_t *n_bad);

/* Cuts the surface open where it touches itself. */
int hx_surface_make_manifold(hx_surface *surface);

/* Pairs of triangles without a common vertex that go through each other. crosses, if not NULL:
 * [n_tri] becomes 1 for those of such pairs, others stay. O(n) where triangles are of a size. */
int hx_surface_find_crossings(const double *xyz, int64_t n_tri, const int32_t *tri,
                              uint8_t *crosses, int64_t *n_crossing);

/* Collapses edges until at most n_want triangles are left, or no edge can go. xyz (in a box of size
 * 1) and tri change in place, tri[t][0] = -1: gone; into[n_vertex] := the vertex that each went
 * into, itself: it stays. HX_EINPUT: not closed. */
int hx_surface_collapse(int64_t n_vertex, double *xyz, int64_t n_tri, int32_t *tri, int64_t n_want,
                        int32_t *into, int64_t *n_left);

/* Bits that a number in 0 .. n-1 needs, at least 1. */
static inline int hx_bits(uint64_t n)
{
    int bits = 1;
    while (bits < 63 && (uint64_t)1 << bits < n) bits++;
    return bits;
}

/* (b - a) x (c - a): twice the area, along the normal. */
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

#endif
