// The kernel declared in otf_cuda.cuh.
#include "otf_cuda.cuh"

#include "core/base/memory.h"
#include "otf_body.cuh"

namespace
{

// Blocks per multiprocessor: 6 blocks of 64 threads leave 168 registers per thread; 10 blocks leave
// 96; 2 blocks of 384 threads, in single precision, leave 80.
template <class T, int SIZE>
constexpr int N_RESIDENT = SIZE > HX_OTF_PATCH ? 2
                           : sizeof(T) == 8    ? 6
                                               : 10;
template <int SIZE> constexpr int N_ROW = SIZE > HX_OTF_PATCH ? HX_WIDE_ROWS : HX_OTF_ROWS;

template <class T, int SIZE>
__global__ void __launch_bounds__(SIZE, N_RESIDENT<T, SIZE>)
    kernel(hx_patch_view g, const int32_t *__restrict__ elem, T ratio, T scale,
           const double *__restrict__ modulus, const T *__restrict__ row_xyz,
           T *__restrict__ partial, const T *__restrict__ x, T *__restrict__ y)
{
    const hx_otf_body<T, SIZE, (SIZE > HX_OTF_PATCH)> b = {ratio, scale};
    hx_run_patches<T, SIZE, 2, N_ROW<SIZE>, hx_forces<SIZE, 8>>(g, elem, modulus, row_xyz, partial,
                                                                x, y, b);
}

template <class T, int SIZE>
constexpr int N_BYTE = hx_patch_memory<T, SIZE, 2, N_ROW<SIZE>, hx_forces<SIZE, 8>>::bytes;

template <class T, int SIZE>
int launch(const hx_cuda_patches &p, int group, const hx_slice &patches,
           const hx_device_model &model, const int32_t *d_elem, const T *d_row_xyz, int n_block,
           const T *d_x, T *d_y)
{
    kernel<T, SIZE>
        <<<hx_grid(n_block, patches.n), SIZE, N_BYTE<T, SIZE>, hx_cuda_of(p.dev)->stream>>>(
            hx_view(p, group, patches), d_elem, static_cast<T>(model.lambda / model.mu),
            static_cast<T>(model.mu / 512.0), model.d_modulus, d_row_xyz,
            reinterpret_cast<T *>(p.d_partial), d_x, d_y);
    return HX_LAUNCHED("otf");
}

template <class T, int SIZE> int blocks(const hx_cuda_patches &p, int *n_block)
{
    return hx_fused_blocks(p.dev, kernel<T, SIZE>, SIZE, N_BYTE<T, SIZE>, n_block);
}

template <class T>
__global__ void coordinates_kernel(hx_patch_view g, const double *__restrict__ xyz,
                                   T *__restrict__ row_xyz)
{
    const hx_span span = g.span[blockIdx.x];
    const int64_t origin = g.row_node[span.begin] & INT32_MAX;
    T *const to = row_xyz + 3 * (span.begin - g.first_row);
    for (int k = static_cast<int>(threadIdx.x); k < span.n; k += HX_OTF_PATCH) {
        const int64_t a = g.row_node[span.begin + k] & INT32_MAX;
        const int position = g.row_position[span.begin + k];
        for (int i = 0; i < 3; i++)
            to[3 * position + i] = static_cast<T>(xyz[3 * a + i] - xyz[3 * origin + i]);
    }
}

} // namespace

template <class T>
int hx_otf_launch(const hx_cuda_patches &p, int group, const hx_slice &patches,
                  const hx_device_model &model, const int32_t *d_elem, const T *d_row_xyz,
                  int n_block, const T *d_x, T *d_y)
{
    if (patches.n == 0) return HX_OK;
#ifdef HX_HAVE_WIDE
    if (p.group[group].size == HX_WIDE_PATCH) {
        if constexpr (sizeof(T) == sizeof(double))
            return hx_otf_wide_launch(p, group, patches, model, d_elem, d_row_xyz, n_block, d_x,
                                      d_y);
        else
            return launch<T, HX_WIDE_PATCH>(p, group, patches, model, d_elem, d_row_xyz, n_block,
                                            d_x, d_y);
    }
#endif
    return launch<T, HX_OTF_PATCH>(p, group, patches, model, d_elem, d_row_xyz, n_block, d_x, d_y);
}

template <class T> int hx_otf_blocks(const hx_cuda_patches &p, int group, int *n_block)
{
    const hx_patch_group &g = p.group[group];
    if (g.n_patch == 0) return HX_OK;
#ifdef HX_HAVE_WIDE
    if (g.size == HX_WIDE_PATCH) {
        if constexpr (sizeof(T) == sizeof(double))
            return hx_otf_wide_blocks(p, n_block);
        else
            return blocks<T, HX_WIDE_PATCH>(p, n_block);
    }
#endif
    return blocks<T, HX_OTF_PATCH>(p, n_block);
}

template <class T>
static int fill_coordinates(const hx_cuda_patches &p, int group, const hx_device_model &model,
                            T *d_row_xyz)
{
    const int64_t n_patch = p.group[group].n_patch;
    if (n_patch == 0) return HX_OK;
    coordinates_kernel<T>
        <<<static_cast<unsigned>(n_patch), HX_OTF_PATCH, 0, hx_cuda_of(p.dev)->stream>>>(
            hx_view(p, group, hx_slice{0, n_patch}), model.d_xyz, d_row_xyz);
    return HX_LAUNCHED("row coordinates");
}

template <class T>
int hx_otf_coordinates(const hx_cuda_patches &p, int group, const hx_device_model &model,
                       T **d_row_xyz)
{
    const hx_patch_group &g = p.group[group];
    const size_t n_byte = static_cast<size_t>(g.n_row) * 3 * sizeof(T);
    size_t n_free, n_total;
    char want[32], have[32];
    HX_TRY(p.dev->ops->memory(p.dev, &n_free, &n_total));
    if (n_byte > n_free)
        return HX_RAISE(HX_EENV,
                        "coordinates by row need %s on device 'cuda', but only %s is free%s",
                        hx_format_bytes(static_cast<double>(n_byte), want, sizeof want),
                        hx_format_bytes(static_cast<double>(n_free), have, sizeof have),
                        sizeof(T) == 4 ? "; use solver.precision = \"double\"" : "");
    HX_TRY(p.dev->ops->alloc(p.dev, n_byte, d_row_xyz));
    const int rc = fill_coordinates(p, group, model, *d_row_xyz);
    if (rc == HX_OK) return HX_OK;
    p.dev->ops->release(p.dev, *d_row_xyz);
    *d_row_xyz = nullptr; // a pointer that is not nullptr has been filled
    return rc;
}

template int hx_otf_launch<double>(const hx_cuda_patches &, int, const hx_slice &,
                                   const hx_device_model &, const int32_t *, const double *, int,
                                   const double *, double *);
template int hx_otf_launch<float>(const hx_cuda_patches &, int, const hx_slice &,
                                  const hx_device_model &, const int32_t *, const float *, int,
                                  const float *, float *);
template int hx_otf_blocks<double>(const hx_cuda_patches &, int, int *);
template int hx_otf_blocks<float>(const hx_cuda_patches &, int, int *);
template int hx_otf_coordinates<double>(const hx_cuda_patches &, int, const hx_device_model &,
                                        double **);
template int hx_otf_coordinates<float>(const hx_cuda_patches &, int, const hx_device_model &,
                                       float **);
