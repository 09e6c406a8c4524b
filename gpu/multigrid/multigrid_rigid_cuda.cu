// Multigrid: the motions of rigid sets, six columns per set on the first coarse grid.
#include "multigrid_cuda.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF;

__global__ void match_entries_kernel(int64_t n, const int64_t *__restrict__ dof,
                                     const double *__restrict__ r, float *__restrict__ t)
{
    const int64_t i = hx_grid_thread();
    if (i < n) t[dof[i]] = static_cast<float>(r[dof[i]]);
}

// The six columns of one set.
__global__ void __launch_bounds__(HX_BLOCK)
    column_dots_kernel(int64_t n, const float *__restrict__ y, const float *__restrict__ b,
                       double *sum, double *partial, unsigned *ticket)
{
    double dot[DOF] = {};
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n;
         i += stride)
        for (int k = 0; k < DOF; k++)
            dot[k] += static_cast<double>(y[n * k + i]) * static_cast<double>(b[i]);
    if (!hx_finish_sums(dot, partial, ticket)) return;
    for (int k = 0; k < DOF; k++) sum[k] -= dot[k];
}

__global__ void column_combine_kernel(int64_t n, int n_column, const float *__restrict__ y,
                                      const double *__restrict__ c, float *__restrict__ x)
{
    const int64_t i = hx_grid_thread();
    double sum = 0.0;
    if (i >= n) return;
    for (int k = 0; k < n_column; k++) sum -= c[k] * static_cast<double>(y[n * k + i]);
    x[i] = static_cast<float>(sum);
}

__global__ void add_kernel(int64_t n, const float *__restrict__ x, float *__restrict__ y)
{
    const int64_t i = hx_grid_thread();
    if (i < n) y[i] += x[i];
}

__global__ void small_multiply_kernel(int n, const double *__restrict__ inverse,
                                      const double *__restrict__ sum, double *__restrict__ c)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    double total = 0.0;
    if (i >= n) return;
    for (int k = 0; k < n; k++) total += inverse[static_cast<int64_t>(n) * i + k] * sum[k];
    c[i] = total;
}

} // namespace

int hx_cuda_mg_match_entries(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_r,
                             float *d_t)
{
    return hx_launch(dev, "multigrid match_entries", n, match_entries_kernel, n, d_dof, d_r, d_t);
}

int hx_cuda_mg_column_dots(hx_device *dev, int64_t n, int n_column, const float *d_y,
                           const float *d_b, double *d_sum)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const unsigned n_block = hx_sum_blocks<float>(impl, n, HX_SUM_PER_SM);
    for (int k = 0; k < n_column; k += DOF) {
        column_dots_kernel<<<n_block, HX_BLOCK, 0, impl->stream>>>(n, d_y + k * n, d_b, d_sum + k,
                                                                   impl->d_partial, impl->d_ticket);
        HX_TRY_LAUNCH("multigrid column_dots");
    }
    return HX_OK;
}

int hx_cuda_mg_column_combine(hx_device *dev, int64_t n, int n_column, const float *d_y,
                              const double *d_c, float *d_x)
{
    return hx_launch(dev, "multigrid column_combine", n, column_combine_kernel, n, n_column, d_y,
                     d_c, d_x);
}

int hx_cuda_mg_add(hx_device *dev, int64_t n, const float *d_x, float *d_y)
{
    return hx_launch(dev, "multigrid add", n, add_kernel, n, d_x, d_y);
}

int hx_cuda_mg_small_multiply(hx_device *dev, int n_column, const double *d_inverse,
                              const double *d_sum, double *d_c)
{
    return hx_launch(dev, "multigrid small_multiply", n_column, small_multiply_kernel, n_column,
                     d_inverse, d_sum, d_c);
}
