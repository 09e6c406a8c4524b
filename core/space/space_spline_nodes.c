/* Corners of the cells of a spline, values at the nodes of its image, and values and gradients
 * anywhere in a cell. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "space_internal.h"

unsigned hx_space_corner_ends(int a)
{
    return (unsigned)((a + 1) >> 1 & 1) | (unsigned)(a >> 1 & 1) << 1 | (unsigned)(a >> 2 & 1) << 2;
}

void hx_space_corner_parameters(const hx_spline_patch *patch, int64_t cell, int a, double t[3])
{
    int span[3];
    hx_spline_patch_spans(patch, cell, span);
    for (int d = 0; d < 3; d++) {
        const hx_knots *const axis = &patch->axis[d];
        t[d] = axis->knot[axis->span[span[d]] + (int)(hx_space_corner_ends(a) >> d & 1u)];
    }
}

const hx_spline_patch *hx_space_patch_of(const hx_spline *spline, int64_t cell)
{
    int k = 0;
    while (k + 1 < spline->n_patch && spline->patch[k + 1].first_cell <= cell) k++;
    return &spline->patch[k];
}

/* R_a of a cell's control points at parameters within its span. */
static int shape_at(const hx_space *s, int64_t cell, const double t[3], double *shape)
{
    const hx_spline_patch *const patch = hx_space_patch_of(s->spline, cell);
    double value[3][HX_SPLINE_MAX_ORDER], slope[HX_SPLINE_MAX_ORDER], sum = 0.0;
    int span[3], n, k = 0;
    const int32_t *const point = hx_space_points(s, cell, &n);
    hx_spline_patch_spans(patch, cell, span);
    for (int d = 0; d < 3; d++) hx_knots_values(&patch->axis[d], span[d], t[d], value[d], slope);
    for (int c = 0; c <= patch->axis[2].degree; c++)
        for (int b = 0; b <= patch->axis[1].degree; b++)
            for (int a = 0; a <= patch->axis[0].degree; a++, k++) {
                const double w = s->spline_rule->weight ? s->spline_rule->weight[point[k]] : 1.0;
                shape[k] = value[0][a] * value[1][b] * value[2][c] * w;
                sum += shape[k];
            }
    /* NOLINTNEXTLINE(clang-analyzer-core*): n is the product of degree + 1 */
    for (k = 0; k < n; k++) shape[k] /= sum;
    return n;
}

/* R_a at a corner. */
static int corner_shape(const hx_space *s, int64_t cell, int corner, double *shape)
{
    double t[3];
    hx_space_corner_parameters(hx_space_patch_of(s->spline, cell), cell, corner, t);
    return shape_at(s, cell, t, shape);
}

void hx_space_spline_value(const hx_space *s, int64_t cell, const double at[3], int components,
                           const double *u, double *value, double x[3])
{
    const hx_spline_patch *const patch = hx_space_patch_of(s->spline, cell);
    double shape[HX_SPLINE_CELL_POINTS], t[3];
    int span[3], n;
    const int32_t *const point = hx_space_points(s, cell, &n);
    hx_spline_patch_spans(patch, cell, span);
    for (int d = 0; d < 3; d++) {
        const double *const end = patch->axis[d].knot + patch->axis[d].span[span[d]];
        t[d] = end[0] + at[d] * (end[1] - end[0]);
    }
    shape_at(s, cell, t, shape);
    for (int i = 0; i < components; i++) value[i] = 0.0;
    for (int i = 0; i < 3; i++) x[i] = 0.0;
    for (int a = 0; a < n; a++) {
        const int64_t p = point[a];
        for (int i = 0; i < components; i++) value[i] += shape[a] * u[components * p + i];
        for (int i = 0; i < 3; i++) x[i] += shape[a] * s->xyz[3 * p + i];
    }
}

