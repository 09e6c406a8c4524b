// Operator kinds that store K as a matrix; `Kind` specifies the matrix for each layout that it
// supports.
#ifndef HX_OPERATOR_KIND_ASSEMBLED_CUH
#define HX_OPERATOR_KIND_ASSEMBLED_CUH

#include "../matrix/matrix_cuda.cuh"
#include "core/operator/assembled.h"

extern "C" const hx_operator_kind hx_operator_cuda_otf; // the exact operator if K is rounded

// Kind: bytes_per_elem, error, layouts, and spec(layout).
template <class Kind> struct hx_assembled_kind {
    // Memory for the products is either small or counted like the pattern. If there is not enough
    // memory for that count, the set-up reports it.
    static size_t space_bytes(const hx_space *space, hx_layout layout)
    {
        const hx_matrix_spec spec = Kind::spec(layout);
        const hx_incidence incidence = hx_incidence_of_space(space);
        size_t plan = 0;
        if (hx_cuda_product_expected(&incidence, &spec, &plan) < 0) hx_error_clear();
        const size_t fill = hx_cuda_gather_expected(&incidence, spec.components);
        // the fill by lines does not read the slots
        const int has_slots = !(incidence.spline && fill > 0);
        return hx_assembled_space_bytes(space, &spec, has_slots) + plan + fill;
    }

    static size_t bytes(const hx_mesh *mesh, hx_layout layout)
    {
        const hx_space space = hx_space_linear(mesh);
        return space_bytes(&space, layout);
    }

    static int setup(void **state, hx_device *dev, const hx_device_model *model,
                     const hx_mesh *mesh, hx_layout layout)
    {
        const hx_matrix_spec spec = Kind::spec(layout);
        return hx_assembled_setup(state, dev, model, mesh, &spec);
    }

    // scalar: the table for one unknown per node, or nullptr.
    static hx_operator_kind table(const char *name, const char *help,
                                  const hx_operator_kind *scalar = nullptr)
    {
        hx_operator_kind t = {};
        t.name = name;
        t.device = "cuda";
        t.help = help;
        t.deterministic = 1;
        t.bytes_per_elem = Kind::bytes_per_elem;
        t.error = Kind::error;
        t.exact = t.error > 0.0 ? &hx_operator_cuda_otf : nullptr;
        t.layouts = Kind::layouts;
        t.bytes = bytes;
        t.space_bytes = space_bytes;
        t.promise = hx_assembled_promise;
        t.setup = setup;
        t.update = hx_assembled_update;
        t.apply = hx_assembled_apply;
        t.apply_part = hx_assembled_apply_part;
        t.apply_dot = hx_assembled_apply_dot;
        t.diagonal = hx_assembled_diagonal;
        t.reads_node_lists = 1;
        t.assembled = hx_assembled_of;
        t.teardown = hx_assembled_teardown;
        t.scalar = scalar;
        return t;
    }
};

// 3 unknowns per node, or 1 for heat conduction.
inline hx_matrix_spec hx_assembled_spec(hx_format format, hx_part part, int single,
                                        int components = 3)
{
    return {format, part, single, components};
}

#endif
