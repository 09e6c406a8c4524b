/* Multigrid on the host. A row of a coarse matrix is 27 blocks [column][row] of 6 x 6 floats,
 * stored node by node. */
#include <math.h>
#include <string.h>

#include "../../base/sum.h"
#include "../device/cpu_ops.h"
#include "multigrid_cpu.h"

enum { DOF = HX_MG_DOF, BLOCK = 36, ROW = 27 * BLOCK, CORNERS = 8, CELL = 8 * DOF, CHUNK = 2048 };

int hx_cpu_diagonal_invert(hx_device *dev, const hx_mg_splitting *splitting)
{
    const int64_t n = splitting->n;
    const double *const d_diag = splitting->d_diag;
    float *const d_m = splitting->d_m;
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

static int cpu_power_sums(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                          const float *d_v, double *sum)
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
    sum[0] = hx_sum_parts(part_old);
    sum[1] = hx_sum_parts(part_new);
    return HX_OK;
}

static int cpu_power_end(hx_device *dev, int64_t n, const float *d_m, const float *d_t, double *sum,
                         float *d_v, hx_mg_smoother *smoother)
{
    const float scale = hx_mg_power_result(smoother, sum[0], sum[1]);
    (void)dev;
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < n; k++) d_v[k] = scale * d_m[k] * d_t[k];
    return HX_OK;
}

int hx_cpu_diagonal_power(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                          const float *d_s, float *d_v, hx_mg_smoother *d_smoother)
{
    double sum[2];
    (void)d_s;
    HX_TRY(cpu_power_sums(dev, n, d_m, d_t, d_v, sum));
    return cpu_power_end(dev, n, d_m, d_t, sum, d_v, d_smoother);
}

static int cpu_bound(hx_device *dev, hx_mg_smoother *d_smoother, double *d_least, double kept,
                     double safety, double ratio)
{
    (void)dev;
    hx_mg_smoother_bound(d_smoother, d_least, kept, safety, ratio);
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

/* Updates the entries begin .. end - 1. */
HX_INLINED void step_lanes(int64_t begin, int64_t end, float a, float b, const double *r,
                           const float *t, const float *m, float *d, float *x, double *z)
{
    if (d && a != 0.0f) {
        for (int64_t k = begin; k < end; k++) d[k] = a * d[k] + b * m[k] * ((float)r[k] - t[k]);
    } else if (d) {
        for (int64_t k = begin; k < end; k++) d[k] = b * m[k] * ((float)r[k] - t[k]);
    }
    if (d && z) {
        for (int64_t k = begin; k < end; k++) z[k] = (double)(x[k] + d[k]);
    } else if (d) {
        for (int64_t k = begin; k < end; k++) x[k] += d[k];
    } else if (z) {
        for (int64_t k = begin; k < end; k++)
            z[k] = (double)(x[k] + b * m[k] * ((float)r[k] - t[k]));
    } else {
        for (int64_t k = begin; k < end; k++) x[k] += b * m[k] * ((float)r[k] - t[k]);
    }
}
HX_VERSIONS(step,
            (int64_t begin, int64_t end, float a, float b, const double *r, const float *t,
             const float *m, float *d, float *x, double *z),
            (begin, end, a, b, r, t, m, d, x, z))

static int cpu_mesh_step(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother, int i,
                         const double *d_r, const float *d_t, const float *d_m, float *d_d,
                         float *d_x, double *d_z)
{
    const float a = i > 0 ? d_smoother->a[i] : 0.0f, b = d_smoother->b[i];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n; k += CHUNK)
        step(k, k + CHUNK < n ? k + CHUNK : n, a, b, d_r, d_t, d_m, d_d, d_x, d_z);
    return HX_OK;
}

/* One lane per corner of a cell. */
typedef float corners __attribute__((vector_size(CORNERS * sizeof(float))));

/* Positions of the corners relative to the first one, and data for the weights of a point by
 * corner. */
typedef struct cell_frame {
    corners edge[3], bit[3]; /* bit: 1 if the corner is on the far side in this direction, else 0 */
    double inverse_unit;
} cell_frame;

