// The fills by triplets. `sort` (P4) computes the tile of every pair of every cell. Their order by
// row and column is determined once, when the fill is created, and kept; each run writes the tiles
// and sums segments of that order. `triplets` (P3): the GPU integrates the lower half of each
// cell's matrix; the host sorts and sums the triplets, and mirrors them for the part of a full
// matrix above the diagonal.
#include <cstdlib>
#include <cstring>

#include "../device/scan_cuda.cuh"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/radix_sort.h"
#include "fill_tiles_cuda.cuh"

// Index of a column in a row, whose columns ascend; it must be present.
static HX_HD int find_entry(const hx_device_pattern &p, int64_t row, int32_t col)
{
    const int32_t *const list = p.d_col + p.d_row_ptr[row];
    int low = 0, high = static_cast<int>(p.d_row_ptr[row + 1] - p.d_row_ptr[row]) - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// --- sort ---

struct sort_filling : hx_cuda_filling {
    int64_t n;           // number of pairs: 64 per cell
    uint32_t *d_order;   // [n] pairs sorted by key; those without an entry are last (owned)
    uint32_t *d_segment; // [n_entry + 1] first pair of each entry in the order (owned)
    double *d_tile;      // [n][c][c] (owned)
};

// Temporary memory for computing the order; released afterwards.
struct sort_memory {
    uint64_t *d_key[2];
    uint32_t *d_other;
    void *d_temp;
    size_t temp_bytes;
    int col_bits, n_bits; // number of bits of a column, and of a key
};

// Key (row and column) of each pair. If the matrix has no such entry, the row is beyond the last.
__global__ void make_keys(const hx_device_pattern p, const int32_t *point, int64_t n, int col_bits,
                          uint64_t *key, uint32_t *order)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int64_t a = point[i / 8], b = point[i / 64 * 8 + i % 8], row = a - p.row_first;
    const bool out = row < 0 || row >= p.n_row || (p.part == HX_PART_LOWER && b > a);
    key[i] =
        static_cast<uint64_t>(out ? p.n_row : row) << col_bits | static_cast<uint64_t>(out ? 0 : b);
    order[i] = static_cast<uint32_t>(i);
}

// The first pair of each key begins its entry's segment; the entry is found by a search in the row.
__global__ void find_segments(const hx_device_pattern p, const uint64_t *key, int64_t n,
                              int col_bits, uint32_t *segment)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint64_t own = key[i];
    const auto row = static_cast<int64_t>(own >> col_bits);
    if (i == n - 1 && row < p.n_row) segment[p.n_entry] = static_cast<uint32_t>(n);
    if (i > 0 && key[i - 1] == own) return;
    const auto col = static_cast<int32_t>(own & ((uint64_t{1} << col_bits) - 1));
    const int64_t entry = row < p.n_row ? p.d_row_ptr[row] + find_entry(p, row, col) : p.n_entry;
    segment[entry] = static_cast<uint32_t>(i);
}

// Stores tiles in the order of the pairs.
template <int C> struct tile_sink {
    struct spot_type {
    };
    double *to;

    __device__ __forceinline__ spot_type spot(int64_t, int) const
    {
        return {};
    }
    __device__ __forceinline__ void put(int64_t cell, int pair, int t, double number,
                                        const spot_type &) const
    {
        to[(64 * cell + pair) * (C * C) + t] = number;
    }
};

// number of entries per block for elasticity; 9 times as many for heat conduction
constexpr int SUM_ENTRIES = 32;

// One thread per number: C C threads sum one entry.
template <int C>
__global__ void sum_segments(const hx_matrix m, const int32_t *point, const uint32_t *segment,
                             const uint32_t *order, const double *tile)
{
    constexpr int n_each = C * C;
    const int64_t entry =
        static_cast<int64_t>(blockIdx.x) * (blockDim.x / n_each) + threadIdx.x / n_each;
    const int t = static_cast<int>(threadIdx.x % n_each);
    if (entry >= m.pattern.n_entry) return;
    const uint32_t begin = segment[entry], end = segment[entry + 1];
    if (begin == end) return;
    double sum = 0.0;
    for (uint32_t i = begin; i < end; i++) sum += tile[static_cast<int64_t>(order[i]) * n_each + t];
    const int64_t row = point[order[begin] / 8] - m.pattern.row_first;
    const int64_t first = m.pattern.d_row_ptr[row];
    const int n = static_cast<int>(m.pattern.d_row_ptr[row + 1] - first);
    const int64_t place =
        hx_matrix_place(&m, row, n, static_cast<int>(entry - first), t / C, t % C);
    if (place >= 0) hx_matrix_store(m, place, sum);
}

