#include "options.h"

#include <string.h>

#include "core/names.h"

static int take_option(hx_options *options, const char *text)
{
    static const char *const known[] = {"--help", "--version", "--quiet", "--verbose", "--keys"};
    char hint[256];
    if (strcmp(text, "-h") == 0 || strcmp(text, "--help") == 0)
        options->help = 1;
    else if (strcmp(text, "--version") == 0)
        options->version = 1;
    else if (strcmp(text, "-q") == 0 || strcmp(text, "--quiet") == 0)
        options->level = HX_LOG_QUIET;
    else if (strcmp(text, "-v") == 0 || strcmp(text, "--verbose") == 0)
        options->level = HX_LOG_VERBOSE;
    else if (strcmp(text, "--keys") == 0)
        options->keys = 1;
    else {
        hx_log_usage_error(
            "unknown option '%s'%s", text,
            hx_name_hint(text, known, sizeof known / sizeof known[0], hint, sizeof hint));
        return -1;
    }
    return 0;
}

int hx_options_parse(hx_options *options, int argc, char **argv)
{
    int n = 0, options_end = 0;
    memset(options, 0, sizeof *options);
    for (int i = 1; i < argc; i++) {
        if (!options_end && strcmp(argv[i], "--") == 0)
            options_end = 1;
        else if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (take_option(options, argv[i]) < 0) return -1;
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
