/* Prints the tables of papers P2 to P5 (doc/references.md): what they measured beside the same
 * measurements here, on meshes with as many elements or nodes.
 *
 *     paperbench CONFIG [KEY=VALUE ...] [--papers all|p2|p3|p4|p5] [--most ELEMENTS] [-q]
 *
 * The config names the device; its mesh and its problem are not used. Exit status: 0 done, 1 a
 * result is wrong or the run failed, 2 usage or config. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/matrix/matrix_job.h"
#include "app/session/machine.h"
#include "app/text/log.h"
#include "app/text/stack.h"
#include "app/text/streams.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/registry.h"
#include "core/version.h"
#include "papers.h"

typedef struct paper_tables {
    const char *name;
    int (*print)(hx_paper_bench *bench);
} paper_tables;

static const paper_tables papers[] = {
    {"p2", hx_bench_p2}, {"p3", hx_bench_p3}, {"p4", hx_bench_p4}, {"p5", hx_bench_p5}};
enum { N_PAPER = sizeof papers / sizeof papers[0] };

enum { PAPERS, MOST, N_OPTION };

/* Elements that take minutes: on a CPU with few cores, and on a GPU. */
static int64_t most_of(const hx_device *dev)
{
    return dev->ops == hx_device_find("cpu") ? 70000 : 8100000;
}

/* The largest mesh of P3, if only the current range is on the device. */
static int64_t most_streamed(const hx_device *dev)
{
    return dev->ops == hx_device_find("cpu") ? most_of(dev) : 27000000;
}

/* On a GPU a solid patch of 128^3 points of degree 2. */
static int64_t most_of_patch(const hx_device *dev)
{
    return dev->ops == hx_device_find("cpu") ? most_of(dev) : 10000000;
}

/* Prints the tables of one paper, or of all if `only` is "all". `most`: number of elements of the
 * largest mesh; 0: as many as the device can handle in minutes. Returns 1 if a result is wrong. */
static int print_papers(hx_device *dev, const char *only, int64_t most)
{
    hx_paper_bench bench = {.shared = {.dev = dev},
                            .most = most > 0 ? most : most_of(dev),
                            .most_stream = most > 0 ? most : most_streamed(dev),
                            .most_patch = most > 0 ? most : most_of_patch(dev)};
    const hx_bench *const done = &bench.shared;
    HX_TRY(hx_bench_begin(&bench.shared));
    for (int i = 0; i < N_PAPER; i++)
        if (strcmp(only, "all") == 0 || strcmp(only, papers[i].name) == 0)
            HX_TRY(papers[i].print(&bench));
    hx_log_info("%s", "");
    for (int single = 0; single < 2; single++)
        if (done->n_checked[single] > 0)
            hx_log_info("  checked: products of %d matrices from different fills, in %s precision: "
                        "off by at most %.1e",
                        done->n_checked[single], single ? "single" : "double", done->worst[single]);
    return hx_bench_verdict(done);
}

static int check_papers(const char *text)
{
    const char *name[N_PAPER + 1] = {"all"};
    char hint[256];
    for (int i = 0; i < N_PAPER; i++) name[i + 1] = papers[i].name;
    for (int i = 0; i < N_PAPER + 1; i++)
        if (strcmp(text, name[i]) == 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "--papers '%s' is unknown%s", text,
                    hx_name_hint(text, name, N_PAPER + 1, hint, sizeof hint));
}

static int read_most(const char *text, int64_t *most)
{
    char *end = NULL;
    *most = 0;
    if (!text) return HX_OK;
    const double n = strtod(text, &end);
    if (end == text || *end != '\0' || !(n >= 1.0 && n <= 1e9))
        return HX_RAISE(HX_EINPUT, "--most '%s' is not a number of elements from 1 to 1e9", text);
    *most = (int64_t)n;
    return HX_OK;
}

