/* Lines of strongly coupled points: the factors of a block tridiagonal matrix with 3x3 blocks,
 *
 *     A = (I + L) D (I + L)',  L below the diagonal of blocks, D diagonal blocks.
 *
 * A point has HX_LINE_NUMBERS floats: D^-1 (block3.h), then its block of L row after row. Shared by
 * host and device code. */
#ifndef HX_LINE_BLOCK_H
#define HX_LINE_BLOCK_H

#include <stdint.h>

#include "../linalg/block3.h"
#include "../mesh/hex8.h"

enum {
    HX_LINE_NUMBERS = 16, /* 6 + 9; a multiple of 32 bytes */
    /* position of L; before the factorization, of the block that couples a point with its
     * predecessor */
    HX_LINE_COUPLING = 6
};

/* A pivot below this fraction of its diagonal entry is rounding noise, and the line is cut
 * there. */
#define HX_LINE_PIVOT 1e-6

/* k += modulus times the block of an element that couples point a (rows) with point b (columns).
 * The element may name each point several times; nothing is added unless it names both. */
static HX_HD void hx_line_couple(const int32_t *conn, const double *x, int32_t a, int32_t b,
                                 double lambda, double mu, double modulus, double k[3][3])
{
    for (int c = 0; c < 8; c++)
        for (int d = 0; d < 8; d++) {
            double tile[3][3];
            if (conn[c] != a || conn[d] != b) continue;
            hx_hex8_tile(x, c, d, lambda, mu, tile);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) k[i][j] += modulus * tile[i][j];
        }
}

/* d = A - K D_before^-1 K', l = K D_before^-1. Returns 0 if a pivot is rounding noise. */
static HX_HD int hx_line_pivot(const double a[6], const double k[9], const double before[6],
                               double d[6], double l[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            l[3 * i + j] = 0.0;
            for (int q = 0; q < 3; q++) l[3 * i + j] += k[3 * i + q] * before[hx_block3_at(q, j)];
        }
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double sum = a[hx_block3_at(i, j)];
            for (int q = 0; q < 3; q++) sum -= l[3 * i + q] * k[3 * j + q];
            d[hx_block3_at(i, j)] = sum;
        }
    for (int i = 0; i < 3; i++)
        if (!(d[hx_block3_at(i, i)] > HX_LINE_PIVOT * a[hx_block3_at(i, i)])) return 0;
    return 1;
}

/* Computes the factors of a point. `block` is its diagonal block; factor[6..15) holds, as floats,
 * the block that couples it with the previous point and is replaced by L. `before` is D^-1 of the
 * previous point and becomes that of this one; m and m_before are the masks of the two points. Rows
 * and columns with m = 0 are left out, and D^-1 is 0 there. */
static HX_HD void hx_line_factorise(const double *block, const float *m, const float *m_before,
                                    double before[6], float *factor)
{
    double a[6], d[6], k[9], l[9];
    for (int i = 0; i < 6; i++) a[i] = block[i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            k[3 * i + j] =
                m_before && m[i] > 0.0f && m_before[j] > 0.0f ? factor[6 + 3 * i + j] : 0.0;
    for (int i = 0; i < 3; i++)
        if (!(m[i] > 0.0f)) hx_block3_fix(a, i);
    if (!hx_line_pivot(a, k, before, d, l)) {
        for (int i = 0; i < 6; i++) d[i] = a[i];
        for (int i = 0; i < 9; i++) l[i] = 0.0;
    }
    hx_block3_invert(d);
    for (int i = 0; i < 6; i++) before[i] = d[i];
    for (int i = 0; i < 3; i++)
        if (!(m[i] > 0.0f)) d[hx_block3_at(i, i)] = 0.0;
    for (int i = 0; i < 6; i++) factor[i] = (float)d[i];
    for (int i = 0; i < 9; i++) factor[6 + i] = (float)l[i];
    factor[15] = 0.0f;
}

/* Forward substitution: y -= L before; the caller passes y as `before` for the next point. */
static HX_HD void hx_line_forward(const float *factor, const float before[3], float y[3])
{
    const float *const l = factor + 6;
    for (int i = 0; i < 3; i++)
        y[i] -= l[3 * i] * before[0] + l[3 * i + 1] * before[1] + l[3 * i + 2] * before[2];
}

/* Backward substitution: z = D^-1 y - carry, where carry = L'z of the point handled before; updates
 * carry. */
static HX_HD void hx_line_backward(const float *factor, const float y[3], float carry[3],
                                   float z[3])
{
    const float *const l = factor + 6;
    z[0] = factor[0] * y[0] + factor[1] * y[1] + factor[2] * y[2] - carry[0];
    z[1] = factor[1] * y[0] + factor[3] * y[1] + factor[4] * y[2] - carry[1];
    z[2] = factor[2] * y[0] + factor[4] * y[1] + factor[5] * y[2] - carry[2];
    for (int i = 0; i < 3; i++) carry[i] = l[i] * z[0] + l[3 + i] * z[1] + l[6 + i] * z[2];
}

#endif
