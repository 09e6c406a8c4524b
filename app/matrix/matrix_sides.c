/* Data written beside K: loads, held unknowns, near-null space, order of the nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/radix_sort.h"
#include "core/base/sum.h"
#include "matrix_job.h"

enum { N_MOTION = 6 };

static int64_t n_dof_of(const hx_problem *problem)
{
    return problem->components * problem->space.n_point;
}

static int is_held(const hx_problem *problem, int64_t dof)
{
    const int c = problem->components;
    return problem->supports.fixed[dof / c] >> dof % c & 1;
}

/* The prescribed value of an unknown; 0 if it is free. */
static double held_value(const hx_problem *problem, int64_t dof)
{
    if (!is_held(problem, dof)) return 0.0;
    const double value = problem->supports.prescribed ? problem->supports.prescribed[dof] : 0.0;
    return hx_problem_is_heat(problem) ? problem->reference + value : value;
}

int hx_matrix_may_move(const hx_problem *problem)
{
    return problem->supports.prescribed != NULL ||
           (hx_problem_is_heat(problem) && fabs(problem->reference) > 0.0);
}

static int some_move(const hx_problem *problem)
{
    const int64_t n = hx_matrix_may_move(problem) ? n_dof_of(problem) : 0;
    for (int64_t k = 0; k < n; k++)
        if (fabs(held_value(problem, k)) > 0.0) return 1;
    return 0;
}

/* Converts loads for temperatures relative to the reference to those for absolute temperatures:
 * adds K times the reference everywhere, to which only convection contributes. */
static void add_reference(const hx_problem *problem, double *load)
{
    const hx_films *const films = &problem->films;
    for (int64_t f = 0; f < films->n; f++)
        for (int64_t k = films->ptr[f]; k < films->ptr[f + 1]; k++)
            load[films->node[f]] += films->value[k] * problem->reference;
}

/* Row i of block row r times u_p. */
static double row_times(const hx_problem *problem, const hx_row_range *range,
                        const hx_matrix_rows *blocks, int64_t r, int i)
{
    const int c = problem->components;
    double sum = 0.0;
    for (int64_t k = blocks->ptr[r]; k < blocks->ptr[r + 1]; k++) {
        const int64_t b = range->point ? range->point[blocks->col[k]] : blocks->col[k];
        for (int j = 0; j < c; j++)
            sum += blocks->value[c * c * k + c * i + j] * held_value(problem, c * b + j);
    }
    return sum;
}

void hx_matrix_sides_move(hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_row_range *range, const hx_matrix_rows *blocks)
{
    const int n = problem->components;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n * range->n; k++) {
        const int64_t dof = n * range->first + k;
        if (is_held(problem, dof)) continue;
        const double moved = row_times(problem, range, blocks, k / n, (int)(k % n));
        for (int c = 0; c < sides->n_case; c++) sides->load[c][dof] -= moved;
    }
    /* load -= F u_p for the rows of the range, where F is the convection matrix. */
    const hx_films *const films = &problem->films;
    const int64_t end = range->first + range->n;
    for (int64_t f = hx_matrix_first_film(films, range->first);
         f < films->n && films->node[f] < end; f++) {
        const int64_t dof = films->node[f];
        double moved = 0.0;
        if (is_held(problem, dof)) continue;
        for (int64_t k = films->ptr[f]; k < films->ptr[f + 1]; k++)
            moved += films->value[k] * held_value(problem, films->col[k]);
        for (int c = 0; c < sides->n_case; c++) sides->load[c][dof] -= moved;
    }
}

void hx_matrix_sides_free(hx_matrix_sides *sides)
{
    for (int c = 0; c < sides->n_case; c++)
        if (sides->load) free(sides->load[c]);
    free(sides->load);
    free(sides->held);
    free(sides->held_value);
    free(sides->number);
    memset(sides, 0, sizeof *sides);
}

static double dot_in_parts(int64_t n, const double *a, const double *b)
{
    double part[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int p = 0; p < HX_N_PART; p++) {
        part[p] = 0.0;
        for (int64_t k = hx_part_begin(n, p); k < hx_part_begin(n, p + 1); k++)
            part[p] += a[k] * b[k];
    }
    return hx_sum_parts(part);
}

