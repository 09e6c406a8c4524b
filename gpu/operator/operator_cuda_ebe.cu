// ebe (P1): one thread per element. It holds the 8 node indices and 24 displacements, computes all
// 24 rows, and adds each to its node: 24 atomic additions.
#include "operator_stored.cuh"

namespace
{

constexpr int BLOCK = 512;

// 32 elements interleaved: a warp's threads read consecutive doubles.
struct by_warp {
    __device__ static size_t at(int64_t e, int i, int j)
    {
        return static_cast<size_t>(e >> 5) * (576 * 32) + (24 * i + j) * 32 + (e & 31);
    }
    static size_t entries(int64_t n_elem)
    {
        return static_cast<size_t>((n_elem + 31) / 32) * (576 * 32);
    }
};

template <class Layout>
__global__ void __launch_bounds__(BLOCK)
    kernel(const int32_t *__restrict__ block, int64_t n_elem, const int32_t *__restrict__ conn,
           const double *__restrict__ modulus, const double *__restrict__ ke,
           const double *__restrict__ x, double *__restrict__ y)
{
    const int64_t e = hx_block_at(block) * BLOCK + threadIdx.x;
    if (e >= n_elem) return;
    int32_t node[8];
    double xe[24];
#pragma unroll
    for (int a = 0; a < 8; a++) node[a] = conn[8 * e + a];
    hx_gather(node, x, xe);
    const double scale = modulus[e];
#pragma unroll
    for (int i = 0; i < 24; i++) {
        double sum = 0.0;
#pragma unroll
        for (int j = 0; j < 24; j++) sum += ke[Layout::at(e, i, j)] * xe[j];
        atomicAdd(&y[3 * static_cast<int64_t>(node[i / 3]) + i % 3], scale * sum);
    }
}

using kind = hx_stored_kind<by_warp, BLOCK, BLOCK, kernel<hx_row_major>, kernel<by_warp>>;

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_ebe =
    kind::table("ebe", "one thread per element; interleaved: 32 elements side by side");
