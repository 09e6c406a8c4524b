// The first coarse grid of multigrid from the rows of a matrix: coarse block (I, J) += P_iI' K_ij
// P_jJ over the entries on and below the diagonal, with half of the diagonal; then C + C'
// (core/cpu/multigrid/multigrid_rows_cpu.c explains why a row has 27 blocks).
//
// One thread block per cell of the coarse grid, all cells of a colour at the same time: they share
// no corner, so no atomics are needed. First, each warp processes a row and sums the contributions
// of its entries at the coarse nodes near the cell, S_J = sum of w_jJ K_ij [1, d_j x] (lanes:
// corner of the column's cell, row's component). Then each warp processes a corner I of the cell,
// and each lane a neighbour J of I: it adds w_iI [1, d_i x]' S_J, whose 6 x 6 numbers stay in
// registers over all rows of the cell. All arithmetic is in double precision.
#include "../matrix/product_cuda.cuh"
#include "galerkin_cuda.cuh"

namespace
{

constexpr int DOF = HX_MG_DOF, CORNERS = 8, WARPS = CORNERS, THREADS = 32 * WARPS;
// coarse nodes per direction: one before the cell, its two, and one after it
constexpr int SIDE = 4;
constexpr int OFFSETS = HX_COARSE_OFFSETS;
constexpr int ENTRIES = 16; // entries of a row in shared memory at a time

// Size of one S_J, and distance between planes of J in z, padded to avoid bank conflicts.
constexpr int NODE = 3 * DOF + 1, PLANE = SIDE * SIDE * NODE + 4;

__host__ __device__ constexpr int place_of(int x, int y, int z)
{
    return PLANE * z + NODE * (SIDE * y + x);
}

// An entry of a row: K_ij, and its column's point.
struct entry_data {
    // d: relative to the cell's first corner, divided by the unit; part: position within the
    // column's own cell, 0 to 1
    double k[3][3], d[3], part[3];
    int base; // place_of that cell's first corner
};

struct alignas(16) warp_data {
    double sum[SIDE * PLANE];
    double d[3], position[3]; // of the row's point
    entry_data entry[ENTRIES];
};

struct rows_input {
    hx_mg_cells cells;
    hx_matrix matrix;
    const uint8_t *fixed;
    const int32_t *coloured;
};

// Position of a point relative to the cell's first corner: divided by the unit, and in grid
// coordinates.
__device__ __forceinline__ void locate(const hx_mg_cells &cells, int64_t cell, int64_t a,
                                       double d[3], double position[3])
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int at = cells.cell[3 * cell + i];
        position[i] = static_cast<double>(cells.position[3 * a + i]) - at;
        d[i] = (cells.xyz[3 * a + i] - cells.origin[i] - at * cells.size[i]) * cells.per_unit;
    }
}

// Loads entry k of a row with n entries: half of it on the diagonal, and 0 if row or column is
// fixed.
__device__ void load_entry(const rows_input &in, int64_t cell, int64_t row, int n, int k,
                           int64_t col, entry_data &e)
{
    const unsigned fixed_row = in.fixed[row], fixed_col = in.fixed[col];
    const double factor = row == col ? 0.5 : 1.0;
    int base[3];
    locate(in.cells, cell, col, e.d, e.part);
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const double low = floor(e.part[i]);
        base[i] = static_cast<int>(low) + 1;
        e.part[i] -= low;
    }
    e.base = place_of(base[0], base[1], base[2]);
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++) {
            // csr, ell and coo may store only one half of a diagonal block, which is symmetric
            const bool is_turned = row == col && j > i;
            const int64_t at =
                hx_matrix_place(&in.matrix, row, n, k, is_turned ? j : i, is_turned ? i : j);
            const bool is_held = (fixed_row >> i & 1u) || (fixed_col >> j & 1u);
            e.k[i][j] = is_held ? 0.0 : factor * hx_number(in.matrix, at);
        }
}

