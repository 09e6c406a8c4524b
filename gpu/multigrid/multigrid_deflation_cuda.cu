// Multigrid: deflation of floating components; products with sparse matrices by rows.
#include "multigrid_cuda.cuh"

namespace
{

constexpr int WARP = 32, MANY = 1024; // threads for a short row, and for a long one
constexpr int64_t LONG = 2048;        // mean number of entries of long rows, at least

struct vectors {
    const double *x;
    const float *x_single;
    double *y;
    float *y_single;
};

// `threads` threads per row, each with some of its entries in order, then a tree reduction: a fixed
// order.
template <int threads>
__global__ void __launch_bounds__(MANY)
    rows_add_kernel(int64_t n, const int64_t *__restrict__ first, const int64_t *__restrict__ at,
                    const int64_t *__restrict__ column, const double *__restrict__ value,
                    double factor, vectors v)
{
    __shared__ double of_warp[MANY / WARP];
    const int64_t thread = hx_grid_thread();
    const int64_t i = thread / threads;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    double sum = 0.0;
    if (i < n)
        for (int64_t k = first[i] + thread % threads; k < first[i + 1]; k += threads)
            sum += value[k] * (v.x ? v.x[column[k]] : static_cast<double>(v.x_single[column[k]]));
    for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threads > WARP) {
        if (lane == 0) of_warp[threadIdx.x / WARP] = sum;
        __syncthreads();
        sum = 0.0;
        if (threadIdx.x == 0)
            for (int w = 0; w < threads / WARP; w++) sum += of_warp[w];
    }
    if (i >= n || thread % threads != 0) return;
    if (v.y)
        v.y[at[i]] += factor * sum;
    else
        v.y_single[at[i]] =
            static_cast<float>(static_cast<double>(v.y_single[at[i]]) + factor * sum);
}

} // namespace

int hx_cuda_mg_rows_add(hx_device *dev, const hx_mg_rows *rows, double factor, const double *d_x,
                        const float *d_x_single, double *d_y, float *d_y_single)
{
    const vectors v = {d_x, d_x_single, d_y, d_y_single};
    if (rows->n == 0) return HX_OK;
    if (rows->n_entry / rows->n >= LONG)
        rows_add_kernel<MANY><<<hx_blocks(rows->n * MANY, MANY), MANY, 0, hx_stream_of(dev)>>>(
            rows->n, rows->d_first, rows->d_at, rows->d_column, rows->d_value, factor, v);
    else
        rows_add_kernel<WARP>
            <<<hx_blocks(rows->n * WARP, HX_BLOCK), HX_BLOCK, 0, hx_stream_of(dev)>>>(
                rows->n, rows->d_first, rows->d_at, rows->d_column, rows->d_value, factor, v);
    return HX_LAUNCHED("multigrid rows_add");
}
