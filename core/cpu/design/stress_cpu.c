/* Von Mises stresses and their derivatives on the CPU (stress_ops.h). */
#include "../../design/stress_ops.h"

#include <string.h>

#include "../../base/sum.h"
#include "../../matrix/pattern.h"
#include "../device/cpu_ops.h"

/* --- displacement gradients --- */

static void linear_gradient(const hx_device_model *model, int64_t e, const double at[3],
                            const double *d_u, double h[3][3])
{
    double x[24], u[24];
    hx_hex8_gather(model->d_conn + 8 * e, model->d_xyz, x);
    hx_hex8_gather(model->d_conn + 8 * e, d_u, u);
    hx_hex8_displacement_gradient(x, u, at[0], at[1], at[2], h);
}

/* inv[i][k] = dxi_k / dx_i at point q of a quadratic cell. */
static void invert_points(const hx_device_model *model, int64_t e, int q, double inv[3][3])
{
    const hx_incidence *const in = model->points;
    const hx_cell_rule *const rule = &model->rule[in->kind[e]];
    const int32_t *const point = in->point + hx_incidence_first(in, e);
    double j[3][3] = {{0.0}};
    for (int a = 0; a < rule->n_point; a++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                j[k][i] += rule->gradient[q][k][a] * model->d_xyz[3 * (int64_t)point[a] + i];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            inv[i][k] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
    const double det = j[0][0] * inv[0][0] + j[0][1] * inv[1][0] + j[0][2] * inv[2][0];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) inv[i][k] /= det;
}

/* g := gradient of the shape function of point a. */
static void point_gradient(const hx_cell_rule *rule, int q, int a, double inv[3][3], double g[3])
{
    for (int i = 0; i < 3; i++) {
        g[i] = 0.0;
        for (int k = 0; k < 3; k++) g[i] += inv[i][k] * rule->gradient[q][k][a];
    }
}

static void quadratic_gradient(const hx_device_model *model, int64_t e, int q, const double *d_u,
                               double inv[3][3], double h[3][3])
{
    const hx_incidence *const in = model->points;
    const hx_cell_rule *const rule = &model->rule[in->kind[e]];
    const int32_t *const point = in->point + hx_incidence_first(in, e);
    invert_points(model, e, q, inv);
    memset(h, 0, 9 * sizeof(double));
    for (int a = 0; a < rule->n_point; a++) {
        double g[3];
        point_gradient(rule, q, a, inv, g);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) h[i][k] += d_u[3 * (int64_t)point[a] + i] * g[k];
    }
}

/* --- stresses --- */

/* sqrt(3/2 e : e) of an element, the largest of its points; *at := that point. */
static double linear_size(const hx_device_model *model, int64_t e, const double *d_u, int *at)
{
    const int32_t *const conn = model->d_conn + 8 * e;
    const int n = hx_stress_linear_points(conn, model->has_collapsed);
    double largest = 0.0;
    *at = 0;
    for (int q = 0; q < n; q++) {
        double place[3], h[3][3], deviator[3][3];
        hx_stress_linear_place(conn, model->has_collapsed, n, q, place);
        linear_gradient(model, e, place, d_u, h);
        const double size = hx_stress_deviator(h, deviator);
        if (size <= largest || isnan(largest)) continue;
        largest = size;
        *at = q;
    }
    return largest;
}

static double quadratic_size(const hx_device_model *model, int64_t e, const double *d_u, int *at)
{
    const int n = model->rule[model->points->kind[e]].n_gauss;
    double largest = 0.0;
    *at = 0;
    for (int q = 0; q < n; q++) {
        double inv[3][3], h[3][3], deviator[3][3];
        quadratic_gradient(model, e, q, d_u, inv, h);
        const double size = hx_stress_deviator(h, deviator);
        if (size <= largest || isnan(largest)) continue;
        largest = size;
        *at = q;
    }
    return largest;
}

static int cpu_von_mises(hx_device *dev, const hx_device_model *model, double young,
                         const double *d_u, uint8_t *d_at, double *d_s)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < model->n_elem; e++) {
        int at;
        const double size =
            model->points ? quadratic_size(model, e, d_u, &at) : linear_size(model, e, d_u, &at);
        d_s[e] = hx_stress_modulus(model, young, e) * size;
        if (d_at) d_at[e] = (uint8_t)at;
    }
    return HX_OK;
}

/* --- adjoint loads --- */

static void add_force(double t[3][3], const double g[3], double f[3])
{
    for (int i = 0; i < 3; i++) f[i] += t[i][0] * g[0] + t[i][1] * g[1] + t[i][2] * g[2];
}

/* f += weight ds_e/du of the point that corner a of an element names. */
static void add_linear(const hx_device_model *model, double young, int64_t e, int a,
                       const uint8_t *d_at, double weight, const double *d_u, double f[3])
{
    const int32_t *const conn = model->d_conn + 8 * e;
    const unsigned corners = model->has_collapsed ? hx_cell_corners_at(conn, a) : 1u << (unsigned)a;
    double place[3], x[24], h[3][3], inv[3][3], g[3];
    if (!hx_cell_is_first(corners, a)) return;
    const int n = hx_stress_linear_points(conn, model->has_collapsed);
    hx_stress_linear_place(conn, model->has_collapsed, n, n > 1 ? d_at[e] : 0, place);
    linear_gradient(model, e, place, d_u, h);
    hx_stress_weighted(h, hx_stress_modulus(model, young, e), weight);
    hx_hex8_gather(conn, model->d_xyz, x);
    hx_hex8_jacobian(x, place[0], place[1], place[2], inv);
    hx_hex8_point_gradient(corners, place[0], place[1], place[2], inv, g);
    add_force(h, g, f);
}

