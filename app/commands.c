#include "text/commands.h"

#include <string.h>

#include "core/base/names.h"

const hx_command *const hx_commands[] = {
    &hx_command_new,     &hx_command_run,     &hx_command_lightest,
    &hx_command_check,   &hx_command_compare, &hx_command_verify,
    &hx_command_analyse, &hx_command_mesh,    &hx_command_surface,
    &hx_command_report,  &hx_command_matrix,  &hx_command_selftest,
    &hx_command_list,    &hx_command_help,    NULL,
};
enum { N_COMMAND = sizeof hx_commands / sizeof hx_commands[0] - 1 };

const hx_command *hx_command_find(const char *name)
{
    for (size_t i = 0; i < N_COMMAND; i++)
        if (strcmp(hx_commands[i]->name, name) == 0) return hx_commands[i];
    return NULL;
}

const hx_command *hx_command_require(const char *name)
{
    const char *names[N_COMMAND];
    char hint[256];
    const hx_command *const command = hx_command_find(name);
    if (command) return command;
    for (size_t i = 0; i < N_COMMAND; i++) names[i] = hx_commands[i]->name;
    hx_log_usage_error("unknown command '%s'%s", name,
                       hx_name_hint(name, names, N_COMMAND, hint, sizeof hint));
    return NULL;
}
