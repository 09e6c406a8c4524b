// Von Mises stresses and their derivatives on the GPU (stress_ops.h), by the formulas of the CPU.
// Linear cells: one thread per element, and one per node for loads, which adds its elements in
// ascending order without atomics. Quadratic cells do the same per cell and point; they are not performance-critical.
#include "../device/fields_cuda.cuh"
#include "../matrix/points_cuda.cuh"
#include "../operator/hex8_cuda.cuh"
#include "core/design/stress_ops.h"

namespace
{

using bits = unsigned long long;

__device__ __forceinline__ bits bits_of(double v)
{
    return static_cast<bits>(__double_as_longlong(v));
}

// --- displacement gradients ---

__device__ void linear_gradient(const hx_device_model &model, int64_t e, const double at[3],
                                const double *__restrict__ u, double h[3][3])
{
    double x[24], ue[24];
    hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
    hx_gather(model.d_conn + 8 * e, u, ue);
    hx_hex8_displacement_gradient(x, ue, at[0], at[1], at[2], h);
}

// The cells of a quadratic space.
struct cells {
    hx_incidence in;
    const hx_point_rule *rule;
    const double *xyz;
};

// inv[i][k] = dxi_k / dx_i at point q.
__device__ void invert_points(const cells &c, int64_t e, int q, double inv[3][3])
{
    const hx_point_rule &rule = c.rule[c.in.kind[e]];
    const int32_t *const point = c.in.point + hx_incidence_first(&c.in, e);
    const int n = hx_incidence_count(&c.in, e);
    double j[3][3] = {};
    for (int a = 0; a < n; a++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                j[k][i] += rule.gradient[k][a][q] * c.xyz[3 * static_cast<int64_t>(point[a]) + i];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            inv[i][k] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    const double det = j[0][0] * inv[0][0] + j[0][1] * inv[1][0] + j[0][2] * inv[2][0];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) inv[i][k] /= det;
}

// g := gradient of the shape function of point a.
__device__ __forceinline__ void point_gradient(const hx_point_rule &rule, int q, int a,
                                               const double inv[3][3], double g[3])
{
    for (int i = 0; i < 3; i++) {
        g[i] = 0.0;
        for (int k = 0; k < 3; k++) g[i] += inv[i][k] * rule.gradient[k][a][q];
    }
}

__device__ void quadratic_gradient(const cells &c, int64_t e, int q, const double *__restrict__ u,
                                   double inv[3][3], double h[3][3])
{
    const int32_t *const point = c.in.point + hx_incidence_first(&c.in, e);
    const int n = hx_incidence_count(&c.in, e);
    invert_points(c, e, q, inv);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) h[i][k] = 0.0;
    for (int a = 0; a < n; a++) {
        double g[3];
        point_gradient(c.rule[c.in.kind[e]], q, a, inv, g);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) h[i][k] += u[3 * static_cast<int64_t>(point[a]) + i] * g[k];
    }
}

// --- stresses ---

// Hexahedra without collapsed corners: the stress of the middle.
__global__ void middle_stress_kernel(hx_device_model model, double young,
                                     const double *__restrict__ u, double *s)
{
    const int64_t e = hx_grid_thread();
    if (e >= model.n_elem) return;
    const double middle[3] = {0.0, 0.0, 0.0};
    double h[3][3], deviator[3][3];
    linear_gradient(model, e, middle, u, h);
    s[e] = hx_stress_modulus(&model, young, e) * hx_stress_deviator(h, deviator);
}

__global__ void linear_stress_kernel(hx_device_model model, double young,
                                     const double *__restrict__ u, uint8_t *at, double *s)
{
    const int64_t e = hx_grid_thread();
    if (e >= model.n_elem) return;
    const int32_t *const conn = model.d_conn + 8 * e;
    const int n = hx_stress_linear_points(conn, model.has_collapsed);
    double largest = 0.0;
    int where = 0;
    for (int q = 0; q < n; q++) {
        double place[3], h[3][3], deviator[3][3];
        hx_stress_linear_place(conn, model.has_collapsed, n, q, place);
        linear_gradient(model, e, place, u, h);
        const double size = hx_stress_deviator(h, deviator);
        if (size <= largest || isnan(largest)) continue;
        largest = size;
        where = q;
    }
    s[e] = hx_stress_modulus(&model, young, e) * largest;
    if (at) at[e] = static_cast<uint8_t>(where);
}

