/* Device operations of multigrid on a distributed level with so many nodes that a GPU reads half of
 * its matrix: owned rows against rows summed on the host in double precision. Entries are random,
 * and symmetric among owned nodes. Ghosts have values in vectors that are multiplied, and NaN in
 * everything that is not available on this rank.
 *
 *     test_multigrid_subdomains [cpu | cuda] */
#include "tests/lib/multigrid_model.h"

enum { SIDE = 26, N_PLACE = SIDE * SIDE * SIDE, OFFSETS = HX_COARSE_OFFSETS, OWN = 1 };
enum { NEXT_SIDE = SIDE / 2 + 1, N_NEXT = NEXT_SIDE * NEXT_SIDE * NEXT_SIDE };

/* One of three ranks, with `dof` unknowns per node, numbered as in dist_coarse.c. */
typedef struct share {
    int dof;
    int64_t n_node, n_own;
    /* number of the node at a place, or -1; and the reverse */
    int32_t number[N_PLACE], place[N_PLACE];
    int32_t *neighbour;      /* [27][n_node] */
    double *matrix;          /* [n_own][27][dof][dof] row by row */
    hx_mg_level level, next; /* the next level is replicated */
} share;

/* ---- the coarse grid ---- */

/* The place at an offset, or -1. */
static int32_t place_at(int32_t place, int o)
{
    const int at[3] = {place % SIDE + o % 3 - 1, place / SIDE % SIDE + o / 3 % 3 - 1,
                       place / (SIDE * SIDE) + o / 9 - 1};
    for (int i = 0; i < 3; i++)
        if (at[i] < 0 || at[i] >= SIDE) return -1;
    return (at[2] * SIDE + at[1]) * SIDE + at[0];
}

/* Ranks own layers slanted such that nodes at every offset are separated; -1: no node. */
static int owner_of(int32_t place)
{
    const int layer = 4 * (place % SIDE) + 2 * (place / SIDE % SIDE) + place / (SIDE * SIDE);
    return place % 23 == 5 ? -1 : (layer >= 65) + (layer >= 110);
}

/* 1 for owned nodes and those at an offset from one. */
static int is_here(int32_t place)
{
    if (owner_of(place) < 0) return 0;
    for (int o = 0; o < OFFSETS; o++) {
        const int32_t there = place_at(place, o);
        if (there >= 0 && owner_of(there) == OWN) return 1;
    }
    return 0;
}

/* Numbers owned nodes first, then ghosts by their owners; each group ascending. */
static void number_nodes(share *s)
{
    static const int owner[3] = {OWN, 0, 2};
    s->n_node = 0;
    for (int32_t k = 0; k < N_PLACE; k++) s->number[k] = -1;
    for (int i = 0; i < 3; i++) {
        for (int32_t k = 0; k < N_PLACE; k++) {
            if (owner_of(k) != owner[i] || !is_here(k)) continue;
            s->place[s->n_node] = k;
            s->number[k] = (int32_t)s->n_node++;
        }
        if (i == 0) s->n_own = s->n_node;
    }
}

/* Neighbours of a node; the node itself if there is none here. At every offset, owned nodes have
 * neighbours of all three sorts. */
static void list_neighbours(share *s)
{
    int64_t n_own = 0, n_ghost = 0, n_none = 0;
    s->neighbour = malloc((size_t)(OFFSETS * s->n_node) * sizeof *s->neighbour);
    if (!s->neighbour) abort();
    for (int o = 0; o < OFFSETS; o++) {
        for (int64_t a = 0; a < s->n_node; a++) {
            const int32_t there = place_at(s->place[a], o);
            const int64_t b = there >= 0 && s->number[there] >= 0 ? s->number[there] : a;
            s->neighbour[o * s->n_node + a] = (int32_t)b;
            if (a >= s->n_own) continue;
            n_own += b < s->n_own && b != a;
            n_ghost += b >= s->n_own;
            n_none += b == a;
        }
        CHECK(o == HX_COARSE_CENTRE || (n_own > 0 && n_ghost > 0 && n_none > 0));
        n_own = n_ghost = n_none = 0;
    }
}

/* ---- its matrix ---- */

static double *block_of(const share *s, int64_t a, int o)
{
    return s->matrix + (OFFSETS * a + o) * s->dof * s->dof;
}

