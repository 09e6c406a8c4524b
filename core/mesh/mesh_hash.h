/* Hashes that identify a mesh, independent of its order in memory. */
#ifndef HX_MESH_HASH_H
#define HX_MESH_HASH_H

#include "../base/c_linkage.h"
#include "../base/hash.h"
#include "mesh.h"

HX_C_BEGIN

/* Hash of a finished mesh: coordinates, connectivity and the middles of curved edges in the
 * original numbering, without sets. Unchanged by hx_mesh_shuffle and hx_mesh_reorder, and
 * independent of the number of threads. O(n). */
hx_hash hx_mesh_hash(const hx_mesh *mesh);

/* hx_mesh_hash for a mesh that may be distributed (mesh.h): hash of the whole mesh, collective. */
int hx_mesh_hash_all(const hx_mesh *mesh, hx_hash *hash);

/* Hash of the order of nodes and elements in memory. O(n). */
hx_hash hx_mesh_order_hash(const hx_mesh *mesh);

/* hx_mesh_order_hash for a mesh that may be distributed: hash of the file's order, in which designs
 * of distributed meshes are stored; collective. */
int hx_mesh_order_hash_all(const hx_mesh *mesh, hx_hash *hash);

/* For a distributed mesh: hash of the order of all elements, rank by rank. Collective. */
int hx_mesh_ownership_hash(const hx_mesh *mesh, uint64_t *hash);

/* Hash of a field value[n_elem] on the mesh, in the original numbering. O(n). */
hx_hash hx_mesh_field_hash(const hx_mesh *mesh, const double *value);

/* Hash of the field for only the elements with value >= least, which a file written with a
 * threshold contains. */
hx_hash hx_mesh_part_hash(const hx_mesh *mesh, const double *value, double least);

/* Contribution to either hash of a piece of the field in the original numbering, value[n] of
 * elements first, first + 1, ...; least = NaN: of all elements. The sums of a and b over all pieces
 * are the hash. */
hx_hash hx_mesh_piece_hash(int64_t first, int64_t n, const double *value, double least);

/* Contribution of values that are listed with the original numbers of their elements: number[n],
 * NULL: 0 .. n - 1. */
hx_hash hx_mesh_values_hash(int64_t n, const double *number, const double *value);

HX_C_END

#endif
