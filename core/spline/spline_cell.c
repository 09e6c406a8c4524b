#include "spline_cell.h"

#include <string.h>

void hx_spline_cell_of(const hx_spline_rule *rule, int64_t cell, const int32_t *point,
                       hx_spline_cell *out)
{
    const hx_spline_rule_patch *const patch =
        &rule->patch[hx_spline_rule_find(rule->patch, rule->n_patch, cell)];
    int span[3];
    hx_spline_rule_spans(patch, cell, span);
    out->n = 1;
    for (int d = 0; d < 3; d++) {
        const int order = patch->degree[d] + 1;
        out->order[d] = order;
        out->n *= order;
        out->table[d] = rule->table + patch->at[d] +
                        (int64_t)span[d] * order * hx_spline_stride(patch->degree[d]);
    }
    out->point = point;
    out->weight = rule->weight;
}

/* The values of a row of a table, or its derivatives. */
static const double *row(const hx_spline_cell *cell, int d, int q, int slope)
{
    const int n = cell->order[d];
    return cell->table[d] + q * (1 + 2 * n) + 1 + (slope ? n : 0);
}

/* to[b][q][a] = sum over k of row(d, q)[k] from[b][k][a], for `inner` indices a, `outer` indices
 * b. */
static void contract(const hx_spline_cell *cell, int d, int slope, int outer, int inner,
                     const double *from, double *to)
{
    const int n = cell->order[d];
    for (int b = 0; b < outer; b++)
        for (int q = 0; q < n; q++) {
            const double *const t = row(cell, d, q, slope);
            double *const sum = to + (b * n + q) * inner;
            for (int a = 0; a < inner; a++) sum[a] = 0.0;
            for (int k = 0; k < n; k++)
                /* NOLINTNEXTLINE(clang-analyzer-core*): outer * n * inner values */
                for (int a = 0; a < inner; a++) sum[a] += t[k] * from[(b * n + k) * inner + a];
        }
}

/* out[0]: values of sum f_a N_a at the Gauss points, out[1 + k]: derivatives by t_k (if
 * `slopes`). */
static void evaluate_cell(const hx_spline_cell *cell, const double *f, int slopes,
                          double out[4][HX_SPLINE_LANES])
{
    const int n0 = cell->order[0], n1 = cell->order[1], n2 = cell->order[2];
    double last[2][HX_SPLINE_LANES], middle[3][HX_SPLINE_LANES];
    contract(cell, 2, 0, 1, n0 * n1, f, last[0]);
    contract(cell, 1, 0, n2, n0, last[0], middle[0]);
    contract(cell, 0, 0, n1 * n2, 1, middle[0], out[0]);
    if (!slopes) return;
    contract(cell, 2, 1, 1, n0 * n1, f, last[1]);
    contract(cell, 1, 1, n2, n0, last[0], middle[1]);
    contract(cell, 1, 0, n2, n0, last[1], middle[2]);
    contract(cell, 0, 1, n1 * n2, 1, middle[0], out[1]);
    contract(cell, 0, 0, n1 * n2, 1, middle[1], out[2]);
    contract(cell, 0, 0, n1 * n2, 1, middle[2], out[3]);
}

/* f[a] = w_a u_a for component i of u. */
static void load_cell_values(const hx_spline_cell *cell, const double *u, int stride, int i,
                             double f[HX_SPLINE_LANES])
{
    for (int a = 0; a < cell->n; a++) {
        const int64_t point = cell->point[a];
        f[a] = u[stride * point + i] * (cell->weight ? cell->weight[point] : 1.0);
    }
}

/* Sets w and its derivatives. */
static void map_weights(const hx_spline_cell *cell, hx_spline_place *out)
{
    double f[HX_SPLINE_LANES], at[4][HX_SPLINE_LANES];
    if (!cell->weight) {
        for (int q = 0; q < cell->n; q++) out->w[q] = 1.0;
        memset(out->dw, 0, sizeof out->dw);
        return;
    }
    for (int a = 0; a < cell->n; a++) f[a] = cell->weight[cell->point[a]];
    evaluate_cell(cell, f, 1, at);
    memcpy(out->w, at[0], (size_t)cell->n * sizeof *out->w);
    for (int k = 0; k < 3; k++) memcpy(out->dw[k], at[1 + k], (size_t)cell->n * sizeof *out->w);
}

