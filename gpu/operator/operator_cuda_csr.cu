// csr: K as rows of numbers.
#include "operator_assembled.cuh"

namespace
{

struct csr {
    static constexpr int bytes_per_elem = 3170;
    static constexpr double error = 0.0;
    static constexpr unsigned layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR);
    static hx_matrix_spec spec(hx_layout)
    {
        return hx_assembled_spec(HX_FORMAT_CSR, HX_PART_FULL, 0);
    }
};

// For heat conduction.
struct csr_scalar {
    static constexpr int bytes_per_elem = 530;
    static constexpr double error = 0.0;
    static constexpr unsigned layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR);
    static hx_matrix_spec spec(hx_layout)
    {
        return hx_assembled_spec(HX_FORMAT_CSR, HX_PART_FULL, 0, 1);
    }
};

constexpr const char *HELP =
    "assembled: compressed sparse rows, the common format of other programs";
const hx_operator_kind scalar = hx_assembled_kind<csr_scalar>::table("csr", HELP);

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_csr =
    hx_assembled_kind<csr>::table("csr", HELP, &scalar);
