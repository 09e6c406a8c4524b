/* Line smoother on coarse grids, along each axis, against dense matrices in double precision: each
 * owned node is in one line along the shortest step, no longer than longest; the factors
 * solve M x = t, where M consists of the blocks of the lines plus a fraction of the diagonal; M^-1
 * is symmetric; steps of the smoother and the largest eigenvalue.
 *
 *     test_multigrid_level_lines [cpu | cuda] */
#include "core/multigrid/level_line.h"
#include "core/multigrid/multigrid_internal.h"
#include "tests/lib/multigrid_model.h"

enum { LONGEST = 64 }; /* the default of lines.longest */

static const int next_along[3] = {14, 16, 22};

/* Totals over all samples: lines with several nodes, lines that were cut, unknowns that are left
 * out. */
static int64_t n_longer, n_cut, n_out;

/* Line and place of each node, on the host. */
typedef struct places {
    int32_t *line, *place;
} places;

static int32_t *get_words(size_t n, const int32_t *d_from)
{
    int32_t *const to = malloc(n * sizeof *to);
    if (!to) abort();
    CHECK_OK(device.ops->download(&device, to, d_from, n * sizeof *to));
    return to;
}

/* Each line continues as far as possible, but ends after 64 nodes. */
static void check_ends(const hx_mg_level *level, const int32_t *neighbour, const int32_t *first,
                       const int32_t *node, int64_t line)
{
    const int next = level->lines.next;
    const int32_t end = first[line + 1], last = node[end - 1], begin = node[first[line]];
    const int length = (int)(end - first[line]);
    const int has_next = neighbour[next * level->n_node + last] != last,
              has_before = neighbour[(26 - next) * level->n_node + begin] != begin;
    CHECK(!has_next || length == LONGEST);
    CHECK(!has_before || (line > 0 && first[line] - first[line - 1] == LONGEST));
    n_longer += length > 1;
    n_cut += has_next;
}

static places check_lists(const hx_mg_level *level)
{
    const hx_mg_level_lines *const lines = &level->lines;
    const size_t n = (size_t)level->n_node;
    int32_t *const first = get_words((size_t)lines->n + 1, lines->d_first),
                   *const node = get_words(n, lines->d_node),
                   *const neighbour = get_words(27 * n, level->d_neighbour);
    places p = {calloc(n, sizeof *p.line), calloc(n, sizeof *p.place)};
    int most = 0;
    if (!p.line || !p.place) abort();
    for (size_t a = 0; a < n; a++) p.line[a] = -1;
    CHECK(first[0] == 0 && first[lines->n] == level->n_node);
    for (int64_t l = 0; l < lines->n; l++) {
        for (int32_t k = first[l]; k < first[l + 1]; k++) {
            CHECK(p.line[node[k]] == -1);
            p.line[node[k]] = (int32_t)l;
            p.place[node[k]] = k;
            CHECK(k == first[l] || neighbour[lines->next * level->n_node + node[k - 1]] == node[k]);
        }
        most = first[l + 1] - first[l] > most ? first[l + 1] - first[l] : most;
        check_ends(level, neighbour, first, node, l);
    }
    CHECK(lines->most == most && most <= LONGEST);
    free(first);
    free(node);
    free(neighbour);
    return p;
}

/* The blocks of the lines as a dense matrix, including what is added to the diagonal. */
static double *lines_of(const hx_mg_level *level, const places *p, const double *a)
{
    const int64_t n = DOF * level->n_node;
    double *const b = new_doubles(n * n);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            if (p->line[i / DOF] == p->line[j / DOF] &&
                abs(p->place[i / DOF] - p->place[j / DOF]) <= 1)
                b[i * n + j] = a[i * n + j];
        b[i * n + i] *= 1.0 + HX_LEVEL_LINE_ADDED;
    }
    return b;
}

/* M^-1 t on the device. */
static double *solve_lines(const hx_mg_level *level, int64_t n, const double *t)
{
    set_floats(level->d_y, n, t);
    CHECK_OK(ops->lines->level_apply(&device, level, level->d_y));
    return get_floats(n, level->d_y);
}

/* Removes from the blocks of the lines the unknowns that the factors leave out: those that are 0 in
 * two solutions. */
static void leave_out(int64_t n, const double *z, const double *w, double *b)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = i / DOF * DOF;
        double most = 0.0;
        if (z[i] != 0.0 || w[i] != 0.0) continue;
        for (int64_t k = first; k < first + DOF; k++) test_worst(&most, b[k * n + k]);
        CHECK_MSG(b[i * n + i] <= 2.0 * HX_LEVEL_LINE_LEAST * most, "%s: %g of %g left out",
                  context, b[i * n + i], most);
        n_out += b[i * n + i] > 0.0;
        for (int64_t j = 0; j < n; j++) b[i * n + j] = b[j * n + i] = 0.0;
    }
}

