// A warp at a quadratic cell, whose lanes are the Gauss points of its rule.
#ifndef HX_POINTS_WARP_CUH
#define HX_POINTS_WARP_CUH

#include "points_cuda.cuh"

namespace
{

constexpr int WARPS = 4; // per thread block
constexpr int POINTS = HX_RULE_POINTS;
constexpr unsigned ALL_LANES = 0xffffffffu;

// A space as seen by kernels.
struct space_view {
    hx_incidence in;
    const hx_point_rule *rule;
    const double *xyz;
};

struct nodal {
    double v[POINTS][3];
};

__device__ __forceinline__ int64_t warp_of_grid()
{
    return blockIdx.x * static_cast<int64_t>(WARPS) + threadIdx.x / 32;
}

// Loads the values at a cell's points for all lanes of a warp.
__device__ __forceinline__ void load_points(const hx_incidence &in, int64_t cell,
                                            const double *__restrict__ from, nodal &to)
{
    const int32_t *const point = in.point + hx_incidence_first(&in, cell);
    const int n = 3 * hx_incidence_count(&in, cell);
    __syncwarp(); // all lanes have finished the preceding cell
    for (int k = static_cast<int>(threadIdx.x) % 32; k < n; k += 32)
        to.v[k / 3][k % 3] = from[3 * static_cast<int64_t>(point[k / 3]) + k % 3];
    __syncwarp();
}

// d[k][i] = derivative of v_i with respect to reference coordinate k.
__device__ __forceinline__ void differentiate(const hx_point_rule &rule, int n, int lane,
                                              const nodal &v, double d[3][3])
{
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int i = 0; i < 3; i++) d[k][i] = 0.0;
#pragma unroll 2
    for (int a = 0; a < n; a++)
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const double g = rule.gradient[k][a][lane];
#pragma unroll
            for (int i = 0; i < 3; i++) d[k][i] += g * v.v[a][i];
        }
}

// adjoint[i][k] = det times dxi_k / dx_i for the Jacobian j[k][i] = dx_i / dxi_k. Returns det.
__device__ __forceinline__ double invert(const double j[3][3], double adjoint[3][3])
{
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            adjoint[i][k] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    return j[0][0] * adjoint[0][0] + j[0][1] * adjoint[1][0] + j[0][2] * adjoint[2][0];
}

// Values at the Gauss point of the lane.
__device__ __forceinline__ void interpolate(const hx_point_rule &rule, int n, int lane,
                                            const nodal &v, double at[3])
{
    at[0] = at[1] = at[2] = 0.0;
    for (int a = 0; a < n; a++)
#pragma unroll
        for (int i = 0; i < 3; i++) at[i] += rule.shape[a][lane] * v.v[a][i];
}

// The result is in lane 0.
__device__ __forceinline__ double sum_lanes(double v)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(ALL_LANES, v, step);
    return v;
}

inline int find_space(hx_device *dev, const hx_device_model *model, space_view *s)
{
    s->in = *model->points;
    s->xyz = model->d_xyz;
    return hx_cuda_point_rules(dev, &s->rule);
}

} // namespace

#endif
