/* Interface between the reader of a mesh file, which works in the file's own numbers, and the mesh.
 * A reader opens an hx_import, adds nodes, solids and sets in any order, reports other cells, and
 * calls hx_import_finish:
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
 * repeat. Memory: 24 bytes per node, 32 per element, and 4 for each number that is not its
 * predecessor plus 1; 1 per element if not all are hexahedra with 8 nodes; for second order, 4 for
 * each node of an element that is not a corner, and 36 for each node that is not a corner of any.
 * Not installed. */
#ifndef HX_MESH_IMPORT_H
#define HX_MESH_IMPORT_H

#include "../base/notes.h"
#include "../base/numbers.h"
#include "../mesh/mesh.h"
#include "../problem/file_units.h"
#include "../problem/unread.h"
#include "set_kinds.h"
#include "solid.h"

/* Cells that are not solids of solid.h. Those before HX_SHAPE_HIGH_ORDER bound or mark something
 * and are left out; a file with any of the others is refused. */
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
    char *type;           /* the format's name for the type, such as "C3D4" (owned) */
    int64_t n;            /* number of cells of that type */
    int64_t number, line; /* number and line of the first cell */
} hx_import_other;

/* A named selection; any of the lists may be empty, and several may be filled. */
typedef struct hx_import_set {
    char *name;
    /* for a set made by hx_import_set_of; sets of one name and different kinds are separate */
    hx_set_kind kind;
    int is_unmet;     /* the file names it, but no cell belongs to it */
    int is_flushed;   /* some of its members have been handed to the sink */
    int is_reference; /* its nodes are intentionally not nodes of the mesh */
    int is_shortened; /* repeated members were removed */
    /* 1: made for a load, so that faces that no element has do not refuse the mesh */
    int is_of_loads;
    int is_held, is_loaded; /* supports have used its members so far; loads have */
    int64_t taken_line;     /* the first line that used its members, 0: none */
    hx_numbers node;        /* numbers of nodes */
    hx_numbers elem;        /* numbers of elements */
    hx_numbers elem_index;  /* elements by the order in which they were added, from 0 */
    /* numbers of the 4 nodes of each face, in any order around it; a triangle repeats its last */
    hx_numbers quad;
    hx_numbers free_elem;  /* numbers of elements whose boundary faces are members */
    hx_numbers face_elem;  /* the element's number for each entry of face_local */
    hx_numbers face_local; /* 0 to 5: the row of hx_hex_face, in the element as it was added */
} hx_import_set;

enum { HX_NUMBER_TEXT = 120 };

typedef struct hx_import hx_import;

/* Receives nodes and solids as they are read, instead of the import's arrays (mesh_pieces.h). */
typedef struct hx_import_sink hx_import_sink;
struct hx_import_sink {
    int (*nodes)(hx_import_sink *sink, hx_import *import, int64_t n, const double *xyz);
    /* corner[n][8]: numbers of nodes, in VTK_HEXAHEDRON order. */
    int (*solids)(hx_import_sink *sink, hx_import *import, int64_t n, const int64_t *corner,
                  int64_t line);
    /* Removes members of sets from elem_index and, if with_nodes, from node, and keeps them. */
    int (*flush)(hx_import_sink *sink, hx_import *import, int with_nodes);
    /* Replaces hx_import_finish. */
    int (*finish)(hx_import_sink *sink, hx_import *import);
    /* if the file has fewer elements, the whole mesh is requested as soon as this is known */
    int64_t least_elem;
    char why[200]; /* why the file requires the whole mesh at once; "": it does not */
};

struct hx_import {
    char *path;      /* (owned) */
    hx_notes *notes; /* (borrowed), may be NULL */
    int64_t n_node, n_elem;

