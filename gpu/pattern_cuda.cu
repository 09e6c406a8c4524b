// pattern: stub
#include "matrix_cuda.cuh"

int hx_cuda_pattern(hx_device *, const hx_incidence *, const hx_pattern_spec *, hx_device_pattern *,
                    hx_steps *)
{
    return HX_RAISE(HX_EINPUT, "device 'cuda' builds no patterns");
}
