// ebe64 (P1): 64 threads per element, one 3x3 tile of Ke each, without a loop; the connectivity of
// the block in shared memory; 3 atomic additions per thread, 192 per element.
#include "operator_stored.cuh"

namespace
{

constexpr int BLOCK = 512;
constexpr int ELEMS = BLOCK / 64;

// 8 elements = one block interleaved: entry (i, j) of all 512 tiles is contiguous.
struct by_block {
    __device__ static size_t at(int64_t e, int i, int j)
    {
        return static_cast<size_t>(e >> 3) * (576 * 8) + (3 * (i % 3) + j % 3) * 512 +
               (e & 7) * 64 + 8 * (i / 3) + j / 3;
    }
    static size_t entries(int64_t n_elem)
    {
        return static_cast<size_t>((n_elem + 7) / 8) * (576 * 8);
    }
};

template <class Layout>
__global__ void __launch_bounds__(BLOCK)
    kernel(const int32_t *__restrict__ block, int64_t n_elem, const int32_t *__restrict__ conn,
           const double *__restrict__ modulus, const double *__restrict__ ke,
           const double *__restrict__ x, double *__restrict__ y)
{
    __shared__ int32_t node[8 * ELEMS];
    const int64_t first = hx_block_at(block) * ELEMS;
    if (threadIdx.x < 8 * ELEMS && 8 * first + threadIdx.x < 8 * n_elem)
        node[threadIdx.x] = conn[8 * first + threadIdx.x];
    __syncthreads();
    const int local = threadIdx.x / 64, a = threadIdx.x / 8 % 8, b = threadIdx.x % 8;
    const int64_t e = first + local;
    if (e >= n_elem) return;
    const double *xb = x + 3 * static_cast<int64_t>(node[8 * local + b]);
    double sum[3] = {0.0, 0.0, 0.0};
#pragma unroll
    for (int j = 0; j < 3; j++) {
        const double xj = xb[j];
#pragma unroll
        for (int i = 0; i < 3; i++) sum[i] += ke[Layout::at(e, 3 * a + i, 3 * b + j)] * xj;
    }
    const double scale = modulus[e];
    double *ya = y + 3 * static_cast<int64_t>(node[8 * local + a]);
#pragma unroll
    for (int i = 0; i < 3; i++) atomicAdd(&ya[i], scale * sum[i]);
}

using kind = hx_stored_kind<by_block, ELEMS, BLOCK, kernel<hx_row_major>, kernel<by_block>>;

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_ebe64 = kind::table(
    "ebe64", "64 threads per element, one 3x3 tile each; interleaved: 8 elements side by side");
