#include "surface_reach.h"

#include <math.h>
#include <stdlib.h>

#include "../base/memory.h"
#include "surface_internal.h"
#include "triangle_tree.h"

static const double DEGREE = 0.017453292519943295;

/* Twice the area of triangle t; its outward normal of length 1, and its middle. */
static double describe_triangle(const hx_surface *s, int64_t t, double normal[3], double middle[3])
{
    const double *x[3];
    hx_triangle_corners(s, s->xyz, t, x);
    hx_triangle_normal2(x[0], x[1], x[2], normal);
    const double length = hx_norm3(normal);
    for (int d = 0; d < 3; d++) {
        middle[d] = (x[0][d] + x[1][d] + x[2][d]) / 3.0;
        normal[d] = length > 0.0 ? normal[d] / length : 0.0;
    }
    return length;
}

static int lies_between(const hx_surface *s, int64_t t, const double up[3], const double base[2])
{
    const double *x[3];
    hx_triangle_corners(s, s->xyz, t, x);
    for (int k = 0; k < 3; k++) {
        const double h = hx_dot3(x[k], up);
        if (!(h >= base[0] && h <= base[1])) return 0;
    }
    return 1;
}

double hx_surface_overhang_share(const hx_surface *surface, const double up[3], double angle,
                                 const double base[2])
{
    /* a surface at this angle to the plate has a normal with this component downwards */
    const double limit = cos(DEGREE * fmax(0.0, angle - HX_REACH_TOLERANCE));
    double all = 0.0, over = 0.0;
    for (int64_t t = 0; t < surface->n_tri; t++) {
        double normal[3], middle[3];
        const double area = describe_triangle(surface, t, normal, middle);
        const double down = -hx_dot3(normal, up);
        if (down > 0.0 && lies_between(surface, t, up, base)) continue;
        all += area;
        if (down > limit) over += area;
    }
    return all > 0.0 ? over / all : 0.0;
}

/* 1 if a ray from x along the direction leaves the part's box, `far` long, without meeting it. */
static int is_open(const hx_triangle_tree *tree, const double x[3], const double direction[3],
                   double far)
{
    double end[3], share;
    for (int d = 0; d < 3; d++) end[d] = x[d] + far * direction[d];
    return !hx_triangle_tree_crossing(tree, x, end, &share);
}

static double length_of_box(const hx_surface *s)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t v = 0; v < s->n_vertex; v++)
        for (int d = 0; d < 3; d++) {
            low[d] = fmin(low[d], s->xyz[3 * v + d]);
            high[d] = fmax(high[d], s->xyz[3 * v + d]);
        }
    for (int d = 0; d < 3; d++) high[d] -= low[d];
    return hx_norm3(high);
}

enum { REACHED, HIDDEN, COUNTS_NOWHERE };

/* Whether a direction reaches triangle t from `offset` outside of its middle. */
static uint8_t state_of(const hx_triangle_tree *tree, int n, const double (*direction)[3],
                        double offset, double far, int64_t t)
{
    const double limit = -sin(DEGREE * HX_REACH_TOLERANCE);
    double normal[3], middle[3];
    int faces = 0;
    describe_triangle(tree->surface, t, normal, middle);
    for (int d = 0; d < 3; d++) middle[d] += offset * normal[d];
    for (int i = 0; i < n; i++) {
        if (hx_dot3(normal, direction[i]) < limit) continue;
        faces = 1;
        if (is_open(tree, middle, direction[i], far)) return REACHED;
    }
    return !faces && tree->surface->is_cap[t] ? COUNTS_NOWHERE : HIDDEN;
}

int hx_surface_find_unreached(const hx_surface *surface, int n, const double (*direction)[3],
                              double offset, uint8_t *is_hidden, double *share)
{
    const double far = 2.0 * (length_of_box(surface) + offset);
    double all = 0.0, hidden = 0.0;
    hx_triangle_tree tree;
    HX_TRY(hx_triangle_tree_create(&tree, surface));
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t t = 0; t < surface->n_tri; t++)
        is_hidden[t] = state_of(&tree, n, direction, offset, far, t);
    for (int64_t t = 0; t < surface->n_tri; t++) { /* in order: the same for all threads */
        double normal[3], middle[3];
        const double area = describe_triangle(surface, t, normal, middle);
        if (is_hidden[t] != COUNTS_NOWHERE) all += area;
        if (is_hidden[t] == HIDDEN) hidden += area;
        is_hidden[t] = is_hidden[t] == HIDDEN;
    }
    hx_triangle_tree_free(&tree);
    *share = all > 0.0 ? hidden / all : 0.0;
    return HX_OK;
}

int hx_surface_unreached_share(const hx_surface *surface, int n, const double (*direction)[3],
                               double offset, double *share)
{
    uint8_t *is_hidden;
    HX_TRY(hx_alloc_raw(&is_hidden, (size_t)surface->n_tri, 1, "hidden triangles"));
    const int rc = hx_surface_find_unreached(surface, n, direction, offset, is_hidden, share);
    free(is_hidden);
    return rc;
}
