/* hextop lightest: repeats run, surface and verify until the made part just meets its limits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../output/output.h"
#include "../result/surface_part.h"
#include "../text/commands.h"
#include "core/base/memory.h"
#include "lightest.h"

enum { VARY, TRIES, RESUME, REFINE, MESHER, ELEMENT };

/* The words of --element. */
static const char *element_word(size_t i)
{
    static const char *const word[] = {"linear", "quadratic"};
    return i < sizeof word / sizeof word[0] ? word[i] : NULL;
}

/* HX_EINPUT: FILE does not state a search. */
static int check_config(const hx_lightest *l)
{
    const char *const objective = l->cfg.optimization.objective.kind;
    const int is_amount = strcmp(objective, "volume") == 0 || strcmp(objective, "mass") == 0;
    if (l->n_constraint == 0)
        return hx_config_blame(
            &l->cfg, "optimization.constraints",
            HX_RAISE(HX_EINPUT, "there are no limits that the lightest part has to meet; for "
                                "example constraints = ( { kind = \"displacement\"; set = "
                                "\"tip\"; max = 0.3; } ), with objective = \"volume\""));
    if (l->vary == HX_LIGHTEST_LIMITS && !is_amount)
        return hx_config_blame(
            &l->cfg, "optimization.objective",
            HX_RAISE(HX_EINPUT,
                     "'%s' does not make a part lighter; take \"volume\" or \"mass\", or add "
                     "--vary volume, which searches the volume_fraction",
                     objective));
    for (size_t i = 0; i < l->n_constraint && l->vary == HX_LIGHTEST_VOLUME; i++) {
        const hx_config_constraint *const c = hx_lightest_constraint(l, i);
        if (hx_lightest_is_of_amount(l, i))
            return HX_RAISE(HX_EINPUT,
                            "%s: kind = \"%s\": --vary volume searches the amount of material "
                            "itself; leave this limit out",
                            c->origin, c->kind);
    }
    return HX_OK;
}

static int read_vary(hx_lightest *l, const char *text)
{
    size_t i = 0;
    while (i < HX_N_LIGHTEST_VARY && strcmp(hx_lightest_vary_word(i), text) != 0) i++;
    if (i == HX_N_LIGHTEST_VARY)
        return HX_RAISE(HX_EINPUT, "--vary %s: expected limits or volume", text);
    l->vary = (hx_lightest_vary)i;
    return HX_OK;
}

/* Chooses the design that is judged. Heat is not analysed in the surface, and linear elements are
 * too inaccurate for it (doc/commands.md). */
static int read_element(hx_lightest *l, const hx_options *options)
{
    const int is_given = hx_option_given(options, ELEMENT);
    const char *const text = is_given ? hx_option_text(options, ELEMENT) : "quadratic";
    const int is_linear = strcmp(text, element_word(0)) == 0;
    if (!is_linear && strcmp(text, element_word(1)) != 0)
        return HX_RAISE(HX_EINPUT, "--element %s: expected linear or quadratic", text);
    l->made = HX_LIGHTEST_SURFACE;
    if (hx_config_is_heat(&l->cfg))
        l->made = is_linear ? HX_LIGHTEST_BLACK_WHITE : HX_LIGHTEST_QUADRATIC;
    return HX_OK;
}

/* Keeps an option of verify if it was given. */
static void pass_option(hx_lightest *l, const hx_options *options, int option)
{
    if (!hx_option_given(options, option)) return;
    l->pass[l->n_pass++] = options->command->option[option].name;
    l->pass[l->n_pass++] = hx_option_text(options, option);
}

/* The temperature from which others count, as in the analysis. */
static double lowest_temperature(const hx_config *cfg)
{
    const hx_config_support *const support = cfg->supports.entry;
    const hx_config_convection *const convection = cfg->convection.entry;
    double lowest = (double)INFINITY;
    for (size_t i = 0; i < cfg->supports.n; i++) lowest = fmin(lowest, support[i].temperature);
    for (size_t i = 0; i < cfg->convection.n; i++) lowest = fmin(lowest, convection[i].ambient);
    return isfinite(lowest) ? lowest : 0.0;
}

static int prepare(hx_lightest *l, const hx_options *options)
{
    HX_TRY(read_vary(l, hx_option_text(options, VARY)));
    HX_TRY(hx_option_read_integer("--tries", hx_option_text(options, TRIES), 1, HX_LIGHTEST_MOST,
                                  &l->n_most));
    l->file = options->argument[0];
    l->argument = options->argument + 1;
    l->n_argument = options->n_argument - 1;
    l->level = options->level;
    pass_option(l, options, REFINE);
    pass_option(l, options, MESHER);
    pass_option(l, options, ELEMENT);
    HX_TRY(hx_config_read(&l->cfg, l->file, l->n_argument, l->argument));
    l->folder = l->cfg.output.directory;
    l->reference = hx_config_is_heat(&l->cfg) ? lowest_temperature(&l->cfg) : 0.0;
    HX_TRY(read_element(l, options));
    l->n_constraint = l->cfg.optimization.constraints.n;
    HX_TRY(check_config(l));
    HX_TRY(hx_alloc(&l->tries, (size_t)l->n_most, sizeof *l->tries, "tries"));
    HX_TRY(hx_lightest_find_settings(l));
    HX_TRY(hx_output_probe(&l->cfg));
    if (hx_option_given(options, RESUME)) return hx_lightest_read(l);
    HX_TRY(hx_lightest_check_folder(l));
    const int rc = l->vary == HX_LIGHTEST_VOLUME ? hx_lightest_check_solid(l) : HX_OK;
    return rc == HX_OK ? hx_output_make_directory(&l->cfg) : rc;
}

