/* Multigrid on the host. A row of a lattice's matrix is 27 blocks [column][row] of 6 x 6 floats,
 * node after node. */
#include <math.h>
#include <string.h>

#include "../base/sum.h"
#include "../base/vectorised.h"
#include "../mesh/hex8.h"
#include "cpu_ops.h"

enum { DOF = HX_MG_DOF, BLOCK = 36, ROW = 27 * BLOCK, CORNERS = 8, CELL = 8 * DOF };

static int cpu_invert(hx_device *dev, int64_t n, const double *d_diag, float *d_m)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n; k++) d_m[k] = d_diag[k] > 0.0 ? (float)(1.0 / d_diag[k]) : 0.0f;
    return HX_OK;
}

static int cpu_power_start(hx_device *dev, int64_t n, const float *d_m, float *d_v)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n; k++) d_v[k] = d_m[k] > 0.0f ? hx_mg_start_value(k) : 0.0f;
    return HX_OK;
}

static int cpu_power_step(hx_device *dev, int64_t n, const float *d_m, const float *d_t, float *d_v,
                          hx_mg_smoother *d_smoother)
{
    double part_old[HX_N_PART], part_new[HX_N_PART];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double before = 0.0, after = 0.0;
        for (int64_t k = hx_part_begin(n, i); k < hx_part_begin(n, i + 1); k++) {
            if (!(d_m[k] > 0.0f)) continue;
            before += (double)d_v[k] * (double)d_v[k] / (double)d_m[k];
            after += (double)d_t[k] * (double)d_t[k] * (double)d_m[k];
        }
        part_old[i] = before;
        part_new[i] = after;
    }
    const double before = hx_sum_parts(part_old), after = hx_sum_parts(part_new);
    const float scale = hx_mg_power_result(d_smoother, before, after);
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < n; k++) d_v[k] = scale * d_m[k] * d_t[k];
    return HX_OK;
}

static int cpu_mesh_start(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother,
                          const double *d_r, const float *d_m, float *d_d, float *d_x)
{
    const float b = d_smoother->b[0];
    (void)dev;
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < n; k++) d_x[k] = b * d_m[k] * (float)d_r[k];
    if (d_d) memcpy(d_d, d_x, (size_t)n * sizeof *d_d);
    return HX_OK;
}

static int cpu_mesh_step(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother, int i,
                         const double *d_r, const float *d_t, const float *d_m, float *d_d,
                         float *d_x, double *d_z)
{
    const float a = d_smoother->a[i], b = d_smoother->b[i];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n; k++) {
        float d = b * d_m[k] * ((float)d_r[k] - d_t[k]);
        if (i > 0) d += a * d_d[k];
        if (d_d) d_d[k] = d;
        if (d_z)
            d_z[k] = (double)(d_x[k] + d);
        else
            d_x[k] += d;
    }
    return HX_OK;
}

/* Weights of a cell's corners at local coordinates s. */
HX_INLINED void trilinear(const float s[3], float w[CORNERS])
{
    for (int c = 0; c < CORNERS; c++)
        w[c] = (c & 1 ? s[0] : 1.0f - s[0]) * (c & 2 ? s[1] : 1.0f - s[1]) *
               (c & 4 ? s[2] : 1.0f - s[2]);
}

/* Weights of node a in a cell, and its distance from the cell's first corner over the unit. */
static void locate(const hx_mg_mesh *mesh, int64_t cell, int64_t a, float w[CORNERS],
                   float distance[3])
{
    const int32_t *at = mesh->d_cell + 3 * cell;
    const double *x = mesh->model->d_xyz + 3 * a;
    float s[3];
    for (int i = 0; i < 3; i++) {
        s[i] = mesh->d_position[3 * a + i] - (float)at[i];
        distance[i] = (float)((x[i] - mesh->origin[i] - at[i] * mesh->size[i]) / mesh->unit);
    }
    trilinear(s, w);
}

