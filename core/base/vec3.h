/* Vectors of three components. */
#ifndef HX_VEC3_H
#define HX_VEC3_H

#include <math.h>

static inline double hx_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double hx_norm3(const double v[3])
{
    return sqrt(hx_dot3(v, v));
}

static inline void hx_cross3(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = a[j] * b[k] - a[k] * b[j];
    }
}

/* a . (b x c) */
static inline double hx_triple3(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

#endif
