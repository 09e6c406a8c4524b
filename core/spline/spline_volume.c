#include "spline_volume.h"

#include <math.h>
#include <stdio.h>

#include "../base/error.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "gauss_points.h"
#include "spline_rule.h"

enum { ORDER = HX_SPLINE_MAX_ORDER, MOST = HX_SPLINE_MAX_SAMPLES };

/* --- the map at a grid of parameters --- */

/* Values and derivatives of the functions of one direction at its parameters. */
typedef struct axis_table {
    double value[MOST][ORDER], slope[MOST][ORDER];
} axis_table;

static void tabulate(const hx_knots *axis, int span, int n, const double *t, axis_table *table)
{
    for (int q = 0; q < n; q++) hx_knots_values(axis, span, t[q], table->value[q], table->slope[q]);
}

/* Homogeneous coordinates of a control point: w x and w. */
static void lift(const hx_spline_patch *patch, int64_t i, double h[4])
{
    h[3] = patch->weight ? patch->weight[i] : 1.0;
    for (int c = 0; c < 3; c++) h[c] = h[3] * patch->point[3 * i + c];
}

/* Row (b, c) of control points at parameter q: sums with values and with derivatives. */
static void sum_row(const hx_spline_patch *patch, int64_t first, const axis_table *table, int q,
                    double sum[2][4])
{
    for (int i = 0; i < 4; i++) sum[0][i] = sum[1][i] = 0.0;
    for (int a = 0; a <= patch->axis[0].degree; a++) {
        double h[4];
        lift(patch, first + a, h);
        for (int i = 0; i < 4; i++) {
            sum[0][i] += table->value[q][a] * h[i];
            sum[1][i] += table->slope[q][a] * h[i];
        }
    }
}

/* s: w x and w, then their derivatives by the three parameters. */
static void divide(double s[4][4], double *x, double *j)
{
    double at[3];
    for (int i = 0; i < 3; i++) {
        at[i] = s[0][i] / s[0][3];
        if (x) x[i] = at[i];
        for (int d = 0; j && d < 3; d++)
            j[3 * d + i] = (s[1 + d][i] - s[1 + d][3] * at[i]) / s[0][3];
    }
}

void hx_spline_sample(const hx_spline_patch *patch, const int span[3], const int n[3],
                      double t[3][HX_SPLINE_MAX_SAMPLES], double *x, double *j)
{
    axis_table table[3];
    double row[ORDER][2][4]; /* for each b: sums at a parameter of direction 0 */
    /* for each c and parameter of direction 1: sums with values, derivatives by 0 and by 1 */
    double plane[ORDER][MOST][3][4];
    const hx_knots *const axis = patch->axis;
    const int64_t first = hx_spline_cell_first(patch, span);
    for (int d = 0; d < 3; d++) tabulate(&axis[d], span[d], n[d], t[d], &table[d]);
    for (int q0 = 0; q0 < n[0]; q0++) {
        for (int c = 0; c <= axis[2].degree; c++) {
            for (int b = 0; b <= axis[1].degree; b++)
                sum_row(patch, first + (int64_t)axis[0].n * (b + (int64_t)axis[1].n * c), &table[0],
                        q0, row[b]);
            for (int q1 = 0; q1 < n[1]; q1++)
                for (int i = 0; i < 4; i++) {
                    double v = 0.0, u = 0.0, s = 0.0;
                    for (int b = 0; b <= axis[1].degree; b++) {
                        v += table[1].value[q1][b] * row[b][0][i];
                        u += table[1].value[q1][b] * row[b][1][i];
                        s += table[1].slope[q1][b] * row[b][0][i];
                    }
                    plane[c][q1][0][i] = v;
                    plane[c][q1][1][i] = u;
                    plane[c][q1][2][i] = s;
                }
        }
        for (int q2 = 0; q2 < n[2]; q2++)
            for (int q1 = 0; q1 < n[1]; q1++) {
                const int64_t at = ((int64_t)q2 * n[1] + q1) * n[0] + q0;
                double s[4][4] = {{0.0}};
                for (int c = 0; c <= axis[2].degree; c++)
                    for (int i = 0; i < 4; i++) {
                        for (int k = 0; k < 3; k++)
                            s[k][i] += table[2].value[q2][c] * plane[c][q1][k][i];
                        s[3][i] += table[2].slope[q2][c] * plane[c][q1][0][i];
                    }
                divide(s, x ? x + 3 * at : NULL, j ? j + 9 * at : NULL);
            }
    }
}

/* --- volumes --- */

/* Gauss points for the spans of each direction. */
typedef struct rule {
    int n[3];
    double point[3][HX_GAUSS_MAX], weight[3][HX_GAUSS_MAX];
} rule;

