/* K of a solid spline patch on a GPU, step by step: the work of each thread and the layout of the
 * data. It is in a header so that a host test runs the same formulas.
 *
 * One thread block (or several that share its products) integrates a line of cells along the first
 * direction. For each cell it computes the gradients of all points for a few layers of Gauss points
 * at a time, from the tables of each direction in shared memory. Their products m = h_a h_b' stay
 * in registers until the last cell of the line that contains both points is added. Points of a cell
 * with the same index in the first direction form a plane. Once no further cell contains the lowest
 * plane, its products with itself and with the planes above are complete for this line; they are
 * written to a buffer, and the remaining planes move down by one. Each row of K then adds the
 * values of the few lines of cells that it touches, in their order: nothing is computed twice,
 * nothing is stored per Gauss point, and no sum depends on how many lines are computed at a time.
 *
 * The buffer is a ring of layers of lines in the third direction. A plane's part of a line is
 * [order][lines][width]: products of the plane with itself (only l >= c) and with the order - 1
 * planes above; the gradient components of the upper plane are the rows l, those of the plane
 * itself the columns c.
 *
 * `order`, the degree + 1 of all directions, is a constant at every call, so that the compiler
 * folds everything. Items of one stage may run in any order or concurrently; all threads
 * synchronize between stages. */
#ifndef HX_INTERACTION_LINE_H
#define HX_INTERACTION_LINE_H

#include "../base/c_linkage.h"
#include "interaction.h"

HX_C_BEGIN

/* --- sizes --- */

static HX_HD int hx_line_cube(int order)
{
    return order * order * order;
}

/* Lines (3 point + component) of a plane, and the row stride of the buffer in values, which is
 * even. */
static HX_HD int hx_line_lines(int order)
{
    return 3 * order * order;
}

static HX_HD int hx_line_width(int order)
{
    return (hx_line_lines(order) + 1) / 2 * 2;
}

/* Size of a plane's part of a line of cells. */
static HX_HD int hx_line_part(int order)
{
    return order * hx_line_lines(order) * hx_line_width(order);
}

/* Number of cells whose frames are computed at a time. */
static HX_HD int hx_line_group(int order)
{
    return order == 2 ? 8 : order == 5 ? 2 : 4;
}

/* Number of Gauss points of a batch of layers, and their number in groups of four; the last group
 * is padded with 0. */
static HX_HD int hx_line_points(int order, int layers)
{
    return layers * order * order;
}

static HX_HD int hx_line_fours(int order, int layers)
{
    return (hx_line_points(order, layers) + 3) / 4;
}

/* Stride between lines of the gradients: an odd number of groups of four, so that four lines use
 * all shared-memory banks. */
static HX_HD int hx_line_stride(int order, int layers)
{
    return 4 * (hx_line_fours(order, layers) | 1);
}

static HX_HD int hx_line_table(int order)
{
    return order * hx_spline_stride(order - 1);
}

/* Shared memory of a thread block. */
typedef struct hx_line_memory {
    double *h;      /* [order planes][lines][stride]; before that the sums of the map, [group] */
    double *frame;  /* [group][12][order^3] */
    double *weight; /* [group][order^3] weights of the control points */
    /* [group + 2][table]: tables of the cells in the first direction, and of the two other
     * directions */
    double *table;
} hx_line_memory;

static HX_HD int hx_line_h_size(int order, int layers)
{
    const int h = order * hx_line_lines(order) * hx_line_stride(order, layers);
    const int sums = hx_line_group(order) * 20 * hx_line_cube(order);
    return h > sums ? h : sums;
}

/* Total number of values. */
static HX_HD int hx_line_size(int order, int layers)
{
    const int group = hx_line_group(order);
    return hx_line_h_size(order, layers) + group * 13 * hx_line_cube(order) +
           (group + 2) * hx_line_table(order);
}

static HX_HD hx_line_memory hx_line_divide(int order, int layers, double *memory)
{
    hx_line_memory s;
    s.h = memory;
    s.frame = s.h + hx_line_h_size(order, layers);
    s.weight = s.frame + hx_line_group(order) * 12 * hx_line_cube(order);
    s.table = s.weight + hx_line_group(order) * hx_line_cube(order);
    return s;
}

/* --- frames of some cells of a line; the item's cell is item / (items per cell) --- */

typedef struct hx_line_cells {
    int c[3], n; /* the first cell, and the number of cells */
} hx_line_cells;

static HX_HD int hx_line_load_items(int order)
{
    const int group = hx_line_group(order);
    return (group + 2) * hx_line_table(order) + group * hx_line_cube(order);
}

