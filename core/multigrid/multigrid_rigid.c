/* Rigid sets in the preconditioner `multigrid`: a direct solve for the motions of all sets, added
 * to the multigrid cycle (hx_mg_rigid). */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../linalg/dense.h"
#include "../linalg/vector_ops.h"
#include "../operator/rigid_ops.h"
#include "multigrid_internal.h"

int hx_mg_rigid_create(hx_multigrid *mg, const hx_operator *op)
{
    const hx_problem *problem = op->problem;
    const hx_device_ops *ops = mg->dev->ops;
    hx_mg_rigid *rigid = &mg->rigid;
    int64_t *dof;
    if (problem->rigid.n == 0) return HX_OK;
    const size_t n = 6 * (size_t)problem->rigid.n, n_dof = 3 * (size_t)problem->rigid.n_node,
                 coarse_bytes = 6 * (size_t)mg->level[0].n_node * sizeof(float);
    HX_TRY(hx_alloc_raw(&dof, n_dof, sizeof *dof, "rigid sets"));
    for (size_t k = 0; k < n_dof; k++) dof[k] = 3 * (int64_t)problem->rigid.node[k / 3] + k % 3;
    const int rc = hx_device_put(mg->dev, &rigid->d_dof, dof, n_dof * sizeof *dof);
    free(dof);
    HX_TRY(rc);
    rigid->n_column = (int)n;
    rigid->n_dof = (int64_t)n_dof;
    HX_TRY(hx_alloc_raw(&rigid->matrix, 4 * n, n * sizeof(double), "rigid sets"));
    HX_TRY(ops->alloc(mg->dev, (size_t)op->linear.n * sizeof(double), &rigid->d_w));
    HX_TRY(ops->alloc(mg->dev, n * sizeof(double), &rigid->d_sum));
    HX_TRY(ops->alloc(mg->dev, n * sizeof(double), &rigid->d_c));
    HX_TRY(ops->alloc(mg->dev, n * n * sizeof(double), &rigid->d_inverse));
    HX_TRY(ops->alloc(mg->dev, coarse_bytes, &rigid->d_b));
    return ops->alloc(mg->dev, n * coarse_bytes, &rigid->d_y);
}

/* level[0].d_b = P0'r. */
static int restrict_free(const hx_multigrid *mg, const double *d_r, float *d_t, size_t n_dof)
{
    HX_TRY(mg->dev->ops->zero(mg->dev, d_t, n_dof * sizeof *d_t));
    HX_TRY(mg->ops->vector->match_entries(mg->dev, mg->rigid.n_dof, mg->rigid.d_dof, d_r, d_t));
    return mg->ops->transfer->mesh_restrict(mg->dev, &mg->mesh, d_r, d_t, &mg->level[0]);
}

/* sum = R'r; t is scratch. */
static int rigid_sums(const hx_multigrid *mg, const hx_operator *op, const double *d_r, float *d_t)
{
    const hx_mg_rigid *rigid = &mg->rigid;
    const hx_problem *problem = op->problem;
    for (int i = 0; i < problem->rigid.n; i++)
        HX_TRY(mg->dev->ops->rigid->sum(mg->dev, &problem->rigid.set[i], op->d_rigid_node,
                                        op->model.d_xyz, d_r, rigid->d_sum + 6 * i));
    HX_TRY(restrict_free(mg, d_r, d_t, (size_t)op->linear.n));
    return mg->ops->vector->column_dots(mg->dev, HX_MG_DOF * mg->level[0].n_node, rigid->n_column,
                                        rigid->d_y, mg->level[0].d_b, rigid->d_sum);
}

/* z += R c for z that is 0 on the sets; x is scratch and becomes 0. */
static int add_motions(const hx_multigrid *mg, const hx_operator *op, const double *d_c, float *d_x,
                       double *d_z)
{
    const hx_problem *problem = op->problem;
    const hx_device_ops *ops = mg->dev->ops;
    const hx_mg_level *level = &mg->level[0];
    HX_TRY(ops->zero(mg->dev, d_x, (size_t)op->linear.n * sizeof *d_x));
    HX_TRY(mg->ops->vector->column_combine(mg->dev, HX_MG_DOF * level->n_node, mg->rigid.n_column,
                                           mg->rigid.d_y, d_c, level->d_d));
    HX_TRY(mg->ops->transfer->mesh_prolong(mg->dev, &mg->mesh, level->d_d, mg->d_m, d_x));
    HX_TRY(ops->vector->flush_single(mg->dev, op->linear.n, 1.0, d_x, d_z));
    for (int i = 0; i < problem->rigid.n; i++)
        HX_TRY(ops->rigid->spread(mg->dev, &problem->rigid.set[i], op->d_rigid_node,
                                  op->model.d_xyz, d_c + 6 * i, d_z));
    return HX_OK;
}

