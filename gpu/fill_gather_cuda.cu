// gather: a thread block owns up to 16 consecutive rows and computes, once each, the cells that
// touch them. A warp takes up to 8 cells: Jacobians, and then the products h_a[i] h_b[j] summed
// over the integration points, are small dense products on double-precision tensor cores. Those of
// owned corners a go to shared memory, a line a place of a row; then they are added up, in the
// order of the row's places, so that bits depend on nothing but the row; each value is written
// once.
//
// Corners have the bits of their reference coordinates. A pair is of class c = bits(a) ^ bits(b),
// and stands in its line by class. Where cells lie as in a grid, a row's entry is of one class, and
// the places that hold it are those of equal bits(a) & c: a lane sums the entries of a class. Rows
// that are not so are summed entry by entry; rows of more than MOST_PLACES / 2 cells have a
// kernel of their own.
#include <cub/device/device_scan.cuh>

#include <cstring>

#include "hex8_tiles.cuh"
#include "matrix_cuda.cuh"

namespace
{

enum {
    WARPS = 8,
    SM_BLOCKS = 2,          // on a multiprocessor
    ROWS = 2 * WARPS,       // of a block at most
    MOST_PLACES = 8 * ROWS, // of its rows
    MOST_CELLS = 8 * WARPS, // of it
    WARP_CELLS = 8,         // rows of a tensor-core product
    MOST_ENTRIES = 27,      // of a row that is as in a grid
    LANE_ENTRIES = 32,      // of another row that is summed in one pass
    X_LINE = 25,            // coordinates of a cell, padded against bank conflicts
};

// A line of shared memory holds the products of a place (cell, a) with its 8 corners b: number t of
// those pairs side by side, by class in pairs, and the even b first, as tensor cores leave them.
// Lines of odd corners a start in other banks.
template <int C> struct line {
    static constexpr int size = C == 3 ? 80 : 10;
};

__device__ __forceinline__ int corner_bits(int a)
{
    return a ^ (a >> 1 & 1);
}

// Of number 0 of the pair of class c in the line of the corner with these bits.
template <int C> __device__ __forceinline__ int line_offset(int bits, int c)
{
    const int other = bits ^ c;
    return (C == 3 ? (bits ^ bits >> 1) % 2 * 8 : 0) + (c & 6) + (other ^ other >> 1) % 2;
}

struct block_range {
    int64_t place;      // first of its rows
    int64_t cell_begin; // in plan.cell
    int32_t row, n_place;
    uint8_t n_row, n_cell;
    uint16_t irregular; // bits of the rows that are not as in a grid
};

struct plan {
    int64_t n_block, n_cell, n_place, n_slow;
    block_range *d_block; // [n_block]
    int32_t *d_cell;      // [n_cell] cells of each block, ascending
    uint8_t *d_local;     // [n_place] of the rows' places: the cell's index in its block
    int32_t *d_slow;      // [n_slow] rows that are left to the kernel of their own
};

struct gather {
    hx_cuda_filling base;
    plan p;
    void *d_memory; // of the plan (owned)
    size_t bytes;
};

// ---- the plan

struct counts {
    int64_t block, cell, slow;
};

struct add_counts {
    __host__ __device__ counts operator()(const counts &a, const counts &b) const
    {
        return {a.block + b.block, a.cell + b.cell, a.slow + b.slow};
    }
};

// Cells of the places 0 .. n - 1 of a window: distinct ones are counted, and each place learns the
// rank of its cell. All threads of the block.
__device__ int rank_cells(const int32_t *cell, int n, uint8_t *first, int *n_distinct, int *rank)
{
    const int t = threadIdx.x;
    int is_first = t < n;
    if (t == 0) *n_distinct = 0;
    for (int u = 0; u < t && t < n; u++) is_first &= cell[u] != cell[t];
    if (t < n) first[t] = static_cast<uint8_t>(is_first);
    __syncthreads();
    if (is_first) atomicAdd(n_distinct, 1);
    int smaller = 0;
    for (int u = 0; u < n && t < n; u++) smaller += first[u] && cell[u] < cell[t];
    *rank = smaller;
    __syncthreads();
    const int count = *n_distinct;
    __syncthreads();
    return count;
}

// Whether the pairs of one class and equal bits(a) & class are the row's entries.
__device__ bool is_regular(const hx_incidence &in, const hx_device_pattern &p, int64_t row)
{
    const int64_t *ptr = in.point_ptr + p.row_first + row;
    const int64_t n_entry = p.d_row_ptr[row + 1] - p.d_row_ptr[row];
    int16_t found[64];
    int n_found = 0;
    unsigned octants = 0;
    if (ptr[1] - ptr[0] > 8 || n_entry > MOST_ENTRIES) return false;
    for (int k = 0; k < 64; k++) found[k] = -2;
    for (int64_t k = ptr[0]; k < ptr[1]; k++) {
        const int64_t place = in.point_place[k];
        const int bits = corner_bits(static_cast<int>(place & 7));
        if (octants >> bits & 1) return false;
        octants |= 1u << bits;
        for (int b = 0; b < 8; b++) {
            const int c = bits ^ corner_bits(b);
            const int slot = hx_slot_at(p.d_slot, p.slot_bytes, 8 * place + b);
            int16_t *at = &found[8 * c + (bits & c)];
            if (*at == -2) n_found += slot >= 0;
            if (*at != -2 && *at != slot) return false;
            *at = static_cast<int16_t>(slot);
        }
    }
    return n_found == n_entry;
}

// A block of MOST_PLACES threads divides ROWS rows into windows that fit into shared memory. FILL:
// writes them from offset[group] on; else counts.
template <bool FILL>
__global__ void plan_kernel(hx_incidence in, hx_device_pattern pattern, counts *offset, plan p)
{
    __shared__ int32_t cell[MOST_PLACES];
    __shared__ uint8_t first[MOST_PLACES];
    __shared__ int n_distinct;
    __shared__ unsigned irregular;
    const int64_t base = static_cast<int64_t>(blockIdx.x) * ROWS;
    const int64_t *ptr = in.point_ptr + pattern.row_first, n_row = pattern.n_row;
    const int t = threadIdx.x;
    const int64_t end = base + ROWS < n_row ? base + ROWS : n_row;
    counts at = {0, 0, 0};
    if (FILL) at = offset[blockIdx.x];
    for (int64_t row = base; row < end;) {
        if (ptr[row + 1] - ptr[row] > MOST_PLACES / 2) {
            if (FILL && t == 0) p.d_slow[at.slow] = static_cast<int32_t>(row);
            at.slow++;
            row++;
            continue;
        }
        int64_t stop = row + 1;
        while (stop < end && ptr[stop + 1] - ptr[row] <= MOST_PLACES &&
               ptr[stop + 1] - ptr[stop] <= MOST_PLACES / 2)
            stop++;
        int rank, n_cell;
        for (;;) {
            const int n = static_cast<int>(ptr[stop] - ptr[row]);
            if (t < n)
                cell[t] =
                    static_cast<int32_t>(hx_incidence_cell(&in, in.point_place[ptr[row] + t]));
            __syncthreads();
            n_cell = rank_cells(cell, n, first, &n_distinct, &rank);
            if (n_cell <= MOST_CELLS) break;
            stop = row + (stop - row + 1) / 2;
        }
        if (FILL) {
            const int n = static_cast<int>(ptr[stop] - ptr[row]);
            if (t == 0) irregular = 0;
            __syncthreads();
            if (t < stop - row && !is_regular(in, pattern, row + t)) atomicOr(&irregular, 1u << t);
            __syncthreads();
            if (t == 0)
                p.d_block[at.block] = {ptr[row],
                                       at.cell,
                                       static_cast<int32_t>(row),
                                       n,
                                       static_cast<uint8_t>(stop - row),
                                       static_cast<uint8_t>(n_cell),
                                       static_cast<uint16_t>(irregular)};
            if (t < n) {
                p.d_local[ptr[row] - ptr[0] + t] = static_cast<uint8_t>(rank);
                if (first[t]) p.d_cell[at.cell + rank] = cell[t];
            }
        }
        __syncthreads();
        at.block++;
        at.cell += n_cell;
        row = stop;
    }
    if (!FILL && t == 0) offset[blockIdx.x] = at;
}

size_t padded(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

// Offsets of the groups, and the totals.
int scan_counts(hx_cuda_filling *f, counts *d_count, int64_t n_group, counts *total)
{
    hx_device *dev = f->dev;
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    void *d_scratch = nullptr;
    size_t bytes = 0;
    counts last[2];
    const counts zero = {0, 0, 0};
    HX_TRY(dev->ops->download(dev, &last[0], d_count + n_group - 1, sizeof *last));
    HX_TRY_CUDA(cub::DeviceScan::ExclusiveScan(nullptr, bytes, d_count, d_count, add_counts(), zero,
                                               n_group, stream));
    HX_TRY(dev->ops->alloc(dev, bytes, &d_scratch));
    const cudaError_t status = cub::DeviceScan::ExclusiveScan(d_scratch, bytes, d_count, d_count,
                                                              add_counts(), zero, n_group, stream);
    int rc = status == cudaSuccess
                 ? dev->ops->download(dev, &last[1], d_count + n_group - 1, sizeof *last)
                 : HX_RAISE(HX_EDEVICE, "CUDA: %s in a scan", cudaGetErrorString(status));
    dev->ops->release(dev, d_scratch);
    *total = add_counts()(last[0], last[1]);
    return rc;
}

int alloc_plan(gather *g, const counts *total, int64_t n_place)
{
    hx_device *dev = g->base.dev;
    plan *p = &g->p;
    p->n_block = total->block;
    p->n_cell = total->cell;
    p->n_slow = total->slow;
    p->n_place = n_place;
    const size_t block = padded(static_cast<size_t>(p->n_block) * sizeof *p->d_block);
    const size_t cell = padded(static_cast<size_t>(p->n_cell) * sizeof *p->d_cell);
    const size_t slow = padded(static_cast<size_t>(p->n_slow) * sizeof *p->d_slow);
    g->bytes = block + cell + slow + static_cast<size_t>(p->n_place);
    HX_TRY(dev->ops->alloc(dev, g->bytes, &g->d_memory));
    char *d_memory = static_cast<char *>(g->d_memory);
    p->d_block = reinterpret_cast<block_range *>(d_memory);
    p->d_cell = reinterpret_cast<int32_t *>(d_memory + block);
    p->d_slow = reinterpret_cast<int32_t *>(d_memory + block + cell);
    p->d_local = reinterpret_cast<uint8_t *>(d_memory + block + cell + slow);
    return HX_OK;
}

int make_plan(gather *g, counts *d_count, int64_t n_group)
{
    hx_cuda_filling *f = &g->base;
    const hx_device_pattern *pattern = &f->m->pattern;
    const hx_incidence *in = &f->input.incidence;
    hx_device *dev = f->dev;
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    const unsigned n = static_cast<unsigned>(n_group);
    const int64_t first = pattern->row_first;
    int64_t place[2];
    counts total;
    plan_kernel<false><<<n, MOST_PLACES, 0, stream>>>(*in, *pattern, d_count, g->p);
    HX_TRY_LAUNCH("gather's plan");
    HX_TRY(scan_counts(f, d_count, n_group, &total));
    HX_TRY(dev->ops->download(dev, &place[0], in->point_ptr + first, sizeof *place));
    HX_TRY(
        dev->ops->download(dev, &place[1], in->point_ptr + first + pattern->n_row, sizeof *place));
    HX_TRY(alloc_plan(g, &total, place[1] - place[0]));
    plan_kernel<true><<<n, MOST_PLACES, 0, stream>>>(*in, *pattern, d_count, g->p);
    HX_TRY_LAUNCH("gather's plan");
    return dev->ops->sync(dev);
}

// ---- the kernel

__device__ __forceinline__ double reference_gradient(int a, int q, int k)
{
    double d[3];
    hx_hex8_shape_ref_gradient(a, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1), hx_hex8_gauss(q, 2), d);
    return d[k];
}

// Derivatives of the shape functions by direction k, for the lanes of a warp: by_point at
// integration point lane / 4 of corners lane % 4 + 4 s, by_corner of corner lane / 4 at points
// 2 (lane % 4) + s.
struct lane_gradients {
    double by_point[3][2][32], by_corner[3][2][32];
};
__device__ lane_gradients lane_table;

__device__ __forceinline__ void load_by_corner(double (&d)[3][2])
{
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int s = 0; s < 2; s++) d[k][s] = lane_table.by_corner[k][s][threadIdx.x % 32];
}

