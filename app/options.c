#include "options.h"

#include <stdio.h>
#include <string.h>

#include "core/names.h"

/* OWN_FLAG, OWN_TEXT: of one command; two commands may have options of the same name. */
typedef enum { FLAG, QUIET, VERBOSE, OWN_FLAG, OWN_TEXT } option_kind;

typedef struct option_word {
    const char *name, *letter; /* letter: short form or NULL */
    option_kind kind;
    size_t offset;       /* in hx_options; QUIET and VERBOSE: none */
    const char *value;   /* what follows, for messages */
    const char *command; /* whose option it is; NULL: of all */
} option_word;

#define AT(member) offsetof(hx_options, member)

static const option_word words[] = {
    {"--help", "-h", FLAG, AT(help), NULL, NULL},
    {"--version", NULL, FLAG, AT(version), NULL, NULL},
    {"--keys", NULL, FLAG, AT(keys), NULL, NULL},
    {"--quiet", "-q", QUIET, 0, NULL, NULL},
    {"--verbose", "-v", VERBOSE, 0, NULL, NULL},
    {"--paper", NULL, OWN_FLAG, AT(compare.paper), NULL, "compare"},
    {"--all-devices", NULL, OWN_FLAG, AT(compare.all_devices), NULL, "compare"},
    {"--no-pcg", NULL, OWN_FLAG, AT(compare.no_pcg), NULL, "compare"},
    {"--operators", NULL, OWN_TEXT, AT(compare.operators), "NAME,NAME", "compare"},
    {"--sizes", NULL, OWN_TEXT, AT(compare.sizes), "1,2,3", "compare"},
    {"--repeats", NULL, OWN_TEXT, AT(compare.repeats), "N", "compare"},
    {"--iterations", NULL, OWN_TEXT, AT(compare.iterations), "N", "compare"},
    {"--output", NULL, OWN_TEXT, AT(compare.output), "DIR", "compare"},
    {"--output", NULL, OWN_TEXT, AT(verify.output), "FILE.json", "verify"},
    {"--config", NULL, OWN_TEXT, AT(surface.config), "FILE", "surface"},
    {"--threshold", NULL, OWN_TEXT, AT(surface.threshold), "DENSITY", "surface"},
    {"--threshold", NULL, OWN_TEXT, AT(verify.threshold), "DENSITY", "verify"},
    {"--volume", NULL, OWN_TEXT, AT(surface.volume), "VOLUME", "surface"},
    {"--smooth", NULL, OWN_TEXT, AT(surface.smooth), "STEPS", "surface"},
    {"--preserve", NULL, OWN_TEXT, AT(surface.preserve), "loads,passive", "surface"},
    {"--preserve", NULL, OWN_TEXT, AT(verify.preserve), "loads,passive", "verify"},
    {"--keep-largest", NULL, OWN_FLAG, AT(surface.keep_largest), NULL, "surface"},
    {"--tolerance", NULL, OWN_TEXT, AT(verify.tolerance), "PERCENT", "verify"},
    {"--vtk", NULL, OWN_TEXT, AT(verify.vtk), "FILE.vtk", "verify"},
};
enum { N_WORD = sizeof words / sizeof words[0] };

/* 1 if text, "=VALUE" cut off, is that option. */
static int is_word(const option_word *word, const char *text)
{
    const size_t n = strcspn(text, "=");
    if (word->letter && strcmp(word->letter, text) == 0) return 1;
    return strlen(word->name) == n && strncmp(word->name, text, n) == 0 &&
           (word->kind == OWN_TEXT || !text[n]);
}

/* The option of that name, the command's own if there are several; NULL after saying that there is
 * none. */
static const option_word *find_word(const char *text, const char *command)
{
    const char *name[N_WORD];
    char hint[512];
    const option_word *found = NULL;
    size_t n_name = 0; /* equal names stand side by side */
    for (size_t i = 0; i < N_WORD; i++) {
        const char *const owner = words[i].command;
        if (i == 0 || strcmp(words[i].name, name[n_name - 1]) != 0) name[n_name++] = words[i].name;
        if (!is_word(&words[i], text)) continue;
        if (!found || (command && owner && strcmp(command, owner) == 0)) found = &words[i];
    }
    if (!found)
        hx_log_usage_error("unknown option '%s'%s", text,
                           hx_name_hint(text, name, n_name, hint, sizeof hint));
    return found;
}

static void set_flag(hx_options *options, const option_word *word)
{
    const int yes = 1;
    memcpy((char *)options + word->offset, &yes, sizeof yes);
}

/* next: the argument after it, or NULL. Returns the number of further arguments used, or -1. */
static int take_option(hx_options *options, const char *command, const char *text, const char *next)
{
    const option_word *word = find_word(text, command);
    if (!word) return -1;
    if (word->kind == FLAG || word->kind == OWN_FLAG) set_flag(options, word);
    if (word->kind == QUIET) options->level = HX_LOG_QUIET;
    if (word->kind == VERBOSE) options->level = HX_LOG_VERBOSE;
    if (!word->command) return 0;
    if (!options->stray && !(command && strcmp(command, word->command) == 0)) {
        options->stray = word->name;
        options->stray_of = word->command;
    }
    if (word->kind == OWN_FLAG) return 0;
    const char *value = strchr(text, '=');
    const int used = value ? 0 : 1;
    value = value ? value + 1 : next;
    if (!value || !value[0]) {
        hx_log_usage_error("%s needs a value: %s %s", word->name, word->name, word->value);
        return -1;
    }
    memcpy((char *)options + word->offset, &value, sizeof value);
    return used;
}

int hx_options_parse(hx_options *options, int argc, char **argv)
{
    int n = 0, options_end = 0;
    memset(options, 0, sizeof *options);
    for (int i = 1; i < argc; i++) {
        if (!options_end && strcmp(argv[i], "--") == 0)
            options_end = 1;
        else if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0') {
            const char *const next = i + 1 < argc ? argv[i + 1] : NULL;
            const int used = take_option(options, n > 0 ? argv[0] : NULL, argv[i], next);
            if (used < 0) return -1;
            i += used;
        } else
            argv[n++] = argv[i];
    }
    if (n > 0) {
        options->command = argv[0];
        options->n_argument = (size_t)(n - 1);
        options->argument = (const char *const *)(argv + 1);
        if (options->stray && strcmp(options->stray_of, argv[0]) == 0)
            options->stray = NULL; /* it came before its command */
    }
    return 0;
}
