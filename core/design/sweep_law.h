/* Formulas of the sweeps (sweep.h), an element at a time; host and device use the same. */
#ifndef HX_SWEEP_LAW_H
#define HX_SWEEP_LAW_H

#include <stdint.h>

#include "../base/c_linkage.h"
#include "../base/host_device.h"

HX_C_BEGIN

#define HX_SWEEP_POWER 40.0

/* Largest number of directions of `milling`. */
enum { HX_SWEEP_DIRECTIONS = 8 };

/* z^HX_SWEEP_POWER for z in [0, 1]. */
static HX_HD double hx_sweep_power(double z)
{
    const double z2 = z * z, z4 = z2 * z2, z8 = z4 * z4, z16 = z8 * z8;
    return z16 * z16 * z8;
}

/* A sweep on a device: a graph of sweep.h, and fields [n] by element. Densities are positive. */
typedef struct hx_device_sweep {
    int64_t n;
    int fills;                  /* 1: draw and milling; 0: overhang */
    double floor;               /* density below an element without support */
    int n_level;                /* (host) */
    const int64_t *level_start; /* [n_level + 1] (host) */
    int64_t n_base;
    const int32_t *d_order;
    const int64_t *d_input_start, *d_output_start;
    const int32_t *d_input, *d_output;
    const double *d_x;
    double *d_y;
    /* scratch of the derivatives: largest input, their mean, and the derivative by that mean
     * divided by the sum of weights */
    double *d_largest, *d_mean, *d_share;
} hx_device_sweep;

typedef struct hx_sweep_mean {
    double largest, sum, value; /* largest argument, sum of the weights (z / largest)^P, mean */
} hx_sweep_mean;

/* The smooth maximum of the inputs of place k and, if they fill, of x of element e. */
static HX_HD hx_sweep_mean hx_sweep_largest(const hx_device_sweep *s, int64_t k, int32_t e)
{
    const int64_t begin = s->d_input_start[k], end = s->d_input_start[k + 1];
    hx_sweep_mean m = {s->fills ? s->d_x[e] : 0.0, 0.0, 0.0};
    double sum = 0.0;
    for (int64_t i = begin; i < end; i++) {
        const double z = s->d_y[s->d_input[i]];
        m.largest = z > m.largest ? z : m.largest;
    }
    if (s->fills) {
        m.sum = hx_sweep_power(s->d_x[e] / m.largest);
        sum = m.sum * s->d_x[e];
    }
    for (int64_t i = begin; i < end; i++) {
        const double z = s->d_y[s->d_input[i]], weight = hx_sweep_power(z / m.largest);
        m.sum += weight;
        sum += weight * z;
    }
    m.value = sum / m.sum;
    return m;
}

/* Derivative of a smooth maximum by its argument z, times the sum of the weights. */
static HX_HD double hx_sweep_largest_slope(const hx_sweep_mean *m, double z)
{
    return hx_sweep_power(z / m->largest) * (HX_SWEEP_POWER + 1.0 - HX_SWEEP_POWER * m->value / z);
}

/* The smooth minimum of a and b; slope[2]: its derivatives. */
static HX_HD double hx_sweep_least(double a, double b, double slope[2])
{
    const double least = a < b ? a : b;
    const double of_a = hx_sweep_power(least / a), of_b = hx_sweep_power(least / b);
    const double sum = of_a + of_b, value = (of_a * a + of_b * b) / sum;
    slope[0] = of_a * (1.0 - HX_SWEEP_POWER + HX_SWEEP_POWER * value / a) / sum;
    slope[1] = of_b * (1.0 - HX_SWEEP_POWER + HX_SWEEP_POWER * value / b) / sum;
    return value;
}

/* y of the element at place k, whose inputs have theirs. */
static HX_HD void hx_sweep_forward(const hx_device_sweep *s, int64_t k)
{
    const int32_t e = s->d_order[k];
    const int is_alone = s->d_input_start[k] == s->d_input_start[k + 1];
    double slope[2];
    if (k < s->n_base || (s->fills && is_alone))
        s->d_y[e] = s->d_x[e];
    else if (s->fills)
        s->d_y[e] = hx_sweep_largest(s, k, e).value;
    else
        s->d_y[e] =
            hx_sweep_least(s->d_x[e], is_alone ? s->floor : hx_sweep_largest(s, k, e).value, slope);
}

/* a[e], the derivative by y of the element at place k apart from later elements, becomes that by x;
 * those that it is an input of are done. */
static HX_HD void hx_sweep_backward(const hx_device_sweep *s, int64_t k, double *a)
{
    const int32_t e = s->d_order[k];
    const int is_alone = s->d_input_start[k] == s->d_input_start[k + 1];
    const double y = s->d_y[e];
    double sum = a[e], slope[2];
    hx_sweep_mean m;
    for (int64_t i = s->d_output_start[k]; i < s->d_output_start[k + 1]; i++) {
        const int32_t o = s->d_output[i];
        const hx_sweep_mean of_o = {s->d_largest[o], 0.0, s->d_mean[o]};
        sum += s->d_share[o] * hx_sweep_largest_slope(&of_o, y);
    }
    a[e] = sum;
    if (k < s->n_base || (s->fills && is_alone)) return;
    if (is_alone) {
        hx_sweep_least(s->d_x[e], s->floor, slope);
        a[e] = sum * slope[0];
        return;
    }
    m = hx_sweep_largest(s, k, e);
    s->d_largest[e] = m.largest;
    s->d_mean[e] = m.value;
    if (s->fills) {
        s->d_share[e] = sum / m.sum;
        a[e] = s->d_share[e] * hx_sweep_largest_slope(&m, s->d_x[e]);
    } else {
        hx_sweep_least(s->d_x[e], m.value, slope);
        s->d_share[e] = sum * slope[1] / m.sum;
        a[e] = sum * slope[0];
    }
}

/* The smooth minimum of n fields at element e (milling). */
static HX_HD double hx_sweep_joined(int n, const double *const field[], int64_t e)
{
    double least = field[0][e], sum = 0.0, weights = 0.0;
    for (int i = 1; i < n; i++) least = field[i][e] < least ? field[i][e] : least;
    for (int i = 0; i < n; i++) {
        const double weight = hx_sweep_power(least / field[i][e]);
        weights += weight;
        sum += weight * field[i][e];
    }
    return sum / weights;
}

/* Its derivative by field number i. */
static HX_HD double hx_sweep_joined_slope(int n, const double *const field[], int i, int64_t e)
{
    double least = field[0][e], weights = 0.0;
    const double value = hx_sweep_joined(n, field, e);
    for (int j = 1; j < n; j++) least = field[j][e] < least ? field[j][e] : least;
    for (int j = 0; j < n; j++) weights += hx_sweep_power(least / field[j][e]);
    return hx_sweep_power(least / field[i][e]) *
           (1.0 - HX_SWEEP_POWER + HX_SWEEP_POWER * value / field[i][e]) / weights;
}

HX_C_END

#endif
