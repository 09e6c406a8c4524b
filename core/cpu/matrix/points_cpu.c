/* Operations computed from the coordinates of quadratic cells on the CPU
 * (element_ops.h, conduction_ops.h): point by point in a fixed order, or cell by cell. */
#include "points_cpu.h"

#include "../../linalg/block3.h"
#include "../../mesh/hex8.h"
#include "../../problem/body_force.h"
#include "../../problem/expansion.h"
#include "../../problem/simp.h"
#include "../device/cpu_ops.h"
#include "spline_points_cpu.h"

enum { N = HX_POINT_LANES };

/* Returns the quadrature rule of a cell and loads the coordinates of its points. */
static const hx_cell_rule *load_cell(const hx_device_model *model, int64_t cell, hx_point_lanes x)
{
    hx_points_load(model->points, cell, model->d_xyz, x);
    return &model->rule[model->points->kind[cell]];
}

/* u' Ke u of a cell for unit modulus: the sum over its quadrature points of the energy of
 * hx_hex8_energy. */
HX_INLINED double energy_of_lanes(const hx_cell_rule *rule, hx_point_lanes x, hx_point_lanes u,
                                  double lambda, double mu)
{
    double energy = 0.0;
    for (int q = 0; q < rule->n_gauss; q++) {
        double adjoint[3][3], h[3][3];
        hx_point_lanes g;
        const double det = hx_points_jacobian(rule->gradient[q], x, adjoint);
        hx_points_gradients(rule->gradient[q], adjoint, 1.0 / det, g);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double sum = 0.0;
                for (int a = 0; a < N; a++) sum += u[i][a] * g[j][a];
                h[i][j] = sum;
            }
        const double trace = h[0][0] + h[1][1] + h[2][2];
        const double xy = h[0][1] + h[1][0], yz = h[1][2] + h[2][1], xz = h[0][2] + h[2][0];
        energy += rule->weight[q] * det *
                  (lambda * trace * trace + mu * (xy * xy + yz * yz + xz * xz) +
                   2.0 * mu * (h[0][0] * h[0][0] + h[1][1] * h[1][1] + h[2][2] * h[2][2]));
    }
    return energy;
}
HX_VERSIONS_OF(double, energy_of,
               (const hx_cell_rule *rule, hx_point_lanes x, hx_point_lanes u, double lambda,
                double mu),
               (rule, x, u, lambda, mu))

int hx_cpu_points_energy(const hx_device_model *model, const double *d_u, double *d_energy)
{
    if (model->points->spline) return hx_cpu_spline_energy(model, d_u, d_energy);
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < model->n_elem; cell++) {
        hx_point_lanes x, u;
        const hx_cell_rule *rule = load_cell(model, cell, x);
        hx_points_load(model->points, cell, d_u, u);
        d_energy[cell] = energy_of(rule, x, u, model->lambda, model->mu);
    }
    return HX_OK;
}

/* m = sum of w det g_a g_a' over the Gauss points. */
HX_INLINED void own_product_lanes(const hx_cell_rule *rule, hx_point_lanes x, int a, double m[3][3])
{
    memset(m, 0, 9 * sizeof(double));
    for (int q = 0; q < rule->n_gauss; q++) {
        double adjoint[3][3], g[3];
        const double det = hx_points_jacobian(rule->gradient[q], x, adjoint);
        for (int i = 0; i < 3; i++) {
            g[i] = 0.0;
            for (int k = 0; k < 3; k++) g[i] += adjoint[i][k] * rule->gradient[q][k][a];
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) m[i][j] += rule->weight[q] / det * g[i] * g[j];
    }
}
HX_VERSIONS(own_product, (const hx_cell_rule *rule, hx_point_lanes x, int a, double m[3][3]),
            (rule, x, a, m))

/* Loops over the places of a point: its cell, and its number in the cell. */
/* NOLINTBEGIN(bugprone-macro-parentheses): cell and a are declared */
#define FOR_CELLS(in, point, cell, a)                                                              \
    for (int64_t k_ = (in)->point_ptr[point], cell = 0, a = 0;                                     \
         k_ < (in)->point_ptr[(point) + 1] &&                                                      \
         (cell = hx_incidence_cell(in, (in)->point_place[k_]),                                     \
         a = (in)->point_place[k_] - hx_incidence_first(in, cell), 1);                             \
         k_++)

