/* Warnings about the run and the last design. */
#include <math.h>

#include "../text/log.h"
#include "../text/shell_word.h"
#include "core/base/clock.h"
#include "core/base/fit.h"
#include "core/base/names.h"
#include "diag_internal.h"

/* Above this greyness the 0/1 design has little in common with the grey one; then only the warning
 * "grey" is issued. */
static const double no_solid = 0.5;

/* The least greyness that any design can have: all free densities are rho_min or 1, and their mean
 * is what the volume (without a prescribed one that of the design) and the passive elements leave
 * to them. A subdomain is treated like the whole mesh. */
static double least_greyness(const hx_session *s, double volume)
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
    const double wanted = hx_session_volume_wanted(s);
    const double mean = ((isnan(wanted) ? volume : wanted) * all - passive) / free;
    const double solid = fmin(fmax((mean - low) / (1.0 - low), 0.0), 1.0);
    return (1.0 - solid) * 4.0 * low * (1.0 - low);
}

/* text := arguments that reduce greyness: a larger penalty; a projection, with a filter that
 * supports one; a steeper projection. A design that started from another run's filtered result gets
 * its remedy from hx_diag_initial. */
static const char *less_grey(const hx_diags *diags, const hx_session *s, const hx_diag_facts *f,
                             const char *first, char *text, size_t n_text)
{
    const hx_config *const cfg = &s->cfg;
    char word[HX_SHELL_WORD], penalty[256] = "", more[2 * HX_SHELL_WORD + 1024] = "";
    const char *const folder = hx_shell_word(cfg->output.directory, word, sizeof word);
    if (hx_diag_is_weak(cfg)) hx_diag_penalise(cfg, penalty, sizeof penalty);
    if (!hx_diags_have(diags, HX_DIAG_INITIAL_FILTERED) &&
        !(hx_diag_is_weak(cfg) && cfg->optimization.projection.given))
        hx_diag_advise_projection(s, f, first, more, sizeof more);
    hx_fit(text, n_text, "`hextop verify %s%s` analyses that part%s%s%s%s", folder,
           hx_diags_option(diags), penalty[0] ? "; " : "", penalty, more[0] ? "; " : "", more);
    return text;
}

static void judge_grey(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const double least = least_greyness(s, f->last->volume), little = 0.05;
    char remedy[HX_REMEDY], bound[160] = "";
    /* The run was too short for its projection, which was already reported before the run. */
    if (hx_diags_have(diags, HX_DIAG_TOO_FEW_ITERATIONS) && f->last->climbing &&
        hx_filter_maps_design(&s->filter) && s->cfg.optimization.projection.given &&
        f->last->beta < s->cfg.optimization.projection.beta_max)
        return;
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
    const double wanted = hx_session_volume_wanted(s), off = fabs(f->last->volume - wanted);
    if (isnan(wanted) || !f->last->volume_missed) return;
    const int n = f->last->iteration + 3 + (int)ceil(off / step);
    char remedy[HX_REMEDY];
    if (hx_diag_starts_steep(cfg))
        hx_diag_begin_flat(cfg, remedy, sizeof remedy);
    else
        hx_fit(remedy, sizeof remedy,
               "`optimization.move=%g optimization.iterations=%d` reaches it", step,
               f->last->climbing ? hx_diag_enough_iterations(cfg, n) : n);
    hx_diags_advise(diags, HX_DIAG_VOLUME, fabs(f->last->volume / wanted - 1.0), remedy,
                    "the volume is not met: the last design has a volume fraction of %.5g instead "
                    "of %g (not met in %d of %d %s)",
                    f->last->volume, wanted, f->n_missed, f->n_iteration,
                    hx_noun(f->n_iteration, "design", "designs"));
}

/* Warns of the limits that the last design does not meet, the worst one first. */
static void judge_limits(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const hx_iteration *const last = f->last;
    const hx_response_record *worst = NULL;
    char remedy[HX_REMEDY], bound[128], others[64] = "";
    int n = 0, at = 0;
    for (int i = 0; i < last->n_response; i++) {
        if (!(last->response[i].violation > hx_diag_limit(HX_DIAG_LIMIT))) continue;
        n++;
        if (worst && !(last->response[i].violation > worst->violation)) continue;
        worst = &last->response[i];
        at = i;
    }
    if (n == 0) return;
    const char *const unit = hx_response_unit_text(s, s->limits.spec[at].kind);
    if (n > 1)
        snprintf(others, sizeof others, " (and %d other %s)", n - 1,
                 hx_noun(n - 1, "limit", "limits"));
    hx_fit(remedy, sizeof remedy,
           "relax it, or allow more material; if it still falls, "
           "`optimization.iterations=%d` goes on",
           2 * s->cfg.optimization.iterations);
    hx_diags_advise(diags, HX_DIAG_LIMIT, worst->violation, remedy,
                    "the limit '%s' is not met: the value is %.5g%s, and allowed is %s%s",
                    worst->name, worst->value, unit,
                    hx_bound_text(worst->max, worst->min, unit, bound, sizeof bound), others);
}