double hx_spline_cell_map(const hx_spline_cell *cell, const double *xyz, hx_spline_place *out)
{
    double f[HX_SPLINE_LANES], at[3][4][HX_SPLINE_LANES], least = 0.0;
    const int n0 = cell->order[0], n1 = cell->order[1];
    map_weights(cell, out);
    for (int i = 0; i < 3; i++) {
        load_cell_values(cell, xyz, 3, i, f);
        evaluate_cell(cell, f, 1, at[i]);
    }
    for (int q = 0; q < cell->n; q++) {
        double j[3][3], adjoint[3][3]; /* j[k][i] = dx_i / dt_k */
        for (int i = 0; i < 3; i++) {
            out->x[i][q] = at[i][0][q] / out->w[q];
            for (int k = 0; k < 3; k++)
                j[k][i] = (at[i][1 + k][q] - out->dw[k][q] * out->x[i][q]) / out->w[q];
        }
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
                adjoint[i][k] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
            }
        const double det =
            j[0][0] * adjoint[0][0] + j[0][1] * adjoint[1][0] + j[0][2] * adjoint[2][0];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) out->inverse[i][k][q] = adjoint[i][k] / det;
        out->volume[q] = det * row(cell, 0, q % n0, 0)[-1] * row(cell, 1, q / n0 % n1, 0)[-1] *
                         row(cell, 2, q / n0 / n1, 0)[-1];
        if (q == 0 || det < least) least = det;
    }
    return least;
}

void hx_spline_cell_field(const hx_spline_cell *cell, const hx_spline_place *place, const double *u,
                          int stride, int i, double value[HX_SPLINE_LANES],
                          double slope[3][HX_SPLINE_LANES])
{
    double f[HX_SPLINE_LANES], at[4][HX_SPLINE_LANES];
    load_cell_values(cell, u, stride, i, f);
    evaluate_cell(cell, f, slope != NULL, at);
    for (int q = 0; q < cell->n; q++) {
        const double here = at[0][q] / place->w[q];
        if (value) value[q] = here;
        for (int j = 0; slope && j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++)
                sum += place->inverse[j][k][q] * (at[1 + k][q] - place->dw[k][q] * here);
            slope[j][q] = sum / place->w[q];
        }
    }
}

void hx_spline_cell_shape(const hx_spline_cell *cell, const hx_spline_place *place, int q,
                          double shape[HX_SPLINE_LANES])
{
    const int n0 = cell->order[0], n1 = cell->order[1], n2 = cell->order[2];
    const double *const u = row(cell, 0, q % n0, 0), *const v = row(cell, 1, q / n0 % n1, 0);
    const double *const w = row(cell, 2, q / n0 / n1, 0);
    for (int a2 = 0, a = 0; a2 < n2; a2++)
        for (int a1 = 0; a1 < n1; a1++)
            for (int a0 = 0; a0 < n0; a0++, a++)
                shape[a] = u[a0] * v[a1] * w[a2] / place->w[q] *
                           (cell->weight ? cell->weight[cell->point[a]] : 1.0);
}

void hx_spline_cell_integrate(const hx_spline_cell *cell, const hx_spline_place *place,
                              const double *g, double f[HX_SPLINE_LANES])
{
    memset(f, 0, (size_t)cell->n * sizeof *f);
    for (int q = 0; q < cell->n; q++) {
        double shape[HX_SPLINE_LANES];
        const double share = place->volume[q] * g[q];
        hx_spline_cell_shape(cell, place, q, shape);
        /* NOLINTNEXTLINE(clang-analyzer-core*): shape[cell->n] is set */
        for (int a = 0; a < cell->n; a++) f[a] += share * shape[a];
    }
}
