/* The triangles of the surface in one element or on one boundary face; not installed. */
#ifndef HX_SURFACE_PATCH_H
#define HX_SURFACE_PATCH_H

#include "surface.h"

/* Vertices by their position in the element: on an edge, at a node, at the middle of a loop or
 * face. */
enum {
    HX_PATCH_NODE = 12,
    HX_PATCH_MIDDLE = 20,
    HX_PATCH_VERTICES = 24,
    HX_PATCH_MOST_TRI = 12,
    HX_PATCH_MOST_CAP = 8
};

typedef struct hx_surface_patch {
    int n_tri;
    int8_t tri[HX_PATCH_MOST_TRI][3]; /* counter-clockwise as seen from outside */
    double x[HX_PATCH_VERTICES][3];   /* coordinates of the vertices that are used */
} hx_surface_patch;

extern const int8_t hx_hex_edge[12][2]; /* local nodes of an element's edges */

/* Bit i is 1 if node i of element e is inside; all bits are 1 for a forced-solid element. */
unsigned hx_surface_mask(const hx_surface_field *field, double threshold, int64_t e);

/* Number of element edges that the surface crosses, an upper bound of its triangles there. */
int hx_surface_crossings(unsigned mask);

/* The iso-surface in an element whose nodes are neither all inside nor all outside. */
void hx_surface_cut_cell(const hx_surface_field *field, double threshold, int64_t e,
                         hx_surface_patch *patch);

/* The solid part of a face in field->face (element * 6 + local face). For a boundary face of a free
 * element, this is the inside; for one of a forced-solid element, the whole face. For a face
 * between a forced-solid and a free element, it is the part that the free element leaves
 * uncovered. */
void hx_surface_cut_face(const hx_surface_field *field, double threshold, int64_t face,
                         hx_surface_patch *patch);

#endif
