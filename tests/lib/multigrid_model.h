/* Shared by tests of the parts of multigrid: models with their coarse grids on a device, the dense
 * prolongation P of the finest coarse grid, in double precision, from the definition in coarse.h,
 * and checks of a matrix and of an estimate of its largest eigenvalue. */
#ifndef MULTIGRID_MODEL_H
#define MULTIGRID_MODEL_H

#include "box_part.h"
#include "core/multigrid/coarse.h"
#include "core/multigrid/mg_params.h"
#include "core/multigrid/multigrid.h"
#include "dense_model.h"

enum { DOF = HX_MG_DOF };

/* A problem, its coarse grids on the device and, for the finest one, P without supports. */
typedef struct grids {
    hx_mesh mesh;
    hx_problem problem;
    hx_operator op;
    hx_coarse coarse;
    hx_mg_mesh m;
    hx_mg_level level[HX_COARSE_LEVELS];
    int32_t *place[HX_COARSE_LEVELS]; /* [n_node][3] */
    /* position of place 0 relative to the origin, divided by `unit` (coarse.h) */
    double first[HX_COARSE_LEVELS][3];
    double *modulus;
    float *d_m; /* of the mesh */
    int64_t n_dof, n_col;
    double *p; /* [n_dof][n_col] */
} grids;

static const hx_multigrid_ops *ops;
static const char *context;

static inline double *new_doubles(int64_t n)
{
    double *x = calloc((size_t)n, sizeof *x);
    if (!x) abort();
    return x;
}

static inline double *random_doubles(int64_t n, uint64_t seed)
{
    double *x = new_doubles(n);
    for (int64_t k = 0; k < n; k++) /* floats, so that no rounding comes in between */
        x[k] = (double)(float)fixture_uniform(&seed, -1.0, 1.0);
    return x;
}

static inline void *put(const void *from, size_t bytes)
{
    void *d_p = NULL;
    CHECK_OK(device.ops->alloc(&device, bytes, &d_p));
    if (d_p && from) CHECK_OK(device.ops->upload(&device, d_p, from, bytes));
    return d_p;
}

/* The Chebyshev interval of an eigenvalue estimate from power iterations. */
static inline hx_mg_smoother set_smoother(hx_mg_smoother *d_smoother, double safety, double ratio)
{
    hx_mg_smoother s;
    memset(&s, 0, sizeof s);
    CHECK_OK(device.ops->download(&device, &s, d_smoother, sizeof s));
    hx_mg_smoother_set(&s, safety, ratio);
    CHECK_OK(device.ops->upload(&device, d_smoother, &s, sizeof s));
    return s;
}

static inline void set_floats(float *d_to, int64_t n, const double *from)
{
    float *x = malloc((size_t)n * sizeof *x);
    if (!x) abort();
    for (int64_t k = 0; k < n; k++) x[k] = (float)from[k];
    CHECK_OK(device.ops->upload(&device, d_to, x, (size_t)n * sizeof *x));
    free(x);
}

static inline float *put_floats(int64_t n, const double *from)
{
    float *d_x = put(NULL, (size_t)n * sizeof *d_x);
    if (d_x) set_floats(d_x, n, from);
    return d_x;
}

static inline double *get_floats(int64_t n, const float *d_from)
{
    float *x = malloc((size_t)n * sizeof *x);
    double *to = new_doubles(n);
    if (!x) abort();
    CHECK_OK(device.ops->download(&device, x, d_from, (size_t)n * sizeof *x));
    for (int64_t k = 0; k < n; k++) to[k] = (double)x[k];
    free(x);
    return to;
}

static inline void release(void *d_p)
{
    device.ops->release(&device, d_p);
}

/* Largest difference, relative to the largest entry. */
static inline double apart(int64_t n, const double *a, const double *b)
{
    double size = 0.0;
    for (int64_t k = 0; k < n; k++) test_worst(&size, fabs(b[k]));
    return test_max_difference((size_t)n, a, b) / size;
}