__global__ void lane_table_kernel()
{
    const int lane = threadIdx.x, row = lane / 4, column = lane % 4;
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < 2; s++) {
            lane_table.by_point[k][s][lane] = reference_gradient(column + 4 * s, row, k);
            lane_table.by_corner[k][s][lane] = reference_gradient(row, 2 * column + s, k);
        }
}

// d[8][8] += a[8][4] b[4][8]: a lane has a(lane / 4, lane % 4), b(lane % 4, lane / 4) and d(lane /
// 4, 2 (lane % 4) + {0, 1}).
__device__ __forceinline__ void multiply_add(double (&d)[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a), "d"(b));
}

// d = a b, of 8x8 each: columns of a and rows of b in the order of the lane's two.
__device__ __forceinline__ void multiply_one(double (&d)[2], const double (&a)[2],
                                             const double (&b)[2])
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %4};"
        : "=d"(d[0]), "=d"(d[1])
        : "d"(a[0]), "d"(b[0]), "d"(0.0));
    multiply_add(d, a[1], b[1]);
}

// d0 = a0 b and d1 = a1 b.
__device__ __forceinline__ void multiply_two(double (&d0)[2], double (&d1)[2],
                                             const double (&a0)[2], const double (&a1)[2],
                                             const double (&b)[2])
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%10, %10, %10, %10};"
        : "=d"(d0[0]), "=d"(d0[1]), "=d"(d1[0]), "=d"(d1[1])
        : "d"(a0[0]), "d"(a1[0]), "d"(a0[1]), "d"(a1[1]), "d"(b[0]), "d"(b[1]), "d"(0.0));
