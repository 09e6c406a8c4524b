// sort, triplets: stub
#include "matrix_cuda.cuh"

static int sort_prepare(hx_cuda_filling *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' has no fill 'sort'");
}

static int sort_run(hx_cuda_filling *)
{
    return HX_OK;
}

static void sort_release(hx_cuda_filling *) {}

static size_t sort_bytes(const hx_cuda_filling *)
{
    return 0;
}

const hx_cuda_fill_kind hx_cuda_fill_sort = {sizeof(hx_cuda_filling), sort_prepare, sort_run,
                                             sort_release, sort_bytes};

static int triplets_prepare(hx_cuda_filling *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' has no fill 'triplets'");
}

static int triplets_run(hx_cuda_filling *)
{
    return HX_OK;
}

static void triplets_release(hx_cuda_filling *) {}

static size_t triplets_bytes(const hx_cuda_filling *)
{
    return 0;
}

const hx_cuda_fill_kind hx_cuda_fill_triplets = {sizeof(hx_cuda_filling), triplets_prepare,
                                                 triplets_run, triplets_release, triplets_bytes};
