// The fills that go cell by cell and add to the rows: `atomic` and `separate` (the same-kernel and
// separate-kernel methods of P2), and `colour`. The sum of an entry is accumulated in the matrix
// itself, so in single precision if values are floats.
#include <cstdlib>
#include <cstring>

#include "core/base/memory.h"
#include "fill_tiles_cuda.cuh"

template <bool ATOMIC>
__device__ __forceinline__ void add_number(const hx_matrix &m, int64_t place, double number)
{
    if (m.spec.single) {
        float *const to = static_cast<float *>(m.d_value) + place;
        if (ATOMIC)
            atomicAdd(to, static_cast<float>(number));
        else
            *to += static_cast<float>(number);
    } else {
        double *const to = static_cast<double *>(m.d_value) + place;
        if (ATOMIC)
            atomicAdd(to, number);
        else
            *to += number;
    }
}

// Adds each number to its place in the matrix.
template <int C, bool ATOMIC> struct adding_sink {
    using spot_type = hx_spot;
    hx_matrix m;
    const int32_t *point;

    __device__ __forceinline__ hx_spot spot(int64_t cell, int pair) const
    {
        return hx_pair_spot(m, point, cell, pair);
    }
    __device__ __forceinline__ void put(int64_t, int, int t, double number,
                                        const hx_spot &spot) const
    {
        const int64_t place = hx_spot_place(m, spot, t / C, t % C);
        if (place >= 0) add_number<ATOMIC>(m, place, number);
    }
};

static int zero_values(const hx_cuda_filling *f)
{
    return f->dev->ops->zero(f->dev, f->m->d_value, hx_value_bytes(*f->m));
}

template <int C, bool ATOMIC>
static int add_cells(const hx_cuda_filling *f, const int32_t *d_list, int64_t first, int64_t n)
{
    const adding_sink<C, ATOMIC> sink = {*f->m, f->input.incidence.point};
    return hx_launch_cells<C>(f->dev, f->input, d_list, first, n, sink);
}

// atomic: one kernel integrates and adds. In place of P2's thread per cell it uses a quarter of a
// warp, whose lanes add to neighbouring numbers.

static int atomic_prepare(hx_cuda_filling *)
{
    return HX_OK;
}

static int atomic_run(hx_cuda_filling *f)
{
    HX_TRY(zero_values(f));
    const int64_t n = f->input.incidence.n_cell;
    return f->m->spec.components == 3 ? add_cells<3, true>(f, nullptr, 0, n)
                                      : add_cells<1, true>(f, nullptr, 0, n);
}

static void atomic_release(hx_cuda_filling *) {}

static size_t atomic_bytes(const hx_cuda_filling *)
{
    return 0;
}

const hx_cuda_fill_kind hx_cuda_fill_atomic = {sizeof(hx_cuda_filling), atomic_prepare, atomic_run,
                                               atomic_release, atomic_bytes};

// separate: element matrices go to memory, interleaved by 32 cells, so that the second kernel, with
// one thread per cell as in P2, reads contiguous data. Uses chunks of cells if not all fit.

struct separate_filling : hx_cuda_filling {
    int64_t chunk;    // number of cells at a time, a multiple of 32
    double *d_number; // [chunk / 32][64 C C][32] (owned)
};

template <int C> __host__ __device__ __forceinline__ int64_t stored_at(int64_t cell, int number)
{
    return (cell / 32 * (64 * C * C) + number) * 32 + cell % 32;
}

template <int C> struct storing_sink {
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
        to[stored_at<C>(cell - first, pair * (C * C) + t)] = number;
    }
};

// One thread per cell.
template <int C>
__global__ void add_stored(const hx_matrix m, const int32_t *point, const double *from,
                           int64_t first, int64_t n)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
#pragma unroll 1
    for (int pair = 0; pair < 64; pair++) {
        const hx_spot spot = hx_pair_spot(m, point, first + i, pair);
        if (spot.first < 0) continue;
#pragma unroll
        for (int t = 0; t < C * C; t++) {
            const int64_t place = hx_spot_place(m, spot, t / C, t % C);
            if (place >= 0) add_number<true>(m, place, from[stored_at<C>(i, pair * (C * C) + t)]);
        }
    }
}

