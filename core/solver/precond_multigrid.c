/* Multigrid: one symmetric V-cycle in single precision. The mesh is smoothed matrix-free, the
 * coarse levels are lattices laid over it (lattice.h) with Galerkin matrices of the design's own
 * modulus, which is what keeps the iterations few at any contrast. Only values change with the
 * design. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vectorised.h"
#include "lattice.h"
#include "lattice_springs.h"
#include "multigrid.h"
#include "precond.h"
#include "rigid_ops.h"
#include "vector_ops.h"

/* Chosen by measurement, see README.md. */
#define COARSENING 4.0 /* elements a cell of the first lattice, in each direction */
#define KEPT 0.97      /* of the last design's largest eigenvalue, at least */
#define SAFETY 1.3     /* over the largest eigenvalue found: a localised one is found late */
enum {
    N_LAST = 64,      /* nodes of the lattice that is solved directly, at most */
    POWER_FIRST = 20, /* power iterations for the first design */
    POWER_AGAIN = 2,  /* and for a later one, on the mesh */
    POWER_LEVEL = 6,  /* on a lattice */
    POWER_REVISE = 40 /* from noise, when a solve takes long */
};

/* Steps of a smoother, the part of the spectrum it is for, and how often the next level is visited
 * (with a smoothing in between). */
typedef struct smoothing {
    int degree;
    double ratio;
    int visits;
} smoothing;
static const smoothing on_mesh = {2, 6.0, 1}, on_first = {2, 8.0, 2}, on_others = {4, 16.0, 1};

/* Rigid sets: their nodes are held in the V-cycle M0, and a direct solve for the motions c of all
 * sets is added (two subspaces, additive):
 *
 *     M^-1 = M0^-1 + R E^-1 R',   R = Q - P0 Y,   E = R'K R,
 *
 * Q the motions on the sets and 0 elsewhere, P0 from the first lattice, Y ~ A^-1 P0'K Q, so that R
 * is nearly orthogonal to the rest in the energy product, as the motions continued elastically are.
 * 6 columns a set on the lattice, found anew for each design. */
typedef struct rigid_motions {
    int n_column;        /* 6 a set; 0: no rigid sets */
    int64_t n_dof;       /* of their nodes */
    int64_t *d_dof;      /* [n_dof] */
    double *d_w;         /* [n_dof of the mesh] */
    double *d_sum, *d_c; /* [n_column] R'r; E^-1 R'r */
    double *d_inverse;   /* [n_column][n_column] of E */
    float *d_y, *d_b;    /* [n_column][6 n], [6 n] of the first lattice */
    double *matrix;      /* [4 n_column][n_column] on the host: E, its inverse, Q'K Q, a column */
} rigid_motions;

typedef struct multigrid {
    hx_device *dev;
    const hx_multigrid_ops *ops;
    const hx_strategy *strategy; /* of the products in single precision */
    void *state, *own_state;     /* own_state: where the operator has no such product (owned) */
    hx_mg_mesh mesh;
    int n_level;
    hx_mg_level level[HX_LATTICE_LEVELS];
    int64_t n_spring_block;
    int64_t *d_spring_at;  /* [n_spring_block], see lattice_springs.h */
    float *d_spring_block; /* [n_spring_block][6][6] */
    float *d_inverse;      /* of the last level's matrix */
    double *dense;         /* [2 * 6 n + 2][6 n] on the host: the last level's matrix, scratch */
    float *inverse;
    float *d_m, *d_x, *d_t, *d_v, *d_d; /* [n_dof] on the mesh; d only with more than one step */
    hx_mg_smoother *d_smoother;
    rigid_motions rigid;
    double least[HX_LATTICE_LEVELS + 1]; /* what eigenvalues are at least, of the mesh first */
    int n_setup;
} multigrid;

static smoothing smoothing_of(int l)
{
    return l == 0 ? on_first : on_others;
}

static int product(const multigrid *mg, const hx_operator *op, const float *d_x, float *d_y)
{
    HX_TRY(mg->strategy->apply_single(mg->state, d_x, d_y));
    HX_TRY(hx_operator_add_springs_single(op, d_x, d_y));
    return mg->dev->ops->vector->zero_entries_single(mg->dev, op->n_fixed, op->d_fixed, d_y);
}

