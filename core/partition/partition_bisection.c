/* Recursive coordinate bisection (Berger and Bokhari 1987): a group of elements is cut across the
 * longest edge of the bounding box of their centroids, in proportion to the ranks on both sides,
 * until each group belongs to one rank. The cut lies between two of 2^20 steps along that edge;
 * elements within the step of the cut are divided in the order of the mesh. All groups of a
 * recursion depth are cut by the same passes over the elements, and the result does not depend on
 * the number of threads. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "partition_ways.h"

static const char what[] = "the bisection of a mesh";

enum { COARSE = 2048, FINE = 512, STEPS = COARSE * FINE };

/* The group of ranks first .. first + n_rank - 1, where `first` is its index in bisection.of, and
 * properties of its elements. */
typedef struct group {
    int n_rank; /* 0: no group begins with this rank; 1: needs no further cut */
    int axis;
    double low[3], high[3]; /* bounding box of the centroids */
    double per;             /* steps per length */
    int64_t weight, target; /* total weight; desired weight before the cut */
    int64_t before;         /* weight of the elements in the steps before that of the cut */
    int32_t step;
    int64_t key;    /* largest key before the cut among the elements in its step */
    int64_t *count; /* weights per coarse step, later per fine step */
} group;

typedef struct bisection {
    const hx_partition_items *items;
    int64_t n;
    int n_rank;
    int32_t *rank;  /* [n] first rank of an element's group */
    int32_t *step;  /* [n] step of its centroid along the axis */
    group *of;      /* [n_rank] */
    int n_group;    /* groups still to be cut */
    int64_t *count; /* [n_rank / 2][COARSE] */
} bisection;

static void find_centroid(const bisection *b, int64_t e, double x[3])
{
    if (b->items->mesh)
        hx_mesh_centroid(b->items->mesh, e, x);
    else
        memcpy(x, b->items->centroid[e], 3 * sizeof *x);
}

/* Adds consecutive elements of one group, given as bounding box and weight, to the group. */
static void take_run(group *g, const group *run)
{
    if (g->n_rank < 2) return;
#pragma omp critical(hx_bisection)
    {
        for (int i = 0; i < 3; i++) {
            if (run->low[i] < g->low[i]) g->low[i] = run->low[i];
            if (run->high[i] > g->high[i]) g->high[i] = run->high[i];
        }
        g->weight += run->weight;
    }
}

static void extend_run(const bisection *b, int64_t e, group *run)
{
    double x[3];
    find_centroid(b, e, x);
    for (int i = 0; i < 3; i++) {
        if (x[i] < run->low[i]) run->low[i] = x[i];
        if (x[i] > run->high[i]) run->high[i] = x[i];
    }
    run->weight += hx_partition_item_weight(b->items, e);
}

static void bound_groups(bisection *b)
{
    static const group none = {.low = {DBL_MAX, DBL_MAX, DBL_MAX},
                               .high = {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(b->n, part + 1);
        group run = none;
        for (int64_t e = hx_part_begin(b->n, part); e < end; e++) {
            group *const g = &b->of[b->rank[e]];
            if (g->n_rank > 1) extend_run(b, e, &run);
            if (e + 1 < end && b->rank[e + 1] == b->rank[e]) continue;
            take_run(g, &run);
            run = none;
        }
    }
}

/* Combines bounding boxes and weights over all ranks. */
static int join_groups(bisection *b)
{
    const size_t n = (size_t)b->n_group;
    double *box = NULL;
    int64_t *weight = NULL;
    int rc = HX_OK, k = 0;
    if (!b->items->reduce) return HX_OK;
    HX_TRY_FAIL(hx_alloc_raw(&box, 6 * n, sizeof *box, what));
    HX_TRY_FAIL(hx_alloc_raw(&weight, n, sizeof *weight, what));
    for (int r = 0; r < b->n_rank; r++) {
        const group *const g = &b->of[r];
        if (g->n_rank < 2) continue;
        for (int i = 0; i < 3; i++) {
            box[6 * k + i] = -g->low[i];
            box[6 * k + 3 + i] = g->high[i];
        }
        weight[k++] = g->weight;
    }
    HX_TRY_FAIL(hx_reduce_max(b->items->reduce, 6 * b->n_group, box));
    HX_TRY_FAIL(hx_reduce_sum_i64(b->items->reduce, b->n_group, weight));
    k = 0;
    for (int r = 0; r < b->n_rank; r++) {
        group *const g = &b->of[r];
        if (g->n_rank < 2) continue;
        for (int i = 0; i < 3; i++) {
            g->low[i] = -box[6 * k + i];
            g->high[i] = box[6 * k + 3 + i];
        }
        g->weight = weight[k++];
    }
fail:
    free(box);
    free(weight);
    return rc;
}

/* Cuts across the longest edge; the first half of the ranks lies before the cut. */
static void place_cuts(bisection *b)
{
    for (int r = 0; r < b->n_rank; r++) {
        group *const g = &b->of[r];
        if (g->n_rank < 2) continue;
        g->axis = 0;
        for (int i = 1; i < 3; i++)
            if (g->high[i] - g->low[i] > g->high[g->axis] - g->low[g->axis]) g->axis = i;
        const double length = g->high[g->axis] - g->low[g->axis];
        g->per = length > 0.0 ? (STEPS - 1) / length : 0.0;
        g->target = g->weight / g->n_rank * (g->n_rank / 2) +
                    g->weight % g->n_rank * (g->n_rank / 2) / g->n_rank;
    }
}

static void find_steps(bisection *b)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < b->n; e++) {
        const group *const g = &b->of[b->rank[e]];
        double x[3];
        if (g->n_rank < 2) continue;
        find_centroid(b, e, x);
        b->step[e] = (int32_t)((x[g->axis] - g->low[g->axis]) * g->per);
    }
}

