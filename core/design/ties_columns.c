#include <stdlib.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "ties_work.h"

/* A column reaches so far from the middle of its first element, seen along the extrusion:
 * half-widths of that element. */
static const double FOOTPRINT = 0.9;

typedef struct column {
    hx_ties_work *w;
    const hx_ties_points *p;
    int32_t first;
    const hx_tie_shape *shape; /* of the first */
} column;

/* Takes a point into the column of `first` if it lies within its footprint. If columns of one run
 * contain it, the one that it lies deepest in takes it; if it lies as deep in two, neither does. */
static void join_column(void *context, int64_t point)
{
    const column *const c = context;
    hx_ties_work *const w = c->w;
    const int32_t e = c->p->elem[point], r = w->rep[e], shared = -2 - w->run;
    const double *const middle = w->folded + 3 * (int64_t)c->first;
    if (e == c->first || (r >= 0 && !w->is_new[r])) return;
    const double offset = hx_ties_offset(w, c->shape, middle, w->folded + 3 * (int64_t)e);
    if (offset >= FOOTPRINT + c->shape->slack) return;
    if (r == e) { /* the first of another column: one with this only if exactly above */
        if (offset > 2.0 * c->shape->slack) return;
        w->is_new[e] = 0;
        w->rep[e] = c->first;
        return;
    }
    const double deeper = w->offset[e] - offset;
    const int is_taken = r >= 0 || r == shared;
    if (is_taken && deeper < -2.0 * c->shape->slack) return;
    w->rep[e] = is_taken && deeper <= 2.0 * c->shape->slack ? shared : c->first;
    w->offset[e] = offset;
}

static void begin_column(hx_ties_work *w, const hx_ties_points *p, int32_t e)
{
    hx_tie_shape shape;
    column c = {w, p, e, &shape};
    hx_ties_shape_of(w, e, &shape);
    const double reach =
        (FOOTPRINT + shape.slack) * hx_tie_shape_reach(&shape, w->mesh, e) + w->place.margin;
    hx_point_grid_visit(&p->grid, w->folded + 3 * (int64_t)e, reach, join_column, &c);
}

/* Columns of elements between which only the coordinates would choose begin at once, and none takes
 * the first element of another unless they lie exactly above one another: the groups are the same
 * in every order of elem[n]. */
static void begin_columns(hx_ties_work *w, const hx_ties_points *p, const int32_t *elem, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (w->rep[elem[i]] >= 0) continue;
        w->rep[elem[i]] = elem[i];
        w->offset[elem[i]] = 0.0;
        w->is_new[elem[i]] = 1;
    }
    for (int64_t i = 0; i < n; i++)
        if (w->is_new[elem[i]]) begin_column(w, p, elem[i]);
    for (int64_t i = 0; i < n; i++) w->is_new[elem[i]] = 0;
    w->run++;
}

/* The one of elem[n] that lies where e does, seen along the extrusion, among the last few; n: none.
 */
static int64_t find_same(const hx_ties_work *w, const int32_t *elem, int64_t begin, int64_t n,
                         int32_t e)
{
    enum { LAST = 8 };
    const double *const x = w->folded + 3 * (int64_t)e;
    for (int64_t i = n - begin > LAST ? n - LAST : begin; i < n; i++) {
        const double *const y = w->folded + 3 * (int64_t)elem[i];
        const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
        if (hx_norm3(d) <= w->place.margin) return i;
    }
    return n;
}

/* Puts into elem the first by place of elements exactly above one another, and all other elements:
 * the rest join them, so that only few need an order. Returns how many. */
static int64_t list_firsts(const hx_ties_work *w, const hx_ties_points *p, int32_t *elem)
{
    const hx_point_grid *const grid = &p->grid;
    const int64_t n_cell = grid->n_cell[0] * grid->n_cell[1] * grid->n_cell[2];
    int64_t n = 0;
    for (int64_t c = 0; c < n_cell; c++) {
        const int64_t begin = n;
        for (int64_t m = grid->start[c]; m < grid->start[c + 1]; m++) {
            const int32_t e = p->elem[grid->member[m]];
            const int64_t i = find_same(w, elem, begin, n, e);
            if (i == n)
                elem[n++] = e;
            else if (hx_place_compare(&w->place, e, elem[i]) < 0)
                elem[i] = e;
        }
    }
    return n;
}

int hx_ties_make_columns(hx_ties_work *w)
{
    hx_ties_points p;
    int32_t *elem = NULL;
    int rc;
    HX_TRY(hx_ties_points_create(&p, w, HX_TIES_OF_CHAMBER));
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
    hx_ties_points_free(&p);
    return rc;
}