/* Edges of a cell over the unit. */
static void cell_edges(const hx_mg_mesh *mesh, float edge[3])
{
    for (int i = 0; i < 3; i++) edge[i] = (float)(mesh->size[i] / mesh->unit);
}

static void corner_distance(const float edge[3], int corner, const float distance[3], float d[3])
{
    for (int i = 0; i < 3; i++) d[i] = distance[i] - (corner >> i & 1 ? edge[i] : 0.0f);
}

/* What a cell's nodes leave at its corners. */
static void restrict_cell(const hx_mg_mesh *mesh, const float edge[3], int64_t cell,
                          const double *d_r, const float *d_t, float partial[CORNERS][DOF])
{
    float moment[CORNERS][3] = {{0.0f}};
    memset(partial, 0, CORNERS * sizeof *partial);
    for (int32_t l = mesh->d_cell_node_at[cell]; l < mesh->d_cell_node_at[cell + 1]; l++) {
        const int64_t a = mesh->d_cell_node[l];
        float w[CORNERS], x[3], f[3], xf[3];
        locate(mesh, cell, a, w, x);
        for (int i = 0; i < 3; i++) f[i] = (float)d_r[3 * a + i] - d_t[3 * a + i];
        for (int i = 0; i < 3; i++)
            xf[i] = x[(i + 1) % 3] * f[(i + 2) % 3] - x[(i + 2) % 3] * f[(i + 1) % 3];
        for (int c = 0; c < CORNERS; c++)
            for (int i = 0; i < 3; i++) {
                partial[c][i] += w[c] * f[i];
                moment[c][i] += w[c] * xf[i];
            }
    }
    for (int c = 0; c < CORNERS; c++) {
        const float zero[3] = {0.0f, 0.0f, 0.0f};
        float x[3];
        corner_distance(edge, c, zero, x); /* minus the corner's own place */
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, m = (i + 2) % 3;
            partial[c][3 + i] = moment[c][i] + x[j] * partial[c][m] - x[m] * partial[c][j];
        }
    }
}

static int cpu_mesh_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                             const float *d_t, const hx_mg_level *level)
{
    const int64_t n = level->n_node;
    float edge[3];
    (void)dev;
    cell_edges(mesh, edge);
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < mesh->n_cell; cell++) {
        float partial[CORNERS][DOF];
        restrict_cell(mesh, edge, cell, d_r, d_t, partial);
        memcpy(mesh->d_partial + CELL * cell, partial, sizeof partial);
    }
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n; a++) {
        float sum[DOF] = {0.0f};
        for (int64_t c = 0; c < CORNERS; c++) {
            const int64_t cell = mesh->d_node_cell[c * n + a];
            if (cell < 0) continue;
            for (int r = 0; r < DOF; r++) sum[r] += mesh->d_partial[CELL * cell + DOF * c + r];
        }
        memcpy(level->d_b + DOF * a, sum, sizeof sum);
    }
    return HX_OK;
}

static int cpu_mesh_prolong(hx_device *dev, const hx_mg_mesh *mesh, const float *d_y,
                            const float *d_m, float *d_x)
{
    float edge[3];
    (void)dev;
    cell_edges(mesh, edge);
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < mesh->n_cell; cell++) {
        float at_corner[CORNERS][DOF];
        for (int c = 0; c < CORNERS; c++)
            memcpy(at_corner[c], d_y + DOF * (int64_t)mesh->d_cell_corner[8 * cell + c],
                   sizeof at_corner[c]);
        for (int32_t l = mesh->d_cell_node_at[cell]; l < mesh->d_cell_node_at[cell + 1]; l++) {
            const int64_t a = mesh->d_cell_node[l];
            float w[CORNERS], x[3], u[3] = {0.0f, 0.0f, 0.0f};
            locate(mesh, cell, a, w, x);
            for (int c = 0; c < CORNERS; c++) {
                const float *v = at_corner[c], *theta = at_corner[c] + 3;
                float d[3];
                corner_distance(edge, c, x, d);
                for (int i = 0; i < 3; i++) {
                    const int j = (i + 1) % 3, m = (i + 2) % 3;
                    u[i] += w[c] * (v[i] + theta[j] * d[m] - theta[m] * d[j]);
                }
            }
            for (int i = 0; i < 3; i++)
                if (d_m[3 * a + i] > 0.0f) d_x[3 * a + i] += u[i];
        }
    }
    return HX_OK;
}

