// Construction of chunks of rows on the GPU: the rows are sorted by their lowest cell and divided
// after a fixed number of cells; then the pairs (chunk, cell) of all places are sorted. A chunk
// with too many cells is halved until it fits.
#include <cstdlib>

#include "../device/scan_cuda.cuh"
#include "core/base/memory.h"
#include "gather_chunks_cuda.cuh"

namespace
{

using namespace hx_chunks;

constexpr uint32_t WIDE = UINT32_MAX;  // lowest cell of a row that is in no chunk
constexpr uint32_t WHOLE = UINT32_MAX; // place at which a chunk is halved: not halved

// Chunks are cut after this fraction of their capacity in cells, because their rows also touch
// other cells.
constexpr int64_t OWN_CELLS = 5, OF_CELLS = 8;

// The state of a build, as seen by kernels.
struct building {
    hx_incidence in;
    const int64_t *point_ptr; // of the rows of the pattern
    const int64_t *row_ptr;
    int64_t n_row, n_narrow, n_own, n_chunk;
    int64_t most_entries, most_places; // maxima of a narrow row
    int cell_bits;
    uint32_t *chunk; // [n_narrow]
    // [n_chunk + 1] first row, place and cell of each chunk
    uint32_t *first_row, *first_place, *first_cell;
    plan p;
};

// The lowest cell of each row.
__global__ void row_keys_kernel(building b, uint32_t *key, int32_t *row, unsigned *n_wide)
{
    const int64_t r = hx_grid_thread();
    if (r >= b.n_row) return;
    const int64_t first = b.point_ptr[r], n_place = b.point_ptr[r + 1] - first;
    const bool is_wide =
        n_place == 0 || n_place > b.most_places || b.row_ptr[r + 1] - b.row_ptr[r] > b.most_entries;
    if (is_wide) atomicAdd(n_wide, 1u);
    key[r] =
        is_wide ? WIDE : static_cast<uint32_t>(hx_incidence_cell(&b.in, b.in.point_place[first]));
    row[r] = static_cast<int32_t>(r);
}

// Number of places of each narrow row in sorted order, and 0 after the last; chunks of `each`
// cells.
__global__ void weights_kernel(building b, const uint32_t *lowest, int64_t each)
{
    const int64_t k = hx_grid_thread();
    if (k > b.n_narrow) return;
    const int64_t r = k < b.n_narrow ? b.p.d_row[k] : 0;
    b.p.d_first_place[k] =
        k < b.n_narrow ? static_cast<uint32_t>(b.point_ptr[r + 1] - b.point_ptr[r]) : 0;
    if (k < b.n_narrow) b.chunk[k] = static_cast<uint32_t>(lowest[k] / each);
}

// Renumbers chunk c to number[c]; its rows from place half[c] on go to the next chunk.
__global__ void halve_kernel(building b, const uint32_t *number, const uint32_t *half)
{
    const int64_t k = hx_grid_thread();
    if (k >= b.n_narrow) return;
    const uint32_t c = b.chunk[k];
    b.chunk[k] = number[c] + (b.p.d_first_place[k] >= half[c]);
}

// Keys and indices of the places; stores the point bits of d_place.
__global__ void places_kernel(building b, uint64_t *key, uint32_t *index)
{
    const int64_t k = hx_grid_thread();
    if (k >= b.n_narrow) return;
    const int64_t r = b.p.d_row[k], first = b.point_ptr[r], n = b.point_ptr[r + 1] - first;
    const uint64_t chunk = static_cast<uint64_t>(b.chunk[k]) << b.cell_bits;
    const uint32_t to = b.p.d_first_place[k];
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = b.in.point_place[first + i];
        const int64_t cell = hx_incidence_cell(&b.in, place);
        b.p.d_place[to + i] = static_cast<uint32_t>(place - hx_incidence_first(&b.in, cell));
        key[to + i] = chunk | static_cast<uint64_t>(cell);
        index[to + i] = static_cast<uint32_t>(to + i);
    }
}

