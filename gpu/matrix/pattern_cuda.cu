// The pattern of neighbours on the GPU by the three stages of P2, or by sorting. The result is
// bitwise that of core/matrix/pattern.c.
#include "../device/scan_cuda.cuh"
#include "core/base/clock.h"
#include "pattern_cuda.cuh"

namespace
{

constexpr int LANES = 8;          // number of lanes that sort the places of a point
constexpr unsigned LONGEST = 512; // maximum number of places of a point for this method

__device__ __forceinline__ int64_t thread_index()
{
    return static_cast<int64_t>(blockIdx.x) * HX_BLOCK + threadIdx.x;
}

__global__ void __launch_bounds__(HX_BLOCK) count_places(hx_incidence in, uint32_t *count)
{
    const int64_t k = thread_index();
    if (k < in.n_place) atomicAdd(&count[in.point[k]], 1u);
}

__global__ void __launch_bounds__(HX_BLOCK)
    fill_places(hx_incidence in, const int64_t *ptr, uint32_t *count, uint32_t *list)
{
    const int64_t k = thread_index();
    if (k >= in.n_place) return;
    const int32_t point = in.point[k];
    list[ptr[point] + atomicSub(&count[point], 1u) - 1] = static_cast<uint32_t>(k);
}

// The rank of a place is the number of smaller places in its list.
__global__ void __launch_bounds__(HX_BLOCK)
    order_places(int64_t n_point, const int64_t *ptr, const uint32_t *deflation, uint32_t *list)
{
    const int64_t a = thread_index() / LANES;
    if (a >= n_point) return;
    const int64_t begin = ptr[a];
    const int n = static_cast<int>(ptr[a + 1] - begin);
    for (int i = threadIdx.x % LANES; i < n; i += LANES) {
        const uint32_t place = deflation[begin + i];
        int rank = 0;
        for (int k = 0; k < n; k++) rank += deflation[begin + k] < place;
        list[begin + rank] = place;
    }
}

__global__ void __launch_bounds__(HX_BLOCK)
    copy_points(hx_incidence in, uint32_t *point, uint32_t *place)
{
    const int64_t k = thread_index();
    if (k >= in.n_place) return;
    point[k] = static_cast<uint32_t>(in.point[k]);
    place[k] = static_cast<uint32_t>(k);
}

// Converts slots of one byte to slots of two bytes.
__global__ void __launch_bounds__(HX_BLOCK)
    widen_slots(int64_t n, const uint8_t *from, uint16_t *to)
{
    const int64_t i = thread_index();
    if (i < n) to[i] = from[i] == HX_NO_SLOT_8 ? HX_NO_SLOT_16 : from[i];
}

// --- lists of the points' places ---

struct list_work {
    uint32_t *count;     // [n_point + 1]
    uint32_t *deflation; // [n_place]
    hx_found *found;
    void *d_scan;
    size_t n_scan;
};

int lay_out_lists(list_work *w, hx_arena *arena, const hx_incidence *in)
{
    *w = {};
    w->count = arena->take<uint32_t>(in->n_point + 1);
    w->deflation = arena->take<uint32_t>(in->n_place);
    w->found = arena->take<hx_found>(1);
    HX_TRY_CUDA(
        hx_queue_offsets<uint32_t>(nullptr, &w->n_scan, nullptr, nullptr, in->n_point, nullptr));
    w->d_scan = arena->take<char>(static_cast<int64_t>(w->n_scan));
    return HX_OK;
}

// Sorts all places by point; the sort is stable.
struct place_sort {
    uint32_t *point[2], *place[2];
    void *d_work;
    size_t n_work;
};

cudaError_t radix_sort(place_sort *w, const hx_incidence *in, void *d_work, cudaStream_t stream)
{
    return hx_queue_sort(d_work, &w->n_work, w->point, w->place, in->n_place,
                         hx_bits_of(in->n_point), stream);
}

int lay_out_place_sort(place_sort *w, hx_arena *arena, const hx_incidence *in)
{
    *w = {};
    for (int i = 0; i < 2; i++) {
        w->point[i] = arena->take<uint32_t>(in->n_place);
        w->place[i] = arena->take<uint32_t>(in->n_place);
    }
    HX_TRY_CUDA(radix_sort(w, in, nullptr, nullptr));
    w->d_work = arena->take<char>(static_cast<int64_t>(w->n_work));
    return HX_OK;
}

int run_place_sort(const hx_building *b, place_sort *w)
{
    const hx_incidence *in = &b->in;
    HX_TRY(
        hx_launch(b->dev, "copy_points", in->n_place, copy_points, *in, w->point[0], w->place[0]));
    HX_TRY_CUDA(radix_sort(w, in, w->d_work, b->stream));
    return HX_CUDA(cudaMemcpyAsync(b->p->d_point_place, w->place[0],
                                   static_cast<size_t>(in->n_place) * sizeof(uint32_t),
                                   cudaMemcpyDeviceToDevice, b->stream));
}

// Builds the lists if a point is in so many cells that comparing all its places would be slow.
int fill_by_sort(const hx_building *b)
{
    hx_arena arena = {};
    place_sort work;
    HX_TRY(lay_out_place_sort(&work, &arena, &b->in));
    HX_TRY(hx_take_memory(b->dev, arena.n_byte, &arena.d_base, "cells of each point"));
    arena.n_byte = 0;
    int rc = lay_out_place_sort(&work, &arena, &b->in);
    if (rc == HX_OK) rc = hx_step_begin(b->clock, "fill");
    if (rc == HX_OK) rc = run_place_sort(b, &work);
    if (rc == HX_OK) rc = hx_step_end(b->clock);
    if (rc == HX_OK) rc = b->dev->ops->sync(b->dev);
    b->dev->ops->release(b->dev, arena.d_base);
    return rc;
}

int fill_by_atomics(const hx_building *b, const list_work *w)
{
    const hx_incidence *in = &b->in;
    const hx_device_pattern *p = b->p;
    HX_TRY(hx_step_begin(b->clock, "fill"));
    HX_TRY(hx_launch(b->dev, "fill_places", in->n_place, fill_places, *in, p->d_point_ptr, w->count,
                     w->deflation));
    HX_TRY(hx_launch(b->dev, "order_places", in->n_point * LANES, order_places, in->n_point,
                     p->d_point_ptr, w->deflation, p->d_point_place));
    return hx_step_end(b->clock);
}

int count_and_scan(const hx_building *b, list_work *w)
{
    const hx_incidence *in = &b->in;
    HX_TRY(hx_step_begin(b->clock, "count"));
    HX_TRY_CUDA(cudaMemsetAsync(w->found, 0, sizeof *w->found, b->stream));
    HX_TRY_CUDA(cudaMemsetAsync(
        w->count, 0, (static_cast<size_t>(in->n_point) + 1) * sizeof *w->count, b->stream));
    if (in->n_place > 0) {
        HX_TRY(hx_launch(b->dev, "count_places", in->n_place, count_places, *in, w->count));
    }
    HX_TRY(hx_step_end(b->clock));
    HX_TRY(hx_step_begin(b->clock, "scan"));
    HX_TRY_CUDA(hx_queue_offsets(w->d_scan, &w->n_scan, w->count, b->p->d_point_ptr, in->n_point,
                                 b->stream));
    HX_TRY(hx_queue_widest(b, in->n_point, b->p->d_point_ptr, &w->found->widest));
    return hx_step_end(b->clock);
}

// Leaves queued work that uses the memory of list_work.
int make_lists(hx_building *b, list_work *w)
{
    hx_incidence *in = &b->in;
    hx_device_pattern *p = b->p;
    unsigned longest;
    HX_TRY(hx_take_memory(b->dev, (static_cast<size_t>(in->n_point) + 1) * sizeof(int64_t),
                          &p->d_point_ptr, "cells of each point"));
    HX_TRY(hx_take_memory(b->dev, static_cast<size_t>(in->n_place) * sizeof(uint32_t),
                          &p->d_point_place, "cells of each point"));
    HX_TRY(count_and_scan(b, w));
    HX_TRY(b->dev->ops->download(b->dev, &longest, &w->found->widest, sizeof longest));
    if (longest > LONGEST)
        HX_TRY(fill_by_sort(b));
    else if (longest > 0)
        HX_TRY(fill_by_atomics(b, w));
    in->point_ptr = p->d_point_ptr;
    in->point_place = p->d_point_place;
    return HX_OK;
}

// --- neighbours, offsets, columns ---

struct row_work {
    hx_row_job job;
    unsigned n_set;    // number of rows that are built as sets
    void *d_byte_slot; // one-byte slots that have been replaced by two-byte slots (owned)
    void *d_scan;
    size_t n_scan;
};

// narrow: there is also memory for the columns of narrow rows.
int lay_out_rows(row_work *w, hx_arena *arena, const hx_building *b, bool narrow)
{
    const int64_t n_row = b->spec.n_row;
    hx_row_job *job = &w->job;
    *w = {};
    job->in = b->in;
    job->row_first = b->spec.row_first;
    job->n_row = n_row;
    job->lower = b->spec.part == HX_PART_LOWER;
    job->slot = static_cast<uint8_t *>(b->p->d_slot);
    job->count = arena->take<int32_t>(n_row + 1);
    job->huge = arena->take<int32_t>(n_row);
    if (narrow) {
        job->narrow = arena->take<int32_t>(HX_NARROW * n_row);
        job->wide = arena->take<int32_t>(n_row);
    }
    job->found = arena->take<hx_found>(1);
    HX_TRY_CUDA(hx_queue_offsets<int32_t>(nullptr, &w->n_scan, nullptr, nullptr, n_row, nullptr));
    w->d_scan = arena->take<char>(static_cast<int64_t>(w->n_scan));
    return HX_OK;
}

int queue_offsets(const hx_building *b, row_work *w)
{
    const hx_device_pattern *p = b->p;
    HX_TRY_CUDA(
        hx_queue_offsets(w->d_scan, &w->n_scan, w->job.count, p->d_row_ptr, p->n_row, b->stream));
    return hx_queue_widest(b, p->n_row, p->d_row_ptr, &w->job.found->widest);
}

// Allocates what depends on the offsets: columns, and two-byte slots in place of one-byte slots.
int take_entries(hx_building *b, row_work *w)
{
    hx_device_pattern *p = b->p;
    HX_TRY(hx_take_memory(b->dev, static_cast<size_t>(p->n_entry) * sizeof *p->d_col, &p->d_col,
                          "columns of a pattern"));
    if (p->slot_bytes == 1) return HX_OK;
    w->d_byte_slot = p->d_slot;
    p->d_slot = nullptr;
    return hx_take_memory(b->dev, static_cast<size_t>(p->n_pair) * 2, &p->d_slot,
                          "slots of a pattern");
}

int queue_entries(const hx_building *b, const row_work *w, const hx_huge_rows *huge)
{
    const hx_device_pattern *p = b->p;
    HX_TRY(hx_step_begin(b->clock, "columns"));
    if (w->d_byte_slot) {
        HX_TRY(hx_launch(b->dev, "widen_slots", p->n_pair, widen_slots, p->n_pair,
                         static_cast<const uint8_t *>(w->d_byte_slot),
                         static_cast<uint16_t *>(p->d_slot)));
    }
    if (huge->n > 0) HX_TRY(hx_place_pairs(b, &huge->pairs, nullptr));
    if (w->n_set > 0) HX_TRY(hx_queue_sets(b, &w->job, w->n_set));
    HX_TRY(hx_queue_columns(b, &w->job));
    return hx_step_end(b->clock);
}

// Wide rows of splines are built as sets if all of them are narrow enough; otherwise, and for other
// cells, by sorting.
int count_huge(const hx_building *b, row_work *w, hx_huge_rows *huge, const hx_found *found)
{
    unsigned n_overflow = 1;
    if (b->in.spline) {
        HX_TRY(hx_step_begin(b->clock, "wide rows"));
        HX_TRY(hx_queue_set_counts(b, &w->job, found->n_huge));
        HX_TRY(b->dev->ops->download(b->dev, &n_overflow, &w->job.found->n_overflow,
                                     sizeof n_overflow));
    }
    if (n_overflow > 0) return hx_huge_rows_count(huge, b, &w->job, found);
    w->n_set = found->n_huge;
    return HX_OK; // the step ends with the offsets
}

int find_rows(hx_building *b, row_work *w, hx_huge_rows *huge)
{
    hx_found found;
    const hx_device_pattern *p = b->p;
    HX_TRY(hx_step_begin(b->clock, "neighbours"));
    HX_TRY_CUDA(cudaMemsetAsync(w->job.found, 0, sizeof *w->job.found, b->stream));
    HX_TRY_CUDA(cudaMemsetAsync(w->job.count + p->n_row, 0, sizeof *w->job.count, b->stream));
    if (p->n_row < p->n_point) // pairs of the rows that are left out
        HX_TRY_CUDA(
            cudaMemsetAsync(p->d_slot, HX_NO_SLOT_8, static_cast<size_t>(p->n_pair), b->stream));
    HX_TRY(hx_queue_rows(b, &w->job));
    HX_TRY(hx_step_end(b->clock));
    HX_TRY(hx_step_begin(b->clock, "offsets"));
    HX_TRY(queue_offsets(b, w));
    HX_TRY(hx_step_end(b->clock));
    HX_TRY(hx_read_offsets(b, w->job.found, &found));
    if (found.n_huge > 0) {
        HX_TRY(count_huge(b, w, huge, &found));
        HX_TRY(queue_offsets(b, w));
        HX_TRY(hx_step_end(b->clock));
        HX_TRY(hx_read_offsets(b, w->job.found, &found));
    }
    HX_TRY(hx_judge_rows(b, found.widest));
    HX_TRY(take_entries(b, w));
    HX_TRY(queue_entries(b, w, huge));
    return b->dev->ops->sync(b->dev);
}

// Number of bytes for the lists, if they are needed, and then, in the same memory, for the rows.
int count_bytes(const hx_building *b, bool narrow, size_t *n_byte)
{
    hx_arena lists = {}, rows = {};
    list_work list;
    row_work row;
    if (!b->in.point_ptr) HX_TRY(lay_out_lists(&list, &lists, &b->in));
    HX_TRY(lay_out_rows(&row, &rows, b, narrow));
    *n_byte = lists.n_byte > rows.n_byte ? lists.n_byte : rows.n_byte;
    return HX_OK;
}

// The kernel for hexahedra needs memory for columns; the kernel for general cells does not.
int take_work_memory(const hx_building *b, bool *narrow, char **d_memory)
{
    size_t n_byte;
    *narrow = hx_takes_hexahedra(&b->in);
    HX_TRY(count_bytes(b, *narrow, &n_byte));
    const int rc = hx_take_memory(b->dev, n_byte, d_memory, "neighbours");
    if (rc != HX_EENV || !*narrow) return rc;
    hx_error_clear();
    *narrow = false;
    HX_TRY(count_bytes(b, *narrow, &n_byte));
    return hx_take_memory(b->dev, n_byte, d_memory, "neighbours");
}

int run_stages(hx_building *b, row_work *rows, hx_huge_rows *huge, bool narrow, char *d_memory)
{
    hx_arena arena = {d_memory, 0};
    list_work lists;
    if (!b->in.point_ptr) {
        HX_TRY(lay_out_lists(&lists, &arena, &b->in));
        HX_TRY(make_lists(b, &lists));
    }
    arena = {d_memory, 0};
    HX_TRY(lay_out_rows(rows, &arena, b, narrow));
    return find_rows(b, rows, huge);
}

int build_in_stages(hx_building *b)
{
    hx_device_pattern *p = b->p;
    row_work rows = {};
    hx_huge_rows huge = {};
    char *d_memory = nullptr;
    bool narrow;
    HX_TRY(
        hx_take_memory(b->dev, static_cast<size_t>(p->n_pair), &p->d_slot, "slots of a pattern"));
    HX_TRY(take_work_memory(b, &narrow, &d_memory));
    const int rc = run_stages(b, &rows, &huge, narrow, d_memory);
    b->dev->ops->release(b->dev, rows.d_byte_slot);
    b->dev->ops->release(b->dev, huge.d_memory);
    b->dev->ops->release(b->dev, d_memory);
    return rc;
}

// --- the complete build ---

int complete_spec(const hx_incidence *in, hx_pattern_spec *spec)
{
    if (spec->n_row == 0) {
        spec->row_first = 0;
        spec->n_row = in->n_point;
    }
    if (in->n_place > UINT32_MAX)
        return HX_RAISE(HX_EENV,
                        "the mesh has %lld corners of cells; a matrix supports at most 2^32",
                        static_cast<long long>(in->n_place));
    if (spec->row_first < 0 || spec->row_first + spec->n_row > in->n_point)
        return HX_RAISE(HX_EINTERNAL, "the pattern has rows beyond the last point");
    return HX_OK;
}

int build(hx_building *b)
{
    const hx_incidence *in = &b->in;
    hx_device_pattern *p = b->p;
    p->part = b->spec.part;
    p->row_first = b->spec.row_first;
    p->n_row = b->spec.n_row;
    p->n_point = in->n_point;
    p->n_pair = in->n_cell * in->n_per_cell * in->n_per_cell;
    if (!in->n_per_cell)
        HX_TRY(
            b->dev->ops->download(b->dev, &p->n_pair, in->pair_ptr + in->n_cell, sizeof p->n_pair));
    HX_TRY(hx_take_memory(b->dev, (static_cast<size_t>(p->n_row) + 1) * sizeof *p->d_row_ptr,
                          &p->d_row_ptr, "rows of a pattern"));
    if (b->spec.build == HX_BUILD_SORT) return hx_build_by_sort(b);
    return build_in_stages(b);
}

// Called when all queued work is done. The rest of the wall-clock time is memory allocation and
// waiting for the device.
int finish_clock(hx_step_clock *clock)
{
    hx_steps *steps = clock->steps;
    if (!steps) return HX_OK;
    double left = hx_clock() - clock->start;
    for (int i = 0; i < clock->n; i++) {
        float milliseconds;
        HX_TRY_CUDA(cudaEventElapsedTime(&milliseconds, clock->begin[i], clock->end[i]));
        steps->step[i] = {clock->name[i], 1e-3 * static_cast<double>(milliseconds)};
        left -= steps->step[i].seconds;
    }
    steps->n = clock->n;
    if (steps->n < HX_MAX_STEP) steps->step[steps->n++] = {"memory", left > 0.0 ? left : 0.0};
    return HX_OK;
}

} // namespace

int hx_cuda_pattern(hx_device *dev, const hx_incidence *d_incidence, const hx_pattern_spec *spec,
                    hx_device_pattern *pattern, hx_steps *steps)
{
    hx_step_clock clock = {};
    hx_building b = {dev, hx_cuda_of(dev)->stream, *d_incidence, *spec, pattern, &clock};
    clock.steps = steps;
    clock.stream = b.stream;
    clock.start = hx_clock();
    *pattern = {};
    if (steps) steps->n = 0;
    int rc = complete_spec(&b.in, &b.spec);
    if (rc == HX_OK) rc = build(&b);
    if (rc == HX_OK) rc = finish_clock(&clock);
    for (int i = 0; i < HX_MAX_STEP; i++) {
        if (clock.begin[i]) cudaEventDestroy(clock.begin[i]);
        if (clock.end[i]) cudaEventDestroy(clock.end[i]);
    }
    if (rc < 0) hx_device_pattern_free(pattern, dev);
    return rc;
}