/* An element's stiffness in single precision. Rows by vectors of 24 columns: with g the gradients,
 * ke[a i][b j] = sum det (lambda g_ai g_bj + mu g_aj g_bi + [i = j] mu g_a . g_b). */
HX_INLINED
void stiffness_single(const double x[24], float lambda, float mu, float ke[24][24])
{
    memset(ke, 0, 24 * sizeof ke[0]);
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3];
        float g[24], of[3][24]; /* of[i][b j] = g_bi */
        const float det = (float)hx_hex8_jacobian(x, r, s, t, inv);
        for (int a = 0; a < 8; a++) {
            double grad[3];
            hx_hex8_gradient(a, r, s, t, inv, grad);
            for (int i = 0; i < 3; i++) g[3 * a + i] = (float)grad[i];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) of[i][3 * a + j] = (float)grad[i];
        }
        for (int a = 0; a < 8; a++) {
            const float ga[3] = {det * mu * g[3 * a], det * mu * g[3 * a + 1],
                                 det * mu * g[3 * a + 2]};
            float shear[24], dot[24];
            for (int b = 0; b < 24; b += 3)
                for (int j = 0; j < 3; j++) shear[b + j] = ga[j];
            for (int b = 0; b < 24; b++)
                dot[b] = ga[0] * of[0][b] + ga[1] * of[1][b] + ga[2] * of[2][b];
            for (int i = 0; i < 3; i++) {
                static const float one[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
                const float l = det * lambda * g[3 * a + i];
                float *row = ke[3 * a + i], same[24];
                for (int b = 0; b < 24; b += 3)
                    for (int j = 0; j < 3; j++) same[b + j] = one[i][j];
                for (int b = 0; b < 24; b++)
                    row[b] += l * g[b] + shear[b] * of[i][b] + same[b] * dot[b];
            }
        }
    }
}

/* A cell's matrix while elements are added: rows by corner and component, columns by component and
 * corner; rotations and moments about the cell's first corner. */
typedef float cell_matrix[CORNERS][DOF][CELL];

/* matrix += P_e' K_e P_e of one element. With w_b the weights of node b, columns of K_e P_e are
 * sum_b w_b M_b, M Ke's columns (translations) and their moments x_b x Ke (rotations); rows
 * likewise. */
