// ebe24 (P1): 24 threads per element, one row of Ke each; 504 threads per block = 21 elements, with
// their connectivity in shared memory; 1 atomic addition per thread.
#include "operator_stored.cuh"

namespace
{

constexpr int ELEMS = 21;
constexpr int BLOCK = 24 * ELEMS;

// 21 elements = one block interleaved: column j of all 504 rows is contiguous.
struct by_block {
    __device__ static size_t at(int64_t e, int i, int j)
    {
        return static_cast<size_t>(e / ELEMS) * (ELEMS * 576) + j * BLOCK + (e % ELEMS) * 24 + i;
    }
    static size_t entries(int64_t n_elem)
    {
        return static_cast<size_t>((n_elem + ELEMS - 1) / ELEMS) * (ELEMS * 576);
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
    const int local = threadIdx.x / 24, row = threadIdx.x % 24;
    const int64_t e = first + local;
    if (e >= n_elem) return;
    const int32_t *my_node = node + 8 * local;
    double sum = 0.0;
#pragma unroll
    for (int b = 0; b < 8; b++) {
        const double *xb = x + 3 * static_cast<int64_t>(my_node[b]);
#pragma unroll
        for (int j = 0; j < 3; j++) sum += ke[Layout::at(e, row, 3 * b + j)] * xb[j];
    }
    atomicAdd(&y[3 * static_cast<int64_t>(my_node[row / 3]) + row % 3], modulus[e] * sum);
}

using kind = hx_stored_kind<by_block, ELEMS, BLOCK, kernel<hx_row_major>, kernel<by_block>>;

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_ebe24 = kind::table(
    "ebe24", "24 threads per element, one row each; interleaved: 21 elements side by side");
