/* Positions along a Hilbert curve through the bounding box of a mesh. */
#ifndef HX_HILBERT_H
#define HX_HILBERT_H

#include <stdint.h>

enum { HX_HILBERT_BITS = 21, HX_HILBERT_BLOCK = 64 };

typedef struct hx_hilbert {
    double low[3], scale; /* lowest corner of the cube that the curve fills; steps per length */
} hx_hilbert;

/* Defines the curve in a cube at `low`: as wide as the box, widened to a power of two of element
 * sizes, so that on a regular mesh 64 consecutive elements form a cube of 4 x 4 x 4. mean_volume:
 * of an element, 0: unknown. */
void hx_hilbert_lay(hx_hilbert *curve, const double low[3], const double high[3],
                    double mean_volume);

/* key[n], of 3 HX_HILBERT_BITS bits each, for the points x[n][3]; n <= HX_HILBERT_BLOCK. NaN and
 * points outside count as the corner. */
void hx_hilbert_keys(const hx_hilbert *curve, int n, const double (*x)[3], uint64_t *key);

#endif
