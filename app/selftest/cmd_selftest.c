/* hextop selftest: checks for a new machine, before its results are trusted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/commands.h"
#include "core/base/clock.h"
#include "core/base/links.h"
#include "core/base/memory.h"
#include "selftest_report.h"

enum { DEVICE, MEMORY, OUTPUT, MAX_DEVICE = 8 };

/* Finds the requested device, or all that can run here; ends with NULL. */
static int find_devices(const char *name, const hx_device_ops *device[MAX_DEVICE + 1])
{
    char why[200] = "";
    size_t n = 0;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    memset(device, 0, (MAX_DEVICE + 1) * sizeof *device);
    if (name && !hx_device_find(name))
        return HX_RAISE(HX_EINPUT,
                        "--device: this build has no '%s'; `hextop list` prints its devices", name);
    for (size_t i = 0; hx_devices[i] && n < MAX_DEVICE; i++) {
        if (name && strcmp(hx_devices[i]->name, name) != 0) continue;
        if (hx_devices[i]->available(why, sizeof why))
            device[n++] = hx_devices[i];
        else if (name)
            return HX_RAISE(HX_EENV, "--device: '%s' cannot run here: %s", name, why);
        else
            hx_log_info("%s: not available: %s", hx_devices[i]->name, why);
    }
    return HX_OK;
}

static int selftest(hx_selftest *t, const hx_options *options)
{
    const hx_device_ops *device[MAX_DEVICE + 1];
    const char *const output = hx_option_text(options, OUTPUT);
    const char *const memory_text = hx_option_text(options, MEMORY);
    const double begin = hx_clock();
    double memory = 0.0;
    char devices[400];
    hx_selftest_report report = {0};
    if (options->n_argument > 0) {
        hx_log_usage_error("usage: hextop selftest [--device NAME]");
        return 2;
    }
    if (memory_text) HX_TRY(hx_option_read_number("--memory", memory_text, 200.0, &memory));
    if (output) HX_TRY(hx_link_check_way(output));
    HX_TRY(find_devices(hx_option_text(options, DEVICE), device));
    t->begin = hx_selftest_report_begin;
    t->end = hx_selftest_report_end;
    t->context = &report;
    for (size_t i = 0; device[i]; i++) {
        const hx_selftest_parts parts = hx_selftest_all(device[i]);
        HX_TRY(hx_selftest_run(t, &parts));
        if (memory > 0.0) HX_TRY(hx_selftest_run_memory(t, &parts, 1e9 * memory));
    }
    HX_TRY(hx_selftest_run_host(t));
    /* "cpu (OpenMP, 2 threads) and cuda (NVIDIA H200)", from the lines at their opening. */
    size_t used = 0;
    devices[0] = '\0';
    for (size_t i = 0; i < t->n && used < sizeof devices; i++) {
        const hx_selftest_line *const line = &t->lines[i];
        if (strcmp(line->section, "device") != 0) continue;
        used += (size_t)snprintf(devices + used, sizeof devices - used, "%s%s (%s)",
                                 used ? " and " : "", line->device,
                                 line->passed ? line->against : "cannot be opened");
    }
    hx_selftest_report_sum(t, hx_clock() - begin, devices);
    if (output) HX_TRY(hx_selftest_write_json(t, hx_clock() - begin, devices, output));
    return t->n_failed > 0 ? 1 : HX_OK;
}

static int command_selftest(const hx_options *options)
{
    hx_selftest t;
    memset(&t, 0, sizeof t);
    const int rc = selftest(&t, options);
    hx_selftest_free(&t);
    return rc;
}

static const hx_option selftest_options[] = {
    [DEVICE] = {"--device", HX_OPTION_TEXT, "NAME", .note = "all devices that can run here",
                .help = "cpu or cuda"},
    [MEMORY] =
        {"--memory", HX_OPTION_TEXT, "GB",
         .help = "amount of device memory to which test patterns are also written and read back"},
    [OUTPUT] = {"--output", HX_OPTION_FILE, "FILE.json", .letter = "-o",
                .help = "file to which all lines are also written, as JSON"},
};

const hx_command hx_command_selftest = {
    .name = "selftest",
    .summary = "checks this build on this machine against references",
    .arguments = "[--device NAME]",
    .ends = {""},
    .help = "Checks elements, operators, matrices, preconditioners, filters, sensitivities and "
            "designs of this\n"
            "build on every device that can run here, on small parts, against references that are "
            "computed\n"
            "independently: closed forms, dense matrices on the host, differences, numbers of "
            "another program.\n"
            "A line contains what was compared, the largest error, its bound and the seconds. Run "
            "it on a new\n"
            "machine, driver or compiler before results are trusted. -q prints only failures. Exit "
            "status 1 if\n"
            "a check failed.\n",
    .n_min = 0,
    .option = selftest_options,
    .n_option = sizeof selftest_options / sizeof selftest_options[0],
    .run = command_selftest,
};
