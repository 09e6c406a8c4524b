/* Vector operations on the CPU (vector_ops.h). Sums run over fixed parts, so results are bitwise
 * independent of the number of threads. */
#include "../../base/sum.h"
#include "cpu_ops.h"

#define REAL double
#define NAME(x) x
#include "vector_cpu_real.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_single
#include "vector_cpu_real.inc"
#undef REAL
#undef NAME

static int cpu_subtract(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                        double *d_c)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) d_c[i] = d_a[i] - d_b[i];
    return HX_OK;
}

static int cpu_subtract_single(hx_device *dev, int64_t n, double scale, const double *d_a,
                               const double *d_b, float *d_c)
{
    (void)dev;
    if (d_b) {
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < n; i++) d_c[i] = (float)(scale * (d_a[i] - d_b[i]));
    } else {
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < n; i++) d_c[i] = (float)(scale * d_a[i]);
    }
    return HX_OK;
}

static int cpu_flush_single(hx_device *dev, int64_t n, double scale, float *d_x, double *d_y)
{
    (void)dev;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        d_y[i] += scale * (double)d_x[i];
        d_x[i] = 0.0f;
    }
    return HX_OK;
}

static int cpu_dot(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *result)
{
    (void)dev;
    *result = hx_dot(n, d_a, d_b);
    return HX_OK;
}

static int cpu_dots(hx_device *dev, int64_t n, int n_dot, const double *const d_a[],
                    const double *const d_b[], double *result)
{
    (void)dev;
    for (int k = 0; k < n_dot; k++) result[k] = hx_dot(n, d_a[k], d_b[k]);
    return HX_OK;
}

static int cpu_invert(hx_device *dev, int64_t n, double *d_d)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) d_d[i] = d_d[i] > 0.0 ? 1.0 / d_d[i] : 1.0;
    return HX_OK;
}

static int cpu_fill(hx_device *dev, int64_t n, double value, double *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) d_y[e] = value;
    return HX_OK;
}

static int cpu_multiply(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                        double *d_c)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) d_c[e] = d_a[e] * d_b[e];
    return HX_OK;
}

static int cpu_divide(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) d_c[e] = d_a[e] / d_b[e];
    return HX_OK;
}

static int cpu_axpy(hx_device *dev, int64_t n, double a, const double *d_x, double *d_y)
{
    (void)dev;
#pragma omp parallel for simd schedule(static)
    for (int64_t e = 0; e < n; e++) d_y[e] += a * d_x[e];
    return HX_OK;
}

static int cpu_sum(hx_device *dev, int64_t n, const double *d_a, double *result)
{
    (void)dev;
    *result = hx_sum(n, d_a);
    return HX_OK;
}

const hx_vector_ops hx_cpu_vector_ops = {
    .zero_entries = cpu_zero_entries,
    .zero_entries_single = cpu_zero_entries_single,
    .put_entries = cpu_put_entries,
    .put_entries_single = cpu_put_entries_single,
    .take_entries = cpu_take_entries,
    .take_entries_single = cpu_take_entries_single,
    .spring_add = cpu_spring_add,
    .spring_add_single = cpu_spring_add_single,
    .fill = cpu_fill,
    .multiply = cpu_multiply,
    .divide = cpu_divide,
    .axpy = cpu_axpy,
    .subtract = cpu_subtract,
    .subtract_single = cpu_subtract_single,
    .flush_single = cpu_flush_single,
    .invert = cpu_invert,
    .field_dot = cpu_dot,
    .dot = cpu_dot,
    .dots = cpu_dots,
    .sum = cpu_sum,
};
