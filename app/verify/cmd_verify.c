/* hextop verify: a result analysed as it would be made, solid or not, beside the grey design. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../output/output.h"
#include "../output/progress.h"
#include "../text/commands.h"
#include "verify.h"

/* Length of the folder's part of a path, its slash included. */
static int folder_length(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

static int write_vtk(const hx_verify *v, const char *path)
{
    const hx_vtk_options vtk = {.format = v->session.cfg.output.format};
    const char *const units = v->session.cfg.units.system;
    char title[128];
    snprintf(title, sizeof title, "hextop verify, 0/1 design%s%s", units[0] ? ", units " : "",
             units);
    HX_TRY(hx_progress_write(path, &v->session.mesh, title, &vtk, &v->fields, NULL));
    hx_log_info("%s: the 0/1 design; Threshold density01 > 0.5", path);
    return HX_OK;
}

static int verify(hx_verify *v, const hx_options *options)
{
    const char *const vtk = hx_option_text(options, HX_VERIFY_VTK);
    char beside[PATH_MAX];
    HX_TRY(hx_verify_locate(v, options));
    snprintf(beside, sizeof beside, "%.*sverify.json", folder_length(v->result), v->result);
    const char *const output = hx_option_text(options, HX_VERIFY_OUTPUT);
    const char *const json = output ? output : beside;
    HX_TRY(hx_output_probe_file(json, v->result));
    HX_TRY(hx_output_probe_file(vtk, v->result));
    HX_TRY(hx_verify_open(v, options));
    HX_TRY(hx_verify_analyse(v, vtk != NULL));
    hx_verify_print(v);
    HX_TRY(hx_verify_write(v, json));
    if (vtk) HX_TRY(write_vtk(v, vtk));
    return HX_OK;
}

static int command_verify(const hx_options *options)
{
    hx_verify v;
    memset(&v, 0, sizeof v);
    const int rc = verify(&v, options);
    hx_verify_free(&v);
    return rc;
}

static const hx_option verify_options[] = {
    [HX_VERIFY_THRESHOLD] = {.name = "--threshold",
                             .kind = HX_OPTION_TEXT,
                             .value = "DENSITY",
                             .help = "solid from this density on, whatever the volume"},
    [HX_VERIFY_PRESERVE] = {.name = "--preserve",
                            .kind = HX_OPTION_WORDS,
                            .value = HX_PRESERVE_DEFAULT,
                            .fallback = HX_PRESERVE_DEFAULT,
                            .word = hx_preserve_word,
                            .help = HX_PRESERVE_HELP},
    [HX_VERIFY_TOLERANCE] = {.name = "--tolerance",
                             .kind = HX_OPTION_TEXT,
                             .value = "PERCENT",
                             .fallback = "10",
                             .help = "warns of differences above this"},
    [HX_VERIFY_ELEMENT] = {.name = "--element",
                           .kind = HX_OPTION_WORDS,
                           .value = "WORD",
                           .fallback = "linear",
                           .word = hx_verify_element_word,
                           .help = "quadratic: the 0/1 design again with quadratic elements, of "
                                   "the solid alone if the whole does not fit"},
    [HX_VERIFY_VTK] = {.name = "--vtk",
                       .kind = HX_OPTION_FILE,
                       .value = "FILE.vtk",
                       .help = "writes the 0/1 design, its displacements and stresses"},
    [HX_VERIFY_OUTPUT] = {.name = "--output",
                          .kind = HX_OPTION_FILE,
                          .value = "FILE.json",
                          .help = "in place of verify.json"},
    [HX_VERIFY_SURFACE] = {.name = "--surface",
                           .kind = HX_OPTION_FILE,
                           .value = "PART.stl",
                           .help = "analyses this closed surface too, .stl or .ply, with quadratic "
                                   "tetrahedra"},
    [HX_VERIFY_REFINE] = {.name = "--refine",
                          .kind = HX_OPTION_TEXT,
                          .value = "TIMES",
                          .help = "splits the mesh's cells that often before --surface cuts them; "
                                  "by itself as often as stays below 300,000 tetrahedra"},
    [HX_VERIFY_MESHER] = {.name = "--mesher",
                          .kind = HX_OPTION_WORDS,
                          .value = "WORD",
                          .fallback = "cut",
                          .word = hx_surface_mesher_word,
                          .help = HX_SURFACE_MESHER_HELP},
};

const hx_command hx_command_verify = {
    .name = "verify",
    .summary = "a result as it would be made: solid or not",
    .arguments = "RESULT [CONFIG] [KEY=VALUE ...]",
    .ends = {".vtk .series", ".cfg"},
    .help =
        "RESULT is a VTK file of a run, its .vtk.series or its folder, whose last design is taken; "
        "CONFIG is\n"
        "the config.cfg beside it unless another is named.\n"
        "\n"
        "Analyses the densities twice on the mesh and loads of the config: grey, as\n"
        "they are, and 0/1, solid from a threshold on that keeps the volume. Prints compliance,\n"
        "volume, the largest displacement and von Mises stress of both, and how many pieces the "
        "solid\n"
        "has and whether loads and supports are on the largest. Displacements are compared at "
        "nodes,\n"
        "mid-side nodes of quadratic elements included, stresses in elements that are solid at "
        "0/1. Void keeps the stiffness of rho_min. No "
        "filter,\n"
        "projection or penalty other than optimization.penalty is applied. Writes verify.json "
        "beside\n"
        "the result. Exit status 0, also with warnings.\n"
        "\n"
        "With --element quadratic the 0/1 design is analysed once more, with hex20, wedge15,\n"
        "pyramid13 and tet10 over the same mesh: how much of its stiffness is the mesh's. Of the\n"
        "whole mesh, or of the largest solid piece alone where that does not fit into memory\n"
        "(quadratic-solid: in any case), as bytes counted before say. Of heat, of the whole.\n"
        "\n"
        "With --surface the part as it will be made is analysed: what a closed surface encloses\n"
        "(that of `hextop surface`, or one smoothed elsewhere), the mesh's cells cut by it into\n"
        "tetrahedra, supports, springs and loads found again by their place.\n",
    .n_min = 1,
    .option = verify_options,
    .n_option = sizeof verify_options / sizeof verify_options[0],
    .run = command_verify,
};
