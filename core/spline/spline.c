#include "spline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hx_spline_side_text(hx_spline_side side, char *text, size_t n_text)
{
    snprintf(text, n_text, "patch%d:%c%c", side.patch + 1, "uvw"[side.side / 2],
             "-+"[side.side % 2]);
    return text;
}

void hx_spline_map(const hx_spline_patch *patch, const double t[3], double x[3], double j[3][3])
{
    double value[3][HX_SPLINE_MAX_ORDER], slope[3][HX_SPLINE_MAX_ORDER];
    int64_t first[3];
    double sum[4] = {0.0}, by[3][4] = {{0.0}}; /* of w x and w, and their derivatives */
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

void hx_spline_free(hx_spline *spline)
{
    for (int k = 0; spline->patch && k < spline->n_patch; k++) {
        hx_spline_patch *const patch = &spline->patch[k];
        for (int d = 0; d < 3; d++) hx_knots_free(&patch->axis[d]);
        free(patch->point);
        free(patch->weight);
        free(patch->number);
    }
    for (int k = 0; spline->boundary && k < spline->n_boundary; k++) {
        free(spline->boundary[k].name);
        free(spline->boundary[k].side);
    }
    free(spline->patch);
    free(spline->interface);
    free(spline->boundary);
    *spline = (hx_spline){0};
}
