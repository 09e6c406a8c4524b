/* The scalar operator A = K + M of the equation -r^2 lap(x) + x = rho with natural boundaries, on
 * the nodes of a mesh and without a matrix, for the filter `helmholtz` (Lazarov and Sigmund, Int.
 * J. Numer. Meth. Engng 86, 2011).
 *
 * M is lumped: an element gives an eighth of its volume to each corner. K takes an element's
 * gradient at its centre: what that does not see, the mean of the corners does not see either, and
 * on equal cubes the filter elements -> nodes -> A^-1 -> elements has no negative weight, whatever
 * the radius (with consistent mass negative ones add up to a tenth). Rows of K sum to 0 and those
 * of M to the weights of elements -> nodes, so constants and the volume are kept on any mesh.
 *
 * Volumes are over their mean, so that the numbers are near 1 in any unit. */
#ifndef HX_HELMHOLTZ_H
#define HX_HELMHOLTZ_H

#include "../base/host_device.h"
#include "../mesh/hex8.h"
#include "../problem/problem.h"
#include "../solver/device_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_device_helmholtz {
    int64_t n_node, n_elem;
    const int32_t *d_conn; /* of the hx_device_mesh, like the next two (borrowed) */
    const int64_t *d_node_elem_ptr;
    const uint32_t *d_node_elem;
    /* [6][n_elem]: xx, yy, zz, xy, yz, xz of r^2 v J^-1 J^-T / 64 at the centre. Single precision
     * says what the operator is, not how it is applied. */
    float *d_metric;
    double *d_weight; /* [n_elem] v */
    double *d_mass;   /* [n_node] M */
    double *d_flux;   /* [n_elem][3] scratch of apply */
} hx_device_helmholtz;

/* In a fixed order: the same bits on every run and for any number of threads. */
typedef struct hx_helmholtz_ops {
    /* y = A x on nodes. Hot. */
    int (*apply)(hx_device *dev, const hx_device_helmholtz *h, const double *d_x, double *d_y);
    /* diagonal of A */
    int (*diagonal)(hx_device *dev, const hx_device_helmholtz *h, double *d_diagonal);
    /* node = sum over its elements of value / 8 */
    int (*to_nodes)(hx_device *dev, const hx_device_helmholtz *h, const double *d_value,
                    double *d_node);
    /* value = mean over the element's corners */
    int (*to_elements)(hx_device *dev, const hx_device_helmholtz *h, const double *d_node,
                       double *d_value);
} hx_helmholtz_ops;

/* length: r. The caller holds the mesh of the problem. Cold. */
int hx_device_helmholtz_create(hx_device_helmholtz *h, hx_device *dev, const hx_device_mesh *d_mesh,
                               const hx_problem *problem, double length);
/* Device bytes besides the mesh's. */
size_t hx_device_helmholtz_bytes(const hx_mesh *mesh);
/* Accepts a zeroed struct. */
void hx_device_helmholtz_free(hx_device_helmholtz *h, hx_device *dev);

/* Eight times the gradient by reference coordinates at the centre. */
static HX_HD void hx_helmholtz_gradient(const double x[8], double g[3])
{
    const double low = x[0] + x[3], right = x[1] + x[2], top = x[4] + x[7], far = x[5] + x[6];
    g[0] = (right + far) - (low + top);
    g[1] = ((x[2] + x[3]) + (x[6] + x[7])) - ((x[0] + x[1]) + (x[4] + x[5]));
    g[2] = (top + far) - (low + right);
}

static HX_HD void hx_helmholtz_flux(const float *metric, int64_t stride, const double g[3],
                                    double q[3])
{
    const double xx = metric[0], yy = metric[stride], zz = metric[2 * stride];
    const double xy = metric[3 * stride], yz = metric[4 * stride], xz = metric[5 * stride];
    q[0] = xx * g[0] + xy * g[1] + xz * g[2];
    q[1] = xy * g[0] + yy * g[1] + yz * g[2];
    q[2] = xz * g[0] + yz * g[1] + zz * g[2];
}

/* What an element's flux adds to corner a. */
static HX_HD double hx_helmholtz_divergence(int a, const double q[3])
{
    return hx_hex8_sign(a, 0) * q[0] + hx_hex8_sign(a, 1) * q[1] + hx_hex8_sign(a, 2) * q[2];
}

/* Corner a's entry on the diagonal of an element's K. */
static HX_HD double hx_helmholtz_corner(const float *metric, int64_t stride, int a)
{
    const double g[3] = {hx_hex8_sign(a, 0), hx_hex8_sign(a, 1), hx_hex8_sign(a, 2)};
    double q[3];
    hx_helmholtz_flux(metric, stride, g, q);
    return g[0] * q[0] + g[1] * q[1] + g[2] * q[2];
}

#ifdef __cplusplus
}
#endif

#endif
