/* The matrix-free scalar operator A = K + M of the equation -r^2 lap(x) + x = rho with natural
 * boundary conditions on the nodes of a mesh, for the filter `helmholtz` (Lazarov and Sigmund, Int.
 * J. Numer. Meth. Engng 86, 2011).
 *
 * M is lumped: an element with n points adds an nth of its volume to each, a hexahedron an eighth.
 * K uses an element's gradient at r = s = t = 0, for a wedge at the mean of its six points. Modes
 * that this gradient misses do not change the mean of the corners either. On equal cubes the filter
 * elements -> nodes -> A^-1 -> elements has no negative weight for any radius (with a consistent
 * mass matrix negative weights add up to a tenth). Rows of K sum to 0 and rows of M to the weights
 * of elements -> nodes, so constants and the volume are preserved on any mesh.
 *
 * Volumes are divided by their mean, so that the values are near 1 in any unit. */
#ifndef HX_HELMHOLTZ_H
#define HX_HELMHOLTZ_H

#include "../base/host_device.h"
#include "../mesh/cell.h"
#include "../mesh/hex8.h"
#include "../operator/device_mesh.h"
#include "../problem/problem.h"

HX_C_BEGIN

typedef struct hx_device_helmholtz {
    int64_t n_node, n_elem;
    int has_collapsed;     /* some cell names a point twice */
    const int32_t *d_conn; /* of the hx_device_mesh (borrowed, like the next two) */
    const int64_t *d_node_elem_ptr;
    const uint32_t *d_node_elem;
    /* [6][n_elem]: xx, yy, zz, xy, yz, xz of r^2 v J^-1 J^-T / 64 at the centre. Single precision
     * perturbs the operator itself; it is still applied in double precision. */
    float *d_metric;
    double *d_weight; /* [n_elem] v */
    /* [n_elem], for wedges: bits 0 to 7 mark the corners that share a node with another corner;
     * bits from 8 upwards hold 1 + the direction between the triangles. 0 for other elements. NULL:
     * no wedges. */
    uint16_t *d_wedge;
    double *d_mass; /* [n_node] M */
    double *d_flux; /* [n_elem][3] scratch of apply */
} hx_device_helmholtz;

/* Summed in a fixed order: results are bitwise equal in every run and for any number of threads. */
typedef struct hx_helmholtz_ops {
    /* y = A x on nodes. Hot. */
    int (*apply)(hx_device *dev, const hx_device_helmholtz *h, const double *d_x, double *d_y);
    /* diagonal of A */
    int (*diagonal)(hx_device *dev, const hx_device_helmholtz *h, double *d_diagonal);
    /* node = sum over its elements of value / points of the element */
    int (*to_nodes)(hx_device *dev, const hx_device_helmholtz *h, const double *d_value,
                    double *d_node);
    /* value = mean over the element's points */
    int (*to_elements)(hx_device *dev, const hx_device_helmholtz *h, const double *d_node,
                       double *d_value);
} hx_helmholtz_ops;

/* length: r. The caller keeps the problem's device mesh. Not performance-critical. */
int hx_device_helmholtz_create(hx_device_helmholtz *h, hx_device *dev, const hx_device_mesh *d_mesh,
                               const hx_problem *problem, double length);
/* Device bytes without the mesh's. */
size_t hx_device_helmholtz_bytes(const hx_mesh *mesh);
/* Accepts a zeroed struct. */
void hx_device_helmholtz_free(hx_device_helmholtz *h, hx_device *dev);

/* Eight times the gradient by the reference coordinates at the centre. */
static HX_HD void hx_helmholtz_gradient(const double x[8], double g[3])
{
    const double low = x[0] + x[3], right = x[1] + x[2], top = x[4] + x[7], far = x[5] + x[6];
    g[0] = (right + far) - (low + top);
    g[1] = ((x[2] + x[3]) + (x[6] + x[7])) - ((x[0] + x[1]) + (x[4] + x[5]));
    g[2] = (top + far) - (low + right);
}

/* Weight of corner a in direction i: the points of a wedge have equal weights between its
 * triangles. */
static HX_HD double hx_helmholtz_weight(unsigned wedge, int a, int i)
{
    if (wedge >> 8 != (unsigned)i + 1) return 1.0;
    return wedge >> a & 1u ? 2.0 / 3.0 : 4.0 / 3.0;
}

/* Replaces the components of the gradient that differ for a wedge. */
static HX_HD void hx_helmholtz_wedge_gradient(unsigned wedge, const double x[8], double g[3])
{
    for (int i = 0; i < 3; i++) {
        if (wedge >> 8 != (unsigned)i + 1) continue;
        g[i] = 0.0;
        for (int a = 0; a < 8; a++)
            g[i] += hx_helmholtz_weight(wedge, a, i) * hx_hex8_sign(a, i) * x[a];
    }
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

/* Contribution of an element's flux to corner a. */
static HX_HD double hx_helmholtz_divergence(int a, const double q[3])
{
    return hx_hex8_sign(a, 0) * q[0] + hx_hex8_sign(a, 1) * q[1] + hx_hex8_sign(a, 2) * q[2];
}

/* Like hx_helmholtz_divergence, for any cell. */
static HX_HD double hx_helmholtz_wedge_divergence(unsigned wedge, int a, const double q[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) sum += hx_helmholtz_weight(wedge, a, i) * hx_hex8_sign(a, i) * q[i];
    return sum;
}

/* Contribution of an incidence (element * 8 + corner) to its node's entry of the diagonal of K: all
 * pairs of the element's corners that name the node, added at the first of them. */
static HX_HD double hx_helmholtz_corner(const hx_device_helmholtz *h, uint32_t incidence)
{
    const int64_t e = incidence >> 3;
    const int a = (int)(incidence & 7u);
    const unsigned wedge = h->d_wedge ? h->d_wedge[e] : 0u;
    const unsigned corners = h->has_collapsed ? hx_cell_corners_at(h->d_conn + 8 * e, a) : 1u << a;
    double g[3] = {0.0, 0.0, 0.0}, q[3];
    if (!hx_cell_is_first(corners, a)) return 0.0;
    for (int b = 0; b < 8; b++)
        for (int i = 0; i < 3; i++)
            if (corners >> b & 1u) g[i] += hx_helmholtz_weight(wedge, b, i) * hx_hex8_sign(b, i);
    hx_helmholtz_flux(h->d_metric + e, h->n_elem, g, q);
    return g[0] * q[0] + g[1] * q[1] + g[2] * q[2];
}

/* Weight of an incidence in the mean over its element's points, times 8. */
static HX_HD double hx_helmholtz_eighths(const hx_device_helmholtz *h, uint32_t incidence)
{
    if (!h->has_collapsed) return 1.0;
    return 8.0 * hx_cell_share(h->d_conn + 8 * (int64_t)(incidence >> 3), (int)(incidence & 7u));
}

HX_C_END

#endif