static size_t bytes_per_cell(const hx_matrix *m)
{
    return static_cast<size_t>(64 * m->spec.components * m->spec.components) * sizeof(double);
}

static int separate_prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<separate_filling *>(filling);
    const size_t bytes = bytes_per_cell(f->m);
    f->chunk = hx_cells_at_a_time(f->dev, f->input.incidence.n_cell, bytes);
    return f->dev->ops->alloc(f->dev, static_cast<size_t>(f->chunk) * bytes, &f->d_number);
}

template <int C> static int add_chunk(const separate_filling *f, int64_t first, int64_t n)
{
    const storing_sink<C> sink = {f->d_number, first};
    HX_TRY(hx_launch_cells<C>(f->dev, f->input, nullptr, first, n, sink));
    return hx_launch(f->dev, "add_stored", n, add_stored<C>, *f->m, f->input.incidence.point,
                     f->d_number, first, n);
}

static int separate_run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const separate_filling *>(filling);
    const int64_t n_cell = f->input.incidence.n_cell;
    HX_TRY(zero_values(f));
    for (int64_t first = 0; first < n_cell; first += f->chunk) {
        const int64_t n = n_cell - first < f->chunk ? n_cell - first : f->chunk;
        const int rc =
            f->m->spec.components == 3 ? add_chunk<3>(f, first, n) : add_chunk<1>(f, first, n);
        HX_TRY(rc);
    }
    return HX_OK;
}

static void separate_release(hx_cuda_filling *filling)
{
    auto *const f = static_cast<separate_filling *>(filling);
    f->dev->ops->release(f->dev, f->d_number);
}

static size_t separate_bytes(const hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const separate_filling *>(filling);
    return static_cast<size_t>(f->chunk) * bytes_per_cell(f->m);
}

const hx_cuda_fill_kind hx_cuda_fill_separate = {sizeof(separate_filling), separate_prepare,
                                                 separate_run, separate_release, separate_bytes};

// colour: the kernel of `atomic`, one colour at a time, with plain additions. Cells are coloured in
// the whole mesh, so a range of rows of that mesh has the same sums; a mesh cut out of it may not.

struct colour_filling : hx_cuda_filling {
    int n_colour;
    int64_t *begin;  // [n_colour + 1] first index in the list, on the host (owned)
    int32_t *d_cell; // [n_cell] sorted by colour, ascending within a colour (owned)
};

// Data of the colouring, on the host.
struct colouring {
    const int32_t *point; // [n_cell][8]
    int64_t n_cell, n_point;
    int n_word;      // number of words of each point's set of colours
    uint64_t *taken; // [n_point][n_word] (owned)
    int32_t *colour; // [n_cell] (owned)
    int n_colour;
};

// Doubles the number of colours per point.
static int widen(colouring *c)
{
    const auto n = static_cast<size_t>(c->n_word), n_point = static_cast<size_t>(c->n_point);
    uint64_t *wide;
    HX_TRY(hx_alloc(&wide, n_point * 2 * n, sizeof *wide, "colours of cells"));
    for (size_t a = 0; a < n_point; a++)
        memcpy(wide + 2 * n * a, c->taken + n * a, n * sizeof *wide);
    free(c->taken);
    c->taken = wide;
    c->n_word *= 2;
    return HX_OK;
}

// The lowest colour that none of the points has; n_word * 64 if there is none.
static int free_colour(const colouring *c, const int32_t point[8])
{
    for (int w = 0; w < c->n_word; w++) {
        uint64_t used = 0;
        for (int a = 0; a < 8; a++)
            used |= c->taken[static_cast<size_t>(point[a]) * static_cast<size_t>(c->n_word) +
                             static_cast<size_t>(w)];
        if (used != UINT64_MAX) return 64 * w + __builtin_ctzll(~used);
    }
    return 64 * c->n_word;
}

// Whether a cell names a point twice. Lanes add the tiles of one cell concurrently, so two tiles
// must not belong to one entry.
static bool repeats_point(const int32_t point[8])
{
    for (int a = 1; a < 8; a++)
        for (int b = 0; b < a; b++)
            if (point[a] == point[b]) return true;
    return false;
}

