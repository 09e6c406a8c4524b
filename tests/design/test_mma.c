/* The method of moving asymptotes: problems with known optima, and single proposals against
 * Svanberg's formulas with p and q, in long double.
 *
 *     test_mma [cpu | cuda] */
#include "core/design/mma.h"
#include "tests/lib/fixture.h"

static hx_device device;

enum { MOST_VARIABLES = 3000, MOST = HX_MMA_MOST };

/* f[0..m] and g[0..m][n] at x. */
typedef void functions(int n, const double *x, double *f, double (*g)[MOST_VARIABLES]);

typedef struct example {
    const char *name;
    functions *at;
    int n, m, n_design;
    double low, high, start, move;
    double a[MOST]; /* factors of z */
} example;

typedef struct result {
    double x[MOST_VARIABLES], f[1 + MOST], lambda[MOST], y[MOST], z, kkt;
    int n_pass, most_passes;
} result;

/* Host data of the design that is analysed, and the method on the device. */
static double x[MOST_VARIABLES], f[1 + MOST], g[1 + MOST][MOST_VARIABLES];
static hx_mma mma;

static double *put_zero(int n)
{
    double *const d_x = fixture_put(&device, (size_t)n, NULL);
    CHECK_OK(device.ops->zero(&device, d_x, (size_t)n * sizeof *d_x));
    return d_x;
}

static void open_method(const example *p)
{
    mma = hx_mma_defaults;
    mma.at.n = p->n;
    mma.at.m = p->m;
    mma.at.low = p->low;
    mma.at.high = p->high;
    mma.at.move = p->move;
    mma.at.d_design = put_zero(p->n);
    mma.at.d_proposal = put_zero(p->n);
    mma.at.d_state = put_zero(p->n);
    memcpy(mma.a, p->a, sizeof mma.a);
    for (int i = 0; i <= p->m; i++) {
        mma.at.d_derivative[i] = put_zero(p->n);
        mma.at.scale[i] = 1.0;
    }
}

static void close_method(void)
{
    device.ops->release(&device, (void *)mma.at.d_design);
    device.ops->release(&device, mma.at.d_proposal);
    device.ops->release(&device, mma.at.d_state);
    device.ops->release(&device, (void *)mma.at.d_passive);
    for (int i = 0; i <= mma.at.m; i++)
        device.ops->release(&device, (void *)mma.at.d_derivative[i]);
}

/* Uploads x and g, and proposes. */
static void propose(void)
{
    const size_t bytes = (size_t)mma.at.n * sizeof *x;
    CHECK_OK(device.ops->upload(&device, (void *)mma.at.d_design, x, bytes));
    for (int i = 0; i <= mma.at.m; i++)
        CHECK_OK(device.ops->upload(&device, (void *)mma.at.d_derivative[i], g[i], bytes));
    mma.objective = f[0];
    for (int i = 0; i < mma.at.m; i++) mma.value[i] = f[1 + i];
    CHECK_OK(hx_mma_propose(&device, &mma));
}

static void optimise(const example *p, result *r)
{
    memset(r, 0, sizeof *r);
    open_method(p);
    for (int e = 0; e < p->n; e++) x[e] = p->start;
    for (int k = 0; k < p->n_design; k++) {
        p->at(p->n, x, f, g);
        propose();
        fixture_get(&device, (size_t)p->n, x, mma.at.d_proposal);
        r->n_pass += mma.n_pass;
        if (mma.n_pass > r->most_passes) r->most_passes = mma.n_pass;
    }
    p->at(p->n, x, f, g);
    memcpy(r->x, x, sizeof r->x);
    memcpy(r->f, f, sizeof r->f);
    memcpy(r->lambda, mma.at.lambda + 1, sizeof r->lambda);
    memcpy(r->y, mma.y, sizeof r->y);
    r->z = mma.z;
    r->kkt = mma.kkt;
    close_method();
    printf("%-32s f0 %.10f, KKT %.1e, %d passes, at most %d per design\n", p->name, r->f[0], r->kkt,
           r->n_pass, r->most_passes);
}

