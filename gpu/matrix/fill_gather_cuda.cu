// The fill `gather`: a thread block owns up to 16 consecutive rows and computes the cells that
// touch them, once each. A warp processes up to 8 cells at a time: Jacobians, small dense products
// on double-precision tensor cores, and then the gradients of all corners at all integration
// points, which go to shared memory. The rows are computed from these: products h_a[i] h_b[j] of a
// row's own corner a with the cell's corners b, summed over the integration points, and over cells
// in an order that depends only on the row. Each value is written once.
//
// Corners are numbered by the bits of their reference coordinates. A pair is of class
// c = bits(a) ^ bits(b). If cells are arranged as in a grid, an entry of a row is of one class, and
// the places that contribute to it are those with equal bits(a) & c; each lane has half of a class.
// Other rows are summed entry by entry; rows with more than MOST_PLACES / 2 cells have a kernel of
// their own.
#include "gather_rows.cuh"

namespace
{

using namespace hx_gather;

struct gather {
    hx_cuda_filling base;
    plan p; // (owned)
};

// Slots of the pairs of a place; HX_NO_SLOT_16: none.
__device__ __forceinline__ void load_slots(const hx_device_pattern &p, uint32_t place,
                                           uint16_t (&slot)[8])
{
    if (p.slot_bytes == 1) {
        const uint2 eight = static_cast<const uint2 *>(p.d_slot)[place];
#pragma unroll
        for (int b = 0; b < 8; b++) {
            const unsigned k = (b < 4 ? eight.x : eight.y) >> (8 * (b % 4)) & 255u;
            slot[b] = k == HX_NO_SLOT_8 ? HX_NO_SLOT_16 : static_cast<uint16_t>(k);
        }
    } else {
        const auto *from =
            static_cast<const uint16_t *>(p.d_slot) + 8 * static_cast<int64_t>(place);
#pragma unroll
        for (int b = 0; b < 8; b++) slot[b] = from[b];
    }
}

// Stores 8 numbers of 16 bits in the order of the corners' bits.
__device__ __forceinline__ void store_slots(const uint16_t (&slot)[8], uint16_t *to)
{
    unsigned word[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        word[k] = static_cast<unsigned>(slot[corner_bits(2 * k)]) |
                  static_cast<unsigned>(slot[corner_bits(2 * k + 1)]) << 16;
    *reinterpret_cast<uint4 *>(to) = make_uint4(word[0], word[1], word[2], word[3]);
}

template <int C, class Real, arrangement A>
__global__ void __launch_bounds__(32 * WARPS, SM_BLOCKS)
    gather_kernel(const __grid_constant__ arguments g)
{
    extern __shared__ __align__(128) unsigned char memory[];
    auto *s = reinterpret_cast<shared_memory *>(memory);
    const block_range block = g.p.d_block[blockIdx.x];
    const hx_device_pattern &pattern = g.m.pattern;
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int64_t *ptr = g.in.point_ptr + pattern.row_first;
    const int64_t first = block.place;
    const int n_place = block.n_place;

    // data of a place, loaded while the Jacobians are computed
    uint32_t place = 0;
    int local = 0;
    uint16_t slot[8];
    if (t < n_place) {
        place = g.in.point_place[first + t];
        local = g.p.d_local[first - ptr[0] + t];
        load_slots(pattern, place, slot);
    }
    if (t <= block.n_row) {
        s->begin[t] = pattern.d_row_ptr[block.row + t];
        s->place[t] = static_cast<int>(ptr[block.row + t] - first);
    }

    const int each = (block.n_cell + WARPS - 1) / WARPS, from = warp * each;
    const int count = block.n_cell - from < each ? block.n_cell - from : each;
    double root[2][9];
    if (count > 0) make_roots(g, g.p.d_cell + block.cell_begin + from, count, s->x[warp], root);
    if (t < n_place) {
        store_slots(slot, s->slot[t]);
        s->bits[t] = static_cast<uint8_t>(corner_bits(static_cast<int>(place & 7)));
        s->cell[t] = static_cast<uint8_t>(local);
    }
    __syncthreads();
    if (lane / 4 < count) store_gradients(root, s->h[from + lane / 4]);
    __syncthreads();

    const int first_row = 2 * warp;
    unsigned regular = 0;
    for (int r = first_row; r < first_row + 2 && r < block.n_row; r++)
        if (!(block.irregular >> r & 1))
            regular |= 1u << (r - first_row);
        else
            finish_row<C>(g, s, r, block.row + r);
    part<C> rows;
    if (regular) sum_rows<C>(s, first_row, regular, rows);
    __syncthreads(); // values overwrite gradients that all threads have read
    if (regular) put_rows<C, Real, A>(g, s, first_row, block.row + first_row, regular, rows);
    if constexpr (A == BLOCKS || A == NUMBERS) {
        finish_stores();
    } else {
        __syncthreads();
        store_rows<C, Real, A>(g, s, block);
    }
}

// Rows with very many cells: one warp per row, 32 entries at a time; it recomputes each cell for
// every group of entries that needs it. The products and the order of sums are those of the other
// rows, so the results are bitwise equal.
template <int C> __global__ void slow_row_kernel(const __grid_constant__ arguments g)
{
    __shared__ __align__(16) double x[WARP_CELLS][X_LINE];
    __shared__ gradients h;
    const hx_device_pattern &pattern = g.m.pattern;
    const int64_t row = g.p.d_slow[blockIdx.x], *ptr = g.in.point_ptr + pattern.row_first;
    const int n = static_cast<int>(pattern.d_row_ptr[row + 1] - pattern.d_row_ptr[row]);
    const int lane = threadIdx.x;
    for (int e0 = 0; e0 < n; e0 += 32) {
        const int e = e0 + lane < n ? e0 + lane : -1;
        double sum[2][C * C] = {};
        for (int64_t p = ptr[row]; p < ptr[row + 1]; p++) {
            const uint32_t place = g.in.point_place[p];
            const int a = corner_bits(static_cast<int>(place & 7));
            uint16_t slot[8];
            load_slots(pattern, place, slot);
            unsigned mine = 0; // bits of the corners whose pair belongs to the lane's entry
#pragma unroll
            for (int k = 0; k < 8; k++)
                mine |= static_cast<unsigned>(slot[k] == e) << corner_bits(k);
            if (!__any_sync(0xffffffffu, mine)) continue;
            const int32_t cell = static_cast<int32_t>(place / 8);
            double root[2][9];
            make_roots(g, &cell, 1, x, root);
            if (lane < 4) store_gradients(root, h);
            __syncwarp();
            for (; mine; mine &= mine - 1) {
                const int b = __ffs(static_cast<int>(mine)) - 1;
                double m[C * C];
                multiply_corners<C>(h, a, b, m);
                add_product<C>(m, sum_of(a, b), sum);
            }
            __syncwarp();
        }
        if (e >= 0) store_entry<C>(g, row, n, e, sum);
    }
}

using kernel = void (*)(arguments);

template <int C, class Real> kernel choose_arrangement(hx_format format)
{
    if (format == HX_FORMAT_BSRS) return gather_kernel<C, Real, SLICED>;
    if (format == HX_FORMAT_ELL) return gather_kernel<C, Real, COLUMNS>;
    return format == HX_FORMAT_BSR ? gather_kernel<C, Real, BLOCKS>
                                   : gather_kernel<C, Real, NUMBERS>;
}

kernel choose_kernel(const hx_matrix_spec *spec)
{
    if (spec->components == 3)
        return spec->single ? choose_arrangement<3, float>(spec->format)
                            : choose_arrangement<3, double>(spec->format);
    return spec->single ? choose_arrangement<1, float>(spec->format)
                        : choose_arrangement<1, double>(spec->format);
}

int prepare(hx_cuda_filling *f)
{
    auto *g = reinterpret_cast<gather *>(f);
    HX_TRY_CUDA(cudaFuncSetAttribute(choose_kernel(&f->m->spec),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(sizeof(shared_memory))));
    lane_table_kernel<<<1, 32, 0, hx_cuda_of(f->dev)->stream>>>();
    HX_TRY_LAUNCH("gather's table");
    return create_plan(&g->p, f->dev, &f->m->pattern, &f->input.incidence);
}

int run(hx_cuda_filling *f)
{
    const auto *g = reinterpret_cast<const gather *>(f);
    const hx_matrix_spec *spec = &f->m->spec;
    cudaStream_t stream = hx_cuda_of(f->dev)->stream;
    const arguments a = {f->input.incidence,
                         f->input.d_xyz,
                         f->input.d_modulus,
                         f->input.form.lambda,
                         f->input.form.mu,
                         *f->m,
                         g->p};
    if (g->p.n_block > 0) {
        choose_kernel(spec)<<<static_cast<unsigned>(g->p.n_block), 32 * WARPS,
                              sizeof(shared_memory), stream>>>(a);
        HX_TRY_LAUNCH("gather");
    }
    if (g->p.n_slow > 0) {
        const unsigned n = static_cast<unsigned>(g->p.n_slow);
        if (spec->components == 3)
            slow_row_kernel<3><<<n, 32, 0, stream>>>(a);
        else
            slow_row_kernel<1><<<n, 32, 0, stream>>>(a);
        HX_TRY_LAUNCH("gather's slow rows");
    }
    return HX_OK;
}

void release(hx_cuda_filling *f)
{
    f->dev->ops->release(f->dev, reinterpret_cast<gather *>(f)->p.d_memory);
}

size_t bytes(const hx_cuda_filling *f)
{
    return reinterpret_cast<const gather *>(f)->p.bytes;
}

} // namespace

const hx_cuda_fill_kind hx_cuda_fill_gather = {sizeof(gather), prepare, run, release, bytes};
