// Access to elements on the GPU, and the kernel that fills the stored Ke of an operator in its
// layout.
#ifndef HX_HEX8_CUDA_CUH
#define HX_HEX8_CUDA_CUH

#include "../device/cuda_device.cuh"
#include "core/mesh/hex8.h"
#include "core/operator/device_mesh.h"

// Gathers the values at one element's corners from a nodal vector [n_node][3] into v[24].
__device__ __forceinline__ void hx_gather(const int32_t *__restrict__ conn8,
                                          const double *__restrict__ nodal, double v[24])
{
#pragma unroll
    for (int a = 0; a < 8; a++) {
        const double *from = nodal + 3 * static_cast<int64_t>(conn8[a]);
        v[3 * a] = from[0];
        v[3 * a + 1] = from[1];
        v[3 * a + 2] = from[2];
    }
}

// A layout defines where entry (i, j) of Ke of element e is stored:
//     __device__ size_t at(int64_t e, int i, int j)
//     static size_t entries(int64_t n_elem)       number of doubles to allocate

// The layout of P1: Ke[e][24][24].
struct hx_row_major {
    __device__ static size_t at(int64_t e, int i, int j)
    {
        return 576 * static_cast<size_t>(e) + 24 * i + j;
    }
    static size_t entries(int64_t n_elem)
    {
        return 576 * static_cast<size_t>(n_elem);
    }
};

// hx_hex8_balance for rows whose eight tiles are held by eight neighbouring lanes, b = 0..7; all of
// them call it.
__device__ __forceinline__ void hx_balance_tiles(int a, int b, double tile[3][3])
{
    const unsigned eight = 0xffu << (threadIdx.x & 24u);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            hx_hex8_sum others = {0.0, 0.0};
            for (int c = 0; c < 8; c++) {
                const double other = __shfl_sync(eight, tile[i][j], c, 8);
                if (c != a) hx_hex8_sum_add(&others, other);
            }
            if (a == b) tile[i][j] = -(others.sum + others.rest);
        }
}

// One thread per 3x3 tile, 64 per element. Not performance-critical.
template <class Layout> __global__ void hx_fill_ke_kernel(hx_device_model model, double *ke)
{
    const int64_t thread = hx_grid_thread();
    const int64_t e = thread >> 6;
    const int a = static_cast<int>(thread >> 3) & 7, b = static_cast<int>(thread) & 7;
    double x[24], tile[3][3];
    if (e >= model.n_elem) return;
    hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
    hx_hex8_tile(x, a, b, model.lambda, model.mu, tile);
    hx_balance_tiles(a, b, tile);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) ke[Layout::at(e, 3 * a + i, 3 * b + j)] = tile[i][j];
}

// Allocates and fills *d_ke, which the caller owns. Entries that pad the last group are 0.
template <class Layout> int hx_fill_ke(hx_device *dev, const hx_device_model *model, double **d_ke)
{
    const size_t n_bytes = Layout::entries(model->n_elem) * sizeof(double);
    HX_TRY(dev->ops->alloc(dev, n_bytes, d_ke));
    HX_TRY(dev->ops->zero(dev, *d_ke, n_bytes));
    return hx_launch<128>(dev, "fill_ke", 64 * model->n_elem, hx_fill_ke_kernel<Layout>, *model,
                          *d_ke);
}

#endif
