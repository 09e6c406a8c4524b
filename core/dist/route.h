/* A repeated exchange of items between this rank and others through host memory: values of points,
 * blocks of a matrix. */
#ifndef HX_ROUTE_H
#define HX_ROUTE_H

#include "../comm/comm.h"

/* Messages have the same length in both directions, so buffers have gaps if fewer items go one
 * way. */
typedef struct hx_route {
    int n_peer, *peer; /* [n_peer] ranks, ascending (owned, like all below) */
    /* [n_peer + 1] first item of each peer: among those sent, among those received, and in the
     * buffers */
    int64_t *out, *in, *at;
    hx_message *message; /* [n_peer] */
    char *send, *receive;
} hx_route;

/* Makes an exchange of n_out[size] and n_in[size] items to and from each rank, of at most `most`
 * bytes each. The counts of the other ranks must match. */
int hx_route_create(hx_route *route, const hx_comm *comm, const int64_t *n_out, const int64_t *n_in,
                    size_t most);

/* Accepts a zeroed struct. */
void hx_route_free(hx_route *route);

/* Returns the bytes of an exchange of items of `bytes` each. */
static inline int64_t hx_route_bytes(const hx_route *route, size_t bytes)
{
    return (int64_t)((size_t)route->at[route->n_peer] * bytes);
}

/* Return the position in the buffers of the items to and from peer k, `bytes` each. */
static inline char *hx_route_sent(const hx_route *route, int k, size_t bytes)
{
    return route->send + (size_t)route->at[k] * bytes;
}
static inline char *hx_route_received(const hx_route *route, int k, size_t bytes)
{
    return route->receive + (size_t)route->at[k] * bytes;
}

/* Exchanges the buffers as they are. Blocking. */
int hx_route_exchange(const hx_comm *comm, hx_route *route, size_t bytes);

/* Copy to and from arrays without gaps, peer after peer. */
void hx_route_pack(hx_route *route, size_t bytes, const void *out);
void hx_route_unpack(const hx_route *route, size_t bytes, void *in);

/* The exchange in the reverse direction: sends items of the kind that are otherwise received. */
int hx_route_go_back(const hx_comm *comm, hx_route *route, size_t bytes, const void *in, void *out);

#endif
