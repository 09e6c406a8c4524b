// Shared by sym and sym32: the upper triangle of Ke (300 of 576 entries), with one thread per
// element. Each stored entry K_ij is loaded once and used twice, for y_i += K_ij x_j and
// y_j += K_ij x_i. Entries are stored row by row, so that a row of y is complete, and its registers
// are free, as soon as its last entry has been read: the atomic additions are spread over the
// kernel. Arithmetic is in double for any type of entries.
#ifndef HX_OPERATOR_KIND_PACKED_CUH
#define HX_OPERATOR_KIND_PACKED_CUH

#include "operator_stored.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_otf; // the exact operator if K is rounded

constexpr int HX_PACKED_ENTRIES = 300;

// Index of (i, j), i <= j, in the rows of the upper triangle.
__host__ __device__ constexpr int hx_packed_index(int i, int j)
{
    return 24 * i - i * (i - 1) / 2 + (j - i);
}

// 32 elements interleaved in pieces of 16 bytes: a warp's threads load consecutive pieces.
template <class Entry> struct hx_packed_by_warp {
    static constexpr int PIECE = 16 / sizeof(Entry); // number of entries
    static constexpr int N_PIECE = HX_PACKED_ENTRIES / PIECE;
    static_assert(N_PIECE * PIECE == HX_PACKED_ENTRIES, "the last piece is full");

    // Piece p of element e begins at first(e) + p * STRIDE.
    static constexpr int STRIDE = 32 * PIECE;
    __host__ __device__ static size_t first(int64_t e)
    {
        return static_cast<size_t>(e >> 5) * (HX_PACKED_ENTRIES * 32) + (e & 31) * PIECE;
    }
    __host__ __device__ static size_t at(int64_t e, int i, int j) // i <= j
    {
        const int k = hx_packed_index(i, j);
        return first(e) + k / PIECE * STRIDE + k % PIECE;
    }
    static size_t entries(int64_t n_elem)
    {
        return static_cast<size_t>((n_elem + 31) / 32) * (HX_PACKED_ENTRIES * 32);
    }
};

// Loads with an evict-first policy: Ke is used once, and x and y should remain in the caches.
__device__ __forceinline__ void hx_load_piece(const double *from, double (&piece)[2])
{
    asm("ld.global.cs.nc.v2.f64 {%0, %1}, [%2];" : "=d"(piece[0]), "=d"(piece[1]) : "l"(from));
}

__device__ __forceinline__ void hx_load_piece(const float *from, float (&piece)[4])
{
    asm("ld.global.cs.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(piece[0]), "=f"(piece[1]), "=f"(piece[2]), "=f"(piece[3])
        : "l"(from));
}

// One thread per 3x3 tile, 64 threads per element; those of the upper triangle store. Not
// performance-critical.
template <class Entry>
__global__ void hx_fill_packed_kernel(hx_device_model model, Entry *__restrict__ ke)
{
    const int64_t thread = hx_grid_thread();
    const int64_t e = thread >> 6;
    const int a = static_cast<int>(thread >> 3) & 7, b = static_cast<int>(thread) & 7;
    double x[24], tile[3][3];
    if (e >= model.n_elem) return;
    hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
    hx_hex8_tile(x, a, b, model.lambda, model.mu, tile);
    hx_balance_tiles(a, b, tile);
    if (a > b) return;
    for (int i = 0; i < 3; i++)
        for (int j = a == b ? i : 0; j < 3; j++)
            ke[hx_packed_by_warp<Entry>::at(e, 3 * a + i, 3 * b + j)] =
                static_cast<Entry>(tile[i][j]);
}

// 168 registers per thread: 24 x, 24 y and DEPTH pieces of Ke that are being loaded.
constexpr int HX_PACKED_BLOCK = 128;
constexpr int HX_PACKED_BLOCKS_PER_SM = 3;
template <class Entry> constexpr int HX_PACKED_DEPTH = 10;

