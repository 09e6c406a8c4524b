/* Warnings about designs that still change, alternate, or become worse. */
#include <math.h>
#include <string.h>

#include "../session/compliance_ratio.h"
#include "../session/continuation.h"
#include "../text/shell_word.h"
#include "core/base/fit.h"
#include "core/base/names.h"
#include "diag_internal.h"

/* text := arguments with which the optimality criteria converge: usual exponents and smaller
 * steps. */
static const char *calm(const hx_session *s, const hx_diag_facts *f, char *text, size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    const double move = hx_diag_calm_move(cfg);
    const int n = hx_diag_calm_iterations(cfg),
              is_grey = f->last->greyness > hx_diag_limit(HX_DIAG_GREY);
    const double usual = hx_config_usual_penalty(cfg);
    char words[96] = "", more[64] = "", penalty[64] = "";
    if (hx_diag_starts_steep(cfg)) return hx_diag_begin_flat(cfg, text, n_text);
    if (move < cfg->optimization.move) hx_diag_move_words(cfg, move, words, sizeof words);
    if (n > cfg->optimization.iterations)
        hx_fit(more, sizeof more, " optimization.iterations=%d",
               is_grey ? hx_diag_most_of(n, hx_diag_project_iterations(s, f)) : n);
    if (cfg->optimization.penalty > usual)
        hx_fit(penalty, sizeof penalty, " optimization.penalty=%g", usual);
    const char *const damping = hx_diag_overshoots(cfg) ? " optimization.damping=0.5" : "";
    char all[320];
    hx_fit(all, sizeof all, "%s%s%s%s%s", damping, penalty, words[0] ? " " : "", words, more);
    hx_fit(text, n_text, "`%s` %s", all + 1,
           damping[0] || penalty[0] ? "lets the design converge" : "takes smaller steps");
    return text;
}

/* Formats an objective relative to a lower one, both above the zero of their scale: "12.3 % above",
 * or "5.7 times"; from a thousand times upward in words. */
static const char *format_rise(const hx_session *s, double value, double low, char *text,
                               size_t n_text)
{
    const double rise = 0.01 * hx_compliance_percent(hx_compliance_is_shifted(s), low, value),
                 ratio = 1.0 + rise;
    if (isnan(rise))
        hx_fit(text, n_text, "above");
    else if (rise < 10.0)
        hx_fit(text, n_text, "%.*f %% above", rise < 0.1 ? 1 : 0, 100.0 * rise);
    else if (ratio < 1e3)
        hx_fit(text, n_text, "%.0f times", ratio);
    else if (ratio < 1e6)
        hx_fit(text, n_text, "%.3g thousand times", 1e-3 * ratio);
    else if (ratio < 1e9)
        hx_fit(text, n_text, "%.3g million times", 1e-6 * ratio);
    else if (ratio < 1e12)
        hx_fit(text, n_text, "%.3g billion times", 1e-9 * ratio);
    else
        hx_fit(text, n_text, "%.3g times", ratio);
    return text;
}

/* 1 if the output folder contains the design of an iteration after the run. */
static int is_written(const hx_config *cfg, int iteration, int last)
{
    const int every = cfg->output.every;
    return iteration == last || (every > 0 && iteration % every == 0);
}

/* 1 if the remedy for greyness is a projection whose steps are longer than those that would make
 * this run converge. Then one command serves both warnings. */
static int is_projected_first(const hx_session *s, const hx_diag_facts *f)
{
    const hx_config *const cfg = &s->cfg;
    return f->last->greyness > hx_diag_limit(HX_DIAG_GREY) && !hx_diag_starts_steep(cfg) &&
           hx_diag_calm_move(cfg) < fmin(cfg->optimization.move, 0.1) &&
           (!cfg->optimization.projection.given || hx_diag_filter_words(s)[0]);
}

/* Returns 1 if the compliance rises although steps are usual and no density changes by the whole
 * move limit. Then the cause is the filter and not the length of the steps. */
static int is_drifting(const hx_session *s, const hx_diag_facts *f)
{
    const hx_config *const cfg = &s->cfg;
    return !hx_diag_is_swinging(s, f) && !hx_diag_starts_steep(cfg) &&
           cfg->optimization.move <= 0.2 && !hx_diag_overshoots(cfg) &&
           cfg->optimization.penalty <= hx_config_usual_penalty(cfg) &&
           f->last->change < 0.5 * cfg->optimization.move;
}

