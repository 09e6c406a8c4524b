/* From shares to files: every process gets a piece of a field, a run of the elements or nodes in
 * the order of the mesh's file, from those that have its values. Shares run along a curve or are
 * METIS' parts; pieces are as long as each other, whatever the order of the file. */
#ifndef HX_FILE_PIECES_H
#define HX_FILE_PIECES_H

#include "share.h"

enum { HX_FILE_NODES, HX_FILE_ELEMENTS, HX_FILE_KINDS };

/* Of nodes or elements. What goes is listed rank after rank in the order of the share, and so is
 * what comes; what stays here is among either. */
typedef struct hx_file_piece {
    int64_t first, n;  /* this process' of the file */
    int64_t *out, *in; /* [size + 1] first of each rank in `from` and in `to` (owned) */
    int32_t *from;     /* [out[size]] places in the share (owned, like the next) */
    int32_t *to;       /* [in[size] = n] places in the piece */
} hx_file_piece;

typedef struct hx_file_pieces {
    const hx_team *team; /* (borrowed) */
    hx_file_piece of[HX_FILE_KINDS];
} hx_file_pieces;

/* The pieces of hx_team_piece or, with to_first, all in the first process. Collective: each says
 * what of the file it has. HX_ENOMEM, in all. O(n of share and piece); 4 bytes an element and node
 * of either. */
int hx_file_pieces_create(hx_file_pieces *pieces, const hx_team *team, const hx_share *share,
                          int to_first);

/* piece[n] of this process := from own[] of the elements or nodes of the shares, `bytes` each. By
 * all processes. Waits; 8 MB a process besides. */
int hx_file_pieces_bring(hx_file_pieces *pieces, int kind, size_t bytes, const void *own,
                         void *piece);

/* Accepts a zeroed struct. */
void hx_file_pieces_free(hx_file_pieces *pieces);

#endif
