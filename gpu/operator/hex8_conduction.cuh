// The product of one element for heat conduction from its coordinates: hex8_otf.cuh with one field
// in place of three. With the columns a_k of adj(J), h = sum a_k T_k = det grad T, and the
// contribution to the derivatives is c a_k . h, where c = k / 512 / det of the unscaled modes.
#ifndef HX_HEX8_CONDUCTION_CUH
#define HX_HEX8_CONDUCTION_CUH

#include "hex8_otf.cuh"

// Computes p[k] at one Gauss point from j[k][i] = dx_i/dk and du[k] = dT/dk. 49 instructions.
template <class T>
HX_HD void hx_conduction_point(const T *const j[3], const T du[3], T scale, T p[3])
{
    T adj[3][3]; // adj[k][i] = det * d xi_k / d x_i
    T h[3];
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            adj[a][i] = fma(j[b][i1], j[c][i2], -(j[b][i2] * j[c][i1]));
        }
    }
    const T c = scale * hx_reciprocal(hx_dot3(j[0], adj[0]));
#pragma unroll
    for (int i = 0; i < 3; i++)
        h[i] = c * fma(du[2], adj[2][i], fma(du[1], adj[1][i], du[0] * adj[0][i]));
#pragma unroll
    for (int a = 0; a < 3; a++) p[a] = hx_dot3(h, adj[a]);
}

// hx_field and hx_force for one component.
template <class T> struct hx_scalar_field {
    T r[2], s[2], rs[2]; // [t]
    T dt[2][2];          // [s][r]
};

template <class T> HX_HD void hx_scalar_field_set(const T m[HX_N_MODE], hx_scalar_field<T> &f)
{
    const T g = static_cast<T>(HX_GAUSS);
    const T tm = fma(-g, m[HX_ST], m[HX_T]), tp = fma(g, m[HX_ST], m[HX_T]);
    const T rm = fma(-g, m[HX_RST], m[HX_RT]), rp = fma(g, m[HX_RST], m[HX_RT]);
    f.r[0] = fma(-g, m[HX_RT], m[HX_R]), f.r[1] = fma(g, m[HX_RT], m[HX_R]);
    f.s[0] = fma(-g, m[HX_ST], m[HX_S]), f.s[1] = fma(g, m[HX_ST], m[HX_S]);
    f.rs[0] = fma(-g, m[HX_RST], m[HX_RS]), f.rs[1] = fma(g, m[HX_RST], m[HX_RS]);
    f.dt[0][0] = fma(-g, rm, tm), f.dt[0][1] = fma(g, rm, tm);
    f.dt[1][0] = fma(-g, rp, tp), f.dt[1][1] = fma(g, rp, tp);
}

template <class T> HX_HD void hx_scalar_force_modes(const hx_scalar_field<T> &f, T m[HX_N_MODE])
{
    const T m0 = f.dt[0][0] + f.dt[0][1], d0 = f.dt[0][1] - f.dt[0][0];
    const T m1 = f.dt[1][0] + f.dt[1][1], d1 = f.dt[1][1] - f.dt[1][0];
    m[HX_R] = f.r[1] + f.r[0];
    m[HX_S] = f.s[1] + f.s[0];
    m[HX_RS] = f.rs[1] + f.rs[0];
    m[HX_T] = m0 + m1;
    m[HX_RT] = (f.r[1] - f.r[0]) + (d0 + d1);
    m[HX_ST] = (f.s[1] - f.s[0]) + (m1 - m0);
    m[HX_RST] = (f.rs[1] - f.rs[0]) + (d1 - d0);
}

// The four points with one t (0 or 1): sets the parts of f for that t; f.dt is set for t = 0 and
// added to for t = 1.
template <class T>
HX_HD void hx_conduction_points(const hx_field<T> &x, const hx_scalar_field<T> &u, T scale, int t,
                                hx_scalar_field<T> &f)
{
    const T g = static_cast<T>(HX_GAUSS);
    T xr[2][3], xs[2][3], ur[2], us[2]; // r-derivatives indexed by s, s-derivatives indexed by r
    T gr[2], gs[2];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        xr[0][i] = fma(-g, x.rs[t][i], x.r[t][i]), xr[1][i] = fma(g, x.rs[t][i], x.r[t][i]);
        xs[0][i] = fma(-g, x.rs[t][i], x.s[t][i]), xs[1][i] = fma(g, x.rs[t][i], x.s[t][i]);
    }
    ur[0] = fma(-g, u.rs[t], u.r[t]), ur[1] = fma(g, u.rs[t], u.r[t]);
    us[0] = fma(-g, u.rs[t], u.s[t]), us[1] = fma(g, u.rs[t], u.s[t]);
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            T p[3];
            const T *const j[3] = {xr[s], xs[r], x.dt[s][r]};
            const T du[3] = {ur[s], us[r], u.dt[s][r]};
            hx_conduction_point(j, du, scale, p);
            gr[s] = r == 0 ? p[0] : gr[s] + p[0];
            gs[r] = s == 0 ? p[1] : gs[r] + p[1];
            f.dt[s][r] = t == 0 ? p[2] : f.dt[s][r] + p[2];
        }
    f.r[t] = gr[0] + gr[1];
    f.s[t] = gs[0] + gs[1];
    f.rs[t] = (gr[1] - gr[0]) + (gs[1] - gs[0]);
}

// v: temperatures of the corners on input, heat flows at the corners on output. x: field set from
// the coordinates.
template <class T> HX_HD void hx_conduction_element(const hx_field<T> &x, T scale, T v[8])
{
    hx_scalar_field<T> u, f;
    T m[HX_N_MODE];
    hx_drop_translation(v);
    hx_to_modes(v, m);
    hx_scalar_field_set(m, u);
    hx_conduction_points(x, u, scale, 0, f);
    hx_conduction_points(x, u, scale, 1, f);
    hx_scalar_force_modes(f, m);
    hx_from_modes(m, static_cast<T>(HX_GAUSS), v);
}

#endif
