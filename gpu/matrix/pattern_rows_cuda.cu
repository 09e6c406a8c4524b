// The neighbours of points, one warp per point: the points of its cells are sorted in registers,
// each with its index among them. Each change in the sorted sequence begins a new entry, whose
// number in the row is the slot of its candidates.
#include "pattern_cuda.cuh"

namespace
{

constexpr int N_WARP = HX_BLOCK / HX_WARP;
// The kernel for hexahedra: rows per warp, for four independent chains of loads, and the largest
// number of cells at a point.
constexpr int ROWS = 4;
constexpr int MOST_PLACE = 8;
// Largest number of candidates for a row that a warp sorts, so that slots fit into a byte.
constexpr int MOST_CANDIDATE = 255;
constexpr int N_CANDIDATE = 256;
constexpr uint32_t NO_PLACE = 0xffffffffu;
constexpr uint8_t NONE = HX_NO_SLOT_8;

static_assert(ROWS * MOST_PLACE == HX_WARP, "one lane per place");

template <class Key> __device__ __forceinline__ Key keep(bool larger, Key mine, Key other)
{
    return (mine < other) != larger ? mine : other;
}

template <class Key> __device__ __forceinline__ void order(Key &low, Key &high)
{
    const Key smaller = min(low, high);
    high = max(low, high);
    low = smaller;
}

// Key K lane + e of R sequences: compares each key with the one that mirrors it within `size`.
template <int SIZE, class Key, int R, int K>
__device__ __forceinline__ void mirror(Key (&key)[R][K], int lane)
{
    if constexpr (SIZE <= K) {
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int e = 0; e < K; e++)
                if (!(e & SIZE / 2)) order(key[r][e], key[r][e ^ (SIZE - 1)]);
    } else {
        const bool larger = lane & (SIZE / K / 2);
#pragma unroll
        for (int r = 0; r < R; r++) {
            Key other[K];
#pragma unroll
            for (int e = 0; e < K; e++)
                other[e] = __shfl_xor_sync(HX_FULL_WARP, key[r][K - 1 - e], SIZE / K - 1);
#pragma unroll
            for (int e = 0; e < K; e++) key[r][e] = keep(larger, key[r][e], other[e]);
        }
    }
}

// Compares each key with the one STRIDE after it, and continues with half of STRIDE.
template <int STRIDE, class Key, int R, int K>
__device__ __forceinline__ void halve(Key (&key)[R][K], int lane)
{
    if constexpr (STRIDE >= K) {
        const bool larger = lane & (STRIDE / K);
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int e = 0; e < K; e++)
                key[r][e] =
                    keep(larger, key[r][e], __shfl_xor_sync(HX_FULL_WARP, key[r][e], STRIDE / K));
    } else if constexpr (STRIDE > 0) {
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int e = 0; e < K; e++)
                if (!(e & STRIDE)) order(key[r][e], key[r][e + STRIDE]);
    }
    if constexpr (STRIDE > 1) halve<STRIDE / 2>(key, lane);
}

// Sorts in ascending order of e + K lane, by a bitonic network.
template <int SIZE = 2, class Key, int R, int K>
__device__ __forceinline__ void sort_in_warp(Key (&key)[R][K], int lane)
{
    mirror<SIZE>(key, lane);
    halve<SIZE / 4>(key, lane);
    if constexpr (SIZE < HX_WARP * K) sort_in_warp<2 * SIZE>(key, lane);
}

// Keys of the row's at most 64 candidates: the point, and the index of the candidate in the lowest
// 6 bits.
template <class Key>
__device__ __forceinline__ void load_hexahedra(const hx_row_job &job, int64_t row, uint32_t place,
                                               int lane, Key (&key)[2])
{
    int32_t point[2];
    if (place != NO_PLACE) {
        const int2 pair =
            *reinterpret_cast<const int2 *>(job.in.point + (place & ~7u) + 2 * (lane & 3));
        point[0] = pair.x;
        point[1] = pair.y;
    }
#pragma unroll
    for (int e = 0; e < 2; e++) {
        const bool has =
            place != NO_PLACE && hx_has_entry(job.lower, row + job.row_first, point[e]);
        key[e] = (has ? static_cast<Key>(point[e]) : static_cast<Key>(~Key(0) >> 6)) << 6 |
                 static_cast<Key>(2 * lane + e);
    }
}

