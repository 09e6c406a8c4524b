/* Lattices keep rigid motions free: what rounding makes of them is taken out of the matrices.
 *
 * A lattice's matrix is of sums in single precision, alike in all cells of a regular mesh, so its
 * rows give rigid motions a force of 1e-7 to 1e-6 of the diagonal, everywhere the same. That is
 * more than the softest bending of a long part has on the first lattice, and four times as much on
 * each that follows. Where no support, spring or rigid set is near the force is 0: the diagonal
 * block is what makes it so. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "common_ops.h"
#include "multigrid_internal.h"

static const char *const WHAT = "multigrid lattice";

int hx_mg_restores(const hx_multigrid *mg)
{
    return mg->ops->restore_rigid && !mg->rows && mg->n_level > 1;
}

void hx_mg_flag_held(const hx_problem *problem, size_t n_point, uint8_t *held)
{
    memcpy(held, problem->supports.fixed, n_point);
    for (int64_t k = 0; k < problem->rigid.n_node; k++)
        held[problem->rigid.node[k]] = HX_FIX_X | HX_FIX_Y | HX_FIX_Z;
}

/* mark[n_node][3] = 1 at nodes that K couples with one that is held, and at springs; else 0. */
static void mark_nodes(const hx_problem *problem, const uint8_t *held, float *mark)
{
    const hx_mesh *const mesh = problem->mesh;
    memset(mark, 0, 3 * (size_t)mesh->n_node * sizeof *mark);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const node = mesh->conn + 8 * e;
        int any = 0;
        for (int c = 0; c < 8; c++) any |= held[node[c]];
        for (int k = 0; any && k < 24; k++) {
#pragma omp atomic write
            mark[3 * (int64_t)node[k / 3] + k % 3] = 1.0f;
        }
    }
    for (int64_t k = 0; k < problem->springs.n; k++) mark[problem->springs.dof[k]] = 1.0f;
}

/* d_mark: the same on the device, of all processes. */
static int put_marks(hx_multigrid *mg, const hx_operator *op, float *d_mark)
{
    const size_t n = (size_t)op->model.n_node;
    uint8_t *held = NULL;
    float *mark = NULL;
    int rc = hx_alloc_raw(&held, n, sizeof *held, WHAT);
    if (rc == HX_OK) rc = hx_alloc_raw(&mark, 3 * n, sizeof *mark, WHAT);
    if (rc == HX_OK) {
        hx_mg_flag_held(op->problem, n, held);
        mark_nodes(op->problem, held, mark);
        rc = mg->dev->ops->upload(mg->dev, d_mark, mark, 3 * n * sizeof *mark);
    }
    free(held);
    free(mark);
    HX_TRY(rc);
    return hx_common_add_single(mg->dev, op->linear.components, d_mark);
}

/* b of lattice l: not 0 in the rows that are held, by the restrictions of marks. */
static int restrict_marks(hx_multigrid *mg, const hx_operator *op, int l)
{
    hx_mg_level *const level = &mg->level[l];
    double *const d_zero = (double *)mg->d_x;
    if (l > 0) return mg->ops->restrict_to(mg->dev, level - 1, level[-1].d_b, level);
    HX_TRY(mg->dev->ops->zero(mg->dev, d_zero, (size_t)op->linear.n * sizeof *d_zero));
    HX_TRY(put_marks(mg, op, mg->d_d));
    return mg->ops->mesh_restrict(mg->dev, &mg->mesh, d_zero, mg->d_d, level);
}

static int find_held(hx_multigrid *mg, const hx_operator *op, int l)
{
    hx_device *const dev = mg->dev;
    hx_mg_level *const level = &mg->level[l];
    const size_t n = (size_t)level->n_node, dof = HX_MG_DOF;
    uint8_t *held = NULL;
    float *b = NULL;
    int rc;
    HX_TRY(restrict_marks(mg, op, l));
    HX_TRY_FAIL(hx_alloc_raw(&held, n, sizeof *held, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&b, dof * n, sizeof *b, WHAT));
    HX_TRY_FAIL(dev->ops->download(dev, b, level->d_b, dof * n * sizeof *b));
    for (size_t a = 0; a < n; a++)
        held[a] = b[dof * a] != 0.0f || b[dof * a + 1] != 0.0f || b[dof * a + 2] != 0.0f;
    HX_TRY_FAIL(hx_device_put(dev, &level->d_held, held, n));
    rc = HX_OK;
fail:
    free(held);
    free(b);
    return rc;
}

int hx_mg_restore(hx_multigrid *mg, const hx_operator *op, int l)
{
    if (!hx_mg_restores(mg)) return HX_OK;
    if (!mg->level[l].d_held) HX_TRY(find_held(mg, op, l));
    return mg->ops->restore_rigid(mg->dev, &mg->level[l]);
}
