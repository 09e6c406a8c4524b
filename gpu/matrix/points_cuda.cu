// Operations computed from the coordinates of quadratic cells: one warp per cell, or one warp per
// point, which processes its cells in ascending order. The lanes are the Gauss points, and their
// sums have a fixed order. Not performance-critical.
#include <cstdlib>

#include "core/base/memory.h"
#include "core/linalg/block3.h"
#include "core/problem/body_force.h"
#include "core/problem/expansion.h"
#include "core/problem/simp.h"
#include "points_warp.cuh"

namespace
{

// u' Ke u of a cell for unit modulus.
__global__ void __launch_bounds__(32 * WARPS)
    energy_kernel(space_view s, double lambda, double mu, const double *__restrict__ u,
                  double *__restrict__ energy)
{
    __shared__ nodal shared[WARPS][2];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t cell = warp_of_grid();
    if (cell >= s.in.n_cell) return;
    nodal *const v = shared[threadIdx.x / 32];
    const hx_point_rule &rule = s.rule[s.in.kind[cell]];
    const int n = hx_incidence_count(&s.in, cell);
    const double weight = rule.weight[lane];
    double j[3][3], du[3][3], adjoint[3][3], h[3][3], mine = 0.0;
    load_points(s.in, cell, s.xyz, v[0]);
    load_points(s.in, cell, u, v[1]);
    if (weight > 0.0) {
        differentiate(rule, n, lane, v[0], j);
        differentiate(rule, n, lane, v[1], du);
        const double det = invert(j, adjoint), f = 1.0 / det;
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
            for (int k = 0; k < 3; k++)
                h[i][k] = f * (adjoint[k][0] * du[0][i] + adjoint[k][1] * du[1][i] +
                               adjoint[k][2] * du[2][i]);
        const double trace = h[0][0] + h[1][1] + h[2][2];
        const double xy = h[0][1] + h[1][0], yz = h[1][2] + h[2][1], xz = h[0][2] + h[2][0];
        mine = weight * det *
               (lambda * trace * trace + mu * (xy * xy + yz * yz + xz * xz) +
                2.0 * mu * (h[0][0] * h[0][0] + h[1][1] * h[1][1] + h[2][2] * h[2][2]));
    }
    mine = sum_lanes(mine);
    if (lane == 0) energy[cell] = mine;
}

// The tile of a point: modulus (lambda m + mu m' + mu tr m I), m = int g g' dV, summed over its
// cells. Either its six different numbers, or the three of its diagonal.
template <bool WHOLE>
__global__ void __launch_bounds__(32 * WARPS)
    tile_kernel(space_view s, double lambda, double mu, const double *__restrict__ modulus,
                double *__restrict__ out)
{
    constexpr int N = WHOLE ? 6 : 3;
    __shared__ nodal shared[WARPS];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t point = warp_of_grid();
    if (point >= s.in.n_point) return;
    nodal &x = shared[threadIdx.x / 32];
    double m[N] = {};
    for (int64_t p = s.in.point_ptr[point]; p < s.in.point_ptr[point + 1]; p++) {
        const int64_t place = s.in.point_place[p], cell = hx_incidence_cell(&s.in, place);
        const int a = static_cast<int>(place - hx_incidence_first(&s.in, cell));
        const hx_point_rule &rule = s.rule[s.in.kind[cell]];
        const double weight = rule.weight[lane];
        double j[3][3], adjoint[3][3], g[3];
        load_points(s.in, cell, s.xyz, x);
        if (!(weight > 0.0)) continue;
        differentiate(rule, hx_incidence_count(&s.in, cell), lane, x, j);
        const double f = modulus[cell] * weight / invert(j, adjoint);
#pragma unroll
        for (int i = 0; i < 3; i++)
            g[i] = adjoint[i][0] * rule.gradient[0][a][lane] +
                   adjoint[i][1] * rule.gradient[1][a][lane] +
                   adjoint[i][2] * rule.gradient[2][a][lane];
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
            for (int k = i; k < 3; k++) {
                if (WHOLE)
                    m[hx_block3_at(i, k) % N] += f * g[i] * g[k];
                else if (i == k)
                    m[i] += f * g[i] * g[i];
            }
    }
#pragma unroll
    for (int i = 0; i < N; i++) m[i] = sum_lanes(m[i]);
    if (lane != 0) return;
    const int yy = WHOLE ? hx_block3_at(1, 1) : 1, zz = WHOLE ? hx_block3_at(2, 2) : 2;
    const double trace = mu * (m[0] + m[yy % N] + m[zz % N]);
#pragma unroll
    for (int i = 0; i < N; i++) {
        const bool is_diagonal = i == 0 || i == yy || i == zz;
        out[N * point + i] = (lambda + mu) * m[i] + (is_diagonal ? trace : 0.0);
    }
}

// f = static + sum over cells of m(rho) int N b dV.
__global__ void __launch_bounds__(32 * WARPS)
    body_force_kernel(space_view s, hx_body_field field, hx_device_materials materials,
                      const double *__restrict__ rho, const double *fixed_part, double *f)
{
    __shared__ nodal shared[WARPS];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t point = warp_of_grid();
    if (point >= s.in.n_point) return;
    nodal &x = shared[threadIdx.x / 32];
    double sum[3] = {0.0, 0.0, 0.0};
    for (int64_t p = s.in.point_ptr[point]; p < s.in.point_ptr[point + 1]; p++) {
        const int64_t place = s.in.point_place[p], cell = hx_incidence_cell(&s.in, place);
        const int a = static_cast<int>(place - hx_incidence_first(&s.in, cell));
        const int n = hx_incidence_count(&s.in, cell);
        const hx_point_rule &rule = s.rule[hx_body_rule(&field, s.in.kind[cell])];
        double j[3][3], adjoint[3][3], at[3], b[3];
        load_points(s.in, cell, s.xyz, x);
        if (!(rule.weight[lane] > 0.0)) continue;
        differentiate(rule, n, lane, x, j);
        interpolate(rule, n, lane, x, at);
        hx_body_at(&field, at, b);
        const double mass = hx_mass_factor(&materials, cell) * hx_mass_of(rho[cell]);
        const double w = mass * rule.weight[lane] * invert(j, adjoint) * rule.shape[a][lane];
#pragma unroll
        for (int i = 0; i < 3; i++) sum[i] += w * b[i];
    }
#pragma unroll
    for (int i = 0; i < 3; i++) sum[i] = sum_lanes(sum[i]);
    if (lane != 0) return;
    for (int i = 0; i < 3; i++)
        f[3 * point + i] = fixed_part ? fixed_part[3 * point + i] + sum[i] : sum[i];
}

// dc += factor m'(rho) int u . b dV.
__global__ void __launch_bounds__(32 * WARPS)
    body_work_kernel(space_view s, hx_body_field field, hx_device_materials materials,
                     double factor, const double *__restrict__ rho, const double *__restrict__ u,
                     double *__restrict__ dc)
{
    __shared__ nodal shared[WARPS][2];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t cell = warp_of_grid();
    if (cell >= s.in.n_cell) return;
    nodal *const v = shared[threadIdx.x / 32];
    const hx_point_rule &rule = s.rule[hx_body_rule(&field, s.in.kind[cell])];
    const int n = hx_incidence_count(&s.in, cell);
    double j[3][3], adjoint[3][3], at[3], ua[3], b[3], mine = 0.0;
    load_points(s.in, cell, s.xyz, v[0]);
    load_points(s.in, cell, u, v[1]);
    if (rule.weight[lane] > 0.0) {
        differentiate(rule, n, lane, v[0], j);
        interpolate(rule, n, lane, v[0], at);
        interpolate(rule, n, lane, v[1], ua);
        hx_body_at(&field, at, b);
        mine =
            rule.weight[lane] * invert(j, adjoint) * (ua[0] * b[0] + ua[1] * b[1] + ua[2] * b[2]);
    }
    mine = sum_lanes(mine);
    if (lane == 0)
        dc[cell] += factor * (hx_mass_factor(&materials, cell) * hx_mass_slope(rho[cell])) * mine;
}

// f = static + sum over cells of E (3 lambda + 2 mu) strain int grad N dV; stiffness: 3 lambda + 2
// mu.
__global__ void __launch_bounds__(32 * WARPS)
    expansion_force_kernel(space_view s, hx_device_expansion expansion, double stiffness,
                           const double *__restrict__ modulus, const double *fixed_part, double *f)
{
    __shared__ nodal shared[WARPS];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t point = warp_of_grid();
    if (point >= s.in.n_point) return;
    nodal &x = shared[threadIdx.x / 32];
    double sum[3] = {0.0, 0.0, 0.0};
    for (int64_t p = s.in.point_ptr[point]; p < s.in.point_ptr[point + 1]; p++) {
        const int64_t place = s.in.point_place[p], cell = hx_incidence_cell(&s.in, place);
        const int a = static_cast<int>(place - hx_incidence_first(&s.in, cell));
        const hx_point_rule &rule = s.rule[s.in.kind[cell]];
        double j[3][3], adjoint[3][3];
        load_points(s.in, cell, s.xyz, x);
        if (!(rule.weight[lane] > 0.0)) continue;
        differentiate(rule, hx_incidence_count(&s.in, cell), lane, x, j);
        invert(j, adjoint);
        const double w =
            modulus[cell] * stiffness * hx_device_strain(&expansion, cell) * rule.weight[lane];
#pragma unroll
        for (int i = 0; i < 3; i++)
            sum[i] += w * (adjoint[i][0] * rule.gradient[0][a][lane] +
                           adjoint[i][1] * rule.gradient[1][a][lane] +
                           adjoint[i][2] * rule.gradient[2][a][lane]);
    }
#pragma unroll
    for (int i = 0; i < 3; i++) sum[i] = sum_lanes(sum[i]);
    if (lane != 0) return;
    for (int i = 0; i < 3; i++)
        f[3 * point + i] = fixed_part ? fixed_part[3 * point + i] + sum[i] : sum[i];
}

// dc += factor E'(rho) (3 lambda + 2 mu) strain int div u dV; factor includes 3 lambda + 2 mu.
__global__ void __launch_bounds__(32 * WARPS)
    expansion_work_kernel(space_view s, hx_device_expansion expansion, double factor, double least,
                          double penalty, const double *__restrict__ modulus,
                          const double *__restrict__ rho, const double *__restrict__ u,
                          double *__restrict__ dc)
{
    __shared__ nodal shared[WARPS][2];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t cell = warp_of_grid();
    if (cell >= s.in.n_cell) return;
    nodal *const v = shared[threadIdx.x / 32];
    const hx_point_rule &rule = s.rule[s.in.kind[cell]];
    const int n = hx_incidence_count(&s.in, cell);
    double j[3][3], du[3][3], adjoint[3][3], mine = 0.0;
    load_points(s.in, cell, s.xyz, v[0]);
    load_points(s.in, cell, u, v[1]);
    if (rule.weight[lane] > 0.0) {
        differentiate(rule, n, lane, v[0], j);
        differentiate(rule, n, lane, v[1], du);
        invert(j, adjoint);
#pragma unroll
        for (int i = 0; i < 3; i++)
#pragma unroll
            for (int k = 0; k < 3; k++) mine += adjoint[i][k] * du[k][i];
        mine *= rule.weight[lane];
    }
    mine = sum_lanes(mine);
    if (lane == 0)
        dc[cell] += factor * hx_simp_slope(least, penalty, modulus[cell], rho[cell]) *
                    hx_device_strain(&expansion, cell) * mine;
}

void turn_rule(int index, hx_point_rule *to)
{
    hx_cell_rule from;
    hx_cell_rule_make(index, &from);
    *to = {};
    for (int q = 0; q < from.n_gauss; q++) {
        to->weight[q] = from.weight[q];
        for (int a = 0; a < from.n_point; a++) {
            to->shape[a][q] = from.shape[q][a];
            for (int k = 0; k < 3; k++) to->gradient[k][a][q] = from.gradient[q][k][a];
        }
    }
}

} // namespace

