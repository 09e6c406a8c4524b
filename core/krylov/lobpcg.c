#include "lobpcg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "lobpcg_internal.h"

/* Iterations after which products and Gram matrices are computed again, because rounding errors of
 * the combinations add up. */
enum { REFRESH_EVERY = 12 };

/* One solve. */
typedef struct run {
    hx_lobpcg *e;
    hx_ritz ritz;
    int n_active;                 /* vectors that get a residual */
    int active[HX_LOBPCG_MOST];   /* their numbers */
    double norm[HX_LOBPCG_MOST];  /* |residual| */
    double *d_s[3][HX_RITZ_MOST]; /* S = [X W P], K S and M S */
    double *known;                /* Gram matrices of [X P] of the last combination: K, then M */
    int n_x, n_p;
} run;

static void list_vectors(run *s)
{
    hx_lobpcg *const e = s->e;
    int n = 0;
    for (int part = 0; part < 3; part++) {
        const hx_lobpcg_block *const block = part == 0 ? &e->x : part == 1 ? &e->w : &e->p;
        const int n_part = part == 0 ? s->n_x : part == 1 ? s->n_active : s->n_p;
        for (int i = 0; i < n_part; i++, n++) {
            s->d_s[0][n] = block->d_v[i];
            s->d_s[1][n] = block->d_kv[i];
            s->d_s[2][n] = block->d_mv[i];
        }
    }
    s->ritz.n = n;
}

/* g[n][n], columns `first` on of [n][n_part], := S' times `product`, and their mirror images. */
static int fill_columns(run *s, int first, int n_part, double *const product[], double *g)
{
    const hx_lobpcg *const e = s->e;
    const int n = s->ritz.n;
    double *const part = s->ritz.a;
    HX_TRY(e->dev->ops->block->gram(e->dev, e->n, n, (const double *const *)s->d_s[0], n_part,
                                    (const double *const *)product + first, part));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n_part; j++)
            g[i * n + first + j] = g[(first + j) * n + i] = part[i * n_part + j];
    return HX_OK;
}

/* Columns of X and P of the Gram matrices, from the last combination; `known` is [n_x + n_p]^2. */
static void copy_known(const run *s, const double *known, double *g)
{
    const int n = s->ritz.n, n_known = s->n_x + s->n_p;
    for (int i = 0; i < n_known; i++)
        for (int j = 0; j < n_known; j++) {
            const int row = i < s->n_x ? i : i + s->n_active,
                      column = j < s->n_x ? j : j + s->n_active;
            g[row * n + column] = known[i * n_known + j];
        }
}

static int fill_grams(run *s)
{
    for (int which = 0; which < 2; which++) {
        double *const g = which ? s->ritz.m : s->ritz.k;
        if (s->e->is_known) {
            copy_known(s, s->known + (size_t)which * HX_RITZ_MOST * HX_RITZ_MOST, g);
            HX_TRY(fill_columns(s, s->n_x, s->n_active, s->d_s[1 + which], g));
        } else {
            HX_TRY(fill_columns(s, 0, s->ritz.n, s->d_s[1 + which], g));
        }
    }
    return HX_OK;
}

/* Gram matrices of the new [X P]. */
static void keep_known(run *s, int n_p)
{
    hx_ritz *const ritz = &s->ritz;
    const int n = ritz->n, n_x = s->n_x, n_known = n_x + n_p;
    double *const k = s->known, *const m = s->known + HX_RITZ_MOST * HX_RITZ_MOST;
    memset(k, 0, (size_t)(n_known * n_known) * sizeof *k);
    memset(m, 0, (size_t)(n_known * n_known) * sizeof *m);
    for (int i = 0; i < n_known; i++) m[i * n_known + i] = 1.0;
    for (int i = 0; i < n_x; i++) k[i * n_known + i] = ritz->value[i];
    hx_ritz_multiply(n, n, n_p, ritz->k, ritz->p, ritz->a);
    hx_ritz_multiply_left(n_x, n, n_p, ritz->x, ritz->a, ritz->b);
    hx_ritz_multiply_left(n_p, n, n_p, ritz->p, ritz->a, ritz->d);
    for (int j = 0; j < n_p; j++) {
        for (int i = 0; i < n_x; i++)
            k[i * n_known + n_x + j] = k[(n_x + j) * n_known + i] = ritz->b[i * n_p + j];
        for (int i = 0; i < n_p; i++) k[(n_x + i) * n_known + n_x + j] = ritz->d[i * n_p + j];
    }
}

/* X, P and their products := combinations of S. */
static int combine(run *s, int n_p)
{
    hx_lobpcg *const e = s->e;
    const int n = s->ritz.n, n_y = s->n_x + n_p;
    double *const c = s->ritz.e;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < s->n_x; j++) c[i * n_y + j] = s->ritz.x[i * s->n_x + j];
        for (int j = 0; j < n_p; j++) c[i * n_y + s->n_x + j] = s->ritz.p[i * n_p + j];
    }
    for (int which = 0; which < 3; which++) {
        double *d_y[HX_RITZ_MOST];
        for (int j = 0; j < s->n_x; j++) d_y[j] = s->d_s[which][j];
        for (int j = 0; j < n_p; j++)
            d_y[s->n_x + j] = which == 0 ? e->p.d_v[j] : which == 1 ? e->p.d_kv[j] : e->p.d_mv[j];
        HX_TRY(e->dev->ops->block->combine(e->dev, e->n, n, (const double *const *)s->d_s[which],
                                           n_y, c, d_y));
    }
    return HX_OK;
}