/* ---- problems with known optima ---- */

/* Svanberg 1987: a cantilever of five boxes, of least weight under a displacement. The
 * least of sum c x with sum a / x^3 = 1 is c (sum a^(1/4))^(4/3). */
static const double beam_a[5] = {61.0, 37.0, 19.0, 7.0, 1.0};

static void beam(int n, const double *at, double *value, double (*slope)[MOST_VARIABLES])
{
    value[0] = 0.0;
    value[1] = -1.0;
    for (int e = 0; e < n; e++) {
        const double cube = at[e] * at[e] * at[e];
        value[0] += 0.0624 * at[e];
        value[1] += beam_a[e] / cube;
        slope[0][e] = 0.0624;
        slope[1][e] = -3.0 * beam_a[e] / (cube * at[e]);
    }
}

static void check_beam(double start, int n_design)
{
    const example p = {"Svanberg's beam", beam, 5, 1, n_design, 0.5, 10.0, start, 10.0, {0.0}};
    static result r;
    double sum = 0.0;
    optimise(&p, &r);
    for (int e = 0; e < 5; e++) sum += pow(beam_a[e], 0.25);
    CHECK_REL(r.f[0], 0.0624 * pow(sum, 4.0 / 3.0), 1e-8);
    CHECK_ABS(r.f[0], 1.3399563606, 1e-8);
    for (int e = 0; e < 5; e++) CHECK_REL(r.x[e], pow(beam_a[e], 0.25) * cbrt(sum), 1e-4);
    CHECK(fabs(r.f[1]) <= 1e-7 && r.kkt < 1e-4);
    CHECK(r.most_passes <= 20 && r.n_pass <= 12 * n_design);
}

/* Svanberg 1987: two bars with two stress limits, the second of which is inactive. x_1 =
 * 0.2 + 3.8 s_1, x_2 = 0.1 + 1.5 s_2. */
static void two_bars(int n, const double *s, double *value, double (*slope)[MOST_VARIABLES])
{
    const double area = 0.2 + 3.8 * s[0], y = 0.1 + 1.5 * s[1], root = sqrt(1.0 + y * y);
    (void)n;
    value[0] = area * root;
    slope[0][0] = 3.8 * root;
    slope[0][1] = 1.5 * area * y / root;
    for (int i = 0; i < 2; i++) {
        const double sign = i == 0 ? 1.0 : -1.0, stress = 8.0 / area + sign / (area * y);
        value[1 + i] = 0.124 * root * stress - 1.0;
        slope[1 + i][0] = -3.8 * 0.124 * root * stress / area;
        slope[1 + i][1] = 1.5 * 0.124 * (y / root * stress - root * sign / (area * y * y));
    }
}

/* With the first limit active f0 = 0.124 (1 + y^2) (8 + 1 / y), least where 16 y^3 + y^2 = 1. */
static void check_bars(double start)
{
    const example p = {"two bars", two_bars, 2, 2, 20, 0.0, 1.0, start, 1.0, {0.0}};
    static result r;
    double y = 0.4;
    optimise(&p, &r);
    for (int i = 0; i < 30; i++) y -= (16.0 * y * y * y + y * y - 1.0) / (48.0 * y * y + 2.0 * y);
    CHECK_REL(r.f[0], 0.124 * (1.0 + y * y) * (8.0 + 1.0 / y), 1e-7);
    CHECK_ABS(0.1 + 1.5 * r.x[1], y, 1e-4);
    CHECK(fabs(r.f[1]) <= 1e-6 && r.f[2] < -0.4);
    CHECK(r.lambda[0] > 1.0 && r.lambda[1] < 1e-6 && r.y[0] == 0.0);
}

/* Least sum of x with sum over the elements of class k of w / x <= 1 each, for k of five classes:
 * x = sqrt(w) sum of sqrt(w) of the class, as long as that is within the bounds. */
enum { N_CLASS = 5, N_CLASSED = 100 };

static double class_weight(int e)
{
    return 0.002 + 0.001 * (double)(e * 7 % 11);
}

