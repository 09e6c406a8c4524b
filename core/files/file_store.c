#include "file_store.h"

#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/sort.h"
#include "../comm/comm_alltoall.h"

static const char what[] = "pieces of a mesh file";

enum { WORDS = HX_STORE_BLOCK / 64, MOST_REQUESTED = 1 << 18 };

void hx_file_store_begin(hx_file_store *s, const hx_comm *comm, size_t bytes)
{
    memset(s, 0, sizeof *s);
    s->comm = comm;
    s->bytes = bytes;
}

void hx_file_store_free(hx_file_store *s)
{
    for (size_t b = 0; b < s->n_block; b++) {
        free(s->block[b]);
        free(s->sets[b]);
    }
    free(s->block);
    free(s->sets);
    free(s->first);
    free(s->kept);
    memset(s, 0, sizeof *s);
}

/* --- local records --- */

int hx_file_store_append(hx_file_store *s, int64_t n, const void *record)
{
    const char *from = (const char *)record;
    while (n > 0) {
        const int64_t at = s->n_own % HX_STORE_BLOCK, room = HX_STORE_BLOCK - at;
        const int64_t now = n < room ? n : room;
        if (at == 0) {
            size_t capacity = s->capacity;
            HX_TRY(hx_grow(&s->block, s->n_block, &capacity, sizeof *s->block, what));
            capacity = s->capacity;
            HX_TRY(hx_grow(&s->sets, s->n_block, &capacity, sizeof *s->sets, what));
            s->capacity = capacity;
            HX_TRY(hx_alloc_raw(&s->block[s->n_block], HX_STORE_BLOCK, s->bytes, what));
            s->sets[s->n_block++] = NULL;
        }
        memcpy(s->block[s->n_block - 1] + (size_t)at * s->bytes, from, (size_t)now * s->bytes);
        from += (size_t)now * s->bytes;
        s->n_own += now;
        n -= now;
    }
    return HX_OK;
}

int hx_file_store_mark(hx_file_store *s, int64_t first, int64_t n, int bit)
{
    const int64_t block = first / HX_STORE_BLOCK / s->comm->size, at = first % HX_STORE_BLOCK;
    if (!s->sets[block]) HX_TRY(hx_alloc(&s->sets[block], HX_STORE_BLOCK, sizeof **s->sets, what));
    for (int64_t i = at; i < at + n; i++) s->sets[block][i] |= (uint64_t)1 << bit;
    return HX_OK;
}

/* Global number of a local block. */
static int64_t block_in_all(const hx_file_store *s, size_t block)
{
    return (int64_t)block * s->comm->size + s->comm->rank;
}

int hx_file_store_keep(hx_file_store *s, const uint64_t *used)
{
    const int64_t n = (s->n + HX_STORE_BLOCK - 1) / HX_STORE_BLOCK, n_word = (s->n + 63) / 64;
    HX_TRY(hx_alloc(&s->first, (size_t)n + 1, sizeof *s->first, what));
    HX_TRY(hx_alloc(&s->kept, s->n_block * WORDS, sizeof *s->kept, what));
    s->n_first = n;
    for (int64_t b = 0; b < n; b++) {
        s->first[b + 1] = s->first[b];
        for (int64_t w = b * WORDS; w < (b + 1) * WORDS && w < n_word; w++)
            s->first[b + 1] += __builtin_popcountll(used[w]);
    }
    s->n_own = 0;
    for (size_t b = 0; b < s->n_block; b++) {
        const int64_t in_all = block_in_all(s, b), begin = in_all * WORDS;
        const int64_t left = n_word - begin;
        memcpy(s->kept + b * WORDS, used + begin,
               (size_t)(left < WORDS ? left : WORDS) * sizeof *used);
        /* move the used records to the front of their block */
        const uint64_t *const kept = s->kept + b * WORDS;
        size_t to = 0;
        for (size_t i = 0; i < HX_STORE_BLOCK; i++) {
            if (!(kept[i / 64] >> i % 64 & 1)) continue;
            if (to != i) memcpy(s->block[b] + to * s->bytes, s->block[b] + i * s->bytes, s->bytes);
            if (s->sets[b]) s->sets[b][to] = s->sets[b][i];
            to++;
        }
        s->n_own += s->first[in_all + 1] - s->first[in_all];
    }
    s->n = s->first[n];
    return HX_OK;
}

