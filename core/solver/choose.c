#include "choose.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/quantile.h"

enum { N_WARM = 3, N_TIMED = 5 };

/* A product reads everything that is stored. A kind that stores TIMES_TOO_MUCH times as much as
 * another cannot be faster, unless its data stays in a cache, which is certain only for small
 * meshes (SMALL_BYTES). Products with stored matrices all run at memory bandwidth, so for them
 * TIMES_OF_MATRICES suffices. */
enum { TIMES_TOO_MUCH = 8, TIMES_OF_MATRICES = 2 };
static const double SMALL_BYTES = 16e6;

typedef struct candidate {
    const hx_operator_kind *op_kind;
    hx_layout layout;
    size_t order; /* position in the build's list */
    double seconds;
} candidate;

/* The arguments of a choice. */
typedef struct request {
    const hx_choose_params *params;
    hx_device *dev;
    const hx_problem *problem;
    const hx_precond_kind *kind;
    hx_operator *op;
} request;

const hx_precond_kind *hx_choose_precond(const hx_choose_params *params,
                                         const hx_device_ops *device, int64_t n_elem)
{
    const hx_precond_kind *best = NULL;
    /* A preconditioner that is not diagonal is useless if the criterion is r'z, and is not
     * available in mixed precision. */
    const int only_diagonal =
        params->precision == HX_PRECISION_MIXED || params->criterion == HX_PCG_ABSOLUTE;
    for (size_t i = 0; params->preconds[i]; i++) {
        const hx_precond_kind *kind = params->preconds[i];
        if (kind->chosen_from <= 0 || kind->chosen_from > n_elem) continue;
        if ((only_diagonal && kind->apply) || (kind->runs_on && !kind->runs_on(device))) continue;
        if (!best || kind->chosen_from > best->chosen_from) best = kind;
    }
    return best;
}

void hx_choose_account(hx_account *account, const hx_device_ops *device, const hx_problem *problem,
                       const hx_operator_kind *op_kind, const hx_precond_kind *kind)
{
    const size_t vector =
        (size_t)problem->components * (size_t)problem->space.n_point * sizeof(double);
    const size_t n_pcg = (size_t)hx_pcg_vectors(kind, hx_problem_whole(problem)->rigid.n > 0);
    hx_account_add(account, "preconditioner", hx_precond_bytes(kind, problem, device, op_kind));
    hx_account_add(account, "pcg", n_pcg * vector);
}

size_t hx_choose_bytes(const hx_choose_params *params, const hx_device_ops *device,
                       const hx_problem *problem, const hx_operator_kind *op_kind, hx_layout layout,
                       const hx_precond_kind *kind)
{
    hx_account account = {0};
    hx_operator_account(&account, problem, op_kind, layout);
    hx_choose_account(&account, device, problem, op_kind, kind);
    return hx_account_sum(&account) + params->other_bytes;
}

/* Returns 1 if everything certainly fits: the nominal bytes are less than half of the free memory.
 * Nothing need then be counted, which takes passes over the mesh. If the nominal numbers are too
 * low, the set-up counts and reports the error. */
static int fits_easily(const hx_choose_params *params, const hx_problem *problem,
                       const hx_operator_kind *op_kind, size_t n_free)
{
    /* BESIDE_PER_ELEM: bytes of mesh, preconditioner and vectors */
    enum { BESIDE_PER_ELEM = 600, TIMES = 2 };
    const double n_elem = (double)problem->mesh->n_elem;
    const double each = (double)op_kind->bytes_per_elem + BESIDE_PER_ELEM;
    if (problem->space.element != HX_ELEMENT_LINEAR) return 0;
    return TIMES * (each * n_elem + (double)params->other_bytes) <= (double)n_free;
}