static void classes(int n, const double *at, double *value, double (*slope)[MOST_VARIABLES])
{
    memset(slope, 0, (1 + N_CLASS) * sizeof *slope);
    value[0] = 0.0;
    for (int i = 1; i <= N_CLASS; i++) value[i] = -1.0;
    for (int e = 0; e < n; e++) {
        const double w = class_weight(e);
        value[0] += at[e];
        value[1 + e % N_CLASS] += w / at[e];
        slope[0][e] = 1.0;
        slope[1 + e % N_CLASS][e] = -w / (at[e] * at[e]);
    }
}

static void check_classes(double start)
{
    const example p = {"five limits", classes, N_CLASSED, N_CLASS, 80,
                       0.01,          1.0,     start,     0.2,     {0.0}};
    static result r;
    double sum[N_CLASS] = {0.0}, wanted = 0.0, error = 0.0;
    optimise(&p, &r);
    for (int e = 0; e < N_CLASSED; e++) sum[e % N_CLASS] += sqrt(class_weight(e));
    for (int i = 0; i < N_CLASS; i++) {
        wanted += sum[i] * sum[i];
        CHECK_MSG(fabs(r.f[1 + i]) <= 1e-6, "limit %d is off by %g", i, r.f[1 + i]);
        CHECK_REL(r.lambda[i], sum[i] * sum[i], 1e-3);
    }
    for (int e = 0; e < N_CLASSED; e++)
        test_worst(&error, fabs(r.x[e] - sqrt(class_weight(e)) * sum[e % N_CLASS]));
    CHECK_MSG(error <= 1e-3, "a variable is off by %g", error);
    CHECK_REL(r.f[0], wanted, 1e-6);
}

/* The largest of w_k / x_k for a sum of x: all are equal to sum of w / sum of x. The last constraint
 * is the sum. */
enum { N_LARGEST = 3 };

static void largest(int n, const double *at, double *value, double (*slope)[MOST_VARIABLES])
{
    memset(slope, 0, (2 + N_LARGEST) * sizeof *slope);
    value[0] = 0.0;
    value[1 + N_LARGEST] = -1.0;
    for (int e = 0; e < n; e++) {
        value[1 + e] = (1.0 + e) / at[e];
        slope[1 + e][e] = -(1.0 + e) / (at[e] * at[e]);
        value[1 + N_LARGEST] += at[e];
        slope[1 + N_LARGEST][e] = 1.0;
    }
}

static void check_largest(void)
{
    const example p = {
        "least of a largest", largest, N_LARGEST, 1 + N_LARGEST, 40, 0.01, 1.0, 0.3, 0.2,
        {1.0, 1.0, 1.0}};
    static result r;
    double sum = 0.0;
    optimise(&p, &r);
    for (int e = 0; e < N_LARGEST; e++) {
        CHECK_REL(r.f[1 + e], 6.0, 1e-6);
        CHECK_REL(r.x[e], (1.0 + e) / 6.0, 1e-6);
        sum += r.lambda[e];
    }
    CHECK_REL(r.z, 6.0, 1e-6);
    CHECK_REL(sum, 1.0, 1e-6); /* exact, no penalty */
}

/* A range as two limits of opposite sign: -s <= -0.4 and s <= 0.4 for the sum s of x / n. */
static void range(int n, const double *at, double *value, double (*slope)[MOST_VARIABLES])
{
    value[0] = 0.0;
    value[1] = -0.4;
    for (int e = 0; e < n; e++) {
        const double from = at[e] - 0.01 * (double)e;
        value[0] += from * from;
        value[1] += at[e] / n;
        slope[0][e] = 2.0 * from;
        slope[1][e] = 1.0 / n;
        slope[2][e] = -1.0 / n;
    }
    value[2] = -value[1];
}

static void check_range(void)
{
    const example p = {"two limits of one value", range, 50, 2, 60, 0.0, 1.0, 0.9, 0.2, {0.0}};
    static result r;
    optimise(&p, &r);
    CHECK_ABS(r.f[1], 0.0, 1e-6);
    for (int e = 0; e < 50; e++) CHECK_ABS(r.x[e], 0.01 * e + 0.155, 1e-4);
}

