/* hextop verify: analyses a result as grey densities and as a 0/1 design. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../output/output.h"
#include "../output/progress.h"
#include "../text/commands.h"
#include "verify.h"

static int verify(hx_verify *v, const hx_options *options)
{
    const char *const vtk = hx_option_text(options, HX_VERIFY_VTK);
    char beside[PATH_MAX];
    HX_TRY(hx_verify_locate(v, options));
    /* Length of the folder in a path, with its slash. */
    const char *const slash = strrchr(v->result, '/');
    snprintf(beside, sizeof beside, "%.*sverify.json", slash ? (int)(slash - v->result) + 1 : 0,
             v->result);
    const char *const output = hx_option_text(options, HX_VERIFY_OUTPUT);
    const char *const json = output ? output : beside;
    /* HX_EINPUT: a file cannot be written, or is one of those that are read. */
    hx_output_names_add(&v->outputs, json);
    hx_output_names_add(&v->outputs, vtk);
    HX_TRY(hx_output_names_probe(&v->outputs));
    HX_TRY(hx_output_names_check_input(&v->outputs, v->config, "the config"));
    HX_TRY(hx_output_names_check_result(&v->outputs, &v->path));
    HX_TRY(hx_output_names_check_input(&v->outputs, hx_option_text(options, HX_VERIFY_SURFACE),
                                       "the surface"));
    HX_TRY(hx_output_names_check(&v->outputs));
    HX_TRY(hx_verify_open(v, options));
    HX_TRY(hx_verify_analyse(v, vtk != NULL));
    hx_verify_print(v);
    HX_TRY(hx_verify_write(v, json));
    if (vtk) {
        const hx_vtk_options how = {.format = v->session.cfg.output.format};
        const char *const units = v->session.cfg.units.system;
        char title[128];
        snprintf(title, sizeof title, "hextop verify, 0/1 design%s%s", units[0] ? ", units " : "",
                 units);
        HX_TRY(hx_progress_write(vtk, &v->session.mesh, title, &how, &v->fields, NULL));
        hx_log_info("%s: the 0/1 design; Threshold density01 > 0.5", vtk);
    }
    return HX_OK;
}

static int command_verify(const hx_options *options)
{
    hx_verify v;
    memset(&v, 0, sizeof v);
    int rc = verify(&v, options);
    if (rc == HX_OK && hx_verify_count_missed(&v) > 0) rc = HX_EXIT_LIMIT;
    hx_verify_free(&v);
    return rc;
}

static const hx_option verify_options[] = {
    [HX_VERIFY_THRESHOLD] = {"--threshold", HX_OPTION_TEXT, "DENSITY",
                             .help = "elements of at least this density are solid, instead of the "
                                     "threshold that keeps the volume"},
    [HX_VERIFY_PRESERVE] = {"--preserve", HX_OPTION_WORDS, HX_PRESERVE_DEFAULT,
                            .fallback = HX_PRESERVE_DEFAULT, .word = hx_preserve_word,
                            .help = HX_PRESERVE_HELP},
    [HX_VERIFY_TOLERANCE] = {"--tolerance", HX_OPTION_TEXT, "PERCENT", .fallback = "10",
                             .help = "difference above which a warning is printed"},
    [HX_VERIFY_LIMIT_TOLERANCE] = {"--limit-tolerance", HX_OPTION_TEXT, "PERCENT", .fallback = "1",
                                   .help = "violation of a limit up to which it counts as met"},
    [HX_VERIFY_ELEMENT] = {"--element", HX_OPTION_WORDS, "WORD", .fallback = "linear",
                           .word = hx_verify_element_word,
                           .help =
                               "quadratic: also analyses the 0/1 design with quadratic elements, "
                               "or only its solid if the whole mesh does not fit into memory"},
    [HX_VERIFY_VTK] = {"--vtk", HX_OPTION_FILE, "FILE.vtk",
                       .help = "writes the 0/1 design, its displacements and stresses"},
    [HX_VERIFY_OUTPUT] = {"--output", HX_OPTION_FILE, "FILE.json",
                          .help = "file to write instead of verify.json"},
    [HX_VERIFY_SURFACE] =
        {"--surface", HX_OPTION_FILE, "PART.stl",
         .help = "also analyses this closed surface (.stl or .ply), with quadratic tetrahedra"},
    [HX_VERIFY_MADE] = {"--made", HX_OPTION_WORDS, "WORD", .fallback = "auto",
                        .word = hx_verify_made_word,
                        .help =
                            "whether the surface that `hextop surface` cuts is analysed, too, as "
                            "with --surface; auto: if it takes fewer than 300,000 tetrahedra"},
    [HX_VERIFY_REFINE] =
        {"--refine", HX_OPTION_TEXT, "TIMES",
         .help = "number of times that the mesh's cells are split before --surface cuts them; "
                 "default: as many as give fewer than 300,000 tetrahedra"},
    [HX_VERIFY_MESHER] = {"--mesher", HX_OPTION_WORDS, "WORD", .fallback = "cut",
                          .word = hx_surface_mesher_word, .help = HX_SURFACE_MESHER_HELP},
};

