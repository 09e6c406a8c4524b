/* Distributes a mesh file, which one rank reads, over all ranks: nodes and elements go to the ranks
 * in turn, HX_PIECE at a time. Not installed. */
#ifndef HX_MESH_PIECES_H
#define HX_MESH_PIECES_H

#include "../mesh/mesh_source.h"
#include "file_store.h"
#include "mesh_import.h"

/* Members first .. first + n - 1 of a set, all in one block of a store. */
typedef struct hx_piece_span {
    int64_t first;
    int32_t n;
    int16_t bit, of_elements;
} hx_piece_span;

/* A name that sets of several kinds share (hx_shared_name): indices of these sets, one of which
 * keeps the name. */
typedef struct hx_piece_shared {
    int16_t name, set[HX_N_SET_KIND]; /* -1: none of that kind */
} hx_piece_shared;

enum { HX_PIECE_SHARED = HX_SOURCE_SETS / 2 };

/* What the root learns from the file, and all ranks need. */
typedef struct hx_piece_facts {
    int64_t first_node, first_elem; /* numbers of the first node and element */
    int has_numbers;
    int has_sides;    /* faces[].node[k] may be {-1, side} until hx_mesh_pieces_share */
    int keeps_unused; /* as in hx_import */
    int n_set, n_shared;
    int sorts_sets; /* as in hx_mesh_source */
    uint8_t has_elements[HX_SOURCE_SETS];
    hx_piece_shared shared[HX_PIECE_SHARED];
} hx_piece_facts;

typedef struct hx_mesh_pieces {
    hx_import_sink sink; /* first member, so that the root's reader can fill it */
    const hx_comm *comm; /* (borrowed) */

    hx_file_store node; /* xyz[3] length */
    hx_file_store elem; /* int32_t conn[8]: nodes by their index in the file, later in the mesh */
    hx_piece_facts facts;
    int has_unused;                        /* some nodes belong to no element and are left out */
    char *name[HX_SOURCE_SETS];            /* [n_set] (owned, each) */
    hx_source_faces faces[HX_SOURCE_SETS]; /* per set; n = 0: none (arrays owned) */

    /* On the root only: data that have not been sent yet, and the nodes that elements use. */
    int64_t n_xyz, n_conn, n_span;
    double *xyz;         /* [HX_PIECE][3] (owned, as all below) */
    int32_t *conn;       /* [HX_PIECE][8] */
    hx_piece_span *span; /* [HX_PIECE] */
    int32_t *home;       /* [HX_PIECE] */
    int64_t used_capacity;
    uint64_t *used; /* [used_capacity] one bit per node */
    /* first element that names a node not read before it, number of that node, line; [0] = -1:
     * none */
    int64_t early[3];
    const int (*side_row)[7];
    int is_over; /* all ranks have agreed on an error */
} hx_mesh_pieces;

/* Number of items sent together. */
enum { HX_PIECE = 1 << 18 };

int hx_mesh_pieces_begin(hx_mesh_pieces *pieces, const hx_comm *comm);
void hx_mesh_pieces_free(hx_mesh_pieces *pieces);

/* On all ranks but the root, while it reads: receives items until there are no more. */
int hx_mesh_pieces_serve(hx_mesh_pieces *pieces);

/* Called on the root after reading with result rc: ends hx_mesh_pieces_serve on the other ranks.
 * All ranks return the root's result. */
int hx_mesh_pieces_end(hx_mesh_pieces *pieces, int rc);

/* This function and the next two are collective. Distributes data that only the root has: names of
 * sets, and faces given by nodes. path: for messages. */
int hx_mesh_pieces_share(hx_mesh_pieces *pieces, const char *path);

/* Gives collapsed cells their standard numbering. *is_out = 1: elements are inverted, or their
 * nodes are not in order. HX_EINPUT: an element is not a solid. */
int hx_mesh_pieces_normalize_cells(hx_mesh_pieces *pieces, const char *path, int *is_out);

/* Leaves out the nodes that no element uses. */
int hx_mesh_pieces_leave_out(hx_mesh_pieces *pieces);

#endif
