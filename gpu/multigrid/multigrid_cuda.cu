// Multigrid on the GPU (core/multigrid/multigrid.h): smoothing on the mesh, and the tables. Other
// parts are in multigrid_transfer_cuda.cu, multigrid_coarse_cuda.cu, multigrid_inverse_cuda.cu,
// galerkin_cuda.cu, multigrid_blocks_cuda.cu and multigrid_rigid_cuda.cu.
#include "galerkin_means_cuda.cuh"
#include "multigrid_cuda.cuh"

namespace
{

__global__ void invert_kernel(int64_t n, const double *__restrict__ diag, float *__restrict__ m)
{
    const int64_t k = hx_grid_thread();
    if (k < n) m[k] = diag[k] > 0.0 ? static_cast<float>(1.0 / diag[k]) : 0.0f;
}

__global__ void power_start_kernel(int64_t n, const float *__restrict__ m, float *__restrict__ v)
{
    const int64_t k = hx_grid_thread();
    if (k < n) v[k] = m[k] > 0.0f ? hx_mg_start_value(k) : 0.0f;
}

int power_start(hx_device *dev, int64_t n, const float *d_m, float *d_v)
{
    return hx_launch(dev, "multigrid power start", n, power_start_kernel, n, d_m, d_v);
}

// A thread's contribution to v'Dv and t'D^-1 t.
__device__ inline void add_power_sums(int64_t n, const float *__restrict__ m,
                                      const float *__restrict__ t, const float *__restrict__ v,
                                      double (&sum)[2])
{
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto mk = hx_load<N>(m + k), tk = hx_load<N>(t + k), vk = hx_load<N>(v + k);
        for (int i = 0; i < N; i++) {
            if (!(mk.v[i] > 0.0f)) continue;
            sum[0] += static_cast<double>(vk.v[i]) * static_cast<double>(vk.v[i] / mk.v[i]);
            sum[1] += static_cast<double>(tk.v[i]) * static_cast<double>(tk.v[i] * mk.v[i]);
        }
    });
}

__global__ void __launch_bounds__(HX_BLOCK, HX_SUM_PER_SM)
    power_sum_kernel(int64_t n, const float *__restrict__ m, const float *__restrict__ t,
                     const float *__restrict__ v, hx_mg_smoother *smoother, double *result,
                     double *partial, unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    add_power_sums(n, m, t, v, sum);
    if (hx_finish_sums(sum, partial, ticket))
        *result = static_cast<double>(hx_mg_power_result(smoother, sum[0], sum[1]));
}

// Computes only the two sums.
__global__ void __launch_bounds__(HX_BLOCK, HX_SUM_PER_SM)
    power_sums_kernel(int64_t n, const float *__restrict__ m, const float *__restrict__ t,
                      const float *__restrict__ v, double *result, double *partial,
                      unsigned *ticket)
{
    double sum[2] = {0.0, 0.0};
    add_power_sums(n, m, t, v, sum);
    if (!hx_finish_sums(sum, partial, ticket)) return;
    result[0] = sum[0];
    result[1] = sum[1];
}

int power_sums(hx_device *dev, int64_t n, const float *d_m, const float *d_t, const float *d_v,
               double *d_sum)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    if (n == 0) return dev->ops->zero(dev, d_sum, 2 * sizeof *d_sum);
    power_sums_kernel<<<hx_sum_blocks<float>(impl, n, HX_SUM_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_m, d_t, d_v, d_sum, impl->d_partial, impl->d_ticket);
    return HX_LAUNCHED("multigrid power sums");
}

__global__ void power_result_kernel(hx_mg_smoother *smoother, double *sum)
{
    *sum = static_cast<double>(hx_mg_power_result(smoother, sum[0], sum[1]));
}

__global__ void power_scale_kernel(int64_t n, const float *__restrict__ m,
                                   const float *__restrict__ t, const double *__restrict__ scale,
                                   float *__restrict__ v)
{
    const float s = static_cast<float>(*scale);
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto mk = hx_load<N>(m + k), tk = hx_load<N>(t + k);
        hx_pack<float, N> vk;
        for (int i = 0; i < N; i++) vk.v[i] = s * mk.v[i] * tk.v[i];
        hx_store(v + k, vk);
    });
}

