#include "interface_host.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static const char what[] = "lists of several ranks";

enum { BLOCK = 1 << 16 }; /* numbers per rank and message */

void hx_interface_messages_free(hx_interface_messages *received)
{
    free(received->first);
    free(received->at);
    free(received->item);
    *received = (hx_interface_messages){0};
}

static int block_of(int64_t n, int64_t at)
{
    return n - at < BLOCK ? (int)(n - at) : BLOCK;
}

int hx_interface_sum(const hx_interface_host *host, int rc, int64_t n, double *sum)
{
    HX_TRY(hx_interface_agree(host, rc));
    for (int64_t at = 0; host && at < n; at += BLOCK)
        HX_TRY(hx_reduce_sum(host->reduce, block_of(n, at), sum + at));
    return HX_OK;
}

int hx_interface_sum_i64(const hx_interface_host *host, int rc, int64_t n, int64_t *sum)
{
    HX_TRY(hx_interface_agree(host, rc));
    for (int64_t at = 0; host && at < n; at += BLOCK)
        HX_TRY(hx_reduce_sum_i64(host->reduce, block_of(n, at), sum + at));
    return HX_OK;
}

/* Removes the gaps from all[size][most]; returns the number of items. */
static int64_t close_gaps(int size, int64_t most, const int64_t *count, size_t bytes, char *all)
{
    int64_t n = 0;
    for (int r = 0; r < size; r++) {
        /* NOLINTNEXTLINE(clang-analyzer-core*): all was allocated */
        memmove(all + (size_t)n * bytes, all + (size_t)(r * most) * bytes,
                (size_t)count[r] * bytes);
        n += count[r];
    }
    return n;
}

/* Gathers the lists of all ranks. Rank r has count[r] items, at most `most`. */
static int gather_lists(const hx_interface_host *host, const int64_t *count, int64_t most,
                        size_t bytes, const void *own, void **every, int64_t *n_every)
{
    const int size = host->reduce->size;
    /* NOLINTNEXTLINE(clang-analyzer-core*): the caller has allocated count */
    const size_t room = (size_t)most * bytes, n_byte = (size_t)count[host->reduce->rank] * bytes;
    char *mine = NULL, *all = NULL;
    int rc = hx_alloc(&mine, room, 1, what);
    if (rc == HX_OK) rc = hx_alloc_raw(&all, room * (size_t)size, 1, what);
    if (rc == HX_OK && n_byte > 0) memcpy(mine, own, n_byte);
    rc = host->agree(host, rc);
    if (rc == HX_OK && most > 0) rc = host->reduce->gather(host->reduce, mine, room, all);
    if (rc == HX_OK) *n_every = close_gaps(size, most, count, bytes, all);
    free(mine);
    if (rc < 0) {
        free(all);
        all = NULL;
    }
    *every = all;
    return rc;
}

int hx_interface_gather(const hx_interface_host *host, int rc, int64_t n, size_t bytes,
                        const void *own, void *out, int64_t *n_every)
{
    void **const every = out;
    int64_t *count = NULL, most = 0;
    *every = NULL;
    *n_every = 0;
    if (!host) {
        HX_TRY(rc);
        HX_TRY(hx_alloc_raw(every, (size_t)n, bytes, what));
        if (n > 0) memcpy(*every, own, (size_t)n * bytes);
        *n_every = n;
        return HX_OK;
    }
    if (rc == HX_OK) rc = hx_alloc_raw(&count, (size_t)host->reduce->size, sizeof *count, what);
    rc = host->agree(host, rc);
    if (rc == HX_OK) rc = host->reduce->gather(host->reduce, &n, sizeof n, count);
    for (int r = 0; rc == HX_OK && r < host->reduce->size; r++)
        /* NOLINTNEXTLINE(clang-analyzer-core*): count is there if rc is HX_OK */
        most = count[r] > most ? count[r] : most;
    if (rc == HX_OK) rc = gather_lists(host, count, most, bytes, own, every, n_every);
    free(count);
    return rc;
}
