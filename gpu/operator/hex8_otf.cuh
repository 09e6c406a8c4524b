// The product of one element from its coordinates, by sum factorisation in the modes
// {1, r, s, t, rs, rt, st, rst} of the trilinear map, without Ke. T is double or float.
//
// A nodal field v has at (r, s, t) the reference derivative
//
//     v_r = R + s RS + t RT + s t RST (and cyclically), where R, ... are its modes,
//
// so v_r takes four values over the eight Gauss points, one for each (s, t), and likewise for the
// other derivatives: 12 values instead of 24. With J = x_ref and H = u_ref adj(J), the stress is
// c (lambda tr H I + mu (H + H')), c = E / det J, and the contribution to the modes is stress
// adj(J)'. The factors of 1/8 (modes) are collected in one constant: E / 512 / det of the unscaled
// modes.
//
// Instructions per element, counting an FMA once: corners to modes 138, modes to derivatives 132,
// points 720, back to modes 117, back to corners 66.
#ifndef HX_HEX8_OTF_CUH
#define HX_HEX8_OTF_CUH

#include "../device/cuda_device.cuh"
#include "core/base/host_device.h"

enum { HX_R, HX_S, HX_T, HX_RS, HX_RT, HX_ST, HX_RST, HX_N_MODE };

constexpr double HX_GAUSS = 0.57735026918962576451;

// Transforms eight corner values to the seven modes that have a derivative (times 8). 23 additions.
template <class T> HX_HD void hx_to_modes(const T v[8], T m[HX_N_MODE])
{
    const T a0 = v[1] + v[0], d0 = v[1] - v[0], a1 = v[2] + v[3], d1 = v[2] - v[3];
    const T a2 = v[5] + v[4], d2 = v[5] - v[4], a3 = v[6] + v[7], d3 = v[6] - v[7];
    const T r0 = d0 + d1, rs0 = d1 - d0, s0 = a1 - a0, n0 = a1 + a0;
    const T r1 = d2 + d3, rs1 = d3 - d2, s1 = a3 - a2, n1 = a3 + a2;
    m[HX_R] = r0 + r1;
    m[HX_S] = s0 + s1;
    m[HX_T] = n1 - n0;
    m[HX_RS] = rs0 + rs1;
    m[HX_RT] = r1 - r0;
    m[HX_ST] = s1 - s0;
    m[HX_RST] = rs1 - rs0;
}

// In single precision, subtracts the common part of the corner values first, so that it does not
// cause rounding errors in the sums.
template <class T> HX_HD void hx_drop_translation(T v[8])
{
    if constexpr (sizeof(T) < sizeof(double)) {
#pragma unroll
        for (int c = 7; c >= 0; c--) v[c] -= v[0];
    }
}

// The transpose: modes to the eight corners. RS, RT and ST are multiplied by `g`, and RST by g^2.
template <class T> HX_HD void hx_from_modes(const T m[HX_N_MODE], T g, T v[8])
{
    const T r0 = fma(-g, m[HX_RT], m[HX_R]), r1 = fma(g, m[HX_RT], m[HX_R]);
    const T s0 = fma(-g, m[HX_ST], m[HX_S]), s1 = fma(g, m[HX_ST], m[HX_S]);
    const T rs0 = fma(-g, m[HX_RST], m[HX_RS]), rs1 = fma(g, m[HX_RST], m[HX_RS]), t = m[HX_T];
    const T d0 = fma(-g, rs0, r0), d1 = fma(g, rs0, r0), d2 = fma(-g, rs1, r1),
            d3 = fma(g, rs1, r1);
    const T a0 = -t - s0, a1 = s0 - t, a2 = t - s1, a3 = t + s1;
    v[0] = a0 - d0, v[1] = a0 + d0, v[2] = a1 + d1, v[3] = a1 - d1;
    v[4] = a2 - d2, v[5] = a2 + d2, v[6] = a3 + d3, v[7] = a3 - d3;
}

