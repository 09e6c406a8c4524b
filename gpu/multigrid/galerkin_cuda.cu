// Galerkin matrices of multigrid: from the mesh to the first coarse grid, and from one coarse grid
// to the next.
#include <cfloat>

#include "galerkin_cell.cuh"
#include "galerkin_classes_cuda.cuh"
#include "galerkin_means_cuda.cuh"

using namespace hx_galerkin;

namespace
{

__global__ void __launch_bounds__(THREADS, 5)
    mesh_galerkin_kernel(galerkin_input in, const uint8_t *__restrict__ mean,
                         const int32_t *__restrict__ coloured, hx_mg_level level)
{
    __shared__ shared_data data;
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t cell = coloured[blockIdx.x];
    if (mean && (mean[cell] & HX_MG_IS_MEAN)) return;
    sum_cell(in, cell, data);
    if (thread < CELL) write_column(in.cells, cell, thread / DOF, thread % DOF, data.sum, level);
}

// --- blocks of a coarse matrix ---

// Threads compute the blocks up to the central one and write the others as their mirror images. On
// a distributed level each process adds the contributions of its own nodes: in rows to which
// several processes contribute, no block is the mirror image of another, and all blocks are
// computed.
__host__ __device__ constexpr unsigned found_blocks(bool mirrored)
{
    return mirrored ? HX_COARSE_CENTRE + 1 : HX_COARSE_OFFSETS;
}

// For nodes of a distributed level: whether both rows are computed by this process only.
__device__ __forceinline__ bool is_found_here(const hx_mg_level &level, int64_t a, int64_t b)
{
    return level.d_divided && !level.d_divided[a] && !level.d_divided[b];
}

// Whether a block after the central one is written as the mirror image of another.
__device__ __forceinline__ bool is_image(const hx_mg_level &level, int64_t a, int offset)
{
    if (offset <= HX_COARSE_CENTRE) return false;
    const int64_t b = level.d_neighbour[offset * level.n_node + a];
    return b != a && is_found_here(level, a, b);
}

// Where a block of node a is written, and its mirror image, if it has one. A block after the
// central one that has no mirror image, because there is no node, is 0.
struct block_place {
    float *to, *image, *none; // columns are n_row apart; nullptr: none
    int64_t n_row;
};

__device__ __forceinline__ block_place place_block(const hx_mg_level &level, int64_t a, int offset,
                                                   bool mirrored)
{
    const int back = HX_COARSE_OFFSETS - 1 - offset;
    block_place p = {};
    p.n_row = DOF * level.n_node;
    p.to = level.d_matrix + DOF * (offset * p.n_row + a);
    if (offset == back) return p;
    const int64_t b = level.d_neighbour[offset * level.n_node + a];
    if (!mirrored && !is_found_here(level, a, b)) return p;
    if (b != a) p.image = level.d_matrix + DOF * (back * p.n_row + b);
    if (mirrored && level.d_neighbour[back * level.n_node + a] == a)
        p.none = level.d_matrix + DOF * (back * p.n_row + a);
    return p;
}

// block: [column][row].
__device__ __forceinline__ void store_block(const block_place &p, const float block[DOF][DOF])
{
#pragma unroll
    for (int i = 0; i < DOF; i++)
#pragma unroll
        for (int j = 0; j < DOF; j += 2) {
            const int64_t at = i * p.n_row + j;
            *reinterpret_cast<float2 *>(p.to + at) = make_float2(block[i][j], block[i][j + 1]);
            if (p.image)
                *reinterpret_cast<float2 *>(p.image + at) =
                    make_float2(block[j][i], block[j + 1][i]);
            if (p.none) *reinterpret_cast<float2 *>(p.none + at) = make_float2(0.0f, 0.0f);
        }
}

__device__ __forceinline__ void store_entry(const block_place &p, int column, int row, float value)
{
    p.to[column * p.n_row + row] = value;
    if (p.image) p.image[row * p.n_row + column] = value;
    if (p.none) p.none[column * p.n_row + row] = 0.0f;
}

// --- from the contributions of cells, of which only changed ones are recomputed ---

// One warp per cell: the stored moduli are replaced by those of the design if one of the cell's has
// changed. The cells whose contributions are to be recomputed are listed by class, in any order; of
// those without a class, the cells that use mean strains are listed backwards from the end of the
// list. The numbers of these two kinds come last.
__global__ void keep_moduli_kernel(galerkin_input in, hx_mg_update holds, hx_cell_classes classes,
                                   bool takes_means, uint8_t *__restrict__ mean,
                                   float *__restrict__ kept, int32_t *__restrict__ list)
{
    const int64_t cell = (hx_grid_thread()) / 32;
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (cell >= in.cells.n_cell) return;
    const int begin = in.elem_at[cell], end = in.elem_at[cell + 1];
    const bool may = mean && (mean[cell] & HX_MG_MAY_MEAN);
    bool changed = holds == HX_MG_NEW;
    float least = FLT_MAX, most = 0.0f;
    for (int k = begin + lane; k < end; k += 32) {
        const int32_t e = in.elem[k];
        changed = changed || hx_mg_has_changed(kept[e], static_cast<float>(in.modulus[e]));
    }
    changed = __any_sync(0xffffffffu, changed);
    if (!changed && holds == HX_MG_CHANGED) return;
    for (int k = begin + lane; k < end; k += 32) {
        const int32_t e = in.elem[k];
        const float modulus = changed ? static_cast<float>(in.modulus[e]) : kept[e];
        if (changed) kept[e] = modulus;
        least = fminf(least, modulus);
        most = fmaxf(most, modulus);
    }
    bool is = may && takes_means;
    for (int by = 16; by > 0 && is; by /= 2) {
        least = fminf(least, __shfl_xor_sync(0xffffffffu, least, by));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, by));
    }
    if (is && most > HX_MG_MEAN_CONTRAST * least) {
        int n_between = 0;
        for (int k = begin + lane; k < end; k += 32)
            n_between += hx_mg_is_between(kept[in.elem[k]], least, most);
        is = HX_MG_MEAN_GRADED * __reduce_add_sync(0xffffffffu, n_between) >= end - begin;
    }
    if (lane > 0) return;
    if (may) mean[cell] = is ? HX_MG_MAY_MEAN | HX_MG_IS_MEAN : HX_MG_MAY_MEAN;
    if (is) {
        list[in.cells.n_cell - 1 - atomicAdd(list + in.cells.n_cell + 1, 1)] =
            static_cast<int32_t>(cell);
        return;
    }
    const int c = classes.of ? classes.of[cell] : HX_CELL_CLASSES;
    int32_t *count = c < HX_CELL_CLASSES ? classes.count + c : list + in.cells.n_cell;
    list[classes.begin[c] + atomicAdd(count, 1)] = static_cast<int32_t>(cell);
}

