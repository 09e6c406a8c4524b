// bsr: K as 3x3 blocks, row by row or in slices of 32 rows.
#include "operator_assembled.cuh"

namespace
{

struct bsr {
    static constexpr int bytes_per_elem = 2116;
    static constexpr double error = 0.0;
    static constexpr unsigned layouts =
        HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED);
    static hx_matrix_spec spec(hx_layout layout)
    {
        return hx_assembled_spec(layout == HX_LAYOUT_ROWMAJOR ? HX_FORMAT_BSR : HX_FORMAT_BSRS,
                                 HX_PART_FULL, 0);
    }
};

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_bsr = hx_assembled_kind<bsr>::table(
    "bsr", "assembled: 3x3 blocks row by row; interleaved: in slices of 32 rows");
