/* Cells and lines of the papers' tables. */
#include <math.h>

#include "app/text/log.h"
#include "papers.h"

void hx_bench_add_fixed(hx_table *table, int decimals, double value)
{
    if (isnan(value))
        hx_table_add(table, "-");
    else
        hx_table_add(table, "%.*f", decimals, value);
}

void hx_bench_add_count(hx_table *table, int64_t n)
{
    char text[32];
    hx_table_add(table, "%s", hx_format_count(n, text, sizeof text));
}

void hx_bench_say_limit(const hx_paper_bench *bench)
{
    char text[32];
    hx_log_info("  Left out: meshes of more than %s elements (--most).",
                hx_format_count(bench->most, text, sizeof text));
}
