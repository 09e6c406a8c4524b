#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/names.h"

enum { QUIET, VERBOSE, HELP, VERSION };

const hx_option hx_common_options[] = {
    [QUIET] = {"--quiet", .letter = "-q", .help = "prints only errors and warnings"},
    [VERBOSE] = {"--verbose", .letter = "-v",
                 .help = "prints more detail; errors with their code and place in the source"},
    [HELP] = {"--help", .letter = "-h", .help = "prints this text, or that of a command"},
    [VERSION] = {"--version", .help = "versions"},
};
const size_t hx_n_interface = sizeof hx_common_options / sizeof hx_common_options[0];

/* An option of a table, and the command that it belongs to (NULL: all). */
typedef struct found_option {
    const hx_option *option;
    const hx_command *owner;
} found_option;

/* Returns 1 if text is that option; a following "=VALUE" is ignored. */
static int is_option(const hx_option *option, const char *text)
{
    const size_t n = strcspn(text, "=");
    if (option->letter && strcmp(option->letter, text) == 0) return 1;
    return strlen(option->name) == n && strncmp(option->name, text, n) == 0 &&
           (option->kind != HX_OPTION_FLAG || !text[n]);
}

static const hx_option *find_in(const hx_option *option, size_t n_option, const char *text)
{
    for (size_t i = 0; i < n_option; i++)
        if (is_option(&option[i], text)) return &option[i];
    return NULL;
}

/* Finds the option of that name: one common to all commands, one of `command` (which may be NULL),
 * or one of another command. */
static found_option find_option(const hx_command *const *commands, const hx_command *command,
                                const char *text)
{
    found_option found = {find_in(hx_common_options, hx_n_interface, text), NULL};
    if (!found.option && command) {
        found.option = find_in(command->option, command->n_option, text);
        found.owner = command;
    }
    for (size_t i = 0; commands[i] && !found.option; i++) {
        found.option = find_in(commands[i]->option, commands[i]->n_option, text);
        found.owner = commands[i];
    }
    if (!found.option || !command || found.owner == command) return found;
    /* the letter of another command may stand for an option that this command has only by its long
     * name */
    const hx_option *const own = find_in(command->option, command->n_option, found.option->name);
    if (own && found.owner) found = (found_option){own, command};
    return found;
}

static size_t add_names(const char **name, size_t n, size_t n_name, const hx_option *option,
                        size_t n_option)
{
    for (size_t i = 0; i < n_option && n < n_name; i++) {
        size_t k = 0;
        while (k < n && strcmp(name[k], option[i].name) != 0) k++;
        if (k == n) name[n++] = option[i].name;
    }
    return n;
}

static int looks_like_option(const char *text)
{
    return text[0] == '-' && text[1] != '\0';
}

/* The first argument that is neither an option nor the value of one. */
static const char *find_command_word(const hx_command *const *commands, int argc, char **argv)
{
    int options_end = 0;
    for (int i = 1; i < argc; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core*): argv has argc texts */
        if (!options_end && strcmp(argv[i], "--") == 0) {
            options_end = 1;
        } else if (!options_end && looks_like_option(argv[i])) {
            const hx_option *option = find_option(commands, NULL, argv[i]).option;
            i += option && option->kind != HX_OPTION_FLAG && !strchr(argv[i], '=');
        } else {
            return argv[i];
        }
    }
    return NULL;
}

/* next: the argument that follows, or NULL. Returns the number of further arguments used, or -1. */
static int take_option(hx_options *options, const hx_command *const *commands, const char *text,
                       const char *next)
{
    const found_option found = find_option(commands, options->command, text);
    const hx_option *const option = found.option;
    if (!option) {
        enum { MOST = 64 };
        const char *name[MOST];
        char hint[512];
        size_t n = add_names(name, 0, MOST, hx_common_options, hx_n_interface);
        for (size_t i = 0; commands[i]; i++)
            n = add_names(name, n, MOST, commands[i]->option, commands[i]->n_option);
        hx_log_usage_error("unknown option '%s'%s", text,
                           hx_name_hint(text, name, n, hint, sizeof hint));
        return -1;
    }
    if (!found.owner) {
        if (option == &hx_common_options[QUIET]) options->level = HX_LOG_QUIET;
        if (option == &hx_common_options[VERBOSE]) options->level = HX_LOG_VERBOSE;
        options->help |= option == &hx_common_options[HELP];
        options->version |= option == &hx_common_options[VERSION];
        return 0;
    }
    const int is_own = found.owner == options->command;
    if (!is_own && !options->stray) {
        options->stray = option->name;
        options->stray_of = found.owner->name;
    }
    const char *const equals = option->kind == HX_OPTION_FLAG ? NULL : strchr(text, '=');
    const char *const value = option->kind == HX_OPTION_FLAG ? option->name
                              : equals                       ? equals + 1
                                                             : next;
    if (!value || !value[0]) {
        hx_log_usage_error("%s needs a value: %s %s", option->name, option->name, option->value);
        return -1;
    }
    if (is_own) options->value[option - found.owner->option] = value;
    return value == next;
}

int hx_options_parse(hx_options *options, const hx_command *const *commands, int argc, char **argv)
{
    int n = 0, options_end = 0;
    memset(options, 0, sizeof *options);
    options->word = find_command_word(commands, argc, argv);
    for (size_t i = 0; options->word && commands[i]; i++)
        if (strcmp(commands[i]->name, options->word) == 0) options->command = commands[i];
    for (int i = 1; i < argc && argv[i]; i++) {
        if (!options_end && strcmp(argv[i], "--") == 0)
            options_end = 1;
        else if (!options_end && looks_like_option(argv[i])) {
            const char *const next = i + 1 < argc ? argv[i + 1] : NULL;
            const int used = take_option(options, commands, argv[i], next);
            if (used < 0) return -1;
            i += used;
        } else
            argv[n++] = argv[i];
    }
    if (n > 0) {
        options->n_argument = (size_t)(n - 1);
        options->argument = (const char *const *)(argv + 1);
    }
    return 0;
}

const char *hx_option_text(const hx_options *options, int option)
{
    const char *const value = options->value[option];
    return value ? value : options->command->option[option].fallback;
}

int hx_option_read_number(const char *name, const char *text, double most, double *value)
{
    char *end = NULL;
    *value = (double)NAN;
    if (!text) return HX_OK;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value > 0.0 && *value <= most) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s '%s' is not a number above 0 and at most %g", name, text, most);
}

int hx_option_read_integer(const char *name, const char *text, long least, long most, int *value)
{
    char *end = NULL;
    if (!text) return HX_OK;
    const long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < least || number > most)
        return HX_RAISE(HX_EINPUT, "%s %s: expected a whole number from %ld to %ld", name, text,
                        least, most);
    *value = (int)number;
    return HX_OK;
}

int hx_option_given(const hx_options *options, int option)
{
    return options->value[option] != NULL;
}

int hx_command_takes_keys(const hx_command *command)
{
    return strstr(command->arguments, "KEY=VALUE") != NULL;
}
