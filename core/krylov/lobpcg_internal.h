/* What the loop of LOBPCG (lobpcg.c) calls. Not installed. */
#ifndef HX_LOBPCG_INTERNAL_H
#define HX_LOBPCG_INTERNAL_H

#include "../linalg/block_ops.h"
#include "../linalg/vector_ops.h"
#include "lobpcg_ritz.h"

/* lobpcg_block.c: steps on blocks of vectors. */

/* d_kv and d_mv := products of n vectors of a block. Queued. */
int hx_lobpcg_multiply(hx_lobpcg *e, hx_lobpcg_block *block, int n);
/* v := v minus its parts along the n vectors u with the M-products d_mu, for n_v vectors. Waits. */
int hx_lobpcg_leave(hx_lobpcg *e, int n, double *const d_u[], double *const d_mu[], int n_v,
                    double *const d_v[]);
/* z = P M^-1 r, scaled by `factor`; r is overwritten. Queued. */
int hx_lobpcg_precondition(hx_lobpcg *e, double factor, double *d_r, double *d_z);
/* w[j] := K x[j] - lambda M x[j] for each j of the block; sets residual, rounding, is_small and
 * norm[j] = |w[j]|. Waits. */
int hx_lobpcg_residuals(hx_lobpcg *e, double *norm);
/* x := smooth fields, w := M x preconditioned, with their products. Both are kept, since the second
 * are nearly dependent if supports hardly hold the part. Waits. */
int hx_lobpcg_start_fields(hx_lobpcg *e);

/* lobpcg_start.c: x := plane waves along each axis that depend on coordinates only, 0 at fixed
 * degrees of freedom. */
int hx_lobpcg_put_waves(hx_lobpcg *e);

#endif
