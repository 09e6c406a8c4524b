/* An unstructured mesh of 8-node hexahedra, and of wedges, pyramids and tetrahedra stored as
 * hexahedra that name nodes at several corners (cell.h), with named sets. Immutable after
 * hx_mesh_finish; nothing in the program assumes a regular grid or an order.
 *
 * Life cycle: a generator or reader calls hx_mesh_create and hx_mesh_add_*_set; then optionally
 * hx_mesh_shuffle and hx_mesh_reorder; then hx_mesh_finish, which validates the mesh and builds the
 * node -> element lists; then geometric sets (region.h) and, for several processes,
 * hx_mesh_part. */
#ifndef HX_MESH_H
#define HX_MESH_H

#include <stddef.h>
#include <stdint.h>

#include "../base/account.h"
#include "../base/c_linkage.h"
#include "../base/error.h"
#include "../base/numbers.h"
#include "../base/reduce.h"
#include "cell.h"

HX_C_BEGIN

/* Local faces of a VTK_HEXAHEDRON, corners counter-clockwise seen from outside: r-, r+, s-, s+, t-,
 * t+. */
extern const int hx_hex_face[6][4];

/* Largest number of elements: an incidence (element, local node) is stored in 32 bits. */
#define HX_MAX_ELEM ((int64_t)1 << 29)

/* The rule by which a set is made of others (region.h). */
typedef enum { HX_SET_PLAIN, HX_SET_AND, HX_SET_OR, HX_SET_NOT } hx_set_rule;

/* A named selection. The lists are sorted, without duplicates, and owned by the set.
 *
 * Faces and edges of a plain set are those that it names, or otherwise those that its nodes span. A
 * combined set applies its rule separately to nodes, elements, faces and edges: a union has exactly
 * the boundary faces of its parts, although its nodes may span more. `face` of a combined set lists
 * all its faces; an empty list means that it has none. Edges follow from the parts (space.h). */
typedef struct hx_set {
    char *name;
    int64_t n_node;
    int32_t *node; /* [n_node] */
    int64_t n_elem;
    int32_t *elem; /* [n_elem] */
    int64_t n_face;
    /* [n_face] element * 6 + local face; NULL unless the mesh named faces itself, or the set is
     * combined */
    int64_t *face;
    int64_t n_middle;
    int32_t
        /* [n_middle][2] ends of the edges whose middle nodes belong to the set according to a
         * second-order file; NULL: the file lists none, and the middles between two nodes of the
         * set belong to it */
        *middle;
    hx_set_rule rule;
    /* made of cells instead of nodes, so the set contains only the elements that it lists */
    int is_skin;
    /* 1: the program made it for itself, and no list shows it */
    int is_internal;
    size_t n_part; /* for a combined set */
    char **part;   /* [n_part] names of its parts */
} hx_set;

/* A set that a file defines as a combination of others: name, rule and parts. */
typedef struct hx_stated_rule {
    hx_set set; /* without lists (owned) */
    /* 1: a rule of a combined set, written by hextop. 0: a union of sets in the file's own format,
     * which is applied only if one of the sets has its own faces */
    int is_listed;
    int is_tried, is_done; /* state while the rules are applied */
} hx_stated_rule;

typedef struct hx_set_rules {
    size_t n, capacity;
    hx_stated_rule *rule; /* [n] (owned) */
} hx_set_rules;

/* Kinds of sets that files keep separate: a node set, an element set and a surface may have the
 * same name. */
typedef enum {
    HX_KIND_NODES,
    HX_KIND_CURVES,
    HX_KIND_FACES,
    HX_KIND_ELEMS,
    HX_N_SET_KIND
} hx_set_kind;

/* Use of a set: its nodes (supports, forces), its faces (pressures), its elements (passive
 * regions). */
typedef enum { HX_USE_NODES, HX_USE_FACES, HX_USE_ELEMS, HX_N_SET_USE } hx_set_use;

