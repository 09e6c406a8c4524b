/* What tells one mesh from another, whatever order it is in here. */
#ifndef HX_MESH_HASH_H
#define HX_MESH_HASH_H

#include "../base/hash.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a finished mesh: coordinates, connectivity and the middles of curved edges in the original
 * numbering, not of sets. The same after hx_mesh_shuffle and hx_mesh_reorder, and for any number of
 * threads. O(n). */
hx_hash hx_mesh_hash(const hx_mesh *mesh);

/* The same of a mesh of which this process may have a window (mesh.h): then of all, collective. */
int hx_mesh_hash_all(const hx_mesh *mesh, hx_hash *hash);

/* Of the order that nodes and elements are in here. O(n). */
hx_hash hx_mesh_order_hash(const hx_mesh *mesh);

/* The same of a mesh of which this process may have a window: then of the file's order, in which
 * windows' designs are kept; collective. */
int hx_mesh_order_hash_all(const hx_mesh *mesh, hx_hash *hash);

/* Of a window: in which order the elements of all lie, rank after rank. Collective. */
int hx_mesh_window_hash(const hx_mesh *mesh, uint64_t *hash);

/* Of a field value[n_elem] on it, in the original numbering. O(n). */
hx_hash hx_mesh_field_hash(const hx_mesh *mesh, const double *value);

/* The same of the elements with value >= least alone: of what a file of these holds. */
hx_hash hx_mesh_part_hash(const hx_mesh *mesh, const double *value, double least);

/* What a piece of that field in the original numbering adds to either hash, value[n] of elements
 * first, first + 1, ...; least = NaN: of all elements. The sums over all pieces, of a and of b, are
 * the hash. */
hx_hash hx_mesh_piece_hash(int64_t first, int64_t n, const double *value, double least);

/* The same of values as such a file has them: number[n] their elements' original numbers, NULL: 0
 * .. n - 1. */
hx_hash hx_mesh_values_hash(int64_t n, const double *number, const double *value);

#ifdef __cplusplus
}
#endif

#endif
