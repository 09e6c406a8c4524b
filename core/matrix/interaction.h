/* K of one spline patch by the interaction of its control points (P5: Karatarakis, Karakitsios and
 * Papadrakakis): each pair of points gathers over the Gauss points of its common cells and is
 * written once. This header has what all variants share: the grid of points, the pairs and their
 * positions in memory, and the gradients at a Gauss point.
 *
 * Points, cells (non-empty spans) and Gauss points of a cell are boxes whose first direction is
 * fastest. A plane patch has one point, one cell and one Gauss point in its third direction, so
 * that one formula serves 2D and 3D. The arrays are made on the host and may be copied to a device.
 *
 * Only the lower half of K is stored: dim x dim blocks in row-major order, row after row (bsr of
 * matrix.h). Each row has its columns in ascending order up to the diagonal block, which is
 * complete. */
#ifndef HX_INTERACTION_H
#define HX_INTERACTION_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/c_linkage.h"
#include "../base/host_device.h"
#include "../spline/knots.h"
#include "../spline/spline_rule.h"
#include "form.h"

HX_C_BEGIN

typedef struct hx_interaction_axis {
    int degree, n, n_cell;
    const int32_t *first; /* [n_cell] first function of a cell */
    const int32_t *cells; /* [n][2] cells in a function's support: first, end */
    const int32_t *reach; /* [n][2] functions that share a cell with it: first, end */
    const double *table;  /* in the layout of spline_rule.h, starting at 0 */
} hx_interaction_axis;

typedef struct hx_interaction {
    int dim; /* 2 (plane strain) or 3: size of a block */
    int is_rational;
    double lambda, mu; /* for unit modulus */
    hx_interaction_axis axis[3];
    int64_t n_point, n_cell, n_block;
    const double *point;    /* [n_point][4] w x, w y, w z, w */
    const double *modulus;  /* [n_cell] */
    const int64_t *row_ptr; /* [n_point + 1] number of blocks in earlier rows */
    int32_t *integers;      /* arrays behind the pointers above (owned) */
    double *reals;
    int64_t *offsets;
    int64_t n_integer, n_real;
} hx_interaction;

/* P5's counts for n functions of degree p in each of dim directions with simple knots. */
typedef struct hx_interaction_counts {
    int64_t n_point, n_dof, n_cell, n_gauss;
    int64_t n_block;   /* pairs of points in both orders: ((2p + 1) n - p (p + 1))^dim */
    int64_t n_stored;  /* values of the symmetric half: (dim^2 blocks + dim n^dim) / 2 */
    int64_t n_skyline; /* values from the first of each row to the diagonal */
} hx_interaction_counts;
void hx_interaction_count(int dim, int degree, int n, hx_interaction_counts *counts);

/* Copies dim directions, point [n_point][3], weight [n_point] (NULL: all 1) and modulus [n_cell]
 * (NULL: all 1). det J must be positive at every Gauss point, otherwise K becomes NaN; the readers
 * of splines check this. HX_EINPUT: dim; HX_ENOMEM. O(n_point). Frees partial objects on
 * failure. */
int hx_interaction_create(hx_interaction *in, int dim, const hx_knots *axis, const double *point,
                          const double *weight, const double *modulus, const hx_form *form);
/* Writes cells and reach, [n][2] each, of an axis whose sizes and `first` are set. */
void hx_interaction_reach(const hx_interaction_axis *axis, int32_t *cells, int32_t *reach);
/* Sets the pointers to a copy of the three arrays (on a device). */
void hx_interaction_rebase(hx_interaction *in, int32_t *integers, double *reals, int64_t *offsets);
/* Accepts a zeroed object. */
void hx_interaction_free(hx_interaction *in);

/* Number of points, or of Gauss points, of a cell. */
static HX_HD int hx_interaction_cell_points(const hx_interaction *in)
{
    return (in->axis[0].degree + 1) * (in->axis[1].degree + 1) * (in->axis[2].degree + 1);
}

static HX_HD int64_t hx_interaction_point(const hx_interaction *in, const int r[3])
{
    return ((int64_t)r[2] * in->axis[1].n + r[1]) * in->axis[0].n + r[0];
}

static HX_HD void hx_interaction_place(const hx_interaction *in, int64_t point, int r[3])
{
    r[0] = (int)(point % in->axis[0].n);
    r[1] = (int)(point / in->axis[0].n % in->axis[1].n);
    r[2] = (int)(point / in->axis[0].n / in->axis[1].n);
}

static HX_HD int64_t hx_interaction_cell(const hx_interaction *in, const int c[3])
{
    return ((int64_t)c[2] * in->axis[1].n_cell + c[1]) * in->axis[0].n_cell + c[0];
}

/* Index of point j in the row of point r, where both share a cell. In the lower half, r itself is
 * the last of its row. */
static HX_HD int hx_interaction_entry(const hx_interaction *in, const int r[3], const int j[3])
{
    int k = 0;
    for (int d = 2; d >= 0; d--) {
        const int32_t *const reach = in->axis[d].reach + 2 * r[d];
        k = k * (reach[1] - reach[0]) + j[d] - reach[0];
    }
    return k;
}

/* The row and column points of an entry: inverse of hx_interaction_entry. */
static HX_HD void hx_interaction_column(const hx_interaction *in, const int r[3], int k, int j[3])
{
    for (int d = 0; d < 3; d++) {
        const int32_t *const reach = in->axis[d].reach + 2 * r[d];
        const int width = reach[1] - reach[0];
        j[d] = reach[0] + k % width;
        k /= width;
    }
}

