/* Warnings about the run and the last design. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../session/compliance_ratio.h"
#include "../session/continuation.h"
#include "../text/log.h"
#include "../text/shell_word.h"
#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "diag.h"

/* Above this greyness the 0/1 design has little in common with the grey one, and the warning "grey"
 * is enough. */
static const double no_solid = 0.5;

/* --- the run --- */

static int was_warned(const hx_diags *diags, hx_diag_kind kind)
{
    for (size_t i = 0; i < diags->n; i++)
        if (diags->entry[i].kind == kind) return 1;
    return 0;
}

static int has_settled(const hx_session *s, const hx_iteration *last)
{
    return last->change < s->cfg.optimization.change_tolerance && !last->climbing;
}

/* Iterations in which penalty and beta of a changed config reach their final values and the design
 * converges. */
static int enough_iterations(const hx_config *cfg, int most)
{
    const int rising = hx_continuation_iterations(cfg) + 40;
    return most > rising ? most : rising;
}

/* text := arguments for a move limit, and for a tolerance below it if the config's tolerance is
 * not. */
static const char *move_words(const hx_config *cfg, double move, char *text, size_t n_text)
{
    const size_t used = hx_fit(text, n_text, "optimization.move=%.3g", move);
    if (cfg->optimization.change_tolerance >= move)
        hx_fit(text + used, n_text - used, " optimization.change_tolerance=%.3g", 0.1 * move);
    return text;
}

/* 1 if the projection starts so steep that hardly any density can move gradually. A run that starts
 * from an earlier run's design may not need gradual moves. */
static int starts_steep(const hx_config *cfg)
{
    static const double steep = 16.0;
    return cfg->optimization.projection.given && cfg->optimization.projection.beta >= steep &&
           !cfg->optimization.initial;
}

/* A move limit with which designs converge, if it is smaller than the config's: longer steps than
 * usual become usual ones, and if the exponents are usual already, steps become smaller. */
static double calm_move(const hx_config *cfg)
{
    const double move = cfg->optimization.move;
    if (starts_steep(cfg)) return fmin(move, 0.025);
    if (move > 0.2) return 0.1;
    return cfg->optimization.damping > 0.5 || cfg->optimization.penalty > 3.0 ? move : 0.25 * move;
}

/* Iterations in which each density can cross its range twice, in steps of calm_move. */
static int calm_iterations(const hx_config *cfg)
{
    const int n = cfg->optimization.iterations,
              twice = (int)fmin(ceil(2.0 / calm_move(cfg)), 1000.0);
    return calm_move(cfg) < cfg->optimization.move && twice > n ? twice : n;
}

/* Final beta of a projection that starts flat: with a larger one, designs jump in the end; with a
 * smaller one, they stay grey. */
static double last_beta(const hx_config *cfg)
{
    return fmin(fmax(cfg->optimization.projection.beta_max, 32.0), 64.0);
}

static const char *begin_flat(const hx_config *cfg, char *text, size_t n_text)
{
    const double most = last_beta(cfg);
    const int is_other = most != cfg->optimization.projection.beta_max;
    hx_config flat = *cfg; /* (borrowed) all pointers */
    char last[64] = "", move[96] = "";
    flat.optimization.projection.beta = 1.0;
    flat.optimization.projection.beta_max = most;
    if (is_other) hx_fit(last, sizeof last, "optimization.projection.beta_max=%g ", most);
    if (calm_move(cfg) < cfg->optimization.move) move_words(cfg, calm_move(cfg), move, sizeof move);
    hx_fit(text, n_text,
           "a projection that starts at beta = %g makes densities jump: "
           "`optimization.projection.beta=1 %s%s%s%s%soptimization.iterations=%d` starts flat",
           cfg->optimization.projection.beta, last, move, move[0] ? " " : "",
           cfg->optimization.damping > 0.5 ? "optimization.damping=0.5 " : "",
           cfg->optimization.penalty > 3.0 ? "optimization.penalty=3 " : "",
           enough_iterations(&flat, cfg->optimization.iterations));
    return text;
}

/* 1 if the penalty hardly makes intermediate densities unfavourable; 3 is usual for SIMP. */
static int is_weak(const hx_config *cfg)
{
    return cfg->optimization.penalty < 2.0;
}