int hx_cuda_point_rules(hx_device *dev, const hx_point_rule **d_rule)
{
    hx_cuda *impl = hx_cuda_of(dev);
    *d_rule = impl->d_point_rule;
    if (*d_rule) return HX_OK;
    hx_point_rule *rule;
    HX_TRY(hx_alloc_raw(&rule, HX_N_RULE, sizeof *rule, "rules of quadratic cells"));
    for (int index = 0; index < HX_N_RULE; index++) turn_rule(index, rule + index);
    const int rc = hx_device_put(dev, &impl->d_point_rule, rule, HX_N_RULE * sizeof *rule);
    free(rule);
    *d_rule = impl->d_point_rule;
    return rc;
}

int hx_cuda_points_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    if (model->points->spline) return hx_cuda_spline_diagonal(dev, model, d_diag);
    space_view s;
    HX_TRY(find_space(dev, model, &s));
    return hx_launch<32 * WARPS>(dev, "diagonal of quadratic cells", 32 * s.in.n_point,
                                 tile_kernel<false>, s, model->lambda, model->mu, model->d_modulus,
                                 d_diag);
}

int hx_cuda_points_block_diagonal(hx_device *dev, const hx_device_model *model, double *d_block)
{
    if (model->points->spline) return hx_cuda_spline_block_diagonal(dev, model, d_block);
    space_view s;
    HX_TRY(find_space(dev, model, &s));
    return hx_launch<32 * WARPS>(dev, "diagonal blocks of quadratic cells", 32 * s.in.n_point,
                                 tile_kernel<true>, s, model->lambda, model->mu, model->d_modulus,
                                 d_block);
}

