/* hextop help: on a command, on config keys; and the same tables as man page and completion. */
#include <stdio.h>
#include <string.h>

#include "../config/config_help.h"
#include "../text/commands.h"
#include "command_help.h"
#include "help_man.h"
#include "help_shell.h"

enum { MAN, BASH, ZSH };

static const hx_option help_options[] = {
    [MAN] = {.name = "--man", .help = "all of it as a man page"},
    [BASH] = {.name = "--bash", .help = "completion for bash: source <(hextop help --bash)"},
    [ZSH] = {.name = "--zsh", .help = "completion for zsh, a file _hextop in a folder of $fpath"},
};

/* A command wins over a key of its name. */
static int help(const hx_options *options)
{
    const char *const topic = options->n_argument > 0 ? options->argument[0] : NULL;
    if (hx_option_given(options, MAN)) {
        hx_print_man_page();
    } else if (hx_option_given(options, BASH)) {
        hx_print_bash_completion();
    } else if (hx_option_given(options, ZSH)) {
        hx_print_zsh_completion();
    } else if (!topic) {
        hx_print_usage();
    } else if (strcmp(topic, "config") == 0) {
        hx_print_keys(NULL);
    } else if (hx_command_find(topic)) {
        hx_print_command_help(hx_command_find(topic));
    } else if (hx_print_keys(topic) == 0) {
        (void)hx_command_want(topic); /* says that there is none */
        return 2;
    }
    return 0;
}

const hx_command hx_command_help = {
    .name = "help",
    .prints = 1,
    .summary = "help on a command, on all config keys, or on some",
    .arguments = "COMMAND | config | KEY",
    .help = "Explains a command, all config keys, or those of a group or name: help filter.\n"
            "Without an argument it lists the commands.\n",
    .option = help_options,
    .n_option = sizeof help_options / sizeof help_options[0],
    .run = help,
};