static size_t sort_kept_bytes(const sort_filling *f)
{
    const auto n = static_cast<size_t>(f->n), c = static_cast<size_t>(f->m->spec.components);
    return (n + static_cast<size_t>(f->m->pattern.n_entry) + 1) * sizeof(uint32_t) +
           n * c * c * sizeof(double);
}

static int sort_pairs(const sort_filling *f, sort_memory *s, void *d_temp, uint32_t *d_order[2])
{
    return HX_CUDA(hx_queue_sort(d_temp, &s->temp_bytes, s->d_key, d_order,
                                 static_cast<uint32_t>(f->n), s->n_bits,
                                 hx_cuda_of(f->dev)->stream));
}

static int check_sort_memory(const sort_filling *f, const sort_memory *s)
{
    const auto n = static_cast<size_t>(f->n);
    const size_t segments = (static_cast<size_t>(f->m->pattern.n_entry) + 1) * sizeof(uint32_t);
    const size_t sorting = n * 2 * (sizeof(uint64_t) + sizeof(uint32_t)) + segments + s->temp_bytes;
    const size_t kept = sort_kept_bytes(f), most = sorting > kept ? sorting : kept;
    return hx_check_fill_bytes(f->dev, HX_FILL_SORT, most);
}

static int alloc_sort(sort_filling *f, sort_memory *s)
{
    const hx_device_ops *ops = f->dev->ops;
    const auto n = static_cast<size_t>(f->n), n_entry = static_cast<size_t>(f->m->pattern.n_entry);
    uint32_t *none[2] = {};
    HX_TRY(sort_pairs(f, s, nullptr, none));
    HX_TRY(check_sort_memory(f, s));
    HX_TRY(ops->alloc(f->dev, (n_entry + 1) * sizeof(uint32_t), &f->d_segment));
    HX_TRY(ops->alloc(f->dev, n * sizeof(uint32_t), &f->d_order));
    HX_TRY(ops->alloc(f->dev, n * sizeof(uint32_t), &s->d_other));
    HX_TRY(ops->alloc(f->dev, n * sizeof(uint64_t), &s->d_key[0]));
    HX_TRY(ops->alloc(f->dev, n * sizeof(uint64_t), &s->d_key[1]));
    return ops->alloc(f->dev, s->temp_bytes, &s->d_temp);
}

static int make_order(sort_filling *f, sort_memory *s)
{
    HX_TRY(alloc_sort(f, s));
    HX_TRY(hx_launch(f->dev, "make_keys", f->n, make_keys, f->m->pattern, f->input.incidence.point,
                     f->n, s->col_bits, s->d_key[0], f->d_order));
    uint32_t *order[2] = {f->d_order, s->d_other};
    HX_TRY(sort_pairs(f, s, s->d_temp, order));
    f->d_order = order[0];
    s->d_other = order[1];
    return hx_launch(f->dev, "find_segments", f->n, find_segments, f->m->pattern, s->d_key[0], f->n,
                     s->col_bits, f->d_segment);
}

static int sort_prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<sort_filling *>(filling);
    const hx_device_ops *ops = f->dev->ops;
    const hx_device_pattern *p = &f->m->pattern;
    const auto c = static_cast<size_t>(f->m->spec.components);
    sort_memory s = {};
    f->n = 64 * f->input.incidence.n_cell;
    if (f->n > UINT32_MAX)
        return HX_RAISE(HX_EENV,
                        "%lld triplets are more than a 32-bit index can count; use fill 'gather'",
                        static_cast<long long>(f->n));
    s.col_bits = hx_bits_of(p->n_point);
    s.n_bits = s.col_bits + hx_bits_of(p->n_row);
    // Padding of a format is never written, so it is set to 0 here.
    HX_TRY(ops->zero(f->dev, f->m->d_value, hx_value_bytes(*f->m)));
    if (f->n == 0) return HX_OK;
    int rc = make_order(f, &s);
    if (rc == HX_OK) rc = ops->sync(f->dev);
    ops->release(f->dev, s.d_key[0]);
    ops->release(f->dev, s.d_key[1]);
    ops->release(f->dev, s.d_other);
    ops->release(f->dev, s.d_temp);
    HX_TRY(rc);
    return ops->alloc(f->dev, static_cast<size_t>(f->n) * c * c * sizeof(double), &f->d_tile);
}

