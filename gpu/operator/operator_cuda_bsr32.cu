// bsr32: bsr with blocks stored in single precision. Rounding changes an entry by at most 6e-8 of
// its value. The error of a product is about 2e-8, and larger if large terms cancel.
#include "operator_assembled.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_bsr32 =
    hx_assembled_kind<HX_FORMAT_BSR, HX_PART_FULL, 1, 3, HX_FORMAT_BSRS>::table(
        "bsr32", "bsr stored in single precision (error 2e-8), with arithmetic in double", 1144,
        HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED));
