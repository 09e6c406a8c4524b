/* Deflation of floating components in the preconditioner `multigrid`: their rigid-body motions are
 * solved for directly, before and after the multigrid cycle (hx_mg_deflation). */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../device/timeline.h"
#include "../operator/interface_ops.h"
#include "deflation.h"
#include "multigrid_internal.h"

/* Deflation requires elasticity on linear elements, and no rigid sets, whose correction is not
 * combined with it. The result is the same on all ranks. */
static int can_float(const hx_multigrid *mg, const hx_operator *op)
{
    const hx_problem *const problem = op->problem;
    return !mg->rows && mg->rigid.n_column == 0 && !hx_problem_is_heat(problem) &&
           problem->space.element == HX_ELEMENT_LINEAR;
}

static void release_rows(hx_device *dev, hx_mg_rows *rows)
{
    dev->ops->release(dev, rows->d_first);
    dev->ops->release(dev, rows->d_at);
    dev->ops->release(dev, rows->d_column);
    dev->ops->release(dev, rows->d_value);
    *rows = (hx_mg_rows){0};
}

static void release_deflation(hx_multigrid *mg)
{
    hx_mg_deflation *const deflation = &mg->deflation;
    for (int i = 0; i < HX_MG_DEFLATION_ROWS; i++) release_rows(mg->dev, &deflation->rows[i]);
    double **const owned[] = {&deflation->d_sum, &deflation->d_all, &deflation->d_c};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
        mg->dev->ops->release(mg->dev, *owned[i]);
        *owned[i] = NULL;
    }
    deflation->n_column = 0;
}

static int put_deflation_rows(hx_device *dev, hx_mg_rows *to, const hx_deflation_rows *from)
{
    const size_t n = (size_t)from->n, n_entry = (size_t)from->n_entry;
    to->n = from->n;
    to->n_entry = from->n_entry;
    HX_TRY(hx_device_put(dev, &to->d_first, from->first, (n + 1) * sizeof *from->first));
    HX_TRY(hx_device_put(dev, &to->d_at, from->at, n * sizeof *from->at));
    HX_TRY(hx_device_put(dev, &to->d_column, from->column, n_entry * sizeof *from->column));
    return hx_device_put(dev, &to->d_value, from->value, n_entry * sizeof *from->value);
}

static int put_deflation(hx_multigrid *mg, const hx_operator *op, const hx_deflation *from)
{
    hx_device *const dev = mg->dev;
    hx_mg_deflation *const deflation = &mg->deflation;
    const size_t n = (size_t)from->n_column;
    const hx_deflation_rows *const rows[HX_MG_DEFLATION_ROWS] = {
        [HX_MG_DEFLATION_MOTION] = &from->motion,
        [HX_MG_DEFLATION_SUMS] = &from->motion_transposed,
        [HX_MG_DEFLATION_FORCES] = &from->forces,
        [HX_MG_DEFLATION_WORK] = &from->forces_transposed,
        [HX_MG_DEFLATION_INVERSE] = &from->inverse};
    if (!deflation->d_r)
        HX_TRY(dev->ops->alloc(dev, (size_t)((op->linear.n + 63) / 64 * 64) * sizeof(double),
                               &deflation->d_r));
    for (int i = 0; i < HX_MG_DEFLATION_ROWS; i++)
        HX_TRY(put_deflation_rows(dev, &deflation->rows[i], rows[i]));
    HX_TRY(dev->ops->alloc(dev, n * sizeof(double), &deflation->d_sum));
    HX_TRY(dev->ops->alloc(dev, n * sizeof(double), &deflation->d_all));
    HX_TRY(dev->ops->alloc(dev, n * sizeof(double), &deflation->d_c));
    deflation->n_column = from->n_column;
    return HX_OK;
}

/* Finds the floating components of the design, on the host. */
static int look_for_components(const hx_multigrid *mg, const hx_operator *op,
                               hx_deflation *deflation)
{
    const hx_interface_host *const others = hx_interface_host_of(mg->dev);
    double *modulus = NULL;
    const size_t n = (size_t)op->model.n_elem;
    int rc = hx_alloc_raw(&modulus, n, sizeof *modulus, "floating components");
    if (rc == HX_OK)
        rc = mg->dev->ops->download(mg->dev, modulus, op->model.d_modulus, n * sizeof *modulus);
    rc = hx_interface_agree(others, rc);
    if (rc == HX_OK) rc = hx_deflation_create(deflation, op->problem, others, modulus);
    free(modulus);
    return rc;
}

static int look_and_put(hx_multigrid *mg, const hx_operator *op, hx_deflation *deflation)
{
    HX_IN_SPAN_OF_HOST(mg->dev, HX_SPAN_FLOATING, -1, look_for_components(mg, op, deflation));
    return deflation->n_part > 0
               ? hx_interface_agree(hx_interface_host_of(mg->dev), put_deflation(mg, op, deflation))
               : HX_OK;
}

