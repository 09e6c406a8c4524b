/* The first coarse grid of multigrid from the rows of a matrix, on the host: coarse block
 * (I, J) += P_iI' K_ij P_jJ over the entries (i, j), for any kind of elements.
 *
 * Points i and j of an element are in one cell or on its faces, so the coarse nodes that they are
 * interpolated from are corners of one cell, and a coarse row has 27 blocks. Only entries on and
 * below the diagonal are read, with half of the diagonal; the coarse matrix is C + C'. Full and
 * lower matrices therefore give the same result, which is bitwise symmetric. */
#include <math.h>
#include <string.h>

#include "../device/cpu_ops.h"
#include "../matrix/matrix_cpu.h"

enum { DOF = HX_MG_DOF, BLOCK = DOF * DOF, ROW = 27 * BLOCK, CORNERS = 8, SIDE = 4, NEAR = 64 };

/* Contribution of a cell: its rows are its corners; its columns are the coarse nodes from one
 * before its first corner to one after its last in each direction. Rotations are about the cell's
 * first corner. */
typedef struct share {
    const hx_mg_mesh *mesh;
    const hx_matrix *matrix;
    int32_t at[3];                         /* position of the cell */
    double first[3];                       /* position of its first corner */
    double block[CORNERS][NEAR][DOF][DOF]; /* [row][column] */
    uint64_t touched[CORNERS];             /* bit set of the columns in use */
} share;

/* How a point is interpolated. */
typedef struct place {
    double weight[CORNERS], d[3]; /* d: relative to the cell's first corner, divided by the unit */
    int near[CORNERS];            /* coarse nodes, numbered as the columns of `share` */
} place;

static void locate(const share *s, int64_t point, place *p)
{
    int base[3];
    double f[3];
    for (int i = 0; i < 3; i++) {
        const double x = (double)s->mesh->d_position[3 * point + i], low = floor(x);
        base[i] = (int)low - s->at[i];
        f[i] = x - low;
        p->d[i] = (s->mesh->model->d_xyz[3 * point + i] - s->first[i]) / s->mesh->unit;
    }
    for (int c = 0; c < CORNERS; c++) {
        const int at[3] = {base[0] + (c & 1), base[1] + (c >> 1 & 1), base[2] + (c >> 2)};
        p->weight[c] =
            (c & 1 ? f[0] : 1.0 - f[0]) * (c & 2 ? f[1] : 1.0 - f[1]) * (c & 4 ? f[2] : 1.0 - f[2]);
        p->near[c] = ((at[2] + 1) * SIDE + at[1] + 1) * SIDE + at[0] + 1;
    }
}

/* wide[i][0..5]: k times displacement and rotation of a point at d. */
static void widen(double k[3][3], const double d[3], double wide[3][DOF])
{
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++) {
            const int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            wide[i][c] = k[i][c];
            wide[i][3 + c] = d[c1] * k[i][c2] - d[c2] * k[i][c1];
        }
}

/* Loads the entry's numbers, halved on the diagonal, and 0 in fixed rows and columns. */
static void load_entry(const share *s, int64_t row, int n, int k, int64_t col, double out[3][3])
{
    const unsigned fixed_row = s->mesh->d_fixed[row], fixed_col = s->mesh->d_fixed[col];
    const double factor = row == col ? 0.5 : 1.0;
    int stride;
    const double *const a =
        (const double *)s->matrix->d_value + hx_cpu_block(s->matrix, row, n, k, &stride);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = fixed_row >> i & 1 || fixed_col >> j & 1 ? 0.0 : factor * a[i * stride + j];
}

/* sum[J] = sum over the row's entries of w_jJ K_ij [1, d_j x]; returns the bit set of nonempty
 * columns. */
static uint64_t sum_row(const share *s, int64_t row, double sum[NEAR][3][DOF])
{
    const hx_device_pattern *p = &s->matrix->pattern;
    const int n = (int)(p->d_row_ptr[row + 1] - p->d_row_ptr[row]);
    uint64_t touched = 0;
    for (int k = 0; k < n; k++) {
        const int64_t col = p->d_col[p->d_row_ptr[row] + k];
        double entry[3][3], wide[3][DOF];
        place at;
        if (col > row) break; /* columns ascend */
        load_entry(s, row, n, k, col, entry);
        locate(s, col, &at);
        widen(entry, at.d, wide);
        for (int c = 0; c < CORNERS; c++) {
            if (!(at.weight[c] > 0.0)) continue;
            double(*const to)[DOF] = sum[at.near[c]];
            if (!(touched >> at.near[c] & 1)) memset(to, 0, sizeof sum[0]);
            touched |= (uint64_t)1 << at.near[c];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < DOF; j++) to[i][j] += at.weight[c] * wide[i][j];
        }
    }
    return touched;
}