int hx_space_node_points(const hx_space *s, int64_t node, int32_t *point, double *share)
{
    if (s->element != HX_ELEMENT_SPLINE) {
        point[0] = (int32_t)node;
        share[0] = 1.0;
        return 1;
    }
    const uint32_t place = s->mesh->node_elem[s->mesh->node_elem_ptr[node]];
    double shape[HX_SPLINE_CELL_POINTS];
    int n_cell, n = 0;
    const int32_t *const all = hx_space_points(s, place >> 3, &n_cell);
    corner_shape(s, place >> 3, (int)(place & 7u), shape);
    for (int a = 0; a < n_cell; a++) {
        /* NOLINTNEXTLINE(clang-analyzer-core*): corner_shape sets n_cell */
        if (!(shape[a] > 1e-15)) continue;
        point[n] = all[a];
        share[n++] = shape[a];
    }
    return n;
}

void hx_space_at_nodes(const hx_space *s, int components, const double *u, double *nodal)
{
    const size_t c = (size_t)components;
    if (s->element != HX_ELEMENT_SPLINE) {
        memcpy(nodal, u, (size_t)s->mesh->n_node * c * sizeof *u);
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < s->mesh->n_node; node++) {
        int32_t point[HX_SPLINE_CELL_POINTS];
        double share[HX_SPLINE_CELL_POINTS];
        const int n = hx_space_node_points(s, node, point, share);
        for (size_t i = 0; i < c; i++) {
            double sum = 0.0;
            for (int a = 0; a < n; a++) sum += share[a] * u[c * (size_t)point[a] + i];
            nodal[c * (size_t)node + i] = sum;
        }
    }
}

int hx_space_leave_nodes(const hx_space *s, int components, double *u)
{
    const size_t n = (size_t)components * (size_t)s->mesh->n_node;
    double *nodal;
    if (s->element != HX_ELEMENT_SPLINE) return HX_OK;
    HX_TRY(hx_alloc_raw(&nodal, n, sizeof *nodal, "values at nodes"));
    hx_space_at_nodes(s, components, u, nodal);
    memcpy(u, nodal,
           n * sizeof *u); /* a spline has at least as many control points as corners of spans */
    free(nodal);
    return HX_OK;
}

void hx_space_spline_gradient(const hx_space *s, int64_t cell, const double at[3], int components,
                              const double *u, double h[3][3])
{
    const hx_spline_patch *const patch = hx_space_patch_of(s->spline, cell);
    double value[3][HX_SPLINE_MAX_ORDER], slope[3][HX_SPLINE_MAX_ORDER];
    /* sums of w x, w u and w; derivatives by the parameters after them */
    double sum[4][7] = {{0.0}};
    double j[3][3], du[3][3] = {{0.0}};
    int span[3], n, k = 0;
    const int32_t *const point = hx_space_points(s, cell, &n);
    hx_spline_patch_spans(patch, cell, span);
    for (int d = 0; d < 3; d++) {
        const hx_knots *const axis = &patch->axis[d];
        const double *const end = axis->knot + axis->span[span[d]];
        hx_knots_values(axis, span[d], end[0] + at[d] * (end[1] - end[0]), value[d], slope[d]);
    }
    for (int c = 0; c <= patch->axis[2].degree; c++)
        for (int b = 0; b <= patch->axis[1].degree; b++)
            for (int a = 0; a <= patch->axis[0].degree; a++, k++) {
                const double w = s->spline_rule->weight ? s->spline_rule->weight[point[k]] : 1.0;
                const double shape[4] = {w * value[0][a] * value[1][b] * value[2][c],
                                         w * slope[0][a] * value[1][b] * value[2][c],
                                         w * value[0][a] * slope[1][b] * value[2][c],
                                         w * value[0][a] * value[1][b] * slope[2][c]};
                double f[7] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
                memcpy(f, s->xyz + 3 * (int64_t)point[k], 3 * sizeof *f);
                memcpy(f + 3, u + components * (int64_t)point[k], (size_t)components * sizeof *f);
                for (int m = 0; m < 4; m++)
                    for (int i = 0; i < 7; i++) sum[m][i] += shape[m] * f[i];
            }
    for (int i = 0; i < 3; i++)
        for (int m = 0; m < 3; m++) {
            const double w = sum[0][6], dw = sum[1 + m][6];
            j[m][i] = (sum[1 + m][i] - dw * sum[0][i] / w) / w;
            du[i][m] = (sum[1 + m][3 + i] - dw * sum[0][3 + i] / w) / w;
        }
    hx_cell_displacement_gradient(j, du, h);
}
