// The shell that strategies with a stored Ke share: a file gives two layouts and a launch per
// layout.
//
//     struct ebe {
//         using interleaved = ...;                     its own layout
//         template <class Layout> static void launch(const hx_stored &s, const double *x, double
//         *y);
//     };
//
// The launch adds into y, which is zeroed here first.
#ifndef HX_STRATEGY_STORED_CUH
#define HX_STRATEGY_STORED_CUH

#include <cstdlib>

#include "core/solver/strategy.h"
#include "hex8_cuda.cuh"
#include "strategy_setup.cuh"

struct hx_stored {
    hx_device *dev;
    const hx_device_model *model;
    hx_layout layout;
    double *d_ke; // (owned)
    cudaStream_t stream;
};

template <class Strategy> struct hx_stored_strategy {
    using interleaved = typename Strategy::interleaved;

    static size_t bytes(const hx_mesh *mesh, hx_layout layout)
    {
        return sizeof(double) * (layout == HX_LAYOUT_ROWMAJOR ? hx_row_major::entries(mesh->n_elem)
                                                              : interleaved::entries(mesh->n_elem));
    }

    static void teardown(void *state)
    {
        hx_stored *s = static_cast<hx_stored *>(state);
        s->dev->ops->release(s->dev, s->d_ke);
        free(s);
    }

    static int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *,
                     hx_layout layout)
    {
        return hx_strategy_setup<hx_stored>(
            state, dev, model, "operator", teardown, [&](hx_stored *s) {
                s->layout = layout;
                s->stream = hx_cuda_of(dev)->stream;
                return layout == HX_LAYOUT_ROWMAJOR ? hx_fill_ke<hx_row_major>(dev, model, &s->d_ke)
                                                    : hx_fill_ke<interleaved>(dev, model, &s->d_ke);
            });
    }

    static int apply(void *state, const double *d_x, double *d_y)
    {
        const hx_stored &s = *static_cast<hx_stored *>(state);
        const size_t n_bytes = 3 * sizeof(double) * static_cast<size_t>(s.model->n_node);
        HX_TRY_CUDA(cudaMemsetAsync(d_y, 0, n_bytes, s.stream));
        if (s.layout == HX_LAYOUT_ROWMAJOR)
            Strategy::template launch<hx_row_major>(s, d_x, d_y);
        else
            Strategy::template launch<interleaved>(s, d_x, d_y);
        HX_TRY_LAUNCH("operator");
        return HX_OK;
    }

    static hx_strategy table(const char *name, const char *help)
    {
        hx_strategy t = {};
        t.name = name;
        t.device = "cuda";
        t.help = help;
        t.deterministic = 0; // the order of atomic additions is open
        t.bytes_per_elem = 576 * sizeof(double);
        t.layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED);
        t.bytes = bytes;
        t.setup = setup;
        t.apply = apply;
        t.teardown = teardown;
        return t;
    }
};

#endif
