#include "helmholtz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../mesh/hex_jacobian.h"

size_t hx_device_helmholtz_bytes(const hx_mesh *mesh)
{
    const size_t n_node = (size_t)mesh->n_node, n_elem = (size_t)mesh->n_elem;
    const size_t wedge = mesh->n_kind[HX_CELL_WEDGE] > 0 ? sizeof(uint16_t) : 0;
    return hx_device_mesh_list_bytes(mesh) +
           n_elem * (6 * sizeof(float) + 4 * sizeof(double) + wedge) + n_node * sizeof(double);
}

/* Encodes d_wedge. The four corners that share a node lie on one face, in pairs along edges of that
 * face; the other edges of the face connect the triangles. */
static uint16_t wedge_of(const int32_t conn[8])
{
    unsigned shared = 0;
    int direction = 0, first = 0, other;
    if (hx_cell_kind_of(conn) != HX_CELL_WEDGE) return 0;
    for (int a = 0; a < 8; a++)
        if (hx_cell_corners_at(conn, a) != 1u << a) shared |= 1u << a;
    while (!(shared >> first & 1u)) first++;
    other = first + 1;
    while (!(shared >> other & 1u) || conn[other] == conn[first]) other++;
    for (int i = 0; i < 3; i++) { /* the direction in which both shared nodes are distinct */
        int apart = 1;
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++)
                if (conn[a] == conn[first] && conn[b] == conn[other])
                    apart &= hx_hex8_sign(a, i) != hx_hex8_sign(b, i);
        if (apart) direction = i;
    }
    return (uint16_t)((unsigned)(direction + 1) << 8 | shared);
}

/* Replaces the derivative between the triangles of a wedge by that at the mean of its points. */
static void repair_map(const hx_mesh *mesh, int64_t e, unsigned wedge, hx_hex_map *map)
{
    for (int d = 0; d < 3; d++) {
        double x[8], g[3] = {0.0};
        for (int a = 0; a < 8; a++) x[a] = mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + d];
        hx_helmholtz_wedge_gradient(wedge, x, g);
        for (int i = 0; i < 3; i++)
            if (wedge >> 8 == (unsigned)i + 1) map->c[1 + i][d] = 0.125 * g[i];
    }
}

/* v J^-1 J^-T r^2 / 64 at the centre: xx, yy, zz, xy, yz, xz. An element that is inverted at the
 * centre (meshes are checked at other points) is treated as a cube. */
static void fill_metric(const hx_mesh *mesh, int64_t e, unsigned wedge, double volume,
                        double factor, float metric[6])
{
    static const int row[6] = {0, 1, 2, 0, 1, 0}, column[6] = {0, 1, 2, 1, 2, 2};
    hx_hex_map map;
    double inverse[3][3], edge = cbrt(volume);
    hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
    if (wedge) repair_map(mesh, e, wedge, &map);
    const double det = hx_triple3(map.c[1], map.c[2], map.c[3]);
    const int is_good = det > 1e-3 * 0.125 * volume;
    for (int i = 0; i < 3; i++) {
        const double *const b = map.c[1 + (i + 1) % 3], *const c = map.c[1 + (i + 2) % 3];
        for (int d = 0; d < 3; d++) {
            const int j = (d + 1) % 3, k = (d + 2) % 3;
            inverse[i][d] = is_good ? (b[j] * c[k] - b[k] * c[j]) / det : i == d ? 2.0 / edge : 0.0;
        }
    }
    for (int i = 0; i < 6; i++) {
        const double *const a = inverse[row[i]], *const b = inverse[column[i]];
        metric[i] = (float)(factor * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]));
    }
}

static void fill_elements(const hx_problem *problem, double length, float *metric, double *weight,
                          uint16_t *wedge)
{
    const hx_mesh *mesh = problem->mesh;
    const int64_t n = mesh->n_elem;
    const hx_mesh *whole = hx_problem_whole(problem)->mesh; /* the same on all ranks */
    const double mean = whole->total_volume / (double)hx_mesh_n_elem_all(whole);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) {
        float entry[6];
        weight[e] = problem->volume[e] / mean;
        if (wedge) wedge[e] = wedge_of(mesh->conn + 8 * e);
        fill_metric(mesh, e, wedge ? wedge[e] : 0u, problem->volume[e],
                    length * length * weight[e] / 64.0, entry);
        for (int i = 0; i < 6; i++) metric[i * n + e] = entry[i];
    }
}

int hx_device_helmholtz_create(hx_device_helmholtz *h, hx_device *dev, const hx_device_mesh *d_mesh,
                               const hx_problem *problem, double length)
{
    const hx_mesh *mesh = problem->mesh;
    const size_t n_node = (size_t)mesh->n_node, n_elem = (size_t)mesh->n_elem;
    float *metric = NULL;
    double *weight = NULL;
    uint16_t *wedge = NULL;
    int rc;
    memset(h, 0, sizeof *h);
    h->n_node = mesh->n_node;
    h->n_elem = mesh->n_elem;
    HX_TRY_FAIL(hx_alloc_raw(&metric, 6 * n_elem, sizeof *metric, "helmholtz filter"));
    HX_TRY_FAIL(hx_alloc_raw(&weight, n_elem, sizeof *weight, "helmholtz filter"));
    if (mesh->n_kind[HX_CELL_WEDGE] > 0)
        HX_TRY_FAIL(hx_alloc_raw(&wedge, n_elem, sizeof *wedge, "helmholtz filter"));
    fill_elements(problem, length, metric, weight, wedge);
    if (wedge) HX_TRY_FAIL(hx_device_put(dev, &h->d_wedge, wedge, n_elem * sizeof *wedge));
    HX_TRY_FAIL(hx_device_put(dev, &h->d_metric, metric, 6 * n_elem * sizeof *metric));
    HX_TRY_FAIL(hx_device_put(dev, &h->d_weight, weight, n_elem * sizeof *weight));
    HX_TRY_FAIL(hx_device_mesh_need_lists(dev, d_mesh));
    h->has_collapsed = d_mesh->has_collapsed;
    h->d_conn = d_mesh->d_conn;
    h->d_node_elem_ptr = d_mesh->d_node_elem_ptr;
    h->d_node_elem = d_mesh->d_node_elem;
    HX_TRY_FAIL(dev->ops->alloc(dev, 3 * n_elem * sizeof(double), &h->d_flux));
    HX_TRY_FAIL(dev->ops->alloc(dev, n_node * sizeof(double), &h->d_mass));
    rc = dev->ops->helmholtz->to_nodes(dev, h, h->d_weight, h->d_mass);
fail:
    free(metric);
    free(weight);
    free(wedge);
    if (rc < 0) hx_device_helmholtz_free(h, dev);
    return rc;
}

void hx_device_helmholtz_free(hx_device_helmholtz *h, hx_device *dev)
{
    dev->ops->release(dev, h->d_metric);
    dev->ops->release(dev, h->d_weight);
    dev->ops->release(dev, h->d_wedge);
    dev->ops->release(dev, h->d_mass);
    dev->ops->release(dev, h->d_flux);
    memset(h, 0, sizeof *h);
}
