/* What the reader of a mesh file hands over, in the file's own numbers, and the way from there to a
 * mesh. A reader opens an hx_import, adds nodes, solids and sets in any order, says which other
 * cells it met, and calls hx_import_finish:
 *
 *     hx_import_open(&import, path, notes);
 *     hx_import_add_nodes(&import, 1, &number, xyz, line);
 *     hx_import_add_solids(&import, HX_SOLID_TET10, 1, &number, node, line);
 *     hx_import_add_other(&import, HX_SHAPE_TRIANGLE, "S3", number, line);
 *     hx_import_set_named(&import, "wall", &set);  hx_numbers_append(&set->node, 1, &number);
 *     hx_import_finish(&import, &mesh);
 *     hx_import_free(&import);
 *
 * Numbers of nodes and of elements are any 64-bit integers below 2^62, in any order; none may
 * repeat. Memory: 24 bytes a node, 32 an element, and 4 for each number that is not the one before
 * it plus 1; 1 an element where not all are hexahedra of 8 nodes; of second order 4 for each node
 * of an element that is no corner, then 36 for each node that is none. Not installed. */
#ifndef HX_MESH_IMPORT_H
#define HX_MESH_IMPORT_H

#include "../base/notes.h"
#include "../base/numbers.h"
#include "../mesh/mesh.h"
#include "../problem/unread.h"
#include "set_kinds.h"
#include "solid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Cells that are no solids of solid.h. Those below HX_SHAPE_HIGH_ORDER bound or mark something and
 * are left out; a file with one of the others is refused. */
typedef enum {
    HX_SHAPE_POINT,
    HX_SHAPE_LINE,
    HX_SHAPE_TRIANGLE,
    HX_SHAPE_QUADRANGLE,
    HX_SHAPE_HIGH_ORDER, /* solids of third order or more */
    HX_SHAPE_OTHER
} hx_shape;

typedef struct hx_import_other {
    hx_shape shape;
    char *type;           /* as the format calls it, "C3D4" (owned) */
    int64_t n;            /* cells of that type */
    int64_t number, line; /* of the first */
} hx_import_other;

/* A named selection; any of the lists may be empty, and several may be filled. */
typedef struct hx_import_set {
    char *name;
    hx_set_kind kind;       /* of one that hx_import_set_of made: sets of one name stay apart */
    int is_unmet;           /* named, and no cell of the file is in it */
    int is_flushed;         /* the sink has taken members of it */
    int is_reference;       /* of nodes that are none of the mesh's by intent */
    int is_shortened;       /* members that it names several times were taken out */
    int is_of_loads;        /* a load made it: no face that it lacks refuses the mesh */
    int is_held, is_loaded; /* supports, loads have taken its members so far */
    int64_t taken_line;     /* the first such line, 0: none */
    hx_numbers node;        /* numbers of nodes */
    hx_numbers elem;        /* numbers of elements */
    hx_numbers elem_index;  /* elements by the order in which they were added, from 0 */
    hx_numbers quad;        /* 4 numbers of nodes a face, in any order round it; a triangle's last
                               twice */
    hx_numbers free_elem;   /* numbers of elements whose faces on the boundary are members */
    hx_numbers face_elem;   /* the element's number for each entry of face_local */
    hx_numbers face_local;  /* 0 to 5: a row of hx_hex_face of the element as it was added */
} hx_import_set;

enum { HX_NUMBER_TEXT = 120 };

typedef struct hx_import hx_import;

/* What takes nodes and solids as they are read, in place of the import's arrays (mesh_pieces.h). */
typedef struct hx_import_sink hx_import_sink;
struct hx_import_sink {
    int (*nodes)(hx_import_sink *sink, hx_import *import, int64_t n, const double *xyz);
    /* corner[n][8] numbers of nodes, VTK_HEXAHEDRON order. */
    int (*solids)(hx_import_sink *sink, hx_import *import, int64_t n, const int64_t *corner,
                  int64_t line);
    /* Takes members of sets out of elem_index and, with_nodes, of node. */
    int (*flush)(hx_import_sink *sink, hx_import *import, int with_nodes);
    /* In place of hx_import_finish. */
    int (*finish)(hx_import_sink *sink, hx_import *import);
    int64_t least_elem; /* of fewer elements the whole is wanted, as soon as it is known */
    char why[200];      /* the file asks for the whole mesh at once: for what; "": it does not */
};

