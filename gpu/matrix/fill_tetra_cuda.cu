// The fill `gather` for tetrahedra. A thread block owns a window of rows. It computes the gradients
// of the cells that touch it, once each, in shared memory; then each lane processes an entry: the
// sum, over cells in ascending order, of the products of two gradients that the plan lists. Blocks
// are written through shared memory, so that neighbouring lanes write neighbouring numbers.
//
// Windows with more cells than fit, which occur for meshes without a good numbering, recompute the
// gradients for each product, with bitwise equal results. Rows with very many entries are processed
// by one warp each.
#include "fill_tetra_cuda.cuh"
#include "fill_tiles_cuda.cuh"

namespace
{

using namespace hx_tetra_fill;

constexpr int WARP = 32;
constexpr int WARPS = 8;
// cells of a window in shared memory; allows two blocks per multiprocessor
constexpr int MOST_CELLS = 680;
constexpr int STRIDE = 13; // numbers per cell: 12, plus one so that cells are in different banks

struct arguments {
    hx_fill_input input;
    hx_matrix m;
    plan p;
};

struct tetra_filling : hx_cuda_filling {
    plan p; // (owned)
};

struct shared_memory {
    double h[MOST_CELLS * STRIDE]; // [cell][corner][component]
    double number[WARPS][9 * WARP];
    hx_spot spot[WARPS][WARP];
    // index in the matrix that entry 0 of the window would have if all its entries were in this row
    int64_t first[CAPACITY / hx_dist_meshs::LEAST_WEIGHT + 1];
    int begin[CAPACITY / hx_dist_meshs::LEAST_WEIGHT + 2]; // first entry of each row
    uint16_t row[CAPACITY];                                // row of each entry
};

// sqrt(volume times modulus) times the gradients. The orientation does not matter, because only
// products of two gradients are used. Operations are fused explicitly, so that all kernels give
// bitwise equal results.
__device__ __forceinline__ void make_gradients(const arguments &g, int64_t cell, double h[4][3])
{
    const int4 point = reinterpret_cast<const int4 *>(g.p.d_point)[cell];
    const int32_t corner[4] = {point.x, point.y, point.z, point.w};
    const double modulus = g.input.d_modulus[cell];
    double x[4][3];
#pragma unroll
    for (int a = 0; a < 4; a++)
#pragma unroll
        for (int i = 0; i < 3; i++)
            x[a][i] = g.input.d_xyz[3 * static_cast<int64_t>(corner[a]) + i];
#pragma unroll
    for (int a = 1; a < 4; a++)
#pragma unroll
        for (int i = 0; i < 3; i++) x[a][i] -= x[0][i];
#pragma unroll
    for (int a = 1; a < 4; a++) {
        const int b = a % 3 + 1, c = b % 3 + 1;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            h[a][i] = fma(x[b][i1], x[c][i2], -(x[b][i2] * x[c][i1]));
        }
    }
    const double det = fma(x[1][0], h[1][0], fma(x[1][1], h[1][1], x[1][2] * h[1][2]));
    const double f = modulus > 0.0 ? sqrt(modulus / (6.0 * fabs(det))) : 0.0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
#pragma unroll
        for (int a = 1; a < 4; a++) h[a][i] *= f;
        h[0][i] = -(h[1][i] + h[2][i] + h[3][i]);
    }
}

template <int C>
__device__ __forceinline__ void add_product(const double a[3], const double b[3],
                                            double (&m)[C * C])
{
    if constexpr (C == 3) {
#pragma unroll
        for (int t = 0; t < 9; t++) m[t] = fma(a[t / 3], b[t % 3], m[t]);
    } else {
#pragma unroll
        for (int i = 0; i < 3; i++) m[0] = fma(a[i], b[i], m[0]);
    }
}

// Converts the sums of an entry to its block.
template <int C>
__device__ __forceinline__ void finish_block(const hx_form &form, double (&v)[C * C])
{
    if constexpr (C == 3) {
        const double m[3][3] = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}};
        double k[3][3];
        hx_form_elasticity(1.0, form.lambda, form.mu, m, k);
#pragma unroll
        for (int t = 0; t < 9; t++) v[t] = k[t / 3][t % 3];
    }
}

// Sums the terms of an entry. cell: the cells of the window; IN_SHARED: their gradients are in h.
template <int C, bool IN_SHARED>
__device__ __forceinline__ void sum_terms(const arguments &g, const uint16_t *term,
                                          const int32_t *cell, const double *h,
                                          double (&sum)[C * C])
{
    constexpr unsigned last = 1u << (CELL_BITS + 4);
    unsigned now;
    do {
        now = *term++;
        const int k = static_cast<int>(now & ((1u << CELL_BITS) - 1));
        const int a = static_cast<int>(now >> CELL_BITS & 3u);
        const int b = static_cast<int>(now >> (CELL_BITS + 2) & 3u);
        double ha[3], hb[3];
        if (IN_SHARED) {
#pragma unroll
            for (int i = 0; i < 3; i++) {
                ha[i] = h[STRIDE * k + 3 * a + i];
                hb[i] = h[STRIDE * k + 3 * b + i];
            }
        } else {
            double all[4][3];
            make_gradients(g, cell[k], all);
#pragma unroll
            for (int i = 0; i < 3; i++) {
                ha[i] = a == 0 ? all[0][i] : a == 1 ? all[1][i] : a == 2 ? all[2][i] : all[3][i];
                hb[i] = b == 0 ? all[0][i] : b == 1 ? all[1][i] : b == 2 ? all[2][i] : all[3][i];
            }
        }
        add_product<C>(ha, hb, sum);
    } while (!(now & last));
}