static int put_mesh(multigrid *mg, const hx_operator *op, const hx_lattice *lattice,
                    const uint8_t *held)
{
    hx_device *dev = mg->dev;
    hx_mg_mesh *m = &mg->mesh;
    const size_t n_cell = (size_t)lattice->n_cell, n_elem = (size_t)op->model.n_elem,
                 n_node = (size_t)op->model.n_node, word = sizeof(int32_t);
    m->model = &op->model;
    m->n_cell = lattice->n_cell;
    m->unit = lattice->unit;
    memcpy(m->origin, lattice->origin, sizeof m->origin);
    memcpy(m->size, lattice->size, sizeof m->size);
    memcpy(m->colour_at, lattice->colour_at, sizeof m->colour_at);
    HX_TRY(hx_device_put(dev, &m->d_cell, lattice->cell, n_cell * 3 * word));
    HX_TRY(hx_device_put(dev, &m->d_cell_corner, lattice->cell_corner, n_cell * 8 * word));
    HX_TRY(hx_device_put(dev, &m->d_node_cell, lattice->node_cell,
                         8 * (size_t)lattice->level[0].n_node * word));
    HX_TRY(dev->ops->alloc(dev, n_cell * 48 * sizeof(float), &m->d_partial));
    HX_TRY(hx_device_put(dev, &m->d_cell_elem, lattice->cell_elem, n_elem * word));
    HX_TRY(hx_device_put(dev, &m->d_cell_elem_at, lattice->cell_elem_at, (n_cell + 1) * word));
    HX_TRY(hx_device_put(dev, &m->d_cell_node, lattice->cell_node, n_node * word));
    HX_TRY(hx_device_put(dev, &m->d_cell_node_at, lattice->cell_node_at, (n_cell + 1) * word));
    HX_TRY(hx_device_put(dev, &m->d_coloured, lattice->coloured, n_cell * word));
    HX_TRY(hx_device_put(dev, &m->d_position, lattice->position, n_node * 3 * sizeof(float)));
    return hx_device_put(dev, &m->d_fixed, held, n_node);
}

static int put_level(multigrid *mg, const hx_lattice *lattice, int l)
{
    const hx_lattice_level *from = &lattice->level[l];
    hx_mg_level *to = &mg->level[l];
    hx_device *dev = mg->dev;
    const hx_device_ops *ops = dev->ops;
    const size_t n = (size_t)from->n_node, word = sizeof(int32_t), vector = 6 * n * sizeof(float);
    float **const vectors[] = {&to->d_m, &to->d_b, &to->d_x, &to->d_y, &to->d_d, &to->d_v};
    to->n_node = from->n_node;
    for (int i = 0; i < 3; i++) to->step[i] = (float)from->step[i];
    memcpy(to->mode, from->mode, sizeof to->mode);
    HX_TRY(hx_device_put(dev, &to->d_neighbour, from->neighbour, 27 * n * word));
    if (from->child) HX_TRY(hx_device_put(dev, &to->d_child, from->child, 27 * n * word));
    if (from->parent) HX_TRY(hx_device_put(dev, &to->d_parent, from->parent, 8 * n * word));
    HX_TRY(ops->alloc(dev, 27 * 36 * n * sizeof(float), &to->d_matrix));
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        HX_TRY(ops->alloc(dev, vector, vectors[i]));
    return ops->alloc(dev, sizeof *to->d_smoother, &to->d_smoother);
}

static int put_levels(multigrid *mg, const hx_operator *op, const hx_lattice *lattice,
                      const uint8_t *held)
{
    HX_TRY(put_mesh(mg, op, lattice, held));
    for (int l = 0; l < lattice->n_level; l++) {
        mg->n_level = l + 1; /* what destroy frees */
        HX_TRY(put_level(mg, lattice, l));
    }
    const size_t n = 6 * (size_t)mg->level[mg->n_level - 1].n_node;
    HX_TRY(hx_alloc_raw(&mg->dense, (2 * n + 2) * n, sizeof *mg->dense, "coarsest level"));
    HX_TRY(hx_alloc_raw(&mg->inverse, n * n, sizeof *mg->inverse, "coarsest level"));
    return mg->dev->ops->alloc(mg->dev, n * n * sizeof(float), &mg->d_inverse);
}

static int put_springs(multigrid *mg, const hx_problem *problem, const hx_lattice *lattice,
                       const uint8_t *held)
{
    hx_lattice_springs springs;
    int rc;
    HX_TRY(hx_lattice_springs_create(&springs, lattice, problem, held));
    const size_t n = (size_t)springs.n;
    mg->n_spring_block = springs.n;
    if (n > 0)
        HX_TRY_FAIL(hx_device_put(mg->dev, &mg->d_spring_at, springs.at, n * sizeof *springs.at));
    if (n > 0)
        HX_TRY_FAIL(hx_device_put(mg->dev, &mg->d_spring_block, springs.block,
                                  n * 36 * sizeof *springs.block));
    rc = HX_OK;
fail:
    hx_lattice_springs_free(&springs);
    return rc;
}

