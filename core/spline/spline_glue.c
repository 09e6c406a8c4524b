#include "spline_glue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "spline_sides.h"

enum { SIDE_TEXT = 40 };

/* Names of both sides, for messages. */
typedef struct names {
    char a[SIDE_TEXT], b[SIDE_TEXT];
} names;

static names names_of(const hx_spline *spline, const hx_spline_interface *interface)
{
    names text;
    hx_spline_side_name(spline, interface->a, text.a, sizeof text.a);
    hx_spline_side_name(spline, interface->b, text.b, sizeof text.b);
    return text;
}

/* --- checks that two sides conform --- */

/* Compares the knots of two directions relative to their ranges, the second from its end if
 * `flip`. */
static int check_knots(const hx_spline *spline, const hx_spline_interface *interface, int d,
                       const hx_knots *a, const hx_knots *b, int flip)
{
    const names text = names_of(spline, interface);
    const char u = "uvw"[d], v = "uvw"[interface->along[d]];
    if (a->degree != b->degree)
        return HX_RAISE(HX_EINPUT,
                        "%s and %s do not conform: degree %d along %c and %d along %c; glued sides "
                        "must have the same degree, knots and control points",
                        text.a, text.b, a->degree, u, b->degree, v);
    if (a->n != b->n)
        return HX_RAISE(HX_EINPUT,
                        "%s and %s do not conform: %d control %s along %c and %d along %c; glued "
                        "sides must have the same degree, knots and control points",
                        text.a, text.b, a->n, hx_noun(a->n, "point", "points"), u, b->n, v);
    const int last = a->n + a->degree;
    const double range[2] = {a->knot[last] - a->knot[0], b->knot[last] - b->knot[0]};
    for (int i = 0; i <= last; i++) {
        const double s = (a->knot[i] - a->knot[0]) / range[0];
        const double t = flip ? (b->knot[last] - b->knot[last - i]) / range[1]
                              : (b->knot[i] - b->knot[0]) / range[1];
        if (fabs(s - t) <= HX_SPLINE_SAME_KNOT) continue;
        return HX_RAISE(HX_EINPUT,
                        "%s and %s do not conform: knot %d is at %.9g of the range along %c and at "
                        "%.9g along %c; glued sides must have the same knots",
                        text.a, text.b, i, s, u, t, v);
    }
    /* the numbers of spans differ if knots that coincide on one side only almost coincide on the
     * other */
    if (a->n_span != b->n_span)
        return HX_RAISE(HX_EINPUT,
                        "%s and %s do not conform: %d %s along %c and %d along %c; repeated knots "
                        "must be exactly equal",
                        text.a, text.b, a->n_span, hx_noun(a->n_span, "span", "spans"), u,
                        b->n_span, v);
    return 0;
}

static int check_points(const hx_spline *spline, int (*n)[3], const hx_spline_interface *interface,
                        double reach)
{
    const hx_spline_patch *const a = &spline->patch[interface->a.patch];
    const hx_spline_patch *const b = &spline->patch[interface->b.patch];
    const names text = names_of(spline, interface);
    hx_spline_grid ga, gb;
    hx_spline_grids(n, interface, &ga, &gb);
    for (int j = 0; j < ga.n[1]; j++)
        for (int i = 0; i < ga.n[0]; i++) {
            const int64_t k = hx_spline_grid_at(&ga, i, j), l = hx_spline_grid_at(&gb, i, j);
            const double *const x = a->point + 3 * k, *const y = b->point + 3 * l;
            const double v = a->weight ? a->weight[k] : 1.0, w = b->weight ? b->weight[l] : 1.0;
            double square = 0.0;
            for (int c = 0; c < 3; c++) square += (x[c] - y[c]) * (x[c] - y[c]);
            if (!(square <= reach * reach))
                return HX_RAISE(HX_EINPUT,
                                "%s and %s do not conform: control point %lld of patch %d lies at "
                                "(%.9g, %.9g, %.9g) and %lld of patch %d at (%.9g, %.9g, %.9g); "
                                "check the directions of the interface, or join the faces in CAD",
                                text.a, text.b, (long long)k, interface->a.patch + 1, x[0], x[1],
                                x[2], (long long)l, interface->b.patch + 1, y[0], y[1], y[2]);
            if (!(fabs(v - w) <= HX_SPLINE_SAME_WEIGHT * v))
                return HX_RAISE(HX_EINPUT,
                                "%s and %s do not conform: control point %lld of patch %d has "
                                "weight %.9g and %lld of patch %d %.9g; glued sides must have the "
                                "same weights",
                                text.a, text.b, (long long)k, interface->a.patch + 1, v,
                                (long long)l, interface->b.patch + 1, w);
        }
    return 0;
}

static int check_interface(const hx_spline *spline, int (*n)[3],
                           const hx_spline_interface *interface, double reach)
{
    int along[2];
    HX_TRY(hx_spline_check_interface(spline, interface));
    hx_spline_tangents(interface->a.side, along);
    for (int k = 0; k < 2; k++) {
        const int d = along[k];
        HX_TRY(check_knots(spline, interface, d, &spline->patch[interface->a.patch].axis[d],
                           &spline->patch[interface->b.patch].axis[interface->along[d]],
                           interface->flip[d]));
    }
    return check_points(spline, n, interface, reach);
}