template <class Entry>
__global__ void __launch_bounds__(HX_PACKED_BLOCK, HX_PACKED_BLOCKS_PER_SM)
    hx_packed_kernel(const int32_t *__restrict__ block, int64_t n_elem,
                     const int32_t *__restrict__ conn, const double *__restrict__ modulus,
                     const Entry *__restrict__ ke, const double *__restrict__ x,
                     double *__restrict__ y)
{
    using layout = hx_packed_by_warp<Entry>;
    constexpr int DEPTH = HX_PACKED_DEPTH<Entry>;
    const int64_t e = hx_block_at(block) * HX_PACKED_BLOCK + threadIdx.x;
    if (e >= n_elem) return;
    const Entry *const from = ke + layout::first(e);
    Entry piece[DEPTH][layout::PIECE];
    int32_t node[8];
    double xe[24], ye[24];
#pragma unroll
    for (int p = 0; p < DEPTH; p++) hx_load_piece(from + p * layout::STRIDE, piece[p]);
#pragma unroll
    for (int a = 0; a < 8; a++) node[a] = conn[8 * e + a];
    const double scale = modulus[e];
    hx_gather(node, x, xe);
#pragma unroll
    for (int i = 0; i < 24; i++) ye[i] = 0.0;
#pragma unroll
    for (int i = 0; i < 24; i++) {
#pragma unroll
        for (int j = i; j < 24; j++) {
            const int k = hx_packed_index(i, j), p = k / layout::PIECE,
                      in_piece = k % layout::PIECE;
            const double kij = static_cast<double>(piece[p % DEPTH][in_piece]);
            ye[i] += kij * xe[j];
            if (i != j) ye[j] += kij * xe[i];
            if (in_piece == layout::PIECE - 1 && p + DEPTH < layout::N_PIECE)
                hx_load_piece(from + (p + DEPTH) * layout::STRIDE, piece[p % DEPTH]);
        }
        atomicAdd(&y[3 * static_cast<int64_t>(node[i / 3]) + i % 3], scale * ye[i]);
    }
}

template <class Entry> struct hx_packed_kind {
    using layout = hx_packed_by_warp<Entry>;

    static size_t bytes(const hx_mesh *mesh, hx_layout)
    {
        return sizeof(Entry) * layout::entries(mesh->n_elem) +
               hx_cuda_blocks_bytes(hx_blocks(mesh->n_elem, HX_PACKED_BLOCK));
    }

    static int setup(void **state, hx_device *dev, const hx_device_model *model,
                     const hx_mesh *mesh, hx_layout)
    {
        return hx_operator_kind_setup<hx_stored<Entry>>(
            state, dev, model, "operator", hx_stored_teardown<Entry>, [&](hx_stored<Entry> *s) {
                const size_t n_bytes = sizeof(Entry) * layout::entries(model->n_elem);
                HX_TRY(dev->ops->alloc(dev, n_bytes, &s->d_ke));
                HX_TRY(dev->ops->zero(dev, s->d_ke, n_bytes));
                HX_TRY(hx_launch<128>(dev, "fill_packed", 64 * model->n_elem,
                                      hx_fill_packed_kernel<Entry>, *model, s->d_ke));
                return hx_cuda_blocks_of_elements(&s->blocks, dev, mesh, model->n_interface,
                                                  model->interface, HX_PACKED_BLOCK);
            });
    }

    static int apply_part(void *state, hx_product_part part, const double *d_x, double *d_y)
    {
        const hx_stored<Entry> &s = *static_cast<hx_stored<Entry> *>(state);
        hx_block_run run;
        HX_TRY(hx_stored_begin(s, part, d_y, &run));
        if (run.n == 0) return HX_OK;
        hx_packed_kernel<Entry><<<run.n, HX_PACKED_BLOCK, 0, run.stream>>>(
            run.block, s.model->n_elem, s.model->d_conn, s.model->d_modulus, s.d_ke, d_x, d_y);
        return HX_LAUNCHED("operator");
    }

    // error: hx_operator_kind.error
    static hx_operator_kind table(const char *name, const char *help, double error)
    {
        return {
            .name = name,
            .device = "cuda",
            .help = help,
            .deterministic = 0, // the order of atomic additions is not defined
            .bytes_per_elem = HX_PACKED_ENTRIES * sizeof(Entry),
            .error = error,
            .exact = error > 0.0 ? &hx_operator_cuda_otf : nullptr,
            .layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
            .bytes = bytes,
            .setup = setup,
            .apply = hx_whole_product<apply_part>,
            .apply_part = apply_part,
            .teardown = hx_stored_teardown<Entry>,
        };
    }
};

#endif