/* A name that a file gives to sets of several kinds, and the name of each of them in the mesh. */
typedef struct hx_shared_name {
    char *name;
    char *set[HX_N_SET_KIND]; /* NULL: the file has no set of that kind */
} hx_shared_name;

/* Positions of the mid-side nodes of a file of second order, for a quadratic space; empty if all
 * edges of the file are straight. An edge that is not listed is straight. */
typedef struct hx_middles {
    int64_t n;
    /* [n][2] nodes, the lower first; ascending in a finished mesh; an edge occurs once per node
     * that the file has on it (owned) */
    int32_t *end;
    double *xyz; /* [n][3] length (owned) */
} hx_middles;

/* Elements ordered by part, each part in its previous order (hx_mesh_part). */
typedef struct hx_mesh_parts {
    int n;           /* 0: no parts */
    int64_t *first;  /* [n + 1] first element of each part (owned) */
    int32_t *before; /* [n_elem] previous number of the element (owned) */
    uint64_t hash;   /* hash of the lists above */
} hx_mesh_parts;

/* For a distributed mesh, of which this rank holds its own elements, a consecutive range, and
 * ghosts: elements of other ranks near them. Elements are ordered by rank, in the same order on
 * every rank, and nodes by first use; a node is owned by the lowest rank that has an element at it.
 * Scalars of the mesh (total_volume, elem_size, n_kind, box) refer to the whole mesh; n_node and
 * n_elem, sets and lists to this rank's elements. node_orig and elem_orig are numbers in the whole
 * mesh. */
typedef struct hx_mesh_ownership {
    const hx_reduce *reduce;          /* reductions over the ranks (borrowed) */
    int64_t n_node, n_elem;           /* of the whole mesh */
    int64_t node_before, elem_before; /* of lower ranks, in the whole mesh */
    int64_t own_node, n_own_node; /* first node that this rank owns, and number of owned nodes */
    uint64_t hash;                /* hash of the order of all elements, rank by rank */
    /* elements of other ranks within this distance of own ones are ghosts, by centroids: length */
    double reach;
    /* longest over shortest edge of the elements' bounding boxes, mean over the whole mesh */
    double aspect;
    int64_t *first; /* [reduce->size + 1] first element of each rank among those here (owned) */
    /* 1: node_number is indexed by this rank's nodes; 0: by node numbers in the whole mesh */
    int has_numbers;
} hx_mesh_ownership;

/* Fractions of an edge's length. An edge is straight if its mid-side node is at most the first
 * fraction away from the middle. Two mid-side nodes of one edge count as the same if they are at
 * most the second fraction apart. */
#define HX_STRAIGHT_EDGE 1e-6
#define HX_SAME_MIDDLE 1e-2

