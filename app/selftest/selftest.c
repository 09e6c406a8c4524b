/* The sections of the selftest and their order. */
#include "selftest.h"

#include <stdio.h>
#include <string.h>

hx_selftest_parts hx_selftest_all(const hx_device_ops *device)
{
    return (hx_selftest_parts){device, hx_operator_kinds, hx_preconds, hx_filters};
}

typedef struct section {
    const char *name;
    int (*run)(hx_selftest *t);
} section;

/* An error outside of a check becomes a failed line. */
static int run_section(hx_selftest *t, const section *s)
{
    t->section = s->name;
    const int rc = s->run(t);
    if (rc >= 0) return HX_OK;
    char why[200];
    snprintf(why, sizeof why, "%.199s", hx_error_message());
    hx_selftest_begin(t, "set-up");
    HX_TRY(HX_RAISE(HX_OK, "%s", why));
    return hx_selftest_end(t, rc, NAN, 0.0, "");
}

static int open_device(hx_selftest *t)
{
    char why[200] = "";
    t->section = "device";
    hx_selftest_begin(t, "open %s", t->parts.device->name);
    if (t->parts.device->prepare) t->parts.device->prepare(0);
    int rc = t->parts.device->available(why, sizeof why)
                 ? hx_device_open(&t->device, t->parts.device)
                 : HX_RAISE(HX_EENV, "%s", why);
    HX_TRY(hx_selftest_end(t, rc, 0.0, 0.0, rc < 0 ? "" : t->device.description));
    return rc < 0 ? 1 : HX_OK;
}

int hx_selftest_run(hx_selftest *t, const hx_selftest_parts *parts)
{
    static const section sections[] = {
        {"elements", hx_selftest_elements}, {"operators", hx_selftest_operators},
        {"matrices", hx_selftest_matrices}, {"solvers", hx_selftest_solvers},
        {"filters", hx_selftest_filters},   {"sensitivities", hx_selftest_sensitivities},
        {"design", hx_selftest_design}};
    t->parts = *parts;
    int rc = open_device(t);
    for (size_t i = 0; rc == HX_OK && i < sizeof sections / sizeof sections[0]; i++)
        if (!t->only || strcmp(t->only, sections[i].name) == 0) rc = run_section(t, &sections[i]);
    hx_device_close(&t->device);
    memset(&t->device, 0, sizeof t->device);
    return rc < 0 ? rc : HX_OK;
}
