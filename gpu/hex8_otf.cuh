// The product of one element from its coordinates, by sum factorisation in the modes
// {1, r, s, t, rs, rt, st, rst} of the trilinear map (no Ke).
//
// A nodal field v has at (r, s, t) the reference derivative
//     v_r = R + s RS + t RT + s t RST (and cyclic), R.. its modes.
// All Gauss points have |r| = |s| = |t| = g = 1/sqrt(3): with RS, RT, ST scaled by g and RST by g^2
// the points differ in signs only, so derivatives are additions. With J = x_ref, H = u_ref adj(J),
// the stress is c (lambda tr H I + mu (H + H')), c = E / det J, and what returns to the modes is
// stress adj(J)'. Factors of 1/8 (modes) are gathered in one constant: E / 512 / det of the
// unscaled modes.
#ifndef HX_HEX8_OTF_CUH
#define HX_HEX8_OTF_CUH

#include "cuda_device.cuh"

enum { HX_R, HX_S, HX_T, HX_RS, HX_RT, HX_ST, HX_RST, HX_N_MODE };

constexpr double HX_GAUSS = 0.57735026918962576451;

// Eight corner values to the seven scaled modes that have a derivative (times 8). 23 additions.
__device__ __forceinline__ void hx_to_modes(const double v[8], double m[HX_N_MODE])
{
    const double a0 = v[1] + v[0], d0 = v[1] - v[0], a1 = v[2] + v[3], d1 = v[2] - v[3];
    const double a2 = v[5] + v[4], d2 = v[5] - v[4], a3 = v[6] + v[7], d3 = v[6] - v[7];
    const double r0 = d0 + d1, rs0 = d1 - d0, s0 = a1 - a0, n0 = a1 + a0;
    const double r1 = d2 + d3, rs1 = d3 - d2, s1 = a3 - a2, n1 = a3 + a2;
    m[HX_R] = r0 + r1;
    m[HX_S] = s0 + s1;
    m[HX_T] = n1 - n0;
    m[HX_RS] = HX_GAUSS * (rs0 + rs1);
    m[HX_RT] = HX_GAUSS * (r1 - r0);
    m[HX_ST] = HX_GAUSS * (s1 - s0);
    m[HX_RST] = (1.0 / 3.0) * (rs1 - rs0);
}

// The transpose: modes to the eight corners.
__device__ __forceinline__ void hx_from_modes(const double m[HX_N_MODE], double v[8])
{
    const double rt = HX_GAUSS * m[HX_RT], st = HX_GAUSS * m[HX_ST], rs = HX_GAUSS * m[HX_RS];
    const double rst = (1.0 / 3.0) * m[HX_RST];
    const double r0 = m[HX_R] - rt, r1 = m[HX_R] + rt, s0 = m[HX_S] - st, s1 = m[HX_S] + st;
    const double rs0 = rs - rst, rs1 = rs + rst, t = m[HX_T];
    const double d0 = r0 - rs0, d1 = r0 + rs0, d2 = r1 - rs1, d3 = r1 + rs1;
    const double a0 = -t - s0, a1 = s0 - t, a2 = t - s1, a3 = t + s1;
    v[0] = a0 - d0, v[1] = a0 + d0, v[2] = a1 + d1, v[3] = a1 - d1;
    v[4] = a2 - d2, v[5] = a2 + d2, v[6] = a3 + d3, v[7] = a3 - d3;
}

// 1 / x of a positive, normal x: the hardware's 20-bit guess and two Newton steps, without the
// branches of an IEEE division.
__device__ __forceinline__ double hx_reciprocal(double x)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    r = fma(r, fma(-x, r, 1.0), r);
    return fma(r, fma(-x, r, 1.0), r);
}

// At one Gauss point: j[k][i] = dx_i/dk, h[k][i] = du_i/dk (k = r, s, t; unscaled modes) to the
// forces p[k][i] that belong to the same derivatives. scale = E / 512.
__device__ __forceinline__ void hx_point(const double j[3][3], const double du[3][3], double lambda,
                                         double mu, double scale, double p[3][3])
{
    double adj[3][3]; // adj[k][i] = det * d xi_k / d x_i
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            adj[k][i] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    }
    const double det = j[0][0] * adj[0][0] + j[0][1] * adj[0][1] + j[0][2] * adj[0][2];
    const double c = scale * hx_reciprocal(det);
    double h[3][3]; // h[i][l] = det * du_i / dx_l
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int l = 0; l < 3; l++)
            h[i][l] = du[0][i] * adj[0][l] + du[1][i] * adj[1][l] + du[2][i] * adj[2][l];
    const double cm = c * mu, cl = c * lambda * (h[0][0] + h[1][1] + h[2][2]);
    const double sxx = cl + 2.0 * cm * h[0][0], syy = cl + 2.0 * cm * h[1][1];
    const double szz = cl + 2.0 * cm * h[2][2];
    const double sxy = cm * (h[0][1] + h[1][0]), syz = cm * (h[1][2] + h[2][1]);
    const double sxz = cm * (h[0][2] + h[2][0]);
