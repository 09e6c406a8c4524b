// The inverse of a lattice's matrix, for the lattice that multigrid solves directly.
//
// A, scaled to unit diagonal and with 3e-6 of it added (core/solver/skyline.h says why), is swept
// block by block: with the pivots K of a block, G = A_KK^-1 and W = A_.K G,
//
//     A_ij -= W_i A_jK',  A_iK = W_i,  A_KK = -G    (i, j not in K)
//
// leaves -A^-1 when all blocks are done (Goodnight, Am. Stat. 33, 1979). Double precision, the
// lower triangle by tiles, n^3 multiplications. A pivot that is none (below 1e-6) is left out: its
// row and column become 0. A fixed order everywhere: the same bits each time.
#include "multigrid_cuda.cuh"

namespace
{

constexpr int TILE = HX_MG_TILE, SIDE = 16, PART = TILE / SIDE, PITCH = TILE + 2;
constexpr int THREADS = SIDE * SIDE; // each for PART x PART entries of a tile, SIDE apart
constexpr double ADDED = 3e-6, LEAST_PIVOT = 1e-6;

// In the memory of the caller.
struct sweep {
    int64_t n, pitch;   // pitch: n rounded up to tiles
    double *a;          // [pitch][pitch]
    double *w, *column; // [pitch][TILE] W, and A_.K as it was
    double *g;          // [2][TILE][TILE] of this block and of the next
    double *scale;      // [pitch], 0 where a row is empty
};

sweep sweep_of(int64_t n, double *d_work)
{
    sweep s = {};
    s.n = n;
    s.pitch = hx_mg_pitch(n);
    s.a = d_work;
    s.w = s.a + s.pitch * s.pitch;
    s.column = s.w + s.pitch * TILE;
    s.g = s.column + s.pitch * TILE;
    s.scale = s.g + 2 * TILE * TILE;
    return s;
}

template <int DOF>
__device__ __forceinline__ double entry_of(const hx_mg_level &level, int64_t a, int o, int r, int c)
{
    return static_cast<double>(level.d_matrix[((DOF * o + c) * level.n_node + a) * DOF + r]);
}

template <int DOF> __global__ void scale_kernel(hx_mg_level level, sweep s)
{
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i >= s.pitch) return;
    double d = 0.0;
    if (i < s.n) {
        const int r = static_cast<int>(i % DOF);
        d = entry_of<DOF>(level, i / DOF, HX_LATTICE_CENTRE, r, r);
    }
    s.scale[i] = d > 0.0 ? 1.0 / sqrt(d) : 0.0;
}

// A thread an entry of the matrix; s.a is 0 before.
template <int DOF> __global__ void fill_kernel(hx_mg_level level, sweep s)
{
    constexpr int BLOCK = DOF * DOF;
    const int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    const int64_t row = k % s.n, a = row / DOF;
    if (k >= HX_LATTICE_OFFSETS * BLOCK * level.n_node) return;
    const int column = static_cast<int>(k / s.n), o = column / DOF, c = column % DOF;
    const int64_t b = level.d_neighbour[o * level.n_node + a], j = DOF * b + c;
    if ((b == a && o != HX_LATTICE_CENTRE) || j > row) return;
    const double value =
        entry_of<DOF>(level, a, o, static_cast<int>(row % DOF), c) * (s.scale[row] * s.scale[j]);
    s.a[row * s.pitch + j] = j == row ? value * (1.0 + ADDED) : value;
}

// Entry (i, j) of a tile is at [j % SIDE][i % SIDE] of the threads.
struct part {
    double v[PART][PART];
};

