// Tiles of hexahedra on the GPU, one pair of corners at a time: gradients h = sqrt(det J) g at the
// integration points, as core/matrix/form.h expects them.
#ifndef HX_HEX8_TILES_CUH
#define HX_HEX8_TILES_CUH

#include "core/matrix/matrix.h"
#include "core/mesh/hex8.h"

// root[i][k] = sqrt(det J) d xi_k / d x_i at integration point q, from the 8 corners.
__device__ __forceinline__ void hx_root_jacobian(const double x[24], int q, double root[3][3])
{
    const double det =
        hx_hex8_jacobian(x, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1), hx_hex8_gauss(q, 2), root);
    const double f = sqrt(det);
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = 0; k < 3; k++) root[i][k] *= f;
}

// h of corner a at integration point q.
__device__ __forceinline__ void hx_root_gradient(const double root[3][3], int q, int a, double h[3])
{
    double d[3];
    hx_hex8_shape_ref_gradient(a, hx_hex8_gauss(q, 0), hx_hex8_gauss(q, 1), hx_hex8_gauss(q, 2), d);
#pragma unroll
    for (int i = 0; i < 3; i++) h[i] = root[i][0] * d[0] + root[i][1] * d[1] + root[i][2] * d[2];
}

// Stores number t of a matrix, rounded if its values are floats.
__device__ __forceinline__ void hx_matrix_store(const hx_matrix &m, int64_t t, double value)
{
    if (m.spec.single)
        static_cast<float *>(m.d_value)[t] = static_cast<float>(value);
    else
        static_cast<double *>(m.d_value)[t] = value;
}

#endif