constexpr int SHARE_BLOCKS = 5; // per multiprocessor

__global__ void __launch_bounds__(THREADS, SHARE_BLOCKS)
    share_kernel(galerkin_input in, const int32_t *__restrict__ list, int first,
                 float *__restrict__ share)
{
    __shared__ shared_data data;
    const int n = list[in.cells.n_cell];
    for (int i = static_cast<int>(blockIdx.x); i < n; i += static_cast<int>(gridDim.x)) {
        const int64_t cell = list[first + i];
        sum_cell(in, cell, data);
        write_share<THREADS>(in.cells.edge, data.sum, share + HX_MG_SHARE * cell);
        __syncthreads();
    }
}

// One thread per block of the matrix: the sum over the up to eight cells that contain both nodes,
// in the order of their places around the node.
__global__ void __launch_bounds__(128)
    sum_shares_kernel(const float *__restrict__ share, const int32_t *__restrict__ node_cell,
                      hx_mg_level level, bool mirrored)
{
    const int64_t a = blockIdx.y * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    const int offset = static_cast<int>(blockIdx.x);
    const int p[3] = {offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1};
    float sum[DOF][DOF] = {}; // [column][row]
    if (a >= level.n_node || is_image(level, a, offset)) return;
    for (int c = 0; c < CORNERS; c++) {
        const int x = (c & 1) + p[0], y = (c >> 1 & 1) + p[1], z = (c >> 2) + p[2];
        if ((x | y | z) & ~1) continue; // the other node is not in this cell
        const int64_t cell = node_cell[c * level.n_node + a];
        if (cell < 0) continue;
        const int other = x + 2 * y + 4 * z;
        const bool stored = is_stored(other, c);
        const int place = stored ? place_of(other, (c - other) & 7) : place_of(c, (other - c) & 7);
        const float4 *from =
            reinterpret_cast<const float4 *>(share + HX_MG_SHARE * cell + DOF * DOF * place);
        float v[DOF * DOF];
#pragma unroll
        for (int k = 0; k < DOF * DOF / 4; k++) {
            const float4 u = __ldg(from + k);
            v[4 * k] = u.x, v[4 * k + 1] = u.y, v[4 * k + 2] = u.z, v[4 * k + 3] = u.w;
        }
#pragma unroll
        for (int q = 0; q < DOF; q++)
#pragma unroll
            for (int r = 0; r < DOF; r++) sum[q][r] += stored ? v[DOF * q + r] : v[DOF * r + q];
    }
    store_block(place_block(level, a, offset, mirrored), sum);
}

