/* Checks and repairs of meshes that other programs wrote, independent of the file format: nodes in
 * another order, coincident nodes, nodes on the faces of elements that do not use them, repeated
 * elements. Not installed. */
#ifndef HX_MESH_CHECK_H
#define HX_MESH_CHECK_H

#include "../base/notes.h"
#include "mesh.h"

/* The order in which an element's nodes were given. */
enum { HX_ORDER_VTK, HX_ORDER_MIRRORED, HX_ORDER_TENSOR, HX_ORDER_MIRRORED_TENSOR, HX_N_ORDER };

/* Node k of a corrected element is the file's node hx_order_permutation[order][k], and vice
 * versa. */
extern const int hx_order_permutation[HX_N_ORDER][8];

/* Reorders the nodes of elements that are inverted or twisted, if exactly one of the known orders
 * makes them valid: bottom and top exchanged, nodes counted along x, y and z (2, 3 and 6, 7
 * exchanged), or both. Mirrored wedges, pyramids and tetrahedra are also made valid by the first.
 * Other elements stay unchanged, and hx_mesh_finish refuses them. order becomes [n_elem] of
 * HX_ORDER_..., which the caller frees, or NULL if nothing was changed. Requires a raw mesh without
 * sets. O(n). */
int hx_mesh_repair_order(hx_mesh *mesh, uint8_t **order, hx_notes *notes);

/* Checks elements of a raw mesh (repaired[n_elem] not 0) that were inverted and were corrected one
 * by one: HX_EINPUT if one lies on the same side of a face as another element with that face, which
 * happens if a node lies outside the elements around it. The check compares the directions in which
 * two valid elements traverse their common face, and uses no coordinates. O(n_elem) if any is
 * marked; 32 bytes per element and 8 per node temporarily. */
int hx_mesh_check_repaired(const hx_mesh *mesh, const uint8_t *repaired);

/* Handles coincident nodes of a raw mesh (within 1e-9 of the mean edge). merge > 0: nodes closer
 * than that are merged into the first one of the file. merge = 0: they stay. merge NaN: HX_EINPUT
 * if elements occupy the same place, or if bodies without common nodes meet at equal faces; a
 * warning if this happens within one body (perhaps a crack) or if no faces are equal. The message
 * recommends merging only if the merged mesh conforms. O(n), 16 bytes per node temporarily.
 * *merged: the new number of each former node, which the caller frees, for other data that refer to
 * nodes; NULL if no nodes were merged. May be NULL. */
int hx_mesh_repair_coincident(hx_mesh *mesh, double merge, int32_t **merged, hx_notes *notes);

/* *helps := 1 if there are nodes within `radius` of another, and merging them gives a mesh whose
 * elements are valid, conform and occur once. O(n). */
int hx_mesh_merge_helps(const hx_mesh *mesh, double radius, int *helps);

/* *n := number of nodes of a raw mesh that coincide with another one, as above with merge NaN.
 * O(n). */
int hx_mesh_count_coincident(const hx_mesh *mesh, int64_t *n);

/* Checks a finished mesh for two elements with the same nodes; for triangles of one element on a
 * quadrilateral of another, or on different triangles; and for hanging nodes, which lie inside a
 * face or edge of an element that does not use them. Refuses these (HX_EINPUT); with `keep_apart`,
 * all but the first kind are only a warning. O(n_elem). */
int hx_mesh_check_conforming(const hx_mesh *mesh, int keep_apart, hx_notes *notes);

#endif