/* M z = t relative to the size of the terms, and w'M z = z'M w. */
static void check_solve(const hx_mg_level *level, double *b)
{
    const int64_t n = DOF * level->n_node;
    double *t = random_doubles(n, 21), *s = random_doubles(n, 22), off = 0.0, forth = 0.0,
           back = 0.0, size = 0.0;
    for (int64_t i = 0; i < n; i++) {
        t[i] = (double)(float)(t[i] * b[i * n + i]);
        s[i] = (double)(float)(s[i] * b[i * n + i]);
    }
    double *const z = solve_lines(level, n, t), *const w = solve_lines(level, n, s);
    leave_out(n, z, w, b);
    for (int64_t i = 0; i < n; i++) {
        double sum = -t[i], scale = fabs(t[i]);
        forth += z[i] * s[i];
        back += w[i] * t[i];
        size += fabs(z[i] * s[i]) + fabs(w[i] * t[i]);
        for (int64_t j = 0; j < n; j++) {
            sum += b[i * n + j] * z[j];
            scale += fabs(b[i * n + j] * z[j]);
        }
        if (b[i * n + i] > 0.0) test_worst(&off, over(fabs(sum), scale));
    }
    CHECK_MSG(off <= 1e-4, "%s: lines off by %g", context, off);
    CHECK_MSG(fabs(forth - back) <= 1e-4 * size, "%s: lines unsymmetric by %g", context,
              fabs(forth - back) / size);
    printf("    lines: off by %.1e\n", off);
    free(t);
    free(s);
    free(z);
    free(w);
}

/* Steps computed here, from zero and from a vector, with the device's M^-1. */
static void check_steps(const hx_mg_level *level, const double *a)
{
    enum { STEPS = 3 };
    const int64_t n = DOF * level->n_node;
    double *const b = random_doubles(n, 23), *const x = new_doubles(n), *const d = new_doubles(n),
                  *const r = new_doubles(n), off = 0.0;
    float *d_old = put(NULL, (size_t)n * sizeof(float)),
          *d_new = put(NULL, (size_t)n * sizeof(float));
    const hx_mg_smoother s = set_smoother(level->d_smoother, 1.1, 8.0);
    for (int64_t k = 0; k < n; k++) b[k] = (double)(float)(b[k] * a[k * n + k]);
    set_floats(level->d_b, n, b);
    for (int step = 0; step < 2 * STEPS; step++) {
        const int i = step % STEPS;
        for (int64_t k = 0; k < n; k++) {
            r[k] = b[k];
            for (int64_t j = 0; j < n; j++) r[k] -= a[k * n + j] * x[j];
        }
        double *const z = solve_lines(level, n, r);
        for (int64_t k = 0; k < n; k++) {
            d[k] = (i > 0 ? (double)s.a[i] * d[k] : 0.0) + (double)s.b[i] * z[k];
            x[k] += d[k];
        }
        CHECK_OK(ops->level->smooth(&device, level, i, step == 0 ? NULL : d_old, d_new));
        float *const swap = d_old;
        d_old = d_new;
        d_new = swap;
        double *const y = get_floats(n, d_old);
        test_worst(&off, apart(n, y, x));
        free(y);
        free(z);
    }
    CHECK_MSG(off <= 3e-4, "%s: a step by lines off by %g", context, off);
    printf("    steps: off by %.1e\n", off);
    release(d_old);
    release(d_new);
    free(b);
    free(x);
    free(d);
    free(r);
}

/* 1 if lambda M - A is positive definite on the unknowns that are not left out. */
static int is_above(int64_t n, const double *a, const double *b, double lambda)
{
    double *const c = new_doubles(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int is_in = b[i * n + i] > 0.0 && b[j * n + j] > 0.0;
            c[i * n + j] = is_in ? lambda * b[i * n + j] - a[i * n + j] : i == j;
        }
    const int definite = is_definite(n, c);
    free(c);
    return definite;
}