const hx_command hx_command_verify = {
    .name = "verify",
    .summary = "compares a result with its 0/1 design, the part as it would be made",
    .arguments = "RESULT [CONFIG] [KEY=VALUE ...]",
    .ends = {".vtk .series", ".cfg"},
    .help =
        "RESULT is a VTK file of a run, its .vtk.series, or its folder, whose last design is "
        "taken.\n"
        "CONFIG is the config.cfg beside it unless another one is named.\n"
        "\n"
        "Analyses the densities twice on the mesh and with the loads of the config: grey, as they "
        "are,\n"
        "and 0/1, where elements are solid above a threshold that keeps the volume. Prints for "
        "both\n"
        "the compliance, volume, largest displacement and largest von Mises stress, then the "
        "number of\n"
        "pieces of the solid, and whether loads and supports are on the largest. Displacements "
        "are\n"
        "compared at nodes, mid-side nodes of quadratic elements included, stresses in elements "
        "that\n"
        "are solid in the 0/1 design. Void keeps the stiffness of rho_min. No filter and no "
        "projection\n"
        "is applied, and no penalty other than optimization.penalty. Writes verify.json beside "
        "the\n"
        "result. Exit status 0, also with warnings, unless a limit is missed.\n"
        "\n"
        "If the config has limits (optimization.constraints), prints each one for all designs; "
        "exit\n"
        "status 4 if the part misses one by more than --limit-tolerance: as the surface if it is "
        "analysed,\n"
        "else with quadratic elements, else as the 0/1 design.\n"
        "\n"
        "--element quadratic analyses the 0/1 design once more, with hex20, wedge15, pyramid13 and "
        "tet10\n"
        "on the same mesh: the difference is the stiffness that comes from the mesh. If the whole "
        "mesh\n"
        "needs more memory than is free, counted before, only its largest solid piece is "
        "analysed;\n"
        "quadratic-solid always does that. Heat always takes the whole mesh.\n"
        "\n"
        "--surface analyses the part as it would be made: the inside of a closed surface (that of\n"
        "`hextop surface`, or one smoothed by another program), by cutting the mesh's cells into\n"
        "tetrahedra. Supports, springs and loads are found by their place. Without --surface, "
        "--made\n"
        "cuts the surface itself.\n"
        "\n"
        "Stresses are compared outside the zones that limits exclude: the largest, the value that "
        "99.9 %\n"
        "of the volume does not exceed, and the factor of safety against material.strength, or "
        "against\n"
        "the limits. On the surface they are means at nodes over the tetrahedra around them, "
        "weighted by\n"
        "volume.\n",
    .n_min = 1,
    .option = verify_options,
    .n_option = sizeof verify_options / sizeof verify_options[0],
    .run = command_verify,
};
