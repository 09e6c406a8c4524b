#include "spline_refine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../mesh/mesh.h"
#include "spline_patch.h"
#include "spline_sides.h"

enum { SIDE_TEXT = 40 };

/* --- one direction --- */

/* Makes the knots of degree `degree` with spans divided into `parts` parts. */
static int refine_knots(const hx_knots *from, int degree, int parts, hx_knots *to)
{
    const int raise = degree - from->degree, last = from->n + from->degree;
    const size_t most = (size_t)(last + 1) * (size_t)(1 + raise) + (size_t)from->n_span * parts;
    double *knot = NULL;
    int n = 0;
    HX_TRY(hx_alloc(&knot, most, sizeof *knot, "knots"));
    for (int i = 0; i <= last; i++) {
        const double here = from->knot[i];
        knot[n++] = here;
        if (i < last && from->knot[i + 1] == here) continue;
        for (int k = 0; k < raise; k++) knot[n++] = here; /* once per distinct knot */
        for (int k = 1; i < last && k < parts; k++)
            knot[n++] = here + (from->knot[i + 1] - here) * k / parts;
    }
    const int rc = hx_knots_create(to, degree, n - degree - 1, knot);
    free(knot);
    return rc;
}

/* coefficient[k] := factor of control point span - degree + k in the blossom of the span's
 * polynomial. The blossom has as many arguments as the degree; this is the recurrence of
 * hx_knots_values with another argument in every step. */
static void blossom(const hx_knots *knots, int span, const double *argument, double *coefficient)
{
    const double *const u = knots->knot;
    coefficient[0] = 1.0;
    for (int d = 1; d <= knots->degree; d++) {
        double carried = 0.0;
        for (int k = 0; k < d; k++) {
            const double left = u[span + 1 + k - d], right = u[span + 1 + k];
            const double share = coefficient[k] / (right - left);
            coefficient[k] = carried + (right - argument[d - 1]) * share;
            carried = (argument[d - 1] - left) * share;
        }
        coefficient[d] = carried;
    }
}

/* Chooses, in the support of function i of `to`, the span nearest to the mean of the function's
 * knots; returns the span of `from` that contains it. */
static int span_below(const hx_knots *from, const hx_knots *to, int i)
{
    const int q = to->degree;
    const double *const u = to->knot;
    double mean = 0.0, best = HUGE_VAL, middle = 0.0;
    for (int k = 1; k <= q; k++) mean += u[i + k] / q;
    for (int j = i; j <= i + q; j++) {
        const double m = 0.5 * (u[j] + u[j + 1]);
        if (u[j] >= u[j + 1] || fabs(m - mean) >= best) continue;
        best = fabs(m - mean);
        middle = m;
    }
    return from->span[hx_knots_find(from, middle)];
}

/* Row i of the matrix that computes control points of `to` from those of `from`: row[k] multiplies
 * point *first + k. */
static void make_row(const hx_knots *from, const hx_knots *to, int i, int *first,
                     double row[HX_SPLINE_MAX_ORDER])
{
    const int p = from->degree, q = to->degree, span = span_below(from, to, i);
    int n_choice = 0;
    memset(row, 0, HX_SPLINE_MAX_ORDER * sizeof *row);
    for (unsigned choice = 0; choice < 1u << q; choice++) {
        double argument[HX_SPLINE_MAX_DEGREE], coefficient[HX_SPLINE_MAX_ORDER];
        int n = 0;
        for (int k = 0; k < q; k++) {
            if (!(choice >> k & 1u)) continue;
            if (n < p) argument[n] = to->knot[i + 1 + k];
            n++;
        }
        if (n != p) continue;
        n_choice++;
        blossom(from, span, argument, coefficient);
        for (int k = 0; k <= p; k++) row[k] += coefficient[k];
    }
    for (int k = 0; k <= p; k++) row[k] /= n_choice;
    *first = span - p;
}

/* --- a patch --- */

/* An array along one direction of a patch: [outer][n][inner], with `width` values each. */
typedef struct shape {
    int64_t outer, inner;
    int from, to;
} shape;

