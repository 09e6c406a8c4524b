#include "radix_sort.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS, MOST_PARTS = 64, LEAST_PART = 4096 };

typedef struct sorter {
    int64_t n;
    int n_part;
    int64_t *start; /* [n_part][RADIX] entries of a digit in a part, then where the next one goes */
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

/* Counts to starts: by digit, within a digit by part, so that equal digits keep their order. 0 if
 * all keys have the same digit. Part by part, in the order in which the counts lie in memory. */
static int place_digits(const sorter *s)
{
    int64_t next[RADIX] = {0}, before = 0; /* entries of a digit, then where the next one goes */
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

int hx_radix_sort(uint64_t *key, int32_t *order, int64_t n, int n_bits)
{
    int rc = HX_OK;
    uint64_t *key_to = NULL, *key_from = key;
    int32_t *order_to = NULL, *order_from = order;
    sorter s = {n, MOST_PARTS, NULL};
    if (n < (int64_t)MOST_PARTS * LEAST_PART) s.n_part = (int)(n / LEAST_PART) + 1;
    HX_TRY_FAIL(hx_alloc_raw(&key_to, (size_t)n, sizeof *key_to, "sort keys"));
    HX_TRY_FAIL(hx_alloc_raw(&order_to, (size_t)n, sizeof *order_to, "sorted order"));
    HX_TRY_FAIL(
        hx_alloc_raw(&s.start, (size_t)s.n_part * RADIX, sizeof *s.start, "counts of digits"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    for (int shift = 0; shift < n_bits; shift += RADIX_BITS) {
        count_digits(&s, key_from, shift);
        if (!place_digits(&s)) continue;
        scatter(&s, shift, key_from, order_from, key_to, order_to);
        uint64_t *const k = key_from;
        int32_t *const o = order_from;
        key_from = key_to;
        order_from = order_to;
        key_to = k;
        order_to = o;
    }
    if (order_from != order) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) order[i] = order_from[i];
    }
fail:
    free(key_from != key ? key_from : key_to);
    free(order_from != order ? order_from : order_to);
    free(s.start);
    return rc;
}