// Greedy colouring in the order of the cells.
static int colour_cells(colouring *c)
{
    c->n_word = 1;
    HX_TRY(
        hx_alloc(&c->taken, static_cast<size_t>(c->n_point), sizeof *c->taken, "colours of cells"));
    HX_TRY(hx_alloc_raw(&c->colour, static_cast<size_t>(c->n_cell), sizeof *c->colour,
                        "colours of cells"));
    for (int64_t e = 0; e < c->n_cell; e++) {
        const int32_t *point = c->point + 8 * e;
        const int colour = free_colour(c, point);
        if (repeats_point(point))
            return HX_RAISE(HX_EINPUT,
                            "fill 'colour' does not support cells that name a point twice");
        if (colour == 64 * c->n_word) HX_TRY(widen(c));
        for (int a = 0; a < 8; a++)
            c->taken[static_cast<size_t>(point[a]) * static_cast<size_t>(c->n_word) +
                     static_cast<size_t>(colour / 64)] |= uint64_t{1} << (colour % 64);
        c->colour[e] = colour;
        if (colour >= c->n_colour) c->n_colour = colour + 1;
    }
    return HX_OK;
}

// Lists the cells by colour, ascending within a colour.
static int list_colours(colour_filling *f, const colouring *c)
{
    const auto n_cell = static_cast<size_t>(c->n_cell), n_colour = static_cast<size_t>(c->n_colour);
    int32_t *list = nullptr;
    int64_t *next = nullptr;
    int rc;
    f->n_colour = c->n_colour;
    HX_TRY_FAIL(hx_alloc(&f->begin, n_colour + 1, sizeof *f->begin, "colours of cells"));
    HX_TRY_FAIL(hx_alloc_raw(&next, n_colour + 1, sizeof *next, "colours of cells"));
    HX_TRY_FAIL(hx_alloc_raw(&list, n_cell, sizeof *list, "colours of cells"));
    for (size_t e = 0; e < n_cell; e++) f->begin[c->colour[e] + 1]++;
    for (size_t i = 0; i < n_colour; i++) f->begin[i + 1] += f->begin[i];
    memcpy(next, f->begin, (n_colour + 1) * sizeof *next);
    for (size_t e = 0; e < n_cell; e++) list[next[c->colour[e]]++] = static_cast<int32_t>(e);
    rc = hx_device_put(f->dev, &f->d_cell, list, n_cell * sizeof *list);
fail:
    free(next);
    free(list);
    return rc;
}

static int colour_prepare(hx_cuda_filling *filling)
{
    auto *const f = static_cast<colour_filling *>(filling);
    const hx_incidence *in = &f->input.incidence;
    const auto n_place = static_cast<size_t>(in->n_place);
    colouring c = {};
    int32_t *point = nullptr;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&point, n_place, sizeof *point, "points of cells"));
    HX_TRY_FAIL(f->dev->ops->download(f->dev, point, in->point, n_place * sizeof *point));
    c.point = point;
    c.n_cell = in->n_cell;
    c.n_point = in->n_point;
    HX_TRY_FAIL(colour_cells(&c));
    rc = list_colours(f, &c);
fail:
    free(point);
    free(c.taken);
    free(c.colour);
    return rc;
}

static int colour_run(hx_cuda_filling *filling)
{
    const auto *const f = static_cast<const colour_filling *>(filling);
    HX_TRY(zero_values(f));
    for (int i = 0; i < f->n_colour; i++) {
        const int64_t first = f->begin[i], n = f->begin[i + 1] - first;
        const int rc = f->m->spec.components == 3 ? add_cells<3, false>(f, f->d_cell, first, n)
                                                  : add_cells<1, false>(f, f->d_cell, first, n);
        HX_TRY(rc);
    }
    return HX_OK;
}

static void colour_release(hx_cuda_filling *filling)
{
    auto *const f = static_cast<colour_filling *>(filling);
    f->dev->ops->release(f->dev, f->d_cell);
    free(f->begin);
}

static size_t colour_bytes(const hx_cuda_filling *filling)
{
    return static_cast<size_t>(filling->input.incidence.n_cell) * sizeof(int32_t);
}

const hx_cuda_fill_kind hx_cuda_fill_colour = {sizeof(colour_filling), colour_prepare, colour_run,
                                               colour_release, colour_bytes};
