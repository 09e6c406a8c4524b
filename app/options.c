#include "options.h"

#include <stdio.h>
#include <string.h>

#include "core/names.h"

/* OWN_FLAG, OWN_TEXT: of one command, which remembers the first that was given. */
typedef enum { FLAG, QUIET, VERBOSE, OWN_FLAG, OWN_TEXT } option_kind;

typedef struct option_word {
    const char *name, *letter; /* letter: short form or NULL */
    option_kind kind;
    size_t offset;     /* in hx_options; QUIET and VERBOSE: none */
    const char *value; /* what follows, for messages */
    size_t first;      /* in hx_options: the first option of its command */
} option_word;

#define AT(member) offsetof(hx_options, member)

static const option_word words[] = {
    {"--help", "-h", FLAG, AT(help), NULL, 0},
    {"--version", NULL, FLAG, AT(version), NULL, 0},
    {"--keys", NULL, FLAG, AT(keys), NULL, 0},
    {"--quiet", "-q", QUIET, 0, NULL, 0},
    {"--verbose", "-v", VERBOSE, 0, NULL, 0},
    {"--paper", NULL, OWN_FLAG, AT(compare.paper), NULL, AT(compare.first)},
    {"--all-devices", NULL, OWN_FLAG, AT(compare.all_devices), NULL, AT(compare.first)},
    {"--no-pcg", NULL, OWN_FLAG, AT(compare.no_pcg), NULL, AT(compare.first)},
    {"--operators", NULL, OWN_TEXT, AT(compare.operators), "NAME,NAME", AT(compare.first)},
    {"--sizes", NULL, OWN_TEXT, AT(compare.sizes), "1,2,3", AT(compare.first)},
    {"--repeats", NULL, OWN_TEXT, AT(compare.repeats), "N", AT(compare.first)},
    {"--iterations", NULL, OWN_TEXT, AT(compare.iterations), "N", AT(compare.first)},
    {"--config", NULL, OWN_TEXT, AT(surface.config), "FILE", AT(surface.first)},
    {"--threshold", NULL, OWN_TEXT, AT(surface.threshold), "DENSITY", AT(surface.first)},
    {"--volume", NULL, OWN_TEXT, AT(surface.volume), "VOLUME", AT(surface.first)},
    {"--smooth", NULL, OWN_TEXT, AT(surface.smooth), "STEPS", AT(surface.first)},
    {"--preserve", NULL, OWN_TEXT, AT(surface.preserve), "loads,passive", AT(surface.first)},
    {"--keep-largest", NULL, OWN_FLAG, AT(surface.keep_largest), NULL, AT(surface.first)},
    {"--output", NULL, OWN_TEXT, AT(compare.output), "DIR", AT(compare.first)},
};
enum { N_WORD = sizeof words / sizeof words[0] };

/* The option of that name, "=VALUE" cut off; NULL after saying that there is none. */
static const option_word *find_word(const char *text)
{
    const char *name[N_WORD];
    char hint[512];
    const size_t n = strcspn(text, "=");
    for (size_t i = 0; i < N_WORD; i++) {
        name[i] = words[i].name;
        const int has_value = words[i].kind == OWN_TEXT;
        if (strlen(name[i]) == n && strncmp(name[i], text, n) == 0 && (has_value || !text[n]))
            return &words[i];
        if (words[i].letter && strcmp(words[i].letter, text) == 0) return &words[i];
    }
    hx_log_usage_error("unknown option '%s'%s", text,
                       hx_name_hint(text, name, N_WORD, hint, sizeof hint));
    return NULL;
}

static void set_flag(hx_options *options, const option_word *word)
{
    const int yes = 1;
    memcpy((char *)options + word->offset, &yes, sizeof yes);
}

/* next: the argument after it, or NULL. Returns the number of further arguments used, or -1. */
static int take_option(hx_options *options, const char *text, const char *next)
{
    const option_word *word = find_word(text);
    if (!word) return -1;
    if (word->kind == FLAG || word->kind == OWN_FLAG) set_flag(options, word);
    if (word->kind == QUIET) options->level = HX_LOG_QUIET;
    if (word->kind == VERBOSE) options->level = HX_LOG_VERBOSE;
    if (word->kind != OWN_FLAG && word->kind != OWN_TEXT) return 0;
    const char **first = (const char **)((char *)options + word->first);
    if (!*first) *first = word->name;
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
            const int used = take_option(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
            if (used < 0) return -1;
            i += used;
        } else
            argv[n++] = argv[i];
    }
    if (n > 0) {
        options->command = argv[0];
        options->n_argument = (size_t)(n - 1);
        options->argument = (const char *const *)(argv + 1);
    }
    return 0;
}
