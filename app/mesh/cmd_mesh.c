/* hextop mesh: writes the mesh with everything that the config puts on it, for inspection before a
 * run, or for other programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/output.h"
#include "../output/progress.h"
#include "../result/solid_design.h"
#include "../result/surface_part.h"
#include "../session/config_problem.h"
#include "../session/continuation.h"
#include "../session/result_path.h"
#include "../text/commands.h"
#include "../text/table.h"
#include "convert_mesh.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/files/mesh_files.h"
#include "core/files/vtk_fields.h"
#include "core/mesh/mesh_quality.h"

/* The options of `hextop mesh`. */
enum { DENSITY = HX_MESH_OPTION_SIZE + 1, THRESHOLD, PRESERVE, SURFACE, REFINE, MESHER };

/* The mesh that is written: that of the config, only the solid of a result, or the mesh inside a
 * surface. */
typedef struct mesh_job {
    hx_session whole, solid;
    hx_session made; /* borrows the config of `part`; mesh, space and problem are its own */
    hx_surface_part part;
    hx_session *session; /* the session whose mesh is written */
    hx_result_path result;
    hx_solid_design design;
    hx_fields fields;
    hx_output_names outputs;
} mesh_job;

static int add_supports(hx_fields *fields, const hx_session *s)
{
    const hx_mesh *mesh = &s->mesh;
    uint8_t *fixed = NULL;
    double *prescribed = NULL;
    HX_TRY(hx_fields_add(fields, mesh, HX_VTK_POINT, HX_VTK_U8, 1, "supports", &fixed));
    memcpy(fixed, s->problem.supports.fixed, (size_t)mesh->n_node);
    /* Prescribed temperatures, NaN at other nodes; int h dA of convection at each node. */
    if (hx_config_is_heat(&s->cfg)) {
        const hx_problem *problem = &s->problem;
        const hx_films *films = &problem->films;
        double *held = NULL, *film = NULL;
        HX_TRY(hx_fields_add(fields, &s->mesh, HX_VTK_POINT, HX_VTK_F64, 1, "held", &held));
        for (int64_t a = 0; a < s->mesh.n_node; a++)
            held[a] =
                problem->supports.fixed[a]
                    ? problem->reference +
                          (problem->supports.prescribed ? problem->supports.prescribed[a] : 0.0)
                    : (double)NAN;
        if (films->n == 0) return HX_OK;
        HX_TRY(hx_fields_add(fields, &s->mesh, HX_VTK_POINT, HX_VTK_F64, 1, "convection", &film));
        memset(film, 0, (size_t)s->mesh.n_node * sizeof *film);
        for (int64_t k = 0; k < films->n && films->node[k] < s->mesh.n_node; k++)
            for (int64_t j = films->ptr[k]; j < films->ptr[k + 1]; j++)
                film[films->node[k]] += films->value[j];
        return HX_OK;
    }
    if (!s->problem.supports.prescribed) return HX_OK;
    HX_TRY(hx_fields_add(fields, mesh, HX_VTK_POINT, HX_VTK_F64, 3, "prescribed", &prescribed));
    memcpy(prescribed, s->problem.supports.prescribed,
           3 * (size_t)mesh->n_node * sizeof *prescribed);
    return HX_OK;
}

static int add_springs(hx_fields *fields, const hx_session *s)
{
    const hx_problem *problem = &s->problem;
    double *stiffness = NULL;
    if (problem->springs.n == 0) return HX_OK;
    HX_TRY(hx_fields_add(fields, &s->mesh, HX_VTK_POINT, HX_VTK_F64, 3, "springs", &stiffness));
    for (int64_t k = 0; k < problem->springs.n; k++)
        stiffness[problem->springs.dof[k]] = problem->springs.stiffness[k];
    return HX_OK;
}

/* (*modulus)[n_elem] of the first design; NULL: no case expands. */
static int first_modulus(const hx_session *s, const double *rho, double **modulus)
{
    *modulus = NULL;
    if (!s->problem.cases.expansion) return HX_OK;
    HX_TRY(hx_alloc_raw(modulus, (size_t)s->mesh.n_elem, sizeof **modulus, "moduli"));
    hx_problem_modulus(&s->problem, s->design.penalty.value, rho, *modulus);
    return HX_OK;
}

