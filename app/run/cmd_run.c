/* hextop run: the paper's flow chart (P1, Figure 1), with files and a progress line around it. */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../output/history.h"
#include "../output/output.h"
#include "../output/progress.h"
#include "../output/summary.h"
#include "../session/continuation.h"
#include "../text/commands.h"
#include "core/base/clock.h"

typedef struct run {
    hx_session session;
    hx_output output;
    hx_history history;
    hx_stats stats;
} run;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    static const char text[] = "\nhextop: finishing this iteration; once more stops at once\n";
    (void)number;
    interrupted = 1;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) interrupted = 1;
}

/* The first SIGINT or SIGTERM is noted, the second one ends the program. */
static void catch_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* Pre-computation: all objects of the run, and the folder it writes to. */
static int prepare(run *r, const hx_options *options)
{
    hx_session *s = &r->session;
    char path[PATH_MAX];
    HX_TRY(hx_config_read(&s->cfg, options->argument[0], options->n_argument - 1,
                          options->argument + 1));
    HX_TRY(hx_output_probe(&s->cfg));
    HX_TRY(hx_session_open(s));
    HX_TRY(hx_stats_begin(&r->stats, s->cfg.optimization.iterations, s->problem.cases.n));
    HX_TRY(hx_output_open(&r->output, s));
    hx_output_path(&r->output, "history.csv", path, sizeof path);
    HX_TRY(hx_history_open(&r->history, path, s->problem.cases.n));
    hx_output_forget(&r->output);
    hx_output_path(&r->output, "config.cfg", path, sizeof path);
    return hx_config_write(&s->cfg, path);
}

/* 1 if the run goes no further than this iteration. */
static int is_last(const run *r, const hx_iteration *it)
{
    const hx_config *cfg = &r->session.cfg;
    return it->iteration == cfg->optimization.iterations ||
           (it->change < cfg->optimization.change_tolerance && !it->climbing) || interrupted;
}

/* HX_ENUMERIC if PCG failed and the run cannot, or by solver.on_failure must not, go on. */
static int judge_solve(const run *r, const hx_iteration *it)
{
    if (it->reason == HX_PCG_NAN)
        return HX_RAISE(HX_ENUMERIC,
                        "iteration %d: NaN in PCG: forces, material or coordinates are too large "
                        "or too small for double precision; other units would help",
                        it->iteration);
    if (it->reason != HX_PCG_CONVERGED && r->session.cfg.solver.on_failure == HX_FAILURE_STOP)
        return HX_RAISE(HX_ENUMERIC,
                        "iteration %d: PCG did not converge (%s after %d iterations, |r|/|f| = "
                        "%.2g) and solver.on_failure is \"stop\"; raise solver.max_iterations, "
                        "or optimization.rho_min for a better-conditioned matrix",
                        it->iteration, hx_pcg_reason_name(it->reason), it->pcg_iterations,
                        it->pcg_residual);
    return HX_OK;
}

static void warn_unconverged(const run *r, const hx_iteration *it)
{
    if (it->reason == HX_PCG_CONVERGED) return;
    if (r->stats.n_unconverged == 1)
        hx_log_warning("iteration %d: PCG did not converge (%s after %d iterations, |r|/|f| = "
                       "%.2g); going on, as solver.on_failure says",
                       it->iteration, hx_pcg_reason_name(it->reason), it->pcg_iterations,
                       it->pcg_residual);
    else
        hx_log_detail("iteration %d: PCG did not converge (%s)", it->iteration,
                      hx_pcg_reason_name(it->reason));
}

static void report_precision(const run *r, const hx_iteration *it)
{
    if (it->pcg_fell_back == 0) return;
    if (r->stats.n_fell_back == it->pcg_fell_back)
        hx_log_warning("iteration %d: single precision did not lead to the tolerance; the solve "
                       "was finished in double, as later ones may be: solver.precision = "
                       "\"double\" would be faster",
                       it->iteration);
    else
        hx_log_detail("iteration %d: a solve was finished in double precision", it->iteration);
}

/* The first design whose volume is off; of the last one print_result speaks. */
static void warn_missed(const run *r, const hx_iteration *it)
{
    if (!it->volume_missed) return;
    const double wanted = r->session.problem.volume_fraction;
    if (r->stats.n_missed == 1)
        hx_log_warning("iteration %d: the design has a volume of %.5g, and volume_fraction = %g "
                       "asks for another",
                       it->iteration, it->volume, wanted);
    else
        hx_log_detail("iteration %d: volume %.5g in place of %g", it->iteration, it->volume,
                      wanted);
}

/* Files and terminal for an iteration: what was analysed is what is written. */
static int record(run *r, const hx_iteration *it, int last)
{
    const double begin = hx_clock();
    const int every = r->session.cfg.output.every; /* 0: only the last */
    if (last || (every > 0 && it->iteration % every == 0))
        HX_TRY(hx_output_write(&r->output, it->iteration));
    const double seconds = hx_clock() - begin;
    HX_TRY(hx_history_add(&r->history, it, seconds));
    hx_stats_add(&r->stats, it, r->session.problem.cases.n, seconds);
    hx_progress_iteration(&r->session, &r->stats, it);
    return HX_OK;
}

