#include "footprint.h"

#include <string.h>

#include "../text/log.h"
#include "../text/table.h"
#include "core/base/memory.h"

/* 1 if the config's solver can only run on the host, as far as one knows without asking drivers. */
static int stays_on_host(const hx_config *cfg)
{
    const char *name = cfg->solver.device;
    if (!hx_config_is_auto(name)) return strcmp(name, "cpu") == 0;
    return hx_devices[0] && !hx_devices[1];
}

/* 1 if it will run there. */
static int runs_on_host(const hx_config *cfg)
{
    const char *name = cfg->solver.device;
    char why[256];
    for (size_t i = 0; hx_config_is_auto(name) && hx_devices[i]; i++)
        if (hx_devices[i]->available(why, sizeof why)) name = hx_devices[i]->name;
    return strcmp(name, "cpu") == 0;
}

/* n_file: steps of the mesh's file. */
static int count_cases(const hx_config *cfg, int n_file)
{
    const hx_config_load *load = cfg->loads.entry;
    int n_case = 1;
    for (size_t i = 0; i < cfg->loads.n; i++) {
        if (load[i].load_case == 0 && n_file > n_case) n_case = n_file;
        if (load[i].load_case > n_case && load[i].load_case <= 1000) n_case = load[i].load_case;
    }
    return n_case;
}

/* The operator, the solver's vectors (r, p, q, and u and f of each load case), the densities, and
 * the filter's. */
static double solver_bytes(const hx_config *cfg, int n_case)
{
    const hx_filter_kind *kind = hx_filter_find(cfg->optimization.filter.kind);
    const double filter = kind ? kind->bytes_per_elem : 0.0;
    int substituted = 0;
    const hx_strategy *strategy = hx_strategy_resolve("cpu", cfg->solver.op, &substituted);
    if (!strategy) return 0.0;
    const size_t mesh = 3 * sizeof(double) + 8 * sizeof(int32_t) + sizeof(int64_t) +
                        8 * sizeof(uint32_t) + sizeof(double);
    const size_t vectors = (3 + 2 * (size_t)n_case) * 3 * sizeof(double);
    const size_t densities = (cfg->passive.n > 0 ? 8 : 7) * sizeof(double);
    return (double)strategy->bytes_per_elem + (double)(mesh + vectors + densities) + filter;
}

/* Supports, volumes, forces, the first densities. */
static double problem_bytes(const hx_config *cfg, int n_case)
{
    return 1.0 + 8.0 + 24.0 * n_case + 8.0 + (cfg->passive.n > 0 ? 8.0 : 0.0);
}

double hx_footprint_planned(const hx_config *cfg)
{
    const int n_case = count_cases(cfg, 0);
    return problem_bytes(cfg, n_case) + (stays_on_host(cfg) ? solver_bytes(cfg, n_case) : 0.0);
}

/* The same; whether the solver runs on the host is asked only where the answer matters: a driver
 * may take its time. */
static double bytes_beside_mesh(const hx_session *s, double have)
{
    const int n_case = count_cases(&s->cfg, s->conditions.n_case);
    const double least = problem_bytes(&s->cfg, n_case);
    const double most = least + solver_bytes(&s->cfg, n_case);
    if (stays_on_host(&s->cfg)) return most;
    if (most * (double)s->mesh.n_elem <= have) return least;
    return runs_on_host(&s->cfg) ? most : least;
}

int hx_footprint_check(const hx_session *s)
{
    const double have = (double)hx_host_memory_available();
    const double other = bytes_beside_mesh(s, have);
    const double want = other * (double)s->mesh.n_elem;
    char want_text[32], have_text[32], count[32];
    if (have <= 0.0 || want <= have) return HX_OK;
    return HX_RAISE(HX_ENOMEM,
                    "%s: besides the mesh of %s elements the run needs at least %s of host memory "
                    "(%.0f bytes an element), %s is available: take a smaller mesh",
                    s->mesh.name, hx_format_count(s->mesh.n_elem, count, sizeof count),
                    hx_format_bytes(want, want_text, sizeof want_text), other,
                    hx_format_bytes(have, have_text, sizeof have_text));
}

void hx_footprint_print(const hx_session *s, int n, const hx_memory_item *item, int detail)
{
    const hx_log_level least = detail ? HX_LOG_VERBOSE : HX_LOG_NORMAL;
    hx_table table;
    char text[32];
    size_t sum = 0;
    if (hx_log_get_level() < least) return;
    hx_table_begin(&table, "lrr");
    hx_table_add(&table, "on the device");
    hx_table_add(&table, "bytes/element");
    hx_table_add(&table, "%s", "");
    for (int i = 0; i <= n; i++) {
        const size_t bytes = i < n ? item[i].bytes : sum;
        hx_table_add(&table, "%s", i < n ? item[i].name : "total");
        hx_table_add(&table, "%.1f", (double)bytes / (double)s->mesh.n_elem);
        hx_table_add(&table, "%s", hx_format_bytes((double)bytes, text, sizeof text));
        sum += bytes;
    }
    hx_table_end(&table, 4);
}

void hx_footprint_write(const hx_session *s, hx_json *json)
{
    const double n_elem = (double)s->mesh.n_elem;
    hx_json_number(json, "device_bytes_per_element", (double)s->device_bytes / n_elem);
    hx_json_open_object(json, "device_items");
    for (int i = 0; i < s->n_device_item; i++) {
        hx_json_open_object(json, s->device_item[i].name);
        hx_json_integer(json, "bytes", (int64_t)s->device_item[i].bytes);
        hx_json_number(json, "bytes_per_element", (double)s->device_item[i].bytes / n_elem);
        hx_json_close_object(json);
    }
    hx_json_close_object(json);
}