/* Loads tables and weights. */
static HX_HD void hx_line_load(const hx_interaction *in, int order, const hx_line_memory *s,
                               const hx_line_cells *cells, int item)
{
    const int size = hx_line_table(order), group = hx_line_group(order);
    const int k = item - (group + 2) * size;
    if (k < 0) {
        const int at = item / size, d = at < group ? 0 : at - group + 1;
        const int c = cells->c[d] + (d == 0 ? at : 0);
        if (d > 0 || at < cells->n) s->table[item] = in->axis[d].table[c * size + item % size];
        return;
    }
    const int g = k / hx_line_cube(order), a = k % hx_line_cube(order);
    if (g >= cells->n) return;
    const int r[3] = {in->axis[0].first[cells->c[0] + g] + a % order,
                      in->axis[1].first[cells->c[1]] + a / order % order,
                      in->axis[2].first[cells->c[2]] + a / order / order};
    s->weight[k] = in->is_rational ? in->point[4 * hx_interaction_point(in, r) + 3] : 1.0;
}

/* Weight, values and derivatives of Gauss point q of cell g in direction d. */
static HX_HD const double *hx_line_row_of(int order, const hx_line_memory *s, int g, int d, int q)
{
    const int at = d == 0 ? g : hx_line_group(order) + d - 1;
    return s->table + at * hx_line_table(order) + q * hx_spline_stride(order - 1);
}

/* Sums over the points of a line along the first direction, with values and with derivatives.
 * order^3 items per cell, the Gauss point is fastest. */