static int alloc_vectors(multigrid *mg, int64_t n_dof)
{
    const hx_device_ops *ops = mg->dev->ops;
    const size_t bytes = (size_t)((n_dof + 63) / 64 * 64) * sizeof(float);
    HX_TRY(ops->alloc(mg->dev, bytes, &mg->d_m));
    HX_TRY(ops->alloc(mg->dev, 2 * bytes, &mg->d_x)); /* also the diagonal, in double */
    mg->d_t = mg->d_x + bytes / sizeof(float);
    HX_TRY(ops->alloc(mg->dev, bytes, &mg->d_v));
    if (on_mesh.degree > 1) HX_TRY(ops->alloc(mg->dev, bytes, &mg->d_d));
    return ops->alloc(mg->dev, sizeof *mg->d_smoother, &mg->d_smoother);
}

/* The operator's own product in single precision, or the device's matrix-free one. */
static int find_product(multigrid *mg, const hx_operator *op)
{
    mg->strategy = op->strategy;
    mg->state = op->state;
    if (!op->strategy->apply_single) {
        mg->strategy = mg->dev->ops->matrix_free;
        if (!mg->strategy)
            return HX_RAISE(HX_EINPUT,
                            "preconditioner 'multigrid' needs a product in single "
                            "precision, which device '%s' has not",
                            mg->dev->ops->name);
        HX_TRY(mg->strategy->setup(&mg->own_state, mg->dev, &op->model, op->problem->mesh,
                                   HX_LAYOUT_INTERLEAVED));
        mg->state = mg->own_state;
    }
    return mg->strategy->prepare_single ? mg->strategy->prepare_single(mg->state) : HX_OK;
}

static void release_level(hx_device *dev, hx_mg_level *level)
{
    void *const owned[] = {level->d_neighbour, level->d_child, level->d_parent,  level->d_matrix,
                           level->d_m,         level->d_b,     level->d_x,       level->d_y,
                           level->d_d,         level->d_v,     level->d_smoother};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) dev->ops->release(dev, owned[i]);
}

static void destroy(hx_precond *pc)
{
    multigrid *mg = pc->impl;
    if (!mg) return;
    hx_device *dev = mg->dev;
    const hx_mg_mesh *m = &mg->mesh;
    void *const owned[] = {m->d_cell,      m->d_cell_corner,  m->d_cell_elem,    m->d_cell_elem_at,
                           m->d_cell_node, m->d_cell_node_at, m->d_coloured,     m->d_position,
                           m->d_node_cell, m->d_partial,      m->d_fixed,        mg->d_m,
                           mg->d_x,        mg->d_v,           mg->d_d,           mg->d_inverse,
                           mg->d_smoother, mg->d_spring_at,   mg->d_spring_block};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) dev->ops->release(dev, owned[i]);
    for (int l = 0; l < mg->n_level; l++) release_level(dev, &mg->level[l]);
    const rigid_motions *rigid = &mg->rigid;
    void *const of_sets[] = {rigid->d_dof, rigid->d_w,       rigid->d_sum, rigid->d_c,
                             rigid->d_b,   rigid->d_inverse, rigid->d_y};
    for (size_t i = 0; i < sizeof of_sets / sizeof of_sets[0]; i++)
        dev->ops->release(dev, of_sets[i]);
    free(rigid->matrix);
    if (mg->own_state) mg->strategy->teardown(mg->own_state);
    free(mg->dense);
    free(mg->inverse);
    free(mg);
    pc->impl = NULL;
}

static int put_rigid(multigrid *mg, const hx_operator *op)
{
    const hx_problem *problem = op->problem;
    const hx_device_ops *ops = mg->dev->ops;
    rigid_motions *rigid = &mg->rigid;
    int64_t *dof;
    if (problem->n_rigid == 0) return HX_OK;
    const size_t n = 6 * (size_t)problem->n_rigid, n_dof = 3 * (size_t)problem->n_rigid_node,
                 lattice_bytes = 6 * (size_t)mg->level[0].n_node * sizeof(float);
    HX_TRY(hx_alloc_raw(&dof, n_dof, sizeof *dof, "rigid sets"));
    for (size_t k = 0; k < n_dof; k++) dof[k] = 3 * (int64_t)problem->rigid_node[k / 3] + k % 3;
    const int rc = hx_device_put(mg->dev, &rigid->d_dof, dof, n_dof * sizeof *dof);
    free(dof);
    HX_TRY(rc);
    rigid->n_column = (int)n;
    rigid->n_dof = (int64_t)n_dof;
    HX_TRY(hx_alloc_raw(&rigid->matrix, 4 * n, n * sizeof(double), "rigid sets"));
    HX_TRY(ops->alloc(mg->dev, (size_t)op->n_dof * sizeof(double), &rigid->d_w));
    HX_TRY(ops->alloc(mg->dev, n * sizeof(double), &rigid->d_sum));
    HX_TRY(ops->alloc(mg->dev, n * sizeof(double), &rigid->d_c));
    HX_TRY(ops->alloc(mg->dev, n * n * sizeof(double), &rigid->d_inverse));
    HX_TRY(ops->alloc(mg->dev, lattice_bytes, &rigid->d_b));
    return ops->alloc(mg->dev, n * lattice_bytes, &rigid->d_y);
}