/* Returns the count that an element of a group adds to: that of its coarse step, or, within the
 * coarse step of the cut, that of its fine step. NULL: none. */
static int64_t *count_of(const bisection *b, int64_t e, int is_fine)
{
    const group *const g = &b->of[b->rank[e]];
    if (g->n_rank < 2) return NULL;
    if (!is_fine) return g->count + b->step[e] / FINE;
    return b->step[e] / FINE == g->step / FINE ? g->count + b->step[e] % FINE : NULL;
}

static void count_weights(bisection *b, int is_fine)
{
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(b->n, part + 1);
        int64_t *at = NULL, sum = 0; /* weight of consecutive elements with the same count */
        for (int64_t e = hx_part_begin(b->n, part); e <= end; e++) {
            int64_t *const next = e < end ? count_of(b, e, is_fine) : NULL;
            if (at && next != at) {
#pragma omp atomic
                *at += sum;
            }
            if (next != at) sum = 0;
            at = next;
            if (at) sum += hx_partition_item_weight(b->items, e);
        }
    }
}

/* Finds the coarse or the fine step of the cut, and zeroes the counts. */
static void narrow(bisection *b, int is_fine)
{
    const int n = is_fine ? FINE : COARSE, width = is_fine ? 1 : FINE;
    for (int r = 0; r < b->n_rank; r++) {
        group *const g = &b->of[r];
        int i = 0;
        if (g->n_rank < 2) continue;
        if (!is_fine) g->before = g->step = 0;
        while (i + 1 < n && g->before + g->count[i] <= g->target) g->before += g->count[i++];
        g->step += i * width;
        for (i = 0; i < n; i++) g->count[i] = 0;
    }
}

/* --- elements in the step of a cut, divided in their order --- */

static int is_in_step(const bisection *b, int64_t e)
{
    const group *const g = &b->of[b->rank[e]];
    return g->n_rank > 1 && b->step[e] == g->step;
}

/* (*list)[*n] := these elements, ascending; the caller frees it. */
static int list_steps(const bisection *b, int32_t **list, int64_t *n)
{
    int64_t first[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t count = 0;
        for (int64_t e = hx_part_begin(b->n, part); e < hx_part_begin(b->n, part + 1); e++)
            count += is_in_step(b, e);
        first[part + 1] = count;
    }
    for (int part = 0; part < HX_N_PART; part++) first[part + 1] += first[part];
    *n = first[HX_N_PART];
    HX_TRY(hx_alloc_raw(list, (size_t)*n, sizeof **list, what));
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t next = first[part];
        for (int64_t e = hx_part_begin(b->n, part); e < hx_part_begin(b->n, part + 1); e++)
            if (is_in_step(b, e)) (*list)[next++] = (int32_t)e;
    }
    return HX_OK;
}

/* Items of one group in the order of their keys. */
typedef struct line {
    uint64_t *key, *sorted;
    int64_t *before;
    int32_t *item, *order;
} line;

static void free_line(line *l)
{
    free(l->key);
    free(l->sorted);
    free(l->before);
    free(l->item);
    free(l->order);
}

/* Makes the sorted list of those of the n elements in list[] that belong to the group beginning
 * with `rank`. */