int hx_choose_smaller_precond(const hx_choose_params *params, hx_device *dev,
                              const hx_problem *problem, const hx_operator_kind *op_kind,
                              hx_layout layout, size_t held_bytes, const hx_precond_kind **kind)
{
    const hx_device_ops *ops = dev->ops;
    size_t n_free, n_total;
    if (!(*kind)->bytes) return HX_OK;
    HX_TRY(ops->memory(dev, &n_free, &n_total));
    const size_t have = n_free + held_bytes;
    if (fits_easily(params, problem, op_kind, n_free)) return HX_OK;
    if (n_free == 0 || hx_choose_bytes(params, ops, problem, op_kind, layout, *kind) <= have)
        return HX_OK; /* n_free = 0: unknown */
    const hx_precond_kind *smaller = hx_choose_precond(params, ops, (*kind)->chosen_from - 1);
    if (smaller && hx_choose_bytes(params, ops, problem, op_kind, layout, smaller) <= have)
        *kind = smaller;
    return HX_OK;
}

int hx_choose_is_candidate(const hx_choose_params *params, const hx_device_ops *device,
                           const hx_problem *problem, const hx_operator_kind *op_kind,
                           hx_layout layout)
{
    if (strcmp(op_kind->device, device->name) != 0) return 0;
    if (!(op_kind->layouts & HX_LAYOUT_BIT(layout))) return 0;
    if (op_kind->error > 0.0) return 0;
    if (problem->space.element != HX_ELEMENT_LINEAR && !op_kind->space_bytes) return 0;
    if (params->deterministic && !op_kind->deterministic) return 0;
    if (params->precision == HX_PRECISION_MIXED && !op_kind->apply_single) return 0;
    return !params->keep_layout || layout == params->layout ||
           !(op_kind->layouts & HX_LAYOUT_BIT(params->layout));
}

/* Order of the candidates: largest storage first, the interleaved layout after the others. The last
 * candidate is the most promising. It is set up last, so it need not be set up again if it is
 * chosen. */
static int by_promise(const void *a, const void *b)
{
    const candidate *one = a, *two = b;
    if (one->op_kind->bytes_per_elem != two->op_kind->bytes_per_elem)
        return one->op_kind->bytes_per_elem > two->op_kind->bytes_per_elem ? -1 : 1;
    if (one->layout != two->layout) return one->layout == HX_LAYOUT_INTERLEAVED ? 1 : -1;
    return (one->order < two->order) - (one->order > two->order);
}

/* Reports a line such as "ebe, interleaved: ...". */
HX_PRINTF(3, 4)
static void log_candidate(const request *t, const candidate *c, const char *fmt, ...)
{
    char line[640];
    va_list args;
    if (!t->params->say) return;
    const int n =
        snprintf(line, sizeof line, "%s, %s: ", c->op_kind->name, hx_layout_name(c->layout));
    va_start(args, fmt);
    vsnprintf(line + n, sizeof line - (size_t)n, fmt, args);
    va_end(args);
    t->params->say(t->params->context, line);
}

/* Removes candidates that cannot be the fastest from the sorted list. */
static void keep_promising(const request *t, candidate *list, size_t *n)
{
    const hx_mesh *mesh = t->problem->mesh;
    const int is_linear = t->problem->space.element == HX_ELEMENT_LINEAR;
    const int most =
        (is_linear ? TIMES_TOO_MUCH : TIMES_OF_MATRICES) * list[*n - 1].op_kind->bytes_per_elem;
    const double n_elem = (double)(is_linear ? mesh->n_elem : t->problem->space.n_point);
    size_t n_kept = 0;
    for (size_t i = 0; i < *n; i++) {
        const hx_operator_kind *op_kind = list[i].op_kind;
        const hx_promise promise =
            op_kind->promise && is_linear ? op_kind->promise(mesh) : HX_PROMISE_SOME;
        const double bytes = (double)op_kind->bytes_per_elem * n_elem;
        if (promise == HX_PROMISE_SURE) {
            while (n_kept > 0) log_candidate(t, &list[--n_kept], "cannot be faster on this mesh");
            list[n_kept++] = list[i];
            break;
        }
        if (promise == HX_PROMISE_NONE && *n > 1)
            log_candidate(t, &list[i], "gains nothing on this mesh");
        else if (bytes > SMALL_BYTES && op_kind->bytes_per_elem > most)
            log_candidate(t, &list[i], "stores too much to be faster");
        else
            list[n_kept++] = list[i];
    }
    if (n_kept == 0) list[n_kept++] = list[*n - 1];
    *n = n_kept;
}