static int create(hx_precond *pc, const hx_operator *op)
{
    const size_t n_node = (size_t)op->problem->mesh->n_node;
    hx_lattice lattice;
    multigrid *mg;
    uint8_t *held; /* what M0 leaves alone: supports, and rigid sets */
    HX_TRY(hx_alloc(&mg, 1, sizeof *mg, "multigrid"));
    pc->impl = mg;
    mg->dev = op->dev;
    mg->ops = op->dev->ops->multigrid;
    if (!mg->ops)
        return HX_RAISE(HX_EINPUT, "device '%s' has no preconditioner 'multigrid'",
                        op->dev->ops->name);
    HX_TRY(find_product(mg, op));
    HX_TRY(alloc_vectors(mg, op->n_dof));
    HX_TRY(hx_lattice_create(&lattice, op->problem->mesh, COARSENING, N_LAST));
    int rc = hx_alloc_raw(&held, n_node, 1, "multigrid");
    if (rc == HX_OK) {
        memcpy(held, op->problem->fixed, n_node);
        for (int64_t k = 0; k < op->problem->n_rigid_node; k++)
            held[op->problem->rigid_node[k]] = HX_FIX_X | HX_FIX_Y | HX_FIX_Z;
        rc = put_levels(mg, op, &lattice, held);
    }
    if (rc == HX_OK) rc = put_springs(mg, op->problem, &lattice, held);
    if (rc == HX_OK) rc = put_rigid(mg, op);
    free(held);
    hx_lattice_free(&lattice);
    return rc;
}

/* Below this, a pivot of a matrix with unit diagonal is what rounding to single precision left of
 * 0: the coarse spaces are redundant (the same rotation everywhere is the motion 0). */
#define LEAST_PIVOT 3e-6

/* to -= factor * row */
HX_VECTORISED
static void subtract_row(int64_t n, double factor, const double *row, double *to)
{
    for (int64_t j = 0; j < n; j++) to[j] -= factor * row[j];
}

static void swap_rows(double *a, int64_t n, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < n; k++) {
        const double held = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = held;
    }
    for (int64_t k = 0; k < n; k++) {
        const double held = a[k * n + i];
        a[k * n + i] = a[k * n + j];
        a[k * n + j] = held;
    }
}

/* Cholesky with diagonal pivoting of a symmetric positive semidefinite a[n][n] with unit diagonal:
 * a[k][i] = L[i][k] for i >= k, rows and columns permuted as `place` says. Returns the rank. */
static int64_t factorise_dense(int64_t n, double *a, int64_t *place)
{
    for (int64_t k = 0; k < n; k++) place[k] = k;
    for (int64_t k = 0; k < n; k++) {
        double *row = a + k * n;
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (a[i * n + i] > a[best * n + best]) best = i;
        if (!(a[best * n + best] > LEAST_PIVOT)) return k;
        if (best != k) {
            const int64_t held = place[k];
            place[k] = place[best];
            place[best] = held;
            swap_rows(a, n, k, best);
        }
        const double root = sqrt(row[k]);
        row[k] = root;
        for (int64_t i = k + 1; i < n; i++) row[i] /= root;
#pragma omp parallel for schedule(static) if (n - k > 192)
        for (int64_t i = k + 1; i < n; i++)
            subtract_row(n - k - 1, row[i], row + k + 1, a + i * n + k + 1);
    }
    return n;
}

/* x[rank] := the solution of L L' x = unit vector c. */
HX_VECTORISED
static void solve_dense(int64_t n, int64_t rank, const double *a, int64_t c, double *x)
{
    memset(x, 0, (size_t)n * sizeof *x);
    x[c] = 1.0;
    for (int64_t k = c; k < rank; k++) {
        const double *row = a + k * n;
        x[k] /= row[k];
        const double xk = x[k];
        for (int64_t i = k + 1; i < rank; i++) x[i] -= xk * row[i];
    }
    for (int64_t k = rank - 1; k >= 0; k--) {
        const double *row = a + k * n;
        double sum = x[k];
#pragma omp simd reduction(+ : sum)
        for (int64_t i = k + 1; i < rank; i++) sum -= row[i] * x[i];
        x[k] = sum / row[k];
    }
}

/* A generalised inverse of a symmetric positive semidefinite a[n][n] (destroyed): the inverse on a
 * largest set of independent rows, 0 on the others. work[n + 2][n]. */
