// sym: the upper triangle of Ke, one thread per element.
#include "strategy_packed.cuh"

namespace
{

struct sym {
    using entry = double;
    static constexpr double error = 0.0;
};

} // namespace

extern "C" const hx_strategy hx_strategy_cuda_sym = hx_packed_strategy<sym>::table(
    "sym", "the upper triangle of Ke, one thread per element; 32 elements side by side");
