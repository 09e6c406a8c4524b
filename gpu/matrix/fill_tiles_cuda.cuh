// Shared by the fills of the GPU: the places of an entry's numbers, and a warp that computes the
// tiles of four cells from gradients in shared memory.
#ifndef HX_FILL_TILES_CUDA_CUH
#define HX_FILL_TILES_CUDA_CUH

#include "hex8_tiles.cuh"
#include "matrix_cuda.cuh"

constexpr unsigned HX_ALL_LANES = 0xffffffffu;
constexpr int HX_WARP_CELLS = 4;
constexpr int HX_FILL_WARPS = 4;  // per block
constexpr int HX_FILL_BLOCKS = 5; // blocks per multiprocessor, limited by registers
// Distance between integration points in doubles: 8 corners with 3 each, plus one so that points do
// not share banks. Distance between cells: the points, the 24 coordinates, and 8 so that alternate
// cells do not share banks.
constexpr int HX_POINT_STRIDE = 25;
constexpr int HX_CELL_X = 8 * HX_POINT_STRIDE;
constexpr int HX_CELL_STRIDE = HX_CELL_X + 32;

// Where an entry's numbers are: the data with which hx_matrix_place maps to (i, j), computed once
// per entry.
struct hx_spot {
    int64_t first;    // number (0, 0); -1: the pair has no entry
    int32_t step;     // distance between rows of numbers
    int32_t triangle; // 1: only numbers up to the diagonal are stored
};

static HX_HD hx_spot hx_entry_spot(const hx_matrix &m, int64_t row, int n, int k)
{
    const int c = m.spec.components, lower = m.spec.part == HX_PART_LOWER;
    hx_spot spot = {hx_matrix_place(&m, row, n, k, 0, 0), 0, 0};
    switch (m.spec.format) {
    case HX_FORMAT_BSR:
        spot.step = c;
        break;
    case HX_FORMAT_BSRS:
        spot.step = c * HX_SLICE;
        break;
    case HX_FORMAT_ELL:
        spot.step = 1;
        spot.triangle = lower && k == n - 1;
        break;
    default: // csr, coo
        spot.step = c * (lower ? n - 1 : n);
        spot.triangle = lower && k == n - 1;
        break;
    }
    return spot;
}

// hx_matrix_place of (i, j); also -1 if the pair has no entry.
static HX_HD int64_t hx_spot_place(const hx_matrix &m, const hx_spot &spot, int i, int j)
{
    const int lower = m.spec.part == HX_PART_LOWER;
    int64_t place = spot.first + static_cast<int64_t>(i) * spot.step;
    if (spot.first < 0 || (spot.triangle && j > i)) return -1;
    switch (m.spec.format) {
    case HX_FORMAT_BSR:
        return place + j;
    case HX_FORMAT_BSRS:
        return place + j * HX_SLICE;
    case HX_FORMAT_ELL:
        return place + j * m.pattern.n_row * m.spec.components;
    default: // each row of numbers ends at the diagonal, so it is one longer than the preceding one
        return place + j + (lower ? i * (i + 1) / 2 : 0);
    }
}

// The spot of pair 8 a + b of a cell.
__device__ __forceinline__ hx_spot hx_pair_spot(const hx_matrix &m, const int32_t *point,
                                                int64_t cell, int pair)
{
    const hx_device_pattern &p = m.pattern;
    const int slot = hx_slot_at(p.d_slot, p.slot_bytes, 64 * cell + pair);
    if (slot < 0) return {-1, 0, 0};
    const int64_t row = point[8 * cell + pair / 8] - p.row_first;
    return hx_entry_spot(m, row, static_cast<int>(p.d_row_ptr[row + 1] - p.d_row_ptr[row]), slot);
}

inline size_t hx_value_bytes(const hx_matrix &m)
{
    return static_cast<size_t>(m.n_value) * (m.spec.single ? sizeof(float) : sizeof(double));
}

// Computes the gradients of a warp's cells, where lanes 8 g .. 8 g + 7 name the g-th cell
// (-1: none), into the warp's h[4][HX_CELL_STRIDE]. The gradient of corner a at point q is at
// h[g][HX_POINT_STRIDE q + 3 a]; lane 8 g + q computes point q. All lanes call it.
__device__ __forceinline__ void hx_warp_gradients(const hx_fill_input &input, int64_t cell,
                                                  double *h)
{
    const int lane = static_cast<int>(threadIdx.x % 32);
    int q = lane % 8;
    double *const own = h + lane / 8 * HX_CELL_STRIDE, *const x = own + HX_CELL_X;
    // otherwise a surrounding loop would keep all derivatives of point q in registers
    asm volatile("" : "+r"(q));
    if (cell >= 0) {
        const int64_t a = input.incidence.point[8 * cell + q];
#pragma unroll
        for (int i = 0; i < 3; i++) x[3 * q + i] = input.d_xyz[3 * a + i];
    }
    __syncwarp(); // also: all lanes have read the preceding gradients
    if (cell >= 0) {
        double root[3][3];
        hx_root_jacobian(x, q, root);
#pragma unroll
        for (int a = 0; a < 8; a++) hx_root_gradient(root, q, a, own + HX_POINT_STRIDE * q + 3 * a);
    }
    __syncwarp(); // also: all lanes have read the coordinates
}

