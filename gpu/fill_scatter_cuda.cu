// atomic, separate, colour: stub
#include "matrix_cuda.cuh"

static int atomic_prepare(hx_cuda_filling *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' has no fill 'atomic'");
}

static int atomic_run(hx_cuda_filling *)
{
    return HX_OK;
}

static void atomic_release(hx_cuda_filling *) {}

static size_t atomic_bytes(const hx_cuda_filling *)
{
    return 0;
}

const hx_cuda_fill_kind hx_cuda_fill_atomic = {sizeof(hx_cuda_filling), atomic_prepare, atomic_run,
                                               atomic_release, atomic_bytes};

static int separate_prepare(hx_cuda_filling *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' has no fill 'separate'");
}

static int separate_run(hx_cuda_filling *)
{
    return HX_OK;
}

static void separate_release(hx_cuda_filling *) {}

static size_t separate_bytes(const hx_cuda_filling *)
{
    return 0;
}

const hx_cuda_fill_kind hx_cuda_fill_separate = {sizeof(hx_cuda_filling), separate_prepare,
                                                 separate_run, separate_release, separate_bytes};

static int colour_prepare(hx_cuda_filling *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' has no fill 'colour'");
}

static int colour_run(hx_cuda_filling *)
{
    return HX_OK;
}

static void colour_release(hx_cuda_filling *) {}

static size_t colour_bytes(const hx_cuda_filling *)
{
    return 0;
}

const hx_cuda_fill_kind hx_cuda_fill_colour = {sizeof(hx_cuda_filling), colour_prepare, colour_run,
                                               colour_release, colour_bytes};
