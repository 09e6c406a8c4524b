/* A mesh file that one process reads and several hold: nodes and elements go on, some hundred
 * thousands at a time, to the processes in turn. Not installed. */
#ifndef HX_MESH_PIECES_H
#define HX_MESH_PIECES_H

#include "../mesh/mesh_source.h"
#include "file_store.h"
#include "mesh_import.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members first .. first + n - 1 of a set, all in one block of a store. */
typedef struct hx_piece_span {
    int64_t first;
    int32_t n;
    int16_t bit, of_elements;
} hx_piece_span;

/* A name of sets of several kinds (hx_shared_name), by places of sets: one of them has it. */
typedef struct hx_piece_shared {
    int16_t name, set[HX_N_SET_KIND]; /* -1: none of that kind */
} hx_piece_shared;

enum { HX_PIECE_SHARED = HX_SOURCE_SETS / 2 };

typedef struct hx_mesh_pieces {
    hx_import_sink sink; /* first: the leader's reader fills it */
    const hx_team *team; /* (borrowed) */

    hx_file_store node; /* xyz[3] length */
    hx_file_store elem; /* int32_t conn[8]: nodes by their places in the file, then in the mesh */
    int has_numbers;
    int64_t first_node, first_elem; /* numbers of the first node and element */
    int has_unused;                 /* some nodes are of no element, and to be left out */

    int n_set;
    char *name[HX_SOURCE_SETS]; /* (owned, each) */
    uint8_t has_elements[HX_SOURCE_SETS];
    hx_source_faces faces[HX_SOURCE_SETS]; /* of each set; n 0: none (arrays owned) */
    int n_shared;
    hx_piece_shared shared[HX_PIECE_SHARED];
    int sorts_sets; /* as in hx_mesh_source */

    /* The leader's: what has not gone yet, and which nodes elements name. */
    int64_t n_xyz, n_conn, n_span;
    double *xyz;         /* [HX_PIECE][3] (owned, as all below) */
    int32_t *conn;       /* [HX_PIECE][8] */
    hx_piece_span *span; /* [HX_PIECE] */
    int32_t *home;       /* [HX_PIECE] */
    int64_t used_capacity;
    uint64_t *used;   /* [used_capacity] a bit for each node */
    int64_t early[3]; /* first element that named a node which was not there yet, the node's number,
                         the line; [0] -1: none */
    int keeps_unused; /* as in hx_import */
    int has_sides;    /* faces[].node[k] may be {-1, side} until hx_mesh_pieces_share */
    const int (*side_row)[7];
    int is_over; /* all have agreed on an error */
} hx_mesh_pieces;

/* Items that go together. */
enum { HX_PIECE = 1 << 18 };

int hx_mesh_pieces_begin(hx_mesh_pieces *pieces, const hx_team *team);
void hx_mesh_pieces_free(hx_mesh_pieces *pieces);

/* All but the leader, while it reads: take what comes until there is no more. */
int hx_mesh_pieces_serve(hx_mesh_pieces *pieces);

/* The leader, after it has read with result rc: ends what the others wait for. All: what the leader
 * came to. */
int hx_mesh_pieces_end(hx_mesh_pieces *pieces, int rc);

/* Then all three by all. What the leader alone knows: names of sets, faces by nodes. path: for
 * messages. */
int hx_mesh_pieces_share(hx_mesh_pieces *pieces, const char *path);

/* The one numbering of collapsed cells. *is_out: elements are inside out or their nodes out of
 * order. HX_EINPUT: an element that is no solid. */
int hx_mesh_pieces_settle_cells(hx_mesh_pieces *pieces, const char *path, int *is_out);

/* Leaves out the nodes that no element has. */
int hx_mesh_pieces_leave_out(hx_mesh_pieces *pieces);

#ifdef __cplusplus
}
#endif

#endif
