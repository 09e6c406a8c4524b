/* From subdomains to files: every rank gets a piece of a field, a range of elements or nodes in the
 * order of the mesh's file, from the ranks that have the values. Subdomains follow a space-filling
 * curve or are parts of METIS; pieces have equal lengths whatever the order of the file. */
#ifndef HX_FILE_PIECES_H
#define HX_FILE_PIECES_H

#include "subdomain.h"

enum { HX_FILE_NODES, HX_FILE_ELEMENTS, HX_FILE_KINDS };

/* For nodes or elements. Items sent are listed rank after rank in the order of the subdomain, items
 * received rank after rank in the order of the sender; both lists include the items that stay on
 * this rank. */
typedef struct hx_file_piece {
    int64_t first, n;  /* this rank's range of the file */
    int64_t *out, *in; /* [size + 1] first item of each rank in `from` and in `to` (owned) */
    int32_t *from;     /* [out[size]] positions in the subdomain (owned, like the next) */
    int32_t *to;       /* [in[size] = n] positions in the piece */
} hx_file_piece;

typedef struct hx_file_pieces {
    const hx_comm *comm; /* (borrowed) */
    hx_file_piece of[HX_FILE_KINDS];
} hx_file_pieces;

/* Makes pieces of equal lengths (hx_comm_piece) or, if to_first is 1, a single piece on the first
 * rank. Collective: each rank announces which items of the file it has. HX_ENOMEM on all ranks.
 * O(n) of subdomain and piece; 4 bytes per element and node of either. */
int hx_file_pieces_create(hx_file_pieces *pieces, const hx_comm *comm,
                          const hx_subdomain *subdomain, int to_first);

/* piece[n] of this rank := values own[] of the elements or nodes of all subdomains, `bytes` each.
 * Collective and blocking; 8 MB of buffers per rank. */
int hx_file_pieces_bring(hx_file_pieces *pieces, int kind, size_t bytes, const void *own,
                         void *piece);

/* Accepts a zeroed struct. */
void hx_file_pieces_free(hx_file_pieces *pieces);

#endif
