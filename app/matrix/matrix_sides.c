/* What belongs to K: loads, held unknowns, the near null space, the order of the nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/sum.h"
#include "matrix_job.h"

enum { N_MOTION = 6 };

static int is_held(const hx_problem *problem, int64_t dof)
{
    return problem->supports.fixed[dof / 3] >> dof % 3 & 1;
}

static int some_move(const hx_problem *problem)
{
    const int64_t n = problem->supports.prescribed ? 3 * problem->mesh->n_node : 0;
    for (int64_t k = 0; k < n; k++)
        if (fabs(problem->supports.prescribed[k]) > 0.0) return 1;
    return 0;
}

/* Held rows of an eliminated system say u = u_p. */
static void hold_rows(const hx_problem *problem, double *load)
{
    for (int64_t k = 0; k < 3 * problem->mesh->n_node; k++)
        if (is_held(problem, k))
            load[k] = problem->supports.prescribed ? problem->supports.prescribed[k] : 0.0;
}

int hx_matrix_sides_create(hx_matrix_sides *sides, const hx_problem *problem, const double *rho,
                           const hx_matrix_plan *plan)
{
    const size_t n = 3 * (size_t)problem->mesh->n_node;
    if (!plan->rhs) return HX_OK;
    sides->n_case = problem->cases.n;
    sides->moves = plan->eliminate && some_move(problem);
    HX_TRY(hx_alloc(&sides->load, (size_t)sides->n_case, sizeof *sides->load, "load cases"));
    for (int c = 0; c < sides->n_case; c++) {
        HX_TRY(hx_alloc_raw(&sides->load[c], n, sizeof(double), "loads"));
        HX_TRY(hx_problem_nodal_force(problem, c, rho, sides->load[c]));
        if (plan->eliminate) hold_rows(problem, sides->load[c]);
    }
    return HX_OK;
}

/* Row i of block row r times u_p. */
static double row_times(const hx_problem *problem, const hx_row_range *range,
                        const hx_matrix_rows *blocks, int64_t r, int i)
{
    double sum = 0.0;
    for (int64_t k = blocks->ptr[r]; k < blocks->ptr[r + 1]; k++) {
        const int64_t b = range->point ? range->point[blocks->col[k]] : blocks->col[k];
        for (int j = 0; j < 3; j++)
            sum += blocks->value[9 * k + 3 * i + j] * problem->supports.prescribed[3 * b + j];
    }
    return sum;
}

void hx_matrix_sides_move(hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_row_range *range, const hx_matrix_rows *blocks)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < 3 * range->n; k++) {
        const int64_t dof = 3 * range->first + k;
        if (is_held(problem, dof)) continue;
        const double moved = row_times(problem, range, blocks, k / 3, (int)(k % 3));
        for (int c = 0; c < sides->n_case; c++) sides->load[c][dof] -= moved;
    }
}

void hx_matrix_sides_free(hx_matrix_sides *sides)
{
    for (int c = 0; c < sides->n_case; c++)
        if (sides->load) free(sides->load[c]);
    free(sides->load);
    memset(sides, 0, sizeof *sides);
}

static int write_held(const hx_problem *problem, const char *path)
{
    const int64_t n_dof = 3 * problem->mesh->n_node;
    int64_t n = 0;
    int32_t *index = NULL;
    double *value = NULL;
    int rc;
    for (int64_t k = 0; k < n_dof; k++) n += is_held(problem, k);
    HX_TRY_FAIL(hx_alloc(&index, (size_t)n, sizeof *index, "held unknowns"));
    HX_TRY_FAIL(hx_alloc(&value, (size_t)n, sizeof *value, "held unknowns"));
    n = 0;
    for (int64_t k = 0; k < n_dof; k++) {
        if (!is_held(problem, k)) continue;
        index[n] = (int32_t)k;
        value[n++] = problem->supports.prescribed ? problem->supports.prescribed[k] : 0.0;
    }
    HX_TRY_FAIL(hx_write_held(path, n_dof, n, index, value));
fail:
    free(index);
    free(value);
    return rc;
}

static double dot(int64_t n, const double *a, const double *b)
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

/* Translations along x, y, z, rotations about axes along them through the middle of the box: not
 * yet orthogonal. */
static void fill_motion(const hx_mesh *mesh, int m, double *motion)
{
    double middle[3];
    for (int i = 0; i < 3; i++) middle[i] = 0.5 * (mesh->box_min[i] + mesh->box_max[i]);
    const int along = m % 3, next = (along + 1) % 3, third = (along + 2) % 3;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const double *const x = mesh->xyz + 3 * a;
        double *const v = motion + 3 * a;
        v[along] = m < 3 ? 1.0 : 0.0;
        v[next] = m < 3 ? 0.0 : -(x[third] - middle[third]);
        v[third] = m < 3 ? 0.0 : x[next] - middle[next];
    }
}

/* Gram and Schmidt, twice: orthogonal to rounding. */
static void make_orthonormal(int64_t n, double *const *motion, int m)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < m; k++) {
            const double share = dot(n, motion[k], motion[m]);
            for (int64_t i = 0; i < n; i++) motion[m][i] -= share * motion[k][i];
        }
    const double length = sqrt(dot(n, motion[m], motion[m]));
    for (int64_t i = 0; i < n; i++) motion[m][i] /= length;
}

static int write_near_null(const hx_mesh *mesh, const char *path)
{
    const int64_t n = 3 * mesh->n_node;
    double *motion[N_MOTION] = {0};
    int rc = HX_OK;
    for (int m = 0; m < N_MOTION; m++) {
        HX_TRY_FAIL(hx_alloc_raw(&motion[m], (size_t)n, sizeof(double), "rigid motions"));
        fill_motion(mesh, m, motion[m]);
        make_orthonormal(n, motion, m);
    }
    HX_TRY_FAIL(hx_write_columns(path, "near_null", n, N_MOTION, (const double *const *)motion));
fail:
    for (int m = 0; m < N_MOTION; m++) free(motion[m]);
    return rc;
}

/* Number in the file of each node of K's order. */
static int write_order(const hx_mesh *mesh, const char *path)
{
    int32_t *number = NULL;
    HX_TRY(hx_alloc_raw(&number, (size_t)mesh->n_node, sizeof *number, "order of the nodes"));
    for (int64_t a = 0; a < mesh->n_node; a++)
        number[a] = mesh->node_orig ? mesh->node_orig[a] : (int32_t)a;
    const int rc = hx_write_numbers(path, "node", mesh->n_node, number);
    free(number);
    return rc;
}

int hx_matrix_write_sides(const hx_matrix_sides *sides, const hx_problem *problem,
                          const hx_matrix_plan *plan)
{
    const hx_mesh *const mesh = problem->mesh;
    if (plan->rhs)
        HX_TRY(hx_write_columns(plan->rhs, "f", 3 * mesh->n_node, sides->n_case,
                                (const double *const *)sides->load));
    if (plan->fixed) HX_TRY(write_held(problem, plan->fixed));
    if (plan->near_null) HX_TRY(write_near_null(mesh, plan->near_null));
    return plan->order_file ? write_order(mesh, plan->order_file) : HX_OK;
}
