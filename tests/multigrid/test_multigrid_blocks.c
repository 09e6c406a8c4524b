/* Block smoother for a spline's control points: inverses of the blocks of K, without held unknowns,
 * checked by products with K's own entries; the solution with them; a block that is nearly singular
 * because of its diagonal; the power step; bitwise equal results of two runs.
 *
 *     test_multigrid_blocks [cpu | cuda] */
#include "core/multigrid/multigrid.h"
#include "core/operator/assembled.h"
#include "tests/lib/spline_model.h"

static hx_device device;

/* The blocks of the spline rule, as multigrid_blocks.c lists them. */
typedef struct listed {
    hx_mg_blocks blocks;
    int32_t *first, *point;
    int64_t *at;
} listed;

static void *take(size_t n, size_t bytes)
{
    void *const p = calloc(n, bytes);
    if (!p) abort();
    return p;
}

static void list_blocks(const hx_spline_rule *rule, int c, listed *l)
{
    const size_t n = (size_t)rule->n_block + 1, n_point = (size_t)rule->n_point;
    int32_t next = 0;
    l->first = take(n, sizeof *l->first), l->at = take(n, sizeof *l->at);
    l->point = take(n_point, sizeof *l->point);
    for (int64_t b = 0; b < rule->n_block; b++) {
        for (int32_t a = 0; a < rule->n_point; a++)
            if (rule->block[a] == b) l->point[next++] = a;
        const int64_t m = (int64_t)c * (next - l->first[b]);
        l->first[b + 1] = next;
        l->at[b + 1] = l->at[b] + m * m;
    }
    CHECK(next == rule->n_point);
    hx_mg_blocks *const b = &l->blocks;
    b->n = rule->n_block, b->most_points = rule->block_points;
    CHECK_OK(hx_device_put(&device, &b->d_first, l->first, n * sizeof *l->first));
    CHECK_OK(hx_device_put(&device, &b->d_point, l->point, n_point * sizeof *l->point));
    CHECK_OK(hx_device_put(&device, &b->d_at, l->at, n * sizeof *l->at));
    CHECK_OK(device.ops->alloc(&device, (size_t)l->at[n - 1] * sizeof(float), &b->d_inverse));
}

static void free_blocks(listed *l)
{
    void *const owned[] = {l->blocks.d_first, l->blocks.d_point, l->blocks.d_at,
                           l->blocks.d_inverse};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        device.ops->release(&device, owned[i]);
    free(l->first);
    free(l->point);
    free(l->at);
}

/* Entry (i, j) of block (row, col) of K, from its lower half. */
static double number(const hx_matrix_rows *k, int c, int64_t row, int64_t col, int i, int j)
{
    if (c * row + i < c * col + j) return number(k, c, col, row, j, i);
    for (int64_t e = k->ptr[row]; e < k->ptr[row + 1]; e++)
        if (k->col[e] == col) return k->value[(e * c + i) * c + j];
    return 0.0;
}

/* a[n][n]: the matrix K of block b; held unknowns have 0 there. */
static void expect_block(const hx_matrix_rows *k, const listed *l, int64_t b, int c, const float *m,
                         double *a)
{
    const int32_t *const point = l->point + l->first[b];
    const int n = c * (l->first[b + 1] - l->first[b]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int64_t p = point[i / c], q = point[j / c];
            const int is_free = m[c * p + i % c] > 0.0f && m[c * q + j % c] > 0.0f;
            a[i * n + j] = is_free ? number(k, c, p, q, i % c, j % c) : 0.0;
        }
}

/* The largest entry of K inverse - I over free unknowns; held ones have rows of 0. */
static double residual(int n, const double *a, const float *inverse)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = a[i * n + i] > 0.0 && i == j ? -1.0 : 0.0;
            for (int q = 0; q < n; q++) sum += a[i * n + q] * (double)inverse[q * n + j];
            test_worst(&worst, fabs(sum));
            if (!(a[i * n + i] > 0.0)) test_worst(&worst, fabs((double)inverse[i * n + j]));
            test_worst(&worst, fabs((double)(inverse[i * n + j] - inverse[j * n + i])));
        }
    return worst;
}

typedef struct found {
    float *inverse, *m, *t, *v; /* [at[n]], [n] each */
    double lambda;
} found;

