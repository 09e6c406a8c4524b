// Construction of windows of rows on the GPU: the rows are sorted by their lowest cell and cut by
// the sum of their entries; then the pairs (window, cell) of all places are sorted.

#include "../device/scan_cuda.cuh"
#include "gather_windows_cuda.cuh"

namespace
{

using namespace hx_dist_meshs;

constexpr uint32_t WIDE = UINT32_MAX; // key of a row that is in no window

// The state of a build, as seen by kernels.
struct building {
    hx_incidence in;
    const int64_t *point_ptr; // of the rows of the pattern
    const int64_t *row_ptr;
    int64_t n_row, n_narrow, n_window, n_own;
    // widest: maximum weight of a narrow row; target: windows are cut after this weight
    int widest, target;
    int cell_bits;
    plan p;
};

// Properties of the rows.
struct found {
    unsigned n_wide;
    int heaviest; // largest weight of a narrow row
};

// Weight of a row in its window: its number of entries or of cells, whichever is larger.
__device__ __forceinline__ int64_t weigh(const building &b, int64_t r)
{
    const int64_t n = b.row_ptr[r + 1] - b.row_ptr[r];
    const int64_t n_place = b.point_ptr[r + 1] - b.point_ptr[r];
    const int64_t more = n > n_place ? n : n_place;
    return more > LEAST_WEIGHT ? more : static_cast<int64_t>(LEAST_WEIGHT);
}

// The lowest cell of each row.
__global__ void row_keys_kernel(building b, uint32_t *key, int32_t *row, found *result)
{
    const int64_t r = hx_grid_thread();
    if (r >= b.n_row) return;
    const int64_t first = b.point_ptr[r], weight = weigh(b, r);
    const bool is_wide = b.point_ptr[r + 1] == first || weight > b.widest;
    if (is_wide)
        atomicAdd(&result->n_wide, 1u);
    else if (weight > result->heaviest) // unsynchronized test that avoids most atomic operations
        atomicMax(&result->heaviest, static_cast<int>(weight));
    key[r] =
        is_wide ? WIDE : static_cast<uint32_t>(hx_incidence_cell(&b.in, b.in.point_place[first]));
    row[r] = static_cast<int32_t>(r);
}

// Weights and numbers of places of narrow rows in sorted order; 0 after the last.
__global__ void weights_kernel(building b, int64_t *weight, int64_t *n_place)
{
    const int64_t k = hx_grid_thread();
    if (k > b.n_narrow) return;
    const int64_t r = k < b.n_narrow ? b.p.d_row[k] : 0;
    weight[k] = k < b.n_narrow ? weigh(b, r) : 0;
    n_place[k] = k < b.n_narrow ? b.point_ptr[r + 1] - b.point_ptr[r] : 0;
}

// begin: sum of weights before each row. No window is empty, because no row has a weight above
// `target`.
__global__ void window_rows_kernel(building b, const int64_t *begin)
{
    const int64_t k = hx_grid_thread();
    if (k > b.n_narrow) return;
    if (k == b.n_narrow) {
        b.p.d_window_row[b.n_window] = static_cast<int32_t>(k);
        return;
    }
    const int64_t window = begin[k] / b.target;
    if (k == 0 || begin[k - 1] / b.target != window)
        b.p.d_window_row[window] = static_cast<int32_t>(k);
}

__global__ void place_keys_kernel(building b, const int64_t *begin, const int64_t *first_place,
                                  uint64_t *key, uint32_t *own)
{
    const int64_t k = hx_grid_thread();
    if (k >= b.n_narrow) return;
    const int64_t window = begin[k] / b.target, r = b.p.d_row[k], first = b.point_ptr[r];
    const int64_t n = b.point_ptr[r + 1] - first;
    const auto local = static_cast<uint32_t>(k - b.p.d_window_row[window]);
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = b.in.point_place[first + i];
        const int64_t cell = hx_incidence_cell(&b.in, place);
        const auto point = static_cast<uint32_t>(place - hx_incidence_first(&b.in, cell));
        key[first_place[k] + i] =
            static_cast<uint64_t>(window) << b.cell_bits | static_cast<uint64_t>(cell);
        own[first_place[k] + i] =
            static_cast<uint32_t>(i) << (POINT_BITS + ROW_BITS) | local << POINT_BITS | point;
    }
}

