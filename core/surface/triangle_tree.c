#include "triangle_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"

enum { LEAF = 4, DEPTH = 128, RAYS = 8 };

static const double *corner(const hx_surface *s, int64_t t, int k)
{
    return s->xyz + 3 * (int64_t)s->tri[3 * t + k];
}

/* Three times the centre of a triangle. */
static double centre3(const hx_surface *s, int64_t t, int d)
{
    return corner(s, t, 0)[d] + corner(s, t, 1)[d] + corner(s, t, 2)[d];
}

static void measure_tree_box(const hx_triangle_tree *tree, hx_triangle_box *box, int64_t first,
                             int64_t n)
{
    for (int d = 0; d < 3; d++) {
        box->low[d] = HUGE_VAL;
        box->high[d] = -HUGE_VAL;
    }
    for (int64_t i = 3 * first; i < 3 * (first + n); i++) {
        const double *const x = corner(tree->surface, tree->order[i / 3], (int)(i % 3));
        for (int d = 0; d < 3; d++) {
            box->low[d] = fmin(box->low[d], x[d]);
            box->high[d] = fmax(box->high[d], x[d]);
        }
    }
}

/* Moves the n / 2 triangles with the smallest centres along an axis to the front: Hoare's
 * selection. */
static void split(const hx_triangle_tree *tree, int64_t first, int64_t n, int axis)
{
    int32_t *const order = tree->order + first;
    int64_t low = 0, high = n - 1;
    const int64_t middle = n / 2;
    while (low < high) {
        const double pivot = centre3(tree->surface, order[low + (high - low) / 2], axis);
        int64_t i = low, j = high;
        while (i <= j) {
            while (centre3(tree->surface, order[i], axis) < pivot) i++;
            while (centre3(tree->surface, order[j], axis) > pivot) j--;
            if (i > j) break;
            const int32_t kept = order[i];
            order[i++] = order[j];
            order[j--] = kept;
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

int hx_triangle_tree_create(hx_triangle_tree *tree, const hx_surface *surface)
{
    int rc;
    const int64_t n = surface->n_tri;
    memset(tree, 0, sizeof *tree);
    tree->surface = surface;
    HX_TRY_FAIL(hx_alloc_raw(&tree->order, (size_t)n, sizeof *tree->order, "tree of triangles"));
    HX_TRY_FAIL(
        hx_alloc_raw(&tree->box, 2 * (size_t)n + 1, sizeof *tree->box, "tree of triangles"));
    for (int64_t t = 0; t < n; t++) tree->order[t] = (int32_t)t;
    measure_tree_box(tree, &tree->box[0], 0, n);
    tree->box[0].first = 0;
    tree->box[0].n = (int32_t)n;
    tree->n_box = 1;
    for (int64_t b = 0; b < tree->n_box; b++) { /* boxes appended here are visited later */
        hx_triangle_box *const box = &tree->box[b];
        const int32_t first = box->first, m = box->n;
        if (m <= LEAF) continue;
        int axis = 0;
        for (int d = 1; d < 3; d++)
            if (box->high[d] - box->low[d] > box->high[axis] - box->low[axis]) axis = d;
        split(tree, first, m, axis);
        for (int i = 0; i < 2; i++) {
            hx_triangle_box *const child = &tree->box[tree->n_box + i];
            child->first = i ? first + m / 2 : first;
            child->n = i ? m - m / 2 : m / 2;
            measure_tree_box(tree, child, child->first, child->n);
        }
        box->first = (int32_t)tree->n_box;
        box->n = 0;
        tree->n_box += 2;
    }
    return HX_OK;
fail:
    hx_triangle_tree_free(tree);
    return rc;
}

/* 1 if the line from a along d within [0, far] intersects the box. */
static int meets_line(const hx_triangle_box *box, const double a[3], const double inverse[3],
                      double far)
{
    double from = 0.0, to = far;
    for (int d = 0; d < 3; d++) {
        const double s = (box->low[d] - a[d]) * inverse[d], t = (box->high[d] - a[d]) * inverse[d];
        from = fmax(from, fmin(s, t));
        to = fmin(to, fmax(s, t));
    }
    return from <= to * (1.0 + 1e-12) + 1e-300;
}

/* Returns 1 and the relative position along d at which the line meets a triangle; 0: it does not;
 * -1: too close to an edge or to the triangle's plane. */
static int meet_triangle(const hx_surface *s, int64_t t, const double a[3], const double d[3],
                         double *share)
{
    static const double near = 1e-10;
    const double *const p = corner(s, t, 0);
    double u[3], v[3], w[3], n[3], q[3];
    for (int i = 0; i < 3; i++) {
        u[i] = corner(s, t, 1)[i] - p[i];
        v[i] = corner(s, t, 2)[i] - p[i];
        w[i] = a[i] - p[i];
    }
    hx_cross3(u, v, n);
    const double along = -hx_dot3(n, d), size = hx_norm3(n) * hx_norm3(d);
    hx_cross3(w, d, q);
    const double b = hx_dot3(v, q), c = -hx_dot3(u, q), edge = near * fabs(along);
    const double sign = along < 0.0 ? -1.0 : 1.0;
    if (!(size > 0.0)) return 0;
    if (fabs(along) <= 1e-12 * size) return fabs(hx_dot3(n, w)) <= 1e-9 * size ? -1 : 0;
    if (sign * b < -edge || sign * c < -edge || sign * (b + c) > fabs(along) + edge) return 0;
    *share = hx_dot3(n, w) / along;
    if (sign * b < edge || sign * c < edge || sign * (b + c) > fabs(along) - edge) return -1;
    return 1;
}

/* Visits the boxes along the line, counts crossings and finds the nearest and its triangle. Returns
 * their number, -1: undecided. first, tri: NULL if only the number matters. */
static int walk_tree(const hx_triangle_tree *tree, const double a[3], const double d[3], double far,
                     double *first, int32_t *tri)
{
    int32_t stack[DEPTH];
    int n_stack = 0, n = 0, unsure = 0;
    double inverse[3];
    for (int i = 0; i < 3; i++) inverse[i] = 1.0 / (fabs(d[i]) > 1e-300 ? d[i] : 1e-300);
    stack[n_stack++] = 0;
    while (n_stack > 0) {
        const hx_triangle_box *const box = &tree->box[stack[--n_stack]];
        if (!meets_line(box, a, inverse, far)) continue;
        if (box->n == 0) {
            if (n_stack + 2 > DEPTH) return -1;
            stack[n_stack++] = box->first;
            stack[n_stack++] = box->first + 1;
            continue;
        }
        for (int64_t i = box->first; i < box->first + box->n; i++) {
            double share = 0.0;
            const int found = meet_triangle(tree->surface, tree->order[i], a, d, &share);
            if (found == 0 || share < 0.0 || share > far) continue;
            if (found < 0) unsure = 1;
            n++;
            if (!first || !(share < *first)) continue;
            *first = share;
            *tri = tree->order[i];
        }
    }
    return unsure && !first ? -1 : n;
}

int hx_triangle_tree_inside(const hx_triangle_tree *tree, const double x[3])
{
    static const double way[RAYS][3] = {{0.5377, 0.8339, 0.1253},   {-0.8622, 0.3188, 0.3940},
                                        {0.3426, -0.7578, 0.5553},  {-0.4336, -0.3127, 0.8451},
                                        {0.7147, 0.2050, -0.6687},  {-0.1241, 0.6897, -0.7134},
                                        {0.6715, -0.5075, -0.5399}, {-0.6304, -0.5470, -0.5508}};
    const hx_triangle_box *const box = &tree->box[0];
    for (int d = 0; d < 3; d++)
        if (x[d] < box->low[d] || x[d] > box->high[d]) return 0;
    for (int i = 0; i < RAYS; i++) {
        const int n = walk_tree(tree, x, way[i], HUGE_VAL, NULL, NULL);
        if (n >= 0) return n % 2;
    }
    return 0;
}

int hx_triangle_tree_first(const hx_triangle_tree *tree, const double a[3], const double b[3],
                           double *share, int32_t *tri)
{
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = b[i] - a[i];
    *share = 2.0;
    return walk_tree(tree, a, d, 1.0, share, tri) > 0 && *share <= 1.0;
}

int hx_triangle_tree_crossing(const hx_triangle_tree *tree, const double a[3], const double b[3],
                              double *share)
{
    int32_t tri;
    return hx_triangle_tree_first(tree, a, b, share, &tri);
}

int hx_triangle_tree_meets(const hx_triangle_tree *tree, const double low[3], const double high[3])
{
    int32_t stack[DEPTH];
    int n_stack = 0;
    stack[n_stack++] = 0;
    while (n_stack > 0) {
        const hx_triangle_box *const box = &tree->box[stack[--n_stack]];
        int apart = 0;
        for (int d = 0; d < 3; d++) apart |= box->low[d] > high[d] || box->high[d] < low[d];
        if (apart) continue;
        if (box->n > 0 || n_stack + 2 > DEPTH) return 1;
        stack[n_stack++] = box->first;
        stack[n_stack++] = box->first + 1;
    }
    return 0;
}

static double distance_to(const hx_surface *s, int64_t t, const double x[3])
{
    const double *p[3];
    double share[3], off[3];
    hx_triangle_corners(s, s->xyz, t, p);
    hx_triangle_nearest(p[0], p[1], p[2], x, share);
    for (int d = 0; d < 3; d++)
        off[d] = share[0] * p[0][d] + share[1] * p[1][d] + share[2] * p[2][d] - x[d];
    return hx_norm3(off);
}

int hx_triangle_tree_touches(const hx_triangle_tree *tree, const double x[3], double distance)
{
    int32_t stack[DEPTH];
    int n_stack = 0;
    stack[n_stack++] = 0;
    while (n_stack > 0) {
        const hx_triangle_box *const box = &tree->box[stack[--n_stack]];
        int apart = 0;
        for (int d = 0; d < 3; d++)
            apart |= box->low[d] > x[d] + distance || box->high[d] < x[d] - distance;
        if (apart) continue;
        for (int64_t i = box->first; i < box->first + box->n; i++)
            if (distance_to(tree->surface, tree->order[i], x) <= distance) return 1;
        if (box->n > 0) continue;
        if (n_stack + 2 > DEPTH) return 1;
        stack[n_stack++] = box->first;
        stack[n_stack++] = box->first + 1;
    }
    return 0;
}

static double distance_of_box(const hx_triangle_box *box, const double x[3])
{
    double off[3];
    for (int d = 0; d < 3; d++) off[d] = fmax(0.0, fmax(box->low[d] - x[d], x[d] - box->high[d]));
    return hx_norm3(off);
}

double hx_triangle_tree_distance(const hx_triangle_tree *tree, const double x[3],
                                 const uint8_t *left_out, double most)
{
    int32_t stack[DEPTH];
    int n_stack = 0;
    stack[n_stack++] = 0;
    while (n_stack > 0) {
        const hx_triangle_box *const box = &tree->box[stack[--n_stack]];
        if (!(distance_of_box(box, x) < most)) continue;
        for (int64_t i = box->first; i < box->first + box->n; i++) {
            const int32_t t = tree->order[i];
            if (!left_out || !left_out[t]) most = fmin(most, distance_to(tree->surface, t, x));
        }
        if (box->n > 0 || n_stack + 2 > DEPTH) continue;
        const int is_second_nearer = distance_of_box(&tree->box[box->first + 1], x) <
                                     distance_of_box(&tree->box[box->first], x);
        stack[n_stack++] = box->first + !is_second_nearer; /* the nearer one is visited first */
        stack[n_stack++] = box->first + is_second_nearer;
    }
    return most;
}

void hx_triangle_tree_free(hx_triangle_tree *tree)
{
    free(tree->box);
    free(tree->order);
    memset(tree, 0, sizeof *tree);
}