/* Calls all block functions of the device with the same vectors in each run. */
static found run(const hx_matrix *matrix, const listed *l, int c, int64_t n, const float *m)
{
    const hx_mg_smoother_ops *const ops = device.ops->multigrid->blocks;
    const size_t n_inverse = (size_t)l->at[l->blocks.n], bytes = (size_t)n * sizeof(float);
    const hx_mg_smoother none = {0};
    hx_mg_smoother smoother, *d_smoother = NULL;
    float *d_m = NULL, *d_t = NULL, *d_s = NULL, *d_v = NULL;
    uint64_t state = 5;
    found f = {take(n_inverse, sizeof(float)), take((size_t)n, sizeof(float)),
               take((size_t)n, sizeof(float)), take((size_t)n, sizeof(float)), 0.0};
    double *const r = take((size_t)n, sizeof *r);
    for (int64_t k = 0; k < n; k++) r[k] = fixture_uniform(&state, -1.0, 1.0), f.t[k] = 0.25f;
    double *const d_r = fixture_put(&device, (size_t)n, r);
    CHECK_OK(hx_device_put(&device, &d_m, m, bytes));
    CHECK_OK(hx_device_put(&device, &d_t, f.t, bytes));
    CHECK_OK(hx_device_put(&device, &d_s, f.t, bytes));
    CHECK_OK(hx_device_put(&device, &d_v, f.t, bytes));
    CHECK_OK(hx_device_put(&device, &d_smoother, &none, sizeof none));
    const hx_mg_splitting splitting = {
        .n = n, .components = c, .matrix = matrix, .blocks = &l->blocks, .d_m = d_m};
    CHECK_OK(ops->invert(&device, &splitting));
    CHECK_OK(ops->apply(&device, &splitting, d_r, d_t));
    CHECK_OK(ops->apply(&device, &splitting, NULL, d_s));
    CHECK_OK(ops->power(&device, n, d_m, d_t, d_s, d_v, d_smoother));
    CHECK_OK(device.ops->download(&device, f.inverse, l->blocks.d_inverse,
                                  n_inverse * sizeof *f.inverse));
    CHECK_OK(device.ops->download(&device, f.m, d_m, bytes));
    CHECK_OK(device.ops->download(&device, f.t, d_t, bytes));
    CHECK_OK(device.ops->download(&device, f.v, d_v, bytes));
    CHECK_OK(device.ops->download(&device, &smoother, d_smoother, sizeof smoother));
    f.lambda = smoother.lambda;
    void *const owned[] = {d_r, d_m, d_t, d_s, d_v, d_smoother};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        device.ops->release(&device, owned[i]);
    free(r);
    return f;
}

static void free_found(found *f)
{
    free(f->inverse);
    free(f->m);
    free(f->t);
    free(f->v);
}

/* Checks t = inverse (1/4 - r) and computes s = inverse 1/4 of block b, with the device's inverse;
 * adds to the sums. */
static void check_solution(const listed *l, int64_t b, int c, const found *f, const double *r,
                           float *s, double *sum)
{
    const int n = c * (l->first[b + 1] - l->first[b]);
    const float *const inverse = f->inverse + l->at[b];
    for (int i = 0; i < n; i++) {
        double t = 0.0, of_t = 0.0, size = 0.0;
        const int64_t to = c * (int64_t)l->point[l->first[b] + i / c] + i % c;
        for (int j = 0; j < n; j++) {
            const int64_t k = c * (int64_t)l->point[l->first[b] + j / c] + j % c;
            const double a = (double)inverse[i * n + j];
            t += a * (0.25 - r[k]), of_t += a * 0.25, size += fabs(a);
        }
        CHECK_MSG(fabs((double)f->t[to] - t) <= 1e-5 * size, "block %lld, %d: %g, not %g",
                  (long long)b, i, (double)f->t[to], t);
        s[to] = (float)of_t;
        *sum += t * of_t;
    }
}

