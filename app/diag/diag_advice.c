/* Remedies: arguments with which the next run converges to a black-and-white design. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../session/continuation.h"
#include "../text/shell_word.h"
#include "core/base/fit.h"
#include "core/registry.h"
#include "diag_internal.h"

int hx_diag_enough_iterations(const hx_config *cfg, int most)
{
    const int rising = hx_continuation_iterations(cfg) + 40;
    return most > rising ? most : rising;
}

const char *hx_diag_move_words(const hx_config *cfg, double move, char *text, size_t n_text)
{
    const size_t used = hx_fit(text, n_text, "optimization.move=%.3g", move);
    if (cfg->optimization.change_tolerance >= move)
        hx_fit(text + used, n_text - used, " optimization.change_tolerance=%.3g", 0.1 * move);
    return text;
}

int hx_diag_starts_steep(const hx_config *cfg)
{
    static const double steep = 16.0;
    return cfg->optimization.projection.given && cfg->optimization.projection.beta >= steep &&
           !cfg->optimization.initial;
}

int hx_diag_overshoots(const hx_config *cfg)
{
    return cfg->optimization.damping > 0.5 && strcmp(cfg->optimization.update, "oc") == 0;
}

double hx_diag_calm_move(const hx_config *cfg)
{
    const double move = cfg->optimization.move;
    if (hx_diag_starts_steep(cfg)) return fmin(move, 0.025);
    if (move > 0.2) return 0.1;
    return hx_diag_overshoots(cfg) || cfg->optimization.penalty > hx_config_usual_penalty(cfg)
               ? move
               : 0.25 * move;
}

int hx_diag_calm_iterations(const hx_config *cfg)
{
    const int n = cfg->optimization.iterations,
              twice = (int)fmin(ceil(2.0 / hx_diag_calm_move(cfg)), 1000.0);
    return hx_diag_calm_move(cfg) < cfg->optimization.move && twice > n ? twice : n;
}

/* The largest final beta that is recommended. */
static double steepest(const hx_config *cfg)
{
    static const double without_stress_limits = 64.0;
    return hx_config_limits_stresses(cfg) ? hx_config_usual_beta_max(cfg) : without_stress_limits;
}

const char *hx_diag_begin_flat(const hx_config *cfg, char *text, size_t n_text)
{
    /* Final beta of a projection that starts flat: with a larger one, designs jump in the end;
     * with a smaller one, they stay grey. */
    const double most = fmin(
        fmax(cfg->optimization.projection.beta_max, hx_config_usual_beta_max(cfg)), steepest(cfg));
    const int is_other = most != cfg->optimization.projection.beta_max;
    hx_config flat = *cfg; /* (borrowed) all pointers */
    const double usual = hx_config_usual_penalty(cfg);
    char last[64] = "", move[96] = "", penalty[64] = "";
    flat.optimization.projection.beta = 1.0;
    flat.optimization.projection.beta_max = most;
    if (is_other) hx_fit(last, sizeof last, "optimization.projection.beta_max=%g ", most);
    if (hx_diag_calm_move(cfg) < cfg->optimization.move)
        hx_diag_move_words(cfg, hx_diag_calm_move(cfg), move, sizeof move);
    if (cfg->optimization.penalty > usual)
        hx_fit(penalty, sizeof penalty, "optimization.penalty=%g ", usual);
    hx_fit(text, n_text,
           "a projection that starts at beta = %g makes densities jump: "
           "`optimization.projection.beta=1 %s%s%s%s%soptimization.iterations=%d` starts flat",
           cfg->optimization.projection.beta, last, move, move[0] ? " " : "",
           hx_diag_overshoots(cfg) ? "optimization.damping=0.5 " : "", penalty,
           hx_diag_enough_iterations(&flat, cfg->optimization.iterations));
    return text;
}

int hx_diag_resume_command(const char *folder, int iterations, char *text, size_t n_text)
{
    char word[HX_SHELL_WORD];
    const char *const shown = hx_shell_word(folder, word, sizeof word);
    const int used = snprintf(text, n_text,
                              "hextop run %s/config.cfg --resume output.directory=%s "
                              "optimization.iterations=%d",
                              shown, shown, iterations);
    return used > 0 && (size_t)used < n_text;
}

const char *hx_diag_iterate_further(const hx_session *s, const hx_diag_facts *f, int iterations,
                                    char *text, size_t n_text)
{
    char command[2 * HX_SHELL_WORD + 128];
    if (f->has_checkpoint &&
        hx_diag_resume_command(s->cfg.output.directory, iterations, command, sizeof command))
        hx_fit(text, n_text, "continue the run with `%s`", command);
    else
        hx_fit(text, n_text, "start again with `optimization.iterations=%d`", iterations);
    return text;
}

int hx_diag_is_weak(const hx_config *cfg)
{
    return cfg->optimization.penalty < 2.0;
}

void hx_diag_penalise(const hx_config *cfg, char *text, size_t n_text)
{
    hx_config usual = *cfg; /* (borrowed) all pointers */
    usual.optimization.penalty = 3.0;
    const int n = hx_diag_enough_iterations(&usual, cfg->optimization.iterations);
    const size_t used = hx_fit(text, n_text,
                               "optimization.penalty = %g hardly penalizes intermediate densities: "
                               "`optimization.penalty=3",
                               cfg->optimization.penalty);
    if (n > cfg->optimization.iterations && cfg->optimization.continuation.given)
        hx_fit(text + used, n_text - used, " optimization.iterations=%d` does", n);
    else
        hx_fit(text + used, n_text - used, "` does");
}

