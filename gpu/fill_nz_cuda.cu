// nz: stub
#include "matrix_cuda.cuh"

static int nz_prepare(hx_cuda_filling *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' has no fill 'nz'");
}

static int nz_run(hx_cuda_filling *)
{
    return HX_OK;
}

static void nz_release(hx_cuda_filling *) {}

static size_t nz_bytes(const hx_cuda_filling *)
{
    return 0;
}

const hx_cuda_fill_kind hx_cuda_fill_nz = {sizeof(hx_cuda_filling), nz_prepare, nz_run, nz_release,
                                           nz_bytes};