template <int C> static int make_and_sum(const sort_filling *f)
{
    const tile_sink<C> sink = {f->d_tile};
    const int64_t n_thread = f->m->pattern.n_entry * (C * C);
    constexpr int block = 9 * SUM_ENTRIES;
    HX_TRY(hx_launch_cells<C>(f->dev, f->input, nullptr, 0, f->input.incidence.n_cell, sink));
    if (n_thread == 0) return HX_OK; // no cell touches the rows
    sum_segments<C><<<hx_blocks(n_thread, block), block, 0, hx_cuda_of(f->dev)->stream>>>(
        *f->m, f->input.incidence.point, f->d_segment, f->d_order, f->d_tile);
    return HX_LAUNCHED("sum_segments");
}

static int sort_run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const sort_filling *>(filling);
    return f->m->spec.components == 3 ? make_and_sum<3>(f) : make_and_sum<1>(f);
}

static void sort_release(hx_cuda_filling *filling)
{
    auto *const f = static_cast<sort_filling *>(filling);
    f->dev->ops->release(f->dev, f->d_order);
    f->dev->ops->release(f->dev, f->d_segment);
    f->dev->ops->release(f->dev, f->d_tile);
}

static size_t sort_bytes(const hx_cuda_filling *filling)
{
    return sort_kept_bytes(static_cast<const sort_filling *>(filling));
}

const hx_cuda_fill_kind hx_cuda_fill_sort = {sizeof(sort_filling), sort_prepare, sort_run,
                                             sort_release, sort_bytes};

// --- triplets ---

constexpr int LOWER_PAIRS = 36;

struct triplets_filling : hx_cuda_filling {
    int64_t n;         // number of pairs: LOWER_PAIRS per cell
    int64_t chunk;     // number of cells at a time
    double *d_triplet; // [chunk][n_lower] (owned)
    double *triplet;   // [n_cell][n_lower], pinned (owned)
    void *value;       // [n_value] in the format of the matrix, pinned (owned)
    uint64_t *key;     // [n] row << 32 | column (owned, like the members below)
    uint64_t *scratch; // [n] copy of the keys, which sorting overwrites
    int32_t *order;    // [n]
    int32_t *point;    // [n_place]
    hx_matrix host;    // the matrix, with its pattern in host memory and its values in `value`
    hx_steps steps;    // steps of the last run
};

// Number of values in the lower half of a cell's matrix; the index of (r, s), s <= r, is
// r (r + 1) / 2 + s.
static HX_HD int n_lower(int c)
{
    return 8 * c * (8 * c + 1) / 2;
}

template <int C> struct lower_sink {
    struct spot_type {
    };
    double *to;
    int64_t first; // first cell of the chunk

    __device__ __forceinline__ spot_type spot(int64_t, int) const
    {
        return {};
    }
    __device__ __forceinline__ void put(int64_t cell, int pair, int t, double number,
                                        const spot_type &) const
    {
        const int r = C * (pair / 8) + t / C, s = C * (pair % 8) + t % C;
        if (s <= r) to[(cell - first) * n_lower(C) + r * (r + 1) / 2 + s] = number;
    }
};

// Copies an array of the device to host memory; nullptr remains nullptr.
template <class T> static int fetch(hx_device *dev, T **to, const T *d_from, int64_t n)
{
    *to = nullptr;
    if (!d_from) return HX_OK;
    HX_TRY(hx_alloc_raw(to, static_cast<size_t>(n), sizeof(T), "matrix on the host"));
    return dev->ops->download(dev, *to, d_from, static_cast<size_t>(n) * sizeof(T));
}

static int fetch_matrix(triplets_filling *f)
{
    const hx_matrix *m = f->m;
    hx_device_pattern *p = &f->host.pattern;
    f->host = *m;
    f->host.d_row = nullptr;
    f->host.d_col = nullptr;
    f->host.plan = nullptr;
    f->host.d_value = f->value;
    f->host.d_ptr = nullptr;
    *p = m->pattern;
    p->d_row_ptr = nullptr;
    p->d_col = nullptr;
    p->d_slot = nullptr;
    p->d_point_ptr = nullptr;
    p->d_point_place = nullptr;
    HX_TRY(fetch(f->dev, &p->d_row_ptr, m->pattern.d_row_ptr, p->n_row + 1));
    HX_TRY(fetch(f->dev, &p->d_col, m->pattern.d_col, p->n_entry));
    if (m->spec.format == HX_FORMAT_BSRS) // hx_matrix_place reads no pointers for the other formats
        HX_TRY(fetch(f->dev, &f->host.d_ptr, m->d_ptr, (p->n_row + HX_SLICE - 1) / HX_SLICE + 1));
    return fetch(f->dev, &f->point, f->input.incidence.point, f->input.incidence.n_place);
}