/* Finds the global block of the record, and its position there. */
static int64_t find_block(const hx_file_store *s, int64_t number, int64_t *at)
{
    /* all preceding blocks may be full */
    const int64_t least = number / HX_STORE_BLOCK;
    *at = number % HX_STORE_BLOCK;
    if (!s->first) return least;
    const int64_t n_later =
        hx_count_below_i64(s->first + least + 1, s->n_first - least - 1, number + 1);
    *at = number - s->first[least + n_later];
    return least + n_later;
}

void *hx_file_store_own(const hx_file_store *s, int64_t k, int64_t *number)
{
    const size_t block = (size_t)(k / HX_STORE_BLOCK), at = (size_t)(k % HX_STORE_BLOCK);
    *number = block_in_all(s, block) * HX_STORE_BLOCK + (int64_t)at;
    return s->block[block] + at * s->bytes;
}

/* --- exchange between ranks --- */

/* first[home] := number of items, among n, that lower ranks hold; first[size]: all. */
static void count_homes(int size, int64_t n, const int32_t *home, int64_t *first)
{
    for (int64_t i = 0; i < n; i++) first[home[i] + 1]++;
    for (int r = 0; r < size; r++) first[r + 1] += first[r];
}

/* at[n] := the items, ordered by the ranks that hold them. */
static int sort_homes(int size, int64_t n, const int32_t *home, const int64_t *first, int32_t *at)
{
    int64_t *next;
    HX_TRY(hx_alloc_raw(&next, (size_t)size, sizeof *next, what));
    memcpy(next, first, (size_t)size * sizeof *next);
    for (int64_t i = 0; i < n; i++) at[next[home[i]]++] = (int32_t)i;
    free(next);
    return HX_OK;
}

int hx_file_ship(const hx_comm *comm, size_t bytes, int64_t n, const void *item,
                 const int32_t *home, int64_t *n_in, void **in)
{
    const size_t size = (size_t)comm->size;
    int64_t *out_first = NULL, *in_first = NULL;
    int32_t *at = NULL;
    int rc;
    *in = NULL;
    HX_TRY_FAIL(hx_alloc(&out_first, size + 1, sizeof *out_first, what));
    HX_TRY_FAIL(hx_alloc(&in_first, size + 1, sizeof *in_first, what));
    HX_TRY_FAIL(hx_alloc_raw(&at, (size_t)n, sizeof *at, what));
    count_homes(comm->size, n, home, out_first);
    HX_TRY_FAIL(sort_homes(comm->size, n, home, out_first, at));
    HX_TRY_FAIL(hx_comm_alltoall_counts(comm, out_first, in_first));
    *n_in = in_first[size];
    HX_TRY_FAIL(hx_alloc_raw(in, (size_t)*n_in, bytes, what));
    rc = hx_comm_alltoall_listed(comm, out_first, in_first, bytes, item, at, *in, NULL);
fail:
    free(out_first);
    free(in_first);
    free(at);
    return rc;
}

/* --- queries --- */

/* The distinct numbers requested by this rank, ordered by the rank that holds them, and the
 * requests that this rank receives. */
typedef struct query {
    int64_t n, n_requested, n_in;
    int64_t *requested;            /* [n_requested] by rank (owned, as all below) */
    int32_t *place;                /* [n] index in requested */
    int64_t *out_first, *in_first; /* [size + 1] */
    int64_t *in;                   /* [n_in] numbers requested from this rank */
} query;

static void free_store_query(query *q)
{
    free(q->requested);
    free(q->place);
    free(q->out_first);
    free(q->in_first);
    free(q->in);
    memset(q, 0, sizeof *q);
}

