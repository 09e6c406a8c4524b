// nbn (P1): one thread per node. It loops over the node's elements (element and local index from
// the reverse connectivity), multiplies three rows of each Ke, and writes once: no race, and a
// fixed order.
//
// interleaved: rows are stored for the thread that reads them, in slices of 32 nodes as wide as the
// slice's largest node (sliced ELLPACK): [slice][incidence][72][32].
#include <cstdlib>

#include "../matrix/block_parts.cuh"
#include "core/base/memory.h"
#include "core/operator/operator_kind.h"
#include "hex8_cuda.cuh"
#include "operator_setup.cuh"

namespace
{

constexpr int BLOCK = 512;
constexpr int SLICE = 32;

struct nbn {
    hx_device *dev;
    const hx_device_model *model;
    hx_layout layout;
    double *d_ke; // (owned)
    // [slices + 1] number of incidences before each slice; only for interleaved (owned)
    int64_t *d_slice_ptr;
    hx_cuda_blocks blocks;
};

int64_t slices(const hx_mesh *mesh)
{
    return (mesh->n_node + SLICE - 1) / SLICE;
}

int64_t slice_width(const hx_mesh *mesh, int64_t slice)
{
    int64_t width = 0;
    for (int64_t node = slice * SLICE; node < (slice + 1) * SLICE && node < mesh->n_node; node++) {
        const int64_t n = mesh->node_elem_ptr[node + 1] - mesh->node_elem_ptr[node];
        if (n > width) width = n;
    }
    return width;
}

size_t bytes(const hx_mesh *mesh, hx_layout layout)
{
    const size_t of_blocks = hx_cuda_blocks_bytes(hx_blocks(mesh->n_node, BLOCK));
    size_t width = 0;
    if (layout == HX_LAYOUT_ROWMAJOR)
        return hx_row_major::entries(mesh->n_elem) * sizeof(double) + of_blocks;
    for (int64_t s = 0; s < slices(mesh); s++) width += static_cast<size_t>(slice_width(mesh, s));
    return width * SLICE * 72 * sizeof(double) +
           (static_cast<size_t>(slices(mesh)) + 1) * sizeof(int64_t) + of_blocks;
}

// First entry of incidence k of a node in the sliced storage; entries are SLICE apart.
__device__ __forceinline__ size_t sliced_at(const int64_t *slice_ptr, int64_t node, int64_t k)
{
    return (static_cast<size_t>(slice_ptr[node / SLICE]) + k) * (72 * SLICE) + node % SLICE;
}

// One thread per node and corner b.
__global__ void fill_kernel(hx_device_model model, const int64_t *__restrict__ slice_ptr,
                            double *ke)
{
    const int64_t thread = hx_grid_thread();
    const int64_t node = thread >> 3, begin = node < model.n_node ? model.d_node_elem_ptr[node] : 0;
    const int b = static_cast<int>(thread) & 7;
    if (node >= model.n_node) return;
    for (int64_t k = begin; k < model.d_node_elem_ptr[node + 1]; k++) {
        const int64_t e = model.d_node_elem[k] >> 3;
        const int a = static_cast<int>(model.d_node_elem[k] & 7u);
        const size_t at = sliced_at(slice_ptr, node, k - begin);
        double x[24], tile[3][3];
        hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
        hx_hex8_tile(x, a, b, model.lambda, model.mu, tile);
        hx_balance_tiles(a, b, tile);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) ke[at + (24 * i + 3 * b + j) * SLICE] = tile[i][j];
    }
}