/* y ~ A^-1 b on the first coarse grid, where b is the right-hand side of that level. */
static int continue_motion(hx_multigrid *mg, const hx_operator *op, float *d_y)
{
    const hx_mg_level *level = &mg->level[0];
    const size_t n_byte = HX_MG_DOF * (size_t)level->n_node * sizeof(float);
    const hx_device_ops *ops = mg->dev->ops;
    float *d_solution;
    HX_TRY(ops->copy(mg->dev, mg->rigid.d_b, level->d_b, n_byte));
    HX_TRY(ops->zero(mg->dev, d_y, n_byte));
    for (int i = 0; i < mg->params->rigid.cycles; i++) {
        if (i > 0) {
            HX_TRY(ops->copy(mg->dev, level->d_b, mg->rigid.d_b, n_byte));
            HX_TRY(mg->ops->level->residual(mg->dev, level, d_y, level->d_d));
            HX_TRY(ops->copy(mg->dev, level->d_b, level->d_d, n_byte));
        }
        HX_TRY(hx_mg_cycle(mg, op, 0, NULL, NULL, &d_solution));
        HX_TRY(mg->ops->vector->add(mg->dev, HX_MG_DOF * level->n_node, d_solution, d_y));
    }
    return HX_OK;
}

/* w = K R e_k, 0 at supports; while Y is 0, only the motion of the set itself. *energy: e_k'R'K R
 * e_k. */
static int motion_forces(const hx_multigrid *mg, const hx_operator *op, int k, double *energy)
{
    const hx_mg_rigid *rigid = &mg->rigid;
    const hx_device_ops *ops = mg->dev->ops;
    double *d_q = (double *)mg->d_x, *c = rigid->matrix + 3 * rigid->n_column * rigid->n_column;
    for (int i = 0; i < rigid->n_column; i++) c[i] = i == k;
    HX_TRY(ops->upload(mg->dev, rigid->d_c, c, (size_t)rigid->n_column * sizeof *c));
    HX_TRY(ops->zero(mg->dev, d_q, (size_t)op->linear.n * sizeof *d_q));
    HX_TRY(add_motions(mg, op, rigid->d_c, mg->d_d, d_q));
    HX_TRY(hx_operator_apply_unmasked(op, d_q, rigid->d_w));
    HX_TRY(ops->vector->zero_entries(mg->dev, op->n_fixed, op->d_fixed, rigid->d_w));
    return ops->vector->dot(mg->dev, op->linear.n, d_q, rigid->d_w, energy);
}

/* Computes Y, E and its inverse. Sums on the coarse grid are in single precision; adding a fraction
 * of the energy that the motions have without their extension keeps E positive definite, also if
 * the nodes of a set are collinear and leave a rotation undetermined. */
int hx_mg_rigid_setup(hx_multigrid *mg, const hx_operator *op)
{
    const hx_mg_rigid *rigid = &mg->rigid;
    const hx_device_ops *ops = mg->dev->ops;
    const int n = rigid->n_column;
    const int64_t n_coarse = HX_MG_DOF * mg->level[0].n_node;
    double *e = rigid->matrix, *inverse = e + n * n, *alone = inverse + n * n, energy, least = 0.0;
    HX_TRY(ops->zero(mg->dev, rigid->d_y, (size_t)(n * n_coarse) * sizeof(float)));
    for (int k = 0; k < n; k++) {
        HX_TRY(motion_forces(mg, op, k, &alone[k]));
        HX_TRY(restrict_free(mg, rigid->d_w, mg->d_t, (size_t)op->linear.n));
        HX_TRY(continue_motion(mg, op, rigid->d_y + k * n_coarse));
        least = fmax(least, 1e-30 * alone[k]);
    }
    for (int k = 0; k < n; k++) {
        HX_TRY(motion_forces(mg, op, k, &energy));
        HX_TRY(rigid_sums(mg, op, rigid->d_w, mg->d_t));
        HX_TRY(ops->download(mg->dev, e + k * n, rigid->d_sum, (size_t)n * sizeof *e));
        e[k * n + k] = energy;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            e[i * n + j] = e[j * n + i] = 0.5 * (e[i * n + j] + e[j * n + i]);
        e[i * n + i] += fmax(mg->params->rigid.added * alone[i], fmax(least, 1e-300));
    }
    hx_dense_invert(n, e, inverse);
    return ops->upload(mg->dev, rigid->d_inverse, inverse, (size_t)(n * n) * sizeof *inverse);
}

int hx_mg_rigid_add(const hx_multigrid *mg, const hx_operator *op, const double *d_r, double *d_z)
{
    const hx_mg_rigid *rigid = &mg->rigid;
    HX_TRY(rigid_sums(mg, op, d_r, mg->d_t));
    HX_TRY(mg->ops->vector->small_multiply(mg->dev, rigid->n_column, rigid->d_inverse, rigid->d_sum,
                                           rigid->d_c));
    return add_motions(mg, op, rigid->d_c, mg->d_x, d_z);
}

void hx_mg_rigid_free(hx_multigrid *mg)
{
    const hx_mg_rigid *rigid = &mg->rigid;
    void *const owned[] = {rigid->d_dof, rigid->d_w,       rigid->d_sum, rigid->d_c,
                           rigid->d_b,   rigid->d_inverse, rigid->d_y};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        mg->dev->ops->release(mg->dev, owned[i]);
    free(rigid->matrix);
}
