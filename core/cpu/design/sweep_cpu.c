/* Sweeps on the CPU (sweep_law.h): the elements of a level in parallel, each with sums in the order
 * of its lists, so results are bitwise independent of the number of threads. */
#include "../../design/sweep_law.h"
#include "../device/cpu_ops.h"

/* Smaller levels are processed by one thread. */
enum { FEW = 4096 };

int hx_cpu_sweep_forward(hx_device *dev, const hx_device_sweep *sweep)
{
    (void)dev;
    for (int l = 0; l < sweep->n_level; l++) {
        const int64_t begin = sweep->level_start[l], end = sweep->level_start[l + 1];
#pragma omp parallel for schedule(static) if (end - begin > FEW)
        for (int64_t k = begin; k < end; k++) hx_sweep_forward(sweep, k);
    }
    return HX_OK;
}

int hx_cpu_sweep_backward(hx_device *dev, const hx_device_sweep *sweep, double *d_a)
{
    (void)dev;
    for (int l = sweep->n_level - 1; l >= 0; l--) {
        const int64_t begin = sweep->level_start[l], end = sweep->level_start[l + 1];
#pragma omp parallel for schedule(static) if (end - begin > FEW)
        for (int64_t k = begin; k < end; k++) hx_sweep_backward(sweep, k, d_a);
    }
    return HX_OK;
}

int hx_cpu_sweep_join(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                      double *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) d_y[e] = hx_sweep_joined(n_field, d_field, e);
    return HX_OK;
}

int hx_cpu_sweep_share(hx_device *dev, int64_t n, int n_field, const double *const d_field[],
                       int which, const double *d_a, double *d_share)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        d_share[e] = d_a[e] * hx_sweep_joined_slope(n_field, d_field, which, e);
    return HX_OK;
}