static void penalise(const hx_config *cfg, char *text, size_t n_text)
{
    hx_config usual = *cfg; /* (borrowed) all pointers */
    usual.optimization.penalty = 3.0;
    const int n = enough_iterations(&usual, cfg->optimization.iterations);
    const size_t used = hx_fit(text, n_text,
                               "optimization.penalty = %g hardly penalizes intermediate densities: "
                               "`optimization.penalty=3",
                               cfg->optimization.penalty);
    if (n > cfg->optimization.iterations && cfg->optimization.continuation.given)
        hx_fit(text + used, n_text - used, " optimization.iterations=%d` does", n);
    else
        hx_fit(text + used, n_text - used, "` does");
}

/* Arguments for a filter that supports a projection, and for its radius if neither the config nor a
 * generator gives one. */
static const char *filter_words(const hx_session *s)
{
    const hx_config *const cfg = &s->cfg;
    if (s->filter.kind->maps_design) return "";
    return isnan(cfg->optimization.filter.radius) && !cfg->mesh.generator
               ? "optimization.filter.kind=density optimization.filter.radius=1.5 "
                 "optimization.filter.unit=element "
               : "optimization.filter.kind=density ";
}

/* --- the last designs --- */

/* Designs that miss the volume cannot be compared with others. */
static int meets_volume(const hx_session *s, const hx_diag_record *r)
{
    return fabs(r->volume / s->problem.volume_fraction - 1.0) <= HX_VOLUME_TOLERANCE;
}

/* The lowest compliance of the recent designs that meet the volume. *back: number of designs before
 * the last one. The last one must meet the volume. */
static double lowest_of(const hx_session *s, const hx_diag_facts *f, int *back)
{
    *back = 0;
    for (int i = 1; i < f->n_recent; i++)
        if (meets_volume(s, &f->recent[i]) && f->recent[i].compliance < f->recent[*back].compliance)
            *back = i;
    return f->recent[*back].compliance;
}

/* Length of the unbroken sequence of recent designs that meet the volume, counted back from the
 * last. */
static int since_met(const hx_session *s, const hx_diag_facts *f)
{
    int back = 0;
    while (back + 1 < f->n_recent && meets_volume(s, &f->recent[back + 1])) back++;
    return back;
}

/* Relative difference of two compliances, which may be negative if displacements are prescribed. */
static double difference(double a, double b)
{
    return fabs(a - b) / fmax(fabs(a), fabs(b));
}

/* 1 if the densities changed and the compliance did not, beyond what the solver resolves. Soft
 * springs add a constant that hides most of the change, but not the derivatives. A run that starts from another run's design may have converged there. */
static int has_no_influence(const hx_session *s, const hx_diag_facts *f)
{
    enum { ENOUGH = 3 };
    const hx_diag_span *const span = f->span;
    return span->n >= ENOUGH && !s->cfg.optimization.initial &&
           span->change > hx_diag_limit(HX_DIAG_CHANGING) &&
           difference(span->most, span->least) < hx_diag_limit(HX_DIAG_NO_INFLUENCE);
}

/* 1 if densities keep moving in steps that do not become smaller. */
static int is_moving(const hx_session *s, const hx_diag_facts *f, int n)
{
    const double tolerance = s->cfg.optimization.change_tolerance;
    double least = INFINITY;
    for (int i = 0; i < n; i++) least = fmin(least, f->recent[i].change);
    return least > hx_diag_limit(HX_DIAG_CHANGING) && least > 2.0 * tolerance &&
           f->recent[0].change > 0.9 * f->recent[n - 1].change;
}

/* 1 if two designs alternate: each has about the compliance of the design before the previous one,
 * but not of the previous one; or consecutive compliances are equal, such as those of two mirrored
 * designs. Either the compliances differ by more than the limit, or densities keep moving. With a
 * projection only the compliances count, because it hides most of the movement of the design
 * variables. */
