#include "hilbert.h"

#include <math.h>
#include <string.h>

#include "../base/vectorised.h"

/* Moves bits 0, 1, 2 ... of a number of 21 bits to 0, 3, 6 ... */
HX_INLINED uint64_t spread_bits(uint64_t x)
{
    x = (x | x << 32) & 0x001f00000000ffffu;
    x = (x | x << 16) & 0x001f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

/* Positions along the Hilbert curve of points of the integer cube (Skilling, "Programming the
 * Hilbert curve", AIP Conf. Proc. 707, 2004): undo the rotations from the top bit down,
 * Gray-encode, interleave. Without branches, which would be unpredictable, and hence in vector
 * lanes. */
HX_INLINED void keys_of_cells_lanes(uint32_t x[3][HX_HILBERT_BLOCK], int n, uint64_t *key)
{
    for (int bit = HX_HILBERT_BITS - 1; bit > 0; bit--) {
        const uint32_t low = ((uint32_t)1 << bit) - 1;
#pragma omp simd
        for (int i = 0; i < HX_HILBERT_BLOCK; i++) x[0][i] ^= low & (0u - (x[0][i] >> bit & 1u));
        for (int d = 1; d < 3; d++) {
#pragma omp simd
            for (int i = 0; i < HX_HILBERT_BLOCK;
                 i++) { /* a set bit inverts x[0], a clear one exchanges */
                const uint32_t set = 0u - (x[d][i] >> bit & 1u);
                const uint32_t exchange = (x[0][i] ^ x[d][i]) & low & ~set;
                x[d][i] ^= exchange;
                x[0][i] ^= exchange | (low & set);
            }
        }
    }
    for (int i = 0; i < n; i++) {
        const uint32_t y = x[1][i] ^ x[0][i], z = x[2][i] ^ y;
        uint32_t flip = z >> 1; /* bit k: the parity of the bits of z above it */
        for (int shift = 1; shift < 32; shift *= 2) flip ^= flip >> shift;
        key[i] =
            spread_bits(x[0][i] ^ flip) << 2 | spread_bits(y ^ flip) << 1 | spread_bits(z ^ flip);
    }
}

HX_VERSIONS_UNFUSED(keys_of_cells, (uint32_t x[3][HX_HILBERT_BLOCK], int n, uint64_t *key),
                    (x, n, key))

/* Side of the cube. */
static double side_of_cube(double extent, double mean_volume)
{
    const double size = cbrt(mean_volume);
    double side = size;
    if (!(extent > 0.0)) return 1.0;
    if (!(size > extent / (double)(1 << HX_HILBERT_BITS))) return extent;
    while (side < extent * (1.0 - 1e-9)) side *= 2.0;
    return side;
}

static const double STEPS = (double)((uint32_t)1 << HX_HILBERT_BITS);

void hx_hilbert_lay(hx_hilbert *curve, const double low[3], const double high[3],
                    double mean_volume)
{
    double extent = 0.0;
    for (int d = 0; d < 3; d++) {
        if (high[d] - low[d] > extent) extent = high[d] - low[d];
        curve->low[d] = low[d];
    }
    curve->scale = STEPS / side_of_cube(extent, mean_volume > 0.0 ? mean_volume : 0.0);
}

void hx_hilbert_keys(const hx_hilbert *curve, int n, const double (*x)[3], uint64_t *key)
{
    uint32_t cell[3][HX_HILBERT_BLOCK] = {{0}};
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            const double at = (x[i][d] - curve->low[d]) * curve->scale;
            cell[d][i] = at > 0.0 && at < STEPS ? (uint32_t)at : 0;
        }
    keys_of_cells(cell, n, key);
}