/* Adds a row's forces and moments to the cell's corners. */
static void add_row_motions(share *s, int64_t row)
{
    double sum[NEAR][3][DOF];
    place at;
    const uint64_t touched = sum_row(s, row, sum);
    locate(s, row, &at);
    for (int c = 0; c < CORNERS; c++) {
        const int near = at.near[c], x = near % SIDE - 1, y = near / SIDE % SIDE - 1,
                  z = near / (SIDE * SIDE) - 1;
        if (!(at.weight[c] > 0.0)) continue;
        const int corner = x + 2 * y + 4 * z; /* nodes with a weight are corners of the cell */
        for (int b = 0; b < NEAR; b++) {
            if (!(touched >> b & 1)) continue;
            double(*const to)[DOF] = s->block[corner][b];
            if (!(s->touched[corner] >> b & 1)) memset(to, 0, sizeof s->block[0][0]);
            s->touched[corner] |= (uint64_t)1 << b;
            for (int i = 0; i < 3; i++) {
                const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
                for (int j = 0; j < DOF; j++) {
                    to[i][j] += at.weight[c] * sum[b][i][j];
                    to[3 + i][j] +=
                        at.weight[c] * (at.d[i1] * sum[b][i2][j] - at.d[i2] * sum[b][i1][j]);
                }
            }
        }
    }
}

/* Converts rotations and moments to those about the coarse nodes themselves, at `row` and `col`
 * relative to the first corner, divided by the unit. */
static void shift_block(double block[DOF][DOF], const double row[3], const double col[3])
{
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < DOF; j++)
            /* NOLINTNEXTLINE(clang-analyzer-core*): rows 0 to 2 are set */
            block[3 + i][j] -= row[i1] * block[i2][j] - row[i2] * block[i1][j];
    }
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int r = 0; r < DOF; r++)
            block[r][3 + i] -= col[i1] * block[r][i2] - col[i2] * block[r][i1];
    }
}

/* Adds the cell's contribution to the coarse rows. */
static void put_share(share *s, const int32_t corner[CORNERS], const hx_mg_level *level)
{
    for (int c = 0; c < CORNERS; c++)
        for (int b = 0; b < NEAR; b++) {
            const int at[3] = {b % SIDE - 1, b / SIDE % SIDE - 1, b / (SIDE * SIDE) - 1};
            double row[3], col[3];
            int offset = HX_COARSE_CENTRE, step = 1;
            if (!(s->touched[c] >> b & 1)) continue;
            for (int i = 0; i < 3; i++, step *= 3) {
                const double edge = s->mesh->size[i] / s->mesh->unit;
                row[i] = edge * (c >> i & 1);
                col[i] = edge * at[i];
                offset += step * (at[i] - (c >> i & 1));
            }
            shift_block(s->block[c][b], row, col);
            float *const to = level->d_matrix + ROW * (int64_t)corner[c] + BLOCK * (int64_t)offset;
            for (int i = 0; i < DOF; i++)
                for (int j = 0; j < DOF; j++) to[DOF * j + i] += (float)s->block[c][b][i][j];
        }
}

static void add_row_cell(const hx_mg_mesh *mesh, const hx_matrix *matrix, int64_t cell,
                         const hx_mg_level *level)
{
    share s;
    s.mesh = mesh;
    s.matrix = matrix;
    memset(s.touched, 0, sizeof s.touched);
    memcpy(s.at, mesh->d_cell + 3 * cell, sizeof s.at);
    for (int i = 0; i < 3; i++) s.first[i] = mesh->origin[i] + s.at[i] * mesh->size[i];
    for (int32_t l = mesh->d_cell_node_at[cell]; l < mesh->d_cell_node_at[cell + 1]; l++)
        add_row_motions(&s, mesh->d_cell_node[l]);
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
            float *const one = level->d_matrix + ROW * a + BLOCK * o;
            float *const two = level->d_matrix + ROW * b + BLOCK * (26 - o);
            for (int i = 0; i < DOF; i++)
                for (int j = 0; j < (o == HX_COARSE_CENTRE ? i + 1 : DOF); j++) {
                    const float sum = one[DOF * i + j] + two[DOF * j + i];
                    one[DOF * i + j] = sum;
                    two[DOF * j + i] = sum;
                }
        }
}

int hx_cpu_rows_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_matrix *matrix,
                         const hx_mg_level *level)
{
    (void)dev;
    memset(level->d_matrix, 0, ROW * (size_t)level->n_node * sizeof *level->d_matrix);
    for (int colour = 0; colour < 8; colour++) {
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t k = mesh->colour_at[colour]; k < mesh->colour_at[colour + 1]; k++)
            add_row_cell(mesh, matrix, mesh->d_coloured[k], level);
    }
    add_transposed(level);
    return HX_OK;
}