/* unique[*n_unique] := the distinct numbers, ascending; place[n]: index of each. */
static int make_unique(int64_t n, const int64_t *number, int64_t *unique, int32_t *place,
                       int64_t *n_unique)
{
    uint64_t *key = NULL, largest = 1;
    int32_t *order = NULL;
    int bits = 1, rc;
    *n_unique = 0;
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)n, sizeof *key, what));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)n, sizeof *order, what));
    for (int64_t i = 0; i < n; i++) {
        key[i] = (uint64_t)number[i];
        largest |= key[i];
    }
    while (largest >> bits) bits++;
    HX_TRY_FAIL(hx_radix_sort(key, order, n, bits));
    for (int64_t i = 0; i < n; i++) {
        const int64_t now = number[order[i]];
        if (i == 0 || now != unique[*n_unique - 1]) unique[(*n_unique)++] = now;
        place[order[i]] = (int32_t)(*n_unique - 1);
    }
fail:
    free(key);
    free(order);
    return rc;
}

static int home_now(const hx_file_store *s, int64_t number)
{
    int64_t at;
    return (int)(find_block(s, number, &at) % s->comm->size);
}

/* Sorts unique[n_requested] into q->requested by rank; place follows. */
static int sort_requests(const hx_file_store *s, query *q, const int64_t *unique)
{
    int32_t *home = NULL, *at = NULL, *where = NULL;
    const size_t n = (size_t)q->n_requested;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&home, n, sizeof *home, what));
    HX_TRY_FAIL(hx_alloc_raw(&at, n, sizeof *at, what));
    HX_TRY_FAIL(hx_alloc_raw(&where, n, sizeof *where, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < q->n_requested; i++) home[i] = home_now(s, unique[i]);
    count_homes(s->comm->size, q->n_requested, home, q->out_first);
    HX_TRY_FAIL(sort_homes(s->comm->size, q->n_requested, home, q->out_first, at));
    for (int64_t i = 0; i < q->n_requested; i++) {
        q->requested[i] = unique[at[i]];
        where[at[i]] = (int32_t)i;
    }
    for (int64_t i = 0; i < q->n; i++) q->place[i] = where[q->place[i]];
fail:
    free(home);
    free(at);
    free(where);
    return rc;
}

/* Exchanges the requests: fills q->in. */
static int put_query(const hx_file_store *s, query *q, int64_t n, const int64_t *number)
{
    const size_t size = (size_t)s->comm->size;
    int64_t *unique = NULL;
    int rc;
    memset(q, 0, sizeof *q);
    q->n = n;
    HX_TRY_FAIL(hx_alloc(&q->out_first, size + 1, sizeof *q->out_first, what));
    HX_TRY_FAIL(hx_alloc(&q->in_first, size + 1, sizeof *q->in_first, what));
    HX_TRY_FAIL(hx_alloc_raw(&unique, (size_t)n, sizeof *unique, what));
    HX_TRY_FAIL(hx_alloc_raw(&q->requested, (size_t)n, sizeof *q->requested, what));
    HX_TRY_FAIL(hx_alloc_raw(&q->place, (size_t)n, sizeof *q->place, what));
    HX_TRY_FAIL(make_unique(n, number, unique, q->place, &q->n_requested));
    HX_TRY_FAIL(sort_requests(s, q, unique));
    HX_TRY_FAIL(hx_comm_alltoall_counts(s->comm, q->out_first, q->in_first));
    q->n_in = q->in_first[size];
    HX_TRY_FAIL(hx_alloc_raw(&q->in, (size_t)q->n_in, sizeof *q->in, what));
    rc = hx_comm_alltoallv(s->comm, q->out_first, q->in_first, sizeof *q->in, q->requested, q->in);
fail:
    free(unique);
    return rc;
}

/* to[n] := from[n_in], of `bytes` each, in the order requested. */
static int answer(const hx_file_store *s, const query *q, size_t bytes, const char *from, char *to)
{
    char *got;
    HX_TRY(hx_alloc_raw(&got, (size_t)q->n_requested, bytes, what));
    const int rc = hx_comm_alltoallv(s->comm, q->in_first, q->out_first, bytes, from, got);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (rc < 0 ? 0 : q->n); i++)
        memcpy(to + (size_t)i * bytes, got + (size_t)q->place[i] * bytes, bytes);
    free(got);
    return rc;
}