// 1 / x for a positive, normal x, from the hardware's approximation, without the branches of an
// IEEE division: 20 bits and one step of third order, or 23 bits and one Newton step. On the host,
// which only runs tests of it, the approximation has 24 bits.
HX_HD double hx_reciprocal(double x)
{
    double r;
#ifdef __CUDA_ARCH__
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
#else
    r = 1.0f / static_cast<float>(x);
#endif
    const double e = fma(-x, r, 1.0);
    return fma(r, fma(e, e, e), r);
}

HX_HD float hx_reciprocal(float x)
{
    float r;
#ifdef __CUDA_ARCH__
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
#else
    r = 1.0f / x;
#endif
    return fma(r, fma(-x, r, 1.0f), r);
}

template <class T> HX_HD T hx_dot3(const T a[3], const T b[3])
{
    return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0]));
}

// Parameters of a product: ratio = lambda / mu of the material, scale = E mu / 512 of the element.
template <class T> struct hx_stiffness {
    T ratio, scale;
};

// Computes the forces p[k][i] conjugate to the derivatives at one Gauss point from
// j[k][i] = dx_i/dk and du[k][i] = du_i/dk (k = r, s, t; unscaled modes). 90 instructions.
template <class T>
HX_HD void hx_point(const T *const j[3], const T *const du[3], hx_stiffness<T> k, T p[3][3])
{
    T adj[3][3]; // adj[k][i] = det * d xi_k / d x_i
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            adj[a][i] = fma(j[b][i1], j[c][i2], -(j[b][i2] * j[c][i1]));
        }
    }
    const T det = hx_dot3(j[0], adj[0]);
    const T mu = k.scale * hx_reciprocal(det);
    // det times strains; shear strains doubled
    const auto strain = [&](int i, int l) {
        return fma(du[2][i], adj[2][l], fma(du[1][i], adj[1][l], du[0][i] * adj[0][l]));
    };
    const auto shear = [&](int i, int l) {
        return mu * fma(du[2][l], adj[2][i],
                        fma(du[1][l], adj[1][i], fma(du[0][l], adj[0][i], strain(i, l))));
    };
    const T exx = strain(0, 0), eyy = strain(1, 1), ezz = strain(2, 2);
    const T mu2 = mu + mu, bulk = (mu * k.ratio) * (exx + eyy + ezz);
    const T sxx = fma(mu2, exx, bulk), syy = fma(mu2, eyy, bulk), szz = fma(mu2, ezz, bulk);
    const T sxy = shear(0, 1), syz = shear(1, 2), sxz = shear(0, 2);
    const T stress[3][3] = {{sxx, sxy, sxz}, {sxy, syy, syz}, {sxz, syz, szz}};
#pragma unroll
    for (int a = 0; a < 3; a++)
#pragma unroll
        for (int i = 0; i < 3; i++) p[a][i] = hx_dot3(stress[i], adj[a]);
}

// The derivatives of a field on an element. At t = -g and +g: r, s and rs (the r- and s-derivatives
// before the last interpolation); and the t-derivative at its four points.
template <class T> struct hx_field {
    T r[2][3], s[2][3], rs[2][3]; // [t][component]
    T dt[2][2][3];                // [s][r][component]
};

template <class T> HX_HD void hx_field_set(const T m[HX_N_MODE], int i, hx_field<T> &f)
{
    const T g = static_cast<T>(HX_GAUSS);
    const T tm = fma(-g, m[HX_ST], m[HX_T]), tp = fma(g, m[HX_ST], m[HX_T]);
    const T rm = fma(-g, m[HX_RST], m[HX_RT]), rp = fma(g, m[HX_RST], m[HX_RT]);
    f.r[0][i] = fma(-g, m[HX_RT], m[HX_R]), f.r[1][i] = fma(g, m[HX_RT], m[HX_R]);
    f.s[0][i] = fma(-g, m[HX_ST], m[HX_S]), f.s[1][i] = fma(g, m[HX_ST], m[HX_S]);
    f.rs[0][i] = fma(-g, m[HX_RST], m[HX_RS]), f.rs[1][i] = fma(g, m[HX_RST], m[HX_RS]);
    f.dt[0][0][i] = fma(-g, rm, tm), f.dt[0][1][i] = fma(g, rm, tm);
    f.dt[1][0][i] = fma(-g, rp, tp), f.dt[1][1][i] = fma(g, rp, tp);
}