int power_end(hx_device *dev, int64_t n, const float *d_m, const float *d_t, double *d_sum,
              float *d_v, hx_mg_smoother *d_smoother)
{
    const cudaStream_t stream = hx_stream_of(dev);
    power_result_kernel<<<1, 1, 0, stream>>>(d_smoother, d_sum);
    HX_TRY_LAUNCH("multigrid power result");
    if (n == 0) return HX_OK;
    power_scale_kernel<<<hx_pack_blocks<float>(n), HX_BLOCK, 0, stream>>>(n, d_m, d_t, d_sum, d_v);
    return HX_LAUNCHED("multigrid power scale");
}

__global__ void bound_kernel(hx_mg_smoother *smoother, double *least, double kept, double safety,
                             double ratio)
{
    hx_mg_smoother_bound(smoother, least, kept, safety, ratio);
}

int bound(hx_device *dev, hx_mg_smoother *d_smoother, double *d_least, double kept, double safety,
          double ratio)
{
    bound_kernel<<<1, 1, 0, hx_stream_of(dev)>>>(d_smoother, d_least, kept, safety, ratio);
    return HX_LAUNCHED("multigrid bound");
}

__global__ void mesh_start_kernel(int64_t n, const hx_mg_smoother *__restrict__ smoother,
                                  const double *__restrict__ r, const float *__restrict__ m,
                                  float *__restrict__ d, float *__restrict__ x)
{
    const float b = smoother->b[0];
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto rk = hx_load<N>(r + k);
        const auto mk = hx_load<N>(m + k);
        hx_pack<float, N> xk;
        for (int i = 0; i < N; i++) xk.v[i] = b * mk.v[i] * static_cast<float>(rk.v[i]);
        hx_store(x + k, xk);
        if (d) hx_store(d + k, xk);
    });
}

int mesh_start(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother, const double *d_r,
               const float *d_m, float *d_d, float *d_x)
{
    mesh_start_kernel<<<hx_pack_blocks<float>(n), HX_BLOCK, 0, hx_stream_of(dev)>>>(
        n, d_smoother, d_r, d_m, d_d, d_x);
    return HX_LAUNCHED("multigrid start");
}

__global__ void mesh_step_kernel(int64_t n, const hx_mg_smoother *__restrict__ smoother, int step,
                                 const double *__restrict__ r, const float *__restrict__ t,
                                 const float *__restrict__ m, float *__restrict__ d,
                                 float *__restrict__ x, double *__restrict__ z)
{
    const float a = smoother->a[step], b = smoother->b[step];
    hx_for_each_pack<4>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        const auto rk = hx_load<N>(r + k);
        const auto tk = hx_load<N>(t + k), mk = hx_load<N>(m + k);
        auto xk = hx_load<N>(x + k);
        hx_pack<float, N> dk = {};
        if (step > 0) dk = hx_load<N>(d + k);
        for (int i = 0; i < N; i++) {
            dk.v[i] = a * dk.v[i] + b * mk.v[i] * (static_cast<float>(rk.v[i]) - tk.v[i]);
            xk.v[i] += dk.v[i];
        }
        if (z) {
            hx_pack<double, N> zk;
            for (int i = 0; i < N; i++) zk.v[i] = static_cast<double>(xk.v[i]);
            hx_store(z + k, zk);
            return;
        }
        hx_store(x + k, xk);
        if (d) hx_store(d + k, dk);
    });
}

int mesh_step(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother, int i, const double *d_r,
              const float *d_t, const float *d_m, float *d_d, float *d_x, double *d_z)
{
    mesh_step_kernel<<<hx_pack_blocks<float>(n), HX_BLOCK, 0, hx_stream_of(dev)>>>(
        n, d_smoother, i, d_r, d_t, d_m, d_d, d_x, d_z);
    return HX_LAUNCHED("multigrid step");
}

const hx_mg_smoother_ops diagonal_ops = {
    .invert = hx_cuda_mg_diagonal_invert,
    .power = hx_cuda_mg_diagonal_power,
    .level_invert = hx_cuda_mg_level_diagonal,
    .level_power = hx_cuda_mg_diagonal_power,
    .level_power_next = hx_cuda_mg_power_next,
};