HX_INLINED void add_element_lanes(const hx_mg_mesh *mesh, int64_t cell, int64_t elem,
                                  cell_matrix matrix)
{
    const hx_device_model *model = mesh->model;
    const int32_t *conn = model->d_conn + 8 * elem;
    const float modulus = (float)model->d_modulus[elem];
    double xyz[24];
    float ke[24][24], w[8][CORNERS], x[8][3], is_free[24];
    for (int a = 0; a < 8; a++) {
        const int64_t node = conn[a];
        memcpy(xyz + 3 * a, model->d_xyz + 3 * node, 3 * sizeof *xyz);
        locate(mesh, cell, node, w[a], x[a]);
        for (int i = 0; i < 3; i++)
            is_free[3 * a + i] = mesh->d_fixed[node] >> i & 1u ? 0.0f : 1.0f;
    }
    stiffness_single(xyz, modulus * (float)model->lambda, modulus * (float)model->mu, ke);
    for (int a = 0; a < 8; a++) {
        float f[3][CELL], m[3][CELL];
        for (int i = 0; i < 3; i++) {
            float *row = ke[3 * a + i], column[DOF][8];
            for (int b = 0; b < 24; b++) row[b] *= is_free[3 * a + i] * is_free[b];
            for (int b = 0; b < 8; b++) {
                const float *k = row + 3 * b, *y = x[b];
                for (int c = 0; c < 3; c++) column[c][b] = k[c];
                column[3][b] = y[1] * k[2] - y[2] * k[1];
                column[4][b] = y[2] * k[0] - y[0] * k[2];
                column[5][b] = y[0] * k[1] - y[1] * k[0];
            }
            for (int c = 0; c < DOF; c++) {
                float sum[CORNERS] = {0.0f};
                for (int b = 0; b < 8; b++)
                    for (int k = 0; k < CORNERS; k++) sum[k] += column[c][b] * w[b][k];
                memcpy(f[i] + CORNERS * c, sum, sizeof sum);
            }
        }
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            for (int c = 0; c < CELL; c++) m[i][c] = x[a][j] * f[l][c] - x[a][l] * f[j][c];
        }
        for (int corner = 0; corner < CORNERS; corner++) {
            const float weight = w[a][corner];
            for (int i = 0; i < 3; i++) {
                float *force = matrix[corner][i], *moment = matrix[corner][3 + i];
                for (int c = 0; c < CELL; c++) force[c] += weight * f[i][c];
                for (int c = 0; c < CELL; c++) moment[c] += weight * m[i][c];
            }
        }
    }
}
HX_VERSIONS(add_element, (const hx_mg_mesh *mesh, int64_t cell, int64_t elem, cell_matrix matrix),
            (mesh, cell, elem, matrix))

/* Rotations and moments about the corners themselves. */
static void shift_cell(const float edge[3], cell_matrix matrix)
{
    for (int corner = 0; corner < CORNERS; corner++) {
        float at[3];
        for (int i = 0; i < 3; i++) at[i] = corner >> i & 1 ? edge[i] : 0.0f;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            for (int c = 0; c < CELL; c++)
                matrix[corner][3 + i][c] -=
                    at[j] * matrix[corner][l][c] - at[l] * matrix[corner][j][c];
            for (int row = 0; row < CELL; row++) {
                float *v = matrix[row / DOF][row % DOF] + corner;
                v[CORNERS * (3 + i)] -= at[j] * v[CORNERS * l] - at[l] * v[CORNERS * j];
            }
        }
    }
}

/* Adds a cell's matrix to the rows of its corners, its upper triangle on both sides. */
static void add_cell(const hx_mg_level *level, const int32_t *corner, cell_matrix matrix)
{
    for (int a = 0; a < CORNERS; a++)
        for (int b = 0; b < CORNERS; b++) {
            const int offset = HX_LATTICE_CENTRE + ((b & 1) - (a & 1)) +
                               3 * ((b >> 1 & 1) - (a >> 1 & 1)) + 9 * ((b >> 2) - (a >> 2));
            float *to = level->d_matrix + (ROW * (int64_t)corner[a] + BLOCK * offset);
            for (int c = 0; c < DOF; c++)
                for (int r = 0; r < DOF; r++) {
                    const int upper = a < b || (a == b && r <= c);
                    to[DOF * c + r] +=
                        upper ? matrix[a][r][CORNERS * c + b] : matrix[b][c][CORNERS * r + a];
                }
        }
}

static int cpu_mesh_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level)
{
    float edge[3];
    (void)dev;
    cell_edges(mesh, edge);
    memset(level->d_matrix, 0, ROW * (size_t)level->n_node * sizeof *level->d_matrix);
    for (int colour = 0; colour < 8; colour++) {
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t k = mesh->colour_at[colour]; k < mesh->colour_at[colour + 1]; k++) {
            const int64_t cell = mesh->d_coloured[k];
            cell_matrix matrix;
            memset(matrix, 0, sizeof matrix);
            for (int32_t l = mesh->d_cell_elem_at[cell]; l < mesh->d_cell_elem_at[cell + 1]; l++)
                add_element(mesh, cell, mesh->d_cell_elem[l], matrix);
            shift_cell(edge, matrix);
            add_cell(level, mesh->d_cell_corner + 8 * cell, matrix);
        }
    }
    return HX_OK;
}

