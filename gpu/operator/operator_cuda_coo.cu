// coo: K as numbers with their rows and columns.
#include "operator_assembled.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_coo = hx_assembled_kind<HX_FORMAT_COO>::table(
    "coo", "assembled: numbers, each with its row and column index", 4140,
    HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR));
