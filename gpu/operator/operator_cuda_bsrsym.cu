// bsrsym: the lower half of K's blocks.
#include "operator_assembled.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_bsrsym =
    hx_assembled_kind<HX_FORMAT_BSR, HX_PART_LOWER>::table(
        "bsrsym", "assembled: the lower half of the 3x3 blocks; each is read once and used twice",
        1220, HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR));
