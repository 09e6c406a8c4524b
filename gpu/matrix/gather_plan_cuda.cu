// Division of the rows into blocks, on the GPU: each thread block first counts the blocks of a
// group of rows, and then writes them.
#include "../device/scan_cuda.cuh"
#include "fill_tetra_cuda.cuh"
#include "gather_plan_cuda.cuh"

namespace
{

using namespace hx_gather;

using counts = hx_plan_counts;

// Counts the distinct cells of the places 0 .. n - 1 of a window, and determines for each place the
// rank of its cell. All threads of the block call it.
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

// Whether the entries of the row are exactly the pairs of one class with equal bits(a) & class.
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
// writes them from offset[group] on; otherwise counts them.
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

int alloc_plan(plan *p, hx_device *dev, const counts *total, int64_t n_place)
{
    p->n_block = total->block;
    p->n_cell = total->cell;
    p->n_slow = total->slow;
    p->n_place = n_place;
    const size_t block = padded(static_cast<size_t>(p->n_block) * sizeof *p->d_block);
    const size_t cell = padded(static_cast<size_t>(p->n_cell) * sizeof *p->d_cell);
    const size_t slow = padded(static_cast<size_t>(p->n_slow) * sizeof *p->d_slow);
    p->bytes = block + cell + slow + static_cast<size_t>(p->n_place);
    HX_TRY(dev->ops->alloc(dev, p->bytes, &p->d_memory));
    char *d_memory = static_cast<char *>(p->d_memory);
    p->d_block = reinterpret_cast<block_range *>(d_memory);
    p->d_cell = reinterpret_cast<int32_t *>(d_memory + block);
    p->d_slow = reinterpret_cast<int32_t *>(d_memory + block + cell);
    p->d_local = reinterpret_cast<uint8_t *>(d_memory + block + cell + slow);
    return HX_OK;
}

int make_plan(plan *p, hx_device *dev, const hx_device_pattern *pattern, const hx_incidence *in,
              counts *d_count, int64_t n_group)
{
    cudaStream_t stream = hx_cuda_of(dev)->stream;
    const unsigned n = static_cast<unsigned>(n_group);
    const int64_t first = pattern->row_first;
    int64_t place[2];
    counts total, last[2];
    plan_kernel<false><<<n, MOST_PLACES, 0, stream>>>(*in, *pattern, d_count, *p);
    HX_TRY_LAUNCH("gather's plan");
    HX_TRY(dev->ops->download(dev, &last[0], d_count + n_group - 1, sizeof *last));
    HX_TRY(hx_sum_before(dev, d_count, n_group));
    HX_TRY(dev->ops->download(dev, &last[1], d_count + n_group - 1, sizeof *last));
    total = last[0] + last[1];
    HX_TRY(dev->ops->download(dev, &place[0], in->point_ptr + first, sizeof *place));
    HX_TRY(
        dev->ops->download(dev, &place[1], in->point_ptr + first + pattern->n_row, sizeof *place));
    HX_TRY(alloc_plan(p, dev, &total, place[1] - place[0]));
    plan_kernel<true><<<n, MOST_PLACES, 0, stream>>>(*in, *pattern, d_count, *p);
    HX_TRY_LAUNCH("gather's plan");
    return dev->ops->sync(dev);
}

} // namespace

int hx_gather::create_plan(plan *p, hx_device *dev, const hx_device_pattern *pattern,
                           const hx_incidence *in)
{
    const int64_t n_group = (pattern->n_row + ROWS - 1) / ROWS;
    counts *d_count = nullptr;
    HX_TRY(dev->ops->alloc(dev, static_cast<size_t>(n_group) * sizeof *d_count, &d_count));
    const int rc = make_plan(p, dev, pattern, in, d_count, n_group);
    dev->ops->release(dev, d_count);
    return rc;
}

// A block has at least 65 places, or is the last of ROWS rows, or is one of at most five blocks
// into which such a window was halved because of its cells. A block has at most as many cells as
// places.
static size_t expected_of_hexahedra(const hx_incidence *incidence)
{
    const size_t n_place = static_cast<size_t>(incidence->n_place);
    const size_t n_row = static_cast<size_t>(incidence->n_point);
    const size_t n_block = 5 * n_place / (MOST_PLACES / 2) + n_row / ROWS + 2;
    return n_place * (sizeof(int32_t) + 1) + n_block * sizeof(hx_gather::block_range) +
           n_place / (MOST_PLACES / 2) * sizeof(int32_t) + 1024;
}

size_t hx_cuda_gather_expected(const hx_incidence *incidence, int components)
{
    if (incidence->spline) return hx_cuda_lines_expected(incidence);
    if (incidence->kind) return hx_cuda_points_expected(incidence, components);
    return incidence->is_tetrahedral ? hx_tetra_fill::expected(incidence)
                                     : expected_of_hexahedra(incidence);
}