// From sorted keys: slots by the index of the candidate, and columns if there are few. Returns the
// number of entries.
template <class Key>
__device__ __forceinline__ int number_hexahedra(const hx_row_job &job, int64_t row, int lane,
                                                const Key (&key)[2], uint8_t *slot)
{
    constexpr Key none = ~Key(0) >> 6;
    const Key col[2] = {key[0] >> 6, key[1] >> 6};
    const Key before = __shfl_up_sync(HX_FULL_WARP, col[1], 1);
    const bool head[2] = {col[0] != none && (lane == 0 || col[0] != before),
                          col[1] != none && col[1] != col[0]};
    const unsigned mask[2] = {__ballot_sync(HX_FULL_WARP, head[0]),
                              __ballot_sync(HX_FULL_WARP, head[1])};
    const unsigned lower = (1u << lane) - 1;
    const int n = __popc(mask[0]) + __popc(mask[1]);
    int rank = __popc(mask[0] & lower) + __popc(mask[1] & lower) - 1;
#pragma unroll
    for (int e = 0; e < 2; e++) {
        rank += head[e];
        slot[key[e] & 63] = col[e] == none ? NONE : static_cast<uint8_t>(rank);
        if (head[e] && n <= HX_NARROW)
            job.narrow[HX_NARROW * row + rank] = static_cast<int32_t>(col[e]);
    }
    if (n > HX_NARROW && lane == 0) job.narrow[HX_NARROW * row] = -1;
    return n;
}

// Rows of hexahedra, with at most 8 cells at the point; other rows are added to a list.
template <class Key>
__global__ void __launch_bounds__(HX_BLOCK) find_rows_of_hexahedra(hx_row_job job)
{
    __shared__ uint2 slot[N_WARP][HX_WARP]; // slots of each lane's place, 8 bytes each
    const int lane = threadIdx.x % HX_WARP, warp = threadIdx.x / HX_WARP;
    const int64_t base = (static_cast<int64_t>(blockIdx.x) * N_WARP + warp) * ROWS;
    if (base >= job.n_row) return;
    const int64_t mine = base + (lane < ROWS ? lane : ROWS);
    const uint32_t ptr = static_cast<uint32_t>(
        job.in.point_ptr[job.row_first + (mine < job.n_row ? mine : job.n_row)]);
    const uint32_t next = __shfl_down_sync(HX_FULL_WARP, ptr, 1);
    const uint32_t begin = __shfl_sync(HX_FULL_WARP, ptr, lane / MOST_PLACE);
    const uint32_t n_place = __shfl_sync(HX_FULL_WARP, ptr, lane / MOST_PLACE + 1) - begin;
    uint32_t place = NO_PLACE;
    if (n_place <= MOST_PLACE && lane % MOST_PLACE < n_place)
        place = job.in.point_place[begin + lane % MOST_PLACE];
    Key key[ROWS][2];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        load_hexahedra(job, base + r, __shfl_sync(HX_FULL_WARP, place, MOST_PLACE * r + lane / 4),
                       lane, key[r]);
    sort_in_warp(key, lane);
    int count = 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int n = number_hexahedra(job, base + r, lane, key[r],
                                       reinterpret_cast<uint8_t *>(slot[warp] + MOST_PLACE * r));
        if (lane == r) count = n;
    }
    __syncwarp();
    if (place != NO_PLACE) reinterpret_cast<uint2 *>(job.slot)[place] = slot[warp][lane];
    if (lane >= ROWS || mine >= job.n_row) return;
    if (next - ptr <= MOST_PLACE) {
        job.count[mine] = count;
    } else {
        job.narrow[HX_NARROW * mine] = -1;
        job.wide[atomicAdd(&job.found->n_wide, 1u)] = static_cast<int32_t>(mine);
    }
}

// A place and its cell; at most 32, one per lane.
struct star_cell {
    int64_t first; // place of the cell's first point
    int64_t pair;  // pair of the place with the cell's first point
    int n;         // number of points; 0 beyond the last place
};

__device__ __forceinline__ star_cell cell_at(const hx_incidence &in, int64_t k, int64_t end)
{
    if (k >= end) return {0, 0, 0};
    const uint32_t place = in.point_place[k];
    const int64_t cell = hx_cell_of(in, place), first = hx_incidence_first(&in, cell);
    const int n = hx_incidence_count(&in, cell);
    return {first, hx_incidence_pair(&in, cell) + (place - first) * n, n};
}

__device__ __forceinline__ star_cell from_lane(const star_cell &cell, int lane)
{
    return {__shfl_sync(HX_FULL_WARP, cell.first, lane), __shfl_sync(HX_FULL_WARP, cell.pair, lane),
            __shfl_sync(HX_FULL_WARP, cell.n, lane)};
}

// Calls `visit` for each place from `begin` on, with the whole warp for one place after the other,
// and with the number of candidates before it.
template <class Visit>
__device__ __forceinline__ void for_each_cell(const hx_incidence &in, int64_t begin, int64_t end,
                                              int lane, Visit visit)
{
    int before = 0;
    for (int64_t k = begin; k < end; k += HX_WARP) {
        const star_cell own = cell_at(in, k + lane, end);
        const int n = end - k < HX_WARP ? static_cast<int>(end - k) : HX_WARP;
        for (int i = 0; i < n; i++) {
            const star_cell cell = from_lane(own, i);
            visit(cell, before);
            before += cell.n;
        }
    }
}

