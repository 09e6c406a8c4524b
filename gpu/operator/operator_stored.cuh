// The common part of operator kinds that store Ke of each element and add to y atomically.
#ifndef HX_OPERATOR_KIND_STORED_CUH
#define HX_OPERATOR_KIND_STORED_CUH

#include <cstdlib>

#include "../matrix/block_parts.cuh"
#include "core/operator/operator_kind.h"
#include "hex8_cuda.cuh"
#include "operator_setup.cuh"

template <class Entry> struct hx_stored {
    hx_device *dev;
    const hx_device_model *model;
    hx_layout layout;
    Entry *d_ke; // (owned)
    hx_cuda_blocks blocks;
};

template <class Entry> void hx_stored_teardown(void *state)
{
    hx_stored<Entry> *s = static_cast<hx_stored<Entry> *>(state);
    s->dev->ops->release(s->dev, s->d_ke);
    s->dev->ops->release(s->dev, s->blocks.d_block);
    free(s);
}

// *run: the blocks that add a part of the product to y, which its first part sets to zero.
template <class Entry>
int hx_stored_begin(const hx_stored<Entry> &s, hx_product_part part, double *d_y, hx_block_run *run)
{
    const cudaStream_t stream = hx_cuda_of(s.dev)->stream;
    const size_t n_bytes = 3 * sizeof(double) * static_cast<size_t>(s.model->n_node);
    *run = hx_blocks_of(s.blocks, part, stream);
    if (part == HX_PRODUCT_WHOLE || part == HX_PRODUCT_BEGIN)
        HX_TRY_CUDA(cudaMemsetAsync(d_y, 0, n_bytes, stream));
    return HX_OK;
}

// Two layouts, row-major and Interleaved, with a kernel each, of THREADS threads for ELEMS elements
// per block.
template <class Interleaved, int ELEMS, int THREADS, auto ROWMAJOR, auto INTERLEAVED>
struct hx_stored_kind {
    static size_t bytes(const hx_mesh *mesh, hx_layout layout)
    {
        return sizeof(double) * (layout == HX_LAYOUT_ROWMAJOR
                                     ? hx_row_major::entries(mesh->n_elem)
                                     : Interleaved::entries(mesh->n_elem)) +
               hx_cuda_blocks_bytes(hx_blocks(mesh->n_elem, ELEMS));
    }

    static int setup(void **state, hx_device *dev, const hx_device_model *model,
                     const hx_mesh *mesh, hx_layout layout)
    {
        return hx_operator_kind_setup<hx_stored<double>>(
            state, dev, model, "operator", hx_stored_teardown<double>, [&](hx_stored<double> *s) {
                s->layout = layout;
                HX_TRY(hx_cuda_blocks_of_elements(&s->blocks, dev, mesh, model->n_interface,
                                                  model->interface, ELEMS));
                return layout == HX_LAYOUT_ROWMAJOR ? hx_fill_ke<hx_row_major>(dev, model, &s->d_ke)
                                                    : hx_fill_ke<Interleaved>(dev, model, &s->d_ke);
            });
    }

    static int apply_part(void *state, hx_product_part part, const double *d_x, double *d_y)
    {
        const hx_stored<double> &s = *static_cast<hx_stored<double> *>(state);
        const auto product = s.layout == HX_LAYOUT_ROWMAJOR ? ROWMAJOR : INTERLEAVED;
        hx_block_run run;
        HX_TRY(hx_stored_begin(s, part, d_y, &run));
        if (run.n == 0) return HX_OK;
        product<<<run.n, THREADS, 0, run.stream>>>(run.block, s.model->n_elem, s.model->d_conn,
                                                   s.model->d_modulus, s.d_ke, d_x, d_y);
        return HX_LAUNCHED("operator");
    }

    static hx_operator_kind table(const char *name, const char *help)
    {
        return {
            .name = name,
            .device = "cuda",
            .help = help,
            .deterministic = 0, // the order of atomic additions is not defined
            .bytes_per_elem = 576 * sizeof(double),
            .layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
            .bytes = bytes,
            .setup = setup,
            .apply = hx_whole_product<apply_part>,
            .apply_part = apply_part,
            .teardown = hx_stored_teardown<double>,
        };
    }
};

#endif
