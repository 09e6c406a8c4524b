/* A cell of a spline at its Gauss points: map, values and gradients by the quotient rule (P5,
 * equations 19 and 20) from the tables of its three directions. Sums over control points are
 * factorised by direction. */
#ifndef HX_SPLINE_CELL_H
#define HX_SPLINE_CELL_H

#include "../base/c_linkage.h"
#include "../base/vectorised.h"
#include "spline_rule.h"

HX_C_BEGIN

/* Maximum number of control points and of Gauss points of a cell; the same rounded up to SIMD
 * vectors. */
enum { HX_SPLINE_CELL_POINTS = 125, HX_SPLINE_LANES = 128 };

/* Tables of a cell (borrowed from its rule). */
typedef struct hx_spline_cell {
    int order[3], n;        /* degree + 1; their product */
    const double *table[3]; /* tables of the cell's spans (spline_rule.h) */
    const int32_t *point;   /* [n] global control points */
    const double *weight;   /* by global control point; NULL: all 1 */
} hx_spline_cell;

/* The map at the cell's n Gauss points. */
typedef struct hx_spline_place {
    double volume[HX_SPLINE_LANES];        /* weight times det J */
    double x[3][HX_SPLINE_LANES];          /* coordinates */
    double inverse[3][3][HX_SPLINE_LANES]; /* [i][k]: dt_k / dx_i */
    double w[HX_SPLINE_LANES];             /* sum of w_a N_a, 1 without weights */
    double dw[3][HX_SPLINE_LANES];         /* derivatives of w by t_k */
} hx_spline_place;

/* point[n]: the cell's control points (borrowed). */
void hx_spline_cell_of(const hx_spline_rule *rule, int64_t cell, const int32_t *point,
                       hx_spline_cell *out);

/* Computes the map from xyz[n_point][3], all control points. Returns the smallest det J. */
double hx_spline_cell_map(const hx_spline_cell *cell, const double *xyz, hx_spline_place *out);

/* Values value[q] and gradients slope[k][q] by x_k (NULL: not needed) of component i of a field
 * u[n_point][stride]. */
void hx_spline_cell_field(const hx_spline_cell *cell, const hx_spline_place *place, const double *u,
                          int stride, int i, double value[HX_SPLINE_LANES],
                          double slope[3][HX_SPLINE_LANES]);

/* f[a] = sum over the Gauss points of volume R_a g for a density g[q]. */
void hx_spline_cell_integrate(const hx_spline_cell *cell, const hx_spline_place *place,
                              const double *g, double f[HX_SPLINE_LANES]);

/* h[i][a] = factor times the derivative of R_a by x_i at Gauss point q; 0 from n up to the next
 * multiple of 8. */
HX_INLINED void hx_spline_cell_gradients(const hx_spline_cell *cell, const hx_spline_place *place,
                                         const double *weight, int q, double factor,
                                         double h[3][HX_SPLINE_LANES])
{
    const int n0 = cell->order[0], n1 = cell->order[1], n2 = cell->order[2];
    const double *const u = cell->table[0] + q % n0 * (1 + 2 * n0) + 1;
    const double *const v = cell->table[1] + q / n0 % n1 * (1 + 2 * n1) + 1;
    const double *const w = cell->table[2] + q / n0 / n1 * (1 + 2 * n2) + 1;
    const double scale = factor / place->w[q];
    for (int i = 0; i < 3; i++) {
        double c[3], g = 0.0;
        for (int k = 0; k < 3; k++) {
            c[k] = scale * place->inverse[i][k][q];
            g += c[k] * place->dw[k][q];
        }
        g /= place->w[q];
        int a = 0;
        for (int a2 = 0; a2 < n2; a2++)
            for (int a1 = 0; a1 < n1; a1++) {
                const double by_value =
                    c[1] * v[n1 + a1] * w[a2] + c[2] * v[a1] * w[n2 + a2] - g * v[a1] * w[a2];
                const double by_slope = c[0] * v[a1] * w[a2];
                for (int a0 = 0; a0 < n0; a0++)
                    h[i][a++] = by_value * u[a0] + by_slope * u[n0 + a0];
            }
        for (; a % 8 != 0; a++) h[i][a] = 0.0;
        /* NOLINTNEXTLINE(clang-analyzer-core*): a cell has cell->n functions */
        for (a = 0; weight && a < cell->n; a++) h[i][a] *= weight[a];
    }
}

/* Values R_a at Gauss point q. */
void hx_spline_cell_shape(const hx_spline_cell *cell, const hx_spline_place *place, int q,
                          double shape[HX_SPLINE_LANES]);

HX_C_END

#endif
