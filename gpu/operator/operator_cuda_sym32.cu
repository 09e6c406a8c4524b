// sym32: sym with Ke stored in single precision. Rounding changes an entry by at most 6e-8 of its
// value. The error of a product is about 2e-8, and larger if large terms cancel.
#include "operator_packed.cuh"

extern "C" const hx_operator_kind hx_operator_cuda_sym32 = hx_packed_kind<float>::table(
    "sym32", "sym with Ke stored in single precision (error 2e-8) and arithmetic in double", 1e-6);
