/* hextop run: the flow chart of P1 (Figure 1), with files and a progress line. Every process of a
 * run executes this program on its subdomain; the first one prints and writes what is small. */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../output/history.h"
#include "../output/outcome.h"
#include "../output/output.h"
#include "../output/progress.h"
#include "../output/run_log.h"
#include "../output/summary.h"
#include "../output/trace.h"
#include "../session/dist_report_text.h"
#include "../text/commands.h"
#include "../text/shell_word.h"
#include "../text/table.h"
#include "checkpoint.h"
#include "core/base/clock.h"
#include "core/base/fit.h"
#include "core/base/names.h"
#include "folder.h"
#include "zone_stresses.h"

typedef struct run {
    hx_session session;
    hx_output output;
    hx_history history;
    hx_stats stats;
    hx_diags diags; /* all warnings */
    hx_checkpoint checkpoint;
    int is_first; /* 1: this process prints and writes */
    int is_resumed;
    int is_stopped; /* 1: a process was interrupted, like the next two the same on all of them */
    int is_long;    /* 1: the run has taken long enough to sync its files to the disk */
    int is_due;     /* 1: it is time for a checkpoint */
    /* The last design, if the result is an earlier one, which is nearer to the limits;
     * iteration = 0: it is the last one */
    hx_iteration replaced;
    double *in_zones; /* [limits.n] see hx_zone_stresses (owned) */
    hx_run_log log;
    hx_run_leftovers left;
} run;

enum { RESUME, FORCE };
enum { EXIT_INTERRUPTED = 3 };
static const hx_option run_options[] = {
    {.name = "--resume",
     .kind = HX_OPTION_FLAG,
     .help = "continues from the checkpoint in output.directory"},
    {.name = "--force",
     .kind = HX_OPTION_FLAG,
     .help = "replaces files in output.directory that would be lost, such as the checkpoint of a "
             "run that did not end"}};

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t is_silent; /* 1: another process prints */

static void on_interrupt(int number)
{
    static const char text[] =
        "\n"
        "hextop: finishing the current iteration; press Ctrl-C again to stop immediately\n";
    (void)number;
    interrupted = 1;
    if (!is_silent && write(STDERR_FILENO, text, sizeof text - 1) < 0) interrupted = 1;
}

/* The first SIGINT, SIGTERM or SIGHUP is recorded; the second one ends the program. A SIGHUP that
 * was ignored at the start, for example by nohup, stays ignored. */
