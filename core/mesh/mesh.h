/* An unstructured mesh of 8-node hexahedra, and of wedges, pyramids and tetrahedra as hexahedra
 * that name nodes at several corners (cell.h), with named sets. Immutable once hx_mesh_finish
 * returned; nothing in the program assumes a grid or an order.
 *
 * Life of a mesh: a generator or reader calls hx_mesh_create and hx_mesh_add_*_set; then optionally
 * hx_mesh_shuffle and hx_mesh_reorder; then hx_mesh_finish, which validates and builds the
 * node -> element lists; then geometric sets (region.h) and, for several processes, hx_mesh_part.
 */
#ifndef HX_MESH_H
#define HX_MESH_H

#include <stddef.h>
#include <stdint.h>

#include "../base/account.h"
#include "../base/all.h"
#include "../base/error.h"
#include "../base/numbers.h"
#include "cell.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Local faces of a VTK_HEXAHEDRON, corners counter-clockwise seen from outside: r-, r+, s-, s+, t-,
 * t+. */
extern const int hx_hex_face[6][4];

/* Largest number of elements: an incidence (element, local node) is kept in 32 bits. */
#define HX_MAX_ELEM ((int64_t)1 << 29)

/* How a set is made of others (region.h). */
typedef enum { HX_SET_PLAIN, HX_SET_AND, HX_SET_OR, HX_SET_NOT } hx_set_rule;

/* A named selection. The lists are sorted, without duplicates, and owned by the set.
 *
 * Faces and edges of a plain set are those that it names, or those that its nodes span. A combined
 * set applies its rule to nodes, elements, faces and edges one by one: a union has the boundary
 * faces of its parts and no others, although its nodes may span more. Its `face` lists them all,
 * and none means that it has none. Edges follow from the parts (space.h). */
typedef struct hx_set {
    char *name;
    int64_t n_node;
    int32_t *node; /* [n_node] */
    int64_t n_elem;
    int32_t *elem; /* [n_elem] */
    int64_t n_face;
    int64_t *face; /* [n_face] element * 6 + local face; NULL unless the mesh named faces itself, or
                      the set is combined */
    hx_set_rule rule;
    size_t n_part; /* of a combined set */
    char **part;   /* [n_part] names of the sets that it is made of */
} hx_set;

/* A set that is made of others, as a file states it: name, rule and parts. */
typedef struct hx_stated_rule {
    hx_set set;    /* without lists (owned) */
    int is_listed; /* 1: hextop wrote it, of a combined set; 0: the file unites sets itself, which
                      counts if one of them has faces of its own */
    int is_tried, is_done; /* while they are applied */
} hx_stated_rule;

typedef struct hx_set_rules {
    size_t n, capacity;
    hx_stated_rule *rule; /* [n] (owned) */
} hx_set_rules;

/* Where a file of second order has the middles of its edges, for a quadratic space; of a file whose
 * edges are all straight none. An edge that is not listed is straight. */
typedef struct hx_middles {
    int64_t n;
    int32_t *end; /* [n][2] nodes, lower first; ascending in a finished mesh, an edge as often as
                     the file has nodes on it (owned) */
    double *xyz;  /* [n][3] length (owned) */
} hx_middles;

/* Elements that lie part by part, each part in the order that it had (hx_mesh_part). */
typedef struct hx_mesh_parts {
    int n;           /* 0: no parts */
    int64_t *first;  /* [n + 1] first element of each (owned) */
    int32_t *before; /* [n_elem] number that the element had (owned) */
    uint64_t hash;   /* of all these */
} hx_mesh_parts;

/* Where the mesh is a window that one of several processes has of a mesh: a run of elements that
 * are its own, and those of others near them. The elements lie rank after rank, in every window in
 * the same order, nodes by first use; a node is of the lowest rank that has an element at it. What
 * the mesh says of itself (total_volume, elem_size, n_kind, box) is of all; n_node and n_elem, sets
 * and lists are of the window. node_orig and elem_orig are numbers in all. */
