/* The consistent mass on the CPU (mass_ops.h): the matrix of an element is computed once for all
 * vectors of a call. Elements scatter colour by colour, so sums have a fixed order. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../operator/mass_cell.h"
#include "../device/cpu_ops.h"
#include "../matrix/points_cpu.h"
#include "colouring.h"

enum { LANES = HX_POINT_LANES };

/* int N_a N_b dV of one cell; 0 after its last point. */
typedef double cell_matrix[LANES][LANES];

/* m[a][b] += weight[q] N_a N_b over the points q; n: rows, width: columns rounded up. */
HX_INLINED void add_mass_points_lanes(int n_point, int n, int width, const double *shape,
                                      const double *weight, cell_matrix m)
{
    for (int q = 0; q < n_point; q++) {
        const double *const s = shape + q * width;
        for (int a = 0; a < n; a++) {
            const double w = weight[q] * s[a];
            for (int b = 0; b < width; b++) m[a][b] += w * s[b];
        }
    }
}
HX_VERSIONS(add_mass_points,
            (int n_point, int n, int width, const double *shape, const double *weight,
             cell_matrix m),
            (n_point, n, width, shape, weight, m))

/* Shape functions of hex8 at the points of both rules. */
typedef struct tables {
    double shape[2][HX_HEX20_GAUSS][8];
} tables;

static void make_tables(tables *t)
{
    for (int collapsed = 0; collapsed < 2; collapsed++)
        for (int q = 0; q < hx_mass_points(collapsed); q++) {
            double at[3];
            (void)hx_mass_point(collapsed, q, at);
            for (int a = 0; a < 8; a++)
                t->shape[collapsed][q][a] = hx_hex8_shape(a, at[0], at[1], at[2]);
        }
}

/* A cell of linear elements: its points and their matrix. Returns the number of points. */
static int linear_cell(const hx_device_model *model, const tables *t, int64_t cell,
                       int32_t point[LANES], cell_matrix m)
{
    const int32_t *const conn = model->d_conn + 8 * cell;
    const int is_collapsed = model->has_collapsed && hx_cell_is_collapsed(conn);
    double x[24], map[8][3], weight[HX_HEX20_GAUSS];
    int corner[8];
    hx_hex8_gather(conn, model->d_xyz, x);
    if (is_collapsed && hx_cell_distinct(conn, corner) == 4) {
        const double part = hx_mass_tetrahedron(x, corner);
        for (int a = 0; a < 4; a++) {
            point[a] = conn[corner[a]];
            for (int b = 0; b < 4; b++) m[a][b] = a == b ? 2.0 * part : part;
        }
        return 4;
    }
    hx_hex8_coefficients(x, map);
    for (int q = 0; q < hx_mass_points(is_collapsed); q++) {
        double at[3];
        weight[q] = hx_mass_point(is_collapsed, q, at);
        weight[q] *= hx_hex8_determinant(map, at);
    }
    for (int a = 0; a < 8; a++) memset(m[a], 0, sizeof m[a]);
    add_mass_points(hx_mass_points(is_collapsed), 8, 8, t->shape[is_collapsed][0], weight, m);
    memcpy(point, conn, 8 * sizeof *point);
    return 8;
}

/* A quadratic cell: its points and their matrix. */
static int quadratic_cell(const hx_device_model *model, int64_t cell, int32_t point[LANES],
                          cell_matrix m)
{
    const hx_incidence *const in = model->points;
    const hx_cell_rule *const rule = &model->rule[hx_cell_load_rule(in->kind[cell], 1)];
    const int n = hx_incidence_count(in, cell);
    double weight[HX_RULE_GAUSS];
    hx_point_lanes x;
    hx_points_load(in, cell, model->d_xyz, x);
    for (int q = 0; q < rule->n_gauss; q++) {
        double adjoint[3][3];
        weight[q] = rule->weight[q] * hx_points_jacobian(rule->gradient[q], x, adjoint);
    }
    for (int a = 0; a < n; a++) memset(m[a], 0, sizeof m[a]);
    add_mass_points(rule->n_gauss, n, LANES, rule->shape[0], weight, m);
    memcpy(point, in->point + hx_incidence_first(in, cell), (size_t)n * sizeof *point);
    return n;
}

static int cell_of(const hx_device_model *model, const tables *t, int64_t cell,
                   int32_t point[LANES], cell_matrix m)
{
    return model->points ? quadratic_cell(model, cell, point, m)
                         : linear_cell(model, t, cell, point, m);
}

/* y += factor m x at the points of a cell. */
static void add_product(int n, const int32_t *point, double factor, cell_matrix m, const double *x,
                        double *y)
{
    double xe[LANES][3];
    for (int b = 0; b < n; b++) memcpy(xe[b], x + 3 * (int64_t)point[b], sizeof xe[b]);
    for (int a = 0; a < n; a++) {
        double *const ya = y + 3 * (int64_t)point[a];
        double sum[3] = {0.0, 0.0, 0.0};
        for (int b = 0; b < n; b++)
            for (int i = 0; i < 3; i++) sum[i] += m[a][b] * xe[b][i];
        for (int i = 0; i < 3; i++) ya[i] += factor * sum[i];
    }
}

static int cpu_setup(hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
                     void **state)
{
    hx_colouring *colouring;
    (void)dev, (void)model;
    HX_TRY(hx_alloc(&colouring, 1, sizeof *colouring, "colours of the mass"));
    *state = colouring;
    return hx_colouring_create(colouring, mesh);
}

static void cpu_teardown(hx_device *dev, void *state)
{
    (void)dev;
    if (state) hx_colouring_free(state);
    free(state);
}

static int cpu_apply(hx_device *dev, const hx_device_model *model, const hx_device_mass *mass,
                     int n_vector, const double *const d_x[], double *const d_y[])
{
    const hx_colouring *const colouring = mass->state;
    tables t;
    (void)dev;
    make_tables(&t);
    for (int k = 0; k < n_vector; k++)
        memset(d_y[k], 0, 3 * (size_t)model->n_point * sizeof *d_y[k]);
#pragma omp parallel
    for (int c = 0; c < colouring->n_colour; c++) {
#pragma omp for schedule(static)
        for (int64_t i = colouring->begin[c]; i < colouring->begin[c + 1]; i++) {
            const int64_t e = colouring->elem[i];
            const double factor =
                mass->density * hx_mass_factor(&model->materials, e) * hx_mass_of(mass->d_rho[e]);
            int32_t point[LANES];
            cell_matrix m;
            const int n = cell_of(model, &t, e, point, m);
            for (int k = 0; k < n_vector; k++) add_product(n, point, factor, m, d_x[k], d_y[k]);
        }
    }
    return HX_OK;
}

static int cpu_work(hx_device *dev, const hx_device_model *model, const hx_device_mass *mass,
                    double factor, const double *d_v, double *d_dg)
{
    tables t;
    (void)dev;
    make_tables(&t);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < model->n_elem; e++) {
        int32_t point[LANES];
        cell_matrix m;
        double work = 0.0;
        const int n = cell_of(model, &t, e, point, m);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                for (int i = 0; i < 3; i++)
                    work +=
                        m[a][b] * d_v[3 * (int64_t)point[a] + i] * d_v[3 * (int64_t)point[b] + i];
        d_dg[e] += factor * mass->density * hx_mass_factor(&model->materials, e) *
                   hx_mass_slope(mass->d_rho[e]) * work;
    }
    return HX_OK;
}

const hx_mass_ops hx_cpu_mass_ops = {
    .setup = cpu_setup,
    .apply = cpu_apply,
    .work = cpu_work,
    .teardown = cpu_teardown,
};
