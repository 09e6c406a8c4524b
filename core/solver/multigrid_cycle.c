/* The V-cycle of the preconditioner multigrid, and its smoothers. */
#include <math.h>

#include "../device/timeline.h"
#include "common_ops.h"
#include "multigrid_internal.h"
#include "operator_springs.h"
#include "product.h"
#include "vector_ops.h"

/* Chosen by measurement: doc/notebook/2026-11-26-where-iterations-were-many.md. */
#define KEPT 0.97         /* of the last design's largest eigenvalue, at least */
#define SAFETY 1.3        /* over the largest eigenvalue found: a localised one is found late */
#define SAFETY_FOUND 1.05 /* over what was found in a solve, by POWER_REVISE steps */
enum {
    POWER_FIRST = 20,  /* power iterations for the first design */
    POWER_AGAIN = 2,   /* and for a later one, on the mesh */
    POWER_UNEVEN = 8,  /* the same of a mesh whose elements differ: localised ones are likely */
    POWER_LEVEL = 6,   /* on the first lattice */
    POWER_BELOW = 16,  /* on the others: products cost little, what is missed many iterations */
    POWER_REVISE = 40, /* from noise, when a solve takes long */
    POWER_UNSCALED = 8 /* steps after which a lattice's vector is scaled */
};
/* Where a lattice is visited twice: doc/notebook/2026-11-28-overcorrection.md. */
#define WEIGHT 1.5
static const hx_mg_smoothing on_quadratic = {4, 16.0, 1, 1.0}, on_cubic = {6, 30.0, 1, 1.0},
                             on_first = {2, 8.0, 2, WEIGHT}, on_others = {4, 16.0, 2, WEIGHT},
                             on_others_once = {4, 16.0, 1, 1.0}, on_few = {3, 10.0, 1, 1.0};

/* On the mesh, by the elements across a cell of the first lattice (below `across`): what is shorter
 * than a cell is the smoother's, and its eigenvalues fall with the square of that number. */
static const struct {
    double across;
    hx_mg_smoothing smoothing;
} on_mesh[] = {{5.0, {2, 6.0, 1, 1.0}},
               {7.0, {3, 10.0, 1, 1.0}},
               {10.0, {4, 16.0, 1, 1.0}},
               {INFINITY, {6, 30.0, 1, 1.0}}};

hx_mg_smoothing hx_mg_smoothing_for(double across)
{
    int i = 0;
    while (across >= on_mesh[i].across) i++;
    return on_mesh[i].smoothing;
}

hx_mg_smoothing hx_mg_smoothing_lines(double across_next, int is_narrow)
{
    if (is_narrow) return on_mesh[sizeof on_mesh / sizeof on_mesh[0] - 1].smoothing;
    return hx_mg_smoothing_for(fmax(across_next, on_mesh[0].across)); /* three steps or more */
}

hx_mg_smoothing hx_mg_smoothing_rows(int degree)
{
    return degree > 2 ? on_cubic : on_quadratic;
}

hx_mg_smoothing hx_mg_smoothing_of(const hx_multigrid *mg, int l)
{
    if (l < 0) return mg->rows ? mg->on_rows : mg->on_mesh;
    if (l == 0) return on_first;
    const int is_twice = hx_mg_restores(mg);
    if (l + 2 == mg->n_level && mg->level[l].n_node <= HX_LATTICE_FEW)
        return l > 1 && is_twice ? on_few : on_others_once; /* few: is itself visited four times */
    return is_twice ? on_others : on_others_once;
}

/* Of one call. */
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

/* K x by the stored matrix. */
static int multiply_rows(const hx_multigrid *mg, const hx_operator *op, const float *d_x,
                         float *d_y)
{
    const int components = op->linear.components;
    const rows_product whole = {mg, op, d_x, d_y};
    const hx_product_parts parts = {&whole, run_rows};
    if (mg->dev->ops->matrix->multiply_part_single)
        return hx_common_add_parts_single(mg->dev, components, &parts, d_y);
    HX_TRY(run_rows(&whole, HX_PRODUCT_WHOLE));
    return hx_common_add_single(mg->dev, components, d_y);
}