typedef struct hx_mesh_window {
    const hx_all *all;                /* the processes (borrowed) */
    int64_t n_node, n_elem;           /* of all */
    int64_t node_before, elem_before; /* of all: those of lower ranks */
    int64_t own_node, n_own_node;     /* own nodes: the first of them here, and how many */
    uint64_t hash;   /* of the order in which the elements of all lie, rank after rank */
    double reach;    /* elements of others are here within it of own ones, by centroids: length */
    double aspect;   /* longest over shortest edge of the elements' boxes, mean of all */
    int64_t *first;  /* [all->size + 1] first element here of each rank (owned) */
    int has_numbers; /* 1: node_number is by nodes here, not by their numbers in all */
} hx_mesh_window;

/* An edge counts as straight, and two nodes as one middle of it, up to these shares of its length.
 */
#define HX_STRAIGHT_EDGE 1e-6
#define HX_SAME_MIDDLE 1e-2

typedef struct hx_mesh {
    int64_t n_node, n_elem;
    double *xyz;   /* [n_node][3] length (owned) */
    int32_t *conn; /* [n_elem][8] node indices, VTK_HEXAHEDRON order; equal: one node (owned) */

    /* Incidences of node a: node_elem[node_elem_ptr[a] .. node_elem_ptr[a + 1]), each
     * element * 8 + local node, elements ascending, one as often as it names the node, for sums
     * over corners; who counts elements takes equal ones that follow each other once (owned; built
     * by hx_mesh_finish). */
    int64_t *node_elem_ptr; /* [n_node + 1] */
    uint32_t *node_elem;    /* [8 * n_elem] */

    /* Original number of node / element i, for output and messages; NULL = identity (owned). */
    int32_t *node_orig, *elem_orig;

    /* What the mesh file calls original node / element i; without entries it counts from 0 as VTK
     * does (owned). */
    hx_numbers node_number, elem_number;

    hx_middles middles; /* (owned) */

    /* Of elements that stand for another shape than that of their hexahedron, spans of a spline:
     * its volume, which counts wherever an element is weighed; NULL: the hexahedron's (owned). */
    double *volume; /* [n_elem] */

    hx_mesh_parts parts; /* (owned) */

    hx_mesh_window *window; /* NULL: the mesh is whole (owned) */

    size_t n_set;
    hx_set *set; /* (owned) */

    hx_set_rules rules; /* of a raw mesh; of a finished one those that were not applied (owned) */

    char *name;          /* what it came from, for messages: "cantilever" or a file name (owned) */
    double total_volume; /* (set by hx_mesh_finish) */

    /* The element as a unit of length, of filter radii and steps along surfaces (set by
     * hx_mesh_finish). Of hexahedra the cube root of their mean volume; of tetrahedra, wedges and
     * pyramids the mean of their edges, an element's mean by its distinct edges: the cube root is
     * 0.49 of the edge of a regular tetrahedron, and would make a radius of two elements one edge.
     * Of several kinds the mean of these lengths, by the volume that each kind fills. */
    double elem_size;
    int64_t n_kind[HX_N_SOLID]; /* elements of each hx_cell_kind (set by hx_mesh_finish) */

    double box_min[3], box_max[3];
} hx_mesh;

/* Takes ownership of xyz and conn (malloc'ed), also when it fails. HX_EINPUT: an index out of
 * range, more than HX_MAX_ELEM elements, n_node >= 2^31. */
int hx_mesh_create(hx_mesh *mesh, const char *name, int64_t n_node, double *xyz, int64_t n_elem,
                   int32_t *conn);

/* Adds a named set (lists are copied, sorted, made unique; n = 0 is allowed). Before
 * hx_mesh_finish. A set given by nodes gets the elements all of whose nodes it holds; a set given
 * by elements gets their nodes; a set given by faces gets their nodes and no elements. Adding a
 * name again merges. */
