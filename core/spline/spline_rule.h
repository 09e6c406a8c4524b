/* A spline in the form that the analysis uses: flat tables per direction that can be copied to a
 * device.
 *
 * A cell is a non-empty span; cells are numbered patch by patch, in a patch with the first
 * direction fastest. Its points are its (degree + 1)^3 global control points (glued ones once),
 * first direction fastest; it has (degree + 1)^3 Gauss points in the same order. */
#ifndef HX_SPLINE_RULE_H
#define HX_SPLINE_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "../base/c_linkage.h"
#include "../base/host_device.h"
#include "knots.h"
#include "spline.h"

HX_C_BEGIN

/* Layout of `table` for Gauss point q of span i in a direction of degree p. The entries start at
 * at[d] + (i (p + 1) + q) hx_spline_stride(p): the weight (Gauss weight times half the span's
 * length), the p + 1 values, and the p + 1 derivatives by the parameter. */
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
    double *weight;              /* [n_point] weights of control points; NULL: all 1 */
    /* first function of each span of a direction, ordered by patch and direction. This and the next
     * two arrays are in host memory even if the rest is on a device */
    int32_t *first;
    int64_t n_block; /* number of small blocks of neighbouring control points */
    int32_t *block;  /* [n_point] block of each control point */
    /* maximum number of points of a block: 2 per direction up to degree 2, otherwise 3 */
    int block_points;
} hx_spline_rule;

static HX_HD int hx_spline_stride(int degree)
{
    return 1 + 2 * (degree + 1);
}

/* The patch of a cell. Linear search: binary search would be no faster for so few patches. */
static HX_HD int hx_spline_rule_find(const hx_spline_rule_patch *patch, int n_patch, int64_t cell)
{
    int k = 0;
    while (k + 1 < n_patch && patch[k + 1].first_cell <= cell) k++;
    return k;
}

/* The spans of a cell in the three directions of a patch. */
static HX_HD void hx_spline_rule_spans(const hx_spline_rule_patch *patch, int64_t cell, int span[3])
{
    const int64_t k = cell - patch->first_cell;
    span[0] = (int)(k % patch->n_span[0]);
    span[1] = (int)(k / patch->n_span[0] % patch->n_span[1]);
    span[2] = (int)(k / patch->n_span[0] / patch->n_span[1]);
}

/* Makes the rule of a glued spline (spline_glue.h), and keeps no reference to the spline. Weights
 * that are all 1 are dropped. O(cells per direction). HX_ENOMEM. */
int hx_spline_rule_make(hx_spline_rule *rule, const hx_spline *spline);

/* Copies the global control points to x[spline->n_point][3]. */
void hx_spline_points(const hx_spline *spline, double *x);

/* Index, in the patch, of a cell's first control point. The others follow at a + b * n_0 + c * n_0
 * n_1 with a, b, c = 0 .. degree. */
int64_t hx_spline_cell_first(const hx_spline_patch *patch, const int span[3]);

/* The global numbers of a cell's control points, first direction fastest. Returns their count. */
int hx_spline_cell_numbers(const hx_spline *spline, int64_t cell, int32_t *number);

/* The table of one direction: n_span (degree + 1) hx_spline_stride(degree) numbers. */
void hx_spline_rule_axis(const hx_knots *axis, double *table);

/* Accepts a zeroed or partial object. */
void hx_spline_rule_free(hx_spline_rule *rule);

HX_C_END

#endif
