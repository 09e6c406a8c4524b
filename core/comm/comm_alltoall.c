#include "comm_alltoall.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static const char what[] = "buffers of an exchange between ranks";

/* Bytes of one message, and of the messages to all ranks together. */
enum { BLOCK_BYTES = 1 << 22, ALL_BYTES = 1 << 26 };

int hx_comm_alltoall_counts(const hx_comm *comm, const int64_t *out_first, int64_t *in_first)
{
    const size_t size = (size_t)comm->size;
    int64_t *all;
    int rc = hx_comm_agree(comm, hx_alloc_raw(&all, size * (size + 1), sizeof *all, what));
    if (rc == HX_OK)
        rc = comm->ops->all_gather(comm, out_first, (size + 1) * sizeof *out_first, all);
    in_first[0] = 0;
    for (size_t r = 0; rc == HX_OK && r < size; r++) {
        const int64_t *const of = all + r * (size + 1) + comm->rank;
        in_first[r + 1] = in_first[r] + of[1] - of[0];
    }
    free(all);
    return rc;
}

/* Returns the number of items of a list of n that start at `at`, at most `most`. */
static int64_t rest(int64_t n, int64_t at, int64_t most)
{
    const int64_t left = n > at ? n - at : 0;
    return left < most ? left : most;
}

typedef struct trade {
    const hx_comm *comm;
    const int64_t *out_first, *in_first;
    size_t bytes;
    int64_t block; /* items per message, equal on all ranks */
    int64_t most;  /* items of the largest message that this rank sends or receives */
    const char *out;
    const int32_t *out_at, *in_at; /* lists of hx_comm_alltoall_listed */
    char *in, *send, *receive;     /* send, receive: [size][most] */
    hx_message *message;           /* [size] */
} trade;

/* to[to_at[i]] := from[from_at[i]], `bytes` each; a list that is NULL means i. */
static void move(int64_t n, size_t bytes, const int32_t *from_at, const char *from,
                 const int32_t *to_at, char *to)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        memcpy(to + (size_t)(to_at ? to_at[i] : i) * bytes,
               from + (size_t)(from_at ? from_at[i] : i) * bytes, bytes);
}

/* Copies n outgoing items, starting with item `first`, to a buffer. */
static void pack_items(const trade *t, int64_t first, int64_t n, char *to)
{
    if (t->out_at)
        move(n, t->bytes, t->out_at + first, t->out, NULL, to);
    else
        move(n, t->bytes, NULL, t->out + (size_t)first * t->bytes, NULL, to);
}

static void unpack(const trade *t, int64_t first, int64_t n, const char *from)
{
    if (t->in_at)
        move(n, t->bytes, NULL, from, t->in_at + first, t->in);
    else
        move(n, t->bytes, NULL, from, NULL, t->in + (size_t)first * t->bytes);
}

/* Packs the message to a rank that begins with item `at`; bytes = 0: all items are done. */
static hx_message message_of(const trade *t, int rank, int64_t at)
{
    const int64_t n_out = t->out_first[rank + 1] - t->out_first[rank],
                  n_in = t->in_first[rank + 1] - t->in_first[rank];
    const int64_t out = rest(n_out, at, t->block), in = rest(n_in, at, t->block);
    const size_t of_block = (size_t)t->most * t->bytes;
    hx_message m = {rank, (size_t)(out > in ? out : in) * t->bytes,
                    t->send + (size_t)rank * of_block, t->receive + (size_t)rank * of_block};
    pack_items(t, t->out_first[rank] + at, out, t->send + (size_t)rank * of_block);
    return m;
}

static void take_items(const trade *t, int rank, int64_t at)
{
    const int64_t n = rest(t->in_first[rank + 1] - t->in_first[rank], at, t->block);
    unpack(t, t->in_first[rank] + at, n, t->receive + (size_t)rank * (size_t)t->most * t->bytes);
}

/* Copies items that stay on this rank, block by block through the send buffer. */
static void keep_own(const trade *t)
{
    const int me = t->comm->rank;
    const int64_t n = t->out_first[me + 1] - t->out_first[me];
    for (int64_t at = 0; at < n; at += t->most) {
        pack_items(t, t->out_first[me] + at, rest(n, at, t->most), t->send);
        unpack(t, t->in_first[me] + at, rest(n, at, t->most), t->send);
    }
}

/* Exchanges one message per rank, beginning with item `at`; *n_message = 0 at the end. */
static int exchange_block(const trade *t, int64_t at, int *n_message)
{
    *n_message = 0;
    for (int r = 0; r < t->comm->size; r++) {
        if (r == t->comm->rank) continue;
        const hx_message m = message_of(t, r, at);
        if (m.bytes > 0) t->message[(*n_message)++] = m;
    }
    if (*n_message == 0) return HX_OK;
    HX_TRY(t->comm->ops->exchange(t->comm, *n_message, t->message));
    for (int r = 0; r < t->comm->size; r++)
        if (r != t->comm->rank) take_items(t, r, at);
    return HX_OK;
}

/* Returns the items per message. */
static int64_t block_of(const hx_comm *comm, size_t bytes)
{
    const size_t fair = ALL_BYTES / (size_t)comm->size;
    return (int64_t)((fair < BLOCK_BYTES ? fair : BLOCK_BYTES) / bytes);
}

/* Returns the items of the largest message, at least 1. */
static int64_t most_of(const hx_comm *comm, const int64_t *out_first, const int64_t *in_first,
                       int64_t block)
{
    int64_t most = 1;
    for (int r = 0; r < comm->size; r++) {
        const int64_t n_out = out_first[r + 1] - out_first[r], n_in = in_first[r + 1] - in_first[r];
        if (n_out > most) most = n_out;
        if (n_in > most) most = n_in;
    }
    return most < block ? most : block;
}

int hx_comm_alltoall_listed(const hx_comm *comm, const int64_t *out_first, const int64_t *in_first,
                            size_t bytes, const void *out, const int32_t *out_at, void *in,
                            const int32_t *in_at)
{
    const int64_t block = block_of(comm, bytes);
    const int64_t most = most_of(comm, out_first, in_first, block);
    trade t = {comm,   out_first, in_first, bytes, block, most, out,
               out_at, in_at,     in,       NULL,  NULL,  NULL};
    const size_t n = (size_t)comm->size;
    int n_message = 1;
    /* zeroed, since messages include padding */
    int rc = hx_alloc(&t.send, n * (size_t)most, bytes, what);
    if (rc == HX_OK) rc = hx_alloc_raw(&t.receive, n * (size_t)most, bytes, what);
    if (rc == HX_OK) rc = hx_alloc(&t.message, n, sizeof *t.message, what);
    HX_TRY_FAIL(hx_comm_agree(comm, rc));
    keep_own(&t);
    for (int64_t at = 0; n_message > 0; at += block)
        HX_TRY_FAIL(exchange_block(&t, at, &n_message));
    rc = HX_OK;
fail:
    free(t.send);
    free(t.receive);
    free(t.message);
    return rc;
}

int hx_comm_alltoallv(const hx_comm *comm, const int64_t *out_first, const int64_t *in_first,
                      size_t bytes, const void *out, void *in)
{
    return hx_comm_alltoall_listed(comm, out_first, in_first, bytes, out, NULL, in, NULL);
}
