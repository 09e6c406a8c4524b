/* The cycle of the preconditioner `multigrid`, which is a W-cycle on the coarse grids, and its
 * smoothers. */
#include <math.h>

#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "../operator/interface_ops.h"
#include "../operator/operator_springs.h"
#include "../operator/product.h"
#include "multigrid_internal.h"

hx_mg_chebyshev hx_mg_smoothing_for(const hx_mg_smoothing_params *s, double across)
{
    if (across < s->few_below) return s->mesh_few;
    return across < s->many_below ? s->mesh_many : s->mesh_most;
}

hx_mg_chebyshev hx_mg_smoothing_lines(const hx_mg_smoothing_params *s, double across_next,
                                      int is_narrow)
{
    if (is_narrow) return s->mesh_most;
    /* at least mesh_many */
    return hx_mg_smoothing_for(s, fmax(across_next, s->few_below));
}

hx_mg_chebyshev hx_mg_smoothing_rows(const hx_mg_smoothing_params *s, int degree)
{
    return degree > 2 ? s->mesh_most : s->mesh_many;
}

hx_mg_smoothing hx_mg_smoothing_of(const hx_multigrid *mg, int l)
{
    const hx_mg_smoothing_params *const s = &mg->params->smoothing;
    hx_mg_smoothing at = {.chebyshev = s->others, .visits = 1, .weight = 1.0};
    if (l < 0) {
        at.chebyshev = mg->rows ? mg->on_rows : mg->on_mesh;
        return at;
    }
    const int is_small = l + 2 == mg->n_level && mg->level[l].n_node <= s->few_nodes;
    if (l == 0 || (hx_mg_restores(mg) && !is_small)) {
        at.visits = s->visits;
        at.weight = s->visits > 1 ? s->weight : 1.0;
    }
    if (l == 0) at.chebyshev = s->first;
    /* such a level is visited at least four times */
    if (l > 1 && hx_mg_restores(mg) && is_small) at.chebyshev = s->few;
    return at;
}

/* Arguments of one product by rows. */
typedef struct rows_product {
    const hx_multigrid *mg;
    const hx_operator *op;
    const float *d_x;
    float *d_y;
} rows_product;

static int run_rows(const void *context, hx_product_part part)
{
    const rows_product *const p = context;
    const hx_multigrid *const mg = p->mg;
    const hx_matrix *const m = &mg->rows->matrix;
    const hx_matrix_ops *const ops = mg->dev->ops->matrix;
    if (part == HX_PRODUCT_WHOLE)
        HX_TRY(ops->multiply_single(mg->dev, m, p->d_x, p->d_y, mg->d_work));
    else
        HX_TRY(ops->multiply_part_single(mg->dev, m, part, p->d_x, p->d_y, mg->d_work));
    return hx_operator_add_springs_part_single(p->op, part, p->d_x, p->d_y);
}

/* y = K x on all rows, with the stored matrix or the operator's product in single precision. */
static int multiply_all_rows(const hx_multigrid *mg, const hx_operator *op, const float *d_x,
                             float *d_y)
{
    const int components = op->linear.components;
    const rows_product whole = {mg, op, d_x, d_y};
    const hx_product_parts parts = {&whole, run_rows};
    if (!mg->rows) return hx_operator_multiply_single(op, mg->op_kind, mg->state, d_x, d_y);
    if (mg->dev->ops->matrix->multiply_part_single)
        return hx_interface_add_parts_single(mg->dev, components, &parts, d_y);
    HX_TRY(run_rows(&whole, HX_PRODUCT_WHOLE));
    return hx_interface_add_single(mg->dev, components, d_y);
}

int hx_mg_product(const hx_multigrid *mg, const hx_operator *op, const float *d_x, float *d_y)
{
    HX_TRY(multiply_all_rows(mg, op, d_x, d_y));
    return mg->dev->ops->vector->zero_entries_single(mg->dev, op->n_fixed, op->d_fixed, d_y);
}

/* hx_mg_product for a step of the smoother or of power iteration. With point Jacobi the inverse
 * diagonal is 0 at supports, so the values in these rows are not used and need not be zeroed. */
static int product_of_step(const hx_multigrid *mg, const hx_operator *op, const float *d_x,
                           float *d_y)
{
    return mg->d_none ? hx_mg_product(mg, op, d_x, d_y) : multiply_all_rows(mg, op, d_x, d_y);
}

