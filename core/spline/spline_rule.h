/* A spline as analysis reads it: tables of one direction each, flat, so that a device copies them.
 *
 * A cell is a span that is not empty, cells numbered patch by patch, in a patch through its first
 * direction fastest. Its points are its (degree + 1)^3 control points of the whole (glued ones
 * once), first direction fastest; its Gauss points (degree + 1)^3 likewise. */
#ifndef HX_SPLINE_RULE_H
#define HX_SPLINE_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "../base/host_device.h"
#include "knots.h"
#include "spline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What stands in `table` for Gauss point q of span i of a direction of degree p: from
 * at[d] + (i (p + 1) + q) hx_spline_stride(p) on, the weight (Gauss' times half the span's length),
 * the p + 1 values, the p + 1 slopes by the parameter. */
typedef struct hx_spline_rule_patch {
    int degree[3], n_span[3];
    int64_t first_cell;
    int64_t at[3];
} hx_spline_rule_patch;

typedef struct hx_spline_rule {
    int n_patch;
    int64_t n_cell, n_point, n_table;
    hx_spline_rule_patch *patch; /* [n_patch] (owned, like all) */
    double *table;               /* [n_table] */
    double *weight;              /* [n_point] of control points; NULL: all 1 */
    int32_t *first;              /* first function of each span of a direction, direction after
                                    direction of patch after patch; like the next two in host
                                    memory where the rest is a device's */
    int64_t n_block;             /* small blocks of control points that lie together, */
    int32_t *block;              /* [n_point] of which each is in one; at most */
    int block_points;            /* so many: 2 a direction up to degree 2, above it 3 */
} hx_spline_rule;

static HX_HD int hx_spline_stride(int degree)
{
    return 1 + 2 * (degree + 1);
}

/* The patch of a cell: binary search over patches would be no faster for the few there are. */
static HX_HD int hx_spline_rule_find(const hx_spline_rule_patch *patch, int n_patch, int64_t cell)
{
    int k = 0;
    while (k + 1 < n_patch && patch[k + 1].first_cell <= cell) k++;
    return k;
}

/* The spans of a cell of a patch. */
static HX_HD void hx_spline_rule_spans(const hx_spline_rule_patch *patch, int64_t cell, int span[3])
{
    const int64_t k = cell - patch->first_cell;
    span[0] = (int)(k % patch->n_span[0]);
    span[1] = (int)(k / patch->n_span[0] % patch->n_span[1]);
    span[2] = (int)(k / patch->n_span[0] / patch->n_span[1]);
}

/* Of a glued spline (spline_glue.h). Nothing of it is kept. Weights of 1 all over are none. O(cells
 * a direction). HX_ENOMEM. */
int hx_spline_rule_make(hx_spline_rule *rule, const hx_spline *spline);

/* The control points of the whole, x[spline->n_point][3]. */
void hx_spline_points(const hx_spline *spline, double *x);

/* Places of a cell's control points among those of its patch: a * 1 + b * n_0 + c * n_0 n_1 from
 * the one that is returned on, a, b, c = 0 .. degree. */
int64_t hx_spline_cell_first(const hx_spline_patch *patch, const int span[3]);

/* The numbers of a cell's control points of the whole, first direction fastest. Returns how many.
 */
int hx_spline_cell_numbers(const hx_spline *spline, int64_t cell, int32_t *number);

/* The table of one direction: n_span (degree + 1) hx_spline_stride(degree) numbers. */
void hx_spline_rule_axis(const hx_knots *axis, double *table);

/* Accepts a zeroed or half-made object. */
void hx_spline_rule_free(hx_spline_rule *rule);

#ifdef __cplusplus
}
#endif

#endif
