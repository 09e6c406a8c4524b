/* Deflation of floating components, on the host: products with sparse matrices by rows. */
#include "../device/cpu_ops.h"

/* Rows of Z' may be as long as the number of nodes of a component. Each row is processed by one
 * thread, in order. */
int hx_cpu_rows_add(hx_device *dev, const hx_mg_rows *rows, double factor, const double *d_x,
                    const float *d_x_single, double *d_y, float *d_y_single)
{
    (void)dev;
#pragma omp parallel for schedule(guided)
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t to = rows->d_at[i];
        double sum = 0.0;
        for (int64_t k = rows->d_first[i]; k < rows->d_first[i + 1]; k++) {
            const int64_t c = rows->d_column[k];
            sum += rows->d_value[k] * (d_x ? d_x[c] : (double)d_x_single[c]);
        }
        if (d_y)
            d_y[to] += factor * sum;
        else
            d_y_single[to] = (float)((double)d_y_single[to] + factor * sum);
    }
    return HX_OK;
}
