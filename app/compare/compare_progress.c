/* Remaining time of a long solve: on a terminal a line that is rewritten, otherwise a line from
 * time to time. */
#include <math.h>
#include <string.h>

#include "../text/table.h"
#include "compare.h"
#include "core/base/clock.h"

/* Seconds before the first line, and between lines: on a terminal, with -v, in a file. */
#define FIRST 1.0
#define TERMINAL 0.2
#define VERBOSE 2.0
#define SLOW 60.0

static double interval(void)
{
    if (hx_log_is_terminal()) return TERMINAL;
    return hx_log_is_on(HX_LOG_VERBOSE) ? VERBOSE : SLOW;
}

/* For hx_pcg.watch; a new case begins when the count of iterations restarts. */
static void watch(void *context, int iterations, double residual)
{
    hx_compare_meter *const m = context;
    const double now = hx_clock();
    if (iterations < m->last) {
        m->n_before += m->last;
        m->likely = m->last; /* cases need similar numbers of iterations */
        m->load_case += m->load_case < m->n_case - 1;
    }
    if (iterations == 0 || iterations < m->last) m->first_residual = residual;
    m->last = iterations;
    if (iterations == 0 || now - m->begin < FIRST || now - m->shown < interval()) return;
    m->shown = now;
    const hx_session *const s = m->s;
    /* Expected iterations of this load case: the estimate, or, once the residual has fallen to
     * a tenth, the number extrapolated to the tolerance. */
    const hx_pcg_params *const params = &m->s->solver.pcg.params;
    const double fall = m->first_residual / residual;
    double likely = m->likely;
    if (fall > 10.0 && params->criterion == HX_PCG_RELATIVE)
        likely = iterations * log(1.0 / params->tolerance) / log(fall);
    const double all = fmin(fmax(likely, iterations), params->max_iterations),
                 each = (now - m->begin) / (m->n_before + iterations),
                 left = each * (all - iterations + all * (m->n_case - 1 - m->load_case));
    char text[256], which[48] = "", rest[32];
    if (m->n_case > 1)
        snprintf(which, sizeof which, " of load case %d of %d", m->load_case + 1, m->n_case);
    snprintf(text, sizeof text, "%s %s: about %s left; PCG%s, %d iteration%s, |r| %.0e",
             s->solver.op_kind->name, hx_layout_name(s->solver.layout),
             hx_format_seconds(left, rest, sizeof rest), which, iterations,
             iterations == 1 ? "" : "s", residual / m->first_residual);
    if (hx_log_is_terminal())
        hx_log_status("%s", text);
    else
        hx_log_info("  %s", text);
}

void hx_compare_meter_begin(hx_compare_meter *m, hx_session *s, double likely)
{
    const double now = hx_clock();
    *m = (hx_compare_meter){
        .s = s, .n_case = s->problem.cases.n, .likely = likely, .begin = now, .shown = now};
    s->solver.pcg.watch = watch;
    s->solver.pcg.context = m;
}

void hx_compare_meter_end(hx_compare_meter *m)
{
    m->s->solver.pcg.watch = NULL;
    m->s->solver.pcg.context = NULL;
}