#define CHECK_APART(n, a, b, tolerance)                                                            \
    do {                                                                                           \
        const double apart_ = apart(n, a, b);                                                      \
        CHECK_MSG(apart_ <= (tolerance), "%s: apart by %g", context, apart_);                      \
    } while (0)

/* ---- models ---- */

static inline int l_shaped(int i, int j, int k)
{
    (void)j;
    return i < 4 || k < 3;
}

static inline int with_slot(int i, int j, int k)
{
    (void)k;
    return j != 2 || i >= 5;
}

/* Contrast 1: solid. Otherwise each element is solid, void or in between, at random. */
typedef struct sample {
    const char *name;
    box_part part;
    double coarsening, contrast, young;
} sample;

static const sample samples[] = {
    {"solid box", {.n = {9, 5, 4}}, 3.0, 1.0, 1.0},
    {"distorted box", {.n = {10, 6, 4}, .distort = 0.2}, 2.0, 1e3, 1.0},
    {"L of solid and void", {.n = {9, 4, 7}, .keep = l_shaped, .distort = 0.1}, 2.0, 1e9, 2e5},
    {"slot, tiny", {.n = {10, 5, 3}, .keep = with_slot, .scale = 1e-6}, 2.0, 1e9, 2e11},
    {"graded, far away", {.n = {8, 6, 5}, .ratio = 5.0, .offset = 1e6, .distort = 0.1}, 1.0, 10, 1},
    {"rod", {.n = {14, 1, 1}, .distort = 0.1}, 1.0, 10.0, 1.0},
    {"a direction that stays", {.n = {6, 12, 4}}, 2.0, 1e3, 1.0},
};
enum { N_SAMPLE = sizeof samples / sizeof samples[0] };

