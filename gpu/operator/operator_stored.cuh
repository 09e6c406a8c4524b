// The common part of operator kinds with a stored Ke: a file provides two layouts and a launch for
// each layout.
//     struct ebe {
//         using interleaved = ...;                     its own layout
//         static constexpr int elems = ...;            elements of a thread block
//         template <class Layout>
//         static void launch(const hx_stored &s, const hx_block_run &run, const double *x,
//                            double *y);
//     };
// The launch adds into y, which is set to zero here first.
#ifndef HX_OPERATOR_KIND_STORED_CUH
#define HX_OPERATOR_KIND_STORED_CUH

#include <cstdlib>

#include "../matrix/block_parts.cuh"
#include "core/operator/operator_kind.h"
#include "hex8_cuda.cuh"
#include "operator_setup.cuh"

struct hx_stored {
    hx_device *dev;
    const hx_device_model *model;
    hx_layout layout;
    double *d_ke; // (owned)
    hx_cuda_blocks blocks;
};

template <class Kind> struct hx_stored_kind {
    using interleaved = typename Kind::interleaved;

    static size_t bytes(const hx_mesh *mesh, hx_layout layout)
    {
        return sizeof(double) * (layout == HX_LAYOUT_ROWMAJOR
                                     ? hx_row_major::entries(mesh->n_elem)
                                     : interleaved::entries(mesh->n_elem)) +
               hx_cuda_blocks_bytes(hx_blocks(mesh->n_elem, Kind::elems));
    }

    static void teardown(void *state)
    {
        hx_stored *s = static_cast<hx_stored *>(state);
        s->dev->ops->release(s->dev, s->d_ke);
        s->dev->ops->release(s->dev, s->blocks.d_block);
        free(s);
    }

    static int setup(void **state, hx_device *dev, const hx_device_model *model,
                     const hx_mesh *mesh, hx_layout layout)
    {
        return hx_operator_kind_setup<hx_stored>(
            state, dev, model, "operator", teardown, [&](hx_stored *s) {
                s->layout = layout;
                HX_TRY(hx_cuda_blocks_of_elements(&s->blocks, dev, mesh, model->n_interface,
                                                  model->interface, Kind::elems));
                return layout == HX_LAYOUT_ROWMAJOR ? hx_fill_ke<hx_row_major>(dev, model, &s->d_ke)
                                                    : hx_fill_ke<interleaved>(dev, model, &s->d_ke);
            });
    }

    static int apply_part(void *state, hx_product_part part, const double *d_x, double *d_y)
    {
        const hx_stored &s = *static_cast<hx_stored *>(state);
        const cudaStream_t stream = hx_cuda_of(s.dev)->stream;
        const hx_block_run run = hx_blocks_of(s.blocks, part, stream);
        const size_t n_bytes = 3 * sizeof(double) * static_cast<size_t>(s.model->n_node);
        if (part == HX_PRODUCT_WHOLE || part == HX_PRODUCT_BEGIN)
            HX_TRY_CUDA(cudaMemsetAsync(d_y, 0, n_bytes, stream));
        if (run.n == 0) return HX_OK;
        if (s.layout == HX_LAYOUT_ROWMAJOR)
            Kind::template launch<hx_row_major>(s, run, d_x, d_y);
        else
            Kind::template launch<interleaved>(s, run, d_x, d_y);
        return HX_LAUNCHED("operator");
    }

    static int apply(void *state, const double *d_x, double *d_y)
    {
        return apply_part(state, HX_PRODUCT_WHOLE, d_x, d_y);
    }

    static hx_operator_kind table(const char *name, const char *help)
    {
        hx_operator_kind t = {};
        t.name = name;
        t.device = "cuda";
        t.help = help;
        t.deterministic = 0; // the order of atomic additions is not defined
        t.bytes_per_elem = 576 * sizeof(double);
        t.layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED);
        t.bytes = bytes;
        t.setup = setup;
        t.apply = apply;
        t.apply_part = apply_part;
        t.teardown = teardown;
        return t;
    }
};

#endif