// Writes the blocks of a warp's lanes, each to its place, through `number`. All lanes call it.
template <int C>
__device__ __forceinline__ void store_blocks(const hx_matrix &m, const double (&v)[C * C],
                                             const hx_spot &mine, double *number, hx_spot *spot)
{
    const int lane = static_cast<int>(threadIdx.x % WARP);
    if constexpr (C == 1) {
        if (mine.first >= 0) hx_matrix_store(m, mine.first, v[0]);
    } else {
#pragma unroll
        for (int t = 0; t < C * C; t++) number[C * C * lane + t] = v[t];
        spot[lane] = mine;
        __syncwarp();
#pragma unroll
        for (int step = 0; step < C * C; step++) {
            const int s = WARP * step + lane, from = s / (C * C), t = s % (C * C);
            const int64_t at = hx_spot_place(m, spot[from], t / C, t % C);
            if (at >= 0) hx_matrix_store(m, at, number[s]);
        }
        __syncwarp();
    }
}

template <int C, bool IN_SHARED>
__device__ __forceinline__ void fill_window(const arguments &g, shared_memory *s, int n_entry,
                                            const uint16_t *term, const int32_t *cell)
{
    const int t = static_cast<int>(threadIdx.x), warp = t / WARP;
    const int64_t *const row_ptr = g.m.pattern.d_row_ptr;
    const int32_t *const rows = g.p.windows.d_row + g.p.windows.d_window_row[blockIdx.x];
#pragma unroll 1
    for (int first = t - t % WARP; first < n_entry; first += WARP * WARPS) {
        const int e = first + t % WARP;
        double sum[C * C] = {};
        hx_spot spot = {-1, 0, 0};
        if (e < n_entry) {
            const int r = s->row[e];
            const int64_t at = s->first[r] + e;
            const int n = s->begin[r + 1] - s->begin[r];
            sum_terms<C, IN_SHARED>(g, term + g.p.d_begin[at], cell, s->h, sum);
            finish_block<C>(g.input.form, sum);
            if (g.m.spec.format == HX_FORMAT_BSR)
                spot = {C * C * at, C, 0};
            else
                spot = hx_entry_spot(g.m, rows[r], n, static_cast<int>(at - row_ptr[rows[r]]));
        }
        store_blocks<C>(g.m, sum, spot, s->number[warp], s->spot[warp]);
    }
}

template <int C>
__global__ void __launch_bounds__(WARP *WARPS, 2)
    tetra_window_kernel(const __grid_constant__ arguments g)
{
    extern __shared__ __align__(128) unsigned char memory[];
    auto *const s = reinterpret_cast<shared_memory *>(memory);
    const hx_dist_meshs::plan &all = g.p.windows;
    const int t = static_cast<int>(threadIdx.x), lane = t % WARP, warp = t / WARP;
    const uint32_t visit = all.d_visit[blockIdx.x];
    const int n_visit = static_cast<int>(all.d_visit[blockIdx.x + 1] - visit);
    const int32_t first_row = all.d_window_row[blockIdx.x];
    const int n_row = all.d_window_row[blockIdx.x + 1] - first_row;
    const int32_t *const rows = all.d_row + first_row, *const cell = all.d_cell + visit;
    const uint16_t *const term = g.p.d_term + 4 * static_cast<int64_t>(all.d_first_own[visit]);
    for (int r = t; r < n_row; r += WARP * WARPS) {
        const int64_t *const ptr = g.m.pattern.d_row_ptr + rows[r];
        s->first[r] = ptr[0];
        s->begin[r + 1] = static_cast<int>(ptr[1] - ptr[0]);
    }
    const bool fits = n_visit <= MOST_CELLS;
    for (int k = t; k < n_visit && fits; k += WARP * WARPS) {
        double h[4][3];
        make_gradients(g, cell[k], h);
#pragma unroll
        for (int i = 0; i < 12; i++) s->h[STRIDE * k + i] = h[i / 3][i % 3];
    }
    __syncthreads();
    if (warp == 0) { // begin[]: prefix sums of the numbers of entries per row
        int before = 0;
        for (int first = 0; first < n_row; first += WARP) {
            int sum = first + lane < n_row ? s->begin[first + lane + 1] : 0;
#pragma unroll
            for (int step = 1; step < WARP; step *= 2) {
                const int other = __shfl_up_sync(HX_ALL_LANES, sum, static_cast<unsigned>(step));
                if (lane >= step) sum += other;
            }
            if (first + lane < n_row) s->begin[first + lane + 1] = before + sum;
            before += __shfl_sync(HX_ALL_LANES, sum, WARP - 1);
        }
        if (lane == 0) s->begin[0] = 0;
    }
    __syncthreads();
    for (int r = warp; r < n_row; r += WARPS) {
        for (int e = s->begin[r] + lane; e < s->begin[r + 1]; e += WARP)
            s->row[e] = static_cast<uint16_t>(r);
        if (lane == 0) s->first[r] -= s->begin[r];
    }
    __syncthreads();
    if (fits)
        fill_window<C, true>(g, s, s->begin[n_row], term, cell);
    else
        fill_window<C, false>(g, s, s->begin[n_row], term, cell);
}

