// The filter's sums over voxels (voxels.h): a stencil over the points of their grid, in double
// precision.
//
// A block sums a tile of 32 x 8 x 8 points. The values of the tile and of everything within reach
// are in shared memory, as many layers at a time as fit. A warp processes one layer of the tile. A
// thread processes a run of 8 points along x, whose sums stay in registers. For a line of the
// stencil of half-width w it reads 8 + 2 w values and w + 1 weights, and computes 8 (2 w + 1)
// products. Lines have odd lengths, so that the 8 lines of a warp are in different banks.
#include "cone_cuda.cuh"

#include "../device/fields_cuda.cuh"
#include "cone_voxels_cuda.cuh"

namespace
{

constexpr int RUN = 8, TILE_X = 32, TILE_Y = 8, TILE_Z = 8, LANES = 32;
constexpr size_t MOST_SHARED = 112 * 1024; // allows two blocks per multiprocessor

struct voxel_grid {
    hx_voxels v;
    const double *value; // at the first point
    int tile_y, tile_x;  // numbers of tiles along y and x
    int layers;          // number of layers in shared memory at a time
    int pitch;           // distance between lines in shared memory
};

struct place_body {
    hx_voxels v;
    const double *value;
    double *by_point;
    __device__ void operator()(int64_t p) const
    {
        const int32_t elem = v.elem[p];
        const unsigned n = static_cast<unsigned>(v.n[0]), at = static_cast<unsigned>(p);
        if (elem >= 0) by_point[at / n * v.line + at % n] = value[elem];
    }
};

// sum[] += the weighted values of a line; from[0] is the value at the first point of the run.
template <int WIDTH>
__device__ __forceinline__ void add_line(const double *from, const double *weight,
                                         double (&sum)[RUN])
{
    double w[WIDTH + 1];
#pragma unroll
    for (int i = 0; i <= WIDTH; i++) w[i] = weight[i];
#pragma unroll
    for (int i = -WIDTH; i < RUN + WIDTH; i++) {
        const double value = from[i];
#pragma unroll
        for (int t = 0; t < RUN; t++) {
            const int away = i < t ? t - i : i - t;
            if (away <= WIDTH) sum[t] = fma(w[away], value, sum[t]);
        }
    }
}

__device__ __forceinline__ void add_width(int width, const double *from, const double *weight,
                                          double (&sum)[RUN])
{
    switch (width) {
    case 0:
        add_line<0>(from, weight, sum);
        break;
    case 1:
        add_line<1>(from, weight, sum);
        break;
    case 2:
        add_line<2>(from, weight, sum);
        break;
    case 3:
        add_line<3>(from, weight, sum);
        break;
    case 4:
        add_line<4>(from, weight, sum);
        break;
    case 5:
        add_line<5>(from, weight, sum);
        break;
    case 6:
        add_line<6>(from, weight, sum);
        break;
    case 7:
        add_line<7>(from, weight, sum);
        break;
    case 8:
        add_line<8>(from, weight, sum);
        break;
    case 9:
        add_line<9>(from, weight, sum);
        break;
    case 10:
        add_line<10>(from, weight, sum);
        break;
    case 11:
        add_line<11>(from, weight, sum);
        break;
    case 12:
        add_line<12>(from, weight, sum);
        break;
    default:
        break; // -1: the line has no weight
    }
}
static_assert(HX_VOXELS_REACH == 12, "the switch has a case for each width");

// Loads the layers [first, first + layers) of the grid, for the tile and its surroundings.
__device__ __forceinline__ void load_layers(const voxel_grid &g, int first, const int (&tile)[3],
                                            double *layer)
{
    const int lane = threadIdx.x % LANES, reach_x = g.v.reach[0], reach_y = g.v.reach[1];
    const int n_y = TILE_Y + 2 * reach_y, n_x = TILE_X + 2 * reach_x;
    for (int row = threadIdx.x / LANES; row < g.layers * n_y; row += TILE_Z) {
        const int y = tile[1] - reach_y + row % n_y, z = first + row / n_y;
        const bool is_in = y >= 0 && y < g.v.n[1] && z >= 0 && z < g.v.n[2];
        const double *const line = g.value + (z * g.v.n[1] + y) * g.v.line;
        for (int i = lane; i < n_x; i += LANES) {
            const int x = tile[0] - reach_x + i;
            const bool has_value = is_in && x >= 0 && x < g.v.n[0];
            layer[row * g.pitch + i] = has_value ? line[x] : 0.0;
        }
    }
}

// Adds the lines of the stencil's layer at distance `away` to a run.
__device__ __forceinline__ void add_layer(const voxel_grid &g, const double *from, int away,
                                          const int *width, const double *weight,
                                          double (&sum)[RUN])
{
    const int reach = g.v.reach[1], row = away * (reach + 1);
    for (int dy = -reach; dy <= reach; dy++) {
        const int at = row + abs(dy);
        add_width(width[at], from + dy * g.pitch, weight + at * (g.v.reach[0] + 1), sum);
    }
}

__global__ void __launch_bounds__(LANES *TILE_Z, 2)
    voxel_kernel(const voxel_grid g, double *__restrict__ result)
{
    extern __shared__ double shared[];
    const int rows = (g.v.reach[2] + 1) * (g.v.reach[1] + 1), weights = rows * (g.v.reach[0] + 1);
    double *const weight = shared, *const layer = shared + weights;
    int *const width =
        reinterpret_cast<int *>(layer + g.layers * (TILE_Y + 2 * g.v.reach[1]) * g.pitch);
    const int x_tile = blockIdx.x % g.tile_x, yz_tile = blockIdx.x / g.tile_x;
    const int tile[3] = {x_tile * TILE_X, yz_tile % g.tile_y * TILE_Y, yz_tile / g.tile_y * TILE_Z};
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int x = tile[0] + lane / TILE_Y * RUN, y = tile[1] + lane % TILE_Y, z = tile[2] + warp;
    const bool is_in = y < g.v.n[1] && z < g.v.n[2];
    const int n_here = is_in ? min(RUN, static_cast<int>(g.v.n[0]) - x) : 0;
    const int32_t *const elem = g.v.elem + (z * g.v.n[1] + y) * g.v.n[0] + x;
    bool has_element = false;
    for (int t = 0; t < n_here; t++) has_element |= elem[t] >= 0;
    if (!__syncthreads_or(has_element)) return;
    const bool works = __any_sync(0xffffffffu, has_element);

    double sum[RUN] = {};
    for (int i = threadIdx.x; i < weights; i += blockDim.x) weight[i] = g.v.weight[i];
    for (int i = threadIdx.x; i < rows; i += blockDim.x) width[i] = g.v.width[i];
    const int n_y = TILE_Y + 2 * g.v.reach[1], n_z = static_cast<int>(g.v.n[2]);
    const int end = min(n_z, tile[2] + TILE_Z + g.v.reach[2]);
    const double *const from =
        layer + (lane % TILE_Y + g.v.reach[1]) * g.pitch + lane / TILE_Y * RUN + g.v.reach[0];
    for (int first = max(0, tile[2] - g.v.reach[2]); first < end; first += g.layers) {
        __syncthreads();
        load_layers(g, first, tile, layer);
        __syncthreads();
        const int begin = max(first, z - g.v.reach[2]),
                  last = min(min(end, first + g.layers), z + g.v.reach[2] + 1);
        for (int at = begin; works && at < last; at++)
            add_layer(g, from + (at - first) * n_y * g.pitch, abs(at - z), width, weight, sum);
    }
#pragma unroll
    for (int t = 0; t < RUN; t++)
        if (t < n_here && elem[t] >= 0) result[elem[t]] = sum[t];
}

int tiles_along(int64_t n, int tile)
{
    return static_cast<int>((n + tile - 1) / tile);
}

} // namespace