static int make_line(const bisection *b, int rank, const int32_t *list, int64_t n, line *l,
                     hx_partition_run *run)
{
    int64_t m = 0;
    HX_TRY(hx_alloc_raw(&l->item, (size_t)n, sizeof *l->item, what));
    for (int64_t i = 0; i < n; i++)
        if (b->rank[list[i]] == rank) l->item[m++] = list[i];
    HX_TRY(hx_alloc_raw(&l->key, (size_t)m, sizeof *l->key, what));
    HX_TRY(hx_alloc_raw(&l->sorted, (size_t)m, sizeof *l->sorted, what));
    HX_TRY(hx_alloc_raw(&l->order, (size_t)m, sizeof *l->order, what));
    HX_TRY(hx_alloc(&l->before, (size_t)m + 1, sizeof *l->before, what));
    for (int64_t i = 0; i < m; i++) l->key[i] = hx_partition_item_key(b->items, l->item[i]);
    HX_TRY(hx_radix_sort(l->key, l->order, m, 63));
    for (int64_t i = 0; i < m; i++) {
        const int32_t e = l->item[l->order[i]];
        l->sorted[i] = hx_partition_item_key(b->items, e);
        l->before[i + 1] = l->before[i] + hx_partition_item_weight(b->items, e);
    }
    *run = (hx_partition_run){m, l->sorted, l->before};
    return HX_OK;
}

/* Finds the largest key before the cut among the elements in its step: an element is before the cut
 * if its middle is. */
static int find_keys(bisection *b)
{
    const size_t n = (size_t)b->n_group;
    hx_partition_run *run = NULL;
    line *of = NULL;
    int32_t *list = NULL;
    int64_t *limit = NULL, n_list;
    int rc, k = 0;
    HX_TRY_FAIL(hx_alloc(&run, n, sizeof *run, what));
    HX_TRY_FAIL(hx_alloc(&of, n, sizeof *of, what));
    HX_TRY_FAIL(hx_alloc_raw(&limit, 2 * n, sizeof *limit, what));
    HX_TRY_FAIL(list_steps(b, &list, &n_list));
    for (int r = 0; r < b->n_rank; r++) {
        const group *const g = &b->of[r];
        if (g->n_rank < 2) continue;
        limit[k] = 2 * (g->target - g->before);
        HX_TRY_FAIL(make_line(b, r, list, n_list, &of[k], &run[k]));
        k++;
    }
    HX_TRY_FAIL(hx_partition_cut_keys(b->items->reduce, b->n_group, run, limit, limit + n));
    k = 0;
    for (int r = 0; r < b->n_rank; r++)
        if (b->of[r].n_rank > 1) b->of[r].key = limit[n + (size_t)k++];
fail:
    for (size_t i = 0; of && i < n; i++) free_line(&of[i]);
    free(run);
    free(of);
    free(limit);
    free(list);
    return rc;
}

static int is_after(const bisection *b, int64_t e)
{
    const group *const g = &b->of[b->rank[e]];
    if (b->step[e] != g->step) return b->step[e] > g->step;
    return (int64_t)hx_partition_item_key(b->items, e) > g->key;
}

static int largest_group(const bisection *b)
{
    int most = 0;
    for (int r = 0; r < b->n_rank; r++)
        if (b->of[r].n_rank > most) most = b->of[r].n_rank;
    return most;
}

static int bisect(bisection *b)
{
    b->of[0].n_rank = b->n_rank;
    while (largest_group(b) > 1) {
        b->n_group = 0;
        for (int r = 0; r < b->n_rank; r++) {
            group *const g = &b->of[r];
            if (g->n_rank < 2) continue;
            for (int i = 0; i < 3; i++) {
                g->low[i] = DBL_MAX;
                g->high[i] = -DBL_MAX;
            }
            g->weight = 0;
            g->count = b->count + (int64_t)COARSE * b->n_group++;
        }
        bound_groups(b);
        HX_TRY(join_groups(b));
        place_cuts(b);
        find_steps(b);
        for (int is_fine = 0; is_fine < 2; is_fine++) {
            count_weights(b, is_fine);
            HX_TRY(hx_reduce_sum_i64(b->items->reduce, COARSE * b->n_group, b->count));
            narrow(b, is_fine);
        }
        HX_TRY(find_keys(b));
#pragma omp parallel for schedule(static)
        for (int64_t e = 0; e < b->n; e++) {
            const int n = b->of[b->rank[e]].n_rank;
            if (n > 1 && is_after(b, e)) b->rank[e] += n / 2;
        }
        for (int r = b->n_rank - 1; r >= 0; r--) {
            const int n = b->of[r].n_rank;
            if (n < 2) continue;
            b->of[r].n_rank = n / 2;
            b->of[r + n / 2].n_rank = n - n / 2;
        }
    }
    return HX_OK;
}

int hx_partition_bisection(const hx_partition_items *items, int n_rank, int32_t *rank)
{
    bisection b = {.items = items, .n = items->n, .n_rank = n_rank, .rank = rank};
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&b.step, (size_t)b.n, sizeof *b.step, what));
    HX_TRY_FAIL(hx_alloc(&b.of, (size_t)n_rank, sizeof *b.of, what));
    HX_TRY_FAIL(
        hx_alloc(&b.count, (size_t)COARSE * ((size_t)n_rank / 2 + 1), sizeof *b.count, what));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < b.n; e++) rank[e] = 0;
    rc = bisect(&b);
fail:
    free(b.step);
    free(b.of);
    free(b.count);
    return rc;
}