// One block of one warp per row, one lane per entry.
template <int C> __global__ void tetra_wide_kernel(const __grid_constant__ arguments g)
{
    __shared__ double number[C * C * WARP];
    __shared__ hx_spot spots[WARP];
    const hx_incidence &in = g.input.incidence;
    const hx_device_pattern &p = g.m.pattern;
    const int64_t row = g.p.windows.d_row[g.p.windows.n_narrow + blockIdx.x];
    const int64_t *const ptr = in.point_ptr + p.row_first + row;
    const int n = static_cast<int>(p.d_row_ptr[row + 1] - p.d_row_ptr[row]);
#pragma unroll 1
    for (int first = 0; first < n; first += WARP) {
        const int e = first + static_cast<int>(threadIdx.x);
        double sum[C * C] = {};
        int64_t before = -1;
#pragma unroll 1
        for (int64_t k = ptr[0]; k < ptr[1]; k++) {
            const int64_t place = in.point_place[k], cell = place / 8;
            if (cell == before) continue; // a cell may name the row's point at several corners
            before = cell;
            double h[4][3], own[3] = {};
            unsigned mine = 0;
            for (int b = 0; b < 8; b++)
                mine |=
                    static_cast<unsigned>(hx_slot_at(p.d_slot, p.slot_bytes, 8 * place + b) == e)
                    << b;
            if (!__any_sync(HX_ALL_LANES, e < n && mine)) continue;
            make_gradients(g, cell, h);
            int64_t column = -1; // the point of the lane's corners, which all name the same point
            if (e < n && mine) column = in.point[8 * cell + __ffs(static_cast<int>(mine)) - 1];
            double other[3] = {};
#pragma unroll
            for (int a = 0; a < 4; a++)
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    const int64_t point = g.p.d_point[4 * cell + a];
                    if (point == row + p.row_first) own[i] = h[a][i];
                    if (point == column) other[i] = h[a][i];
                }
            if (column >= 0) add_product<C>(own, other, sum);
        }
        finish_block<C>(g.input.form, sum);
        const hx_spot spot = e < n ? hx_entry_spot(g.m, row, n, e) : hx_spot{-1, 0, 0};
        store_blocks<C>(g.m, sum, spot, number, spots);
    }
}

int prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<tetra_filling *>(filling);
    const bool three = f->m->spec.components == 3;
    HX_TRY_CUDA(cudaFuncSetAttribute(three ? tetra_window_kernel<3> : tetra_window_kernel<1>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(sizeof(shared_memory))));
    return create_plan(&f->p, f->dev, &f->m->pattern, &f->input.incidence);
}

int run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const tetra_filling *>(filling);
    const cudaStream_t stream = hx_cuda_of(f->dev)->stream;
    const arguments a = {f->input, *f->m, f->p};
    const auto n_window = static_cast<unsigned>(f->p.windows.n_window);
    const auto n_wide = static_cast<unsigned>(f->p.windows.n_wide);
    const bool three = f->m->spec.components == 3;
    const auto windows = three ? tetra_window_kernel<3> : tetra_window_kernel<1>;
    const auto wide = three ? tetra_wide_kernel<3> : tetra_wide_kernel<1>;
    if (n_window > 0) {
        windows<<<n_window, WARP * WARPS, sizeof(shared_memory), stream>>>(a);
        HX_TRY_LAUNCH("gather of tetrahedra");
    }
    if (n_wide > 0) {
        wide<<<n_wide, WARP, 0, stream>>>(a);
        HX_TRY_LAUNCH("gather of wide rows");
    }
    return HX_OK;
}

void release(hx_cuda_filling *filling)
{
    auto *const f = static_cast<tetra_filling *>(filling);
    free_plan(&f->p, f->dev);
}

size_t bytes(const hx_cuda_filling *filling)
{
    return static_cast<const tetra_filling *>(filling)->p.bytes;
}

} // namespace

const hx_cuda_fill_kind hx_cuda_fill_tetra = {sizeof(tetra_filling), prepare, run, release, bytes};
