#include "radix_sort.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS, MOST_PARTS = 64, LEAST_PART = 4096, FEW = 24 };

typedef struct sorter {
    int64_t n;
    int n_part;
    /* [n_part][RADIX] count of a digit in a part, then the position of the next one */
    int64_t *start;
    int64_t run[MOST_PARTS + 1]; /* start of the first run of equal high bits in each part */
} sorter;

static int64_t part_begin(const sorter *s, int part)
{
    return s->n * part / s->n_part;
}

static int digit(uint64_t key, int shift)
{
    return (int)(key >> shift & (RADIX - 1));
}

static void count_digits(const sorter *s, const uint64_t *key, int shift)
{
#pragma omp parallel for schedule(static)
    for (int part = 0; part < s->n_part; part++) {
        int64_t *const count = s->start + (size_t)part * RADIX;
        memset(count, 0, RADIX * sizeof *count);
        for (int64_t i = part_begin(s, part); i < part_begin(s, part + 1); i++)
            count[digit(key[i], shift)]++;
    }
}

/* Turns counts into start positions: by digit, and within a digit by part, which keeps the order of
 * equal digits. Returns 0 if all keys have the same digit. The loops run part by part, since counts
 * are stored that way. */
static int place_digits(const sorter *s)
{
    int64_t next[RADIX] = {0}, before = 0; /* count of a digit, then the position of the next one */
    for (int part = 0; part < s->n_part; part++)
        for (int d = 0; d < RADIX; d++) next[d] += s->start[(size_t)part * RADIX + (size_t)d];
    for (int d = 0; d < RADIX; d++) {
        const int64_t count = next[d];
        if (count == s->n) return 0;
        next[d] = before;
        before += count;
    }
    for (int part = 0; part < s->n_part; part++)
        for (int d = 0; d < RADIX; d++) {
            int64_t *const start = &s->start[(size_t)part * RADIX + (size_t)d];
            const int64_t count = *start;
            *start = next[d];
            next[d] += count;
        }
    return 1;
}

static void scatter(const sorter *s, int shift, const uint64_t *key, const int32_t *order,
                    uint64_t *key_to, int32_t *order_to)
{
#pragma omp parallel for schedule(static)
    for (int part = 0; part < s->n_part; part++) {
        int64_t *const start = s->start + (size_t)part * RADIX;
        for (int64_t i = part_begin(s, part); i < part_begin(s, part + 1); i++) {
            const int64_t place = start[digit(key[i], shift)]++;
            key_to[place] = key[i];
            order_to[place] = order[i];
        }
    }
}

/* Keys and their indices, with buffers of equal size. */
typedef struct pairs {
    uint64_t *key, *key_to;
    int32_t *order, *order_to;
} pairs;

/* Sorts by the bits above `shift`, the lowest digit first. */
static void sort_digits(const sorter *s, int shift, int n_bits, pairs *p)
{
    for (; shift < n_bits; shift += RADIX_BITS) {
        count_digits(s, p->key, shift);
        if (!place_digits(s)) continue;
        scatter(s, shift, p->key, p->order, p->key_to, p->order_to);
        uint64_t *const key = p->key;
        int32_t *const order = p->order;
        p->key = p->key_to;
        p->order = p->order_to;
        p->key_to = key;
        p->order_to = order;
    }
}

/* Returns the number of low bits to leave to sort_runs(): the digits above them distinguish most
 * keys if keys are evenly distributed. 0: that would save no digit. */
static int low_bits(int64_t n, int n_bits)
{
    int top = 3; /* about eight times as many values as keys */
    while (n >> (top - 3) > 1) top++;
    top = (top + RADIX_BITS - 1) / RADIX_BITS * RADIX_BITS;
    return n_bits - top >= RADIX_BITS ? n_bits - top : 0;
}

/* Returns the end of the run of equal high bits that begins at i. */
static int64_t run_end(const uint64_t *key, int64_t i, int64_t n, int shift)
{
    const uint64_t high = key[i] >> shift;
    while (++i < n && key[i] >> shift == high) continue;
    return i;
}

