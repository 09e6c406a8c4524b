/* Communication on the host between ranks that hold one subdomain each: short lists about their
 * interface points. All functions are collective, and an error on one rank becomes an error on all.
 * A NULL pointer stands for a single process that has the whole mesh. */
#ifndef HX_INTERFACE_HOST_H
#define HX_INTERFACE_HOST_H

#include "../base/reduce.h"

HX_C_BEGIN

/* Items received: those of rank r are first[r] .. first[r + 1], in the order in which it sent them;
 * item i belongs to point interface[at[i]]. */
typedef struct hx_interface_messages {
    int64_t *first; /* [size + 1] (owned, like the next) */
    int32_t *at;    /* [first[size]] */
    void *item;     /* [first[size]][bytes] */
} hx_interface_messages;

typedef struct hx_interface_host hx_interface_host;
struct hx_interface_host {
    const hx_reduce *reduce; /* the communicator (borrowed, like everything here) */
    /* nodes that this rank owns, which are its first nodes; each node is owned by one rank */
    int64_t n_own;
    int64_t n_interface;      /* number of interface points */
    const int32_t *interface; /* [n_interface] in an order that all ranks agree on */
    /* Sends the items first[i] .. first[i + 1] of `bytes` each to all other ranks that have point
     * interface[i]. The caller frees *received. O(items sent and received). */
    int (*exchange)(const hx_interface_host *host, const int64_t *first, size_t bytes,
                    const void *item, hx_interface_messages *received);
    /* Turns an error on any rank into one on all: returns 0 on all ranks, or, if rc is an error on
     * some rank, that error with its message. */
    int (*agree)(const hx_interface_host *host, int rc);
};

static inline int hx_interface_agree(const hx_interface_host *host, int rc)
{
    return host ? host->agree(host, rc) : rc;
}

static inline const hx_reduce *hx_interface_reduce(const hx_interface_host *host)
{
    return host ? host->reduce : NULL;
}

/* Accepts a zeroed struct. */
void hx_interface_messages_free(hx_interface_messages *received);

/* sum[n] := sums over all ranks, added in the order of the ranks, in blocks of half a MB. rc is the
 * result of the preceding local work; the ranks first agree on it. O(n size). */
int hx_interface_sum(const hx_interface_host *host, int rc, int64_t n, double *sum);
int hx_interface_sum_i64(const hx_interface_host *host, int rc, int64_t n, int64_t *sum);

/* (*out)[*n_every] := the concatenated lists of all ranks, own[n] of `bytes` each, in rank order;
 * owned by the caller. A copy if there is only one process. rc as in hx_interface_sum. For short
 * lists: each rank's list takes as much space as the longest. */
int hx_interface_gather(const hx_interface_host *host, int rc, int64_t n, size_t bytes,
                        const void *own, void *out, int64_t *n_every);

HX_C_END

#endif
