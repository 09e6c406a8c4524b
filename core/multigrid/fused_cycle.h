/* The fused coarse cycle (`fused`): the multigrid cycle over the small coarse grids in one
 * kernel launch (multigrid_fused.c). On a device whose blocks all run at the same time, the
 * persistent kernel keeps the coarse matrices in registers and shared memory, and each node
 * proceeds as soon as the values it needs are available, without a barrier for all nodes. */
#ifndef HX_FUSED_CYCLE_H
#define HX_FUSED_CYCLE_H

#include <stdint.h>

#include "../base/c_linkage.h"

HX_C_BEGIN

enum {
    HX_FUSED_LEVELS = 3,  /* maximum number of smoothed levels */
    HX_FUSED_STEPS = 160, /* maximum number of steps of a cycle */
    /* copies of an iterate: the newest, and those that others may still be reading */
    HX_FUSED_COPIES = 3
};

typedef enum {
    HX_FUSED_START,    /* first step of the smoother, from zero */
    HX_FUSED_SMOOTH,   /* step i of the smoother */
    HX_FUSED_RESIDUAL, /* b - A x */
    HX_FUSED_RESTRICT, /* to the level below: sets its b */
    HX_FUSED_DIRECT,   /* direct solve on the last level */
    /* adds the correction from the level below to x, then step 0 of the smoother */
    HX_FUSED_RETURN
} hx_fused_kind;

/* One step for all nodes of a level. Its input was written by step `by` in copy `from`; its result
 * goes to copy `to`. SMOOTH and RESIDUAL keep what a block reads of its nodes and their neighbours
 * in one of two buffers of the level, selected by `half`. RETURN adds what it reads from the level
 * below to the values of the preceding RESIDUAL, which are the newest. The struct has eight bytes
 * because a device reads it as one word. */
typedef struct hx_fused_step {
    uint8_t kind, level, i, by, from, to, half, unused;
} hx_fused_step;

enum { HX_FUSED_NO_PARENT = 0xffff };

/* Distribution of a level: block b of n_block computes the nodes own[b n / n_block .. (b + 1) n /
 * n_block). */
typedef struct hx_fused_part {
    int most_node, most_near, most_above; /* largest numbers in any block */
    /* [n_node] nodes along a space-filling curve, so that those of a block are close together */
    int32_t *d_own;
    /* [n_block][most_near] nodes of the block and their neighbours, padded with -1 */
    int32_t *d_near;
    /* [n_node][32] index of each neighbour in d_near of the block; 0 from entry 27 on */
    uint16_t *d_place;
    /* [n_block][most_above] nodes of the next level that are parents of d_near, padded with -1 */
    int32_t *d_above;
    /* [n_block][most_near][8] index of each parent in d_above, or HX_FUSED_NO_PARENT */
    uint16_t *d_parent;
    void *d_x, *d_r; /* [HX_FUSED_COPIES][n_node] iterates, [n_node] residual */
} hx_fused_part;

/* For each node, blocks exchange two words of 128 bits, each with three floats and the number of
 * the step that wrote them, counted over all launches. The solution of the last level, whose rows
 * are finished one by one, uses words of 64 bits: a float and the step. */
enum { HX_FUSED_NODE_BYTES = 32, HX_FUSED_ROW_BYTES = 8 };
typedef struct hx_mg_fused {
    hx_fused_part part[HX_FUSED_LEVELS];
    hx_fused_step step[HX_FUSED_STEPS];
    void *d_b;     /* [2][n] right-hand side of the last level */
    uint64_t *d_y; /* [6 n] solution of the last level */
    void *d_word;  /* memory of all these words (owned) */
    /* number of steps in all launches so far, and number of blocks of this launch that have read
     * it */
    uint32_t *d_count;
    int first;   /* first level of the fused cycle */
    int n_level; /* number of smoothed levels, from `first` on; 0: there is no fused cycle */
    int n_block, n_step;
} hx_mg_fused;

HX_C_END

#endif
