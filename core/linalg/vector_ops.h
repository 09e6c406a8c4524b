/* Vector operations that every backend provides (hx_device_ops.vector). All entries are required.
 *
 * Vectors have n doubles, or n floats if the name ends in _single, and start at a multiple of 16
 * bytes. `d_` names device memory. Operations are queued in order; those that return a result to
 * the host wait for it. Sums are added in a fixed order, so that results are bitwise
 * reproducible. */
#ifndef HX_VECTOR_OPS_H
#define HX_VECTOR_OPS_H

#include "../device/device.h"

HX_C_BEGIN

/* maximum number of dot products per call of `dots` */
enum { HX_MOST_DOTS = 3 };

typedef struct hx_vector_ops {
    /* y[at[i]] = 0 */
    int (*zero_entries)(hx_device *dev, int64_t n, const int64_t *d_at, double *d_y);
    int (*zero_entries_single)(hx_device *dev, int64_t n, const int64_t *d_at, float *d_y);
    /* y[at[i]] = value[i]; no index may occur twice */
    int (*put_entries)(hx_device *dev, int64_t n, const int64_t *d_at, const double *d_value,
                       double *d_y);
    int (*put_entries_single)(hx_device *dev, int64_t n, const int64_t *d_at, const float *d_value,
                              float *d_y);
    /* value[i] = x[at[i]] */
    int (*take_entries)(hx_device *dev, int64_t n, const int64_t *d_at, const double *d_x,
                        double *d_value);
    int (*take_entries_single)(hx_device *dev, int64_t n, const int64_t *d_at, const float *d_x,
                               float *d_value);
    /* y[at[i]] += k[i] x[at[i]]; x = NULL stands for ones; no index may occur twice */
    int (*spring_add)(hx_device *dev, int64_t n, const int64_t *d_at, const double *d_k,
                      const double *d_x, double *d_y);
    int (*spring_add_single)(hx_device *dev, int64_t n, const int64_t *d_at, const double *d_k,
                             const float *d_x, float *d_y);

    int (*fill)(hx_device *dev, int64_t n, double value, double *d_y); /* y = value */
    /* The outputs of `multiply` and `divide` may alias their inputs. */
    int (*multiply)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                    double *d_c); /* c = a b */
    int (*divide)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                  double *d_c); /* c = a / b */
    int (*axpy)(hx_device *dev, int64_t n, double a, const double *d_x, double *d_y); /* y += a x */
    /* c = a - b */
    int (*subtract)(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *d_c);
    /* c = scale * (a - b), rounded only once; b = NULL stands for zeros */
    int (*subtract_single)(hx_device *dev, int64_t n, double scale, const double *d_a,
                           const double *d_b, float *d_c);
    /* y += scale * x, then x = 0 */
    int (*flush_single)(hx_device *dev, int64_t n, double scale, float *d_x, double *d_y);
    /* d[i] = 1 / d[i]; entries that are not positive become 1 */
    int (*invert)(hx_device *dev, int64_t n, double *d_d);

    /* Dot product a'b of two element fields. If the device holds a subdomain, the sum runs over all
     * ranks. */
    int (*field_dot)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                     double *result); /* waits */
    int (*dot)(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
               double *result); /* waits */
    /* result[k] = a[k]'b[k] for k < n_dot <= HX_MOST_DOTS, bitwise equal to `dot`. A vector that
     * occurs in several products is read once, and there is one wait for all. */
    int (*dots)(hx_device *dev, int64_t n, int n_dot, const double *const d_a[],
                const double *const d_b[], double *result);
    int (*sum)(hx_device *dev, int64_t n, const double *d_a, double *result); /* waits */
} hx_vector_ops;

HX_C_END

#endif
