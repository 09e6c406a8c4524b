/* Points binned into the cubic cells of a grid, to find the nearest one; not installed. */
#ifndef HX_POINT_GRID_H
#define HX_POINT_GRID_H

#include <stdint.h>

#include "../base/error.h"

/* The points may lie in a plane or on a line along the axes: the grid is then flat in the other
 * directions. */
typedef struct hx_point_grid {
    int64_t n;
    const double *xyz; /* [n][3] length (borrowed) */
    double origin[3], size;
    int64_t n_cell[3]; /* x fastest; at most about one point per cell */
    int32_t *start;    /* [cells + 1] first position of each cell in member (owned) */
    int32_t *member;   /* [n] point at a position, ascending within a cell (owned) */
} hx_point_grid;

/* n < 2^31; coordinates finite. O(n). */
int hx_point_grid_create(hx_point_grid *grid, int64_t n, const double *xyz);

/* Returns the point nearest to x within `reach`, the first of equally near ones; -1: none. O(1) if
 * points are evenly distributed. */
int64_t hx_point_grid_nearest(const hx_point_grid *grid, const double x[3], double reach);

/* Calls visit with each point of the cells that intersect a cube around x with half edge `radius`:
 * those within the radius, and others. */
void hx_point_grid_visit(const hx_point_grid *grid, const double x[3], double radius,
                         void (*visit)(void *context, int64_t point), void *context);

void hx_point_grid_free(hx_point_grid *grid);

#endif
