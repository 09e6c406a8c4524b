/* hextop: topology optimization from a config file. Picks the subcommand and turns its outcome into
 * an exit status: 0 done, 1 the run failed, 2 usage or config. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "config_help.h"
#include "config_tree.h"
#include "core/names.h"
#include "core/version.h"
#include "streams.h"

typedef struct command {
    const char *name, *arguments, *summary, *help;
    size_t n_min; /* arguments wanted at least */
    int (*run)(const hx_options *options);
} command;

static const command commands[] = {
    {"run", "FILE [KEY=VALUE ...]", "optimise: densities, history and summary into a folder",
     "Reads the config FILE, optimises, and writes into output.directory:\n"
     "  density_0010.vtk ...  every output.every iterations and the last, for ParaView\n"
     "  density.vtk.series    all of them as an animation\n"
     "  history.csv           one line an iteration\n"
     "  summary.json          result, settings as resolved, timings, memory\n"
     "  config.cfg            the resolved config; running it repeats the run\n"
     "Ctrl-C finishes the iteration, writes everything and stops; a second one stops at once.\n",
     1, hx_cmd_run},
    {"check", "FILE [KEY=VALUE ...]", "everything up to the first solve; changes nothing",
     "Reports mesh quality, sets, supports, loads, filter radius, memory and a time estimate.\n"
     "Exit status 0, also with warnings; 2 when the run would be refused.\n",
     1, hx_cmd_check},
    {"compare", "[--paper] FILE [KEY=VALUE ...]", "all operators: checked, timed, used in PCG",
     "On the config's mesh and density (uniform, or optimization.initial), every operator in "
     "every\n"
     "layout: product against a reference, bytes, set-up time, time per product, elements and\n"
     "bytes a second against the copy bandwidth, speedups; then PCG on the config's problem.\n"
     "What does not fit in memory is listed and skipped. Writes compare.csv, compare.json and\n"
     "compare.gp with its pictures (SVG, drawn by gnuplot if installed) into a folder.\n"
     "Exit status 1 if a product is further off than its operator promises.\n\n"
     "  --paper          the first design iteration over the generator's sizes 1 to 5: the "
     "paper's\n"
     "                   Figures 11 to 15 and Table 3\n"
     "  --sizes LIST     with --paper: other sizes, as in 1,2,3 or 1,320x160x160 (nx, ny, nz)\n"
     "  --operators LIST these only, as in ebe,otf\n"
     "  --all-devices    every device that can run here, not solver.device alone\n"
     "  --no-pcg         products only\n"
     "  --iterations N   PCG iterations at most, in place of solver.max_iterations\n"
     "  --repeats N      timed products (default: about half a second's worth, 7 to 101)\n"
     "  --output DIR     folder to write to (default: output.directory/compare)\n",
     1, hx_cmd_compare},
    {"verify", "RESULT.vtk FILE [KEY=VALUE ...]", "a result as it would be made: solid or not",
     "Analyses the densities of RESULT.vtk twice on the mesh and loads of the config FILE: grey, "
     "as\n"
     "they are, and 0/1, solid from a threshold on that keeps the volume. Prints compliance,\n"
     "volume, the largest displacement and von Mises stress of both, and how many pieces the "
     "solid\n"
     "has and whether loads and supports are on the largest. Displacements are compared at nodes,\n"
     "stresses in elements that are solid at 0/1. Void keeps the stiffness of rho_min. No filter,\n"
     "projection or penalty other than optimization.penalty is applied. Writes verify.json beside\n"
     "RESULT.vtk. Exit status 0, also with warnings.\n\n"
     "  --threshold RHO   solid from this density on, whatever the volume\n"
     "  --preserve LIST   elements solid whatever their density: those behind loads, supports, "
     "passive\n"
     "                    ones (default: loads,passive), or none; as `hextop surface` has them\n"
     "  --tolerance P     warns of differences above P percent (default: 10)\n"
     "  --vtk FILE        writes the 0/1 design, its displacements and stresses\n"
     "  --output FILE     in place of verify.json\n",
     2, hx_cmd_verify},
    {"mesh", "FILE OUT [KEY=VALUE ...]", "convert a mesh, or write a config's with its loads",
     "FILE is a config or a mesh file, OUT a file .vtk, .msh (Gmsh 4.1, sets as\n"
     "physical groups) or .inp (Abaqus; of a config a whole job for CalculiX).\n"
     "A mesh file is converted, with its sets; mesh.merge and output.format may follow.\n\n"
     "Fields of OUT.vtk of a config: set_NAME (0 or 1), supports (bits 1, 2, 4 for x, y, z), "
     "prescribed\n"
     "(displacements, if any), load_1 ... (nodal forces of each case), passive (density, -1 where\n"
     "the design is free), scaled_jacobian (quality, 1 = right angles).\n",
     2, hx_cmd_mesh},
    {"surface", "RESULT.vtk OUT.stl|OUT.ply", "the part of a result as a closed triangle surface",
     "Cuts the solid out of the densities of RESULT.vtk, by default where its volume is that of "
     "the\n"
     "densities, and writes a watertight surface: binary STL, or PLY in double precision. The "
     "mesh's\n"
     "own faces stay where they are; elements of passive solid and behind loaded faces are solid,\n"
     "passive void is left out, by the config.cfg beside RESULT.vtk: the part that `hextop "
     "verify`\n"
     "analyses. A surface that is not closed and manifold is not written.\n\n"
     "  --config FILE     another config of the run; none: densities alone\n"
     "  --volume V        another volume\n"
     "  --threshold RHO   no volume: the solid is where the nodal density is above RHO\n"
     "  --smooth N        steps of Taubin's smoothing (default: 10; 0: none)\n"
     "  --preserve LIST   elements solid whatever their density: those behind loads, supports, "
     "passive\n"
     "                    ones (default: loads,passive), or none\n"
     "  --keep-largest    leaves out pieces that hang on nothing\n",
     2, hx_cmd_surface},
    {"list", "[--keys]", "operators, devices, preconditioners, filters, generators",
     "Shows what this build and this machine offer. --keys prints all config keys as a Markdown\n"
     "table instead.\n",
     0, hx_cmd_list},
};
enum { N_COMMAND = sizeof commands / sizeof commands[0] };