/* A limit that nothing can meet: sum of x / n >= 2 with x <= 1. The violation is least, and y shows
 * it. */
static void unreachable(int n, const double *at, double *value, double (*slope)[MOST_VARIABLES])
{
    value[0] = 0.0;
    value[1] = 2.0;
    for (int e = 0; e < n; e++) {
        value[0] += at[e] / n;
        value[1] -= at[e] / n;
        slope[0][e] = 1.0 / n;
        slope[1][e] = -1.0 / n;
    }
}

static void check_unreachable(void)
{
    const example p = {"a limit out of reach", unreachable, 40, 1, 20, 0.01, 1.0, 0.2, 0.2, {0.0}};
    static result r;
    optimise(&p, &r);
    for (int e = 0; e < p.n; e++) CHECK(r.x[e] == 1.0);
    CHECK_REL(r.y[0], 1.0, 1e-6);
    CHECK_REL(r.lambda[0], 1001.0, 1e-6);
    CHECK(r.most_passes <= 40);
}

/* ---- a single proposal ---- */

/* Svanberg's p / (U - x) + q / (x - L) of function i. */
typedef struct asymptotes {
    long double lower, upper, p, q;
} asymptotes;

static asymptotes asymptotes_of(int i, int e, long double offset)
{
    const long double slope = g[i][e], up = slope > 0.0L ? slope : 0.0L,
                      down = slope < 0.0L ? -slope : 0.0L, r = mma.at.convexity[i];
    return (asymptotes){x[e] - offset, x[e] + offset,
                        offset * offset * (1.001L * up + 0.001L * down + r),
                        offset * offset * (0.001L * up + 1.001L * down + r)};
}

static long double function_of(const asymptotes *s, long double at)
{
    return s->p / (s->upper - at) + s->q / (at - s->lower);
}

static long double slope_of(const asymptotes *s, long double at)
{
    return s->p / ((s->upper - at) * (s->upper - at)) - s->q / ((at - s->lower) * (at - s->lower));
}

/* Every variable minimises the Lagrangian within its range; the constraints are met with
 * complementary multipliers, linear ones to first order. */
static void check_proposal(const char *label, const double *state, const double *passive)
{
    static double next[MOST_VARIABLES];
    const int n = (int)mma.at.n, m = mma.at.m;
    long double value[MOST], linear[MOST], all = 0.0L;
    double change = 0.0, worst = 0.0;
    int n_inside = 0, n_active = 0;
    fixture_get(&device, (size_t)n, next, mma.at.d_proposal);
    for (int i = 0; i < m; i++) value[i] = f[1 + i] - mma.y[i];
    for (int i = 0; i < m; i++) linear[i] = f[1 + i];
    for (int e = 0; e < n; e++) {
        const long double offset = (mma.at.high - mma.at.low) * fabs(state[e]);
        const long double most = fminl(mma.at.move, 0.9L * offset);
        const long double low = fmaxl(mma.at.low, x[e] - most),
                          high = fminl(mma.at.high, x[e] + most);
        long double slope = 0.0L, scale = 0.0L;
        if (passive && !isnan(passive[e])) {
            CHECK(next[e] == x[e]);
            continue;
        }
        for (int i = 0; i <= m; i++) {
            const asymptotes s = asymptotes_of(i, e, offset);
            const long double part = mma.at.lambda[i] * slope_of(&s, next[e]);
            slope += part;
            scale += mma.at.lambda[i] * (s.p + s.q) / (offset * offset);
            if (i > 0) value[i - 1] += function_of(&s, next[e]) - function_of(&s, x[e]);
            if (i > 0) linear[i - 1] += g[i][e] * ((long double)next[e] - x[e]);
        }
        CHECK(next[e] >= low - 1e-15L && next[e] <= high + 1e-15L);
        const int is_low = next[e] <= low + 1e-12L, is_high = next[e] >= high - 1e-12L;
        if (!is_low && !is_high) n_inside++;
        if (!(is_low && slope > 0.0L) && !(is_high && slope < 0.0L))
            test_worst(&worst, (double)(fabsl(slope) / scale));
        test_worst(&change, fabs(next[e] - x[e]));
        all += fabsl(slope);
    }
    CHECK_MSG(worst <= 1e-10, "%s: a slope of %g is left", label, worst);
    for (int i = 0; i < m; i++) {
        const double left = (double)(mma.is_linear[i] ? linear[i] : value[i]);
        const double exact = mma.is_linear[i] ? 5e-4 : 1e-8;
        CHECK_MSG(left <= exact, "%s: limit %d is exceeded by %g", label, i, left);
        const double product = mma.at.lambda[1 + i] * fabs(left);
        CHECK_MSG(product <= 1e-7 || (mma.is_linear[i] && fabs(left) <= exact),
                  "%s: limit %d, multiplier %g, rest %g", label, i, mma.at.lambda[1 + i], left);
        CHECK_ABS(mma.approximate[1 + i], (double)value[i] + mma.y[i], 1e-9);
        n_active += mma.at.lambda[1 + i] > 1e-4;
    }
    CHECK_ABS(mma.change, change, 1e-15);
    CHECK(isfinite((double)all));
    printf("%-32s %d passes, %d of %d inside, %d of %d limits active, slope %.1e\n", label,
           mma.n_pass, n_inside, n, n_active, m, worst);
    CHECK(n_inside > n / 20);
}