static void catch_interrupts(int is_first)
{
    struct sigaction action, hangup;
    memset(&action, 0, sizeof action);
    is_silent = !is_first;
    action.sa_handler = on_interrupt;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

static hx_checkpoint_parts checkpoint_parts(run *r, const char *history)
{
    return (hx_checkpoint_parts){&r->session, &r->output, &r->stats, history};
}

/* The others take the statistics of the first process, which has read them. */
static int share_stats(run *r)
{
    hx_stats *const stats = &r->stats, own = *stats;
    hx_session *const s = &r->session;
    HX_TRY(hx_session_share(s, stats, sizeof *stats));
    stats->iteration_seconds = own.iteration_seconds;
    stats->case_iterations = own.case_iterations;
    stats->limit = own.limit;
    stats->last.load_case = NULL;
    stats->last.response = NULL;
    stats->last.n_response = 0;
    HX_TRY(hx_session_share(s, &s->first_kkt, sizeof s->first_kkt));
    HX_TRY(hx_session_share(s, stats->limit, (size_t)stats->n_limit * sizeof *stats->limit));
    HX_TRY(hx_session_share(s, stats->iteration_seconds,
                            (size_t)stats->n_iteration * sizeof *stats->iteration_seconds));
    return hx_session_share(s, stats->case_iterations,
                            (size_t)s->problem.cases.n * sizeof *stats->case_iterations);
}

/* Restores the state of the checkpoint. *history: the lines of history.csv. */
static int resume(run *r, const char *path, char **history, size_t *n_history)
{
    const hx_checkpoint_parts parts = checkpoint_parts(r, path);
    HX_TRY(hx_checkpoint_load(&r->checkpoint, &parts, history, n_history));
    if (r->is_first)
        hx_stats_recall(&r->stats, *history, hx_session_update(&r->session),
                        hx_session_volume_wanted(&r->session),
                        hx_session_objective(&r->session)->name, &r->session.limits);
    return share_stats(r);
}

/* Opens history.csv, which is new or, with text[n], continues that of the resumed run. */
static int open_history(run *r, const char *path, const char *text, size_t n)
{
    const hx_session *const s = &r->session;
    const hx_history_columns columns = {
        .n_case = s->problem.cases.n,
        .objective = hx_session_objective_column(s),
        .has_error = s->cfg.solver.criterion == HX_PCG_COMPLIANCE,
        .has_objective = 1,
        .has_kkt = hx_session_update(s) != &hx_update_oc,
        .n_limit = s->limits.n,
        .limit = (const char *const *)s->limits.name,
    };
    if (!r->is_first) return HX_OK;
    return r->is_resumed ? hx_history_resume(&r->history, path, &columns, text, n)
                         : hx_history_open(&r->history, path, &columns);
}

/* Opens the output folder with history and checkpoint; restores the state of a resumed run. */
static int open_files(run *r)
{
    char path[PATH_MAX], *history = NULL;
    size_t n = 0;
    HX_TRY(hx_output_open(&r->output, &r->session));
    hx_output_path(&r->output, "history.csv", path, sizeof path);
    const hx_checkpoint_parts parts = checkpoint_parts(r, path);
    int rc = r->is_resumed ? resume(r, path, &history, &n) : HX_OK;
    if (rc == HX_OK) rc = open_history(r, path, history, n);
    if (rc == HX_OK) rc = hx_checkpoint_open(&r->checkpoint, &parts, r->is_resumed);
    free(history);
    return hx_session_agree(&r->session, rc);
}

/* What the first process examines before the mesh is made: whether the folder may be written, and
 * the checkpoint. */
static int look_at_folder(run *r, const hx_options *options)
{
    hx_config *const cfg = &r->session.cfg;
    if (!r->is_first) return HX_OK;
    HX_TRY(hx_output_probe(cfg));
    return r->is_resumed ? hx_checkpoint_read(&r->checkpoint, cfg)
                         : hx_run_check_folder(cfg, hx_option_given(options, FORCE));
}

/* Pre-computation: makes all objects of the run and its output folder. */
static int prepare_run(run *r, const hx_options *options)
{
    hx_session *s = &r->session;
    s->comm = options->comm;
    s->may_distribute_mesh = 1;
    HX_TRY(hx_session_agree(s, hx_config_read(&s->cfg, options->argument[0],
                                              options->n_argument - 1, options->argument + 1)));
    r->is_resumed = hx_option_given(options, RESUME);
    s->judges_solid = !r->is_resumed;
    HX_TRY(hx_session_agree(s, look_at_folder(r, options)));
    HX_TRY(hx_output_query_folder(s));
    HX_TRY(hx_session_open(s));
    HX_TRY(
        hx_stats_begin(&r->stats, s->cfg.optimization.iterations, s->problem.cases.n, s->limits.n));
    const double begin = hx_session_begin_step(HX_SETUP_FILES);
    HX_TRY(open_files(r));
    hx_session_end_step(s, HX_SETUP_FILES, begin);
    return HX_OK;
}

/* Removes results of earlier runs from the folder, and starts those of this run. */
static int take_folder(run *r)
{
    char path[PATH_MAX];
    if (!r->is_first) return HX_OK;
    hx_output_path(&r->output, "run.log", path, sizeof path);
    if (hx_run_log_open(&r->log, path, r->is_resumed) < 0)
        hx_log_warning("run.log is not written: %s", hx_error_message());
    if (!r->is_resumed) HX_TRY(hx_run_clear_folder(&r->session.cfg, &r->left));
    HX_TRY(hx_output_reset(&r->output));
    hx_output_path(&r->output, "config.cfg", path, sizeof path);
    return hx_config_write(&r->session.cfg, path);
}

/* After a step all processes agree on what no record of it shows: a signal to any of them, and the
 * clock of the first. One reduction of three numbers. */
static int compare_notes(run *r)
{
    hx_session *const s = &r->session;
    int64_t n[3] = {interrupted != 0, r->is_first && hx_clock() - r->stats.begin > HX_STATS_LONG,
                    r->is_first && hx_checkpoint_is_due(&r->checkpoint)};
    if (s->comm) HX_TRY(hx_session_note_error(s, hx_reduce_sum_i64(&s->dist.reduce.base, 3, n)));
    r->is_stopped = n[0] > 0;
    r->is_long = n[1] > 0;
    r->is_due = n[2] > 0;
    return HX_OK;
}

/* Warns if an intermediate file cannot be written or memory for it is missing. The run continues,
 * since the computed designs are more valuable, unless the processes are out of step. */
static int tolerate(const run *r, int rc, int last)
{
    const int is_minor = rc == HX_EIO || rc == HX_ENOMEM;
    if (rc >= 0 || last || !is_minor || r->session.dist.is_lost) return rc;
    hx_log_warning("%s; the run continues", hx_error_message());
    return HX_OK;
}

/* Writes the files and prints the line of an iteration, both for the design just analysed.
 * is_result: the run ends with it. */
static int record(run *r, const hx_iteration *it, int last, int is_result)
{
    const double begin = hx_clock();
    const int every = r->session.cfg.output.every; /* 0: only the last design */
    int rc = HX_OK;
    if (is_result || (every > 0 && it->iteration % every == 0))
        rc = tolerate(r, hx_output_write(&r->output, it->iteration, last && r->is_long), last);
    const double seconds = hx_clock() - begin;
    int line = r->is_first ? tolerate(r, hx_history_add(&r->history, it, seconds), last) : HX_OK;
    if (last && rc == HX_OK) line = hx_session_agree(&r->session, line);
    hx_stats_add(&r->stats, it, r->session.problem.cases.n, seconds);
    hx_progress_iteration(&r->session, &r->stats, it);
    return rc < 0 ? rc : line;
}

/* Writes a checkpoint if one is due. At the end of the run, writes one after a signal, or if the
 * run has written one before. The checkpoint contains the history on the disk, so none is written
 * while lines are missing there. */
static int keep_checkpoint(run *r, int last)
{
    const hx_checkpoint_parts parts = checkpoint_parts(r, r->history.path);
    int may_write = last ? r->is_stopped || hx_checkpoint_exists(&r->checkpoint) : r->is_due;
    if (!last && !r->is_due) return HX_OK;
    may_write = may_write && r->history.n_pending == 0;
    HX_TRY(hx_session_share(&r->session, &may_write, sizeof may_write));
    if (may_write && last)
        hx_checkpoint_write(&r->checkpoint, &parts);
    else if (may_write)
        hx_checkpoint_begin(&r->checkpoint, &parts);
    return HX_OK;
}

/* Returns 1, with a message, if a resumed run has nothing left to do. */
static int is_over(const run *r)
{
    const hx_config *cfg = &r->session.cfg;
    const hx_iteration *last = &r->stats.last;
    const int converged = hx_session_has_converged(&r->session, last);
    if (!r->is_resumed || (!converged && r->session.opt.iteration < cfg->optimization.iterations))
        return 0;
    hx_log_info("nothing is left to do: the run ended with iteration %d%s", last->iteration,
                converged ? ", when the design had converged"
                          : ", the number given by optimization.iterations");
    return 1;
}

/* Advises the command that resumes the run of optimization.initial, if that left a checkpoint. */
static void diag_initial(run *r, const hx_iteration *first)
{
    char command[2 * HX_SHELL_WORD + 256];
    const hx_config *const cfg = &r->session.cfg;
    const int can = hx_checkpoint_command(cfg->optimization.initial, cfg->optimization.iterations,
                                          command, sizeof command);
    hx_diag_initial(&r->diags, &r->session, first, can ? command : NULL);
}

/* The file of the design that will replace the last one joins the series, also that of the
 * checkpoint, so that a resumed run finds it there. */
static int announce_result(run *r, const hx_iteration *last)
{
    char name[64];
    const hx_optimizer *const opt = &r->session.opt;
    const int iteration = hx_optimizer_result_iteration(opt, last);
    snprintf(name, sizeof name, "density_%04d.vtk", iteration);
    return hx_output_remember(&r->output, name, iteration);
}

/* The best design with the last penalty and beta that meets all limits becomes the result, as it is
 * made: it is analysed again and written as the last file of the series. history.csv and the
 * checkpoint have the designs in their order, as they were analysed. */
static int return_result(run *r, const hx_iteration *last)
{
    hx_iteration it;
    r->replaced = *last;
    r->replaced.load_case = NULL;
    r->replaced.response = NULL;
    HX_TRY(hx_session_return_result(&r->session, last, &it));
    HX_TRY(hx_outcome_judge(&r->session, &it));
    const double begin = hx_clock();
    HX_TRY(hx_output_write(&r->output, it.iteration, r->is_long));
    hx_stats_replace(&r->stats, &it, hx_clock() - begin);
    return HX_OK;
}

static int optimise(run *r)
{
    hx_optimizer *opt = &r->session.opt;
    for (;;) {
        hx_iteration it;
        /* K u = f, compliance, sensitivities, filter, optimality criteria */
        HX_TRY(hx_session_step(&r->session, &it));
        HX_TRY(compare_notes(r));
        HX_TRY(tolerate(r, hx_diags_meanwhile(&r->diags, &r->session), 0));
        const int verdict = hx_outcome_judge(&r->session, &it),
                  last = verdict < 0 || r->is_stopped || hx_outcome_is_last(&r->session, &it);
        const int has_result = last && verdict >= 0 && hx_optimizer_has_result(opt, &it);
        HX_TRY(record(r, &it, last, last && !has_result));
        if (verdict < 0) return verdict;
        hx_outcome_warn(&r->session, &r->stats, &it);
        if (it.iteration == 1) diag_initial(r, &it);
        if (has_result) HX_TRY(announce_result(r, &it));
        HX_TRY(keep_checkpoint(r, last));
        if (has_result) return return_result(r, &it);
        if (last) return HX_OK;
        hx_optimizer_advance(opt); /* the proposed design becomes the current one */
    }
}

static int write_summary(run *r, const char *status)
{
    char path[PATH_MAX];
    hx_stats_stop(&r->stats);
    if (r->stats.n_iteration == 0) return HX_OK;
    hx_output_path(&r->output, "summary.json", path, sizeof path);
    return hx_summary_write(&r->session, &r->stats, &r->diags, status, path);
}

/* 1 if the current design is in the output folder. */
static int is_saved(const run *r, int iteration)
{
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, "density_%04d.vtk", iteration);
    const char *const last = hx_output_last(&r->output);
    return last && strcmp(last, name) == 0 &&
           access(hx_output_path(&r->output, name, path, sizeof path), R_OK) == 0;
}

