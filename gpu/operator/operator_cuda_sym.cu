// sym: the upper triangle of Ke, one thread per element.
#include "operator_packed.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_sym = hx_packed_kind<double>::table(
    "sym", "the upper triangle of Ke, one thread per element; 32 elements side by side", 0.0);
