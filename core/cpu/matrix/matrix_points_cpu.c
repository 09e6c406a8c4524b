/* Rows of a matrix from quadratic cells: the tiles of one point with all points of the cell at
 * once. */
#include "matrix_cpu.h"
#include "points_cpu.h"

enum { N = HX_POINT_LANES };

/* Tiles of a row: entry (i, j) at tile[3 i + j][b]; for heat conduction, at tile[0][b]. */
typedef double row_tiles[9][N];

/* h[q][i][a] = sqrt(weight det J) times the gradient of point a. The products commute, so K is
 * symmetric at least to rounding, whichever operations the compiler fuses. */
HX_INLINED void root_gradients(const hx_cell_rule *rule, hx_point_lanes x,
                               hx_point_lanes h[HX_RULE_GAUSS])
{
    for (int q = 0; q < rule->n_gauss; q++) {
        double adjoint[3][3];
        const double det = hx_points_jacobian(rule->gradient[q], x, adjoint);
        hx_points_gradients(rule->gradient[q], adjoint, sqrt(rule->weight[q] / det), h[q]);
    }
}

HX_INLINED void products(int n_gauss, hx_point_lanes *h, int a, double m[3][3][N])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum[N] = {0.0};
            for (int q = 0; q < n_gauss; q++) {
                const double ha = h[q][i][a];
                for (int b = 0; b < N; b++) sum[b] += ha * h[q][j][b];
            }
            memcpy(m[i][j], sum, sizeof sum);
        }
}

/* Computes rows[k] for point own[k]. */
HX_INLINED void elasticity_lanes(const hx_cell_rule *rule, hx_point_lanes x, double l, double u,
                                 int n_own, const int own[N], row_tiles *rows)
{
    hx_point_lanes h[HX_RULE_GAUSS];
    double m[3][3][N];
    root_gradients(rule, x, h);
    for (int k = 0; k < n_own; k++) {
        double(*const tile)[N] = rows[k];
        products(rule->n_gauss, h, own[k], m);
        for (int b = 0; b < N; b++) {
            const double trace = u * (m[0][0][b] + m[1][1][b] + m[2][2][b]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    tile[3 * i + j][b] =
                        i == j ? (l + u) * m[i][i][b] + trace : l * m[i][j][b] + u * m[j][i][b];
        }
    }
}
HX_VERSIONS(elasticity,
            (const hx_cell_rule *rule, hx_point_lanes x, double l, double u, int n_own,
             const int own[N], row_tiles *rows),
            (rule, x, l, u, n_own, own, rows))

HX_INLINED void conduction_lanes(const hx_cell_rule *rule, hx_point_lanes x, double modulus,
                                 int n_own, const int own[N], row_tiles *rows)
{
    hx_point_lanes h[HX_RULE_GAUSS];
    root_gradients(rule, x, h);
    for (int k = 0; k < n_own; k++) {
        double sum[N] = {0.0};
        for (int q = 0; q < rule->n_gauss; q++)
            for (int i = 0; i < 3; i++)
                for (int b = 0; b < N; b++) sum[b] += h[q][i][own[k]] * h[q][i][b];
        for (int b = 0; b < N; b++) rows[k][0][b] = modulus * sum[b];
    }
}
HX_VERSIONS(conduction,
            (const hx_cell_rule *rule, hx_point_lanes x, double modulus, int n_own,
             const int own[N], row_tiles *rows),
            (rule, x, modulus, n_own, own, rows))

/* Adds the tiles of a point to its row; `pair` is the pair of the point with the cell's first
 * point. */
static void add_point_row(const hx_matrix *m, int64_t row, int64_t pair, int n, row_tiles tile)
{
    const hx_device_pattern *p = &m->pattern;
    const int n_entry = (int)(p->d_row_ptr[row + 1] - p->d_row_ptr[row]), c = m->spec.components;
    for (int b = 0; b < n; b++) {
        const int slot = hx_slot_at(p->d_slot, p->slot_bytes, pair + b);
        int stride;
        if (slot < 0) continue;
        double *const k = (double *)m->d_value + hx_cpu_block(m, row, n_entry, slot, &stride);
        for (int t = 0; t < c * c; t++) k[t / c * stride + t % c] += tile[t][b];
    }
}

void hx_cpu_add_points(const hx_matrix *m, const hx_fill_input *input, int64_t cell, int64_t first,
                       int64_t end)
{
    const hx_incidence *in = &input->incidence;
    const hx_cell_rule *rule = &input->rule[in->kind[cell]];
    const int32_t *const point = in->point + hx_incidence_first(in, cell);
    const double modulus = input->d_modulus[cell];
    const int n = hx_incidence_count(in, cell);
    int own[N], n_own = 0;
    hx_point_lanes x;
    row_tiles rows[N];
    hx_points_load(in, cell, input->d_xyz, x);
    for (int a = 0; a < n; a++)
        if (point[a] >= first && point[a] < end) own[n_own++] = a;
    if (input->form.kind == HX_FORM_ELASTICITY)
        elasticity(rule, x, modulus * input->form.lambda, modulus * input->form.mu, n_own, own,
                   rows);
    else
        conduction(rule, x, modulus, n_own, own, rows);
    for (int k = 0; k < n_own; k++)
        add_point_row(m, point[own[k]] - m->pattern.row_first,
                      hx_incidence_pair(in, cell) + (int64_t)own[k] * n, n, rows[k]);
}