/* Nodal forces of each case. Those that depend on the density are those of the first design. */
static int add_loads(hx_fields *fields, const hx_session *s)
{
    double *rho = NULL, *modulus = NULL;
    int rc = hx_session_first_density(s, &rho);
    if (rc == HX_OK) rc = first_modulus(s, rho, &modulus);
    for (int c = 0; rc == HX_OK && c < s->problem.cases.n; c++) {
        double *force = NULL;
        char name[32];
        snprintf(name, sizeof name, "load_%d", c + 1);
        rc = hx_fields_add(fields, &s->mesh, HX_VTK_POINT, HX_VTK_F64, s->problem.components, name,
                           &force);
        if (rc == HX_OK) rc = hx_problem_nodal_force(&s->problem, c, rho, force);
        if (rc == HX_OK) hx_problem_add_expansion(&s->problem, c, modulus, force);
    }
    free(rho);
    free(modulus);
    return rc;
}

/* HX_EINPUT: the ending of the name is not that of a format that can be written. */
static int check_target(const char *path)
{
    char list[128];
    if (hx_mesh_can_write(hx_mesh_format_of_name(path))) return HX_OK;
    return HX_RAISE(HX_EINPUT, "'%s': the name must end with one of %s", path,
                    hx_mesh_format_list(1, list, sizeof list));
}

/* Writes the mesh with supports and loads in a format without fields. */
static int write_format(const hx_session *s, const hx_mesh_format *format, const char *path)
{
    char a[32], b[32], cases[64] = "; supports and loads are written to .inp and .vtk";
    const hx_mesh_write_options how = {.is_ascii = s->cfg.output.format == HX_VTK_ASCII,
                                       .title = s->cfg.title[0] ? s->cfg.title : s->mesh.name,
                                       .problem = &s->problem,
                                       .penalty = s->design.penalty.last};
    if (format->holds_problem && hx_config_is_heat(&s->cfg))
        return HX_RAISE(HX_EINPUT,
                        "'%s': jobs with physics = \"heat\" are not written to .inp; .vtk contains "
                        "the supports and loads as fields, .msh the mesh",
                        path);
    HX_TRY(hx_progress_write_mesh(path, &s->mesh, format, &how));
    if (format->holds_problem)
        snprintf(cases, sizeof cases, ", %d load case%s", s->problem.cases.n,
                 s->problem.cases.n == 1 ? "" : "s");
    hx_log_info("%s: %s %s, %s %s, %zu %s%s", path, hx_format_count(s->mesh.n_elem, a, sizeof a),
                hx_noun(s->mesh.n_elem, "element", "elements"),
                hx_format_count(s->mesh.n_node, b, sizeof b),
                hx_noun(s->mesh.n_node, "node", "nodes"), s->mesh.n_set,
                hx_noun(s->mesh.n_set, "set", "sets"), cases);
    return HX_OK;
}

static int read_mesh_config(hx_session *s, const hx_options *options, const hx_mesh_format *format)
{
    HX_TRY(hx_config_read(&s->cfg, options->argument[0], options->n_argument - 2,
                          options->argument + 2));
    if (!format->holds_problem || hx_config_is_heat(&s->cfg))
        /* a file of nodes cannot state other kinds of loads */
        s->cfg.solver.element = HX_ELEMENT_LINEAR;
    /* the file contains the image of a spline, not the spline */
    s->own_element = 1 + (int)s->cfg.solver.element;
    if (s->cfg.solver.element == HX_ELEMENT_SPLINE) s->cfg.solver.element = HX_ELEMENT_LINEAR;
    return HX_OK;
}

/* Makes the solid of a result's 0/1 design, without void. */
static int make_solid(mesh_job *job, const hx_options *options, const hx_mesh_format *format)
{
    const char *const threshold = hx_option_text(options, THRESHOLD);
    const char *const result = job->result.file;
    double cut;
    unsigned preserve;
    char text[HX_PART_TEXT];
    HX_TRY(hx_option_read_number("--threshold", threshold, 1.0, &cut));
    HX_TRY(hx_preserve_read(hx_option_text(options, PRESERVE), &preserve));
    HX_TRY(hx_solid_design_create(&job->design, &job->whole, result, cut, preserve));
    job->session = &job->solid;
    HX_TRY(read_mesh_config(job->session, options, format));
    HX_TRY(hx_solid_session_make(job->session, &job->whole, &job->design,
                                 format->holds_problem ? 1 : 0));
    hx_log_info("%s: %s", result,
                hx_solid_design_text(&job->design, threshold != NULL, text, sizeof text));
    if (!threshold && hx_part_short_text(&job->design.part, result, text, sizeof text))
        hx_log_warning("%s", text);
    return HX_OK;
}