static int list_candidates(const request *t, candidate **list, size_t *n)
{
    size_t n_op_kind = 0;
    *n = 0;
    while (t->params->op_kinds[n_op_kind]) n_op_kind++;
    HX_TRY(hx_alloc(list, n_op_kind * HX_N_LAYOUT, sizeof **list, "operators to choose from"));
    for (size_t i = 0; i < n_op_kind; i++)
        for (int k = 0; k < HX_N_LAYOUT; k++) {
            const hx_operator_kind *op_kind =
                hx_operator_kind_of(t->params->op_kinds[i], t->problem->components);
            if (!op_kind ||
                !hx_choose_is_candidate(t->params, t->dev->ops, t->problem, op_kind, (hx_layout)k))
                continue;
            (*list)[(*n)++] = (candidate){.op_kind = op_kind, .layout = (hx_layout)k, .order = i};
        }
    if (*n == 0 && t->problem->space.element != HX_ELEMENT_LINEAR &&
        t->params->precision == HX_PRECISION_MIXED)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' has no product in single precision for quadratic elements: "
                        "use precision = \"double\"",
                        t->dev->ops->name);
    if (*n == 0)
        return HX_RAISE(HX_EINPUT,
                        "no operator of device '%s' meets all requirements (layout, precision, "
                        "deterministic); see `hextop list`",
                        t->dev->ops->name);
    qsort(*list, *n, sizeof **list, by_promise);
    keep_promising(t, *list, n);
    return HX_OK;
}

/* Keeps the candidates that fit into memory, in their order; if none does, the last one. */
static int keep_fitting(const request *t, candidate *list, size_t *n)
{
    const hx_device_ops *ops = t->dev->ops;
    size_t n_free, n_total, n_kept = 0;
    char want[32], have[32];
    if (*n == 1)
        /* the set-up will accept or refuse the only candidate; checking here would cost a pass over
         * the mesh */
        return HX_OK;
    HX_TRY(ops->memory(t->dev, &n_free, &n_total));
    for (size_t i = 0; i < *n; i++) {
        const candidate *c = &list[i];
        const size_t bytes =
            hx_choose_bytes(t->params, ops, t->problem, c->op_kind, c->layout, t->kind);
        if (n_free == 0 || bytes <= n_free) /* n_free = 0: unknown */
            list[n_kept++] = *c;
        else
            log_candidate(t, c, "needs %s, but only %s is free",
                          hx_format_bytes((double)bytes, want, sizeof want),
                          hx_format_bytes((double)n_free, have, sizeof have));
    }
    if (n_kept == 0) list[n_kept++] = list[*n - 1];
    *n = n_kept;
    return HX_OK;
}

/* Data for timing products. */
typedef struct trial {
    const request *task;
    double *modulus; /* [n_elem] (owned) */
    double *d_x, *d_y;
} trial;

static int trial_begin(trial *t, const request *task)
{
    const hx_mesh *mesh = task->problem->mesh;
    const size_t n_elem = (size_t)mesh->n_elem;
    const size_t bytes =
        (size_t)task->problem->components * (size_t)task->problem->space.n_point * sizeof(double);
    hx_device *dev = task->dev;
    t->task = task;
    HX_TRY(hx_alloc_raw(&t->modulus, n_elem, sizeof *t->modulus, "moduli"));
#pragma omp parallel for schedule(static)
    for (size_t e = 0; e < n_elem; e++) t->modulus[e] = task->problem->young;
    HX_TRY(dev->ops->alloc(dev, bytes, &t->d_x));
    HX_TRY(dev->ops->alloc(dev, bytes, &t->d_y));
    return dev->ops->upload(dev, t->d_x, task->problem->space.xyz, bytes); /* any vector will do */
}

static void trial_end(trial *t)
{
    hx_device *dev = t->task->dev;
    free(t->modulus);
    if (t->d_x) dev->ops->release(dev, t->d_x);
    if (t->d_y) dev->ops->release(dev, t->d_y);
}