/* Power iteration as in hx_mg_estimate. */
static void check_eigenvalue(const hx_mg_level *level, const double *a, const double *b)
{
    const int64_t n = DOF * level->n_node;
    CHECK_OK(ops->vector->power_start(&device, n, level->d_m, level->d_v));
    for (int i = 0; i < 30; i++) {
        CHECK_OK(ops->level->multiply(&device, level, level->d_v, level->d_y));
        CHECK_OK(device.ops->copy(&device, level->d_d, level->d_y, (size_t)n * sizeof *level->d_d));
        CHECK_OK(ops->lines->level_apply(&device, level, level->d_d));
        CHECK_OK(ops->lines->level_power(&device, n, level->d_m, level->d_y, level->d_d, level->d_v,
                                         level->d_smoother));
    }
    const double lambda = lambda_of(level->d_smoother);
    CHECK_MSG(!is_above(n, a, b, 0.999 * lambda), "%s: %g is above the largest", context, lambda);
    CHECK_MSG(is_above(n, a, b, 1.15 * lambda), "%s: %g is too low", context, lambda);
    printf("    lambda by lines: %.4f\n", lambda);
}

static void check_axis(const grids *g, int k, int axis)
{
    static hx_multigrid mg; /* the fields that lines use */
    hx_coarse_level from = g->coarse.level[k];
    hx_mg_level level = g->level[k];
    const int64_t n = DOF * level.n_node;
    memset(&mg, 0, sizeof mg);
    mg.dev = &device;
    mg.params = &hx_mg_defaults;
    mg.lines.n_point = 1;
    for (int i = 0; i < 3; i++) from.step[i] = i == axis ? 1.0 : 1.5;
    CHECK_OK(hx_mg_level_lines_create(&mg, &from, &level));
    CHECK(level.lines.next == next_along[axis]);
    CHECK_OK(ops->diagonal->level_invert(&device, &level));
    CHECK_OK(ops->lines->level_invert(&device, &level));
    const places p = check_lists(&level);
    double *const a = dense_of(&level), *const b = lines_of(&level, &p, a),
                  *const m = get_floats(n, level.d_m);
    for (int64_t i = 0; i < n; i++) CHECK(m[i] == (a[i * n + i] > 0.0 ? 1.0 : 0.0));
    check_solve(&level, b);
    check_eigenvalue(&level, a, b);
    check_steps(&level, a);
    hx_mg_level_lines_free(&device, &level.lines);
    CHECK(level.lines.next == 0 && !level.lines.d_factor);
    free(a);
    free(b);
    free(m);
    free(p.line);
    free(p.place);
}

/* Checks all axes except those whose layers have collapsed. */
static void check_levels(const grids *g)
{
    CHECK_OK(ops->transfer->mesh_galerkin(&device, &g->m, &g->level[0]));
    for (int k = 0; k < g->coarse.n_level; k++) {
        if (k > 0) CHECK_OK(ops->transfer->galerkin(&device, &g->level[k - 1], &g->level[k]));
        for (int axis = 0; axis < 3; axis++)
            if (g->coarse.level[k].layer[axis] > 1) check_axis(g, k, axis);
    }
}

/* There are no lines on a coarse grid of a mesh without lines, or with a single node. */
static void check_none(const grids *g)
{
    static hx_multigrid mg;
    hx_coarse_level from = g->coarse.level[0];
    hx_mg_level level = g->level[0];
    memset(&mg, 0, sizeof mg);
    mg.dev = &device;
    mg.params = &hx_mg_defaults;
    CHECK_OK(hx_mg_level_lines_create(&mg, &from, &level));
    CHECK(level.lines.next == 0 && level.lines.n == 0 && !level.lines.d_first);
    mg.lines.n_point = 1;
    for (int i = 0; i < 3; i++) from.layer[i] = 1;
    CHECK_OK(hx_mg_level_lines_create(&mg, &from, &level));
    CHECK(level.lines.next == 0 && level.lines.n == 0 && !level.lines.d_first);
}

int main(int argc, char **argv)
{
    static const sample more[] = {
        {"stretched", {.n = {6, 5, 20}, .flat = 12.0}, 4.0, 1e9, 1.0},
        {"long lines", {.n = {90, 1, 1}, .distort = 0.1}, 1.0, 1e3, 1.0},
        {"a point a node", {.n = {8, 2, 2}}, 1.0, 1e3, 1.0},
    };
    const int status = open_multigrid(argc, argv);
    if (status != 0) return status;
    if (!ops->lines) TEST_SKIP("this device has no line smoother on coarse grids");
    for_each_sample(check_levels);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        static grids g;
        context = more[i].name;
        make_grids(&g, &more[i]);
        check_none(&g);
        check_levels(&g);
        free_grids(&g);
    }
    CHECK(n_longer > 0 && n_cut > 0 && n_out > 0);
    hx_device_close(&device);
    TEST_END();
}
