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

static size_t components_of(const hx_config *cfg)
{
    return hx_config_is_heat(cfg) ? 1 : 3;
}

/* Bytes an element of a mesh with as many nodes as elements. */
static void add_problem(const hx_config *cfg, int n_case, hx_account *account)
{
    hx_account_add(account, "supports", 1);
    hx_account_add(account, "volumes", sizeof(double));
    hx_account_add(account, "loads", components_of(cfg) * (size_t)n_case * sizeof(double));
    hx_account_add(account, "first densities", sizeof(double));
    if (cfg->passive.n > 0) hx_account_add(account, "passive", sizeof(double));
}

/* The same; the vectors are r, p, q, and u and f of each load case. */
static void add_solver(const hx_config *cfg, int n_case, hx_account *account)
{
    const hx_filter_kind *kind = hx_filter_find(cfg->optimization.filter.kind);
    int substituted = 0;
    const hx_strategy *strategy = hx_strategy_of(
        hx_strategy_resolve("cpu", cfg->solver.op, &substituted), (int)components_of(cfg));
    if (!strategy) return;
    hx_account_add(account, "mesh", hx_mesh_bytes_per_elem());
    hx_account_add(account, "modulus", sizeof(double));
    hx_account_add(account, "operator", (size_t)strategy->bytes_per_elem);
    hx_account_add(account, "vectors",
                   (3 + 2 * (size_t)n_case) * components_of(cfg) * sizeof(double));
    hx_account_add(account, "densities", (cfg->passive.n > 0 ? 8 : 7) * sizeof(double));
    if (kind) hx_account_add(account, "filter", (size_t)kind->bytes_per_elem);
}

double hx_footprint_planned(const hx_config *cfg)
{
    hx_account account = {0};
    const int n_case = count_cases(cfg, 0);
    add_problem(cfg, n_case, &account);
    if (stays_on_host(cfg)) add_solver(cfg, n_case, &account);
    return (double)hx_account_sum(&account);
}

/* The same; whether the solver runs on the host is asked only where the answer matters: a driver
 * may take its time. */
static double bytes_beside_mesh(const hx_session *s, double have)
{
    hx_account account = {0};
    const int n_case = count_cases(&s->cfg, s->conditions.n_case);
    add_problem(&s->cfg, n_case, &account);
    const double least = (double)hx_account_sum(&account);
    add_solver(&s->cfg, n_case, &account);
    const double most = (double)hx_account_sum(&account);
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

void hx_footprint_print(const hx_session *s, const hx_account *account, int detail)
{
    const hx_log_level least = detail ? HX_LOG_VERBOSE : HX_LOG_NORMAL;
    hx_table table;
    char text[32];
    const size_t sum = hx_account_sum(account);
    if (hx_log_get_level() < least) return;
    hx_table_begin(&table, "lrr");
    hx_table_add(&table, "on the device");
    hx_table_add(&table, "bytes/element");
    hx_table_add(&table, "%s", "");
    for (int i = 0; i <= account->n; i++) {
        const hx_memory_item item =
            i < account->n ? account->item[i] : (hx_memory_item){"total", sum};
        hx_table_add(&table, "%s", item.name);
        hx_table_add(&table, "%.1f", (double)item.bytes / (double)s->mesh.n_elem);
        hx_table_add(&table, "%s", hx_format_bytes((double)item.bytes, text, sizeof text));
    }
    hx_table_end(&table, 4);
}

void hx_footprint_write(const hx_session *s, hx_json *json)
{
    const double n_elem = (double)s->mesh.n_elem;
    hx_json_number(json, "device_bytes_per_element", (double)s->device_bytes / n_elem);
    hx_json_open_object(json, "device_items");
    for (int i = 0; i < s->device_account.n; i++) {
        const hx_memory_item *const item = &s->device_account.item[i];
        hx_json_open_object(json, item->name);
        hx_json_integer(json, "bytes", (int64_t)item->bytes);
        hx_json_number(json, "bytes_per_element", (double)item->bytes / n_elem);
        hx_json_close_object(json);
    }
    hx_json_close_object(json);
}
