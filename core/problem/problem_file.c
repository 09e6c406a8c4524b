/* Supports and loads that the mesh's file states. */
#include <math.h>

#include "problem_internal.h"

static int check_usable(const hx_mesh *mesh, const char *origin, int64_t n, const char *what)
{
    if (mesh->file_fault)
        return HX_RAISE(HX_EINPUT, "%s: from = \"file\": %s", origin, mesh->file_fault);
    if (n > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: from = \"file\", but %s states no %s; *BOUNDARY and *CLOAD of an Abaqus "
                    "file, D and F of an ANSYS file are read",
                    origin, mesh->name, what);
}

int hx_problem_file_moves(const hx_mesh *mesh)
{
    for (int64_t i = 0; i < mesh->n_file_support; i++)
        if (fabs(mesh->file_support[i].value) > 0.0) return 1;
    return 0;
}

int hx_problem_add_file_supports(hx_problem *problem, const hx_support_spec *support)
{
    const hx_mesh *const mesh = problem->mesh;
    HX_TRY(check_usable(mesh, support->origin, mesh->n_file_support, "support"));
    for (int64_t i = 0; i < mesh->n_file_support; i++) {
        const hx_file_value *const held = &mesh->file_support[i];
        HX_TRY(hx_problem_hold(problem, support->origin, held->node, held->component, held->value));
    }
    return HX_OK;
}

int hx_load_last_case(const hx_mesh *mesh, const hx_load_spec *load)
{
    if (load->kind != HX_LOAD_FROM_FILE || load->load_case != 0) return load->load_case;
    return mesh->n_file_case > 1 ? mesh->n_file_case : 1;
}

int hx_problem_add_file_forces(hx_problem *problem, const hx_load_spec *load)
{
    const hx_mesh *const mesh = problem->mesh;
    int64_t n = 0;
    HX_TRY(check_usable(mesh, load->origin, mesh->n_file_force, "force"));
    for (int64_t i = 0; i < mesh->n_file_force; i++) {
        const hx_file_value *const force = &mesh->file_force[i];
        const int of_case =
            mesh->n_file_case == 1 && load->load_case > 0 ? load->load_case : force->load_case;
        if (load->load_case > 0 && of_case != load->load_case) continue;
        problem->force[of_case - 1][3 * (int64_t)force->node + force->component] += force->value;
        n++;
    }
    if (n > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: case = %d, but step %d of %s has no force (it has %d steps)",
                    load->origin, load->load_case, load->load_case, mesh->name, mesh->n_file_case);
}
