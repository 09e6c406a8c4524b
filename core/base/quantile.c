#include "quantile.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void hx_sort_values(double *value, size_t n)
{
    qsort(value, n, sizeof *value, by_value);
}

double hx_quantile(const double *sorted, size_t n, double q)
{
    const double place = q * (double)(n - 1);
    const size_t k = (size_t)place;
    if (k + 1 >= n) return sorted[n - 1];
    return sorted[k] + (place - (double)k) * (sorted[k + 1] - sorted[k]);
}
