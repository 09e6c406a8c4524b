#if defined(__FAST_MATH__)
#error "-ffast-math (-Ofast) reorders sums whose order is promised, and forgets NaN"
#endif

#include "sum.h"

double hx_sum_parts(const double part[HX_N_PART])
{
    double sum = 0.0;
    for (int i = 0; i < HX_N_PART; i++) sum += part[i];
    return sum;
}

double hx_sum(int64_t n, const double *a)
{
    double part[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (int64_t k = hx_part_begin(n, i); k < hx_part_begin(n, i + 1); k++) sum += a[k];
        part[i] = sum;
    }
    return hx_sum_parts(part);
}

double hx_dot(int64_t n, const double *a, const double *b)
{
    double part[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (int64_t k = hx_part_begin(n, i); k < hx_part_begin(n, i + 1); k++) sum += a[k] * b[k];
        part[i] = sum;
    }
    return hx_sum_parts(part);
}