static cell_frame frame_of(const hx_mg_mesh *mesh)
{
    cell_frame f;
    float edge[3];
    hx_cpu_cell_edges(mesh, edge);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < CORNERS; c++) {
            f.bit[i][c] = c >> i & 1 ? 1.0f : 0.0f;
            f.edge[i][c] = c >> i & 1 ? edge[i] : 0.0f;
        }
    f.inverse_unit = 1.0 / mesh->unit;
    return f;
}

/* Position of the cell, for `place_point`. */
HX_INLINED void place_cell(const hx_mg_mesh *mesh, int64_t cell, double first[3], float at[3])
{
    for (int i = 0; i < 3; i++) {
        at[i] = (float)mesh->d_cell[3 * cell + i];
        first[i] = mesh->origin[i] + mesh->d_cell[3 * cell + i] * mesh->size[i];
    }
}

HX_INLINED void place_point(const hx_mg_mesh *mesh, const cell_frame *f, const double first[3],
                            const float at[3], int64_t a, corners *weight, float x[3])
{
    corners w[3];
    for (int i = 0; i < 3; i++) {
        const float s = mesh->d_position[3 * a + i] - at[i];
        w[i] = (1.0f - s) + (2.0f * s - 1.0f) * f->bit[i];
        x[i] = (float)((mesh->model->d_xyz[3 * a + i] - first[i]) * f->inverse_unit);
    }
    *weight = w[0] * w[1] * w[2];
}

/* Restricts the residual at a cell's nodes to its corners. */
HX_INLINED void restrict_cell_lanes(const hx_mg_mesh *mesh, const cell_frame *f, int64_t cell,
                                    const double *d_r, const float *d_t)
{
    corners force[3], moment[3];
    double first[3];
    float at[3], *const to = mesh->d_partial + CELL * cell;
    memset(force, 0, sizeof force);
    memset(moment, 0, sizeof moment);
    place_cell(mesh, cell, first, at);
    const int64_t n_own = mesh->model->n_point - mesh->n_other;
    for (int32_t l = mesh->d_cell_node_at[cell]; l < mesh->d_cell_node_at[cell + 1]; l++) {
        const int64_t a = mesh->d_cell_node[l];
        corners w;
        float x[3], r[3];
        if (a >= n_own) continue;
        place_point(mesh, f, first, at, a, &w, x);
        for (int i = 0; i < 3; i++) r[i] = (float)d_r[3 * a + i] - d_t[3 * a + i];
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, m = (i + 2) % 3;
            force[i] += w * r[i];
            moment[i] += w * (x[j] * r[m] - x[m] * r[j]);
        }
    }
    for (int i = 0; i < 3; i++) { /* moments about the corners themselves */
        const int j = (i + 1) % 3, m = (i + 2) % 3;
        moment[i] -= f->edge[j] * force[m] - f->edge[m] * force[j];
    }
    for (int c = 0; c < CORNERS; c++)
        for (int i = 0; i < 3; i++) {
            to[DOF * c + i] = force[i][c];
            to[DOF * c + 3 + i] = moment[i][c];
        }
}
HX_VERSIONS(restrict_cell,
            (const hx_mg_mesh *mesh, const cell_frame *f, int64_t cell, const double *d_r,
             const float *d_t),
            (mesh, f, cell, d_r, d_t))

static int cpu_mesh_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                             const float *d_t, const hx_mg_level *level)
{
    const int64_t n = level->n_node;
    const cell_frame f = frame_of(mesh);
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < mesh->n_cell; cell++) restrict_cell(mesh, &f, cell, d_r, d_t);
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

