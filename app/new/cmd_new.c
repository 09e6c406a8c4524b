/* hextop new: prints a first config for a part. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../text/commands.h"
#include "core/base/atomic_file.h"
#include "core/base/links.h"
#include "core/base/memory.h"
#include "core/base/text_stream.h"
#include "core/generate/generate.h"
#include "new.h"

enum { OUTPUT };

/* An existing config is never replaced. */
static int check_target(const char *target)
{
    if (!target) return HX_OK;
    HX_TRY(hx_link_check_way(target));
    if (access(target, F_OK) != 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "'%s' exists: name another file, or remove it", target);
}

static int write_new_config(const hx_new_part *part, const char *target)
{
    int rc;
    hx_atomic_file file;
    HX_TRY(hx_atomic_file_open(&file, target));
    HX_TRY_FAIL(hx_new_write(part, file.stream));
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}

/* Writes the complete config, or nothing. */
static int write_out(const hx_new_part *part)
{
    char *text = NULL;
    hx_text_stream out;
    HX_TRY(hx_text_stream_open(&out, "config"));
    int rc = hx_new_write(part, out.stream);
    if (rc == HX_OK) rc = hx_text_stream_close(&out, &text, NULL);
    if (rc == HX_OK) fputs(text, stdout);
    hx_text_stream_free(&out);
    free(text);
    return rc;
}

/* The file to which standard output is redirected, as in `hextop new PART > FILE`; "": none, or
 * unknown. */
static const char *find_stdout(char path[PATH_MAX])
{
    struct stat info;
    ssize_t n = -1;
    if (fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode))
        n = readlink("/proc/self/fd/1", path, PATH_MAX - 1);
    path[n > 0 && path[0] == '/' ? n : 0] = '\0';
    return path;
}

/* Logs to stderr, since standard output receives the config. */
static void say_line(void *user, hx_log_kind kind, const char *text)
{
    (void)user;
    if (kind == HX_LOG_INFO || kind == HX_LOG_DETAIL) fprintf(stderr, "%s\n", text);
    if (kind == HX_LOG_WARNING) fprintf(stderr, "hextop: warning: %s\n", text);
}

/* Value of a KEY=VALUE argument, without quotes; NULL: it has another key, or is empty. */
static const char *value_of(const char *argument, const char *key, char text[PATH_MAX])
{
    const size_t n = strlen(key);
    if (strncmp(argument, key, n) != 0 || argument[n] != '=') return NULL;
    const char *value = argument + n + 1;
    const size_t quote = value[0] == '"';
    snprintf(text, PATH_MAX, "%s", value + quote);
    const size_t length = strlen(text);
    if (quote && length > 0 && text[length - 1] == '"') text[length - 1] = '\0';
    return text[0] ? text : NULL;
}

/* Finds the part. It is the argument PART; mesh.generator= replaces a PART that is a generator, and
 * mesh.file= one that is a file. Without PART, it is given by mesh.generator= or mesh.file=.
 * override[*n]: the other arguments. */
static const char *find_part(const hx_options *options, const char **override, size_t *n,
                             char text[PATH_MAX])
{
    const char *named = "cantilever";
    /* Index of PART: the first argument that is not KEY=VALUE, or that is KEY=VALUE but also
     * the name of a file. Returns n_argument if there is none. */
    size_t place = 0;
    while (place < options->n_argument && strchr(options->argument[place], '=') &&
           access(options->argument[place], F_OK) != 0)
        place++;
    const int has_part = place < options->n_argument;
    if (has_part) named = options->argument[place];
    const int is_model = has_part && !hx_generator_find(named);
    *n = 0;
    for (size_t i = 0; i < options->n_argument; i++) {
        const char *const argument = options->argument[i], *value = NULL;
        if (i == place) continue;
        if (!is_model) value = value_of(argument, "mesh.generator", text);
        if (!value && (is_model || !has_part)) value = value_of(argument, "mesh.file", text);
        if (value)
            named = value;
        else
            override[(*n)++] = argument;
    }
    return named;
}

static int make_config(hx_new_part *part, const hx_options *options, const char **override)
{
    char path[PATH_MAX], text[PATH_MAX];
    const char *const target = hx_option_text(options, OUTPUT);
    size_t n;
    const char *const named = find_part(options, override, &n, text);
    HX_TRY(check_target(target));
    HX_TRY(hx_new_part_open(part, named, target ? target : find_stdout(path), n, override));
    HX_TRY(target ? write_new_config(part, target) : write_out(part));
    if (target)
        hx_log_info(hx_new_is_complete(part)
                        ? "%s: supports and loads are complete; next run `hextop check` on it"
                        : "%s: next name a support and a load in it, then run `hextop check` on it",
                    target);
    return HX_OK;
}

static int command_new(const hx_options *options)
{
    hx_new_part part = {0};
    const hx_log_level level = options->level == HX_LOG_VERBOSE  ? HX_LOG_VERBOSE
                               : options->level == HX_LOG_NORMAL ? HX_LOG_NORMAL
                                                                 : HX_LOG_QUIET;
    const hx_log_sink sink = {.level = level, .line = say_line, .user = &part};
    HX_TRY(hx_log_add_sink(&sink));
    const int printed = hx_log_set_printing(0);
    const char **override = NULL;
    int rc = hx_alloc(&override, options->n_argument + 1, sizeof *override, "arguments");
    if (rc == HX_OK) rc = make_config(&part, options, override);
    free(override);
    hx_log_set_printing(printed);
    hx_log_remove_sink(&part);
    hx_new_part_free(&part);
    return rc;
}

static const hx_option new_options[] = {
    [OUTPUT] = {"--output", HX_OPTION_FILE, "FILE.cfg", .letter = "-o", .note = "standard output",
                .help = "file that the config is written to; an existing file is not replaced"},
};

const hx_command hx_command_new = {
    .name = "new",
    .summary = "prints a config to start from, for a part of your own",
    .arguments = "[PART] [KEY=VALUE ...]",
    .ends = {""},
    .help =
        "PART is a mesh, a CAD model or a generator (default: cantilever); it may also be named "
        "by\n"
        "mesh.generator=NAME or mesh.file=FILE. KEY=VALUE replaces the value of any key that the "
        "config has.\n"
        "Prints a config with comments: the part's sets "
        "with\n"
        "area and centre, supports and loads prepared with the names of these sets, steel, and a "
        "filter\n"
        "of 2.5 mean edges. It runs once a support and a load are named: hextop new part.step > "
        "part.cfg\n"
        "Supports, loads and the material that a mesh file states are taken from the file; if it\n"
        "states all three, the config runs as printed: hextop new job.inp > job.cfg\n"
        "A CAD model is meshed with about 100,000 tetrahedra, or by mesh.element_size=LENGTH; the "
        "mesh\n"
        "is kept in output.directory, where check and run find it.\n",
    .prints = 1,
    .processes = HX_PROCESSES_FIRST,
    .n_min = 0,
    .option = new_options,
    .n_option = sizeof new_options / sizeof new_options[0],
    .run = command_new,
};
