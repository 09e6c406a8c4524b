/* Device operations of multigrid on coarse grids with so many nodes that other kernels are used:
 * products against rows summed on the host in double precision, and the matrix of the next coarse
 * grid against a product by way of this one.
 *
 *     test_multigrid_large [cpu | cuda] */
#include "tests/lib/multigrid_model.h"

enum { BLOCK = DOF * DOF };

/* Position of entry (r, c) of block o of a node's row. */
static int64_t entry_at(const hx_mg_level *level, int64_t a, int o, int r, int c)
{
    return ops->level->matrix_by_columns ? ((DOF * o + c) * level->n_node + a) * DOF + r
                                         : ((27 * a + o) * DOF + c) * DOF + r;
}

/* y = A x, and size[i] = sum |a_ij|, from the level's own entries. */
static void multiply_on_host(const hx_mg_level *level, const int32_t *neighbour,
                             const float *matrix, const double *x, double *y, double *size)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
    for (int64_t a = 0; a < level->n_node; a++)
        for (int r = 0; r < DOF; r++) {
            double sum = 0.0, all = 0.0;
            for (int o = 0; o < 27; o++) {
                const int64_t b = neighbour[o * level->n_node + a];
                if (b == a && o != HX_COARSE_CENTRE) continue;
                for (int c = 0; c < DOF; c++) {
                    const double entry = (double)matrix[entry_at(level, a, o, r, c)];
                    sum += entry * x[DOF * b + c];
                    all += fabs(entry);
                }
            }
            y[DOF * a + r] = sum;
            size[DOF * a + r] = all;
        }
}

/* Compares each row relative to its own size, because rows of void and solid differ in
 * magnitude. */
static void check_rows(int64_t n, const double *y, const double *expected, const double *size,
                       double tolerance, const char *what)
{
    double off = 0.0;
    for (int64_t i = 0; i < n; i++) test_worst(&off, over(fabs(y[i] - expected[i]), size[i]));
    CHECK_MSG(off <= tolerance, "%s: %s off by %g", context, what, off);
    printf("    %s: off by %.1e\n", what, off);
}

static double size_of_node(const double *size, int64_t a)
{
    double most = 0.0;
    for (int r = 0; r < DOF; r++) test_worst(&most, size[DOF * a + r]);
    return most;
}

/* Entries without a neighbour are 0, and the matrix is symmetric relative to the size of the
 * rows. */
static void check_entries(const hx_mg_level *level, const int32_t *neighbour, const float *matrix,
                          const double *size)
{
    double skew = 0.0;
    int64_t n_stray = 0;
    for (int64_t a = 0; a < level->n_node; a++)
        for (int o = 0; o < 27; o++) {
            const int64_t b = neighbour[o * level->n_node + a];
            const int is_stray = b == a && o != HX_COARSE_CENTRE;
            const double scale = sqrt(size_of_node(size, a) * size_of_node(size, b));
            for (int k = 0; k < BLOCK; k++) {
                const int r = k % DOF, c = k / DOF;
                const double entry = (double)matrix[entry_at(level, a, o, r, c)];
                if (is_stray) {
                    n_stray += entry != 0.0;
                    continue;
                }
                const double image = (double)matrix[entry_at(level, b, 26 - o, c, r)];
                test_worst(&skew, over(fabs(entry - image), scale));
            }
        }
    CHECK_MSG(n_stray == 0, "%s: %lld nonzero entries without a node", context, (long long)n_stray);
    CHECK_MSG(skew <= 1e-6, "%s: unsymmetric by %g", context, skew);
}

