/* A repeated exchange of items between this rank and others through host memory: values of points,
 * blocks of a matrix. */
#ifndef HX_EXCHANGE_H
#define HX_EXCHANGE_H

#include "../comm/comm.h"

/* Messages have the same length in both directions, so buffers have gaps if fewer items go one
 * way. */
typedef struct hx_exchange {
    int n_peer, *peer; /* [n_peer] ranks, ascending (owned, like all below) */
    /* [n_peer + 1] first item of each peer: among those sent, among those received, and in the
     * buffers */
    int64_t *out, *in, *at;
    hx_message *message; /* [n_peer] */
    char *send, *receive;
} hx_exchange;

/* Makes an exchange of n_out[size] and n_in[size] items to and from each rank, of at most `most`
 * bytes each. The counts of the other ranks must match. */
int hx_exchange_create(hx_exchange *r, const hx_comm *comm, const int64_t *n_out,
                       const int64_t *n_in, size_t most);

/* Accepts a zeroed struct. */
void hx_exchange_free(hx_exchange *r);

/* Returns the bytes of an exchange of items of `bytes` each. */
static inline int64_t hx_exchange_bytes(const hx_exchange *exchange, size_t bytes)
{
    return (int64_t)((size_t)exchange->at[exchange->n_peer] * bytes);
}

/* Return the position in the buffers of the items to and from peer k, `bytes` each. */
static inline char *hx_exchange_sent(const hx_exchange *exchange, int k, size_t bytes)
{
    return exchange->send + (size_t)exchange->at[k] * bytes;
}
static inline char *hx_exchange_received(const hx_exchange *exchange, int k, size_t bytes)
{
    return exchange->receive + (size_t)exchange->at[k] * bytes;
}

/* Exchanges the buffers as they are. Blocking. */
int hx_exchange_run(const hx_comm *comm, hx_exchange *r, size_t bytes);

/* Copy to and from arrays without gaps, peer after peer. */
void hx_exchange_pack(hx_exchange *r, size_t bytes, const void *out);
void hx_exchange_unpack(const hx_exchange *r, size_t bytes, void *in);

/* The exchange in the reverse direction: sends items of the kind that are otherwise received. */
int hx_exchange_reverse(const hx_comm *comm, hx_exchange *r, size_t bytes, const void *in,
                        void *out);

#endif