__global__ void quadratic_stress_kernel(hx_device_model model, cells c, double young,
                                        const double *__restrict__ u, uint8_t *at, double *s)
{
    const int64_t e = hx_grid_thread();
    if (e >= model.n_elem) return;
    const hx_point_rule &rule = c.rule[c.in.kind[e]];
    double largest = 0.0;
    int where = 0;
    for (int q = 0; q < HX_RULE_LANES && rule.weight[q] > 0.0; q++) {
        double inv[3][3], h[3][3], deviator[3][3];
        quadratic_gradient(c, e, q, u, inv, h);
        const double size = hx_stress_deviator(h, deviator);
        if (size <= largest || isnan(largest)) continue;
        largest = size;
        where = q;
    }
    s[e] = hx_stress_modulus(&model, young, e) * largest;
    at[e] = static_cast<uint8_t>(where);
}

// --- adjoint loads ---

__device__ __forceinline__ void add_force(const double t[3][3], const double g[3], double f[3])
{
    for (int i = 0; i < 3; i++) f[i] += t[i][0] * g[0] + t[i][1] * g[1] + t[i][2] * g[2];
}

// f += weight ds_e/du of the point that corner a of an element names.
__device__ void add_linear(const hx_device_model &model, double young, int64_t e, int a,
                           const uint8_t *at, double weight, const double *__restrict__ u,
                           double f[3])
{
    const int32_t *const conn = model.d_conn + 8 * e;
    const unsigned corners =
        model.has_collapsed ? hx_cell_corners_at(conn, a) : 1u << static_cast<unsigned>(a);
    double place[3], x[24], h[3][3], inv[3][3], g[3];
    if (!hx_cell_is_first(corners, a)) return;
    const int n = hx_stress_linear_points(conn, model.has_collapsed);
    hx_stress_linear_place(conn, model.has_collapsed, n, n > 1 ? at[e] : 0, place);
    linear_gradient(model, e, place, u, h);
    hx_stress_weighted(h, hx_stress_modulus(&model, young, e), weight);
    hx_gather(conn, model.d_xyz, x);
    hx_hex8_jacobian(x, place[0], place[1], place[2], inv);
    hx_hex8_point_gradient(corners, place[0], place[1], place[2], inv, g);
    add_force(h, g, f);
}

__global__ void linear_load_kernel(hx_device_model model, double young,
                                   const double *__restrict__ u, const uint8_t *at,
                                   const double *__restrict__ weight, double *load)
{
    const int64_t node = hx_grid_thread();
    double f[3] = {0.0, 0.0, 0.0};
    if (node >= model.n_node) return;
    for (int64_t k = model.d_node_elem_ptr[node]; k < model.d_node_elem_ptr[node + 1]; k++) {
        const int64_t e = model.d_node_elem[k] >> 3;
        if (weight[e] == 0.0) continue;
        add_linear(model, young, e, static_cast<int>(model.d_node_elem[k] & 7u), at, weight[e], u,
                   f);
    }
    for (int i = 0; i < 3; i++) load[3 * node + i] = f[i];
}

// The load of hexahedra without collapsed corners in two passes, so that each is computed once. An
// element's force on corner a is P d, with the signs d of the corner over 8, and P = weight ds/dh
// dxi/dx in the middle.
struct force_matrices {
    double *row[3]; // [3][n_elem] each: P[i][k] of element e is row[i][k n_elem + e]
};

__global__ void middle_force_kernel(hx_device_model model, double young,
                                    const double *__restrict__ u, const double *__restrict__ weight,
                                    force_matrices p)
{
    const int64_t e = hx_grid_thread();
    if (e >= model.n_elem) return;
    double x[24], ue[24], inv[3][3], h[3][3];
    if (weight[e] == 0.0) {
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) p.row[i][k * model.n_elem + e] = 0.0;
        return;
    }
    hx_gather(model.d_conn + 8 * e, model.d_xyz, x);
    hx_gather(model.d_conn + 8 * e, u, ue);
    hx_hex8_displacement_gradient(x, ue, 0.0, 0.0, 0.0, h);
    hx_hex8_jacobian(x, 0.0, 0.0, 0.0, inv);
    hx_stress_weighted(h, hx_stress_modulus(&model, young, e), weight[e]);
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = 0; k < 3; k++)
            p.row[i][k * model.n_elem + e] =
                h[i][0] * inv[0][k] + h[i][1] * inv[1][k] + h[i][2] * inv[2][k];
}