/* Fills a block, and its mirror image in the row of an owned neighbour. */
static void fill_block(const share *s, int64_t a, int o, uint64_t *seed)
{
    const int64_t b = s->neighbour[o * s->n_node + a];
    const int dof = s->dof, is_own = b < s->n_own;
    double *const to = block_of(s, a, o), *const image =
                                              is_own ? block_of(s, b, OFFSETS - 1 - o) : NULL;
    for (int r = 0; r < dof; r++)
        for (int c = 0; c < dof; c++) {
            const double more = a == b && r == c ? 10.0 * dof : 0.0;
            to[dof * r + c] = (double)(float)(fixture_uniform(seed, -1.0, 1.0) + more);
            if (image) image[dof * c + r] = to[dof * r + c];
        }
}

static void fill_matrix(share *s)
{
    uint64_t seed = 3;
    s->matrix = new_doubles(s->n_own * OFFSETS * s->dof * s->dof);
    for (int64_t a = 0; a < s->n_own; a++)
        for (int o = 0; o < OFFSETS; o++) {
            const int64_t b = s->neighbour[o * s->n_node + a];
            if (b == a && o != HX_COARSE_CENTRE) continue;
            if (o >= HX_COARSE_CENTRE || b >= s->n_own) fill_block(s, a, o, &seed);
        }
}

/* Position of entry (r, c) of block o of a node's row. */
static int64_t entry_at(const share *s, int64_t a, int o, int r, int c)
{
    return ops->level->matrix_by_columns ? ((s->dof * o + c) * s->n_node + a) * s->dof + r
                                         : ((OFFSETS * a + o) * s->dof + c) * s->dof + r;
}

/* Uploads the matrix; rows of ghosts are NaN. */
static float *put_matrix(const share *s)
{
    const int dof = s->dof;
    const int64_t n = s->n_node * OFFSETS * dof * dof;
    float *const to = malloc((size_t)n * sizeof *to);
    if (!to) abort();
    for (int64_t k = 0; k < n; k++) to[k] = NAN;
    for (int64_t a = 0; a < s->n_own; a++)
        for (int o = 0; o < OFFSETS; o++)
            for (int k = 0; k < dof * dof; k++)
                to[entry_at(s, a, o, k / dof, k % dof)] = (float)block_of(s, a, o)[k];
    float *const d_to = put(to, (size_t)n * sizeof *to);
    free(to);
    return d_to;
}

/* y = A x, and size[i] = sum |a_ij|, for owned rows. */
static void multiply_on_host(const share *s, const double *x, double *y, double *size)
{
    const int dof = s->dof;
    for (int64_t i = 0; i < dof * s->n_own; i++) {
        const int64_t a = i / dof;
        y[i] = size[i] = 0.0;
        for (int o = 0; o < OFFSETS; o++) {
            const double *const row = block_of(s, a, o) + i % dof * dof;
            const int64_t b = s->neighbour[o * s->n_node + a];
            for (int c = 0; c < dof; c++) {
                y[i] += row[c] * x[dof * b + c];
                size[i] += fabs(row[c]);
            }
        }
    }
}

/* ---- vectors ---- */

static int64_t n_own_of(const share *s)
{
    return s->dof * s->n_own;
}

static int64_t n_of(const share *s)
{
    return s->dof * s->n_node;
}

static void poison(int64_t begin, int64_t end, double *x)
{
    for (int64_t i = begin; i < end; i++) x[i] = NAN;
}

/* Random values at owned nodes, NaN at ghosts. */
static double *own_doubles(const share *s, uint64_t seed)
{
    double *const x = random_doubles(n_of(s), seed);
    poison(n_own_of(s), n_of(s), x);
    return x;
}

static void set_poison(const share *s, float *d_x)
{
    double *const x = new_doubles(n_of(s));
    poison(0, n_of(s), x);
    set_floats(d_x, n_of(s), x);
    free(x);
}

static float *put_poison(const share *s)
{
    float *const d_x = put(NULL, (size_t)n_of(s) * sizeof *d_x);
    set_poison(s, d_x);
    return d_x;
}