/* Saves the design in the output folder, or elsewhere if that is full. If the device is lost, the
 * design is lost, too. */
static void save_design(run *r, int code)
{
    char path[PATH_MAX];
    const int iteration = r->session.opt.iteration;
    int is_missing = iteration > 0 && !is_saved(r, iteration);
    if (hx_session_share(&r->session, &is_missing, sizeof is_missing) < 0 || !is_missing) return;
    int rc = code == HX_EIO ? code : hx_output_rescue(&r->output, iteration);
    if (rc != HX_EIO && rc < 0 && code != HX_EDEVICE) hx_log_warning("%s", hx_error_message());
    if (rc != HX_EIO) return;
    rc = hx_output_save_elsewhere(&r->output, iteration, path);
    if (rc == HX_OK)
        hx_log_warning("the design of iteration %d is saved as %s", iteration, path);
    else
        hx_log_warning("the design of iteration %d could not be saved: %s", iteration,
                       hx_error_message());
}

/* The command that continues this run, in back quotes; returns text. */
static const char *resume_command(const run *r, char *text, size_t n_text)
{
    const hx_config *const cfg = &r->session.cfg;
    char command[2 * HX_SHELL_WORD + 128];
    hx_diag_resume_command(cfg->output.directory, cfg->optimization.iterations, command,
                           sizeof command);
    hx_fit(text, n_text, "`%s`", command);
    return text;
}

