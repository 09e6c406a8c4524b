// The interaction method of P5 on the GPU, as published. Phase 1, one block per cell and one thread
// per Gauss point: gradients of the cell's control points, from values and slopes of each direction
// in shared memory. They are stored Gauss point by Gauss point. For the coalesced variant, those of
// each cell are transposed in place; the array is square because a cell has as many Gauss points as
// control points. Phase 2, one block per pair of control points: threads loop over the Gauss points
// of the cells that the pair shares, with sums in registers, followed by a tree reduction. The
// block of a pair is written once.
//
// The patch is processed slab by slab of the last direction, so that the gradients fit into the
// memory that the caller allows.
#include "interaction_cuda.cuh"

namespace
{

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffffu;
constexpr int PAIR_THREADS = 64;
constexpr int TURN_THREADS = 128;

// Gradients of the cells of a slab: [cell][dim][n][n], by the Gauss points and control points of a
// cell; the control points are fastest unless `turned`.
struct stored {
    double *h;
    int n, first_cell; // n: control points of a cell; first_cell: the slab's first layer of cells
    int64_t layer;     // number of cells of a layer
    bool turned;
};

__device__ __forceinline__ void cell_of(const hx_interaction &in, int64_t cell, int (&c)[3])
{
    c[0] = static_cast<int>(cell % in.axis[0].n_cell);
    c[1] = static_cast<int>(cell / in.axis[0].n_cell % in.axis[1].n_cell);
    c[2] = static_cast<int>(cell / in.axis[0].n_cell / in.axis[1].n_cell);
}

__global__ void gradients_kernel(const __grid_constant__ hx_interaction in, const stored s)
{
    __shared__ double table[3][HX_SPLINE_MAX_ORDER * (1 + 2 * HX_SPLINE_MAX_ORDER)];
    int c[3];
    const int64_t cell = static_cast<int64_t>(blockIdx.x) + s.layer * s.first_cell;
    cell_of(in, cell, c);
    for (int d = 0; d < 3; d++) {
        const int order = in.axis[d].degree + 1, size = order * hx_spline_stride(order - 1);
        for (int t = static_cast<int>(threadIdx.x); t < size; t += static_cast<int>(blockDim.x))
            table[d][t] = in.axis[d].table[c[d] * size + t];
    }
    __syncthreads();
    const int q = static_cast<int>(threadIdx.x);
    if (q >= s.n) return;
    const int degree[3] = {in.axis[0].degree, in.axis[1].degree, in.axis[2].degree};
    const int g[3] = {q % (degree[0] + 1), q / (degree[0] + 1) % (degree[1] + 1),
                      q / (degree[0] + 1) / (degree[1] + 1)};
    const double *t[3];
    double frame[4][3];
    for (int d = 0; d < 3; d++) t[d] = table[d] + g[d] * hx_spline_stride(degree[d]);
    hx_interaction_frame_at(&in, c, g, frame);
    double *to = s.h + (static_cast<int64_t>(blockIdx.x) * in.dim * s.n + q) * s.n;
    int a[3];
    for (a[2] = 0; a[2] <= degree[2]; a[2]++)
        for (a[1] = 0; a[1] <= degree[1]; a[1]++)
            for (a[0] = 0; a[0] <= degree[0]; a[0]++, to++) {
                const int r[3] = {in.axis[0].first[c[0]] + a[0], in.axis[1].first[c[1]] + a[1],
                                  in.axis[2].first[c[2]] + a[2]};
                double h[3];
                hx_interaction_gradient(t, degree, a,
                                        in.point[4 * hx_interaction_point(&in, r) + 3], frame, h);
                for (int i = 0; i < in.dim; i++) to[i * s.n * s.n] = h[i];
            }
}

// Transposes the squares of the cells, one block per square.
__global__ void turn_kernel(double *h, int n)
{
    double *const own = h + static_cast<int64_t>(blockIdx.x) * n * n;
    for (int t = static_cast<int>(threadIdx.x); t < n * n; t += static_cast<int>(blockDim.x)) {
        const int row = t / n, column = t % n;
        if (column >= row) continue;
        const double v = own[t];
        own[t] = own[column * n + row];
        own[column * n + row] = v;
    }
}

// Sums over the block's threads in a fixed order; thread 0 has the result.
__device__ __forceinline__ void add_up(double (&m)[3][3])
{
    __shared__ double part[PAIR_THREADS / WARP][9];
    const int lane = static_cast<int>(threadIdx.x % WARP);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        double v = m[k / 3][k % 3];
        for (int step = WARP / 2; step > 0; step /= 2) v += __shfl_down_sync(ALL, v, step);
        if (lane == 0) part[threadIdx.x / WARP][k] = v;
    }
    __syncthreads();
    if (threadIdx.x == 0)
#pragma unroll
        for (int k = 0; k < 9; k++) {
            m[k / 3][k % 3] = 0.0;
            for (int w = 0; w < PAIR_THREADS / WARP; w++) m[k / 3][k % 3] += part[w][k];
        }
}

