// Galerkin matrices of multigrid: from the mesh to its first lattice, from a lattice to the next.
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

// ---- blocks of a lattice's matrix ----

// Threads find blocks up to the centre, and write the others as their mirror images. Where a level
// lies in pieces each process adds what its own nodes do: of rows that several find parts of, a
// block is no mirror image of another, and all of them are found.
// Thread blocks of one piece of nodes follow each other, so that what they all read is in the L2.
dim3 block_grid(int64_t n_node, int nodes, bool mirrored)
{
    return dim3(mirrored ? HX_LATTICE_CENTRE + 1 : HX_LATTICE_OFFSETS, hx_blocks(n_node, nodes));
}

// Of nodes of a level in shares: whether both rows are found by this process alone.
__device__ __forceinline__ bool is_found_here(const hx_mg_level &level, int64_t a, int64_t b)
{
    return level.d_divided && !level.d_divided[a] && !level.d_divided[b];
}

// Whether a block beyond the centre is written as the image of another.
__device__ __forceinline__ bool is_image(const hx_mg_level &level, int64_t a, int offset)
{
    if (offset <= HX_LATTICE_CENTRE) return false;
    const int64_t b = level.d_neighbour[offset * level.n_node + a];
    return b != a && is_found_here(level, a, b);
}

// Where a block of node a goes, and its image, if it has one. A block after the centre that is no
// image, for want of a node there, is 0.
struct block_place {
    float *to, *image, *none; // column after column, n_row apart; NULL: none
    int64_t n_row;
};

__device__ __forceinline__ block_place place_block(const hx_mg_level &level, int64_t a, int offset,
                                                   bool mirrored)
{
    const int back = HX_LATTICE_OFFSETS - 1 - offset;
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

// ---- the same from cells' parts, of which only those that changed are made again ----

// A warp a cell: moduli that are kept become the design's where one of the cell's has changed. The
// cells whose parts are to be made are listed by class, in any order; of those without one the
// cells of mean strains from the list's end on. The numbers of the two come last.
__global__ void keep_moduli_kernel(galerkin_input in, hx_mg_update holds, hx_cell_classes classes,
                                   bool takes_means, uint8_t *__restrict__ mean,
                                   float *__restrict__ kept, int32_t *__restrict__ list)
{
    const int64_t cell = (blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x) / 32;
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
    for (int by = 16; by > 0 && may; by /= 2) {
        least = fminf(least, __shfl_xor_sync(0xffffffffu, least, by));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, by));
    }
    if (lane > 0) return;
    const bool is = may && takes_means && most <= HX_MG_MEAN_CONTRAST * least;
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

constexpr int SHARE_BLOCKS = 5; // on a multiprocessor

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

// A thread a block of the matrix: the sum over the up to eight cells that hold both nodes, in the
// order of their places around the node.
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
        if ((x | y | z) & ~1) continue; // the other node is not of this cell
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

// ---- from a lattice: a few threads a block of the coarse matrix ----

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

// Children of a node that a thread takes, and threads that share a block of the coarse matrix.
constexpr int TAKEN = 3, SHARERS = HX_LATTICE_OFFSETS / TAKEN, NODES = 32;
constexpr int64_t SMALL_NODES = 8000; // of a lattice whose blocks are shared

