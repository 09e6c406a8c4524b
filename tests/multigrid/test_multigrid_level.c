/* Device operations of multigrid on the coarse grids, against dense matrices in double precision:
 * Galerkin matrices of coarser levels, products, transfers between levels, smoother and power
 * iteration.
 *
 *     test_multigrid_level [cpu | cuda] */
#include "tests/lib/multigrid_model.h"

static int64_t n_restored; /* number of corrected nodes in all samples */

/* ---- Galerkin matrices ---- */

/* Prolongation P from coarse grid k to k - 1, [6 n_fine][6 n_coarse]. */
static double *coarse_p(const grids *g, int k)
{
    const hx_coarse_level *fine = &g->coarse.level[k - 1], *coarse = fine + 1;
    const int64_t n_col = DOF * coarse->n_node;
    double *p = new_doubles(DOF * fine->n_node * n_col);
    for (int64_t a = 0; a < fine->n_node; a++)
        for (int64_t j = 0; j < coarse->n_node; j++) {
            double w = 1.0, d[3];
            for (int i = 0; i < 3; i++) {
                const int32_t at = g->place[k - 1][3 * a + i], up = g->place[k][3 * j + i];
                if (coarse->mode[i] == HX_COARSE_HALVE) w *= fmax(0.0, 1.0 - fabs(at / 2.0 - up));
                if (coarse->mode[i] == HX_COARSE_KEEP) w *= at == up;
                d[i] =
                    g->first[k - 1][i] + at * fine->step[i] - g->first[k][i] - up * coarse->step[i];
            }
            if (w == 0.0) continue;
            add_motion(p + DOF * a * n_col, n_col, j, w, d);
            for (int i = 3; i < 6; i++) p[(DOF * a + i) * n_col + DOF * j + i] = w;
        }
    return p;
}

/* P'A P for a sparse P [n][m]. */
static double *triple(int64_t n, int64_t m, const double *p, const double *a)
{
    double *ap = new_doubles(n * m), *sum = new_doubles(m * m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t c = 0; a[i * n + k] != 0.0 && c < m; c++)
                ap[i * m + c] += a[i * n + k] * p[k * m + c];
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < m; r++)
            for (int64_t c = 0; p[i * m + r] != 0.0 && c < m; c++)
                sum[r * m + c] += p[i * m + r] * ap[i * m + c];
    free(ap);
    return sum;
}

/* Galerkin matrices with the level's scale, starting from the first coarse grid, which
 * test_multigrid_mesh checks. */
static void check_galerkin(const grids *g)
{
    CHECK_OK(ops->transfer->mesh_galerkin(&device, &g->m, &g->level[0]));
    double *a = dense_of(&g->level[0]);
    for (int k = 1; k < g->coarse.n_level; k++) {
        const int64_t n = DOF * g->level[k - 1].n_node, m = DOF * g->level[k].n_node;
        double *p = coarse_p(g, k), *expected = triple(n, m, p, a);
        for (int64_t i = 0; i < m * m; i++) expected[i] *= (double)g->level[k].scale;
        CHECK_OK(ops->transfer->galerkin(&device, &g->level[k - 1], &g->level[k]));
        free(a);
        a = dense_of(&g->level[k]);
        check_matrix(m, a, expected, "P'AP");
        free(expected);
        free(p);
    }
    free(a);
}

/* ---- on one coarse grid ---- */

/* y = A x in double precision, A [n][n]. */
static double *dense_product(int64_t n, const double *a, const double *x)
{
    double *y = new_doubles(n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
    return y;
}

/* Compares each row relative to its own diagonal, because rows of void and solid differ by the
 * contrast. */
static void check_rows(const hx_mg_level *level, const double *a, const double *y,
                       const double *expected, const char *what)
{
    const int64_t n = DOF * level->n_node;
    double off = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double size = 0.0;
        for (int64_t j = 0; j < n; j++) size += fabs(a[i * n + j]);
        test_worst(&off, over(fabs(y[i] - expected[i]), size));
    }
    CHECK_MSG(off <= 1e-6, "%s: %s off by %g", context, what, off);
}

/* level_power_next equals M^-1 times a product, bitwise. */
static void check_power_next(const hx_mg_level *level, int64_t n, const float *d_x,
                             const double *product)
{
    float *const d_y = put(NULL, (size_t)n * sizeof(float));
    double *const m = get_floats(n, level->d_m);
    int64_t wrong = 0;
    CHECK_OK(ops->diagonal->level_power_next(&device, level, d_x, d_y));
    double *const y = get_floats(n, d_y);
    for (int64_t i = 0; i < n; i++) wrong += y[i] != (double)((float)m[i] * (float)product[i]);
    CHECK_MSG(wrong == 0, "%s: %lld wrong entries of a power step", context, (long long)wrong);
    release(d_y);
    free(m);
    free(y);
}

