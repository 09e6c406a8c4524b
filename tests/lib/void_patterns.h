/* Designs of solid and void that are difficult for multigrid, as functions of position. */
#ifndef HX_TEST_VOID_PATTERNS_H
#define HX_TEST_VOID_PATTERNS_H

#include <math.h>

/* Density of an element at (x, y, z), each in [0, 1] of the box; `noise` in [0, 1). */
typedef double (*pattern)(const double x[3], double noise);

static inline double solid(const double x[3], double noise)
{
    (void)x, (void)noise;
    return 1.0;
}

static inline double black_and_white(const double x[3], double noise)
{
    (void)x;
    return noise < 0.5;
}

static inline double grey(const double x[3], double noise)
{
    (void)x;
    return noise;
}

/* Two beams from left to right, and floating components between them. */
static inline double islands(const double x[3], double noise)
{
    const double lump = sin(21.0 * x[0]) * sin(17.0 * x[2]);
    (void)noise;
    return x[2] < 0.2 || x[2] > 0.8 || (x[2] > 0.35 && x[2] < 0.65 && lump > 0.3);
}

/* Only void next to the supports. */
static inline double hanging(const double x[3], double noise)
{
    (void)noise;
    return x[0] > 0.3;
}

static inline double beams(const double x[3], double noise)
{
    (void)noise;
    return x[2] < 0.2 || x[2] > 0.8;
}

static inline double frame(const double x[3], double noise)
{
    (void)noise;
    return fabs(x[1] - 0.5) > 0.3 && fabs(x[2] - 0.5) > 0.25;
}

#endif