#else
    multiply_one(d0, a0, b);
    multiply_one(d1, a1, b);
#endif
}

// Where the values of a row lie.
enum arrangement {
    BLOCKS,  // bsr
    NUMBERS, // csr, coo
    SLICED,  // bsrs
    COLUMNS  // ell
};

template <int C> struct shared_memory {
    union {
        double product[MOST_PLACES][line<C>::size];
        double x[WARPS][WARP_CELLS][X_LINE]; // before there are products
    };
    uint4 slot[MOST_PLACES];       // 8 of 16 bits, by class
    uint16_t owner[MOST_CELLS][8]; // of a corner: its line, and << 8 bits of the corners b it needs
    int64_t begin[ROWS + 1];       // row_ptr
    int place[ROWS + 1];           // first line of each row
    uint8_t bits[MOST_PLACES];     // of a line's own corner
};

struct arguments {
    hx_incidence in;
    const double *xyz, *modulus;
    double lambda, mu;
    hx_matrix m;
    plan p;
};

// root[i][k] of this warp's cell lane / 4 at integration points 2 (lane % 4) + s.
__device__ __forceinline__ void make_roots(const arguments &g, const int32_t *cells, int count,
                                           double (*x)[X_LINE], double (&root)[2][9])
{
    const int lane = threadIdx.x % 32, column = lane % 4, n = lane / 4;
    const int32_t cell = cells[n < count ? n : count - 1];
    const double e = g.modulus[cell];
    int32_t point[WARP_CELLS];
#pragma unroll
    for (int c = 0; c < WARP_CELLS; c++) {
        const int64_t of = __shfl_sync(0xffffffffu, cell, 4 * c);
        if (lane < 24) point[c] = g.in.point[8 * of + lane / 3];
    }
    if (lane < 24)
#pragma unroll
        for (int c = 0; c < WARP_CELLS; c++)
            x[c][lane] = g.xyz[3 * static_cast<int64_t>(point[c]) + lane % 3];
    __syncwarp();
    double j[9][2], d[3][2], b[3][2];
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int s = 0; s < 2; s++) {
            d[k][s] = lane_table.by_point[k][s][lane];
            b[k][s] = x[n][3 * (column + 4 * s) + k];
        }
