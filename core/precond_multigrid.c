/* Multigrid: one symmetric V-cycle in single precision. The mesh is smoothed matrix-free, the
 * coarse levels are lattices laid over it (lattice.h) with Galerkin matrices of the design's own
 * modulus, which is what keeps the iterations few at any contrast. Only values change with the
 * design. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lattice.h"
#include "memory.h"
#include "multigrid.h"
#include "precond.h"
#include "registry.h"
#include "vectorised.h"

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

typedef struct multigrid {
    hx_device *dev;
    const hx_multigrid_ops *ops;
    const hx_strategy *strategy; /* of the products in single precision */
    void *state, *own_state;     /* own_state: where the operator has no such product (owned) */
    hx_mg_mesh mesh;
    int n_level;
    hx_mg_level level[HX_LATTICE_LEVELS];
    float *d_inverse; /* of the last level's matrix */
    double *dense;    /* [2 * 6 n + 2][6 n] on the host: the last level's matrix, scratch */
    float *inverse;
    float *d_m, *d_x, *d_t, *d_v, *d_d; /* [n_dof] on the mesh; d only with more than one step */
    hx_mg_smoother *d_smoother;
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
    return mg->dev->ops->zero_entries_single(mg->dev, op->n_fixed, op->d_fixed, d_y);
}

static int put_mesh(multigrid *mg, const hx_operator *op, const hx_lattice *lattice)
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
    return hx_device_put(dev, &m->d_fixed, op->problem->fixed, n_node);
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

static int put_levels(multigrid *mg, const hx_operator *op, const hx_lattice *lattice)
{
    HX_TRY(put_mesh(mg, op, lattice));
    for (int l = 0; l < lattice->n_level; l++) {
        mg->n_level = l + 1; /* what destroy frees */
        HX_TRY(put_level(mg, lattice, l));
    }
    const size_t n = 6 * (size_t)mg->level[mg->n_level - 1].n_node;
    HX_TRY(hx_alloc_raw(&mg->dense, (2 * n + 2) * n, sizeof *mg->dense, "coarsest level"));
    HX_TRY(hx_alloc_raw(&mg->inverse, n * n, sizeof *mg->inverse, "coarsest level"));
    return mg->dev->ops->alloc(mg->dev, n * n * sizeof(float), &mg->d_inverse);
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

/* The operator's own product in single precision, or that of `otf`. */
static int find_product(multigrid *mg, const hx_operator *op)
{
    mg->strategy = op->strategy;
    mg->state = op->state;
    if (!op->strategy->apply_single) {
        mg->strategy = hx_strategy_find(mg->dev->ops->name, "otf");
        if (!mg->strategy || !mg->strategy->apply_single)
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
    void *const owned[] = {m->d_cell,      m->d_cell_corner,  m->d_cell_elem, m->d_cell_elem_at,
                           m->d_cell_node, m->d_cell_node_at, m->d_coloured,  m->d_position,
                           m->d_node_cell, m->d_partial,      m->d_fixed,     mg->d_m,
                           mg->d_x,        mg->d_v,           mg->d_d,        mg->d_inverse,
                           mg->d_smoother};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) dev->ops->release(dev, owned[i]);
    for (int l = 0; l < mg->n_level; l++) release_level(dev, &mg->level[l]);
    if (mg->own_state) mg->strategy->teardown(mg->own_state);
    free(mg->dense);
    free(mg->inverse);
    free(mg);
    pc->impl = NULL;
}

static int create(hx_precond *pc, const hx_operator *op)
{
    hx_lattice lattice;
    multigrid *mg;
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
    const int rc = put_levels(mg, op, &lattice);
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

static int setup(hx_precond *pc)
{
    multigrid *mg = pc->impl;
    const hx_operator *op = pc->op;
    const hx_multigrid_ops *ops = mg->ops;
    const int first = mg->n_setup == 0;
    double *d_diag = (double *)mg->d_x;
    HX_TRY(hx_operator_diagonal(op, d_diag));
    HX_TRY(ops->invert(mg->dev, op->n_dof, d_diag, mg->d_m));
    HX_TRY(ops->mesh_galerkin(mg->dev, &mg->mesh, &mg->level[0]));
    for (int l = 0; l < mg->n_level; l++) {
        if (l > 0) HX_TRY(ops->galerkin(mg->dev, &mg->level[l - 1], &mg->level[l]));
        HX_TRY(ops->diagonal(mg->dev, &mg->level[l]));
    }
    HX_TRY(estimate_all(mg, op, first ? POWER_FIRST : POWER_AGAIN,
                        first ? POWER_FIRST : POWER_LEVEL, first));
    HX_TRY(factorise(mg));
    mg->n_setup++;
    return HX_OK;
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
    HX_TRY(ops->mesh_restrict(mg->dev, &mg->mesh, d_r, mg->d_t, &mg->level[0]));
    HX_TRY(cycle(mg, 0, &d_coarse));
    HX_TRY(ops->mesh_prolong(mg->dev, &mg->mesh, d_coarse, mg->d_m, mg->d_x));
    for (int i = 0; i < degree; i++) {
        HX_TRY(product(mg, op, mg->d_x, mg->d_t));
        HX_TRY(ops->mesh_step(mg->dev, n, mg->d_smoother, i, d_r, mg->d_t, mg->d_m, mg->d_d,
                              mg->d_x, i + 1 == degree ? d_z : NULL));
    }
    return HX_OK;
}

static size_t bytes(const hx_mesh *mesh, const hx_strategy *strategy)
{
    double n_node, n_cell;
    hx_lattice_estimate(mesh, COARSENING, &n_node, &n_cell);
    const double vectors = (on_mesh.degree > 1 ? 5.0 : 4.0) * 12.0 * (double)mesh->n_node;
    const double lists =
        17.0 * (double)mesh->n_node + 4.0 * (double)mesh->n_elem + 248.0 * n_cell + 32.0 * n_node;
    const double levels = 8.0 / 7.0 * n_node * (27 * 36 * 4 + 6 * 24 + 62 * 4);
    double single = strategy->single_bytes_per_elem * (double)mesh->n_elem;
    if (!strategy->apply_single) {
        const hx_strategy *otf = hx_strategy_find(strategy->device, "otf");
        if (otf)
            single = (double)otf->bytes(mesh, HX_LAYOUT_INTERLEAVED) +
                     otf->single_bytes_per_elem * (double)mesh->n_elem;
    }
    return (size_t)(vectors + lists + levels + single);
}

const hx_precond_kind hx_precond_multigrid = {
    .name = "multigrid",
    .help = "V-cycle in single precision, Galerkin lattices over the mesh",
    .rounded = 1,
    .bytes = bytes,
    .create = create,
    .setup = setup,
    .apply = apply,
    .revise = revise,
    .destroy = destroy,
};
