// ell: K as rows of numbers of equal length; number k of all rows is contiguous.
#include "operator_assembled.cuh"

namespace
{

struct ell {
    static constexpr int bytes_per_elem = 3136;
    static constexpr double error = 0.0;
    static constexpr unsigned layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED);
    static hx_matrix_spec spec(hx_layout)
    {
        return hx_assembled_spec(HX_FORMAT_ELL, HX_PART_FULL, 0);
    }
};

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_ell = hx_assembled_kind<ell>::table(
    "ell", "assembled: rows of numbers padded to the longest row, stored column by column");