static int is_swinging(const hx_session *s, const hx_diag_facts *f)
{
    enum { N = 4 };
    const double near = 0.2, same = 1e-7, noise = fmax(1e-7, s->cfg.solver.tolerance),
                 projected = hx_diag_limit(HX_DIAG_CHANGING);
    double c[N];
    if (f->n_recent < N || since_met(s, f) < N - 1) return 0;
    for (int i = 0; i < N; i++) c[i] = f->recent[i].compliance;
    const double step = fabs(c[0] - c[1]);
    if (s->cfg.optimization.projection.given && difference(c[0], c[1]) < projected) return 0;
    if (!(step > hx_diag_limit(HX_DIAG_CHANGING) * fmin(fabs(c[0]), fabs(c[1]))) &&
        !is_moving(s, f, N))
        return 0;
    if (difference(c[0], c[1]) < same && difference(c[1], c[2]) < same) return 1;
    return fabs(c[0] - c[2]) < near * step && fabs(c[1] - c[3]) < near * step &&
           (c[0] - c[1]) * (c[1] - c[2]) < 0.0 && difference(c[0], c[1]) > noise;
}

/* Total iterations after which a design that still changes should have converged. All remedies of
 * one run use this number. */
static int go_on_iterations(const hx_session *s, const hx_diag_facts *f)
{
    const int n = s->cfg.optimization.iterations, usual = 50;
    return f->last->climbing ? hx_continuation_iterations(&s->cfg) + 20
                             : 2 * (n > usual ? n : usual);
}

static double fall_of(const hx_session *s, const hx_diag_facts *f)
{
    const double first = f->recent[since_met(s, f)].compliance;
    return first > f->last->compliance ? difference(first, f->last->compliance) : 0.0;
}

/* 1 if the lowest of the recent compliances is well below the last one, or if two designs
 * alternate. */
static int is_rising(const hx_session *s, const hx_diag_facts *f)
{
    int back;
    if (f->n_recent < 2) return 0;
    const double low = lowest_of(s, f, &back);
    return is_swinging(s, f) ||
           difference(f->recent[0].compliance, low) > hx_diag_limit(HX_DIAG_CHANGING);
}

/* 1 if more iterations are recommended because the design still changes. */
static int goes_on(const hx_session *s, const hx_diag_facts *f)
{
    if (f->was_stopped || f->last->volume_missed) return 0;
    if (f->last->climbing) return 1;
    if (is_rising(s, f) || has_settled(s, f->last)) return 0;
    return fall_of(s, f) > hx_diag_limit(HX_DIAG_CHANGING) ||
           s->cfg.optimization.change_tolerance > 0.0;
}

static int most_of(int a, int b)
{
    return a > b ? a : b;
}

/* --- greyness --- */

/* The largest beta that is recommended. */
static const double steepest = 64.0;

/* 1 if displacements are prescribed: then more material may raise the compliance, the sign of a
 * derivative depends on the design, and designs alternate unless they change in small steps. */
static int has_mixed_signs(const hx_session *s)
{
    return s->problem.supports.prescribed && !hx_config_is_heat(&s->cfg);
}

/* Iterations that project() recommends. */
static int project_iterations(const hx_session *s, const hx_diag_facts *f)
{
    const hx_config *const cfg = &s->cfg;
    const int usual = has_mixed_signs(s) ? 300 : 150, n = cfg->optimization.iterations,
              at_least = n > usual ? n : usual;
    hx_config steeper = *cfg; /* (borrowed) all pointers */
    steeper.optimization.projection.beta_max = steepest;
    if (!cfg->optimization.projection.given) return at_least;
    if (!s->filter.kind->maps_design) return enough_iterations(cfg, at_least);
    if (f->last->beta < cfg->optimization.projection.beta_max) return enough_iterations(cfg, 2 * n);
    return enough_iterations(&steeper, n);
}

/* text := arguments for the steps that a projection uses if the config states none, and for a
 * damping with which designs converge. */
static const char *projection_steps(const hx_session *s, char *text, size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    const double usual = has_mixed_signs(s) ? 0.01 : 0.1,
                 move = starts_steep(cfg) ? calm_move(cfg) : usual;
    char words[96] = "";
    if (cfg->optimization.move > move) move_words(cfg, move, words, sizeof words);
    hx_fit(text, n_text, "%s%s%s", words, words[0] ? " " : "",
           cfg->optimization.damping > 0.5 ? "optimization.damping=0.5 " : "");
    return text;
}