    /* For formats whose numbers restart: number_text writes the file's name of a number into
     * text[HX_NUMBER_TEXT]; number_short returns the number in the mesh. NULL: the number
     * itself. */
    void (*number_text)(const void *context, int64_t number, char *text);
    int64_t (*number_short)(const void *context, int64_t number);
    const void *number_context; /* (borrowed) */

    /* words of set kinds in names made unique; NULL: the default (borrowed) */
    const hx_kind_words *kind_words;

    /* Remedies in messages, if the format has better words than the general ones; constant texts or
     * NULL. */
    const char *order_hint, *shape_hint, *empty_hint;

    double *xyz; /* [xyz_capacity][3] (owned) */
    int64_t xyz_capacity;
    hx_numbers node_number, elem_number;
    hx_numbers corner; /* [n_elem][8] numbers of nodes, in VTK_HEXAHEDRON order */
    /* [solid_capacity] hx_solid_id of each element; NULL: all are hexahedra of 8 nodes (owned) */
    uint8_t *solid;
    int64_t solid_capacity;
    hx_numbers middle;               /* numbers of the nodes that are not corners, by element */
    hx_numbers node_line, elem_line; /* lines in a text file; empty if they are not known */

    size_t n_other, n_set;
    hx_import_other *other; /* (owned) */
    hx_import_set **set;    /* (owned, each) */
    hx_set_rules rules;     /* sets made of other sets, for the mesh (owned) */
    hx_unread unread;       /* statements of the file that are not read (owned) */
    hx_file_units units;    /* units that the file states */

    /* Set by hx_import_finish. */
    hx_number_index node_index, elem_index;
    int32_t *node_new; /* [n_node] index in the mesh, -1: no element uses it; NULL: identity */
    uint8_t *order;    /* [n_elem] how nodes were reordered (mesh_check.h); NULL: none */
    hx_renumbered_list renumbered;

    /* Nodes of second order, which are not nodes of the mesh. */
    int64_t n_middle;
    int32_t *middle_of_node; /* [n_node] index among these nodes, -1: none; NULL: there are none */
    /* [n_middle] element * 32 + position among its nodes after the corners */
    int64_t *middle_place;
    double *middle_xyz; /* [n_middle][3] (this and the two arrays above are owned) */
    int is_curved;      /* an edge is curved: the mesh receives the middle nodes on edges */

    /* Receives nodes and solids; NULL: the arrays above (borrowed). With a sink, numbers must be
     * consecutive. */
    hx_import_sink *sink;
    /* Rows of hx_hex_face per kind of solid and side, if face_local holds sides; NULL: it holds
     * rows. */
    const int (*side_row)[7];
    int has_collapsed_brick; /* a hexahedron with repeated nodes was added */
    int keeps_unused;        /* 1: unused nodes stay in the mesh, so that it is refused */
    /* for a sink: 1: the mesh sorts its sets by name if sets of several kinds share one */
    int sorts_shared;
};

/* notes collects what the user should see (nodes left out, cells ignored); may be NULL. */
int hx_import_open(hx_import *import, const char *path, hx_notes *notes);

/* Announces the expected number of nodes and elements, from a checked count, so that memory is
 * allocated only once. */
int hx_import_expect(hx_import *import, int64_t n_node, int64_t n_elem);

/* Adds n nodes; line: line of the first node in a text file with one node per line, 0: not
 * known. */
int hx_import_add_nodes(hx_import *import, int64_t n, const int64_t *number, const double *xyz,
                        int64_t line);

/* Adds n solids of one kind. node[n][hx_solids[id].n_node]: numbers of nodes, which may follow
 * later in the file. */
int hx_import_add_solids(hx_import *import, hx_solid_id id, int64_t n, const int64_t *number,
                         const int64_t *node, int64_t line);

/* Adds a cell of another type. O(number of types met). */
int hx_import_add_other(hx_import *import, hx_shape shape, const char *type, int64_t number,
                        int64_t line);

/* Finds or creates the set of that name. The pointer stays valid until hx_import_free. HX_EINPUT:
 * more than 10000 sets. */
