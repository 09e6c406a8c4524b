#include "interaction.h"

#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../spline/spline_rule.h"

static int64_t power(int64_t n, int exponent)
{
    return exponent == 0 ? 1 : n * power(n, exponent - 1);
}

/* Sums over the rows: the first column of row r lies min(r, p) steps back in each direction. */
static int64_t count_skyline(int dim, int p, int n)
{
    int64_t back = 0, total = 0;
    for (int r = 0; r < n; r++) back += r < p ? r : p;
    for (int d = 0; d < dim; d++) total += back * power(n, dim - 1) * power(n, d);
    /* dim values per column; in the diagonal block only those up to the diagonal */
    return total * dim * dim + power(n, dim) * (dim * (dim + 1) / 2);
}

void hx_interaction_count(int dim, int degree, int n, hx_interaction_counts *counts)
{
    const int64_t p = degree;
    counts->n_point = power(n, dim);
    counts->n_dof = dim * counts->n_point;
    counts->n_cell = power(n - p, dim);
    counts->n_gauss = counts->n_cell * power(p + 1, dim);
    counts->n_block = power((2 * p + 1) * n - p * (p + 1), dim);
    counts->n_stored = (dim * dim * counts->n_block + dim * counts->n_point) / 2;
    counts->n_skyline = count_skyline(dim, degree, n);
}

void hx_interaction_reach(const hx_interaction_axis *axis, int32_t *cells, int32_t *reach)
{
    const int order = axis->degree + 1;
    const int32_t *const first = axis->first;
    for (int i = 0; i < axis->n; i++) cells[2 * i] = axis->n_cell;
    for (int c = 0; c < axis->n_cell; c++)
        for (int a = 0; a < order; a++) {
            int32_t *const own = cells + 2 * (first[c] + a);
            if (c < own[0]) own[0] = c;
            own[1] = c + 1;
        }
    for (int i = 0; i < axis->n; i++) {
        reach[2 * i] = first[cells[2 * i]];
        reach[2 * i + 1] = first[cells[2 * i + 1] - 1] + order;
    }
}

/* Sets the sizes of the axes and the offsets of their parts. */
static void lay_out(hx_interaction *in, int dim, const hx_knots *axis)
{
    in->n_point = in->n_cell = 1;
    for (int d = 0; d < 3; d++) {
        hx_interaction_axis *const to = &in->axis[d];
        const hx_knots *const from = d < dim ? &axis[d] : NULL;
        *to = (hx_interaction_axis){.degree = from ? from->degree : 0,
                                    .n = from ? from->n : 1,
                                    .n_cell = from ? from->n_span : 1};
        in->n_point *= to->n;
        in->n_cell *= to->n_cell;
        in->n_integer += to->n_cell + 4 * (int64_t)to->n;
        in->n_real += (int64_t)to->n_cell * (to->degree + 1) * hx_spline_stride(to->degree);
    }
    in->n_real += 4 * in->n_point + in->n_cell;
}

void hx_interaction_rebase(hx_interaction *in, int32_t *integers, double *reals, int64_t *offsets)
{
    in->integers = integers;
    in->reals = reals;
    in->row_ptr = in->offsets = offsets;
    for (int d = 0; d < 3; d++) {
        hx_interaction_axis *const axis = &in->axis[d];
        axis->first = integers;
        axis->cells = axis->first + axis->n_cell;
        axis->reach = axis->cells + 2 * (size_t)axis->n;
        integers += axis->n_cell + 4 * (size_t)axis->n;
        axis->table = reals;
        reals +=
            (size_t)axis->n_cell * (size_t)((axis->degree + 1) * hx_spline_stride(axis->degree));
    }
    in->point = reals;
    in->modulus = reals + 4 * (size_t)in->n_point;
}

static void fill_axes(hx_interaction *in, const hx_knots *knots)
{
    for (int d = 0; d < 3; d++) {
        const hx_interaction_axis *const axis = &in->axis[d];
        int32_t *const integer = in->integers + (axis->first - in->integers);
        double *const table = in->reals + (axis->table - in->reals);
        if (d < in->dim) {
            for (int c = 0; c < axis->n_cell; c++) integer[c] = knots[d].span[c] - axis->degree;
            hx_interaction_reach(axis, integer + axis->n_cell,
                                 integer + axis->n_cell + 2 * (size_t)axis->n);
            hx_spline_rule_axis(&knots[d], table);
        } else { /* one function, constant 1 */
            const int32_t alone[] = {0, 0, 1, 0, 1};
            const double one[] = {1.0, 1.0, 0.0};
            memcpy(integer, alone, sizeof alone);
            memcpy(table, one, sizeof one);
        }
    }
}

int hx_interaction_create(hx_interaction *in, int dim, const hx_knots *axis, const double *point,
                          const double *weight, const double *modulus, const hx_form *form)
{
    int rc;
    int32_t *integers = NULL;
    double *reals = NULL;
    int64_t *offsets = NULL;
    *in = (hx_interaction){
        .dim = dim, .is_rational = weight != NULL, .lambda = form->lambda, .mu = form->mu};
    if (dim != 2 && dim != 3)
        return HX_RAISE(HX_EINPUT, "a patch has %d directions; it must have 2 or 3", dim);
    lay_out(in, dim, axis);
    HX_TRY_FAIL(hx_alloc(&integers, (size_t)in->n_integer, sizeof *integers, "axes of a patch"));
    HX_TRY_FAIL(hx_alloc_raw(&reals, (size_t)in->n_real, sizeof *reals, "control points"));
    HX_TRY_FAIL(hx_alloc_raw(&offsets, (size_t)in->n_point + 1, sizeof *offsets, "rows"));
    hx_interaction_rebase(in, integers, reals, offsets);
    fill_axes(in, axis);
    double *const to = in->reals + (in->point - in->reals);
    double *const to_modulus = in->reals + (in->modulus - in->reals);
    for (int64_t k = 0; k < in->n_point; k++) {
        const double w = weight ? weight[k] : 1.0;
        for (int i = 0; i < 3; i++) to[4 * k + i] = i < in->dim ? w * point[3 * k + i] : 0.0;
        to[4 * k + 3] = w;
    }
    for (int64_t e = 0; e < in->n_cell; e++) to_modulus[e] = modulus ? modulus[e] : 1.0;
    in->offsets[0] = 0;
    for (int64_t k = 0; k < in->n_point; k++) {
        int r[3];
        hx_interaction_place(in, k, r);
        in->offsets[k + 1] = in->offsets[k] + hx_interaction_entry(in, r, r) + 1;
    }
    in->n_block = in->offsets[in->n_point];
    return HX_OK;
fail:
    free(integers);
    free(reals);
    free(offsets);
    *in = (hx_interaction){0};
    return rc;
}

void hx_interaction_free(hx_interaction *in)
{
    free(in->integers);
    free(in->reals);
    free(in->offsets);
    *in = (hx_interaction){0};
}