__global__ void visit_starts_kernel(int64_t n, const uint64_t *key, uint32_t *is_first)
{
    const int64_t i = hx_grid_thread();
    if (i < n) is_first[i] = i == 0 || key[i] != key[i - 1];
}

// number: count of visits up to and including a place.
__global__ void visits_kernel(building b, const uint64_t *key, const uint32_t *number)
{
    const int64_t i = hx_grid_thread();
    if (i > b.n_own) return;
    if (i == b.n_own) {
        b.p.d_first_own[b.p.n_visit] = static_cast<uint32_t>(i);
        b.p.d_visit[b.n_window] = static_cast<uint32_t>(b.p.n_visit);
        return;
    }
    if (i > 0 && key[i] == key[i - 1]) return;
    const uint32_t visit = number[i] - 1;
    const uint64_t window = key[i] >> b.cell_bits;
    b.p.d_cell[visit] = static_cast<int32_t>(key[i] - (window << b.cell_bits));
    b.p.d_first_own[visit] = static_cast<uint32_t>(i);
    if (i == 0 || key[i - 1] >> b.cell_bits != window) b.p.d_visit[window] = visit;
}

struct worker {
    hx_device *dev;
    cudaStream_t stream;
    building b;
    plan *p;
};

int take(worker *w, int i, size_t bytes)
{
    HX_TRY(w->dev->ops->alloc(w->dev, bytes, &w->p->d_memory[i]));
    w->p->bytes += bytes;
    return HX_OK;
}

int sort_rows(worker *w)
{
    hx_cuda_scratch scratch(w->dev);
    building *b = &w->b;
    uint32_t *d_key, *d_sorted;
    int32_t *d_row;
    found *d_found, result;
    HX_TRY(take(w, 0, static_cast<size_t>(b->n_row) * sizeof *w->p->d_row));
    w->p->d_row = static_cast<int32_t *>(w->p->d_memory[0]);
    HX_TRY(scratch.take(&d_key, b->n_row));
    HX_TRY(scratch.take(&d_sorted, b->n_row));
    HX_TRY(scratch.take(&d_row, b->n_row));
    HX_TRY(scratch.take(&d_found, 1));
    HX_TRY(w->dev->ops->zero(w->dev, d_found, sizeof *d_found));
    HX_TRY(
        hx_launch(w->dev, "row_keys_kernel", b->n_row, row_keys_kernel, *b, d_key, d_row, d_found));
    HX_TRY(hx_sort_by_key(w->dev, d_key, d_sorted, d_row, w->p->d_row, b->n_row, 32));
    HX_TRY(w->dev->ops->download(w->dev, &result, d_found, sizeof result));
    w->p->n_wide = result.n_wide;
    w->p->n_narrow = b->n_narrow = b->n_row - result.n_wide;
    b->target -= result.heaviest;
    return HX_OK;
}

// Cuts the windows and lists their places. begin and first_place: [n_narrow + 1].
int cut_windows(worker *w, int64_t *d_begin, int64_t *d_first_place)
{
    building *b = &w->b;
    int64_t last;
    b->p = *w->p;
    HX_TRY(hx_launch(w->dev, "weights_kernel", b->n_narrow + 1, weights_kernel, *b, d_begin,
                     d_first_place));
    HX_TRY(hx_sum_before(w->dev, d_begin, b->n_narrow + 1));
    HX_TRY(hx_sum_before(w->dev, d_first_place, b->n_narrow + 1));
    HX_TRY(w->dev->ops->download(w->dev, &last, d_begin + b->n_narrow - 1, sizeof last));
    HX_TRY(w->dev->ops->download(w->dev, &b->n_own, d_first_place + b->n_narrow, sizeof b->n_own));
    w->p->n_own = b->n_own;
    w->p->n_window = b->n_window = last / b->target + 1;
    const auto n_window = static_cast<size_t>(b->n_window), n_own = static_cast<size_t>(b->n_own);
    HX_TRY(take(w, 1, (2 * (n_window + 1) + n_own) * sizeof(uint32_t)));
    w->p->d_window_row = static_cast<int32_t *>(w->p->d_memory[1]);
    w->p->d_visit = static_cast<uint32_t *>(w->p->d_memory[1]) + n_window + 1;
    w->p->d_own = w->p->d_visit + n_window + 1;
    b->p = *w->p;
    return hx_launch(w->dev, "window_rows_kernel", b->n_narrow + 1, window_rows_kernel, *b,
                     d_begin);
}