/* Power iteration for the largest eigenvalue of M^-1 A on level l, from the vector of the last
 * design or from a random one. lambda becomes the estimate, or `kept` times that of the last
 * design if that is more; the smoother covers eigenvalues up to `safety` times lambda.
 *
 * A step reads and writes, in words of 4 bytes per unknown: product 2 and K or A (v; t), power 6
 * with the diagonal (m, t, v and m, t; v); with blocks or lines, instead, copy 2 (t; s), M^-1 2 and
 * its factors (s; s), power 4 (t, s and s; v). A step without scaling: 3 and A (v, m; v). On the
 * mesh, x must not change: in the middle of a solve it is the z that PCG continues with. */
static int bound_eigenvalues(hx_multigrid *mg, const hx_operator *op, int l, int n_step,
                             int from_random)
{
    const hx_mg_spectrum_params *const params = &mg->params->spectrum;
    const hx_multigrid_ops *const ops = mg->ops;
    hx_device *const dev = mg->dev;
    const hx_mg_level *const level = l < 0 ? NULL : &mg->level[l];
    const hx_mg_smoother_ops *const smoother = !level              ? mg->smoother
                                               : level->lines.next ? ops->lines
                                                                   : ops->diagonal;
    const int64_t n = level ? mg->dof * level->n_node : op->linear.n;
    const float *const d_m = level ? level->d_m : mg->d_m;
    float *const d_v = level ? level->d_v : mg->d_v, *const d_t = level ? level->d_y : mg->d_t,
                 *const d_s = level ? level->d_d : mg->d_d;
    hx_mg_smoother *const d_smoother = level ? level->d_smoother : mg->d_smoother;
    if (from_random) { /* it depends on the index in the vector, so owners pass on their values */
        HX_TRY(ops->vector->power_start(dev, n, d_m, d_v));
        HX_TRY(level ? hx_interface_make_level_consistent(dev, level, d_v)
                     : hx_interface_make_consistent_single(dev, op->linear.components, d_v));
    }
    for (int i = 0; i < n_step; i++) {
        /* First an even number of steps v := M^-1 A v without scaling: each multiplies the D-norm
         * of v by at most 162, the number of entries of a row, and at the start that norm is at
         * most the growth of stiffness between two designs, but arbitrary for a random vector. */
        const int most = params->steps_unscaled, left = n_step - i;
        int n_next = (left <= most ? left - 1 : most) / 2 * 2;
        if (!level || level->local || !smoother->level_power_next || (from_random && i == 0))
            n_next = 0;
        for (; n_next > 0; n_next -= 2, i += 2) {
            HX_TRY(smoother->level_power_next(dev, level, d_v, level->d_x));
            HX_TRY(smoother->level_power_next(dev, level, level->d_x, d_v));
        }
        /* t = A v, s = M^-1 t, lambda = |s| / |v| and v := s / |s| in the norm of M */
        HX_TRY(level ? ops->level->multiply(dev, level, d_v, d_t)
                     : product_of_step(mg, op, d_v, d_t));
        if (level && level->local) {
            HX_TRY(dev->ops->interface->level_power(dev, mg->dof, level));
            continue;
        }
        if (smoother->apply) {
            HX_TRY(dev->ops->copy(dev, d_s, d_t, (size_t)n * sizeof *d_s));
            HX_TRY(level ? smoother->level_apply(dev, level, d_s)
                         : smoother->apply(dev, &mg->splitting, NULL, d_s));
        }
        HX_TRY((level ? smoother->level_power : smoother->power)(dev, n, d_m, d_t, d_s, d_v,
                                                                 d_smoother));
    }
    return ops->vector->bound(dev, d_smoother, mg->d_least + l + 1, params->kept, params->safety,
                              hx_mg_smoothing_of(mg, l).chebyshev.ratio);
}

int hx_mg_estimate(hx_multigrid *mg, const hx_operator *op, int is_first)
{
    const hx_mg_spectrum_params *const s = &mg->params->spectrum;
    const int again = mg->on_mesh.degree > 2 || mg->d_none ? s->steps_uneven : s->steps_mesh;
    HX_TRY(bound_eigenvalues(mg, op, HX_MG_MESH, is_first ? s->steps_begin : again, is_first));
    for (int l = 0; l + 1 < mg->n_level; l++) {
        const int later = l == 0 ? s->steps_first : s->steps_others;
        HX_TRY(bound_eigenvalues(mg, op, l, is_first ? s->steps_begin : later, is_first));
    }
    return HX_OK;
}