static void check_level(const grids *g, int k)
{
    const hx_mg_level *const level = &g->level[k];
    const int64_t n = DOF * level->n_node;
    const size_t bytes = (size_t)n * 27 * DOF * sizeof(float);
    double *const x = random_doubles(n, 8), *const b = random_doubles(n, 9),
                  *const expected = new_doubles(n), *const size = new_doubles(n);
    float *const matrix = malloc(bytes), *const d_x = put_floats(n, x),
                 *const d_y = put(NULL, (size_t)n * sizeof(float));
    if (!matrix) abort();
    CHECK_OK(device.ops->download(&device, matrix, level->d_matrix, bytes));
    const int32_t *const neighbour = g->coarse.level[k].neighbour;
    multiply_on_host(level, neighbour, matrix, x, expected, size);
    check_entries(level, neighbour, matrix, size);
    CHECK_OK(ops->level->multiply(&device, level, d_x, d_y));
    double *y = get_floats(n, d_y);
    check_rows(n, y, expected, size, 1e-6, "product");
    free(y);
    for (int64_t i = 0; i < n; i++) b[i] = (double)(float)(b[i] * size[i]);
    set_floats(level->d_b, n, b);
    CHECK_OK(ops->level->residual(&device, level, d_x, d_y));
    y = get_floats(n, d_y);
    for (int64_t i = 0; i < n; i++) expected[i] = b[i] - expected[i];
    check_rows(n, y, expected, size, 1e-6, "residual");
    free(y);
    CHECK_OK(ops->diagonal->level_invert(&device, level));
    const hx_mg_smoother found = {.lambda = 2.0};
    CHECK_OK(device.ops->upload(&device, level->d_smoother, &found, sizeof found));
    const hx_mg_smoother s = set_smoother(level->d_smoother, 1.1, 16.0);
    double *const m = get_floats(n, level->d_m), *const over_m = new_doubles(n);
    for (int64_t i = 0; i < n; i++) {
        expected[i] = x[i] + (double)s.b[0] * m[i] * expected[i];
        over_m[i] = 1.0 + (double)s.b[0] * m[i] * size[i];
    }
    CHECK_OK(ops->level->smooth(&device, level, 0, d_x, d_y));
    y = get_floats(n, d_y);
    check_rows(n, y, expected, over_m, 1e-6, "smoothing step");
    free(y);
    CHECK_OK(ops->level->smooth(&device, level, 0, NULL, d_y));
    y = get_floats(n, d_y);
    for (int64_t i = 0; i < n; i++) expected[i] = (double)s.b[0] * m[i] * b[i];
    check_rows(n, y, expected, over_m, 1e-6, "step from zero");
    free(y);
    release(d_x);
    release(d_y);
    free(matrix);
    free(m);
    free(over_m);
    free(x);
    free(b);
    free(expected);
    free(size);
}

/* A_k x = P' A_k-1 P x times the scale, in the norm of the vectors. */
static void check_next(const grids *g, int k)
{
    const hx_mg_level *const fine = &g->level[k - 1], *const coarse = &g->level[k];
    const int64_t n = DOF * coarse->n_node, n_fine = DOF * fine->n_node;
    double *const x = random_doubles(n, 21), *const zero = new_doubles(n_fine);
    float *const d_x = put_floats(n, x), *const d_y = put(NULL, (size_t)n * sizeof(float)),
                 *const d_u = put_floats(n_fine, zero),
                 *const d_v = put(NULL, (size_t)n_fine * sizeof(float));
    double apart2 = 0.0, size2 = 0.0;
    CHECK_OK(ops->transfer->galerkin(&device, fine, coarse));
    CHECK_OK(ops->transfer->prolong_from(&device, coarse, d_x, fine, d_u));
    CHECK_OK(ops->level->multiply(&device, fine, d_u, d_v));
    CHECK_OK(ops->transfer->restrict_to(&device, fine, d_v, coarse));
    CHECK_OK(ops->level->multiply(&device, coarse, d_x, d_y));
    double *const y = get_floats(n, d_y), *const expected = get_floats(n, coarse->d_b);
    for (int64_t i = 0; i < n; i++) {
        expected[i] *= (double)coarse->scale;
        apart2 += (y[i] - expected[i]) * (y[i] - expected[i]);
        size2 += expected[i] * expected[i];
    }
    CHECK_MSG(size2 > 0.0 && sqrt(apart2 / size2) <= 2e-6, "%s: P'AP off by %g", context,
              sqrt(apart2 / size2));
    printf("    P'AP of %lld nodes: off by %.1e\n", (long long)coarse->n_node,
           sqrt(apart2 / size2));
    release(d_x);
    release(d_y);
    release(d_u);
    release(d_v);
    free(x);
    free(zero);
    free(y);
    free(expected);
}

int main(int argc, char **argv)
{
    static const sample large = {"large", {.n = {46, 38, 40}, .keep = with_slot}, 1.0, 1e3, 1.0};
    const int status = open_multigrid(argc, argv);
    grids g;
    if (status != 0) return status;
    context = large.name;
    make_coarse_levels(&g, &large);
    for (int k = 0; k < 4; k++) printf("%lld nodes\n", (long long)g.level[k].n_node);
    CHECK(g.level[0].n_node > 60000 && g.level[2].n_node > 1000 && g.level[3].n_node <= 1000);
    CHECK_OK(ops->transfer->mesh_galerkin(&device, &g.m, &g.level[0]));
    check_level(&g, 0);
    for (int k = 1; k < 4; k++) { /* with more than 1,000 nodes, and with fewer */
        check_next(&g, k);
        check_level(&g, k);
    }
    free_grids(&g);
    hx_device_close(&device);
    TEST_END();
}
