/* Multigrid on the host with one unknown per node (heat conduction). A row of a coarse matrix is 27
 * floats, stored node by node. Operations that do not depend on the number of unknowns are in
 * multigrid_cpu.c. */
#include <string.h>

#include "../../base/vectorised.h"
#include "../../mesh/hex8.h"
#include "../device/cpu_ops.h"
#include "multigrid_cpu.h"

enum { ROW = 27, CORNERS = 8 };

/* Weights of a cell's corners at mesh node a. */
static void locate(const hx_mg_mesh *mesh, int64_t cell, int64_t a, float w[CORNERS])
{
    const int32_t *at = mesh->d_cell + 3 * cell;
    float s[3];
    for (int i = 0; i < 3; i++) s[i] = mesh->d_position[3 * a + i] - (float)at[i];
    for (int c = 0; c < CORNERS; c++)
        w[c] = (c & 1 ? s[0] : 1.0f - s[0]) * (c & 2 ? s[1] : 1.0f - s[1]) *
               (c & 4 ? s[2] : 1.0f - s[2]);
}

static int cpu_mesh_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                             const float *d_t, const hx_mg_level *level)
{
    const int64_t n = level->n_node;
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < mesh->n_cell; cell++) {
        float *const partial = mesh->d_partial + CORNERS * cell;
        memset(partial, 0, CORNERS * sizeof *partial);
        for (int32_t l = mesh->d_cell_node_at[cell]; l < mesh->d_cell_node_at[cell + 1]; l++) {
            const int64_t a = mesh->d_cell_node[l];
            float w[CORNERS];
            if (a >= mesh->model->n_point - mesh->n_other) continue;
            const float f = (float)d_r[a] - d_t[a];
            locate(mesh, cell, a, w);
            for (int c = 0; c < CORNERS; c++) partial[c] += w[c] * f;
        }
    }
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n; a++) {
        float sum = 0.0f;
        for (int64_t c = 0; c < CORNERS; c++) {
            const int64_t cell = mesh->d_node_cell[c * n + a];
            if (cell >= 0) sum += mesh->d_partial[CORNERS * cell + c];
        }
        level->d_b[a] = sum;
    }
    return HX_OK;
}

static int cpu_mesh_prolong(hx_device *dev, const hx_mg_mesh *mesh, const float *d_y,
                            const float *d_m, float *d_x)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < mesh->n_cell; cell++) {
        float at_corner[CORNERS], w[CORNERS];
        for (int c = 0; c < CORNERS; c++)
            at_corner[c] = d_y[mesh->d_cell_corner[CORNERS * cell + c]];
        for (int32_t l = mesh->d_cell_node_at[cell]; l < mesh->d_cell_node_at[cell + 1]; l++) {
            const int64_t a = mesh->d_cell_node[l];
            float sum = 0.0f;
            locate(mesh, cell, a, w);
            for (int c = 0; c < CORNERS; c++) sum += w[c] * at_corner[c];
            if (d_m[a] > 0.0f) d_x[a] += sum;
        }
    }
    return HX_OK;
}

/* Corners of an element in a cell: weights w[corner of the cell][corner]; 0 for prescribed
 * temperatures. */
static void locate_element(const hx_mg_mesh *mesh, int64_t cell, int64_t elem, double x[24],
                           float w[CORNERS][8])
{
    const int32_t *conn = mesh->model->d_conn + 8 * elem;
    for (int a = 0; a < 8; a++) {
        const int64_t node = conn[a];
        float of[CORNERS];
        memcpy(x + 3 * a, mesh->model->d_xyz + 3 * node, 3 * sizeof *x);
        locate(mesh, cell, node, of);
        for (int c = 0; c < CORNERS; c++) w[c][a] = mesh->d_fixed[node] ? 0.0f : of[c];
    }
}

/* matrix += P_e' K_e P_e of one element, from the gradients of the cell's functions at the Gauss
 * points. */