/* The passes of the device against those of the CPU, at the multipliers of the proposal. */
static void check_passes(const char *label, double *state, double *passive)
{
    static double next[2][MOST_VARIABLES];
    const int n = (int)mma.at.n, m = mma.at.m, n_sum = 2 + m * (m + 3) / 2;
    double sum[2][HX_MMA_SUMS], worst = 0.0;
    hx_device cpu, *const dev[2] = {&device, &cpu};
    hx_device_mma at[2] = {mma.at, mma.at};
    CHECK_OK(hx_device_open(&cpu, hx_device_find("cpu")));
    CHECK_OK(device.ops->upload(&device, mma.at.d_state, state, (size_t)n * sizeof *state));
    at[1].d_design = x;
    at[1].d_passive = passive;
    at[1].d_state = state;
    at[1].d_proposal = next[1];
    for (int i = 0; i <= m; i++) at[1].d_derivative[i] = g[i];
    for (int part = 0; part < 3; part++) {
        const int n_here = part == 0 ? 2 + m : part == 1 ? n_sum : HX_MMA_MEASURED;
        for (int k = 0; k < 2; k++) {
            const hx_design_ops *const ops = dev[k]->ops->design;
            if (part == 0) CHECK_OK(ops->mma_begin(dev[k], &at[k], sum[k]));
            if (part == 1) CHECK_OK(ops->mma_dual(dev[k], &at[k], sum[k]));
            if (part == 2) CHECK_OK(ops->mma_end(dev[k], &at[k]));
            if (part == 2) CHECK_OK(ops->mma_measure(dev[k], &at[k], sum[k]));
            if (part == 2) CHECK_OK(ops->mma_settle(dev[k], &at[k]));
        }
        for (int i = 0; i < n_here; i++) {
            const double size = fmax(1e-3, fabs(sum[1][i]));
            test_worst(&worst, fabs(sum[0][i] - sum[1][i]) / size);
        }
    }
    fixture_get(&device, (size_t)n, next[0], mma.at.d_proposal);
    for (int e = 0; e < n; e++) test_worst(&worst, fabs(next[0][e] - next[1][e]));
    CHECK_MSG(worst <= 1e-11, "%s: %.1e off the CPU", label, worst);
    fixture_get(&device, (size_t)n, next[0], mma.at.d_state);
    for (int e = 0; e < n; e++)
        CHECK_REL(hx_mma_distance(&mma.at, next[0][e]), hx_mma_distance(&mma.at, state[e]), 1e-14);
    hx_device_close(&cpu);
}

