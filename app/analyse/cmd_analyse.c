/* hextop analyse: displacements, stresses and reactions of the part as meshed or as designed. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../output/output.h"
#include "../output/progress.h"
#include "../text/commands.h"
#include "../text/shell_word.h"
#include "analyse.h"

static int write_vtk(const hx_analyse *a, const char *path)
{
    const hx_session *const s = a->session;
    const hx_vtk_options vtk = {.format = s->cfg.output.format};
    const char *const units = s->cfg.units.system;
    char title[160];
    snprintf(title, sizeof title, "hextop analyse, %s%s%s", hx_analyse_design_name(a),
             units[0] ? ", units " : "", units);
    HX_TRY(hx_progress_write(path, &s->mesh, title, &vtk, &a->fields, NULL));
    const int is_heat = hx_config_is_heat(&s->cfg);
    if (a->lacking.n > 0) {
        hx_log_info("%s: modes at nodes", path);
        return HX_OK;
    }
    if (s->space.element == HX_ELEMENT_SPLINE)
        hx_log_info("%s: %s at nodes; %s belong to control points and are left out", path,
                    is_heat ? "temperatures and fluxes" : "displacements and stresses",
                    is_heat ? "heat flows" : "reactions");
    else
        hx_log_info("%s: %s at nodes%s", path,
                    is_heat ? "temperatures, fluxes and heat flows"
                            : "displacements, stresses and reactions",
                    s->space.element == HX_ELEMENT_QUADRATIC ? ", without mid-side nodes" : "");
    return HX_OK;
}

/* Solves all cases, and writes the table of Gauss points meanwhile. */
static int solve_all_cases(hx_analyse *a, int with_fields, const char *points)
{
    hx_atomic_file file;
    int rc;
    if (!points) return hx_analyse_solve(a, with_fields, NULL);
    HX_TRY(hx_atomic_file_open(&file, points));
    rc = hx_analyse_solve(a, with_fields, file.stream);
    if (rc == HX_OK) rc = hx_atomic_file_commit(&file);
    hx_atomic_file_free(&file);
    return rc;
}

static int analyse_config(hx_analyse *a, const hx_options *options)
{
    const char *const vtk = hx_option_text(options, HX_ANALYSE_VTK),
                      *const points = hx_option_text(options, HX_ANALYSE_POINTS),
                      *const json = hx_option_text(options, HX_ANALYSE_OUTPUT);
    hx_output_names_add(&a->outputs, vtk);
    hx_output_names_add(&a->outputs, points);
    hx_output_names_add(&a->outputs, json);
    HX_TRY(hx_output_names_probe(&a->outputs));
    HX_TRY(hx_output_names_check_input(&a->outputs, options->argument[0], "the config"));
    HX_TRY(hx_analyse_open(a, options));
    HX_TRY(solve_all_cases(a, vtk != NULL, points));
    HX_TRY(hx_analyse_find_modes(a));
    hx_analyse_print(a);
    if (points) hx_log_info("%s: one line per Gauss point", points);
    if (json) HX_TRY(hx_analyse_write(a, json));
    return vtk ? write_vtk(a, vtk) : HX_OK;
}

/* HX_EINPUT: FILE is a folder, such as that of a run, instead of a config. */
static int check_config(const char *path)
{
    struct stat info;
    char folder[PATH_MAX], file[PATH_MAX + 16], word[HX_SHELL_WORD];
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return HX_OK;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    snprintf(folder, sizeof folder, "%.*s", (int)n, path);
    snprintf(file, sizeof file, "%s/config.cfg", folder);
    const char *const shown = hx_shell_word(folder, word, sizeof word);
    if (access(file, R_OK) != 0)
        return HX_RAISE(HX_EINPUT, "'%s' is a folder, not a config", folder);
    return HX_RAISE(
        HX_EINPUT,
        "'%s' is a folder, not a config: `hextop analyse %s/config.cfg --density %s` "
        "analyses its last design, with --black-white its 0/1 design; without --density "
        "the mesh is analysed as completely solid",
        folder, shown, shown);
}

