/* hextop help: explains a command or config keys, and prints man page and shell completion from the
 * same tables. */
#include <stdio.h>
#include <string.h>

#include "../config/config_help.h"
#include "../config/config_schema.h"
#include "../text/commands.h"
#include "command_help.h"
#include "help.h"
#include "help_words.h"

enum { MAN, BASH, ZSH, MARKDOWN };

static const hx_option help_options[] = {
    [MAN] = {"--man", .help = "prints all help as a man page"},
    [BASH] = {"--bash", .help = "prints completion for bash: source <(hextop help --bash)"},
    [ZSH] = {"--zsh",
             .help = "prints completion for zsh, for a file _hextop in a folder of $fpath"},
    [MARKDOWN] = {"--markdown", .help = "prints the reference of all config keys, doc/config.md"},
};

/* A command takes precedence over all other meanings. Terms and former names come before keys, then
 * a warning, then a search for the word. Returns the exit status. */
static int explain(const char *topic)
{
    if (hx_command_find(topic)) {
        hx_print_command_help(hx_command_find(topic));
        /* Also prints the group of keys that has the name of a command. */
        if (hx_key_find("", topic)) {
            printf("\nKeys of the config's group %s:", topic);
            const char *lead = " ";
            for (size_t i = 0; i < hx_n_key; i++) {
                if (!hx_key_is_member(&hx_keys[i], topic)) continue;
                printf("%s%s", lead, hx_keys[i].path);
                lead = ", ";
            }
            printf("\n");
        }
        return 0;
    }
    const size_t n_word = hx_print_words(topic);
    if (hx_print_keys(topic) > 0) {
        hx_print_warning(topic, "\n");
        hx_print_elsewhere(topic);
    } else if (strcmp(topic, "warnings") == 0) {
        hx_print_warnings();
    } else if (hx_print_warning(topic, "")) {
        printf("\n");
        hx_print_found(topic, 0);
    } else if (hx_print_found(topic, 1) == 0 && n_word == 0) {
        hx_help_say_near(topic);
        return 2;
    }
    return 0;
}

static int help(const hx_options *options)
{
    const char *const topic = options->n_argument > 0 ? options->argument[0] : NULL;
    if (hx_option_given(options, MAN)) {
        hx_print_man_page();
    } else if (hx_option_given(options, BASH)) {
        hx_print_bash_completion();
    } else if (hx_option_given(options, ZSH)) {
        hx_print_zsh_completion();
    } else if (hx_option_given(options, MARKDOWN)) {
        hx_print_keys_markdown();
    } else if (!topic) {
        hx_print_usage();
    } else if (strcmp(topic, "config") == 0) {
        hx_print_keys(NULL);
    } else {
        return explain(topic);
    }
    return 0;
}

const hx_command hx_command_help = {
    .name = "help",
    .prints = 1,
    .processes = HX_PROCESSES_FIRST,
    .summary = "prints help on a command, a config key, or any word",
    .arguments = "COMMAND | config | KEY | WORD",
    .help =
        "Prints help on a command, all config keys, those of a group (help filter), or one key "
        "with\n"
        "an example (help filter.radius). For any other word it lists everything with that word in "
        "its\n"
        "name or text: keys, commands, options, operators, preconditioners, filters, generators, "
        "warnings.\n"
        "Terms of the literature (help dirichlet), members of JSON files (help linked_variables) "
        "and "
        "names of\n"
        "earlier versions are explained with the keys and the page of doc/ that describe them.\n"
        "The code of a warning in summary.json (help grey) explains it; help warnings lists all "
        "codes.\n"
        "Without an argument it lists the commands.\n",
    .option = help_options,
    .n_option = sizeof help_options / sizeof help_options[0],
    .run = help,
};
