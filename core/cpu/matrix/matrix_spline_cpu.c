/* Rows of a matrix from the cells of a spline: the tiles of a control point with eight others of
 * the cell at once, in nine vectors. */
#include <math.h>
#include <string.h>

#include "matrix_cpu.h"
#include "spline_points_cpu.h"

enum { W = 8, BLOCKS = HX_SPLINE_LANES / W };

typedef double lanes __attribute__((vector_size(W * sizeof(double))));

/* A cell being processed: h = sqrt(w det) grad R at its Gauss points, in blocks of eight control
 * points, h[(block n + q) 3 + i], and the slots of the pairs. */
typedef struct filled {
    hx_spline_cell cell;
    hx_spline_place place;
    double weight[HX_SPLINE_LANES];
    lanes h[BLOCKS * HX_SPLINE_CELL_POINTS * 3];
} filled;

HX_INLINED void root_gradients_lanes(filled *s)
{
    const int n = s->cell.n;
    const double *const weight = s->cell.weight ? s->weight : NULL;
    double h[3][HX_SPLINE_LANES];
    for (int q = 0; q < n; q++) {
        hx_spline_cell_gradients(&s->cell, &s->place, weight, q, sqrt(s->place.volume[q]), h);
        for (int a = 0; a < n; a += W)
            for (int i = 0; i < 3; i++)
                memcpy(&s->h[(a / W * n + q) * 3 + i], &h[i][a], sizeof(lanes));
    }
}
HX_VERSIONS(root_gradients, (filled * s), (s))

/* tile[3 i + j][b] of control point a and the points b of a block; for heat conduction, tile[0].
 * The products commute, so K is bitwise symmetric. */
HX_INLINED void elasticity_lanes(const filled *s, int a, int block, double l, double u,
                                 double tile[9][W])
{
    const int n = s->cell.n;
    const double *const own = (const double *)&s->h[a / W * n * 3] + a % W;
    const lanes *const h = &s->h[block * n * 3];
    lanes m[3][3] = {{{0.0}}};
    for (int q = 0; q < n; q++) {
        const lanes x = h[3 * q], y = h[3 * q + 1], z = h[3 * q + 2];
        for (int i = 0; i < 3; i++) {
            const double ha = own[(3 * q + i) * W];
            m[i][0] += ha * x;
            m[i][1] += ha * y;
            m[i][2] += ha * z;
        }
    }
    const lanes trace = u * (m[0][0] + m[1][1] + m[2][2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const lanes k = i == j ? (l + u) * m[i][i] + trace : l * m[i][j] + u * m[j][i];
            memcpy(tile[3 * i + j], &k, sizeof k);
        }
}
HX_VERSIONS(elasticity, (const filled *s, int a, int block, double l, double u, double tile[9][W]),
            (s, a, block, l, u, tile))

HX_INLINED void conduction_lanes(const filled *s, int a, int block, double modulus,
                                 double tile[9][W])
{
    const int n = s->cell.n;
    const double *const own = (const double *)&s->h[a / W * n * 3] + a % W;
    const lanes *const h = &s->h[block * n * 3];
    lanes m[3] = {{0.0}};
    for (int q = 0; q < n; q++)
        for (int i = 0; i < 3; i++) m[i] += own[(3 * q + i) * W] * h[3 * q + i];
    const lanes k = modulus * (m[0] + m[1] + m[2]);
    memcpy(tile[0], &k, sizeof k);
}
HX_VERSIONS(conduction, (const filled *s, int a, int block, double modulus, double tile[9][W]),
            (s, a, block, modulus, tile))

/* Adds the tiles of a control point with a block; slot[b] < 0: no entry. */
static void add_block(const hx_matrix *m, int64_t row, int n_entry, const int slot[W],
                      double tile[9][W])
{
    const int c = m->spec.components;
    for (int b = 0; b < W; b++) {
        int stride;
        if (slot[b] < 0) continue;
        double *const k = (double *)m->d_value + hx_cpu_block(m, row, n_entry, slot[b], &stride);
        if (c == 1) {
            k[0] += tile[0][b];
            continue;
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) k[i * stride + j] += tile[3 * i + j][b];
    }
}

/* Adds the contributions of a cell to the row of its control point a. */
static void add_control_row(const hx_matrix *m, const hx_fill_input *input, const filled *s,
                            int64_t e, int a)
{
    const hx_device_pattern *const p = &m->pattern;
    const double modulus = input->d_modulus[e];
    const int n = s->cell.n;
    const int64_t row = s->cell.point[a] - p->row_first;
    const int n_entry = (int)(p->d_row_ptr[row + 1] - p->d_row_ptr[row]);
    const int64_t pair = hx_incidence_pair(&input->incidence, e) + (int64_t)a * n;
    for (int first = 0; first < n; first += W) {
        double tile[9][W];
        int slot[W], any = 0;
        for (int b = 0; b < W; b++) {
            slot[b] = first + b < n ? hx_slot_at(p->d_slot, p->slot_bytes, pair + first + b) : -1;
            any |= slot[b] >= 0;
        }
        if (!any) continue;
        if (input->form.kind == HX_FORM_ELASTICITY)
            elasticity(s, a, first / W, modulus * input->form.lambda, modulus * input->form.mu,
                       tile);
        else
            conduction(s, a, first / W, modulus, tile);
        add_block(m, row, n_entry, slot, tile);
    }
}

void hx_cpu_add_spline(const hx_matrix *m, const hx_fill_input *input, int64_t e, int64_t first,
                       int64_t end)
{
    filled s;
    hx_cpu_spline_cell(&input->incidence, e, &s.cell);
    hx_spline_cell_map(&s.cell, input->d_xyz, &s.place);
    for (int a = 0; s.cell.weight && a < s.cell.n; a++)
        s.weight[a] = s.cell.weight[s.cell.point[a]];
    root_gradients(&s);
    for (int a = 0; a < s.cell.n; a++)
        if (s.cell.point[a] >= first && s.cell.point[a] < end) add_control_row(m, input, &s, e, a);
}