int hx_mg_refresh(hx_multigrid *mg, const hx_operator *op)
{
    hx_device *const dev = mg->dev;
    const hx_mg_spectrum_params *const s = &mg->params->spectrum;
    int changed = 0;
    for (int l = HX_MG_MESH; l + 1 < mg->n_level; l++) {
        hx_mg_smoother *const d_smoother = l < 0 ? mg->d_smoother : mg->level[l].d_smoother;
        hx_mg_smoother before, after;
        HX_TRY(dev->ops->download(dev, &before, d_smoother, sizeof before));
        HX_TRY(bound_eigenvalues(mg, op, l, s->steps_refresh, 1));
        HX_TRY(dev->ops->download(dev, &after, d_smoother, sizeof after));
        if (after.lambda > s->safety * before.lambda) {
            /* After this many steps from a random vector little can be missed. */
            const double least = s->kept * after.lambda;
            hx_mg_smoother_set(&after, s->safety, hx_mg_smoothing_of(mg, l).chebyshev.ratio);
            HX_TRY(dev->ops->upload(dev, mg->d_least + l + 1, &least, sizeof least));
            before = after;
            changed = 1;
        }
        HX_TRY(dev->ops->upload(dev, d_smoother, &before, sizeof before));
    }
    return changed;
}

/* Chebyshev smoothing on coarse grid l: a step reads one iterate and writes the other. d_y is the
 * newest, on entry and return; if from_zero is set, it is taken as 0. */
static int smooth_level(const hx_multigrid *mg, int l, int from_zero, float **d_x, float **d_y)
{
    for (int i = 0; i < hx_mg_smoothing_of(mg, l).chebyshev.degree; i++) {
        float *const d_next = *d_x, *const d_now = *d_y;
        HX_TRY(mg->ops->level->smooth(mg->dev, &mg->level[l], i, from_zero && i == 0 ? NULL : d_now,
                                      d_next));
        *d_x = d_now;
        *d_y = d_next;
    }
    return HX_OK;
}

/* Chebyshev smoothing on the mesh for K x = r, with x in d_x; if from_zero is set, it is taken as
 * 0. d_z: where the last step leaves its result, or NULL. */
static int smooth_mesh(const hx_multigrid *mg, const hx_operator *op, int from_zero,
                       const double *d_r, double *d_z)
{
    const hx_mg_vector_ops *const ops = mg->ops->vector;
    const int64_t n = op->linear.n;
    const size_t bytes = (size_t)n * sizeof(float);
    const int degree = hx_mg_smoothing_of(mg, HX_MG_MESH).chebyshev.degree;
    for (int i = 0; i < degree; i++) {
        const int is_zero = from_zero && i == 0;
        if (is_zero && !mg->smoother->apply) {
            HX_TRY(ops->mesh_start(mg->dev, n, mg->d_smoother, d_r, mg->d_m, mg->d_d, mg->d_x));
            continue;
        }
        if (is_zero) HX_TRY(mg->dev->ops->zero(mg->dev, mg->d_x, bytes));
        HX_TRY(is_zero ? mg->dev->ops->zero(mg->dev, mg->d_t, bytes)
                       : product_of_step(mg, op, mg->d_x, mg->d_t));
        if (mg->smoother->apply) HX_TRY(mg->smoother->apply(mg->dev, &mg->splitting, d_r, mg->d_t));
        HX_TRY(ops->mesh_step(mg->dev, n, mg->d_smoother, i, mg->d_none ? mg->d_none : d_r, mg->d_t,
                              mg->d_m, mg->d_d, mg->d_x, i + 1 == degree ? d_z : NULL));
    }
    return HX_OK;
}

/* b of the next level := P'(b - A y). On the mesh b is r, and rigid sets have no residual. */
static int restrict_residual(const hx_multigrid *mg, const hx_operator *op, int l,
                             const double *d_r, const float *d_y)
{
    const hx_mg_transfer_ops *const transfer = mg->ops->transfer;
    hx_device *const dev = mg->dev;
    if (l >= 0) {
        HX_TRY(mg->ops->level->residual(dev, &mg->level[l], d_y, mg->level[l].d_d));
        return transfer->restrict_to(dev, &mg->level[l], mg->level[l].d_d, &mg->level[l + 1]);
    }
    HX_TRY(hx_mg_product(mg, op, d_y, mg->d_t));
    HX_TRY(mg->ops->vector->match_entries(dev, mg->rigid.n_dof, mg->rigid.d_dof, d_r, mg->d_t));
    return transfer->mesh_restrict(dev, &mg->mesh, d_r, mg->d_t, &mg->level[0]);
}