/* Sets ghosts of x and of d_x, as if their owners had sent them. */
static void make_consistent(const share *s, uint64_t seed, double *x, float *d_x)
{
    double *const from = random_doubles(n_of(s), seed), *const to = get_floats(n_of(s), d_x);
    for (int64_t i = n_own_of(s); i < n_of(s); i++) x[i] = to[i] = from[i];
    set_floats(d_x, n_of(s), to);
    free(from);
    free(to);
}

/* Compares owned entries of a device vector relative to the size of their rows. */
static void check_own(const share *s, const float *d_y, const double *expected, const double *size,
                      double tolerance, const char *what)
{
    double *const y = get_floats(n_of(s), d_y), off = 0.0;
    for (int64_t i = 0; i < n_own_of(s); i++) test_worst(&off, fabs(y[i] - expected[i]) / size[i]);
    CHECK_MSG(off <= tolerance, "%s: %s off by %g", context, what, off);
    printf("    %s: off by %.1e\n", what, off);
    free(y);
}

/* ---- a distributed level ---- */

static void put_share(share *s)
{
    const hx_mg_smoother found = {.lambda = 2.0};
    double *const b = own_doubles(s, 9);
    hx_mg_level *const level = &s->level;
    level->n_node = s->n_node;
    level->n_own = s->n_own;
    for (int i = 0; i < 3; i++) level->step[i] = 1.0f + 0.25f * (float)i;
    level->d_neighbour = put(s->neighbour, (size_t)(OFFSETS * s->n_node) * sizeof(int32_t));
    level->d_matrix = put_matrix(s);
    level->d_m = put_poison(s);
    level->d_b = put_floats(n_of(s), b);
    level->d_d = put_poison(s);
    level->d_smoother = put(&found, sizeof found);
    free(b);
}

static void make_subdomain(share *s, int dof)
{
    memset(s, 0, sizeof *s);
    s->dof = dof;
    number_nodes(s);
    list_neighbours(s);
    fill_matrix(s);
    put_share(s);
}

static void free_share(share *s)
{
    void *const owned[] = {s->level.d_neighbour, s->level.d_matrix,   s->level.d_m,    s->level.d_b,
                           s->level.d_d,         s->level.d_smoother, s->next.d_child, s->next.d_b};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) release(owned[i]);
    free(s->neighbour);
    free(s->matrix);
}

/* ---- operations ---- */

static void check_products(const share *s)
{
    double *const x = random_doubles(n_of(s), 8), *const b = own_doubles(s, 9),
                  *const expected = new_doubles(n_of(s)), *const size = new_doubles(n_of(s));
    float *const d_x = put_floats(n_of(s), x), *const d_y = put_poison(s);
    multiply_on_host(s, x, expected, size);
    CHECK_OK(ops->level->multiply(&device, &s->level, d_x, d_y));
    check_own(s, d_y, expected, size, 1e-6, "product");
    for (int64_t i = 0; i < n_own_of(s); i++) expected[i] = b[i] - expected[i];
    set_poison(s, d_y);
    CHECK_OK(ops->level->residual(&device, &s->level, d_x, d_y));
    check_own(s, d_y, expected, size, 1e-6, "residual");
    release(d_x);
    release(d_y);
    free(x);
    free(b);
    free(expected);
    free(size);
}

/* m at owned nodes; not set at ghosts. */
static void check_diagonal(const share *s)
{
    CHECK_OK(ops->diagonal->level_invert(&device, &s->level));
    double *const m = get_floats(n_of(s), s->level.d_m), off = 0.0;
    for (int64_t i = 0; i < n_own_of(s); i++) {
        const int r = (int)(i % s->dof);
        const double entry = block_of(s, i / s->dof, HX_COARSE_CENTRE)[(s->dof + 1) * r];
        test_worst(&off, fabs(m[i] * entry - 1.0));
    }
    CHECK_MSG(off <= 1e-6, "%s: inverse diagonal off by %g", context, off);
    poison(n_own_of(s), n_of(s), m);
    set_floats(s->level.d_m, n_of(s), m);
    free(m);
}