template <bool Sliced>
__global__ void __launch_bounds__(BLOCK)
    kernel(const int32_t *__restrict__ block, int64_t n_node, const int64_t *__restrict__ ptr,
           const uint32_t *__restrict__ incidence, const int64_t *__restrict__ slice_ptr,
           const int32_t *__restrict__ conn, const double *__restrict__ modulus,
           const double *__restrict__ ke, const double *__restrict__ x, double *__restrict__ y)
{
    const int64_t node = hx_block_at(block) * BLOCK + threadIdx.x;
    if (node >= n_node) return;
    const int64_t begin = ptr[node], end = ptr[node + 1];
    double total[3] = {0.0, 0.0, 0.0};
    for (int64_t k = begin; k < end; k++) {
        const int64_t e = incidence[k] >> 3;
        const int a = static_cast<int>(incidence[k] & 7u);
        const double *rows =
            ke + (Sliced ? sliced_at(slice_ptr, node, k - begin) : hx_row_major::at(e, 3 * a, 0));
        constexpr int stride = Sliced ? SLICE : 1;
        double sum[3] = {0.0, 0.0, 0.0};
#pragma unroll
        for (int b = 0; b < 8; b++) {
            const double *xb = x + 3 * static_cast<int64_t>(conn[8 * e + b]);
#pragma unroll
            for (int j = 0; j < 3; j++) {
                const double xj = xb[j];
#pragma unroll
                for (int i = 0; i < 3; i++) sum[i] += rows[(24 * i + 3 * b + j) * stride] * xj;
            }
        }
        const double scale = modulus[e];
        for (int i = 0; i < 3; i++) total[i] += scale * sum[i];
    }
    for (int i = 0; i < 3; i++) y[3 * node + i] = total[i];
}

void teardown(void *state)
{
    nbn *s = static_cast<nbn *>(state);
    s->dev->ops->release(s->dev, s->d_ke);
    s->dev->ops->release(s->dev, s->d_slice_ptr);
    s->dev->ops->release(s->dev, s->blocks.d_block);
    free(s);
}

int setup_sliced(nbn *s, const hx_mesh *mesh)
{
    const hx_device_ops *ops = s->dev->ops;
    const size_t n_ptr = static_cast<size_t>(slices(mesh)) + 1;
    int64_t *slice_ptr;
    HX_TRY(hx_alloc(&slice_ptr, n_ptr, sizeof *slice_ptr, "slices of nbn"));
    for (int64_t i = 0; i < slices(mesh); i++)
        slice_ptr[i + 1] = slice_ptr[i] + slice_width(mesh, i);
    const size_t n_entry = static_cast<size_t>(slice_ptr[slices(mesh)]) * SLICE * 72;
    int rc = ops->alloc(s->dev, n_ptr * sizeof *slice_ptr, &s->d_slice_ptr);
    if (rc == HX_OK) rc = ops->upload(s->dev, s->d_slice_ptr, slice_ptr, n_ptr * sizeof *slice_ptr);
    if (rc == HX_OK) rc = ops->alloc(s->dev, n_entry * sizeof(double), &s->d_ke);
    free(slice_ptr);
    HX_TRY(rc);
    return hx_launch<128>(s->dev, "nbn fill", 8 * mesh->n_node, fill_kernel, *s->model,
                          s->d_slice_ptr, s->d_ke);
}

int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
          hx_layout layout)
{
    return hx_operator_kind_setup<nbn>(state, dev, model, "operator nbn", teardown, [&](nbn *s) {
        s->layout = layout;
        HX_TRY(hx_cuda_blocks_of_rows(&s->blocks, dev, mesh->n_node, model->n_interface,
                                      model->interface, 1, BLOCK));
        return layout == HX_LAYOUT_ROWMAJOR ? hx_fill_ke<hx_row_major>(dev, model, &s->d_ke)
                                            : setup_sliced(s, mesh);
    });
}

int apply_part(void *state, hx_product_part part, const double *d_x, double *d_y)
{
    const nbn &s = *static_cast<nbn *>(state);
    const hx_device_model &m = *s.model;
    const hx_block_run run = hx_blocks_of(s.blocks, part, hx_cuda_of(s.dev)->stream);
    if (run.n == 0) return HX_OK;
    const auto product = s.layout == HX_LAYOUT_ROWMAJOR ? kernel<false> : kernel<true>;
    product<<<run.n, BLOCK, 0, run.stream>>>(run.block, m.n_node, m.d_node_elem_ptr, m.d_node_elem,
                                             s.d_slice_ptr, m.d_conn, m.d_modulus, s.d_ke, d_x,
                                             d_y);
    return HX_LAUNCHED("nbn");
}

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_nbn = {
    .name = "nbn",
    .device = "cuda",
    .help = "one thread per node, without atomics; interleaved: rows in slices of 32 nodes",
    .deterministic = 1,
    .bytes_per_elem = 576 * sizeof(double),
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = bytes,
    .setup = setup,
    .apply = hx_whole_product<apply_part>,
    .apply_part = apply_part,
    .teardown = teardown,
};
