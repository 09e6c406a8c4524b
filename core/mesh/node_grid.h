/* Points by cells of a regular grid, hashed: finds what lies near a place. Not installed. */
#ifndef HX_NODE_GRID_H
#define HX_NODE_GRID_H

#include <stdint.h>

#include "../base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_node_grid {
    const double *xyz; /* (borrowed) */
    double cell;       /* its side */
    double origin[3];
    uint64_t mask;
    int32_t *head; /* [mask + 1] last point put into the bucket, -1: none (owned) */
    int32_t *next; /* [n_node] (owned) */
} hx_node_grid;

/* An empty grid over xyz[n_node][3], all finite, for about n_expected points. */
int hx_node_grid_create(hx_node_grid *grid, int64_t n_node, const double *xyz, int64_t n_expected,
                        double cell);

void hx_node_grid_put(hx_node_grid *grid, int32_t node);

/* The point within `radius` (at most a cell) of x that is nearest, of equal ones the lowest; -1:
 * none. */
int32_t hx_node_grid_nearest(const hx_node_grid *grid, const double x[3], double radius);

/* Calls for the points of the buckets of all cells that meet the box; there may be others in these
 * buckets, and a point may come twice. Stops when a call returns non-zero, and returns that. */
int hx_node_grid_visit(const hx_node_grid *grid, const double low[3], const double high[3],
                       int (*visit)(void *context, int32_t node), void *context);

void hx_node_grid_free(hx_node_grid *grid);

#ifdef __cplusplus
}
#endif

#endif
