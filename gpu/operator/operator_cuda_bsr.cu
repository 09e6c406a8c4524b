// bsr: K as 3x3 blocks, row by row or in slices of 32 rows.
#include "operator_assembled.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_bsr =
    hx_assembled_kind<HX_FORMAT_BSR, HX_PART_FULL, 0, 3, HX_FORMAT_BSRS>::table(
        "bsr", "assembled: 3x3 blocks row by row; interleaved: in slices of 32 rows", 2116,
        HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED));
