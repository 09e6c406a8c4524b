/* What processes with a share of a mesh each say to each other on the host: short lists about the
 * points that they have in common. Collective: every process calls the same, and what fails in one
 * fails in all. NULL: one process has the whole. */
#ifndef HX_COMMON_HOST_H
#define HX_COMMON_HOST_H

#include "../base/all.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Items that came: those of rank r are first[r] .. first[r + 1], in the order in which it told
 * them; item i is about common[at[i]]. */
typedef struct hx_common_told {
    int64_t *first; /* [size + 1] (owned, like the next) */
    int32_t *at;    /* [first[size]] */
    void *item;     /* [first[size]][bytes] */
} hx_common_told;

typedef struct hx_common_host hx_common_host;
struct hx_common_host {
    const hx_all *all;     /* the processes (borrowed, like all here) */
    int64_t n_own;         /* nodes of this process: the first ones; a node is one process' own */
    int64_t n_common;      /* points that others have too */
    const int32_t *common; /* [n_common] in an order that is the same in all */
    /* About point common[i] the items first[i] .. first[i + 1], of `bytes` each, to all others that
     * have it. *told is the caller's to free. O(items sent and received). */
    int (*tell)(const hx_common_host *host, const int64_t *first, size_t bytes, const void *item,
                hx_common_told *told);
    /* What each comes to, 0 or an error with its message, becomes that of all. */
    int (*agree)(const hx_common_host *host, int rc);
};

static inline int hx_common_agree(const hx_common_host *host, int rc)
{
    return host ? host->agree(host, rc) : rc;
}

static inline const hx_all *hx_common_all(const hx_common_host *host)
{
    return host ? host->all : NULL;
}

/* Accepts a zeroed struct. */
void hx_common_told_free(hx_common_told *told);

/* sum[n] over all, in the order of the ranks, by blocks of half a MB each; rc: what the process
 * came to before, which all agree on. O(n size) */
int hx_common_sum(const hx_common_host *host, int rc, int64_t n, double *sum);
int hx_common_sum_i64(const hx_common_host *host, int rc, int64_t n, int64_t *sum);

/* (*every)[*n_every] := the lists of all, own[n] of `bytes` each, rank after rank; the caller's.
 * One process: a copy. rc as above. For short ones: each takes as much room as the longest. */
int hx_common_gather(const hx_common_host *host, int rc, int64_t n, size_t bytes, const void *own,
                     void *every, int64_t *n_every);

#ifdef __cplusplus
}
#endif

#endif
