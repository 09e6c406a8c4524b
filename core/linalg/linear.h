/* A linear operator A on one device, as PCG and the preconditioners see it: symmetric, and positive
 * definite on the free entries. The stiffness matrix K (operator.h) is one; the matrix of the
 * `helmholtz` filter is another.
 *
 * A vector has n = components * points doubles, or floats in single precision. Entries may be fixed
 * (Dirichlet): their rows are left out, and u keeps its value there. A projector P may restrict the
 * free entries further (rigid sets). PCG then solves P A P u = P f and keeps all residuals and
 * search directions in the range of P. "Hot" marks functions that run in every PCG iteration. */
#ifndef HX_LINEAR_H
#define HX_LINEAR_H

#include "../device/device.h"

HX_C_BEGIN

typedef struct hx_linear hx_linear;

struct hx_linear {
    hx_device *dev;   /* (borrowed) */
    const char *name; /* for messages */
    int64_t n;        /* number of vector entries */
    int components;   /* unknowns per point, stored side by side */
    /* [n] prescribed values at fixed entries and on rigid sets, 0 elsewhere; NULL: all are 0
     * (borrowed) */
    const double *d_prescribed;
    void *context; /* the operator behind this interface (borrowed) */

    /* Required. y = P A x, with 0 at fixed entries; x must satisfy x = P x. The queued work depends
     * neither on the values of A nor on x, so that PCG may record it. Hot. */
    int (*apply)(const hx_linear *a, const double *d_x, double *d_y);
    /* Required. d[n] = diagonal of A, 0 at fixed entries. Called once per change of A. */
    int (*diagonal)(const hx_linear *a, double *d_diagonal);

    /* Optional. y = A x on all rows. NULL: no entry is fixed and there is no projector, so `apply`
     * does the same. */
    int (*apply_all)(const hx_linear *a, const double *d_x, double *d_y);
    /* Optional. y := P y, with 0 at fixed entries, which makes y a valid residual for PCG. The
     * version in single precision does not apply P. NULL: no entry is fixed and there is no
     * projector. */
    int (*constrain)(const hx_linear *a, double *d_y);
    int (*constrain_single)(const hx_linear *a, float *d_y);
    /* Optional. z := P z for z that is 0 at fixed entries. NULL: there is no projector. Hot. */
    int (*project)(const hx_linear *a, double *d_z);

    /* Optional. `apply` that also returns *d_sum = x'A x. NULL: use `apply` and a dot product.
     * Hot. */
    int (*apply_dot)(const hx_linear *a, const double *d_x, double *d_y, double *d_sum);
    /* Optional. `apply` in single precision, without P. NULL: mixed precision is not available.
     * prepare_single is called once before the first product; NULL: there is nothing to prepare.
     * Hot. */
    int (*apply_single)(const hx_linear *a, const float *d_x, float *d_y);
    int (*prepare_single)(const hx_linear *a);
    /* Optional, both or none. `exact` is the same operator without the rounding that the stored
     * form of `apply` has (borrowed). prepare_exact allocates what it needs; call it once before
     * the first product (further calls do nothing). A solve usually uses `exact` once or twice.
     * NULL: `apply` is accurate to double precision. */
    const hx_linear *exact;
    int (*prepare_exact)(const hx_linear *a);
    /* Optional, for 3 components only. d_block[n / 3][6] = the 3x3 diagonal blocks (block3.h); rows
     * and columns of fixed entries are those of the identity. Called once per change of A. NULL:
     * not available. */
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

HX_C_END

#endif
