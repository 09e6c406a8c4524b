/* What is wrong with meshes that other programs wrote, and no reader of one format can know: nodes
 * in another order, nodes that lie on each other, nodes on the faces of elements that do not use
 * them, elements that are there twice. Not installed. */
#ifndef HX_MESH_CHECK_H
#define HX_MESH_CHECK_H

#include "../base/notes.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How an element's nodes were ordered. */
enum { HX_ORDER_VTK, HX_ORDER_MIRRORED, HX_ORDER_TENSOR, HX_ORDER_MIRRORED_TENSOR, HX_N_ORDER };

/* Node k of a mended element is the file's node hx_order_permutation[order][k], and the reverse. */
extern const int hx_order_permutation[HX_N_ORDER][8];

/* Gives elements that are inverted or twisted the order of nodes that makes them valid, where
 * exactly one of the known ones does: bottom and top exchanged, nodes counted along x, y and z
 * (2, 3 and 6, 7 exchanged), or both. Wedges, pyramids and tetrahedra that are mirrored become
 * valid by the first, too. Others stay as they are for hx_mesh_finish to refuse.
 * *order becomes [n_elem] of HX_ORDER_..., the caller's, or NULL if nothing was mended. Raw mesh
 * without sets. O(n). */
int hx_mesh_mend_order(hx_mesh *mesh, uint8_t **order, hx_notes *notes);

/* Of a raw mesh whose marked elements (mended[n_elem] not 0) came inside out and were given an
 * order of nodes that makes them valid, each by itself: refuses (HX_EINPUT) those that lie on the
 * same side of a face as another element that has it, as they do where a node lies outside the
 * elements around it. By the directions in which two valid elements go around their face, without
 * coordinates. O(n_elem) where any is marked; 32 bytes an element and 8 a node while it runs. */
int hx_mesh_check_mended(const hx_mesh *mesh, const uint8_t *mended);

/* Of a raw mesh: nodes at the same place (within 1e-9 of the mean edge).
 * merge > 0: nodes closer than that become one, the first of the file.
 * merge = 0: they stay.
 * merge NaN: refused (HX_EINPUT) if elements take the same place, or if bodies that share no node
 * meet at equal faces; noted as a warning if one body has them (a crack, perhaps) or if no faces
 * are equal. The message advises to merge only if that gives a mesh that conforms. O(n), 16 bytes a node while it runs.
 * *merged: for what else refers to nodes, the new number of each former node, the caller's to free;
 * NULL if none became another. May be NULL. */
int hx_mesh_mend_coincident(hx_mesh *mesh, double merge, int32_t **merged, hx_notes *notes);

/* *helps := 1 if nodes lie within `radius` of another, and merging them gives a mesh whose elements
 * are valid, conform and are there once. O(n). */
int hx_mesh_merge_helps(const hx_mesh *mesh, double radius, int *helps);

/* *n := nodes of a raw mesh that lie where another one does, as above with merge NaN. O(n). */
int hx_mesh_count_coincident(const hx_mesh *mesh, int64_t *n);

/* Of a finished mesh: two elements with the same nodes; triangles of one element on a quadrilateral
 * of another, or on triangles that are not the same; hanging nodes, which lie inside a face or edge
 * of an element that does not use them. Refuses them (HX_EINPUT); with `keep_apart` all but the
 * first are a warning. O(n_elem). */
int hx_mesh_check_conforming(const hx_mesh *mesh, int keep_apart, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
