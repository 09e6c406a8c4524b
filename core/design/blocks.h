/* Means over balls that hold many elements, by blocks of elements: what local volumes of a large
 * radius need (ball.h).
 *
 * The cells of a grid, some elements wide, are the blocks. A field is summed over the elements of
 * each block; the sums over balls run over blocks as they would over elements, with the weights of
 * ball.h for the edge of a block; and all elements of a block get its mean. With blocks of k^3
 * elements that takes 1 / k^6 of the time of sums over elements, so a few passes over the
 * elements remain at any radius. The map is linear, symmetric but for volumes, and keeps constants.
 * Blocks of voxels are aligned with these and lie on a grid; other blocks lie at the mean centroid
 * of their elements.
 *
 * With several processes each gathers the field of all elements and computes all blocks. */
#ifndef HX_BLOCKS_H
#define HX_BLOCKS_H

#include "../problem/problem.h"
#include "bins.h"
#include "halo.h"

HX_C_BEGIN

typedef struct hx_blocks {
    hx_device *dev;         /* (borrowed) */
    int64_t n, n_own;       /* blocks; elements of this process */
    int most;               /* elements of the largest block */
    int64_t *n_with;        /* [most] blocks with more than k elements; these come first (owned) */
    int64_t **d_member;     /* [most][n_with[k]] element number k of each of them (owned) */
    int64_t *d_block;       /* [n_own] the block of an element (owned, like all below) */
    double *d_sum, *d_part; /* [n] scratch */
    double *d_total;        /* [n] sum of the weighted volumes of a ball */
    double outer_radius, inner_radius;
    hx_device_bins outer,
        inner;     /* cells of the blocks; inner.n = 0: the radius is below half a block */
    hx_halo *halo; /* brings the elements of other processes; NULL: there is one */
} hx_blocks;

/* wide: elements along an edge of a block, at least 1. edge: of an element; radius: length. O(n log n)
 * on the host. Collective with several processes. */
int hx_blocks_create(hx_blocks *blocks, hx_device *dev, const hx_problem *problem, int wide,
                     double edge, double radius);
/* Upper bound of the device bytes. n_elem: of this process. */
size_t hx_blocks_bytes(const hx_problem *problem, int wide, double edge);

/* d_mean[n_own] := mean over the ball of each element's block, of d_a[n_own], the field times the
 * volumes; may be in place. Hot. */
int hx_blocks_mean(hx_blocks *blocks, const double *d_a, double *d_mean);
/* In place: derivatives by the means become those by the field times the volumes. Hot. */
int hx_blocks_transpose(hx_blocks *blocks, double *d_a);

/* Accepts a zeroed struct. */
void hx_blocks_free(hx_blocks *blocks);

HX_C_END

#endif