/* x and d after step i. */
static void step_on_host(const share *s, const hx_mg_smoother *by, int i, const double *m,
                         const double *b, double *x, double *d)
{
    double *const ax = new_doubles(n_of(s)), *const size = new_doubles(n_of(s));
    multiply_on_host(s, x, ax, size);
    for (int64_t k = 0; k < n_own_of(s); k++) {
        d[k] = (i > 0 ? (double)by->a[i] * d[k] : 0.0) + (double)by->b[i] * m[k] * (b[k] - ax[k]);
        x[k] += d[k];
    }
    free(ax);
    free(size);
}

/* From zero and from a vector; ghosts get other values after each step. */
static void check_smoothing(const share *s)
{
    enum { STEPS = 3 };
    const hx_mg_smoother by = set_smoother(s->level.d_smoother, 1.1, 16.0);
    double *const m = get_floats(n_of(s), s->level.d_m), *const b = own_doubles(s, 9),
                  *const x = new_doubles(n_of(s)), *const d = new_doubles(n_of(s)),
                  *const one = new_doubles(n_of(s));
    float *d_old = put_poison(s), *d_new = put_poison(s);
    for (int64_t i = 0; i < n_of(s); i++) one[i] = 1.0;
    for (int step = 0; step < 2 * STEPS; step++) {
        const int i = step % STEPS;
        step_on_host(s, &by, i, m, b, x, d);
        set_poison(s, d_new);
        CHECK_OK(ops->level->smooth(&device, &s->level, i, step == 0 ? NULL : d_old, d_new));
        check_own(s, d_new, x, one, 2e-6, i == 0 ? "first step" : "step");
        make_consistent(s, 20 + (uint64_t)step, x, d_new);
        float *const swap = d_old;
        d_old = d_new;
        d_new = swap;
    }
    release(d_old);
    release(d_new);
    free(m);
    free(b);
    free(x);
    free(d);
    free(one);
}

/* v := M^-1 A v, normalized, at owned nodes. */
static void check_power(const share *s)
{
    double *const m = get_floats(n_of(s), s->level.d_m), *const v = random_doubles(n_of(s), 31),
                  *const t = new_doubles(n_of(s)), *const size = new_doubles(n_of(s));
    double before = 0.0, after = 0.0, sum[2];
    float *const d_v = put_floats(n_of(s), v), *const d_t = put_poison(s);
    double *const d_sum = put(NULL, sizeof sum);
    multiply_on_host(s, v, t, size);
    for (int64_t i = 0; i < n_own_of(s); i++) {
        before += v[i] * v[i] / m[i];
        after += t[i] * t[i] * m[i];
    }
    for (int64_t i = 0; i < n_own_of(s); i++) {
        t[i] *= m[i] / sqrt(after);
        size[i] *= m[i] / sqrt(after);
    }
    CHECK_OK(ops->level->multiply(&device, &s->level, d_v, d_t));
    CHECK_OK(ops->vector->power_sums(&device, n_own_of(s), s->level.d_m, d_t, d_v, d_sum));
    CHECK_OK(device.ops->download(&device, sum, d_sum, sizeof sum));
    CHECK_REL(sum[0], before, 1e-6);
    CHECK_REL(sum[1], after, 1e-6);
    CHECK_OK(ops->vector->power_end(&device, n_own_of(s), s->level.d_m, d_t, d_sum, d_v,
                                    s->level.d_smoother));
    CHECK_REL(lambda_of(s->level.d_smoother), sqrt(after / before), 1e-6);
    check_own(s, d_v, t, size, 1e-6, "power step");
    release(d_v);
    release(d_t);
    release(d_sum);
    free(m);
    free(v);
    free(t);
    free(size);
}

/* ---- to the next coarse grid ---- */

/* Lists the children that are owned nodes; other ranks contribute theirs. */
static void put_next(share *s)
{
    const size_t n_child = (size_t)OFFSETS * N_NEXT;
    int32_t *const child = malloc(n_child * sizeof *child);
    if (!child) abort();
    for (int32_t k = 0; k < OFFSETS * N_NEXT; k++) {
        const int32_t to = k % N_NEXT, o = k / N_NEXT;
        const int at[3] = {to % NEXT_SIDE * 2 + o % 3 - 1,
                           to / NEXT_SIDE % NEXT_SIDE * 2 + o / 3 % 3 - 1,
                           to / (NEXT_SIDE * NEXT_SIDE) * 2 + o / 9 - 1};
        int inside = 1;
        for (int i = 0; i < 3; i++) inside = inside && at[i] >= 0 && at[i] < SIDE;
        const int32_t a = inside ? s->number[(at[2] * SIDE + at[1]) * SIDE + at[0]] : -1;
        child[k] = a < s->n_own ? a : -1;
    }
    s->next.n_node = s->next.n_own = N_NEXT;
    for (int i = 0; i < 3; i++) {
        s->next.step[i] = 2.0f * s->level.step[i];
        s->next.mode[i] = HX_COARSE_HALVE;
    }
    s->next.d_child = put(child, n_child * sizeof *child);
    s->next.d_b = put(NULL, (size_t)(s->dof * N_NEXT) * sizeof(float));
    free(child);
}

