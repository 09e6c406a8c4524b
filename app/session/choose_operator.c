#include "choose_operator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/memory.h"
#include "core/base/quantile.h"

enum { N_WARM = 3, N_TIMED = 5 };

/* A product reads all that is stored. One that stores so many times more than another is not faster
 * unless it stays in a cache, which only what is small surely does. */
enum { TIMES_TOO_MUCH = 8 };
static const double SMALL_BYTES = 16e6;

typedef struct candidate {
    const hx_strategy *strategy;
    hx_layout layout;
    size_t order; /* of the build's list */
    double seconds;
} candidate;

static int is_candidate(const hx_session *s, const hx_strategy *strategy, hx_layout layout)
{
    const hx_config *cfg = &s->cfg;
    if (strcmp(strategy->device, s->device.ops->name) != 0) return 0;
    if (!(strategy->layouts & HX_LAYOUT_BIT(layout))) return 0;
    if (strategy->error > 0.0) return 0;
    if (cfg->solver.deterministic && !strategy->deterministic) return 0;
    if (cfg->solver.precision == HX_PRECISION_MIXED && !strategy->apply_single) return 0;
    const hx_layout asked = hx_session_asked_layout(s);
    return !hx_config_given(cfg, "solver.layout") || layout == asked ||
           !(strategy->layouts & HX_LAYOUT_BIT(asked));
}

/* Most stored first, the interleaved layout after others: the last one is the most promising. It is
 * set up last, and then need not be set up again. */
static int by_promise(const void *a, const void *b)
{
    const candidate *one = a, *two = b;
    if (one->strategy->bytes_per_elem != two->strategy->bytes_per_elem)
        return one->strategy->bytes_per_elem > two->strategy->bytes_per_elem ? -1 : 1;
    if (one->layout != two->layout) return one->layout == HX_LAYOUT_INTERLEAVED ? 1 : -1;
    return (one->order < two->order) - (one->order > two->order);
}

static void note_left_out(const candidate *c, const char *why)
{
    hx_log_detail("  auto      %s, %s: %s", c->strategy->name, hx_layout_name(c->layout), why);
}

/* Leaves out, of the ordered list, what cannot be the fastest. */
static void keep_promising(const hx_session *s, candidate *list, size_t *n)
{
    const int least = list[*n - 1].strategy->bytes_per_elem;
    size_t n_kept = 0;
    for (size_t i = 0; i < *n; i++) {
        const hx_strategy *strategy = list[i].strategy;
        const hx_promise promise =
            strategy->promise ? strategy->promise(&s->mesh) : HX_PROMISE_SOME;
        const double bytes = (double)strategy->bytes_per_elem * (double)s->mesh.n_elem;
        if (promise == HX_PROMISE_SURE) {
            while (n_kept > 0) note_left_out(&list[--n_kept], "cannot be faster on this mesh");
            list[n_kept++] = list[i];
            break;
        }
        if (promise == HX_PROMISE_NONE && *n > 1)
            note_left_out(&list[i], "gains nothing on this mesh");
        else if (bytes > SMALL_BYTES && strategy->bytes_per_elem > TIMES_TOO_MUCH * least)
            note_left_out(&list[i], "stores too much to be faster");
        else
            list[n_kept++] = list[i];
    }
    if (n_kept == 0) list[n_kept++] = list[*n - 1];
    *n = n_kept;
}

static int list_candidates(const hx_session *s, candidate **list, size_t *n)
{
    size_t n_strategy = 0;
    *n = 0;
    while (hx_strategies[n_strategy]) n_strategy++;
    HX_TRY(hx_alloc(list, n_strategy * HX_N_LAYOUT, sizeof **list, "operators to choose from"));
    for (size_t i = 0; i < n_strategy; i++)
        for (int k = 0; k < HX_N_LAYOUT; k++) {
            const hx_strategy *strategy = hx_strategies[i];
            if (!is_candidate(s, strategy, (hx_layout)k)) continue;
            (*list)[(*n)++] = (candidate){.strategy = strategy, .layout = (hx_layout)k, .order = i};
        }
    if (*n == 0)
        return HX_RAISE(HX_EINPUT,
                        "no operator of device '%s' does what is asked; see `hextop list`",
                        s->device.ops->name);
    qsort(*list, *n, sizeof **list, by_promise);
    keep_promising(s, *list, n);
    return HX_OK;
}

static void take(hx_session *s, const candidate *c)
{
    s->strategy = c->strategy;
    s->layout = c->layout;
}

/* Keeps the candidates that fit, in their order; the last one if none does. */
static int keep_fitting(hx_session *s, candidate *list, size_t *n)
{
    size_t n_free, n_total, n_kept = 0;
    char want[32], have[32];
    if (*n == 1)
        return HX_OK; /* taken, or refused by its set-up; to ask costs a pass over the mesh */
    HX_TRY(s->device.ops->memory(&s->device, &n_free, &n_total));
    for (size_t i = 0; i < *n; i++) {
        take(s, &list[i]);
        const size_t bytes = hx_session_device_bytes(s);
        if (n_free == 0 || bytes <= n_free) /* 0: unknown */
            list[n_kept++] = list[i];
        else
            hx_log_detail("  auto      %s, %s: needs %s, %s is free", s->strategy->name,
                          hx_layout_name(s->layout),
                          hx_format_bytes((double)bytes, want, sizeof want),
                          hx_format_bytes((double)n_free, have, sizeof have));
    }
    if (n_kept == 0) list[n_kept++] = list[*n - 1];
    *n = n_kept;
    return HX_OK;
}

