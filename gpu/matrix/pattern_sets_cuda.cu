// Neighbours of a spline's control points, each of which has hundreds of neighbours: one thread
// block per row inserts the points of its cells into a hash table in shared memory, each once. When
// the offsets are known it does so a second time, sorts the table, and finds each pair's slot by
// bisection. The result is that of sorting all pairs, but no memory beyond that of the pattern is
// needed.
#include "pattern_cuda.cuh"

namespace
{

constexpr int THREADS = HX_BLOCK;
constexpr unsigned TABLE = 4096; // number of places of the table: a power of two
constexpr unsigned MOST = 2048;  // maximum number of points of a row: half of it
constexpr int32_t EMPTY = -1;

struct set {
    int32_t key[TABLE];
    int32_t sorted[MOST];
    unsigned n;
};

// Calls visit(pair, column) for each pair of the row, each by one thread.
template <class Visit>
__device__ __forceinline__ void for_pairs(const hx_row_job &job, int64_t row, Visit visit)
{
    const int64_t end = job.in.point_ptr[row + 1];
    for (int64_t k = job.in.point_ptr[row]; k < end; k++) {
        const uint32_t place = job.in.point_place[k];
        const int64_t cell = hx_cell_of(job.in, place), first = hx_incidence_first(&job.in, cell);
        const int n = hx_incidence_count(&job.in, cell);
        const int64_t pair = hx_incidence_pair(&job.in, cell) + (place - first) * n;
        for (int b = static_cast<int>(threadIdx.x); b < n; b += THREADS)
            visit(pair + b, job.in.point[first + b]);
    }
}

// Collects the row's columns, in any order. s.n > MOST: there are more, and not all of them are
// stored.
__device__ __forceinline__ void collect(const hx_row_job &job, int64_t row, set &s)
{
    for (unsigned i = threadIdx.x; i < TABLE; i += THREADS) s.key[i] = EMPTY;
    if (threadIdx.x == 0) s.n = 0;
    __syncthreads();
    for_pairs(job, row, [&](int64_t, int32_t col) {
        if (!hx_has_entry(job.lower, row, col)) return;
        unsigned at = static_cast<unsigned>(col) * 2654435761u >> 20; // the upper 12 of 32 bits
        for (unsigned tries = 0; tries < TABLE; tries++, at = (at + 1) % TABLE) {
            const int32_t there = atomicCAS(&s.key[at], EMPTY, col);
            if (there == EMPTY) atomicAdd(&s.n, 1u);
            if (there == EMPTY || there == col) return;
        }
        atomicAdd(&s.n, MOST + 1u); // the table is full
    });
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS) count_kernel(hx_row_job job)
{
    __shared__ set s;
    const int64_t r = job.huge[blockIdx.x];
    collect(job, job.row_first + r, s);
    if (threadIdx.x != 0) return;
    job.count[r] = static_cast<int32_t>(s.n);
    if (s.n > MOST) atomicAdd(&job.found->n_overflow, 1u);
}

// Sorts s.sorted in ascending order, in `size` places, a power of two; the places after the last
// column must hold the largest number.
__device__ __forceinline__ void sort_columns(set &s, unsigned size)
{
    for (unsigned run = 2; run <= size; run *= 2)
        for (unsigned step = run / 2; step > 0; step /= 2) {
            for (unsigned i = threadIdx.x; i < size; i += THREADS) {
                const unsigned j = i ^ step;
                if (j <= i) continue;
                const int32_t a = s.sorted[i], b = s.sorted[j];
                if ((a > b) != ((i & run) != 0)) {
                    s.sorted[i] = b;
                    s.sorted[j] = a;
                }
            }
            __syncthreads();
        }
}

__global__ void __launch_bounds__(THREADS)
    place_kernel(hx_row_job job, const int64_t *row_ptr, void *slot, int slot_bytes, int32_t *to)
{
    __shared__ set s;
    const int64_t r = job.huge[blockIdx.x], row = job.row_first + r;
    collect(job, row, s);
    const unsigned n = s.n;
    unsigned size = 1;
    while (size < n) size *= 2;
    __syncthreads();
    if (threadIdx.x == 0) s.n = 0;
    for (unsigned i = threadIdx.x; i < size; i += THREADS) s.sorted[i] = INT32_MAX;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < TABLE; i += THREADS)
        if (s.key[i] != EMPTY) s.sorted[atomicAdd(&s.n, 1u)] = s.key[i];
    __syncthreads();
    sort_columns(s, size);
    for (unsigned i = threadIdx.x; i < n; i += THREADS) to[row_ptr[r] + i] = s.sorted[i];
    for_pairs(job, row, [&](int64_t pair, int32_t col) {
        unsigned low = 0, high = n; // the first column that is not less
        while (low < high) {
            const unsigned middle = (low + high) / 2;
            if (s.sorted[middle] < col)
                low = middle + 1;
            else
                high = middle;
        }
        const bool has = hx_has_entry(job.lower, row, col);
        if (slot_bytes == 1)
            static_cast<uint8_t *>(slot)[pair] = has ? static_cast<uint8_t>(low) : HX_NO_SLOT_8;
        else
            static_cast<uint16_t *>(slot)[pair] = has ? static_cast<uint16_t>(low) : HX_NO_SLOT_16;
    });
}

} // namespace

int hx_queue_set_counts(const hx_building *b, const hx_row_job *job, unsigned n_row)
{
    count_kernel<<<n_row, THREADS, 0, b->stream>>>(*job);
    return HX_LAUNCHED("neighbours of control points");
}

int hx_queue_sets(const hx_building *b, const hx_row_job *job, unsigned n_row)
{
    const hx_device_pattern *p = b->p;
    place_kernel<<<n_row, THREADS, 0, b->stream>>>(*job, p->d_row_ptr, p->d_slot, p->slot_bytes,
                                                   p->d_col);
    return HX_LAUNCHED("columns of control points");
}
