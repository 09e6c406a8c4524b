// The kernel of diagonal_cuda.cuh. The coordinates take the place of a patch's nodal field.
#include "diagonal_cuda.cuh"

#include "otf_cuda.cuh"

namespace
{

template <class Forces, bool COLLAPSED> struct body {
    double ratio, scale;

    __device__ __forceinline__ void element(const hx_eight &corner, const double *,
                                            const double *coordinates, double modulus,
                                            double *column) const
    {
        hx_field<double> x;
        double v[8], m[HX_N_MODE];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            hx_gather_corners(coordinates, corner, i, v);
            hx_to_modes(v, m);
            hx_field_set(m, i, x);
        }
        if constexpr (COLLAPSED)
            hx_collapsed_diagonal<Forces>(x, corner, {ratio, scale * modulus}, column);
        else
            hx_element_diagonal<Forces>(x, {ratio, scale * modulus}, column);
    }
};

template <int SIZE, int ROWS, class Forces, bool COLLAPSED>
__global__ void __launch_bounds__(SIZE)
    kernel(hx_patch_view g, const int32_t *__restrict__ elem, double ratio, double scale,
           const double *__restrict__ modulus, const double *__restrict__ xyz,
           double *__restrict__ partial, double *__restrict__ diag)
{
    const body<Forces, COLLAPSED> b = {ratio, scale};
    hx_run_patches<double, SIZE, 1, ROWS, Forces>(g, elem, modulus, nullptr, partial, xyz, diag, b);
}

template <int SIZE, int ROWS, class Forces, bool COLLAPSED>
int launch(const hx_cuda_patches &p, int group, const hx_device_model &model, const int32_t *d_elem,
           double *d_diag)
{
    constexpr int n_byte = hx_patch_memory<double, SIZE, 1, ROWS, Forces>::bytes;
    const auto run = kernel<SIZE, ROWS, Forces, COLLAPSED>;
    const hx_patch_group &g = p.group[group];
    int n_block;
    if (g.n_patch == 0) return HX_OK;
    HX_TRY(hx_fused_blocks(p.dev, run, SIZE, n_byte, &n_block));
    run<<<hx_grid(n_block, g.n_patch), SIZE, n_byte, hx_cuda_of(p.dev)->stream>>>(
        hx_view(p, group, hx_slice{0, g.n_patch}), d_elem, model.lambda / model.mu,
        model.mu / 512.0, model.d_modulus, model.d_xyz, p.d_partial, d_diag);
    return HX_LAUNCHED("diagonal");
}

template <int SIZE, int ROWS, class Forces = hx_forces<SIZE, 8>>
int launch_kind(const hx_cuda_patches &p, int group, const hx_device_model &model,
                const int32_t *d_elem, double *d_diag)
{
    return model.has_collapsed ? launch<SIZE, ROWS, Forces, true>(p, group, model, d_elem, d_diag)
                               : launch<SIZE, ROWS, Forces, false>(p, group, model, d_elem, d_diag);
}

} // namespace

int hx_patches_diagonal(const hx_cuda_patches &p, int group, const hx_device_model &model,
                        const int32_t *d_elem, double *d_diag)
{
    switch (p.group[group].size) {
    case HX_OTF_PATCH:
        return launch_kind<HX_OTF_PATCH, HX_OTF_ROWS>(p, group, model, d_elem, d_diag);
    case HX_DEDUP_PATCH:
        return launch_kind<HX_DEDUP_PATCH, HX_DEDUP_ROWS, hx_coloured_forces<HX_DEDUP_PATCH>>(
            p, group, model, d_elem, d_diag);
    case HX_WIDE_PATCH:
        return launch_kind<HX_WIDE_PATCH, HX_WIDE_ROWS>(p, group, model, d_elem, d_diag);
    default:
        return HX_RAISE(HX_EDEVICE, "the diagonal does not support patches of %d elements",
                        p.group[group].size);
    }
}