/* y += P times the correction of the next level. */
static int prolong(const hx_multigrid *mg, int l, const float *d_correction, float *d_y)
{
    const hx_mg_transfer_ops *const transfer = mg->ops->transfer;
    return l < 0 ? transfer->mesh_prolong(mg->dev, &mg->mesh, d_correction, mg->d_m, d_y)
                 : transfer->prolong_from(mg->dev, &mg->level[l + 1], d_correction, &mg->level[l],
                                          d_y);
}

/* The comment above each step counts the words of 4 bytes that it reads and writes per unknown of
 * its level; r and z have two words. p is the degree of the smoother, K what a product reads of the
 * operator, A the 27 dof words of a row of a coarse matrix. On the mesh, blocks and lines add 4
 * words to a smoothing step, 8 to the first from zero, and their factors. Vectors of the next level
 * and lists of indices are not counted. */
int hx_mg_cycle(hx_multigrid *mg, const hx_operator *op, int l, const double *d_r, double *d_z,
                float **d_solution)
{
    hx_device *const dev = mg->dev;
    const hx_multigrid_ops *const ops = mg->ops;
    const hx_mg_level *const level = l < 0 ? NULL : &mg->level[l];
    const int is_deflated = !level && mg->deflation.n_column > 0;
    const int n_visit = level ? hx_mg_smoothing_of(mg, l).visits : 1;
    const int number = l + 1; /* of the level, in profiling marks */
    float *d_x = level ? level->d_x : NULL, *d_y = level ? level->d_y : mg->d_x, *d_correction;
    if (level && mg->fused.n_level > 0 && l == mg->fused.first) {
        HX_IN_SPAN(dev, HX_SPAN_COARSE, -1,
                   ops->fused->cycle(dev, &mg->fused, level, mg->direct.d_inverse));
        *d_solution = d_x;
        return HX_OK;
    }
    if (l + 1 == mg->n_level) {
        HX_IN_SPAN(dev, HX_SPAN_COARSE, -1,
                   ops->direct->solve(dev, level, &mg->direct, level->d_b, d_x));
        *d_solution = d_x;
        return HX_OK;
    }
    /* r := r - K Q r: 4 (r; r) */
    if (is_deflated) HX_TRY(hx_mg_deflate_residual(mg, op, &d_r));
    for (int visit = 0; visit < n_visit; visit++) {
        /* mesh: 5 (r, m; x, d), then p - 1 times 10 + K (x; t and r, t, m, x, d; x, d);
         * coarse: 4 (m, b; d, x), then p - 1 times 6 + A (x, m, b, d; d, x) */
        HX_IN_SPAN(dev, HX_SPAN_SMOOTH, number,
                   level ? smooth_level(mg, l, visit == 0, &d_x, &d_y)
                         : smooth_mesh(mg, op, visit == 0, d_r, NULL));
        /* mesh: 8 + K (x; t and r, t, 3 of positions); coarse: 4 + A (x, b; d and d) */
        HX_IN_SPAN(dev, HX_SPAN_RESTRICT, number, restrict_residual(mg, op, l, d_r, d_y));
        if (mg->is_begun) HX_IN_SPAN(dev, HX_SPAN_FACTORS, -1, hx_mg_direct_wait(mg));
        HX_TRY(hx_mg_cycle(mg, op, l + 1, NULL, NULL, &d_correction));
        /* mesh: 6 (m, x, 3 of positions; x); coarse: 2 (x; x) */
        HX_IN_SPAN(dev, HX_SPAN_PROLONG, number, prolong(mg, l, d_correction, d_y));
    }
    /* mesh: p times 10 + K, less 1; coarse: p times 6 + A, less 1: the first reads no d */
    HX_IN_SPAN(dev, HX_SPAN_SMOOTH, number,
               level ? smooth_level(mg, l, 0, &d_x, &d_y) : smooth_mesh(mg, op, 0, d_r, d_z));
    /* z := z + Q (r - K z): 0, only points of floating components */
    if (is_deflated) HX_TRY(hx_mg_deflate_solution(mg, d_z));
    *d_solution = d_y;
    return HX_OK;
}