// Forces before they are transformed back to the modes.
template <class T> struct hx_force {
    T r[2][3], s[2][3], rs[2][3]; // [t][component]
    T dt[2][2][3];                // [s][r][component]
};

template <class T> HX_HD void hx_force_modes(const hx_force<T> &f, int i, T m[HX_N_MODE])
{
    const T m0 = f.dt[0][0][i] + f.dt[0][1][i], d0 = f.dt[0][1][i] - f.dt[0][0][i];
    const T m1 = f.dt[1][0][i] + f.dt[1][1][i], d1 = f.dt[1][1][i] - f.dt[1][0][i];
    m[HX_R] = f.r[1][i] + f.r[0][i];
    m[HX_S] = f.s[1][i] + f.s[0][i];
    m[HX_RS] = f.rs[1][i] + f.rs[0][i];
    m[HX_T] = m0 + m1;
    m[HX_RT] = (f.r[1][i] - f.r[0][i]) + (d0 + d1);
    m[HX_ST] = (f.s[1][i] - f.s[0][i]) + (m1 - m0);
    m[HX_RST] = (f.rs[1][i] - f.rs[0][i]) + (d1 - d0);
}

// The four points with one t (0 or 1) of an element with geometry x: sets the parts of f for that
// t; f.dt is set for t = 0 and added to for t = 1.
template <class T>
HX_HD void hx_points(const hx_field<T> &x, const hx_field<T> &u, hx_stiffness<T> k, int t,
                     hx_force<T> &f)
{
    const T g = static_cast<T>(HX_GAUSS);
    // r-derivatives indexed by s, s-derivatives indexed by r
    T xr[2][3], xs[2][3], ur[2][3], us[2][3];
    T gr[2][3], gs[2][3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        xr[0][i] = fma(-g, x.rs[t][i], x.r[t][i]), xr[1][i] = fma(g, x.rs[t][i], x.r[t][i]);
        xs[0][i] = fma(-g, x.rs[t][i], x.s[t][i]), xs[1][i] = fma(g, x.rs[t][i], x.s[t][i]);
        ur[0][i] = fma(-g, u.rs[t][i], u.r[t][i]), ur[1][i] = fma(g, u.rs[t][i], u.r[t][i]);
        us[0][i] = fma(-g, u.rs[t][i], u.s[t][i]), us[1][i] = fma(g, u.rs[t][i], u.s[t][i]);
    }
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            T p[3][3];
            const T *const j[3] = {xr[s], xs[r], x.dt[s][r]};
            const T *const du[3] = {ur[s], us[r], u.dt[s][r]};
            hx_point(j, du, k, p);
#pragma unroll
            for (int i = 0; i < 3; i++) {
                gr[s][i] = r == 0 ? p[0][i] : gr[s][i] + p[0][i];
                gs[r][i] = s == 0 ? p[1][i] : gs[r][i] + p[1][i];
                f.dt[s][r][i] = t == 0 ? p[2][i] : f.dt[s][r][i] + p[2][i];
            }
        }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        f.r[t][i] = gr[0][i] + gr[1][i];
        f.s[t][i] = gs[0][i] + gs[1][i];
        f.rs[t][i] = (gr[1][i] - gr[0][i]) + (gs[1][i] - gs[0][i]);
    }
}

#endif