static void load_linear(const hx_device_model *model, double young, const double *d_u,
                        const uint8_t *d_at, const double *d_weight, double *d_load)
{
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double f[3] = {0.0, 0.0, 0.0};
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t e = model->d_node_elem[k] >> 3;
            const double weight = d_weight[e];
            if (weight == 0.0) continue;
            add_linear(model, young, e, (int)(model->d_node_elem[k] & 7u), d_at, weight, d_u, f);
        }
        memcpy(d_load + 3 * node, f, sizeof f);
    }
}

static void load_quadratic(const hx_device_model *model, double young, const double *d_u,
                           const uint8_t *d_at, const double *d_weight, double *d_load)
{
    const hx_incidence *const in = model->points;
#pragma omp parallel for schedule(static)
    for (int64_t point = 0; point < in->n_point; point++) {
        double f[3] = {0.0, 0.0, 0.0};
        for (int64_t k = in->point_ptr[point]; k < in->point_ptr[point + 1]; k++) {
            const int64_t place = in->point_place[k], e = hx_incidence_cell(in, place);
            const int a = (int)(place - hx_incidence_first(in, e));
            double inv[3][3], h[3][3], g[3];
            if (d_weight[e] == 0.0) continue;
            quadratic_gradient(model, e, d_at[e], d_u, inv, h);
            hx_stress_weighted(h, hx_stress_modulus(model, young, e), d_weight[e]);
            point_gradient(&model->rule[in->kind[e]], d_at[e], a, inv, g);
            add_force(h, g, f);
        }
        memcpy(d_load + 3 * point, f, sizeof f);
    }
}

static int cpu_load(hx_device *dev, const hx_device_model *model, double young, const double *d_u,
                    const uint8_t *d_at, const double *d_weight, double *const d_work[3],
                    double *d_load)
{
    (void)dev;
    (void)d_work; /* the host's caches hold what elements share */
    if (model->points)
        load_quadratic(model, young, d_u, d_at, d_weight, d_load);
    else
        load_linear(model, young, d_u, d_at, d_weight, d_load);
    return HX_OK;
}

/* --- sums --- */

static int cpu_largest(hx_device *dev, const hx_device_stress *law, const double *d_s,
                       double *value, int64_t *elem)
{
    double part[HX_N_PART];
    int64_t at[HX_N_PART];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        part[i] = 0.0;
        at[i] = -1;
        for (int64_t e = hx_part_begin(law->n, i); e < hx_part_begin(law->n, i + 1); e++) {
            if (!hx_stress_counts(law, e)) continue;
            const double v = hx_stress_relaxed(law, law->d_rho[e], d_s[e]);
            if (at[i] >= 0 && v <= part[i]) continue;
            if (at[i] >= 0 && isnan(part[i])) continue;
            part[i] = v;
            at[i] = e;
        }
    }
    *value = 0.0;
    *elem = -1;
    for (int i = 0; i < HX_N_PART; i++) {
        if (at[i] < 0 || (*elem >= 0 && (part[i] <= *value || isnan(*value)))) continue;
        *value = part[i];
        *elem = at[i];
    }
    return HX_OK;
}

static int cpu_sum(hx_device *dev, const hx_device_stress *law, const double *d_s, double *sum)
{
    double part[HX_N_PART];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        part[i] = 0.0;
        for (int64_t e = hx_part_begin(law->n, i); e < hx_part_begin(law->n, i + 1); e++)
            if (hx_stress_counts(law, e)) part[i] += hx_stress_term_of(law, e, d_s[e]).value;
    }
    *sum = hx_sum_parts(part);
    return HX_OK;
}

static int cpu_weigh(hx_device *dev, const hx_device_stress *law, double factor, double *d_s)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < law->n; e++)
        d_s[e] =
            hx_stress_counts(law, e) ? factor * hx_stress_term_of(law, e, d_s[e]).by_stress : 0.0;
    return HX_OK;
}

static int cpu_add_slope(hx_device *dev, const hx_device_stress *law, double factor,
                         const double *d_s, double *d_dg)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < law->n; e++)
        if (hx_stress_counts(law, e))
            d_dg[e] += factor * hx_stress_term_of(law, e, d_s[e]).by_density;
    return HX_OK;
}

static int cpu_advance(hx_device *dev, const hx_device_stress *law, const double *d_s)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < law->n; e++)
        if (hx_stress_counts(law, e)) law->d_lambda[e] = hx_stress_advanced(law, e, d_s[e]);
    return HX_OK;
}

const hx_stress_ops hx_cpu_stress_ops = {
    .von_mises = cpu_von_mises,
    .load = cpu_load,
    .largest = cpu_largest,
    .sum = cpu_sum,
    .weigh = cpu_weigh,
    .add_slope = cpu_add_slope,
    .advance = cpu_advance,
};