// Number of candidates of a row.
__device__ __forceinline__ int64_t count_candidates(const hx_incidence &in, int64_t begin,
                                                    int64_t end, int lane)
{
    if (in.n_per_cell) return (end - begin) * in.n_per_cell;
    int64_t n = 0;
    for (int64_t k = begin + lane; k < end; k += HX_WARP)
        n += hx_incidence_count(&in, hx_cell_of(in, in.point_place[k]));
    for (int step = HX_WARP / 2; step > 0; step /= 2) n += __shfl_xor_sync(HX_FULL_WARP, n, step);
    return n;
}

// Slots of n candidates, at most 32 K; returns the number of their entries.
template <int K>
__device__ __forceinline__ int rank_candidates(const int32_t *point, int n, int lower, int64_t row,
                                               uint8_t *slot, int lane)
{
    constexpr uint64_t none = 0xffffffffu;
    uint64_t key[1][K];
    int head = 0;
#pragma unroll
    for (int e = 0; e < K; e++) {
        const int i = K * lane + e;
        const bool has = i < n && hx_has_entry(lower, row, point[i]);
        key[0][e] = (has ? static_cast<uint64_t>(point[i]) : none) << 8 | static_cast<uint64_t>(i);
    }
    sort_in_warp(key, lane);
    const uint64_t last = __shfl_up_sync(HX_FULL_WARP, key[0][K - 1] >> 8, 1);
    uint64_t before = lane == 0 ? none : last;
#pragma unroll
    for (int e = 0; e < K; e++) {
        const uint64_t col = key[0][e] >> 8;
        head += col != none && col != before;
        before = col;
    }
    int sum = head; // for this lane and those below it
#pragma unroll
    for (int step = 1; step < HX_WARP; step *= 2) {
        const int other = __shfl_up_sync(HX_FULL_WARP, sum, step);
        if (lane >= step) sum += other;
    }
    int rank = sum - head - 1;
    before = lane == 0 ? none : last;
#pragma unroll
    for (int e = 0; e < K; e++) {
        const uint64_t col = key[0][e] >> 8;
        rank += col != none && col != before;
        slot[key[0][e] & 255] = col == none ? NONE : static_cast<uint8_t>(rank);
        before = col;
    }
    return __shfl_sync(HX_FULL_WARP, sum, HX_WARP - 1);
}

// Rows of any cells: those of a list, or all rows. A row with too many candidates is added to the
// next list.
__global__ void __launch_bounds__(HX_BLOCK)
    find_rows(hx_row_job job, const int32_t *list, const unsigned *n_list)
{
    __shared__ int32_t points[N_WARP][N_CANDIDATE];
    __shared__ uint8_t slots[N_WARP][N_CANDIDATE];
    const int lane = threadIdx.x % HX_WARP, warp = threadIdx.x / HX_WARP;
    int32_t *const point = points[warp];
    uint8_t *const slot = slots[warp];
    const int64_t n = list ? *n_list : job.n_row;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * N_WARP + warp; i < n;
         i += static_cast<int64_t>(gridDim.x) * N_WARP) {
        const int64_t r = list ? list[i] : i, row = job.row_first + r;
        const int64_t begin = job.in.point_ptr[row], end = job.in.point_ptr[row + 1];
        const int64_t n_all = count_candidates(job.in, begin, end, lane);
        if (n_all > MOST_CANDIDATE) {
            if (lane == 0) {
                job.count[r] = 0;
                job.huge[atomicAdd(&job.found->n_huge, 1u)] = static_cast<int32_t>(r);
                atomicAdd(&job.found->n_candidate, static_cast<unsigned long long>(n_all));
            }
            continue;
        }
        for_each_cell(job.in, begin, end, lane, [&](const star_cell &cell, int before) {
            for (int b = lane; b < cell.n; b += HX_WARP)
                point[before + b] = job.in.point[cell.first + b];
        });
        __syncwarp();
        const int n_candidate = static_cast<int>(n_all);
        const int count = n_candidate <= 64
                              ? rank_candidates<2>(point, n_candidate, job.lower, row, slot, lane)
                          : n_candidate <= 128
                              ? rank_candidates<4>(point, n_candidate, job.lower, row, slot, lane)
                              : rank_candidates<8>(point, n_candidate, job.lower, row, slot, lane);
        __syncwarp();
        for_each_cell(job.in, begin, end, lane, [&](const star_cell &cell, int before) {
            for (int b = lane; b < cell.n; b += HX_WARP) job.slot[cell.pair + b] = slot[before + b];
        });
        if (lane == 0) job.count[r] = count;
        __syncwarp(); // before the next row overwrites the shared memory
    }
}