/* K x on all rows. */
static int multiply(const hx_multigrid *mg, const hx_operator *op, const float *d_x, float *d_y)
{
    return mg->rows ? multiply_rows(mg, op, d_x, d_y)
                    : hx_operator_multiply_single(op, mg->strategy, mg->state, d_x, d_y);
}

int hx_mg_product(const hx_multigrid *mg, const hx_operator *op, const float *d_x, float *d_y)
{
    HX_TRY(multiply(mg, op, d_x, d_y));
    return mg->dev->ops->vector->zero_entries_single(mg->dev, op->n_fixed, op->d_fixed, d_y);
}

/* The same for a step of the smoother or of power iteration: with the diagonal, which is 0 at
 * supports, what the rows there hold is not read. */
static int product_of_step(const hx_multigrid *mg, const hx_operator *op, const float *d_x,
                           float *d_y)
{
    return mg->d_none ? hx_mg_product(mg, op, d_x, d_y) : multiply(mg, op, d_x, d_y);
}

/* The first step after a new design or noise has no estimate: v is not of length 1 yet. d_x is
 * left alone: in the middle of a solve it is the z that PCG goes on with. */
static int power_by_blocks(hx_multigrid *mg, const hx_operator *op, int64_t n)
{
    hx_device *const dev = mg->dev;
    HX_TRY(dev->ops->copy(dev, mg->d_d, mg->d_t, (size_t)n * sizeof *mg->d_d));
    HX_TRY(hx_mg_blocks_solve(mg, op, NULL, mg->d_d));
    return mg->ops->blocks_power(dev, n, mg->d_m, mg->d_t, mg->d_d, mg->d_v, mg->d_smoother);
}

/* Noise goes by a vector's places: of a level in shares that of each node's owner. */
static int start_level(const hx_multigrid *mg, const hx_mg_level *level, int64_t n)
{
    HX_TRY(mg->ops->power_start(mg->dev, n, level->d_m, level->d_v));
    return hx_common_settle_level(mg->dev, level, level->d_v);
}

static int step_level(const hx_multigrid *mg, const hx_mg_level *level, int64_t n)
{
    if (level->share) return mg->dev->ops->common->level_power(mg->dev, mg->dof, level);
    if (level->lines.next) {
        const size_t bytes = (size_t)n * sizeof *level->d_d;
        HX_TRY(mg->dev->ops->copy(mg->dev, level->d_d, level->d_y, bytes));
        HX_TRY(mg->ops->level_solve(mg->dev, level, level->d_d));
        return mg->ops->level_power(mg->dev, n, level->d_m, level->d_y, level->d_d, level->d_v,
                                    level->d_smoother);
    }
    return mg->ops->power_step(mg->dev, n, level->d_m, level->d_y, level->d_v, level->d_smoother);
}

/* An even number of steps that do not scale v, before one that does, with which they are `n_step`
 * at most. Each makes v longer by 162 at most in the norm of D, the entries of a row; v is at most
 * as long as stiffness grows from design to design. */
static int leap_level(const hx_multigrid *mg, const hx_mg_level *level, int n_step, int *n_done)
{
    const int n = (n_step <= POWER_UNSCALED ? n_step - 1 : POWER_UNSCALED) / 2 * 2;
    *n_done = 0;
    if (!level || level->share || level->lines.next || !mg->ops->power_next) return HX_OK;
    for (; *n_done < n; *n_done += 2) {
        HX_TRY(mg->ops->power_next(mg->dev, level, level->d_v, level->d_x));
        HX_TRY(mg->ops->power_next(mg->dev, level, level->d_x, level->d_v));
    }
    return HX_OK;
}

/* Power iteration on the mesh (l = -1) or a lattice, from the vector of the last design or from
 * noise. */