/* first: arguments to put before the others, from another cause; "" for none. */
static void project(const hx_session *s, const hx_diag_facts *f, const char *first, char *text,
                    size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    const int advised = project_iterations(s, f),
              n = goes_on(s, f)     ? most_of(advised, go_on_iterations(s, f))
                  : is_rising(s, f) ? most_of(advised, calm_iterations(cfg))
                                    : advised;
    const double most = cfg->optimization.projection.beta_max;
    const char *const filter = filter_words(s);
    char steps[160];
    if (!cfg->optimization.projection.given || filter[0])
        hx_fit(text, n_text,
               "a projection %sreduces greyness: `%s%s%s%s%soptimization.iterations=%d`",
               cfg->optimization.projection.given ? "after a filter " : "", first,
               is_weak(cfg) ? "optimization.penalty=3 " : "", filter,
               cfg->optimization.projection.given && most >= 0.5 * steepest
                   ? ""
                   : "'optimization.projection={}' ",
               projection_steps(s, steps, sizeof steps), n);
    else if (f->last->beta < most)
        hx_fit(text, n_text, "`%soptimization.iterations=%d` lets beta reach its final value",
               first, n);
    else if (starts_steep(cfg))
        begin_flat(cfg, text, n_text);
    else if (most < steepest)
        hx_fit(text, n_text,
               "`%soptimization.projection.beta_max=%g optimization.iterations=%d` makes the "
               "projection steeper",
               first, steepest, n);
    else if (first[0])
        hx_fit(text, n_text, "`%.*s` reduces greyness", (int)strlen(first) - 1, first);
    else
        hx_fit(text, n_text,
               "the projection cannot be steeper: a smaller optimization.filter.radius "
               "or a finer mesh makes its grey boundary layer thinner");
}

/* The least greyness that any design can have: free densities are rho_min or 1, and their mean is
 * what the volume and the passive elements leave to them. A subdomain is treated like the whole
 * mesh. */
static double least_greyness(const hx_session *s)
{
    const double low = s->cfg.optimization.rho_min;
    double all = 0.0, free = 0.0, passive = 0.0;
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        const double v = s->problem.volume[e],
                     rho = s->problem.passive.n > 0 ? s->problem.passive.density[e] : (double)NAN;
        all += v;
        if (isnan(rho))
            free += v;
        else
            passive += v * rho;
    }
    if (!(free > 0.0)) return 0.0;
    const double mean = (s->problem.volume_fraction * all - passive) / free;
    const double solid = fmin(fmax((mean - low) / (1.0 - low), 0.0), 1.0);
    return (1.0 - solid) * 4.0 * low * (1.0 - low);
}

/* text := what reduces greyness: a larger penalty; a projection, after a filter that supports one;
 * a steeper projection. A design that started from another run's filtered result gets its remedy
 * from hx_diag_initial. */
static const char *less_grey(const hx_diags *diags, const hx_session *s, const hx_diag_facts *f,
                             const char *first, char *text, size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    char word[HX_SHELL_WORD], penalty[256] = "", more[1024] = "";
    const char *const folder = hx_shell_word(cfg->output.directory, word, sizeof word);
    if (is_weak(cfg)) penalise(cfg, penalty, sizeof penalty);
    if (!was_warned(diags, HX_DIAG_INITIAL_FILTERED) &&
        !(is_weak(cfg) && cfg->optimization.projection.given))
        project(s, f, first, more, sizeof more);
    hx_fit(text, n_text, "`hextop verify %s%s` analyses that part%s%s%s%s", folder,
           hx_diags_option(diags), penalty[0] ? "; " : "", penalty, more[0] ? "; " : "", more);
    return text;
}

/* 1 if the run was too short for its projection, of which a warning came before the run. */
static int is_beta_early(const hx_diags *diags, const hx_session *s, const hx_iteration *last)
{
    return was_warned(diags, HX_DIAG_TOO_FEW_ITERATIONS) && last->climbing &&
           hx_filter_maps_design(&s->filter) && s->cfg.optimization.projection.given &&
           last->beta < s->cfg.optimization.projection.beta_max;
}