static int cpu_add_blocks(hx_device *dev, const hx_mg_level *level, int64_t n, const int64_t *d_at,
                          const float *d_block)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        float *to = level->d_matrix + BLOCK * d_at[i];
        for (int c = 0; c < DOF; c++)
            for (int r = 0; r < DOF; r++) to[DOF * c + r] += d_block[BLOCK * i + DOF * r + c];
    }
    return HX_OK;
}

static int cpu_match_entries(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_r,
                             float *d_t)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) d_t[d_dof[i]] = (float)d_r[d_dof[i]];
    return HX_OK;
}

static int cpu_column_dots(hx_device *dev, int64_t n, int n_column, const float *d_y,
                           const float *d_b, double *d_sum)
{
    (void)dev;
    for (int k = 0; k < n_column; k++) {
        const float *y = d_y + n * k;
        double part[HX_N_PART];
#pragma omp parallel for schedule(static)
        for (int p = 0; p < HX_N_PART; p++) {
            part[p] = 0.0;
            for (int64_t i = hx_part_begin(n, p); i < hx_part_begin(n, p + 1); i++)
                part[p] += (double)y[i] * (double)d_b[i];
        }
        d_sum[k] -= hx_sum_parts(part);
    }
    return HX_OK;
}

static int cpu_column_combine(hx_device *dev, int64_t n, int n_column, const float *d_y,
                              const double *d_c, float *d_x)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < n_column; k++) sum -= d_c[k] * (double)d_y[n * k + i];
        d_x[i] = (float)sum;
    }
    return HX_OK;
}

static int cpu_add(hx_device *dev, int64_t n, const float *d_x, float *d_y)
{
    (void)dev;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) d_y[i] += d_x[i];
    return HX_OK;
}

static int cpu_small_multiply(hx_device *dev, int n_column, const double *d_inverse,
                              const double *d_sum, double *d_c)
{
    (void)dev;
    for (int i = 0; i < n_column; i++) {
        d_c[i] = 0.0;
        for (int k = 0; k < n_column; k++) d_c[i] += d_inverse[n_column * i + k] * d_sum[k];
    }
    return HX_OK;
}

/* Row a of A x. */
static inline void row_product(const hx_mg_level *level, int64_t a, const float *x, float sum[DOF])
{
    const float *block = level->d_matrix + ROW * a;
    for (int r = 0; r < DOF; r++) sum[r] = 0.0f;
    for (int o = 0; o < 27; o++, block += BLOCK) {
        const int64_t b = level->d_neighbour[o * level->n_node + a];
        if (b == a && o != HX_LATTICE_CENTRE) continue;
        for (int c = 0; c < DOF; c++)
            for (int r = 0; r < DOF; r++) sum[r] += block[DOF * c + r] * x[DOF * b + c];
    }
}

static int cpu_multiply(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) row_product(level, a, d_x, d_y + DOF * a);
    return HX_OK;
}

static int cpu_residual(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) {
        float sum[DOF];
        row_product(level, a, d_x, sum);
        for (int r = 0; r < DOF; r++) d_y[DOF * a + r] = level->d_b[DOF * a + r] - sum[r];
    }
    return HX_OK;
}

static int cpu_smooth(hx_device *dev, const hx_mg_level *level, int i, const float *d_x, float *d_y)
{
    const float alpha = level->d_smoother->a[i], beta = level->d_smoother->b[i];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) {
        float sum[DOF] = {0.0f};
        if (d_x) row_product(level, a, d_x, sum);
        for (int64_t r = 0; r < DOF; r++) {
            const int64_t k = DOF * a + r;
            float d = beta * level->d_m[k] * (level->d_b[k] - sum[r]);
            if (i > 0) d += alpha * level->d_d[k];
            level->d_d[k] = d;
            d_y[k] = (d_x ? d_x[k] : 0.0f) + d;
        }
    }
    return HX_OK;
}

