// Exactness of rigid-body motions in the rows of a coarse matrix: hx_mg_level_ops.restore_rigid.
#include "multigrid_cuda.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF, NODES = 32;

// One thread per row of the matrix; six threads share the forces that their node's rows exert for
// its rigid motions.
__global__ void __launch_bounds__(NODES *DOF) restore_rigid_kernel(hx_mg_level level)
{
    __shared__ double force[DOF][NODES * DOF]; // [motion][row]
    __shared__ float diagonal[DOF][NODES * DOF];
    const int t = static_cast<int>(threadIdx.x), node = t / DOF, r = t % DOF;
    const int64_t a = blockIdx.x * static_cast<int64_t>(NODES) + node;
    const int64_t n_row = DOF * level.n_node, row = DOF * a + r;
    const bool is_free = a < level.n_own && !level.d_held[a];
    if (is_free) {
        double sum[DOF] = {};
        for (int o = 0; o < HX_COARSE_OFFSETS; o++) {
            double v[DOF], d[3];
            if (o != HX_COARSE_CENTRE && level.d_neighbour[o * level.n_node + a] == a) continue;
            hx_mg_offset(&level, o, d);
#pragma unroll
            for (int c = 0; c < DOF; c++)
                v[c] = static_cast<double>(level.d_matrix[(DOF * o + c) * n_row + row]);
#pragma unroll
            for (int c = 0; c < DOF; c++) sum[c] += v[c];
#pragma unroll
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, l = (i + 2) % 3;
                sum[3 + i] += d[j] * v[l] - d[l] * v[j];
            }
        }
#pragma unroll
        for (int c = 0; c < DOF; c++) {
            force[c][t] = sum[c];
            diagonal[c][t] = level.d_matrix[(DOF * HX_COARSE_CENTRE + c) * n_row + row];
        }
    }
    __syncthreads();
    if (!is_free) return;
    for (int c = 0; c < DOF; c++)
        level.d_matrix[(DOF * HX_COARSE_CENTRE + c) * n_row + row] = hx_mg_restored(
            diagonal[c][t], diagonal[r][DOF * node + c], force[c][t], force[r][DOF * node + c]);
}

} // namespace

int hx_cuda_mg_restore_rigid(hx_device *dev, const hx_mg_level *level)
{
    if (level->n_own == 0) return HX_OK;
    restore_rigid_kernel<<<hx_blocks(level->n_own, NODES), NODES * DOF, 0, hx_stream_of(dev)>>>(
        *level);
    return HX_LAUNCHED("multigrid rigid motions");
}