/* NOLINTEND(bugprone-macro-parentheses) */
int hx_cpu_points_block_diagonal(const hx_device_model *model, double *d_block)
{
    if (model->points->spline) return hx_cpu_spline_block_diagonal(model, d_block);
    const hx_incidence *in = model->points;
#pragma omp parallel for schedule(static)
    for (int64_t point = 0; point < in->n_point; point++) {
        double sum[6] = {0.0};
        FOR_CELLS(in, point, cell, a)
        {
            hx_point_lanes x;
            double m[3][3], tile[3][3];
            const hx_cell_rule *rule = load_cell(model, cell, x);
            own_product(rule, x, (int)a, m);
            hx_form_elasticity(model->d_modulus[cell], model->lambda, model->mu,
                               (const double(*)[3])m, tile);
            for (int i = 0; i < 3; i++)
                for (int j = i; j < 3; j++) sum[hx_block3_at(i, j)] += tile[i][j];
        }
        memcpy(d_block + 6 * point, sum, sizeof sum);
    }
    return HX_OK;
}

int hx_cpu_points_diagonal(const hx_device_model *model, double *d_diag)
{
    if (model->points->spline) return hx_cpu_spline_diagonal(model, d_diag);
    const hx_incidence *in = model->points;
#pragma omp parallel for schedule(static)
    for (int64_t point = 0; point < in->n_point; point++) {
        double sum[3] = {0.0};
        FOR_CELLS(in, point, cell, a)
        {
            hx_point_lanes x;
            double m[3][3], tile[3][3];
            const hx_cell_rule *rule = load_cell(model, cell, x);
            own_product(rule, x, (int)a, m);
            hx_form_elasticity(model->d_modulus[cell], model->lambda, model->mu,
                               (const double(*)[3])m, tile);
            for (int i = 0; i < 3; i++) sum[i] += tile[i][i];
        }
        memcpy(d_diag + 3 * point, sum, sizeof sum);
    }
    return HX_OK;
}

/* --- heat conduction --- */

int hx_cpu_points_conduction_diagonal(const hx_device_model *model, double *d_diag)
{
    if (model->points->spline) return hx_cpu_spline_conduction_diagonal(model, d_diag);
    const hx_incidence *in = model->points;
#pragma omp parallel for schedule(static)
    for (int64_t point = 0; point < in->n_point; point++) {
        double sum = 0.0;
        FOR_CELLS(in, point, cell, a)
        {
            hx_point_lanes x;
            double m[3][3];
            const hx_cell_rule *rule = load_cell(model, cell, x);
            own_product(rule, x, (int)a, m);
            sum += model->d_modulus[cell] * (m[0][0] + m[1][1] + m[2][2]);
        }
        d_diag[point] = sum;
    }
    return HX_OK;
}

/* t' Ke t of a cell for unit conductivity. */
HX_INLINED double heat_energy_of_lanes(const hx_cell_rule *rule, hx_point_lanes x,
                                       const double t[N])
{
    double energy = 0.0;
    for (int q = 0; q < rule->n_gauss; q++) {
        double adjoint[3][3];
        hx_point_lanes g;
        const double det = hx_points_jacobian(rule->gradient[q], x, adjoint);
        hx_points_gradients(rule->gradient[q], adjoint, 1.0 / det, g);
        for (int i = 0; i < 3; i++) {
            double slope = 0.0;
            for (int a = 0; a < N; a++) slope += t[a] * g[i][a];
            energy += rule->weight[q] * det * slope * slope;
        }
    }
    return energy;
}
HX_VERSIONS_OF(double, heat_energy_of,
               (const hx_cell_rule *rule, hx_point_lanes x, const double t[N]), (rule, x, t))