static int optimise(run *r)
{
    hx_optimizer *opt = &r->session.opt;
    for (;;) {
        hx_iteration it;
        /* K u = f, compliance, sensitivities, filter, optimality criteria */
        HX_TRY(hx_optimizer_step(opt, &it));
        const int verdict = judge_solve(r, &it), last = verdict < 0 || is_last(r, &it);
        HX_TRY(record(r, &it, last));
        if (verdict < 0) return verdict;
        warn_unconverged(r, &it);
        report_precision(r, &it);
        warn_missed(r, &it);
        if (last) return HX_OK;
        hx_optimizer_advance(opt); /* the proposal becomes the design */
    }
}

static int write_summary(run *r, const char *status)
{
    char path[PATH_MAX];
    hx_stats_stop(&r->stats);
    if (r->stats.n_iteration == 0) return HX_OK;
    hx_output_path(&r->output, "summary.json", path, sizeof path);
    return hx_summary_write(&r->session, &r->stats, status, path);
}

/* After a failure: says it, then saves the design in hand and the summary of what went well. */
static int keep_what_there_is(run *r, int code)
{
    hx_log_error(code);
    const int iteration = r->session.opt.iteration, analysed = r->stats.n_iteration;
    if (code != HX_EIO && iteration > analysed && hx_output_rescue(&r->output, iteration) < 0)
        hx_log_warning("%s", hx_error_message());
    if (write_summary(r, "failed") < 0) hx_log_warning("%s", hx_error_message());
    return hx_error_exit_status(code);
}

static void print_result(const run *r)
{
    const hx_stats *stats = &r->stats;
    hx_log_status_keep();
    const hx_config *cfg = &r->session.cfg;
    char mass[64] = "";
    hx_log_info("%s", "");
    hx_stats_print(stats);
    if (!isnan(cfg->material.density))
        snprintf(mass, sizeof mass, ", mass %.6g%s",
                 hx_session_mass(&r->session, stats->last.volume), cfg->units.mass);
    hx_log_info("\ncompliance %.6g%s, volume %.4f%s, greyness %.4f after %d iterations (%lld PCG "
                "iterations)",
                stats->last.compliance, cfg->units.work, stats->last.volume, mass,
                stats->last.greyness, stats->n_iteration, (long long)stats->pcg_iterations);
    if (stats->n_unconverged > 0)
        hx_log_warning("PCG did not converge in %d of %d iterations", stats->n_unconverged,
                       stats->n_iteration);
    if (stats->last.volume_missed)
        hx_log_warning("the volume is not met: the last design has %.5g, volume_fraction = %g asks "
                       "for another (%d of %d designs are off)",
                       stats->last.volume, r->session.problem.volume_fraction, stats->n_missed,
                       stats->n_iteration);
    char path[PATH_MAX];
    hx_log_info("open in ParaView: %s (last design: %s), then Threshold density > 0.9",
                hx_output_path(&r->output, "density.vtk.series", path, sizeof path),
                hx_output_last(&r->output));
}

static int run_config(run *r, const hx_options *options)
{
    r->stats.begin = hx_clock();
    HX_TRY(prepare(r, options));
    r->stats.stage[HX_STAGE_SETUP] = hx_clock() - r->stats.begin;
    hx_progress_header(&r->session);
    (void)hx_continuation_warn(&r->session.cfg);
    if (r->session.problem.n_body > 1)
        hx_log_warning("the mesh falls into %lld bodies that share no node",
                       (long long)r->session.problem.n_body);
    catch_interrupts();

    const int rc = optimise(r);
    if (rc < 0) return keep_what_there_is(r, rc);
    HX_TRY(hx_history_close(&r->history));
    HX_TRY(write_summary(r, interrupted ? "interrupted" : "done"));
    print_result(r);
    if (interrupted) hx_log_warning("interrupted; the results so far are complete");
    return interrupted ? 1 : 0;
}

static int command_run(const hx_options *options)
{
    run r;
    memset(&r, 0, sizeof r);
    const int rc = run_config(&r, options);
    hx_history_free(&r.history);
    hx_output_free(&r.output);
    hx_stats_free(&r.stats);
    hx_session_free(&r.session);
    return rc;
}

const hx_command hx_command_run = {
    .name = "run",
    .summary = "optimise: densities, history and summary into a folder",
    .arguments = "FILE [KEY=VALUE ...]",
    .ends = {".cfg"},
    .help =
        "Reads the config FILE, optimises, and writes into output.directory:\n"
        "  density_0010.vtk ...  every output.every iterations and the last, for ParaView\n"
        "  density.vtk.series    all of them as an animation\n"
        "  history.csv           one line an iteration\n"
        "  summary.json          result, settings as resolved, timings, memory\n"
        "  config.cfg            the resolved config; running it repeats the run\n"
        "Ctrl-C finishes the iteration, writes everything and stops; a second one stops at once.\n",
    .n_min = 1,
    .run = command_run,
};