struct hx_import {
    char *path;      /* (owned) */
    hx_notes *notes; /* (borrowed), may be NULL */
    int64_t n_node, n_elem;

    /* Of formats whose numbers restart: what a number is called, into text[HX_NUMBER_TEXT], and
     * what the mesh calls it; NULL: as it is. */
    void (*number_text)(const void *context, int64_t number, char *text);
    int64_t (*number_short)(const void *context, int64_t number);
    const void *number_context; /* (borrowed) */

    const hx_kind_words *kind_words; /* of sets that are named apart; NULL: the usual (borrowed) */

    /* What to do, if the format has better words than the general ones; constant texts or NULL. */
    const char *order_hint, *shape_hint, *empty_hint;

    double *xyz; /* [xyz_capacity][3] (owned) */
    int64_t xyz_capacity;
    hx_numbers node_number, elem_number;
    hx_numbers corner; /* [n_elem][8] numbers of nodes, VTK_HEXAHEDRON order */
    uint8_t *solid;    /* [solid_capacity] hx_solid_id of an element; NULL: all
                          hexahedra of 8 nodes (owned) */
    int64_t solid_capacity;
    hx_numbers middle;               /* numbers of the nodes that are no corners, by elements */
    hx_numbers node_line, elem_line; /* of text files, as far as they were given */

    size_t n_other, n_set;
    hx_import_other *other; /* (owned) */
    hx_import_set **set;    /* (owned, each) */
    hx_set_rules rules;     /* sets that are made of others, for the mesh (owned) */
    hx_unread unread;       /* what the file states and is not read (owned) */

    /* From hx_import_finish on. */
    hx_number_index node_index, elem_index;
    int32_t *node_new; /* [n_node] index in the mesh, -1: no element uses it; NULL: identity */
    uint8_t *order;    /* [n_elem] how nodes were ordered (mesh_check.h); NULL: as they should be */
    hx_renumbered_list renumbered;

    /* Nodes of second order, which are none of the mesh's. */
    int64_t n_middle;
    int32_t *middle_of_node; /* [n_node] which of these a node is, -1: none; NULL: no such nodes */
    int64_t *middle_place;   /* [n_middle] element * 32 + node of it behind its corners */
    double *middle_xyz;      /* [n_middle][3] (owned, all three) */
    int is_curved;           /* an edge is: the mesh gets those on edges */

    /* Nodes and solids go there: NULL, or what follows (borrowed). Their numbers are runs then. */
    hx_import_sink *sink;
    /* Rows of hx_hex_face by kind of solid and side, where face_local are sides; NULL: they are
     * rows. */
    const int (*side_row)[7];
    int has_collapsed_brick; /* a hexahedron with repeated nodes was added */
    int keeps_unused;        /* nodes of no element are nodes of the mesh, which is refused then */
    int sorts_shared;        /* for a sink: the mesh has its sets by name if sets of several kinds
                                share one */
};

/* notes collects what is worth saying (nodes left out, cells ignored); may be NULL. */
int hx_import_open(hx_import *import, const char *path, hx_notes *notes);

/* The file has room for so many; from a checked count, to allocate once. */
int hx_import_expect(hx_import *import, int64_t n_node, int64_t n_elem);

/* n nodes; line: that of the first in a text file with one node a line, 0: not known. */
int hx_import_add_nodes(hx_import *import, int64_t n, const int64_t *number, const double *xyz,
                        int64_t line);

/* n solids of one kind, node[n][hx_solids[id].n_node] numbers of nodes, which may come later in the
 * file. */
int hx_import_add_solids(hx_import *import, hx_solid_id id, int64_t n, const int64_t *number,
                         const int64_t *node, int64_t line);

