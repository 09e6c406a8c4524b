/* K of a patch cell by cell, in vector lanes: products of all of a cell's points, added into rows
 * that no other thread has. Lines of cells along the first direction are coloured, (degree + 1)^2
 * colours: those of a colour share no point, and every entry has its cells in one order. */
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/memory.h"
#include "interaction_cpu.h"

enum { LANES = 8 };

static int most_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static int this_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* h[q][i][b]: gradients of a cell, points in lanes, 0 past the last. */
typedef struct cell_lines {
    int n, n_lane; /* points; to the next multiple of LANES */
    double *h;
} cell_lines;

/* m[3 i + j][b] = sum of h_a h_b' over the Gauss points, of LANES points b. */
HX_INLINED void lanes_in(int dim, const cell_lines *cell, int a, int first, double m[9][LANES])
{
    double sum[9][LANES] = {{0.0}};
    const double *h = cell->h;
    for (int q = 0; q < cell->n; q++, h += dim * cell->n_lane)
        for (int i = 0; i < dim; i++)
            for (int j = 0; j < dim; j++)
                for (int l = 0; l < LANES; l++)
                    sum[3 * i + j][l] += h[i * cell->n_lane + a] * h[j * cell->n_lane + first + l];
    memcpy(m, sum, sizeof sum);
}

HX_INLINED void products_lanes(int dim, const cell_lines *cell, int a, int first,
                               double m[9][LANES])
{
    if (dim == 3)
        lanes_in(3, cell, a, first, m);
    else
        lanes_in(2, cell, a, first, m);
}
HX_VERSIONS(products, (int dim, const cell_lines *cell, int a, int first, double m[9][LANES]),
            (dim, cell, a, first, m))

/* Adds the blocks of points first .. to the row of point a. */
static void add_blocks(const hx_interaction *in, const int c[3], const int r[3], int first,
                       int n_block, double m[9][LANES], double *row)
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

static void add_cell(const hx_interaction *in, const int c[3], const cell_lines *cell,
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
            double m[9][LANES];
            products(dim, cell, a, b, m);
            add_blocks(in, c, r, b, a + 1 - b < LANES ? a + 1 - b : LANES, m, row);
        }
    }
}

static void add_colour(const hx_interaction *in, int colour, const cell_lines *cell, double *value)
{
    const int o1 = in->axis[1].degree + 1, o2 = in->axis[2].degree + 1;
    const int first1 = colour % o1, first2 = colour / o1;
    const int n1 = (in->axis[1].n_cell - first1 + o1 - 1) / o1;
    const int n2 = (in->axis[2].n_cell - first2 + o2 - 1) / o2;
#pragma omp for schedule(dynamic, 1)
    for (int line = 0; line < n1 * n2; line++) {
        int c[3] = {0, first1 + o1 * (line % n1), first2 + o2 * (line / n1)};
        for (; c[0] < in->axis[0].n_cell; c[0]++) add_cell(in, c, cell, value);
    }
}

int hx_cpu_interaction_gather(const hx_interaction *in, double *value, hx_interaction_time *time)
{
    const int n_colour = (in->axis[1].degree + 1) * (in->axis[2].degree + 1);
    const int n = hx_interaction_cell_points(in);
    const int n_lane = (n + LANES - 1) / LANES * LANES;
    const size_t size = (size_t)(in->dim * n) * (size_t)n_lane;
    double *h = NULL;
    HX_TRY(hx_alloc(&h, (size_t)most_threads() * size, sizeof *h, "gradients of a cell"));
    const double begin = hx_cpu_core_seconds();
    memset(value, 0, (size_t)in->n_block * (size_t)(in->dim * in->dim) * sizeof *value);
#pragma omp parallel
    {
        const cell_lines cell = {.n = n, .n_lane = n_lane, .h = h + (size_t)this_thread() * size};
        for (int colour = 0; colour < n_colour; colour++) add_colour(in, colour, &cell, value);
    }
    *time = (hx_interaction_time){.pairs = hx_cpu_core_seconds() - begin};
    free(h);
    return HX_OK;
}