int hx_import_set_named(hx_import *import, const char *name, hx_import_set **set);

/* Finds or creates the set of that name and kind. Sets of one name and other kinds are separate;
 * hx_import_finish makes their names unique (set_kinds.h). */
int hx_import_set_of(hx_import *import, const char *name, hx_set_kind kind, hx_import_set **set);

/* Removes the set and frees it. */
void hx_import_drop_set(hx_import *import, hx_import_set *set);

/* Prefixes the message just raised with "path:line: " (line 0: "path: "); returns code. */
int hx_import_place(const hx_import *import, int64_t line, int code);

#define HX_IMPORT_RAISE(import, line, ...)                                                         \
    HX_PLACED(HX_EINPUT, hx_import_place((import), (line), HX_RAISE(HX_EINPUT, __VA_ARGS__)))

/* Writes the file's name of a node or element number into text[HX_NUMBER_TEXT]; returns it. */
const char *hx_import_number_text(const hx_import *import, int64_t number, char *text);
#define HX_IMPORT_NUMBER(import, number)                                                           \
    hx_import_number_text((import), (number), (char[HX_NUMBER_TEXT]){0})

/* Records why the file requires the whole mesh at once, and returns an error that ends the reading;
 * only for an import with a sink. */
int hx_import_need_whole(hx_import *import, const char *why);

/* Announces the largest possible number of elements before any is added. */
int hx_import_announce(hx_import *import, int64_t n_elem);

/* Records n objects of a kind that the file states but that is not read (problem/unread.h): roles,
 * the file's word for the kind, a description or NULL, the line of the first object or 0. If there
 * is a sink and any role, requests the whole mesh. */
int hx_import_unread(hx_import *import, unsigned roles, const char *word, const char *what,
                     int64_t n, int64_t line);

/* Moves the list of unread kinds and the units to `conditions`, where the caller finds them; may be
 * NULL. Readers without hx_import_conditions call it last. */
struct hx_conditions;
void hx_import_give_unread(hx_import *import, struct hx_conditions *conditions);

/* Hands members of sets to the sink, if there is one. */
int hx_import_flush(hx_import *import, int with_nodes);

/* Makes a raw mesh (the caller calls hx_mesh_finish) with nodes and elements in the file's order:
 * resolves numbers of corners and set members, leaves out nodes that no element has as a corner,
 * corrects the order of element nodes if it is unambiguous (solid.h, mesh_check.h), and finds the
 * elements of faces given by nodes. In a set of nodes, a node on an edge is replaced by the
 * edge's ends. The mesh keeps the file's numbers, and the middles of its edges if some are curved.
 * Destroys xyz, corner and the sets. O(n). HX_EINPUT, with line and number: cells that are not
 * solids of solid.h, repeated or missing numbers, no solid at all. With a sink, the sink finishes,
 * and mesh may be NULL. */
int hx_import_finish(hx_import *import, hx_mesh *mesh);

/* Nodes of second order that the raw mesh leaves out, between hx_import_finish and hx_import_free:
 * hx_import_middle returns the index in middle_xyz[n_middle] of the node with that number, or -1;
 * hx_import_middle_corners lists the corners (indices in the mesh) in whose middle the node lies
 * and returns their number, two for an edge. */
int64_t hx_import_middle(const hx_import *import, int64_t number);
int hx_import_middle_corners(const hx_import *import, const hx_mesh *mesh, int64_t middle,
                             int32_t corner[HX_SOLID_CORNERS]);

/* Index in the mesh of the node or element with that number, -1 if the mesh has none; valid between
 * hx_import_finish and hx_import_free, and until the mesh is renumbered. */
int64_t hx_import_node_index(const hx_import *import, int64_t number);
int64_t hx_import_elem_index(const hx_import *import, int64_t number);

/* Accepts zeroed and partly built structs. */
void hx_import_free(hx_import *import);

#endif
