/* Finds shells of a triangle surface that intersect: pairs of their triangles that cross. */
#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "stl.h"

typedef struct triangle {
    double low[3], high[3];
    const double *corner[3];
    int32_t shell;
} triangle;

static int compare_low(const void *a, const void *b)
{
    const triangle *const p = a, *const q = b;
    return (p->low[0] > q->low[0]) - (p->low[0] < q->low[0]);
}

static triangle make_triangle(const hx_stl *stl, int64_t t)
{
    triangle made = {.shell = stl->shell[t]};
    for (int k = 0; k < 3; k++) made.corner[k] = stl->xyz + 3 * (size_t)stl->tri[3 * t + k];
    for (int c = 0; c < 3; c++) {
        const double x = made.corner[0][c], y = made.corner[1][c], z = made.corner[2][c];
        made.low[c] = fmin(x, fmin(y, z));
        made.high[c] = fmax(x, fmax(y, z));
    }
    return made;
}

/* height[3] := heights of the corners of b above the plane of a, whose unit normal is also
 * returned. Returns 1 if some corners lie above the plane and some below, by more than `near`. */
static int straddles(const triangle *a, const triangle *b, double near, double normal[3],
                     double height[3])
{
    double u[3], v[3];
    int n_above = 0, n_below = 0;
    for (int c = 0; c < 3; c++) {
        u[c] = a->corner[1][c] - a->corner[0][c];
        v[c] = a->corner[2][c] - a->corner[0][c];
    }
    hx_cross3(u, v, normal);
    const double length = hx_norm3(normal);
    for (int c = 0; c < 3; c++) normal[c] /= length;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) u[c] = b->corner[k][c] - a->corner[0][c];
        height[k] = hx_dot3(u, normal);
        n_above += height[k] > near;
        n_below += height[k] < -near;
    }
    return n_above > 0 && n_below > 0;
}

/* Intersects a triangle with a plane, given the heights of its corners above that plane. x[2]: ends
 * of the intersection; at[2]: their positions along `direction`, ascending. */
static void cut_triangle(const triangle *t, const double height[3], const double direction[3],
                         double at[2], double x[2][3])
{
    at[0] = INFINITY;
    at[1] = -INFINITY;
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3;
        double point[3];
        if ((height[k] > 0.0) == (height[l] > 0.0)) continue;
        const double s = height[k] / (height[k] - height[l]);
        for (int c = 0; c < 3; c++)
            point[c] = t->corner[k][c] + s * (t->corner[l][c] - t->corner[k][c]);
        const double place = hx_dot3(point, direction);
        for (int end = 0; end < 2; end++) {
            if (end == 0 ? place >= at[0] : place <= at[1]) continue;
            at[end] = place;
            for (int c = 0; c < 3; c++) x[end][c] = point[c];
        }
    }
}

/* Returns 1 if each triangle crosses the plane of the other, and both contain a common piece of the
 * planes' intersection line that is longer than `near`; triangles that only touch do not. x: the
 * middle of that piece. */
static int cross(const triangle *a, const triangle *b, double near, double x[3])
{
    double of_a[3], of_b[3], above_a[3], above_b[3], line[3], at[2][2], end[2][2][3];
    if (!straddles(a, b, near, of_a, above_a) || !straddles(b, a, near, of_b, above_b)) return 0;
    hx_cross3(of_a, of_b, line);
    const double length = hx_norm3(line);
    if (!(length > 0.0)) return 0;
    for (int c = 0; c < 3; c++) line[c] /= length;
    cut_triangle(a, above_b, line, at[0], end[0]);
    cut_triangle(b, above_a, line, at[1], end[1]);
    const int first = at[0][0] < at[1][0], last = at[1][1] < at[0][1];
    if (!(at[last][1] - at[first][0] > near)) return 0;
    for (int c = 0; c < 3; c++) x[c] = 0.5 * (end[first][0][c] + end[last][1][c]);
    return 1;
}

static int boxes_meet(const triangle *a, const triangle *b)
{
    int n = 0;
    for (int c = 0; c < 3; c++) n += a->low[c] <= b->high[c] && b->low[c] <= a->high[c];
    return n == 3;
}

int hx_stl_find_crossing(const hx_stl *stl, double near, double x[3], int *is_found)
{
    triangle *list = NULL;
    /* triangles whose extent along x may overlap that of the current one */
    int64_t *open = NULL, n_open = 0;
    int rc;
    *is_found = 0;
    HX_TRY_FAIL(hx_alloc_raw(&list, (size_t)stl->n_tri, sizeof *list, "triangles"));
    HX_TRY_FAIL(hx_alloc_raw(&open, (size_t)stl->n_tri, sizeof *open, "triangles"));
    for (int64_t t = 0; t < stl->n_tri; t++) list[t] = make_triangle(stl, t);
    qsort(list, (size_t)stl->n_tri, sizeof *list, compare_low);
    for (int64_t t = 0; t < stl->n_tri && !*is_found; t++) {
        int64_t n = 0;
        for (int64_t k = 0; k < n_open; k++) {
            const triangle *const other = &list[open[k]];
            if (other->high[0] < list[t].low[0]) continue;
            open[n++] = open[k];
            if (!*is_found && other->shell != list[t].shell && boxes_meet(other, &list[t]))
                *is_found = cross(other, &list[t], near, x);
        }
        n_open = n;
        open[n_open++] = t;
    }
    rc = HX_OK;
fail:
    free(list);
    free(open);
    return rc;
}