HX_INLINED void add_scalar_element_lanes(const double x[24], const float w[CORNERS][8],
                                         float modulus, float matrix[CORNERS][CORNERS])
{
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3];
        float g[3][8], coarse[3][CORNERS];
        const float weight = modulus * (float)hx_hex8_jacobian(x, r, s, t, inv);
        for (int a = 0; a < 8; a++) {
            double d[3];
            hx_hex8_gradient(a, r, s, t, inv, d);
            for (int i = 0; i < 3; i++) g[i][a] = (float)d[i];
        }
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < CORNERS; c++) {
                float sum = 0.0f;
                for (int a = 0; a < 8; a++) sum += w[c][a] * g[i][a];
                coarse[i][c] = sum;
            }
        for (int c = 0; c < CORNERS; c++)
            for (int d = 0; d < CORNERS; d++)
                matrix[c][d] +=
                    weight * (coarse[0][c] * coarse[0][d] + coarse[1][c] * coarse[1][d] +
                              coarse[2][c] * coarse[2][d]);
    }
}
HX_VERSIONS(add_scalar_element,
            (const double x[24], const float w[CORNERS][8], float modulus,
             float matrix[CORNERS][CORNERS]),
            (x, w, modulus, matrix))

/* Adds a cell's matrix to the rows of its corners. */
static void add_scalar_cell(const hx_mg_level *level, const int32_t *corner,
                            float matrix[CORNERS][CORNERS])
{
    for (int a = 0; a < CORNERS; a++)
        for (int b = 0; b < CORNERS; b++) {
            const int offset = HX_COARSE_CENTRE + ((b & 1) - (a & 1)) +
                               3 * ((b >> 1 & 1) - (a >> 1 & 1)) + 9 * ((b >> 2) - (a >> 2));
            level->d_matrix[ROW * (int64_t)corner[a] + offset] += matrix[a][b];
        }
}

static int cpu_mesh_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level)
{
    (void)dev;
    memset(level->d_matrix, 0, ROW * (size_t)level->n_node * sizeof *level->d_matrix);
    for (int colour = 0; colour < 8; colour++) {
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t k = mesh->colour_at[colour]; k < mesh->colour_at[colour + 1]; k++) {
            const int64_t cell = mesh->d_coloured[k];
            float matrix[CORNERS][CORNERS] = {{0.0f}}, w[CORNERS][8];
            double x[24];
            for (int32_t l = mesh->d_cell_elem_at[cell]; l < mesh->d_cell_elem_at[cell + 1]; l++) {
                const int64_t elem = mesh->d_cell_elem[l];
                locate_element(mesh, cell, elem, x, w);
                add_scalar_element(x, (const float(*)[8])w, (float)mesh->model->d_modulus[elem],
                                   matrix);
            }
            add_scalar_cell(level, mesh->d_cell_corner + CORNERS * cell, matrix);
        }
    }
    return HX_OK;
}

static int cpu_add_blocks(hx_device *dev, const hx_mg_level *level, int64_t n, const int64_t *d_at,
                          const float *d_block)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) level->d_matrix[d_at[i]] += d_block[i];
    return HX_OK;
}

/* Row a of A x. */
static inline float row_product(const hx_mg_level *level, int64_t a, const float *x)
{
    const float *row = level->d_matrix + ROW * a;
    float sum = 0.0f;
    for (int o = 0; o < ROW; o++) {
        const int64_t b = level->d_neighbour[o * level->n_node + a];
        if (b != a || o == HX_COARSE_CENTRE) sum += row[o] * x[b];
    }
    return sum;
}

static int cpu_multiply(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) d_y[a] = row_product(level, a, d_x);
    return HX_OK;
}

static int cpu_residual(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) d_y[a] = level->d_b[a] - row_product(level, a, d_x);
    return HX_OK;
}

static int cpu_smooth(hx_device *dev, const hx_mg_level *level, int i, const float *d_x, float *d_y)
{
    const float alpha = level->d_smoother->a[i], beta = level->d_smoother->b[i];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) {
        const float product = d_x ? row_product(level, a, d_x) : 0.0f;
        float d = beta * level->d_m[a] * (level->d_b[a] - product);
        if (i > 0) d += alpha * level->d_d[a];
        level->d_d[a] = d;
        d_y[a] = (d_x ? d_x[a] : 0.0f) + d;
    }
    return HX_OK;
}

static int cpu_restrict_to(hx_device *dev, const hx_mg_level *fine, const float *d_r,
                           const hx_mg_level *coarse)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < coarse->n_node; a++) {
        float sum = 0.0f, d[3];
        for (int o = 0; o < ROW; o++) {
            const int64_t child = coarse->d_child[o * coarse->n_node + a];
            if (child >= 0) sum += hx_mg_child(fine, coarse, o, d) * d_r[child];
        }
        coarse->d_b[a] = sum;
    }
    return HX_OK;
}