/* b += P'r for one owned node. */
static void restrict_node(const share *s, int64_t a, const double *r, double *b)
{
    const int32_t place = s->place[a];
    const int at[3] = {place % SIDE, place / SIDE % SIDE, place / (SIDE * SIDE)};
    for (int c = 0; c < 8; c++) {
        double w = 1.0, d[3];
        int up[3];
        for (int i = 0; i < 3; i++) {
            up[i] = at[i] / 2 + (c >> i & 1);
            w *= fmax(0.0, 1.0 - fabs(at[i] / 2.0 - up[i]));
            d[i] = (at[i] - 2 * up[i]) * (double)s->level.step[i];
        }
        if (w == 0.0) continue;
        double *const to = b + s->dof * ((up[2] * NEXT_SIDE + up[1]) * NEXT_SIDE + up[0]);
        for (int i = 0; i < s->dof; i++) to[i] += w * r[i];
        for (int i = 0; s->dof == DOF && i < 3; i++) /* moment of a force */
            to[3 + i] += w * (d[(i + 1) % 3] * r[(i + 2) % 3] - d[(i + 2) % 3] * r[(i + 1) % 3]);
    }
}

/* Restricts the residual; ghosts are not used. */
static void check_restriction(share *s)
{
    const int64_t n = s->dof * N_NEXT;
    double *const x = random_doubles(n_of(s), 41), *const expected = new_doubles(n);
    float *const d_x = put_floats(n_of(s), x), *const d_r = put_poison(s);
    put_next(s);
    CHECK_OK(ops->level->residual(&device, &s->level, d_x, d_r));
    double *const r = get_floats(n_of(s), d_r);
    poison(n_own_of(s), n_of(s), r);
    set_floats(d_r, n_of(s), r);
    CHECK_OK(ops->transfer->restrict_to(&device, &s->level, d_r, &s->next));
    for (int64_t a = 0; a < s->n_own; a++) restrict_node(s, a, r + s->dof * a, expected);
    double *const b = get_floats(n, s->next.d_b);
    CHECK_APART(n, b, expected, 2e-6);
    release(d_x);
    release(d_r);
    free(x);
    free(r);
    free(b);
    free(expected);
}

/* A rank may own no node of a level. */
static void check_none(const share *s)
{
    hx_mg_level level = s->level;
    float *const d_x = put_poison(s), *const d_y = put_poison(s);
    level.n_own = 0;
    CHECK_OK(ops->level->multiply(&device, &level, d_x, d_y));
    CHECK_OK(ops->level->residual(&device, &level, d_x, d_y));
    CHECK_OK(ops->level->smooth(&device, &level, 0, d_x, d_y));
    release(d_x);
    release(d_y);
}

static void check_share(const hx_multigrid_ops *of, int dof, const char *name)
{
    static share s;
    ops = of;
    context = name;
    make_subdomain(&s, dof);
    printf("%s: %lld nodes and %lld ghosts\n", name, (long long)s.n_own,
           (long long)(s.n_node - s.n_own));
    CHECK(s.n_own > 5000 && s.n_node > s.n_own + 500);
    check_products(&s);
    check_diagonal(&s);
    check_smoothing(&s);
    check_power(&s);
    check_restriction(&s);
    check_none(&s);
    free_share(&s);
}

int main(int argc, char **argv)
{
    const int status = open_multigrid(argc, argv);
    if (status != 0) return status;
    check_share(device.ops->multigrid, DOF, "elasticity");
    check_share(device.ops->conduction->multigrid, 1, "heat");
    hx_device_close(&device);
    TEST_END();
}