/* A proposal has the same bits with any number of threads. */
static void check_threads(const char *label, const double *state)
{
    static double next[2][MOST_VARIABLES];
    const size_t bytes = (size_t)mma.at.n * sizeof *state;
    for (int k = 0; k < 2; k++) {
        fixture_set_threads(k == 0 ? 1 : 4);
        mma.has_lambda = 0;
        memset(mma.offset, 0, sizeof mma.offset);
        CHECK_OK(device.ops->upload(&device, mma.at.d_state, state, bytes));
        propose();
        fixture_get(&device, (size_t)mma.at.n, next[k], mma.at.d_proposal);
    }
    fixture_set_threads(1);
    CHECK_MSG(memcmp(next[0], next[1], bytes) == 0, "%s: other bits by four threads", label);
}

/* The proposal does not depend on the first multipliers and offsets, even if they are far off. */
static void check_first_multipliers(const char *label, const double *state, const double *passive,
                                    uint64_t seed)
{
    double found[1 + HX_MMA_MOST];
    const size_t bytes = (size_t)mma.at.n * sizeof *state;
    memcpy(found, mma.at.lambda, sizeof found);
    for (int k = 0; k < 12; k++) {
        const double decades = k < 6 ? 0.3 : 3.0;
        for (int i = 1; i <= mma.at.m; i++) {
            const double drawn = fixture_uniform(&seed, 0.0, 1.0);
            const double factor = pow(10.0, fixture_uniform(&seed, -decades, decades));
            mma.at.lambda[i] = drawn < 0.1 ? 0.0 : drawn < 0.15 ? 900.0 : factor * found[i];
            mma.offset[i - 1] = mma.is_linear[i - 1] ? fixture_uniform(&seed, -0.2, 0.5) : 0.0;
        }
        CHECK_OK(device.ops->upload(&device, mma.at.d_state, state, bytes));
        propose();
        CHECK_MSG(mma.n_pass <= 150, "%s: %d passes from other multipliers", label, mma.n_pass);
        check_proposal(label, state, passive);
    }
}

/* Random derivatives of both signs and several sizes, some of them 0, about a random design. */
static void check_random(int m, int n, int has_passive, int is_linear, uint64_t seed)
{
    static double state[MOST_VARIABLES], passive[MOST_VARIABLES];
    const example p = {NULL, NULL, n, m, 1, 0.001, 1.0, 0.0, 0.2, {0.0}};
    char label[64];
    open_method(&p);
    for (int e = 0; e < n; e++) {
        x[e] = fixture_uniform(&seed, 0.001, 1.0);
        if (e % 9 == 0) x[e] = e % 2 ? 1.0 : 0.001;
        state[e] = fixture_uniform(&seed, 0.01, 1.0) * (e % 2 ? 1.0 : -1.0);
        passive[e] = has_passive && e % 7 == 3 ? 0.5 : NAN;
        for (int i = 0; i <= m; i++) {
            g[i][e] = pow(10.0, fixture_uniform(&seed, -4.0, 0.0)) * 10.0 / n;
            if (i == 0 || (i > 1 && fixture_uniform(&seed, 0.0, 1.0) < 0.5)) g[i][e] *= -1.0;
            if (e % 5 == i) g[i][e] = 0.0;
        }
    }
    for (int i = 0; i < m; i++) f[1 + i] = fixture_uniform(&seed, -0.04, 0.02);
    CHECK_OK(device.ops->upload(&device, mma.at.d_state, state, (size_t)n * sizeof *state));
    if (has_passive) mma.at.d_passive = fixture_put(&device, (size_t)n, passive);
    for (int i = 0; i < m; i += 3) mma.is_linear[i] = is_linear;
    propose();
    snprintf(label, sizeof label, "%d limits, %d variables%s%s", m, n,
             has_passive ? ", passive" : "", is_linear ? ", linear" : "");
    CHECK(mma.n_pass <= 120);
    check_proposal(label, state, has_passive ? passive : NULL);
    check_first_multipliers(label, state, has_passive ? passive : NULL, seed);
    check_threads(label, state);
    check_passes(label, state, has_passive ? passive : NULL);
    close_method();
}