static void apply_row(const shape *s, int i, int first, int n, const double *row, const double *x,
                      double *y)
{
    for (int64_t o = 0; o < s->outer; o++) {
        double *const out = y + (o * s->to + i) * s->inner;
        for (int64_t c = 0; c < s->inner; c++) out[c] = 0.0;
        for (int k = 0; k < n; k++) {
            const double *const in = x + (o * s->from + first + k) * s->inner;
            if (row[k] == 0.0) continue;
            for (int64_t c = 0; c < s->inner; c++) out[c] += row[k] * in[c];
        }
    }
}

/* Replaces the knots of direction d by *to, which the patch then owns, and the points *x with
 * `width` values each. */
static int change_axis(hx_spline_patch *patch, int d, hx_knots *to, int width, double **x)
{
    hx_knots *const axis = patch->axis;
    shape s = {.outer = 1, .inner = width, .from = axis[d].n, .to = to->n};
    double *y = NULL;
    for (int k = 0; k < d; k++) s.inner *= axis[k].n;
    for (int k = d + 1; k < 3; k++) s.outer *= axis[k].n;
    const size_t n = (size_t)s.outer * (size_t)s.inner * (size_t)to->n;
    HX_TRY(hx_alloc_raw(&y, n, sizeof *y, "control points"));
    for (int i = 0; i < to->n; i++) {
        double row[HX_SPLINE_MAX_ORDER];
        int first;
        make_row(&axis[d], to, i, &first, row);
        apply_row(&s, i, first, axis[d].degree + 1, row, *x, y);
    }
    free(*x);
    *x = y;
    hx_knots_free(&axis[d]);
    axis[d] = *to;
    *to = (hx_knots){0};
    return HX_OK;
}

/* Homogeneous coordinates, which transform linearly: control points times weight, and the weight.
 * Takes over the arrays of the patch. */
static int lift(hx_spline_patch *patch, double **x)
{
    const int64_t n = hx_spline_patch_points(patch);
    HX_TRY(hx_alloc_raw(x, 4 * (size_t)n, sizeof **x, "control points"));
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++) (*x)[4 * i + c] = patch->weight[i] * patch->point[3 * i + c];
        (*x)[4 * i + 3] = patch->weight[i];
    }
    return HX_OK;
}

static int lower(hx_spline_patch *patch, const double *x)
{
    const int64_t n = hx_spline_patch_points(patch);
    free(patch->weight);
    patch->weight = NULL;
    HX_TRY(hx_alloc_raw(&patch->point, 3 * (size_t)n, sizeof *x, "control points"));
    HX_TRY(hx_alloc_raw(&patch->weight, (size_t)n, sizeof *x, "weights of points"));
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++) patch->point[3 * i + c] = x[4 * i + c] / x[4 * i + 3];
        patch->weight[i] = x[4 * i + 3];
    }
    return HX_OK;
}

static int refine_patch(hx_spline_patch *patch, int degree, const int part[3])
{
    hx_knots to = {0};
    double *x = patch->point;
    const int width = patch->weight ? 4 : 3;
    int rc = HX_OK, is_changed = 0;
    for (int d = 0; d < 3; d++) is_changed |= part[d] > 1 || degree > patch->axis[d].degree;
    if (!is_changed) return HX_OK;
    if (patch->weight) HX_TRY(lift(patch, &x));
    if (patch->weight) free(patch->point);
    patch->point = NULL;
    for (int d = 0; rc == HX_OK && d < 3; d++) {
        const int p = patch->axis[d].degree > degree ? patch->axis[d].degree : degree;
        if (p == patch->axis[d].degree && part[d] <= 1) continue;
        rc = refine_knots(&patch->axis[d], p, part[d], &to);
        if (rc == HX_OK) rc = change_axis(patch, d, &to, width, &x);
        hx_knots_free(&to);
    }
    if (rc == HX_OK && width == 4) {
        rc = lower(patch, x);
        free(x);
        return rc;
    }
    patch->point = x;
    return rc;
}

/* --- counts --- */

