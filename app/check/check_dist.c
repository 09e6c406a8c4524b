/* Reports how processes would divide the mesh, by each partition. */
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/partition/partition.h"

#include "../text/table.h"
#include "check.h"
#include "core/base/names.h"

static int measure_partition_row(hx_table *table, const hx_mesh *mesh, hx_partition_kind kind,
                                 int n_rank)
{
    hx_partition partition;
    hx_partition_figures figures;
    const double begin = hx_clock();
    HX_TRY(hx_partition_make(&partition, mesh, kind, n_rank));
    const double seconds = hx_clock() - begin;
    const int rc = hx_partition_measure(&figures, &partition, mesh);
    if (rc == HX_OK) {
        int64_t least = figures.subdomain[0].n_elem, most = 0, halo = 0, sent = 0;
        int neighbours = 0;
        char text[32];
        for (int r = 0; r < n_rank; r++) {
            const hx_partition_subdomain *s = figures.subdomain + r;
            if (s->n_elem < least) least = s->n_elem;
            if (s->n_elem > most) most = s->n_elem;
            if (s->n_halo > halo) halo = s->n_halo;
            if (s->n_sent > sent) sent = s->n_sent;
            if (s->n_neighbour > neighbours) neighbours = s->n_neighbour;
        }
        hx_table_add(table, "%s", hx_partition_name(kind));
        hx_table_add(table, "%s", hx_format_count(least, text, sizeof text));
        hx_table_add(table, "%s", hx_format_count(most, text, sizeof text));
        hx_table_add(table, "%.3f", figures.balance);
        hx_table_add(table, "%s", hx_format_count(figures.n_cut, text, sizeof text));
        hx_table_add(table, "%s", hx_format_count(figures.n_shared, text, sizeof text));
        hx_table_add(table, "%s", hx_format_count(halo, text, sizeof text));
        hx_table_add(table, "%s", hx_format_count(sent, text, sizeof text));
        hx_table_add(table, "%d", neighbours);
        hx_table_add(table, "%s", hx_format_seconds(seconds, text, sizeof text));
        hx_partition_figures_free(&figures);
    }
    hx_partition_free(&partition);
    return rc;
}

enum { MOST_LOOKED_AT = 8 };

int hx_check_rank_memory(hx_session *s, int n_rank)
{
    const int step = (n_rank + MOST_LOOKED_AT - 1) / MOST_LOOKED_AT;
    size_t first = 0, most = 0;
    char a[32], b[32];
    for (int r = 0; r < n_rank; r += step) {
        size_t bytes;
        const int rc = hx_session_rank_bytes(s, n_rank, r, &bytes);
        if (rc == HX_EINPUT) {
            hx_log_info("  ranks   %s", hx_error_message());
            hx_error_clear();
            return HX_OK;
        }
        HX_TRY(rc);
        if (r == 0) first = bytes;
        if (bytes > most) most = bytes;
    }
    hx_log_info("  ranks   %8s of device memory in the first of %d %s, at most %s in any",
                hx_format_bytes((double)first, a, sizeof a), n_rank,
                hx_noun(n_rank, "process", "processes"),
                hx_format_bytes((double)most, b, sizeof b));
    return HX_OK;
}

int hx_check_dist(const hx_session *s, int n_rank)
{
    hx_table table;
    hx_log_info("\nranks     %d", n_rank);
    hx_table_begin(&table, "lrrrrrrrrr");
    hx_table_add_words(&table, "partition|elements|to|balance|faces cut|nodes shared|halo at most|"
                               "sent at most|neighbours at most|time");
    int rc = HX_OK;
    for (int kind = 0; kind < HX_N_PARTITION && rc == HX_OK; kind++)
        if (hx_partition_available((hx_partition_kind)kind))
            rc = measure_partition_row(&table, &s->mesh, (hx_partition_kind)kind, n_rank);
    table.level = HX_LOG_NORMAL;
    hx_table_end(&table, 2);
    if (!hx_partition_available(HX_PARTITION_GRAPH))
        hx_log_info("  built without METIS: there is no partition \"graph\"");
    return rc;
}
