#include "spline_rule.h"

#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "gauss_points.h"

void hx_spline_rule_axis(const hx_knots *axis, double *table)
{
    const int n = axis->degree + 1;
    double point[HX_GAUSS_MAX], weight[HX_GAUSS_MAX];
    hx_gauss_points(n, point, weight);
    for (int i = 0; i < axis->n_span; i++) {
        const double start = axis->knot[axis->span[i]], end = axis->knot[axis->span[i] + 1];
        const double half = 0.5 * (end - start), middle = 0.5 * (start + end);
        for (int q = 0; q < n; q++, table += hx_spline_stride(axis->degree)) {
            double value[HX_SPLINE_MAX_ORDER], slope[HX_SPLINE_MAX_ORDER];
            hx_knots_values(axis, i, middle + half * point[q], value, slope);
            table[0] = half * weight[q];
            memcpy(table + 1, value, (size_t)n * sizeof *value);
            memcpy(table + 1 + n, slope, (size_t)n * sizeof *slope);
        }
    }
}

static int is_rational(const hx_spline *spline)
{
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const patch = &spline->patch[k];
        const int64_t n = patch->weight ? hx_spline_patch_points(patch) : 0;
        for (int64_t i = 0; i < n; i++)
            if (patch->weight[i] != 1.0) return 1;
    }
    return 0;
}

static int list_spans(hx_spline_rule *rule, const hx_spline *spline)
{
    size_t n = 0;
    for (int k = 0; k < 3 * spline->n_patch; k++)
        n += (size_t)spline->patch[k / 3].axis[k % 3].n_span;
    HX_TRY(hx_alloc(&rule->first, n, sizeof *rule->first, "spans"));
    int32_t *to = rule->first;
    for (int k = 0; k < 3 * spline->n_patch; k++) {
        const hx_knots *const axis = &spline->patch[k / 3].axis[k % 3];
        for (int i = 0; i < axis->n_span; i++) *to++ = axis->span[i] - axis->degree;
    }
    return HX_OK;
}

/* Groups the control points of each patch into blocks of `side` points per direction; glued points
 * belong to the first patch's block. */
static int make_blocks(hx_spline_rule *rule, const hx_spline *spline)
{
    int side = 2;
    for (int k = 0; k < 3 * spline->n_patch; k++)
        if (spline->patch[k / 3].axis[k % 3].degree > 2) side = 3;
    rule->block_points = side * side * side;
    HX_TRY(hx_alloc_raw(&rule->block, (size_t)rule->n_point, sizeof *rule->block, "blocks"));
    for (int64_t a = 0; a < rule->n_point; a++) rule->block[a] = -1;
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const patch = &spline->patch[k];
        const int64_t nx = patch->axis[0].n, ny = patch->axis[1].n, nz = patch->axis[2].n;
        const int64_t bx = (nx + side - 1) / side, by = (ny + side - 1) / side;
        int32_t *number; /* number of each block of the patch, -1: still empty */
        const int64_t n = bx * by * ((nz + side - 1) / side);
        HX_TRY(hx_alloc_raw(&number, (size_t)n, sizeof *number, "blocks"));
        for (int64_t b = 0; b < n; b++) number[b] = -1;
        for (int64_t i = 0; i < nx * ny * nz; i++) {
            int32_t *const block = &rule->block[patch->number[i]];
            int32_t *const here =
                &number[(i / nx / ny / side * by + i / nx % ny / side) * bx + i % nx / side];
            if (*block >= 0) continue;
            if (*here < 0) *here = (int32_t)rule->n_block++;
            *block = *here;
        }
        free(number);
    }
    return HX_OK;
}

int hx_spline_rule_make(hx_spline_rule *rule, const hx_spline *spline)
{
    int rc;
    *rule = (hx_spline_rule){
        .n_patch = spline->n_patch, .n_cell = spline->n_cell, .n_point = spline->n_point};
    HX_TRY_FAIL(hx_alloc(&rule->patch, (size_t)spline->n_patch, sizeof *rule->patch, "patches"));
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const from = &spline->patch[k];
        hx_spline_rule_patch *const to = &rule->patch[k];
        to->first_cell = from->first_cell;
        for (int d = 0; d < 3; d++) {
            const int p = from->axis[d].degree;
            to->degree[d] = p;
            to->n_span[d] = from->axis[d].n_span;
            to->at[d] = rule->n_table;
            rule->n_table += (int64_t)to->n_span[d] * (p + 1) * hx_spline_stride(p);
        }
    }
    HX_TRY_FAIL(hx_alloc(&rule->table, (size_t)rule->n_table, sizeof *rule->table,
                         "tables of a spline's functions"));
    for (int k = 0; k < spline->n_patch; k++)
        for (int d = 0; d < 3; d++)
            hx_spline_rule_axis(&spline->patch[k].axis[d], rule->table + rule->patch[k].at[d]);
    HX_TRY_FAIL(list_spans(rule, spline));
    HX_TRY_FAIL(make_blocks(rule, spline));
    if (!is_rational(spline)) return HX_OK;
    HX_TRY_FAIL(
        hx_alloc(&rule->weight, (size_t)rule->n_point, sizeof *rule->weight, "weights of points"));
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const patch = &spline->patch[k];
        const int64_t n = hx_spline_patch_points(patch);
        for (int64_t i = 0; i < n; i++)
            rule->weight[patch->number[i]] = patch->weight ? patch->weight[i] : 1.0;
    }
    return HX_OK;
fail:
    hx_spline_rule_free(rule);
    return rc;
}

void hx_spline_points(const hx_spline *spline, double *x)
{
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const patch = &spline->patch[k];
        const int64_t n = hx_spline_patch_points(patch);
        for (int64_t i = 0; i < n; i++)
            memcpy(x + 3 * (int64_t)patch->number[i], patch->point + 3 * i, 3 * sizeof *x);
    }
}

int64_t hx_spline_cell_first(const hx_spline_patch *patch, const int span[3])
{
    int64_t first[3];
    for (int d = 0; d < 3; d++) first[d] = patch->axis[d].span[span[d]] - patch->axis[d].degree;
    return (first[2] * patch->axis[1].n + first[1]) * patch->axis[0].n + first[0];
}

int hx_spline_cell_numbers(const hx_spline *spline, int64_t cell, int32_t *number)
{
    int k = 0, n = 0, span[3];
    while (k + 1 < spline->n_patch && spline->patch[k + 1].first_cell <= cell) k++;
    const hx_spline_patch *const patch = &spline->patch[k];
    hx_spline_patch_spans(patch, cell, span);
    const int64_t first = hx_spline_cell_first(patch, span);
    for (int c = 0; c <= patch->axis[2].degree; c++)
        for (int b = 0; b <= patch->axis[1].degree; b++)
            for (int a = 0; a <= patch->axis[0].degree; a++)
                number[n++] =
                    patch->number[first + a +
                                  (int64_t)patch->axis[0].n * (b + (int64_t)patch->axis[1].n * c)];
    return n;
}

void hx_spline_rule_free(hx_spline_rule *rule)
{
    free(rule->patch);
    free(rule->table);
    free(rule->weight);
    free(rule->first);
    free(rule->block);
    *rule = (hx_spline_rule){0};
}