static void check_products(const hx_mg_level *level, const double *a)
{
    const int64_t n = DOF * level->n_node;
    double *x = random_doubles(n, 8), *b = random_doubles(n, 9), *expected = dense_product(n, a, x);
    float *d_x = put_floats(n, x), *d_y = put(NULL, (size_t)n * sizeof(float));
    for (int64_t i = 0; i < n; i++) b[i] = (double)(float)(b[i] * a[i * n + i]);
    set_floats(level->d_b, n, b);
    CHECK_OK(ops->level->multiply(&device, level, d_x, d_y));
    double *y = get_floats(n, d_y);
    check_rows(level, a, y, expected, "product");
    if (ops->diagonal->level_power_next) check_power_next(level, n, d_x, y);
    free(y);
    CHECK_OK(ops->level->residual(&device, level, d_x, d_y));
    y = get_floats(n, d_y);
    for (int64_t i = 0; i < n; i++) expected[i] = b[i] - expected[i];
    check_rows(level, a, y, expected, "residual");
    for (int64_t j = 0, wrong = 0; n <= 300 && j < n; j++) { /* column by column, bitwise equal */
        for (int64_t i = 0; i < n; i++) x[i] = i == j;
        set_floats(d_x, n, x);
        CHECK_OK(ops->level->multiply(&device, level, d_x, d_y));
        free(y);
        y = get_floats(n, d_y);
        for (int64_t i = 0; i < n; i++) wrong += y[i] != a[i * n + j];
        CHECK_MSG(wrong == 0, "%s: column %lld", context, (long long)j);
    }
    release(d_x);
    release(d_y);
    free(x);
    free(b);
    free(y);
    free(expected);
}

/* Chebyshev steps computed here with the dense matrix, from zero and from a vector. */
static void check_smoothing(const hx_mg_level *level, const double *a)
{
    enum { STEPS = 4 };
    const int64_t n = DOF * level->n_node;
    hx_mg_smoother s;
    double *b = get_floats(n, level->d_b), *m = get_floats(n, level->d_m);
    double *x = new_doubles(n), *d = new_doubles(n), worst = 0.0;
    float *d_old = put(NULL, (size_t)n * sizeof(float)),
          *d_new = put(NULL, (size_t)n * sizeof(float));
    s = set_smoother(level->d_smoother, 1.1, 16.0);
    for (int64_t i = 0; i < n; i++) CHECK_REL(m[i], a[i * n + i] > 0 ? 1 / a[i * n + i] : 0, 1e-6);
    for (int step = 0; step < 2 * STEPS; step++) {
        const int i = step % STEPS;
        double *ax = dense_product(n, a, x), off;
        for (int64_t k = 0; k < n; k++) {
            d[k] = (i > 0 ? (double)s.a[i] * d[k] : 0.0) + (double)s.b[i] * m[k] * (b[k] - ax[k]);
            x[k] += d[k];
        }
        CHECK_OK(ops->level->smooth(&device, level, i, step == 0 ? NULL : d_old, d_new));
        float *const swap = d_old;
        d_old = d_new;
        d_new = swap;
        double *y = get_floats(n, d_old);
        off = apart(n, y, x);
        test_worst(&worst, off);
        CHECK_MSG(off <= 1e-5, "%s: step %d of the smoother off by %g", context, step, off);
        free(y);
        free(ax);
    }
    printf("    smoothing: off by %.1e\n", worst);
    release(d_old);
    release(d_new);
    free(b);
    free(m);
    free(x);
    free(d);
}

static void check_coarse(const hx_mg_level *level, int first)
{
    const int64_t n = DOF * level->n_node;
    double *a = dense_of(level);
    CHECK_OK(ops->diagonal->level_invert(&device, level));
    CHECK_OK(ops->vector->power_start(&device, n, level->d_m, level->d_v));
    for (int i = 0; i < 20; i++) { /* as many as for a first design */
        CHECK_OK(ops->level->multiply(&device, level, level->d_v, level->d_y));
        CHECK_OK(ops->diagonal->level_power(&device, n, level->d_m, level->d_y, NULL, level->d_v,
                                            level->d_smoother));
    }
    double *m = get_floats(n, level->d_m);
    check_lambda(n, a, m, lambda_of(level->d_smoother),
                 first ? "first coarse grid" : "coarse grid");
    check_products(level, a);
    check_smoothing(level, a);
    free(a);
    free(m);
}