/* Does the next try. Returns as hx_lightest_do; sets l->end if there is none. */
static int go_on(hx_lightest *l)
{
    hx_lightest_try next;
    int rc = hx_lightest_try_create(l, &next);
    if (rc == HX_OK) {
        hx_lightest_propose(l, &next);
        if (l->end == HX_LIGHTEST_GOES_ON)
            rc = hx_lightest_do(l, &next, l->started == l->n_try + 1);
    }
    hx_lightest_try_free(&next, l->n_limit);
    return rc;
}

static int search(hx_lightest *l)
{
    const int before = l->n_try;
    hx_lightest_print_header(l);
    for (int i = 0; i < before; i++) hx_lightest_print_try(l, i);
    while (l->end == HX_LIGHTEST_GOES_ON) {
        const int n = l->n_try, rc = go_on(l);
        if (l->n_try > n) hx_lightest_print_try(l, n);
        if (rc == HX_LIGHTEST_INTERRUPTED) hx_lightest_print_interrupted(l);
        if (rc != HX_OK) return rc;
    }
    HX_TRY(hx_lightest_write(l, 1));
    return hx_lightest_print_end(l);
}

static int command_lightest(const hx_options *options)
{
    hx_lightest l;
    memset(&l, 0, sizeof l);
    hx_lightest_signals_save();
    int rc = prepare(&l, options);
    if (rc == HX_OK) rc = search(&l);
    hx_lightest_free(&l);
    return rc;
}

static const hx_option lightest_options[] = {
    [VARY] = {"--vary", HX_OPTION_WORDS, "WORD", .fallback = "limits",
              .word = hx_lightest_vary_word,
              .help = "what the next try changes. limits: the bounds of the run, by the ratio of "
                      "surface and design; volume: volume_fraction, of a stiffest part"},
    [TRIES] = {"--tries", HX_OPTION_TEXT, "N", .fallback = "8", .help = "largest number of tries"},
    [RESUME] = {"--resume", .help = "continues the search in output.directory"},
    [REFINE] = {"--refine", HX_OPTION_TEXT, "TIMES", .note = "that of verify",
                .help = "number of times that `verify --surface` splits the mesh's cells"},
    [MESHER] = {"--mesher", HX_OPTION_WORDS, "WORD", .note = "cut", .word = hx_surface_mesher_word,
                .help = HX_SURFACE_MESHER_HELP},
    [ELEMENT] = {"--element", HX_OPTION_WORDS, "WORD", .note = "quadratic for heat, else linear",
                 .word = element_word,
                 .help = "elements by which `verify` analyses the 0/1 design"},
};

const hx_command hx_command_lightest = {
    .name = "lightest",
    .summary = "searches the lightest part whose surface meets the limits of a config",
    .arguments = "FILE [KEY=VALUE ...]",
    .ends = {".cfg"},
    .help =
        "FILE states limits (optimization.constraints), and objective = \"volume\" or \"mass\".\n"
        "A try is `run`, `surface` and `verify --surface`, in output.directory:\n"
        "  try-1 ...       the result of a try, with part.stl and verify.json; its config.cfg has\n"
        "                  the bounds of its run, and verify.json judges by those of FILE\n"
        "  lightest.json   the tries: bounds, values on all designs, the one that is kept\n"
        "The limits hold for the grey design of a run, and the part that is made of it deforms\n"
        "more or less. The next try therefore takes other bounds: those of FILE times 0.975,\n"
        "divided by the ratio of the values on surface and grey design, later by secants. A part\n"
        "that cannot be analysed misses its limits. With --vary volume each try is the stiffest\n"
        "part (objective = \"compliance\") of a volume, which regula falsi changes; its run has\n"
        "bounds four times as wide, which seldom bind. The search ends if the worst limit of the\n"
        "surface lies between 0.95 and 1.00 of its bound; the lightest part that meets all limits\n"
        "is kept. Exit status 4 if there is none. For heat, the 0/1 design is judged, with "
        "quadratic\n"
        "elements unless --element linear is given, since `verify` does not analyse the surface.\n"
        "Ctrl-C finishes the current iteration of a run; --resume continues the search, with the\n"
        "same FILE, and repeats no finished try.\n",
    .n_min = 1,
    .option = lightest_options,
    .n_option = sizeof lightest_options / sizeof lightest_options[0],
    .run = command_lightest,
};
