/* A linear operator A on one device, as PCG and the preconditioners see it: symmetric, and positive
 * definite on the entries that are free. K of elasticity (operator.h) is one, A of the filter
 * `helmholtz` another.
 *
 * A vector has n = components x points doubles (floats in single precision). Entries may be fixed:
 * their rows are left out, u keeps what it has there. The range of a projector P may restrict the
 * free ones further (rigid sets): PCG solves P A P u = P f and keeps all residuals and directions
 * there. */
#ifndef HX_LINEAR_H
#define HX_LINEAR_H

#include "../device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_linear hx_linear;

struct hx_linear {
    hx_device *dev;             /* (borrowed) */
    const char *name;           /* in messages */
    int64_t n;                  /* entries of a vector */
    int components;             /* of a point, side by side */
    const double *d_prescribed; /* [n] u at fixed entries, 0 elsewhere; NULL: all 0 (borrowed) */
    void *context;              /* of the operator behind it (borrowed) */

    /* Required. y = P A x, 0 at fixed entries; x = P x. Hot: what it queues depends on neither A's
     * values nor x, PCG may record it. */
    int (*apply)(const hx_linear *a, const double *d_x, double *d_y);
    /* d[n] = diagonal of A, 0 at fixed entries. Once a change of A. */
    int (*diagonal)(const hx_linear *a, double *d_diagonal);

    /* Optional; NULL: nothing is fixed and there is no P. y = A x on all rows. */
    int (*apply_all)(const hx_linear *a, const double *d_x, double *d_y);
    /* y := P y, 0 at fixed entries: a residual as PCG needs it; without P in single precision. */
    int (*constrain)(const hx_linear *a, double *d_y);
    int (*constrain_single)(const hx_linear *a, float *d_y);
    /* z := P z, z being 0 at fixed entries; NULL: no P. Hot. */
    int (*project)(const hx_linear *a, double *d_z);

    /* Optional; NULL: composed of `apply` and a sum. `apply` with *d_sum = x'A x. Hot. */
    int (*apply_dot)(const hx_linear *a, const double *d_x, double *d_y, double *d_sum);
    /* Optional; NULL: no mixed precision. `apply` in single precision, no P; prepare_single once
     * before, NULL: nothing to prepare. Hot. */
    int (*apply_single)(const hx_linear *a, const float *d_x, float *d_y);
    int (*prepare_single)(const hx_linear *a);
    /* Optional, both or none; NULL: `apply` is as exact as double precision has it. The same A
     * where `apply` has it rounded (borrowed); prepare_exact once before, which takes what it needs
     * and may be called again. Once or twice a solve as a rule. */
    const hx_linear *exact;
    int (*prepare_exact)(const hx_linear *a);
    /* Optional, with 3 components only; NULL: not there. d_block[n / 3][6] = the 3x3 diagonal
     * blocks (block3.h), rows and columns of fixed entries those of the identity. Once a change of
     * A. */
    int (*block_diagonal)(const hx_linear *a, double *d_block);
};

static inline int hx_linear_apply_all(const hx_linear *a, const double *d_x, double *d_y)
{
    return a->apply_all ? a->apply_all(a, d_x, d_y) : a->apply(a, d_x, d_y);
}

static inline int hx_linear_constrain(const hx_linear *a, double *d_y)
{
    return a->constrain ? a->constrain(a, d_y) : HX_OK;
}

static inline int hx_linear_constrain_single(const hx_linear *a, float *d_y)
{
    return a->constrain_single ? a->constrain_single(a, d_y) : HX_OK;
}

static inline int hx_linear_project(const hx_linear *a, double *d_z)
{
    return a->project ? a->project(a, d_z) : HX_OK;
}

#ifdef __cplusplus
}
#endif

#endif
