/* The design loop, from a config that was read. */
#include "app/output/outcome.h"
#include "app/text/log.h"
#include "core/base/clock.h"
#include "handle.h"

static int make_session(hextop *h)
{
    hx_value *const tree = h->tree;
    h->tree = NULL; /* the config owns it now */
    h->stats.begin = hx_clock();
    HX_TRY(hx_config_from_tree(&h->session.cfg, tree, h->path));
    HX_TRY(hx_session_open(&h->session));
    HX_TRY(hx_stats_begin(&h->stats, h->session.cfg.optimization.iterations,
                          h->session.problem.cases.n, h->session.limits.n));
    h->stats.stage[HX_STAGE_SETUP] = hx_clock() - h->stats.begin;
    return hx_diags_before(&h->diags, &h->session);
}

int hx_handle_prepare(hextop *h)
{
    if (h->state == HX_HANDLE_READY) return HX_OK;
    if (h->state == HX_HANDLE_FAILED)
        return HX_RAISE(HX_EINPUT,
                        "an earlier call of this session failed; close it and open another one");
    h->state = HX_HANDLE_FAILED;
    HX_TRY(make_session(h));
    h->state = HX_HANDLE_READY;
    return HX_OK;
}

int hextop_prepare(hextop *h)
{
    hx_handle_enter(h);
    return hx_handle_leave(h, hx_handle_prepare(h));
}

int hx_handle_need_design(const hextop *h)
{
    if (h->stats.n_iteration > 0 && h->analysed) return HX_OK;
    return HX_RAISE(HX_EINPUT, "there is no analysed design yet: call hextop_run first");
}

/* Calls the caller's function with the caller's locale and threads. */
static int call_watch(hextop *h, const hx_iteration *it)
{
    const hextop_iteration reported = {
        .iteration = it->iteration,
        .iterations = h->session.cfg.optimization.iterations,
        .pcg_iterations = it->pcg_iterations,
        .pcg_converged = it->reason == HX_PCG_CONVERGED,
        .compliance = it->compliance,
        .volume = it->volume,
        .change = it->change,
        .greyness = it->greyness,
        .penalty = it->penalty,
        .beta = it->beta,
        .seconds = it->seconds,
    };
    if (!h->watch) return 0;
    (void)hx_handle_leave(h, HX_OK);
    const int stop = h->watch(h->watch_user, &reported);
    hx_handle_enter(h);
    return stop;
}

/* The best design that meets all limits takes the place of the last one, if that misses one, and the
 * design that is made that of an eroded one. */
static int return_result(hextop *h, const hx_iteration *last)
{
    hx_iteration it;
    HX_TRY(hx_session_return_result(&h->session, last, &it));
    HX_TRY(hx_outcome_judge(&h->session, &it));
    hx_stats_replace(&h->stats, &it, 0.0);
    return HX_OK;
}

/* Runs an iteration; *stop: nonzero if the caller's function requested the end. */
static int step(hextop *h, int *stop)
{
    hx_session *const s = &h->session;
    hx_iteration it;
    if (h->analysed) hx_optimizer_advance(&s->opt); /* the proposal becomes the design */
    h->analysed = 0;
    HX_TRY(hx_session_step(s, &it));
    hx_stats_add(&h->stats, &it, s->problem.cases.n, 0.0);
    h->analysed = 1;
    HX_TRY(hx_outcome_judge(s, &it));
    hx_outcome_warn(s, &h->stats, &it);
    if (it.iteration == 1) hx_diag_initial(&h->diags, s, &it, NULL);
    h->done = hx_outcome_is_last(s, &it);
    *stop = call_watch(h, &it);
    if (!h->done) return HX_OK;
    if (hx_optimizer_has_result(&s->opt, &it)) HX_TRY(return_result(h, &it));
    hx_outcome_diag(s, &h->stats, 0, 0, &h->diags);
    return HX_OK;
}

static int run_hextop(hextop *h, int most)
{
    int stop = 0;
    if (h->running)
        return HX_RAISE(HX_EINPUT, "hextop_run must not be called from a callback of hextop_run");
    if (most < 0)
        return HX_RAISE(HX_EINPUT, "the number of iterations is %d; it must be 0 or more", most);
    HX_TRY(hx_handle_prepare(h));
    h->running = 1;
    for (int i = 0; (i < most || most == 0) && !h->done && !stop; i++) {
        const int rc = step(h, &stop);
        if (rc == HX_OK) continue;
        h->running = 0;
        h->state = HX_HANDLE_FAILED;
        return rc;
    }
    h->running = 0;
    hx_stats_stop(&h->stats);
    return !h->done;
}

int hextop_run(hextop *h, int most)
{
    hx_handle_enter(h);
    return hx_handle_leave(h, run_hextop(h, most));
}
