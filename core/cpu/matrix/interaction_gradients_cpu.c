/* Helpers of all methods that compute K of a spline patch: the gradients of a cell's control
 * points, and the CPU time. */
#include <time.h>

#include "interaction_cpu.h"

double hx_cpu_core_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Weights of the cell's control points. */
static void load_weights(const hx_interaction *in, const int c[3], double w[HX_CELL_MOST])
{
    const hx_interaction_axis *const axis = in->axis;
    int a[3];
    for (a[2] = 0; a[2] <= axis[2].degree; a[2]++)
        for (a[1] = 0; a[1] <= axis[1].degree; a[1]++)
            for (a[0] = 0; a[0] <= axis[0].degree; a[0]++) {
                const int r[3] = {axis[0].first[c[0]] + a[0], axis[1].first[c[1]] + a[1],
                                  axis[2].first[c[2]] + a[2]};
                *w++ = in->point[4 * hx_interaction_point(in, r) + 3];
            }
}

/* Gradients of all control points at Gauss point g. */
static void gradients_at(const hx_interaction *in, const int c[3], const int g[3], const double *w,
                         const hx_gradient_layout *layout, double *to)
{
    const hx_interaction_axis *const axis = in->axis;
    const int degree[3] = {axis[0].degree, axis[1].degree, axis[2].degree};
    const double *t[3];
    double frame[4][3];
    int a[3];
    for (int d = 0; d < 3; d++) t[d] = hx_interaction_table(&axis[d], c[d], g[d]);
    hx_interaction_frame_at(in, c, g, frame);
    for (a[2] = 0; a[2] <= degree[2]; a[2]++)
        for (a[1] = 0; a[1] <= degree[1]; a[1]++)
            for (a[0] = 0; a[0] <= degree[0]; a[0]++, to += layout->point) {
                double h[3];
                hx_interaction_gradient(t, degree, a, *w++, (const double(*)[3])frame, h);
                /* NOLINTNEXTLINE(clang-analyzer-core*): dim are set */
                for (int i = 0; i < in->dim; i++) to[i * layout->component] = h[i];
            }
}

void hx_cpu_patch_gradients(const hx_interaction *in, const int c[3],
                            const hx_gradient_layout *layout, double *h)
{
    const hx_interaction_axis *const axis = in->axis;
    double w[HX_CELL_MOST];
    int g[3];
    load_weights(in, c, w);
    for (g[2] = 0; g[2] <= axis[2].degree; g[2]++)
        for (g[1] = 0; g[1] <= axis[1].degree; g[1]++)
            for (g[0] = 0; g[0] <= axis[0].degree; g[0]++, h += layout->gauss)
                gradients_at(in, c, g, w, layout, h);
}