static int print_tables(hx_session *s, const hx_options *options)
{
    const char *const only = hx_option_text(options, PAPERS);
    const hx_device_ops *ops = NULL;
    int64_t most = 0;
    HX_TRY(check_papers(only));
    HX_TRY(read_most(hx_option_text(options, MOST), &most));
    HX_TRY(hx_config_read(&s->cfg, options->argument[0], options->n_argument - 1,
                          options->argument + 1));
    HX_TRY(hx_matrix_choose_device(s));
    HX_TRY(hx_session_find_device(s, &ops));
    HX_TRY(hx_session_start_device(s, ops));
    return print_papers(&s->device, only, most);
}

static int command_papers(const hx_options *options)
{
    hx_session s;
    memset(&s, 0, sizeof s);
    const int rc = print_tables(&s, options);
    hx_session_free(&s);
    return rc;
}

static const hx_option paper_options[N_OPTION] = {
    [PAPERS] = {.name = "--papers",
                .kind = HX_OPTION_TEXT,
                .value = "all|p2|p3|p4|p5",
                .fallback = "all",
                .help = "papers whose tables are printed (default: all)"},
    [MOST] = {.name = "--most",
              .kind = HX_OPTION_TEXT,
              .value = "ELEMENTS",
              .help = "largest mesh (default: 70,000 on a CPU, 8.1 million on a GPU)"},
};

static const hx_command command = {
    .name = "paperbench",
    .summary = "prints the tables of papers P2 to P5 beside the same measurements here",
    .arguments = "CONFIG [KEY=VALUE ...]",
    .n_min = 1,
    .option = paper_options,
    .n_option = N_OPTION,
    .run = command_papers,
};

static void print_options(const hx_option *option, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s%s%s%s%s", option[i].letter ? option[i].letter : "",
                 option[i].letter ? ", " : "", option[i].name, option[i].value ? " " : "",
                 option[i].value ? option[i].value : "");
        printf("  %-26s %s\n", text, option[i].help);
    }
}

static void print_help(void)
{
    printf("usage: paperbench %s [OPTION ...]\n\n%s; the config names the device\n\n",
           command.arguments, command.summary);
    print_options(paper_options, N_OPTION);
    print_options(hx_common_options, hx_n_interface);
}

/* Runs the command like main.c of the program. */
static int run_parsed(const hx_options *options)
{
    if (options->version) {
        printf("paperbench of hextop %s\n", HX_VERSION);
        return 0;
    }
    if (options->help) {
        print_help();
        return 0;
    }
    if (options->n_argument < command.n_min) {
        hx_log_usage_error("usage: paperbench %s", command.arguments);
        return 2;
    }
    int rc = hx_machine_pin();
    if (rc >= 0) rc = command.run(options);
    if (rc >= 0) return rc;
    hx_log_error(rc);
    return hx_error_exit_status(rc);
}

/* words: the command line, with the name of the command after that of the program. */
static int run_words(int n, char **words)
{
    const hx_command *const commands[] = {&command, NULL};
    hx_options options;
    if (hx_options_parse(&options, commands, n, words) < 0) return 2;
    hx_log_set_level(options.level);
    return hx_streams_close(run_parsed(&options), options.help || options.version);
}

static int run_program(int argc, char **argv)
{
    static char name[] = "paperbench";
    char **words;
    if (hx_streams_open() < 0) return 1; /* there is no stream to print to */
    signal(SIGXFSZ, SIG_IGN);            /* a file-size limit is a failed write, with a message */
    if (hx_alloc(&words, (size_t)argc + 2, sizeof *words, "words") < 0) return 1;
    words[0] = argv[0];
    words[1] = name;
    for (int i = 1; i < argc; i++) words[i + 1] = argv[i];
    const int status = run_words(argc + 1, words);
    free(words);
    return status;
}

int main(int argc, char **argv)
{
    return hx_stack_run(run_program, argc, argv);
}
