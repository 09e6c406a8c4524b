// coo: K as numbers with their rows and columns.
#include "operator_assembled.cuh"

namespace
{

struct coo {
    static constexpr int bytes_per_elem = 4140;
    static constexpr double error = 0.0;
    static constexpr unsigned layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR);
    static hx_matrix_spec spec(hx_layout)
    {
        return hx_assembled_spec(HX_FORMAT_COO, HX_PART_FULL, 0);
    }
};

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_coo =
    hx_assembled_kind<coo>::table("coo", "assembled: numbers, each with its row and column index");
