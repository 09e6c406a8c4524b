/* Planes of symmetry of a surface: found, made exact, and the images of its vertices; not
 * installed. */
#ifndef HX_SURFACE_MIRROR_H
#define HX_SURFACE_MIRROR_H

#include "surface_internal.h"

enum { HX_MIRROR_MOST = 3 }; /* maximum number of planes, which are perpendicular to each other */

/* The points x with normal . x = at. */
typedef struct hx_mirror_plane {
    double normal[3]; /* unit vector */
    double at;
} hx_mirror_plane;

/* The planes by which a surface is its own mirror image. Planes are numbered 0 .. n - 1; a set of
 * them is a bit mask, and denotes the product of their reflections. */
typedef struct hx_mirrors {
    int n;
    hx_mirror_plane plane[HX_MIRROR_MOST];
    /* vertices below this number are on the positive sides of all planes or on the planes; every
     * triangle whose corners are all below is one of them, and the others are their images */
    int64_t n_own;
    int32_t *image; /* [n_vertex][HX_MIRROR_MOST] image by each plane (owned) */
    uint8_t *on;    /* [n_vertex] set of the planes on which a vertex lies (owned) */
} hx_mirrors;

/* Accepts a zeroed struct. */
void hx_mirrors_free(hx_mirrors *mirrors);

/* Finds the planes of symmetry of the mesh edges on which a surface was extracted and of their
 * nodal densities. twin[n][n_vertex] := the vertex on the mirror image of a vertex's mesh edge, -1
 * if it has none; the caller frees *twin. Tries the planes through the middle that are
 * perpendicular to an axis or to the bisector of two. O(n_vertex). */
int hx_mirrors_find(hx_mirrors *mirrors, const hx_surface *surface, const hx_surface_field *field,
                    int32_t **twin);

/* Makes `made` from the triangles of `surface` on the positive sides of the planes, which are cut
 * at them, and their images; sets n_own, image and on. from[n_vertex of made] := the vertex of
 * `surface` in place of which a vertex stands, -1: it is new; the caller frees *from. Sets
 * mirrors->n = 0, and makes nothing, if the result would not be a closed manifold. O(n). */
int hx_mirrors_make(hx_mirrors *mirrors, const hx_surface *surface, const int32_t *twin,
                    hx_surface *made, int32_t **from);

/* Mirrors x by plane p. */
static inline void hx_mirror_reflect(const hx_mirrors *m, int p, double x[3])
{
    const hx_mirror_plane *const plane = &m->plane[p];
    const double height = hx_dot3(plane->normal, x) - plane->at;
    for (int d = 0; d < 3; d++) x[d] -= 2.0 * height * plane->normal[d];
}

/* Mirrors x by a set of planes. */
static inline void hx_mirror_reflect_by(const hx_mirrors *m, unsigned set, double x[3])
{
    for (int p = 0; p < m->n; p++)
        if (set >> p & 1u) hx_mirror_reflect(m, p, x);
}

/* Moves x onto a set of planes. */
static inline void hx_mirror_project(const hx_mirrors *m, unsigned set, double x[3])
{
    for (int p = 0; p < m->n; p++) {
        if (!(set >> p & 1u)) continue;
        const hx_mirror_plane *const plane = &m->plane[p];
        const double height = hx_dot3(plane->normal, x) - plane->at;
        for (int d = 0; d < 3; d++) x[d] -= height * plane->normal[d];
    }
}

/* Image of a vertex by a set of planes. */
static inline int32_t hx_mirror_image(const hx_mirrors *m, int32_t v, unsigned set)
{
    for (int p = 0; p < m->n; p++)
        if (set >> p & 1u) v = m->image[HX_MIRROR_MOST * (int64_t)v + p];
    return v;
}

#endif
