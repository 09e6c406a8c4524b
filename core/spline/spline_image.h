/* The mesh that stands for a spline: a hexahedron a span. */
#ifndef HX_SPLINE_IMAGE_H
#define HX_SPLINE_IMAGE_H

#include "../mesh/mesh.h"
#include "spline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A raw mesh whose element c is cell c of a glued spline, with the span's corners as nodes (those
 * of glued sides once) and its exact volume (hx_mesh.volume). Sides that are glued to none become
 * sets of faces "patch1:u-", "patch1:u+", "patch1:v-", ..., and so do the named ones under their
 * names. HX_EINPUT: what hx_spline_volumes refuses; a span whose corners make no valid hexahedron,
 * with the refinement that would. O(n_cell). */
int hx_spline_image(const hx_spline *spline, const char *name, hx_mesh *mesh);

/* The sums of the hexahedra's volumes and of the spans'. O(n_cell). */
void hx_spline_image_volumes(const hx_mesh *mesh, double *image, double *exact);

/* Which node of the image is the corner of a patch's span at knots i, j, k, counted over spans that
 * are not empty: nodes[first[patch] + (k (n_span_v + 1) + j) (n_span_u + 1) + i]; both the caller's
 * to free, n_node as the image has it. O(n_cell). */
int hx_spline_image_nodes(const hx_spline *spline, int64_t **first, int32_t **nodes,
                          int64_t *n_node);

/* The same finer, for what is cut from it: every cell as part^3 hexahedra, those of cell c from
 * part^3 c on, along u fastest, between points of the map at equal steps of a span's parameters.
 * part = 1 is the image. Nodes and elements are the caller's to free. HX_EINPUT: a hexahedron that
 * is not valid, too many. O(n_cell part^3). */
int hx_spline_fine_image(const hx_spline *spline, int part, double **xyz, int32_t **conn,
                         int64_t *n_node);

/* How bent spans are: the most that a point in the middle of a span's edge, or halfway to its ends,
 * lies off the line between the ends, over the edge's length. In n parts it falls with n, as the
 * angle does, of which it is an eighth. O(n_cell). */
double hx_spline_bend(const hx_spline *spline);

#ifdef __cplusplus
}
#endif

#endif
