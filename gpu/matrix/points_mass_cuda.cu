// The consistent mass of quadratic cells on the GPU: one warp per point, which processes its cells
// in ascending order, or one warp per cell. The lanes are the Gauss points.
#include "core/problem/body_force.h"
#include "points_warp.cuh"

namespace
{

// int N_a x dV at the points of a space, for n_vector vectors x.
__global__ void __launch_bounds__(32 * WARPS)
    mass_kernel(space_view s, hx_device_materials materials, double density,
                const double *__restrict__ rho, int n_vector, hx_mass_vectors v)
{
    __shared__ nodal shared[WARPS];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t point = warp_of_grid();
    if (point >= s.in.n_point) return;
    nodal &x = shared[threadIdx.x / 32];
    double sum[HX_MASS_AT_ONCE][3] = {};
    for (int64_t p = s.in.point_ptr[point]; p < s.in.point_ptr[point + 1]; p++) {
        const int64_t place = s.in.point_place[p], cell = hx_incidence_cell(&s.in, place);
        const int a = static_cast<int>(place - hx_incidence_first(&s.in, cell));
        const int n = hx_incidence_count(&s.in, cell);
        const hx_point_rule &rule = s.rule[hx_cell_load_rule(s.in.kind[cell], 1)];
        const double mass = density * hx_mass_factor(&materials, cell) * hx_mass_of(rho[cell]);
        double j[3][3], adjoint[3][3], w = 0.0;
        load_points(s.in, cell, s.xyz, x);
        if (rule.weight[lane] > 0.0) {
            differentiate(rule, n, lane, x, j);
            w = mass * rule.weight[lane] * invert(j, adjoint) * rule.shape[a][lane];
        }
#pragma unroll
        for (int i = 0; i < HX_MASS_AT_ONCE; i++) {
            double at[3];
            if (i >= n_vector) continue;
            load_points(s.in, cell, v.x[i], x);
            if (!(rule.weight[lane] > 0.0)) continue;
            interpolate(rule, n, lane, x, at);
#pragma unroll
            for (int d = 0; d < 3; d++) sum[i][d] += w * at[d];
        }
    }
#pragma unroll
    for (int i = 0; i < HX_MASS_AT_ONCE; i++) {
        if (i >= n_vector) continue;
#pragma unroll
        for (int d = 0; d < 3; d++) {
            const double all = sum_lanes(sum[i][d]);
            if (lane == 0) v.y[i][3 * point + d] = all;
        }
    }
}

// dg += factor m'(rho) int |v|^2 dV.
__global__ void __launch_bounds__(32 * WARPS)
    mass_work_kernel(space_view s, hx_device_materials materials, double factor,
                     const double *__restrict__ rho, const double *__restrict__ v,
                     double *__restrict__ dg)
{
    __shared__ nodal shared[WARPS][2];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t cell = warp_of_grid();
    if (cell >= s.in.n_cell) return;
    nodal *const x = shared[threadIdx.x / 32];
    const hx_point_rule &rule = s.rule[hx_cell_load_rule(s.in.kind[cell], 1)];
    const int n = hx_incidence_count(&s.in, cell);
    double j[3][3], adjoint[3][3], at[3], mine = 0.0;
    load_points(s.in, cell, s.xyz, x[0]);
    load_points(s.in, cell, v, x[1]);
    if (rule.weight[lane] > 0.0) {
        differentiate(rule, n, lane, x[0], j);
        interpolate(rule, n, lane, x[1], at);
        mine = rule.weight[lane] * invert(j, adjoint) *
               (at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
    }
    mine = sum_lanes(mine);
    if (lane == 0)
        dg[cell] += factor * hx_mass_factor(&materials, cell) * hx_mass_slope(rho[cell]) * mine;
}

} // namespace

int hx_cuda_points_mass(hx_device *dev, const hx_device_model *model, const hx_device_mass *mass,
                        int n_vector, const hx_mass_vectors &v)
{
    space_view s;
    HX_TRY(find_space(dev, model, &s));
    return hx_launch<32 * WARPS>(dev, "mass of quadratic cells", 32 * s.in.n_point, mass_kernel, s,
                                 model->materials, mass->density, mass->d_rho, n_vector, v);
}

int hx_cuda_points_mass_work(hx_device *dev, const hx_device_model *model,
                             const hx_device_mass *mass, double factor, const double *d_v,
                             double *d_dg)
{
    space_view s;
    HX_TRY(find_space(dev, model, &s));
    return hx_launch<32 * WARPS>(dev, "mass work of quadratic cells", 32 * s.in.n_cell,
                                 mass_work_kernel, s, model->materials, factor * mass->density,
                                 mass->d_rho, d_v, d_dg);
}
