// The operator of the filter `helmholtz` on the GPU: one thread per element for the fluxes, one
// thread per node for the sums over its elements in their order, without atomics.
#include "../device/cuda_device.cuh"
#include "core/design/helmholtz.h"

__global__ void __launch_bounds__(HX_BLOCK)
    flux_kernel(hx_device_helmholtz h, const double *__restrict__ x)
{
    const int64_t e = hx_grid_thread();
    double corner[8], g[3], q[3];
    if (e >= h.n_elem) return;
    const int4 *const conn = reinterpret_cast<const int4 *>(h.d_conn + 8 * e);
    const int4 low = conn[0], high = conn[1];
    corner[0] = x[low.x], corner[1] = x[low.y], corner[2] = x[low.z], corner[3] = x[low.w];
    corner[4] = x[high.x], corner[5] = x[high.y], corner[6] = x[high.z], corner[7] = x[high.w];
    hx_helmholtz_gradient(corner, g);
    if (h.d_wedge) hx_helmholtz_wedge_gradient(h.d_wedge[e], corner, g);
    hx_helmholtz_flux(h.d_metric + e, h.n_elem, g, q);
    for (int i = 0; i < 3; i++) h.d_flux[3 * e + i] = q[i];
}

// WEDGES: the mesh contains wedges.
template <bool WEDGES>
__global__ void __launch_bounds__(HX_BLOCK)
    divergence_kernel(hx_device_helmholtz h, const double *__restrict__ x, double *__restrict__ y)
{
    const int64_t node = hx_grid_thread();
    if (node >= h.n_node) return;
    double sum = h.d_mass[node] * x[node];
    for (int64_t k = h.d_node_elem_ptr[node]; k < h.d_node_elem_ptr[node + 1]; k++) {
        const uint32_t at = h.d_node_elem[k];
        const double *const q = h.d_flux + 3 * static_cast<int64_t>(at >> 3);
        const int a = static_cast<int>(at & 7u);
        if constexpr (WEDGES)
            sum += hx_helmholtz_wedge_divergence(h.d_wedge[at >> 3], a, q);
        else
            sum += hx_helmholtz_divergence(a, q);
    }
    y[node] = sum;
}

__global__ void __launch_bounds__(HX_BLOCK)
    helmholtz_diagonal_kernel(hx_device_helmholtz h, double *__restrict__ diagonal)
{
    const int64_t node = hx_grid_thread();
    if (node >= h.n_node) return;
    double sum = h.d_mass[node];
    for (int64_t k = h.d_node_elem_ptr[node]; k < h.d_node_elem_ptr[node + 1]; k++)
        sum += hx_helmholtz_corner(&h, h.d_node_elem[k]);
    diagonal[node] = sum;
}

// COLLAPSED: elements may name a node several times and then have fewer than eight nodes.
template <bool COLLAPSED>
__global__ void __launch_bounds__(HX_BLOCK)
    to_nodes_kernel(hx_device_helmholtz h, const double *__restrict__ value,
                    double *__restrict__ nodal)
{
    const int64_t node = hx_grid_thread();
    double sum = 0.0;
    if (node >= h.n_node) return;
    for (int64_t k = h.d_node_elem_ptr[node]; k < h.d_node_elem_ptr[node + 1]; k++) {
        const uint32_t at = h.d_node_elem[k];
        sum += COLLAPSED ? hx_helmholtz_eighths(&h, at) * value[at >> 3] : value[at >> 3];
    }
    nodal[node] = 0.125 * sum;
}

template <bool COLLAPSED>
__global__ void __launch_bounds__(HX_BLOCK)
    to_elements_kernel(hx_device_helmholtz h, const double *__restrict__ nodal,
                       double *__restrict__ value)
{
    const int64_t e = hx_grid_thread();
    if (e >= h.n_elem) return;
    const int4 *const conn = reinterpret_cast<const int4 *>(h.d_conn + 8 * e);
    const int4 low = conn[0], high = conn[1];
    double sum = 0.0;
    if constexpr (COLLAPSED) {
        const int32_t node[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int a = 0; a < 8; a++) sum += 8.0 * hx_cell_share(node, a) * nodal[node[a]];
    } else {
        sum = nodal[low.x];
        sum += nodal[low.y], sum += nodal[low.z], sum += nodal[low.w];
        sum += nodal[high.x], sum += nodal[high.y], sum += nodal[high.z], sum += nodal[high.w];
    }
    value[e] = 0.125 * sum;
}

static int apply_helmholtz_cuda(hx_device *dev, const hx_device_helmholtz *h, const double *d_x,
                                double *d_y)
{
    HX_TRY(hx_launch(dev, "helmholtz flux", h->n_elem, flux_kernel, *h, d_x));
    const auto divergence = h->d_wedge ? divergence_kernel<true> : divergence_kernel<false>;
    return hx_launch(dev, "helmholtz divergence", h->n_node, divergence, *h, d_x, d_y);
}

static int helmholtz_cuda_diagonal(hx_device *dev, const hx_device_helmholtz *h, double *d_diagonal)
{
    return hx_launch(dev, "helmholtz diagonal", h->n_node, helmholtz_diagonal_kernel, *h,
                     d_diagonal);
}

static int to_nodes(hx_device *dev, const hx_device_helmholtz *h, const double *d_value,
                    double *d_node)
{
    const auto kernel = h->has_collapsed ? to_nodes_kernel<true> : to_nodes_kernel<false>;
    return hx_launch(dev, "helmholtz to_nodes", h->n_node, kernel, *h, d_value, d_node);
}

static int to_elements(hx_device *dev, const hx_device_helmholtz *h, const double *d_node,
                       double *d_value)
{
    const auto kernel = h->has_collapsed ? to_elements_kernel<true> : to_elements_kernel<false>;
    return hx_launch(dev, "helmholtz to_elements", h->n_elem, kernel, *h, d_node, d_value);
}

const hx_helmholtz_ops hx_cuda_helmholtz_ops = {apply_helmholtz_cuda, helmholtz_cuda_diagonal,
                                                to_nodes, to_elements};