int list_visits(worker *w, const uint64_t *d_key, uint32_t *d_number)
{
    building *b = &w->b;
    uint32_t n_visit;
    HX_TRY(hx_launch(w->dev, "visit_starts_kernel", b->n_own, visit_starts_kernel, b->n_own, d_key,
                     d_number));
    HX_TRY(hx_sum_with(w->dev, d_number, b->n_own));
    HX_TRY(w->dev->ops->download(w->dev, &n_visit, d_number + b->n_own - 1, sizeof n_visit));
    w->p->n_visit = n_visit;
    HX_TRY(take(w, 2, (2 * static_cast<size_t>(n_visit) + 1) * sizeof(uint32_t)));
    w->p->d_cell = static_cast<int32_t *>(w->p->d_memory[2]);
    w->p->d_first_own = static_cast<uint32_t *>(w->p->d_memory[2]) + n_visit;
    b->p = *w->p;
    HX_TRY(hx_launch(w->dev, "visits_kernel", b->n_own + 1, visits_kernel, *b, d_key, d_number));
    return w->dev->ops->sync(w->dev);
}

int build(worker *w)
{
    building *b = &w->b;
    HX_TRY(sort_rows(w));
    if (b->n_narrow == 0) return HX_OK;
    hx_cuda_scratch scratch(w->dev);
    int64_t *d_begin, *d_first_place;
    uint64_t *d_key, *d_sorted;
    uint32_t *d_own;
    HX_TRY(scratch.take(&d_begin, b->n_narrow + 1));
    HX_TRY(scratch.take(&d_first_place, b->n_narrow + 1));
    HX_TRY(cut_windows(w, d_begin, d_first_place));
    b->cell_bits = hx_bits_of(b->in.n_cell);
    HX_TRY(scratch.take(&d_key, b->n_own));
    HX_TRY(scratch.take(&d_sorted, b->n_own));
    HX_TRY(scratch.take(&d_own, b->n_own));
    HX_TRY(hx_launch(w->dev, "place_keys_kernel", b->n_narrow, place_keys_kernel, *b, d_begin,
                     d_first_place, d_key, d_own));
    HX_TRY(hx_sort_by_key(w->dev, d_key, d_sorted, d_own, w->p->d_own, b->n_own,
                          b->cell_bits + hx_bits_of(b->n_window)));
    return list_visits(w, d_sorted, reinterpret_cast<uint32_t *>(d_key));
}

} // namespace

int hx_dist_meshs::create(plan *p, hx_device *dev, const hx_device_pattern *pattern,
                          const hx_incidence *in, int capacity)
{
    worker w = {dev, hx_cuda_of(dev)->stream, {}, p};
    if (pattern->n_row == 0) return HX_OK;
    w.b.in = *in;
    w.b.point_ptr = in->point_ptr + pattern->row_first;
    w.b.row_ptr = pattern->d_row_ptr;
    w.b.n_row = pattern->n_row;
    w.b.widest = capacity / 2;
    w.b.target = capacity; // reduced by the weight of the heaviest row, once that is known
    return build(&w);
}

void hx_dist_meshs::release(plan *p, hx_device *dev)
{
    for (void *memory : p->d_memory) dev->ops->release(dev, memory);
}

// The windows themselves take little memory, because there are few.
size_t hx_dist_meshs::expected(const hx_incidence *in)
{
    const auto n_place = static_cast<size_t>(in->n_place), n_row = static_cast<size_t>(in->n_point);
    return n_place * 3 * sizeof(uint32_t) + n_row * 3 * sizeof(uint32_t) + (256 << 10);
}
