/* multigrid_rows_cpu.c with one unknown per point (heat conduction): coarse number (I, J) += w_iI
 * k_ij w_jJ. */
#include <math.h>
#include <string.h>

#include "../device/cpu_ops.h"
#include "../matrix/matrix_cpu.h"

enum { ROW = 27, CORNERS = 8, SIDE = 4, NEAR = 64 };

/* Contribution of a cell: its rows are its corners; its columns are the coarse nodes from one
 * before its first corner to one after its last in each direction. */
typedef struct share {
    const hx_mg_mesh *mesh;
    const hx_matrix *matrix;
    const int32_t *at; /* position of the cell */
    double value[CORNERS][NEAR];
} share;

/* Weights of a point, and the coarse nodes that it is interpolated from, numbered as the columns of
 * `share`. */
static void locate(const share *s, int64_t point, double weight[CORNERS], int near[CORNERS])
{
    int base[3];
    double f[3];
    for (int i = 0; i < 3; i++) {
        const double x = (double)s->mesh->d_position[3 * point + i], low = floor(x);
        base[i] = (int)low - s->at[i] + 1;
        f[i] = x - low;
    }
    for (int c = 0; c < CORNERS; c++) {
        weight[c] =
            (c & 1 ? f[0] : 1.0 - f[0]) * (c & 2 ? f[1] : 1.0 - f[1]) * (c & 4 ? f[2] : 1.0 - f[2]);
        near[c] = ((base[2] + (c >> 2)) * SIDE + base[1] + (c >> 1 & 1)) * SIDE + base[0] + (c & 1);
    }
}

/* Adds the entries of a free row up to the diagonal, which counts half. */
static void add_scalar_row(share *s, int64_t row)
{
    const hx_device_pattern *p = &s->matrix->pattern;
    const double *const value = s->matrix->d_value;
    double sum[NEAR] = {0.0}, weight[CORNERS];
    int near[CORNERS];
    if (s->mesh->d_fixed[row]) return;
    for (int64_t k = p->d_row_ptr[row]; k < p->d_row_ptr[row + 1]; k++) {
        const int64_t col = p->d_col[k];
        if (col > row) break; /* columns ascend */
        if (s->mesh->d_fixed[col]) continue;
        locate(s, col, weight, near);
        for (int c = 0; c < CORNERS; c++)
            if (weight[c] > 0.0) sum[near[c]] += weight[c] * (col == row ? 0.5 : 1.0) * value[k];
    }
    locate(s, row, weight, near);
    for (int c = 0; c < CORNERS; c++) {
        const int x = near[c] % SIDE - 1, y = near[c] / SIDE % SIDE - 1,
                  z = near[c] / (SIDE * SIDE) - 1;
        if (!(weight[c] > 0.0)) continue; /* nodes with a weight are corners of the cell */
        double *const to = s->value[x + 2 * y + 4 * z];
        for (int b = 0; b < NEAR; b++) to[b] += weight[c] * sum[b];
    }
}

static void put_share(const share *s, const int32_t corner[CORNERS], const hx_mg_level *level)
{
    for (int c = 0; c < CORNERS; c++)
        for (int b = 0; b < NEAR; b++) {
            const int x = b % SIDE - 1 - (c & 1), y = b / SIDE % SIDE - 1 - (c >> 1 & 1),
                      z = b / (SIDE * SIDE) - 1 - (c >> 2);
            /* also skips nodes that are not neighbours of the corner */
            if (s->value[c][b] == 0.0) continue;
            level->d_matrix[ROW * (int64_t)corner[c] + HX_COARSE_CENTRE + x + 3 * y + 9 * z] +=
                (float)s->value[c][b];
        }
}

static void add_scalar_row_cell(const hx_mg_mesh *mesh, const hx_matrix *matrix, int64_t cell,
                                const hx_mg_level *level)
{
    share s = {.mesh = mesh, .matrix = matrix, .at = mesh->d_cell + 3 * cell};
    for (int32_t l = mesh->d_cell_node_at[cell]; l < mesh->d_cell_node_at[cell + 1]; l++)
        add_scalar_row(&s, mesh->d_cell_node[l]);
    put_share(&s, mesh->d_cell_corner + 8 * cell, level);
}

/* C := C + C'. */
static void add_transposed(const hx_mg_level *level)
{
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++)
        for (int o = 0; o <= HX_COARSE_CENTRE; o++) {
            const int64_t b = level->d_neighbour[o * level->n_node + a];
            if (b == a && o != HX_COARSE_CENTRE) continue;
            float *const one = level->d_matrix + ROW * a + o;
            float *const two = level->d_matrix + ROW * b + 26 - o;
            const float sum = *one + *two;
            *one = sum;
            *two = sum;
        }
}

int hx_cpu_rows_galerkin_scalar(hx_device *dev, const hx_mg_mesh *mesh, const hx_matrix *matrix,
                                const hx_mg_level *level)
{
    (void)dev;
    memset(level->d_matrix, 0, ROW * (size_t)level->n_node * sizeof *level->d_matrix);
    for (int colour = 0; colour < 8; colour++) {
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t k = mesh->colour_at[colour]; k < mesh->colour_at[colour + 1]; k++)
            add_scalar_row_cell(mesh, matrix, mesh->d_coloured[k], level);
    }
    add_transposed(level);
    return HX_OK;
}
