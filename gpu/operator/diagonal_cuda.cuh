// The diagonal of K through the patches of a matrix-free operator: every element is computed once,
// whereas the device's general kernel (element_cuda.cu) computes it for each of its corners.
#ifndef HX_DIAGONAL_CUDA_CUH
#define HX_DIAGONAL_CUDA_CUH

#include "core/mesh/cell.h"
#include "core/operator/device_mesh.h"
#include "core/operator/patches.h"
#include "hex8_otf.cuh"
#include "patches_cuda.cuh"

// Diagonal entries of one element from its coordinates: column[Forces::at(i, a)], times the
// modulus. With the unscaled modes of hex8_otf.cuh the gradient of corner a is G / det, G = adj' D,
// where D are products of signs. The entry is the sum over points of E / (512 det)
// ((lambda + mu) G_i^2 + mu |G|^2).
template <class Forces>
HX_HD void hx_element_diagonal(const hx_field<double> &x, hx_stiffness<double> k, double *column)
{
    const double g = HX_GAUSS;
    double sum[8][3] = {};
#pragma unroll 1
    for (int t = 0; t < 2; t++) {
        double xr[2][3], xs[2][3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const double r = t ? x.r[1][i] : x.r[0][i], rs = t ? x.rs[1][i] : x.rs[0][i],
                         s = t ? x.s[1][i] : x.s[0][i];
            xr[0][i] = fma(-g, rs, r), xr[1][i] = fma(g, rs, r);
            xs[0][i] = fma(-g, rs, s), xs[1][i] = fma(g, rs, s);
        }
#pragma unroll
        for (int q = 0; q < 4; q++) {
            const int r = q & 1, s = q >> 1;
            const double *const j[3] = {xr[s], xs[r], x.dt[s][r]};
            double adj[3][3];
#pragma unroll
            for (int a = 0; a < 3; a++) {
                const int b = (a + 1) % 3, c = (a + 2) % 3;
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
                    adj[a][i] = fma(j[b][i1], j[c][i2], -(j[b][i2] * j[c][i1]));
                }
            }
            const double factor = k.scale * hx_reciprocal(hx_dot3(j[0], adj[0]));
            const double at[3] = {r ? g : -g, s ? g : -g, t ? g : -g};
#pragma unroll
            for (int a = 0; a < 8; a++) {
                const double s0 = ((a + 1) >> 1) & 1 ? 1.0 : -1.0, s1 = (a >> 1) & 1 ? 1.0 : -1.0,
                             s2 = a >> 2 ? 1.0 : -1.0;
                const double f0 = fma(s0, at[0], 1.0), f1 = fma(s1, at[1], 1.0),
                             f2 = fma(s2, at[2], 1.0);
                const double d[3] = {s0 * f1 * f2, s1 * f0 * f2, s2 * f0 * f1};
                double square[3], all = 0.0;
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    const double v = fma(adj[2][i], d[2], fma(adj[1][i], d[1], adj[0][i] * d[0]));
                    square[i] = v * v;
                    all += square[i];
                }
#pragma unroll
                for (int i = 0; i < 3; i++)
                    sum[a][i] = fma(factor, fma(k.ratio + 1.0, square[i], all), sum[a][i]);
            }
        }
    }
#pragma unroll
    for (int a = 0; a < 8; a++)
#pragma unroll
        for (int i = 0; i < 3; i++) column[Forces::at(i, a)] = sum[a][i];
}

// Cofactors of the Jacobian (unscaled modes) at Gauss point q; returns its determinant.
HX_HD double hx_point_cofactors(const hx_field<double> &x, int q, double adj[3][3])
{
    const double g = HX_GAUSS;
    const bool r = q & 1, s = q & 2, t = q & 4;
    double j[3][3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const double xr = t ? x.r[1][i] : x.r[0][i], rs = t ? x.rs[1][i] : x.rs[0][i],
                     xs = t ? x.s[1][i] : x.s[0][i];
        const double dm = r ? x.dt[0][1][i] : x.dt[0][0][i], dp = r ? x.dt[1][1][i] : x.dt[1][0][i];
        j[0][i] = fma(s ? g : -g, rs, xr);
        j[1][i] = fma(r ? g : -g, rs, xs);
        j[2][i] = s ? dp : dm;
    }
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            adj[a][i] = fma(j[b][i1], j[c][i2], -(j[b][i2] * j[c][i1]));
        }
    }
    return hx_dot3(j[0], adj[0]);
}

// det times the gradients of all corners at Gauss point q.
HX_HD void hx_point_gradients(int q, const double adj[3][3], double v[8][3])
{
    const double g = HX_GAUSS, r = q & 1 ? g : -g, s = q & 2 ? g : -g, t = q & 4 ? g : -g;
#pragma unroll
    for (int a = 0; a < 8; a++) {
        const double s0 = ((a + 1) >> 1) & 1 ? 1.0 : -1.0, s1 = (a >> 1) & 1 ? 1.0 : -1.0,
                     s2 = a >> 2 ? 1.0 : -1.0;
        const double f0 = fma(s0, r, 1.0), f1 = fma(s1, s, 1.0), f2 = fma(s2, t, 1.0);
        const double d[3] = {s0 * f1 * f2, s1 * f0 * f2, s2 * f0 * f1};
#pragma unroll
        for (int i = 0; i < 3; i++)
            v[a][i] = fma(adj[2][i], d[2], fma(adj[1][i], d[1], adj[0][i] * d[0]));
    }
}

// hx_element_diagonal for a cell that may be collapsed: corners that name one node have one
// position. The node's entry, from the sum of their gradients, is at the first of them; it is 0 at
// the others.
template <class Forces>
HX_HD void hx_collapsed_diagonal(const hx_field<double> &x, const hx_eight &corner,
                                 hx_stiffness<double> k, double *column)
{
    // bits of all corners that name the same node, if this is the first of them; otherwise 0
    unsigned corners[8];
    double sum[8][3] = {};
#pragma unroll
    for (int a = 0; a < 8; a++) {
        corners[a] = 0;
#pragma unroll
        for (int b = 0; b < 8; b++)
            corners[a] |= static_cast<unsigned>(corner.v[b] == corner.v[a]) << b;
        if (!hx_cell_is_first(corners[a], a)) corners[a] = 0;
    }
#pragma unroll 1
    for (int q = 0; q < 8; q++) {
        double adj[3][3], v[8][3];
        const double factor = k.scale * hx_reciprocal(hx_point_cofactors(x, q, adj));
        hx_point_gradients(q, adj, v);
#pragma unroll
        for (int a = 0; a < 8; a++) {
            double all = 0.0, square[3];
#pragma unroll
            for (int i = 0; i < 3; i++) {
                double w = 0.0;
#pragma unroll
                for (int b = a; b < 8; b++)
                    if (corners[a] >> b & 1u) w += v[b][i];
                square[i] = w * w;
                all += square[i];
            }
#pragma unroll
            for (int i = 0; i < 3; i++)
                sum[a][i] = fma(factor, fma(k.ratio + 1.0, square[i], all), sum[a][i]);
        }
    }
#pragma unroll
    for (int a = 0; a < 8; a++)
#pragma unroll
        for (int i = 0; i < 3; i++) column[Forces::at(i, a)] = sum[a][i];
}

// For the patches of otf and dedup, of any of their sizes. The caller adds the sums of shared
// nodes.
int hx_patches_diagonal(const hx_cuda_patches &p, int group, const hx_device_model &model,
                        const int32_t *d_elem, double *d_diag);

#endif