// --- from a coarse grid: six lanes per block of the coarse matrix, each with one of its rows ---
//
// With T(d) = [1, theta x d; 0, 1], a block is the sum, over the children i of its node and k of
// the other node, of w_i w_k T(d_i)' A_ik T(d_k). T(d_k) combines columns, of which a lane has
// those of its row; T(d_i)' combines rows, once for all k.

constexpr int ROW_NODES = 32 / DOF;   // per warp
constexpr int64_t SMALL_NODES = 1000; // grids with fewer nodes use more warps per node

// Along axis k, relative to a child of a node at an offset: the range of children of the node at p.
struct child_range {
    int from, low, high; // from: position of the node at p itself
};

__device__ __forceinline__ child_range reach_children(const hx_mg_level &coarse, int k, int at,
                                                      int p)
{
    const int mode = coarse.mode[k];
    child_range c;
    c.from = hx_coarse_stride(mode) * p - at;
    c.low = max(c.from + hx_coarse_low(mode), -1);
    c.high = min(c.from + hx_coarse_high(mode), 1);
    return c;
}

// sum += w (row r of the block of node i with its neighbour n) T(d). i < 0: no such node.
__device__ __forceinline__ void add_row(const hx_mg_level &fine, int32_t i, int n, int r,
                                        const float4 &child, float sum[DOF])
{
    const int64_t n_row = DOF * fine.n_node, at = i < 0 ? 0 : i;
    const float *__restrict__ entry = fine.d_matrix + DOF * (n * n_row + at) + r;
    const bool is_there =
        i >= 0 && (n == HX_COARSE_CENTRE || __ldg(fine.d_neighbour + n * fine.n_node + at) != i);
    const float d[3] = {child.x, child.y, child.z}, w = child.w;
    float v[DOF];
#pragma unroll
    for (int c = 0; c < DOF; c++) v[c] = __ldg(entry + c * n_row);
#pragma unroll
    for (int c = 0; c < DOF; c++) v[c] = is_there ? w * v[c] : 0.0f;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const int j = (c + 1) % 3, l = (c + 2) % 3;
        sum[c] += v[c];
        sum[3 + c] += fmaf(d[j], v[l], fmaf(-d[l], v[j], v[3 + c]));
    }
}

__device__ __forceinline__ float along(const float4 &d, int axis)
{
    return axis == 0 ? d.x : axis == 1 ? d.y : d.z;
}

// sum += w (row r of T(d)' times the six rows held by the lanes of a node, from lane `first` on).
__device__ __forceinline__ void add_turned(const float4 &child, const float row[DOF], int first,
                                           int r, float sum[DOF])
{
    const int j = r < 3 ? 0 : (r + 1) % 3, l = r < 3 ? 0 : (r + 2) % 3;
    const float dj = r < 3 ? 0.0f : along(child, j), dl = r < 3 ? 0.0f : along(child, l);
#pragma unroll
    for (int c = 0; c < DOF; c++) {
        const float of_l = __shfl_sync(0xffffffffu, row[c], first + l),
                    of_j = __shfl_sync(0xffffffffu, row[c], first + j);
        sum[c] = fmaf(child.w, fmaf(dj, of_l, fmaf(-dl, of_j, row[c])), sum[c]);
    }
}

