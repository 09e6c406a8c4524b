/* Points hashed by the cells of a regular grid, to find the points near a position. Not
 * installed. */
#ifndef HX_NODE_GRID_H
#define HX_NODE_GRID_H

#include <stdint.h>

#include "../base/error.h"

typedef struct hx_node_grid {
    const double *xyz; /* (borrowed) */
    double cell;       /* edge of a cell */
    double origin[3];
    uint64_t mask;
    int32_t *head; /* [mask + 1] last point inserted into the bucket, -1: none (owned) */
    int32_t *next; /* [n_node] (owned) */
} hx_node_grid;

/* Makes an empty grid for points of xyz[n_node][3], all finite; n_expected: approximate number. */
int hx_node_grid_create(hx_node_grid *grid, int64_t n_node, const double *xyz, int64_t n_expected,
                        double cell);

void hx_node_grid_put(hx_node_grid *grid, int32_t node);

/* Returns the nearest point within `radius` (at most one cell) of x, the lowest of equally near
 * ones; -1: none. */
int32_t hx_node_grid_nearest(const hx_node_grid *grid, const double x[3], double radius);

/* Calls visit for the points in the buckets of all cells that intersect the box; these buckets may
 * contain other points, and a point may be visited twice. Stops when a call returns non-zero, and
 * returns that value. */
int hx_node_grid_visit(const hx_node_grid *grid, const double low[3], const double high[3],
                       int (*visit)(void *context, int32_t node), void *context);

void hx_node_grid_free(hx_node_grid *grid);

#endif
