/* K of some rows of a solid patch by one block of a GPU's threads, step by step: which thread does
 * what, and where a number lies. Here, so that a test on the host runs the same formulas.
 *
 * A block owns a few points in a row along the first direction and visits the cells that they
 * touch. Of a cell it makes the gradients of the points up to its own (the lower half of K needs no
 * others), some layers of Gauss points at a time, from the tables of each direction; their products
 * with the gradients of its own points, at most 3 order lines, are added to the rows' sums. Nothing
 * of a Gauss point leaves the block, each number of K is written once, and every sum has its cells
 * in ascending order, whatever the number of rows.
 *
 * `order`, degree + 1 of all directions, is a constant wherever it is called, so that all of it
 * folds. Steps of one stage, `item` counted from 0 to the stage's ..._items - 1, may run in any
 * order or at once; between stages all threads wait. */
#ifndef HX_INTERACTION_BLOCK_H
#define HX_INTERACTION_BLOCK_H

#include "interaction.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- sizes --- */

static HX_HD int hx_gather_cube(int order)
{
    return order * order * order;
}

/* Points that a block owns. */
static HX_HD int hx_gather_rows(int order)
{
    return order == 2 ? 16 : order == 3 ? 8 : order == 4 ? 6 : 4;
}

/* Layers of Gauss points at a time, and their points; fours of points, those past the last being
 * 0. */
static HX_HD int hx_gather_layers(int order)
{
    return order == 2 ? 2 : order == 3 ? 3 : 1;
}

static HX_HD int hx_gather_points(int order)
{
    return hx_gather_layers(order) * order * order;
}

static HX_HD int hx_gather_fours(int order)
{
    return (hx_gather_points(order) + 3) / 4;
}

/* Numbers from line to line: an odd number of fours, so that four lines lie in all banks. */
static HX_HD int hx_gather_stride(int order)
{
    return 4 * (hx_gather_fours(order) | 1);
}

/* Entries of a row's lower half, at most. */
static HX_HD int hx_gather_entries(int order)
{
    return (hx_gather_cube(2 * order - 1) + 1) / 2;
}

static HX_HD int hx_gather_table_size(int order)
{
    return 3 * order * hx_spline_stride(order - 1);
}

/* What the block shares. Lines are (3 point + component), of Gauss points. */
typedef struct hx_gather_memory {
    double *sum;   /* [rows][entries][9] of h_a h_b' */
    double *h;     /* [3 order^3][stride]; before that the map's sums */
    double *frame; /* [12][order^3] */
    double *table; /* [3][order][spline stride] of the cell */
} hx_gather_memory;

static HX_HD int hx_gather_sum_size(int order)
{
    return hx_gather_rows(order) * hx_gather_entries(order) * 9;
}

/* Numbers of all. */
static HX_HD int hx_gather_size(int order)
{
    return hx_gather_sum_size(order) + 3 * hx_gather_cube(order) * hx_gather_stride(order) +
           12 * hx_gather_cube(order) + hx_gather_table_size(order);
}

static HX_HD hx_gather_memory hx_gather_divide(int order, double *memory)
{
    hx_gather_memory s;
    s.sum = memory;
    s.h = s.sum + hx_gather_sum_size(order);
    s.frame = s.h + 3 * hx_gather_cube(order) * hx_gather_stride(order);
    s.table = s.frame + 12 * hx_gather_cube(order);
    return s;
}

/* --- rows and cells --- */

typedef struct hx_gather_bundle {
    int r[3], n_row;       /* the first point, and how many */
    int first[3], last[3]; /* cells */
} hx_gather_bundle;

static HX_HD void hx_gather_begin(const hx_interaction *in, int order, int bundle, int r1, int r2,
                                  hx_gather_bundle *b)
{
    const int most = hx_gather_rows(order), left = in->axis[0].n - bundle * most;
    b->r[0] = bundle * most;
    b->r[1] = r1;
    b->r[2] = r2;
    b->n_row = left < most ? left : most;
    for (int d = 0; d < 3; d++) {
        const int last = b->r[d] + (d == 0 ? b->n_row - 1 : 0);
        b->first[d] = in->axis[d].cells[2 * b->r[d]];
        b->last[d] = in->axis[d].cells[2 * last + 1] - 1;
    }
}

/* A cell that the bundle touches. */
typedef struct hx_gather_cell {
    int c[3], origin[3];  /* the cell, and its first point */
    int own, row, n_line; /* the first of its points that the block owns, which row that is, and
                             lines of them */
    int n_pair, n_column; /* lines of points along the first direction up to them; their lines */
    int shift1, shift2, width1; /* of entries */
} hx_gather_cell;