// Child k of a subset. Subsets are diagonals that contain children of every x, y and z, because the
// number of another node's children that a child meets depends on the side that it is on.
template <int SHARES> __device__ __forceinline__ int child_of_share(int share, int k)
{
    static_assert(SHARES == 3 || SHARES == 9, "thirds or ninths of 27 children");
    const int z = SHARES == 3 ? k / 3 : k, y = SHARES == 3 ? k % 3 : (share / 3 + 2 * z) % 3;
    const int x = (share + 2 * (SHARES == 3 ? y + z : z)) % 3; // 2 stands for -1, without a sign
    return (z * 3 + y) * 3 + x;
}

// Contribution of a subset of node a's children (none if a < 0) to row r of its block with the node
// at p.
template <int SHARES>
__device__ __forceinline__ void add_children(const hx_mg_level &fine, const hx_mg_level &coarse,
                                             const float4 *child, int64_t a, int share,
                                             const int p[3], int first, int r, float sum[DOF])
{
    for (int k = 0; k < HX_COARSE_OFFSETS / SHARES; k++) {
        const int o = child_of_share<SHARES>(share, k);
        const child_range in_x = reach_children(coarse, 0, o % 3 - 1, p[0]),
                          in_y = reach_children(coarse, 1, o / 3 % 3 - 1, p[1]),
                          in_z = reach_children(coarse, 2, o / 9 - 1, p[2]);
        const int to = HX_COARSE_CENTRE - (in_z.from * 3 + in_y.from) * 3 - in_x.from;
        if (in_x.low > in_x.high || in_y.low > in_y.high || in_z.low > in_z.high) continue;
        const int32_t i = a < 0 ? -1 : coarse.d_child[o * coarse.n_node + a];
        float row[DOF] = {};
        // n: the neighbour's offset from the centre; it is child n + to of the other node
        for (int z = in_z.low; z <= in_z.high; z++)
            for (int y = in_y.low; y <= in_y.high; y++)
                for (int x = in_x.low; x <= in_x.high; x++) {
                    const int n = (3 * z + y) * 3 + x;
                    add_row(fine, i, n + HX_COARSE_CENTRE, r, child[n + to], row);
                }
        add_turned(child[o], row, first, r, sum);
    }
}

// Warps of a block: SHARES for the same nodes, each with a subset of their children, times WARPS
// with nodes of their own.
template <int SHARES, int WARPS, int MIN>
__global__ void __launch_bounds__(32 * SHARES * WARPS, MIN)
    galerkin_kernel(hx_mg_level fine, hx_mg_level coarse, bool mirrored)
{
    __shared__ float4 child[HX_COARSE_OFFSETS]; // distance from the parent, weight
    __shared__ float part[WARPS][SHARES - 1][DOF][32];
    const int lane = static_cast<int>(threadIdx.x), share = static_cast<int>(threadIdx.y),
              warp = static_cast<int>(threadIdx.z), r = lane % DOF,
              thread = lane + 32 * (share + SHARES * warp);
    const unsigned n_parent = found_blocks(mirrored);
    const int parent = static_cast<int>(blockIdx.x % n_parent);
    const int p[3] = {parent % 3 - 1, parent / 3 % 3 - 1, parent / 9 - 1};
    const int64_t a =
        (blockIdx.x / n_parent * static_cast<int64_t>(WARPS) + warp) * ROW_NODES + lane / DOF;
    const bool is_found =
        lane < DOF * ROW_NODES && a < coarse.n_node && !is_image(coarse, a, parent);
    float sum[DOF] = {};
    if (thread < HX_COARSE_OFFSETS) {
        float d[3];
        const float w = hx_mg_child(&fine, &coarse, thread, d);
        child[thread] = make_float4(d[0], d[1], d[2], w);
    }
    __syncthreads();
    add_children<SHARES>(fine, coarse, child, is_found ? a : -1, share, p, lane - r, r, sum);
    if (share > 0)
#pragma unroll
        for (int c = 0; c < DOF; c++) part[warp][share - 1][c][lane] = sum[c];
    __syncthreads();
    if (share > 0 || !is_found) return;
    const block_place place = place_block(coarse, a, parent, mirrored);
#pragma unroll
    for (int c = 0; c < DOF; c++) {
#pragma unroll
        for (int k = 0; k < SHARES - 1; k++) sum[c] += part[warp][k][c][lane];
        store_entry(place, c, r, coarse.scale * sum[c]);
    }
}