// m += the products at one point; only the diagonal for heat conduction.
template <int C>
__device__ __forceinline__ void hx_add_product(const double ha[3], const double hb[3],
                                               double m[3][3])
{
    if constexpr (C == 3) {
        hx_form_add(ha, hb, m);
    } else {
#pragma unroll
        for (int i = 0; i < 3; i++) m[i][i] += ha[i] * hb[i];
    }
}

// The numbers of a tile, row by row.
template <int C>
__device__ __forceinline__ void hx_tile_numbers(const hx_form &form, double modulus,
                                                const double m[3][3], double k[C * C])
{
    if constexpr (C == 1) {
        k[0] = hx_form_conduction(modulus, m);
    } else {
        double tile[3][3];
        hx_form_elasticity(modulus, form.lambda, form.mu, m, tile);
#pragma unroll
        for (int t = 0; t < C * C; t++) k[t] = tile[t / C][t % C];
    }
}

// Shared memory of a warp of hx_cells_kernel.
template <int C, class Spot> struct hx_warp_tiles {
    double h[HX_WARP_CELLS * HX_CELL_STRIDE];
    double number[C == 1 ? 1 : 32 * C * C];
    Spot spot[C == 1 ? 1 : 32];
};

// Computes the tiles of n cells, list[first ..] (without a list: cells first ..), and passes them
// to the sink number by number: spot(cell, pair) once per tile, then
// put(cell, pair, t, number, spot). A warp processes four cells; neighbouring lanes have
// neighbouring numbers of a tile, so that their accesses are contiguous.
template <int C, class Sink>
__global__ void __launch_bounds__(32 * HX_FILL_WARPS, HX_FILL_BLOCKS)
    hx_cells_kernel(const hx_fill_input input, const int32_t *list, int64_t first, int64_t n,
                    const Sink sink)
{
    using spot_type = typename Sink::spot_type;
    __shared__ hx_warp_tiles<C, spot_type> all[HX_FILL_WARPS];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    hx_warp_tiles<C, spot_type> &own = all[warp];
    const int64_t begin = HX_WARP_CELLS * (static_cast<int64_t>(blockIdx.x) * HX_FILL_WARPS + warp);
    if (begin >= n) return; // for the whole warp
    const int64_t at = begin + lane / 8;
    const int64_t group_cell = at >= n ? -1 : list ? list[first + at] : first + at;
    hx_warp_gradients(input, group_cell, own.h);
#pragma unroll 1
    for (int g = 0; g < HX_WARP_CELLS; g++) {
        const int64_t cell = __shfl_sync(HX_ALL_LANES, group_cell, 8 * g);
        if (cell < 0) break;
        // Corners a = lane / 8 and, at distance 4, the opposite one; b = lane % 8.
        const double *const ha = own.h + g * HX_CELL_STRIDE + 3 * (lane / 8);
        const double *const hb = own.h + g * HX_CELL_STRIDE + 3 * (lane % 8);
        double m[2][3][3] = {};
#pragma unroll
        for (int q = 0; q < 8; q++) {
            hx_add_product<C>(ha + HX_POINT_STRIDE * q, hb + HX_POINT_STRIDE * q, m[0]);
            hx_add_product<C>(ha + HX_POINT_STRIDE * q + 12, hb + HX_POINT_STRIDE * q, m[1]);
        }
        const double modulus = input.d_modulus[cell];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            double k[C * C];
            hx_tile_numbers<C>(input.form, modulus, m[half], k);
            if constexpr (C == 1) {
                const int pair = 32 * half + lane;
                sink.put(cell, pair, 0, k[0], sink.spot(cell, pair));
            } else {
#pragma unroll
                for (int t = 0; t < C * C; t++) own.number[C * C * lane + t] = k[t];
                own.spot[lane] = sink.spot(cell, 32 * half + lane);
                __syncwarp();
#pragma unroll
                for (int step = 0; step < C * C; step++) {
                    const int s = 32 * step + lane, tile = s / (C * C);
                    sink.put(cell, 32 * half + tile, s % (C * C), own.number[s], own.spot[tile]);
                }
                __syncwarp();
            }
        }
    }
}

template <int C, class Sink>
int hx_launch_cells(const hx_device *dev, const hx_fill_input &input, const int32_t *d_list,
                    int64_t first, int64_t n, const Sink &sink)
{
    if (n <= 0) return HX_OK;
    constexpr int block = 32 * HX_FILL_WARPS;
    const unsigned n_block = hx_blocks(n * (32 / HX_WARP_CELLS), block);
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    hx_cells_kernel<C><<<n_block, block, 0, stream>>>(input, d_list, first, n, sink);
    return HX_LAUNCHED("tiles of cells");
}

// Number of cells whose numbers are kept at a time: all, or as many as fit into 0.8 of the free
// memory, a multiple of 32.
inline int64_t hx_cells_at_a_time(hx_device *dev, int64_t n_cell, size_t bytes_per_cell)
{
    const int64_t all = (n_cell + 31) / 32 * 32, least = 32 * 128;
    const auto fit = static_cast<int64_t>(0.8 * static_cast<double>(hx_free_bytes(dev)) /
                                          static_cast<double>(bytes_per_cell));
    if (fit == 0 || fit >= all) return all;
    return fit < least ? (all < least ? all : least) : fit / 32 * 32;
}

#endif