/* text := arguments that prevent the rise, and how to obtain the better, earlier design. */
static const char *calm_or_keep(const hx_diags *diags, const hx_session *s, const hx_diag_facts *f,
                                int better, char *text, size_t n_text)
{
    const int last = f->last->iteration;
    char word[HX_SHELL_WORD];
    /* A sensitivity filter made a black-and-white design of optimization.initial grey. */
    if (s->cfg.optimization.initial && !hx_filter_maps_design(&s->filter) &&
        f->last->greyness > s->initial_greyness + hx_diag_limit(HX_DIAG_INITIAL_FILTERED)) {
        char steps[160];
        hx_diag_projection_steps(s, steps, sizeof steps);
        hx_fit(text, n_text,
               "the filter \"%s\" blurs the design of optimization.initial: "
               "`%s'optimization.projection={}' %soptimization.iterations=%d` keeps it "
               "black-and-white",
               s->filter.kind->name, hx_diag_filter_words(s), steps,
               hx_diag_most_of(s->cfg.optimization.iterations, 150));
    } else if (is_drifting(s, f)) {
        if (is_written(&s->cfg, better, last))
            hx_fit(text, n_text, "`hextop verify %s/density_%04d.vtk%s` analyses that design",
                   hx_shell_word(s->cfg.output.directory, word, sizeof word), better,
                   hx_diags_option(diags));
        else
            hx_fit(text, n_text, "`optimization.iterations=%d` ends with that design", better);
        return text;
    } else if (hx_diag_is_swinging(s, f) && is_projected_first(s, f))
        hx_diag_advise_projection(s, f, "", text, n_text);
    else
        calm(s, f, text, n_text);
    const size_t used = strlen(text);
    if (!is_written(&s->cfg, better, last))
        hx_fit(text + used, n_text - used,
               "; `output.every=1` writes every design, including that of iteration %d", better);
    return text;
}

/* Warns if the compliance rises or two designs alternate, even if the run counts as converged.
 * Returns 1 if it warned. */
static int judge_rise(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const int last = f->last->iteration, has_converged = hx_diag_has_converged(s, f->last);
    char remedy[HX_REMEDY], above[64];
    int back;
    if (!hx_diag_is_rising(s, f)) return 0;
    const double now = f->recent[0].objective, before = f->recent[1].objective,
                 limit = hx_diag_limit(HX_DIAG_CHANGING),
                 swing = hx_diag_difference(f, now, before);
    double low = hx_diag_lowest_of(s, f, &back);
    const char *const what = hx_session_objective(s)->name;
    const int is_earlier = f->span->best > 0 && f->span->best_objective < low;
    if (hx_diag_is_swinging(s, f)) {
        const int better = now <= before ? last : last - 1;
        hx_diags_advise(diags, HX_DIAG_CHANGING, swing > limit ? swing : f->last->change,
                        calm_or_keep(diags, s, f, better, remedy, sizeof remedy),
                        "the designs alternate between %ss of %.6g and %.6g, and densities "
                        "change by %.3g (move limit %g); iteration %d has the better design",
                        what, before, now, f->last->change, s->cfg.optimization.move, better);
    } else {
        const int best = is_earlier ? f->span->best : last - back;
        if (is_earlier) low = f->span->best_objective;
        hx_diags_advise(diags, HX_DIAG_CHANGING, hx_diag_difference(f, now, low),
                        calm_or_keep(diags, s, f, best, remedy, sizeof remedy),
                        "%sthe %s of the last design, %.6g, is %s that of iteration %d, "
                        "%.6g",
                        has_converged ? "the run counts as converged, but " : "", what, now,
                        format_rise(s, now - f->zero, low - f->zero, above, sizeof above), best,
                        low);
    }
    return 1;
}

/* Damping shortens a step relative to one with the usual exponent, by about the ratio of the
 * two. */
static void judge_damping(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const double usual = 0.5, damping = s->cfg.optimization.damping;
    const double change = f->last->change * fmax(1.0, usual / damping);
    const double tolerance = s->cfg.optimization.change_tolerance;
    if (change < 2.0 * tolerance || hx_session_update(s) != &hx_update_oc) return;
    hx_diags_advise(diags, HX_DIAG_DAMPED, change, "`optimization.damping=0.5` takes full steps",
                    "the run counts as converged, because no density changed by more than %.3g "
                    "(optimization.change_tolerance = %g), but optimization.damping = %g shortens "
                    "steps: with 0.5 they would be about %.2g",
                    f->last->change, tolerance, damping, change);
}

