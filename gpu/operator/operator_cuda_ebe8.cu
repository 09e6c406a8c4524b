// ebe8 (P1): 8 threads per element, one 3 x 24 row block of Ke each; the connectivity of the block
// in shared memory; 3 atomic additions per thread.
#include "operator_stored.cuh"

namespace
{

constexpr int BLOCK = 512;
constexpr int ELEMS = BLOCK / 8;

// 4 elements = 32 threads interleaved: the entries (row in the row block, column) of a warp's
// threads are contiguous.
struct by_warp {
    __device__ static size_t at(int64_t e, int i, int j)
    {
        return static_cast<size_t>(e >> 2) * (576 * 4) + ((i % 3) * 24 + j) * 32 + (e & 3) * 8 +
               i / 3;
    }
    static size_t entries(int64_t n_elem)
    {
        return static_cast<size_t>((n_elem + 3) / 4) * (576 * 4);
    }
};

template <class Layout>
__global__ void __launch_bounds__(BLOCK)
    kernel(const int32_t *__restrict__ block, int64_t n_elem, const int32_t *__restrict__ conn,
           const double *__restrict__ modulus, const double *__restrict__ ke,
           const double *__restrict__ x, double *__restrict__ y)
{
    __shared__ int32_t node[BLOCK];
    const int64_t thread = hx_block_at(block) * BLOCK + threadIdx.x;
    const int64_t e = thread >> 3;
    const int a = threadIdx.x & 7;
    if (thread < 8 * n_elem) node[threadIdx.x] = conn[thread];
    __syncthreads();
    if (e >= n_elem) return;
    const int32_t *my_node = node + (threadIdx.x & ~7u);
    double sum[3] = {0.0, 0.0, 0.0};
#pragma unroll
    for (int b = 0; b < 8; b++) {
        const double *xb = x + 3 * static_cast<int64_t>(my_node[b]);
#pragma unroll
        for (int j = 0; j < 3; j++) {
            const double xj = xb[j];
#pragma unroll
            for (int i = 0; i < 3; i++) sum[i] += ke[Layout::at(e, 3 * a + i, 3 * b + j)] * xj;
        }
    }
    const double scale = modulus[e];
    double *ya = y + 3 * static_cast<int64_t>(my_node[a]);
#pragma unroll
    for (int i = 0; i < 3; i++) atomicAdd(&ya[i], scale * sum[i]);
}

using kind = hx_stored_kind<by_warp, ELEMS, BLOCK, kernel<hx_row_major>, kernel<by_warp>>;

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_ebe8 = kind::table(
    "ebe8",
    "8 threads per element, one 3 x 24 row block each; interleaved: 4 elements side by side");
