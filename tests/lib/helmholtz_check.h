/* The filter `helmholtz` on any mesh against a dense solution of its equation, and the diagonal
 * that PCG divides by. */
#ifndef HX_TEST_HELMHOLTZ_CHECK_H
#define HX_TEST_HELMHOLTZ_CHECK_H

#include "core/design/helmholtz.h"
#include "core/mesh/hex8.h"
#include "fixture.h"

/* Gaussian elimination without pivots: the matrix is positive definite. */
static inline void helmholtz_solve_dense(int64_t n, double *matrix, double *x)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k + 1; i < n; i++) {
            const double factor = matrix[i * n + k] / matrix[k * n + k];
            for (int64_t j = k; j < n; j++) matrix[i * n + j] -= factor * matrix[k * n + j];
            x[i] -= factor * x[k];
        }
    for (int64_t k = n; k-- > 0;) {
        for (int64_t j = k + 1; j < n; j++) x[k] -= matrix[k * n + j] * x[j];
        x[k] /= matrix[k * n + k];
    }
}

/* Adds an element: its gradient at its middle, and equal parts of its volume at its points. */
static inline void helmholtz_add_dense(const hx_mesh *mesh, int64_t e, double volume, double radius,
                                       double rho, double *matrix, double *x)
{
    const int32_t *const conn = mesh->conn + 8 * e;
    double at[24], inv[3][3], g[8][3], middle[3];
    int corner[8];
    const int n_point = hx_cell_distinct(conn, corner);
    hx_cell_middle(conn, middle);
    for (int a = 0; a < 8; a++)
        memcpy(at + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *at);
    (void)hx_hex8_jacobian(at, middle[0], middle[1], middle[2], inv);
    for (int a = 0; a < 8; a++) hx_hex8_gradient(a, middle[0], middle[1], middle[2], inv, g[a]);
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++)
            matrix[conn[a] * mesh->n_node + conn[b]] +=
                radius * radius / 12.0 * volume *
                (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
    for (int k = 0; k < n_point; k++) {
        matrix[conn[corner[k]] * (mesh->n_node + 1)] += volume / n_point;
        x[conn[corner[k]]] += volume / n_point * rho;
    }
}

/* filtered[n_elem] of rho[n_elem]. */
static inline void helmholtz_filter_dense(const hx_problem *problem, double radius,
                                          const double *rho, double *filtered)
{
    const hx_mesh *mesh = problem->mesh;
    const size_t nodes = (size_t)mesh->n_node;
    double *const matrix = calloc(nodes * nodes, sizeof *matrix);
    double *const x = calloc(nodes, sizeof *x);
    if (!matrix || !x) abort();
    for (int64_t e = 0; e < mesh->n_elem; e++)
        helmholtz_add_dense(mesh, e, problem->volume[e], radius, rho[e], matrix, x);
    helmholtz_solve_dense(mesh->n_node, matrix, x);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        int corner[8];
        const int n_point = hx_cell_distinct(conn, corner);
        filtered[e] = 0.0;
        for (int k = 0; k < n_point; k++) filtered[e] += x[conn[corner[k]]] / n_point;
    }
    free(matrix);
    free(x);
}

/* The diagonal that PCG divides by is that of the operator. A wrong diagonal only costs iterations,
 * so no solution reveals it. Checks every `step`th entry. */
static inline void helmholtz_check_diagonal(hx_device *dev, const hx_problem *problem,
                                            double radius, size_t step)
{
    const struct hx_helmholtz_ops *const ops = dev->ops->helmholtz;
    const size_t n = (size_t)problem->mesh->n_node;
    double *const unit = calloc(n, sizeof *unit), *const y = calloc(n, sizeof *y);
    double *const diagonal = calloc(n, sizeof *diagonal);
    const hx_device_mesh *d_mesh;
    hx_device_helmholtz h = {0};
    if (!unit || !y || !diagonal) abort();
    CHECK_OK(hx_device_mesh_take(&d_mesh, dev, problem->mesh));
    CHECK_OK(hx_device_helmholtz_create(&h, dev, d_mesh, problem, radius));
    double *const d_x = fixture_put(dev, n, unit), *const d_y = fixture_put(dev, n, unit);
    CHECK_OK(ops->diagonal(dev, &h, d_y));
    fixture_get(dev, n, diagonal, d_y);
    for (size_t a = 0; a < n; a += step) {
        unit[a] = 1.0;
        CHECK_OK(dev->ops->upload(dev, d_x, unit, n * sizeof *unit));
        CHECK_OK(ops->apply(dev, &h, d_x, d_y));
        fixture_get(dev, n, y, d_y);
        CHECK_REL(diagonal[a], y[a], 1e-13);
        unit[a] = 0.0;
    }
    dev->ops->release(dev, d_x);
    dev->ops->release(dev, d_y);
    hx_device_helmholtz_free(&h, dev);
    hx_device_mesh_drop(dev, d_mesh);
    free(unit);
    free(y);
    free(diagonal);
}

#endif