static void print_options(void)
{
    printf("Options\n"
           "  -q, --quiet    errors and warnings only\n"
           "  -v, --verbose  more detail; errors with their code and place in the source\n"
           "  -h, --help     this text, or that of a command\n"
           "  --version      versions\n");
}

static void print_help(void)
{
    printf("hextop %s: topology optimization on unstructured hexahedral meshes\n\n"
           "Usage\n",
           HX_VERSION);
    for (int i = 0; i < N_COMMAND; i++)
        printf("  hextop %-7s %-31s %s\n", commands[i].name, commands[i].arguments,
               commands[i].summary);
    printf("  hextop %-7s %-31s %s\n\n", "help", "COMMAND | config | KEY",
           "help on a command, on all config keys, or on some");
    print_options();
    printf("\nStart with: hextop run configs/quickstart.cfg\n");
}

static void print_command_help(const command *c)
{
    printf("Usage: hextop %s %s\n%s\n", c->name, c->arguments, c->help);
    if (strstr(c->arguments, "KEY=VALUE"))
        printf(
            "KEY=VALUE overrides a config key: mesh.size=3 solver.operator=ebe64\n"
            "output.directory=out loads[0].node_force=[0,0,-1]; an empty VALUE removes the key.\n"
            "`hextop help config` lists all keys, `hextop help loads` those of one group.\n\n");
    print_options();
}

static void print_version(void)
{
    printf("hextop %s\n  libconfig  %s\n  compiler   %s\n  OpenMP     %s\n  CUDA       %s\n",
           HX_VERSION, hx_libconfig_version(), __VERSION__,
#ifdef _OPENMP
           "yes",
#else
           "no",
#endif
           HX_VERSION_CUDA[0] ? HX_VERSION_CUDA : "no");
}

static const command *known_command(const char *name)
{
    for (int i = 0; i < N_COMMAND; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static const command *find_command(const char *name)
{
    const char *names[N_COMMAND + 1];
    char hint[256];
    const command *const c = known_command(name);
    if (c) return c;
    for (int i = 0; i < N_COMMAND; i++) names[i] = commands[i].name;
    names[N_COMMAND] = "help";
    hx_log_usage_error("unknown command '%s'%s", name,
                       hx_name_hint(name, names, N_COMMAND + 1, hint, sizeof hint));
    return NULL;
}

/* hextop help [COMMAND | config | KEY]; a command wins over a key of its name. */
static int help_on(const char *topic)
{
    if (!topic || strcmp(topic, "help") == 0) {
        print_help();
        return 0;
    }
    if (strcmp(topic, "config") == 0) {
        hx_print_keys(NULL);
        return 0;
    }
    const command *c = known_command(topic);
    if (!c && hx_print_keys(topic) > 0) return 0;
    if (!c) c = find_command(topic);
    if (!c) return 2;
    print_command_help(c);
    return 0;
}

static int dispatch(const hx_options *options)
{
    if (options->version) {
        print_version();
        return 0;
    }
    if (!options->command) {
        if (options->help) return help_on(NULL);
        hx_log_usage_error("no command; `hextop --help` shows them");
        return 2;
    }
    if (strcmp(options->command, "help") == 0)
        return help_on(options->n_argument > 0 ? options->argument[0] : NULL);
    const command *c = find_command(options->command);
    if (!c) return 2;
    if (options->help) return help_on(c->name);
    if (options->stray) {
        hx_log_usage_error("%s is an option of `hextop %s`, not of `hextop %s`", options->stray,
                           options->stray_of, c->name);
        return 2;
    }
    if (options->n_argument < c->n_min) {
        hx_log_usage_error("usage: hextop %s %s", c->name, c->arguments);
        return 2;
    }
    const int rc = c->run(options);
    if (rc >= 0) return rc;
    hx_log_error(rc);
    return hx_error_exit_status(rc);
}

/* 1 if what it prints is all that the command is for. */
static int is_to_print(const hx_options *options)
{
    static const char *const name[] = {"check", "list", "help"};
    if (!options->command || options->help || options->version) return 1;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        if (strcmp(options->command, name[i]) == 0) return 1;
    return 0;
}

int main(int argc, char **argv)
{
    hx_options options;
    if (hx_streams_open() < 0) return 1; /* nowhere to say why */
    signal(SIGXFSZ, SIG_IGN);            /* a file-size limit is a failed write, with a message */
    if (hx_options_parse(&options, argc, argv) < 0) return 2;
    hx_log_set_level(options.level);
    return hx_streams_close(dispatch(&options), is_to_print(&options));
}