static inline void make_problem(grids *g, const sample *s)
{
    const hx_support_spec support[2] = {
        {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
        {"right", "test", HX_FIX_Y, {0.0, 0.0, 0.0}}};
    const hx_load_spec load = {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, 1.0}, 1};
    hx_problem_params params = fixture_problem();
    uint64_t seed = 5;
    params.support = support;
    params.n_support = 2;
    params.load = &load;
    params.n_load = 1;
    params.young = s->young;
    CHECK_OK(box_part_create(&g->mesh, &s->part));
    CHECK_OK(fixture_finish(&g->mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_problem_create(&g->problem, &g->mesh, &params));
    CHECK_OK(hx_operator_create(&g->op, &device, hx_operator_kind_find(device.ops->name, "otf"),
                                HX_LAYOUT_INTERLEAVED, &g->problem, 0));
    g->modulus = new_doubles(g->mesh.n_elem);
    for (int64_t e = 0; e < g->mesh.n_elem; e++) {
        const double x = fixture_uniform(&seed, -0.5, 1.5);
        g->modulus[e] = s->young * pow(s->contrast, -fmin(fmax(x, 0.0), 1.0));
    }
    CHECK_OK(hx_operator_set_modulus(&g->op, g->modulus));
    if (g->op.op_kind->prepare_single) CHECK_OK(g->op.op_kind->prepare_single(g->op.state));
}

static inline void put_mesh(grids *g)
{
    const hx_coarse *l = &g->coarse;
    const size_t word = sizeof(int32_t), n_cell = (size_t)l->n_cell,
                 n_elem = (size_t)g->mesh.n_elem, n_node = (size_t)g->mesh.n_node;
    hx_mg_mesh *m = &g->m;
    m->model = &g->op.model;
    m->n_cell = l->n_cell;
    m->unit = l->unit;
    memcpy(m->origin, l->origin, sizeof m->origin);
    memcpy(m->size, l->size, sizeof m->size);
    memcpy(m->colour_at, l->colour_at, sizeof m->colour_at);
    m->d_cell = put(l->cell, 3 * n_cell * word);
    m->d_cell_corner = put(l->cell_corner, 8 * n_cell * word);
    m->d_cell_elem = put(l->cell_elem, n_elem * word);
    m->d_cell_elem_at = put(l->cell_elem_at, (n_cell + 1) * word);
    m->d_cell_node = put(l->cell_node, n_node * word);
    m->d_cell_node_at = put(l->cell_node_at, (n_cell + 1) * word);
    m->d_node_cell = put(l->node_cell, 8 * (size_t)l->level[0].n_node * word);
    m->d_coloured = put(l->coloured, n_cell * word);
    m->d_partial = put(NULL, n_cell * 8 * DOF * sizeof(float));
    m->d_position = put(l->position, 3 * n_node * sizeof(float));
    m->d_fixed = put(g->problem.supports.fixed, n_node);
}

static inline void put_level(const hx_coarse_level *from, hx_mg_level *to)
{
    const size_t n = (size_t)from->n_node, word = sizeof(int32_t), vector = n * DOF * sizeof(float);
    const hx_mg_smoother none = {0};
    to->n_node = from->n_node;
    to->n_own = from->n_own;
    for (int i = 0; i < 3; i++) to->step[i] = (float)from->step[i];
    memcpy(to->mode, from->mode, sizeof to->mode);
    to->scale = 0.7f;
    to->d_neighbour = put(from->neighbour, 27 * n * word);
    to->d_child = from->child ? put(from->child, 27 * n * word) : NULL;
    to->d_parent = from->parent ? put(from->parent, 8 * n * word) : NULL;
    to->d_matrix = put(NULL, 27 * DOF * vector);
    to->d_m = put(NULL, vector);
    to->d_b = put(NULL, vector);
    to->d_x = put(NULL, vector);
    to->d_y = put(NULL, vector);
    to->d_d = put(NULL, vector);
    to->d_v = put(NULL, vector);
    to->d_smoother = put(&none, sizeof none);
}

/* Positions of the finest nodes from the corners of cells, of other nodes from their children. */
static inline void find_places(grids *g)
{
    const hx_coarse *l = &g->coarse;
    for (int k = 0; k < l->n_level; k++) {
        const int64_t n = l->level[k].n_node;
        int32_t *place = malloc(3 * (size_t)n * sizeof *place);
        if (!place) abort();
        g->place[k] = place;
        for (int i = 0; k > 0 && i < 3; i++) /* a single node lies in the middle of its cell */
            g->first[k][i] =
                g->first[k - 1][i] +
                (l->level[k].mode[i] == HX_COARSE_COLLAPSE ? 0.5 * l->level[k - 1].step[i] : 0.0);
        for (int64_t c = 0; k == 0 && c < l->n_cell; c++)
            for (int i = 0; i < 24; i++)
                place[3 * l->cell_corner[8 * c + i / 3] + i % 3] =
                    l->cell[3 * c + i % 3] + (i / 3 >> i % 3 & 1);
        for (int64_t a = 0; k > 0 && a < n; a++)
            for (int o = 0; o < 27; o++) {
                const int to[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
                const int64_t b = l->level[k].child[o * n + a];
                for (int i = 0; b >= 0 && i < 3; i++) {
                    const int32_t from = g->place[k - 1][3 * b + i] - to[i];
                    place[3 * a + i] = l->level[k].mode[i] == HX_COARSE_HALVE  ? from / 2
                                       : l->level[k].mode[i] == HX_COARSE_KEEP ? from
                                                                               : 0;
                }
            }
    }
}

/* row[6 j ..] += w (u_j + theta_j x d), three rows of length n_col. */
static inline void add_motion(double *row, int64_t n_col, int64_t j, double w, const double d[3])
{
    for (int i = 0; i < 3; i++) {
        const int p = (i + 1) % 3, q = (i + 2) % 3;
        row[i * n_col + DOF * j + i] = w;
        row[i * n_col + DOF * j + 3 + p] = w * d[q];
        row[i * n_col + DOF * j + 3 + q] = -w * d[p];
    }
}

static inline void fill_p(grids *g)
{
    const hx_coarse *l = &g->coarse;
    g->n_dof = 3 * g->mesh.n_node;
    g->n_col = DOF * l->level[0].n_node;
    g->p = new_doubles(g->n_dof * g->n_col);
    for (int64_t a = 0; a < g->mesh.n_node; a++)
        for (int64_t j = 0; j < l->level[0].n_node; j++) {
            double w = 1.0, d[3];
            for (int i = 0; i < 3; i++) {
                const int32_t at = g->place[0][3 * j + i];
                w *= fmax(0.0, 1.0 - fabs((double)l->position[3 * a + i] - at));
                d[i] = (g->mesh.xyz[3 * a + i] - l->origin[i] - at * l->size[i]) / l->unit;
            }
            if (w > 0.0) add_motion(g->p + 3 * a * g->n_col, g->n_col, j, w, d);
        }
}

/* Makes everything except the dense arrays P and d_m. */
static inline void make_coarse_levels(grids *g, const sample *s)
{
    memset(g, 0, sizeof *g);
    make_problem(g, s);
    CHECK_OK(hx_coarse_create(&g->coarse, &g->mesh, &hx_mg_defaults, s->coarsening, 8));
    put_mesh(g);
    for (int k = 0; k < g->coarse.n_level; k++) put_level(&g->coarse.level[k], &g->level[k]);
    find_places(g);
}

static inline void make_grids(grids *g, const sample *s)
{
    double *d_diag;
    make_coarse_levels(g, s);
    fill_p(g);
    g->d_m = put(NULL, (size_t)g->n_dof * sizeof(float));
    d_diag = put(NULL, (size_t)g->n_dof * sizeof(double));
    CHECK_OK(hx_operator_diagonal(&g->op, d_diag));
    CHECK_OK(ops->diagonal->invert(
        &device, &(hx_mg_splitting){.n = g->n_dof, .d_diag = d_diag, .d_m = g->d_m}));
    release(d_diag);
    printf("%s: %lld unknowns, %lld on the first of %d coarse grids\n", s->name,
           (long long)g->n_dof, (long long)g->n_col, g->coarse.n_level);
}

static inline void free_grids(grids *g)
{
    void *const of_mesh[] = {g->m.d_cell,         g->m.d_cell_corner, g->m.d_cell_elem,
                             g->m.d_cell_elem_at, g->m.d_cell_node,   g->m.d_cell_node_at,
                             g->m.d_node_cell,    g->m.d_coloured,    g->m.d_partial,
                             g->m.d_position,     g->m.d_fixed,       g->d_m};
    for (size_t i = 0; i < sizeof of_mesh / sizeof of_mesh[0]; i++) release(of_mesh[i]);
    for (int k = 0; k < g->coarse.n_level; k++) {
        hx_mg_level *l = &g->level[k];
        void *const owned[] = {l->d_neighbour, l->d_child, l->d_parent,  l->d_matrix,
                               l->d_m,         l->d_b,     l->d_x,       l->d_y,
                               l->d_d,         l->d_v,     l->d_smoother};
        for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) release(owned[i]);
        free(g->place[k]);
    }
    hx_coarse_free(&g->coarse);
    hx_operator_free(&g->op);
    hx_problem_free(&g->problem);
    hx_mesh_free(&g->mesh);
    free(g->modulus);
    free(g->p);
}

static inline int fixed_at(const grids *g, int64_t dof)
{
    return g->problem.supports.fixed[dof / 3] >> (dof % 3) & 1;
}

/* ---- matrices ---- */

/* d over a scale that may be 0, such as that of a row that is left out: then d must be 0. */
static inline double over(double d, double scale)
{
    return d == 0.0 && scale == 0.0 ? 0.0 : d / scale;
}

/* Entries relative to the diagonals of their nodes, so that void next to solid counts as much as
 * solid. */
static inline void check_matrix(int64_t n, const double *a, const double *expected,
                                const char *what)
{
    double *size = new_doubles(n), off = 0.0, skew = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = i / DOF * DOF;
        for (int64_t k = first; k < first + DOF; k++)
            test_worst(&size[i], sqrt(fabs(expected[k * n + k])));
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double scale = size[i] * size[j], entry = a[i * n + j];
            test_worst(&off, over(fabs(entry - expected[i * n + j]), scale));
            test_worst(&skew, over(fabs(entry - a[j * n + i]), scale));
        }
    CHECK_MSG(off <= 1e-5, "%s: %s off by %g", context, what, off);
    CHECK_MSG(skew <= 1e-5, "%s: %s unsymmetric by %g", context, what, skew);
    printf("    %s: off by %.1e, unsymmetric by %.1e\n", what, off, skew);
    free(size);
}