static int cpu_restrict_to(hx_device *dev, const hx_mg_level *fine, const float *d_r,
                           const hx_mg_level *coarse)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < coarse->n_node; a++) {
        float sum[DOF] = {0.0f};
        for (int o = 0; o < 27; o++) {
            const int64_t child = coarse->d_child[o * coarse->n_node + a];
            float d[3];
            if (child < 0) continue;
            const float w = hx_mg_child(fine, coarse, o, d), *r = d_r + DOF * child;
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, m = (i + 2) % 3;
                sum[i] += w * r[i];
                sum[3 + i] += w * (r[3 + i] + d[j] * r[m] - d[m] * r[j]);
            }
        }
        memcpy(coarse->d_b + DOF * a, sum, sizeof sum);
    }
    return HX_OK;
}

static int cpu_prolong_from(hx_device *dev, const hx_mg_level *coarse, const float *d_y,
                            const hx_mg_level *fine, float *d_x)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < fine->n_node; a++) {
        int64_t parent[CORNERS];
        int first[3] = {0, 0, 0}, second[3] = {0, 0, 0}, wide[3];
        float near[3];
        for (int c = 0; c < CORNERS; c++) {
            parent[c] = fine->d_parent[c * fine->n_node + a];
            for (int i = 0; i < 3; i++) {
                first[i] |= parent[c] >= 0 && !(c >> i & 1);
                second[i] |= parent[c] >= 0 && (c >> i & 1);
            }
        }
        const float w = hx_mg_parents(fine, coarse, first, second, near, wide);
        for (int c = 0; c < CORNERS; c++) {
            float d[3];
            if (parent[c] < 0) continue;
            for (int i = 0; i < 3; i++) d[i] = wide[i] && (c >> i & 1) ? -near[i] : near[i];
            const float *v = d_y + DOF * parent[c], *theta = v + 3;
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, m = (i + 2) % 3;
                d_x[DOF * a + i] += w * (v[i] + theta[j] * d[m] - theta[m] * d[j]);
                d_x[DOF * a + 3 + i] += w * theta[i];
            }
        }
    }
    return HX_OK;
}

/* sum += w T(di)' A T(dk), blocks [column][row]; T(d) = [1, theta x d; 0, 1]. */
static inline void add_block(const float *block, float w, const float di[3], const float dk[3],
                             float sum[BLOCK])
{
    float m[BLOCK];
    memcpy(m, block, sizeof m);
    for (int i = 0; i < 3; i++) { /* columns of the rotation about axis i */
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        for (int r = 0; r < DOF; r++)
            m[DOF * (3 + i) + r] += dk[j] * block[DOF * l + r] - dk[l] * block[DOF * j + r];
    }
    for (int c = 0; c < DOF; c++) {
        const float *col = m + DOF * c;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            sum[DOF * c + i] += w * col[i];
            sum[DOF * c + 3 + i] += w * (col[3 + i] + di[j] * col[l] - di[l] * col[j]);
        }
    }
}

/* The offset of the fine node at `to` from a coarse node at offset p, as a child: -1 if it is none.
 * `to` counts from the coarse node that p counts from. */
static inline int child_offset(const hx_mg_level *coarse, const int to[3], int p)
{
    const int at[3] = {p % 3 - 1, p / 3 % 3 - 1, p / 9 - 1};
    int e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = to[i] - hx_lattice_stride(coarse->mode[i]) * at[i];
        if (e[i] < hx_lattice_low(coarse->mode[i]) || e[i] > hx_lattice_high(coarse->mode[i]))
            return -1;
    }
    return (e[2] + 1) * 9 + (e[1] + 1) * 3 + e[0] + 1;
}

