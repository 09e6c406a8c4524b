// The fill `nz`: one thread per entry, which visits the cells of its pair
// (Cecka 2011, SharedNZ; the baseline of P2). A warp processes a row: it stores the gradients of
// the row's cells in shared memory, four at a time, and each lane adds the tiles whose slots are
// its entry's. Cells ascend, each value is written once, and nothing is kept between designs.
#include "fill_tiles_cuda.cuh"

// blocks per multiprocessor: the largest number without register spills
constexpr int NZ_BLOCKS = 4;

// Adds the cell's tiles that belong to entry k of the row of corner a. slot: that of the pair
// (a, b) is in lane first + b.
template <int C>
__device__ __forceinline__ void add_tiles(const hx_fill_input &input, const double *h, int64_t cell,
                                          int a, int slot, int first, int k, double sum[C * C])
{
    unsigned mine = 0; // bit set of corners b; a cell that names a point twice has two of them
#pragma unroll
    for (int b = 0; b < 8; b++)
        mine |= static_cast<unsigned>(__shfl_sync(HX_ALL_LANES, slot, first + b) == k) << b;
    while (mine) {
        const int b = __ffs(static_cast<int>(mine)) - 1;
        double m[3][3] = {}, number[C * C];
        mine &= mine - 1;
#pragma unroll
        for (int q = 0; q < 8; q++)
            hx_add_product<C>(h + HX_POINT_STRIDE * q + 3 * a, h + HX_POINT_STRIDE * q + 3 * b, m);
        hx_tile_numbers<C>(input.form, input.d_modulus[cell], m, number);
#pragma unroll
        for (int t = 0; t < C * C; t++) sum[t] += number[t];
    }
}

// The sum of entry k of the row of point `point`; no entry if k is beyond the end of the row.
template <int C>
__device__ __forceinline__ void sum_entry(const hx_fill_input &input, const hx_device_pattern &p,
                                          int64_t point, int k, double *h, double sum[C * C])
{
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int64_t end = input.incidence.point_ptr[point + 1];
#pragma unroll 1
    for (int64_t at = input.incidence.point_ptr[point]; at < end; at += HX_WARP_CELLS) {
        int64_t place = -1, cell = -1;
        int slot = -1;
        if (at + lane / 8 < end) {
            place = input.incidence.point_place[at + lane / 8];
            cell = place / 8;
            slot = hx_slot_at(p.d_slot, p.slot_bytes, 8 * place + lane % 8);
        }
        hx_warp_gradients(input, cell, h);
#pragma unroll 1
        for (int g = 0; g < HX_WARP_CELLS; g++) {
            const int64_t from = __shfl_sync(HX_ALL_LANES, place, 8 * g);
            if (from < 0) break;
            add_tiles<C>(input, h + g * HX_CELL_STRIDE, from / 8, static_cast<int>(from % 8), slot,
                         8 * g, k, sum);
        }
    }
}

template <int C>
__global__ void __launch_bounds__(32 * HX_FILL_WARPS, NZ_BLOCKS)
    nz_kernel(const hx_fill_input input, const hx_matrix m)
{
    __shared__ double all[HX_FILL_WARPS][HX_WARP_CELLS * HX_CELL_STRIDE];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int64_t row = static_cast<int64_t>(blockIdx.x) * HX_FILL_WARPS + warp;
    if (row >= m.pattern.n_row) return; // for the whole warp
    const int n = static_cast<int>(m.pattern.d_row_ptr[row + 1] - m.pattern.d_row_ptr[row]);
#pragma unroll 1
    for (int first = 0; first < n; first += 32) {
        const int k = first + lane;
        double sum[C * C] = {};
        sum_entry<C>(input, m.pattern, row + m.pattern.row_first, k, all[warp], sum);
        if (k >= n) continue; // the lanes converge at the next synchronisation
        const hx_spot spot = hx_entry_spot(m, row, n, k);
#pragma unroll
        for (int t = 0; t < C * C; t++) {
            const int64_t place = hx_spot_place(m, spot, t / C, t % C);
            if (place >= 0) hx_matrix_store(m, place, sum[t]);
        }
    }
}

static int nz_prepare(hx_cuda_filling *f)
{
    if (!f->input.incidence.point_ptr)
        return HX_RAISE(HX_EINTERNAL, "fill 'nz' needs the list of places of each point");
    // Padding of a format is never written, so it is set to 0 here.
    return f->dev->ops->zero(f->dev, f->m->d_value, hx_value_bytes(*f->m));
}

static int nz_run(hx_cuda_filling *f)
{
    constexpr int block = 32 * HX_FILL_WARPS;
    const int64_t n_row = f->m->pattern.n_row;
    if (n_row <= 0) return HX_OK;
    const unsigned n_block = hx_blocks(32 * n_row, block);
    if (f->m->spec.components == 3)
        nz_kernel<3><<<n_block, block, 0, hx_cuda_of(f->dev)->stream>>>(f->input, *f->m);
    else
        nz_kernel<1><<<n_block, block, 0, hx_cuda_of(f->dev)->stream>>>(f->input, *f->m);
    return HX_LAUNCHED("nz_kernel");
}

static void nz_release(hx_cuda_filling *) {}

static size_t nz_bytes(const hx_cuda_filling *)
{
    return 0;
}

const hx_cuda_fill_kind hx_cuda_fill_nz = {sizeof(hx_cuda_filling), nz_prepare, nz_run, nz_release,
                                           nz_bytes};
