#include "node_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "nearest.h"

int hx_node_grid_create(hx_node_grid *grid, int64_t n_node, const double *xyz, int64_t n_expected,
                        double cell)
{
    int rc = HX_OK;
    uint64_t n_bucket = 64;
    memset(grid, 0, sizeof *grid);
    grid->xyz = xyz;
    grid->cell = cell;
    for (int d = 0; d < 3 && n_node > 0; d++) grid->origin[d] = xyz[d];
    while (n_bucket < (uint64_t)n_expected) n_bucket *= 2;
    grid->mask = n_bucket - 1;
    HX_TRY_FAIL(hx_alloc_raw(&grid->head, (size_t)n_bucket, sizeof(int32_t), "grid of nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&grid->next, (size_t)n_node, sizeof(int32_t), "grid of nodes"));
    memset(grid->head, 0xff, (size_t)n_bucket * sizeof *grid->head);
    return HX_OK;
fail:
    hx_node_grid_free(grid);
    return rc;
}

/* Index of the cell along axis d; positions too far away for an integer share cell 0. */
static int64_t cell_of(const hx_node_grid *grid, int d, double x)
{
    const double at = floor((x - grid->origin[d]) / grid->cell), far = 0x1p61;
    return at < far && at > -far ? (int64_t)at : 0;
}

static uint64_t bucket_of(const hx_node_grid *grid, const int64_t cell[3])
{
    uint64_t h = 0;
    for (int d = 0; d < 3; d++) {
        h = (h ^ (uint64_t)cell[d]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 31;
    }
    return h & grid->mask;
}

void hx_node_grid_put(hx_node_grid *grid, int32_t node)
{
    int64_t cell[3];
    for (int d = 0; d < 3; d++) cell[d] = cell_of(grid, d, grid->xyz[3 * (int64_t)node + d]);
    int32_t *const head = &grid->head[bucket_of(grid, cell)];
    grid->next[node] = *head;
    *head = node;
}

static int visit_bucket(const hx_node_grid *grid, uint64_t bucket,
                        int (*visit)(void *context, int32_t node), void *context)
{
    int rc = 0;
    for (int32_t a = grid->head[bucket]; a >= 0 && rc == 0; a = grid->next[a])
        rc = visit(context, a);
    return rc;
}

/* Visits all points, for a box with more cells than there are buckets. */
static int visit_all(const hx_node_grid *grid, int (*visit)(void *context, int32_t node),
                     void *context)
{
    int rc = 0;
    for (uint64_t bucket = 0; bucket <= grid->mask && rc == 0; bucket++)
        rc = visit_bucket(grid, bucket, visit, context);
    return rc;
}

int hx_node_grid_visit(const hx_node_grid *grid, const double low[3], const double high[3],
                       int (*visit)(void *context, int32_t node), void *context)
{
    int64_t first[3], last[3], cell[3];
    double n_cell = 1.0;
    int rc = 0;
    for (int d = 0; d < 3; d++) {
        first[d] = cell_of(grid, d, low[d]);
        last[d] = cell_of(grid, d, high[d]);
        n_cell *= (double)last[d] - (double)first[d] + 1.0;
    }
    if (n_cell > (double)grid->mask) return visit_all(grid, visit, context);
    for (cell[2] = first[2]; cell[2] <= last[2]; cell[2]++)
        for (cell[1] = first[1]; cell[1] <= last[1]; cell[1]++)
            for (cell[0] = first[0]; cell[0] <= last[0]; cell[0]++)
                if (rc == 0) rc = visit_bucket(grid, bucket_of(grid, cell), visit, context);
    return rc;
}

typedef struct search {
    const double *xyz; /* (borrowed) */
    hx_nearest best;
} search;

static int look_at_grid_node(void *context, int32_t node)
{
    search *const s = context;
    hx_nearest_look(&s->best, s->xyz, node);
    return 0;
}

int32_t hx_node_grid_nearest(const hx_node_grid *grid, const double x[3], double radius)
{
    search s = {grid->xyz, hx_nearest_to(x, radius)};
    double low[3], high[3];
    for (int d = 0; d < 3; d++) {
        low[d] = x[d] - radius;
        high[d] = x[d] + radius;
    }
    (void)hx_node_grid_visit(grid, low, high, look_at_grid_node, &s);
    return (int32_t)s.best.point;
}

void hx_node_grid_free(hx_node_grid *grid)
{
    free(grid->head);
    free(grid->next);
    memset(grid, 0, sizeof *grid);
}