static int cpu_galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse)
{
    (void)dev;
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t a = 0; a < coarse->n_node; a++) {
        float *row = coarse->d_matrix + ROW * a;
        memset(row, 0, ROW * sizeof *row);
        for (int o = 0; o < 27; o++) { /* child i of a, neighbour k of i, child of which parent? */
            const int64_t i = coarse->d_child[o * coarse->n_node + a];
            const int at[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
            float di[3];
            if (i < 0) continue;
            const float wi = hx_mg_child(fine, coarse, o, di);
            for (int n = 0; n < 27; n++) {
                const int64_t k = fine->d_neighbour[n * fine->n_node + i];
                const int to[3] = {at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1};
                if (k == i && n != HX_LATTICE_CENTRE) continue;
                for (int p = 0; p < 27; p++) { /* parents J = a + p: k is their child at e */
                    const int e = child_offset(coarse, to, p);
                    float dk[3];
                    if (e < 0) continue;
                    const float wk = hx_mg_child(fine, coarse, e, dk);
                    add_block(fine->d_matrix + ROW * i + BLOCK * n, wi * wk, di, dk,
                              row + BLOCK * p);
                }
            }
        }
    }
    return HX_OK;
}

static int cpu_diagonal(hx_device *dev, const hx_mg_level *level)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++)
        for (int r = 0; r < DOF; r++) {
            const float d = level->d_matrix[ROW * a + BLOCK * HX_LATTICE_CENTRE + (DOF + 1) * r];
            level->d_m[DOF * a + r] = d > 0.0f ? 1.0f / d : 0.0f;
        }
    return HX_OK;
}

static int cpu_dense(hx_device *dev, const hx_mg_level *level, double *matrix)
{
    const int64_t n = DOF * level->n_node;
    (void)dev;
    memset(matrix, 0, (size_t)(n * n) * sizeof *matrix);
    for (int64_t a = 0; a < level->n_node; a++)
        for (int o = 0; o < 27; o++) {
            const int64_t b = level->d_neighbour[o * level->n_node + a];
            const float *block = level->d_matrix + ROW * a + BLOCK * o;
            if (b == a && o != HX_LATTICE_CENTRE) continue;
            for (int c = 0; c < DOF; c++)
                for (int r = 0; r < DOF; r++)
                    matrix[(DOF * a + r) * n + DOF * b + c] = (double)block[DOF * c + r];
        }
    return HX_OK;
}

static int cpu_dense_multiply(hx_device *dev, int64_t n, const float *d_inverse, const float *d_b,
                              float *d_y)
{
    (void)dev;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0; /* large terms cancel */
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < n; j++) sum += (double)d_inverse[i * n + j] * (double)d_b[j];
        d_y[i] = (float)sum;
    }
    return HX_OK;
}

const hx_multigrid_ops hx_cpu_multigrid_ops = {
    .invert = cpu_invert,
    .power_start = cpu_power_start,
    .power_step = cpu_power_step,
    .mesh_start = cpu_mesh_start,
    .mesh_step = cpu_mesh_step,
    .mesh_restrict = cpu_mesh_restrict,
    .mesh_prolong = cpu_mesh_prolong,
    .mesh_galerkin = cpu_mesh_galerkin,
    .rows_galerkin = hx_cpu_rows_galerkin,
    .add_blocks = cpu_add_blocks,
    .match_entries = cpu_match_entries,
    .column_dots = cpu_column_dots,
    .column_combine = cpu_column_combine,
    .add = cpu_add,
    .small_multiply = cpu_small_multiply,
    .multiply = cpu_multiply,
    .residual = cpu_residual,
    .smooth = cpu_smooth,
    .restrict_to = cpu_restrict_to,
    .prolong_from = cpu_prolong_from,
    .galerkin = cpu_galerkin,
    .diagonal = cpu_diagonal,
    .direct_factorise = hx_cpu_direct_factorise,
    .direct_solve = hx_cpu_direct_solve,
    .dense = cpu_dense,
    .dense_multiply = cpu_dense_multiply,
};