static void invert_dense(int64_t n, double *a, double *work, float *inverse)
{
    double *scale = work + n * n;
    int64_t *place = (int64_t *)(work + n * n + n);
    for (int64_t i = 0; i < n; i++) scale[i] = a[i * n + i] > 0.0 ? 1.0 / sqrt(a[i * n + i]) : 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) a[i * n + j] *= scale[i] * scale[j];
    const int64_t rank = factorise_dense(n, a, place);
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t c = 0; c < rank; c++) solve_dense(n, rank, a, c, work + c * n);
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < rank; j++) {
            const double mean = 0.5 * (work[i * n + j] + work[j * n + i]);
            inverse[place[i] * n + place[j]] = (float)(scale[place[i]] * scale[place[j]] * mean);
        }
}

static int factorise(multigrid *mg)
{
    const hx_mg_level *last = &mg->level[mg->n_level - 1];
    const int64_t n = HX_MG_DOF * last->n_node;
    HX_TRY(mg->ops->dense(mg->dev, last, mg->dense));
    invert_dense(n, mg->dense, mg->dense + n * n, mg->inverse);
    return mg->dev->ops->upload(mg->dev, mg->d_inverse, mg->inverse,
                                (size_t)(n * n) * sizeof *mg->inverse);
}

/* The smoother of the eigenvalue just found, or of most of the one before: it changes little from
 * design to design, but a few steps may not find it again where it has moved to. */
static int set_smoother(multigrid *mg, int l, hx_mg_smoother *d_smoother)
{
    const hx_device_ops *ops = mg->dev->ops;
    double *least = &mg->least[l + 1];
    hx_mg_smoother s;
    HX_TRY(ops->download(mg->dev, &s, d_smoother, sizeof s));
    s.lambda = fmax(s.lambda, *least);
    *least = KEPT * s.lambda;
    hx_mg_smoother_set(&s, SAFETY, l < 0 ? on_mesh.ratio : smoothing_of(l).ratio);
    return ops->upload(mg->dev, d_smoother, &s, sizeof s);
}

/* Power iteration on the mesh (l = -1) or a lattice, from the vector of the last design or from
 * noise. */
static int estimate(multigrid *mg, const hx_operator *op, int l, int n_step, int from_noise)
{
    const hx_multigrid_ops *ops = mg->ops;
    const hx_mg_level *level = l < 0 ? NULL : &mg->level[l];
    const int64_t n = level ? HX_MG_DOF * level->n_node : op->n_dof;
    const float *d_m = level ? level->d_m : mg->d_m;
    float *d_v = level ? level->d_v : mg->d_v, *d_t = level ? level->d_y : mg->d_t;
    hx_mg_smoother *d_smoother = level ? level->d_smoother : mg->d_smoother;
    if (from_noise) HX_TRY(ops->power_start(mg->dev, n, d_m, d_v));
    for (int i = 0; i < n_step; i++) {
        HX_TRY(level ? ops->multiply(mg->dev, level, d_v, d_t) : product(mg, op, d_v, d_t));
        HX_TRY(ops->power_step(mg->dev, n, d_m, d_t, d_v, d_smoother));
    }
    return set_smoother(mg, l, d_smoother);
}

static int estimate_all(multigrid *mg, const hx_operator *op, int on_mesh_steps, int on_level_steps,
                        int from_noise)
{
    HX_TRY(estimate(mg, op, -1, on_mesh_steps, from_noise));
    for (int l = 0; l + 1 < mg->n_level; l++)
        HX_TRY(estimate(mg, op, l, on_level_steps, from_noise));
    return HX_OK;
}

/* Eigenvalues from noise; a smoother whose interval they leave gets a new one. */
static int revise(hx_precond *pc)
{
    multigrid *mg = pc->impl;
    hx_device *dev = mg->dev;
    int changed = 0;
    for (int l = -1; l + 1 < mg->n_level; l++) {
        hx_mg_smoother *d_smoother = l < 0 ? mg->d_smoother : mg->level[l].d_smoother;
        hx_mg_smoother before, after;
        HX_TRY(dev->ops->download(dev, &before, d_smoother, sizeof before));
        HX_TRY(estimate(mg, pc->op, l, POWER_REVISE, 1));
        HX_TRY(dev->ops->download(dev, &after, d_smoother, sizeof after));
        if (after.lambda > SAFETY * before.lambda)
            changed = 1;
        else
            HX_TRY(dev->ops->upload(dev, d_smoother, &before, sizeof before));
    }
    return changed;
}

static void swap(float **a, float **b)
{
    float *const c = *a;
    *a = *b;
    *b = c;
}

