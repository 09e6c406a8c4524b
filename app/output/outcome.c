#include "outcome.h"

#include <math.h>

#include "../session/compliance_ratio.h"
#include "../text/log.h"
#include "core/base/names.h"

int hx_outcome_has_converged(const hx_session *s, const hx_iteration *it)
{
    return hx_session_has_converged(s, it);
}

int hx_outcome_is_last(const hx_session *s, const hx_iteration *it)
{
    return it->iteration == s->cfg.optimization.iterations || hx_outcome_has_converged(s, it);
}

int hx_outcome_judge(const hx_session *s, const hx_iteration *it)
{
    if (it->reason == HX_PCG_NAN)
        return HX_RAISE(HX_ENUMERIC, "iteration %d: NaN in PCG: " HX_NOT_FINITE_REMEDY,
                        it->iteration);
    if (it->reason != HX_PCG_CONVERGED && s->cfg.solver.on_failure == HX_FAILURE_STOP)
        return HX_RAISE(HX_ENUMERIC,
                        "iteration %d: PCG did not converge (%s after %d %s, |r|/|f| = %.2g) and "
                        "solver.on_failure is \"stop\"; increase solver.max_iterations, or "
                        "optimization.rho_min for a better-conditioned matrix",
                        it->iteration, hx_pcg_reason_name(it->reason), it->pcg_iterations,
                        hx_noun(it->pcg_iterations, "iteration", "iterations"), it->pcg_residual);
    return HX_OK;
}

static void warn_unconverged(const hx_stats *stats, const hx_iteration *it)
{
    if (it->reason == HX_PCG_CONVERGED) return;
    if (stats->n_unconverged == 1)
        hx_log_warning("iteration %d: PCG did not converge (%s after %d %s, |r|/|f| = %.2g); the "
                       "run continues, because solver.on_failure is \"continue\"",
                       it->iteration, hx_pcg_reason_name(it->reason), it->pcg_iterations,
                       hx_noun(it->pcg_iterations, "iteration", "iterations"), it->pcg_residual);
    else
        hx_log_detail("iteration %d: PCG did not converge (%s)", it->iteration,
                      hx_pcg_reason_name(it->reason));
}

static void report_precision(const hx_stats *stats, const hx_iteration *it)
{
    if (it->pcg_fell_back == 0) return;
    if (stats->n_fell_back == it->pcg_fell_back)
        hx_log_warning("iteration %d: PCG in single precision did not reach the tolerance; this "
                       "solve was finished in double precision, and later ones may have to be; "
                       "solver.precision = \"double\" would be faster",
                       it->iteration);
    else
        hx_log_detail("iteration %d: a solve was finished in double precision", it->iteration);
}

/* Reports on operators whose stored K is rounded. */
static void report_refinement(const hx_session *s, const hx_stats *stats, const hx_iteration *it)
{
    const char *const name = s->solver.op.op_kind->name;
    if (it->pcg_refinements > 0)
        hx_log_detail("iteration %d: %d %s of the residual by the exact product, because operator "
                      "'%s' stores stiffness in single precision",
                      it->iteration, it->pcg_refinements,
                      hx_noun(it->pcg_refinements, "correction", "corrections"), name);
    if (it->pcg_took_exact == 0) return;
    if (stats->n_took_exact == it->pcg_took_exact)
        hx_log_warning("iteration %d: the rounding errors of operator '%s' could not be corrected; "
                       "this solve was finished with the product of '%s', and later ones may have "
                       "to be; solver.operator = \"%s\" would be faster",
                       it->iteration, name, s->solver.op.exact->name, s->solver.op.exact->name);
    else
        hx_log_detail("iteration %d: a solve was finished with the exact product", it->iteration);
}

static void report_restarts(const hx_iteration *it)
{
    if (it->pcg_restarts == 0) return;
    hx_log_warning("iteration %d: PCG broke down in %d solve%s and was restarted from its last "
                   "iterate, or from zero after NaN; it ended with: %s",
                   it->iteration, it->pcg_restarts, it->pcg_restarts > 1 ? "s" : "",
                   hx_pcg_reason_name(it->reason));
}

/* After the first design, reports why its iterations were not recorded. With some operators they
 * cannot be; a lack of memory costs time, so it is a warning. */
static void report_recording(const hx_session *s, const hx_stats *stats)
{
    const hx_pcg *pcg = &s->solver.pcg;
    if (stats->n_iteration != 1 || pcg->cannot_record == HX_OK) return;
    if (pcg->cannot_record == HX_ENOMEM)
        hx_log_warning("PCG's iterations are launched one by one instead of as a graph, which "
                       "takes longer: %s",
                       pcg->not_recorded);
    else
        hx_log_detail("PCG's iterations are launched one by one instead of as a graph: %s",
                      pcg->not_recorded);
}

