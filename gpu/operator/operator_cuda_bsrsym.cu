// bsrsym: the lower half of K's blocks.
#include "operator_assembled.cuh"

namespace
{

struct bsrsym {
    static constexpr int bytes_per_elem = 1220;
    static constexpr double error = 0.0;
    static constexpr unsigned layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR);
    static hx_matrix_spec spec(hx_layout)
    {
        return hx_assembled_spec(HX_FORMAT_BSR, HX_PART_LOWER, 0);
    }
};

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_bsrsym = hx_assembled_kind<bsrsym>::table(
    "bsrsym", "assembled: the lower half of the 3x3 blocks; each is read once and used twice");
