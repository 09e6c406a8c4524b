// Patterns by sorting (P4): a key of row and column for each pair, sorted together with the pair's
// index; equal keys are one entry. For all pairs, or for those at points with very many cells.
#include <cinttypes>

#include "../device/scan_cuda.cuh"
#include "pattern_cuda.cuh"

namespace
{

cudaError_t radix_sort(hx_sorted_pairs *s, void *d_work, size_t *n_work, cudaStream_t stream)
{
    const cudaError_t status =
        hx_queue_sort(d_work, n_work, s->key, s->order, static_cast<uint32_t>(s->n),
                      s->bits + hx_bits_of(s->n_row), stream);
    if (d_work) s->entry = reinterpret_cast<uint32_t *>(s->key[1]);
    return status;
}

cudaError_t number(const hx_sorted_pairs *s, void *d_work, size_t *n_work, cudaStream_t stream)
{
    return hx_queue_entry_numbers(d_work, n_work, s->key[0],
                                  static_cast<uint64_t>(s->n_row) << s->bits, s->entry,
                                  static_cast<int>(s->n), stream);
}

// A row begins at the first key of that row or of a later one; thread n sets the ends of the last
// rows.
__global__ void __launch_bounds__(HX_BLOCK) find_row_begins(hx_sorted_pairs s)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * HX_BLOCK + threadIdx.x;
    if (i > s.n) return;
    const int64_t before = i > 0 ? static_cast<int64_t>(s.key[0][i - 1] >> s.bits) : -1;
    const int64_t row = i < s.n ? static_cast<int64_t>(s.key[0][i] >> s.bits) : s.n_row;
    if (row == before) return;
    const int64_t entry = i > 0 ? s.entry[i - 1] : 0;
    for (int64_t r = before + 1; r <= row; r++) s.row_ptr[r] = entry;
}

__global__ void __launch_bounds__(HX_BLOCK)
    place_pairs(hx_sorted_pairs s, void *slot, int slot_bytes, int32_t *col)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * HX_BLOCK + threadIdx.x;
    if (i >= s.n) return;
    const uint64_t key = s.key[0][i];
    const int64_t row = static_cast<int64_t>(key >> s.bits);
    const int64_t pair = s.pair ? s.pair[s.order[0][i]] : s.order[0][i];
    int64_t k = 0xffff; // "no slot", whether slots have 8 or 16 bits
    if (row < s.n_row) {
        const int64_t entry = static_cast<int64_t>(s.entry[i]) - 1;
        k = entry - s.row_ptr[row];
        if (col && (i == 0 || s.key[0][i - 1] != key))
            col[entry] = static_cast<int32_t>(key & ((static_cast<uint64_t>(1) << s.bits) - 1));
    }
    if (slot_bytes == 1)
        static_cast<uint8_t *>(slot)[pair] = static_cast<uint8_t>(k);
    else
        static_cast<uint16_t *>(slot)[pair] = static_cast<uint16_t>(k);
}

// Makes keys from points.
struct key_rule {
    int64_t row_first, n_row;
    int lower, bits;
    __device__ uint64_t operator()(int32_t a, int32_t b) const
    {
        const int64_t row = a - row_first;
        const bool has = row >= 0 && row < n_row && hx_has_entry(lower, a, b);
        return has ? static_cast<uint64_t>(row) << bits | static_cast<uint64_t>(b)
                   : static_cast<uint64_t>(n_row) << bits;
    }
};

// One thread per pair, for cells with N points, or with in.n_per_cell points if N = 0.
template <int N>
__global__ void __launch_bounds__(HX_BLOCK)
    make_keys(hx_incidence in, key_rule rule, uint32_t n_pair, uint64_t *key, uint32_t *order)
{
    const uint32_t i = blockIdx.x * HX_BLOCK + threadIdx.x;
    if (i >= n_pair) return;
    const uint32_t n = N > 0 ? N : static_cast<uint32_t>(in.n_per_cell), place = i / n;
    const uint32_t b = i - place * n, first = place / n * n;
    key[i] = rule(in.point[place], in.point[first + b]);
    order[i] = i;
}

// One thread per place, for cells with any number of points.
__global__ void __launch_bounds__(HX_BLOCK)
    make_keys_of_places(hx_incidence in, key_rule rule, uint64_t *key, uint32_t *order)
{
    const int64_t place = static_cast<int64_t>(blockIdx.x) * HX_BLOCK + threadIdx.x;
    if (place >= in.n_place) return;
    const int64_t cell = hx_incidence_cell(&in, place), first = hx_incidence_first(&in, cell);
    const int n = hx_incidence_count(&in, cell);
    const int64_t pair = hx_incidence_pair(&in, cell) + (place - first) * n;
    for (int b = 0; b < n; b++) {
        key[pair + b] = rule(in.point[place], in.point[first + b]);
        order[pair + b] = static_cast<uint32_t>(pair + b);
    }
}