static int command_analyse(const hx_options *options)
{
    hx_analyse a;
    memset(&a, 0, sizeof a);
    HX_TRY(check_config(options->argument[0]));
    const int rc = analyse_config(&a, options);
    hx_analyse_free(&a);
    return rc;
}

static const hx_option analyse_options[] = {
    [HX_ANALYSE_DENSITY] = {"--density", HX_OPTION_FILE, "RESULT.vtk",
                            .help = "result whose densities are analysed; for a folder, its last "
                                    "design; default: every element is solid"},
    [HX_ANALYSE_BLACK_WHITE] =
        {"--black-white",
         .help = "analyses its 0/1 design, with the threshold that keeps the volume"},
    [HX_ANALYSE_SOLID_ONLY] =
        {"--solid-only", .help = "analyses only the largest piece of its 0/1 design, without void"},
    [HX_ANALYSE_THRESHOLD] =
        {"--threshold", HX_OPTION_TEXT, "DENSITY",
         .help = "analyses its 0/1 design; elements of at least this density are solid"},
    [HX_ANALYSE_PRESERVE] = {"--preserve", HX_OPTION_WORDS, HX_PRESERVE_DEFAULT,
                             .fallback = HX_PRESERVE_DEFAULT, .word = hx_preserve_word,
                             .help = HX_PRESERVE_HELP},
    [HX_ANALYSE_VTK] = {"--vtk", HX_OPTION_FILE, "FILE.vtk",
                        .help = "writes displacements, stresses and reactions of every case"},
    [HX_ANALYSE_POINTS] = {"--points", HX_OPTION_FILE, "FILE.csv",
                           .help = "writes the stresses at every Gauss point"},
    [HX_ANALYSE_MODES] = {"--modes", HX_OPTION_TEXT, "N",
                          .help = "finds the N lowest natural frequencies, at most 24, and their "
                                  "modes"},
    [HX_ANALYSE_OUTPUT] = {"--output", HX_OPTION_FILE, "FILE.json",
                           .help = "writes the printed figures with more digits, as JSON"},
};

const hx_command hx_command_analyse = {
    .name = "analyse",
    .summary = "analyses the part as meshed or as designed: stresses, reactions",
    .arguments = "FILE [KEY=VALUE ...]",
    .ends = {".cfg"},
    .help =
        "Analyses the part of the config FILE: completely solid except passive elements, or with "
        "the\n"
        "densities of a result, which are taken as they are (grey), as a 0/1 design, or as only "
        "its\n"
        "solid. Prints for every load case the compliance and strain energy, loads and reactions "
        "per\n"
        "set with their sum, and the largest displacement, von Mises and principal stresses with "
        "their\n"
        "places. Stresses are given at Gauss points, and averaged at nodes without elements of "
        "less\n"
        "than half the stiffness of the stiffest one. In 0/1 and grey designs the largest values "
        "are\n"
        "those of elements that are solid in the 0/1 design.\n"
        "\n"
        "Fields of FILE.vtk (those of case 2 end in _2): displacement, stress (xx, yy, zz, xy, yz, "
        "xz),\n"
        "von_mises, principal (descending) and reaction at nodes; von_mises_largest (of the Gauss\n"
        "points) and density of elements. For heat: temperature, heat_flux, heat_flow. Quadratic\n"
        "elements have fields only at corner nodes. Splines have no reaction field, since "
        "reactions act\n"
        "on control points. The largest displacement and temperature include mid-side nodes, and "
        "points\n"
        "inside spans of splines.\n"
        "--modes needs material.density, but neither loads nor, for a free part, supports: rigid "
        "motions\n"
        "that supports leave are of frequency 0 and not counted. Prints the frequencies, the "
        "effective\n"
        "mass of each mode per direction relative to the mass, and residuals. FILE.vtk has fields "
        "mode_1\n"
        "and so on, with a largest displacement of 1.\n"
        "Solves to |r| <= 1e-10 |f| unless solver.tolerance is smaller. Exit status 0, also with\n"
        "warnings.\n",
    .n_min = 1,
    .option = analyse_options,
    .n_option = sizeof analyse_options / sizeof analyse_options[0],
    .run = command_analyse,
};