typedef struct hx_mesh {
    int64_t n_node, n_elem;
    double *xyz; /* [n_node][3] length (owned) */
    /* [n_elem][8] node indices in VTK_HEXAHEDRON order; repeated indices: collapsed corners
     * (owned) */
    int32_t *conn;

    /* Incidences of node a: node_elem[node_elem_ptr[a] .. node_elem_ptr[a + 1]), each element * 8 +
     * local node, with ascending elements. An element occurs once per corner that names the node,
     * for sums over corners; code that counts elements must skip consecutive repetitions (owned;
     * built by hx_mesh_finish). */
    int64_t *node_elem_ptr; /* [n_node + 1] */
    uint32_t *node_elem;    /* [8 * n_elem] */

    /* Original number of node or element i, for output and messages; NULL: identity (owned). */
    int32_t *node_orig, *elem_orig;

    /* The mesh file's number of original node or element i; if empty, numbers count from 0 as in
     * VTK (owned). */
    hx_numbers node_number, elem_number;

    hx_middles middles; /* (owned) */

    /* For elements that represent a shape other than their hexahedron (spans of a spline): its
     * volume, used wherever elements are weighted by volume; NULL: the hexahedron's (owned). */
    double *volume; /* [n_elem] */

    hx_mesh_parts parts; /* (owned) */

    hx_mesh_ownership *ownership; /* NULL: the mesh is not distributed (owned) */

    size_t n_set;
    hx_set *set; /* (owned) */
    size_t n_shared;
    hx_shared_name *shared; /* [n_shared] for the mesh as it was read (owned) */

    /* of a raw mesh; in a finished mesh, the rules that were not applied (owned) */
    hx_set_rules rules;

    char *name;          /* origin of the mesh, for messages: "cantilever" or a file name (owned) */
    double total_volume; /* (set by hx_mesh_finish) */

    /* Length of an element, the unit of filter radii and of steps along surfaces (set by
     * hx_mesh_finish). For hexahedra, the cube root of their mean volume; for tetrahedra, wedges
     * and pyramids, the mean over elements of the mean length of their distinct edges, because the
     * cube root is only 0.49 of the edge of a regular tetrahedron, so that a radius of two elements
     * would be one edge. For several kinds, the mean of these lengths, weighted by the volume of
     * each kind. */
    double elem_size;
    /* number of elements of each hx_cell_kind (set by hx_mesh_finish) */
    int64_t n_kind[HX_N_SOLID];

    double box_min[3], box_max[3];
} hx_mesh;

/* Takes ownership of xyz and conn (malloc'ed), even if it fails. HX_EINPUT: an index out of range,
 * more than HX_MAX_ELEM elements, n_node >= 2^31. */
int hx_mesh_create(hx_mesh *mesh, const char *name, int64_t n_node, double *xyz, int64_t n_elem,
                   int32_t *conn);

/* Adds a named set (lists are copied, sorted, made unique; n = 0 is allowed), before
 * hx_mesh_finish. A set given by nodes gets the elements all of whose nodes it contains; a set
 * given by elements gets their nodes; a set given by faces gets their nodes and no elements. Adding
 * a set with an existing name merges the two. */
int hx_mesh_add_node_set(hx_mesh *mesh, const char *name, int64_t n, const int32_t *node);
int hx_mesh_add_elem_set(hx_mesh *mesh, const char *name, int64_t n, const int32_t *elem);
int hx_mesh_add_face_set(hx_mesh *mesh, const char *name, int64_t n, const int64_t *face);

/* Adds the flagged elements, flag[n_elem], and their nodes to a finished mesh under a new name.
 * HX_EINPUT: the name is taken. O(n_elem). */
int hx_mesh_name_elems(hx_mesh *mesh, const char *name, const uint8_t *flag);

/* Adds edges, given by their ends end[n][2], whose middles belong to the set. The set then has no
 * other middles. */
int hx_mesh_add_middle_set(hx_mesh *mesh, const char *name, int64_t n, const int32_t *end);

/* With is_skin, the set contains only the elements that it was given, since its nodes came from
 * surface cells. Call it before hx_mesh_finish. */
void hx_mesh_mark_skin(hx_mesh *mesh, const char *name, int is_skin);

/* hx_middles_alloc makes room for n middles, which hx_middles_put appends one by one, before
 * hx_mesh_finish; an edge from a node to itself is ignored. hx_middles_copy copies those with
 * node_new[old node] >= 0 at both ends. */
int hx_middles_alloc(hx_middles *middles, int64_t n);
void hx_middles_put(hx_middles *middles, const int32_t end[2], const double x[3]);
int hx_middles_copy(hx_middles *to, const hx_middles *from, const int32_t *node_new);
void hx_middles_free(hx_middles *middles);

/* Permutes nodes and elements randomly (deterministic in seed), including sets and *_orig, so that
 * tests detect code that depends on an order. */
int hx_mesh_shuffle(hx_mesh *mesh, uint64_t seed);

/* Renumbers elements along a Hilbert curve through their centroids, and nodes by first use. The
 * result does not depend on the number of threads. O(n); at most 40 bytes per element in addition
 * to the mesh. */
