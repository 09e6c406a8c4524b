// bsr32: bsr with blocks stored in single precision. Rounding changes an entry by at most 6e-8 of
// its value. The error of a product is about 2e-8, and larger if large terms cancel.
#include "operator_assembled.cuh"

namespace
{

struct bsr32 {
    static constexpr int bytes_per_elem = 1144;
    static constexpr double error = 1e-6;
    static constexpr unsigned layouts =
        HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED);
    static hx_matrix_spec spec(hx_layout layout)
    {
        return hx_assembled_spec(layout == HX_LAYOUT_ROWMAJOR ? HX_FORMAT_BSR : HX_FORMAT_BSRS,
                                 HX_PART_FULL, 1);
    }
};

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_bsr32 = hx_assembled_kind<bsr32>::table(
    "bsr32", "bsr stored in single precision (error 2e-8), with arithmetic in double");