static int estimate(hx_multigrid *mg, const hx_operator *op, int l, int n_step, int from_noise)
{
    const hx_multigrid_ops *ops = mg->ops;
    const hx_mg_level *level = l < 0 ? NULL : &mg->level[l];
    const int64_t n = level ? mg->dof * level->n_node : op->linear.n;
    const float *d_m = level ? level->d_m : mg->d_m;
    float *d_v = level ? level->d_v : mg->d_v, *d_t = level ? level->d_y : mg->d_t;
    hx_mg_smoother *d_smoother = level ? level->d_smoother : mg->d_smoother;
    if (from_noise)
        HX_TRY(level ? start_level(mg, level, n) : ops->mesh_power_start(mg->dev, n, d_m, d_v));
    for (int i = 0, n_leap; i < n_step; i++) {
        const int is_noise = from_noise && i == 0; /* of any length */
        HX_TRY(leap_level(mg, is_noise ? NULL : level, n_step - i, &n_leap));
        i += n_leap;
        HX_TRY(level ? ops->multiply(mg->dev, level, d_v, d_t) : product_of_step(mg, op, d_v, d_t));
        if (l < 0 && mg->d_none)
            HX_TRY(power_by_blocks(mg, op, n));
        else
            HX_TRY(level ? step_level(mg, level, n)
                         : ops->mesh_power_step(mg->dev, n, d_m, d_t, d_v, d_smoother));
    }
    return ops->bound(mg->dev, d_smoother, mg->d_least + l + 1, KEPT, SAFETY,
                      hx_mg_smoothing_of(mg, l).ratio);
}

int hx_mg_estimate(hx_multigrid *mg, const hx_operator *op, int is_first)
{
    const int again = mg->on_mesh.degree > 2 || mg->d_none ? POWER_UNEVEN : POWER_AGAIN;
    HX_TRY(estimate(mg, op, -1, is_first ? POWER_FIRST : again, is_first));
    for (int l = 0; l + 1 < mg->n_level; l++) {
        const int n_later = l == 0 ? POWER_LEVEL : POWER_BELOW;
        HX_TRY(estimate(mg, op, l, is_first ? POWER_FIRST : n_later, is_first));
    }
    return HX_OK;
}

/* After so many steps from noise little is left to find: lambda becomes what SAFETY makes the bound
 * of, here and in the designs that keep it. */
static int take_found(hx_multigrid *mg, int l, hx_mg_smoother *found)
{
    hx_device *const dev = mg->dev;
    hx_mg_smoother *d_smoother = l < 0 ? mg->d_smoother : mg->level[l].d_smoother;
    found->lambda *= SAFETY_FOUND / SAFETY;
    const double least = KEPT * found->lambda;
    hx_mg_smoother_set(found, SAFETY, hx_mg_smoothing_of(mg, l).ratio);
    HX_TRY(dev->ops->upload(dev, mg->d_least + l + 1, &least, sizeof least));
    return dev->ops->upload(dev, d_smoother, found, sizeof *found);
}

