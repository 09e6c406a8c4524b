#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/quantile.h"

int hx_stats_begin(hx_stats *stats, int max_iterations, int n_case, int n_limit)
{
    stats->capacity = max_iterations;
    stats->n_limit = n_limit;
    HX_TRY(hx_alloc(&stats->limit, (size_t)n_limit, sizeof *stats->limit, "limits"));
    HX_TRY(hx_alloc(&stats->iteration_seconds, (size_t)max_iterations, sizeof(double), "timings"));
    return hx_alloc(&stats->case_iterations, (size_t)n_case, sizeof(int64_t), "timings");
}

static void push_recent(hx_stats *stats, const hx_iteration *it)
{
    memmove(stats->recent + 1, stats->recent, (HX_STATS_RECENT - 1) * sizeof *stats->recent);
    stats->recent[0] = (hx_diag_record){it->objective, it->volume, it->violation, it->change};
    if (stats->n_recent < HX_STATS_RECENT) stats->n_recent++;
}

/* Designs before this one had another penalty or beta. */
static void begin_recent(hx_stats *stats)
{
    stats->n_recent = 0;
    stats->span.best = 0;
}

static void widen(hx_diag_span *span, const hx_iteration *it)
{
    span->least = span->n > 0 ? fmin(span->least, it->objective) : it->objective;
    span->most = span->n > 0 ? fmax(span->most, it->objective) : it->objective;
    span->change = fmax(span->change, it->change);
    span->n++;
    if (it->volume_missed || it->violation > HX_LIMIT_MET) return;
    if (span->best > 0 && !(it->objective < span->best_objective)) return;
    span->best = it->iteration;
    span->best_objective = it->objective;
}

static void add_limit(hx_stats_limit *limit, int iteration, double value, double violation)
{
    limit->n_unmet = violation > HX_LIMIT_MET ? limit->n_unmet + 1 : 0;
    limit->n_long += limit->n_unmet == HX_STATS_PATIENCE;
    if (limit->best > 0 && !(violation < limit->violation)) return;
    limit->best = iteration;
    limit->violation = violation;
    limit->value = value;
}

/* Objectives with another penalty or beta are not comparable. */
static int is_other(const hx_iteration *a, double penalty, double beta)
{
    return a->penalty != penalty || a->beta != beta;
}

static void add_costs(hx_stats *stats, const hx_iteration *it, double output_seconds)
{
    for (int i = HX_STAGE_PCG; i < HX_N_STAGE; i++) stats->stage[i] += it->stage[i];
    stats->stage[HX_STAGE_OUTPUT] += output_seconds;
    stats->spmv += it->spmv_seconds;
    stats->precond += hx_stats_precond(it);
    stats->pcg_iterations += it->pcg_iterations;
}

void hx_stats_replace(hx_stats *stats, const hx_iteration *it, double output_seconds)
{
    add_costs(stats, it, output_seconds);
    stats->last = *it;
}

void hx_stats_add(hx_stats *stats, const hx_iteration *it, int n_case, double output_seconds)
{
    add_costs(stats, it, output_seconds);
    for (int c = 0; c < n_case; c++) stats->case_iterations[c] += it->load_case[c].pcg.iterations;
    stats->n_fell_back += it->pcg_fell_back;
    stats->n_refinement += it->pcg_refinements;
    stats->n_took_exact += it->pcg_took_exact;
    stats->n_missed += it->volume_missed;
    stats->n_flat += it->is_flat;
    if (!(stats->first_compliance > 0.0)) stats->first_compliance = it->compliance;
    stats->n_loose +=
        stats->first_compliance > 0.0 && it->compliance > HX_STATS_LOOSE * stats->first_compliance;
    if (it->reason != HX_PCG_CONVERGED) stats->n_unconverged++;
    for (int c = 0; c < n_case; c++)
        stats->n_solve_failed += it->load_case[c].pcg.reason != HX_PCG_CONVERGED;
    if (stats->n_iteration == 0)
        stats->first_product = stats->stage[HX_STAGE_SETUP] + it->prepare_seconds;
    if (stats->n_iteration < stats->capacity)
        stats->iteration_seconds[stats->n_iteration++] = it->seconds;
    if (is_other(&stats->last, it->penalty, it->beta)) begin_recent(stats);
    for (int i = 0; i < stats->n_limit; i++)
        add_limit(&stats->limit[i], it->iteration, it->response[i].value,
                  it->response[i].violation);
    stats->last = *it;
    push_recent(stats, it);
    widen(&stats->span, it);
}

/* Reads the column of a line, from 0; NaN: it has none. */
static double read_column(const char *line, int column)
{
    const char *const end = line + strcspn(line, "\n");
    while (column > 0 && line < end) column -= *line++ == ',';
    return column == 0 && line < end ? strtod(line, NULL) : (double)NAN;
}

