// otf with wide patches, compiled only for sm_90a (meson.build).
#include "otf_body.cuh"
#include "patches_wide.cuh"

namespace
{

template <bool LISTED>
__global__ void __launch_bounds__(HX_WIDE_THREADS, 1)
    kernel(hx_patch_view g, const int32_t *__restrict__ elem, double ratio, double scale,
           const double *__restrict__ modulus, const double *__restrict__ row_xyz,
           double *__restrict__ partial, const double *__restrict__ x, double *__restrict__ y)
{
    const hx_otf_body<double, HX_WIDE_PATCH, true> b = {ratio, scale};
    hx_run_wide<double, LISTED>(g, elem, modulus, row_xyz, partial, x, y, b);
}

constexpr int N_BYTE = hx_wide_memory<double>::bytes;

} // namespace

int hx_otf_wide_launch(const hx_cuda_patches &p, int group, const hx_slice &patches,
                       const hx_device_model &model, const int32_t *d_elem, const double *d_row_xyz,
                       int n_block, const double *d_x, double *d_y)
{
    const auto run = d_elem ? kernel<true> : kernel<false>;
    run<<<hx_grid(n_block, patches.n), HX_WIDE_THREADS, N_BYTE, hx_cuda_of(p.dev)->stream>>>(
        hx_view(p, group, patches), d_elem, model.lambda / model.mu, model.mu / 512.0,
        model.d_modulus, d_row_xyz, p.d_partial, d_x, d_y);
    return HX_LAUNCHED("otf");
}

int hx_otf_wide_blocks(const hx_cuda_patches &p, int *n_block)
{
    HX_TRY(hx_fused_blocks(p.dev, kernel<true>, HX_WIDE_THREADS, N_BYTE, n_block));
    return hx_fused_blocks(p.dev, kernel<false>, HX_WIDE_THREADS, N_BYTE, n_block);
}