static void judge_run(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    char remedy[HX_REMEDY];
    if (!hx_diag_soft_void(s, remedy, sizeof remedy))
        hx_fit(remedy, sizeof remedy,
               "`solver.max_iterations=%d` allows more PCG iterations; a larger "
               "optimization.rho_min reduces their number",
               10 * s->solver.pcg.params.max_iterations);
    if (f->n_unconverged > 0)
        hx_diags_advise(diags, HX_DIAG_PCG, f->n_unconverged, remedy,
                        "PCG did not converge in %d of %d %s", f->n_unconverged, f->n_iteration,
                        hx_noun(f->n_iteration, "iteration", "iterations"));
    judge_volume(diags, s, f);
    judge_limits(diags, s, f);
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

/* Only for operators that store the stiffness in single precision. */
static int judge_stiffness(hx_diags *diags, hx_session *s)
{
    double error;
    if (!(s->solver.op.op_kind->error > 0.0)) return HX_OK;
    HX_TRY(hx_optimizer_stiffness_error(&s->opt, &error));
    hx_log_detail("operator '%s': its rounded stiffness changes the compliance by %.1e",
                  s->solver.op.op_kind->name, error);
    if (!(fabs(error) <= hx_diag_limit(HX_DIAG_ROUNDED_STIFFNESS)))
        hx_diags_add(
            diags, HX_DIAG_ROUNDED_STIFFNESS, fabs(error),
            "operator \"%s\" stores the stiffness in single precision: the rounding changes the "
            "compliance by an estimated %.2g %%, because the part is slender or softly "
            "supported",
            s->solver.op.op_kind->name, 100.0 * fabs(error));
    return HX_OK;
}

/* Warns if the densities hardly influence the compliance. Returns 1 if it warned. */
static int judge_influence(hx_diags *diags, const hx_session *s, const hx_diag_facts *f)
{
    const double differs = hx_diag_difference(f, f->span->most, f->span->least);
    char remedy[HX_REMEDY];
    if (!hx_diag_has_no_influence(s, f)) return 0;
    /* arguments that let the part deform */
    const hx_config_load *const load = s->cfg.loads.entry;
    size_t used = 0;
    for (size_t i = 0; i < s->cfg.loads.n && used + 64 < sizeof remedy; i++)
        if (load[i].coupling == HX_COUPLING_RIGID)
            used += hx_fit(remedy + used, sizeof remedy - used,
                           "%sloads[%zu].coupling=distributing", used > 0 ? " " : "`", i);
    if (used > 0)
        hx_fit(remedy + used, sizeof remedy - used, "` lets the part deform");
    else if (hx_config_is_heat(&s->cfg))
        hx_fit(remedy, sizeof remedy,
               "larger convection[].coefficient, or prescribed temperatures, let "
               "the part determine the temperatures");
    else if (s->cfg.springs.n > 0)
        hx_fit(remedy, sizeof remedy,
               "larger springs[].stiffness, or supports instead of springs, let "
               "the loads deform the part");
    else
        hx_fit(remedy, sizeof remedy, "check that the loads deform elements that are not passive");
    hx_diags_advise(
        diags, HX_DIAG_NO_INFLUENCE, differs, remedy,
        "no design variable influences the %s: it differs by at most %.1g %% over %d %s, "
        "although densities changed by up to %.2g, so the design is arbitrary",
        hx_session_objective(s)->name, 100.0 * differs, f->span->n,
        hx_noun(f->span->n, "design", "designs"), f->span->change);
    return 1;
}

/* --- all warnings --- */

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
    if (judge_influence(diags, s, facts)) return; /* with such a solve the design is arbitrary */
    judge_grey(diags, s, facts);
    hx_diag_judge_change(diags, s, facts);
    if (judge_stiffness(diags, s) < 0) {
        hx_log_warning("the effect of the operator's rounding was not estimated: %s",
                       hx_error_message());
        hx_error_clear();
    }
    /* the 0/1 design has little in common with the grey design */
    if (facts->last->greyness > no_solid) return;
    if (s->mesh.ownership) {
        /* Warnings for a mesh that no process has as a whole. */
        char word[HX_SHELL_WORD];
        hx_log_info(
            "not judged: pieces of the 0/1 design, and loads and supports on its void, because "
            "no process has the whole mesh; `hextop verify %s` judges them in one process",
            hx_shell_word(s->cfg.output.directory, word, sizeof word));
        return;
    }
    if (hx_diag_solid(diags, s) < 0) {
        hx_log_warning("the 0/1 design was not checked: %s", hx_error_message());
        hx_error_clear();
    }
    hx_log_detail("checked the last design for warnings in %.3g s", hx_clock() - begin);
}