int hx_cuda_points_energy(hx_device *dev, const hx_device_model *model, const double *d_u,
                          double *d_energy)
{
    if (model->points->spline) return hx_cuda_spline_energy(dev, model, d_u, d_energy);
    space_view s;
    HX_TRY(find_space(dev, model, &s));
    return hx_launch<32 * WARPS>(dev, "energy of quadratic cells", 32 * s.in.n_cell, energy_kernel,
                                 s, model->lambda, model->mu, d_u, d_energy);
}

int hx_cuda_points_body_force(hx_device *dev, const hx_device_model *model,
                              const hx_body_field *field, const double *d_rho,
                              const double *d_static, double *d_f)
{
    if (model->points->spline)
        return hx_cuda_spline_body_force(dev, model, field, d_rho, d_static, d_f);
    space_view s;
    HX_TRY(find_space(dev, model, &s));
    return hx_launch<32 * WARPS>(dev, "body force of quadratic cells", 32 * s.in.n_point,
                                 body_force_kernel, s, *field, model->materials, d_rho, d_static,
                                 d_f);
}

int hx_cuda_points_body_work(hx_device *dev, const hx_device_model *model,
                             const hx_body_field *field, double factor, const double *d_rho,
                             const double *d_u, double *d_dc)
{
    if (model->points->spline)
        return hx_cuda_spline_body_work(dev, model, field, factor, d_rho, d_u, d_dc);
    space_view s;
    HX_TRY(find_space(dev, model, &s));
    return hx_launch<32 * WARPS>(dev, "body work of quadratic cells", 32 * s.in.n_cell,
                                 body_work_kernel, s, *field, model->materials, factor, d_rho, d_u,
                                 d_dc);
}

int hx_cuda_points_expansion_force(hx_device *dev, const hx_device_model *model,
                                   const hx_device_expansion *expansion, const double *d_static,
                                   double *d_f)
{
    space_view s;
    HX_TRY(find_space(dev, model, &s));
    return hx_launch<32 * WARPS>(dev, "expansion of quadratic cells", 32 * s.in.n_point,
                                 expansion_force_kernel, s, *expansion,
                                 hx_expansion_stiffness(model->lambda, model->mu), model->d_modulus,
                                 d_static, d_f);
}

int hx_cuda_points_expansion_work(hx_device *dev, const hx_device_model *model,
                                  const hx_device_expansion *expansion, double factor, double least,
                                  double penalty, const double *d_rho, const double *d_u,
                                  double *d_dc)
{
    space_view s;
    HX_TRY(find_space(dev, model, &s));
    return hx_launch<32 * WARPS>(dev, "expansion work of quadratic cells", 32 * s.in.n_cell,
                                 expansion_work_kernel, s, *expansion,
                                 factor * hx_expansion_stiffness(model->lambda, model->mu), least,
                                 penalty, model->d_modulus, d_rho, d_u, d_dc);
}