/* "penalty 1.5" or "penalty 1.5 and beta 2": values that have not reached their final value. */
static const char *rising_text(const hx_config *cfg, const hx_iteration *last, char *text,
                               size_t n_text)
{
    const hx_schedule penalty = hx_penalty_schedule(cfg), beta = hx_beta_schedule(cfg);
    const int rises[] = {last->penalty < penalty.last, last->beta < beta.last};
    if (rises[0] && rises[1])
        hx_fit(text, n_text, "penalty %g and beta %g", last->penalty, last->beta);
    else
        hx_fit(text, n_text, "%s %g", rises[0] ? "penalty" : "beta",
               rises[0] ? last->penalty : last->beta);
    return text;
}

/* Warns that the compliance still falls; in percent only if compliances have a ratio. */
static void warn_fall(hx_diags *diags, const hx_session *s, const hx_diag_facts *f, int back,
                      double fall, const char *remedy)
{
    const double first = f->recent[back].objective, now = f->recent[0].objective;
    const char *const what = hx_session_objective(s)->name;
    if (!isnan(hx_compliance_percent(hx_compliance_is_shifted(s), first - f->zero, now - f->zero)))
        hx_diags_advise(diags, HX_DIAG_CHANGING, fall, remedy,
                        "the design still changes after %d %s: the %s fell by %.*f %% in "
                        "the last %d %s",
                        f->n_iteration, hx_noun(f->n_iteration, "iteration", "iterations"), what,
                        fall < 0.1 ? 1 : 0, 100.0 * fall, back,
                        hx_noun(back, "iteration", "iterations"));
    else
        hx_diags_advise(
            diags, HX_DIAG_CHANGING, fall, remedy,
            "the design still changes after %d %s: the %s was %.6g, now %.6g (%d %s later)",
            f->n_iteration, hx_noun(f->n_iteration, "iteration", "iterations"), what, first, now,
            back, hx_noun(back, "iteration", "iterations"));
}

static const char *advise_more(const hx_session *s, const hx_diag_facts *f, char *text,
                               size_t n_text)
{
    if (hx_diag_starts_steep(&s->cfg) && !f->last->climbing) /* regardless of the recent designs */
        return hx_diag_begin_flat(&s->cfg, text, n_text);
    const int n = hx_diag_go_on_iterations(s, f),
              is_grey = f->last->greyness > hx_diag_limit(HX_DIAG_GREY);
    return hx_diag_iterate_further(
        s, f, is_grey ? hx_diag_most_of(n, hx_diag_project_iterations(s, f)) : n, text, n_text);
}

void hx_diag_judge_change(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const double tolerance = s->cfg.optimization.change_tolerance;
    const hx_iteration *const last = f->last;
    char more[HX_REMEDY], rising[96];
    /* there is no design to compare with */
    if (f->was_stopped || last->volume_missed || last->violation > HX_LIMIT_MET) return;
    advise_more(s, f, more, sizeof more);
    if (last->climbing) {
        if (!hx_diags_have(diags, HX_DIAG_TOO_FEW_ITERATIONS))
            hx_diags_advise(diags, HX_DIAG_CHANGING, last->change, more,
                            "the run ended after %d design%s, before the continuation schedule was "
                            "complete (at %s)",
                            f->n_iteration, f->n_iteration == 1 ? "" : "s",
                            rising_text(&s->cfg, last, rising, sizeof rising));
        return;
    }
    if (judge_rise(diags, s, f)) return;
    if (hx_diag_has_converged(s, last)) {
        judge_damping(diags, s, f);
        return;
    }
    if (hx_diag_fall_of(s, f) > hx_diag_limit(HX_DIAG_CHANGING))
        warn_fall(diags, s, f, hx_diag_since_met(s, f), hx_diag_fall_of(s, f), more);
    else if (tolerance > 0.0)
        hx_diags_advise(diags, HX_DIAG_CHANGING, last->change, more,
                        "the design still changes after %d %s: densities change by up to %.3g "
                        "(optimization.change_tolerance = %g)",
                        f->n_iteration, hx_noun(f->n_iteration, "iteration", "iterations"),
                        last->change, tolerance);
}
