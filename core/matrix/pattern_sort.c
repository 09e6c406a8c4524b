/* The pattern by sorting (P4): a key for every pair of every cell, sorted; equal keys form one
 * entry. Needs no lists of the cells of a point. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "pattern_internal.h"

static int bits_of_count(int64_t n)
{
    int bits = 1;
    while (n >> bits) bits++;
    return bits;
}

/* Encodes row and column of each pair as a key; pairs without an entry sort last. */
static void make_keys(const hx_incidence *in, const hx_pattern_spec *spec, int bits, uint64_t *key)
{
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < in->n_cell; cell++) {
        const int32_t *const point = in->point + hx_incidence_first(in, cell);
        const int n = hx_incidence_count(in, cell);
        uint64_t *k = key + hx_incidence_pair(in, cell);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                const int64_t row = point[a] - spec->row_first;
                const int out = row < 0 || row >= spec->n_row ||
                                (spec->part == HX_PART_LOWER && point[b] > point[a]);
                *k++ = out ? (uint64_t)spec->n_row << bits
                           : (uint64_t)row << bits | (uint64_t)point[b];
            }
    }
}

/* Sorts a copy of the keys, because the sort destroys its input. */
static int sort_keys(const hx_incidence *in, const hx_pattern_spec *spec, int64_t n,
                     uint64_t **sorted, int32_t **order, hx_stepper *stepper)
{
    const int bits = bits_of_count(in->n_point);
    uint64_t *key = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)n, sizeof *key, "keys of pairs"));
    HX_TRY_FAIL(hx_alloc_raw(sorted, (size_t)n, sizeof **sorted, "keys of pairs"));
    HX_TRY_FAIL(hx_alloc_raw(order, (size_t)n, sizeof **order, "order of pairs"));
    make_keys(in, spec, bits, key);
    memcpy(*sorted, key, (size_t)n * sizeof *key);
    hx_stepper_end(stepper, "keys");
    HX_TRY_FAIL(hx_radix_sort(*sorted, *order, n, bits + bits_of_count(spec->n_row)));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) (*sorted)[i] = key[(*order)[i]];
    hx_stepper_end(stepper, "sort");
    rc = HX_OK;
fail:
    free(key);
    return rc;
}

static void place_entries(hx_pattern *p, int bits, const uint64_t *sorted, const int32_t *order)
{
    int64_t entry = -1;
    for (int64_t i = 0; i < p->n_pair; i++) {
        const int64_t row = (int64_t)(sorted[i] >> bits);
        if (row == p->n_row) {
            hx_pattern_set_slot(p, order[i], -1);
            continue;
        }
        if (i == 0 || sorted[i] != sorted[i - 1])
            p->col[++entry] = (int32_t)(sorted[i] & (((uint64_t)1 << bits) - 1));
        hx_pattern_set_slot(p, order[i], entry - p->row_ptr[row]);
    }
}

int hx_pattern_build_sort(hx_pattern *p, const hx_incidence *in, const hx_pattern_spec *spec,
                          hx_stepper *stepper)
{
    const int bits = bits_of_count(in->n_point);
    uint64_t *sorted = NULL;
    int32_t *order = NULL, *count = NULL;
    int rc;
    if (p->n_pair > INT32_MAX)
        return HX_RAISE(
            HX_EENV, "build 'sort' counts pairs in 31 bits, but there are %lld; use 'three-stage'",
            (long long)p->n_pair);
    HX_TRY_FAIL(sort_keys(in, spec, p->n_pair, &sorted, &order, stepper));
    HX_TRY_FAIL(hx_alloc(&count, (size_t)spec->n_row, sizeof *count, "entries of rows"));
    for (int64_t i = 0; i < p->n_pair; i++) {
        const uint64_t row = sorted[i] >> bits;
        if (row == (uint64_t)spec->n_row) break;
        count[row] += i == 0 || sorted[i] != sorted[i - 1];
    }
    HX_TRY_FAIL(hx_pattern_offsets(p, count));
    hx_stepper_end(stepper, "offsets");
    place_entries(p, bits, sorted, order);
    hx_stepper_end(stepper, "slots");
    rc = HX_OK;
fail:
    free(sorted);
    free(order);
    free(count);
    return rc;
}