int hx_cpu_points_conduction_energy(const hx_device_model *model, const double *d_t,
                                    double *d_energy)
{
    if (model->points->spline) return hx_cpu_spline_conduction_energy(model, d_t, d_energy);
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < model->n_elem; cell++) {
        const hx_incidence *in = model->points;
        const int32_t *const point = in->point + hx_incidence_first(in, cell);
        const int n = hx_incidence_count(in, cell);
        double t[N] = {0.0};
        hx_point_lanes x;
        const hx_cell_rule *rule = load_cell(model, cell, x);
        for (int a = 0; a < n; a++) t[a] = d_t[point[a]];
        d_energy[cell] = heat_energy_of(rule, x, t);
    }
    return HX_OK;
}

/* --- loads proportional to mass --- */

/* load_cell() with the quadrature rule that integrates the load exactly. */
static const hx_cell_rule *load_mass_cell(const hx_device_model *model, int64_t cell,
                                          const hx_body_field *field, hx_point_lanes x)
{
    hx_points_load(model->points, cell, model->d_xyz, x);
    return &model->rule[hx_body_rule(field, model->points->kind[cell])];
}

/* Interpolates point values at a Gauss point. */
HX_INLINED void interpolate(const double shape[N], hx_point_lanes v, double at[3])
{
    for (int i = 0; i < 3; i++) {
        double sum = 0.0;
        for (int a = 0; a < N; a++) sum += shape[a] * v[i][a];
        at[i] = sum;
    }
}

/* f = int N_a b dV of a solid cell. */
HX_INLINED void body_of_lanes(const hx_cell_rule *rule, hx_point_lanes x, int a,
                              const hx_body_field *field, double f[3])
{
    f[0] = f[1] = f[2] = 0.0;
    for (int q = 0; q < rule->n_gauss; q++) {
        double adjoint[3][3], at[3], b[3];
        const double det = hx_points_jacobian(rule->gradient[q], x, adjoint);
        interpolate(rule->shape[q], x, at);
        hx_body_at(field, at, b);
        for (int i = 0; i < 3; i++) f[i] += rule->weight[q] * det * rule->shape[q][a] * b[i];
    }
}
HX_VERSIONS(body_of,
            (const hx_cell_rule *rule, hx_point_lanes x, int a, const hx_body_field *field,
             double f[3]),
            (rule, x, a, field, f))

int hx_cpu_points_body_force(const hx_device_model *model, const hx_body_field *field,
                             const double *d_rho, const double *d_static, double *d_f)
{
    if (model->points->spline) return hx_cpu_spline_body_force(model, field, d_rho, d_static, d_f);
    const hx_incidence *in = model->points;
#pragma omp parallel for schedule(static)
    for (int64_t point = 0; point < in->n_point; point++) {
        double sum[3] = {0.0, 0.0, 0.0};
        if (d_static) memcpy(sum, d_static + 3 * point, sizeof sum);
        FOR_CELLS(in, point, cell, a)
        {
            hx_point_lanes x;
            double f[3];
            const hx_cell_rule *rule = load_mass_cell(model, cell, field, x);
            body_of(rule, x, (int)a, field, f);
            const double mass = hx_mass_factor(&model->materials, cell) * hx_mass_of(d_rho[cell]);
            for (int i = 0; i < 3; i++) sum[i] += mass * f[i];
        }
        memcpy(d_f + 3 * point, sum, sizeof sum);
    }
    return HX_OK;
}

/* int u . b dV of a solid cell. */
HX_INLINED double work_of_lanes(const hx_cell_rule *rule, hx_point_lanes x, hx_point_lanes u,
                                const hx_body_field *field)
{
    double work = 0.0;
    for (int q = 0; q < rule->n_gauss; q++) {
        double adjoint[3][3], at[3], b[3], v[3];
        const double det = hx_points_jacobian(rule->gradient[q], x, adjoint);
        interpolate(rule->shape[q], x, at);
        interpolate(rule->shape[q], u, v);
        hx_body_at(field, at, b);
        work += rule->weight[q] * det * (v[0] * b[0] + v[1] * b[1] + v[2] * b[2]);
    }
    return work;
}
HX_VERSIONS_OF(double, work_of,
               (const hx_cell_rule *rule, hx_point_lanes x, hx_point_lanes u,
                const hx_body_field *field),
               (rule, x, u, field))

