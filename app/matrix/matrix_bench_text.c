/* Tables of --bench. */
#include <math.h>
#include <stdio.h>

#include "../text/log.h"
#include "matrix_bench.h"

int hx_bench_is_quiet(void)
{
    return hx_log_get_level() < HX_LOG_NORMAL;
}

void hx_bench_add(hx_table *table, int digits, double value, const char *unit)
{
    const int exponent = value > 0.0 ? (int)floor(log10(value)) : 0;
    const int decimals = digits - 1 - exponent;
    if (isnan(value))
        hx_table_add(table, "-");
    else
        hx_table_add(table, "%.*f%s", decimals < 0 ? 0 : decimals > 7 ? 7 : decimals, value, unit);
}

void hx_bench_add_ms(hx_table *table, double seconds)
{
    hx_bench_add(table, 4, 1e3 * seconds, "");
}

void hx_bench_add_time(hx_table *table, const hx_bench_time *time)
{
    hx_bench_add_ms(table, time->median);
    if (time->n > 1)
        hx_table_add(table, "%.1f %%", 100.0 * (time->upper - time->lower) / time->median);
    else
        hx_table_add(table, time->n == 1 ? "once" : "-");
}

void hx_bench_end_table(hx_table *table)
{
    hx_table_end(table, 2);
    fflush(stdout);
}

const char *hx_bench_spec_name(const hx_matrix_spec *spec, char *text, size_t n_text)
{
    snprintf(text, n_text, "%s%s%s", hx_format_name(spec->format),
             spec->part == HX_PART_LOWER ? " lower" : "", spec->single ? " single" : "");
    return text;
}
