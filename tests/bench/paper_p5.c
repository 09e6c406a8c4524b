/* P5, K of NURBS patches by interaction: every method of the device on the sizes of P5. */
#include "paper_p5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/text/log.h"
#include "core/base/memory.h"

/* Bytes of stored derivatives at a time (the card of P5 had 2e9 bytes in all), and of lines of
 * cells for `gather`. Matrices above MOST_BYTES are not compared, and skylines above it not
 * made. */
#define BUDGET 1e9
#define BUDGET_LINES 2e9
#define MOST_BYTES 2e9
/* Number of runs of a method; a method that takes long is run once. */
enum { RUNS = 5, N_OWN = 1 };
#define SLOW 0.2
/* A size beyond P5: a solid of two million control points. */
static const int own_size[N_OWN][3] = {{3, 2, 128}};

/* Number of linear hexahedra with as many pairs of points, which --most limits. */
static double size_of(int dim, int p, int n)
{
    hx_interaction_counts c;
    hx_interaction_count(dim, p, n, &c);
    return (double)c.n_block * (dim * dim) / (9.0 * 27.0);
}

/* n functions of degree p with simple knots. */
static int make_knots(hx_knots *knots, int p, int n)
{
    double *knot = NULL;
    HX_TRY(hx_alloc(&knot, (size_t)(n + p + 1), sizeof *knot, "knots"));
    for (int i = 0; i <= n + p; i++) knot[i] = i <= p ? 0.0 : i >= n ? n - p : i - p;
    const int rc = hx_knots_create(knots, p, n, knot);
    free(knot);
    return rc;
}

/* Greville abscissae, which form a cube if all weights are equal; here they are not. */
static void place_points(const hx_knots *knots, int dim, double *point, double *weight)
{
    const int n = knots->n, p = knots->degree;
    const int64_t n_point = (int64_t)n * n * (dim == 3 ? n : 1);
    for (int64_t k = 0; k < n_point; k++) {
        const int64_t at[3] = {k % n, k / n % n, k / n / n};
        double *const x = point + 3 * k;
        for (int d = 0; d < 3; d++) {
            x[d] = 0.0;
            for (int i = 1; d < dim && i <= p; i++) x[d] += knots->knot[at[d] + i] / (p * (n - p));
        }
        weight[k] = 1.0 + 0.1 * x[0] + 0.1 * x[1] * x[1] + 0.1 * x[0] * x[2];
    }
}

static int make_patch(hx_interaction *in, int dim, int p, int n)
{
    const hx_form form = {.kind = HX_FORM_ELASTICITY, .lambda = 0.576923, .mu = 0.384615};
    const size_t n_point = (size_t)n * (size_t)n * (dim == 3 ? (size_t)n : 1);
    hx_knots axis[3];
    double *point = NULL, *weight = NULL;
    int rc;
    memset(axis, 0, sizeof axis);
    *in = (hx_interaction){0};
    for (int d = 0; d < dim; d++) HX_TRY_FAIL(make_knots(&axis[d], p, n));
    HX_TRY_FAIL(hx_alloc_raw(&point, 3 * n_point, sizeof *point, "control points"));
    HX_TRY_FAIL(hx_alloc_raw(&weight, n_point, sizeof *weight, "weights"));
    place_points(&axis[0], dim, point, weight);
    HX_TRY_FAIL(hx_interaction_create(in, dim, axis, point, weight, NULL, &form));
fail:
    for (int d = 0; d < dim; d++) hx_knots_free(&axis[d]);
    free(point);
    free(weight);
    return rc;
}

static double total(const hx_interaction_time *time)
{
    return time->gradients + time->pairs;
}

static int compare_times(const void *a, const void *b)
{
    const double d = total(a) - total(b);
    return d < 0.0 ? -1 : d > 0.0;
}

/* Median time of several runs; one more run before them is not counted. */
static int run_way(hx_paper_bench *bench, void *state, hx_interaction_way way, hx_p5_measured *m)
{
    const hx_interaction_ops *const ops = bench->shared.dev->ops->interaction;
    const size_t budget = (size_t)(way == HX_WAY_GATHER ? BUDGET_LINES : BUDGET);
    hx_interaction_time time[RUNS];
    int n = 1;
    HX_TRY(ops->run(state, way, budget, &time[0]));
    if (total(&time[0]) < SLOW)
        for (n = 0; n < RUNS; n++) HX_TRY(ops->run(state, way, budget, &time[n]));
    qsort(time, (size_t)n, sizeof *time, compare_times);
    m->n = n;
    m->time = time[n / 2];
    return HX_OK;
}

