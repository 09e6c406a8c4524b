/* hextop mesh: the mesh with everything that the config puts on it, to look at before a run, or for
 * other programs. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../output/progress.h"
#include "../session/session.h"
#include "../text/commands.h"
#include "../text/table.h"
#include "convert_mesh.h"
#include "core/base/memory.h"
#include "core/files/mesh_files.h"
#include "core/files/vtk_fields.h"
#include "core/mesh/mesh_quality.h"

/* Held temperatures, NaN elsewhere; int h dA of convection at each node. */
static int add_temperatures(hx_fields *fields, const hx_session *s)
{
    const hx_problem *problem = &s->problem;
    const hx_films *films = &problem->films;
    double *held = NULL, *film = NULL;
    HX_TRY(hx_fields_add(fields, &s->mesh, HX_VTK_POINT, HX_VTK_F64, 1, "held", &held));
    for (int64_t a = 0; a < s->mesh.n_node; a++)
        held[a] = problem->supports.fixed[a]
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

static int add_supports(hx_fields *fields, const hx_session *s)
{
    const hx_mesh *mesh = &s->mesh;
    uint8_t *fixed = NULL;
    double *prescribed = NULL;
    HX_TRY(hx_fields_add(fields, mesh, HX_VTK_POINT, HX_VTK_U8, 1, "supports", &fixed));
    memcpy(fixed, s->problem.supports.fixed, (size_t)mesh->n_node);
    if (hx_config_is_heat(&s->cfg)) return add_temperatures(fields, s);
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

/* Those by mass are of the first design. */
static int add_loads(hx_fields *fields, const hx_session *s)
{
    for (int c = 0; c < s->problem.cases.n; c++) {
        double *force = NULL;
        char name[32];
        snprintf(name, sizeof name, "load_%d", c + 1);
        HX_TRY(hx_fields_add(fields, &s->mesh, HX_VTK_POINT, HX_VTK_F64, s->problem.components,
                             name, &force));
        HX_TRY(hx_problem_nodal_force(&s->problem, c, NULL, force));
    }
    return HX_OK;
}

static int add_passive(hx_fields *fields, const hx_session *s)
{
    float *passive = NULL;
    HX_TRY(hx_fields_add(fields, &s->mesh, HX_VTK_CELL, HX_VTK_F32, 1, "passive", &passive));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        const double rho = s->problem.passive.density ? s->problem.passive.density[e] : (double)NAN;
        passive[e] = isnan(rho) ? -1.0f : (float)rho;
    }
    return HX_OK;
}

static int add_quality(hx_fields *fields, const hx_mesh *mesh)
{
    float *quality = NULL;
    HX_TRY(hx_fields_add(fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1, "scaled_jacobian", &quality));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        quality[e] = (float)fmin(1.0, hx_mesh_scaled_jacobian(mesh, e)); /* not by rounding above */
    return HX_OK;
}

/* Before anything takes time: the file's folder can be written. */
static int probe_target(const char *path)
{
    char folder[PATH_MAX];
    const char *const slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (access(folder, W_OK | X_OK) == 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "cannot write '%s': %s: %s", path, folder, strerror(errno));
}

/* HX_EINPUT: the name does not end as that of a format that can be written. */
static int check_target(const char *path)
{
    char list[128];
    if (hx_mesh_can_write(hx_mesh_format_of_name(path))) return HX_OK;
    return HX_RAISE(HX_EINPUT, "'%s': the name must end with one of %s", path,
                    hx_mesh_format_list(1, list, sizeof list));
}

/* The mesh and what the config puts on it, in a format that holds no fields. */
static int write_format(const hx_session *s, const hx_mesh_format *format, const char *path)
{
    char a[32], b[32], cases[64] = "; supports and loads go into .inp and .vtk";
    const hx_mesh_write_options how = {.is_ascii = s->cfg.output.format == HX_VTK_ASCII,
                                       .title = s->cfg.title[0] ? s->cfg.title : s->mesh.name,
                                       .problem = &s->problem};
    if (format->holds_problem && hx_config_is_heat(&s->cfg))
        return HX_RAISE(HX_EINPUT,
                        "'%s': jobs of physics = \"heat\" are not written; .vtk shows what acts, "
                        ".msh takes the mesh",
                        path);
    HX_TRY(hx_progress_write_mesh(path, &s->mesh, format, &how));
    if (format->holds_problem)
        snprintf(cases, sizeof cases, ", %d load case%s", s->problem.cases.n,
                 s->problem.cases.n == 1 ? "" : "s");
    hx_log_info("%s: %s elements, %s nodes, %zu sets%s", path,
                hx_format_count(s->mesh.n_elem, a, sizeof a),
                hx_format_count(s->mesh.n_node, b, sizeof b), s->mesh.n_set, cases);
    return HX_OK;
}

static int write_mesh(hx_session *s, hx_fields *fields, const hx_options *options)
{
    const char *path = options->argument[1];
    const hx_mesh_format *const format = hx_mesh_format_of_name(path);
    char a[32], b[32], title[256];
    HX_TRY(hx_config_read(&s->cfg, options->argument[0], options->n_argument - 2,
                          options->argument + 2));
    HX_TRY(hx_session_make_mesh(s));
    if (format->holds_problem && !hx_config_is_heat(&s->cfg) &&
        s->cfg.solver.element != HX_ELEMENT_LINEAR)
        hx_log_warning("%s: its elements are linear, those of solver.element = \"quadratic\" are "
                       "not written",
                       path);
    s->cfg.solver.element = HX_ELEMENT_LINEAR; /* what a file of nodes can hold */
    HX_TRY(hx_session_make_problem(s));
    if (!format->holds_fields) return write_format(s, format, path);
    HX_TRY(hx_fields_add_sets(fields, &s->mesh));
    HX_TRY(add_supports(fields, s));
    HX_TRY(add_springs(fields, s));
    HX_TRY(add_loads(fields, s));
    HX_TRY(add_passive(fields, s));
    HX_TRY(add_quality(fields, &s->mesh));
    const hx_vtk_options vtk = {.format = s->cfg.output.format};
    snprintf(title, sizeof title, "%.180s%s%s", s->cfg.title[0] ? s->cfg.title : s->mesh.name,
             s->cfg.units.system[0] ? ", units " : "", s->cfg.units.system);
    HX_TRY(hx_progress_write(path, &s->mesh, title, &vtk, fields, NULL));
    hx_log_info("%s: %s elements, %s nodes, %zu fields", path,
                hx_format_count(s->mesh.n_elem, a, sizeof a),
                hx_format_count(s->mesh.n_node, b, sizeof b), fields->n);
    for (size_t i = 0; i < fields->n; i++)
        hx_log_detail("  %-5s  %s", fields->field[i].where == HX_VTK_POINT ? "point" : "cell",
                      fields->field[i].name);
    return HX_OK;
}

static int command_mesh(const hx_options *options)
{
    hx_session s;
    hx_fields fields;
    memset(&s, 0, sizeof s);
    memset(&fields, 0, sizeof fields);
    HX_TRY(check_target(options->argument[1]));
    HX_TRY(probe_target(options->argument[1]));
    if (hx_is_mesh_file(options->argument[0])) return hx_convert_mesh(options);
    const int rc = write_mesh(&s, &fields, options);
    hx_fields_free(&fields);
    hx_session_free(&s);
    return rc;
}

const hx_command hx_command_mesh = {
    .name = "mesh",
    .summary = "convert a mesh, or write a config's with its loads",
    .arguments = "FILE OUT [KEY=VALUE ...]",
    .ends = {".cfg .vtk .msh .inp .cdb", ".vtk .msh .inp"},
    .help =
        "FILE is a config or a mesh file, OUT a file .vtk, .msh (Gmsh 4.1, sets as\n"
        "physical groups) or .inp (Abaqus; of a config a whole job for CalculiX).\n"
        "A mesh file is converted, with its sets; mesh.merge and output.format may follow. Second "
        "order\n"
        "becomes linear, pyramids in .inp bricks with repeated nodes.\n\n"
        "Fields of OUT.vtk of a config: set_NAME (0 or 1), supports (bits 1, 2, 4 for x, y, z), "
        "prescribed\n"
        "(displacements, if any), load_1 ... (nodal forces of each case), passive (density, -1 "
        "where\n"
        "the design is free), scaled_jacobian (quality, 1 = right angles, of other kinds than\n"
        "hexahedra equal edges).\n",
    .n_min = 2,
    .run = command_mesh,
};