// Corners a >= b of the i-th lower pair.
static void lower_pair(int i, int *a, int *b)
{
    *a = 0;
    while (i > *a) i -= ++*a;
    *b = i;
}

// The row of a key is the point with the larger number, whichever corner it is.
static void make_lower_keys(triplets_filling *f)
{
    for (int64_t cell = 0; cell < f->input.incidence.n_cell; cell++)
        for (int i = 0; i < LOWER_PAIRS; i++) {
            int a, b;
            lower_pair(i, &a, &b);
            const int32_t p = f->point[8 * cell + a], q = f->point[8 * cell + b];
            f->key[cell * LOWER_PAIRS + i] =
                static_cast<uint64_t>(p > q ? p : q) << 32 | static_cast<uint64_t>(p > q ? q : p);
        }
}

static int triplets_prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<triplets_filling *>(filling);
    const hx_matrix *m = f->m;
    const int64_t n_cell = f->input.incidence.n_cell;
    const size_t cell_bytes = static_cast<size_t>(n_lower(m->spec.components)) * sizeof(double);
    f->n = LOWER_PAIRS * n_cell;
    if (f->n > INT32_MAX)
        return HX_RAISE(HX_EENV,
                        "%lld triplets are more than a 31-bit index can count; use fill 'gather'",
                        static_cast<long long>(f->n));
    if (m->pattern.n_row != m->pattern.n_point)
        return HX_RAISE(HX_EINPUT,
                        "fill 'triplets' supports only the whole matrix, not a range of rows");
    const auto n = static_cast<size_t>(f->n);
    const size_t value_bytes = hx_value_bytes(*m);
    HX_TRY(hx_alloc_raw(&f->key, n, sizeof *f->key, "keys of triplets"));
    HX_TRY(hx_alloc_raw(&f->scratch, n, sizeof *f->scratch, "keys of triplets"));
    HX_TRY(hx_alloc_raw(&f->order, n, sizeof *f->order, "order of triplets"));
    HX_TRY_CUDA(cudaMallocHost(&f->triplet, static_cast<size_t>(n_cell) * cell_bytes + 1));
    HX_TRY_CUDA(cudaMallocHost(&f->value, value_bytes + 1));
    memset(f->value, 0, value_bytes); // padding remains 0
    HX_TRY(fetch_matrix(f));
    make_lower_keys(f);
    f->chunk = hx_cells_at_a_time(f->dev, n_cell, cell_bytes);
    return f->dev->ops->alloc(f->dev, static_cast<size_t>(f->chunk) * cell_bytes, &f->d_triplet);
}

enum { INTEGRATION, DOWNLOAD, CONVERSION, UPLOAD, N_STEP };
constexpr hx_steps NO_TIME = {N_STEP,
                              {{HX_STEP_INTEGRATION, 0.0},
                               {HX_STEP_DOWNLOAD, 0.0},
                               {HX_STEP_CONVERSION, 0.0},
                               {HX_STEP_UPLOAD, 0.0}}};

// Ends a step that began at *begin, once all queued work has run; the next step begins.
static int end_step(triplets_filling *f, int step, double *begin)
{
    HX_TRY(f->dev->ops->sync(f->dev));
    const double now = hx_clock();
    f->steps.step[step].seconds += now - *begin;
    *begin = now;
    return HX_OK;
}

// Processes the groups of cells of P3, one after the other.
template <int C> static int integrate(triplets_filling *f, double *begin)
{
    const int64_t n_cell = f->input.incidence.n_cell;
    for (int64_t first = 0; first < n_cell; first += f->chunk) {
        const int64_t n = n_cell - first < f->chunk ? n_cell - first : f->chunk;
        const lower_sink<C> sink = {f->d_triplet, first};
        HX_TRY(hx_launch_cells<C>(f->dev, f->input, nullptr, first, n, sink));
        HX_TRY(end_step(f, INTEGRATION, begin));
        HX_TRY(f->dev->ops->download(f->dev, f->triplet + first * n_lower(C), f->d_triplet,
                                     static_cast<size_t>(n * n_lower(C)) * sizeof(double)));
        HX_TRY(end_step(f, DOWNLOAD, begin));
    }
    return HX_OK;
}

