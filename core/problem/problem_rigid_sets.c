/* Sets that move as rigid bodies, and the data of their projectors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../mesh/load_faces.h"
#include "problem_internal.h"
#include "symmetric.h"

/* Centre of the nodes and pseudo-inverse of their second moment: collinear nodes do not rotate
 * about their line, and a single node does not rotate at all. */
void hx_rigid_measure(const hx_space *space, const int32_t *node, hx_rigid_set *set)
{
    double moment[3][3] = {{0.0}}, value[3], axis[3][3];
    memset(set->centre, 0, sizeof set->centre);
    memset(set->inverse, 0, sizeof set->inverse);
    for (int64_t k = 0; k < set->n; k++)
        for (int i = 0; i < 3; i++) set->centre[i] += space->xyz[3 * (int64_t)node[k] + i];
    for (int i = 0; i < 3; i++) set->centre[i] /= (double)set->n;
    for (int64_t k = 0; k < set->n; k++) {
        double d[3];
        for (int i = 0; i < 3; i++) d[i] = space->xyz[3 * (int64_t)node[k] + i] - set->centre[i];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                moment[i][j] += (i == j ? hx_dot3(d, d) : 0.0) - d[i] * d[j];
    }
    const double size = space->mesh->elem_size, least = 1e-10 * size * size;
    hx_symmetric3_eigen(moment, value, axis);
    for (int k = 0; k < 3; k++) {
        if (!(value[k] > fmax(least, 1e-12 * value[2]))) continue;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) set->inverse[i][j] += axis[k][i] * axis[k][j] / value[k];
    }
}

/* Specification of a rigid set. */
typedef struct rigid_spec {
    const char *set, *origin;
    const hx_file_rigid *file; /* its reference point may be fixed; NULL: not from a file */
} rigid_spec;

/* Basis of the motions (v, w l) that the prescribed ones leave free, in the first columns; l: a
 * length. Returns its dimension. */
static int free_motions(const hx_rigid_set *set, double length, double basis[6][6])
{
    double held[6][6] = {{0.0}}, vector[6][6];
    int n = 0;
    for (int r = 0; r < 6; r++) {
        double row[6] = {0.0}; /* the prescribed component as a function of the motion */
        const int i = r % 3, j = (i + 1) % 3, k = (i + 2) % 3;
        if (!(set->held >> r & 1u)) continue;
        row[r] = 1.0;
        if (r < 3) {
            row[3 + j] = (set->point[k] - set->centre[k]) / length;
            row[3 + k] = -(set->point[j] - set->centre[j]) / length;
        }
        const double size = hx_norm3(row) + hx_norm3(row + 3);
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 6; b++) held[a][b] += row[a] * row[b] / (size * size);
    }
    hx_symmetric_rotate(6, held[0], vector[0]);
    for (int c = 0; c < 6; c++) {
        if (held[c][c] > 1e-10) continue;
        for (int a = 0; a < 6; a++) basis[a][n] = vector[a][c];
        n++;
    }
    return n;
}

/* Sets set->free from the prescribed motions. moment: second moment of the nodes about their
 * centre. */
static void free_part(const hx_rigid_set *set, const double moment[3][3], double length,
                      double to[6][6])
{
    double basis[6][6], small[36], vector[36], mass[6][6] = {{0.0}};
    const int n = free_motions(set, length, basis);
    for (int i = 0; i < 3; i++) {
        mass[i][i] = (double)set->n;
        for (int j = 0; j < 3; j++) mass[3 + i][3 + j] = moment[i][j] / (length * length);
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            double sum = 0.0;
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++) sum += basis[i][a] * mass[i][j] * basis[j][b];
            small[a * n + b] = sum;
        }
    hx_symmetric_rotate(n, small, vector);
    memset(to, 0, 36 * sizeof(double));
    for (int c = 0; c < n; c++) {
        double along[6] = {0.0};
        if (!(small[c * n + c] > 1e-12 * (double)set->n)) continue;
        for (int i = 0; i < 6; i++)
            for (int a = 0; a < n; a++) along[i] += basis[i][a] * vector[a * n + c];
        for (int i = 0; i < 3; i++) along[3 + i] /= length;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) to[i][j] += along[i] * along[j] / small[c * n + c];
    }
}

/* Sets the prescribed motion of the set's reference point. */
void hx_rigid_hold(const hx_space *space, const int32_t *node, hx_rigid_set *set)
{
    double moment[3][3] = {{0.0}}, trace = 0.0;
    if (set->held == 0) return;
    for (int64_t k = 0; k < set->n; k++) {
        double d[3];
        for (int i = 0; i < 3; i++) d[i] = space->xyz[3 * (int64_t)node[k] + i] - set->centre[i];
        trace += hx_dot3(d, d);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                moment[i][j] += (i == j ? hx_dot3(d, d) : 0.0) - d[i] * d[j];
    }
    const double length = fmax(sqrt(trace / (double)set->n), 1e-5 * space->mesh->elem_size);
    free_part(set, (const double(*)[3])moment, length, set->free);
}

/* Takes the prescribed motion of the file's reference point. The solution is a motion of the set
 * that has the prescribed values, plus what `free` leaves. */