template <int DIM>
__global__ void __launch_bounds__(PAIR_THREADS)
    pairs_kernel(const __grid_constant__ hx_interaction in, const stored s, int64_t first_row,
                 double *value)
{
    const int64_t row = first_row + blockIdx.x, begin = in.row_ptr[row];
    const int k = static_cast<int>(blockIdx.y);
    if (k >= in.row_ptr[row + 1] - begin) return;
    int r[3], at[3], first[3], n[3];
    double m[3][3] = {};
    hx_interaction_place(&in, row, r);
    hx_interaction_column(&in, r, k, at);
    const int n_item = hx_interaction_shared(&in, r, at, first, n) * s.n;
    for (int item = static_cast<int>(threadIdx.x); item < n_item; item += PAIR_THREADS) {
        const int e = item / s.n, q = item % s.n;
        const int c[3] = {first[0] + e % n[0], first[1] + e / n[0] % n[1],
                          first[2] + e / n[0] / n[1]};
        const int a = hx_interaction_local(&in, c, r), b = hx_interaction_local(&in, c, at);
        const int64_t cell = hx_interaction_cell(&in, c) - s.layer * s.first_cell;
        const double *const h = s.h + cell * DIM * s.n * s.n;
        const int to_a = s.turned ? a * s.n + q : q * s.n + a;
        const int to_b = s.turned ? b * s.n + q : q * s.n + b;
        double ha[DIM], hb[DIM];
#pragma unroll
        for (int i = 0; i < DIM; i++) {
            ha[i] = h[i * s.n * s.n + to_a];
            hb[i] = h[i * s.n * s.n + to_b];
        }
#pragma unroll
        for (int i = 0; i < DIM; i++)
#pragma unroll
            for (int j = 0; j < DIM; j++) m[i][j] = fma(ha[i], hb[j], m[i][j]);
    }
    add_up(m);
    if (threadIdx.x != 0) return;
    double block[3][3];
    hx_form_elasticity(1.0, in.lambda, in.mu, m, block);
#pragma unroll
    for (int i = 0; i < DIM; i++)
#pragma unroll
        for (int j = 0; j < DIM; j++) value[DIM * (DIM * (begin + k) + i) + j] = block[i][j];
}

// Computes the rows first .. end - 1 of the last direction and measures the time.
int run_slab(const hx_cuda_patch *p, const stored *s, int n_layer, int first, int end,
             hx_interaction_time *time)
{
    const hx_interaction *const host = p->host;
    const cudaStream_t stream = hx_cuda_of(p->dev)->stream;
    const int64_t rows = host->n_point / host->axis[host->dim - 1].n;
    const auto n_cell = static_cast<unsigned>(s->layer * n_layer);
    const auto threads = static_cast<unsigned>((s->n + WARP - 1) / WARP * WARP);
    const dim3 pairs(static_cast<unsigned>(rows * (end - first)),
                     static_cast<unsigned>(p->most_entries));
    double seconds;
    HX_TRY(p->dev->ops->mark(p->dev, 0));
    gradients_kernel<<<n_cell, threads, 0, stream>>>(p->in, *s);
    HX_TRY_LAUNCH("gradients of a patch");
    if (s->turned) {
        const unsigned squares = n_cell * static_cast<unsigned>(host->dim);
        turn_kernel<<<squares, TURN_THREADS, 0, stream>>>(s->h, s->n);
        HX_TRY_LAUNCH("transposing gradients");
    }
    HX_TRY(p->dev->ops->mark(p->dev, 1));
    const auto kernel = host->dim == 3 ? pairs_kernel<3> : pairs_kernel<2>;
    kernel<<<pairs, PAIR_THREADS, 0, stream>>>(p->in, *s, rows * first, p->d_value);
    HX_TRY_LAUNCH("pairs of a patch");
    HX_TRY(p->dev->ops->mark(p->dev, 2));
    HX_TRY(hx_cuda_patch_elapsed(p, 0, 1, &seconds));
    time->gradients += seconds;
    HX_TRY(hx_cuda_patch_elapsed(p, 1, 2, &seconds));
    time->pairs += seconds;
    return HX_OK;
}

int run_slabs(const hx_cuda_patch *p, stored *s, size_t layer_bytes, size_t budget,
              hx_interaction_time *time)
{
    const int n = p->host->axis[p->host->dim - 1].n;
    int end, cells[2];
    for (int first = 0; first < n; first = end) {
        hx_interaction_slab(p->host, layer_bytes, budget, first, &end, cells);
        s->first_cell = cells[0];
        HX_TRY(run_slab(p, s, cells[1] - cells[0], first, end, time));
    }
    return HX_OK;
}

} // namespace

int hx_cuda_patch_pairs(const hx_cuda_patch *p, hx_interaction_way way, size_t budget,
                        hx_interaction_time *time)
{
    const hx_interaction *const host = p->host;
    const hx_interaction_axis *const last = &host->axis[host->dim - 1];
    stored s = {nullptr, hx_interaction_cell_points(host), 0, host->n_cell / last->n_cell,
                way == HX_WAY_PAIRS};
    const size_t layer_bytes =
        static_cast<size_t>(s.layer) * static_cast<size_t>(host->dim * s.n * s.n) * sizeof(double);
    int end, cells[2], most = 0;
    for (int first = 0; first < last->n; first = end) {
        hx_interaction_slab(host, layer_bytes, budget, first, &end, cells);
        if (cells[1] - cells[0] > most) most = cells[1] - cells[0];
    }
    int rc = p->dev->ops->alloc(p->dev, static_cast<size_t>(most) * layer_bytes, &s.h);
    if (rc == HX_OK) rc = run_slabs(p, &s, layer_bytes, budget, time);
    p->dev->ops->release(p->dev, s.h);
    return rc;
}