/* Returns the start of the first run that begins in a part. */
static int64_t first_run(const sorter *s, const uint64_t *key, int part, int shift)
{
    const int64_t i = part_begin(s, part);
    return i == 0 || i == s->n || key[i - 1] >> shift != key[i] >> shift
               ? i
               : run_end(key, i, s->n, shift);
}

/* Returns 1 if all runs are short enough to be divided evenly among the threads. */
static int are_short(const sorter *s, const uint64_t *key, int shift)
{
    const int64_t most = s->n / MOST_PARTS + LEAST_PART;
    int64_t longest = 0;
#pragma omp parallel for schedule(static) reduction(max : longest)
    for (int part = 0; part < s->n_part; part++)
        for (int64_t i = first_run(s, key, part, shift), end; i < part_begin(s, part + 1);
             i = end) {
            end = run_end(key, i, s->n, shift);
            longest = end - i > longest ? end - i : longest;
        }
    return longest <= most;
}

static void insert_run(const pairs *p, int64_t begin, int64_t end)
{
    for (int64_t i = begin + 1; i < end; i++) {
        const uint64_t key = p->key[i];
        const int32_t order = p->order[i];
        int64_t k = i;
        for (; k > begin && p->key[k - 1] > key; k--) {
            p->key[k] = p->key[k - 1];
            p->order[k] = p->order[k - 1];
        }
        p->key[k] = key;
        p->order[k] = order;
    }
}

/* Stable merge sort of a run; overwrites the buffers key_to and order_to. */
static void merge_run(const pairs *p, int64_t begin, int64_t end)
{
    const int64_t middle = begin + (end - begin) / 2, n = middle - begin;
    int64_t a = 0, b = middle, to = begin;
    if (end - begin <= FEW) {
        insert_run(p, begin, end);
        return;
    }
    merge_run(p, begin, middle);
    merge_run(p, middle, end);
    uint64_t *const key = p->key_to + begin;
    int32_t *const order = p->order_to + begin;
    memcpy(key, p->key + begin, (size_t)n * sizeof *key);
    memcpy(order, p->order + begin, (size_t)n * sizeof *order);
    while (a < n) {
        const int is_second = b < end && p->key[b] < key[a];
        p->order[to] = is_second ? p->order[b] : order[a];
        p->key[to++] = is_second ? p->key[b] : key[a];
        if (is_second)
            b++;
        else
            a++;
    }
}

int hx_radix_sort(uint64_t *key, int32_t *order, int64_t n, int n_bits)
{
    int rc = HX_OK;
    pairs p = {.key = key, .order = order};
    sorter s = {.n = n, .n_part = MOST_PARTS};
    const int low = low_bits(n, n_bits);
    if (n < (int64_t)MOST_PARTS * LEAST_PART) s.n_part = (int)(n / LEAST_PART) + 1;
    HX_TRY_FAIL(hx_alloc_raw(&p.key_to, (size_t)n, sizeof *p.key_to, "sort keys"));
    HX_TRY_FAIL(hx_alloc_raw(&p.order_to, (size_t)n, sizeof *p.order_to, "sorted order"));
    HX_TRY_FAIL(
        hx_alloc_raw(&s.start, (size_t)s.n_part * RADIX, sizeof *s.start, "counts of digits"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    sort_digits(&s, low, n_bits, &p);
    if (low > 0 && are_short(&s, p.key, low)) {
        for (int part = 0; part <= s.n_part; part++)
            s.run[part] = part < s.n_part ? first_run(&s, p.key, part, low) : n;
#pragma omp parallel for schedule(dynamic)
        for (int part = 0; part < s.n_part; part++)
            for (int64_t i = s.run[part], end; i < part_begin(&s, part + 1); i = end) {
                end = run_end(p.key, i, s.run[part + 1], low);
                merge_run(&p, i, end);
            }
    } else if (low > 0) {
        sort_digits(&s, 0, n_bits, &p); /* stable, so equal keys keep their order */
    }
    if (p.order != order) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) order[i] = p.order[i];
    }
fail:
    hx_free_large(p.key != key ? p.key : p.key_to, (size_t)n * sizeof *key);
    hx_free_large(p.order != order ? p.order : p.order_to, (size_t)n * sizeof *order);
    free(s.start);
    return rc;
}