int hx_mg_revise(hx_multigrid *mg, const hx_operator *op)
{
    hx_device *dev = mg->dev;
    int changed = 0;
    for (int l = -1; l + 1 < mg->n_level; l++) {
        hx_mg_smoother *d_smoother = l < 0 ? mg->d_smoother : mg->level[l].d_smoother;
        hx_mg_smoother before, after;
        HX_TRY(dev->ops->download(dev, &before, d_smoother, sizeof before));
        HX_TRY(estimate(mg, op, l, POWER_REVISE, 1));
        HX_TRY(dev->ops->download(dev, &after, d_smoother, sizeof after));
        if (after.lambda > SAFETY * before.lambda) {
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

/* The newest is y, before and after; from 0, whatever y is. */
static int smooth_level(const hx_multigrid *mg, int l, int from_zero, float **d_x, float **d_y)
{
    for (int i = 0; i < hx_mg_smoothing_of(mg, l).degree; i++) {
        HX_TRY(mg->ops->smooth(mg->dev, &mg->level[l], i, from_zero && i == 0 ? NULL : *d_y, *d_x));
        swap(d_x, d_y);
    }
    return HX_OK;
}

static int restrict_level(const hx_multigrid *mg, int l, const float *d_y)
{
    const hx_mg_level *level = &mg->level[l];
    HX_TRY(mg->ops->residual(mg->dev, level, d_y, level->d_d));
    return mg->ops->restrict_to(mg->dev, level, level->d_d, &mg->level[l + 1]);
}

static int prolong_level(const hx_multigrid *mg, int l, const float *d_coarse, float *d_y)
{
    return mg->ops->prolong_from(mg->dev, &mg->level[l + 1], d_coarse, &mg->level[l], d_y);
}

int hx_mg_cycle(const hx_multigrid *mg, int l, float **d_solution)
{
    hx_device *const dev = mg->dev;
    float *d_x = mg->level[l].d_x, *d_y = mg->level[l].d_y, *d_coarse;
    const int number = l + 1; /* of the lattice, in marks */
    if (mg->resident.n_level > 0 && l == mg->resident.first) {
        *d_solution = d_x;
        HX_IN_SPAN(dev, HX_SPAN_COARSE, -1,
                   mg->ops->resident_cycle(dev, &mg->resident, &mg->level[l], mg->d_inverse));
        return HX_OK;
    }
    if (l + 1 == mg->n_level) {
        *d_solution = d_x;
        HX_IN_SPAN(dev, HX_SPAN_COARSE, -1, hx_mg_direct_solve(mg, d_x));
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

/* x = b[0] M^-1 r from x = 0. */
static int start(const hx_multigrid *mg, const hx_operator *op, const double *d_r)
{
    const hx_multigrid_ops *ops = mg->ops;
    const int64_t n = op->linear.n;
    const size_t bytes = (size_t)n * sizeof(float);
    if (!mg->d_none)
        return ops->mesh_start(mg->dev, n, mg->d_smoother, d_r, mg->d_m, mg->d_d, mg->d_x);
    HX_TRY(mg->dev->ops->zero(mg->dev, mg->d_x, bytes));
    HX_TRY(mg->dev->ops->zero(mg->dev, mg->d_t, bytes));
    HX_TRY(hx_mg_blocks_solve(mg, op, d_r, mg->d_t));
    return ops->mesh_step(mg->dev, n, mg->d_smoother, 0, mg->d_none, mg->d_t, mg->d_m, mg->d_d,
                          mg->d_x, NULL);
}

/* Step i of the smoother on the mesh; d_z: where the last one leaves its result, or NULL. */
static int step(const hx_multigrid *mg, const hx_operator *op, int i, const double *d_r,
                double *d_z)
{
    HX_TRY(product_of_step(mg, op, mg->d_x, mg->d_t));
    if (mg->d_none) HX_TRY(hx_mg_blocks_solve(mg, op, d_r, mg->d_t));
    return mg->ops->mesh_step(mg->dev, op->linear.n, mg->d_smoother, i,
                              mg->d_none ? mg->d_none : d_r, mg->d_t, mg->d_m, mg->d_d, mg->d_x,
                              d_z);
}

static int smooth_before(const hx_multigrid *mg, const hx_operator *op, const double *d_r)
{
    const int degree = hx_mg_smoothing_of(mg, -1).degree;
    HX_TRY(start(mg, op, d_r));
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
    HX_TRY(ops->match_entries(mg->dev, mg->rigid.n_dof, mg->rigid.d_dof, d_r, mg->d_t));
    return ops->mesh_restrict(mg->dev, &mg->mesh, d_r, mg->d_t, &mg->level[0]);
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
               mg->ops->mesh_prolong(dev, &mg->mesh, d_coarse, mg->d_m, mg->d_x));
    HX_IN_SPAN(dev, HX_SPAN_SMOOTH, 0, smooth_after(mg, op, d_r, d_z));
    return HX_OK;
}
