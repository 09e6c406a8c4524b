// The plan of the fill `gather` for tetrahedra: their four points, windows of rows over these, and
// the terms of each entry, with one thread block per window and one warp per row.

#include "../device/scan_cuda.cuh"
#include "fill_tetra_cuda.cuh"

namespace
{

using namespace hx_tetra_fill;

constexpr int WARP = 32;
constexpr int BLOCK = 256;
constexpr int TURN = WARP / 4; // number of cells of a row at a time

__global__ void points_kernel(hx_incidence in, int32_t *point)
{
    const int64_t cell = hx_grid_thread();
    int corner[8];
    if (cell >= in.n_cell) return;
    const int32_t *const conn = in.point + 8 * cell;
    hx_cell_distinct(conn, corner);
    for (int a = 0; a < 4; a++) point[4 * cell + a] = conn[corner[a]];
}

// Lists the cells of each point, once each. FILL: writes their places, numbered with 4 per cell,
// from ptr on; otherwise counts them.
template <bool FILL>
__global__ void places_kernel(hx_incidence in, const int32_t *point, int64_t *ptr, uint32_t *place)
{
    const int64_t p = hx_grid_thread();
    if (p > in.n_point) return;
    int64_t n = 0, before = -1;
    const int64_t begin = p < in.n_point ? in.point_ptr[p] : 0;
    const int64_t end = p < in.n_point ? in.point_ptr[p + 1] : 0;
    for (int64_t k = begin; k < end; k++) {
        const int64_t cell = in.point_place[k] / 8;
        if (cell == before) continue;
        before = cell;
        if (FILL) {
            int a = 0;
            while (point[4 * cell + a] != p) a++;
            place[ptr[p] + n] = static_cast<uint32_t>(4 * cell + a);
        }
        n++;
    }
    if (!FILL) ptr[p] = n;
}

// A window while it is processed.
struct window {
    const int32_t *row;
    int n_row, n_visit;
    const int32_t *cell; // [n_visit] ascending
    int64_t first_term;
};

__device__ __forceinline__ int find_visit(const window &w, int32_t cell)
{
    int low = 0, high = w.n_visit - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (w.cell[middle] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Calls visit(slot, place, b), by a warp, for each pair of a row's cell with one of its corners
// that is an entry. Successive calls visit cells in ascending order.
template <class Visit>
__device__ __forceinline__ void visit_pairs(const hx_incidence &in, const hx_device_pattern &p,
                                            int64_t row, const uint8_t *first_corner, Visit visit)
{
    const int lane = static_cast<int>(threadIdx.x % WARP), b = lane % 4;
    const int64_t *const ptr = in.point_ptr + p.row_first + row;
    for (int64_t k = ptr[0]; k < ptr[1]; k += TURN) {
        const int64_t at = k + lane / 4;
        int slot = -1;
        uint32_t place = 0;
        if (at < ptr[1]) {
            place = in.point_place[at];
            const int64_t cell = place / 4;
            const int a8 = first_corner[4 * cell + place % 4], b8 = first_corner[4 * cell + b];
            slot = hx_slot_at(p.d_slot, p.slot_bytes, 64 * cell + 8 * a8 + b8);
        }
        for (int turn = 0; turn < TURN; turn++) {
            if (lane / 4 == turn && slot >= 0) visit(slot, place, b);
            __syncwarp();
        }
    }
}

// in: with 4 points per cell.
__global__ void __launch_bounds__(BLOCK)
    terms_kernel(hx_incidence in, hx_device_pattern pattern, const uint8_t *first_corner, plan p)
{
    __shared__ int next[CAPACITY], end[CAPACITY], begin[CAPACITY / hx_dist_meshs::LEAST_WEIGHT + 2];
    const hx_dist_meshs::plan &all = p.windows;
    const int t = static_cast<int>(threadIdx.x), lane = t % WARP, warp = t / WARP;
    const uint32_t visit = all.d_visit[blockIdx.x];
    const int32_t first_row = all.d_window_row[blockIdx.x];
    const window w = {all.d_row + first_row, all.d_window_row[blockIdx.x + 1] - first_row,
                      static_cast<int>(all.d_visit[blockIdx.x + 1] - visit), all.d_cell + visit,
                      4 * static_cast<int64_t>(all.d_first_own[visit])};
    for (int e = t; e < CAPACITY; e += BLOCK) next[e] = 0;
    if (t == 0) {
        begin[0] = 0;
        for (int r = 0; r < w.n_row; r++) {
            const int64_t *const ptr = pattern.d_row_ptr + w.row[r];
            begin[r + 1] = begin[r] + static_cast<int>(ptr[1] - ptr[0]);
        }
    }
    __syncthreads();
    for (int r = warp; r < w.n_row; r += BLOCK / WARP)
        visit_pairs(in, pattern, w.row[r], first_corner,
                    [&](int slot, uint32_t, int) { next[begin[r] + slot]++; });
    __syncthreads();
    if (t == 0)
        for (int e = 0, before = 0; e < begin[w.n_row]; e++) {
            const int n = next[e];
            next[e] = before;
            before += n;
            end[e] = before;
        }
    __syncthreads();
    for (int r = warp; r < w.n_row; r += BLOCK / WARP)
        for (int e = begin[r] + lane; e < begin[r + 1]; e += WARP)
            p.d_begin[pattern.d_row_ptr[w.row[r]] + e - begin[r]] = static_cast<uint16_t>(next[e]);
    __syncthreads();
    for (int r = warp; r < w.n_row; r += BLOCK / WARP)
        visit_pairs(in, pattern, w.row[r], first_corner, [&](int slot, uint32_t place, int b) {
            const int e = begin[r] + slot, at = next[e]++;
            const int cell = find_visit(w, static_cast<int32_t>(place / 4));
            p.d_term[w.first_term + at] =
                make_term(cell, static_cast<int>(place % 4), b, at + 1 == end[e]);
        });
}

// The first corner that names each of the four points.
__global__ void corners_kernel(hx_incidence in, uint8_t *first_corner)
{
    const int64_t cell = hx_grid_thread();
    int corner[8];
    if (cell >= in.n_cell) return;
    hx_cell_distinct(in.point + 8 * cell, corner);
    for (int a = 0; a < 4; a++) first_corner[4 * cell + a] = static_cast<uint8_t>(corner[a]);
}

int take(plan *p, hx_device *dev, size_t bytes, void *d_out)
{
    p->bytes += bytes;
    return dev->ops->alloc(dev, bytes, d_out);
}

// Lists the cells of each point, once each, in *four.
int list_places(hx_cuda_scratch *scratch, const hx_incidence *in, hx_incidence *four)
{
    hx_device *dev = scratch->dev;
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    const unsigned n_block = hx_blocks(in->n_point + 1, BLOCK);
    int64_t *d_ptr;
    uint32_t *d_place;
    HX_TRY(scratch->take(&d_ptr, in->n_point + 1));
    HX_TRY(scratch->take(&d_place, 4 * in->n_cell));
    places_kernel<false><<<n_block, BLOCK, 0, stream>>>(*in, four->point, d_ptr, d_place);
    HX_TRY_LAUNCH("places_kernel");
    HX_TRY(hx_sum_before(dev, d_ptr, in->n_point + 1));
    places_kernel<true><<<n_block, BLOCK, 0, stream>>>(*in, four->point, d_ptr, d_place);
    HX_TRY_LAUNCH("places_kernel");
    four->point_ptr = d_ptr;
    four->point_place = d_place;
    return HX_OK;
}

} // namespace

int hx_tetra_fill::create_plan(plan *p, hx_device *dev, const hx_device_pattern *pattern,
                               const hx_incidence *in)
{
    hx_cuda_scratch scratch(dev);
    const cudaStream_t stream = hx_cuda_of(dev)->stream;
    const auto n_cell = static_cast<size_t>(in->n_cell);
    const unsigned n_block = hx_blocks(in->n_cell, BLOCK);
    uint8_t *d_corner;
    hx_incidence four = {};
    HX_TRY(take(p, dev, 4 * n_cell * sizeof *p->d_point, &p->d_point));
    points_kernel<<<n_block, BLOCK, 0, stream>>>(*in, p->d_point);
    HX_TRY_LAUNCH("points_kernel");
    HX_TRY(scratch.take(&d_corner, 4 * in->n_cell));
    corners_kernel<<<n_block, BLOCK, 0, stream>>>(*in, d_corner);
    HX_TRY_LAUNCH("corners_kernel");
    four.n_cell = in->n_cell;
    four.n_point = in->n_point;
    four.n_place = 4 * in->n_cell;
    four.n_per_cell = 4;
    four.point = p->d_point;
    HX_TRY(list_places(&scratch, in, &four));
    HX_TRY(hx_dist_meshs::create(&p->windows, dev, pattern, &four, CAPACITY));
    p->bytes += p->windows.bytes;
    if (p->windows.n_window == 0) return HX_OK;
    HX_TRY(take(p, dev, 4 * static_cast<size_t>(p->windows.n_own) * sizeof *p->d_term, &p->d_term));
    HX_TRY(take(p, dev, static_cast<size_t>(pattern->n_entry) * sizeof *p->d_begin, &p->d_begin));
    terms_kernel<<<static_cast<unsigned>(p->windows.n_window), BLOCK, 0, stream>>>(four, *pattern,
                                                                                   d_corner, *p);
    HX_TRY_LAUNCH("terms_kernel");
    return dev->ops->sync(dev);
}

void hx_tetra_fill::free_plan(plan *p, hx_device *dev)
{
    hx_dist_meshs::release(&p->windows, dev);
    dev->ops->release(dev, p->d_point);
    dev->ops->release(dev, p->d_term);
    dev->ops->release(dev, p->d_begin);
}

// An entry is a point, or one of a cell's twelve pairs.
size_t hx_tetra_fill::expected(const hx_incidence *in)
{
    const auto n_cell = static_cast<size_t>(in->n_cell), n_point = static_cast<size_t>(in->n_point);
    hx_incidence four = *in;
    four.n_place = 4 * in->n_cell;
    return hx_dist_meshs::expected(&four) + n_cell * (4 * sizeof(int32_t) + 16 * sizeof(uint16_t)) +
           (12 * n_cell + n_point) * sizeof(uint16_t);
}
