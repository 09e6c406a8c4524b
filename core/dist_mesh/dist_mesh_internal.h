/* The steps of building a distributed mesh (dist_mesh.c). Not installed. */
#ifndef HX_DIST_MESH_INTERNAL_H
#define HX_DIST_MESH_INTERNAL_H

#include "dist_mesh.h"

/* Arguments of all steps. */
typedef struct hx_dist_mesh_task {
    const hx_comm *comm;
    const hx_reduce *reduce;
    const hx_mesh_source *source;
    const hx_dist_mesh_params *params;
} hx_dist_mesh_task;

/* A block of elements that are processed together, with their nodes. */
enum { HX_DIST_MESH_BLOCK = 1 << 17 };
typedef struct hx_dist_mesh_block {
    int64_t n;
    int64_t *elem;    /* [n] numbers in the source (owned, like all below) */
    int64_t *node;    /* [n][8] */
    double *xyz;      /* [n][8][3] coordinates of the corners */
    uint64_t *in_set; /* [n] sets of the elements */
} hx_dist_mesh_block;

/* Allocates a block for processing n elements. */
int hx_dist_mesh_block_create(hx_dist_mesh_block *block, int64_t n);
void hx_dist_mesh_block_free(hx_dist_mesh_block *block);

/* *n_block := number of blocks that all ranks process together, for n elements on this rank. All
 * ranks process equally many, since some sources can only be queried by all ranks at once.
 * Collective. */
int hx_dist_mesh_n_block(const hx_dist_mesh_task *task, int64_t n, int64_t *n_block);

/* Takes block i of n elements: elem[n], or first, first + 1, ... if elem is NULL. Returns the
 * number of elements before it; blocks after the last one are empty. */
int64_t hx_dist_mesh_block_take(hx_dist_mesh_block *block, int64_t i, int64_t n,
                                const int64_t *elem, int64_t first);

/* Queries the nodes of the block's elements and, if corners is 1, their coordinates. */
int hx_dist_mesh_block_fill(const hx_dist_mesh_task *task, hx_dist_mesh_block *block, int corners);

/* conn[8] := corners of element k of the block, as indices into block->xyz. */
void hx_dist_mesh_block_conn(const hx_dist_mesh_block *block, int64_t k, int32_t conn[8]);

/* The piece of the source's elements that this rank reads, equal in size on all ranks, with global
 * properties of the mesh. */
typedef struct hx_dist_mesh_piece {
    int64_t first, n;
    double (*centroid)[3];  /* [n] (owned, like the next three) */
    uint8_t *weight;        /* [n] hx_partition_weight; NULL: 8 for all */
    uint64_t *key;          /* [n] along the curve */
    int32_t *sorted;        /* [n] the piece's elements by key */
    double low[3], high[3]; /* bounding box of all nodes, global */
    double volume;          /* global sum, each element as a parallelepiped */
    double elem_size; /* hx_mesh.elem_size; hexahedra of a local source count as parallelepipeds */
    double aspect;    /* hx_mesh_ownership.aspect, global */
    double half[3]; /* per axis: largest distance of a corner from its element's centroid, global */
} hx_dist_mesh_piece;

int hx_dist_mesh_piece_create(hx_dist_mesh_piece *piece, const hx_dist_mesh_task *task);
void hx_dist_mesh_piece_free(hx_dist_mesh_piece *piece);

/* (*own)[*n_own] := the source's elements that this rank owns, along the curve; the caller frees
 * it. Frees the arrays of the piece. */
int hx_dist_mesh_migrate(const hx_dist_mesh_task *task, hx_dist_mesh_piece *piece, int64_t *n_own,
                         int64_t **own);

/* Returns params->reach as a length. */
double hx_dist_mesh_reach(const hx_dist_mesh_task *task, const hx_dist_mesh_piece *piece);

/* (*elem)[first[size]] := elements of this rank and its ghosts, rank after rank, including
 * own[n_own]; the caller frees it. */
int hx_dist_mesh_find_ghosts(const hx_dist_mesh_task *task, const hx_dist_mesh_piece *piece,
                             int64_t n_own, const int64_t *own, int64_t *first, int64_t **elem);

/* Adds the source's sets of faces to the raw distributed mesh. */
int hx_dist_mesh_faces(const hx_dist_mesh_task *task, hx_mesh *mesh);

/* Makes the raw mesh of elements elem[first[size]]; takes ownership of first[size + 1]. */
int hx_dist_mesh_make_local(const hx_dist_mesh_task *task, const int64_t *elem, int64_t *first,
                            hx_mesh *mesh);

#endif