const hx_mg_smoother_ops lines_ops = {
    .invert = hx_cuda_mg_lines_factorise,
    .couple = hx_cuda_mg_lines_couple,
    .apply = hx_cuda_mg_lines_solve,
    .power = hx_cuda_mg_blocks_power,
    .level_invert = hx_cuda_mg_level_factorise,
    .level_apply = hx_cuda_mg_level_solve,
    .level_power = hx_cuda_mg_blocks_power,
};

const hx_mg_transfer_ops transfer_ops = {
    .mesh_restrict = hx_cuda_mg_mesh_restrict,
    .mesh_prolong = hx_cuda_mg_mesh_prolong,
    .restrict_to = hx_cuda_mg_restrict_to,
    .prolong_from = hx_cuda_mg_prolong_from,
    .mesh_prepare = hx_cuda_mesh_prepare,
    .mesh_release = hx_cuda_mesh_release,
    .prepared_bytes = hx_cuda_prepared_bytes,
    .mesh_galerkin = hx_cuda_mesh_galerkin,
    .mesh_update = hx_cuda_mesh_update,
    .rows_galerkin = hx_cuda_rows_galerkin,
    .galerkin = hx_cuda_galerkin,
};

const hx_mg_level_ops level_ops = {
    .matrix_by_columns = 1,
    .multiply = hx_cuda_mg_multiply,
    .residual = hx_cuda_mg_residual,
    .smooth = hx_cuda_mg_smooth,
    .add_blocks = hx_cuda_mg_add_blocks,
    .restore_rigid = hx_cuda_mg_restore_rigid,
    .dense = hx_cuda_mg_dense,
};

const hx_mg_direct_ops direct_ops = {hx_cuda_mg_inverse, hx_cuda_mg_inverse_fits,
                                     hx_cuda_mg_inverse_multiply};
const hx_mg_fused_ops fused_ops = {hx_cuda_mg_fused_room, hx_cuda_mg_fused_fits,
                                   hx_cuda_mg_fused_cycle};

} // namespace

const hx_mg_vector_ops hx_cuda_mg_vector_ops = {
    .mesh_start = mesh_start,
    .mesh_step = mesh_step,
    .power_start = power_start,
    .power_sums = power_sums,
    .power_end = power_end,
    .bound = bound,
    .match_entries = hx_cuda_mg_match_entries,
    .column_dots = hx_cuda_mg_column_dots,
    .column_combine = hx_cuda_mg_column_combine,
    .add = hx_cuda_mg_add,
    .small_multiply = hx_cuda_mg_small_multiply,
    .rows_add = hx_cuda_mg_rows_add,
};

const hx_mg_smoother_ops hx_cuda_mg_blocks_ops = {
    .invert = hx_cuda_mg_blocks_invert,
    .apply = hx_cuda_mg_blocks_solve,
    .power = hx_cuda_mg_blocks_power,
};

const hx_multigrid_ops hx_cuda_multigrid_ops = {
    .vector = &hx_cuda_mg_vector_ops,
    .diagonal = &diagonal_ops,
    .blocks = &hx_cuda_mg_blocks_ops,
    .lines = &lines_ops,
    .transfer = &transfer_ops,
    .level = &level_ops,
    .direct = &direct_ops,
    .fused = &fused_ops,
};

int hx_cuda_mg_diagonal_invert(hx_device *dev, const hx_mg_splitting *splitting)
{
    const int64_t n = splitting->n;
    return hx_launch(dev, "multigrid invert", n, invert_kernel, n, splitting->d_diag,
                     splitting->d_m);
}

int hx_cuda_mg_diagonal_power(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                              const float *, float *d_v, hx_mg_smoother *d_smoother)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    power_sum_kernel<<<hx_sum_blocks<float>(impl, n, HX_SUM_PER_SM), HX_BLOCK, 0, impl->stream>>>(
        n, d_m, d_t, d_v, d_smoother, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("multigrid power sum");
    power_scale_kernel<<<hx_pack_blocks<float>(n), HX_BLOCK, 0, impl->stream>>>(
        n, d_m, d_t, impl->d_result, d_v);
    return HX_LAUNCHED("multigrid power scale");
}