#pragma unroll
    for (int k = 0; k < 3; k++) {
        multiply_two(j[3 * k], j[3 * k + 1], b[0], b[1], d[k]);
        multiply_one(j[3 * k + 2], b[2], d[k]);
    }
#pragma unroll
    for (int s = 0; s < 2; s++) {
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
#pragma unroll
            for (int k = 0; k < 3; k++) {
                const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
                root[s][3 * i + k] =
                    j[3 * k1 + i1][s] * j[3 * k2 + i2][s] - j[3 * k1 + i2][s] * j[3 * k2 + i1][s];
            }
        }
        const double det = j[0][s] * root[s][0] + j[1][s] * root[s][3] + j[2][s] * root[s][6];
        // the root of modulus / det, with one special function
        const double f = e > 0.0 ? e * rsqrt(e * det) : 0.0;
#pragma unroll
        for (int t = 0; t < 9; t++) root[s][t] *= f;
    }
}

// h[i][s] of corner lane / 4 of the warp's cell c at integration points 2 (lane % 4) + s.
__device__ __forceinline__ void make_gradients(const double (&root)[2][9], int c,
                                               const double (&d)[3][2], double (&h)[3][2])
{
    const int from = 4 * c + threadIdx.x % 4;
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int i = 0; i < 3; i++) {
            h[i][s] = __shfl_sync(0xffffffffu, root[s][3 * i], from) * d[0][s];
#pragma unroll
            for (int k = 1; k < 3; k++)
                h[i][s] += __shfl_sync(0xffffffffu, root[s][3 * i + k], from) * d[k][s];
        }
}

// The products of a cell's corners with each other: those of corner lane / 4 into its line, at the
// lane's offset.
template <int C>
__device__ __forceinline__ void make_products(const double (&h)[3][2], double *line, int offset,
                                              bool is_used)
{
    auto *to = reinterpret_cast<double2 *>(line + offset);
    if constexpr (C == 3) {
        double m[9][2];
#pragma unroll
        for (int j = 0; j < 3; j++) {
            multiply_two(m[j], m[3 + j], h[0], h[1], h[j]);
            multiply_one(m[6 + j], h[2], h[j]);
        }
        if (is_used)
#pragma unroll
            for (int t = 0; t < 9; t++) to[4 * t] = make_double2(m[t][0], m[t][1]);
    } else {
        double m[2];
        multiply_one(m, h[0], h[0]);
        multiply_add(m, h[1][0], h[1][0]);
        multiply_add(m, h[1][1], h[1][1]);
        multiply_add(m, h[2][0], h[2][0]);
        multiply_add(m, h[2][1], h[2][1]);
        if (is_used) to[0] = make_double2(m[0], m[1]);
    }
}

// The numbers of a pair, from its offset in a line on.
template <int C> __device__ __forceinline__ void load_tile(const double *from, double (&v)[C * C])
{
#pragma unroll
    for (int t = 0; t < C * C; t++) v[t] = from[8 * t];
}