/* After a step that failed: writes the state before it as a checkpoint. If the device is lost, only
 * the available part of it can be written. */
static void keep_state(run *r)
{
    const hx_checkpoint_parts parts = checkpoint_parts(r, r->history.path);
    const int analysed = r->stats.n_iteration;
    char command[2 * HX_SHELL_WORD + 160];
    if (analysed > 0 && hx_optimizer_undo(&r->session.opt) == HX_OK &&
        hx_checkpoint_write(&r->checkpoint, &parts) == HX_OK)
        hx_log_info("the state after iteration %d is saved: %s continues from it; only settings of "
                    "solver and output may change, and other changes need a new run",
                    analysed, resume_command(r, command, sizeof command));
    else if (hx_checkpoint_exists(&r->checkpoint))
        hx_log_info("%s continues from the last checkpoint, %s",
                    resume_command(r, command, sizeof command), r->checkpoint.path);
}

/* After a failure: prints the error, then saves the current design and the summary of the completed
 * iterations. */
static int keep_what_there_is(run *r, int code)
{
    const int is_ahead = r->session.opt.iteration > r->stats.n_iteration;
    /* the first process reports and the others are ended */
    if (!r->is_first && r->session.dist.is_lost) return code;
    hx_log_error(code);
    /* the warnings about the first design, if that failed */
    if (hx_diags_meanwhile(&r->diags, &r->session) < 0) hx_log_warning("%s", hx_error_message());
    save_design(r, code);
    if (r->session.problem.materials.n == 0)
        r->stats.mass = hx_session_mass(&r->session, r->stats.last.volume);
    if (write_summary(r, "failed") < 0) hx_log_warning("%s", hx_error_message());
    if (code != HX_EIO && is_ahead) keep_state(r);
    return hx_error_exit_status(code);
}

