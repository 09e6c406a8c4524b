/* K of a spline patch cell by cell, in vector lanes: products of all of a cell's control points are
 * added to rows that no other thread writes. Lines of cells along the first direction are coloured
 * with (degree + 1)^2 colours; lines of one colour share no control point, and every entry sums its
 * cells in a fixed order. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../base/threads.h"
#include "interaction_cpu.h"

enum { LANES = HX_PATCH_LANES };

/* h[q][i][b]: gradients of a cell, with control points in lanes; 0 beyond the last one. */
typedef struct cell_lines {
    int n, n_lane; /* number of control points; rounded up to a multiple of LANES */
    double *h;
} cell_lines;

/* m[3 i + j] = sum of h_a h_b' over the Gauss points, for LANES control points b from `first`
 * on. */
HX_INLINED void solid_lanes(const cell_lines *cell, int a, int first, hx_eight m[9])
{
    const int n_lane = cell->n_lane;
    const double *h = cell->h;
    hx_eight xx = {0.0}, xy = {0.0}, xz = {0.0}, yx = {0.0}, yy = {0.0}, yz = {0.0}, zx = {0.0},
             zy = {0.0}, zz = {0.0};
    for (int q = 0; q < cell->n; q++, h += 3 * n_lane) {
        hx_eight x, y, z;
        hx_load_eight(h + first, &x);
        hx_load_eight(h + n_lane + first, &y);
        hx_load_eight(h + 2 * n_lane + first, &z);
        const double ax = h[a], ay = h[n_lane + a], az = h[2 * n_lane + a];
        xx += ax * x;
        xy += ax * y;
        xz += ax * z;
        yx += ay * x;
        yy += ay * y;
        yz += ay * z;
        zx += az * x;
        zy += az * y;
        zz += az * z;
    }
    const hx_eight all[9] = {xx, xy, xz, yx, yy, yz, zx, zy, zz};
    memcpy(m, all, sizeof all);
}

HX_INLINED void plane_lanes(const cell_lines *cell, int a, int first, hx_eight m[9])
{
    const int n_lane = cell->n_lane;
    const double *h = cell->h;
    const hx_eight none = {0.0};
    hx_eight xx = {0.0}, xy = {0.0}, yx = {0.0}, yy = {0.0};
    for (int q = 0; q < cell->n; q++, h += 2 * n_lane) {
        hx_eight x, y;
        hx_load_eight(h + first, &x);
        hx_load_eight(h + n_lane + first, &y);
        xx += h[a] * x;
        xy += h[a] * y;
        yx += h[n_lane + a] * x;
        yy += h[n_lane + a] * y;
    }
    const hx_eight all[9] = {xx, xy, none, yx, yy, none, none, none, none};
    memcpy(m, all, sizeof all);
}

HX_INLINED void products_lanes(int dim, const cell_lines *cell, int a, int first, hx_eight m[9])
{
    if (dim == 3)
        solid_lanes(cell, a, first, m);
    else
        plane_lanes(cell, a, first, m);
}
HX_VERSIONS(products, (int dim, const cell_lines *cell, int a, int first, hx_eight m[9]),
            (dim, cell, a, first, m))

/* Adds n_block blocks, of the control points from `first` on, to the row of control point a. */
static void add_blocks(const hx_interaction *in, const int c[3], const int r[3], int first,
                       int n_block, const hx_eight m[9], double *row)
{
    const int o0 = in->axis[0].degree + 1, o1 = in->axis[1].degree + 1, dim = in->dim;
    for (int l = 0; l < n_block; l++) {
        const int b = first + l;
        const int at[3] = {in->axis[0].first[c[0]] + b % o0, in->axis[1].first[c[1]] + b / o0 % o1,
                           in->axis[2].first[c[2]] + b / o0 / o1};
        double own[3][3], block[9];
        for (int k = 0; k < 9; k++) own[k / 3][k % 3] = m[k][l];
        hx_interaction_block(in, (const double(*)[3])own, block);
        double *const to = row + dim * dim * hx_interaction_entry(in, r, at);
        for (int k = 0; k < dim * dim; k++) to[k] += block[k];
    }
}

static void add_cell_lines(const hx_interaction *in, const int c[3], const cell_lines *cell,
                           double *value)
{
    const int dim = in->dim, n = cell->n, n_lane = cell->n_lane;
    const int o0 = in->axis[0].degree + 1, o1 = in->axis[1].degree + 1;
    hx_cpu_patch_gradients(in, c, &(hx_gradient_layout){dim * n_lane, 1, n_lane}, cell->h);
    for (int a = 0; a < n; a++) {
        const int r[3] = {in->axis[0].first[c[0]] + a % o0, in->axis[1].first[c[1]] + a / o0 % o1,
                          in->axis[2].first[c[2]] + a / o0 / o1};
        double *const row = value + dim * dim * in->row_ptr[hx_interaction_point(in, r)];
        for (int b = 0; b <= a; b += LANES) {
            hx_eight m[9];
            products(dim, cell, a, b, m);
            add_blocks(in, c, r, b, a + 1 - b < LANES ? a + 1 - b : LANES, m, row);
        }
    }
}

int hx_cpu_interaction_gather(const hx_interaction *in, double *value, hx_interaction_time *time)
{
    const int n_colour = (in->axis[1].degree + 1) * (in->axis[2].degree + 1);
    const int n = hx_interaction_cell_points(in);
    const int n_lane = (n + LANES - 1) / LANES * LANES;
    const size_t size = (size_t)(in->dim * n) * (size_t)n_lane;
    double *h = NULL;
    HX_TRY(hx_alloc(&h, (size_t)hx_most_threads() * size, sizeof *h, "gradients of a cell"));
    const double begin = hx_cpu_core_seconds();
    memset(value, 0, (size_t)in->n_block * (size_t)(in->dim * in->dim) * sizeof *value);
#pragma omp parallel
    {
        const cell_lines cell = {
            .n = n, .n_lane = n_lane, .h = h + (size_t)hx_this_thread() * size};
        for (int colour = 0; colour < n_colour; colour++) {
            const int o1 = in->axis[1].degree + 1, o2 = in->axis[2].degree + 1;
            const int first1 = colour % o1, first2 = colour / o1;
            const int n1 = (in->axis[1].n_cell - first1 + o1 - 1) / o1;
            const int n2 = (in->axis[2].n_cell - first2 + o2 - 1) / o2;
#pragma omp for schedule(dynamic, 1)
            for (int line = 0; line < n1 * n2; line++) {
                int c[3] = {0, first1 + o1 * (line % n1), first2 + o2 * (line / n1)};
                for (; c[0] < in->axis[0].n_cell; c[0]++) add_cell_lines(in, c, &cell, value);
            }
        }
    }
    *time = (hx_interaction_time){.pairs = hx_cpu_core_seconds() - begin};
    free(h);
    return HX_OK;
}