int queue_keys(const hx_building *b, const hx_sorted_pairs *s)
{
    const hx_incidence *in = &b->in;
    const key_rule rule = {b->spec.row_first, s->n_row, b->spec.part == HX_PART_LOWER, s->bits};
    const uint32_t n_pair = static_cast<uint32_t>(s->n);
    const unsigned n_block = hx_blocks(s->n, HX_BLOCK);
    if (s->n == 0) return HX_OK;
    if (in->n_per_cell == 8)
        make_keys<8>
            <<<n_block, HX_BLOCK, 0, b->stream>>>(*in, rule, n_pair, s->key[0], s->order[0]);
    else if (in->n_per_cell)
        make_keys<0>
            <<<n_block, HX_BLOCK, 0, b->stream>>>(*in, rule, n_pair, s->key[0], s->order[0]);
    else
        make_keys_of_places<<<hx_blocks(in->n_place, HX_BLOCK), HX_BLOCK, 0, b->stream>>>(
            *in, rule, s->key[0], s->order[0]);
    return HX_LAUNCHED("make_keys");
}

int build(hx_building *b, hx_sorted_pairs *s, hx_found *d_found)
{
    hx_device_pattern *p = b->p;
    hx_found found;
    s->row_ptr = p->d_row_ptr;
    HX_TRY(hx_step_begin(b->clock, "keys"));
    HX_TRY_CUDA(cudaMemsetAsync(d_found, 0, sizeof *d_found, b->stream));
    HX_TRY(queue_keys(b, s));
    HX_TRY(hx_step_end(b->clock));
    HX_TRY(hx_step_begin(b->clock, "sort"));
    HX_TRY(hx_sort_pairs(b, s));
    HX_TRY(hx_step_end(b->clock));
    HX_TRY(hx_step_begin(b->clock, "offsets"));
    HX_TRY(hx_number_entries(b, s));
    HX_TRY(hx_queue_widest(b, p->n_row, p->d_row_ptr, &d_found->widest));
    HX_TRY(hx_step_end(b->clock));
    HX_TRY(hx_read_offsets(b, d_found, &found));
    HX_TRY(hx_judge_rows(b, found.widest));
    HX_TRY(hx_take_memory(b->dev, static_cast<size_t>(p->n_pair) * p->slot_bytes, &p->d_slot,
                          "slots of a pattern"));
    HX_TRY(hx_take_memory(b->dev, static_cast<size_t>(p->n_entry) * sizeof *p->d_col, &p->d_col,
                          "columns of a pattern"));
    HX_TRY(hx_step_begin(b->clock, "slots"));
    HX_TRY(hx_place_pairs(b, s, p->d_col));
    HX_TRY(hx_step_end(b->clock));
    return HX_CUDA(cudaStreamSynchronize(b->stream));
}

// One block per row, one thread per place. The order of a row's candidates does not matter.
__global__ void __launch_bounds__(HX_BLOCK)
    make_huge_keys(hx_row_job job, const int32_t *list, hx_sorted_pairs s, int64_t *pairs)
{
    const int64_t r = list[blockIdx.x], row = job.row_first + r;
    const uint64_t this_row = static_cast<uint64_t>(blockIdx.x) << s.bits;
    const uint64_t none = static_cast<uint64_t>(s.n_row) << s.bits;
    const int64_t end = job.in.point_ptr[row + 1];
    for (int64_t k = job.in.point_ptr[row] + threadIdx.x; k < end; k += HX_BLOCK) {
        const uint32_t place = job.in.point_place[k];
        const int64_t cell = hx_cell_of(job.in, place), first = hx_incidence_first(&job.in, cell);
        const int n = hx_incidence_count(&job.in, cell);
        const int64_t pair = hx_incidence_pair(&job.in, cell) + (place - first) * n;
        const uint32_t to = atomicAdd(&job.found->n_taken, static_cast<unsigned>(n));
        for (int b = 0; b < n; b++) {
            const int32_t col = job.in.point[first + b];
            s.key[0][to + b] =
                hx_has_entry(job.lower, row, col) ? this_row | static_cast<uint64_t>(col) : none;
            s.order[0][to + b] = to + b;
            pairs[to + b] = pair + b;
        }
    }
}

__global__ void __launch_bounds__(HX_BLOCK)
    copy_huge_counts(const int32_t *list, int64_t n, const int64_t *row_ptr, int32_t *count)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * HX_BLOCK + threadIdx.x;
    if (i < n) count[list[i]] = static_cast<int32_t>(row_ptr[i + 1] - row_ptr[i]);
}

