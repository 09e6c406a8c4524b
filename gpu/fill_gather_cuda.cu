// gather: stub
#include "matrix_cuda.cuh"

static int gather_prepare(hx_cuda_filling *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' has no fill 'gather'");
}

static int gather_run(hx_cuda_filling *)
{
    return HX_OK;
}

static void gather_release(hx_cuda_filling *) {}

static size_t gather_bytes(const hx_cuda_filling *)
{
    return 0;
}

const hx_cuda_fill_kind hx_cuda_fill_gather = {sizeof(hx_cuda_filling), gather_prepare, gather_run,
                                               gather_release, gather_bytes};

size_t hx_cuda_gather_expected(const hx_incidence *)
{
    return 0;
}