HX_INLINED float sum_corners(const corners *u)
{
    const corners v = *u;
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* Prolongs the corner values of a cell to its nodes. */
HX_INLINED void prolong_cell_lanes(const hx_mg_mesh *mesh, const cell_frame *f, int64_t cell,
                                   const float *d_y, const float *d_m, float *d_x)
{
    corners v[3], theta[3];
    double first[3];
    float at[3];
    for (int c = 0; c < CORNERS; c++) {
        const float *const y = d_y + DOF * (int64_t)mesh->d_cell_corner[8 * cell + c];
        for (int i = 0; i < 3; i++) {
            v[i][c] = y[i];
            theta[i][c] = y[3 + i];
        }
    }
    for (int i = 0; i < 3; i++) { /* convert to rotations about the first corner */
        const int j = (i + 1) % 3, m = (i + 2) % 3;
        v[i] -= theta[j] * f->edge[m] - theta[m] * f->edge[j];
    }
    place_cell(mesh, cell, first, at);
    for (int32_t l = mesh->d_cell_node_at[cell]; l < mesh->d_cell_node_at[cell + 1]; l++) {
        const int64_t a = mesh->d_cell_node[l];
        corners w;
        float x[3];
        place_point(mesh, f, first, at, a, &w, x);
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, m = (i + 2) % 3;
            const corners u = w * (v[i] + theta[j] * x[m] - theta[m] * x[j]);
            if (d_m[3 * a + i] > 0.0f) d_x[3 * a + i] += sum_corners(&u);
        }
    }
}
HX_VERSIONS(prolong_cell,
            (const hx_mg_mesh *mesh, const cell_frame *f, int64_t cell, const float *d_y,
             const float *d_m, float *d_x),
            (mesh, f, cell, d_y, d_m, d_x))

static int cpu_mesh_prolong(hx_device *dev, const hx_mg_mesh *mesh, const float *d_y,
                            const float *d_m, float *d_x)
{
    const cell_frame f = frame_of(mesh);
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < mesh->n_cell; cell++) prolong_cell(mesh, &f, cell, d_y, d_m, d_x);
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

/* Rows of a block in lanes: 6 of 8 are used. */
typedef float block_rows __attribute__((vector_size(8 * sizeof(float))));

HX_INLINED block_rows *load_rows(const float *from, block_rows *rows)
{
    return memcpy(rows, from, sizeof *rows);
}

/* Row a of A x. A load of a column's 6 numbers includes 2 of the next column; for the last column,
 * it includes 2 of the previous one instead. */
HX_INLINED void row_product_lanes(const hx_mg_level *level, int64_t a, const float *x,
                                  float sum[DOF])
{
    const float *block = level->d_matrix + ROW * a;
    block_rows even = {0.0f}, odd = {0.0f}, last = {0.0f}, column;
    for (int o = 0; o < 27; o++, block += BLOCK) {
        const int64_t b = level->d_neighbour[o * level->n_node + a];
        const float *const y = x + DOF * b;
        if (b == a && o != HX_COARSE_CENTRE) continue;
        even += *load_rows(block, &column) * y[0];
        odd += *load_rows(block + DOF, &column) * y[1];
        even += *load_rows(block + 2 * DOF, &column) * y[2];
        odd += *load_rows(block + 3 * DOF, &column) * y[3];
        even += *load_rows(block + 4 * DOF, &column) * y[4];
        last += *load_rows(block + 5 * DOF - 2, &column) * y[5];
    }
    even += odd;
    for (int r = 0; r < DOF; r++) sum[r] = even[r] + last[2 + r];
}

HX_INLINED void multiply_row_lanes(const hx_mg_level *level, int64_t a, const float *d_x,
                                   float *d_y)
{
    row_product_lanes(level, a, d_x, d_y + DOF * a);
}
HX_VERSIONS(multiply_row, (const hx_mg_level *level, int64_t a, const float *d_x, float *d_y),
            (level, a, d_x, d_y))

static int cpu_multiply(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) multiply_row(level, a, d_x, d_y);
    return HX_OK;
}

static int cpu_residual(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) {
        multiply_row(level, a, d_x, d_y);
        for (int r = 0; r < DOF; r++) d_y[DOF * a + r] = level->d_b[DOF * a + r] - d_y[DOF * a + r];
    }
    return HX_OK;
}

HX_INLINED void smooth_row_lanes(const hx_mg_level *level, int64_t a, float alpha, float beta,
                                 const float *d_x, float *d_y)
{
    float sum[DOF] = {0.0f};
    if (d_x) row_product_lanes(level, a, d_x, sum);
    for (int64_t r = 0; r < DOF; r++) {
        const int64_t k = DOF * a + r;
        float d = beta * level->d_m[k] * (level->d_b[k] - sum[r]);
        if (alpha != 0.0f) d += alpha * level->d_d[k];
        level->d_d[k] = d;
        d_y[k] = (d_x ? d_x[k] : 0.0f) + d;
    }
}
HX_VERSIONS(smooth_row,
            (const hx_mg_level *level, int64_t a, float alpha, float beta, const float *d_x,
             float *d_y),
            (level, a, alpha, beta, d_x, d_y))

