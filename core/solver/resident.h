/* A multigrid cycle of small lattices in one launch (multigrid_resident.c): a device whose blocks
 * all run at a time keeps the lattices' matrices in their registers and shared memory, and goes
 * from step to step as soon as the values that a node needs are there, not when all are. */
#ifndef HX_RESIDENT_H
#define HX_RESIDENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HX_RESIDENT_LEVELS = 3,  /* that are smoothed, at most */
    HX_RESIDENT_STEPS = 160, /* of a cycle, at most */
    HX_RESIDENT_COPIES = 3   /* of an iterate: the newest, and what others may still be reading */
};

typedef enum {
    HX_RESIDENT_START,    /* the smoother's first step, from zero */
    HX_RESIDENT_SMOOTH,   /* step i of the smoother */
    HX_RESIDENT_RESIDUAL, /* b - A x */
    HX_RESIDENT_RESTRICT, /* to the level below, whose b it is */
    HX_RESIDENT_DIRECT,   /* on the last level */
    HX_RESIDENT_RETURN    /* from the level below, added to x; then the smoother's step 0 */
} hx_resident_kind;

/* One step of all nodes of a level. What it reads was left by step `by`, in copy `from`; what it
 * leaves goes to copy `to`. A block keeps what SMOOTH and RESIDUAL read of its nodes and their
 * neighbours in one of two places of the level's, `half`; RETURN adds to those of the RESIDUAL
 * before it, which are the newest, what it reads of the level below. Eight bytes: a device reads
 * it as one word. */
typedef struct hx_resident_step {
    uint8_t kind, level, i, by, from, to, half, unused;
} hx_resident_step;

enum { HX_RESIDENT_NO_PARENT = 0xffff };

/* Of a level: block b of n_block takes the nodes own[b n / n_block, (b + 1) n / n_block). */
typedef struct hx_resident_part {
    int most_node, most_near, most_above; /* of a block */
    int32_t *d_own;     /* [n_node] nodes along a curve, so that a block's lie together */
    int32_t *d_near;    /* [n_block][most_near] its nodes and their neighbours, then -1 */
    uint16_t *d_place;  /* [n_node][32] of a node's neighbours among them; from 27 on 0 */
    int32_t *d_above;   /* [n_block][most_above] nodes of the next level, parents of these, -1 */
    uint16_t *d_parent; /* [n_block][most_near][8] of a node's parents among them, or none */
    void *d_x, *d_r;    /* [HX_RESIDENT_COPIES][n_node] iterates, [n_node] residual */
} hx_resident_part;

/* What blocks exchange of a node are two words of 128 bits, each of three floats and the step that
 * left them, counted over all launches; of the last level's solution, whose rows come one by one,
 * words of 64 bits, a float and the step. */
enum { HX_RESIDENT_NODE_BYTES = 32, HX_RESIDENT_ROW_BYTES = 8 };
typedef struct hx_mg_resident {
    hx_resident_part part[HX_RESIDENT_LEVELS];
    hx_resident_step step[HX_RESIDENT_STEPS];
    void *d_b;         /* [2][n] of the last level */
    uint64_t *d_y;     /* [6 n] of the last level */
    void *d_word;      /* all of these words (owned) */
    uint32_t *d_count; /* steps of all launches so far; blocks of this one that have read it */
    int first;         /* level of the cycle */
    int n_level;       /* that are smoothed, from it on; 0: no such cycle */
    int n_block, n_step;
} hx_mg_resident;

#ifdef __cplusplus
}
#endif

#endif
