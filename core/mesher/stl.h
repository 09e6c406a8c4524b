/* A triangle surface from an STL file: with equal corners merged, checked to be closed, and divided
 * into faces where it bends. */
#ifndef HX_STL_H
#define HX_STL_H

#include <stdint.h>

#include "../base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_stl {
    int64_t n_node, n_tri;
    double *xyz;    /* [n_node][3] (owned) */
    int32_t *tri;   /* [n_tri][3] (owned) */
    int32_t *shell; /* [n_tri] connected pieces, numbered by their first triangle (owned) */
    int32_t *face;  /* [n_tri] from 0, numbered by their first triangle (owned) */
    int64_t n_shell, n_face;
    int32_t *solid_of; /* [n_shell] the solid that a shell bounds, from inside or outside (owned) */
    int64_t n_solid;
    double volume, area;
} hx_stl;

enum { HX_STL_ANGLE = 40 }; /* degrees between triangles of different faces */

/* Reads a binary or ASCII file, unites equal corners, leaves out triangles without area. HX_EINPUT:
 * no STL file, not a closed surface (an edge with one triangle, or more than two), or shells that
 * cross, with the place. O(n log n), and what hx_stl_find_crossing takes. */
int hx_stl_read(hx_stl *stl, const char *path);

/* *is_found := 1 if triangles of two shells cross, x in the middle of what the first two share.
 * Triangles nearer to each other than `near` touch and do not cross. O(n log n), and for each
 * triangle those that overlap it along x. */
int hx_stl_find_crossing(const hx_stl *stl, double near, double x[3], int *is_found);

/* Accepts a zeroed struct. */
void hx_stl_free(hx_stl *stl);

/* Returns the face whose triangles are nearest to x. O(n_tri). */
int32_t hx_stl_nearest_face(const hx_stl *stl, const double x[3]);

#ifdef __cplusplus
}
#endif

#endif