/* 1 if designs before the last one may miss the volume: it is only an upper limit, which the update
 * approaches from outside, or the config states another first density. */
static int may_miss(const hx_session *s)
{
    return hx_session_update(s)->is_upper_limit || !isnan(s->cfg.optimization.start);
}

/* Warns of the first design that misses the target volume, unless designs on the way may miss it.
 * The warnings at the end (diag_after.c) judge the last design in any case. */
static void warn_missed(const hx_session *s, const hx_stats *stats, const hx_iteration *it)
{
    if (!it->volume_missed) return;
    const double wanted = hx_session_volume_wanted(s);
    if (stats->n_missed == 1 && !may_miss(s))
        hx_log_warning(
            "iteration %d: the design has a volume of %.5g instead of volume_fraction = %g",
            it->iteration, it->volume, wanted);
    else
        hx_log_detail("iteration %d: volume %.5g instead of %g", it->iteration, it->volume, wanted);
}

/* Warns once. */
static void warn_flat(const hx_session *s, const hx_stats *stats, const hx_iteration *it)
{
    if (it->is_flat && stats->n_flat == 1)
        hx_log_warning("iteration %d: no density lowers the %s, so the densities keep "
                       "their ratios, and only the volume is met",
                       it->iteration, hx_session_objective(s)->name);
}

/* Warns once, if compliances have a ratio. With prescribed displacements the first design may have
 * a negative compliance, or one near 0. */
static void warn_loose(const hx_session *s, const hx_stats *stats, const hx_iteration *it)
{
    const char *const other = hx_session_other_objective(s);
    if (!other || stats->n_loose != 1 || !(stats->first_compliance > 0.0) ||
        it->compliance <= HX_STATS_LOOSE * stats->first_compliance || hx_compliance_is_shifted(s))
        return;
    hx_log_warning("iteration %d: the compliance is %.2g times that of the first design: the %s "
                   "falls because the design no longer connects the loads to the supports; add "
                   "springs that resist at the set, make elements there passive, or minimize the "
                   "compliance",
                   it->iteration, it->compliance / stats->first_compliance, other);
}

/* Warns once of each limit that stays unmet, with what was reached at best. */
static void warn_limits(const hx_session *s, const hx_stats *stats, const hx_iteration *it)
{
    char bound[128];
    for (int i = 0; i < stats->n_limit; i++) {
        const hx_stats_limit *const limit = &stats->limit[i];
        const hx_constraint_spec *const spec = &s->limits.spec[i];
        const char *const unit = hx_response_unit_text(s, spec->kind);
        if (limit->n_unmet != HX_STATS_PATIENCE || limit->n_long != 1) continue;
        /* what the design with the smallest violation is */
        const char *const reached = !(limit->violation > HX_LIMIT_MET) ? "an earlier value was"
                                    : limit->value > spec->max ? "the least value reached is"
                                                               : "the largest value reached is";
        hx_log_warning("iteration %d: the limit '%s' has stayed unmet for %d %s: it is %s, "
                       "and %s %.5g%s, in iteration %d; if it stays so, "
                       "relax the limit, or allow more material or a larger design space",
                       it->iteration, spec->name, HX_STATS_PATIENCE,
                       hx_noun(HX_STATS_PATIENCE, "design", "designs"),
                       hx_bound_text(spec->max, spec->min, unit, bound, sizeof bound), reached,
                       limit->value, unit, limit->best);
    }
}

void hx_outcome_warn(const hx_session *s, const hx_stats *stats, const hx_iteration *it)
{
    report_recording(s, stats);
    report_restarts(it);
    warn_unconverged(stats, it);
    report_precision(stats, it);
    report_refinement(s, stats, it);
    warn_missed(s, stats, it);
    warn_limits(s, stats, it);
    warn_flat(s, stats, it);
    warn_loose(s, stats, it);
}

void hx_outcome_diag(hx_session *s, const hx_stats *stats, int was_stopped, int has_checkpoint,
                     hx_diags *diags)
{
    const hx_response_params params = hx_session_objective_params(s);
    const hx_diag_facts facts = {
        .last = &stats->last,
        .span = &stats->span,
        .n_iteration = stats->n_iteration,
        .n_unconverged = stats->n_unconverged,
        .n_missed = stats->n_missed,
        .was_stopped = was_stopped,
        .has_checkpoint = has_checkpoint,
        .recent = stats->recent,
        .n_recent = stats->n_recent,
        .zero = hx_response_zero(hx_session_objective(s), &s->problem, &params),
    };
    if (stats->n_iteration > 0) hx_diags_after(diags, s, &facts);
}
