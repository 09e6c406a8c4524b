/* Patches (patches.h) in another order: of each run of them first those with a node that other
 * processes have too, of the shared nodes first such nodes. A product over the first of both is
 * complete at all nodes in common. Rows, partial sums and what each node adds up stay: the same
 * bits in any order of the patches. */
#ifndef HX_PATCHES_SPLIT_H
#define HX_PATCHES_SPLIT_H

#include "patches.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_patches_split {
    hx_patches patches;        /* spans, corners and shared nodes are its own where any node is in
                                  common; all else is borrowed */
    int has_own;               /* 1: they are */
    int64_t n_shared_boundary; /* the first of the shared nodes */
} hx_patches_split;

/* Of runs of patches, first[run] .. first[run + 1] of p's, each in one group, n_boundary[run] come
 * first; common[n_common] of n_node nodes. p outlives it. O(n_elem), none without nodes in common;
 * as many bytes as the lists that it has of its own. */
int hx_patches_split_create(hx_patches_split *split, const hx_patches *p, int64_t n_node,
                            int64_t n_common, const int32_t *common, int n_run,
                            const int64_t *first, int64_t *n_boundary);

/* Accepts a zeroed struct. */
void hx_patches_split_free(hx_patches_split *split);

#ifdef __cplusplus
}
#endif

#endif