// A tile of pivots to its inverse, in the registers of a block: sweeps its pivots one by one.
__device__ void invert_tile(part &p, double *__restrict__ g)
{
    __shared__ double line[2][TILE];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    unsigned long long kept = 0;
#pragma unroll
    for (int kp = 0; kp < PART; kp++)
#pragma unroll 1
        for (int kx = 0; kx < SIDE; kx++) {
            const int k = kp * SIDE + kx;
            double *const at = line[k % 2];
            if (x == kx) // column k
#pragma unroll
                for (int i = 0; i < PART; i++) at[y + SIDE * i] = p.v[i][kp];
            __syncthreads();
            const double pivot = at[k];
            if (!(pivot > LEAST_PIVOT)) continue; // for all threads alike
            kept |= 1ull << k;
            const double inverse = 1.0 / pivot;
#pragma unroll
            for (int i = 0; i < PART; i++)
#pragma unroll
                for (int j = 0; j < PART; j++) {
                    const int row = y + SIDE * i, column = x + SIDE * j;
                    const double r = at[row], c = at[column];
                    if (row == k && column == k)
                        p.v[i][j] = -inverse;
                    else if (row == k)
                        p.v[i][j] = c * inverse;
                    else if (column == k)
                        p.v[i][j] = r * inverse;
                    else
                        p.v[i][j] = fma(-(r * inverse), c, p.v[i][j]);
                }
        }
    for (int i = 0; i < PART; i++)
        for (int j = 0; j < PART; j++) {
            const int row = y + SIDE * i, column = x + SIDE * j;
            const bool both = (kept >> row & 1) != 0 && (kept >> column & 1) != 0;
            g[row * TILE + column] = both ? -p.v[i][j] : 0.0;
        }
}

// The first tile's inverse.
__global__ void __launch_bounds__(THREADS) first_kernel(sweep s)
{
    part p;
    for (int i = 0; i < PART; i++)
        for (int j = 0; j < PART; j++) {
            const int row = static_cast<int>(threadIdx.y) + SIDE * i,
                      column = static_cast<int>(threadIdx.x) + SIDE * j;
            p.v[i][j] = row >= column ? s.a[row * s.pitch + column] : s.a[column * s.pitch + row];
        }
    invert_tile(p, s.g);
}

// W and the column of tile k, a block a tile of rows.
__global__ void __launch_bounds__(THREADS) panel_kernel(sweep s, int k)
{
    __shared__ double from[TILE][TILE + 1];
    const int tile = static_cast<int>(blockIdx.x), x = static_cast<int>(threadIdx.x),
              y = static_cast<int>(threadIdx.y);
    const double *const g = s.g + (k % 2) * TILE * TILE;
    for (int i = y; i < TILE; i += SIDE)
        for (int j = x; j < TILE; j += SIDE) {
            if (tile >= k)
                from[i][j] = s.a[(tile * TILE + i) * s.pitch + k * TILE + j];
            else // from above the diagonal: the transposed tile
                from[j][i] = s.a[(k * TILE + i) * s.pitch + tile * TILE + j];
        }
    __syncthreads();
    double sum[PART][PART] = {};
    for (int m = 0; m < TILE; m++) {
        double left[PART], right[PART];
#pragma unroll
        for (int i = 0; i < PART; i++) left[i] = from[y + SIDE * i][m];
#pragma unroll
        for (int j = 0; j < PART; j++) right[j] = g[m * TILE + x + SIDE * j];
#pragma unroll
        for (int i = 0; i < PART; i++)
#pragma unroll
            for (int j = 0; j < PART; j++) sum[i][j] = fma(left[i], right[j], sum[i][j]);
    }
    for (int i = 0; i < PART; i++)
        for (int j = 0; j < PART; j++) {
            const int64_t row = tile * TILE + y + SIDE * i;
            const int column = x + SIDE * j;
            s.w[row * TILE + column] = sum[i][j];
            s.column[row * TILE + column] = from[y + SIDE * i][column];
        }
}

// A tile (row, column) with row >= column from the number of a block; the next pivots' tile first.
__device__ __forceinline__ void tile_of(int block, int next, int n_tile, int &row, int &column)
{
    const int first = next < n_tile ? next * (next + 1) / 2 + next : 0;
    if (block == 0)
        block = first;
    else if (block <= first)
        block--;
    row = static_cast<int>((sqrt(8.0 * block + 1.0) - 1.0) / 2.0);
    while ((row + 1) * (row + 2) / 2 <= block) row++;
    while (row * (row + 1) / 2 > block) row--;
    column = block - row * (row + 1) / 2;
}

