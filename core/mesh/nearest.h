/* The nearest of points that are looked at one by one, for the grids; not installed. */
#ifndef HX_NEAREST_H
#define HX_NEAREST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_nearest {
    double x[3];
    double square; /* of the distance: of the best so far, of the reach before */
    int64_t point; /* -1: none within the reach */
} hx_nearest;

static inline hx_nearest hx_nearest_to(const double x[3], double reach)
{
    const hx_nearest none = {{x[0], x[1], x[2]}, reach * reach, -1};
    return none;
}

/* Takes the point if it is nearer than the best, or as near and of a lower number: in whatever
 * order points come, the same one is found. */
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

#ifdef __cplusplus
}
#endif

#endif
