/* Supports and loads defined by the mesh file. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "problem_internal.h"

static int check_usable(const hx_problem *problem, const char *general, const char *own,
                        const char *origin, int64_t n, const char *what)
{
    const char *const fault = general ? general : own;
    if (fault) return HX_RAISE(HX_EINPUT, "%s: from = \"file\": %s", origin, fault);
    if (n > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: from = \"file\", but %s has no %s; *BOUNDARY, *CLOAD, *DLOAD and "
                    "*DSLOAD of an Abaqus file, D and F of an ANSYS file, and SPC, SPC1, FORCE, "
                    "PLOAD and PLOAD4 of a Nastran file are supported",
                    origin, problem->mesh->name, what);
}

int hx_conditions_move(const hx_conditions *conditions)
{
    for (int64_t i = 0; conditions && i < conditions->n_support; i++)
        if (fabs(conditions->support[i].value) > 0.0) return 1;
    for (int64_t i = 0; conditions && i < conditions->n_rigid; i++)
        for (int k = 0; k < 6; k++)
            if (fabs(conditions->rigid[i].value[k]) > 0.0) return 1;
    return 0;
}

/* --- supports --- */

/* Prescribes mid-edge points that a second-order file fixes. */
static int hold_middles(hx_problem *problem, const hx_conditions *c, const char *origin)
{
    int32_t *end = NULL;
    int rc = HX_OK;
    HX_TRY(hx_conditions_ends(problem->mesh, c->n_middle, c->middle, &end));
    for (int64_t i = 0; rc == HX_OK && i < c->n_middle; i++) {
        const int64_t point = hx_space_middle(&problem->space, end[2 * i], end[2 * i + 1]);
        if (c->middle[i].load_case != 0 || point < 0) continue;
        rc = hx_problem_hold(problem, origin, point, c->middle[i].component, c->middle[i].value);
    }
    free(end);
    return rc;
}

/* For a first-order file: prescribes mid-edge points between two fixed nodes to the mean of the
 * nodes' values. */
static int hold_between(hx_problem *problem, const hx_conditions *c, const int32_t *node,
                        const char *origin)
{
    const hx_space *space = &problem->space;
    const size_t n_dof = 3 * (size_t)problem->mesh->n_node;
    double *value = NULL;
    int rc = HX_OK;
    HX_TRY(hx_alloc_raw(&value, n_dof, sizeof *value, "supports of a file"));
    for (size_t k = 0; k < n_dof; k++) value[k] = (double)NAN;
    for (int64_t i = 0; i < c->n_support; i++)
        value[3 * (int64_t)node[i] + c->support[i].component] = c->support[i].value;
    for (int64_t k = 0; rc == HX_OK && k < 3 * space->n_edge; k++) {
        const int32_t *const end = space->edge + 2 * (k / 3);
        const double mean =
            0.5 * (value[3 * (int64_t)end[0] + k % 3] + value[3 * (int64_t)end[1] + k % 3]);
        if (isnan(mean)) continue; /* one end is free */
        rc = hx_problem_hold(problem, origin, problem->mesh->n_node + k / 3, (int)(k % 3), mean);
    }
    free(value);
    return rc;
}

static int hold_following(hx_problem *problem, const hx_file_rigid *rigid, const char *origin,
                          int64_t n, const int32_t *point)
{
    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < 3; i++)
            HX_TRY(hx_problem_hold(
                problem, origin, point[k], i,
                hx_follow_point(rigid, problem->space.xyz + 3 * (int64_t)point[k], i)));
    return HX_OK;
}

/* Prescribes the nodes of a set whose reference point is fully fixed. */
static int hold_rigid(hx_problem *problem, const hx_file_rigid *rigid, const char *origin)
{
    const hx_set *set;
    int64_t n;
    int32_t *middle;
    if (rigid->held != HX_FILE_HELD_ALL) return HX_OK;
    HX_TRY(hx_problem_find_set(problem->mesh, rigid->set, origin, &set));
    HX_TRY(hold_following(problem, rigid, origin, set->n_node, set->node));
    HX_TRY(hx_space_set_middles(&problem->space, set, &n, &middle));
    const int rc = hold_following(problem, rigid, origin, n, middle);
    free(middle);
    return rc;
}

int hx_problem_add_file_supports(hx_problem *problem, const hx_conditions *conditions,
                                 const hx_support_spec *support)
{
    static const hx_conditions none;
    const hx_conditions *const c = conditions ? conditions : &none;
    int32_t *node = NULL;
    int rc = HX_OK;
    int64_t n = c->n_support;
    for (int64_t i = 0; i < c->n_rigid; i++) n += c->rigid[i].held != 0;
    HX_TRY(check_usable(problem, c->fault, c->support_fault, support->origin, n, "support"));
    HX_TRY(hx_conditions_nodes(problem->mesh, c->n_support, c->support, &node));
    for (int64_t i = 0; rc == HX_OK && i < c->n_support; i++)
        rc = hx_problem_hold(problem, support->origin, node[i], c->support[i].component,
                             c->support[i].value);
    if (rc == HX_OK && problem->space.element != HX_ELEMENT_LINEAR)
        rc = c->is_second_order ? hold_middles(problem, c, support->origin)
                                : hold_between(problem, c, node, support->origin);
    free(node);
    for (int64_t i = 0; rc == HX_OK && i < c->n_rigid; i++)
        rc = hold_rigid(problem, &c->rigid[i], support->origin);
    return rc;
}