/* Median time of a few products after warm-up. */
static int time_products(trial *t, double *median)
{
    const hx_operator *op = t->task->op;
    hx_device *dev = t->task->dev;
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

/* Times one candidate, which remains set up in the operator. */
static int measure_candidate(trial *t, candidate *c)
{
    const request *task = t->task;
    hx_operator_free(task->op);
    HX_TRY(hx_operator_create(task->op, task->dev, c->op_kind, c->layout, task->problem, 0));
    HX_TRY(hx_operator_set_modulus(task->op, t->modulus));
    HX_TRY(time_products(t, &c->seconds));
    log_candidate(task, c, "%.3g ms per product", 1e3 * c->seconds);
    return HX_OK;
}

/* best and next: the two fastest candidates, or NULL if fewer could be timed. */
static int time_candidates(trial *t, candidate *list, size_t n, const candidate **best,
                           const candidate **next)
{
    *best = *next = NULL;
    for (candidate *c = list; c < list + n; c++) {
        const int rc = measure_candidate(t, c);
        if (rc == HX_ENOMEM || rc == HX_EENV) {
            log_candidate(t->task, c, "%s", hx_error_message());
            hx_operator_free(t->task->op);
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

static void take_candidate(hx_choice *choice, const candidate *c)
{
    choice->op_kind = c->op_kind;
    choice->layout = c->layout;
}

static int take_fastest(hx_choice *choice, const request *task, candidate *list, size_t n)
{
    hx_operator *op = task->op;
    int rc;
    trial t = {0};
    char other[64] = "no other can be faster";
    const candidate *best, *next;
    rc = trial_begin(&t, task);
    if (rc == HX_ENOMEM) {
        log_candidate(task, &list[n - 1], "not timed: %s", hx_error_message());
        hx_error_clear();
        take_candidate(choice, &list[n - 1]);
        snprintf(choice->note, sizeof choice->note, "auto: not enough memory to time the others");
        rc = HX_OK;
        goto fail;
    }
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(time_candidates(&t, list, n, &best, &next));
    take_candidate(choice, best ? best : &list[n - 1]);
    if (next)
        snprintf(other, sizeof other, "next %s %s %.3g ms", next->op_kind->name,
                 hx_layout_name(next->layout), 1e3 * next->seconds);
    if (best)
        snprintf(choice->note, sizeof choice->note, "auto: %.3g ms per product; %s",
                 1e3 * best->seconds, other);
    if (op->op_kind != choice->op_kind || op->layout != choice->layout) hx_operator_free(op);
    rc = HX_OK;
fail:
    trial_end(&t);
    return rc;
}

int hx_choose_operator(hx_choice *choice, const hx_choose_params *params, hx_device *dev,
                       const hx_problem *problem, const hx_precond_kind *kind, hx_operator *op)
{
    const request t = {.params = params, .dev = dev, .problem = problem, .kind = kind, .op = op};
    int rc;
    candidate *list = NULL;
    size_t n;
    memset(choice, 0, sizeof *choice);
    HX_TRY_FAIL(list_candidates(&t, &list, &n));
    HX_TRY_FAIL(keep_fitting(&t, list, &n));
    if (n > 1 && !params->deterministic) {
        HX_TRY_FAIL(take_fastest(choice, &t, list, n));
    } else {
        take_candidate(choice, &list[n - 1]);
        snprintf(choice->note, sizeof choice->note, "auto: %s",
                 n > 1 ? "the deterministic operator that stores least" : "no other can be faster");
    }
    rc = HX_OK;
fail:
    free(list);
    return rc;
}

const hx_operator_kind *hx_choose_foresee(const hx_choose_params *params,
                                          const hx_device_ops *device, const hx_problem *problem)
{
    hx_device none = {.ops = device}; /* not opened */
    hx_choose_params silent = *params;
    const request t = {.params = &silent, .dev = &none, .problem = problem};
    const hx_operator_kind *op_kind = NULL;
    candidate *list = NULL;
    size_t n;
    silent.say = NULL;
    if (list_candidates(&t, &list, &n) < 0)
        hx_error_clear();
    else if (n == 1 || params->deterministic)
        op_kind = list[n - 1].op_kind;
    free(list);
    return op_kind;
}
