/* Times and memory of the processes of a run: least, median and largest values in the log, all
 * values in the summary. */
#include "dist_report_text.h"

#include <stdlib.h>

#include "../text/table.h"
#include "core/base/memory.h"

static double elements(const hx_dist_report *r)
{
    return (double)r->n_elem;
}

static double coarse_nodes(const hx_dist_report *r)
{
    return (double)r->n_coarse;
}

static double solves(const hx_dist_report *r)
{
    return r->figures.solve_seconds;
}

static double exchanges(const hx_dist_report *r)
{
    return r->figures.exchange_seconds;
}

static double sent(const hx_dist_report *r)
{
    return (double)(r->figures.exchange_bytes + r->figures.halo_bytes);
}

static double halos(const hx_dist_report *r)
{
    return r->figures.halo_seconds;
}

static double sums(const hx_dist_report *r)
{
    return r->figures.sum_seconds;
}

static double coarse_levels(const hx_dist_report *r)
{
    return r->figures.coarse_seconds;
}

static double host(const hx_dist_report *r)
{
    return (double)r->host_bytes;
}

static double device(const hx_dist_report *r)
{
    return (double)r->device_bytes;
}

static const char *count_text(double value, char *text, size_t n_text)
{
    return hx_format_count((int64_t)value, text, n_text);
}

static const struct {
    const char *name;
    double (*of)(const hx_dist_report *r);
    const char *(*print)(double value, char *text, size_t n_text);
} ROW[] = {
    {"elements", elements, count_text},
    {"nodes of distributed levels", coarse_nodes, count_text},
    {"solves", solves, hx_format_seconds},
    {"  halo exchanges", exchanges, hx_format_seconds},
    {"  coarse levels", coarse_levels, hx_format_seconds},
    {"reductions", sums, hx_format_seconds},
    {"halo exchanges of filters", halos, hx_format_seconds},
    {"sent", sent, hx_format_bytes},
    {"host memory", host, hx_format_bytes},
    {"device memory", device, hx_format_bytes},
};

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int hx_dist_report_take(hx_session *s, hx_dist_report **report)
{
    *report = NULL;
    if (!s->comm) return HX_OK;
    int rc = hx_session_agree(
        s, hx_alloc(report, (size_t)s->comm->size, sizeof **report, "figures of ranks"));
    if (rc == HX_OK) rc = hx_dist_gather_report(&s->dist, *report);
    if (rc == HX_OK) return HX_OK;
    free(*report);
    *report = NULL;
    return rc;
}

int hx_dist_report_print(hx_session *s)
{
    hx_dist_report *report;
    double *value;
    HX_TRY(hx_dist_report_take(s, &report));
    if (!report) return HX_OK;
    const int size = s->comm->size;
    const int rc = hx_alloc(&value, (size_t)size, sizeof *value, "figures of ranks");
    if (rc == HX_OK) {
        hx_log_info("ranks: %d, each with %s halo exchanges and %s reductions", size,
                    hx_format_count(report[0].figures.n_exchange, (char[32]){0}, 32),
                    hx_format_count(report[0].figures.n_sum, (char[32]){0}, 32));
        hx_table table;
        hx_table_begin(&table, "lrrr");
        hx_table_add_words(&table, "|least|median|most");
        for (size_t i = 0; i < sizeof ROW / sizeof ROW[0]; i++) {
            for (int r = 0; r < size; r++) value[r] = ROW[i].of(&report[r]);
            qsort(value, (size_t)size, sizeof *value, compare_doubles);
            const double shown[3] = {value[0], value[size / 2], value[size - 1]};
            hx_table_add(&table, "%s", ROW[i].name);
            for (int k = 0; k < 3; k++) {
                char text[32];
                hx_table_add(&table, "%s", ROW[i].print(shown[k], text, sizeof text));
            }
        }
        table.level = HX_LOG_NORMAL;
        hx_table_end(&table, 2);
        free(value);
    }
    free(report);
    return rc;
}

void hx_dist_report_write(const hx_session *s, const hx_dist_report *report, hx_json *json)
{
    if (!report) return;
    hx_json_string(json, "transport", hx_dist_transport(&s->dist));
    hx_json_open_array(json, "ranks");
    for (int r = 0; r < s->comm->size; r++) {
        const hx_dist_stats *const f = &report[r].figures;
        hx_json_open_object(json, NULL);
        hx_json_integer(json, "rank", r);
        hx_json_integer(json, "elements", report[r].n_elem);
        hx_json_integer(json, "nodes", report[r].n_node);
        hx_json_integer(json, "coarse_nodes", report[r].n_coarse);
        hx_json_number(json, "solve_seconds", f->solve_seconds);
        hx_json_integer(json, "exchanges", f->n_exchange);
        hx_json_number(json, "exchange_seconds", f->exchange_seconds);
        hx_json_integer(json, "sent_bytes", f->exchange_bytes);
        hx_json_integer(json, "halo_exchanges", f->n_halo);
        hx_json_number(json, "halo_seconds", f->halo_seconds);
        hx_json_integer(json, "halo_bytes", f->halo_bytes);
        hx_json_integer(json, "reductions", f->n_sum);
        hx_json_number(json, "reduction_seconds", f->sum_seconds);
        hx_json_number(json, "coarse_seconds", f->coarse_seconds);
        hx_json_integer(json, "host_peak_bytes", report[r].host_bytes);
        hx_json_integer(json, "device_bytes", report[r].device_bytes);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}