/* A cell of another type. O(number of types met). */
int hx_import_add_other(hx_import *import, hx_shape shape, const char *type, int64_t number,
                        int64_t line);

/* The set of that name, made if there is none. The pointer stays valid until hx_import_free.
 * HX_EINPUT: more than 10000 sets. */
int hx_import_set_named(hx_import *import, const char *name, hx_import_set **set);

/* The set of that name and kind, likewise: sets of other kinds with the name are others, and
 * hx_import_finish names them apart (set_kinds.h). */
int hx_import_set_of(hx_import *import, const char *name, hx_set_kind kind, hx_import_set **set);

/* Takes the set out again and frees it. */
void hx_import_drop_set(hx_import *import, hx_import_set *set);

/* Puts "path:line: " (line 0: "path: ") before the message just raised; returns code. */
int hx_import_place(const hx_import *import, int64_t line, int code);

#define HX_IMPORT_RAISE(import, line, ...)                                                         \
    hx_import_place((import), (line), HX_RAISE(HX_EINPUT, __VA_ARGS__))

/* What the file calls a node or element of that number, into text[HX_NUMBER_TEXT]; returns it. */
const char *hx_import_number_text(const hx_import *import, int64_t number, char *text);
#define HX_IMPORT_NUMBER(import, number)                                                           \
    hx_import_number_text((import), (number), (char[HX_NUMBER_TEXT]){0})

/* Says that the file asks for the whole mesh at once, for what, and returns an error that ends the
 * reading; of an import with a sink. */
int hx_import_need_whole(hx_import *import, const char *why);

/* The file has at most so many elements, before any is added. */
int hx_import_announce(hx_import *import, int64_t n_elem);

/* Notes n of a kind that the file states and that is not read (problem/unread.h): the roles, the
 * file's word for it, a few words for people or NULL, the line of the first or 0. Asks for the
 * whole mesh, if there is a sink and any role. */
int hx_import_unread(hx_import *import, unsigned roles, const char *word, const char *what,
                     int64_t n, int64_t line);

/* Moves these kinds to where the caller finds them; conditions may be NULL. The last that a reader
 * does which has no hx_import_conditions. */
struct hx_conditions;
void hx_import_give_unread(hx_import *import, struct hx_conditions *conditions);

/* Hands members of sets to the sink, if there is one. */
int hx_import_flush(hx_import *import, int with_nodes);

/* Makes a raw mesh (hx_mesh_finish is the caller's) with nodes and elements in the file's order:
 * finds corners and members of sets by their numbers, leaves out nodes that no element has as a
 * corner, gives elements the right order of nodes where it is clear (solid.h, mesh_check.h), finds
 * the elements of faces given by nodes. A set of nodes gets, for a node on an edge, the edge's
 * ends. The mesh knows the file's numbers, and the middles of its edges if some are curved.
 * Destroys xyz, corner and the sets. O(n). HX_EINPUT, with line and number: cells that are no
 * solids of solid.h, numbers that repeat or are not there, no solid at all. With a sink it is the
 * sink's, and mesh may be NULL. */
int hx_import_finish(hx_import *import, hx_mesh *mesh);

/* Nodes of second order that the mesh leaves out, between hx_import_finish and hx_import_free and
 * of the raw mesh: which of middle_xyz[n_middle] the node of that number is, or -1; the corners
 * (indices in the mesh) in whose middle it lies, returning how many, two for an edge. */
int64_t hx_import_middle(const hx_import *import, int64_t number);
int hx_import_middle_corners(const hx_import *import, const hx_mesh *mesh, int64_t middle,
                             int32_t corner[HX_SOLID_CORNERS]);

/* Index in the mesh of a node or element of that number, -1 if the mesh has none; between
 * hx_import_finish and hx_import_free, and until the mesh is renumbered. */
int64_t hx_import_node_index(const hx_import *import, int64_t number);
int64_t hx_import_elem_index(const hx_import *import, int64_t number);

/* Accepts zeroed and half-built structs. */
void hx_import_free(hx_import *import);

#ifdef __cplusplus
}
#endif

#endif