static int answer_records(const hx_file_store *s, const query *q, char *record)
{
    char *out;
    HX_TRY(hx_alloc_raw(&out, (size_t)q->n_in, s->bytes, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < q->n_in; i++) {
        int64_t at;
        const int64_t block = find_block(s, q->in[i], &at) / s->comm->size;
        memcpy(out + (size_t)i * s->bytes, s->block[block] + (size_t)at * s->bytes, s->bytes);
    }
    const int rc = answer(s, q, s->bytes, out, record);
    free(out);
    return rc;
}

static int answer_sets(const hx_file_store *s, const query *q, uint64_t *sets)
{
    uint64_t *out;
    HX_TRY(hx_alloc_raw(&out, (size_t)q->n_in, sizeof *out, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < q->n_in; i++) {
        int64_t at;
        const int64_t block = find_block(s, q->in[i], &at) / s->comm->size;
        out[i] = s->sets[block] ? s->sets[block][at] : 0;
    }
    const int rc = answer(s, q, sizeof *out, (const char *)out, (char *)sets);
    free(out);
    return rc;
}

/* Position of the set bit with index `rank`. */
static int64_t find_bit(const uint64_t *word, int64_t rank)
{
    int64_t w = 0;
    for (; rank >= __builtin_popcountll(word[w]); w++) rank -= __builtin_popcountll(word[w]);
    uint64_t bits = word[w];
    for (; rank > 0; rank--) bits &= bits - 1;
    return 64 * w + __builtin_ctzll(bits);
}

static int answer_old(const hx_file_store *s, const query *q, int64_t *old)
{
    int64_t *out;
    HX_TRY(hx_alloc_raw(&out, (size_t)q->n_in, sizeof *out, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < q->n_in; i++) {
        int64_t at;
        const int64_t block = find_block(s, q->in[i], &at);
        if (s->kept) at = find_bit(s->kept + block / s->comm->size * WORDS, at);
        out[i] = block * HX_STORE_BLOCK + at;
    }
    const int rc = answer(s, q, sizeof *out, (const char *)out, (char *)old);
    free(out);
    return rc;
}

/* Number of rounds of requests, equal on all ranks. */
static int count_rounds(const hx_comm *comm, int64_t n, int64_t *n_round)
{
    int64_t own = (n + MOST_REQUESTED - 1) / MOST_REQUESTED, *all;
    HX_TRY(hx_alloc_raw(&all, (size_t)comm->size, sizeof *all, what));
    const int rc = comm->ops->all_gather(comm, &own, sizeof own, all);
    *n_round = 0;
    for (int r = 0; r < comm->size && rc == HX_OK; r++)
        if (all[r] > *n_round) *n_round = all[r];
    free(all);
    return rc;
}

/* Requests the records number[n] from their ranks. Each of the last three arguments may be NULL. */
static int query_records(const hx_file_store *s, int64_t n, const int64_t *number, char *record,
                         uint64_t *sets, int64_t *old)
{
    query q = {0};
    int64_t n_round;
    int rc;
    HX_TRY_FAIL(count_rounds(s->comm, n, &n_round));
    for (int64_t i = 0; i < n_round; i++) {
        int64_t begin = i * MOST_REQUESTED, end = begin + MOST_REQUESTED;
        if (begin > n) begin = n;
        if (end > n) end = n;
        HX_TRY_FAIL(put_query(s, &q, end - begin, number + begin));
        if (record) HX_TRY_FAIL(answer_records(s, &q, record + (size_t)begin * s->bytes));
        if (sets) HX_TRY_FAIL(answer_sets(s, &q, sets + begin));
        if (old) HX_TRY_FAIL(answer_old(s, &q, old + begin));
        free_store_query(&q);
    }
fail:
    free_store_query(&q);
    return rc;
}

int hx_file_store_query(const hx_file_store *s, int64_t n, const int64_t *number, void *record,
                        uint64_t *sets)
{
    return query_records(s, n, number, (char *)record, sets, NULL);
}

int hx_file_store_query_old(const hx_file_store *s, int64_t n, const int64_t *number, int64_t *old)
{
    return query_records(s, n, number, NULL, NULL, old);
}