/* Each limit with the value of the last design. */
static void print_limits(const run *r)
{
    const hx_session *const s = &r->session;
    const hx_iteration *const last = &r->stats.last;
    hx_table table;
    char bound[128], by[64];
    if (last->n_response == 0) return;
    hx_table_begin(&table, "lrll");
    table.level = HX_LOG_NORMAL;
    hx_table_add(&table, "limit");
    hx_table_add(&table, "value");
    hx_table_add(&table, "allowed");
    hx_table_add(&table, " ");
    for (int i = 0; i < last->n_response; i++) {
        const hx_response_record *const o = &last->response[i];
        const char *const unit = hx_response_unit_text(s, s->limits.spec[i].kind);
        snprintf(by, sizeof by, "not met, off by %.3g %%", 100.0 * o->violation);
        hx_table_add(&table, "%s", o->name);
        hx_table_add(&table, "%.6g%s", o->value, unit);
        hx_table_add(&table, "%s", hx_bound_text(o->max, o->min, unit, bound, sizeof bound));
        hx_table_add(&table, "%s", o->violation > HX_LIMIT_MET ? by : "met");
    }
    hx_table_end(&table, 2);
}

static void print_replaced(const run *r)
{
    const hx_iteration *const last = &r->replaced;
    const hx_iteration *const result = &r->stats.last;
    if (last->iteration == 0) return;
    if (last->is_eroded && last->iteration == result->iteration)
        hx_log_info("compliance of the design as it is made: %.6g; of the eroded design, which is "
                    "analysed in the run: %.6g",
                    result->compliance, last->compliance);
    if (last->iteration == result->iteration) return;
    if (last->violation <= HX_LIMIT_MET) {
        hx_log_info(
            "the result is the design of iteration %d: the newest ones that meet all limits "
            "were judged by their 0/1 parts",
            result->iteration);
        return;
    }
    if (result->violation > HX_LIMIT_MET) {
        hx_log_info(
            "the result is the design of iteration %d, which misses a limit by %.3g %%, the "
            "least with this penalty and beta; the last one, of iteration %d, by %.3g %%",
            result->iteration, 100.0 * result->violation, last->iteration, 100.0 * last->violation);
        return;
    }
    hx_log_info("the result is the design of iteration %d, %s with this penalty and beta that "
                "meets all limits; the last one, of iteration %d, misses a limit by %.3g %%",
                result->iteration, r->session.opt.lagrangian.list.n > 0 ? "the last" : "the best",
                last->iteration, 100.0 * last->violation);
}

static void print_converged(const run *r)
{
    const hx_session *const s = &r->session;
    const hx_iteration *const last = &r->stats.last;
    const double change = s->cfg.optimization.change_tolerance, kkt = hx_session_kkt_tolerance(s);
    const int has_converged = hx_outcome_has_converged(s, last);
    char changes[96] = "", residual[160] = "", limits[64] = "";
    if (!(change > 0.0) && !(kkt > 0.0)) return;
    if (change > 0.0)
        snprintf(changes, sizeof changes, "change %.4g, change_tolerance %g", last->change, change);
    if (kkt > 0.0)
        snprintf(residual, sizeof residual,
                 "%sKKT residual %.4g, change of the objective %.4g, kkt_tolerance %g",
                 change > 0.0 ? "; " : "", last->kkt, last->objective_change, kkt);
    if (!hx_limits_are_met(last, hx_session_update(s)))
        snprintf(limits, sizeof limits, "; a limit is not met");
    hx_log_info("the design has %sconverged: %s%s%s", has_converged ? "" : "not ", changes,
                residual, limits);
}

