/* Deviation of the edges of spans from straight lines. */
#include <math.h>

#include "../base/vec3.h"
#include "spline_image.h"
#include "spline_volume.h"

/* Largest deviation of the points at the middle and the quarters of an edge from its chord,
 * relative to the chord's length. x: [5][3], with stride `step`. */
static double bend_of(const double *x, int64_t step)
{
    double chord[3], most = 0.0;
    for (int i = 0; i < 3; i++) chord[i] = x[12 * step + i] - x[i];
    const double length = hx_norm3(chord);
    for (int k = 1; k < 4; k++) {
        double to[3], across[3];
        for (int i = 0; i < 3; i++) to[i] = x[3 * k * step + i] - x[i];
        hx_cross3(chord, to, across);
        most = fmax(most, hx_norm3(across));
    }
    return length > 0.0 ? most / (length * length) : 0.0;
}

static double bend_of_cell(const hx_spline_patch *patch, const int span[3])
{
    double most = 0.0;
    for (int d = 0; d < 3; d++) {
        double t[3][HX_SPLINE_MAX_SAMPLES], x[5 * 2 * 2 * 3];
        const int n[3] = {d == 0 ? 5 : 2, d == 1 ? 5 : 2, d == 2 ? 5 : 2};
        const int step[3] = {1, n[0], n[0] * n[1]}, e = (d + 1) % 3, f = (d + 2) % 3;
        for (int i = 0; i < 3; i++) {
            const double *const knot = patch->axis[i].knot + patch->axis[i].span[span[i]];
            for (int q = 0; q < n[i]; q++) t[i][q] = knot[0] + (knot[1] - knot[0]) * q / (n[i] - 1);
        }
        hx_spline_sample(patch, span, n, t, x, NULL);
        for (int k = 0; k < 4; k++)
            most = fmax(most, bend_of(x + 3 * (k % 2 * step[e] + k / 2 * step[f]), step[d]));
    }
    return most;
}

double hx_spline_bend(const hx_spline *spline)
{
    double most = 0.0;
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const patch = &spline->patch[k];
#pragma omp parallel for schedule(static) reduction(max : most)
        for (int64_t c = 0; c < hx_spline_patch_cells(patch); c++) {
            int span[3];
            hx_spline_patch_spans(patch, patch->first_cell + c, span);
            most = fmax(most, bend_of_cell(patch, span));
        }
    }
    return most;
}