/* Transfers between coarse grids, against P in double precision. */
static void check_transfers(const grids *g, int k)
{
    const hx_mg_level *fine = &g->level[k - 1], *coarse = &g->level[k];
    const int64_t n = DOF * fine->n_node, m = DOF * coarse->n_node;
    double *p = coarse_p(g, k), *r = random_doubles(n, 11), *y = random_doubles(m, 12),
           *x = random_doubles(n, 13), *b = new_doubles(m);
    float *d_r = put_floats(n, r), *d_y = put_floats(m, y), *d_x = put_floats(n, x);
    CHECK_OK(ops->transfer->restrict_to(&device, fine, d_r, coarse));
    CHECK_OK(ops->transfer->prolong_from(&device, coarse, d_y, fine, d_x));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            b[j] += p[i * m + j] * r[i];
            x[i] += p[i * m + j] * y[j];
        }
    double *got_b = get_floats(m, coarse->d_b), *got_x = get_floats(n, d_x);
    CHECK_APART(m, got_b, b, 2e-6);
    CHECK_APART(n, got_x, x, 2e-6);
    release(d_r);
    release(d_y);
    release(d_x);
    free(p);
    free(r);
    free(y);
    free(x);
    free(b);
    free(got_b);
    free(got_x);
}

/* ---- without a mesh ---- */

/* For one unknown with A = lambda: after k steps the error is the Chebyshev polynomial of degree k
 * that is 1 at 0 and has equal extrema within the interval. */
static void check_chebyshev(void)
{
    static const double ratio[] = {4.0, 8.0, 16.0};
    for (int i = 0; i < 3; i++)
        for (int l = 0; l <= 50; l++) {
            hx_mg_smoother s = {.lambda = 3.0};
            const double lambda = 1.1 * 3.0 * l / 50.0, theta = 1.65 * (1.0 + 1.0 / ratio[i]),
                         delta = 1.65 * (1.0 - 1.0 / ratio[i]);
            double x = 0.0, d = 0.0, t[3] = {1.0, (theta - lambda) / delta, 0.0},
                   t0[3] = {1.0, theta / delta, 0.0};
            hx_mg_smoother_set(&s, 1.1, ratio[i]);
            for (int k = 0; k < HX_MG_MAX_DEGREE; k++) {
                d = (double)s.a[k] * d + (double)s.b[k] * (1.0 - lambda * x);
                x += d;
                CHECK_ABS(1.0 - lambda * x, t[1] / t0[1], 2e-6);
                t[2] = 2.0 * (theta - lambda) / delta * t[1] - t[0];
                t0[2] = 2.0 * theta / delta * t0[1] - t0[0];
                memmove(t, t + 1, 2 * sizeof *t);
                memmove(t0, t0 + 1, 2 * sizeof *t0);
            }
        }
    hx_mg_smoother s = {.lambda = 0.0}; /* an empty matrix: the smoother does nothing */
    hx_mg_smoother_set(&s, 1.1, 4.0);
    for (int k = 0; k < HX_MG_MAX_DEGREE; k++) CHECK(s.b[k] == 0.0f && isfinite(s.a[k]));
}

/* (A + D) X = I up to the rounding of X to single precision, in rows that are not left out, where A
 * is scaled to a unit diagonal and D is a fraction of it. X is bitwise symmetric; its product;
 * bitwise equal results in a second run. */