/* 1 if the config's filter supports a projection. `hextop verify` has no filter in its session. */
static int maps_design(const hx_config *cfg)
{
    return hx_filter_find(cfg->optimization.filter.kind)->maps_design;
}

const char *hx_diag_filter_words(const hx_session *s)
{
    const hx_config *const cfg = &s->cfg;
    if (maps_design(cfg)) return "";
    return isnan(cfg->optimization.filter.radius) && !cfg->mesh.generator
               ? "optimization.filter.kind=density optimization.filter.radius=1.5 "
                 "optimization.filter.unit=element "
               : "optimization.filter.kind=density ";
}

/* 1 if displacements are prescribed: then more material may raise the compliance, the sign of a
 * derivative depends on the design, and designs alternate unless they change in small steps. */
static int has_mixed_signs(const hx_session *s)
{
    return s->problem.supports.prescribed && !hx_config_is_heat(&s->cfg);
}

int hx_diag_project_iterations(const hx_session *s, const hx_diag_facts *f)
{
    const hx_config *const cfg = &s->cfg;
    const int usual = has_mixed_signs(s) ? 300 : 150, n = cfg->optimization.iterations,
              at_least = n > usual ? n : usual;
    hx_config steeper = *cfg; /* (borrowed) all pointers */
    steeper.optimization.projection.beta_max = steepest(cfg);
    if (!cfg->optimization.projection.given) return at_least;
    if (!maps_design(cfg)) return hx_diag_enough_iterations(cfg, at_least);
    if (f->last->beta < cfg->optimization.projection.beta_max)
        return hx_diag_enough_iterations(cfg, 2 * n);
    return hx_diag_enough_iterations(&steeper, n);
}

const char *hx_diag_projection_steps(const hx_session *s, char *text, size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    const double usual = has_mixed_signs(s) ? 0.01 : 0.1,
                 move = hx_diag_starts_steep(cfg) ? hx_diag_calm_move(cfg) : usual;
    char words[96] = "";
    if (cfg->optimization.move > move) hx_diag_move_words(cfg, move, words, sizeof words);
    hx_fit(text, n_text, "%s%s%s", words, words[0] ? " " : "",
           hx_diag_overshoots(cfg) ? "optimization.damping=0.5 " : "");
    return text;
}

/* text := arguments for n iterations with a projection, after a filter that supports one. */
static void write_projection_words(const hx_session *s, const char *first, int n, char *text,
                                   size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    const int is_kept = cfg->optimization.projection.given &&
                        cfg->optimization.projection.beta_max >= 0.5 * steepest(cfg);
    char steps[160];
    hx_fit(text, n_text, "%s%s%s%s%soptimization.iterations=%d", first,
           hx_diag_is_weak(cfg) ? "optimization.penalty=3 " : "", hx_diag_filter_words(s),
           is_kept ? "" : "'optimization.projection={}' ",
           hx_diag_projection_steps(s, steps, sizeof steps), n);
}

int hx_diag_sharpen(const hx_session *s, char *text, size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    const double most = cfg->optimization.projection.beta_max;
    const hx_iteration last = {.beta = most}; /* the run reached its final beta */
    const hx_diag_facts facts = {.last = &last, .was_stopped = 1};
    const int n = hx_diag_project_iterations(s, &facts);
    if (!cfg->optimization.projection.given || hx_diag_filter_words(s)[0])
        write_projection_words(s, "", n, text, n_text);
    else if (most < steepest(cfg))
        hx_fit(text, n_text, "%soptimization.projection.beta_max=%g optimization.iterations=%d",
               hx_diag_is_weak(cfg) ? "optimization.penalty=3 " : "", steepest(cfg), n);
    else
        return 0;
    return 1;
}

void hx_diag_advise_projection(const hx_session *s, const hx_diag_facts *f, const char *first,
                               char *text, size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    const int advised = hx_diag_project_iterations(s, f),
              n = hx_diag_goes_on(s, f) ? hx_diag_most_of(advised, hx_diag_go_on_iterations(s, f))
                  : hx_diag_is_rising(s, f) ? hx_diag_most_of(advised, hx_diag_calm_iterations(cfg))
                                            : advised;
    const double most = cfg->optimization.projection.beta_max;
    char words[512];
    write_projection_words(s, first, n, words, sizeof words);
    if (!cfg->optimization.projection.given || hx_diag_filter_words(s)[0])
        hx_fit(text, n_text, "a projection %sreduces greyness: `%s`",
               cfg->optimization.projection.given ? "after a filter " : "", words);
    else if (f->last->beta < most && !first[0]) {
        const size_t used = strlen(hx_diag_iterate_further(s, f, n, text, n_text));
        hx_fit(text + used, n_text - used, ", so that beta reaches its final value");
    } else if (f->last->beta < most)
        hx_fit(text, n_text, "`%soptimization.iterations=%d` lets beta reach its final value",
               first, n);
    else if (hx_diag_starts_steep(cfg) &&
             !hx_config_limits_stresses(cfg)) /* then it ends flatter */
        hx_diag_begin_flat(cfg, text, n_text);
    else if (most < steepest(cfg))
        hx_fit(text, n_text,
               "`%soptimization.projection.beta_max=%g optimization.iterations=%d` makes the "
               "projection steeper",
               first, steepest(cfg), n);
    else if (first[0])
        hx_fit(text, n_text, "`%.*s` reduces greyness", (int)strlen(first) - 1, first);
    else
        hx_fit(text, n_text,
               "the projection cannot be steeper: a smaller optimization.filter.radius "
               "or a finer mesh makes its grey boundary layer thinner");
}
