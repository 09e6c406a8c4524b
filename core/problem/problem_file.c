/* Supports and loads that the mesh's file states. */
#include <math.h>
#include <stdlib.h>

#include "problem_internal.h"

static int check_usable(const hx_problem *problem, const char *fault, const char *origin, int64_t n,
                        const char *what)
{
    if (fault) return HX_RAISE(HX_EINPUT, "%s: from = \"file\": %s", origin, fault);
    if (n > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: from = \"file\", but %s states no %s; *BOUNDARY and *CLOAD of an Abaqus "
                    "file, D and F of an ANSYS file are read",
                    origin, problem->mesh->name, what);
}

int hx_conditions_move(const hx_conditions *conditions)
{
    for (int64_t i = 0; conditions && i < conditions->n_support; i++)
        if (fabs(conditions->support[i].value) > 0.0) return 1;
    return 0;
}

int hx_problem_add_file_supports(hx_problem *problem, const hx_conditions *conditions,
                                 const hx_support_spec *support)
{
    static const hx_conditions none;
    const hx_conditions *const c = conditions ? conditions : &none;
    int32_t *node = NULL;
    int rc = HX_OK;
    HX_TRY(check_usable(problem, c->fault, support->origin, c->n_support, "support"));
    HX_TRY(hx_conditions_nodes(problem->mesh, c->n_support, c->support, &node));
    for (int64_t i = 0; rc == HX_OK && i < c->n_support; i++)
        rc = hx_problem_hold(problem, support->origin, node[i], c->support[i].component,
                             c->support[i].value);
    free(node);
    return rc;
}

int hx_load_last_case(const hx_conditions *conditions, const hx_load_spec *load)
{
    if (load->kind != HX_LOAD_FROM_FILE || load->load_case != 0) return load->load_case;
    return conditions && conditions->n_case > 1 ? conditions->n_case : 1;
}

int hx_problem_add_file_forces(hx_problem *problem, const hx_conditions *conditions,
                               const hx_load_spec *load)
{
    static const hx_conditions none;
    const hx_conditions *const c = conditions ? conditions : &none;
    int32_t *node = NULL;
    int64_t n = 0;
    HX_TRY(check_usable(problem, c->fault, load->origin, c->n_force, "force"));
    HX_TRY(hx_conditions_nodes(problem->mesh, c->n_force, c->force, &node));
    for (int64_t i = 0; i < c->n_force; i++) {
        const hx_file_value *const force = &c->force[i];
        const int of_case =
            c->n_case == 1 && load->load_case > 0 ? load->load_case : force->load_case;
        if (load->load_case > 0 && of_case != load->load_case) continue;
        problem->cases.force[of_case - 1][3 * (int64_t)node[i] + force->component] += force->value;
        n++;
    }
    free(node);
    if (n > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: case = %d, but step %d of %s has no force (it has %d steps)",
                    load->origin, load->load_case, load->load_case, problem->mesh->name, c->n_case);
}
