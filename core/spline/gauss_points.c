#include "gauss_points.h"

#include <math.h>

/* Legendre polynomial of degree n at x and its derivative, by the three-term recurrence. */
static double legendre(int n, double x, double *slope)
{
    double before = 1.0, value = x;
    for (int k = 2; k <= n; k++) {
        const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
        before = value;
        value = next;
    }
    *slope = n * (before - x * value) / (1.0 - x * x);
    return value;
}

void hx_gauss_points(int n, double point[HX_GAUSS_MAX], double weight[HX_GAUSS_MAX])
{
    const double pi = 3.14159265358979323846;
    for (int q = 0; q < n; q++) {
        const int from_end = n - 1 - q;
        double x, slope = 1.0;
        if (q > from_end) { /* mirror image of the first half */
            point[q] = -point[from_end];
            weight[q] = weight[from_end];
            continue;
        }
        x = q == from_end ? 0.0 : -cos(pi * (q + 0.75) / (n + 0.5));
        for (int step = 0; q < from_end && step < 6; step++) {
            const double value = legendre(n, x, &slope);
            x -= value / slope;
        }
        legendre(n, x, &slope);
        point[q] = x;
        weight[q] = 2.0 / ((1.0 - x * x) * slope * slope);
    }
}
