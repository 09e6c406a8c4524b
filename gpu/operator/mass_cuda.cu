// The consistent mass on the GPU (core/operator/mass_ops.h), computed from coordinates in every
// product. One thread per node, elements in ascending order, so that each sum has a fixed order.
#include "../matrix/points_cuda.cuh"
#include "core/operator/mass_cell.h"
#include "core/operator/mass_ops.h"
#include "hex8_cuda.cuh"

// c[b] = int N_a N_b dV for corner a of a cell that is no tetrahedron.
__device__ static void mass_row(const double x[24], int a, int is_collapsed, double c[8])
{
    double map[8][3];
    hx_hex8_coefficients(x, map);
#pragma unroll
    for (int b = 0; b < 8; b++) c[b] = 0.0;
    for (int q = 0; q < hx_mass_points(is_collapsed); q++) {
        double at[3];
        const double weight = hx_mass_point(is_collapsed, q, at);
        const double w =
            weight * hx_hex8_determinant(map, at) * hx_hex8_shape(a, at[0], at[1], at[2]);
#pragma unroll
        for (int b = 0; b < 8; b++) c[b] += w * hx_hex8_shape(b, at[0], at[1], at[2]);
    }
}

// The row of corner a; of a tetrahedron, only the first corner that names a point has one.
__device__ static void cell_row(const hx_device_model &model, const int32_t *conn, int a,
                                double c[8])
{
    double x[24];
    int corner[8];
    const int is_collapsed = model.has_collapsed && hx_cell_is_collapsed(conn);
    hx_gather(conn, model.d_xyz, x);
    if (!is_collapsed || hx_cell_distinct(conn, corner) != 4) {
        mass_row(x, a, is_collapsed, c);
        return;
    }
    const double part =
        hx_cell_is_first(hx_cell_corners_at(conn, a), a) ? hx_mass_tetrahedron(x, corner) : 0.0;
    for (int b = 0; b < 8; b++) c[b] = 0.0;
    for (int b = 0; b < 4; b++) c[corner[b]] = conn[corner[b]] == conn[a] ? 2.0 * part : part;
}

__global__ void __launch_bounds__(128)
    mass_kernel(hx_device_model model, double density, const double *__restrict__ rho, int n_vector,
                hx_mass_vectors v)
{
    const int64_t node = hx_grid_thread();
    double sum[HX_MASS_AT_ONCE][3] = {};
    if (node >= model.n_node) return;
    for (int64_t k = model.d_node_elem_ptr[node]; k < model.d_node_elem_ptr[node + 1]; k++) {
        const int64_t e = model.d_node_elem[k] >> 3;
        const int32_t *const conn = model.d_conn + 8 * e;
        const double mass = density * hx_mass_factor(&model.materials, e) * hx_mass_of(rho[e]);
        double c[8];
        cell_row(model, conn, static_cast<int>(model.d_node_elem[k] & 7u), c);
        for (int b = 0; b < 8; b++) {
            const double w = mass * c[b];
            const int64_t at = 3 * static_cast<int64_t>(conn[b]);
            if (w == 0.0) continue;
#pragma unroll
            for (int i = 0; i < HX_MASS_AT_ONCE; i++)
                if (i < n_vector)
#pragma unroll
                    for (int d = 0; d < 3; d++) sum[i][d] += w * v.x[i][at + d];
        }
    }
#pragma unroll
    for (int i = 0; i < HX_MASS_AT_ONCE; i++)
        if (i < n_vector)
            for (int d = 0; d < 3; d++) v.y[i][3 * node + d] = sum[i][d];
}

// int |v|^2 dV of a cell.
__device__ static double cell_work(const hx_device_model &model, const int32_t *conn,
                                   const double *__restrict__ v)
{
    double x[24], u[24], map[8][3], moved[8][3], work = 0.0;
    int corner[8];
    const int is_collapsed = model.has_collapsed && hx_cell_is_collapsed(conn);
    hx_gather(conn, model.d_xyz, x);
    hx_gather(conn, v, u);
    if (is_collapsed && hx_cell_distinct(conn, corner) == 4) {
        for (int i = 0; i < 3; i++) {
            double sum = 0.0;
            for (int b = 0; b < 4; b++) {
                sum += u[3 * corner[b] + i];
                work += u[3 * corner[b] + i] * u[3 * corner[b] + i];
            }
            work += sum * sum;
        }
        return hx_mass_tetrahedron(x, corner) * work;
    }
    hx_hex8_coefficients(x, map);
    hx_hex8_coefficients(u, moved);
    for (int q = 0; q < hx_mass_points(is_collapsed); q++) {
        double at[3], value[3];
        const double weight = hx_mass_point(is_collapsed, q, at) * hx_hex8_determinant(map, at);
        hx_hex8_evaluate(moved, at, value);
        work += weight * (value[0] * value[0] + value[1] * value[1] + value[2] * value[2]);
    }
    return work;
}

__global__ void mass_work_kernel(hx_device_model model, double factor,
                                 const double *__restrict__ rho, const double *__restrict__ v,
                                 double *__restrict__ dg)
{
    const int64_t e = hx_grid_thread();
    if (e >= model.n_elem) return;
    dg[e] += factor * hx_mass_factor(&model.materials, e) * hx_mass_slope(rho[e]) *
             cell_work(model, model.d_conn + 8 * e, v);
}

static int setup(hx_device *dev, const hx_device_model *model, const hx_mesh *mesh, void **state)
{
    (void)dev, (void)model, (void)mesh;
    *state = nullptr;
    return HX_OK;
}

static void teardown(hx_device *dev, void *state)
{
    (void)dev, (void)state;
}

static int apply(hx_device *dev, const hx_device_model *model, const hx_device_mass *mass,
                 int n_vector, const double *const d_x[], double *const d_y[])
{
    for (int first = 0; first < n_vector; first += HX_MASS_AT_ONCE) {
        const int n = n_vector - first < HX_MASS_AT_ONCE ? n_vector - first : HX_MASS_AT_ONCE;
        hx_mass_vectors v = {};
        for (int i = 0; i < n; i++) {
            v.x[i] = d_x[first + i];
            v.y[i] = d_y[first + i];
        }
        if (model->points)
            HX_TRY(hx_cuda_points_mass(dev, model, mass, n, v));
        else
            HX_TRY(hx_launch<128>(dev, "mass", model->n_node, mass_kernel, *model, mass->density,
                                  mass->d_rho, n, v));
    }
    return HX_OK;
}

static int work(hx_device *dev, const hx_device_model *model, const hx_device_mass *mass,
                double factor, const double *d_v, double *d_dg)
{
    if (model->points) return hx_cuda_points_mass_work(dev, model, mass, factor, d_v, d_dg);
    return hx_launch<128>(dev, "mass work", model->n_elem, mass_work_kernel, *model,
                          factor * mass->density, mass->d_rho, d_v, d_dg);
}

const hx_mass_ops hx_cuda_mass_ops = {
    .setup = setup,
    .apply = apply,
    .work = work,
    .teardown = teardown,
};