// Child o's part of the block of node a and the node at p.
__device__ __forceinline__ void add_child(const hx_mg_level &fine, const hx_mg_level &coarse,
                                          int64_t a, int o, const int p[3], float sum[DOF][DOF])
{
    const int64_t n_row = DOF * fine.n_node, i = coarse.d_child[o * coarse.n_node + a];
    const int at[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
    int low[3], high[3], step[3]; // offsets from i of the children of the node at p
    float di[3];
    if (i < 0) return;
    for (int k = 0; k < 3; k++) {
        const int mode = coarse.mode[k];
        step[k] = hx_lattice_stride(mode) * p[k];
        low[k] = max(step[k] - at[k] + hx_lattice_low(mode), -1);
        high[k] = min(step[k] - at[k] + hx_lattice_high(mode), 1);
    }
    const float wi = hx_mg_child(&fine, &coarse, o, di);
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                const int n = (z + 1) * 9 + (y + 1) * 3 + x + 1;
                if (n != HX_LATTICE_CENTRE && fine.d_neighbour[n * fine.n_node + i] == i) continue;
                const int e = (at[2] + z - step[2] + 1) * 9 + (at[1] + y - step[1] + 1) * 3 +
                              at[0] + x - step[0] + 1;
                float dk[3];
                const float w = wi * hx_mg_child(&fine, &coarse, e, dk);
                add_block(fine.d_matrix + DOF * n * n_row + DOF * i, n_row, w, di, dk, sum);
            }
}

// Of a large lattice: a thread a block.
__global__ void __launch_bounds__(128)
    galerkin_kernel(hx_mg_level fine, hx_mg_level coarse, bool mirrored)
{
    const int64_t a = blockIdx.y * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    const int parent = static_cast<int>(blockIdx.x);
    const int p[3] = {parent % 3 - 1, parent / 3 % 3 - 1, parent / 9 - 1};
    float sum[DOF][DOF] = {};
    if (a >= coarse.n_node || is_image(coarse, a, parent)) return;
    for (int o = 0; o < HX_LATTICE_OFFSETS; o++) add_child(fine, coarse, a, o, p, sum);
    store_block(place_block(coarse, a, parent, mirrored), sum);
}

// Of a small one, where that would be a chain of up to 729 products, each waiting for its loads.
__global__ void __launch_bounds__(NODES *SHARERS, 2)
    small_galerkin_kernel(hx_mg_level fine, hx_mg_level coarse, bool mirrored)
{
    __shared__ float part[SHARERS][DOF * DOF][NODES];
    const int lane = static_cast<int>(threadIdx.x), sharer = static_cast<int>(threadIdx.y);
    const int64_t a = blockIdx.y * static_cast<int64_t>(NODES) + lane;
    const int parent = static_cast<int>(blockIdx.x);
    const int p[3] = {parent % 3 - 1, parent / 3 % 3 - 1, parent / 9 - 1};
    float sum[DOF][DOF] = {};
    const bool is_found = a < coarse.n_node && !is_image(coarse, a, parent);
    if (is_found)
        for (int o = 0; o < TAKEN; o++) add_child(fine, coarse, a, TAKEN * sharer + o, p, sum);
#pragma unroll
    for (int c = 0; c < DOF; c++)
#pragma unroll
        for (int r = 0; r < DOF; r++) part[sharer][DOF * c + r][lane] = sum[c][r];
    __syncthreads();
    if (!is_found) return;
    const block_place place = place_block(coarse, a, parent, mirrored);
    for (int e = sharer; e < DOF * DOF; e += SHARERS) {
        float all = part[0][e][lane];
        for (int k = 1; k < SHARERS; k++) all += part[k][e][lane];
        store_entry(place, e / DOF, e % DOF, all);
    }
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
    const bool mirrored = !level->share;
    const dim3 grid = block_grid(level->n_node, 128, mirrored);
    sum_shares_kernel<<<grid, 128, 0, impl->stream>>>(mesh->d_share, mesh->d_node_cell, *level,
                                                      mirrored);
    HX_TRY_LAUNCH("cells' parts");
    return HX_OK;
}

int hx_cuda_galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse)
{
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    const bool mirrored = !fine->share && !coarse->share;
    if (coarse->n_node > SMALL_NODES)
        galerkin_kernel<<<block_grid(coarse->n_node, 128, mirrored), 128, 0, stream>>>(
            *fine, *coarse, mirrored);
    else
        small_galerkin_kernel<<<block_grid(coarse->n_node, NODES, mirrored), dim3(NODES, SHARERS),
                                0, stream>>>(*fine, *coarse, mirrored);
    HX_TRY_LAUNCH("Galerkin");
    return HX_OK;
}