__global__ void gather_force_kernel(hx_device_model model, force_matrices p, double *load)
{
    const int64_t node = hx_grid_thread();
    double f[3] = {0.0, 0.0, 0.0};
    if (node >= model.n_node) return;
    for (int64_t l = model.d_node_elem_ptr[node]; l < model.d_node_elem_ptr[node + 1]; l++) {
        const int64_t e = model.d_node_elem[l] >> 3;
        const int a = static_cast<int>(model.d_node_elem[l] & 7u);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const double d = 0.125 * hx_hex8_sign(a, k);
#pragma unroll
            for (int i = 0; i < 3; i++) f[i] += d * p.row[i][k * model.n_elem + e];
        }
    }
    for (int i = 0; i < 3; i++) load[3 * node + i] = f[i];
}

__global__ void quadratic_load_kernel(hx_device_model model, cells c, double young,
                                      const double *__restrict__ u, const uint8_t *at,
                                      const double *__restrict__ weight, double *load)
{
    const int64_t point = hx_grid_thread();
    double f[3] = {0.0, 0.0, 0.0};
    if (point >= c.in.n_point) return;
    for (int64_t k = c.in.point_ptr[point]; k < c.in.point_ptr[point + 1]; k++) {
        const int64_t place = c.in.point_place[k], e = hx_incidence_cell(&c.in, place);
        const int a = static_cast<int>(place - hx_incidence_first(&c.in, e));
        double inv[3][3], h[3][3], g[3];
        if (weight[e] == 0.0) continue;
        quadratic_gradient(c, e, at[e], u, inv, h);
        hx_stress_weighted(h, hx_stress_modulus(&model, young, e), weight[e]);
        point_gradient(c.rule[c.in.kind[e]], at[e], a, inv, g);
        add_force(h, g, f);
    }
    for (int i = 0; i < 3; i++) load[3 * point + i] = f[i];
}

// --- sums ---

// result[0] := the largest v, which compares like its bits, because it is not negative.
__global__ void __launch_bounds__(HX_BLOCK)
    largest_kernel(hx_device_stress law, const double *__restrict__ s, double *result)
{
    __shared__ double of_warp[HX_BLOCK_WARPS];
    double largest = 0.0;
    const auto join = [](double a, double b) { return bits_of(a) > bits_of(b) ? a : b; };
    for (int64_t e = hx_grid_thread(); e < law.n; e += hx_all_threads())
        if (hx_stress_counts(&law, e))
            largest = join(largest, hx_stress_relaxed(&law, law.d_rho[e], s[e]));
    largest = hx_block_reduce(largest, of_warp, join);
    if (threadIdx.x == 0) atomicMax(reinterpret_cast<bits *>(result), bits_of(largest));
}

// result[1] := n - e of the first element e that has it; 0: none.
__global__ void __launch_bounds__(HX_BLOCK)
    find_kernel(hx_device_stress law, const double *__restrict__ s, double *result)
{
    const bits wanted = bits_of(result[0]);
    bits first = 0;
    for (int64_t e = hx_grid_thread(); e < law.n; e += hx_all_threads())
        if (hx_stress_counts(&law, e) &&
            bits_of(hx_stress_relaxed(&law, law.d_rho[e], s[e])) == wanted && first == 0)
            first = static_cast<bits>(law.n - e);
    if (first > 0) atomicMax(reinterpret_cast<bits *>(result + 1), first);
}

__global__ void __launch_bounds__(HX_BLOCK)
    sum_kernel(hx_device_stress law, const double *__restrict__ s, double *result, double *partial,
               unsigned *ticket)
{
    double sum[1] = {0.0};
    for (int64_t e = hx_grid_thread(); e < law.n; e += hx_all_threads())
        if (hx_stress_counts(&law, e)) sum[0] += hx_stress_term_of(&law, e, s[e]).value;
    if (hx_finish_sums(sum, partial, ticket)) result[0] = sum[0];
}

struct weigh_body {
    hx_device_stress law;
    double factor, *s;
    __device__ void operator()(int64_t e) const
    {
        s[e] =
            hx_stress_counts(&law, e) ? factor * hx_stress_term_of(&law, e, s[e]).by_stress : 0.0;
    }
};

struct slope_body {
    hx_device_stress law;
    double factor;
    const double *s;
    double *dg;
    __device__ void operator()(int64_t e) const
    {
        if (hx_stress_counts(&law, e))
            dg[e] += factor * hx_stress_term_of(&law, e, s[e]).by_density;
    }
};

struct advance_body {
    hx_device_stress law;
    const double *s;
    __device__ void operator()(int64_t e) const
    {
        if (hx_stress_counts(&law, e)) law.d_lambda[e] = hx_stress_advanced(&law, e, s[e]);
    }
};

