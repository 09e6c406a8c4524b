/* The mesh that represents a spline: one hexahedron per span. */
#ifndef HX_SPLINE_IMAGE_H
#define HX_SPLINE_IMAGE_H

#include "../base/c_linkage.h"
#include "../mesh/mesh.h"
#include "spline.h"

HX_C_BEGIN

/* A raw mesh whose element c is cell c of a glued spline, with the span's corners as nodes (nodes
 * of glued sides occur once) and the span's exact volume (hx_mesh.volume). Sides that are not glued
 * become sets of faces "patch1:u-", "patch1:u+", "patch1:v-", ..., and named sides become sets with
 * their names. HX_EINPUT: as for hx_spline_volumes, or a span whose corners form no valid
 * hexahedron; the message names the refinement that would help. O(n_cell). */
int hx_spline_image(const hx_spline *spline, const char *name, hx_mesh *mesh);

/* The total volumes of the hexahedra and of the spans. O(n_cell). */
void hx_spline_image_volumes(const hx_mesh *mesh, double *image, double *exact);

/* The node of the image at the corner of a patch's span at knots i, j, k, counted over non-empty
 * spans: nodes[first[patch] + (k (n_span_v + 1) + j) (n_span_u + 1) + i]. The caller frees both;
 * n_node equals the image's. O(n_cell). */
int hx_spline_image_nodes(const hx_spline *spline, int64_t **first, int32_t **nodes,
                          int64_t *n_node);

/* A finer image, for the extracted surface: every cell as part^3 hexahedra, those of cell c
 * starting at part^3 c with u fastest, between points of the map at equal steps of a span's
 * parameters. part = 1 gives the image. The caller frees nodes and elements. HX_EINPUT: an invalid
 * hexahedron, or too many. O(n_cell part^3). */
int hx_spline_fine_image(const hx_spline *spline, int part, double **xyz, int32_t **conn,
                         int64_t *n_node);

/* Curvature of spans: the largest deviation from the chord of a point at the middle or a quarter of
 * a span's edge, relative to the chord's length. The angle by which the edge turns is about eight
 * times as large. With n parts per span, both decrease like 1/n. O(n_cell). */
double hx_spline_bend(const hx_spline *spline);

HX_C_END

#endif