static void judge_grey(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const double least = least_greyness(s), little = 0.05;
    char remedy[HX_REMEDY], bound[160] = "";
    if (is_beta_early(diags, s, f->last)) return;
    if (!(f->last->greyness > hx_diag_limit(HX_DIAG_GREY))) return;
    if (least > little)
        hx_fit(bound, sizeof bound,
               ", and no design can have less than %.2f, because no density is below "
               "optimization.rho_min = %g",
               least, s->cfg.optimization.rho_min);
    hx_diags_advise(
        diags, HX_DIAG_GREY, f->last->greyness,
        less_grey(diags, s, f, least > little ? "optimization.rho_min=0.001 " : "", remedy,
                  sizeof remedy),
        "the design is not black-and-white (greyness %.2f; 0 means every element is solid or "
        "void%s), so the extracted part will have a different %s",
        f->last->greyness, bound,
        hx_config_is_heat(&s->cfg) ? "conductance and different temperatures" : "stiffness");
}

static void judge_volume(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const hx_config *const cfg = &s->cfg;
    const double step = fmax(0.2, cfg->optimization.move);
    const double off = fabs(f->last->volume - s->problem.volume_fraction);
    const int n = f->last->iteration + 3 + (int)ceil(off / step);
    char remedy[HX_REMEDY];
    if (!f->last->volume_missed) return;
    if (starts_steep(cfg))
        begin_flat(cfg, remedy, sizeof remedy);
    else
        hx_fit(remedy, sizeof remedy,
               "`optimization.move=%g optimization.iterations=%d` reaches it", step,
               f->last->climbing ? enough_iterations(cfg, n) : n);
    hx_diags_advise(diags, HX_DIAG_VOLUME, fabs(f->last->volume / s->problem.volume_fraction - 1.0),
                    remedy,
                    "the volume is not met: the last design has a volume fraction of %.5g instead "
                    "of %g (%d of %d %s miss it)",
                    f->last->volume, s->problem.volume_fraction, f->n_missed, f->n_iteration,
                    hx_noun(f->n_iteration, "design", "designs"));
}

static void judge_run(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    char remedy[HX_REMEDY];
    if (!hx_diag_soft_void(s, remedy, sizeof remedy))
        hx_fit(remedy, sizeof remedy,
               "`solver.max_iterations=%d` allows more PCG iterations; a larger "
               "optimization.rho_min reduces their number",
               10 * s->pcg.params.max_iterations);
    if (f->n_unconverged > 0)
        hx_diags_advise(diags, HX_DIAG_PCG, f->n_unconverged, remedy,
                        "PCG did not converge in %d of %d %s", f->n_unconverged, f->n_iteration,
                        hx_noun(f->n_iteration, "iteration", "iterations"));
    judge_volume(diags, s, f);
}

void hx_diag_initial(hx_diags *diags, const hx_session *s, const hx_iteration *first,
                     const char *resume)
{
    const double before = s->initial_greyness;
    const int is_projected = s->cfg.optimization.projection.given;
    char remedy[HX_REMEDY];
    if (!hx_filter_maps_design(&s->filter)) return;
    if (!(fabs(first->greyness - before) > hx_diag_limit(HX_DIAG_INITIAL_FILTERED))) return;
    if (resume)
        hx_fit(remedy, sizeof remedy, "`%s` continues that run exactly", resume);
    else
        hx_fit(remedy, sizeof remedy,
               "`optimization.filter.kind=none%s` starts from them as they are; a run "
               "with output.checkpoint can be continued exactly with --resume",
               is_projected ? " optimization.projection=" : "");
    hx_diags_advise(
        diags, HX_DIAG_INITIAL_FILTERED, first->greyness - before, remedy,
        "the densities of optimization.initial are filtered already, and this run %s them a second "
        "time: greyness was %.3f, now %.3f in the first design",
        is_projected ? "filters and projects" : "smooths", before, first->greyness);
}

/* For operators that store the stiffness in single precision. */
static int judge_stiffness(hx_diags *diags, hx_session *s)
{
    double error;
    if (!(s->op.op_kind->error > 0.0)) return HX_OK;
    HX_TRY(hx_optimizer_stiffness_error(&s->opt, &error));
    hx_log_detail("operator '%s': its rounded stiffness changes the compliance by %.1e",
                  s->op.op_kind->name, error);
    if (!(fabs(error) <= hx_diag_limit(HX_DIAG_ROUNDED_STIFFNESS)))
        hx_diags_add(
            diags, HX_DIAG_ROUNDED_STIFFNESS, fabs(error),
            "operator \"%s\" stores the stiffness in single precision: the rounding changes the "
            "compliance by an estimated %.2g %%, because the part is slender or softly "
            "supported",
            s->op.op_kind->name, 100.0 * fabs(error));
    return HX_OK;
}

