/* Blocks of a spline's control points for the smoother on the mesh (additive Schwarz without
 * overlap). */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../spline/spline_rule.h"
#include "multigrid_internal.h"

static const char *const WHAT = "blocks of control points";

static const hx_spline_rule *rule_of(const hx_problem *problem, const hx_device_ops *device)
{
    const hx_multigrid_ops *const ops = hx_mg_ops_of(problem, device);
    if (problem->space.element != HX_ELEMENT_SPLINE || !ops || !ops->blocks) return NULL;
    for (int k = 0; k < problem->space.spline_rule->n_patch; k++)
        for (int d = 0; d < 3; d++)
            if (problem->space.spline_rule->patch[k].degree[d] > 1)
                return problem->space.spline_rule;
    return NULL; /* degree 1: equivalent to hexahedra */
}

/* Fills first[n_block + 1], point[n_point] and at[n_block + 1]. */
static void list_points(const hx_spline_rule *rule, int c, int32_t *first, int32_t *point,
                        int64_t *at)
{
    memset(first, 0, ((size_t)rule->n_block + 1) * sizeof *first);
    for (int64_t a = 0; a < rule->n_point; a++) first[rule->block[a] + 1]++;
    at[0] = 0;
    for (int64_t b = 0; b < rule->n_block; b++) {
        const int64_t n = (int64_t)c * first[b + 1];
        at[b + 1] = at[b] + n * n;
        first[b + 1] += first[b];
    }
    for (int64_t a = 0; a < rule->n_point; a++) point[first[rule->block[a]]++] = (int32_t)a;
    for (int64_t b = rule->n_block; b > 0; b--) first[b] = first[b - 1];
    first[0] = 0;
}

static int put_blocks(hx_multigrid *mg, const hx_spline_rule *rule, const int32_t *first,
                      const int32_t *point, const int64_t *at)
{
    const int64_t n = rule->n_block;
    hx_mg_blocks *const b = &mg->blocks;
    HX_TRY(hx_device_put(mg->dev, &b->d_first, first, ((size_t)n + 1) * sizeof *first));
    HX_TRY(hx_device_put(mg->dev, &b->d_point, point, (size_t)rule->n_point * sizeof *point));
    HX_TRY(hx_device_put(mg->dev, &b->d_at, at, ((size_t)n + 1) * sizeof *at));
    HX_TRY(mg->dev->ops->alloc(mg->dev, (size_t)at[n] * sizeof *b->d_inverse, &b->d_inverse));
    b->n = n;
    b->most_points = rule->block_points;
    return HX_OK;
}

int hx_mg_blocks_create(hx_multigrid *mg, const hx_operator *op)
{
    const hx_spline_rule *const rule = rule_of(op->problem, mg->dev->ops);
    const size_t n_dof = (size_t)op->linear.n;
    int32_t *first = NULL, *point = NULL;
    int64_t *at = NULL;
    int rc;
    if (!rule || !mg->rows) return HX_OK;
    const size_t n = (size_t)rule->n_block + 1;
    HX_TRY_FAIL(hx_alloc_raw(&first, n, sizeof *first, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&at, n, sizeof *at, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&point, (size_t)rule->n_point, sizeof *point, WHAT));
    list_points(rule, op->linear.components, first, point, at);
    HX_TRY_FAIL(put_blocks(mg, rule, first, point, at));
    HX_TRY_FAIL(mg->dev->ops->alloc(mg->dev, n_dof * sizeof *mg->d_none, &mg->d_none));
    rc = mg->dev->ops->zero(mg->dev, mg->d_none, n_dof * sizeof *mg->d_none);
fail:
    free(first);
    free(point);
    free(at);
    return rc;
}

double hx_mg_blocks_bytes(const hx_problem *problem, const hx_device_ops *device)
{
    const hx_spline_rule *const rule = rule_of(problem, device);
    if (!rule) return 0.0;
    const double c = problem->components, n = (double)rule->n_point;
    return (4.0 + 8.0 * c + 4.0 * c * c * rule->block_points) * n + 12.0 * (double)rule->n_block;
}

void hx_mg_blocks_free(hx_multigrid *mg)
{
    const hx_device_ops *const ops = mg->dev->ops;
    ops->release(mg->dev, mg->blocks.d_first);
    ops->release(mg->dev, mg->blocks.d_point);
    ops->release(mg->dev, mg->blocks.d_at);
    ops->release(mg->dev, mg->blocks.d_inverse);
    ops->release(mg->dev, mg->d_none);
    memset(&mg->blocks, 0, sizeof mg->blocks);
    mg->d_none = NULL;
}