/* Solves level l for its right-hand side, roughly; *d_solution is one of its iterates. */
static int cycle(const multigrid *mg, int l, float **d_solution)
{
    const hx_multigrid_ops *ops = mg->ops;
    const hx_mg_level *level = &mg->level[l];
    const int degree = smoothing_of(l).degree;
    float *d_x = level->d_x, *d_y = level->d_y, *d_coarse;
    if (l + 1 == mg->n_level) {
        *d_solution = d_x;
        return ops->dense_multiply(mg->dev, HX_MG_DOF * level->n_node, mg->d_inverse, level->d_b,
                                   d_x);
    }
    for (int visit = 0; visit < smoothing_of(l).visits; visit++) {
        for (int i = 0; i < degree; i++) { /* the newest is y */
            HX_TRY(ops->smooth(mg->dev, level, i, visit == 0 && i == 0 ? NULL : d_y, d_x));
            swap(&d_x, &d_y);
        }
        HX_TRY(ops->residual(mg->dev, level, d_y, level->d_d));
        HX_TRY(ops->restrict_to(mg->dev, level, level->d_d, &mg->level[l + 1]));
        HX_TRY(cycle(mg, l + 1, &d_coarse));
        HX_TRY(ops->prolong_from(mg->dev, &mg->level[l + 1], d_coarse, level, d_y));
    }
    for (int i = 0; i < degree; i++) {
        HX_TRY(ops->smooth(mg->dev, level, i, d_y, d_x));
        swap(&d_x, &d_y);
    }
    *d_solution = d_y;
    return HX_OK;
}

/* level[0].b = P0'r. */
static int restrict_free(const multigrid *mg, const double *d_r, float *d_t, size_t n_dof)
{
    HX_TRY(mg->dev->ops->zero(mg->dev, d_t, n_dof * sizeof *d_t));
    HX_TRY(mg->ops->match_entries(mg->dev, mg->rigid.n_dof, mg->rigid.d_dof, d_r, d_t));
    return mg->ops->mesh_restrict(mg->dev, &mg->mesh, d_r, d_t, &mg->level[0]);
}

/* sum = R'r; t is scratch. */
static int rigid_sums(const multigrid *mg, const hx_operator *op, const double *d_r, float *d_t)
{
    const rigid_motions *rigid = &mg->rigid;
    const hx_problem *problem = op->problem;
    for (int i = 0; i < problem->n_rigid; i++)
        HX_TRY(mg->dev->ops->rigid->sum(mg->dev, &problem->rigid[i], op->d_rigid_node,
                                        op->model.d_xyz, d_r, rigid->d_sum + 6 * i));
    HX_TRY(restrict_free(mg, d_r, d_t, (size_t)op->n_dof));
    return mg->ops->column_dots(mg->dev, HX_MG_DOF * mg->level[0].n_node, rigid->n_column,
                                rigid->d_y, mg->level[0].d_b, rigid->d_sum);
}

/* z += R c, where z is 0 on the sets; x, which is 0 then, is scratch. */
static int add_motions(const multigrid *mg, const hx_operator *op, const double *d_c, float *d_x,
                       double *d_z)
{
    const hx_problem *problem = op->problem;
    const hx_device_ops *ops = mg->dev->ops;
    const hx_mg_level *level = &mg->level[0];
    HX_TRY(ops->zero(mg->dev, d_x, (size_t)op->n_dof * sizeof *d_x));
    HX_TRY(mg->ops->column_combine(mg->dev, HX_MG_DOF * level->n_node, mg->rigid.n_column,
                                   mg->rigid.d_y, d_c, level->d_d));
    HX_TRY(mg->ops->mesh_prolong(mg->dev, &mg->mesh, level->d_d, mg->d_m, d_x));
    HX_TRY(ops->vector->flush_single(mg->dev, op->n_dof, 1.0, d_x, d_z));
    for (int i = 0; i < problem->n_rigid; i++)
        HX_TRY(ops->rigid->spread(mg->dev, &problem->rigid[i], op->d_rigid_node, op->model.d_xyz,
                                  d_c + 6 * i, d_z));
    return HX_OK;
}

/* Cycles that continue a motion into the part. */
enum { N_CONTINUE = 4 };

/* y ~ A^-1 b on the first lattice, b in its place there. */
static int continue_motion(const multigrid *mg, float *d_y)
{
    const hx_mg_level *level = &mg->level[0];
    const size_t n_byte = HX_MG_DOF * (size_t)level->n_node * sizeof(float);
    const hx_device_ops *ops = mg->dev->ops;
    float *d_solution;
    HX_TRY(ops->copy(mg->dev, mg->rigid.d_b, level->d_b, n_byte));
    HX_TRY(ops->zero(mg->dev, d_y, n_byte));
    for (int i = 0; i < N_CONTINUE; i++) {
        if (i > 0) {
            HX_TRY(ops->copy(mg->dev, level->d_b, mg->rigid.d_b, n_byte));
            HX_TRY(mg->ops->residual(mg->dev, level, d_y, level->d_d));
            HX_TRY(ops->copy(mg->dev, level->d_b, level->d_d, n_byte));
        }
        HX_TRY(cycle(mg, 0, &d_solution));
        HX_TRY(mg->ops->add(mg->dev, HX_MG_DOF * level->n_node, d_solution, d_y));
    }
    return HX_OK;
}

