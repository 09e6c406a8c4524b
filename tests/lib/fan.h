/* A fan of n quadrilaterals around an axis, in layers: an inner node of the axis has 6 n + 3
 * neighbours, including itself. */
#ifndef HX_TEST_FAN_H
#define HX_TEST_FAN_H

#include <math.h>
#include <stdlib.h>

#include "core/mesh/mesh.h"

/* Raw mesh. Each layer has its node on the axis first, then 2 n nodes around it. */
static inline int fan_create(hx_mesh *mesh, int n, int n_layer)
{
    const int n_each = 2 * n + 1;
    const double pi = 3.14159265358979323846;
    double *const xyz = malloc((size_t)(n_each * (n_layer + 1)) * 3 * sizeof *xyz);
    int32_t *const conn = malloc((size_t)(n * n_layer) * 8 * sizeof *conn);
    if (!xyz || !conn) abort();
    for (int k = 0; k <= n_layer; k++)
        for (int i = 0; i < n_each; i++) {
            const double radius = i == 0 ? 0.0 : i % 2 ? 1.0 : 1.6;
            const double angle = pi * (i - 1) / n + 0.05 * k;
            double *const x = xyz + 3 * (n_each * k + i);
            x[0] = radius * cos(angle);
            x[1] = radius * sin(angle);
            x[2] = 0.7 * k + 0.05 * sin(3.0 * i + k);
        }
    for (int k = 0; k < n_layer; k++)
        for (int q = 0; q < n; q++) {
            const int quad[4] = {0, 1 + 2 * q, 2 + 2 * q, 1 + (2 * q + 2) % (2 * n)};
            for (int a = 0; a < 8; a++)
                conn[8 * (n * k + q) + a] = n_each * (k + a / 4) + quad[a % 4];
        }
    return hx_mesh_create(mesh, "fan", n_each * (n_layer + 1), xyz, n * n_layer, conn);
}

/* Raw mesh of n wedges per layer around an axis, with node sets `axis` and `rim`: all cells of one
 * or two layers contain a node of the axis. Each layer has its node on the axis first, then n
 * others. */
static inline int fan_create_wedges(hx_mesh *mesh, int n, int n_layer)
{
    const int n_each = n + 1;
    const double pi = 3.14159265358979323846;
    const int64_t n_node = (int64_t)n_each * (n_layer + 1);
    double *const xyz = malloc((size_t)n_node * 3 * sizeof *xyz);
    int32_t *const conn = malloc((size_t)(n * n_layer) * 8 * sizeof *conn);
    int32_t *const set = malloc((size_t)n_node * sizeof *set);
    int n_axis = 0, n_rim = 0;
    if (!xyz || !conn || !set) abort();
    for (int k = 0; k < n_node; k++) {
        const int i = k % n_each, layer = k / n_each;
        const double radius = i == 0 ? 0.0 : 1.0 + 0.1 * sin(5.0 * i), angle = 2.0 * pi * i / n;
        xyz[3 * k] = radius * cos(angle);
        xyz[3 * k + 1] = radius * sin(angle);
        xyz[3 * k + 2] = 0.3 * layer + 0.02 * sin(3.0 * i + layer);
        if (i == 0)
            set[n_axis++] = k;
        else
            set[n_node - ++n_rim] = k;
    }
    for (int e = 0; e < n * n_layer; e++) {
        const int32_t first = n_each * (e / n);
        const int q = e % n, corner[4] = {0, 1 + q, 1 + (q + 1) % n, 1 + (q + 1) % n};
        for (int a = 0; a < 8; a++) conn[8 * e + a] = first + n_each * (a / 4) + corner[a % 4];
    }
    HX_TRY(hx_mesh_create(mesh, "fan", n_node, xyz, n * n_layer, conn));
    HX_TRY(hx_mesh_add_node_set(mesh, "axis", n_axis, set));
    HX_TRY(hx_mesh_add_node_set(mesh, "rim", n_rim, set + n_axis));
    free(set);
    return HX_OK;
}

/* Raw mesh of n tetrahedra that share an edge, their axis. */
static inline int fan_create_tetrahedra(hx_mesh *mesh, int n)
{
    const double pi = 3.14159265358979323846;
    double *const xyz = calloc((size_t)(n + 2) * 3, sizeof *xyz);
    int32_t *const conn = malloc((size_t)n * 8 * sizeof *conn);
    int32_t *const node = malloc((size_t)(n + 2) * sizeof *node);
    if (!xyz || !conn || !node) abort();
    for (int k = 0; k < n + 2; k++) node[k] = k; /* nodes 0 and 1 are the axis */
    xyz[5] = 0.8;
    for (int q = 0; q < n; q++) {
        const double radius = 1.0 + 0.1 * sin(5.0 * q), angle = 2.0 * pi * q / n;
        const int a = 2 + q, b = 2 + (q + 1) % n, corner[8] = {0, a, b, b, 1, 1, 1, 1};
        xyz[3 * a] = radius * cos(angle);
        xyz[3 * a + 1] = radius * sin(angle);
        xyz[3 * a + 2] = 0.4 + 0.1 * sin(3.0 * q);
        for (int c = 0; c < 8; c++) conn[8 * q + c] = corner[c];
    }
    HX_TRY(hx_mesh_create(mesh, "fan", n + 2, xyz, n, conn));
    HX_TRY(hx_mesh_add_node_set(mesh, "axis", 2, node));
    HX_TRY(hx_mesh_add_node_set(mesh, "rim", n, node + 2));
    free(node);
    return HX_OK;
}

#endif
