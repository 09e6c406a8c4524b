// products: stub
#include "matrix_cuda.cuh"

int hx_cuda_matrix_multiply(hx_device *, const hx_matrix *, const double *, double *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' multiplies no matrices");
}

int hx_cuda_matrix_multiply_dot(hx_device *, const hx_matrix *, const double *, double *, double *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' multiplies no matrices");
}
