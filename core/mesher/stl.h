/* A triangle surface from an STL file: with equal corners merged, checked to be closed, and divided
 * into faces where it bends. */
#ifndef HX_STL_H
#define HX_STL_H

#include <stdint.h>

#include "../base/error.h"

typedef struct hx_stl {
    int64_t n_node, n_tri;
    double *xyz;  /* [n_node][3] (owned) */
    int32_t *tri; /* [n_tri][3] (owned) */
    /* [n_tri] connected piece of each triangle; pieces are numbered by their first triangle
     * (owned) */
    int32_t *shell;
    /* [n_tri] face of each triangle, from 0; faces are numbered by their first triangle (owned) */
    int32_t *face;
    int64_t n_shell, n_face;
    /* [n_shell] the solid that a shell bounds, as its outer boundary or as a cavity (owned) */
    int32_t *solid_of;
    int64_t n_solid;
    double volume, area;
} hx_stl;

/* least angle between neighbouring triangles of different faces, in degrees */
enum { HX_STL_ANGLE = 40 };

/* Reads a binary or ASCII file, merges equal corners, and leaves out triangles without area.
 * HX_EINPUT: it is not an STL file, the surface is not closed (an edge with one triangle, or more
 * than two), or shells cross; the message names the location. O(n log n), plus the cost of
 * hx_stl_find_crossing. */
int hx_stl_read(hx_stl *stl, const char *path);

/* *is_found := 1 if triangles of two shells cross; x is then the middle of the segment that the
 * first such pair shares. Triangles that overlap by less than `near` touch and do not cross. O(n
 * log n), plus the pairs of triangles whose extents along x overlap. */
int hx_stl_find_crossing(const hx_stl *stl, double near, double x[3], int *is_found);

/* Accepts a zeroed struct. */
void hx_stl_free(hx_stl *stl);

/* Returns the face whose triangles are nearest to x. O(n_tri). */
int32_t hx_stl_nearest_face(const hx_stl *stl, const double x[3]);

#endif
