/* The cycle of the preconditioner `multigrid`, which is a W-cycle on the coarse grids, and its
 * smoothers. */
#include <math.h>

#include "../device/timeline.h"
#include "../linalg/vector_ops.h"
#include "../operator/interface_ops.h"
#include "../operator/operator_springs.h"
#include "../operator/product.h"
#include "multigrid_internal.h"

hx_mg_smoothing hx_mg_smoothing_for(const hx_mg_smoothing_params *s, double across)
{
    if (across < s->few_below) return s->mesh_few;
    if (across < s->some_below) return s->mesh_some;
    return across < s->many_below ? s->mesh_many : s->mesh_most;
}

hx_mg_smoothing hx_mg_smoothing_lines(const hx_mg_smoothing_params *s, double across_next,
                                      int is_narrow)
{
    if (is_narrow) return s->mesh_most;
    /* at least mesh_some */
    return hx_mg_smoothing_for(s, fmax(across_next, s->few_below));
}

hx_mg_smoothing hx_mg_smoothing_rows(const hx_mg_smoothing_params *s, int degree)
{
    return degree > s->quadratic_degree ? s->high : s->quadratic;
}

hx_mg_smoothing hx_mg_smoothing_of(const hx_multigrid *mg, int l)
{
    const hx_mg_smoothing_params *const s = &mg->params->smoothing;
    if (l < 0) return mg->rows ? mg->on_rows : mg->on_mesh;
    if (l == 0) return s->first;
    const int is_twice = hx_mg_restores(mg);
    if (l + 2 == mg->n_level && mg->level[l].n_node <= s->few_nodes)
        /* few: the level itself is visited at least four times */
        return l > 1 && is_twice ? s->few : s->once;
    return is_twice ? s->others : s->once;
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

/* y = K x with the stored matrix. */
static int multiply_rows(const hx_multigrid *mg, const hx_operator *op, const float *d_x,
                         float *d_y)
{
    const int components = op->linear.components;
    const rows_product whole = {mg, op, d_x, d_y};
    const hx_product_parts parts = {&whole, run_rows};
    if (mg->dev->ops->matrix->multiply_part_single)
        return hx_interface_add_parts_single(mg->dev, components, &parts, d_y);
    HX_TRY(run_rows(&whole, HX_PRODUCT_WHOLE));
    return hx_interface_add_single(mg->dev, components, d_y);
}

/* y = K x on all rows. */
static int multiply_all_rows(const hx_multigrid *mg, const hx_operator *op, const float *d_x,
                             float *d_y)
{
    return mg->rows ? multiply_rows(mg, op, d_x, d_y)
                    : hx_operator_multiply_single(op, mg->op_kind, mg->state, d_x, d_y);
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

/* Power step with blocks or lines. The first step after a new design or from a random vector gives
 * no estimate, because v does not have unit length yet. d_x must not be changed: in the middle of a
 * solve it is the z that PCG continues with. */
static int power_by_blocks(hx_multigrid *mg, int64_t n)
{
    hx_device *const dev = mg->dev;
    HX_TRY(dev->ops->copy(dev, mg->d_d, mg->d_t, (size_t)n * sizeof *mg->d_d));
    HX_TRY(mg->smoother->apply(dev, &mg->splitting, NULL, mg->d_d));
    return mg->smoother->power(dev, n, mg->d_m, mg->d_t, mg->d_d, mg->d_v, mg->d_smoother);
}

static int step_level(const hx_multigrid *mg, const hx_mg_level *level, int64_t n)
{
    if (level->local) return mg->dev->ops->interface->level_power(mg->dev, mg->dof, level);
    if (level->lines.next) {
        const size_t bytes = (size_t)n * sizeof *level->d_d;
        HX_TRY(mg->dev->ops->copy(mg->dev, level->d_d, level->d_y, bytes));
        HX_TRY(mg->ops->lines->level_apply(mg->dev, level, level->d_d));
        return mg->ops->lines->level_power(mg->dev, n, level->d_m, level->d_y, level->d_d,
                                           level->d_v, level->d_smoother);
    }
    return mg->ops->diagonal->level_power(mg->dev, n, level->d_m, level->d_y, NULL, level->d_v,
                                          level->d_smoother);
}

/* Takes an even number of steps without scaling v, before one with scaling; together they are at
 * most n_step. Each step multiplies the D-norm of v by at most 162, the number of entries of a row;
 * at the start that norm is at most the growth of stiffness between two designs. */
static int leap_level(const hx_multigrid *mg, const hx_mg_level *level, int n_step, int *n_done)
{
    const int most = mg->params->spectrum.steps_unscaled;
    const int n = (n_step <= most ? n_step - 1 : most) / 2 * 2;
    *n_done = 0;
    if (!level || level->local || level->lines.next || !mg->ops->diagonal->level_power_next)
        return HX_OK;
    for (; *n_done < n; *n_done += 2) {
        HX_TRY(mg->ops->diagonal->level_power_next(mg->dev, level, level->d_v, level->d_x));
        HX_TRY(mg->ops->diagonal->level_power_next(mg->dev, level, level->d_x, level->d_v));
    }
    return HX_OK;
}

/* Power iteration on the mesh (l = -1) or a coarse grid, starting from the vector of the last
 * design or from a random one. */
static int estimate(hx_multigrid *mg, const hx_operator *op, int l, int n_step, int from_noise)
{
    const hx_multigrid_ops *ops = mg->ops;
    const hx_mg_level *level = l < 0 ? NULL : &mg->level[l];
    const int64_t n = level ? mg->dof * level->n_node : op->linear.n;
    const float *d_m = level ? level->d_m : mg->d_m;
    float *d_v = level ? level->d_v : mg->d_v, *d_t = level ? level->d_y : mg->d_t;
    hx_mg_smoother *d_smoother = level ? level->d_smoother : mg->d_smoother;
    if (from_noise) { /* values depend on the index in the vector, which owners share */
        HX_TRY(ops->vector->power_start(mg->dev, n, d_m, d_v));
        HX_TRY(level ? hx_interface_make_level_consistent(mg->dev, level, d_v)
                     : hx_interface_make_consistent_single(mg->dev, op->linear.components, d_v));
    }
    for (int i = 0, n_leap; i < n_step; i++) {
        const int is_noise = from_noise && i == 0; /* v has arbitrary length */
        HX_TRY(leap_level(mg, is_noise ? NULL : level, n_step - i, &n_leap));
        i += n_leap;
        HX_TRY(level ? ops->level->multiply(mg->dev, level, d_v, d_t)
                     : product_of_step(mg, op, d_v, d_t));
        if (l < 0 && mg->d_none)
            HX_TRY(power_by_blocks(mg, n));
        else
            HX_TRY(level ? step_level(mg, level, n)
                         : ops->diagonal->power(mg->dev, n, d_m, d_t, NULL, d_v, d_smoother));
    }
    return ops->vector->bound(mg->dev, d_smoother, mg->d_least + l + 1, mg->params->spectrum.kept,
                              mg->params->spectrum.safety, hx_mg_smoothing_of(mg, l).ratio);
}

int hx_mg_estimate(hx_multigrid *mg, const hx_operator *op, int is_first)
{
    const hx_mg_spectrum_params *const s = &mg->params->spectrum;
    const int again = mg->on_mesh.degree > 2 || mg->d_none ? s->steps_uneven : s->steps_mesh;
    HX_TRY(estimate(mg, op, -1, is_first ? s->steps_begin : again, is_first));
    for (int l = 0; l + 1 < mg->n_level; l++) {
        const int n_later = l == 0 ? s->steps_first : s->steps_others;
        HX_TRY(estimate(mg, op, l, is_first ? s->steps_begin : n_later, is_first));
    }
    return HX_OK;
}

/* After this many steps from a random vector little can be missed. lambda is set such that the
 * bound safety * lambda has the smaller margin safety_found, for this design and for later ones
 * that reuse it. */
static int take_found(hx_multigrid *mg, int l, hx_mg_smoother *found)
{
    hx_device *const dev = mg->dev;
    const hx_mg_spectrum_params *const s = &mg->params->spectrum;
    hx_mg_smoother *d_smoother = l < 0 ? mg->d_smoother : mg->level[l].d_smoother;
    found->lambda *= s->safety_found / s->safety;
    const double least = s->kept * found->lambda;
    hx_mg_smoother_set(found, s->safety, hx_mg_smoothing_of(mg, l).ratio);
    HX_TRY(dev->ops->upload(dev, mg->d_least + l + 1, &least, sizeof least));
    return dev->ops->upload(dev, d_smoother, found, sizeof *found);
}

int hx_mg_refresh(hx_multigrid *mg, const hx_operator *op)
{
    hx_device *dev = mg->dev;
    const hx_mg_spectrum_params *const s = &mg->params->spectrum;
    int changed = 0;
    for (int l = -1; l + 1 < mg->n_level; l++) {
        hx_mg_smoother *d_smoother = l < 0 ? mg->d_smoother : mg->level[l].d_smoother;
        hx_mg_smoother before, after;
        HX_TRY(dev->ops->download(dev, &before, d_smoother, sizeof before));
        HX_TRY(estimate(mg, op, l, s->steps_refresh, 1));
        HX_TRY(dev->ops->download(dev, &after, d_smoother, sizeof after));
        if (after.lambda > s->safety * before.lambda) {
            changed = 1;
            HX_TRY(take_found(mg, l, &after));
        } else {
            HX_TRY(dev->ops->upload(dev, d_smoother, &before, sizeof before));
        }
    }
    return changed;
}

static void swap(float **a, float **b)
{
    float *const c = *a;
    *a = *b;
    *b = c;
}

/* Smooths on level l. d_y is the newest iterate, on entry and return; if from_zero is set, it is
 * taken as 0. */
static int smooth_level(const hx_multigrid *mg, int l, int from_zero, float **d_x, float **d_y)
{
    for (int i = 0; i < hx_mg_smoothing_of(mg, l).degree; i++) {
        HX_TRY(mg->ops->level->smooth(mg->dev, &mg->level[l], i, from_zero && i == 0 ? NULL : *d_y,
                                      *d_x));
        swap(d_x, d_y);
    }
    return HX_OK;
}

static int restrict_level(const hx_multigrid *mg, int l, const float *d_y)
{
    const hx_mg_level *level = &mg->level[l];
    HX_TRY(mg->ops->level->residual(mg->dev, level, d_y, level->d_d));
    return mg->ops->transfer->restrict_to(mg->dev, level, level->d_d, &mg->level[l + 1]);
}

static int prolong_level(const hx_multigrid *mg, int l, const float *d_coarse, float *d_y)
{
    return mg->ops->transfer->prolong_from(mg->dev, &mg->level[l + 1], d_coarse, &mg->level[l],
                                           d_y);
}

int hx_mg_cycle(const hx_multigrid *mg, int l, float **d_solution)
{
    hx_device *const dev = mg->dev;
    float *d_x = mg->level[l].d_x, *d_y = mg->level[l].d_y, *d_coarse;
    const int number = l + 1; /* of the level, in profiling marks */
    if (mg->fused.n_level > 0 && l == mg->fused.first) {
        *d_solution = d_x;
        HX_IN_SPAN(dev, HX_SPAN_COARSE, -1,
                   mg->ops->fused->cycle(dev, &mg->fused, &mg->level[l], mg->direct.d_inverse));
        return HX_OK;
    }
    if (l + 1 == mg->n_level) {
        *d_solution = d_x;
        HX_IN_SPAN(dev, HX_SPAN_COARSE, -1,
                   mg->ops->direct->solve(dev, &mg->level[l], &mg->direct, mg->level[l].d_b, d_x));
        return HX_OK;
    }
    for (int visit = 0; visit < hx_mg_smoothing_of(mg, l).visits; visit++) {
        HX_IN_SPAN(dev, HX_SPAN_SMOOTH, number, smooth_level(mg, l, visit == 0, &d_x, &d_y));
        HX_IN_SPAN(dev, HX_SPAN_RESTRICT, number, restrict_level(mg, l, d_y));
        HX_TRY(hx_mg_cycle(mg, l + 1, &d_coarse));
        HX_IN_SPAN(dev, HX_SPAN_PROLONG, number, prolong_level(mg, l, d_coarse, d_y));
    }
    HX_IN_SPAN(dev, HX_SPAN_SMOOTH, number, smooth_level(mg, l, 0, &d_x, &d_y));
    *d_solution = d_y;
    return HX_OK;
}

/* First step of the smoother on the mesh from x = 0: x = b[0] M^-1 r. */
static int start_smoother(const hx_multigrid *mg, const hx_operator *op, const double *d_r)
{
    const hx_mg_vector_ops *ops = mg->ops->vector;
    const int64_t n = op->linear.n;
    const size_t bytes = (size_t)n * sizeof(float);
    if (!mg->d_none)
        return ops->mesh_start(mg->dev, n, mg->d_smoother, d_r, mg->d_m, mg->d_d, mg->d_x);
    HX_TRY(mg->dev->ops->zero(mg->dev, mg->d_x, bytes));
    HX_TRY(mg->dev->ops->zero(mg->dev, mg->d_t, bytes));
    HX_TRY(mg->smoother->apply(mg->dev, &mg->splitting, d_r, mg->d_t));
    return ops->mesh_step(mg->dev, n, mg->d_smoother, 0, mg->d_none, mg->d_t, mg->d_m, mg->d_d,
                          mg->d_x, NULL);
}

/* Step i of the smoother on the mesh. d_z: where the last step leaves its result, or NULL. */
static int step(const hx_multigrid *mg, const hx_operator *op, int i, const double *d_r,
                double *d_z)
{
    HX_TRY(product_of_step(mg, op, mg->d_x, mg->d_t));
    if (mg->d_none) HX_TRY(mg->smoother->apply(mg->dev, &mg->splitting, d_r, mg->d_t));
    return mg->ops->vector->mesh_step(mg->dev, op->linear.n, mg->d_smoother, i,
                                      mg->d_none ? mg->d_none : d_r, mg->d_t, mg->d_m, mg->d_d,
                                      mg->d_x, d_z);
}

static int smooth_before(const hx_multigrid *mg, const hx_operator *op, const double *d_r)
{
    const int degree = hx_mg_smoothing_of(mg, -1).degree;
    HX_TRY(start_smoother(mg, op, d_r));
    for (int i = 1; i < degree; i++) HX_TRY(step(mg, op, i, d_r, NULL));
    return HX_OK;
}

static int smooth_after(const hx_multigrid *mg, const hx_operator *op, const double *d_r,
                        double *d_z)
{
    const int degree = hx_mg_smoothing_of(mg, -1).degree;
    for (int i = 0; i < degree; i++) HX_TRY(step(mg, op, i, d_r, i + 1 == degree ? d_z : NULL));
    return HX_OK;
}

static int restrict_mesh(const hx_multigrid *mg, const hx_operator *op, const double *d_r)
{
    const hx_multigrid_ops *ops = mg->ops;
    HX_TRY(hx_mg_product(mg, op, mg->d_x, mg->d_t));
    HX_TRY(ops->vector->match_entries(mg->dev, mg->rigid.n_dof, mg->rigid.d_dof, d_r, mg->d_t));
    return ops->transfer->mesh_restrict(mg->dev, &mg->mesh, d_r, mg->d_t, &mg->level[0]);
}

int hx_mg_apply(hx_multigrid *mg, const hx_operator *op, const double *d_r, double *d_z)
{
    hx_device *const dev = mg->dev;
    float *d_coarse;
    HX_IN_SPAN(dev, HX_SPAN_SMOOTH, 0, smooth_before(mg, op, d_r));
    HX_IN_SPAN(dev, HX_SPAN_RESTRICT, 0, restrict_mesh(mg, op, d_r));
    if (mg->is_begun) HX_IN_SPAN(dev, HX_SPAN_FACTORS, -1, hx_mg_direct_wait(mg));
    HX_TRY(hx_mg_cycle(mg, 0, &d_coarse));
    HX_IN_SPAN(dev, HX_SPAN_PROLONG, 0,
               mg->ops->transfer->mesh_prolong(dev, &mg->mesh, d_coarse, mg->d_m, mg->d_x));
    HX_IN_SPAN(dev, HX_SPAN_SMOOTH, 0, smooth_after(mg, op, d_r, d_z));
    return HX_OK;
}
