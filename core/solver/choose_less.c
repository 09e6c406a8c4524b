/* Fallbacks if an allocation fails although the estimate fitted, because another process took the
 * memory or it is fragmented. */
#include <stdio.h>
#include <string.h>

#include "../base/memory.h"
#include "choose.h"

/* A kind that needs more than this fraction of the present kind's memory would probably fail
 * too. */
#define MARKEDLY 0.95

/* The candidate that needs the least memory; op_kind = NULL: there is none. */
typedef struct least {
    const hx_operator_kind *op_kind;
    hx_layout layout;
    size_t bytes;
} least;

static least find_least(const hx_choose_params *params, const hx_device_ops *device,
                        const hx_problem *problem, const hx_precond_kind *kind)
{
    least best = {0};
    for (size_t i = 0; params->op_kinds[i]; i++)
        for (int k = 0; k < HX_N_LAYOUT; k++) {
            const hx_operator_kind *s =
                hx_operator_kind_of(params->op_kinds[i], problem->components);
            const hx_layout layout = (hx_layout)k;
            if (!s || !hx_choose_is_candidate(params, device, problem, s, layout)) continue;
            const size_t bytes = hx_choose_bytes(params, device, problem, s, layout, kind);
            if (!best.op_kind || bytes < best.bytes) best = (least){s, layout, bytes};
        }
    return best;
}

static int take_operator(const hx_choose_params *params, const hx_device_ops *device,
                         const hx_problem *problem, const hx_choose_less *less)
{
    hx_choice *const choice = less->choice;
    const size_t now =
        hx_choose_bytes(params, device, problem, choice->op_kind, choice->layout, *less->kind);
    const least best = find_least(params, device, problem, *less->kind);
    if (!best.op_kind || (double)best.bytes > MARKEDLY * (double)now) return 0;
    snprintf(choice->note, sizeof choice->note,
             "auto: stores less than %s, for which memory was insufficient", choice->op_kind->name);
    choice->op_kind = best.op_kind;
    choice->layout = best.layout;
    return 1;
}

static int take_precond(const hx_choose_params *params, const hx_device_ops *device,
                        const hx_choose_less *less)
{
    const hx_precond_kind *const chosen = *less->kind;
    const hx_precond_kind *const smaller =
        chosen->bytes ? hx_choose_precond(params, device, chosen->chosen_from - 1) : NULL;
    if (!smaller) return 0;
    *less->kind = smaller;
    return 1;
}

int hx_choose_take_less(const hx_choose_params *params, const hx_device *dev,
                        const hx_problem *problem, const hx_choose_less *less)
{
    if (less->may_operator && take_operator(params, dev->ops, problem, less)) return 1;
    return less->may_precond && take_precond(params, dev->ops, less);
}

/* Lists the operators that fit, each in its first layout; returns how many. */
static size_t list_fitting(const hx_choose_params *params, const hx_device *dev,
                           const hx_problem *problem, const hx_precond_kind *kind, size_t n_free,
                           char *text, size_t n_text)
{
    size_t n = 0, used = 0;
    char bytes[32];
    for (size_t i = 0; params->op_kinds[i] && used < n_text; i++) {
        const hx_operator_kind *s = hx_operator_kind_of(params->op_kinds[i], problem->components);
        if (!s) continue;
        const hx_layout layout = hx_layout_first(s);
        if (!hx_choose_is_candidate(params, dev->ops, problem, s, layout)) continue;
        const size_t need = hx_choose_bytes(params, dev->ops, problem, s, layout, kind);
        if (need > n_free) continue;
        used += (size_t)snprintf(text + used, n_text - used, "%s%s (%s)", n ? ", " : "", s->name,
                                 hx_format_bytes((double)need, bytes, sizeof bytes));
        n++;
    }
    return n;
}

int hx_choose_suggest(const hx_choose_params *params, hx_device *dev, const hx_problem *problem,
                      const hx_precond_kind *kind, size_t held_bytes, int rc)
{
    char message[HX_MESSAGE_SIZE], text[1024] = "", have[32];
    size_t n_free = 0, n_total = 0;
    hx_choose_params any = *params;
    any.keep_layout = 0;
    snprintf(message, sizeof message, "%s", hx_error_message());
    if (dev->ops->memory(dev, &n_free, &n_total) < 0 || n_free == 0)
        return HX_RAISE(rc, "%s: use a smaller mesh, or solver.operator = \"auto\"", message);
    n_free += held_bytes;
    hx_format_bytes((double)n_free, have, sizeof have);
    if (list_fitting(&any, dev, problem, kind, n_free, text, sizeof text) == 0)
        return HX_RAISE(rc,
                        "%s; device '%s' has %s for this run, which is too little for any "
                        "operator: use a smaller mesh, or wait until other processes end",
                        message, dev->ops->name, have);
    return HX_RAISE(rc, "%s; device '%s' has %s for this run, and these operators fit: %s", message,
                    dev->ops->name, have, text);
}