static void check_inverse(const hx_mg_level *level)
{
    const int64_t n = DOF * level->n_node, pitch = hx_mg_pitch(n);
    if (!ops->direct->begin || n > 1500) return;
    const size_t bytes = (size_t)(pitch * pitch) * sizeof(float);
    double *a = dense_of(level), *scale = new_doubles(n), *b = random_doubles(n, 18), off = 0.0,
           largest = 0.0;
    int fits;
    void *d_work = put(NULL, (size_t)hx_mg_inverse_work(n) * sizeof(double)),
         *d_again = put(NULL, bytes);
    hx_mg_direct direct = {.n = n, .d_work = d_work, .d_inverse = d_again};
    const double added = hx_mg_defaults.direct.added;
    float *d_x = put(NULL, bytes), *d_b = put_floats(n, b), *d_y = put_floats(n, b);
    CHECK_OK(ops->direct->begin(&device, level, added, &direct));
    CHECK_OK(ops->direct->finish(&device, level, added, &direct, &fits));
    direct.d_inverse = d_x;
    CHECK_OK(ops->direct->begin(&device, level, added, &direct));
    CHECK_OK(ops->direct->finish(&device, level, added, &direct, &fits));
    CHECK_OK(ops->direct->solve(&device, level, &direct, d_b, d_y));
    double *x = get_floats(pitch * pitch, d_x), *again = get_floats(pitch * pitch, d_again),
           *y = get_floats(n, d_y), *expected = new_doubles(n), *left = new_doubles(n);
    CHECK(memcmp(x, again, (size_t)(pitch * pitch) * sizeof *x) == 0);
    int64_t n_out = 0, n_empty = 0, n_skew = 0;
    for (int64_t i = 0; i < n; i++) {
        scale[i] = a[i * n + i] > 0.0 ? 1.0 / sqrt(a[i * n + i]) : 0.0;
        for (int64_t j = 0; j < n; j++) {
            n_skew += x[i * pitch + j] != x[j * pitch + i];
            expected[i] += x[i * pitch + j] * b[j];
        }
        n_out += !(x[i * pitch + i] > 0.0);
        n_empty += !(a[i * n + i] > 0.0);
    }
    for (int64_t c = 0; c < n; c += 1 + n / 50) { /* a sample of the columns */
        if (!(x[c * pitch + c] > 0.0)) continue;
        memset(left, 0, (size_t)n * sizeof *left);
        for (int64_t j = 0; j < n; j++) {
            const double xj = scale[j] > 0.0 ? x[j * pitch + c] / (scale[j] * scale[c]) : 0.0;
            test_worst(&largest, fabs(xj));
            if (xj != 0.0)
                for (int64_t i = 0; i < n; i++) /* the lower triangle is the one that is used */
                    left[i] += (i > j ? a[i * n + j] : a[j * n + i]) * scale[i] * scale[j] *
                               (i == j ? 1.0 + hx_mg_defaults.direct.added : 1.0) * xj;
        }
        for (int64_t i = 0; i < n; i++)
            if (x[i * pitch + i] > 0.0) test_worst(&off, fabs(left[i] - (i == c)));
    }
    printf("    inverse of %lld: off by %.1e, largest %.1e, %lld left out\n", (long long)n, off,
           largest, (long long)n_out);
    CHECK_MSG(fits == (n_out == n_empty), "%s: %lld rows of %lld left out", context,
              (long long)(n_out - n_empty), (long long)n);
    CHECK_MSG(n_skew == 0, "%s: %lld entries unsymmetric", context, (long long)n_skew);
    CHECK_MSG(off <= 3e-7 * (1.0 + largest), "%s: inverse off by %g", context, off);
    CHECK_APART(n, y, expected, 2e-6);
    release(d_work);
    release(d_again);
    release(d_x);
    release(d_b);
    release(d_y);
    free(a);
    free(scale);
    free(b);
    free(x);
    free(again);
    free(y);
    free(expected);
    free(left);
}

/* A diagonal that is 1e-5 too small destroys positive definiteness: the inverse does not fit until
 * more than that is added. This needs redundant modes, which coarse grids with enough nodes
 * have. */
static void check_noise(const hx_mg_level *level)
{
    const int64_t n_node = level->n_node, n = DOF * n_node;
    double *a = dense_of(level), added = hx_mg_defaults.direct.added;
    float *block = calloc((size_t)(n_node * DOF * DOF), sizeof *block);
    int64_t *at = calloc((size_t)n_node, sizeof *at);
    int fits = 0;
    if (!block || !at) abort();
    for (int64_t k = 0; k < n_node; k++) {
        at[k] = HX_COARSE_OFFSETS * k + HX_COARSE_CENTRE;
        for (int r = 0; r < DOF; r++)
            block[DOF * DOF * k + (DOF + 1) * r] =
                (float)(-1e-5 * a[(DOF * k + r) * n + DOF * k + r]);
    }
    void *d_at = put(at, (size_t)n_node * sizeof *at),
         *d_block = put(block, (size_t)(n_node * DOF * DOF) * sizeof *block),
         *d_work = put(NULL, (size_t)hx_mg_inverse_work(n) * sizeof(double)),
         *d_x = put(NULL, (size_t)(hx_mg_pitch(n) * hx_mg_pitch(n)) * sizeof(float));
    hx_mg_direct direct = {.n = n, .d_work = d_work, .d_inverse = d_x};
    CHECK_OK(ops->level->add_blocks(&device, level, n_node, d_at, d_block));
    while (!fits && added < 1e-2) {
        CHECK_OK(ops->direct->begin(&device, level, added, &direct));
        CHECK_OK(ops->direct->finish(&device, level, added, &direct, &fits));
        CHECK_MSG(!fits || added > 1e-5, "%s: an indefinite matrix fits with %g added", context,
                  added);
        if (!fits) added *= 4.0;
    }
    CHECK_MSG(fits && added < 1e-3, "%s: does not fit with %g added", context, added);
    release(d_at);
    release(d_block);
    release(d_work);
    release(d_x);
    free(block);
    free(at);
    free(a);
}