int hx_mesh_add_node_set(hx_mesh *mesh, const char *name, int64_t n, const int32_t *node);
int hx_mesh_add_elem_set(hx_mesh *mesh, const char *name, int64_t n, const int32_t *elem);
int hx_mesh_add_face_set(hx_mesh *mesh, const char *name, int64_t n, const int64_t *face);

/* Room for n middles, then one after the other, before hx_mesh_finish; an edge from a node to
 * itself is none. Copies those both of whose ends node_new[old node] >= 0 keeps. Frees them. */
int hx_middles_alloc(hx_middles *middles, int64_t n);
void hx_middles_put(hx_middles *middles, const int32_t end[2], const double x[3]);
int hx_middles_copy(hx_middles *to, const hx_middles *from, const int32_t *node_new);
void hx_middles_free(hx_middles *middles);

/* Permutes nodes and elements at random (deterministic in seed), sets and *_orig included, so that
 * nothing can lean on an order. */
int hx_mesh_shuffle(hx_mesh *mesh, uint64_t seed);

/* Renumbers elements by a Hilbert curve through their centroids, nodes by first use. The same for
 * any number of threads. O(n); 40 bytes an element besides the mesh at most. */
int hx_mesh_reorder(hx_mesh *mesh);

/* Largest step of the coordinates' doubles, of an element's size: a thousandth. */
#define HX_MESH_COARSEST_STEP 1e-3

/* Validates (coordinates that tell elements apart, every node used, every element a hexahedron,
 * wedge, pyramid or tetrahedron, none inverted or degenerate, messages with the file's numbers),
 * builds the node -> element lists, completes the sets and fills the scalars. */
int hx_mesh_finish(hx_mesh *mesh);
/* Frees the node -> element lists, 40 bytes an element, where nobody needs them any more. */
void hx_mesh_forget_lists(hx_mesh *mesh);

/* Renumbers the elements of a finished mesh so that those of part 0 come first, then those of part
 * 1 ...; nodes keep their numbers, sets and elem_orig follow. Once. HX_EINPUT: a part without an
 * element. O(n_elem); 72 bytes an element besides the mesh at most, of which 4 stay. */
int hx_mesh_part(hx_mesh *mesh, int n_part, const int32_t *part);

/* The set of that name, or NULL. */
const hx_set *hx_mesh_find_set(const hx_mesh *mesh, const char *name);

/* Makes a set a combined one, whose lists the caller gives; parts are copied. */
int hx_set_combine(hx_set *set, hx_set_rule rule, size_t n_part, const char *const *part);

/* Faces of a set that a file states of it, the first ones of its list: all of a plain set, all or
 * none of a combined one. A file that is read again gives a set the nodes of its faces, and takes
 * one with faces for a surface: so a combined set that has elements, or faces with nodes that it
 * has not, is stated by its nodes. */
int64_t hx_set_stated_faces(const hx_mesh *mesh, const hx_set *set);

/* The element besides e that has a face of the n corners node[] (3 or 4, as hx_cell_face gives
 * them), the one of the lowest number; -1: none. Of a finished mesh. */
int64_t hx_mesh_face_neighbour(const hx_mesh *mesh, int64_t e, int n, const int32_t node[4]);

/* Boundary faces (element * 6 + local face) all of whose corners are in `node_flag` ([n_node], !=
 * 0; NULL = every boundary face), ascending. *face is the caller's to free. O(n_elem). */
int hx_mesh_boundary_faces(const hx_mesh *mesh, const uint8_t *node_flag, int64_t *n_face,
                           int64_t **face);

/* 1 if another element has the face (element * 6 + local face) too, or if it is an edge or a point
 * of a collapsed cell. Of a finished mesh. */
int hx_mesh_face_is_inner(const hx_mesh *mesh, int64_t face);

/* 1 if some element is a collapsed hexahedron. Of a finished mesh. */
static inline int hx_mesh_is_collapsed(const hx_mesh *mesh)
{
    return mesh->n_kind[HX_CELL_HEXAHEDRON] < (mesh->window ? mesh->window->n_elem : mesh->n_elem);
}