template <int C> __device__ __forceinline__ void store_tile(double *to, const double (&v)[C * C])
{
#pragma unroll
    for (int t = 0; t < C * C; t++) to[8 * t] = v[t];
}

// The block of an entry from the sums of its products; the modulus is in them.
template <int C>
__device__ __forceinline__ void finish_tile(double lambda, double mu, double (&v)[C * C])
{
    if constexpr (C == 3) {
        const double m[3][3] = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}};
        double k[3][3];
        hx_form_elasticity(1.0, lambda, mu, m, k);
#pragma unroll
        for (int t = 0; t < 9; t++) v[t] = k[t / 3][t % 3];
    }
}

// The class of the pair that adds to entry e, of 8 slots, from class `from` on; 8: none.
__device__ __forceinline__ int find_class(const uint4 &slot, int e, int from)
{
    const unsigned word[4] = {slot.x, slot.y, slot.z, slot.w};
    int found = 8;
#pragma unroll
    for (int c = 7; c >= 0; c--)
        if (c >= from && (word[c / 2] >> (16 * (c % 2)) & 0xffffu) == static_cast<unsigned>(e))
            found = c;
    return found;
}

// Entry e of row r, summed place by place.
template <int C>
__device__ __forceinline__ void sum_entry(const shared_memory<C> *s, int r, int e,
                                          double (&sum)[C * C])
{
#pragma unroll
    for (int t = 0; t < C * C; t++) sum[t] = 0.0;
    for (int k = s->place[r]; k < s->place[r + 1]; k++) {
        const uint4 slot = s->slot[k];
        for (int c = find_class(slot, e, 0); c < 8; c = find_class(slot, e, c + 1)) {
            double v[C * C];
            load_tile<C>(s->product[k] + line_offset<C>(s->bits[k], c), v);
#pragma unroll
            for (int t = 0; t < C * C; t++) sum[t] += v[t];
        }
    }
}

// A row of many entries: each value straight to its place.
template <int C>
__device__ void finish_wide_row(const arguments &g, const shared_memory<C> *s, int r, int64_t row)
{
    const int n = static_cast<int>(s->begin[r + 1] - s->begin[r]);
    for (int e = threadIdx.x % 32; e < n; e += 32) {
        double sum[C * C];
        sum_entry<C>(s, r, e, sum);
        finish_tile<C>(g.lambda, g.mu, sum);
        for (int t = 0; t < C * C; t++) {
            const int64_t at = hx_matrix_place(&g.m, row, n, e, t / C, t % C);
            if (at >= 0) hx_matrix_store(g.m, at, sum[t]);
        }
    }
}

// n numbers from shared memory, aligned as their place is within 16 bytes, by the whole warp. What
// lies under `from` is free again after finish_stores.
template <class Real> __device__ __forceinline__ void store_row(Real *to, const Real *from, int n)
{
    const int lane = threadIdx.x % 32;
#if __CUDA_ARCH__ >= 900
    constexpr int pack = 16 / sizeof(Real);
    const int ahead =
        static_cast<int>((16 - (reinterpret_cast<uintptr_t>(to) & 15)) & 15) / sizeof(Real);
    const int head = ahead < n ? ahead : n, packs = (n - head) / pack, tail = head + packs * pack;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (lane < head) to[lane] = from[lane];
    if (lane < n - tail) to[tail + lane] = from[tail + lane];
    if (lane == 0 && packs > 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + head),
                     "r"(static_cast<unsigned>(__cvta_generic_to_shared(from + head))),
                     "r"(16 * packs)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
#else
    __syncwarp();
    for (int k = lane; k < n; k += 32) to[k] = from[k];
#endif
}

__device__ __forceinline__ void finish_stores()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

// Where the values of a row are left: in its own lines, which hold more, and rows in banks of their
// own where there is room for that.
template <int C, class Shared> __device__ __forceinline__ auto *row_values(Shared *s, int r)
{
    const int n_line = s->place[r + 1] - s->place[r];
    return s->product[s->place[r]] + (C == 3 && n_line >= 3 ? r : 0);
}

template <int C> __device__ __forceinline__ bool is_wide(const shared_memory<C> *s, int r)
{
    return s->begin[r + 1] - s->begin[r] > LANE_ENTRIES;
}