/* Gauss points of the analysis, or points that are exact for B-splines; det J has degree 3 p - 1 in
 * each direction. */
static rule rule_of(const hx_spline_patch *patch, int is_exact)
{
    rule r;
    for (int d = 0; d < 3; d++) {
        const int p = patch->axis[d].degree;
        r.n[d] = p + 1;
        if (is_exact && (3 * p + 1) / 2 > r.n[d]) r.n[d] = (3 * p + 1) / 2;
        if (is_exact && patch->weight)
            r.n[d] += r.n[d] + 3 < HX_GAUSS_MAX ? 3 : HX_GAUSS_MAX - r.n[d];
        hx_gauss_points(r.n[d], r.point[d], r.weight[d]);
    }
    return r;
}

static int is_same_rule(const rule *a, const rule *b)
{
    return a->n[0] == b->n[0] && a->n[1] == b->n[1] && a->n[2] == b->n[2];
}

/* The integral of det J over a span; *least: smallest det J at a point. */
static double integrate(const hx_spline_patch *patch, const int span[3], const rule *r,
                        double *least)
{
    double t[3][MOST], half[3], sum = 0.0, j[MOST * MOST * MOST][3][3];
    for (int d = 0; d < 3; d++) {
        const double *const knot = patch->axis[d].knot + patch->axis[d].span[span[d]];
        half[d] = 0.5 * (knot[1] - knot[0]);
        for (int q = 0; q < r->n[d]; q++)
            t[d][q] = 0.5 * (knot[0] + knot[1]) + half[d] * r->point[d][q];
    }
    hx_spline_sample(patch, span, r->n, t, NULL, &j[0][0][0]);
    const double scale = half[0] * half[1] * half[2];
    for (int q2 = 0, k = 0; q2 < r->n[2]; q2++)
        for (int q1 = 0; q1 < r->n[1]; q1++)
            for (int q0 = 0; q0 < r->n[0]; q0++, k++) {
                const double det = hx_triple3(j[k][0], j[k][1], j[k][2]);
                const double w = r->weight[0][q0] * r->weight[1][q1] * r->weight[2][q2];
                if (!(det > *least)) *least = det; /* this comparison also rejects NaN */
                sum += w * scale * det;
            }
    return sum;
}

static double measure_cell(const hx_spline_patch *patch, int64_t cell, const rule *analysis,
                           const rule *exact, double *least)
{
    int span[3];
    *least = HUGE_VAL;
    hx_spline_patch_spans(patch, cell, span);
    if (!is_same_rule(analysis, exact)) integrate(patch, span, analysis, least);
    return integrate(patch, span, exact, least);
}

double hx_spline_patch_volume(const hx_spline_patch *patch)
{
    const rule exact = rule_of(patch, 1);
    double volume = 0.0, unused = HUGE_VAL;
    for (int64_t c = 0; c < hx_spline_patch_cells(patch); c++) {
        int span[3];
        hx_spline_patch_spans(patch, patch->first_cell + c, span);
        volume += integrate(patch, span, &exact, &unused);
    }
    return volume;
}

static int raise_cell(const hx_spline *spline, int k, int64_t cell, double least, int64_t n_bad)
{
    const hx_spline_patch *const patch = &spline->patch[k];
    int span[3];
    hx_spline_patch_spans(patch, cell, span);
    return HX_RAISE(HX_EINPUT,
                    "patch %d, span (%d, %d, %d): det J is %.6g at a Gauss point, but must be "
                    "positive (%lld such %s)%s",
                    k + 1, span[0] + 1, span[1] + 1, span[2] + 1, least, (long long)n_bad,
                    hx_noun(n_bad, "span", "spans"),
                    hx_spline_patch_volume(patch) < 0.0
                        ? "; the patch is left-handed, so reverse one of its directions"
                        : "; the patch folds there, so move its control points apart");
}

int hx_spline_volumes(const hx_spline *spline, double *volume)
{
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const patch = &spline->patch[k];
        const rule analysis = rule_of(patch, 0), exact = rule_of(patch, 1);
        const int64_t n = hx_spline_patch_cells(patch), first = patch->first_cell;
        int64_t bad = INT64_MAX, n_bad = 0;
#pragma omp parallel for schedule(static) reduction(min : bad) reduction(+ : n_bad)
        for (int64_t c = first; c < first + n; c++) {
            double least;
            volume[c] = measure_cell(patch, c, &analysis, &exact, &least);
            if (least > 0.0 && isfinite(volume[c])) continue;
            bad = c < bad ? c : bad;
            n_bad++;
        }
        if (n_bad == 0) continue;
        double least;
        measure_cell(patch, bad, &analysis, &exact, &least);
        return raise_cell(spline, k, bad, least, n_bad);
    }
    return 0;
}