// Writes the columns of a row from the slots of its pairs; several lanes may write the same value.
__device__ void scatter_columns(const hx_row_job &job, const void *slot, int slot_bytes,
                                int64_t row, int32_t *col, int lane)
{
    const int64_t begin = job.in.point_ptr[row], end = job.in.point_ptr[row + 1];
    for_each_cell(job.in, begin, end, lane, [&](const star_cell &cell, int) {
        for (int b = lane; b < cell.n; b += HX_WARP) {
            const int k = hx_slot_at(slot, slot_bytes, cell.pair + b);
            if (k >= 0) col[k] = job.in.point[cell.first + b];
        }
    });
}

__global__ void __launch_bounds__(HX_BLOCK)
    copy_columns(hx_row_job job, const int64_t *row_ptr, const void *slot, int slot_bytes,
                 int32_t *col)
{
    const int lane = threadIdx.x % HX_WARP;
    const int64_t base = (static_cast<int64_t>(blockIdx.x) * N_WARP + threadIdx.x / HX_WARP) * ROWS;
    if (base >= job.n_row) return;
    const int64_t mine = base + (lane < ROWS ? lane : ROWS);
    const int64_t ptr = row_ptr[mine < job.n_row ? mine : job.n_row];
    int32_t value[ROWS];
    unsigned late = 0; // one bit per row that is not in `narrow`
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t begin = __shfl_sync(HX_FULL_WARP, ptr, r);
        const int64_t n = __shfl_sync(HX_FULL_WARP, ptr, r + 1) - begin;
        value[r] = -1;
        if (job.narrow && lane < HX_NARROW && lane < n)
            value[r] = job.narrow[HX_NARROW * (base + r) + lane];
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t begin = __shfl_sync(HX_FULL_WARP, ptr, r);
        const int64_t n = __shfl_sync(HX_FULL_WARP, ptr, r + 1) - begin;
        const bool here = __shfl_sync(HX_FULL_WARP, value[r], 0) >= 0;
        if (here && lane < n) col[begin + lane] = value[r];
        if (!here && n > 0) late |= 1u << r;
    }
#pragma unroll 1
    for (int r = 0; late >> r; r++)
        if (late >> r & 1)
            scatter_columns(job, slot, slot_bytes, job.row_first + base + r,
                            col + __shfl_sync(HX_FULL_WARP, ptr, r), lane);
}

unsigned warps_in_blocks(int64_t n_warp)
{
    return hx_blocks(n_warp * HX_WARP, HX_BLOCK);
}

} // namespace

// The connectivity is read 8 bytes at a time.
bool hx_takes_hexahedra(const hx_incidence *in)
{
    return in->n_per_cell == 8 && reinterpret_cast<uintptr_t>(in->point) % sizeof(int2) == 0;
}

int hx_queue_rows(const hx_building *b, const hx_row_job *job)
{
    const unsigned n_block = warps_in_blocks((job->n_row + ROWS - 1) / ROWS);
    const unsigned n_fused = 8u * static_cast<unsigned>(hx_cuda_of(b->dev)->n_sm);
    const unsigned n_any = warps_in_blocks(job->n_row);
    if (job->n_row == 0) return HX_OK;
    if (!job->narrow) {
        find_rows<<<n_any, HX_BLOCK, 0, b->stream>>>(*job, nullptr, nullptr);
        return HX_LAUNCHED("find_rows");
    }
    if (job->in.n_point < 1 << 26)
        find_rows_of_hexahedra<uint32_t><<<n_block, HX_BLOCK, 0, b->stream>>>(*job);
    else
        find_rows_of_hexahedra<unsigned long long><<<n_block, HX_BLOCK, 0, b->stream>>>(*job);
    HX_TRY_LAUNCH("find_rows_of_hexahedra");
    const unsigned n_list = n_any < n_fused ? n_any : n_fused;
    find_rows<<<n_list, HX_BLOCK, 0, b->stream>>>(*job, job->wide, &job->found->n_wide);
    return HX_LAUNCHED("find_rows");
}

int hx_queue_columns(const hx_building *b, const hx_row_job *job)
{
    const hx_device_pattern *p = b->p;
    if (job->n_row == 0) return HX_OK;
    copy_columns<<<warps_in_blocks((job->n_row + ROWS - 1) / ROWS), HX_BLOCK, 0, b->stream>>>(
        *job, p->d_row_ptr, p->d_slot, p->slot_bytes, p->d_col);
    return HX_LAUNCHED("copy_columns");
}
