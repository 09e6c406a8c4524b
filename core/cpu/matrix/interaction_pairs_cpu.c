/* The interaction method of P5 on the CPU. Phase 1: gradients of all control points of a cell at
 * all its Gauss points. Phase 2: each pair of control points sums over the Gauss points of the
 * cells that it shares. A pair is written once, by one thread. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "interaction_cpu.h"

enum { LANES = HX_PATCH_LANES };

/* Stored gradients. With `is_pairs`, each control point has one line of n_line numbers per
 * direction; otherwise they are stored Gauss point by Gauss point. */
typedef struct stored {
    const hx_interaction *in;
    /* n: number of control points, and of Gauss points, of a cell; n_line: n rounded up to a
     * multiple of LANES */
    int is_pairs, n, n_line;
    size_t cell_size;
    int first_cell; /* first cell of the slab, in the last direction */
    double *h;
} stored;

/* Gradients of a cell. The cells of a layer of the last direction are contiguous. */
static double *gradients_of(const stored *s, const int c[3])
{
    const hx_interaction *const in = s->in;
    int from[3] = {c[0], c[1], c[2]};
    from[in->dim - 1] -= s->first_cell;
    return s->h + (size_t)hx_interaction_cell(in, from) * s->cell_size;
}

static void run_gradients(const stored *s, const int cells[2])
{
    const hx_interaction_axis *const axis = s->in->axis;
    const int64_t layer = s->in->n_cell / axis[s->in->dim - 1].n_cell;
    const int64_t n = layer * (cells[1] - cells[0]);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) {
        const int64_t at = e + layer * cells[0];
        const int c[3] = {(int)(at % axis[0].n_cell), (int)(at / axis[0].n_cell % axis[1].n_cell),
                          (int)(at / axis[0].n_cell / axis[1].n_cell)};
        const int dim = s->in->dim, n_line = s->n_line;
        const hx_gradient_layout layout = s->is_pairs
                                              ? (hx_gradient_layout){1, dim * n_line, n_line}
                                              : (hx_gradient_layout){dim * s->n, dim, 1};
        double *const to = gradients_of(s, c);
        if (s->is_pairs) memset(to, 0, s->cell_size * sizeof *to);
        hx_cpu_patch_gradients(s->in, c, &layout, to);
    }
}

/* sum[3 i + j] += h_a h_b' over the lines of two control points. */
HX_INLINED void add_solid(int n_line, const double *a, const double *b, hx_eight sum[9])
{
    hx_eight xx = sum[0], xy = sum[1], xz = sum[2], yx = sum[3], yy = sum[4], yz = sum[5],
             zx = sum[6], zy = sum[7], zz = sum[8];
    for (int q = 0; q < n_line; q += LANES) {
        hx_eight ax, ay, az, bx, by, bz;
        hx_load_eight(a + q, &ax);
        hx_load_eight(a + n_line + q, &ay);
        hx_load_eight(a + 2 * n_line + q, &az);
        hx_load_eight(b + q, &bx);
        hx_load_eight(b + n_line + q, &by);
        hx_load_eight(b + 2 * n_line + q, &bz);
        xx += ax * bx;
        xy += ax * by;
        xz += ax * bz;
        yx += ay * bx;
        yy += ay * by;
        yz += ay * bz;
        zx += az * bx;
        zy += az * by;
        zz += az * bz;
    }
    const hx_eight all[9] = {xx, xy, xz, yx, yy, yz, zx, zy, zz};
    memcpy(sum, all, sizeof all);
}

HX_INLINED void add_plane(int n_line, const double *a, const double *b, hx_eight sum[9])
{
    hx_eight xx = sum[0], xy = sum[1], yx = sum[3], yy = sum[4];
    for (int q = 0; q < n_line; q += LANES) {
        hx_eight ax, ay, bx, by;
        hx_load_eight(a + q, &ax);
        hx_load_eight(a + n_line + q, &ay);
        hx_load_eight(b + q, &bx);
        hx_load_eight(b + n_line + q, &by);
        xx += ax * bx;
        xy += ax * by;
        yx += ay * bx;
        yy += ay * by;
    }
    sum[0] = xx;
    sum[1] = xy;
    sum[3] = yx;
    sum[4] = yy;
}

