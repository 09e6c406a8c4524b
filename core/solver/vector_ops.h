/* Vectors on a device: what every backend's table has (hx_device_ops.vector).
 *
 * Vectors have n doubles, or floats where the name ends in _single; they begin at a multiple of 16
 * bytes. `d_` names memory of the device. Operations are queued in order; those that return a
 * result to the host wait. Sums are added in a fixed order: the same bits every time. All entries
 * are required. */
#ifndef HX_VECTOR_OPS_H
#define HX_VECTOR_OPS_H

#include "../device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dot products of one `dots`, at most. */
enum { HX_MOST_DOTS = 3 };

typedef struct hx_vector_ops {
    /* y[at[i]] = 0 */
    int (*zero_entries)(hx_device *dev, int64_t n, const int64_t *d_at, double *d_y);
    int (*zero_entries_single)(hx_device *dev, int64_t n, const int64_t *d_at, float *d_y);
    /* y[at[i]] = value[i], no entry twice */
    int (*put_entries)(hx_device *dev, int64_t n, const int64_t *d_at, const double *d_value,
                       double *d_y);
    int (*put_entries_single)(hx_device *dev, int64_t n, const int64_t *d_at, const float *d_value,
                              float *d_y);
    /* value[i] = x[at[i]] */
    int (*take_entries)(hx_device *dev, int64_t n, const int64_t *d_at, const double *d_x,
                        double *d_value);
    int (*take_entries_single)(hx_device *dev, int64_t n, const int64_t *d_at, const float *d_x,
                               float *d_value);
    /* y[at[i]] += k[i] x[at[i]], x NULL for 1, no entry twice */
    int (*spring_add)(hx_device *dev, int64_t n, const int64_t *d_at, const double *d_k,
                      const double *d_x, double *d_y);
    int (*spring_add_single)(hx_device *dev, int64_t n, const int64_t *d_at, const double *d_k,
                             const float *d_x, float *d_y);

    int (*fill)(hx_device *dev, int64_t n, double value, double *d_y); /* y = value */
    /* Inputs and outputs of multiply and divide may be the same vector. */
    int (*multiply)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                    double *d_c); /* c = a b */
    int (*divide)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                  double *d_c); /* c = a / b */
    int (*axpy)(hx_device *dev, int64_t n, double a, const double *d_x, double *d_y); /* y += a x */
    /* c = a - b */
    int (*subtract)(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c);
    /* c = scale * (a - b), rounded once; b may be NULL for 0 */
    int (*subtract_single)(hx_device *dev, int64_t n, double scale, const double *d_a,
                           const double *d_b, float *d_c);
    /* y += scale * x, x = 0 */
    int (*flush_single)(hx_device *dev, int64_t n, double scale, float *d_x, double *d_y);
    /* d[i] = 1 / d[i]; entries that are not positive become 1. */
    int (*invert)(hx_device *dev, int64_t n, double *d_d);

    /* a'b of fields over the elements of the device's mesh, where they are a share over all. */
    int (*field_dot)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                     double *result); /* waits */
    int (*dot)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
               double *result); /* waits */
    /* result[k] = a[k]'b[k], k < n_dot <= HX_MOST_DOTS, the same bits as `dot`; vectors in several
     * are read once, and it waits once. */
    int (*dots)(hx_device *dev, int64_t n, int n_dot, const double *const d_a[],
                const double *const d_b[], double *result);
    int (*sum)(hx_device *dev, int64_t n, const double *d_a, double *result); /* waits */
} hx_vector_ops;

#ifdef __cplusplus
}
#endif

#endif
