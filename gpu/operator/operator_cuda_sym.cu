// sym: the upper triangle of Ke, one thread per element.
#include "operator_packed.cuh"

namespace
{

struct sym {
    using entry = double;
    static constexpr double error = 0.0;
};

} // namespace

extern "C" const hx_operator_kind hx_operator_cuda_sym = hx_packed_kind<sym>::table(
    "sym", "the upper triangle of Ke, one thread per element; 32 elements side by side");