// A row's values on their way out, in its own lines: as they lie together, or a tile after the
// other.
template <int C, class Real, arrangement A> struct outgoing {
    static constexpr bool is_together = A == BLOCKS || A == NUMBERS;
    Real *to, *from;
    double *values;
    int n, lower;

    __device__ __forceinline__ outgoing(const arguments &g, shared_memory<C> *s, int r, int64_t row)
    {
        n = static_cast<int>(s->begin[r + 1] - s->begin[r]);
        lower = A == NUMBERS && g.m.spec.part == HX_PART_LOWER;
        values = row_values<C>(s, r);
        if constexpr (is_together) {
            to = static_cast<Real *>(g.m.d_value) + C * C * s->begin[r] -
                 (lower ? row * (C * (C - 1) / 2) : 0);
            from = reinterpret_cast<Real *>(s->product[s->place[r]]) +
                   (reinterpret_cast<uintptr_t>(to) & 15) / sizeof(Real);
        }
    }

    __device__ __forceinline__ void put(const arguments &g, int e, double (&sum)[C * C])
    {
        finish_tile<C>(g.lambda, g.mu, sum);
#pragma unroll
        for (int i = 0; i < C; i++) {
            const int row_of_numbers = lower ? i * (C * (n - 1)) + i * (i + 1) / 2 : i * C * n;
#pragma unroll
            for (int j = 0; j < C; j++)
                if constexpr (A == BLOCKS)
                    from[C * C * e + C * i + j] = static_cast<Real>(sum[C * i + j]);
                else if constexpr (!is_together)
                    values[C * C * e + C * i + j] = sum[C * i + j];
                else if (!(lower && e == n - 1 && j > i))
                    from[row_of_numbers + C * e + j] = static_cast<Real>(sum[C * i + j]);
        }
    }

    __device__ __forceinline__ void send()
    {
        if constexpr (is_together)
            store_row<Real>(to, from, C * C * n - (lower ? C * (C - 1) / 2 : 0));
    }
};

// A row that is not as in a grid, a lane an entry.
template <int C, class Real, arrangement A>
__device__ __forceinline__ void finish_row(const arguments &g, shared_memory<C> *s, int r,
                                           int64_t row)
{
    const int lane = threadIdx.x % 32;
    outgoing<C, Real, A> out(g, s, r, row);
    double sum[C * C];
    if (lane < out.n) sum_entry<C>(s, r, lane, sum);
    __syncwarp();
    if (lane < out.n) out.put(g, lane, sum);
    out.send();
}

// Rows first and first + 1 of the block where `mine` says so, 16 lanes a row: a lane sums the half
// of a class' entries in which the highest bit of bits(a) & class is its own - at most 4 places. Of
// class 0, the row's own point, it sums half of the places.
template <int C, class Real, arrangement A>
__device__ __forceinline__ void finish_two_rows(const arguments &g, shared_memory<C> *s, int first,
                                                int64_t row, unsigned rows)
{
    const int lane = threadIdx.x % 32, half = lane / 8 % 2, c = lane % 8;
    const int r = first + lane / 16, high = c ? 31 - __clz(c) : 0;
    const bool is_mine = rows >> (lane / 16) & 1;
    const int others = c & ((1 << high) - 1);
    unsigned todo = 0; // bit 8 (bits(a) & others) + place of the row
    int line0 = 0;
    if (is_mine) {
        line0 = s->place[r];
        const int n_line = s->place[r + 1] - line0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (k >= n_line ||
                reinterpret_cast<const uint16_t *>(s->slot + line0 + k)[c] == HX_NO_SLOT_16)
                continue;
            const int bits = s->bits[line0 + k];
            if ((c ? bits >> high & 1 : k / 4) == half) todo |= 1u << (8 * (bits & others) + k);
        }
    }
    double sum[4][C * C], keep = 0.0;
    int entry[4];
#pragma unroll
    for (int step = 0; step < 4; step++) {
        const bool has = todo != 0;
        const int at = has ? __ffs(static_cast<int>(todo)) - 1 : 0, k = line0 + at % 8;
        double v[C * C] = {};
        if (has) load_tile<C>(s->product[k] + line_offset<C>(s->bits[k], c), v);
#pragma unroll
        for (int t = 0; t < C * C; t++)
            sum[step][t] = step ? keep * sum[step ? step - 1 : 0][t] + v[t] : v[t];
        todo &= todo - 1;
        const int next = todo ? __ffs(static_cast<int>(todo)) - 1 : 32;
        const bool ends = c ? has && next / 8 != at / 8 : step == 3 && is_mine && half == 0;
        entry[step] = ends ? reinterpret_cast<const uint16_t *>(s->slot + (c ? k : line0))[c] : -1;
        keep = c && ends ? 0.0 : 1.0;
    }
#pragma unroll
    for (int t = 0; t < C * C; t++) {
        const double other = __shfl_xor_sync(0xffffffffu, sum[3][t], 8);
        if (c == 0) sum[3][t] += other;
    }
    __syncwarp(); // values are written over what all lanes have read
    if (is_mine) {
        outgoing<C, Real, A> out(g, s, r, row + lane / 16);
#pragma unroll
        for (int step = 0; step < 4; step++)
            if (entry[step] >= 0) out.put(g, entry[step], sum[step]);
    }
    for (int k = 0; k < 2; k++)
        if (rows >> k & 1) outgoing<C, Real, A>(g, s, first + k, row + k).send();
}