static int cpu_smooth(hx_device *dev, const hx_mg_level *level, int i, const float *d_x, float *d_y)
{
    const float alpha = i > 0 ? level->d_smoother->a[i] : 0.0f, beta = level->d_smoother->b[i];
    if (level->lines.next) {
        if (d_x) HX_TRY(cpu_residual(dev, level, d_x, d_y));
        return hx_cpu_level_step(level, i, d_x, d_y);
    }
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++) smooth_row(level, a, alpha, beta, d_x, d_y);
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

/* A parent of a child's neighbour: its offset from the row's coarse node, its weight and the
 * neighbour's distance from it. These are the same for all nodes. */
typedef struct parent {
    int offset;
    float weight, d[3];
} parent;

typedef struct parents {
    int n;
    parent of[CORNERS];
} parents;

static void list_parents(const hx_mg_level *fine, const hx_mg_level *coarse, parents list[27][27])
{
    for (int o = 0; o < 27; o++)
        for (int n = 0; n < 27; n++) {
            const int to[3] = {o % 3 + n % 3 - 2, o / 3 % 3 + n / 3 % 3 - 2, o / 9 + n / 9 - 2};
            parents *const l = &list[o][n];
            l->n = 0;
            for (int p = 0; p < 27; p++) {
                const int e = hx_cpu_child_offset(coarse, to, p);
                if (e < 0) continue;
                parent *const q = &l->of[l->n++];
                q->offset = p;
                q->weight = hx_mg_child(fine, coarse, e, q->d);
            }
        }
}

/* sum += w A T(d), blocks [column][row]; T(d) = [1, theta x d; 0, 1]. */
HX_INLINED void add_columns(const float *block, float w, const float d[3], block_rows sum[DOF])
{
    block_rows column[DOF];
    for (int c = 0; c + 1 < DOF; c++) load_rows(block + DOF * c, &column[c]);
    memset(&column[DOF - 1], 0, sizeof column[DOF - 1]);
    memcpy(&column[DOF - 1], block + (DOF - 1) * DOF, DOF * sizeof *block);
    for (int i = 0; i < 3; i++) { /* columns of the rotation about axis i */
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        sum[i] += w * column[i];
        sum[3 + i] += w * column[3 + i] + (w * d[j]) * column[l] - (w * d[l]) * column[j];
    }
}

/* to += w T(d)' A. */
HX_INLINED void add_rotated(const block_rows sum[DOF], float w, const float d[3], float *to)
{
    for (int c = 0; c < DOF; c++, to += DOF) {
        float col[8];
        memcpy(col, &sum[c], sizeof col);
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            to[i] += w * col[i];
            to[3 + i] += w * (col[3 + i] + d[j] * col[l] - d[l] * col[j]);
        }
    }
}

/* Row a of P'A P: for each child, its row of A P, block by block over the parents; then P'. */
HX_INLINED void galerkin_row_lanes(const hx_mg_level *fine, const hx_mg_level *coarse,
                                   parents list[27][27], int64_t a)
{
    float *const row = coarse->d_matrix + ROW * a;
    memset(row, 0, ROW * sizeof *row);
    for (int o = 0; o < 27; o++) {
        const int64_t i = coarse->d_child[o * coarse->n_node + a];
        block_rows sum[27][DOF];
        unsigned touched = 0;
        float d[3];
        if (i < 0) continue;
        const float w = coarse->scale * hx_mg_child(fine, coarse, o, d);
        for (int n = 0; n < 27; n++) {
            const float *const block = fine->d_matrix + ROW * i + BLOCK * n;
            const parents *const l = &list[o][n];
            if (fine->d_neighbour[n * fine->n_node + i] == i && n != HX_COARSE_CENTRE) continue;
            for (int k = 0; k < l->n; k++) {
                const parent *const q = &l->of[k];
                if (!(touched >> q->offset & 1u)) memset(sum[q->offset], 0, sizeof sum[0]);
                touched |= 1u << q->offset;
                add_columns(block, q->weight, q->d, sum[q->offset]);
            }
        }
        for (int p = 0; p < 27; p++)
            if (touched >> p & 1u) add_rotated(sum[p], w, d, row + BLOCK * p);
    }
}
HX_VERSIONS(galerkin_row,
            (const hx_mg_level *fine, const hx_mg_level *coarse, parents list[27][27], int64_t a),
            (fine, coarse, list, a))