/* Compares the values with those of the previous method; NULL: there are too many. */
typedef struct compared {
    double *value, *first;
    int n_seen;
} compared;

static void compare_values(hx_paper_bench *bench, compared *c, const hx_interaction *in)
{
    const size_t n = (size_t)in->n_block * (size_t)(in->dim * in->dim);
    double largest = 0.0, off = 0.0;
    if (c->n_seen++ == 0) {
        memcpy(c->first, c->value, n * sizeof *c->value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(c->value[i] - c->first[i]);
        if (!(d <= off)) off = d; /* NaN is kept */
        if (!(fabs(c->first[i]) <= largest)) largest = fabs(c->first[i]);
        if (isnan(off) || isnan(largest)) break;
    }
    const int is_right = off <= 1e-12 * largest;
    if (!is_right) {
        bench->shared.n_wrong++;
        hx_log_info("  FAIL: K of %dD, p = %d, is off by %.1e", in->dim, in->axis[0].degree,
                    off / largest);
    }
}

static int run_ways(hx_paper_bench *bench, void *state, const hx_interaction *in, hx_p5_result *r,
                    compared *c)
{
    const hx_interaction_ops *const ops = bench->shared.dev->ops->interaction;
    hx_interaction_counts counts;
    hx_interaction_count(r->dim, r->p, r->n, &counts);
    for (int w = 0; w < HX_N_WAY; w++) {
        const hx_interaction_way way = (hx_interaction_way)w;
        hx_p5_measured *const m = &r->way[w];
        if (!((r->dim == 3 ? ops->ways : ops->plane_ways) & 1u << w)) continue;
        if (way == HX_WAY_SKYLINE && 8.0 * (double)counts.n_skyline > MOST_BYTES) {
            snprintf(m->note, sizeof m->note, "a skyline of %.3g GB",
                     8e-9 * (double)counts.n_skyline);
            continue;
        }
        const int rc = run_way(bench, state, way, m);
        if (rc < 0 && !hx_bench_is_left_out(rc, m->note, sizeof m->note)) return rc;
        if (rc < 0 || !c->value) continue;
        HX_TRY(ops->values(state, c->value));
        compare_values(bench, c, in);
    }
    return HX_OK;
}

static int measure_p5_result(hx_paper_bench *bench, hx_p5_result *r)
{
    hx_interaction in;
    compared c = {0};
    void *state = NULL;
    int rc;
    if (size_of(r->dim, r->p, r->n) > (double)bench->most_patch) return HX_OK;
    if (hx_log_is_terminal()) hx_log_status("P5: %dD, p = %d, n = %d", r->dim, r->p, r->n);
    HX_TRY_FAIL(make_patch(&in, r->dim, r->p, r->n));
    const size_t n = (size_t)in.n_block * (size_t)(in.dim * in.dim);
    if (8.0 * (double)n <= MOST_BYTES) {
        HX_TRY_FAIL(hx_alloc_raw(&c.value, n, sizeof *c.value, "a copy of K"));
        HX_TRY_FAIL(hx_alloc_raw(&c.first, n, sizeof *c.first, "a copy of K"));
    }
    HX_TRY_FAIL(bench->shared.dev->ops->interaction->open(&state, bench->shared.dev, &in));
    HX_TRY_FAIL(run_ways(bench, state, &in, r, &c));
fail:
    if (state) bench->shared.dev->ops->interaction->close(state);
    free(c.value);
    free(c.first);
    hx_interaction_free(&in);
    return hx_bench_is_left_out(rc, r->way[0].note, sizeof r->way[0].note) ? HX_OK : rc;
}

int hx_bench_p5(hx_paper_bench *bench)
{
    hx_p5_result result[HX_P5_N_ROW + N_OWN];
    int n = 0, rc = HX_OK;
    if (!bench->shared.dev->ops->interaction)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' cannot make matrices of splines; solver.device = \"cpu\" can",
                        bench->shared.dev->ops->name);
    memset(result, 0, sizeof result);
    for (; n < HX_P5_N_ROW + N_OWN && rc == HX_OK; n++) {
        const int *const own = n < HX_P5_N_ROW ? NULL : own_size[n - HX_P5_N_ROW];
        const hx_p5_row *const paper = own ? NULL : &hx_p5_rows[n];
        result[n].paper = paper;
        result[n].dim = own ? own[0] : paper->dim;
        result[n].p = own ? own[1] : paper->p;
        result[n].n = own ? own[2] : paper->n;
        rc = measure_p5_result(bench, &result[n]);
    }
    if (hx_bench_is_quiet()) return rc;
    hx_bench_p5_print_points();
    hx_bench_p5_print_counts();
    hx_bench_p5_print_times(bench, result, n);
    return rc;
}
