/* Finds the nearest of points that are visited one by one; for the grids; not installed. */
#ifndef HX_NEAREST_H
#define HX_NEAREST_H

#include <stdint.h>

typedef struct hx_nearest {
    double x[3];
    /* squared distance: of the best point so far, or initially of the search radius */
    double square;
    int64_t point; /* -1: none within the radius */
} hx_nearest;

static inline hx_nearest hx_nearest_to(const double x[3], double reach)
{
    const hx_nearest none = {{x[0], x[1], x[2]}, reach * reach, -1};
    return none;
}

/* Takes the point if it is nearer than the best one, or equally near with a lower number, so that
 * the result does not depend on the order of the points. */
static inline void hx_nearest_look(hx_nearest *best, const double *xyz, int64_t point)
{
    const double *const y = xyz + 3 * point;
    double square = 0.0;
    for (int d = 0; d < 3; d++) square += (y[d] - best->x[d]) * (y[d] - best->x[d]);
    const int is_equal = square <= best->square && !(square < best->square);
    if (square > best->square || (is_equal && best->point >= 0 && best->point <= point)) return;
    best->square = square;
    best->point = point;
}

#endif