static HX_HD void hx_gather_visit(const hx_interaction *in, int order, const hx_gather_bundle *b,
                                  int c0, int c1, int c2, hx_gather_cell *cell)
{
    const int c[3] = {c0, c1, c2};
    for (int d = 0; d < 3; d++) {
        cell->c[d] = c[d];
        cell->origin[d] = in->axis[d].first[c[d]];
    }
    const int begin = b->r[0] > cell->origin[0] ? b->r[0] : cell->origin[0];
    const int end =
        b->r[0] + b->n_row < cell->origin[0] + order ? b->r[0] + b->n_row : cell->origin[0] + order;
    const int pair = (b->r[2] - cell->origin[2]) * order + b->r[1] - cell->origin[1];
    cell->own = pair * order + begin - cell->origin[0];
    cell->row = begin - b->r[0];
    cell->n_line = 3 * (end - begin);
    cell->n_pair = pair + 1;
    cell->n_column = 3 * order * cell->n_pair;
    cell->shift1 = cell->origin[1] - in->axis[1].reach[2 * b->r[1]];
    cell->shift2 = cell->origin[2] - in->axis[2].reach[2 * b->r[2]];
    cell->width1 = in->axis[1].reach[2 * b->r[1] + 1] - in->axis[1].reach[2 * b->r[1]];
}

/* --- stages of a cell, in this order --- */

/* The tables of its spans. hx_gather_table_size items. */
static HX_HD void hx_gather_load(const hx_interaction *in, int order, const hx_gather_memory *s,
                                 const hx_gather_cell *cell, int item)
{
    const int size = order * hx_spline_stride(order - 1);
    const int d = item / size;
    s->table[item] = in->axis[d].table[cell->c[d] * size + item % size];
}

static HX_HD const double *hx_gather_row_of(int order, const hx_gather_memory *s, int d, int q)
{
    return s->table + (d * order + q) * hx_spline_stride(order - 1);
}

/* Sums over the points of a line along the first direction, by values and by slopes. order^3 items,
 * the Gauss point fastest. */
static HX_HD void hx_gather_map0(const hx_interaction *in, int order, const hx_gather_memory *s,
                                 const hx_gather_cell *cell, int item)
{
    const double *const t = hx_gather_row_of(order, s, 0, item % order);
    const int r[3] = {cell->origin[0], cell->origin[1] + item / order % order,
                      cell->origin[2] + item / order / order};
    const double *const point = in->point + 4 * hx_interaction_point(in, r);
    double *const to = s->h + 8 * item;
    for (int i = 0; i < 4; i++) {
        double value = 0.0, slope = 0.0;
        for (int a = 0; a < order; a++) {
            value += t[1 + a] * point[4 * a + i];
            slope += t[1 + order + a] * point[4 * a + i];
        }
        to[i] = value;
        to[4 + i] = slope;
    }
}

/* Then over the second. order^3 items: Gauss points of two directions, and the third's points. To:
 * the sum, by the slopes of the first, of the second direction. */
static HX_HD void hx_gather_map1(int order, const hx_gather_memory *s, int item)
{
    const double *const t = hx_gather_row_of(order, s, 1, item / order % order);
    const double *const from = s->h + 8 * (item / order / order * order * order + item % order);
    double *const to = s->h + 8 * hx_gather_cube(order) + 12 * item;
    for (int i = 0; i < 4; i++) {
        double value = 0.0, first = 0.0, second = 0.0;
        for (int a = 0; a < order; a++) {
            value += t[1 + a] * from[8 * order * a + i];
            first += t[1 + a] * from[8 * order * a + 4 + i];
            second += t[1 + order + a] * from[8 * order * a + i];
        }
        to[i] = value;
        to[4 + i] = first;
        to[8 + i] = second;
    }
}

/* Then over the third: the frames of the Gauss points. order^3 items. */
static HX_HD void hx_gather_frames(const hx_interaction *in, int order, const hx_gather_memory *s,
                                   const hx_gather_cell *cell, int item)
{
    const int cube = hx_gather_cube(order), square = order * order;
    const double *const t = hx_gather_row_of(order, s, 2, item / square);
    const double *const from = s->h + 8 * cube + 12 * (item % square);
    const double weight = hx_gather_row_of(order, s, 0, item % order)[0] *
                          hx_gather_row_of(order, s, 1, item / order % order)[0] * t[0] *
                          in->modulus[hx_interaction_cell(in, cell->c)];
    double sum[4] = {0.0}, by[3][4] = {{0.0}}, frame[4][3];
    for (int a = 0; a < order; a++)
        for (int i = 0; i < 4; i++) {
            const double *const at = from + 12 * square * a + i;
            sum[i] += t[1 + a] * at[0];
            by[0][i] += t[1 + a] * at[4];
            by[1][i] += t[1 + a] * at[8];
            by[2][i] += t[1 + order + a] * at[0];
        }
    hx_interaction_frame(3, in->is_rational, weight, sum, (const double(*)[4])by, frame);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) s->frame[(3 * k + i) * cube + item] = frame[k][i];
}