// Values of the block's rows from their lines, neighbouring rows side by side.
template <int C, class Real, arrangement A>
__device__ __forceinline__ void store_rows(const arguments &g, const shared_memory<C> *s,
                                           const block_range &block)
{
    constexpr int inner = A == SLICED ? 1 : C, across = ROWS * inner; // numbers that lie together
    for (int k = threadIdx.x; k < across * LANE_ENTRIES * (C * C / inner); k += 32 * WARPS) {
        const int r = k % across / inner, rest = k / across;
        const int e = rest / (C * C / inner), in_tile = rest % (C * C / inner);
        const int t = A == SLICED ? in_tile : k % inner * C + in_tile;
        if (r >= block.n_row || is_wide(s, r)) continue;
        const int n = static_cast<int>(s->begin[r + 1] - s->begin[r]);
        if (e >= n) continue;
        const int64_t at = hx_matrix_place(&g.m, block.row + r, n, e, t / C, t % C);
        if (at >= 0)
            static_cast<Real *>(g.m.d_value)[at] =
                static_cast<Real>(row_values<C>(s, r)[C * C * e + t]);
    }
}

// Slots of a place's pairs, HX_NO_SLOT_16 where there is none.
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

// 8 numbers of 16 bits, entry k of the result is entry k ^ x.
__device__ __forceinline__ uint4 xor_order(const unsigned (&v)[8], int x)
{
    unsigned w[8];
#pragma unroll
    for (int k = 0; k < 8; k++) w[k] = x & 1 ? v[k ^ 1] : v[k];
    unsigned y[8];
#pragma unroll
    for (int k = 0; k < 8; k++) y[k] = x & 2 ? w[k ^ 2] : w[k];
#pragma unroll
    for (int k = 0; k < 8; k++) w[k] = x & 4 ? y[k ^ 4] : y[k];
    return make_uint4(w[0] | w[1] << 16, w[2] | w[3] << 16, w[4] | w[5] << 16, w[6] | w[7] << 16);
}

template <int C, class Real, arrangement A>
__global__ void __launch_bounds__(32 * WARPS, SM_BLOCKS)
    gather_kernel(const __grid_constant__ arguments g)
{
    extern __shared__ __align__(128) unsigned char memory[];
    auto *s = reinterpret_cast<shared_memory<C> *>(memory);
    const block_range block = g.p.d_block[blockIdx.x];
    const hx_device_pattern &pattern = g.m.pattern;
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int64_t *ptr = g.in.point_ptr + pattern.row_first;
    const int64_t first = block.place;
    const int n_place = block.n_place;

    // what a line is of, on its way while Jacobians are made
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
    if (t < MOST_CELLS) *reinterpret_cast<uint4 *>(s->owner[t]) = make_uint4(0, 0, 0, 0);

    const int each = (block.n_cell + WARPS - 1) / WARPS, from = warp * each;
    const int count = block.n_cell - from < each ? block.n_cell - from : each;
    double root[2][9];
    if (count > 0) make_roots(g, g.p.d_cell + block.cell_begin + from, count, s->x[warp], root);
    __syncthreads();
    if (t < n_place) {
        const int a = static_cast<int>(place & 7);
        unsigned has = 0, by_class[8];
#pragma unroll
        for (int b = 0; b < 8; b++) {
            has |= static_cast<unsigned>(slot[b] != HX_NO_SLOT_16) << b;
            by_class[corner_bits(b)] = slot[b];
        }
        s->slot[t] = xor_order(by_class, corner_bits(a));
        s->bits[t] = static_cast<uint8_t>(corner_bits(a));
        s->owner[local][a] = static_cast<uint16_t>(has << 8 | t);
    }
    __syncthreads();

    double d[3][2];
    load_by_corner(d);
    const int a = lane / 4, b = 2 * (lane % 4);
    const int offset = line_offset<C>(corner_bits(a), corner_bits(a) ^ corner_bits(b));
#pragma unroll 2
    for (int c = 0; c < count; c++) {
        double h[3][2];
        make_gradients(root, c, d, h);
        const unsigned own = s->owner[from + c][a];
        make_products<C>(h, s->product[own & 255], offset, own >> (8 + b) & 3);
    }
    __syncthreads();

    const int first_row = 2 * warp;
    unsigned regular = 0;
    for (int r = first_row; r < first_row + 2 && r < block.n_row; r++)
        if (!(block.irregular >> r & 1))
            regular |= 1u << (r - first_row);
        else if (is_wide(s, r))
            finish_wide_row<C>(g, s, r, block.row + r);
        else
            finish_row<C, Real, A>(g, s, r, block.row + r);
    if (regular) finish_two_rows<C, Real, A>(g, s, first_row, block.row + first_row, regular);
    if constexpr (A == BLOCKS || A == NUMBERS) {
        finish_stores();
    } else {
        __syncthreads();
        store_rows<C, Real, A>(g, s, block);
    }
}

