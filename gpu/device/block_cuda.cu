// Blocks of vectors on the GPU (core/linalg/block_ops.h). Sums run over a fixed number of blocks,
// and the last one to finish adds their results in order, so they are bitwise reproducible on a
// given GPU.
#include "core/linalg/block_ops.h"
#include "scratch_cuda.cuh"
#include "vector_cuda.cuh"

namespace
{

// Products of SIDE vectors with SIDE others in one pass.
constexpr int SIDE = 4, N_PRODUCT = SIDE * SIDE;
static_assert(N_PRODUCT <= HX_MOST_SUMS);

struct gram_tile {
    const double *a[SIDE], *b[SIDE];
};

__global__ void __launch_bounds__(HX_BLOCK)
    gram_kernel(int64_t n, gram_tile tile, double *result, double *partial, unsigned *ticket)
{
    double sum[N_PRODUCT] = {};
    hx_for_each_pack<HX_WIDTH<double>>(n, [&](auto w, int64_t k) {
        constexpr int N = decltype(w)::value;
        hx_pack<double, N> a[SIDE], b[SIDE];
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            a[i] = hx_load<N>(tile.a[i] + k);
            b[i] = hx_load<N>(tile.b[i] + k);
        }
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
            for (int j = 0; j < SIDE; j++)
#pragma unroll
                for (int l = 0; l < N; l++) sum[SIDE * i + j] += a[i].v[l] * b[j].v[l];
    });
    if (hx_finish_sums(sum, partial, ticket))
        for (int i = 0; i < N_PRODUCT; i++) result[i] = sum[i];
}

int tiles_of(int n)
{
    return (n + SIDE - 1) / SIDE;
}

// Vectors beyond the last one repeat it.
int queue_tiles(hx_device *dev, int64_t n, int n_a, const double *const d_a[], int n_b,
                const double *const d_b[], double *d_result)
{
    const hx_cuda *const impl = hx_cuda_of(dev);
    for (int i = 0; i < tiles_of(n_a); i++)
        for (int j = 0; j < tiles_of(n_b); j++) {
            gram_tile tile;
            for (int k = 0; k < SIDE; k++) {
                tile.a[k] = d_a[SIDE * i + k < n_a ? SIDE * i + k : n_a - 1];
                tile.b[k] = d_b[SIDE * j + k < n_b ? SIDE * j + k : n_b - 1];
            }
            gram_kernel<<<hx_sum_blocks<double>(impl, n, HX_READ_PER_SM), HX_BLOCK, 0,
                          impl->stream>>>(n, tile, d_result + (i * tiles_of(n_b) + j) * N_PRODUCT,
                                          impl->d_partial, impl->d_ticket);
            HX_TRY_LAUNCH("products of vectors");
        }
    return HX_OK;
}

int gram(hx_device *dev, int64_t n, int n_a, const double *const d_a[], int n_b,
         const double *const d_b[], double *g)
{
    double result[(HX_MOST_BLOCK / SIDE) * (HX_MOST_BLOCK / SIDE) * N_PRODUCT], *d_result;
    const int64_t n_result = static_cast<int64_t>(tiles_of(n_a)) * tiles_of(n_b) * N_PRODUCT;
    hx_cuda_scratch scratch(dev);
    HX_TRY(scratch.take(&d_result, n_result));
    HX_TRY(queue_tiles(dev, n, n_a, d_a, n_b, d_b, d_result));
    HX_TRY(
        dev->ops->download(dev, result, d_result, static_cast<size_t>(n_result) * sizeof *result));
    for (int i = 0; i < n_a; i++)
        for (int j = 0; j < n_b; j++)
            g[i * n_b + j] = result[(i / SIDE * tiles_of(n_b) + j / SIDE) * N_PRODUCT +
                                    i % SIDE * SIDE + j % SIDE];
    return HX_OK;
}

constexpr int ROWS = 64; // threads of a block, each with one row of all vectors in shared memory
static_assert(ROWS * HX_MOST_BLOCK * sizeof(double) <= 48 * 1024);

struct block_view {
    const double *x[HX_MOST_BLOCK];
    double *y[HX_MOST_BLOCK];
};

__global__ void __launch_bounds__(ROWS)
    combine_kernel(int64_t n, int n_x, int n_y, block_view v, const double *__restrict__ c)
{
    extern __shared__ double shared[];
    const int64_t k = blockIdx.x * static_cast<int64_t>(ROWS) + threadIdx.x;
    double *const x = shared + threadIdx.x;
    if (k >= n) return;
    for (int i = 0; i < n_x; i++) x[i * ROWS] = v.x[i][k];
    for (int j = 0; j < n_y; j += SIDE) {
        double sum[SIDE] = {};
        for (int i = 0; i < n_x; i++) {
            const double xi = x[i * ROWS];
#pragma unroll
            for (int l = 0; l < SIDE; l++)
                if (j + l < n_y) sum[l] += c[i * n_y + j + l] * xi;
        }
#pragma unroll
        for (int l = 0; l < SIDE; l++)
            if (j + l < n_y) v.y[j + l][k] = sum[l];
    }
}

int combine(hx_device *dev, int64_t n, int n_x, const double *const d_x[], int n_y, const double *c,
            double *const d_y[])
{
    const size_t n_c = static_cast<size_t>(n_x) * static_cast<size_t>(n_y);
    hx_cuda_scratch scratch(dev);
    double *d_c;
    block_view v = {};
    if (n == 0 || n_y == 0) return HX_OK;
    for (int i = 0; i < n_x; i++) v.x[i] = d_x[i];
    for (int j = 0; j < n_y; j++) v.y[j] = d_y[j];
    HX_TRY(scratch.take(&d_c, static_cast<int64_t>(n_c)));
    HX_TRY(dev->ops->upload(dev, d_c, c, n_c * sizeof *c));
    combine_kernel<<<hx_blocks(n, ROWS), ROWS, static_cast<size_t>(n_x) * ROWS * sizeof(double),
                     hx_cuda_of(dev)->stream>>>(n, n_x, n_y, v, d_c);
    HX_TRY_LAUNCH("combination of vectors");
    return HX_OK;
}

} // namespace

const hx_block_ops hx_cuda_block_ops = {
    .gram = gram,
    .combine = combine,
};