int64_t *lay_out_huge(hx_huge_rows *huge, hx_arena *arena, int64_t n_candidate, int64_t n_point,
                      int *rc)
{
    *rc = hx_sorted_pairs_lay_out(&huge->pairs, arena, n_candidate, huge->n, n_point);
    huge->pairs.row_ptr = arena->take<int64_t>(huge->n + 1);
    return arena->take<int64_t>(n_candidate);
}

} // namespace

int hx_sorted_pairs_lay_out(hx_sorted_pairs *s, hx_arena *arena, int64_t n, int64_t n_row,
                            int64_t n_point)
{
    size_t n_sort = 0, n_scan = 0;
    *s = {};
    s->n = n;
    s->n_row = n_row;
    s->bits = hx_bits_of(n_point);
    for (int i = 0; i < 2; i++) {
        s->key[i] = arena->take<uint64_t>(n);
        s->order[i] = arena->take<uint32_t>(n);
    }
    HX_TRY_CUDA(radix_sort(s, nullptr, &n_sort, nullptr));
    HX_TRY_CUDA(number(s, nullptr, &n_scan, nullptr));
    s->n_work = n_sort > n_scan ? n_sort : n_scan;
    s->d_work = arena->take<char>(static_cast<int64_t>(s->n_work));
    return HX_OK;
}

int hx_sort_pairs(const hx_building *b, hx_sorted_pairs *s)
{
    return HX_CUDA(radix_sort(s, s->d_work, &s->n_work, b->stream));
}

int hx_number_entries(const hx_building *b, const hx_sorted_pairs *s)
{
    size_t n_work = s->n_work;
    if (s->n > 0) HX_TRY_CUDA(number(s, s->d_work, &n_work, b->stream));
    return hx_launch(b->dev, "find_row_begins", s->n + 1, find_row_begins, *s);
}

int hx_place_pairs(const hx_building *b, const hx_sorted_pairs *s, int32_t *d_col)
{
    return hx_launch(b->dev, "place_pairs", s->n, place_pairs, *s, b->p->d_slot, b->p->slot_bytes,
                     d_col);
}

int hx_build_by_sort(hx_building *b)
{
    const int64_t n_pair = b->p->n_pair;
    hx_sorted_pairs pairs;
    hx_arena arena = {};
    if (n_pair > INT32_MAX)
        return HX_RAISE(HX_EENV,
                        "building by sort: %" PRId64
                        " pairs are more than a 31-bit index can count; use three-stage",
                        n_pair);
    HX_TRY(hx_sorted_pairs_lay_out(&pairs, &arena, n_pair, b->spec.n_row, b->in.n_point));
    arena.take<hx_found>(1);
    HX_TRY(hx_take_memory(b->dev, arena.n_byte, &arena.d_base, "sorting the pairs of a pattern"));
    arena.n_byte = 0;
    int rc = hx_sorted_pairs_lay_out(&pairs, &arena, n_pair, b->spec.n_row, b->in.n_point);
    if (rc == HX_OK) rc = build(b, &pairs, arena.take<hx_found>(1));
    b->dev->ops->release(b->dev, arena.d_base);
    return rc;
}

int hx_huge_rows_count(hx_huge_rows *huge, const hx_building *b, const hx_row_job *job,
                       const hx_found *found)
{
    const int64_t n = static_cast<int64_t>(found->n_candidate);
    hx_arena arena = {};
    int rc;
    if (found->n_candidate > INT32_MAX)
        return HX_RAISE(
            HX_EENV,
            "%" PRId64 " pairs at nodes with many cells are more than a 31-bit index can count", n);
    huge->n = found->n_huge;
    huge->d_row = job->huge;
    lay_out_huge(huge, &arena, n, b->in.n_point, &rc);
    HX_TRY(rc);
    HX_TRY(hx_take_memory(b->dev, arena.n_byte, &huge->d_memory, "nodes of many cells"));
    arena = {huge->d_memory, 0};
    int64_t *const d_pair = lay_out_huge(huge, &arena, n, b->in.n_point, &rc);
    HX_TRY(rc);
    huge->pairs.pair = d_pair;
    HX_TRY(hx_step_begin(b->clock, "wide rows"));
    make_huge_keys<<<found->n_huge, HX_BLOCK, 0, b->stream>>>(*job, huge->d_row, huge->pairs,
                                                              d_pair);
    HX_TRY_LAUNCH("make_huge_keys");
    HX_TRY(hx_sort_pairs(b, &huge->pairs));
    HX_TRY(hx_number_entries(b, &huge->pairs));
    return hx_launch(b->dev, "copy_huge_counts", huge->n, copy_huge_counts, huge->d_row, huge->n,
                     huge->pairs.row_ptr, job->count); // the step ends with the offsets
}