__global__ void visit_starts_kernel(int64_t n, const uint64_t *key, uint32_t *is_first)
{
    const int64_t i = hx_grid_thread();
    if (i < n) is_first[i] = i == 0 || key[i] != key[i - 1];
}

// First row and first place of each chunk.
__global__ void chunk_rows_kernel(building b)
{
    const int64_t k = hx_grid_thread();
    if (k > b.n_narrow) return;
    const int64_t last = k < b.n_narrow ? b.chunk[k] : b.n_chunk;
    for (int64_t c = k > 0 ? b.chunk[k - 1] + 1 : 0; c <= last; c++) {
        b.first_row[c] = static_cast<uint32_t>(k);
        b.first_place[c] = b.p.d_first_place[k];
    }
}

// First visit of each chunk. number: count of visits up to and including a place.
__global__ void chunk_visits_kernel(building b, const uint64_t *key, const uint32_t *number)
{
    const int64_t i = hx_grid_thread();
    if (i > b.n_own) return;
    const int64_t before = i > 0 ? static_cast<int64_t>(key[i - 1] >> b.cell_bits) : -1;
    const int64_t last = i < b.n_own ? static_cast<int64_t>(key[i] >> b.cell_bits) : b.n_chunk;
    const uint32_t visit = i < b.n_own ? number[i] - 1 : number[i - 1];
    for (int64_t c = before + 1; c <= last; c++) b.first_cell[c] = visit;
}

// Writes the cells, and their indices into d_place.
__global__ void cells_kernel(building b, const uint64_t *key, const uint32_t *index,
                             const uint32_t *number)
{
    const int64_t i = hx_grid_thread();
    if (i >= b.n_own) return;
    const uint64_t chunk = key[i] >> b.cell_bits;
    const uint32_t visit = number[i] - 1;
    b.p.d_place[index[i]] |= (visit - b.first_cell[chunk]) << POINT_BITS;
    if (i == 0 || key[i] != key[i - 1])
        b.p.d_cell[visit] = static_cast<int32_t>(key[i] - (chunk << b.cell_bits));
}

struct worker {
    hx_device *dev;
    cudaStream_t stream;
    building b;
    plan *p;
    int64_t capacity;
    uint32_t *d_lowest;         // [n_row] lowest cell of each sorted row
    uint64_t *d_key, *d_sorted; // [n_own] before and after sorting
    uint32_t *d_index, *d_sorted_index, *d_number;
};

template <class T> int take(worker *w, int i, int64_t count, T **d_out)
{
    const size_t bytes = static_cast<size_t>(count) * sizeof **d_out;
    HX_TRY(w->dev->ops->alloc(w->dev, bytes, &w->p->d_memory[i]));
    *d_out = static_cast<T *>(w->p->d_memory[i]);
    w->p->bytes += bytes;
    return HX_OK;
}

int sort_rows(worker *w)
{
    hx_cuda_scratch scratch(w->dev);
    building *b = &w->b;
    uint32_t *d_key;
    int32_t *d_row;
    unsigned *d_wide, n_wide;
    HX_TRY(take(w, 0, b->n_row, &w->p->d_row));
    HX_TRY(scratch.take(&d_key, b->n_row));
    HX_TRY(scratch.take(&d_row, b->n_row));
    HX_TRY(scratch.take(&d_wide, 1));
    HX_TRY(w->dev->ops->zero(w->dev, d_wide, sizeof *d_wide));
    HX_TRY(
        hx_launch(w->dev, "row_keys_kernel", b->n_row, row_keys_kernel, *b, d_key, d_row, d_wide));
    HX_TRY(hx_sort_by_key(w->dev, d_key, w->d_lowest, d_row, w->p->d_row, b->n_row, 32));
    HX_TRY(w->dev->ops->download(w->dev, &n_wide, d_wide, sizeof n_wide));
    w->p->n_wide = n_wide;
    w->p->n_narrow = b->n_narrow = b->n_row - n_wide;
    return HX_OK;
}