/* The box of common cells of two points. Returns their number. */
static HX_HD int hx_interaction_shared(const hx_interaction *in, const int r[3], const int j[3],
                                       int first[3], int n[3])
{
    int count = 1;
    for (int d = 0; d < 3; d++) {
        const int32_t *const a = in->axis[d].cells + 2 * r[d], *const b =
                                                                   in->axis[d].cells + 2 * j[d];
        const int end = a[1] < b[1] ? a[1] : b[1];
        first[d] = a[0] > b[0] ? a[0] : b[0];
        n[d] = end > first[d] ? end - first[d] : 0;
        count *= n[d];
    }
    return count;
}

/* Local index of a point in a cell. */
static HX_HD int hx_interaction_local(const hx_interaction *in, const int c[3], const int r[3])
{
    int a = 0;
    for (int d = 2; d >= 0; d--) a = a * (in->axis[d].degree + 1) + r[d] - in->axis[d].first[c[d]];
    return a;
}

/* Table of one direction: weight of Gauss point q of a cell, followed by values and derivatives. */
static HX_HD const double *hx_interaction_table(const hx_interaction_axis *axis, int cell, int q)
{
    return axis->table +
           (size_t)(cell * (axis->degree + 1) + q) * (size_t)hx_spline_stride(axis->degree);
}

/* The gradient of every point at a Gauss point is w_a (frame[0] dN_0 + frame[1] dN_1 + frame[2]
 * dN_2 + frame[3] N), where w_a is the point's weight, N the product of B-splines and dN_k its
 * derivative by parameter k. The frame combines the quotient rule (P5, equations 19 and 20) and the
 * Jacobian, and it includes the factor sqrt(weight det J) (form.h). sum: sums of w x and w; by[k]:
 * their derivatives by parameter k. */
static HX_HD void hx_interaction_frame(int dim, int is_rational, double weight, const double sum[4],
                                       const double by[3][4], double frame[4][3])
{
    const double w = is_rational ? sum[3] : 1.0, over = 1.0 / w;
    double j[3][3], adjoint[3][3], det = 0.0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            j[k][i] = is_rational ? (by[k][i] - by[k][3] * (sum[i] * over)) * over : by[k][i];
    if (dim == 2) j[2][2] = 1.0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            adjoint[i][k] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    for (int i = 0; i < 3; i++) det += j[0][i] * adjoint[i][0];
    const double root = sqrt(weight / det) * over;
    for (int i = 0; i < 3; i++) {
        double slope = 0.0;
        for (int k = 0; k < 3; k++) {
            frame[k][i] = root * adjoint[i][k];
            slope += frame[k][i] * by[k][3];
        }
        frame[3][i] = is_rational ? -slope * over : 0.0;
    }
}

/* The frame at Gauss point q of cell c from all points of the cell. O(order^3). */
static HX_HD void hx_interaction_frame_at(const hx_interaction *in, const int c[3], const int q[3],
                                          double frame[4][3])
{
    const hx_interaction_axis *const axis = in->axis;
    const double *t[3];
    double sum[4] = {0.0}, by[3][4] = {{0.0}};
    for (int d = 0; d < 3; d++) t[d] = hx_interaction_table(&axis[d], c[d], q[d]);
    for (int a2 = 0; a2 <= axis[2].degree; a2++)
        for (int a1 = 0; a1 <= axis[1].degree; a1++)
            for (int a0 = 0; a0 <= axis[0].degree; a0++) {
                const int r[3] = {axis[0].first[c[0]] + a0, axis[1].first[c[1]] + a1,
                                  axis[2].first[c[2]] + a2};
                const double *const x = in->point + 4 * hx_interaction_point(in, r);
                const double v0 = t[0][1 + a0], s0 = t[0][2 + axis[0].degree + a0];
                const double v1 = t[1][1 + a1], s1 = t[1][2 + axis[1].degree + a1];
                const double v2 = t[2][1 + a2], s2 = t[2][2 + axis[2].degree + a2];
                for (int i = 0; i < 4; i++) {
                    sum[i] += v0 * v1 * v2 * x[i];
                    by[0][i] += s0 * v1 * v2 * x[i];
                    by[1][i] += v0 * s1 * v2 * x[i];
                    by[2][i] += v0 * v1 * s2 * x[i];
                }
            }
    hx_interaction_frame(in->dim, in->is_rational,
                         t[0][0] * t[1][0] * t[2][0] * in->modulus[hx_interaction_cell(in, c)], sum,
                         (const double(*)[4])by, frame);
}

/* h := the gradient of point a (an index per direction) of cell c, with weight w. */
static HX_HD void hx_interaction_gradient(const double *const t[3], const int degree[3],
                                          const int a[3], double w, const double frame[4][3],
                                          double h[3])
{
    const double v0 = t[0][1 + a[0]], v1 = t[1][1 + a[1]], v2 = t[2][1 + a[2]];
    const double d0 = t[0][2 + degree[0] + a[0]] * v1 * v2,
                 d1 = v0 * t[1][2 + degree[1] + a[1]] * v2;
    const double d2 = v0 * v1 * t[2][2 + degree[2] + a[2]], n = v0 * v1 * v2;
    for (int i = 0; i < 3; i++)
        h[i] = w * (frame[0][i] * d0 + frame[1][i] * d1 + frame[2][i] * d2 + frame[3][i] * n);
}

/* The block of a pair of points, from the sum m of h_a h_b'. */
static HX_HD void hx_interaction_block(const hx_interaction *in, const double m[3][3],
                                       double *value)
{
    double k[3][3];
    hx_form_elasticity(1.0, in->lambda, in->mu, m, k);
    for (int i = 0; i < in->dim; i++)
        for (int j = 0; j < in->dim; j++) value[i * in->dim + j] = k[i][j];
}

HX_C_END

#endif