/* Translations along x, y and z, and rotations about axes in these directions through the middle of
 * the box; they are not orthogonal yet. */
static void fill_motion(const hx_space *space, int m, double *motion)
{
    const hx_mesh *const mesh = space->mesh;
    double middle[3];
    for (int i = 0; i < 3; i++) middle[i] = 0.5 * (mesh->box_min[i] + mesh->box_max[i]);
    const int along = m % 3, next = (along + 1) % 3, third = (along + 2) % 3;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < space->n_point; a++) {
        const double *const x = space->xyz + 3 * a;
        double *const v = motion + 3 * a;
        v[along] = m < 3 ? 1.0 : 0.0;
        v[next] = m < 3 ? 0.0 : -(x[third] - middle[third]);
        v[third] = m < 3 ? 0.0 : x[next] - middle[next];
    }
}

static int n_motion_of(const hx_problem *problem)
{
    return hx_problem_is_heat(problem) ? 1 : N_MOTION;
}

/* Writes the rigid body motions; for heat the constant. */
static int write_near_null(const hx_problem *problem, hx_write_set *set)
{
    const int64_t n = n_dof_of(problem);
    const int is_heat = hx_problem_is_heat(problem), n_motion = n_motion_of(problem);
    double *motion[N_MOTION] = {0};
    int rc = HX_OK;
    for (int m = 0; m < n_motion; m++) {
        HX_TRY_FAIL(hx_alloc_raw(&motion[m], (size_t)n, sizeof(double), "near null space"));
        for (int64_t k = 0; is_heat && k < n; k++) motion[m][k] = 1.0;
        if (!is_heat) fill_motion(&problem->space, m, motion[m]);
        /* Gram-Schmidt applied twice, so that the result is orthogonal up to rounding. */
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < m; k++) {
                const double share = dot_in_parts(n, motion[k], motion[m]);
                for (int64_t i = 0; i < n; i++) motion[m][i] -= share * motion[k][i];
            }
        const double length = sqrt(dot_in_parts(n, motion[m], motion[m]));
        for (int64_t i = 0; i < n; i++) motion[m][i] /= length;
    }
    HX_TRY_FAIL(hx_write_columns(set, HX_MATRIX_FILE_NEAR_NULL, "near_null", n, n_motion,
                                 (const double *const *)motion));
fail:
    for (int m = 0; m < N_MOTION; m++) free(motion[m]);
    return rc;
}

static int32_t node_number(const hx_mesh *mesh, int64_t node)
{
    return mesh->node_orig ? mesh->node_orig[node] : (int32_t)node;
}

/* Numbers mid-side nodes as in a space over the file's nodes: by the ends of their edges. */
static int number_middles(const hx_space *space, int32_t *number)
{
    const hx_mesh *const mesh = space->mesh;
    const uint64_t n_node = (uint64_t)mesh->n_node;
    uint64_t *key = NULL;
    int32_t *order = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)space->n_edge, sizeof *key, "order of the edges"));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)space->n_edge, sizeof *order, "order of the edges"));
    for (int64_t k = 0; k < space->n_edge; k++) {
        const uint64_t a = (uint64_t)node_number(mesh, space->edge[2 * k]);
        const uint64_t b = (uint64_t)node_number(mesh, space->edge[2 * k + 1]);
        key[k] = a < b ? a * n_node + b : b * n_node + a;
    }
    HX_TRY_FAIL(hx_radix_sort(key, order, space->n_edge, hx_bits(n_node * n_node)));
    for (int64_t k = 0; k < space->n_edge; k++)
        number[mesh->n_node + order[k]] = (int32_t)(mesh->n_node + k);
fail:
    free(key);
    free(order);
    return rc;
}

/* Number in the file of each node in the order of K, and then of the mid-side nodes. */
static int make_order(hx_matrix_sides *sides, const hx_space *space)
{
    const hx_mesh *const mesh = space->mesh;
    if (space->element == HX_ELEMENT_SPLINE)
        return HX_RAISE(HX_EINPUT, "--order: the rows of a spline belong to control points, not to "
                                   "nodes of a file; leave --order out");
    HX_TRY(hx_alloc_raw(&sides->number, (size_t)space->n_point, sizeof *sides->number,
                        "order of the nodes"));
    for (int64_t a = 0; a < mesh->n_node; a++) sides->number[a] = node_number(mesh, a);
    return space->n_edge > 0 ? number_middles(space, sides->number) : HX_OK;
}