static void print_result(run *r)
{
    const hx_stats *stats = &r->stats;
    hx_log_status_keep();
    const hx_config *cfg = &r->session.cfg;
    const char *const other = hx_session_objective_column(&r->session);
    char mass[64] = "", text[48], objective[64] = "";
    hx_log_info("%s", "");
    hx_stats_print(stats);
    if (hx_dist_report_print(&r->session) < 0) hx_log_warning("%s", hx_error_message());
    if (!isnan(cfg->material.density))
        snprintf(mass, sizeof mass, ", mass %s",
                 hx_units_mass_text(&cfg->units, stats->mass, text, sizeof text));
    /* the mass follows */
    if (other && !(mass[0] && strcmp(other, "mass") == 0))
        snprintf(objective, sizeof objective, "%s %.6g%s, ", other, stats->last.objective,
                 hx_response_unit_text(&r->session, hx_session_objective(&r->session)));
    hx_log_info("\n%scompliance %.6g%s, volume %.4f%s, greyness %.4f after %d %s (%lld PCG %s)",
                objective, stats->last.compliance, cfg->units.work, stats->last.volume, mass,
                stats->last.greyness, stats->n_iteration,
                hx_noun(stats->n_iteration, "iteration", "iterations"),
                (long long)stats->pcg_iterations,
                hx_noun(stats->pcg_iterations, "iteration", "iterations"));
    print_limits(r);
    print_replaced(r);
    hx_zone_stresses_print(&r->session, r->in_zones);
    print_converged(r);
    hx_outcome_diag(&r->session, &r->stats, r->is_stopped, hx_checkpoint_exists(&r->checkpoint),
                    &r->diags);
    char path[PATH_MAX], quoted[HX_SHELL_WORD];
    hx_log_info("open in ParaView: %s (%s: %s), then Threshold density > 0.9",
                hx_output_path(&r->output, "density.vtk.series", path, sizeof path),
                r->replaced.iteration > 0 ? "result" : "last design", hx_output_last(&r->output));
    const char *const word = hx_shell_word(cfg->output.directory, quoted, sizeof quoted);
    const char *const option = hx_diags_option(&r->diags);
    hx_log_info("to analyse and export the 0/1 design: hextop verify %s%s, hextop surface %s "
                "part.stl%s",
                word, option, word, option);
}

/* Returns 1 if a device other than the host solves the first design, and the run has one
 * process. */
static int host_will_wait(const hx_session *s)
{
    return !s->comm && strcmp(s->device.ops->name, "cpu") != 0;
}

/* Prints the warnings of `hextop check`. Those about the mesh may follow later
 * (hx_diags_meanwhile). */
static int diag_before(run *r)
{
    hx_output_plan plan;
    const double begin = hx_session_begin_step(HX_SETUP_CHECK);
    if (host_will_wait(&r->session)) hx_session_measure_meanwhile(&r->session);
    int rc = hx_diags_before(&r->diags, &r->session);
    if (rc == HX_OK && r->is_first) rc = hx_output_make_plan(&r->session, &plan);
    HX_TRY(hx_session_agree(&r->session, rc));
    if (r->is_first)
        hx_diag_disk(&r->diags, &r->session,
                     (double)plan.file_bytes * plan.n_file + 2.0 * (double)plan.checkpoint,
                     (double)plan.disk_free);
    hx_session_end_step(&r->session, HX_SETUP_CHECK, begin);
    return HX_OK;
}

static void warn_interrupted(const run *r)
{
    char command[2 * HX_SHELL_WORD + 160];
    if (hx_checkpoint_exists(&r->checkpoint))
        hx_log_warning("interrupted; the results so far are complete, and %s continues the run",
                       resume_command(r, command, sizeof command));
    else
        hx_log_warning("interrupted; the results so far are complete");
}