// Lists of places, and chunks cut by cells.
int cut_rows(worker *w)
{
    building *b = &w->b;
    const int64_t n_cell = b->in.n_cell;
    const int64_t own = w->capacity * OWN_CELLS / OF_CELLS;
    const int64_t each = n_cell <= w->capacity ? n_cell : own > 0 ? own : 1;
    uint32_t n_own;
    HX_TRY(take(w, 1, b->n_narrow + 1 + b->n_own, &w->p->d_first_place));
    w->p->d_place = w->p->d_first_place + b->n_narrow + 1;
    b->p = *w->p;
    b->n_chunk = (n_cell + each - 1) / each;
    HX_TRY(hx_launch(w->dev, "weights_kernel", b->n_narrow + 1, weights_kernel, *b, w->d_lowest,
                     each));
    HX_TRY(hx_sum_before(w->dev, b->p.d_first_place, b->n_narrow + 1));
    HX_TRY(w->dev->ops->download(w->dev, &n_own, b->p.d_first_place + b->n_narrow, sizeof n_own));
    w->p->n_own = b->p.n_own = b->n_own = n_own;
    return HX_OK;
}

// Lists the visits of the current chunks, and where the chunks begin, in p->start.
int list_visits(worker *w, uint32_t *d_start)
{
    building *b = &w->b;
    const auto n = static_cast<size_t>(b->n_chunk + 1);
    b->first_row = d_start;
    b->first_place = d_start + n;
    b->first_cell = d_start + 2 * n;
    HX_TRY(
        hx_launch(w->dev, "places_kernel", b->n_narrow, places_kernel, *b, w->d_key, w->d_index));
    HX_TRY(hx_sort_by_key(w->dev, w->d_key, w->d_sorted, w->d_index, w->d_sorted_index, b->n_own,
                          b->cell_bits + hx_bits_of(b->n_chunk)));
    HX_TRY(hx_launch(w->dev, "visit_starts_kernel", b->n_own, visit_starts_kernel, b->n_own,
                     w->d_sorted, w->d_number));
    HX_TRY(hx_sum_with(w->dev, w->d_number, b->n_own));
    HX_TRY(hx_launch(w->dev, "chunk_rows_kernel", b->n_narrow + 1, chunk_rows_kernel, *b));
    HX_TRY(hx_launch(w->dev, "chunk_visits_kernel", b->n_own + 1, chunk_visits_kernel, *b,
                     w->d_sorted, w->d_number));
    free(w->p->start);
    w->p->start = nullptr;
    HX_TRY(hx_alloc(&w->p->start, 3 * n, sizeof *w->p->start, "chunks of rows"));
    w->p->n_chunk = b->n_chunk;
    return w->dev->ops->download(w->dev, w->p->start, d_start, 3 * n * sizeof *d_start);
}

// number and half: [n_chunk], on the host. Returns the new number of chunks.
int64_t find_halves(const worker *w, uint32_t *number, uint32_t *half)
{
    const plan *p = w->p;
    const uint32_t *const place = p->start + p->n_chunk + 1;
    int64_t n = 0;
    for (int64_t c = 0; c < p->n_chunk; c++) {
        const bool fits = p->first_cell(c + 1) - p->first_cell(c) <= w->capacity;
        number[c] = static_cast<uint32_t>(n);
        half[c] = fits ? WHOLE : place[c] + (place[c + 1] - place[c]) / 2;
        n += fits ? 1 : 2;
    }
    return n;
}

// A row has at most capacity / 2 places, so both halves of a chunk that is too large contain rows.
int halve_chunks(worker *w, const uint32_t *number)
{
    hx_cuda_scratch scratch(w->dev);
    const int64_t n = w->p->n_chunk;
    uint32_t *d_number;
    HX_TRY(scratch.take(&d_number, 2 * n));
    HX_TRY(
        w->dev->ops->upload(w->dev, d_number, number, 2 * static_cast<size_t>(n) * sizeof *number));
    HX_TRY(hx_launch(w->dev, "halve_kernel", w->b.n_narrow, halve_kernel, w->b, d_number,
                     d_number + n));
    return w->dev->ops->sync(w->dev);
}

