/* Recursive coordinate bisection (Berger and Bokhari, IEEE Trans. Comput. C-36, 1987): a group of
 * elements is cut across the longest edge of the box around their centroids, where its ranks'
 * weights ask for it, until each group is a rank's. The cut lies between two of 2^20 steps along
 * that edge, and of elements in one step the first in the mesh's order are before it. All groups of
 * a depth are cut by the same passes over the elements, whose results no number of threads changes.
 */
#include <float.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "partition_ways.h"

static const char what[] = "the bisection of a mesh";

enum { COARSE = 2048, FINE = 512, STEPS = COARSE * FINE };

/* Ranks first .. first + n_rank, `first` being its place in a list, and what of it elements have.
 */
typedef struct group {
    int n_rank; /* 0: none begins here, 1: no more to be cut */
    int axis;
    double low[3], high[3]; /* of the centroids */
    double per;             /* steps a length */
    int64_t weight, target; /* of all; of those before the cut, at best */
    int64_t before;         /* of those in steps before the cut's */
    int32_t step;
    int64_t *count; /* weights by COARSE, then FINE steps */
} group;

typedef struct bisection {
    const hx_mesh *mesh;
    int n_rank;
    int32_t *rank;  /* [n_elem] first rank of an element's group */
    int32_t *step;  /* [n_elem] of its centroid */
    group *of;      /* [n_rank] */
    int64_t *count; /* [n_rank / 2][COARSE] */
} bisection;

static void start_groups(bisection *b)
{
    int n = 0;
    for (int r = 0; r < b->n_rank; r++) {
        group *const g = &b->of[r];
        if (g->n_rank < 2) continue;
        for (int i = 0; i < 3; i++) {
            g->low[i] = DBL_MAX;
            g->high[i] = -DBL_MAX;
        }
        g->weight = 0;
        g->count = b->count + (int64_t)COARSE * n++;
    }
}

/* Of elements one after the other that are of one group: a group's box and weight. */
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
    hx_mesh_centroid(b->mesh, e, x);
    for (int i = 0; i < 3; i++) {
        if (x[i] < run->low[i]) run->low[i] = x[i];
        if (x[i] > run->high[i]) run->high[i] = x[i];
    }
    run->weight += hx_partition_weight_of(b->mesh, e);
}

static void bound_groups(bisection *b)
{
    static const group none = {.low = {DBL_MAX, DBL_MAX, DBL_MAX},
                               .high = {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(b->mesh->n_elem, part + 1);
        group run = none;
        for (int64_t e = hx_part_begin(b->mesh->n_elem, part); e < end; e++) {
            group *const g = &b->of[b->rank[e]];
            if (g->n_rank > 1) extend_run(b, e, &run);
            if (e + 1 < end && b->rank[e + 1] == b->rank[e]) continue;
            take_run(g, &run);
            run = none;
        }
    }
}

/* Across the longest edge, the first half of the ranks before it. */
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
    for (int64_t e = 0; e < b->mesh->n_elem; e++) {
        const group *const g = &b->of[b->rank[e]];
        double x[3];
        if (g->n_rank < 2) continue;
        hx_mesh_centroid(b->mesh, e, x);
        b->step[e] = (int32_t)((x[g->axis] - g->low[g->axis]) * g->per);
    }
}

/* Where in a group's counts an element is: by coarse steps, or by fine ones of the coarse step that
 * the cut is in; NULL: nowhere. */
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
        const int64_t end = hx_part_begin(b->mesh->n_elem, part + 1);
        int64_t *at = NULL, sum = 0; /* of elements one after the other in one place */
        for (int64_t e = hx_part_begin(b->mesh->n_elem, part); e <= end; e++) {
            int64_t *const next = e < end ? count_of(b, e, is_fine) : NULL;
            if (at && next != at) {
#pragma omp atomic
                *at += sum;
            }
            if (next != at) sum = 0;
            at = next;
            if (at) sum += hx_partition_weight_of(b->mesh, e);
        }
    }
}

/* The coarse step that the cut is in, or the fine one; counts are 0 after it. */
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

/* Those in the cut's step by their order: an element is before the cut if its middle is. */
static int is_after(group *g, int32_t step, int64_t weight)
{
    if (step != g->step) return step > g->step;
    g->before += weight;
    return 2 * g->before - weight > 2 * g->target;
}

static void divide(bisection *b)
{
    for (int64_t e = 0; e < b->mesh->n_elem; e++) {
        group *const g = &b->of[b->rank[e]];
        if (g->n_rank < 2) continue;
        if (is_after(g, b->step[e], hx_partition_weight_of(b->mesh, e)))
            b->rank[e] += g->n_rank / 2;
    }
    for (int r = b->n_rank - 1; r >= 0; r--) {
        const int n = b->of[r].n_rank;
        if (n < 2) continue;
        b->of[r].n_rank = n / 2;
        b->of[r + n / 2].n_rank = n - n / 2;
    }
}

static int largest_group(const bisection *b)
{
    int most = 0;
    for (int r = 0; r < b->n_rank; r++)
        if (b->of[r].n_rank > most) most = b->of[r].n_rank;
    return most;
}

static void bisect(bisection *b)
{
    b->of[0].n_rank = b->n_rank;
    while (largest_group(b) > 1) {
        start_groups(b);
        bound_groups(b);
        place_cuts(b);
        find_steps(b);
        for (int is_fine = 0; is_fine < 2; is_fine++) {
            count_weights(b, is_fine);
            narrow(b, is_fine);
        }
        divide(b);
    }
}

int hx_partition_bisection(const hx_mesh *mesh, int n_rank, int32_t *rank)
{
    bisection b = {.mesh = mesh, .n_rank = n_rank, .rank = rank};
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&b.step, (size_t)mesh->n_elem, sizeof *b.step, what));
    HX_TRY_FAIL(hx_alloc(&b.of, (size_t)n_rank, sizeof *b.of, what));
    HX_TRY_FAIL(
        hx_alloc(&b.count, (size_t)COARSE * ((size_t)n_rank / 2 + 1), sizeof *b.count, what));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) rank[e] = 0;
    bisect(&b);
    rc = HX_OK;
fail:
    free(b.step);
    free(b.of);
    free(b.count);
    return rc;
}
