// K of one solid spline patch, line by line of cells: each row of K is summed from the buffer of
// the lines' products (spline_lines.cuh).
#include "interaction_cuda.cuh"
#include "spline_lines.cuh"

namespace
{

using namespace hx_spline_lines;

// Grid of blocks: x, y: line of cells, by the second and third direction; z: strips.
template <int ORDER>
__global__ void __launch_bounds__(shape<ORDER>::threads, shape<ORDER>::blocks)
    line_kernel(const __grid_constant__ hx_interaction in, double *buffer, int ring,
                int first_layer)
{
    extern __shared__ __align__(128) double memory[];
    run_line<ORDER>(in, buffer, ring, static_cast<int>(blockIdx.x),
                    first_layer + static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z),
                    memory);
}

// Grid of blocks: x, y, z: control point of the row.
template <int ORDER>
__global__ void __launch_bounds__(shape<ORDER>::row_threads, shape<ORDER>::row_blocks)
    rows_kernel(const __grid_constant__ hx_interaction in, const double *buffer, int ring,
                int first_row, double *value)
{
    extern __shared__ __align__(128) double memory[];
    __shared__ hx_line_row row;
    constexpr int threads = shape<ORDER>::row_threads;
    const int r[3] = {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y),
                      first_row + static_cast<int>(blockIdx.z)};
    const int64_t *const ptr = in.row_ptr + hx_interaction_point(&in, r);
    const int n = static_cast<int>(9 * (ptr[1] - ptr[0]));
    const int n_sum = hx_line_sum_items(&in, ORDER, r);
    double *const to = value + 9 * ptr[0];
    for_items<threads>(hx_line_row_items(ORDER),
                       [&](int item) { hx_line_row_make(&in, ORDER, ring, r, item, &row); });
    for_items<threads>(
        n_sum, [&](int item) { hx_line_sum_lower(&in, ORDER, buffer, &row, r, item, memory); });
    for_items<threads>(n_sum / 3, [&](int item) { hx_line_block(&in, 3, memory + 9 * item); });
    if (hx_line_is_whole(&in, ORDER, r)) { // the numbers are in the order of the row
        for (int t = static_cast<int>(threadIdx.x); t < n; t += threads) __stcs(to + t, memory[t]);
        return;
    }
#pragma unroll 1
    for (int item = static_cast<int>(threadIdx.x); item < 3 * n_sum; item += threads) {
        const int at = hx_line_in_row(&in, ORDER, r, 0, n, item);
        if (at >= 0) __stcs(to + at, memory[item]);
    }
}

// Layers of lines of cells in the third direction: the number that the buffer holds (ring), and the
// number computed at a time (step).
struct buffer_layers {
    size_t bytes; // size of one layer
    int ring, step;
};

buffer_layers choose_layers(const hx_interaction *host, int order, size_t budget)
{
    const hx_interaction_axis *const axis = host->axis;
    buffer_layers l = {};
    l.bytes = static_cast<size_t>(axis[1].n_cell) * static_cast<size_t>(axis[0].n) *
              static_cast<size_t>(hx_line_part(order)) * sizeof(double);
    const size_t most = budget / l.bytes;
    l.ring = most < static_cast<size_t>(axis[2].n_cell) ? static_cast<int>(most) : axis[2].n_cell;
    if (l.ring < order) l.ring = order;
    while (l.ring > order && l.bytes / sizeof(double) * static_cast<size_t>(l.ring) > INT32_MAX)
        l.ring--; // indices must fit into 31 bits
    l.step = l.ring < axis[2].n_cell ? l.ring - order + 1 : axis[2].n_cell;
    return l;
}

// Computes the layers first .. end - 1, then the rows from *row on that they complete.
template <int ORDER>
int run_layers(const hx_cuda_patch *p, int ring, double *d_buffer, int first, int end, int *row)
{
    using S = shape<ORDER>;
    const hx_interaction_axis *const axis = p->host->axis;
    const size_t bytes = static_cast<size_t>(hx_line_size(ORDER, S::layers)) * sizeof(double);
    const size_t row_bytes = static_cast<size_t>(hx_line_most(ORDER)) * sizeof(double);
    const cudaStream_t stream = hx_cuda_of(p->dev)->stream;
    const dim3 lines(static_cast<unsigned>(axis[1].n_cell), static_cast<unsigned>(end - first),
                     static_cast<unsigned>(S::parts));
    line_kernel<ORDER><<<lines, S::threads, bytes, stream>>>(p->in, d_buffer, ring, first);
    HX_TRY_LAUNCH("lines of a patch");
    int row_end = *row;
    while (row_end < axis[2].n && axis[2].cells[2 * row_end + 1] <= end) row_end++;
    if (row_end == *row) return HX_OK;
    const dim3 rows(static_cast<unsigned>(axis[0].n), static_cast<unsigned>(axis[1].n),
                    static_cast<unsigned>(row_end - *row));
    rows_kernel<ORDER>
        <<<rows, S::row_threads, row_bytes, stream>>>(p->in, d_buffer, ring, *row, p->d_value);
    HX_TRY_LAUNCH("rows of a patch");
    *row = row_end;
    return HX_OK;
}

template <int ORDER> int run_all(const hx_cuda_patch *p, const buffer_layers *l, double *d_buffer)
{
    const int n = p->host->axis[2].n_cell;
    int row = 0;
    HX_TRY(p->dev->ops->mark(p->dev, 0));
    for (int first = 0; first < n; first += l->step) {
        const int end = n - first < l->step ? n : first + l->step;
        HX_TRY(run_layers<ORDER>(p, l->ring, d_buffer, first, end, &row));
    }
    return p->dev->ops->mark(p->dev, 1);
}

template <int ORDER> int run_lines(const hx_cuda_patch *p, size_t budget, hx_interaction_time *time)
{
    const int bytes = hx_line_size(ORDER, shape<ORDER>::layers) * static_cast<int>(sizeof(double));
    const buffer_layers l = choose_layers(p->host, ORDER, budget);
    double *d_buffer = nullptr;
    HX_TRY(check_shared(static_cast<size_t>(bytes)));
    HX_TRY_CUDA(cudaFuncSetAttribute(line_kernel<ORDER>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    int rc = p->dev->ops->alloc(p->dev, l.bytes * static_cast<size_t>(l.ring), &d_buffer);
    if (rc == HX_OK) rc = run_all<ORDER>(p, &l, d_buffer);
    if (rc == HX_OK) rc = hx_cuda_patch_elapsed(p, 0, 1, &time->pairs);
    p->dev->ops->release(p->dev, d_buffer);
    return rc;
}

} // namespace

int hx_cuda_patch_gather(const hx_cuda_patch *p, size_t budget, hx_interaction_time *time)
{
    const hx_interaction_axis *const axis = p->host->axis;
    const int degree = axis[0].degree;
    if (p->host->dim != 3 || axis[1].degree != degree || axis[2].degree != degree)
        return HX_RAISE(HX_EINPUT,
                        "fill 'gather' on a GPU needs solid patches with equal degrees in all "
                        "directions, not %d, %d, %d; elevate the degrees (mesh.degree)",
                        degree, axis[1].degree, axis[2].degree);
    if (axis[1].n > 65535 || axis[2].n > 65535)
        return HX_RAISE(HX_EINPUT, "a patch has more than 65535 control points in one direction");
    switch (degree) {
    case 1:
        return run_lines<2>(p, budget, time);
    case 2:
        return run_lines<3>(p, budget, time);
    case 3:
        return run_lines<4>(p, budget, time);
    default:
        return run_lines<5>(p, budget, time);
    }
}
