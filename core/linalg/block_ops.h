/* Operations on blocks of vectors (hx_device_ops.block), for the eigensolver. A block is a list of
 * vectors of n doubles, each of which starts at a multiple of 16 bytes; the lists are in host
 * memory. Matrices are in host memory, row by row. */
#ifndef HX_BLOCK_OPS_H
#define HX_BLOCK_OPS_H

#include "../device/device.h"

HX_C_BEGIN

/* maximum number of vectors in a list */
enum { HX_MOST_BLOCK = 96 };

/* All entries are required. */
typedef struct hx_block_ops {
    /* g[n_a][n_b] = a'b, each product summed in a fixed order. Reads each vector once for every few
     * of the other list. Waits. */
    int (*gram)(hx_device *dev, int64_t n, int n_a, const double *const d_a[], int n_b,
                const double *const d_b[], double *g);
    /* y[j] = sum over i of c[i][j] x[i], with c[n_x][n_y]. A y may be one of the x. Reads each x
     * and writes each y once. */
    int (*combine)(hx_device *dev, int64_t n, int n_x, const double *const d_x[], int n_y,
                   const double *c, double *const d_y[]);
} hx_block_ops;

HX_C_END

#endif