/* A side may be in one interface only. */
static int check_once(const hx_spline *spline)
{
    int *by = NULL, rc = 0;
    HX_TRY(hx_alloc(&by, 6 * (size_t)spline->n_patch, sizeof *by, "sides of patches"));
    for (int k = 0; rc == 0 && k < 2 * spline->n_interface; k++) {
        const hx_spline_interface *const interface = &spline->interface[k / 2];
        const hx_spline_side side = k % 2 ? interface->b : interface->a;
        int *const seen = &by[6 * side.patch + side.side];
        char text[SIDE_TEXT];
        if (*seen)
            rc = HX_RAISE(HX_EINPUT,
                          "%s is in interfaces %d and %d; a side can be glued to only one other",
                          hx_spline_side_name(spline, side, text, sizeof text), *seen, k / 2 + 1);
        *seen = k / 2 + 1;
    }
    free(by);
    return rc;
}

/* Refuses an edge that degenerates to a point: its control points would have to be merged, and its
 * spans would not be hexahedra. */
static int check_edges(const hx_spline_patch *patch, int number, double reach)
{
    const hx_knots *const axis = patch->axis;
    const int64_t stride[3] = {1, axis[0].n, (int64_t)axis[0].n * axis[1].n};
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 4; k++) {
            const int e = (d + 1) % 3, f = (d + 2) % 3;
            const int64_t base =
                (k & 1) * stride[e] * (axis[e].n - 1) + (k >> 1) * stride[f] * (axis[f].n - 1);
            int is_point = 1;
            for (int i = 1; i < axis[d].n; i++)
                for (int c = 0; c < 3; c++)
                    is_point &= fabs(patch->point[3 * (base + i * stride[d]) + c] -
                                     patch->point[3 * base + c]) <= reach;
            if (is_point)
                return HX_RAISE(HX_EINPUT,
                                "the edge of patch%d:%c%c and %c%c is a point; sides must not "
                                "collapse, so parametrise the part without a pole",
                                number, "uvw"[e], "-+"[(k & 1) ^ (patch->is_turned && e == 2)],
                                "uvw"[f], "-+"[(k >> 1) ^ (patch->is_turned && f == 2)]);
        }
    return 0;
}

/* --- numbers --- */

/* Copies to point i of patch k the position and weight of the first point that it is glued to. */
static void take_over(hx_spline *spline, const int64_t *first, int k, int64_t i, int64_t from)
{
    int l = k;
    while (first[l] > from) l--;
    const hx_spline_patch *const there = &spline->patch[l];
    hx_spline_patch *const here = &spline->patch[k];
    const int64_t j = from - first[l];
    here->number[i] = there->number[j];
    memcpy(here->point + 3 * i, there->point + 3 * j, 3 * sizeof *here->point);
    if (here->weight) here->weight[i] = there->weight ? there->weight[j] : 1.0;
}

/* Prepares the weights at an interface with a patch without weights. A weight that is 1 within the
 * tolerance becomes 1; if any other weight remains, the patch without weights gets weights. */
static int add_weights(hx_spline *spline)
{
    int n_with = 0;
    for (int k = 0; k < spline->n_patch; k++) n_with += spline->patch[k].weight != NULL;
    for (int k = 0; n_with > 0 && k < spline->n_patch; k++) {
        hx_spline_patch *const patch = &spline->patch[k];
        const int64_t n = hx_spline_patch_points(patch);
        if (patch->weight) continue;
        HX_TRY(hx_alloc(&patch->weight, (size_t)n, sizeof *patch->weight, "weights of points"));
        for (int64_t i = 0; i < n; i++) patch->weight[i] = 1.0;
    }
    return 0;
}

static int number(hx_spline *spline, const int64_t *first, const int32_t *root)
{
    spline->n_point = spline->n_cell = 0;
    for (int k = 0; k < spline->n_patch; k++) {
        hx_spline_patch *const patch = &spline->patch[k];
        const int64_t n = hx_spline_patch_points(patch);
        free(patch->number);
        HX_TRY(hx_alloc_raw(&patch->number, (size_t)n, sizeof *patch->number,
                            "numbers of control points"));
        for (int64_t i = 0; i < n; i++) {
            const int64_t from = root[first[k] + i];
            if (from == first[k] + i)
                patch->number[i] = (int32_t)spline->n_point++;
            else
                take_over(spline, first, k, i, from);
        }
        patch->first_cell = spline->n_cell;
        spline->n_cell += hx_spline_patch_cells(patch);
    }
    return 0;
}

static int check_all(const hx_spline *spline, int (*n)[3])
{
    const double reach = HX_SPLINE_SAME_POINT * hx_spline_diagonal(spline);
    for (int k = 0; k < spline->n_interface; k++)
        HX_TRY(check_interface(spline, n, &spline->interface[k], reach));
    HX_TRY(check_once(spline));
    for (int k = 0; k < spline->n_patch; k++) HX_TRY(check_edges(&spline->patch[k], k + 1, reach));
    return 0;
}

int hx_spline_glue(hx_spline *spline)
{
    int64_t *first = NULL;
    int32_t *root = NULL;
    int(*n)[3] = NULL, rc;
    HX_TRY(hx_alloc(&n, (size_t)spline->n_patch, sizeof *n, "patches"));
    for (int k = 0; k < 3 * spline->n_patch; k++)
        n[k / 3][k % 3] = spline->patch[k / 3].axis[k % 3].n;
    HX_TRY_FAIL(check_all(spline, n));
    HX_TRY_FAIL(add_weights(spline));
    HX_TRY_FAIL(hx_spline_unite(spline, n, &first, &root));
    rc = number(spline, first, root);
fail:
    free(n);
    free(first);
    free(root);
    return rc;
}
