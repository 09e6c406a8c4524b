#include "registry.h"

#include <string.h>

const hx_device_ops *hx_device_find(const char *name)
{
    for (size_t i = 0; hx_devices[i]; i++)
        if (strcmp(hx_devices[i]->name, name) == 0) return hx_devices[i];
    return NULL;
}

const hx_operator_kind *hx_operator_kind_find(const char *device, const char *name)
{
    for (size_t i = 0; hx_operator_kinds[i]; i++)
        if (strcmp(hx_operator_kinds[i]->name, name) == 0 &&
            strcmp(hx_operator_kinds[i]->device, device) == 0)
            return hx_operator_kinds[i];
    return NULL;
}

const hx_precond_kind *hx_precond_find(const char *name)
{
    for (size_t i = 0; hx_preconds[i]; i++)
        if (strcmp(hx_preconds[i]->name, name) == 0) return hx_preconds[i];
    return NULL;
}

const hx_filter_kind *hx_filter_find(const char *name)
{
    for (size_t i = 0; hx_filters[i]; i++)
        if (strcmp(hx_filters[i]->name, name) == 0) return hx_filters[i];
    return NULL;
}

const hx_response_kind *hx_response_kind_find(const char *name)
{
    for (size_t i = 0; hx_response_kinds[i]; i++)
        if (strcmp(hx_response_kinds[i]->name, name) == 0) return hx_response_kinds[i];
    return NULL;
}

const hx_update_kind *hx_update_find(const char *name)
{
    for (size_t i = 0; hx_updates[i]; i++)
        if (strcmp(hx_updates[i]->name, name) == 0) return hx_updates[i];
    return NULL;
}

/* The thread maps of a GPU have one meaning on a CPU. */
const hx_operator_kind *hx_operator_kind_resolve(const char *device, const char *name,
                                                 int *substituted)
{
    const hx_operator_kind *op_kind = hx_operator_kind_find(device, name);
    *substituted = 0;
    for (const hx_plugin_name *n = hx_operator_names; !op_kind && n->name; n++)
        if (n->stand_in && strcmp(n->name, name) == 0) {
            op_kind = hx_operator_kind_find(device, n->stand_in);
            *substituted = 1;
        }
    return op_kind;
}

hx_solver_params hx_solver_defaults(void)
{
    return (hx_solver_params){.choose = {.op_kinds = hx_operator_kinds, .preconds = hx_preconds}};
}