/* The Rayleigh-Ritz step in the span of S. */
static int take_ritz_step(run *s)
{
    hx_lobpcg *const e = s->e;
    list_vectors(s);
    HX_TRY(fill_grams(s));
    if (hx_ritz_solve(&s->ritz, s->n_x) != 0)
        return HX_RAISE(HX_ENUMERIC,
                        "the vectors of the eigensolver are not independent or not finite: "
                        "densities, material or coordinates may be too large or too small for "
                        "double precision");
    memcpy(e->value, s->ritz.value, (size_t)s->n_x * sizeof *e->value);
    const int n_p =
        s->n_active == 0 ? 0 : hx_ritz_directions(&s->ritz, s->n_x, s->n_x, s->n_active, s->active);
    HX_TRY(combine(s, n_p));
    keep_known(s, n_p);
    s->n_p = n_p;
    e->is_known = 1;
    return HX_OK;
}

/* Computes products again; Gram matrices follow in the next step. */
static int refresh(run *s)
{
    HX_TRY(hx_lobpcg_multiply(s->e, &s->e->x, s->n_x));
    HX_TRY(hx_lobpcg_multiply(s->e, &s->e->p, s->n_p));
    s->e->is_known = 0;
    return HX_OK;
}

/* W := preconditioned residuals of the active vectors, orthogonal to rigid motions and X. */
static int make_directions(run *s)
{
    hx_lobpcg *const e = s->e;
    for (int i = 0; i < s->n_active; i++) {
        const int j = s->active[i];
        HX_TRY(hx_lobpcg_precondition(e, s->norm[j] > 0.0 ? 1.0 / s->norm[j] : 1.0, e->w.d_v[j],
                                      e->d_scratch));
        double *const d_z = e->d_scratch; /* changes places with a vector that is free */
        e->d_scratch = e->w.d_v[j];
        e->w.d_v[j] = e->w.d_v[i];
        e->w.d_v[i] = d_z;
    }
    HX_TRY(hx_lobpcg_leave(e, e->n_motion, e->d_motion, e->d_mass_motion, s->n_active, e->w.d_v));
    HX_TRY(hx_lobpcg_leave(e, s->n_x, e->x.d_v, e->x.d_mv, s->n_active, e->w.d_v));
    return hx_lobpcg_multiply(e, &e->w, s->n_active);
}

/* Returns how many of the first vectors are converged; lists the others. */
static int list_active(run *s)
{
    const hx_lobpcg *const e = s->e;
    int n = 0;
    s->n_active = 0;
    for (int j = 0; j < s->n_x; j++)
        if (!e->is_small[j]) s->active[s->n_active++] = j;
    while (n < e->params.n_wanted && e->is_small[n]) n++;
    return n;
}

static double largest_residual(const hx_lobpcg *e)
{
    double largest = 0.0;
    for (int j = 0; j < e->params.n_wanted; j++) largest = fmax(largest, e->residual[j]);
    return largest;
}

/* is_exact: the residuals follow from products, not from combinations of them. */
static int iterate(run *s, hx_lobpcg_result *result)
{
    hx_lobpcg *const e = s->e;
    int is_exact = 0, since = 0;
    for (;;) {
        HX_TRY(hx_lobpcg_residuals(e, s->norm));
        result->n_converged = list_active(s);
        if (e->watch) e->watch(e->context, result->iterations, largest_residual(e));
        const int is_done = result->n_converged == e->params.n_wanted ||
                            result->iterations >= e->params.max_iterations;
        if (is_done && is_exact) return HX_OK;
        if (is_done || since >= REFRESH_EVERY) { /* look again, at exact products */
            HX_TRY(refresh(s));
            is_exact = 1;
            since = 0;
            continue;
        }
        HX_TRY(make_directions(s));
        HX_TRY(take_ritz_step(s));
        result->iterations++;
        since++;
        is_exact = 0;
    }
}

static int solve(run *s, hx_lobpcg_result *result)
{
    hx_lobpcg *const e = s->e;
    e->is_known = 0;
    HX_TRY(e->k->diagonal(e->k, e->d_diagonal));
    if (e->has_start) {
        HX_TRY(hx_lobpcg_leave(e, e->n_motion, e->d_motion, e->d_mass_motion, s->n_x, e->x.d_v));
        HX_TRY(hx_lobpcg_multiply(e, &e->x, s->n_x));
    } else {
        HX_TRY(hx_lobpcg_start_fields(e));
        for (int j = 0; j < s->n_x; j++) s->active[s->n_active++] = j;
    }
    e->has_start = 0; /* until it succeeds */
    HX_TRY(take_ritz_step(s));
    HX_TRY(iterate(s, result));
    e->has_start = 1;
    return HX_OK;
}

int hx_lobpcg_solve(hx_lobpcg *e, hx_lobpcg_result *result)
{
    const double started = hx_clock();
    const size_t square = (size_t)HX_RITZ_MOST * HX_RITZ_MOST;
    run s = {.e = e, .n_x = e->params.n_block};
    memset(result, 0, sizeof *result);
    e->n_product = 0;
    hx_ritz_place(&s.ritz, e->work + 2 * square);
    s.known = e->work;
    HX_TRY(solve(&s, result));
    result->n_product = e->n_product;
    memcpy(result->value, e->value, sizeof result->value);
    memcpy(result->residual, e->residual, sizeof result->residual);
    memcpy(result->rounding, e->rounding, sizeof result->rounding);
    result->seconds = hx_clock() - started;
    return HX_OK;
}
