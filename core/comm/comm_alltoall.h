/* A single exchange of items between all pairs of ranks, in blocks, so that no second copy of all
 * items is needed. Through host memory. */
#ifndef HX_COMM_ALLTOALL_H
#define HX_COMM_ALLTOALL_H

#include "comm.h"

HX_C_BEGIN

/* in_first[size + 1] := index of the first item from each rank, computed from out_first[size + 1]
 * of all ranks. Collective; an error on one rank is returned by all. O(size^2). */
int hx_comm_alltoall_counts(const hx_comm *comm, const int64_t *out_first, int64_t *in_first);

/* in[in_first[size]] := items sent to this rank, rank after rank; out[out_first[size]] holds the
 * items to send, by rank; `bytes` per item. Collective; an error on one rank is returned by all.
 * Buffers of 8 MB per rank, at most 128 MB in total. */
int hx_comm_alltoallv(const hx_comm *comm, const int64_t *out_first, const int64_t *in_first,
                      size_t bytes, const void *out, void *in);

/* Like hx_comm_alltoallv for items in another order: the i-th item sent is out[out_at[i]], and the
 * i-th item received is stored in in[in_at[i]]. A list that is NULL means i. */
int hx_comm_alltoall_listed(const hx_comm *comm, const int64_t *out_first, const int64_t *in_first,
                            size_t bytes, const void *out, const int32_t *out_at, void *in,
                            const int32_t *in_at);

HX_C_END

#endif