/* Makes the tetrahedra inside a closed surface, with ten nodes for a job. */
static int make_surface(mesh_job *job, const hx_options *options, const hx_mesh_format *format)
{
    hx_session *const made = &job->made;
    hx_surface_part *const part = &job->part;
    const char *const path = hx_option_text(options, SURFACE);
    hx_surface_options how;
    char a[32];
    if (hx_config_is_heat(&job->whole.cfg))
        return HX_RAISE(HX_EINPUT, "--surface does not support physics = \"heat\"");
    HX_TRY(hx_surface_part_read_options(hx_option_text(options, REFINE),
                                        hx_option_text(options, MESHER), &how));
    HX_TRY(hx_surface_part_create(part, &job->whole, path, &how));
    hx_log_notes(&part->notes);
    made->mesh = part->mesh;
    memset(&part->mesh, 0, sizeof part->mesh);
    made->cfg = part->cfg;
    job->session = made;
    HX_TRY(hx_space_create(&made->space, &made->mesh,
                           format->holds_problem ? HX_ELEMENT_QUADRATIC : HX_ELEMENT_LINEAR));
    made->design = hx_design_of(&made->cfg);
    HX_TRY(hx_config_make_problem(&made->cfg, &made->space, &part->conditions, &made->problem, NULL,
                                  NULL));
    hx_log_info("%s: encloses %.6g%s; %s %s have %.6g", path, part->surface.volume,
                made->cfg.units.volume, hx_format_count(made->mesh.n_elem, a, sizeof a),
                hx_noun(made->mesh.n_elem, "tetrahedron", "tetrahedra"), made->mesh.total_volume);
    return HX_OK;
}

/* Adds the number of the material of each element, if there are several. */
static int add_materials(hx_fields *fields, const hx_session *s)
{
    const hx_materials *const materials = &s->problem.materials;
    int32_t *number = NULL;
    if (materials->n == 0) return HX_OK;
    HX_TRY(hx_fields_add(fields, &s->mesh, HX_VTK_CELL, HX_VTK_I32, 1, "material", &number));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) number[e] = materials->number[e];
    return HX_OK;
}

/* Writes what the config puts on the mesh as fields. */
static int write_fields(mesh_job *job, const char *path)
{
    const hx_session *const s = job->session;
    hx_fields *const fields = &job->fields;
    char a[32], b[32], title[256];
    HX_TRY(hx_fields_add_sets(fields, &s->mesh));
    HX_TRY(hx_fields_add_faces(fields, &s->mesh));
    HX_TRY(add_supports(fields, s));
    HX_TRY(add_springs(fields, s));
    HX_TRY(add_loads(fields, s));
    float *passive = NULL;
    HX_TRY(hx_fields_add(fields, &s->mesh, HX_VTK_CELL, HX_VTK_F32, 1, "passive", &passive));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        const double rho = s->problem.passive.density ? s->problem.passive.density[e] : (double)NAN;
        passive[e] = isnan(rho) ? -1.0f : (float)rho;
    }
    HX_TRY(add_materials(fields, s));
    float *quality = NULL;
    HX_TRY(
        hx_fields_add(fields, &s->mesh, HX_VTK_CELL, HX_VTK_F32, 1, "scaled_jacobian", &quality));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < s->mesh.n_elem; e++) /* at most 1, despite rounding */
        quality[e] = (float)fmin(1.0, hx_mesh_scaled_jacobian(&s->mesh, e));
    hx_notes notes = {0};
    const int rc = hx_fields_note_sets(&s->mesh, path, &notes);
    hx_log_notes(&notes);
    HX_TRY(rc);
    const hx_vtk_options vtk = {.format = s->cfg.output.format};
    snprintf(title, sizeof title, "%.180s%s%s", s->cfg.title[0] ? s->cfg.title : s->mesh.name,
             s->cfg.units.system[0] ? ", units " : "", s->cfg.units.system);
    HX_TRY(hx_progress_write(path, &s->mesh, title, &vtk, fields, NULL));
    hx_log_info("%s: %s %s, %s %s, %zu %s", path, hx_format_count(s->mesh.n_elem, a, sizeof a),
                hx_noun(s->mesh.n_elem, "element", "elements"),
                hx_format_count(s->mesh.n_node, b, sizeof b),
                hx_noun(s->mesh.n_node, "node", "nodes"), fields->n,
                hx_noun(fields->n, "field", "fields"));
    for (size_t i = 0; i < fields->n; i++)
        hx_log_detail("  %-5s  %s", fields->field[i].where == HX_VTK_POINT ? "point" : "cell",
                      fields->field[i].name);
    return HX_OK;
}