/* w = K R e_k, supports left out; on the sets alone while Y is 0. *energy: e_k'R'K R e_k. */
static int motion_forces(const multigrid *mg, const hx_operator *op, int k, double *energy)
{
    const rigid_motions *rigid = &mg->rigid;
    const hx_device_ops *ops = mg->dev->ops;
    double *d_q = (double *)mg->d_x, *c = rigid->matrix + 3 * rigid->n_column * rigid->n_column;
    for (int i = 0; i < rigid->n_column; i++) c[i] = i == k;
    HX_TRY(ops->upload(mg->dev, rigid->d_c, c, (size_t)rigid->n_column * sizeof *c));
    HX_TRY(ops->zero(mg->dev, d_q, (size_t)op->n_dof * sizeof *d_q));
    HX_TRY(add_motions(mg, op, rigid->d_c, mg->d_d, d_q));
    HX_TRY(hx_operator_apply_unmasked(op, d_q, rigid->d_w));
    HX_TRY(ops->vector->zero_entries(mg->dev, op->n_fixed, op->d_fixed, rigid->d_w));
    return ops->vector->dot(mg->dev, op->n_dof, d_q, rigid->d_w, energy);
}

/* inverse = E^-1 by Cholesky factors (lower, in E); E is positive definite. */
static void invert_small(int n, double *e, double *inverse)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++) e[i * n + j] -= e[i * n + k] * e[j * n + k];
            e[i * n + j] = i == j ? sqrt(e[i * n + i]) : e[i * n + j] / e[j * n + j];
        }
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < n; i++) {
            double sum = i == c;
            for (int k = 0; k < i; k++) sum -= e[i * n + k] * inverse[k * n + c];
            inverse[i * n + c] = sum / e[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            double sum = inverse[i * n + c];
            for (int k = i + 1; k < n; k++) sum -= e[k * n + i] * inverse[k * n + c];
            inverse[i * n + c] = sum / e[i * n + i];
        }
    }
}

/* Y, E and its inverse. Sums on the lattice are of floats: a share of the motions' energy without
 * their continuation keeps E positive definite, also where nodes in a line leave a rotation out. */
static int setup_rigid(multigrid *mg, const hx_operator *op)
{
    const rigid_motions *rigid = &mg->rigid;
    const hx_device_ops *ops = mg->dev->ops;
    const int n = rigid->n_column;
    const int64_t n_lattice = HX_MG_DOF * mg->level[0].n_node;
    double *e = rigid->matrix, *inverse = e + n * n, *alone = inverse + n * n, energy, least = 0.0;
    HX_TRY(ops->zero(mg->dev, rigid->d_y, (size_t)(n * n_lattice) * sizeof(float)));
    for (int k = 0; k < n; k++) {
        HX_TRY(motion_forces(mg, op, k, &alone[k]));
        HX_TRY(restrict_free(mg, rigid->d_w, mg->d_t, (size_t)op->n_dof));
        HX_TRY(continue_motion(mg, rigid->d_y + k * n_lattice));
        least = fmax(least, 1e-30 * alone[k]);
    }
    for (int k = 0; k < n; k++) {
        HX_TRY(motion_forces(mg, op, k, &energy));
        HX_TRY(rigid_sums(mg, op, rigid->d_w, mg->d_t));
        HX_TRY(ops->download(mg->dev, e + k * n, rigid->d_sum, (size_t)n * sizeof *e));
        e[k * n + k] = energy;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            e[i * n + j] = e[j * n + i] = 0.5 * (e[i * n + j] + e[j * n + i]);
        e[i * n + i] += fmax(1e-6 * alone[i], fmax(least, 1e-300));
    }
    invert_small(n, e, inverse);
    return ops->upload(mg->dev, rigid->d_inverse, inverse, (size_t)(n * n) * sizeof *inverse);
}

/* z += R E^-1 R'r. */
static int add_rigid(const multigrid *mg, const hx_operator *op, const double *d_r, double *d_z)
{
    const rigid_motions *rigid = &mg->rigid;
    HX_TRY(rigid_sums(mg, op, d_r, mg->d_t));
    HX_TRY(mg->ops->small_multiply(mg->dev, rigid->n_column, rigid->d_inverse, rigid->d_sum,
                                   rigid->d_c));
    return add_motions(mg, op, rigid->d_c, mg->d_x, d_z);
}