int hx_mesh_reorder(hx_mesh *mesh);

/* Largest spacing of double-precision coordinates relative to the size of an element. */
#define HX_MESH_COARSEST_STEP 1e-3

/* Validates the mesh (coordinates that distinguish elements, every node used, every element a
 * hexahedron, wedge, pyramid or tetrahedron, none inverted or degenerate; messages use the file's
 * numbers), builds the node -> element lists, completes the sets and computes the scalars. */
int hx_mesh_finish(hx_mesh *mesh);
/* Frees the node -> element lists, 40 bytes per element, once they are no longer needed. */
void hx_mesh_free_lists(hx_mesh *mesh);

/* Renumbers the elements of a finished mesh so that those of part 0 come first, then those of part
 * 1, and so on; nodes keep their numbers; sets and elem_orig are updated. May be called once.
 * HX_EINPUT: a part without an element. O(n_elem); at most 72 bytes per element in addition to the
 * mesh, of which 4 remain allocated. */
int hx_mesh_part(hx_mesh *mesh, int n_part, const int32_t *part);

/* Returns the set of that name, or NULL. */
const hx_set *hx_mesh_find_set(const hx_mesh *mesh, const char *name);

/* Records that the file gives `name` to sets of several kinds; set[kind] is the mesh's name of
 * each, or NULL (copied). */
int hx_mesh_share_name(hx_mesh *mesh, const char *name, const char *const set[HX_N_SET_KIND]);

/* Returns the name of the set that `name` means for a use: `name` itself unless the file gives it
 * to several sets; otherwise the first existing kind in this order: for nodes: points, curves,
 * faces, elements; for faces: faces, points, elements, curves; for elements: elements, faces,
 * curves, points. */
const char *hx_mesh_name_for(const hx_mesh *mesh, const char *name, hx_set_use use);

/* Frees the records of shared names. */
void hx_mesh_free_shared(hx_mesh *mesh);

/* Turns a set into a combined one; the caller provides its lists. The names of the parts are
 * copied. */
int hx_set_combine(hx_set *set, hx_set_rule rule, size_t n_part, const char *const *part);

/* Number of faces at the beginning of the set's list that a file states: all for a plain set, all
 * or none for a combined one. Readers add the nodes of faces to a set and treat a set with faces as
 * a surface. A combined set is therefore written by its nodes only if it has elements, or faces
 * with nodes outside the set. */
int64_t hx_set_stated_faces(const hx_mesh *mesh, const hx_set *set);

/* Returns the element other than e that has a face with the n corners node[] (3 or 4, as given by
 * hx_cell_face), the one with the lowest number; -1: none. Requires a finished mesh. */
int64_t hx_mesh_face_neighbour(const hx_mesh *mesh, int64_t e, int n, const int32_t node[4]);

/* Lists boundary faces (element * 6 + local face) all of whose corners have node_flag != 0
 * ([n_node]; NULL: every boundary face), ascending. The caller frees *face. O(n_elem). */
int hx_mesh_boundary_faces(const hx_mesh *mesh, const uint8_t *node_flag, int64_t *n_face,
                           int64_t **face);

/* Returns 1 if another element has the face (element * 6 + local face) too, or if it is an edge or
 * a point of a collapsed cell. Requires a finished mesh. */
int hx_mesh_face_is_inner(const hx_mesh *mesh, int64_t face);

/* Returns 1 if some element is a collapsed hexahedron. Requires a finished mesh. */
static inline int hx_mesh_is_collapsed(const hx_mesh *mesh)
{
    return mesh->n_kind[HX_CELL_HEXAHEDRON] <
           (mesh->ownership ? mesh->ownership->n_elem : mesh->n_elem);
}