static int run_config(run *r, const hx_options *options)
{
    const double begin = hx_clock();
    r->stats.begin = begin;
    HX_TRY(prepare_run(r, options));
    hx_progress_header(&r->session);
    HX_TRY(diag_before(r));
    hx_session_free_lists(&r->session);
    r->stats.stage[HX_STAGE_SETUP] += hx_clock() - begin;
    catch_interrupts(r->is_first);
    if (r->is_resumed)
        hx_log_info("continuing after iteration %d, from %s\n", r->session.opt.iteration,
                    r->checkpoint.path);
    if (is_over(r)) return hx_diags_meanwhile(&r->diags, &r->session);
    HX_TRY(hx_session_agree(&r->session, take_folder(r)));
    HX_TRY(hx_trace_begin(&r->output));

    int rc = optimise(r);
    if (rc == HX_OK) rc = hx_session_agree(&r->session, hx_history_close(&r->history));
    if (rc < 0) return keep_what_there_is(r, rc);
    if (r->is_first) hx_run_clear_rest(&r->session.cfg, &r->left, &r->output);
    hx_stats_stop(&r->stats);
    HX_TRY(hx_session_measure_mass(&r->session, r->stats.last.volume, &r->stats.mass));
    HX_TRY(hx_session_agree(&r->session, hx_zone_stresses(&r->session, &r->in_zones)));
    print_result(r);
    HX_TRY(write_summary(r, r->is_stopped ? "interrupted" : "done"));
    HX_TRY(hx_trace_write(&r->output));
    if (r->is_stopped) warn_interrupted(r);
    return r->is_stopped ? EXIT_INTERRUPTED : 0;
}

static int command_run(const hx_options *options)
{
    run r;
    memset(&r, 0, sizeof r);
    signal(SIGPIPE, SIG_IGN); /* a pipe whose reader has ended must not end the run */
    r.is_first = !options->comm || options->comm->rank == HX_DIST_ROOT;
    if (r.is_first) HX_TRY(hx_run_log_begin(&r.log, options));
    int rc = hx_diags_listen(&r.diags);
    if (rc == HX_OK) rc = run_config(&r, options);
    hx_diags_stop_listening(&r.diags);
    hx_checkpoint_free(&r.checkpoint);
    hx_run_log_end(&r.log, rc);
    hx_history_free(&r.history);
    hx_output_free(&r.output);
    hx_stats_free(&r.stats);
    hx_diags_free(&r.diags);
    hx_run_leftovers_free(&r.left);
    free(r.in_zones);
    hx_session_free(&r.session);
    return rc;
}

const hx_command hx_command_run = {
    .name = "run",
    .summary = "optimise: writes densities, history and summary into a folder",
    .arguments = "FILE [KEY=VALUE ...]",
    .ends = {".cfg"},
    .help =
        "Reads the config FILE, optimises, and writes into output.directory:\n"
        "  density_0010.vtk ...  every output.every iterations and the last, for ParaView\n"
        "  density.vtk.series    all of them as an animation\n"
        "  history.csv           one line per iteration\n"
        "  summary.json          result, resolved settings, times, memory\n"
        "  timeline.json         with output.timeline: where the time went\n"
        "  config.cfg            the resolved config; running it repeats the run\n"
        "  run.log               what the terminal showed, with version, machine and times\n"
        "  checkpoint.state      the state from which --resume continues, and the one before\n"
        "A run ends after optimization.iterations, or earlier once all limits are met and a "
        "design\n"
        "changes by less than change_tolerance, or, under update = \"mma\" or \"gcmma\", its KKT\n"
        "residual and the change of its objective are below kkt_tolerance.\n"
        "Ctrl-C finishes the current iteration, writes all files and a checkpoint, and stops;\n"
        "pressed again it stops immediately. A resumed run gives the results of an uninterrupted\n"
        "one, bit by bit if the operator is deterministic. It needs the mesh and settings of the\n"
        "run; only title, optimization.iterations, change_tolerance and kkt_tolerance,\n"
        "solver.tolerance, criterion, max_iterations, on_failure, threads and device, and "
        "output.*\n"
        "may change.\n"
        "mpirun -n P hextop run FILE: P processes solve each design together, each on its part of\n"
        "the cores, or on a GPU of its own if there are enough.\n",
    .n_min = 1,
    .option = run_options,
    .n_option = sizeof run_options / sizeof run_options[0],
    .run = command_run,
    .processes = HX_PROCESSES_ALL,
};
