// Galerkin matrices of multigrid from a lattice to the next: a thread a block of the coarse matrix.
#include "galerkin_cuda.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF;

// sum += w T(di)' A T(dk), T(d) = [1, theta x d; 0, 1]; block [column][row].
__device__ void add_block(const float *__restrict__ block, int64_t stride, float w,
                          const float di[3], const float dk[3], float sum[DOF][DOF])
{
    float a[DOF][DOF];
#pragma unroll
    for (int c = 0; c < DOF; c++)
#pragma unroll
        for (int r = 0; r < DOF; r += 2) {
            const float2 v = *reinterpret_cast<const float2 *>(block + c * stride + r);
            a[c][r] = w * v.x;
            a[c][r + 1] = w * v.y;
        }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
#pragma unroll
        for (int r = 0; r < DOF; r++) a[3 + i][r] += dk[j] * a[l][r] - dk[l] * a[j][r];
    }
#pragma unroll
    for (int c = 0; c < DOF; c++)
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            sum[c][i] += a[c][i];
            sum[c][3 + i] += a[c][3 + i] + di[j] * a[c][l] - di[l] * a[c][j];
        }
}

__global__ void __launch_bounds__(128) galerkin_kernel(hx_mg_level fine, hx_mg_level coarse)
{
    const int64_t a = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    const int parent = static_cast<int>(blockIdx.y);
    const int p[3] = {parent % 3 - 1, parent / 3 % 3 - 1, parent / 9 - 1};
    const int64_t n_row = DOF * fine.n_node;
    const int stride[3] = {hx_lattice_stride(coarse.mode[0]), hx_lattice_stride(coarse.mode[1]),
                           hx_lattice_stride(coarse.mode[2])};
    float sum[DOF][DOF] = {};
    if (a >= coarse.n_node) return;
    for (int o = 0; o < HX_LATTICE_OFFSETS; o++) {
        const int64_t i = coarse.d_child[o * coarse.n_node + a];
        if (i < 0) continue;
        const int at[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
        int low[3], high[3]; // offsets from i of the children of the node at p
        float di[3];
        for (int k = 0; k < 3; k++) {
            const int mode = coarse.mode[k], to = hx_lattice_stride(mode) * p[k] - at[k];
            low[k] = max(to + hx_lattice_low(mode), -1);
            high[k] = min(to + hx_lattice_high(mode), 1);
        }
        const float wi = hx_mg_child(&fine, &coarse, o, di);
        for (int z = low[2]; z <= high[2]; z++)
            for (int y = low[1]; y <= high[1]; y++)
                for (int x = low[0]; x <= high[0]; x++) {
                    const int n = (z + 1) * 9 + (y + 1) * 3 + x + 1;
                    if (n != HX_LATTICE_CENTRE && fine.d_neighbour[n * fine.n_node + i] == i)
                        continue;
                    const int e = (at[2] + z - stride[2] * p[2] + 1) * 9 +
                                  (at[1] + y - stride[1] * p[1] + 1) * 3 + at[0] + x -
                                  stride[0] * p[0] + 1;
                    float dk[3];
                    const float w = wi * hx_mg_child(&fine, &coarse, e, dk);
                    add_block(fine.d_matrix + DOF * n * n_row + DOF * i, n_row, w, di, dk, sum);
                }
    }
    float *to = coarse.d_matrix + (DOF * parent * coarse.n_node + a) * DOF;
#pragma unroll
    for (int c = 0; c < DOF; c++)
#pragma unroll
        for (int r = 0; r < DOF; r++) to[c * DOF * coarse.n_node + r] = sum[c][r];
}

} // namespace

int hx_cuda_galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse)
{
    const dim3 grid(hx_blocks(coarse->n_node, 128), HX_LATTICE_OFFSETS);
    galerkin_kernel<<<grid, 128, 0, hx_cuda_of(dev)->stream>>>(*fine, *coarse);
    HX_TRY_LAUNCH("Galerkin");
    return HX_OK;
}