static int write_mesh(mesh_job *job, const hx_options *options)
{
    const char *path = options->argument[1];
    const hx_mesh_format *const format = hx_mesh_format_of_name(path);
    job->session = &job->whole;
    HX_TRY(read_mesh_config(job->session, options, format));
    HX_TRY(hx_session_make_mesh(job->session));
    HX_TRY(hx_session_make_problem(job->session));
    if (job->result.file) HX_TRY(make_solid(job, options, format));
    if (hx_option_text(options, SURFACE)) HX_TRY(make_surface(job, options, format));
    return format->holds_fields ? write_fields(job, path)
                                : write_format(job->session, format, path);
}

/* HX_EINPUT: options that require another option or a config. */
static int check_options(mesh_job *job, const hx_options *options, int is_mesh)
{
    const char *const density = hx_option_text(options, DENSITY);
    const int is_surface = hx_option_given(options, SURFACE);
    if (density && is_surface)
        return HX_RAISE(
            HX_EINPUT, "--density and --surface select two different parts: give only one of them");
    if (!is_surface && hx_option_given(options, REFINE))
        return HX_RAISE(
            HX_EINPUT,
            "--refine splits the cells that --surface cuts: name a surface with --surface");
    if (!is_surface && hx_option_given(options, MESHER))
        return HX_RAISE(
            HX_EINPUT, "--mesher makes the tetrahedra of --surface: name a surface with --surface");
    if (is_surface && is_mesh)
        return HX_RAISE(HX_EINPUT,
                        "--surface needs a config instead of '%s', since it cuts the config's mesh",
                        options->argument[0]);
    if (!density && (hx_option_given(options, THRESHOLD) || hx_option_given(options, PRESERVE)))
        return HX_RAISE(HX_EINPUT,
                        "%s applies to the densities of a result: name the result with --density",
                        hx_option_given(options, THRESHOLD) ? "--threshold" : "--preserve");
    if (!density) return HX_OK;
    if (is_mesh)
        return HX_RAISE(HX_EINPUT,
                        "--density needs a config instead of '%s', which states the elements that "
                        "are forced solid (passive or loaded)",
                        options->argument[0]);
    HX_TRY(hx_result_locate(&job->result, density));
    return hx_output_names_check_result(&job->outputs, &job->result);
}

static int command_mesh(const hx_options *options)
{
    mesh_job job;
    const int is_mesh = hx_is_mesh_file(options->argument[0]);
    memset(&job, 0, sizeof job);
    HX_TRY(check_target(options->argument[1]));
    /* HX_EINPUT: the file cannot be written, or is one of those that are read. */
    hx_output_names *const outputs = &job.outputs;
    const char *const input = options->argument[0];
    hx_output_names_add(outputs, options->argument[1]);
    HX_TRY(hx_output_names_probe(outputs));
    HX_TRY(hx_output_names_check_input(outputs, input, is_mesh ? "the mesh" : "the config"));
    HX_TRY(hx_output_names_check_input(outputs, hx_option_text(options, SURFACE), "the surface"));
    job.whole.outputs = outputs;
    HX_TRY(hx_output_names_check(outputs));
    if (!is_mesh && hx_option_given(options, HX_MESH_OPTION_SIZE))
        return HX_RAISE(HX_EINPUT, "--element-size applies to a CAD model without a config; with a "
                                   "config give mesh.element_size=LENGTH");
    int rc = check_options(&job, options, is_mesh);
    if (rc == HX_OK) rc = is_mesh ? hx_convert_mesh(options) : write_mesh(&job, options);
    hx_fields_free(&job.fields);
    hx_problem_free(&job.made.problem);
    hx_space_free(&job.made.space);
    hx_mesh_free(&job.made.mesh);
    hx_surface_part_free(&job.part);
    hx_solid_design_free(&job.design);
    hx_result_path_free(&job.result);
    hx_session_free(&job.solid);
    hx_session_free(&job.whole);
    return rc;
}