// sum[J] += w_jJ K_ij [1, d_j x]. Lane 3 c + i processes corner c of the column's cell and row i of
// K_ij.
__device__ __forceinline__ void add_entry(const entry_data &e, int lane, double *sum)
{
    const int c = lane / 3, i = lane - 3 * c;
    const int x = c & 1, y = c >> 1 & 1, z = c >> 2;
    if (c >= CORNERS) return;
    const double w = (x ? e.part[0] : 1.0 - e.part[0]) * (y ? e.part[1] : 1.0 - e.part[1]) *
                     (z ? e.part[2] : 1.0 - e.part[2]);
    if (!(w > 0.0)) return;
    double *const to = sum + e.base + place_of(x, y, z) + DOF * i;
    const double k0 = w * e.k[i][0], k1 = w * e.k[i][1], k2 = w * e.k[i][2];
    to[0] += k0;
    to[1] += k1;
    to[2] += k2;
    to[3] += e.d[1] * k2 - e.d[2] * k1;
    to[4] += e.d[2] * k0 - e.d[0] * k2;
    to[5] += e.d[0] * k1 - e.d[1] * k0;
}

// Sums a complete row, by one warp.
__device__ void sum_row(const rows_input &in, int64_t cell, int64_t row, warp_data &w)
{
    const hx_device_pattern &p = in.matrix.pattern;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t begin = p.d_row_ptr[row];
    const int n = static_cast<int>(p.d_row_ptr[row + 1] - begin);
    for (int k = lane; k < SIDE * PLANE; k += 32) w.sum[k] = 0.0;
    if (lane == 0) locate(in.cells, cell, row, w.d, w.position);
    for (int first = 0; first < n; first += ENTRIES) {
        const int k = first + lane;
        const int64_t col = lane < ENTRIES && k < n ? p.d_col[begin + k] : row + 1;
        const bool is_there = col <= row; // columns ascend
        const int n_here = __popc(__ballot_sync(0xffffffffu, is_there));
        if (is_there) load_entry(in, cell, row, n, k, col, w.entry[lane]);
        for (int e = 0; e < n_here; e++) {
            __syncwarp();
            add_entry(w.entry[e], lane, w.sum);
        }
        __syncwarp();
        if (n_here < ENTRIES) break;
    }
}

// block[j][i] += w_iI [1, d_i x]' S_J, for columns j of J and rows i of I.
__device__ __forceinline__ void add_row(double w, const double d[3], const double *s,
                                        double block[DOF][DOF])
{
#pragma unroll
    for (int j = 0; j < DOF; j++) {
        const double f[3] = {w * s[j], w * s[DOF + j], w * s[2 * DOF + j]};
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            block[j][i] += f[i];
            block[j][3 + i] += d[i1] * f[i2] - d[i2] * f[i1];
        }
    }
}

// Converts rotations and moments to those about the coarse nodes themselves, at `row` and `col`
// relative to the first corner, divided by the unit.
__device__ __forceinline__ void shift_block(const double row[3], const double col[3],
                                            double block[DOF][DOF])
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
#pragma unroll
        for (int j = 0; j < DOF; j++)
            block[j][3 + i] -= row[i1] * block[j][i2] - row[i2] * block[j][i1];
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
#pragma unroll
        for (int r = 0; r < DOF; r++)
            block[3 + i][r] -= col[i1] * block[i2][r] - col[i2] * block[i1][r];
    }
}

__device__ __forceinline__ double weight_of(const double position[3], const int corner[3])
{
    double w = 1.0;
#pragma unroll
    for (int i = 0; i < 3; i++) w *= corner[i] ? position[i] : 1.0 - position[i];
    return w;
}