static int make_loads(hx_matrix_sides *sides, const hx_problem *problem, const double *rho,
                      const double *modulus, const hx_matrix_plan *plan)
{
    const size_t n = (size_t)n_dof_of(problem);
    sides->n_case = problem->cases.n;
    sides->moves = plan->eliminate && some_move(problem);
    HX_TRY(hx_alloc(&sides->load, (size_t)sides->n_case, sizeof *sides->load, "load cases"));
    for (int c = 0; c < sides->n_case; c++) {
        HX_TRY(hx_alloc_raw(&sides->load[c], n, sizeof(double), "loads"));
        HX_TRY(hx_problem_nodal_force(problem, c, rho, sides->load[c]));
        hx_problem_add_expansion(problem, c, modulus, sides->load[c]);
        if (hx_problem_is_heat(problem)) add_reference(problem, sides->load[c]);
        /* Held rows of an eliminated system are u = u_p. */
        for (int64_t dof = 0; plan->eliminate && dof < n_dof_of(problem); dof++)
            if (is_held(problem, dof)) sides->load[c][dof] = held_value(problem, dof);
    }
    return HX_OK;
}

int hx_matrix_sides_create(hx_matrix_sides *sides, const hx_problem *problem, const double *rho,
                           const double *modulus, const hx_matrix_plan *plan)
{
    if (plan->rhs) HX_TRY(make_loads(sides, problem, rho, modulus, plan));
    if (plan->fixed) {
        const int64_t n_dof = n_dof_of(problem);
        int64_t n = 0;
        for (int64_t k = 0; k < n_dof; k++) n += is_held(problem, k);
        HX_TRY(hx_alloc(&sides->held, (size_t)n, sizeof *sides->held, "held unknowns"));
        HX_TRY(hx_alloc(&sides->held_value, (size_t)n, sizeof(double), "held unknowns"));
        for (int64_t k = 0; k < n_dof; k++) {
            if (!is_held(problem, k)) continue;
            sides->held[sides->n_held] = (int32_t)k;
            sides->held_value[sides->n_held++] = held_value(problem, k);
        }
    }
    return plan->order_file ? make_order(sides, &problem->space) : HX_OK;
}

int hx_matrix_sides_bytes(const hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_matrix_plan *plan, int64_t bytes[HX_N_MATRIX_FILE])
{
    const int64_t n = n_dof_of(problem);
    const double *const *const load = sides->moves ? NULL : (const double *const *)sides->load;
    if (plan->rhs)
        HX_TRY(hx_columns_bytes_of(plan->rhs, "f", n, sides->n_case, load,
                                   &bytes[HX_MATRIX_FILE_RHS]));
    if (plan->fixed)
        HX_TRY(hx_held_bytes_of(plan->fixed, n, sides->n_held, sides->held, sides->held_value,
                                &bytes[HX_MATRIX_FILE_FIXED]));
    if (plan->near_null)
        HX_TRY(hx_columns_bytes_of(plan->near_null, "near_null", n, n_motion_of(problem), NULL,
                                   &bytes[HX_MATRIX_FILE_NEAR_NULL]));
    if (!plan->order_file) return HX_OK;
    return hx_numbers_bytes_of(plan->order_file, "node", problem->space.n_point, sides->number,
                               &bytes[HX_MATRIX_FILE_ORDER]);
}

int hx_matrix_write_sides(const hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_matrix_plan *plan, hx_write_set *set)
{
    const int64_t n = n_dof_of(problem);
    if (plan->rhs)
        HX_TRY(hx_write_columns(set, HX_MATRIX_FILE_RHS, "f", n, sides->n_case,
                                (const double *const *)sides->load));
    if (plan->fixed)
        HX_TRY(hx_write_held(set, HX_MATRIX_FILE_FIXED, n, sides->n_held, sides->held,
                             sides->held_value));
    if (plan->near_null) HX_TRY(write_near_null(problem, set));
    if (!plan->order_file) return HX_OK;
    return hx_write_numbers(set, HX_MATRIX_FILE_ORDER, "node", problem->space.n_point,
                            sides->number);
}
