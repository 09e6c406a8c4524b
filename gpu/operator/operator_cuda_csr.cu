// csr: K as rows of numbers.
#include "operator_assembled.cuh"

namespace
{

constexpr const char *HELP =
    "assembled: compressed sparse rows, the common format of other programs";
// For heat conduction.
const hx_operator_kind scalar = hx_assembled_kind<HX_FORMAT_CSR, HX_PART_FULL, 0, 1>::table(
    "csr", HELP, 530, HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR));

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_csr = hx_assembled_kind<HX_FORMAT_CSR>::table(
    "csr", HELP, 3170, HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR), &scalar);