__global__ void __launch_bounds__(THREADS, 2) rows_kernel(rows_input in, hx_mg_level level)
{
    extern __shared__ __align__(16) char memory[];
    warp_data *const all = reinterpret_cast<warp_data *>(memory);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int64_t cell = in.coloured[blockIdx.x];
    const int begin = in.cells.node_at[cell], end = in.cells.node_at[cell + 1];
    // this thread's block: corner `warp` of the cell and its neighbour `lane`
    const int corner[3] = {warp & 1, warp >> 1 & 1, warp >> 2};
    const int to[3] = {lane % 3, lane / 3 % 3, lane / 9};
    const int place =
        lane < OFFSETS ? place_of(corner[0] + to[0], corner[1] + to[1], corner[2] + to[2]) : 0;
    double block[DOF][DOF] = {};
    for (int first = begin; first < end; first += WARPS) {
        warp_data &mine = all[warp];
        const bool has_row = first + warp < end;
        if (has_row) sum_row(in, cell, in.cells.node[first + warp], mine);
        __syncthreads();
        const int n_row = end - first < WARPS ? end - first : WARPS;
        for (int r = 0; r < n_row && lane < OFFSETS; r++) {
            const double w = weight_of(all[r].position, corner);
            if (w > 0.0) add_row(w, all[r].d, all[r].sum + place, block);
        }
        __syncthreads();
    }
    if (lane >= OFFSETS) return;
    double row[3], col[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const double edge = in.cells.size[i] * in.cells.per_unit;
        row[i] = edge * corner[i];
        col[i] = edge * (corner[i] + to[i] - 1);
    }
    shift_block(row, col, block);
    const int64_t here = in.cells.corner[8 * cell + warp];
#pragma unroll
    for (int j = 0; j < DOF; j++) {
        float *const out = level.d_matrix + ((DOF * lane + j) * level.n_node + here) * DOF;
#pragma unroll
        for (int i = 0; i < DOF; i++) out[i] += static_cast<float>(block[j][i]);
    }
}

// C := C + C': one thread per block on or below the diagonal and its mirror image.
__global__ void add_transposed_kernel(hx_mg_level level)
{
    const int64_t a = hx_grid_thread();
    const int offset = static_cast<int>(blockIdx.y);
    const bool is_own = offset == HX_COARSE_CENTRE;
    if (a >= level.n_node) return;
    const int64_t b = level.d_neighbour[offset * level.n_node + a];
    if (b == a && !is_own) return; // there is no neighbour
    const int64_t stride = DOF * level.n_node;
    float *const one = level.d_matrix + DOF * offset * stride + DOF * a;
    float *const two = level.d_matrix + DOF * (OFFSETS - 1 - offset) * stride + DOF * b;
    for (int j = 0; j < DOF; j++)
        for (int i = 0; i < (is_own ? j + 1 : DOF); i++) {
            const float sum = one[j * stride + i] + two[i * stride + j];
            one[j * stride + i] = sum;
            two[i * stride + j] = sum;
        }
}

} // namespace

int hx_cuda_rows_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_matrix *matrix,
                          const hx_mg_level *level)
{
    constexpr int n_byte = WARPS * static_cast<int>(sizeof(warp_data));
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    rows_input in = {};
    in.cells = hx_mg_cells_of(mesh);
    in.matrix = *matrix;
    in.fixed = mesh->d_fixed;
    HX_TRY_CUDA(
        cudaFuncSetAttribute(rows_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, n_byte));
    HX_TRY_CUDA(cudaMemsetAsync(
        level->d_matrix, 0,
        static_cast<size_t>(level->n_node) * OFFSETS * DOF * DOF * sizeof(float), stream));
    for (int colour = 0; colour < 8; colour++) {
        const int n = mesh->colour_at[colour + 1] - mesh->colour_at[colour];
        if (n == 0) continue;
        in.coloured = mesh->d_coloured + mesh->colour_at[colour];
        rows_kernel<<<static_cast<unsigned>(n), THREADS, n_byte, stream>>>(in, *level);
        HX_TRY_LAUNCH("Galerkin product from rows");
    }
    const dim3 grid(hx_blocks(level->n_node, 128), HX_COARSE_CENTRE + 1);
    add_transposed_kernel<<<grid, 128, 0, stream>>>(*level);
    return HX_LAUNCHED("Galerkin product from rows");
}
