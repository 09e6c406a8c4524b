#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static const char what[] = "buffers of an exchange";

static int alloc_peers(hx_exchange *r, size_t n)
{
    HX_TRY(hx_alloc(&r->peer, n, sizeof *r->peer, what));
    HX_TRY(hx_alloc(&r->message, n, sizeof *r->message, what));
    HX_TRY(hx_alloc(&r->out, n + 1, sizeof *r->out, what));
    HX_TRY(hx_alloc(&r->in, n + 1, sizeof *r->in, what));
    return hx_alloc(&r->at, n + 1, sizeof *r->at, what);
}

int hx_exchange_create(hx_exchange *r, const hx_comm *comm, const int64_t *n_out,
                       const int64_t *n_in, size_t most)
{
    memset(r, 0, sizeof *r);
    HX_TRY(alloc_peers(r, (size_t)comm->size));
    for (int rank = 0; rank < comm->size; rank++) {
        const int64_t n = n_out[rank] > n_in[rank] ? n_out[rank] : n_in[rank];
        const int k = r->n_peer;
        if (n == 0) continue;
        r->peer[k] = rank;
        r->out[k + 1] = r->out[k] + n_out[rank];
        r->in[k + 1] = r->in[k] + n_in[rank];
        r->at[k + 1] = r->at[k] + n;
        r->n_peer++;
    }
    const size_t n = (size_t)r->at[r->n_peer];
    HX_TRY(hx_alloc(&r->send, n, most, what)); /* zeroed, since gaps are sent */
    return hx_alloc_raw(&r->receive, n, most, what);
}

void hx_exchange_free(hx_exchange *r)
{
    free(r->peer);
    free(r->message);
    free(r->out);
    free(r->in);
    free(r->at);
    free(r->send);
    free(r->receive);
    memset(r, 0, sizeof *r);
}

int hx_exchange_run(const hx_comm *comm, hx_exchange *r, size_t bytes)
{
    for (int k = 0; k < r->n_peer; k++)
        r->message[k] =
            (hx_message){r->peer[k], (size_t)(r->at[k + 1] - r->at[k]) * bytes,
                         hx_exchange_sent(r, k, bytes), hx_exchange_received(r, k, bytes)};
    return comm->ops->exchange(comm, r->n_peer, r->message);
}

void hx_exchange_pack(hx_exchange *r, size_t bytes, const void *out)
{
    for (int k = 0; k < r->n_peer; k++)
        memcpy(hx_exchange_sent(r, k, bytes), (const char *)out + (size_t)r->out[k] * bytes,
               (size_t)(r->out[k + 1] - r->out[k]) * bytes);
}

void hx_exchange_unpack(const hx_exchange *r, size_t bytes, void *in)
{
    for (int k = 0; k < r->n_peer; k++)
        memcpy((char *)in + (size_t)r->in[k] * bytes, hx_exchange_received(r, k, bytes),
               (size_t)(r->in[k + 1] - r->in[k]) * bytes);
}

static void turn(hx_exchange *r)
{
    int64_t *const out = r->out;
    r->out = r->in;
    r->in = out;
}

int hx_exchange_reverse(const hx_comm *comm, hx_exchange *r, size_t bytes, const void *in,
                        void *out)
{
    turn(r);
    hx_exchange_pack(r, bytes, in);
    const int rc = hx_exchange_run(comm, r, bytes);
    if (rc == HX_OK) hx_exchange_unpack(r, bytes, out);
    turn(r);
    return rc;
}