#pragma unroll
    for (int k = 0; k < 3; k++) {
        p[k][0] = sxx * adj[k][0] + sxy * adj[k][1] + sxz * adj[k][2];
        p[k][1] = sxy * adj[k][0] + syy * adj[k][1] + syz * adj[k][2];
        p[k][2] = sxz * adj[k][0] + syz * adj[k][1] + szz * adj[k][2];
    }
}

// Adds to the force modes f[mode][3] of an element, from coordinate modes x and displacement modes
// u.
__device__ __forceinline__ void hx_element_modes(const double x[HX_N_MODE][3],
                                                 const double u[HX_N_MODE][3], double lambda,
                                                 double mu, double scale, double f[HX_N_MODE][3])
{
#pragma unroll
    for (int it = 0; it < 2; it++) {
        const double t = it ? 1.0 : -1.0;
        double xr[3], xs[3], xrs[3], ur[3], us[3], urs[3];
        double fr[3] = {0, 0, 0}, frs[3] = {0, 0, 0}, fs[2][3] = {{0, 0, 0}, {0, 0, 0}};
#pragma unroll
        for (int i = 0; i < 3; i++) {
            xr[i] = x[HX_R][i] + t * x[HX_RT][i];
            xs[i] = x[HX_S][i] + t * x[HX_ST][i];
            xrs[i] = x[HX_RS][i] + t * x[HX_RST][i];
            ur[i] = u[HX_R][i] + t * u[HX_RT][i];
            us[i] = u[HX_S][i] + t * u[HX_ST][i];
            urs[i] = u[HX_RS][i] + t * u[HX_RST][i];
        }
#pragma unroll
        for (int is = 0; is < 2; is++) {
            const double s = is ? 1.0 : -1.0;
            double j[3][3], du[3][3], xt[3], xrt[3], ut[3], urt[3];
            double gr[3] = {0, 0, 0}, gt[3] = {0, 0, 0}, grt[3] = {0, 0, 0};
#pragma unroll
            for (int i = 0; i < 3; i++) {
                j[0][i] = xr[i] + s * xrs[i];
                du[0][i] = ur[i] + s * urs[i];
                xt[i] = x[HX_T][i] + s * x[HX_ST][i];
                xrt[i] = x[HX_RT][i] + s * x[HX_RST][i];
                ut[i] = u[HX_T][i] + s * u[HX_ST][i];
                urt[i] = u[HX_RT][i] + s * u[HX_RST][i];
            }
#pragma unroll
            for (int ir = 0; ir < 2; ir++) {
                const double r = ir ? 1.0 : -1.0;
                double p[3][3];
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    j[1][i] = xs[i] + r * xrs[i];
                    du[1][i] = us[i] + r * urs[i];
                    j[2][i] = xt[i] + r * xrt[i];
                    du[2][i] = ut[i] + r * urt[i];
                }
                hx_point(j, du, lambda, mu, scale, p);
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    gr[i] += p[0][i];
                    fs[ir][i] += p[1][i];
                    gt[i] += p[2][i];
                    grt[i] += r * p[2][i];
                }
            }
#pragma unroll
            for (int i = 0; i < 3; i++) {
                fr[i] += gr[i];
                frs[i] += s * gr[i];
                f[HX_T][i] += gt[i];
                f[HX_ST][i] += s * gt[i];
                f[HX_RT][i] += grt[i];
                f[HX_RST][i] += s * grt[i];
            }
        }
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const double sum = fs[0][i] + fs[1][i];
            frs[i] += fs[1][i] - fs[0][i];
            f[HX_R][i] += fr[i];
            f[HX_RT][i] += t * fr[i];
            f[HX_S][i] += sum;
            f[HX_ST][i] += t * sum;
            f[HX_RS][i] += frs[i];
            f[HX_RST][i] += t * frs[i];
        }
    }
}

#endif