/* Propagates counts through the interfaces until nothing changes. */
static int follow(const hx_spline *spline, int *count)
{
    for (int is_changed = 1; is_changed;) {
        is_changed = 0;
        for (int k = 0; k < spline->n_interface; k++) {
            const hx_spline_interface *const f = &spline->interface[k];
            for (int d = 0; d < 3; d++) {
                int *const a = &count[3 * f->a.patch + d];
                int *const b = &count[3 * f->b.patch + f->along[d]];
                char here[SIDE_TEXT], there[SIDE_TEXT];
                if (d == f->a.side / 2 || *a == *b) continue;
                if (*a > 0 && *b > 0)
                    return HX_RAISE(
                        HX_EINPUT,
                        "%s and %s: %d %s per span along %c of patch %d meet %d %s per span along "
                        "%c of patch %d; make both equal, or one of them 0 (automatic)",
                        hx_spline_side_name(spline, f->a, here, sizeof here),
                        hx_spline_side_name(spline, f->b, there, sizeof there), *a,
                        hx_noun(*a, "part", "parts"), "uvw"[d], f -> a.patch + 1, *b,
                        hx_noun(*b, "part", "parts"), "uvw"[f->along[d]], f -> b.patch + 1);
                if (*a > 0)
                    *b = *a;
                else
                    *a = *b;
                is_changed = 1;
            }
        }
    }
    return HX_OK;
}

static int spread_counts(const hx_spline *spline, int n_part, const int *part, int *count)
{
    const int n = 3 * spline->n_patch;
    if (n_part != 0 && n_part != 3 && n_part != n)
        return HX_RAISE(HX_EINPUT,
                        "there are %d counts for %d patch%s; give 3 for all patches, or %d: three "
                        "per patch",
                        n_part, spline->n_patch, spline->n_patch == 1 ? "" : "es", n);
    for (int i = 0; i < n_part; i++)
        if (part[i] < 0 || part[i] > HX_SPLINE_MAX_PARTS)
            return HX_RAISE(HX_EINPUT,
                            "a span cannot have %d %s; give 1 to %d, or 0 to follow its neighbours",
                            part[i], hx_noun(part[i], "part", "parts"), HX_SPLINE_MAX_PARTS);
    for (int i = 0; i < n && n_part > 0; i++) count[i] = part[n_part == 3 ? i % 3 : i];
    HX_TRY(follow(spline, count));
    for (int i = 0; i < n; i++)
        if (count[i] == 0) count[i] = 1;
    return HX_OK;
}

static int check_refinement(const hx_spline *spline, int degree, const int *count)
{
    double n_cell = 0.0;
    if (degree < 0 || degree > HX_SPLINE_MAX_DEGREE)
        return HX_RAISE(HX_EINPUT, "the degree is %d; it must be 1 to %d", degree,
                        HX_SPLINE_MAX_DEGREE);
    for (int k = 0; k < spline->n_patch; k++) {
        double n = 1.0;
        for (int d = 0; d < 3; d++) {
            const int p = spline->patch[k].axis[d].degree;
            if (degree > 0 && p > degree)
                return HX_RAISE(HX_EINPUT,
                                "degree %d is too low, because patch %d has degree %d along %c and "
                                "degrees cannot be lowered; give %d or more",
                                degree, k + 1, p, "uvw"[d], p);
            n *= (double)spline->patch[k].axis[d].n_span * count[3 * k + d];
        }
        n_cell += n;
    }
    if (n_cell <= (double)HX_MAX_ELEM) return HX_OK;
    return HX_RAISE(HX_EINPUT, "the spline has %.3g spans; a mesh can have at most %lld elements",
                    n_cell, (long long)HX_MAX_ELEM);
}

int hx_spline_refine(hx_spline *spline, int degree, int n_part, const int *part)
{
    int *count = NULL, rc;
    HX_TRY(hx_alloc(&count, 3 * (size_t)spline->n_patch, sizeof *count, "parts of spans"));
    rc = spread_counts(spline, n_part, part, count);
    if (rc == HX_OK) rc = check_refinement(spline, degree, count);
    for (int k = 0; rc == HX_OK && k < spline->n_patch; k++) {
        free(spline->patch[k].number);
        spline->patch[k].number = NULL;
        rc = refine_patch(&spline->patch[k], degree, count + 3 * k);
    }
    free(count);
    return rc;
}