// Adds a triplet's tile to sum[i][j], where i belongs to the row's point.
static void add_triplet(const triplets_filling *f, int32_t triplet, int c, double sum[3][3])
{
    const int64_t cell = triplet / LOWER_PAIRS;
    const double *const lower = f->triplet + cell * n_lower(c);
    const int32_t *const point = f->point + 8 * cell;
    int a, b;
    lower_pair(triplet % LOWER_PAIRS, &a, &b);
    const bool as_is = point[a] >= point[b], twice = a != b && point[a] == point[b];
    for (int i = 0; i < c; i++)
        for (int j = 0; j < c; j++) {
            const int r = c * a + (as_is ? i : j), s = c * b + (as_is ? j : i);
            sum[i][j] += r >= s ? lower[r * (r + 1) / 2 + s] : lower[s * (s + 1) / 2 + r];
            if (!twice) continue; // the pair (b, a) also belongs to the diagonal entry
            const int u = c * a + j, v = c * b + i;
            sum[i][j] += lower[u * (u + 1) / 2 + v];
        }
}

// Writes the block of entry (row, col), or its transpose if `mirrored`.
static void put_block(const hx_matrix *m, int64_t row, int32_t col, const double sum[3][3],
                      bool mirrored)
{
    const hx_device_pattern &p = m->pattern;
    const int n = static_cast<int>(p.d_row_ptr[row + 1] - p.d_row_ptr[row]);
    const int k = find_entry(p, row, col), c = m->spec.components;
    for (int i = 0; i < c; i++)
        for (int j = 0; j < c; j++) {
            const int64_t place = hx_matrix_place(m, row, n, k, i, j);
            const double number = mirrored ? sum[j][i] : sum[i][j];
            if (place < 0) continue;
            if (m->spec.single)
                static_cast<float *>(m->d_value)[place] = static_cast<float>(number);
            else
                static_cast<double *>(m->d_value)[place] = number;
        }
}

// Sums triplets with equal keys, cells ascending.
static void convert(const triplets_filling *f)
{
    const bool full = f->m->pattern.part == HX_PART_FULL;
    const int c = f->m->spec.components;
    for (int64_t i = 0; i < f->n;) {
        const uint64_t key = f->key[f->order[i]];
        const auto row = static_cast<int32_t>(key >> 32);
        const auto col = static_cast<int32_t>(key & UINT32_MAX);
        double sum[3][3] = {};
        for (; i < f->n && f->key[f->order[i]] == key; i++) add_triplet(f, f->order[i], c, sum);
        put_block(&f->host, row, col, sum, false);
        if (full && row != col) put_block(&f->host, col, row, sum, true);
    }
}

static int triplets_run(hx_cuda_filling *filling)
{
    auto *const f = static_cast<triplets_filling *>(filling);
    f->steps = NO_TIME;
    HX_TRY(f->dev->ops->sync(f->dev));
    double begin = hx_clock();
    HX_TRY(f->m->spec.components == 3 ? integrate<3>(f, &begin) : integrate<1>(f, &begin));
    memcpy(f->scratch, f->key, static_cast<size_t>(f->n) * sizeof *f->key);
    HX_TRY(hx_radix_sort(f->scratch, f->order, f->n, 32 + hx_bits_of(f->m->pattern.n_point)));
    convert(f);
    HX_TRY(end_step(f, CONVERSION, &begin));
    HX_TRY(f->dev->ops->upload(f->dev, f->m->d_value, f->value, hx_value_bytes(*f->m)));
    return end_step(f, UPLOAD, &begin);
}

static void triplets_steps(const hx_cuda_filling *filling, hx_steps *steps)
{
    *steps = static_cast<const triplets_filling *>(filling)->steps;
}

static void triplets_release(hx_cuda_filling *filling)
{
    auto *const f = static_cast<triplets_filling *>(filling);
    f->dev->ops->release(f->dev, f->d_triplet);
    if (f->triplet) cudaFreeHost(f->triplet);
    if (f->value) cudaFreeHost(f->value);
    free(f->key);
    free(f->scratch);
    free(f->order);
    free(f->point);
    free(f->host.d_ptr);
    free(f->host.pattern.d_row_ptr);
    free(f->host.pattern.d_col);
}

static size_t triplets_bytes(const hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const triplets_filling *>(filling);
    return static_cast<size_t>(f->chunk) * static_cast<size_t>(n_lower(f->m->spec.components)) *
           sizeof(double);
}

const hx_cuda_fill_kind hx_cuda_fill_triplets = {sizeof(triplets_filling),
                                                 triplets_prepare,
                                                 triplets_run,
                                                 triplets_release,
                                                 triplets_bytes,
                                                 0,
                                                 triplets_steps};
