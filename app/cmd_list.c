/* hextop list: what this build and this machine offer. */
#include <stdio.h>
#include <string.h>

#include "config/config_help.h"
#include "core/base/vector_unit.h"
#include "core/generate/generate.h"
#include "core/registry.h"
#include "session/machine.h"
#include "text/commands.h"
#include "text/table.h"

enum { KEYS };

static const hx_option list_options[] = {
    [KEYS] = {"--keys", .help = "all config keys, like `hextop help --markdown`"},
};

static void add_header(hx_table *table, const char *const *name, size_t n)
{
    for (size_t i = 0; i < n; i++) hx_table_add(table, "%s", name[i]);
}

/* "yes", or "no" and the reason. */
static int is_available(const hx_device_ops *ops, char *why, size_t n_why)
{
    why[0] = '\0';
    return ops && ops->available(why, n_why);
}

static void list_devices(void)
{
    static const char *const header[] = {"name", "here", "help"};
    char why[256];
    hx_table table;
    printf("Devices (solver.device; auto takes the first that is available)\n");
    hx_table_begin(&table, "lll");
    add_header(&table, header, 3);
    for (size_t i = 0; hx_devices[i]; i++) {
        const int here = is_available(hx_devices[i], why, sizeof why);
        hx_table_add(&table, "%s", hx_devices[i]->name);
        hx_table_add(&table, "%s", here ? "yes" : "no");
        hx_table_add(&table, "%s%s%s", hx_devices[i]->help, here ? "" : "; here: ", why);
    }
    for (const hx_plugin_name *n = hx_device_names; n->name; n++) {
        if (hx_device_find(n->name)) continue;
        hx_table_add(&table, "%s", n->name);
        hx_table_add(&table, "no");
        hx_table_add(&table, "this hextop was built without it");
    }
    hx_table_end(&table, 2);
    /* "Vector unit of the CPU: avx512; HEXTOP_VECTOR pins one of baseline, avx2, avx512" */
    const char *separator = "";
    printf("\nVector unit of the CPU: %s; the environment variable %s pins one of ",
           hx_vector_unit_name(hx_vector_unit_used()), HX_MACHINE_VECTOR);
    for (int unit = 0; unit < HX_N_VECTOR; unit++) {
        if (!hx_vector_unit_runs((hx_vector_unit)unit)) continue;
        printf("%s%s", separator, hx_vector_unit_name((hx_vector_unit)unit));
        separator = ", ";
    }
    printf("\n");
}

static void list_operator_kinds(void)
{
    static const char *const header[] = {"name",  "device",  "here",       "deterministic",
                                         "mixed", "layouts", "bytes/hex8", "help"};
    char why[256];
    hx_table table;
    printf("\n"
           "Operators (solver.operator, solver.layout); auto takes the fastest by a timing\n");
    /* Prints such as " a device replaces operators that it does not have: ebe8 by ebe, dedup
     * by otf". */
    const char *separator = "  a device replaces operators that it lacks: ";
    for (const hx_plugin_name *n = hx_operator_names; n->name; n++) {
        if (!n->stand_in) continue;
        printf("%s%s as %s", separator, n->name, n->stand_in);
        separator = ", ";
    }
    printf("\n");
    printf("  bytes/hex8: stored bytes per linear hexahedron in elasticity, without mesh and "
           "vectors; for other elements\n"
           "  and heat see `hextop check` and `hextop compare`\n");
    hx_table_begin(&table, "llllllrl");
    add_header(&table, header, 8);
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *s = hx_operator_kinds[i];
        char layouts[64] = "";
        size_t used = 0;
        for (int k = 0; k < HX_N_LAYOUT; k++)
            if (s->layouts & HX_LAYOUT_BIT(k))
                used += (size_t)snprintf(layouts + used, sizeof layouts - used, "%s%s",
                                         used ? ", " : "", hx_layout_name((hx_layout)k));
        hx_table_add(&table, "%s", s->name);
        hx_table_add(&table, "%s", s->device);
        hx_table_add(&table, "%s",
                     is_available(hx_device_find(s->device), why, sizeof why) ? "yes" : "no");
        hx_table_add(&table, "%s", s->deterministic ? "yes" : "no");
        hx_table_add(&table, "%s", s->apply_single ? "yes" : "no");
        hx_table_add(&table, "%s", layouts);
        hx_table_add(&table, "%d", s->bytes_per_elem);
        hx_table_add(&table, "%s", s->help);
    }
    hx_table_end(&table, 2);
}

/* Each kind with the keys that it takes beside kind, and in constraints max, min and name. */
static void list_responses(void)
{
    hx_table table;
    char keys[128];
    printf(
        "\nObjectives and limits (optimization.objective, optimization.constraints), and the keys "
        "that they take\n");
    hx_table_begin(&table, "lll");
    for (size_t i = 0; hx_response_kinds[i]; i++) {
        const hx_response_kind *const kind = hx_response_kinds[i];
        hx_table_add(&table, "%s", kind->name);
        hx_table_add(&table, "%s", hx_response_keys(kind, 0, keys, sizeof keys));
        hx_table_add(&table, "%s%s", kind->help,
                     !kind->is_constraint  ? "; objective only"
                     : !kind->is_objective ? "; limit only"
                                           : "");
    }
    hx_table_end(&table, 2);
}

static void list_others(void)
{
    hx_table table;
    printf("\nPreconditioners (solver.preconditioner)\n");
    hx_table_begin(&table, "ll");
    for (size_t i = 0; hx_preconds[i]; i++) {
        hx_table_add(&table, "%s", hx_preconds[i]->name);
        hx_table_add(&table, "%s", hx_preconds[i]->help);
    }
    hx_table_end(&table, 2);
    printf("\nFilters (optimization.filter.kind)\n");
    hx_table_begin(&table, "ll");
    for (size_t i = 0; hx_filters[i]; i++) {
        hx_table_add(&table, "%s", hx_filters[i]->name);
        hx_table_add(&table, "%s", hx_filters[i]->help);
    }
    hx_table_end(&table, 2);
    list_responses();
    printf("\nUpdates (optimization.update)\n");
    hx_table_begin(&table, "ll");
    for (size_t i = 0; hx_updates[i]; i++) {
        hx_table_add(&table, "%s", hx_updates[i]->name);
        hx_table_add(&table, "%s", hx_updates[i]->help);
    }
    hx_table_end(&table, 2);
    printf("\nGenerators (mesh.generator)\n");
    hx_table_begin(&table, "ll");
    for (size_t i = 0; hx_generators[i]; i++) {
        hx_table_add(&table, "%s", hx_generators[i]->name);
        hx_table_add(&table, "%s", hx_generators[i]->help);
    }
    hx_table_end(&table, 2);
}

static int list(const hx_options *options)
{
    if (options->n_argument > 0) {
        hx_log_usage_error("usage: hextop list [--keys]");
        return 2;
    }
    if (hx_option_given(options, KEYS)) {
        hx_print_keys_markdown();
        return 0;
    }
    list_devices();
    list_operator_kinds();
    list_others();
    return 0;
}

const hx_command hx_command_list = {
    .name = "list",
    .summary = "operators, devices, preconditioners, filters, generators",
    .arguments = "[--keys]",
    .help = "Lists what this build and this machine offer.\n",
    .prints = 1,
    .processes = HX_PROCESSES_FIRST,
    .option = list_options,
    .n_option = sizeof list_options / sizeof list_options[0],
    .run = list,
};
