/* The steps of a window (window.c). Not installed. */
#ifndef HX_WINDOW_INTERNAL_H
#define HX_WINDOW_INTERNAL_H

#include "window.h"

/* What all steps have. */
typedef struct hx_window_task {
    const hx_team *team;
    const hx_all *all;
    const hx_mesh_source *source;
    const hx_window_params *params;
} hx_window_task;

/* Elements that are looked at together, with the nodes at their corners. */
enum { HX_WINDOW_BLOCK = 1 << 17 };
typedef struct hx_window_block {
    int64_t n;
    int64_t *elem;    /* [n] numbers in the source, by whoever asks (owned, as all below) */
    int64_t *node;    /* [n][8] */
    double *xyz;      /* [n][8][3] of the corners */
    uint64_t *in_set; /* [n] sets of the elements */
} hx_window_block;

/* Room for the blocks of n elements. */
int hx_window_block_create(hx_window_block *block, int64_t n);
void hx_window_block_free(hx_window_block *block);

/* Blocks that all processes go through together for n elements of this one: a source may be asked
 * by all at once alone. Collective. */
int hx_window_n_block(const hx_window_task *task, int64_t n, int64_t *n_block);

/* Elements of block i of n: elem[n], or first, first + 1 ... where that is NULL. Returns how many
 * come before it; those behind the last block have none. */
int64_t hx_window_block_take(hx_window_block *block, int64_t i, int64_t n, const int64_t *elem,
                             int64_t first);

/* Nodes and corners of the block's elements; corners: 0: nodes alone. */
int hx_window_block_fill(const hx_window_task *task, hx_window_block *block, int corners);

/* Element k of the block by its corners: conn of block->xyz. */
void hx_window_block_conn(const hx_window_block *block, int64_t k, int32_t conn[8]);

/* The source's elements that this process looks at first: an equal piece of their order, and what
 * they all are. */
typedef struct hx_window_piece {
    int64_t first, n;
    double (*centroid)[3];  /* [n] (owned, like the next three) */
    uint8_t *weight;        /* [n] hx_partition_weight; NULL: all 8 */
    uint64_t *key;          /* [n] along the curve */
    int32_t *sorted;        /* [n] the piece's elements by key */
    double low[3], high[3]; /* box of the nodes, of all */
    double volume;          /* of all, as parallelepipeds */
    double elem_size;       /* hx_mesh.elem_size, of hexahedra of a local source as these */
    double aspect;          /* of all, of hx_mesh_window */
    double half[3];         /* most of a corner's distance from its element's centroid, of all */
} hx_window_piece;

int hx_window_piece_create(hx_window_piece *piece, const hx_window_task *task);
void hx_window_piece_free(hx_window_piece *piece);

/* (*own)[*n_own], the caller's: the source's elements that are this process', along the curve.
 * Frees the piece's arrays on the way. */
int hx_window_move(const hx_window_task *task, hx_window_piece *piece, int64_t *n_own,
                   int64_t **own);

/* params->reach as a length. */
double hx_window_reach(const hx_window_task *task, const hx_window_piece *piece);

/* (*elem)[first[size]], the caller's: the window's elements, rank after rank, own[n_own] among
 * them. */
int hx_window_near(const hx_window_task *task, const hx_window_piece *piece, int64_t n_own,
                   const int64_t *own, int64_t *first, int64_t **elem);

/* Adds the source's sets of faces to the raw window. */
int hx_window_faces(const hx_window_task *task, hx_mesh *mesh);

/* The raw mesh of the elements elem[first[size]], first[size + 1] (taken). */
int hx_window_mesh(const hx_window_task *task, const int64_t *elem, int64_t *first, hx_mesh *mesh);

#endif