/* text := arguments with which optimality criteria converge: usual exponents and smaller steps. */
static const char *calm(const hx_session *s, const hx_diag_facts *f, char *text, size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    const double move = calm_move(cfg);
    const int n = calm_iterations(cfg), is_grey = f->last->greyness > hx_diag_limit(HX_DIAG_GREY);
    char words[96] = "", more[64] = "";
    if (starts_steep(cfg)) return begin_flat(cfg, text, n_text);
    if (move < cfg->optimization.move) move_words(cfg, move, words, sizeof words);
    if (n > cfg->optimization.iterations)
        hx_fit(more, sizeof more, " optimization.iterations=%d",
               is_grey ? most_of(n, project_iterations(s, f)) : n);
    const char *const damping = cfg->optimization.damping > 0.5 ? " optimization.damping=0.5" : "",
                      *const penalty =
                          cfg->optimization.penalty > 3.0 ? " optimization.penalty=3" : "";
    char all[320];
    hx_fit(all, sizeof all, "%s%s%s%s%s", damping, penalty, words[0] ? " " : "", words, more);
    hx_fit(text, n_text, "`%s` %s", all + 1,
           damping[0] || penalty[0] ? "lets the design converge" : "takes smaller steps");
    return text;
}

/* Formats a compliance relative to a lower one: "12.3 % above", "5.7 times", and in words from a
 * thousand times upward. */
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

/* 1 if a sensitivity filter made a black-and-white design of optimization.initial grey. */
static int is_blurred(const hx_session *s, const hx_diag_facts *f)
{
    return s->cfg.optimization.initial && !hx_filter_maps_design(&s->filter) &&
           f->last->greyness > s->initial_greyness + hx_diag_limit(HX_DIAG_INITIAL_FILTERED);
}

static const char *sharpen(const hx_session *s, char *text, size_t n_text)
{
    char steps[160];
    projection_steps(s, steps, sizeof steps);
    hx_fit(text, n_text,
           "the filter \"%s\" blurs the design of optimization.initial: "
           "`%s'optimization.projection={}' %soptimization.iterations=%d` keeps it black-and-white",
           s->filter.kind->name, filter_words(s), steps,
           most_of(s->cfg.optimization.iterations, 150));
    return text;
}

/* 1 if the remedy for greyness is a projection whose steps are longer than those that would make
 * this run converge. Then one command serves both warnings. */
static int is_projected_first(const hx_session *s, const hx_diag_facts *f)
{
    const hx_config *const cfg = &s->cfg;
    return f->last->greyness > hx_diag_limit(HX_DIAG_GREY) && !starts_steep(cfg) &&
           calm_move(cfg) < fmin(cfg->optimization.move, 0.1) &&
           (!cfg->optimization.projection.given || filter_words(s)[0]);
}

/* 1 if the compliance rises although steps are usual and no density changes as much as the move
 * limit allows: the filter, not the length of the steps, leads there. */
static int is_drifting(const hx_session *s, const hx_diag_facts *f)
{
    const hx_config *const cfg = &s->cfg;
    return !is_swinging(s, f) && !starts_steep(cfg) && cfg->optimization.move <= 0.2 &&
           cfg->optimization.damping <= 0.5 && cfg->optimization.penalty <= 3.0 &&
           f->last->change < 0.5 * cfg->optimization.move;
}