static inline double *dense_of(const hx_mg_level *level)
{
    const int64_t n = DOF * level->n_node;
    double *a = new_doubles(n * n);
    CHECK_OK(ops->level->dense(&device, level, a));
    return a;
}

/* ---- the largest eigenvalue ---- */

/* 1 if a[n][n] (destroyed) is positive definite: all pivots of Cholesky are positive. */
static inline int is_definite(int64_t n, double *a)
{
    for (int64_t k = 0; k < n; k++) {
        const double *row = a + k * n;
        if (!(row[k] > 0.0)) return 0;
        for (int64_t i = k + 1; i < n; i++) {
            const double factor = row[i] / row[k];
            double *to = a + i * n;
            if (factor == 0.0) continue;
#ifdef _OPENMP
#pragma omp simd
#endif
            for (int64_t j = i; j < n; j++) to[j] -= factor * row[j];
        }
    }
    return 1;
}

/* 1 if lambda is above the largest eigenvalue of D^-1 A, rows with m = 0 left out. */
static inline int is_bound(int64_t n, const double *a, const double *m, double lambda)
{
    double *b = new_doubles(n * n), *root = new_doubles(n);
    for (int64_t i = 0; i < n; i++) root[i] = m[i] > 0.0 ? sqrt(m[i]) : 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double *from = a + i * n, by = root[i];
        double *to = b + i * n;
        for (int64_t j = i; j < n; j++) to[j] = -from[j] * by * root[j];
        to[i] += lambda;
    }
    const int definite = is_definite(n, b);
    free(b);
    free(root);
    return definite;
}