// Rows of very many cells: a warp a row, 32 entries at a time, which computes each cell that they
// need anew. Products and the order of sums are those of the other rows, and so are the bits.
template <int C> __global__ void slow_row_kernel(const __grid_constant__ arguments g)
{
    __shared__ __align__(16) double x[WARP_CELLS][X_LINE];
    __shared__ __align__(16) double product[line<C>::size];
    const hx_device_pattern &pattern = g.m.pattern;
    const int64_t row = g.p.d_slow[blockIdx.x], *ptr = g.in.point_ptr + pattern.row_first;
    const int n = static_cast<int>(pattern.d_row_ptr[row + 1] - pattern.d_row_ptr[row]);
    const int lane = threadIdx.x, b = 2 * (lane % 4);
    double d[3][2];
    load_by_corner(d);
    for (int e0 = 0; e0 < n; e0 += 32) {
        const int e = e0 + lane;
        double sum[C * C] = {};
        for (int64_t p = ptr[row]; p < ptr[row + 1]; p++) {
            const uint32_t place = g.in.point_place[p];
            const int a = static_cast<int>(place & 7), bits = corner_bits(a);
            uint16_t slot[8];
            load_slots(pattern, place, slot);
            unsigned mine = 0; // bits of the classes whose pair is the lane's entry
#pragma unroll
            for (int k = 0; k < 8; k++)
                if (slot[k] == e && e < n) mine |= 1u << (bits ^ corner_bits(k));
            if (!__any_sync(0xffffffffu, mine)) continue;
            const int32_t cell = static_cast<int32_t>(place / 8);
            double root[2][9], h[3][2];
            make_roots(g, &cell, 1, x, root);
            make_gradients(root, 0, d, h);
            make_products<C>(h, product, line_offset<C>(bits, bits ^ corner_bits(b)),
                             lane / 4 == a);
            __syncwarp();
            for (; mine; mine &= mine - 1) {
                double v[C * C];
                load_tile<C>(product + line_offset<C>(bits, __ffs(static_cast<int>(mine)) - 1), v);
#pragma unroll
                for (int t = 0; t < C * C; t++) sum[t] += v[t];
            }
            __syncwarp();
        }
        if (e >= n) continue;
        finish_tile<C>(g.lambda, g.mu, sum);
        for (int t = 0; t < C * C; t++) {
            const int64_t at = hx_matrix_place(&g.m, row, n, e, t / C, t % C);
            if (at >= 0) hx_matrix_store(g.m, at, sum[t]);
        }
    }
}

// ---- its entries

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

size_t shared_bytes(const hx_matrix_spec *spec)
{
    return spec->components == 3 ? sizeof(shared_memory<3>) : sizeof(shared_memory<1>);
}

int prepare(hx_cuda_filling *f)
{
    auto *g = reinterpret_cast<gather *>(f);
    hx_device *dev = f->dev;
    const int64_t n_group = (f->m->pattern.n_row + ROWS - 1) / ROWS;
    counts *d_count = nullptr;
    HX_TRY_CUDA(cudaFuncSetAttribute(choose_kernel(&f->m->spec),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shared_bytes(&f->m->spec))));
    lane_table_kernel<<<1, 32, 0, hx_cuda_of(dev)->stream>>>();
    HX_TRY_LAUNCH("gather's table");
    HX_TRY(dev->ops->alloc(dev, static_cast<size_t>(n_group) * sizeof *d_count, &d_count));
    const int rc = make_plan(g, d_count, n_group);
    dev->ops->release(dev, d_count);
    return rc;
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
        choose_kernel(
            spec)<<<static_cast<unsigned>(g->p.n_block), 32 * WARPS, shared_bytes(spec), stream>>>(
            a);
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
    f->dev->ops->release(f->dev, reinterpret_cast<gather *>(f)->d_memory);
}

size_t bytes(const hx_cuda_filling *f)
{
    return reinterpret_cast<const gather *>(f)->bytes;
}

} // namespace

const hx_cuda_fill_kind hx_cuda_fill_gather = {sizeof(gather), prepare, run, release, bytes};

// A block has 65 places or more, or is the last of ROWS rows, or one of at most five that such a
// window was halved to for its cells; in a block cells are fewer than places.
size_t hx_cuda_gather_expected(const hx_incidence *incidence)
{
    const size_t n_place = static_cast<size_t>(incidence->n_place);
    const size_t n_row = static_cast<size_t>(incidence->n_point);
    const size_t n_block = 5 * n_place / (MOST_PLACES / 2) + n_row / ROWS + 2;
    return n_place * (sizeof(int32_t) + 1) + n_block * sizeof(block_range) +
           n_place / (MOST_PLACES / 2) * sizeof(int32_t) + 1024;
}
