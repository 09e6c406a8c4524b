/* Steps of LOBPCG on blocks of vectors. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "lobpcg_internal.h"

int hx_lobpcg_multiply(hx_lobpcg *e, hx_lobpcg_block *block, int n)
{
    if (n == 0) return HX_OK;
    HX_TRY(hx_mass_apply(e->mass, n, (const double *const *)block->d_v, block->d_mv));
    for (int j = 0; j < n; j++) HX_TRY(e->k->apply(e->k, block->d_v[j], block->d_kv[j]));
    e->n_product += n;
    return HX_OK;
}

int hx_lobpcg_leave(hx_lobpcg *e, int n, double *const d_u[], double *const d_mu[], int n_v,
                    double *const d_v[])
{
    const hx_block_ops *const block = e->dev->ops->block;
    double part[HX_LOBPCG_MOST * HX_LOBPCG_MOST];
    double c[2 * HX_LOBPCG_MOST * HX_LOBPCG_MOST];
    const double *d_x[2 * HX_LOBPCG_MOST];
    if (n == 0 || n_v == 0) return HX_OK;
    HX_TRY(block->gram(e->dev, e->n, n, (const double *const *)d_mu, n_v,
                       (const double *const *)d_v, part));
    for (int i = 0; i < n_v; i++) {
        d_x[i] = d_v[i];
        for (int j = 0; j < n_v; j++) c[i * n_v + j] = i == j;
    }
    for (int i = 0; i < n; i++) {
        d_x[n_v + i] = d_u[i];
        for (int j = 0; j < n_v; j++) c[(n_v + i) * n_v + j] = -part[i * n_v + j];
    }
    return block->combine(e->dev, e->n, n_v + n, d_x, n_v, c, d_v);
}

int hx_lobpcg_precondition(hx_lobpcg *e, double factor, double *d_r, double *d_z)
{
    const double *const d_from[1] = {d_r};
    double *const d_to[1] = {d_r};
    HX_TRY(e->dev->ops->block->combine(e->dev, e->n, 1, d_from, 1, &factor, d_to));
    if (e->pc->kind->apply)
        HX_TRY(e->pc->kind->apply(e->pc, d_r, d_z));
    else
        HX_TRY(e->dev->ops->vector->multiply(e->dev, e->n, e->pc->d_inverse_diagonal, d_r, d_z));
    return hx_linear_project(e->k, d_z);
}

/* Rounding errors of K x, in units of those of its diagonal part: the other entries of a row add up
 * to a few times the diagonal one. */
#define ROUNDING (4.0 * DBL_EPSILON)

int hx_lobpcg_residuals(hx_lobpcg *e, double *norm)
{
    const hx_vector_ops *const vector = e->dev->ops->vector;
    for (int j = 0; j < e->params.n_block; j++) {
        double square[3];
        const double *d_x[2] = {e->x.d_kv[j], e->x.d_mv[j]};
        const double c[2] = {1.0, -e->value[j]};
        HX_TRY(e->dev->ops->block->combine(e->dev, e->n, 2, d_x, 1, c, &e->w.d_v[j]));
        HX_TRY(vector->multiply(e->dev, e->n, e->d_diagonal, e->x.d_v[j], e->d_scratch));
        const double *const d_a[3] = {e->w.d_v[j], e->x.d_mv[j], e->d_scratch};
        HX_TRY(vector->dots(e->dev, e->n, 3, d_a, d_a, square));
        const double scale = fabs(e->value[j]) * sqrt(square[1]);
        norm[j] = sqrt(square[0]);
        e->rounding[j] = ROUNDING * sqrt(square[2]) / scale;
        e->residual[j] = norm[j] / scale;
        e->is_small[j] = e->residual[j] <= fmax(e->params.tolerance, e->rounding[j]);
        if (!isfinite(e->residual[j]))
            return HX_RAISE(HX_ENUMERIC, "the eigensolver's vectors are not finite: densities, "
                                         "material or coordinates may be too large or too small "
                                         "for double precision");
    }
    return HX_OK;
}

int hx_lobpcg_start_fields(hx_lobpcg *e)
{
    const int n = e->params.n_block;
    HX_TRY(hx_lobpcg_put_waves(e));
    HX_TRY(hx_lobpcg_leave(e, e->n_motion, e->d_motion, e->d_mass_motion, n, e->x.d_v));
    HX_TRY(hx_lobpcg_multiply(e, &e->x, n));
    for (int j = 0; j < n; j++) {
        double square;
        HX_TRY(e->dev->ops->vector->dot(e->dev, e->n, e->x.d_mv[j], e->x.d_mv[j], &square));
        HX_TRY(e->dev->ops->copy(e->dev, e->d_scratch, e->x.d_mv[j],
                                 (size_t)e->n * sizeof *e->d_scratch));
        HX_TRY(hx_lobpcg_precondition(e, square > 0.0 ? 1.0 / sqrt(square) : 1.0, e->d_scratch,
                                      e->w.d_v[j]));
    }
    HX_TRY(hx_lobpcg_leave(e, e->n_motion, e->d_motion, e->d_mass_motion, n, e->w.d_v));
    return hx_lobpcg_multiply(e, &e->w, n);
}