/* What the products are timed on. */
typedef struct trial {
    hx_session *s;
    double *modulus; /* [n_elem] (owned) */
    double *d_x, *d_y;
} trial;

static int trial_begin(trial *t, hx_session *s)
{
    const size_t n_elem = (size_t)s->mesh.n_elem;
    const size_t bytes = 3 * (size_t)s->mesh.n_node * sizeof(double);
    hx_device *dev = &s->device;
    t->s = s;
    HX_TRY(hx_alloc_raw(&t->modulus, n_elem, sizeof *t->modulus, "moduli"));
#pragma omp parallel for schedule(static)
    for (size_t e = 0; e < n_elem; e++) t->modulus[e] = s->problem.young;
    HX_TRY(dev->ops->alloc(dev, bytes, &t->d_x));
    HX_TRY(dev->ops->alloc(dev, bytes, &t->d_y));
    return dev->ops->upload(dev, t->d_x, s->mesh.xyz, bytes); /* any vector does */
}

static void trial_end(trial *t)
{
    hx_device *dev = &t->s->device;
    free(t->modulus);
    if (t->d_x) dev->ops->release(dev, t->d_x);
    if (t->d_y) dev->ops->release(dev, t->d_y);
}

/* The median of a few warm products. */
static int time_products(trial *t, double *median)
{
    const hx_operator *op = &t->s->op;
    hx_device *dev = op->dev;
    double seconds[N_TIMED];
    for (int i = 0; i < N_WARM; i++) HX_TRY(hx_operator_apply(op, t->d_x, t->d_y));
    for (int i = 0; i < N_TIMED; i++) {
        HX_TRY(dev->ops->mark(dev, 0));
        HX_TRY(hx_operator_apply(op, t->d_x, t->d_y));
        HX_TRY(dev->ops->mark(dev, 1));
        HX_TRY(dev->ops->sync(dev));
        HX_TRY(dev->ops->elapsed(dev, 0, 1, &seconds[i]));
    }
    hx_sort_values(seconds, N_TIMED);
    *median = hx_quantile(seconds, N_TIMED, 0.5);
    return HX_OK;
}

/* Leaves the candidate in s->op. */
static int measure(trial *t, candidate *c)
{
    hx_session *s = t->s;
    hx_operator_free(&s->op);
    HX_TRY(hx_operator_create(&s->op, &s->device, c->strategy, c->layout, &s->problem, 0));
    HX_TRY(hx_operator_set_modulus(&s->op, t->modulus));
    HX_TRY(time_products(t, &c->seconds));
    hx_log_detail("  auto      %s, %s: %.3g ms a product", c->strategy->name,
                  hx_layout_name(c->layout), 1e3 * c->seconds);
    return HX_OK;
}

/* best and next: the two fastest, NULL where too few could be timed. */
static int time_candidates(trial *t, candidate *list, size_t n, const candidate **best,
                           const candidate **next)
{
    hx_session *s = t->s;
    *best = *next = NULL;
    for (candidate *c = list; c < list + n; c++) {
        const int rc = measure(t, c);
        if (rc == HX_ENOMEM || rc == HX_EENV) {
            note_left_out(c, hx_error_message());
            hx_operator_free(&s->op);
            continue;
        }
        HX_TRY(rc);
        if (!*best || c->seconds < (*best)->seconds) {
            *next = *best;
            *best = c;
        } else if (!*next || c->seconds < (*next)->seconds) {
            *next = c;
        }
    }
    return HX_OK;
}

static void note_times(hx_session *s, const candidate *best, const candidate *next)
{
    char other[64] = "no other can be faster";
    if (next)
        snprintf(other, sizeof other, "next %s %s %.3g ms", next->strategy->name,
                 hx_layout_name(next->layout), 1e3 * next->seconds);
    snprintf(s->operator_note, sizeof s->operator_note, "auto: %.3g ms a product; %s",
             1e3 * best->seconds, other);
}

static int take_fastest(hx_session *s, candidate *list, size_t n)
{
    int rc;
    trial t = {0};
    const candidate *best, *next;
    HX_TRY_FAIL(trial_begin(&t, s));
    HX_TRY_FAIL(time_candidates(&t, list, n, &best, &next));
    take(s, best ? best : &list[n - 1]);
    if (best) note_times(s, best, next);
    if (s->op.strategy != s->strategy || s->op.layout != s->layout) hx_operator_free(&s->op);
    rc = HX_OK;
fail:
    trial_end(&t);
    return rc;
}

int hx_choose_operator(hx_session *s)
{
    int rc;
    candidate *list = NULL;
    size_t n;
    HX_TRY_FAIL(list_candidates(s, &list, &n));
    HX_TRY_FAIL(keep_fitting(s, list, &n));
    if (n > 1 && !s->cfg.solver.deterministic) {
        HX_TRY_FAIL(take_fastest(s, list, n));
    } else {
        take(s, &list[n - 1]);
        snprintf(s->operator_note, sizeof s->operator_note, "auto: %s",
                 n > 1 ? "the deterministic one that stores least" : "no other can be faster");
    }
    rc = HX_OK;
fail:
    free(list);
    return rc;
}