template <int SHARES, int WARPS, int MIN>
void multiply_coarse(cudaStream_t stream, const hx_mg_level &fine, const hx_mg_level &coarse)
{
    const bool mirrored = !fine.local && !coarse.local;
    galerkin_kernel<SHARES, WARPS, MIN>
        <<<found_blocks(mirrored) * hx_blocks(coarse.n_node, WARPS * ROW_NODES),
           dim3(32, SHARES, WARPS), 0, stream>>>(fine, coarse, mirrored);
}

} // namespace

static int multiply_cells(hx_device *dev, const hx_mg_mesh *mesh, const galerkin_input &in,
                          const uint8_t *d_mean, const hx_mg_level *level)
{
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    HX_TRY_CUDA(cudaMemsetAsync(
        level->d_matrix, 0, static_cast<size_t>(level->n_node) * 27 * 36 * sizeof(float), stream));
    for (int colour = 0; colour < 8; colour++) {
        const int n = mesh->colour_at[colour + 1] - mesh->colour_at[colour];
        if (n == 0) continue;
        const int32_t *const d_coloured = mesh->d_coloured + mesh->colour_at[colour];
        mesh_galerkin_kernel<<<n, THREADS, 0, stream>>>(in, d_mean, d_coloured, *level);
        HX_TRY_LAUNCH("mesh Galerkin");
        if (d_mean) HX_TRY(hx_cuda_means_add(dev, mesh, in, d_coloured, n, level));
    }
    return HX_OK;
}

int hx_cuda_mesh_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level)
{
    return multiply_cells(dev, mesh, input_of(mesh), nullptr, level);
}

int hx_cuda_mesh_update(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level,
                        hx_mg_update holds)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    galerkin_input in = input_of(mesh);
    const hx_cell_classes classes = hx_cuda_classes_of(mesh);
    HX_TRY_CUDA(
        cudaMemsetAsync(mesh->d_changed + mesh->n_cell, 0, 2 * sizeof(int32_t), impl->stream));
    if (classes.count)
        HX_TRY_CUDA(
            cudaMemsetAsync(classes.count, 0, HX_CELL_CLASSES * sizeof(int32_t), impl->stream));
    keep_moduli_kernel<<<hx_blocks(32 * mesh->n_cell, HX_BLOCK), HX_BLOCK, 0, impl->stream>>>(
        in, holds, classes, mesh->takes_means != 0, mesh->d_mean, mesh->d_kept, mesh->d_changed);
    HX_TRY_LAUNCH("kept moduli");
    in.kept = mesh->d_kept;
    if (!mesh->d_share) return multiply_cells(dev, mesh, in, mesh->d_mean, level);
    const int64_t most = SHARE_BLOCKS * static_cast<int64_t>(impl->n_sm);
    const unsigned n_block = static_cast<unsigned>(mesh->n_cell < most ? mesh->n_cell : most);
    share_kernel<<<n_block, THREADS, 0, impl->stream>>>(
        in, mesh->d_changed, classes.begin[HX_CELL_CLASSES], mesh->d_share);
    HX_TRY_LAUNCH("mesh Galerkin");
    HX_TRY(hx_cuda_means_share(dev, mesh, in));
    HX_TRY(hx_cuda_classes_share(dev, mesh));
    const bool mirrored = !level->local;
    const dim3 grid = dim3(found_blocks(mirrored), hx_blocks(level->n_node, 128));
    sum_shares_kernel<<<grid, 128, 0, impl->stream>>>(mesh->d_share, mesh->d_node_cell, *level,
                                                      mirrored);
    return HX_LAUNCHED("cells' parts");
}

int hx_cuda_galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse)
{
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    if (coarse->n_node > SMALL_NODES)
        multiply_coarse<3, 4, 3>(stream, *fine, *coarse);
    else
        multiply_coarse<9, 1, 3>(stream, *fine, *coarse);
    return HX_LAUNCHED("Galerkin");
}