/* ---- asymptotes ---- */

/* They approach an oscillating variable and move away from a steady one, within limits. */
static void check_asymptotes(void)
{
    hx_device_mma near = hx_mma_defaults.at;
    const hx_device_mma *const at = &hx_mma_defaults.at;
    near.farthest = 1.0;
    double state = hx_mma_state_after(at, 0.0, 0.1);
    CHECK(hx_mma_distance(at, 0.0) == 0.5 && hx_mma_distance(at, state) == 0.5);
    state = hx_mma_state_after(at, state, -0.1);
    CHECK_REL(hx_mma_distance(at, state), 0.35, 1e-15);
    state = hx_mma_state_after(at, state, -0.1);
    CHECK_REL(hx_mma_distance(at, state), 0.42, 1e-15);
    state = hx_mma_state_after(at, state, 0.0);
    CHECK_REL(hx_mma_distance(at, state), 0.42, 1e-15);
    state = hx_mma_state_after(at, state, 0.1); /* the change before was 0 */
    CHECK_REL(hx_mma_distance(at, state), 0.42, 1e-15);
    for (int i = 0; i < 40; i++) state = hx_mma_state_after(at, state, i % 2 ? 0.1 : -0.1);
    CHECK(hx_mma_distance(at, state) == HX_MMA_NEAREST);
    state = hx_mma_state_after(at, state, 0.0);
    CHECK(hx_mma_distance(at, state) == HX_MMA_NEAREST);
    for (int i = 0; i < 80; i++) state = hx_mma_state_after(at, state, 0.1);
    CHECK(hx_mma_distance(at, state) == HX_MMA_FARTHEST);
    CHECK(hx_mma_distance(&near, state) == 1.0);
    state = hx_mma_state_after(&near, state, 0.1);
    CHECK_REL(hx_mma_distance(at, state), 1.2, 1e-15);
}

/* Under a projection they stay within its width, and are nearer after the Lagrangian increased. */
static void check_projected(void)
{
    hx_mma at = hx_mma_defaults;
    hx_mma_limit_asymptotes(&at, 0.0);
    CHECK(at.farthest == HX_MMA_FARTHEST && at.farthest_if_worse == HX_MMA_FARTHEST_IF_WORSE);
    hx_mma_limit_asymptotes(&at, 31.0);
    CHECK(at.farthest == 2.0 / 32.0 && at.farthest_if_worse == 0.5 / 32.0);
}

/* A derivative that is not finite is an error, not a design. */
static void check_not_finite(void)
{
    const example p = {NULL, beam, 5, 1, 1, 0.5, 10.0, 5.0, 10.0, {0.0}};
    open_method(&p);
    for (int e = 0; e < 5; e++) x[e] = 5.0;
    beam(5, x, f, g);
    g[1][3] = NAN;
    for (int i = 0; i <= 1; i++)
        CHECK_OK(device.ops->upload(&device, (void *)mma.at.d_derivative[i], g[i], 5 * sizeof *x));
    CHECK_OK(device.ops->upload(&device, (void *)mma.at.d_design, x, 5 * sizeof *x));
    mma.value[0] = f[1];
    CHECK_FAILS(hx_mma_propose(&device, &mma), HX_ENUMERIC, "not finite");
    close_method();
}

int main(int argc, char **argv)
{
    static const double start[3] = {0.3, 0.5, 0.9};
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    check_beam(5.0, 12);
    check_beam(9.0, 16);
    for (int i = 0; i < 3; i++) {
        check_bars(start[i]);
        check_classes(start[i]);
    }
    check_largest();
    check_range();
    check_unreachable();
    for (int m = 1; m <= MOST; m++)
        for (int is_linear = 0; is_linear < 2; is_linear++)
            check_random(m, 300, m % 2, is_linear, 11 + (uint64_t)m);
    check_random(2, MOST_VARIABLES, 0, 0, 5);
    check_random(5, MOST_VARIABLES, 1, 1, 6);
    check_asymptotes();
    check_projected();
    check_not_finite();
    hx_device_close(&device);
    TEST_END();
}