static int setup(hx_precond *pc)
{
    multigrid *mg = pc->impl;
    const hx_operator *op = pc->op;
    const hx_multigrid_ops *ops = mg->ops;
    const int first = mg->n_setup == 0;
    double *d_diag = (double *)mg->d_x;
    HX_TRY(hx_operator_diagonal(op, d_diag));
    HX_TRY(mg->dev->ops->vector->zero_entries(mg->dev, mg->rigid.n_dof, mg->rigid.d_dof, d_diag));
    HX_TRY(ops->invert(mg->dev, op->n_dof, d_diag, mg->d_m));
    HX_TRY(ops->mesh_galerkin(mg->dev, &mg->mesh, &mg->level[0]));
    HX_TRY(ops->add_blocks(mg->dev, &mg->level[0], mg->n_spring_block, mg->d_spring_at,
                           mg->d_spring_block));
    for (int l = 0; l < mg->n_level; l++) {
        if (l > 0) HX_TRY(ops->galerkin(mg->dev, &mg->level[l - 1], &mg->level[l]));
        HX_TRY(ops->diagonal(mg->dev, &mg->level[l]));
    }
    HX_TRY(estimate_all(mg, op, first ? POWER_FIRST : POWER_AGAIN,
                        first ? POWER_FIRST : POWER_LEVEL, first));
    HX_TRY(factorise(mg));
    if (mg->rigid.n_column > 0) HX_TRY(setup_rigid(mg, op));
    mg->n_setup++;
    return HX_OK;
}

static int apply(hx_precond *pc, const double *d_r, double *d_z)
{
    const multigrid *mg = pc->impl;
    const hx_operator *op = pc->op;
    const hx_multigrid_ops *ops = mg->ops;
    const int64_t n = op->n_dof;
    const int degree = on_mesh.degree;
    float *d_coarse;
    HX_TRY(ops->mesh_start(mg->dev, n, mg->d_smoother, d_r, mg->d_m, mg->d_d, mg->d_x));
    for (int i = 1; i < degree; i++) {
        HX_TRY(product(mg, op, mg->d_x, mg->d_t));
        HX_TRY(ops->mesh_step(mg->dev, n, mg->d_smoother, i, d_r, mg->d_t, mg->d_m, mg->d_d,
                              mg->d_x, NULL));
    }
    HX_TRY(product(mg, op, mg->d_x, mg->d_t));
    HX_TRY(ops->match_entries(mg->dev, mg->rigid.n_dof, mg->rigid.d_dof, d_r, mg->d_t));
    HX_TRY(ops->mesh_restrict(mg->dev, &mg->mesh, d_r, mg->d_t, &mg->level[0]));
    HX_TRY(cycle(mg, 0, &d_coarse));
    HX_TRY(ops->mesh_prolong(mg->dev, &mg->mesh, d_coarse, mg->d_m, mg->d_x));
    for (int i = 0; i < degree; i++) {
        HX_TRY(product(mg, op, mg->d_x, mg->d_t));
        HX_TRY(ops->mesh_step(mg->dev, n, mg->d_smoother, i, d_r, mg->d_t, mg->d_m, mg->d_d,
                              mg->d_x, i + 1 == degree ? d_z : NULL));
    }
    return mg->rigid.n_column > 0 ? add_rigid(mg, op, d_r, d_z) : HX_OK;
}

static size_t bytes(const hx_mesh *mesh, const hx_device_ops *device, const hx_strategy *strategy)
{
    double n_node, n_cell;
    hx_lattice_estimate(mesh, COARSENING, &n_node, &n_cell);
    const double vectors = (on_mesh.degree > 1 ? 5.0 : 4.0) * 12.0 * (double)mesh->n_node;
    const double lists =
        17.0 * (double)mesh->n_node + 4.0 * (double)mesh->n_elem + 248.0 * n_cell + 32.0 * n_node;
    const double levels = 8.0 / 7.0 * n_node * (27 * 36 * 4 + 6 * 24 + 62 * 4);
    double single = strategy->single_bytes_per_elem * (double)mesh->n_elem;
    if (!strategy->apply_single && device->matrix_free)
        single = (double)device->matrix_free->bytes(mesh, HX_LAYOUT_INTERLEAVED) +
                 device->matrix_free->single_bytes_per_elem * (double)mesh->n_elem;
    return (size_t)(vectors + lists + levels + single);
}

const hx_precond_kind hx_precond_multigrid = {
    .name = "multigrid",
    .help = "V-cycle in single precision, Galerkin lattices over the mesh",
    .rounded = 1,
    .rigid_vectors = 1,
    .iterations = 15,
    .bytes = bytes,
    .create = create,
    .setup = setup,
    .apply = apply,
    .revise = revise,
    .destroy = destroy,
};
