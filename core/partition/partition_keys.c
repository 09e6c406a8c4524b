/* Cuts through items that are sorted by keys and distributed over several ranks. */
#include <stdlib.h>

#include "../base/memory.h"
#include "partition_items.h"

static const char what[] = "cuts through an order";

/* The items of a rank up to a key. */
typedef struct prefix {
    int64_t weight; /* their total weight */
    int64_t last;   /* largest key; -1: no item */
    int64_t last_weight;
} prefix;

static int64_t count_up_to(const hx_partition_run *run, int64_t key)
{
    int64_t low = 0, high = run->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((int64_t)run->key[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static prefix prefix_of(const hx_partition_run *run, int64_t key)
{
    const int64_t n = count_up_to(run, key);
    if (n == 0) return (prefix){0, -1, 0};
    if (!run->before) return (prefix){8 * n, (int64_t)run->key[n - 1], 8};
    return (prefix){run->before[n], (int64_t)run->key[n - 1], run->before[n] - run->before[n - 1]};
}

/* Returns twice the weight of the items of all ranks up to a key, minus the weight of the last
 * item. */
static int64_t twice_middle(int size, int n_cut, const prefix *every, int i)
{
    prefix sum = {0, -1, 0};
    for (int r = 0; r < size; r++) {
        const prefix *const p = &every[r * n_cut + i];
        sum.weight += p->weight;
        if (p->last <= sum.last) continue;
        sum.last = p->last;
        sum.last_weight = p->last_weight;
    }
    return 2 * sum.weight - sum.last_weight;
}

/* Halves the interval [low, high] of each search. */
static int halve(const hx_reduce *reduce, int n_cut, const hx_partition_run *run,
                 const int64_t *limit, int64_t *low, int64_t *high, prefix *own, prefix *every)
{
    for (int i = 0; i < n_cut; i++) {
        const uint64_t width = (uint64_t)high[i] - (uint64_t)low[i];
        own[i] = prefix_of(&run[i], low[i] + (int64_t)((width + 1) / 2));
    }
    if (reduce) HX_TRY(reduce->gather(reduce, own, (size_t)n_cut * sizeof *own, every));
    for (int i = 0; i < n_cut; i++) {
        const uint64_t width = (uint64_t)high[i] - (uint64_t)low[i];
        const int64_t middle = low[i] + (int64_t)((width + 1) / 2);
        if (width == 0) continue;
        if (twice_middle(reduce ? reduce->size : 1, n_cut, reduce ? every : own, i) <= limit[i])
            low[i] = middle;
        else
            high[i] = middle - 1;
    }
    return HX_OK;
}

int hx_partition_cut_keys(const hx_reduce *reduce, int n_cut, const hx_partition_run *run,
                          const int64_t *limit, int64_t *cut)
{
    enum { STEPS = 65 }; /* enough for keys below 2^63 and for -1 */
    const size_t n = (size_t)n_cut;
    prefix *own = NULL, *every = NULL;
    int64_t *high = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&own, n, sizeof *own, what));
    HX_TRY_FAIL(hx_alloc_raw(&every, n * (size_t)(reduce ? reduce->size : 1), sizeof *every, what));
    HX_TRY_FAIL(hx_alloc_raw(&high, n, sizeof *high, what));
    for (int i = 0; i < n_cut; i++) {
        cut[i] = -1;
        high[i] = INT64_MAX;
    }
    for (int step = 0; step < STEPS; step++)
        HX_TRY_FAIL(halve(reduce, n_cut, run, limit, cut, high, own, every));
fail:
    free(own);
    free(every);
    free(high);
    return rc;
}

/* Makes key[n] and before[n + 1] (NULL if all weights are 8) for the sorted items. */
static int make_run(const hx_partition_items *items, const int32_t *sorted, hx_partition_run *run)
{
    const int64_t n = items->n;
    uint64_t *key;
    int64_t *before = NULL;
    *run = (hx_partition_run){.n = n};
    HX_TRY(hx_alloc_raw(&key, (size_t)n, sizeof *key, what));
    run->key = key;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) key[i] = hx_partition_item_key(items, sorted[i]);
    if (!items->weight) return HX_OK;
    HX_TRY(hx_alloc(&before, (size_t)n + 1, sizeof *before, what));
    run->before = before;
    for (int64_t i = 0; i < n; i++)
        before[i + 1] = before[i] + hx_partition_item_weight(items, sorted[i]);
    return HX_OK;
}

static int rank_of_key(int64_t key, int n_rank, const int64_t *cut)
{
    int rank = 0;
    while (rank < n_rank - 1 && key > cut[rank]) rank++;
    return rank;
}

int hx_partition_curve(const hx_partition_items *items, const int32_t *sorted, int n_rank,
                       int32_t *rank)
{
    hx_partition_run run = {0}, *of = NULL;
    int64_t *limit = NULL, *cut = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&of, (size_t)n_rank, sizeof *of, what));
    HX_TRY_FAIL(hx_alloc_raw(&limit, (size_t)n_rank, sizeof *limit, what));
    HX_TRY_FAIL(hx_alloc_raw(&cut, (size_t)n_rank, sizeof *cut, what));
    HX_TRY_FAIL(make_run(items, sorted, &run));
    int64_t all = run.before ? run.before[run.n] : 8 * run.n;
    HX_TRY_FAIL(hx_reduce_sum_i64(items->reduce, 1, &all));
    for (int r = 1; r < n_rank; r++) {
        of[r - 1] = run;
        limit[r - 1] = (2 * all * r - 1) / n_rank;
    }
    HX_TRY_FAIL(hx_partition_cut_keys(items->reduce, n_rank - 1, of, limit, cut));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < items->n; i++)
        rank[sorted[i]] = rank_of_key((int64_t)run.key[i], n_rank, cut);
fail:
    free((void *)run.key);
    free((void *)run.before);
    free(of);
    free(limit);
    free(cut);
    return rc;
}
