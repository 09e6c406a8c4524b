/* Patches (patches.h) reordered for products in parts: within each run of patches, those with an
 * interface node come first, and so do the interface nodes among the shared nodes. A product over
 * these first parts is complete at all interface nodes. Rows, partial sums and the terms of each
 * node's sum are unchanged, so results are bitwise equal for any order of the patches. */
#ifndef HX_PATCHES_SPLIT_H
#define HX_PATCHES_SPLIT_H

#include "patches.h"

HX_C_BEGIN

typedef struct hx_patches_split {
    /* its spans, corners and shared nodes are owned if there are interface nodes; everything else
     * is borrowed */
    hx_patches patches;
    int has_own; /* 1: they are owned */
    /* number of interface nodes, which come first among the shared nodes */
    int64_t n_shared_boundary;
} hx_patches_split;

/* Reorders runs of patches: run i has the patches first[i] .. first[i + 1] of p, all from one
 * group. n_boundary[run] returns how many of them come first. interface[n_interface]: the interface
 * nodes among n_node nodes. p must outlive the result. O(n_elem), or O(1) without interface nodes;
 * allocates as many bytes as the lists it owns. */
int hx_patches_split_create(hx_patches_split *split, const hx_patches *p, int64_t n_node,
                            int64_t n_interface, const int32_t *interface, int n_run,
                            const int64_t *first, int64_t *n_boundary);

/* Accepts a zeroed struct. */
void hx_patches_split_free(hx_patches_split *split);

HX_C_END

#endif