/* ---- rigid motions ---- */

/* Force in row r of node i for motion c about that node, applied to the whole coarse grid, from a
 * dense matrix. */
static void find_forces(const hx_mg_level *level, const int32_t *place, const double *a, int64_t i,
                        double force[DOF][DOF])
{
    const int64_t n_col = DOF * level->n_node;
    memset(force, 0, DOF * sizeof *force);
    for (int64_t j = 0; j < level->n_node; j++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = (place[3 * j + k] - place[3 * i + k]) * (double)level->step[k];
        for (int r = 0; r < DOF; r++) {
            const double *const row = a + (DOF * i + r) * n_col + DOF * j;
            for (int c = 0; c < DOF; c++) force[r][c] += row[c];
            force[r][3] += d[1] * row[2] - d[2] * row[1];
            force[r][4] += d[2] * row[0] - d[0] * row[2];
            force[r][5] += d[0] * row[1] - d[1] * row[0];
        }
    }
}

/* In rows that are not held, rigid motions cause no forces, up to the rounding of a diagonal block
 * of floats. Held rows (and every fifth) and all other entries are bitwise unchanged. */
static void check_rigid(const grids *g, int k)
{
    hx_mg_level level = g->level[k];
    const int64_t n_node = level.n_node, n = DOF * n_node;
    int64_t n_free = 0, n_moved = 0, n_skew = 0;
    double left = 0.0;
    if (!ops->level->restore_rigid) return;
    double *before = dense_of(&level), force[DOF][DOF];
    uint8_t *held = calloc((size_t)n_node, sizeof *held);
    for (int64_t i = 0; i < n_node; i++) {
        double largest = 0.0;
        find_forces(&level, g->place[k], before, i, force);
        for (int r = 0; r < DOF; r++)
            for (int c = 0; c < DOF; c++) test_worst(&largest, fabs(force[r][c]));
        held[i] = i % 5 == 0 || largest > 1e-5 * before[DOF * i * n + DOF * i];
    }
    level.d_held = put(held, (size_t)n_node * sizeof *held);
    CHECK_OK(ops->level->restore_rigid(&device, &level));
    double *after = dense_of(&level);
    for (int64_t i = 0; i < n_node; i++) {
        const int64_t first = DOF * i;
        n_free += !held[i];
        for (int64_t r = first; r < first + DOF; r++)
            for (int64_t j = 0; j < n; j++) {
                const int is_block = j >= first && j < first + DOF;
                n_moved += (held[i] || !is_block) && after[r * n + j] != before[r * n + j];
                n_skew += is_block && !held[i] && after[r * n + j] != after[j * n + r];
            }
        find_forces(&level, g->place[k], after, i, force);
        for (int r = 0; r < DOF; r++)
            for (int c = 0; c < DOF && !held[i]; c++)
                test_worst(&left, over(fabs(force[r][c] + force[c][r]),
                                       fabs(after[(first + r) * n + first + c])));
    }
    printf("    rigid motions: %lld nodes free, %.1e of a block left\n", (long long)n_free, left);
    CHECK_MSG(n_moved == 0, "%s: %lld entries moved", context, (long long)n_moved);
    CHECK_MSG(n_skew == 0, "%s: %lld entries unsymmetric", context, (long long)n_skew);
    CHECK_MSG(left <= 1.3e-7, "%s: %g of a diagonal block left", context, left);
    n_restored += n_free;
    release(level.d_held);
    free(held);
    free(before);
    free(after);
}

static void check_levels(const grids *g)
{
    check_galerkin(g);
    for (int k = 0; k < g->coarse.n_level; k++) {
        check_rigid(g, k);
        check_coarse(&g->level[k], k == 0);
        check_inverse(&g->level[k]);
        if (k > 0) check_transfers(g, k);
    }
    const hx_mg_level *last = &g->level[g->coarse.n_level - 1];
    if (ops->direct->begin && g->coarse.n_level > 1 && last->n_node >= 12) check_noise(last);
}

int main(int argc, char **argv)
{
    const int status = open_multigrid(argc, argv);
    if (status != 0) return status;
    check_chebyshev();
    for_each_sample(check_levels);
    CHECK(n_restored > 0 || !ops->level->restore_rigid);
    hx_device_close(&device);
    TEST_END();
}
