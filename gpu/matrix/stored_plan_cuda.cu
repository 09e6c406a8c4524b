// The plan of the fill `stored`: which entries are kept, their order, and how they are divided into
// records.
#include <cstdlib>

#include "../device/scan_cuda.cuh"
#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "stored_build_cuda.cuh"

namespace
{

using namespace hx_stored;

// Whether the entry of a column is the mirror image of an earlier entry.
__device__ __forceinline__ bool is_image(const hx_device_pattern &p, int64_t row, int64_t column)
{
    return column > p.row_first + row && column < p.row_first + p.n_row;
}

__global__ void count_kernel(building b)
{
    const hx_device_pattern &p = b.pattern;
    const int64_t row = hx_grid_thread();
    if (row > p.n_row) return;
    uint32_t n = 0;
    if (row < p.n_row)
        for (int64_t e = p.d_row_ptr[row]; e < p.d_row_ptr[row + 1]; e++)
            n += !is_image(p, row, p.d_col[e]);
    b.first[row] = n;
}

// Index of a column in a row, whose columns ascend; it must be present.
__device__ uint32_t find_entry(const hx_device_pattern &p, int64_t row, int64_t column)
{
    int64_t low = p.d_row_ptr[row], high = p.d_row_ptr[row + 1] - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (p.d_col[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return static_cast<uint32_t>(low);
}

// If rows are wide, a record has only a few of them, and the mirror images of its entries would be
// written to as many separate places as there are entries. Entries of a matrix of blocks are
// therefore sorted by tiles of TILE rows and columns. Formats with rows of numbers, three of which
// are contiguous, need whole rows instead.
constexpr int TILE = 16;

__device__ __forceinline__ uint64_t key_of(const hx_device_pattern &p, int64_t row, int64_t column)
{
    const uint64_t n_tile = static_cast<uint64_t>(p.n_point / TILE + 1);
    const uint64_t tile =
        static_cast<uint64_t>(row / TILE) * n_tile + static_cast<uint64_t>(column / TILE);
    return (tile * TILE + static_cast<uint64_t>(row % TILE)) * TILE +
           static_cast<uint64_t>(column % TILE);
}

__device__ __forceinline__ int64_t row_of_key(const hx_device_pattern &p, uint64_t key)
{
    const uint64_t n_tile = static_cast<uint64_t>(p.n_point / TILE + 1);
    return static_cast<int64_t>(key / (TILE * TILE) / n_tile * TILE + key / TILE % TILE);
}

__global__ void list_kernel(building b)
{
    const hx_device_pattern &p = b.pattern;
    const int64_t row = hx_grid_thread();
    if (row >= p.n_row) return;
    uint32_t to = b.first[row];
    for (int64_t e = p.d_row_ptr[row]; e < p.d_row_ptr[row + 1]; e++) {
        const int64_t column = p.d_col[e];
        if (is_image(p, row, column)) continue;
        b.row[to] = static_cast<int32_t>(row);
        b.entry[to] = static_cast<uint32_t>(e);
        if (b.key) b.key[to] = key_of(p, row, column);
        to++;
    }
}

// Finds the mirror image of each entry, and the row of sorted entries.
__global__ void images_kernel(building b)
{
    const hx_device_pattern &p = b.pattern;
    const int64_t kept = hx_grid_thread();
    if (kept >= b.p.n_kept) return;
    if (b.key) b.row[kept] = static_cast<int32_t>(row_of_key(p, b.key[kept]));
    if (!b.mirror) return;
    const int64_t point = p.row_first + b.row[kept], column = p.d_col[b.entry[kept]];
    const int64_t other = column - p.row_first;
    b.mirror[kept] = column < point && other >= 0 ? find_entry(p, other, point) : NONE;
}

__device__ __forceinline__ int count_terms(const building &b, int64_t kept)
{
    walk w = begin_walk(b, kept);
    int n = 0;
    while (w.next(b)) n++;
    return n;
}

// Weight of an entry: its bytes in a record, but at least large enough that no record exceeds the
// maximum number of entries.
template <int C> __global__ void weigh_kernel(building b)
{
    const int64_t kept = hx_grid_thread();
    if (kept > b.p.n_kept) return;
    const int n = count_terms(b, kept), part = is_diagonal(b, kept) ? DIAGONAL : OFF;
    const int64_t bytes = n * (4 * tile_words<C>(part) + 1) + 8;
    const int64_t least = b.record_bytes / (MOST_ENTRY - 1) + 1;
    b.weight[kept] = kept == b.p.n_kept ? 0 : bytes > least ? bytes : least;
    if (kept < b.p.n_kept) b.n_term[kept] = static_cast<uint32_t>(n);
}

__device__ __forceinline__ bool begins_record(const building &b, int64_t kept)
{
    return kept == 0 || b.weight[kept] / b.record_bytes != b.weight[kept - 1] / b.record_bytes;
}

__global__ void begin_kernel(building b)
{
    const int64_t kept = hx_grid_thread();
    if (kept <= b.p.n_kept) b.n_begin[kept] = kept < b.p.n_kept && begins_record(b, kept);
}

__global__ void first_kernel(building b)
{
    const int64_t kept = hx_grid_thread();
    if (kept > b.p.n_kept) return;
    if (kept == b.p.n_kept)
        b.record_first[b.p.n_record] = static_cast<uint32_t>(kept);
    else if (begins_record(b, kept))
        b.record_first[b.n_begin[kept]] = static_cast<uint32_t>(kept);
}

__global__ void at_kernel(building b)
{
    const int64_t r = hx_grid_thread();
    if (r <= b.p.n_record) b.p.d_at[r] = {b.n_list[r], b.n_word[r]};
}

struct worker {
    const hx_cuda_filling *f;
    hx_device *dev;
    cudaStream_t stream;
    building b;
    plan *p;
};

template <class T> int take(worker *w, int i, int64_t count, T **d_out)
{
    const size_t bytes = static_cast<size_t>(count) * sizeof **d_out;
    HX_TRY(w->dev->ops->alloc(w->dev, bytes, &w->p->d_memory[i]));
    *d_out = static_cast<T *>(w->p->d_memory[i]);
    w->p->bytes += bytes;
    return HX_OK;
}

template <class T> int get(const worker *w, T *to, const T *d_from)
{
    return w->dev->ops->download(w->dev, to, d_from, sizeof *to);
}

void make_linear(hx_cell_rule *rule)
{
    rule->n_point = rule->n_corner = rule->n_gauss = 8;
    for (int q = 0; q < 8; q++) {
        rule->weight[q] = 1.0;
        for (int a = 0; a < 8; a++) {
            double d[3];
            hx_hex8_shape_ref_gradient(a, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1),
                                       hx_hex8_gauss(q, 2), d);
            for (int k = 0; k < 3; k++) rule->gradient[q][k][a] = d[k];
        }
    }
}

// Uploads the rules and sets `most_gauss`.
int put_rules(worker *w, hx_cuda_scratch *scratch)
{
    hx_cell_rule *rule, *d_rule;
    HX_TRY(scratch->take(&d_rule, N_RULE));
    HX_TRY(hx_alloc(&rule, N_RULE, sizeof *rule, "rules of cells"));
    make_linear(&rule[LINEAR]);
    for (int kind = 0; kind < HX_N_CELL_RULE && w->b.in.kind; kind++)
        rule[kind] = w->f->input.rule[kind];
    for (int kind = 0; kind < N_RULE; kind++)
        if (rule[kind].n_gauss > w->b.most_gauss) w->b.most_gauss = rule[kind].n_gauss;
    const int rc = w->dev->ops->upload(w->dev, d_rule, rule, N_RULE * sizeof *rule);
    w->b.rule = d_rule;
    free(rule);
    return rc == HX_OK ? w->dev->ops->sync(w->dev) : rc;
}

int start_images(worker *w)
{
    return hx_launch(w->dev, "stored's images_kernel", w->p->n_kept, images_kernel, w->b);
}

constexpr int WIDE = 20; // number of kept entries per row from which they are sorted by tiles

int list_sorted(worker *w)
{
    hx_cuda_scratch scratch(w->dev);
    building *b = &w->b;
    const int64_t n = w->p->n_kept;
    uint64_t *sorted_key;
    uint32_t *const sorted = b->entry;
    HX_TRY(scratch.take(&b->key, n));
    HX_TRY(scratch.take(&sorted_key, n));
    HX_TRY(scratch.take(&b->entry, n));
    HX_TRY(hx_launch(w->dev, "stored's list_kernel", b->pattern.n_row, list_kernel, *b));
    HX_TRY(hx_sort_by_key(w->dev, b->key, sorted_key, b->entry, sorted, n, 64));
    b->key = sorted_key;
    b->entry = sorted;
    HX_TRY(start_images(w));
    b->key = nullptr;
    return HX_OK;
}

// Lists the kept entries; formats other than bsr look them up at each run.
int list_kept(worker *w, hx_cuda_scratch *scratch)
{
    building *b = &w->b;
    plan *p = w->p;
    const bool has_images = p->n_kept < b->pattern.n_entry;
    const hx_format format = w->f->m->spec.format;
    if (format == HX_FORMAT_BSR) {
        HX_TRY(scratch->take(&b->row, p->n_kept));
        HX_TRY(scratch->take(&b->entry, p->n_kept));
        if (has_images) HX_TRY(scratch->take(&b->mirror, p->n_kept));
    } else {
        HX_TRY(take(w, 0, p->n_kept, &b->row));
        HX_TRY(take(w, 1, p->n_kept, &b->entry));
        if (has_images) HX_TRY(take(w, 2, p->n_kept, &b->mirror));
        p->d_row = b->row;
        p->d_entry = b->entry;
        p->d_mirror = b->mirror;
    }
    b->p = *p;
    const bool has_blocks = format == HX_FORMAT_BSR || format == HX_FORMAT_BSRS;
    if (has_images && has_blocks && p->n_kept > WIDE * b->pattern.n_row) return list_sorted(w);
    HX_TRY(hx_launch(w->dev, "stored's list_kernel", b->pattern.n_row, list_kernel, *b));
    return start_images(w);
}

// Divides the entries into records.
int cut_records(worker *w, hx_cuda_scratch *scratch)
{
    building *b = &w->b;
    plan *p = w->p;
    const int64_t n = p->n_kept + 1;
    uint32_t n_record;
    HX_TRY(scratch->take(&b->n_term, p->n_kept));
    {
        hx_cuda_scratch own(w->dev);
        HX_TRY(own.take(&b->weight, n));
        HX_TRY(own.take(&b->n_begin, n));
        const auto weigh = hx_form_components(&b->form) == 3 ? weigh_kernel<3> : weigh_kernel<1>;
        HX_TRY(hx_launch(w->dev, "stored's weigh_kernel", n, weigh, *b));
        HX_TRY(hx_sum_before(w->dev, b->weight, n));
        HX_TRY(hx_launch(w->dev, "stored's begin_kernel", n, begin_kernel, *b));
        HX_TRY(hx_sum_before(w->dev, b->n_begin, n));
        HX_TRY(get(w, &n_record, b->n_begin + p->n_kept));
        p->n_record = n_record;
        HX_TRY(scratch->take(&b->record_first, p->n_record + 1));
        b->p = *p;
        HX_TRY(hx_launch(w->dev, "stored's first_kernel", n, first_kernel, *b));
    }
    return HX_OK;
}

// Allocates the records, and determines where each begins and the size of the largest one.
int measure(worker *w)
{
    hx_cuda_scratch scratch(w->dev);
    building *b = &w->b;
    plan *p = w->p;
    bounds most;
    record_at end;
    const int64_t n = p->n_record + 1;
    HX_TRY(scratch.take(&b->n_list, n));
    HX_TRY(scratch.take(&b->n_word, n));
    HX_TRY(take(w, 3, n, &p->d_at));
    b->p = *p;
    HX_TRY(start_measure(*b, w->stream));
    HX_TRY(get(w, &most, b->most));
    if (most.n_cell > MOST_CELL)
        return HX_RAISE(HX_EENV,
                        "fill 'stored' supports points with at most %d cells; use fill 'gather'",
                        MOST_CELL);
    if (most.n_cell > 256) {
        b->wide = 1;
        HX_TRY(start_measure(*b, w->stream));
        HX_TRY(get(w, &most, b->most));
    }
    p->most_list = most.list;
    p->most_word = most.word;
    p->most_entry = most.n_entry;
    p->most_cell = most.n_cell;
    p->power = most.power == NO_POWER || hx_form_components(&b->form) == 1 ? 0 : most.power;
    HX_TRY(hx_sum_before(w->dev, b->n_list, n));
    HX_TRY(hx_sum_before(w->dev, b->n_word, n));
    HX_TRY(hx_launch(w->dev, "stored's at_kernel", n, at_kernel, *b));
    HX_TRY(get(w, &end, p->d_at + p->n_record));
    HX_TRY(hx_check_fill_bytes(w->dev, HX_FILL_STORED,
                               16 * (static_cast<size_t>(end.list) + end.word)));
    HX_TRY(take(w, 4, 16 * static_cast<int64_t>(end.list), &p->d_list));
    HX_TRY(take(w, 5, 4 * static_cast<int64_t>(end.word), &p->d_word));
    b->p = *p;
    return HX_OK;
}

// The number of terms must fit into 32 bits. A pair of points of a cell gives at most one term.
int check_counts(const worker *w)
{
    const hx_device_pattern *const p = &w->b.pattern;
    const int64_t most = p->n_pair > p->n_entry ? p->n_pair : p->n_entry;
    if (!w->b.in.point_ptr)
        return HX_RAISE(HX_EINTERNAL, "fill 'stored' needs the list of places of each point");
    if (most < UINT32_MAX) return HX_OK;
    return HX_RAISE(
        HX_EENV,
        "fill 'stored': %lld pairs are more than a 32-bit index can count; use fill 'gather'",
        static_cast<long long>(most));
}

} // namespace

int hx_stored::create(plan *p, const hx_cuda_filling *f, int record_bytes)
{
    worker w = {f, f->dev, hx_cuda_of(f->dev)->stream, {}, p};
    hx_cuda_scratch scratch(f->dev), kept(f->dev), records(f->dev);
    w.b.in = f->input.incidence;
    w.b.form = f->input.form;
    w.b.pattern = f->m->pattern;
    w.b.xyz = f->input.d_xyz;
    w.b.record_bytes = record_bytes;
    if (w.b.pattern.n_row == 0) return HX_OK;
    HX_TRY(check_counts(&w));
    HX_TRY(put_rules(&w, &scratch));
    HX_TRY(scratch.take(&w.b.first, w.b.pattern.n_row + 1));
    building *b = &w.b;
    uint32_t n_kept;
    HX_TRY(hx_launch(w.dev, "stored's count_kernel", b->pattern.n_row + 1, count_kernel, *b));
    HX_TRY(hx_sum_before(w.dev, b->first, b->pattern.n_row + 1));
    HX_TRY(get(&w, &n_kept, b->first + b->pattern.n_row));
    w.p->n_kept = n_kept;
    if (p->n_kept == 0) return HX_OK;
    HX_TRY(list_kept(&w, &kept));
    HX_TRY(cut_records(&w, &records));
    const bounds none = {0, 0, 0, 0, NO_POWER};
    HX_TRY(scratch.take(&b->most, 1));
    HX_TRY(w.dev->ops->upload(w.dev, b->most, &none, sizeof none));
    HX_TRY(w.dev->ops->sync(w.dev));
    HX_TRY(scratch.take(&b->root, 9 * b->in.n_cell * b->most_gauss));
    HX_TRY(start_roots(*b, w.stream));
    HX_TRY(measure(&w));
    return start_store(w.b, w.stream);
}

void hx_stored::release(plan *p, hx_device *dev)
{
    for (void *memory : p->d_memory) dev->ops->release(dev, memory);
}
