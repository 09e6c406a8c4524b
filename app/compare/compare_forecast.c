/* Forecast of the total and remaining time of hextop compare. */
#include <math.h>

#include "../session/iterations_guess.h"
#include "../text/table.h"
#include "compare.h"
#include "core/base/clock.h"
#include "core/base/names.h"

/* If a row or the whole comparison takes more seconds than this, each row prints the remaining
 * time, and the forecast states how to shorten it. */
#define LONG 30.0
#define VERY_LONG 600.0

void hx_compare_forecast_solve(hx_compare_forecast *forecast, const hx_session *s,
                               const hx_compare_row *row, double warm)
{
    char each[32], all[32], count[32];
    if (forecast->is_given) return;
    forecast->is_given = 1;
    forecast->iterations = hx_guess_iterations(s).likely * s->problem.cases.n;
    /* the start of a solve takes about as long as an iteration, and longer for the first solve on a
     * GPU */
    const double iteration = fmax(0.5 * warm, row->f.product_median_seconds),
                 solve = iteration * forecast->iterations,
                 done = hx_clock() - forecast->begin + solve;
    forecast->all_seconds = done * forecast->n_row;
    hx_log_info("\nforecast  PCG with %s%s: about %s %s over %d load case%s,",
                s->solver.pc.kind->name,
                forecast->chose_precond
                    ? " (solver.preconditioner is \"auto\"; to compare with another one, name it)"
                    : "",
                hx_format_count((int64_t)forecast->iterations, count, sizeof count),
                hx_noun((int64_t)forecast->iterations, "iteration", "iterations"),
                s->problem.cases.n, s->problem.cases.n == 1 ? "" : "s");
    hx_log_info("          about %s per operator and layout, %s for %d%s",
                hx_format_seconds(done, each, sizeof each),
                hx_format_seconds(forecast->all_seconds, all, sizeof all), forecast->n_row,
                forecast->all_seconds > VERY_LONG ? "; --iterations N limits PCG, --no-pcg skips it"
                                                  : "");
}

void hx_compare_forecast_left(hx_compare_forecast *forecast, const hx_compare_row *row)
{
    char name[64], left[32], passed[32];
    const double seconds = hx_clock() - forecast->begin;
    forecast->n_done++;
    const int n_left = forecast->n_row - forecast->n_done;
    const double each = seconds / forecast->n_done;
    if (n_left <= 0 || fmax(each * forecast->n_row, forecast->all_seconds) < LONG) return;
    hx_log_info("  %s done after %s; %d of %d left, about %s",
                hx_compare_label(row, name, sizeof name),
                hx_format_seconds(seconds, passed, sizeof passed), n_left, forecast->n_row,
                hx_format_seconds(each * n_left, left, sizeof left));
}
