#include "spline.h"
#include "../base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spline_patch.h"

const char *hx_spline_side_text(hx_spline_side side, char *text, size_t n_text)
{
    snprintf(text, n_text, "patch%d:%c%c", side.patch + 1, "uvw"[side.side / 2],
             "-+"[side.side % 2]);
    return text;
}

const char *hx_spline_side_name(const hx_spline *spline, hx_spline_side side, char *text,
                                size_t n_text)
{
    if (spline->patch[side.patch].is_turned && side.side / 2 == 2) side.side ^= 1;
    return hx_spline_side_text(side, text, n_text);
}

int hx_spline_degree(const hx_spline *spline)
{
    int degree = 0;
    for (int k = 0; k < 3 * spline->n_patch; k++) {
        const int p = spline->patch[k / 3].axis[k % 3].degree;
        degree = p > degree ? p : degree;
    }
    return degree;
}

const char *hx_spline_text(const hx_spline *spline, char *text, size_t n_text)
{
    int low[3] = {HX_SPLINE_MAX_DEGREE, HX_SPLINE_MAX_DEGREE, HX_SPLINE_MAX_DEGREE};
    int high[3] = {0, 0, 0}, least = HX_SPLINE_MAX_DEGREE, most = 0, is_same = 1;
    char degree[48];
    for (int k = 0; k < 3 * spline->n_patch; k++) {
        const int d = k % 3, p = spline->patch[k / 3].axis[d].degree;
        low[d] = p < low[d] ? p : low[d];
        high[d] = p > high[d] ? p : high[d];
        least = p < least ? p : least;
        most = p > most ? p : most;
    }
    for (int d = 0; d < 3; d++) is_same &= low[d] == high[d];
    if (least == most)
        snprintf(degree, sizeof degree, "%d", most);
    else if (is_same)
        snprintf(degree, sizeof degree, "%d %d %d", low[0], low[1], low[2]);
    else
        snprintf(degree, sizeof degree, "%d to %d", least, most);
    snprintf(text, n_text, "%d patch%s of degree %s, %lld span%s, %lld control %s", spline->n_patch,
             spline->n_patch == 1 ? "" : "es", degree, (long long)spline->n_cell,
             spline->n_cell == 1 ? "" : "s", (long long)spline->n_point,
             hx_noun(spline->n_point, "point", "points"));
    return text;
}

void hx_spline_map(const hx_spline_patch *patch, const double t[3], double x[3], double j[3][3])
{
    double value[3][HX_SPLINE_MAX_ORDER], slope[3][HX_SPLINE_MAX_ORDER];
    int64_t first[3];
    double sum[4] = {0.0}, by[3][4] = {{0.0}}; /* sums of w x and w, and their derivatives */
    const hx_knots *const axis = patch->axis;
    for (int d = 0; d < 3; d++) {
        const int i = hx_knots_find(&axis[d], t[d]);
        hx_knots_values(&axis[d], i, t[d], value[d], slope[d]);
        first[d] = axis[d].span[i] - axis[d].degree;
    }
    for (int c = 0; c <= axis[2].degree; c++)
        for (int b = 0; b <= axis[1].degree; b++)
            for (int a = 0; a <= axis[0].degree; a++) {
                const int64_t k =
                    ((first[2] + c) * axis[1].n + first[1] + b) * axis[0].n + first[0] + a;
                const double w = patch->weight ? patch->weight[k] : 1.0;
                const double shape[4] = {value[0][a] * value[1][b] * value[2][c],
                                         slope[0][a] * value[1][b] * value[2][c],
                                         value[0][a] * slope[1][b] * value[2][c],
                                         value[0][a] * value[1][b] * slope[2][c]};
                for (int i = 0; i < 4; i++) {
                    const double wx = i < 3 ? w * patch->point[3 * k + i] : w;
                    sum[i] += shape[0] * wx;
                    for (int d = 0; d < 3; d++) by[d][i] += shape[d + 1] * wx;
                }
            }
    for (int i = 0; i < 3; i++) {
        x[i] = sum[i] / sum[3];
        if (!j) continue;
        for (int d = 0; d < 3; d++) j[d][i] = (by[d][i] - by[d][3] * x[i]) / sum[3];
    }
}

size_t hx_spline_bytes(const hx_spline *spline)
{
    size_t bytes = (size_t)spline->n_patch * sizeof *spline->patch +
                   (size_t)spline->n_interface * sizeof *spline->interface;
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const patch = &spline->patch[k];
        const size_t each = 3 * sizeof *patch->point + (patch->weight ? sizeof *patch->weight : 0) +
                            (patch->number ? sizeof *patch->number : 0);
        bytes += (size_t)hx_spline_patch_points(patch) * each;
        for (int d = 0; d < 3; d++)
            bytes += (size_t)(patch->axis[d].n + patch->axis[d].degree + 1) * sizeof(double) +
                     (size_t)patch->axis[d].n * sizeof(int);
    }
    return bytes;
}

void hx_spline_free(hx_spline *spline)
{
    for (int k = 0; spline->patch && k < spline->n_patch; k++)
        hx_spline_patch_free(&spline->patch[k]);
    for (int k = 0; spline->boundary && k < spline->n_boundary; k++) {
        free(spline->boundary[k].name);
        free(spline->boundary[k].side);
    }
    free(spline->patch);
    free(spline->interface);
    free(spline->boundary);
    *spline = (hx_spline){0};
}