int hx_cuda_voxel_sum(hx_device *dev, const hx_device_bins *cells, const double *d_value,
                      double *d_sum)
{
    const hx_voxels *const v = &cells->voxels;
    double *const by_point = cells->d_value[0] + v->reach[0];
    const int n_y = TILE_Y + 2 * v->reach[1];
    voxel_grid g = {};
    HX_TRY(hx_for_each(dev, v->n[0] * v->n[1] * v->n[2], place_body{*v, d_value, by_point}));
    g.v = *v;
    g.value = by_point;
    g.tile_x = tiles_along(v->n[0], TILE_X);
    g.tile_y = tiles_along(v->n[1], TILE_Y);
    g.pitch = (TILE_X + 2 * v->reach[0]) | 1;
    const size_t table = static_cast<size_t>(hx_voxels_weights(v)) * sizeof(double) +
                         static_cast<size_t>(hx_voxels_rows(v)) * sizeof(int);
    const size_t one = static_cast<size_t>(n_y) * static_cast<size_t>(g.pitch) * sizeof(double);
    int most = 0;
    HX_TRY_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       hx_cuda_of(dev)->place));
    const size_t room =
        static_cast<size_t>(most) < MOST_SHARED ? static_cast<size_t>(most) : MOST_SHARED;
    g.layers = static_cast<int>((room - table) / one);
    if (g.layers > TILE_Z + 2 * v->reach[2]) g.layers = TILE_Z + 2 * v->reach[2];
    const size_t bytes = table + static_cast<size_t>(g.layers) * one;
    HX_TRY_CUDA(cudaFuncSetAttribute(voxel_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(bytes)));
    const unsigned n_block = static_cast<unsigned>(g.tile_x) * static_cast<unsigned>(g.tile_y) *
                             static_cast<unsigned>(tiles_along(v->n[2], TILE_Z));
    voxel_kernel<<<n_block, LANES * TILE_Z, bytes, hx_cuda_of(dev)->stream>>>(g, d_sum);
    return HX_LAUNCHED("cone_sum");
}