static int cpu_galerkin(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse)
{
    parents list[27][27];
    (void)dev;
    list_parents(fine, coarse, list);
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t a = 0; a < coarse->n_node; a++) galerkin_row(fine, coarse, list, a);
    return HX_OK;
}

static int cpu_level_diagonal(hx_device *dev, const hx_mg_level *level)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++)
        for (int r = 0; r < DOF; r++) {
            const float d = level->d_matrix[ROW * a + BLOCK * HX_COARSE_CENTRE + (DOF + 1) * r];
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
            if (b == a && o != HX_COARSE_CENTRE) continue;
            for (int c = 0; c < DOF; c++)
                for (int r = 0; r < DOF; r++)
                    matrix[(DOF * a + r) * n + DOF * b + c] = (double)block[DOF * c + r];
        }
    return HX_OK;
}

const hx_mg_vector_ops hx_cpu_mg_vector_ops = {
    .mesh_start = cpu_mesh_start,
    .mesh_step = cpu_mesh_step,
    .power_start = cpu_power_start,
    .power_sums = cpu_power_sums,
    .power_end = cpu_power_end,
    .bound = cpu_bound,
    .match_entries = cpu_match_entries,
    .column_dots = cpu_column_dots,
    .column_combine = cpu_column_combine,
    .add = cpu_add,
    .small_multiply = cpu_small_multiply,
    .rows_add = hx_cpu_rows_add,
};

static const hx_mg_smoother_ops diagonal_ops = {
    .invert = hx_cpu_diagonal_invert,
    .power = hx_cpu_diagonal_power,
    .level_invert = cpu_level_diagonal,
    .level_power = hx_cpu_diagonal_power,
};

const hx_mg_smoother_ops hx_cpu_mg_blocks_ops = {
    .invert = hx_cpu_blocks_invert,
    .apply = hx_cpu_blocks_solve,
    .power = hx_cpu_blocks_power,
};

static const hx_mg_smoother_ops lines_ops = {
    .couple = hx_cpu_lines_couple,
    .invert = hx_cpu_lines_factorise,
    .apply = hx_cpu_lines_solve,
    .power = hx_cpu_blocks_power,
    .level_invert = hx_cpu_level_factorise,
    .level_apply = hx_cpu_level_solve,
    .level_power = hx_cpu_blocks_power,
};

static const hx_mg_transfer_ops transfer_ops = {
    .mesh_restrict = cpu_mesh_restrict,
    .mesh_prolong = cpu_mesh_prolong,
    .restrict_to = cpu_restrict_to,
    .prolong_from = cpu_prolong_from,
    .mesh_prepare = hx_cpu_classes_create,
    .mesh_release = hx_cpu_classes_free,
    .prepared_bytes = hx_cpu_classes_bytes,
    .mesh_galerkin = hx_cpu_mesh_galerkin,
    .mesh_update = hx_cpu_mesh_update,
    .rows_galerkin = hx_cpu_rows_galerkin,
    .galerkin = cpu_galerkin,
};

static const hx_mg_level_ops level_ops = {
    .multiply = cpu_multiply,
    .residual = cpu_residual,
    .smooth = cpu_smooth,
    .add_blocks = cpu_add_blocks,
    .restore_rigid = hx_cpu_restore_rigid,
    .dense = cpu_dense,
};

static const hx_mg_direct_ops direct_ops = {
    .finish = hx_cpu_direct_factorise,
    .solve = hx_cpu_direct_solve,
};

const hx_multigrid_ops hx_cpu_multigrid_ops = {
    .vector = &hx_cpu_mg_vector_ops,
    .diagonal = &diagonal_ops,
    .blocks = &hx_cpu_mg_blocks_ops,
    .lines = &lines_ops,
    .transfer = &transfer_ops,
    .level = &level_ops,
    .direct = &direct_ops,
};
