/* Orders a grid of equal cubes along the Hilbert curve without keys and without sorting; not
 * installed. */
#ifndef HX_HILBERT_WALK_H
#define HX_HILBERT_WALK_H

#include <stdint.h>

#include "../base/error.h"

/* Orders the cubes of a grid of n[3], numbered along x, then y, then z, by the keys that
 * hx_hilbert_keys gives their centres on the curve of hx_hilbert_lay through the grid.
 * order[place]: the cube at that position; place_of[cube]: its position. n[0] n[1] n[2] below 2^31.
 * O(n), a few nanoseconds per cube; independent of the number of threads. */
int hx_hilbert_walk(const int64_t n[3], int32_t *order, uint32_t *place_of);

#endif