static HX_HD void hx_line_map0(const hx_interaction *in, int order, const hx_line_memory *s,
                               const hx_line_cells *cells, int item)
{
    const int g = item / hx_line_cube(order), at = item % hx_line_cube(order);
    const double *const t = hx_line_row_of(order, s, g, 0, at % order);
    const int r[3] = {in->axis[0].first[cells->c[0] + g],
                      in->axis[1].first[cells->c[1]] + at / order % order,
                      in->axis[2].first[cells->c[2]] + at / order / order};
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

/* Then over the second direction: Gauss points of two directions, points of the third. Writes three
 * sums: with values, with derivatives in the first, and with derivatives in the second
 * direction. */
static HX_HD void hx_line_map1(int order, const hx_line_memory *s, int item)
{
    const int cube = hx_line_cube(order), g = item / cube, at = item % cube;
    const double *const t = hx_line_row_of(order, s, g, 1, at / order % order);
    const double *const from =
        s->h + 8 * (g * cube + at / order / order * order * order + at % order);
    double *const to = s->h + 8 * hx_line_group(order) * cube + 12 * item;
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

/* Then over the third: the frames of the Gauss points, times the modulus of the cell. */
static HX_HD void hx_line_frames(const hx_interaction *in, int order, const hx_line_memory *s,
                                 const hx_line_cells *cells, int item)
{
    const int cube = hx_line_cube(order), square = order * order, g = item / cube, q = item % cube;
    const double *const t = hx_line_row_of(order, s, g, 2, q / square);
    const double *const from =
        s->h + 8 * hx_line_group(order) * cube + 12 * (g * cube + q % square);
    const int c[3] = {cells->c[0] + g, cells->c[1], cells->c[2]};
    const double weight = hx_line_row_of(order, s, g, 0, q % order)[0] *
                          hx_line_row_of(order, s, g, 1, q / order % order)[0] * t[0] *
                          in->modulus[hx_interaction_cell(in, c)];
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
        for (int i = 0; i < 3; i++) s->frame[(12 * g + 3 * k + i) * cube + q] = frame[k][i];
}

/* --- gradients of cell g of the group --- */

static HX_HD int hx_line_gradient_items(int order, int layers)
{
    return 4 * hx_line_fours(order, layers) * order * order;
}

/* Gradients of the points of one line along the first direction at one Gauss point of a batch of
 * layers; there are order / layers batches. The Gauss point is fastest. */
static HX_HD void hx_line_gradients(const hx_interaction *in, int order, int layers,
                                    const hx_line_memory *s, int g, int batch, int item)
{
    const int wide = 4 * hx_line_fours(order, layers), n = hx_line_points(order, layers);
    const int cube = hx_line_cube(order), stride = hx_line_stride(order, layers);
    const int plane = hx_line_lines(order) * stride;
    const int at = item % wide, pair = item / wide, q = batch * n + at;
    double *const to = s->h + 3 * pair * stride + at;
    if (at >= n || q >= cube) {
        for (int a = 0; a < order; a++)
            for (int i = 0; i < 3; i++) to[a * plane + i * stride] = 0.0;
        return;
    }
    const double *const t0 = hx_line_row_of(order, s, g, 0, q % order) + 1;
    const double *const t1 = hx_line_row_of(order, s, g, 1, q / order % order) + 1;
    const double *const t2 = hx_line_row_of(order, s, g, 2, q / order / order) + 1;
    const int a1 = pair % order, a2 = pair / order;
    const double vv = t1[a1] * t2[a2], sv = t1[order + a1] * t2[a2], vs = t1[a1] * t2[order + a2];
    const double *const weight = s->weight + g * cube + order * pair;
    double value[3], slope[3];
    for (int i = 0; i < 3; i++) {
        const double *const f = s->frame + (12 * g + i) * cube + q;
        slope[i] = f[0] * vv;
        value[i] = f[3 * cube] * sv + f[6 * cube] * vs + f[9 * cube] * vv;
    }
    for (int a = 0; a < order; a++) {
        const double w = in->is_rational ? weight[a] : 1.0;
        const double d = w * t0[order + a], v = w * t0[a];
        for (int i = 0; i < 3; i++) to[a * plane + i * stride] = slope[i] * d + value[i] * v;
    }
}

/* --- products: tiles of 16 lines by 8 columns, the lanes of tensor_products.cuh --- */

/* Line of a plane that a lane reads for line l of all tiles; the last one beyond the end. */
static HX_HD int hx_line_clamp(int order, int l)
{
    return l < hx_line_lines(order) ? l : hx_line_lines(order) - 1;
}

/* Offset of the part of plane f in the line (c1, c2) of cells. */
static HX_HD int64_t hx_line_place(const hx_interaction *in, int order, int ring, int f, int c1,
                                   int c2)
{
    return (((int64_t)(c2 % ring) * in->axis[1].n_cell + c1) * in->axis[0].n + f) *
           hx_line_part(order);
}

/* Number of planes that are complete after cell c of the first direction. */
static HX_HD int hx_line_left(const hx_interaction *in, int order, int c)
{
    const int32_t *const first = in->axis[0].first;
    return c + 1 < in->axis[0].n_cell ? first[c + 1] - first[c] : order;
}

/* --- rows --- */

/* Largest number of points within reach in one direction. */
static HX_HD int hx_line_reach(int order)
{
    return 2 * order - 1;
}

/* Number of values of m for a row: 9 per point of the box of reach^3 points around it. The row's
 * own layer of the box is the last one. */
static HX_HD int hx_line_most(int order)
{
    return 9 * order * hx_line_reach(order) * hx_line_reach(order);
}

/* Number of items into which a row's sums are divided, three values each. Their order: layers of
 * points, planes, rows of m, then points of a line along the second direction, whose products are
 * adjacent. */
static HX_HD int hx_line_sum_items(const hx_interaction *in, int order, const int r[3])
{
    const int wide = hx_line_reach(order);
    return (r[2] - in->axis[2].reach[2 * r[2]] + 1) * 3 * wide * wide;
}

/* The column at a position of the box; returns 0 if it is not in the lower half. */
static HX_HD int hx_line_column(const hx_interaction *in, const int r[3], const int at[3], int j[3])
{
    for (int d = 0; d < 3; d++) {
        j[d] = in->axis[d].reach[2 * r[d]] + at[d];
        if (j[d] >= in->axis[d].reach[2 * r[d] + 1]) return 0;
    }
    return j[2] < r[2] || (j[2] == r[2] && (j[1] < r[1] || (j[1] == r[1] && j[0] <= r[0])));
}

/* Offsets in the buffer of the products of a row with the points of its box. For each direction,
 * they are given for the cell k steps after the row's first cell and for the point at a position of
 * the box, in the order (line of the row, line of the point) and in the reverse order. -1: row and
 * point do not share that cell. */
enum { HX_LINE_MOST_REACH = 2 * HX_SPLINE_MAX_ORDER - 1 };
typedef struct hx_line_row {
    /* [second, third direction][turned][position][k] */
    int32_t at[2][2][HX_LINE_MOST_REACH][HX_SPLINE_MAX_ORDER];
} hx_line_row;

static HX_HD int hx_line_row_items(int order)
{
    return 4 * hx_line_reach(order) * order;
}

/* Requires a buffer of fewer than 2^31 values. */
static HX_HD void hx_line_row_make(const hx_interaction *in, int order, int ring, const int r[3],
                                   int item, hx_line_row *to)
{
    const int wide = hx_line_reach(order), k = item % order, place = item / order % wide;
    const int turned = item / order / wide % 2, second = item / order / wide / 2, d = 1 + second;
    const hx_interaction_axis *const u = &in->axis[d];
    const int c = u->cells[2 * r[d]] + k, j = u->reach[2 * r[d]] + place;
    const int width = hx_line_width(order), own = turned ? 1 : width, other = turned ? width : 1;
    int32_t at = -1;
    if (c < u->cells[2 * r[d] + 1] && j >= u->first[c] && j < u->first[c] + order) {
        const int line = in->axis[0].n * hx_line_part(order);
        const int step = second ? in->axis[1].n_cell * line : line;
        const int between = second ? 3 * order : 3;
        at = (second ? c % ring : c) * step +
             between * ((r[d] - u->first[c]) * own + (j - u->first[c]) * other);
    }
    to->at[second][turned][place][k] = at;
}

/* Three values of m of row r at an item of the box, for column j, summed over the lines of cells
 * that both points touch. All items of the row use the same `row`. */
static HX_HD void hx_line_sum(int order, const double *buffer, const hx_line_row *row,
                              const int r[3], const int at[3], const int j[3], int i, double *m)
{
    const int lines = hx_line_lines(order), width = hx_line_width(order);
    const int is_plane = r[0] == j[0], is_self = is_plane && r[1] == j[1] && r[2] == j[2];
    /* the point of the higher plane defines the rows of the products; within a plane the later
     * point does */
    const int is_later = r[2] != j[2] ? r[2] > j[2] : r[1] >= j[1];
    const int turned = is_plane ? !is_later : r[0] < j[0];
    const int low = r[0] < j[0] ? r[0] : j[0], apart = r[0] < j[0] ? j[0] - r[0] : r[0] - j[0];
    const int first = turned ? i : width * i, step = turned ? width : 1;
    const double *const from =
        buffer + (int64_t)low * hx_line_part(order) + apart * lines * width + first;
    const int off[3] = {0, is_self && i < 1 ? width - first : step,
                        is_self && i < 2 ? 2 * width + i - first : 2 * step};
    int32_t line[HX_SPLINE_MAX_ORDER];
    double sum[3] = {0.0};
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < order; k++) line[k] = row->at[0][turned][at[1]][k];
    for (int c = 0; c < order; c++) {
        const int32_t layer = row->at[1][turned][at[2]][c];
        double part[HX_SPLINE_MAX_ORDER][3]; /* independent loads */
        if (layer < 0) continue;
#ifdef __CUDACC__
#pragma unroll
#endif
        for (int k = 0; k < order; k++)
            for (int n = 0; n < 3; n++)
                part[k][n] = line[k] >= 0 ? from[layer + line[k] + off[n]] : 0.0;
#ifdef __CUDACC__
#pragma unroll
#endif
        for (int k = 0; k < order; k++)
            for (int n = 0; n < 3; n++) sum[n] += part[k][n];
    }
    for (int n = 0; n < 3; n++) m[3 * i + n] = sum[n];
}

/* Decodes item `item` of a box: its position and the row of m. Returns the index of the
 * position. */
static HX_HD int hx_line_item(int order, int item, int at[3], int *i)
{
    const int wide = hx_line_reach(order);
    at[1] = item % wide;
    *i = item / wide % 3;
    at[0] = item / wide / 3 % wide;
    at[2] = item / wide / 3 / wide;
    return (at[2] * wide + at[1]) * wide + at[0];
}

/* Sums an item of the lower half of the patch's own K. */
static HX_HD void hx_line_sum_lower(const hx_interaction *in, int order, const double *buffer,
                                    const hx_line_row *row, const int r[3], int item, double *m)
{
    int at[3], j[3], i;
    const int k = hx_line_item(order, item, at, &i);
    if (hx_line_column(in, r, at, j)) hx_line_sum(order, buffer, row, r, at, j, i, m + 9 * k);
}

/* Returns 1 if the whole box lies within the patch; its values then have the same order as those of
 * the row. */
static HX_HD int hx_line_is_whole(const hx_interaction *in, int order, const int r[3])
{
    for (int d = 0; d < 2; d++)
        if (in->axis[d].reach[2 * r[d] + 1] - in->axis[d].reach[2 * r[d]] != hx_line_reach(order))
            return 0;
    return 1;
}

/* Index in the row of value `item` of the box, for a row of n values; -1: not stored. */
static HX_HD int hx_line_in_row(const hx_interaction *in, int order, const int r[3], int is_whole,
                                int n, int item)
{
    const int wide = hx_line_reach(order), k = item / 9;
    const int at[3] = {k % wide, k / wide % wide, k / wide / wide};
    int j[3];
    if (is_whole) return item < n ? item : -1;
    return hx_line_column(in, r, at, j) ? 9 * hx_interaction_entry(in, r, j) + item % 9 : -1;
}

/* m[9] := the block of K; for conduction m[0] := the entry. */
static HX_HD void hx_line_block(const hx_interaction *in, int components, double *m)
{
    const double trace = m[0] + m[4] + m[8], lambda = in->lambda, mu = in->mu;
    if (components == 1) {
        m[0] = trace;
        return;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) {
            const double a = m[3 * i + j], b = m[3 * j + i];
            m[3 * i + j] = lambda * a + mu * b;
            m[3 * j + i] = lambda * b + mu * a;
        }
    for (int i = 0; i < 3; i++) m[4 * i] = (lambda + mu) * m[4 * i] + mu * trace;
}

HX_C_END

#endif
