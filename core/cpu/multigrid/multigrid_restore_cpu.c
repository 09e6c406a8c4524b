/* Exactness of rigid-body motions in the rows of a coarse matrix, on the host:
 * hx_mg_level_ops.restore_rigid. */
#include "multigrid_cpu.h"

enum { DOF = HX_MG_DOF, BLOCK = DOF * DOF, ROW = HX_COARSE_OFFSETS * BLOCK };

/* force[column][row]: forces of rigid motion `column` about node a, with unit displacement or
 * rotation. */
static void find_forces(const hx_mg_level *level, int64_t a, double force[DOF][DOF])
{
    for (int o = 0; o < HX_COARSE_OFFSETS; o++) {
        const float *const block = level->d_matrix + ROW * a + BLOCK * o;
        double d[3];
        if (o != HX_COARSE_CENTRE && level->d_neighbour[o * level->n_node + a] == a) continue;
        hx_mg_offset(level, o, d);
        for (int r = 0; r < DOF; r++) {
            double v[DOF];
            for (int c = 0; c < DOF; c++) v[c] = block[DOF * c + r];
            for (int c = 0; c < DOF; c++) force[c][r] += v[c];
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, l = (i + 2) % 3;
                force[3 + i][r] += d[j] * v[l] - d[l] * v[j];
            }
        }
    }
}

int hx_cpu_restore_rigid(hx_device *dev, const hx_mg_level *level)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_own; a++) {
        float *const diagonal = level->d_matrix + ROW * a + BLOCK * HX_COARSE_CENTRE;
        double force[DOF][DOF] = {{0.0}};
        if (level->d_held[a]) continue;
        find_forces(level, a, force);
        for (int c = 0; c < DOF; c++)
            for (int r = 0; r <= c; r++) {
                float *const one = diagonal + DOF * c + r, *const other = diagonal + DOF * r + c;
                *one = *other = hx_mg_restored(*one, *other, force[c][r], force[r][c]);
            }
    }
    return HX_OK;
}
