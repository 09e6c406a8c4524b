#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "groups_work.h"

/* Reach of a column from the centre of its first element, projected along the extrusion:
 * half-widths of that element. */
static const double FOOTPRINT = 0.9;

typedef struct column {
    hx_groups_work *w;
    const hx_groups_points *p;
    int32_t first;
    const hx_group_shape *shape; /* shape of the first element */
} column;

/* Adds a point to the column of `first` if it lies within its footprint. If several columns of one
 * run contain it, the one in which it lies deepest gets it; if it lies equally deep in two, none
 * does. */
static void join_column(void *context, int64_t point)
{
    const column *const c = context;
    hx_groups_work *const w = c->w;
    const int32_t e = c->p->elem[point], r = w->rep[e], shared = -2 - w->run;
    const int32_t joins = w->rep[c->first];
    const double *const middle = w->folded + 3 * (int64_t)c->first;
    if (w->is_new[e] || (r >= 0 && !w->is_new[r])) return;
    const double offset = hx_groups_offset(w, c->shape, middle, w->folded + 3 * (int64_t)e);
    if (offset >= FOOTPRINT + c->shape->slack) return;
    const double deeper = w->offset[e] - offset;
    const int is_taken = r >= 0 || r == shared;
    if (is_taken && deeper < -2.0 * c->shape->slack) return;
    w->rep[e] = is_taken && r != joins && deeper <= 2.0 * c->shape->slack ? shared : joins;
    w->offset[e] = offset;
}

/* 1 if every face of `a` has a face of `b` with the same offset, projected along the extrusion. */
static int covers_the_same(const hx_groups_work *w, const hx_group_shape *a,
                           const hx_group_shape *b)
{
    for (int k = 0; k < a->n; k++) {
        int is_found = 0;
        for (int j = 0; j < b->n && !is_found; j++)
            for (int sign = -1 + 2 * !a->is_even; sign <= 1 && !is_found; sign += 2) {
                double d[3];
                for (int i = 0; i < 3; i++) d[i] = a->toward[k][i] - sign * b->toward[j][i];
                const double x = hx_dot3(w->axis[0], d), y = hx_dot3(w->axis[1], d);
                is_found = sqrt(x * x + y * y) <= a->slack * hx_norm3(a->toward[k]);
            }
        if (!is_found) return 0;
    }
    return a->n == b->n && a->is_even == b->is_even;
}

static void begin_column(hx_groups_work *w, const hx_groups_points *p, int32_t e)
{
    hx_group_shape shape, other;
    column c = {w, p, e, &shape};
    hx_groups_shape_of(w, e, &shape);
    if (w->rep[e] != e) { /* if both footprints are equal, no point lies only in this one */
        hx_groups_shape_of(w, w->rep[e], &other);
        if (covers_the_same(w, &shape, &other) && covers_the_same(w, &other, &shape)) return;
    }
    const double reach =
        (FOOTPRINT + shape.slack) * hx_group_shape_reach(&shape, w->mesh, e) + w->place.margin;
    hx_point_grid_visit(&p->grid, w->folded + 3 * (int64_t)e, reach, join_column, &c);
}

/* 1 if both have the same position, projected along the extrusion. */
static int are_above(const hx_groups_work *w, int32_t a, int32_t b)
{
    const double *const x = w->folded + 3 * (int64_t)a, *const y = w->folded + 3 * (int64_t)b;
    const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
    return hx_norm3(d) <= w->place.margin;
}

/* First elements of one run that lie exactly above one another begin one column. */
static void unite_columns(void *context, int64_t point)
{
    const column *const c = context;
    hx_groups_work *const w = c->w;
    const int32_t e = c->p->elem[point];
    if (e == c->first || !w->is_new[e] || w->rep[e] != e || !are_above(w, e, c->first)) return;
    w->rep[e] = c->first;
    w->above[e] = w->above[c->first];
    w->above[c->first] = e;
}

/* Columns whose first elements hx_place_rank cannot order begin simultaneously, and none takes the
 * first element of another. If two such elements lie exactly above one another, both are first
 * elements of one column, whose footprint is the union of theirs. The groups therefore do not
 * depend on the order of elem[n]. */
static void begin_columns(hx_groups_work *w, const hx_groups_points *p, const int32_t *elem,
                          int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (w->rep[elem[i]] >= 0) continue;
        w->rep[elem[i]] = elem[i];
        w->offset[elem[i]] = 0.0;
        w->is_new[elem[i]] = 1;
    }
    for (int64_t i = 0; i < n && n > 1; i++) {
        column c = {w, p, elem[i], NULL};
        if (w->is_new[elem[i]] && w->rep[elem[i]] == elem[i])
            hx_point_grid_visit(&p->grid, w->folded + 3 * (int64_t)elem[i], w->place.margin,
                                unite_columns, &c);
    }
    for (int64_t i = 0; i < n; i++)
        if (w->is_new[elem[i]]) begin_column(w, p, elem[i]);
    for (int64_t i = 0; i < n; i++) w->is_new[elem[i]] = 0;
    w->run++;
}

/* Adds e to the list of a cell unless an element exactly above or below it precedes it by position,
 * and removes from the last few of the list those that e precedes. Returns the new length. */
static int64_t add_first(const hx_groups_work *w, int32_t *elem, int64_t begin, int64_t n,
                         int32_t e)
{
    enum { LAST = 8 };
    for (int64_t i = n - begin > LAST ? n - LAST : begin; i < n;) {
        const int order = are_above(w, e, elem[i]) ? hx_place_rank(&w->place, e, elem[i]) : 0;
        if (order > 0) return n;
        if (order < 0)
            elem[i] = elem[--n];
        else
            i++;
    }
    elem[n] = e;
    return n + 1;
}

/* Collects in elem, from each set of elements exactly above one another, the first by position (two
 * if neither precedes), and all other elements. The rest joins these, so that only few elements
 * must be sorted. Returns the number. */
static int64_t list_firsts(const hx_groups_work *w, const hx_groups_points *p, int32_t *elem)
{
    const hx_point_grid *const grid = &p->grid;
    const int64_t n_cell = grid->n_cell[0] * grid->n_cell[1] * grid->n_cell[2];
    int64_t n = 0;
    for (int64_t c = 0; c < n_cell; c++) {
        const int64_t begin = n;
        for (int64_t m = grid->start[c]; m < grid->start[c + 1]; m++)
            n = add_first(w, elem, begin, n, p->elem[grid->member[m]]);
    }
    return n;
}

int hx_groups_make_columns(hx_groups_work *w)
{
    hx_groups_points p;
    int32_t *elem = NULL;
    int rc;
    HX_TRY(hx_groups_points_create(&p, w, HX_GROUPS_OF_CHAMBER));
    HX_TRY_FAIL(hx_alloc_raw(&elem, (size_t)p.n, sizeof *elem, "symmetry"));
    const int64_t n = list_firsts(w, &p, elem);
    HX_TRY_FAIL(hx_place_sort(&w->place, n, elem));
    for (int64_t k = 0, end; k < n; k = end) {
        for (end = k + 1; end < n; end++)
            if (hx_place_rank(&w->place, elem[k], elem[end]) != 0) break;
        begin_columns(w, &p, elem + k, end - k);
    }
fail:
    free(elem);
    hx_groups_points_free(&p);
    return rc;
}
