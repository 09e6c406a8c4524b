// Operator kinds that store K as a matrix.
#ifndef HX_OPERATOR_KIND_ASSEMBLED_CUH
#define HX_OPERATOR_KIND_ASSEMBLED_CUH

#include "../matrix/matrix_cuda.cuh"
#include "core/operator/assembled.h"

extern "C" const hx_operator_kind hx_operator_cuda_otf; // the exact operator if K is rounded

// FORMAT: of the matrix; INTERLEAVED: the format in that layout. COMPONENTS: 3 unknowns per node, or
// 1 for heat conduction.
template <hx_format FORMAT, hx_part PART = HX_PART_FULL, int SINGLE = 0, int COMPONENTS = 3,
          hx_format INTERLEAVED = FORMAT>
struct hx_assembled_kind {
    static hx_matrix_spec spec(hx_layout layout)
    {
        return {layout == HX_LAYOUT_ROWMAJOR ? FORMAT : INTERLEAVED, PART, SINGLE, COMPONENTS};
    }

    // Memory for the products is either small or counted like the pattern. If there is not enough
    // memory for that count, the set-up reports it.
    static size_t space_bytes(const hx_space *space, hx_layout layout)
    {
        const hx_matrix_spec matrix = spec(layout);
        const hx_incidence incidence = hx_incidence_of_space(space);
        size_t plan = 0;
        if (hx_cuda_product_expected(&incidence, &matrix, &plan) < 0) hx_error_clear();
        const size_t fill = hx_cuda_gather_expected(&incidence, matrix.components);
        // the fill by lines does not read the slots
        const int has_slots = !(incidence.spline && fill > 0);
        return hx_assembled_space_bytes(space, &matrix, has_slots) + plan + fill;
    }

    static size_t bytes(const hx_mesh *mesh, hx_layout layout)
    {
        const hx_space space = hx_space_linear(mesh);
        return space_bytes(&space, layout);
    }

    static int setup(void **state, hx_device *dev, const hx_device_model *model,
                     const hx_mesh *mesh, hx_layout layout)
    {
        const hx_matrix_spec matrix = spec(layout);
        return hx_assembled_setup(state, dev, model, mesh, &matrix);
    }

    // scalar: the table for one unknown per node, or nullptr.
    static hx_operator_kind table(const char *name, const char *help, int bytes_per_elem,
                                  unsigned layouts, const hx_operator_kind *scalar = nullptr)
    {
        return {
            .name = name,
            .device = "cuda",
            .help = help,
            .deterministic = 1,
            .bytes_per_elem = bytes_per_elem,
            .error = SINGLE ? 1e-6 : 0.0,
            .exact = SINGLE ? &hx_operator_cuda_otf : nullptr,
            .layouts = layouts,
            .bytes = bytes,
            .space_bytes = space_bytes,
            .promise = hx_assembled_promise,
            .setup = setup,
            .update = hx_assembled_update,
            .apply = hx_assembled_apply,
            .apply_part = hx_assembled_apply_part,
            .apply_dot = hx_assembled_apply_dot,
            .diagonal = hx_assembled_diagonal,
            .reads_node_lists = 1,
            .assembled = hx_assembled_of,
            .teardown = hx_assembled_teardown,
            .scalar = scalar,
        };
    }
};

#endif