static int cpu_prolong_from(hx_device *dev, const hx_mg_level *coarse, const float *d_y,
                            const hx_mg_level *fine, float *d_x)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < fine->n_node; a++) {
        int first[3] = {0, 0, 0}, second[3] = {0, 0, 0}, wide[3];
        float sum = 0.0f, d[3];
        for (int c = 0; c < CORNERS; c++) {
            const int64_t parent = fine->d_parent[c * fine->n_node + a];
            if (parent < 0) continue;
            for (int i = 0; i < 3; i++) *(c >> i & 1 ? &second[i] : &first[i]) = 1;
            sum += d_y[parent];
        }
        d_x[a] += hx_mg_parents(fine, coarse, first, second, d, wide) * sum;
    }
    return HX_OK;
}

/* Adds the contribution of child i of node a, at offset o: its neighbours k are children of the
 * nodes J = a + p. */
static void add_child(const hx_mg_level *fine, const hx_mg_level *coarse, int64_t i, int o,
                      float row[ROW])
{
    const int at[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
    float d[3];
    const float wi = coarse->scale * hx_mg_child(fine, coarse, o, d);
    for (int n = 0; n < ROW; n++) {
        const int64_t k = fine->d_neighbour[n * fine->n_node + i];
        const int to[3] = {at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1};
        if (k == i && n != HX_COARSE_CENTRE) continue;
        for (int p = 0; p < ROW; p++) {
            const int e = hx_cpu_child_offset(coarse, to, p);
            if (e < 0) continue;
            row[p] += wi * hx_mg_child(fine, coarse, e, d) * fine->d_matrix[ROW * i + n];
        }
    }
}

static int cpu_galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse)
{
    (void)dev;
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t a = 0; a < coarse->n_node; a++) {
        float *row = coarse->d_matrix + ROW * a;
        memset(row, 0, ROW * sizeof *row);
        for (int o = 0; o < ROW; o++) {
            const int64_t i = coarse->d_child[o * coarse->n_node + a];
            if (i >= 0) add_child(fine, coarse, i, o, row);
        }
    }
    return HX_OK;
}

static int cpu_scalar_level_diagonal(hx_device *dev, const hx_mg_level *level)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) {
        const float d = level->d_matrix[ROW * a + HX_COARSE_CENTRE];
        level->d_m[a] = d > 0.0f ? 1.0f / d : 0.0f;
    }
    return HX_OK;
}

static int cpu_dense(hx_device *dev, const hx_mg_level *level, double *matrix)
{
    const int64_t n = level->n_node;
    (void)dev;
    memset(matrix, 0, (size_t)(n * n) * sizeof *matrix);
    for (int64_t a = 0; a < n; a++)
        for (int o = 0; o < ROW; o++) {
            const int64_t b = level->d_neighbour[o * n + a];
            if (b != a || o == HX_COARSE_CENTRE)
                matrix[a * n + b] = (double)level->d_matrix[ROW * a + o];
        }
    return HX_OK;
}

static const hx_mg_smoother_ops diagonal_ops = {
    .invert = hx_cpu_diagonal_invert,
    .power = hx_cpu_diagonal_power,
    .level_invert = cpu_scalar_level_diagonal,
    .level_power = hx_cpu_diagonal_power,
};

static const hx_mg_transfer_ops transfer_ops = {
    .mesh_restrict = cpu_mesh_restrict,
    .mesh_prolong = cpu_mesh_prolong,
    .restrict_to = cpu_restrict_to,
    .prolong_from = cpu_prolong_from,
    .mesh_galerkin = cpu_mesh_galerkin,
    .rows_galerkin = hx_cpu_rows_galerkin_scalar,
    .galerkin = cpu_galerkin,
};

static const hx_mg_level_ops level_ops = {
    .multiply = cpu_multiply,
    .residual = cpu_residual,
    .smooth = cpu_smooth,
    .add_blocks = cpu_add_blocks,
    .dense = cpu_dense,
};

static const hx_mg_direct_ops direct_ops = {
    .finish = hx_cpu_direct_factorise_scalar,
    .solve = hx_cpu_direct_solve_scalar,
};

const hx_multigrid_ops hx_cpu_multigrid_scalar_ops = {
    .vector = &hx_cpu_mg_vector_ops,
    .diagonal = &diagonal_ops,
    .blocks = &hx_cpu_mg_blocks_ops,
    .transfer = &transfer_ops,
    .level = &level_ops,
    .direct = &direct_ops,
};