/* Gradients of a batch of Gauss points, of the points of one line along the first direction at one
 * of them. 4 fours n_pair items, the Gauss point fastest; order / layers batches. */
static HX_HD void hx_gather_gradients(const hx_interaction *in, int order,
                                      const hx_gather_memory *s, const hx_gather_cell *cell,
                                      int batch, int item)
{
    const int wide = 4 * hx_gather_fours(order), n = hx_gather_points(order);
    const int cube = hx_gather_cube(order), stride = hx_gather_stride(order);
    const int at = item % wide, pair = item / wide, q = batch * n + at;
    double *const to = s->h + 3 * order * pair * stride + at;
    if (at >= n) {
        for (int k = 0; k < 3 * order; k++) to[k * stride] = 0.0;
        return;
    }
    const double *const t0 = hx_gather_row_of(order, s, 0, q % order) + 1;
    const double *const t1 = hx_gather_row_of(order, s, 1, q / order % order) + 1;
    const double *const t2 = hx_gather_row_of(order, s, 2, q / order / order) + 1;
    const int a1 = pair % order, a2 = pair / order;
    const double vv = t1[a1] * t2[a2], sv = t1[order + a1] * t2[a2], vs = t1[a1] * t2[order + a2];
    const int r[3] = {cell->origin[0], cell->origin[1] + a1, cell->origin[2] + a2};
    const double *const point = in->point + 4 * hx_interaction_point(in, r);
    double frame[4][3];
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) frame[k][i] = s->frame[(3 * k + i) * cube + q];
    for (int a = 0; a < order; a++) {
        const double d0 = t0[order + a] * vv, d1 = t0[a] * sv, d2 = t0[a] * vs, v = t0[a] * vv;
        const double w = in->is_rational ? point[4 * a + 3] : 1.0;
        for (int i = 0; i < 3; i++)
            to[(3 * a + i) * stride] =
                w * (frame[0][i] * d0 + frame[1][i] * d1 + frame[2][i] * d2 + frame[3][i] * v);
    }
}

/* --- products: tiles of 16 own lines by 8 columns, the lanes of tensor_products.cuh --- */

/* The line of h that a lane reads for row l < 16 of the tile, and for column c; past the end the
 * last one. */
static HX_HD int hx_gather_own_line(const hx_gather_cell *cell, int l)
{
    return 3 * cell->own + (l < cell->n_line ? l : cell->n_line - 1);
}

static HX_HD int hx_gather_column(const hx_gather_cell *cell, int c)
{
    return c < cell->n_column ? c : cell->n_column - 1;
}

/* Adds the product of own line l and line c to its sum, if it is one of the lower half. */
static HX_HD void hx_gather_add(const hx_interaction *in, int order, const hx_gather_memory *s,
                                const hx_gather_bundle *bundle, const hx_gather_cell *cell, int l,
                                int c, double product)
{
    const int b = c / 3, row = cell->row + l / 3;
    if (l >= cell->n_line || b > cell->own + l / 3) return;
    const int32_t *const reach = in->axis[0].reach + 2 * (bundle->r[0] + row);
    const int b0 = b % order, b1 = b / order % order, b2 = b / order / order;
    const int entry =
        ((b2 + cell->shift2) * cell->width1 + b1 + cell->shift1) * (reach[1] - reach[0]) + b0 +
        cell->origin[0] - reach[0];
    s->sum[(row * hx_gather_entries(order) + entry) * 9 + 3 * (l % 3) + c % 3] += product;
}

/* --- the rows' end --- */

/* Number `at` of a row's blocks from its sums. */
static HX_HD double hx_gather_number(const hx_interaction *in, int order, const hx_gather_memory *s,
                                     int row, int at)
{
    const double *const m = s->sum + (row * hx_gather_entries(order) + at / 9) * 9;
    const int i = at % 9 / 3, j = at % 3;
    if (i != j) return in->lambda * m[3 * i + j] + in->mu * m[3 * j + i];
    return (in->lambda + in->mu) * m[4 * i] + in->mu * (m[0] + m[4] + m[8]);
}

#ifdef __cplusplus
}
#endif

#endif