/* Elements and nodes of all that the mesh is a window of; a whole one's own. */
static inline int64_t hx_mesh_n_elem_all(const hx_mesh *mesh)
{
    return mesh->window ? mesh->window->n_elem : mesh->n_elem;
}
static inline int64_t hx_mesh_n_node_all(const hx_mesh *mesh)
{
    return mesh->window ? mesh->window->n_node : mesh->n_node;
}

/* Own elements are begin .. end - 1; of a whole mesh all are. */
static inline int64_t hx_mesh_own_begin(const hx_mesh *mesh)
{
    return mesh->window ? mesh->window->first[mesh->window->all->rank] : 0;
}
static inline int64_t hx_mesh_own_end(const hx_mesh *mesh)
{
    return mesh->window ? mesh->window->first[mesh->window->all->rank + 1] : mesh->n_elem;
}

/* 1 if the node is this process'. */
static inline int hx_mesh_owns_node(const hx_mesh *mesh, int64_t node)
{
    const hx_mesh_window *const w = mesh->window;
    return !w || (node >= w->own_node && node < w->own_node + w->n_own_node);
}

/* *all := the sum of what all windows of the mesh count, in which an item may be in several: for
 * whether there is any. A whole mesh's own. */
static inline int hx_mesh_count_all(const hx_mesh *mesh, int64_t n, int64_t *all)
{
    *all = n;
    return mesh->window ? hx_all_sum_i64(mesh->window->all, 1, all) : HX_OK;
}

/* The processes that have windows of the mesh; NULL: it is whole. */
static inline const hx_all *hx_mesh_all(const hx_mesh *mesh)
{
    return mesh->window ? mesh->window->all : NULL;
}

/* The file's numbers, for messages. */
int64_t hx_mesh_node_number(const hx_mesh *mesh, int64_t node);
int64_t hx_mesh_elem_number(const hx_mesh *mesh, int64_t elem);

/* Volume of every element, volume[n_elem]: own ones or the hexahedra's. O(n_elem). */
void hx_mesh_volumes(const hx_mesh *mesh, double *volume);

/* inverse[orig[i]] = i, of node_orig or elem_orig; the caller's to free; NULL for NULL, the
 * identity. O(n). */
int hx_mesh_invert(int64_t n, const int32_t *orig, int32_t **inverse);

/* Mean of an element's nodes, each counted once. A finished mesh knows whether all are hexahedra.
 */
static inline void hx_mesh_centroid(const hx_mesh *mesh, int64_t elem, double x[3])
{
    const int32_t *const conn = mesh->conn + 8 * elem;
    if (hx_mesh_is_collapsed(mesh))
        hx_cell_centroid(mesh->xyz, conn, x);
    else
        hx_cell_hexahedron_centroid(mesh->xyz, conn, x);
}

/* The same of n elements from `begin` on, in vector lanes: x[d][n] along axis d. */
void hx_mesh_centroids(const hx_mesh *mesh, int64_t begin, int n, double *const x[3]);

/* Least and largest coordinates of the elements' centroids. O(n_elem). */
void hx_mesh_centroid_bounds(const hx_mesh *mesh, double low[3], double high[3]);

/* Adds what every program that walks through a mesh holds of it, host or device: coordinates, nodes
 * of the elements, elements of the nodes. */
void hx_mesh_account(hx_account *account, int64_t n_node, int64_t n_elem);

/* Their bytes an element, of a mesh with as many nodes as elements: the least a mesh takes. */
size_t hx_mesh_bytes_per_elem(void);

/* Bytes of host memory the mesh holds. */
size_t hx_mesh_bytes(const hx_mesh *mesh);

/* Accepts half-built and zeroed meshes. */
void hx_mesh_free(hx_mesh *mesh);

#ifdef __cplusplus
}
#endif

#endif