/* --- loads --- */

/* Returns whether a force of a step belongs to the load, and the case in which it acts. */
static int acts_in(const hx_conditions *c, const hx_load_spec *load, int step, int *of_case)
{
    *of_case = c->n_case == 1 && load->load_case > 0 ? load->load_case : step;
    return load->load_case == 0 || *of_case == load->load_case;
}

/* Moves the forces at mid-edge points back from the edges' ends, to which they are assigned for
 * linear elements, and adds what corners of curved faces have in addition. */
static int move_to_middles(hx_problem *problem, const hx_conditions *c, const hx_load_spec *load)
{
    int32_t *end = NULL;
    int of_case;
    HX_TRY(hx_conditions_ends(problem->mesh, c->n_middle, c->middle, &end));
    for (int64_t i = 0; i < c->n_middle; i++) {
        const hx_file_middle *const m = &c->middle[i];
        const int64_t point = m->is_corner
                                  ? end[2 * i]
                                  : hx_space_middle(&problem->space, end[2 * i], end[2 * i + 1]);
        if (m->load_case == 0 || point < 0 || !acts_in(c, load, m->load_case, &of_case)) continue;
        double *const force = problem->cases.force[of_case - 1] + m->component;
        force[3 * point] += m->value;
        for (int k = 0; k < 2 && !m->is_corner; k++)
            force[3 * (int64_t)end[2 * i + k]] -= 0.5 * m->value;
    }
    free(end);
    return HX_OK;
}

int hx_load_last_case(const hx_conditions *conditions, const hx_load_spec *load)
{
    if (load->kind != HX_LOAD_FROM_FILE || load->load_case != 0) return load->load_case;
    return conditions && conditions->n_case > 1 ? conditions->n_case : 1;
}

/* The load of a config that is equivalent to a load of the file. */
static hx_load_spec spec_of(const hx_file_load *from, const hx_load_spec *load, int of_case)
{
    static const hx_load_kind kind[] = {[HX_FILE_PRESSURE] = HX_LOAD_PRESSURE,
                                        [HX_FILE_GRAVITY] = HX_LOAD_GRAVITY,
                                        [HX_FILE_CENTRIFUGAL] = HX_LOAD_CENTRIFUGAL,
                                        [HX_FILE_REMOTE] = HX_LOAD_REMOTE};
    hx_load_spec spec = {.set = from->set,
                         .origin = load->origin,
                         .kind = kind[from->kind],
                         .load_case = of_case,
                         .speed = from->speed,
                         .equally = from->equally};
    for (int i = 0; i < 3; i++) {
        spec.value[i] = from->value[i];
        spec.moment[i] = from->moment[i];
        spec.point[i] = from->point[i];
    }
    return spec;
}

int hx_problem_add_file_forces(hx_problem *problem, const hx_problem_params *params,
                               const hx_load_spec *load)
{
    static const hx_conditions none;
    const hx_conditions *const c = params->conditions ? params->conditions : &none;
    /* the file's steps are load cases by its prescribed displacements, too */
    const int is_moved = hx_params_hold_by_file(params) && hx_conditions_move(c);
    int32_t *node = NULL;
    int64_t n = 0;
    HX_TRY(check_usable(problem, c->fault, c->load_fault, load->origin,
                        c->n_force + c->n_load + is_moved, "force"));
    HX_TRY(hx_conditions_nodes(problem->mesh, c->n_force, c->force, &node));
    for (int64_t i = 0; i < c->n_force; i++) {
        const hx_file_value *const force = &c->force[i];
        int of_case;
        if (!acts_in(c, load, force->load_case, &of_case)) continue;
        double *const size = &problem->cases.size[of_case - 1];
        problem->cases.force[of_case - 1][3 * (int64_t)node[i] + force->component] += force->value;
        *size = fmax(*size, fabs(force->value));
        n++;
    }
    free(node);
    if (n > 0 && problem->space.element != HX_ELEMENT_LINEAR)
        HX_TRY(move_to_middles(problem, c, load));
    /* Adds loads on sets and by mass; *n counts them. */
    enum { MOST_LOOKS = 16 }; /* files with thousands of loads are not measured after each load */
    const int64_t look_every = 1 + c->n_load / MOST_LOOKS;
    for (int64_t i = 0; i < c->n_load; i++) {
        int of_case;
        if (!acts_in(c, load, c->load[i].load_case, &of_case)) continue;
        const hx_load_spec spec = spec_of(&c->load[i], load, of_case);
        HX_TRY(hx_load_is_body(&spec) ? hx_problem_add_body(problem, params, &spec)
                                      : hx_problem_add_load(&problem->space, &spec,
                                                            problem->cases.force[of_case - 1]));
        if (c->n_load > 1 && i % look_every == 0) hx_problem_measure_case(problem, of_case - 1);
        n++;
    }
    if (n > 0 || (is_moved && (c->n_case == 1 || load->load_case <= c->n_case))) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: case = %d, but step %d of %s has no load (the file has %d %s)",
                    load->origin, load->load_case, load->load_case, problem->mesh->name, c->n_case,
                    hx_noun(c->n_case, "step", "steps"));
}
