// The kernels of tetra_cuda.cuh.
#include "tetra_cuda.cuh"

namespace
{

constexpr int SIZE = HX_TETRA_PATCH, ROWS = HX_TETRA_ROWS;
using forces = hx_forces<SIZE, HX_TETRA_CORNERS>;

// Number of blocks per multiprocessor: 6 blocks of 128 threads leave 80 registers per thread, and
// fit into its shared memory.
constexpr int N_RESIDENT = 6;

template <class T> struct body {
    T ratio, scale;

    __device__ __forceinline__ void element(const hx_eight &corner, const T *coordinates,
                                            const T *displacements, T modulus, T *column) const
    {
        hx_tetra_forces<SIZE + 1>(corner, coordinates, displacements, {ratio, scale * modulus},
                                  column);
    }
};

template <class T>
__global__ void __launch_bounds__(SIZE, N_RESIDENT)
    kernel(hx_patch_view g, const int32_t *__restrict__ elem, T ratio, T scale,
           const double *__restrict__ modulus, const T *__restrict__ row_xyz,
           T *__restrict__ partial, const T *__restrict__ x, T *__restrict__ y)
{
    const body<T> b = {ratio, scale};
    hx_run_patches<T, SIZE, 2, ROWS, forces>(g, elem, modulus, row_xyz, partial, x, y, b);
}

// The coordinates take the place of a patch's nodal field.
struct diagonal_body {
    double ratio, scale;

    __device__ __forceinline__ void element(const hx_eight &corner, const double *,
                                            const double *coordinates, double modulus,
                                            double *column) const
    {
        hx_tetra_diagonal<SIZE + 1>(corner, coordinates, {ratio, scale * modulus}, column);
    }
};

__global__ void __launch_bounds__(SIZE)
    diagonal_kernel(hx_patch_view g, const int32_t *__restrict__ elem, double ratio, double scale,
                    const double *__restrict__ modulus, const double *__restrict__ xyz,
                    double *__restrict__ partial, double *__restrict__ diag)
{
    const diagonal_body b = {ratio, scale};
    hx_run_patches<double, SIZE, 1, ROWS, forces>(g, elem, modulus, nullptr, partial, xyz, diag, b);
}

template <class T> constexpr int N_BYTE = hx_patch_memory<T, SIZE, 2, ROWS, forces>::bytes;

} // namespace

template <class T>
int hx_tetra_launch(const hx_cuda_patches &p, int group, const hx_slice &patches,
                    const hx_device_model &model, const int32_t *d_elem, const T *d_row_xyz,
                    int n_block, const T *d_x, T *d_y)
{
    if (patches.n == 0) return HX_OK;
    kernel<T><<<hx_grid(n_block, patches.n), SIZE, N_BYTE<T>, hx_cuda_of(p.dev)->stream>>>(
        hx_view(p, group, patches), d_elem, static_cast<T>(model.lambda / model.mu),
        static_cast<T>(model.mu / 6.0), model.d_modulus, d_row_xyz,
        reinterpret_cast<T *>(p.d_partial), d_x, d_y);
    return HX_LAUNCHED("otf, tetrahedra");
}

template <class T> int hx_tetra_blocks(const hx_cuda_patches &p, int group, int *n_block)
{
    if (p.group[group].n_patch == 0) return HX_OK;
    return hx_fused_blocks(p.dev, kernel<T>, SIZE, N_BYTE<T>, n_block);
}

int hx_tetra_diagonal_launch(const hx_cuda_patches &p, int group, const hx_device_model &model,
                             const int32_t *d_elem, double *d_diag)
{
    constexpr int n_byte = hx_patch_memory<double, SIZE, 1, ROWS, forces>::bytes;
    const hx_patch_group &g = p.group[group];
    int n_block;
    if (g.n_patch == 0) return HX_OK;
    HX_TRY(hx_fused_blocks(p.dev, diagonal_kernel, SIZE, n_byte, &n_block));
    diagonal_kernel<<<hx_grid(n_block, g.n_patch), SIZE, n_byte, hx_cuda_of(p.dev)->stream>>>(
        hx_view(p, group, hx_slice{0, g.n_patch}), d_elem, model.lambda / model.mu, model.mu / 6.0,
        model.d_modulus, model.d_xyz, p.d_partial, d_diag);
    return HX_LAUNCHED("diagonal, tetrahedra");
}

template int hx_tetra_launch<double>(const hx_cuda_patches &, int, const hx_slice &,
                                     const hx_device_model &, const int32_t *, const double *, int,
                                     const double *, double *);
template int hx_tetra_launch<float>(const hx_cuda_patches &, int, const hx_slice &,
                                    const hx_device_model &, const int32_t *, const float *, int,
                                    const float *, float *);
template int hx_tetra_blocks<double>(const hx_cuda_patches &, int, int *);
template int hx_tetra_blocks<float>(const hx_cuda_patches &, int, int *);