/* Numbers of elements and nodes of the whole mesh, distributed or not. */
static inline int64_t hx_mesh_n_elem_all(const hx_mesh *mesh)
{
    return mesh->ownership ? mesh->ownership->n_elem : mesh->n_elem;
}
static inline int64_t hx_mesh_n_node_all(const hx_mesh *mesh)
{
    return mesh->ownership ? mesh->ownership->n_node : mesh->n_node;
}

/* Own elements are begin .. end - 1; all elements if the mesh is not distributed. */
static inline int64_t hx_mesh_own_begin(const hx_mesh *mesh)
{
    return mesh->ownership ? mesh->ownership->first[mesh->ownership->reduce->rank] : 0;
}
static inline int64_t hx_mesh_own_end(const hx_mesh *mesh)
{
    return mesh->ownership ? mesh->ownership->first[mesh->ownership->reduce->rank + 1]
                           : mesh->n_elem;
}

/* Returns 1 if this rank owns the node. */
static inline int hx_mesh_owns_node(const hx_mesh *mesh, int64_t node)
{
    const hx_mesh_ownership *const w = mesh->ownership;
    return !w || (node >= w->own_node && node < w->own_node + w->n_own_node);
}

/* *all := the sum of n over all ranks. Items may be counted on several ranks, so the result only
 * shows whether there are any. *all := n if the mesh is not distributed. */
static inline int hx_mesh_count_all(const hx_mesh *mesh, int64_t n, int64_t *all)
{
    *all = n;
    return mesh->ownership ? hx_reduce_sum_i64(mesh->ownership->reduce, 1, all) : HX_OK;
}

/* Reductions over the ranks of a distributed mesh; NULL: the mesh is not distributed. */
static inline const hx_reduce *hx_mesh_reduce(const hx_mesh *mesh)
{
    return mesh->ownership ? mesh->ownership->reduce : NULL;
}

/* The file's numbers, for messages. */
int64_t hx_mesh_node_number(const hx_mesh *mesh, int64_t node);
int64_t hx_mesh_elem_number(const hx_mesh *mesh, int64_t elem);

/* Computes volume[n_elem] of every element: `mesh->volume`, or that of the hexahedra. O(n_elem). */
void hx_mesh_volumes(const hx_mesh *mesh, double *volume);

/* inverse[orig[i]] = i, for node_orig or elem_orig; the caller frees it; NULL if orig is NULL,
 * which is the identity. O(n). */
int hx_mesh_invert(int64_t n, const int32_t *orig, int32_t **inverse);

/* Mean of an element's nodes, each counted once. Requires a finished mesh, which determines whether
 * all elements are hexahedra. */
static inline void hx_mesh_centroid(const hx_mesh *mesh, int64_t elem, double x[3])
{
    const int32_t *const conn = mesh->conn + 8 * elem;
    if (hx_mesh_is_collapsed(mesh))
        hx_cell_centroid(mesh->xyz, conn, x);
    else
        hx_cell_hexahedron_centroid(mesh->xyz, conn, x);
}

/* Centroids of n elements from `begin`, vectorised: x[d][n] along axis d. */
void hx_mesh_centroids(const hx_mesh *mesh, int64_t begin, int n, double *const x[3]);

/* Least and largest coordinates of the elements' centroids. O(n_elem). */
void hx_mesh_centroid_bounds(const hx_mesh *mesh, double low[3], double high[3]);

/* Accounts for the arrays of a mesh that every program needs, on host or device: coordinates, nodes
 * of the elements, elements of the nodes. */
void hx_mesh_account(hx_account *account, int64_t n_node, int64_t n_elem);

/* Bytes per element of these arrays, for a mesh with as many nodes as elements: a lower bound. */
size_t hx_mesh_bytes_per_elem(void);

/* Bytes of host memory that the mesh holds. */
size_t hx_mesh_bytes(const hx_mesh *mesh);

/* Accepts partly built and zeroed meshes. */
void hx_mesh_free(hx_mesh *mesh);

HX_C_END

#endif
