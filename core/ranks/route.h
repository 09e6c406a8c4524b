/* Items that go between this process and others, the same ones again and again: values of points,
 * blocks of a matrix. Through host memory. */
#ifndef HX_ROUTE_H
#define HX_ROUTE_H

#include "../team/team.h"

/* Messages have one length both ways, so that buffers have gaps where less goes than comes. */
typedef struct hx_route {
    int n_peer, *peer;      /* [n_peer] ranks, ascending (owned, like all below) */
    int64_t *out, *in, *at; /* [n_peer + 1] first item of each peer: of what goes, what comes, and
                               in the buffers */
    hx_message *message;    /* [n_peer] */
    char *send, *receive;
} hx_route;

/* n_out[size], n_in[size] items to and from each rank, of `most` bytes at most. At the ranks that
 * are named the numbers must be the reverse of these. */
int hx_route_create(hx_route *route, const hx_team *team, const int64_t *n_out, const int64_t *n_in,
                    size_t most);

/* Accepts a zeroed struct. */
void hx_route_free(hx_route *route);

/* What all of it is, of items of `bytes`. */
static inline int64_t hx_route_bytes(const hx_route *route, size_t bytes)
{
    return (int64_t)((size_t)route->at[route->n_peer] * bytes);
}

/* Where items of `bytes` to and from peer k lie. */
static inline char *hx_route_sent(const hx_route *route, int k, size_t bytes)
{
    return route->send + (size_t)route->at[k] * bytes;
}
static inline char *hx_route_received(const hx_route *route, int k, size_t bytes)
{
    return route->receive + (size_t)route->at[k] * bytes;
}

/* All of them, as they lie. Waits. */
int hx_route_exchange(const hx_team *team, hx_route *route, size_t bytes);

/* From and to arrays without gaps, peer after peer. */
void hx_route_pack(hx_route *route, size_t bytes, const void *out);
void hx_route_unpack(const hx_route *route, size_t bytes, void *in);

/* The other way round: what comes else goes, and what goes comes. */
int hx_route_go_back(const hx_team *team, hx_route *route, size_t bytes, const void *in, void *out);

#endif
