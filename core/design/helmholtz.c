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
    return n_elem * (6 * sizeof(float) + 4 * sizeof(double)) + n_node * sizeof(double);
}

/* v J^-1 J^-T r^2 / 64 at the centre: xx, yy, zz, xy, yz, xz. An element that is turned inside out
 * there (it need not be at the points where meshes are checked) counts as a cube. */
static void fill_metric(const hx_mesh *mesh, int64_t e, double volume, double factor,
                        float metric[6])
{
    static const int row[6] = {0, 1, 2, 0, 1, 0}, column[6] = {0, 1, 2, 1, 2, 2};
    hx_hex_map map;
    double inverse[3][3], edge = cbrt(volume);
    hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
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

static void fill_elements(const hx_problem *problem, double length, float *metric, double *weight)
{
    const hx_mesh *mesh = problem->mesh;
    const int64_t n = mesh->n_elem;
    const double mean = mesh->total_volume / (double)n;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) {
        float entry[6];
        weight[e] = problem->volume[e] / mean;
        fill_metric(mesh, e, problem->volume[e], length * length * weight[e] / 64.0, entry);
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
    int rc;
    memset(h, 0, sizeof *h);
    h->n_node = mesh->n_node;
    h->n_elem = mesh->n_elem;
    HX_TRY_FAIL(hx_alloc_raw(&metric, 6 * n_elem, sizeof *metric, "helmholtz filter"));
    HX_TRY_FAIL(hx_alloc_raw(&weight, n_elem, sizeof *weight, "helmholtz filter"));
    fill_elements(problem, length, metric, weight);
    HX_TRY_FAIL(hx_device_put(dev, &h->d_metric, metric, 6 * n_elem * sizeof *metric));
    HX_TRY_FAIL(hx_device_put(dev, &h->d_weight, weight, n_elem * sizeof *weight));
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
    if (rc < 0) hx_device_helmholtz_free(h, dev);
    return rc;
}

void hx_device_helmholtz_free(hx_device_helmholtz *h, hx_device *dev)
{
    dev->ops->release(dev, h->d_metric);
    dev->ops->release(dev, h->d_weight);
    dev->ops->release(dev, h->d_mass);
    dev->ops->release(dev, h->d_flux);
    memset(h, 0, sizeof *h);
}