static void take_held(hx_problem *problem, const hx_file_rigid *file, hx_rigid_set *set)
{
    const hx_space *const space = &problem->space;
    const int32_t *const node = problem->rigid.node + set->first;
    double *const prescribed = problem->supports.prescribed;
    set->held = file->held;
    memcpy(set->point, file->point, sizeof set->point);
    memcpy(set->value, file->value, sizeof set->value);
    hx_rigid_hold(space, node, set);
    for (int64_t k = 0; prescribed && set->held && k < set->n; k++)
        for (int i = 0; i < 3; i++)
            prescribed[3 * (int64_t)node[k] + i] =
                hx_follow_point(file, space->xyz + 3 * (int64_t)node[k], i);
}

/* owner[point]: 1 if another rigid set has the point. */
static int add_rigid_set(hx_problem *problem, const rigid_spec *spec, const hx_set *from,
                         uint8_t *owner)
{
    const hx_mesh *mesh = problem->mesh;
    const hx_space *space = &problem->space;
    hx_rigid_set *set = &problem->rigid.set[problem->rigid.n];
    int64_t n;
    int32_t *point;
    int rc;
    set->first = problem->rigid.n_node;
    HX_TRY(hx_problem_set_points(space, from, spec->origin, &n, &point));
    for (int64_t k = 0; k < n; k++) {
        const int is_node = space->element == HX_ELEMENT_SPLINE || point[k] < mesh->n_node;
        const long long number =
            (long long)hx_mesh_node_number(mesh, hx_space_near_node(space, point[k]));
        if (is_node && problem->supports.fixed[point[k]])
            HX_TRY_FAIL(HX_RAISE(HX_EINPUT,
                                 "%s: node %lld of set '%s' is fixed by a support, but a rigid set "
                                 "moves as one body; remove it from one of them, or use coupling = "
                                 "\"distributing\"%s",
                                 spec->origin, number, spec->set,
                                 spec->file ? " (*DISTRIBUTING in the file)" : ""));
        if (is_node && owner[point[k]])
            HX_TRY_FAIL(
                HX_RAISE(HX_EINPUT,
                         "%s: node %lld of set '%s' also belongs to another rigid set; rigid "
                         "sets must not share nodes, so join them in one set",
                         spec->origin, number, spec->set));
        owner[point[k]] = 1;
        problem->rigid.node[problem->rigid.n_node++] = point[k];
    }
    set->n = set->n_own = set->n_all = problem->rigid.n_node - set->first;
    hx_rigid_measure(space, problem->rigid.node + set->first, set);
    if (spec->file) take_held(problem, spec->file, set);
    problem->rigid.n++;
    rc = HX_OK;
fail:
    free(point);
    return rc;
}

static void ask_for(rigid_spec *list, size_t *n, rigid_spec spec)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i].set, spec.set) == 0) return; /* already listed */
    list[(*n)++] = spec;
}

static int add_sets(hx_problem *problem, size_t n_set, const rigid_spec *list)
{
    const hx_mesh *mesh = problem->mesh;
    uint8_t *owner = NULL;
    /* a mid-edge point cannot be in two sets, because its ends would be in both */
    size_t n_node = (size_t)problem->space.n_edge;
    if (problem->space.element == HX_ELEMENT_SPLINE)
        n_node = n_set * (size_t)problem->space.n_point;
    int rc;
    for (size_t i = 0; i < n_set; i++) {
        const hx_set *set;
        HX_TRY(hx_problem_find_set(mesh, list[i].set, list[i].origin, &set));
        n_node += (size_t)set->n_node;
    }
    HX_TRY_FAIL(hx_alloc(&owner, (size_t)problem->space.n_point, sizeof *owner, "rigid sets"));
    HX_TRY_FAIL(hx_alloc(&problem->rigid.set, n_set, sizeof *problem->rigid.set, "rigid sets"));
    HX_TRY_FAIL(hx_alloc(&problem->rigid.node, n_node, sizeof(int32_t), "rigid sets"));
    for (size_t i = 0; i < n_set; i++)
        HX_TRY_FAIL(add_rigid_set(problem, &list[i], hx_mesh_find_set(mesh, list[i].set), owner));
    rc = HX_OK;
fail:
    free(owner);
    return rc;
}

int hx_problem_add_rigid_sets(hx_problem *problem, const hx_problem_params *params)
{
    rigid_spec *list = NULL;
    const size_t n_most =
        params->n_load + (size_t)(params->conditions ? params->conditions->n_rigid : 0);
    if (n_most == 0) return HX_OK;
    HX_TRY(hx_alloc(&list, n_most, sizeof *list, "rigid sets"));
    /* Lists the sets of the file if it supports or loads the part, except those that a support
     * fixes completely; then the sets of loads. */
    const hx_conditions *const c = params->conditions;
    const int by_file = hx_params_hold_by_file(params);
    size_t n_set = 0;
    /* NOLINTNEXTLINE(clang-analyzer-core*): both are 0 without conditions */
    for (int64_t i = 0; (by_file || hx_params_load_by_file(params)) && i < c->n_rigid; i++)
        if (!by_file || c->rigid[i].held != HX_FILE_HELD_ALL)
            ask_for(list, &n_set,
                    (rigid_spec){c->rigid[i].set, c->rigid[i].name, by_file ? &c->rigid[i] : NULL});
    for (size_t i = 0; i < params->n_load; i++)
        if (params->load[i].kind == HX_LOAD_REMOTE_RIGID)
            ask_for(list, &n_set, (rigid_spec){params->load[i].set, params->load[i].origin, NULL});
    const int rc = n_set > 0 ? add_sets(problem, n_set, list) : HX_OK;
    free(list);
    return rc;
}