static void check_all(const hx_matrix_rows *k, const listed *l, int c, int64_t n, const float *m,
                      const found *f)
{
    double a[81 * 81], worst = 0.0, sum = 0.0;
    uint64_t state = 5;
    double *const r = take((size_t)n, sizeof *r);
    float *const s = take((size_t)n, sizeof *s);
    for (int64_t i = 0; i < n; i++) r[i] = fixture_uniform(&state, -1.0, 1.0);
    for (int64_t b = 0; b < l->blocks.n; b++) {
        expect_block(k, l, b, c, m, a);
        test_worst(&worst, residual(c * (l->first[b + 1] - l->first[b]), a, f->inverse + l->at[b]));
        check_solution(l, b, c, f, r, s, &sum);
    }
    CHECK_MSG(worst <= 1e-3, "K inverse - 1 is %g", worst);
    const double lambda = sqrt(fabs(sum)), scale = 1.0 / sqrt(fabs(sum));
    CHECK_MSG(sum <= 0.0 || fabs(f->lambda - lambda) <= 1e-4 * lambda, "lambda %g, not %g",
              f->lambda, lambda);
    for (int64_t i = 0; i < n; i++) {
        CHECK(f->m[i] == (m[i] > 0.0f ? 1.0f : 0.0f));
        if (sum > 0.0)
            CHECK_MSG(fabs((double)f->v[i] - scale * (double)s[i]) <= 1e-3 * scale,
                      "v is %g, not %g", (double)f->v[i], scale * (double)s[i]);
    }
    printf("  K inverse - 1: %.1e, lambda %.4g\n", worst, f->lambda);
    free(r);
    free(s);
}

/* The inverse diagonal, with 0 for held unknowns: every eleventh and the first five. */
static float *inverse_diagonal(const hx_matrix_rows *k, int c, int64_t n)
{
    float *const m = take((size_t)n, sizeof *m);
    for (int64_t i = 0; i < n; i++) {
        const double d = number(k, c, i / c, i / c, (int)(i % c), (int)(i % c));
        m[i] = i % 11 == 3 || i < 5 ? 0.0f : (float)(1.0 / d);
    }
    return m;
}

static void test_part(const int degree[3], const int n_span[3], const char *op_name)
{
    const int twice[3] = {1, 0, 0};
    spline_model s;
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    hx_operator op;
    listed l = {0};
    hx_matrix_rows k = {0};
    uint64_t state = 9;
    CHECK_OK(spline_model_row(&s, 2, degree, n_span, twice, 1, NULL));
    const hx_support_spec support = {"patch1:u-", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load = {"patch2:u+", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1};
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    params.space = &s.space;
    CHECK_OK(hx_problem_create(&problem, &s.mesh, &params));
    const hx_operator_kind *const op_kind = hx_operator_kind_find(device.ops->name, op_name);
    CHECK_OK(hx_operator_create(&op, &device, op_kind, hx_layout_first(op_kind), &problem, 0));
    double *const rho = take((size_t)s.mesh.n_elem, sizeof *rho);
    for (int64_t e = 0; e < s.mesh.n_elem; e++) rho[e] = fixture_uniform(&state, 0.05, 1.0);
    CHECK_OK(hx_operator_set_modulus(&op, rho));
    const hx_matrix *const matrix = &op_kind->assembled(op.state)->matrix;
    const int c = matrix->spec.components;
    CHECK_OK(device.ops->matrix->rows(&device, matrix, 0, s.space.n_point, &k));
    list_blocks(s.space.spline_rule, c, &l);
    printf("degrees %d %d %d, %s: %lld blocks\n", degree[0], degree[1], degree[2], op_name,
           (long long)l.blocks.n);
    float *const m = inverse_diagonal(&k, c, op.linear.n);
    found f = run(matrix, &l, c, op.linear.n, m), again = run(matrix, &l, c, op.linear.n, m);
    check_all(&k, &l, c, op.linear.n, m, &f);
    CHECK(memcmp(f.inverse, again.inverse, (size_t)l.at[l.blocks.n] * sizeof(float)) == 0);
    CHECK(memcmp(f.t, again.t, (size_t)op.linear.n * sizeof(float)) == 0);
    free_found(&f);
    free_found(&again);
    free(m);
    free(rho);
    free_blocks(&l);
    hx_matrix_rows_free(&k);
    hx_operator_free(&op);
    hx_problem_free(&problem);
    spline_model_free(&s);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    const int two[3] = {2, 2, 2}, three[3] = {3, 3, 3}, four[3] = {3, 2, 1};
    if (status != 0) return status;
    if (!device.ops->multigrid->blocks) TEST_SKIP("this device has no block smoother");
    test_part(two, four, "bsr");
    test_part(three, two, "bsrsym");
    test_part(three, two, "csr");
    hx_device_close(&device);
    TEST_END();
}