int find_cells(hx_device *dev, const hx_device_model *model, cells *c)
{
    c->in = *model->points;
    c->xyz = model->d_xyz;
    return hx_cuda_point_rules(dev, &c->rule);
}

int von_mises(hx_device *dev, const hx_device_model *model, double young, const double *d_u,
              uint8_t *d_at, double *d_s)
{
    cells c;
    if (!model->points && !model->has_collapsed && !d_at)
        return hx_launch<128>(dev, "stresses", model->n_elem, middle_stress_kernel, *model, young,
                              d_u, d_s);
    if (!model->points)
        return hx_launch<128>(dev, "stresses", model->n_elem, linear_stress_kernel, *model, young,
                              d_u, d_at, d_s);
    HX_TRY(find_cells(dev, model, &c));
    return hx_launch<128>(dev, "stresses", model->n_elem, quadratic_stress_kernel, *model, c, young,
                          d_u, d_at, d_s);
}

int load_of_middles(hx_device *dev, const hx_device_model *model, double young, const double *d_u,
                    const double *d_weight, double *const d_work[3], double *d_load)
{
    const force_matrices p = {{d_work[0], d_work[1], d_work[2]}};
    HX_TRY(hx_launch<128>(dev, "stress forces", model->n_elem, middle_force_kernel, *model, young,
                          d_u, d_weight, p));
    return hx_launch<128>(dev, "stress load", model->n_node, gather_force_kernel, *model, p,
                          d_load);
}

int load(hx_device *dev, const hx_device_model *model, double young, const double *d_u,
         const uint8_t *d_at, const double *d_weight, double *const d_work[3], double *d_load)
{
    cells c;
    if (d_work && !model->points && !model->has_collapsed && model->n_elem <= model->n_node)
        return load_of_middles(dev, model, young, d_u, d_weight, d_work, d_load);
    if (!model->points)
        return hx_launch<128>(dev, "stress load", model->n_node, linear_load_kernel, *model, young,
                              d_u, d_at, d_weight, d_load);
    HX_TRY(find_cells(dev, model, &c));
    return hx_launch<128>(dev, "stress load", c.in.n_point, quadratic_load_kernel, *model, c, young,
                          d_u, d_at, d_weight, d_load);
}

int find_largest(hx_device *dev, const hx_device_stress *law, const double *d_s, double *value,
                 int64_t *elem)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    struct {
        double value;
        bits rest;
    } found;
    HX_TRY(dev->ops->zero(dev, impl->d_result, sizeof found));
    const unsigned n_block = hx_field_blocks(impl, law->n);
    largest_kernel<<<n_block, HX_BLOCK, 0, impl->stream>>>(*law, d_s, impl->d_result);
    HX_TRY_LAUNCH("largest stress");
    find_kernel<<<n_block, HX_BLOCK, 0, impl->stream>>>(*law, d_s, impl->d_result);
    HX_TRY_LAUNCH("place of the largest stress");
    HX_TRY(dev->ops->download(dev, &found, impl->d_result, sizeof found));
    *value = found.value;
    *elem = found.rest > 0 ? law->n - static_cast<int64_t>(found.rest) : -1;
    return HX_OK;
}

int sum_terms(hx_device *dev, const hx_device_stress *law, const double *d_s, double *sum)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    sum_kernel<<<hx_field_blocks(impl, law->n), HX_BLOCK, 0, impl->stream>>>(
        *law, d_s, impl->d_result, impl->d_partial, impl->d_ticket);
    HX_TRY_LAUNCH("sum of stresses");
    return dev->ops->download(dev, sum, impl->d_result, sizeof *sum);
}

int weigh(hx_device *dev, const hx_device_stress *law, double factor, double *d_s)
{
    return hx_for_each(dev, law->n, weigh_body{*law, factor, d_s});
}

int add_slope(hx_device *dev, const hx_device_stress *law, double factor, const double *d_s,
              double *d_dg)
{
    return hx_for_each(dev, law->n, slope_body{*law, factor, d_s, d_dg});
}

int advance(hx_device *dev, const hx_device_stress *law, const double *d_s)
{
    return hx_for_each(dev, law->n, advance_body{*law, d_s});
}

} // namespace

extern const hx_stress_ops hx_cuda_stress_ops = {
    .von_mises = von_mises,
    .load = load,
    .largest = find_largest,
    .sum = sum_terms,
    .weigh = weigh,
    .add_slope = add_slope,
    .advance = advance,
};