// What the pivots of tile k leave; the next tile's inverse as soon as it is known.
__global__ void __launch_bounds__(THREADS, 2) update_kernel(sweep s, int k, int n_tile)
{
    extern __shared__ double shared[]; // [2][TILE][PITCH]: both tiles by columns
    double(*const left)[PITCH] = reinterpret_cast<double(*)[PITCH]>(shared);
    double(*const right)[PITCH] = left + TILE;
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    int row, column;
    tile_of(static_cast<int>(blockIdx.x), k + 1, n_tile, row, column);
    double *const to = s.a + row * TILE * s.pitch + column * TILE;
    if (row == k || column == k) {
        const double *const g = s.g + (k % 2) * TILE * TILE;
        for (int i = y; i < TILE; i += SIDE)
            for (int j = x; j < TILE; j += SIDE) {
                const double v = row == column ? -g[i * TILE + j]
                                 : column == k ? s.w[(row * TILE + i) * TILE + j]
                                               : s.w[(column * TILE + j) * TILE + i];
                to[i * s.pitch + j] = v;
            }
        return;
    }
    for (int i = y; i < TILE; i += SIDE)
        for (int m = x; m < TILE; m += SIDE) {
            left[m][i] = s.w[(row * TILE + i) * TILE + m];
            right[m][i] = s.column[(column * TILE + i) * TILE + m];
        }
    part p;
    const bool is_next = row == k + 1 && column == k + 1;
#pragma unroll
    for (int i = 0; i < PART; i++)
#pragma unroll
        for (int j = 0; j < PART; j++) p.v[i][j] = to[(y + SIDE * i) * s.pitch + x + SIDE * j];
    __syncthreads();
#pragma unroll 4
    for (int m = 0; m < TILE; m++) {
        double l[PART], r[PART];
#pragma unroll
        for (int i = 0; i < PART; i++) l[i] = left[m][y + SIDE * i];
#pragma unroll
        for (int j = 0; j < PART; j++) r[j] = right[m][x + SIDE * j];
#pragma unroll
        for (int i = 0; i < PART; i++)
#pragma unroll
            for (int j = 0; j < PART; j++) p.v[i][j] = fma(-l[i], r[j], p.v[i][j]);
    }
    for (int i = 0; i < PART; i++)
        for (int j = 0; j < PART; j++) to[(y + SIDE * i) * s.pitch + x + SIDE * j] = p.v[i][j];
    if (!is_next) return;
    __syncthreads();
    for (int i = 0; i < PART; i++) // the lower triangle alone is A
        for (int j = 0; j < PART; j++) left[y + SIDE * i][x + SIDE * j] = p.v[i][j];
    __syncthreads();
    for (int i = 0; i < PART; i++)
        for (int j = 0; j < PART; j++)
            if (x + SIDE * j > y + SIDE * i) p.v[i][j] = left[x + SIDE * j][y + SIDE * i];
    invert_tile(p, s.g + ((k + 1) % 2) * TILE * TILE);
}

// A thread an entry of the inverse.
__global__ void finish_kernel(sweep s, float *__restrict__ inverse)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    const int64_t i = k / s.pitch, j = k % s.pitch;
    if (i >= s.pitch) return;
    const double v = i >= j ? s.a[i * s.pitch + j] : s.a[j * s.pitch + i];
    inverse[i * s.pitch + j] = static_cast<float>(-v * (s.scale[i] * s.scale[j]));
}

