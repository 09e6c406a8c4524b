/* The largest value of a field over all points that carry one. */
#include <string.h>

#include "../base/vec3.h"
#include "space_internal.h"

typedef struct search {
    const hx_space *space;
    const uint8_t *is_counted; /* [n_elem]; NULL: all */
    int components;
    double sign;
    const double *u;
    hx_space_largest *best;
} search;

static double size_of(const search *f, const double *value)
{
    return f->components == 3 ? hx_norm3(value) : f->sign * value[0];
}

static int is_larger(const search *f, double size)
{
    return !f->best->is_set || size > f->best->value;
}

static void keep(const search *f, double size, const double *x, int64_t node, int64_t end,
                 int64_t cell)
{
    *f->best = (hx_space_largest){1, size, {x[0], x[1], x[2]}, node, end, cell};
}

/* A counted cell that contains a nodal point; -1: none. */
static int64_t counted_cell(const search *f, int64_t i)
{
    int64_t k;
    const int64_t end = hx_space_nodal_cells(f->space, i, &k);
    for (; k < end; k++) {
        const int64_t cell = hx_space_nodal_cell(f->space, k);
        if (!f->is_counted || f->is_counted[cell]) return cell;
    }
    return -1;
}

static double nodal_size(const search *f, int64_t i)
{
    int32_t point[HX_SPLINE_CELL_POINTS];
    double share[HX_SPLINE_CELL_POINTS], value[3] = {0.0, 0.0, 0.0};
    if (f->space->element != HX_ELEMENT_SPLINE) return size_of(f, f->u + f->components * i);
    const int n = hx_space_node_points(f->space, i, point, share);
    for (int a = 0; a < n; a++)
        for (int c = 0; c < f->components; c++)
            /* NOLINTNEXTLINE(clang-analyzer-core*): 1 or 3 components */
            value[c] += share[a] * f->u[f->components * (int64_t)point[a] + c];
    return size_of(f, value);
}

/* Evaluates the steps of a span; its corners are nodes. */
static void find_in_span(const search *f, int64_t cell)
{
    const hx_space *const s = f->space;
    const hx_knots *const axis = hx_space_patch_of(s->spline, cell)->axis;
    const int n[3] = {axis[0].degree, axis[1].degree, axis[2].degree};
    int k[3];
    for (k[2] = 0; k[2] <= n[2]; k[2]++)
        for (k[1] = 0; k[1] <= n[1]; k[1]++)
            for (k[0] = 0; k[0] <= n[0]; k[0]++) {
                double at[3], value[3], x[3];
                int n_inside = 0;
                for (int d = 0; d < 3; d++) {
                    at[d] = n[d] > 0 ? (double)k[d] / n[d] : 0.0;
                    n_inside += k[d] > 0 && k[d] < n[d];
                }
                if (n_inside == 0) continue;
                hx_space_spline_value(s, cell, at, f->components, f->u, value, x);
                const double size = size_of(f, value);
                if (is_larger(f, size)) keep(f, size, x, -1, -1, cell);
            }
}

void hx_space_find_largest(const hx_space *space, const uint8_t *is_counted, int components,
                           double sign, const double *u, hx_space_largest *largest)
{
    const search f = {space, is_counted, components, sign, u, largest};
    memset(largest, 0, sizeof *largest);
    const int64_t n_node = space->mesh->n_node, n = hx_space_n_nodal(space);
    for (int64_t i = 0; i < n; i++) {
        const double size = nodal_size(&f, i);
        const int64_t cell = is_larger(&f, size) ? counted_cell(&f, i) : -1;
        if (cell < 0) continue;
        const int32_t *const edge = i < n_node ? NULL : space->edge + 2 * (i - n_node);
        const double *const x = edge ? space->xyz + 3 * i : space->mesh->xyz + 3 * i;
        keep(&f, size, x, edge ? edge[0] : i, edge ? edge[1] : -1, cell);
    }
    if (space->element != HX_ELEMENT_SPLINE) return;
    for (int64_t e = 0; e < space->mesh->n_elem; e++)
        if (!is_counted || is_counted[e]) find_in_span(&f, e);
}