/* text := what ends the rise, and how to obtain the better, earlier design. */
static const char *calm_or_keep(const hx_diags *diags, const hx_session *s, const hx_diag_facts *f,
                                int better, char *text, size_t n_text)
{
    const int last = f->last->iteration;
    char word[HX_SHELL_WORD];
    if (is_blurred(s, f)) {
        sharpen(s, text, n_text);
    } else if (is_drifting(s, f)) {
        if (is_written(&s->cfg, better, last))
            hx_fit(text, n_text, "`hextop verify %s/density_%04d.vtk%s` analyses that design",
                   hx_shell_word(s->cfg.output.directory, word, sizeof word), better,
                   hx_diags_option(diags));
        else
            hx_fit(text, n_text, "`optimization.iterations=%d` ends with that design", better);
        return text;
    } else if (is_swinging(s, f) && is_projected_first(s, f))
        project(s, f, "", text, n_text);
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
    const int last = f->last->iteration, is_settled = has_settled(s, f->last);
    char remedy[HX_REMEDY], above[64];
    int back;
    if (!is_rising(s, f)) return 0;
    const double now = f->recent[0].compliance, before = f->recent[1].compliance,
                 limit = hx_diag_limit(HX_DIAG_CHANGING), swing = difference(now, before);
    double low = lowest_of(s, f, &back);
    const int is_earlier = f->span->best > 0 && f->span->best_compliance < low;
    if (is_swinging(s, f)) {
        const int better = now <= before ? last : last - 1;
        hx_diags_advise(diags, HX_DIAG_CHANGING, swing > limit ? swing : f->last->change,
                        calm_or_keep(diags, s, f, better, remedy, sizeof remedy),
                        "the designs alternate between compliances of %.6g and %.6g, and densities "
                        "change by %.3g (move limit %g); iteration %d has the better design",
                        before, now, f->last->change, s->cfg.optimization.move, better);
    } else {
        const int best = is_earlier ? f->span->best : last - back;
        if (is_earlier) low = f->span->best_compliance;
        hx_diags_advise(diags, HX_DIAG_CHANGING, difference(now, low),
                        calm_or_keep(diags, s, f, best, remedy, sizeof remedy),
                        "%sthe compliance of the last design, %.6g, is %s that of iteration %d, "
                        "%.6g",
                        is_settled ? "the run counts as converged, but " : "", now,
                        format_rise(s, now, low, above, sizeof above), best, low);
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
    if (change < 2.0 * tolerance) return;
    hx_diags_advise(diags, HX_DIAG_DAMPED, change, "`optimization.damping=0.5` takes full steps",
                    "the run counts as converged, because no density changed by more than %.3g "
                    "(optimization.change_tolerance = %g), but optimization.damping = %g shortens "
                    "steps: with 0.5 they would be about %.2g",
                    f->last->change, tolerance, damping, change);
}

/* "penalty 1.5" or "penalty 1.5 and beta 2": the values that have not reached their end. */
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

/* Warns that the compliance still falls; in percent only if it has a ratio. */
static void warn_fall(hx_diags *diags, const hx_session *s, const hx_diag_facts *f, int back,
                      double fall, const char *remedy)
{
    const double first = f->recent[back].compliance, now = f->last->compliance;
    if (!isnan(hx_compliance_percent(hx_compliance_is_shifted(s), first, now)))
        hx_diags_advise(diags, HX_DIAG_CHANGING, fall, remedy,
                        "the design still changes after %d %s: the compliance fell by %.*f %% in "
                        "the last %d %s",
                        f->n_iteration, hx_noun(f->n_iteration, "iteration", "iterations"),
                        fall < 0.1 ? 1 : 0, 100.0 * fall, back,
                        hx_noun(back, "iteration", "iterations"));
    else
        hx_diags_advise(
            diags, HX_DIAG_CHANGING, fall, remedy,
            "the design still changes after %d %s: the compliance was %.6g, now %.6g (%d %s later)",
            f->n_iteration, hx_noun(f->n_iteration, "iteration", "iterations"), first, now, back,
            hx_noun(back, "iteration", "iterations"));
}

static const char *go_on(const hx_session *s, const hx_diag_facts *f, char *text, size_t n_text)
{
    if (starts_steep(&s->cfg) && !f->last->climbing) /* whatever the recent designs show */
        return begin_flat(&s->cfg, text, n_text);
    const int n = go_on_iterations(s, f), is_grey = f->last->greyness > hx_diag_limit(HX_DIAG_GREY);
    hx_fit(text, n_text, "`optimization.iterations=%d` continues the run",
           is_grey ? most_of(n, project_iterations(s, f)) : n);
    return text;
}

/* For runs that ended by their iterations or by the tolerance. */
static void judge_change(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const double tolerance = s->cfg.optimization.change_tolerance;
    const hx_iteration *const last = f->last;
    char more[1024], rising[96];
    if (f->was_stopped || last->volume_missed) return; /* there is no design to compare with */
    go_on(s, f, more, sizeof more);
    if (last->climbing) {
        if (!was_warned(diags, HX_DIAG_TOO_FEW_ITERATIONS))
            hx_diags_advise(diags, HX_DIAG_CHANGING, last->change, more,
                            "the run ended after %d design%s, before the continuation schedule was "
                            "complete (at %s)",
                            f->n_iteration, f->n_iteration == 1 ? "" : "s",
                            rising_text(&s->cfg, last, rising, sizeof rising));
        return;
    }
    if (judge_rise(diags, s, f)) return;
    if (has_settled(s, last)) {
        judge_damping(diags, s, f);
        return;
    }
    if (fall_of(s, f) > hx_diag_limit(HX_DIAG_CHANGING))
        warn_fall(diags, s, f, since_met(s, f), fall_of(s, f), more);
    else if (tolerance > 0.0)
        hx_diags_advise(diags, HX_DIAG_CHANGING, last->change, more,
                        "the design still changes after %d %s: densities change by up to %.3g "
                        "(optimization.change_tolerance = %g)",
                        f->n_iteration, hx_noun(f->n_iteration, "iteration", "iterations"),
                        last->change, tolerance);
}

/* text := what lets the part deform. */
static void let_deform(const hx_config *cfg, char *text, size_t n_text)
{
    const hx_config_load *const load = cfg->loads.entry;
    size_t used = 0;
    for (size_t i = 0; i < cfg->loads.n && used + 64 < n_text; i++)
        if (load[i].coupling == HX_COUPLING_RIGID)
            used += hx_fit(text + used, n_text - used, "%sloads[%zu].coupling=distributing",
                           used > 0 ? " " : "`", i);
    if (used > 0)
        hx_fit(text + used, n_text - used, "` lets the part deform");
    else if (hx_config_is_heat(cfg))
        hx_fit(text, n_text,
               "larger convection[].coefficient, or prescribed temperatures, let "
               "the part determine the temperatures");
    else if (cfg->springs.n > 0)
        hx_fit(text, n_text,
               "larger springs[].stiffness, or supports instead of springs, let "
               "the loads deform the part");
    else
        hx_fit(text, n_text, "check that the loads deform elements that are not passive");
}

/* Warns if the densities hardly influence the compliance. Returns 1 if it warned. */
static int judge_influence(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const double differs = difference(f->span->most, f->span->least);
    char remedy[HX_REMEDY];
    if (!has_no_influence(s, f)) return 0;
    let_deform(&s->cfg, remedy, sizeof remedy);
    hx_diags_advise(diags, HX_DIAG_NO_INFLUENCE, differs, remedy,
                    "no design variable influences the compliance: it differs by at most %.1g %% "
                    "over %d %s, although densities changed by up to %.2g, so the design is "
                    "arbitrary",
                    100.0 * differs, f->span->n, hx_noun(f->span->n, "design", "designs"),
                    f->span->change);
    return 1;
}

/* --- all of it --- */

/* For a mesh that no process has as a whole. */
static void print_not_judged(const hx_session *s)
{
    char word[HX_SHELL_WORD];
    hx_log_info("not judged: pieces of the 0/1 design, and loads and supports on its void, because "
                "no process has the whole mesh; `hextop verify %s` judges them in one process",
                hx_shell_word(s->cfg.output.directory, word, sizeof word));
}

void hx_diags_after(hx_diags *diags, hx_session *s, const hx_diag_facts *facts)
{
    const double begin = hx_clock();
    if (hx_diag_part_after(diags, s, facts->last->volume) < 0) {
        hx_log_warning("the elements that are forced solid were not compared with the target "
                       "volume: %s",
                       hx_error_message());
        hx_error_clear();
    }
    judge_run(diags, s, facts);
    if (judge_influence(diags, s, facts)) return; /* the design is arbitrary */
    judge_grey(diags, s, facts);
    judge_change(diags, s, facts);
    if (judge_stiffness(diags, s) < 0) {
        hx_log_warning("the effect of the operator's rounding was not estimated: %s",
                       hx_error_message());
        hx_error_clear();
    }
    if (facts->last->greyness > no_solid) return; /* the 0/1 design has little in common with it */
    if (s->mesh.ownership) {
        print_not_judged(s);
        return;
    }
    if (hx_diag_solid(diags, s) < 0) {
        hx_log_warning("the 0/1 design was not checked: %s", hx_error_message());
        hx_error_clear();
    }
    hx_log_detail("checked the last design for warnings in %.3g s", hx_clock() - begin);
}