int finish(worker *w)
{
    building *b = &w->b;
    w->p->n_visit = w->p->first_cell(w->p->n_chunk);
    HX_TRY(take(w, 2, w->p->n_visit, &w->p->d_cell));
    b->p = *w->p;
    HX_TRY(hx_launch(w->dev, "cells_kernel", b->n_own, cells_kernel, *b, w->d_sorted,
                     w->d_sorted_index, w->d_number));
    return w->dev->ops->sync(w->dev);
}

// Halves chunks until all of them fit.
int make_chunks(worker *w)
{
    for (;;) {
        hx_cuda_scratch scratch(w->dev);
        uint32_t *d_start, *number;
        HX_TRY(scratch.take(&d_start, 3 * (w->b.n_chunk + 1)));
        HX_TRY(list_visits(w, d_start));
        const int64_t n_chunk = w->p->n_chunk;
        HX_TRY(hx_alloc(&number, 2 * static_cast<size_t>(n_chunk), sizeof *number, "chunks"));
        w->b.n_chunk = find_halves(w, number, number + n_chunk);
        const int rc = w->b.n_chunk == n_chunk ? HX_OK : halve_chunks(w, number);
        free(number);
        HX_TRY(rc);
        if (w->b.n_chunk == n_chunk) return finish(w);
    }
}

int build(worker *w)
{
    hx_cuda_scratch scratch(w->dev);
    building *b = &w->b;
    int64_t range[2];
    HX_TRY(scratch.take(&w->d_lowest, b->n_row));
    HX_TRY(sort_rows(w));
    if (b->n_narrow == 0) return HX_OK;
    for (int i = 0; i < 2; i++)
        HX_TRY(w->dev->ops->download(w->dev, &range[i], b->point_ptr + (i ? b->n_row : 0),
                                     sizeof range[i]));
    b->n_own = range[1] - range[0]; // upper bound
    HX_TRY(scratch.take(&b->chunk, b->n_narrow));
    HX_TRY(cut_rows(w));
    HX_TRY(scratch.take(&w->d_key, b->n_own));
    HX_TRY(scratch.take(&w->d_sorted, b->n_own));
    HX_TRY(scratch.take(&w->d_index, b->n_own));
    HX_TRY(scratch.take(&w->d_sorted_index, b->n_own));
    HX_TRY(scratch.take(&w->d_number, b->n_own));
    return make_chunks(w);
}

} // namespace

int hx_chunks::create(plan *p, hx_device *dev, const hx_device_pattern *pattern,
                      const hx_incidence *in, int64_t capacity, int widest)
{
    worker w = {};
    w.dev = dev;
    w.stream = hx_cuda_of(dev)->stream;
    w.p = p;
    w.capacity = capacity;
    if (pattern->n_row == 0) return HX_OK;
    w.b.in = *in;
    w.b.point_ptr = in->point_ptr + pattern->row_first;
    w.b.row_ptr = pattern->d_row_ptr;
    w.b.n_row = pattern->n_row;
    w.b.most_entries = widest;
    w.b.most_places = capacity / 2;
    w.b.cell_bits = hx_bits_of(in->n_cell);
    return build(&w);
}

void hx_chunks::release(plan *p, hx_device *dev)
{
    for (void *memory : p->d_memory) dev->ops->release(dev, memory);
    free(p->start);
}

size_t hx_chunks::expected(const hx_incidence *in, int64_t capacity)
{
    const auto n_place = static_cast<size_t>(in->n_place), n_row = static_cast<size_t>(in->n_point);
    const size_t n_visit = in->n_cell <= capacity ? static_cast<size_t>(in->n_cell) : n_place;
    return (2 * n_row + 1 + n_place + n_visit) * sizeof(uint32_t);
}
