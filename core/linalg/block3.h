/* Symmetric 3x3 blocks, the contribution of a node to K: six numbers xx xy xz yy yz zz. Shared by
 * host and device code. */
#ifndef HX_BLOCK3_H
#define HX_BLOCK3_H

#include "../base/host_device.h"

/* Index of entry (i, j) of the symmetric block, i, j = 0..2. */
static HX_HD int hx_block3_at(int i, int j)
{
    return i <= j ? i * (5 - i) / 2 + j : j * (5 - j) / 2 + i;
}

/* Replaces row and column i by those of the identity. */
static HX_HD void hx_block3_fix(double *b, int i)
{
    for (int j = 0; j < 3; j++) b[hx_block3_at(i, j)] = i == j ? 1.0 : 0.0;
}

/* b = b^-1 by LDL', whose pivots overflow or underflow no earlier than b itself. A block that is
 * not positive definite (or contains NaN) becomes the identity; PCG reports such a K. */
static HX_HD void hx_block3_invert(double *b)
{
    const double l1 = b[1] / b[0], l2 = b[2] / b[0];
    const double d1 = b[3] - l1 * b[1], e1 = b[4] - l1 * b[2];
    const double l3 = e1 / d1;
    const double d2 = b[5] - l2 * b[2] - l3 * e1;
    if (!(b[0] > 0.0) || !(d1 > 0.0) || !(d2 > 0.0)) {
        for (int i = 0; i < 3; i++) hx_block3_fix(b, i);
        return;
    }
    /* The last row of L^-1 is (m, -l3, 1). */
    const double i0 = 1.0 / b[0], i1 = 1.0 / d1, i2 = 1.0 / d2, m = l1 * l3 - l2;
    b[0] = i0 + l1 * l1 * i1 + m * m * i2;
    b[1] = -l1 * i1 - m * l3 * i2;
    b[2] = m * i2;
    b[3] = i1 + l3 * l3 * i2;
    b[4] = -l3 * i2;
    b[5] = i2;
}

/* z = b r */
static HX_HD void hx_block3_apply(const double *b, const double *r, double *z)
{
    const double x = r[0], y = r[1], w = r[2];
    z[0] = b[0] * x + b[1] * y + b[2] * w;
    z[1] = b[1] * x + b[3] * y + b[4] * w;
    z[2] = b[2] * x + b[4] * y + b[5] * w;
}

#endif
