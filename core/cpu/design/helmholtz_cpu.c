/* The operator of the filter `helmholtz` on the CPU: first the fluxes of all elements, then each
 * node gathers those of its elements. Results are bitwise independent of the number of threads. */
#include "../device/cpu_ops.h"

/* Signs of the corners; a table lookup is cheaper than hx_hex8_sign. */
static const double SIGN[8][3] = {{-1.0, -1.0, -1.0}, {1.0, -1.0, -1.0}, {1.0, 1.0, -1.0},
                                  {-1.0, 1.0, -1.0},  {-1.0, -1.0, 1.0}, {1.0, -1.0, 1.0},
                                  {1.0, 1.0, 1.0},    {-1.0, 1.0, 1.0}};

static int cpu_apply(hx_device *dev, const hx_device_helmholtz *h, const double *d_x, double *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < h->n_elem; e++) {
        const int32_t *const conn = h->d_conn + 8 * e;
        double x[8], g[3];
        for (int a = 0; a < 8; a++) x[a] = d_x[conn[a]];
        hx_helmholtz_gradient(x, g);
        if (h->d_wedge) hx_helmholtz_wedge_gradient(h->d_wedge[e], x, g);
        hx_helmholtz_flux(h->d_metric + e, h->n_elem, g, h->d_flux + 3 * e);
    }
    if (h->d_wedge) { /* the mesh contains wedges */
#pragma omp parallel for schedule(static)
        for (int64_t node = 0; node < h->n_node; node++) {
            double sum = h->d_mass[node] * d_x[node];
            for (int64_t k = h->d_node_elem_ptr[node]; k < h->d_node_elem_ptr[node + 1]; k++) {
                const int64_t e = h->d_node_elem[k] >> 3;
                sum += hx_helmholtz_wedge_divergence(h->d_wedge[e], (int)(h->d_node_elem[k] & 7u),
                                                     h->d_flux + 3 * e);
            }
            d_y[node] = sum;
        }
        return HX_OK;
    }
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < h->n_node; node++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t k = h->d_node_elem_ptr[node]; k < h->d_node_elem_ptr[node + 1]; k++) {
            const double *const sign = SIGN[h->d_node_elem[k] & 7u];
            const double *const q = h->d_flux + 3 * (int64_t)(h->d_node_elem[k] >> 3);
            for (int i = 0; i < 3; i++) sum[i] += sign[i] * q[i];
        }
        d_y[node] = h->d_mass[node] * d_x[node] + (sum[0] + sum[1] + sum[2]);
    }
    return HX_OK;
}

static int cpu_helmholtz_diagonal(hx_device *dev, const hx_device_helmholtz *h, double *d_diagonal)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < h->n_node; node++) {
        double sum = h->d_mass[node];
        for (int64_t k = h->d_node_elem_ptr[node]; k < h->d_node_elem_ptr[node + 1]; k++)
            sum += hx_helmholtz_corner(h, h->d_node_elem[k]);
        d_diagonal[node] = sum;
    }
    return HX_OK;
}

static int cpu_to_nodes(hx_device *dev, const hx_device_helmholtz *h, const double *d_value,
                        double *d_node)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < h->n_node; node++) {
        double sum = 0.0;
        for (int64_t k = h->d_node_elem_ptr[node]; k < h->d_node_elem_ptr[node + 1]; k++)
            sum += hx_helmholtz_eighths(h, h->d_node_elem[k]) * d_value[h->d_node_elem[k] >> 3];
        d_node[node] = 0.125 * sum;
    }
    return HX_OK;
}

static int cpu_to_elements(hx_device *dev, const hx_device_helmholtz *h, const double *d_node,
                           double *d_value)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < h->n_elem; e++) {
        const int32_t *const conn = h->d_conn + 8 * e;
        double sum = 0.0;
        for (uint32_t a = 0; a < 8; a++)
            sum += hx_helmholtz_eighths(h, (uint32_t)(8 * e) + a) * d_node[conn[a]];
        d_value[e] = 0.125 * sum;
    }
    return HX_OK;
}

const hx_helmholtz_ops hx_cpu_helmholtz_ops = {
    .apply = cpu_apply,
    .diagonal = cpu_helmholtz_diagonal,
    .to_nodes = cpu_to_nodes,
    .to_elements = cpu_to_elements,
};