/* Searches and uploads; continues without deflation if memory is insufficient. */
static int find_deflation(hx_multigrid *mg, const hx_operator *op)
{
    hx_deflation deflation = {0};
    release_deflation(mg);
    int rc = look_and_put(mg, op, &deflation);
    hx_deflation_free(&deflation);
    if (rc == HX_ENOMEM) {
        release_deflation(mg);
        hx_error_clear();
        rc = HX_OK;
    }
    return rc;
}

int hx_mg_deflation_setup(hx_multigrid *mg, const hx_operator *op, int *changed)
{
    hx_mg_deflation *const deflation = &mg->deflation;
    *changed = deflation->n_column > 0;
    if (deflation->state.pause > 0) deflation->state.pause--;
    if (!deflation->state.is_on || !can_float(mg, op)) {
        release_deflation(mg);
        return HX_OK;
    }
    HX_TRY(find_deflation(mg, op));
    deflation->state.is_on = deflation->n_column > 0;
    *changed |= deflation->n_column > 0;
    return HX_OK;
}

int hx_mg_enable_deflation(hx_multigrid *mg, const hx_operator *op)
{
    hx_mg_deflation *const deflation = &mg->deflation;
    if (deflation->state.is_on || deflation->state.pause > 0 || !can_float(mg, op)) return 0;
    HX_TRY(find_deflation(mg, op));
    deflation->state.is_on = deflation->n_column > 0;
    if (!deflation->state.is_on) {
        deflation->state.last =
            deflation->state.last > 0 ? 2 * deflation->state.last : mg->params->deflation.pause;
        deflation->state.pause = deflation->state.last;
    }
    return deflation->state.is_on;
}

/* c = (Z'K Z)^-1 times the sums over all ranks. */
static int solve_deflation(const hx_multigrid *mg)
{
    const hx_mg_deflation *const deflation = &mg->deflation;
    double *d_sum;
    HX_TRY(hx_interface_sum_few(mg->dev, deflation->n_column, deflation->d_sum, deflation->d_all,
                                &d_sum));
    HX_TRY(
        mg->dev->ops->zero(mg->dev, deflation->d_c, (size_t)deflation->n_column * sizeof(double)));
    return mg->ops->vector->rows_add(mg->dev, &deflation->rows[HX_MG_DEFLATION_INVERSE], 1.0, d_sum,
                                     NULL, deflation->d_c, NULL);
}

int hx_mg_deflate_residual(hx_multigrid *mg, const hx_operator *op, const double **d_r)
{
    hx_device *const dev = mg->dev;
    const hx_mg_vector_ops *const ops = mg->ops->vector;
    const hx_mg_deflation *const deflation = &mg->deflation;
    const hx_mg_rows *const rows = deflation->rows;
    HX_TRY(dev->ops->zero(dev, deflation->d_sum, (size_t)deflation->n_column * sizeof(double)));
    HX_TRY(
        ops->rows_add(dev, &rows[HX_MG_DEFLATION_SUMS], 1.0, *d_r, NULL, deflation->d_sum, NULL));
    HX_TRY(solve_deflation(mg));
    HX_TRY(dev->ops->copy(dev, deflation->d_r, *d_r, (size_t)op->linear.n * sizeof **d_r));
    *d_r = deflation->d_r;
    return ops->rows_add(dev, &rows[HX_MG_DEFLATION_FORCES], -1.0, deflation->d_c, NULL,
                         deflation->d_r, NULL);
}

int hx_mg_deflate_solution(hx_multigrid *mg, double *d_z)
{
    const hx_mg_vector_ops *const ops = mg->ops->vector;
    const hx_mg_deflation *const deflation = &mg->deflation;
    const hx_mg_rows *const rows = deflation->rows;
    float *const d_single = d_z ? NULL : mg->d_x;
    HX_TRY(ops->rows_add(mg->dev, &rows[HX_MG_DEFLATION_WORK], -1.0, d_z, d_single,
                         deflation->d_sum, NULL));
    HX_TRY(solve_deflation(mg));
    return ops->rows_add(mg->dev, &rows[HX_MG_DEFLATION_MOTION], 1.0, deflation->d_c, NULL, d_z,
                         d_single);
}

int hx_mg_deflation_snapshot(hx_multigrid *mg, hx_snapshot *image)
{
    hx_mg_deflation_state *const state = &mg->deflation.state;
    if (image->mode == HX_SNAPSHOT_LOAD) hx_mg_deflation_reset(mg);
    if (image->mode == HX_SNAPSHOT_LOAD && !hx_snapshot_has(image, "multigrid.deflation"))
        return HX_OK;
    return hx_snapshot_host(image, "multigrid.deflation", state, sizeof *state);
}

void hx_mg_deflation_reset(hx_multigrid *mg)
{
    mg->deflation.state = (hx_mg_deflation_state){0};
}

void hx_mg_deflation_free(hx_multigrid *mg)
{
    release_deflation(mg);
    mg->dev->ops->release(mg->dev, mg->deflation.d_r);
}