template <int DOF>
int invert(hx_device *dev, const hx_mg_level *level, double *d_work, float *d_inverse)
{
    const int64_t n = DOF * level->n_node;
    const sweep s = sweep_of(n, d_work);
    const int n_tile = static_cast<int>(s.pitch / TILE);
    const dim3 block(SIDE, SIDE);
    constexpr size_t n_shared = 2 * TILE * PITCH * sizeof(double);
    cudaStream_t stream = hx_stream_of(dev);
    HX_TRY_CUDA(cudaFuncSetAttribute(update_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(n_shared)));
    HX_TRY(dev->ops->zero(dev, s.a, static_cast<size_t>(s.pitch * s.pitch) * sizeof(double)));
    scale_kernel<DOF><<<hx_blocks(s.pitch, HX_BLOCK), HX_BLOCK, 0, stream>>>(*level, s);
    HX_TRY_LAUNCH("multigrid scale");
    fill_kernel<DOF>
        <<<hx_blocks(HX_LATTICE_OFFSETS * DOF * n, HX_BLOCK), HX_BLOCK, 0, stream>>>(*level, s);
    HX_TRY_LAUNCH("multigrid fill");
    first_kernel<<<1, block, 0, stream>>>(s);
    HX_TRY_LAUNCH("multigrid first pivots");
    for (int k = 0; k < n_tile; k++) {
        panel_kernel<<<n_tile, block, 0, stream>>>(s, k);
        HX_TRY_LAUNCH("multigrid panel");
        update_kernel<<<n_tile *(n_tile + 1) / 2, block, n_shared, stream>>>(s, k, n_tile);
        HX_TRY_LAUNCH("multigrid update");
    }
    finish_kernel<<<hx_blocks(s.pitch * s.pitch, HX_BLOCK), HX_BLOCK, 0, stream>>>(s, d_inverse);
    HX_TRY_LAUNCH("multigrid inverse");
    return HX_OK;
}

constexpr int WARPS = 8; // rows of a block

// A warp a row. b in double in shared memory; large terms cancel, so sums are in double.
__global__ void __launch_bounds__(32 * WARPS)
    inverse_multiply_kernel(int n, int pitch, const float *__restrict__ inverse, const float *b,
                            float *y)
{
    extern __shared__ double value[]; // [pitch]
    const int lane = static_cast<int>(threadIdx.x) % 32,
              row = static_cast<int>(blockIdx.x) * WARPS + static_cast<int>(threadIdx.x) / 32;
    hx_let_next_begin();
    hx_wait_for_last();
    for (int k = static_cast<int>(threadIdx.x); k < pitch; k += 32 * WARPS)
        value[k] = k < n ? static_cast<double>(b[k]) : 0.0;
    __syncthreads();
    if (row >= n) return;
    const float4 *const from =
        reinterpret_cast<const float4 *>(inverse + static_cast<int64_t>(row) * pitch);
    double sum[2] = {};
#pragma unroll 4
    for (int k = lane; k < pitch / 4; k += 32) {
        const float4 v = from[k];
        sum[0] = fma(static_cast<double>(v.x), value[4 * k], sum[0]);
        sum[1] = fma(static_cast<double>(v.y), value[4 * k + 1], sum[1]);
        sum[0] = fma(static_cast<double>(v.z), value[4 * k + 2], sum[0]);
        sum[1] = fma(static_cast<double>(v.w), value[4 * k + 3], sum[1]);
    }
    sum[0] += sum[1];
    for (int k = 16; k > 0; k /= 2) sum[0] += __shfl_down_sync(0xffffffffu, sum[0], k);
    if (lane == 0) y[row] = static_cast<float>(sum[0]);
}

} // namespace

int hx_cuda_mg_inverse(hx_device *dev, const hx_mg_level *level, double *d_work, float *d_inverse)
{
    return invert<HX_MG_DOF>(dev, level, d_work, d_inverse);
}

int hx_cuda_mg_inverse_scalar(hx_device *dev, const hx_mg_level *level, double *d_work,
                              float *d_inverse)
{
    return invert<1>(dev, level, d_work, d_inverse);
}

int hx_cuda_mg_inverse_multiply(hx_device *dev, int64_t n, const float *d_inverse, const float *d_b,
                                float *d_y)
{
    const int64_t pitch = hx_mg_pitch(n);
    return hx_launch_early(dev, "multigrid coarsest", inverse_multiply_kernel, hx_blocks(n, WARPS),
                           32 * WARPS, static_cast<size_t>(pitch) * sizeof(double),
                           static_cast<int>(n), static_cast<int>(pitch), d_inverse, d_b, d_y);
}
