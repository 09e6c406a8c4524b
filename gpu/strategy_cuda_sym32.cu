// sym32: sym with Ke stored in single precision. Rounding an entry costs 6e-8 of it at most; a
// product is off by about 2e-8, more where large terms cancel.
#include "strategy_packed.cuh"

namespace
{

struct sym32 {
    using entry = float;
    static constexpr double error = 1e-6;
};

} // namespace

extern "C" const hx_strategy hx_strategy_cuda_sym32 = hx_packed_strategy<sym32>::table(
    "sym32", "sym with Ke stored in single precision (error 2e-8) and arithmetic in double");
