/* Shared by the mesh_*.c files, region.c and the generators; not installed. */
#ifndef HX_MESH_INTERNAL_H
#define HX_MESH_INTERNAL_H

#include "mesh.h"

/* Builds the node -> element incidences in the form of hx_mesh; the caller frees both arrays.
 * O(n_elem). */
int hx_mesh_build_incidence(const hx_mesh *mesh, int64_t **ptr, uint32_t **list);

/* Least and largest coordinates of the nodes; +-INFINITY without nodes. O(n_node). */
void hx_mesh_bounds(const hx_mesh *mesh, double low[3], double high[3]);

/* Returns 1 if the element's map has a positive determinant at the Gauss points, and for hexahedra
 * also at the corners, and if a collapsed cell is a wedge, a pyramid or a tetrahedron. */
int hx_mesh_is_valid_element(const double *xyz, const int32_t conn[8]);

/* Computes n_kind and elem_size of a mesh with collapsed cells, all of them solids
 * (mesh_kinds.c). */
int hx_mesh_measure_kinds(hx_mesh *mesh);

/* Appends an empty set of that name (mesh_sets.c). The pointer is valid until the next append. */
int hx_mesh_append_set(hx_mesh *mesh, const char *name, hx_set **set);

/* Numbers the objects named by conn[n_place] in order of their first place; number[] first holds
 * that place for each object, or UINT32_MAX, and receives its number. Returns the number of
 * objects. O(n_place).
 *
 * A number is at most the first place that it replaces, and hence below every later place that
 * names the same object. So a comparison of the entry with a later place gives a difference both
 * before and after the replacement. */
int64_t hx_number_by_first_use(int64_t n_place, const int32_t *conn, uint32_t *number);

struct hx_region; /* region.h */

/* Makes the lists, faces and rule of a combined set without a name; *made must be zeroed. */
int hx_region_make_set(const hx_mesh *mesh, const char *name, const struct hx_region *region,
                       hx_set *made);

struct hx_mesh_source; /* mesh_source.h */

/* Makes all sets of the mesh, and the names that some of them share. in_set[2]: marks of nodes, and
 * of elements. */
int hx_source_add_sets(const struct hx_mesh_source *source, hx_mesh *mesh,
                       uint64_t *const in_set[2]);

/* Sorts the sets of a raw mesh by name (shared_names.c). O(n_set log n_set). */
void hx_mesh_sort_sets(hx_mesh *mesh);

/* Elements of node sets, nodes of element and face sets; needs the incidences. */
int hx_mesh_complete_sets(hx_mesh *mesh);

/* Renumbers the lists of every set: node_new[old] (NULL: nodes keep their numbers), elem_new[old];
 * several nodes may get the same number. */
int hx_mesh_renumber_sets(hx_mesh *mesh, const int32_t *node_new, const int32_t *elem_new);

/* Renumbers the middles of edges by node_new[old], -1: dropped (mesh_middles.c). */
void hx_middles_renumber(hx_middles *middles, const int32_t *node_new);

/* Sorts the middles of a mesh by their edges, keeping the file's order for equal edges. HX_EINPUT:
 * one is not finite. */
int hx_middles_finish(hx_mesh *mesh);

size_t hx_middles_bytes(const hx_middles *middles);

void hx_set_free(hx_set *set);

/* Appends the nodes of the set's elements and faces; flag[n_node] is 0 on entry and exit. The nodes
 * of a combined set follow from its parts instead. */
int hx_set_add_member_nodes(const hx_mesh *mesh, hx_set *set, uint8_t *flag);

/* Ascending list of the indices whose flag is not 0; the caller frees *list. */
int hx_list_flagged(const uint8_t *flag, int64_t n_flag, int64_t *n, int32_t **list);

#endif