static inline void check_lambda(int64_t n, const double *a, const double *m, double lambda,
                                const char *what)
{
    static const double more[] = {1.01, 1.02, 1.05, 1.1};
    int i = 0;
    CHECK_MSG(!is_bound(n, a, m, lambda * (1.0 - 1e-5)), "%s: %s above the largest: %g", context,
              what, lambda);
    while (i < 4 && !is_bound(n, a, m, lambda * more[i])) i++;
    CHECK_MSG(i < 4, "%s: %s too low: %g", context, what, lambda);
    printf("    lambda of %s: %.4f, low by less than %g\n", what, lambda, i < 4 ? more[i] : 9.9);
}

static inline double lambda_of(const hx_mg_smoother *d_smoother)
{
    hx_mg_smoother s;
    CHECK_OK(device.ops->download(&device, &s, d_smoother, sizeof s));
    return s.lambda;
}

/* ---- programs ---- */

/* Opens the device that the arguments name, for one thread; 0, or the exit status of a test that
 * cannot run. */
static inline int open_multigrid(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    ops = device.ops->multigrid;
    CHECK(ops != NULL);
    if (!ops) TEST_END();
    return 0;
}

static inline void for_each_sample(void (*check)(const grids *g))
{
    for (int i = 0; i < N_SAMPLE; i++) {
        static grids g;
        context = samples[i].name;
        make_grids(&g, &samples[i]);
        check(&g);
        free_grids(&g);
    }
}

#endif