/* The column of that name in the header line, from 0; -1: there is none. */
static int find_column(const char *header, const char *name)
{
    const size_t n_line = strcspn(header, "\n"), n = strlen(name);
    int column = 0;
    for (size_t i = 0; i < n_line; i += strcspn(header + i, ",\n") + 1, column++)
        if (strncmp(header + i, name, n) == 0 && strchr(",\n", header[i + n])) return column;
    return -1;
}

/* Takes the values of the limits from a line; returns the largest violation. */
static double recall_limits(hx_stats *stats, const char *header, const char *line, int iteration,
                            const hx_limits *limits)
{
    double most = 0.0;
    for (int i = 0; i < limits->n; i++) {
        const int column = find_column(header, limits->name[i]);
        const double value = column < 0 ? (double)NAN : read_column(line, column);
        const double violation = hx_limit_violation(limits, i, value);
        add_limit(&stats->limit[i], iteration, value, violation);
        most = fmax(most, violation);
    }
    return most;
}

void hx_stats_recall(hx_stats *stats, const char *history, const hx_update_kind *update,
                     double volume_fraction, const char *objective, const hx_limits *limits)
{
    const int at_objective = find_column(history, "objective"),
              own = at_objective < 0 ? find_column(history, objective) : at_objective,
              at_penalty = find_column(history, "penalty"), at_beta = find_column(history, "beta");
    double penalty = 0.0, beta = 0.0;
    begin_recent(stats);
    for (const char *line = history; line; line = strchr(line, '\n')) {
        hx_iteration it = {0};
        if (*line == '\n') line++;
        if (sscanf(line, "%d,%lf,%lf,%lf", &it.iteration, &it.compliance, &it.volume, &it.change) !=
            4)
            continue;
        it.objective = own < 0 ? it.compliance : read_column(line, own);
        if (at_penalty >= 0 && at_beta >= 0) {
            it.penalty = read_column(line, at_penalty);
            it.beta = read_column(line, at_beta);
        }
        if (is_other(&it, penalty, beta)) begin_recent(stats);
        penalty = it.penalty;
        beta = it.beta;
        it.volume_missed =
            !isnan(volume_fraction) && hx_volume_is_missed(update, it.volume, volume_fraction);
        it.violation = recall_limits(stats, history, line, it.iteration, limits);
        push_recent(stats, &it);
        widen(&stats->span, &it);
    }
}

double hx_stats_precond(const hx_iteration *it)
{
    return it->prepare_seconds + it->precond_seconds;
}

double hx_stats_vector(const hx_iteration *it)
{
    return it->stage[HX_STAGE_PCG] - it->spmv_seconds - hx_stats_precond(it);
}

void hx_stats_stop(hx_stats *stats)
{
    stats->total = hx_clock() - stats->begin;
}

void hx_stats_iteration_seconds(const hx_stats *stats, double *median, double *min, double *max)
{
    const size_t n = (size_t)stats->n_iteration;
    double *sorted = NULL;
    *median = *min = *max = 0.0;
    if (n == 0 || hx_alloc(&sorted, n, sizeof *sorted, "timings") < 0) return;
    memcpy(sorted, stats->iteration_seconds, n * sizeof *sorted);
    hx_sort_values(sorted, n);
    *median = hx_quantile(sorted, n, 0.5);
    *min = sorted[0];
    *max = sorted[n - 1];
    free(sorted);
}

double hx_stats_time_left(const hx_stats *stats, int n)
{
    double sum = 0.0;
    int count = 0;
    for (int i = stats->n_iteration - 1; i >= 0 && count < 5; i--, count++)
        sum += stats->iteration_seconds[i];
    if (count == 0) return 0.0;
    return (sum / count + stats->stage[HX_STAGE_OUTPUT] / stats->n_iteration) * n;
}

static void add_stats_row(hx_table *table, const char *name, double seconds, double total)
{
    hx_table_add(table, "%s", name);
    hx_table_add(table, "%.3f", seconds);
    hx_table_add(table, "%.1f %%", total > 0.0 ? 100.0 * seconds / total : 0.0);
}

void hx_stats_print(const hx_stats *stats)
{
    hx_table table;
    hx_table_begin(&table, "lrr");
    table.level = HX_LOG_NORMAL;
    hx_table_add(&table, "stage");
    hx_table_add(&table, "seconds");
    hx_table_add(&table, "share");
    for (int i = 0; i < HX_N_STAGE; i++) {
        add_stats_row(&table, hx_stage_name((hx_stage)i), stats->stage[i], stats->total);
        if (i != HX_STAGE_PCG) continue;
        add_stats_row(&table, "  matrix-vector products", stats->spmv, stats->total);
        add_stats_row(&table, "  preconditioner", stats->precond, stats->total);
        add_stats_row(&table, "  vector work", stats->stage[i] - stats->spmv - stats->precond,
                      stats->total);
    }
    add_stats_row(&table, "total", stats->total, stats->total);
    hx_table_end(&table, 2);
}

void hx_stats_free(hx_stats *stats)
{
    free(stats->iteration_seconds);
    free(stats->case_iterations);
    free(stats->limit);
    memset(stats, 0, sizeof *stats);
}