int hx_cpu_points_body_work(const hx_device_model *model, const hx_body_field *field, double factor,
                            const double *d_rho, const double *d_u, double *d_dc)
{
    if (model->points->spline)
        return hx_cpu_spline_body_work(model, field, factor, d_rho, d_u, d_dc);
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < model->n_elem; cell++) {
        hx_point_lanes x, u;
        const hx_cell_rule *rule = load_mass_cell(model, cell, field, x);
        hx_points_load(model->points, cell, d_u, u);
        const double slope = hx_mass_factor(&model->materials, cell) * hx_mass_slope(d_rho[cell]);
        d_dc[cell] += factor * slope * work_of(rule, x, u, field);
    }
    return HX_OK;
}

/* --- loads by thermal expansion --- */

/* g = int grad N_a dV. */
HX_INLINED void gradient_of_lanes(const hx_cell_rule *rule, hx_point_lanes x, int a, double g[3])
{
    g[0] = g[1] = g[2] = 0.0;
    for (int q = 0; q < rule->n_gauss; q++) {
        double adjoint[3][3];
        hx_points_jacobian(rule->gradient[q], x, adjoint);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                g[i] += rule->weight[q] * adjoint[i][k] * rule->gradient[q][k][a];
    }
}
HX_VERSIONS(gradient_of, (const hx_cell_rule *rule, hx_point_lanes x, int a, double g[3]),
            (rule, x, a, g))

int hx_cpu_points_expansion_force(const hx_device_model *model,
                                  const hx_device_expansion *expansion, const double *d_static,
                                  double *d_f)
{
    const hx_incidence *in = model->points;
    const double stiffness = hx_expansion_stiffness(model->lambda, model->mu);
#pragma omp parallel for schedule(static)
    for (int64_t point = 0; point < in->n_point; point++) {
        double sum[3] = {0.0, 0.0, 0.0};
        if (d_static) memcpy(sum, d_static + 3 * point, sizeof sum);
        FOR_CELLS(in, point, cell, a)
        {
            hx_point_lanes x;
            double g[3];
            const hx_cell_rule *rule = load_cell(model, cell, x);
            gradient_of(rule, x, (int)a, g);
            const double p = model->d_modulus[cell] * stiffness * hx_device_strain(expansion, cell);
            for (int i = 0; i < 3; i++) sum[i] += p * g[i];
        }
        memcpy(d_f + 3 * point, sum, sizeof sum);
    }
    return HX_OK;
}

/* int div u dV. */
HX_INLINED double divergence_of_lanes(const hx_cell_rule *rule, hx_point_lanes x, hx_point_lanes u)
{
    double sum = 0.0;
    for (int q = 0; q < rule->n_gauss; q++) {
        double adjoint[3][3];
        hx_points_jacobian(rule->gradient[q], x, adjoint);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                double du = 0.0;
                for (int a = 0; a < N; a++) du += rule->gradient[q][k][a] * u[i][a];
                sum += rule->weight[q] * adjoint[i][k] * du;
            }
    }
    return sum;
}
HX_VERSIONS_OF(double, divergence_of,
               (const hx_cell_rule *rule, hx_point_lanes x, hx_point_lanes u), (rule, x, u))

int hx_cpu_points_expansion_work(const hx_device_model *model, const hx_device_expansion *expansion,
                                 double factor, double least, double penalty, const double *d_rho,
                                 const double *d_u, double *d_dc)
{
    const double stiffness = hx_expansion_stiffness(model->lambda, model->mu);
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < model->n_elem; cell++) {
        hx_point_lanes x, u;
        const hx_cell_rule *rule = load_cell(model, cell, x);
        hx_points_load(model->points, cell, d_u, u);
        const double p = stiffness * hx_device_strain(expansion, cell);
        d_dc[cell] += factor * hx_simp_slope(least, penalty, model->d_modulus[cell], d_rho[cell]) *
                      p * divergence_of(rule, x, u);
    }
    return HX_OK;
}