/* add_solid or add_plane for gradients stored Gauss point by Gauss point, in one lane. */
HX_INLINED void add_points(int dim, const stored *s, const double *h, int a, int b, hx_eight sum[9])
{
    for (int q = 0; q < s->n; q++, h += dim * s->n)
        for (int i = 0; i < dim; i++)
            for (int j = 0; j < dim; j++) sum[3 * i + j][0] += h[dim * a + i] * h[dim * b + j];
}

HX_INLINED void pair_in(int dim, const stored *s, const int r[3], const int at[3], double m[3][3])
{
    /* size of the lines of one control point */
    const size_t size = (size_t)dim * (size_t)s->n_line;
    hx_eight sum[9];
    int first[3], n[3], c[3];
    memset(sum, 0, sizeof sum);
    hx_interaction_shared(s->in, r, at, first, n);
    for (c[2] = first[2]; c[2] < first[2] + n[2]; c[2]++)
        for (c[1] = first[1]; c[1] < first[1] + n[1]; c[1]++)
            for (c[0] = first[0]; c[0] < first[0] + n[0]; c[0]++) {
                const double *const h = gradients_of(s, c);
                const int a = hx_interaction_local(s->in, c, r);
                const int b = hx_interaction_local(s->in, c, at);
                if (!s->is_pairs)
                    add_points(dim, s, h, a, b, sum);
                else if (dim == 3)
                    add_solid(s->n_line, h + (size_t)a * size, h + (size_t)b * size, sum);
                else
                    add_plane(s->n_line, h + (size_t)a * size, h + (size_t)b * size, sum);
            }
    memset(m, 0, 9 * sizeof(double));
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            for (int l = 0; l < LANES; l++) m[i][j] += sum[3 * i + j][l];
}

HX_INLINED void pair_lanes(const stored *s, const int r[3], const int at[3], double m[3][3])
{
    if (s->in->dim == 3)
        pair_in(3, s, r, at, m);
    else
        pair_in(2, s, r, at, m);
}
HX_VERSIONS(pair, (const stored *s, const int r[3], const int at[3], double m[3][3]), (s, r, at, m))

static void run_pairs(const stored *s, int first, int end, double *value)
{
    const hx_interaction *const in = s->in;
    const int64_t layer = in->n_point / in->axis[in->dim - 1].n;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t row = first * layer; row < end * layer; row++) {
        int r[3];
        hx_interaction_place(in, row, r);
        const int64_t begin = in->row_ptr[row], n = in->row_ptr[row + 1] - begin;
        for (int k = 0; k < n; k++) {
            int at[3];
            double m[3][3];
            hx_interaction_column(in, r, k, at);
            pair(s, r, at, m);
            hx_interaction_block(in, (const double(*)[3])m,
                                 value + in->dim * in->dim * (begin + k));
        }
    }
}

int hx_cpu_interaction_pairs(const hx_interaction *in, hx_interaction_way way, size_t budget,
                             double *value, hx_interaction_time *time)
{
    const hx_interaction_axis *const last = &in->axis[in->dim - 1];
    stored s = {.in = in, .is_pairs = way == HX_WAY_PAIRS, .n = hx_interaction_cell_points(in)};
    int cells[2], most = 0;
    s.n_line = s.is_pairs ? (s.n + LANES - 1) / LANES * LANES : s.n;
    s.cell_size = (size_t)(in->dim * s.n) * (size_t)s.n_line;
    const size_t layer = (size_t)(in->n_cell / last->n_cell) * s.cell_size;
    for (int first = 0, end; first < last->n; first = end) {
        hx_interaction_slab(in, layer * sizeof *s.h, budget, first, &end, cells);
        if (cells[1] - cells[0] > most) most = cells[1] - cells[0];
    }
    HX_TRY(hx_alloc_raw(&s.h, (size_t)most * layer, sizeof *s.h, "gradients at Gauss points"));
    *time = (hx_interaction_time){0};
    for (int first = 0, end; first < last->n; first = end) {
        hx_interaction_slab(in, layer * sizeof *s.h, budget, first, &end, cells);
        s.first_cell = cells[0];
        const double begin = hx_cpu_core_seconds();
        run_gradients(&s, cells);
        const double middle = hx_cpu_core_seconds();
        run_pairs(&s, first, end, value);
        time->gradients += middle - begin;
        time->pairs += hx_cpu_core_seconds() - middle;
    }
    free(s.h);
    return HX_OK;
}