static const hx_option mesh_options[] = {
    [HX_MESH_OPTION_SIZE] = {"--element-size", HX_OPTION_TEXT, "LENGTH",
                             .note = "for about 100,000 tetrahedra",
                             .help = "edge length of the tetrahedra of a CAD model, in mm"},
    [DENSITY] = {"--density", HX_OPTION_FILE, "RESULT.vtk",
                 .help = "writes the 0/1 design of a result, without void; for a folder, that of "
                         "its last design"},
    [THRESHOLD] = {"--threshold", HX_OPTION_TEXT, "DENSITY",
                   .help = "elements of at least this density are solid, instead of the threshold "
                           "that keeps the volume"},
    [PRESERVE] = {"--preserve", HX_OPTION_WORDS, HX_PRESERVE_DEFAULT,
                  .fallback = HX_PRESERVE_DEFAULT, .word = hx_preserve_word,
                  .help = HX_PRESERVE_HELP},
    [SURFACE] = {"--surface", HX_OPTION_FILE, "PART.stl",
                 .help = "writes the tetrahedral mesh of the inside of this closed surface (.stl "
                         "or .ply), which `hextop verify --surface` analyses"},
    [REFINE] = {"--refine", HX_OPTION_TEXT, "TIMES",
                .help =
                    "number of times that the mesh's cells are split before the surface cuts them"},
    [MESHER] = {"--mesher", HX_OPTION_WORDS, "WORD", .fallback = "cut",
                .word = hx_surface_mesher_word, .help = HX_SURFACE_MESHER_HELP},
};

const hx_command hx_command_mesh = {
    .name = "mesh",
    .summary = "converts a mesh, or writes that of a config with its loads",
    .arguments = "FILE OUT [KEY=VALUE ...]",
    .ends = {".cfg .vtk .vtu .pvtu .msh .inp .cdb .bdf .nas .fem .unv .mesh .med .exo .e .ex2 .g "
             ".step .stp .iges .igs .brep .stl",
             ".vtk .msh .inp"},
    .help =
        "FILE is a config, a mesh file or a CAD model (.step, .iges, .brep, .stl, which gmsh "
        "meshes).\n"
        "OUT is a file .vtk, .msh (Gmsh 4.1, sets as physical groups) or .inp (Abaqus; from a "
        "config a\n"
        "complete job for CalculiX).\n"
        "A mesh file is converted with its sets. mesh.merge and output.format may follow, for a "
        "CAD\n"
        "model mesh.element_size and mesh.time_limit, for a spline mesh.degree and mesh.refine.\n"
        "Quadratic elements become linear, and pyramids in .inp become bricks with repeated "
        "nodes.\n"
        "\n"
        "--density writes only the solid elements of a result's 0/1 design, like in verify: the "
        "largest\n"
        "piece with its sets, and the supports, springs and forces on it. What is not on it is "
        "reported.\n"
        "With solver.element=quadratic the job has quadratic elements.\n"
        "\n"
        "--surface writes the tetrahedra that `hextop verify --surface` analyses; in a job they "
        "have ten\n"
        "nodes.\n"
        "\n"
        "Fields of OUT.vtk from a config: set_NAME (0 or 1), supports (bits 1, 2, 4 for x, y, z),\n"
        "prescribed (displacements, if any), load_1 ... (nodal forces of each case), passive "
        "(density,\n"
        "-1 where the design is free), material (entry of `materials`, 0: `material`), face (of "
        "CAD\n"
        "models: the number N of face-N, 0 inside),\n"
        "scaled_jacobian (quality: 1 for right angles, for other elements than hexahedra for equal "
        "edges).\n",
    .n_min = 2,
    .option = mesh_options,
    .n_option = sizeof mesh_options / sizeof mesh_options[0],
    .run = command_mesh,
};
