// ell: K as rows of numbers of equal length; number k of all rows is contiguous.
#include "operator_assembled.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_ell = hx_assembled_kind<HX_FORMAT_ELL>::table(
    "ell", "assembled: rows of numbers padded to the longest row, stored column by column", 3136,
    HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED));
