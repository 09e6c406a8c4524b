/* The coarsest grid, which multigrid solves directly, on the host: its matrix in the order of the
 * factors. */
#include "../device/cpu_ops.h"

/* Unknown r of a node is dof * order[node] + r. A row of the matrix is 27 blocks [column][row]. */
static void fill_factor(const hx_mg_level *level, int dof, const hx_mg_direct *direct)
{
    const int64_t block = (int64_t)dof * dof;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < level->n_node; a++)
        for (int o = 0; o < HX_COARSE_OFFSETS; o++) {
            const int64_t b = level->d_neighbour[o * level->n_node + a];
            const float *from = level->d_matrix + block * (HX_COARSE_OFFSETS * a + o);
            if (direct->order[b] < direct->order[a] || (b == a && o != HX_COARSE_CENTRE)) continue;
            for (int r = 0; r < dof; r++)
                for (int c = b == a ? r : 0; c < dof; c++)
                    *hx_skyline_entry(&direct->factors, (int64_t)dof * direct->order[a] + r,
                                      (int64_t)dof * direct->order[b] + c) =
                        (double)from[dof * c + r];
        }
}

static int factorise(const hx_mg_level *level, int dof, double added, hx_mg_direct *direct,
                     int *fits)
{
    hx_skyline_clear(&direct->factors);
    fill_factor(level, dof, direct);
    *fits = hx_skyline_factorise(&direct->factors, added) == 0;
    return HX_OK;
}

static int solve_direct(const hx_mg_level *level, int dof, const hx_mg_direct *direct,
                        const float *b, float *x)
{
    double *y = direct->factors.vector;
    for (int64_t a = 0; a < level->n_node; a++)
        for (int r = 0; r < dof; r++)
            y[dof * (int64_t)direct->order[a] + r] = (double)b[dof * a + r];
    hx_skyline_solve(&direct->factors);
    for (int64_t a = 0; a < level->n_node; a++)
        for (int r = 0; r < dof; r++)
            x[dof * a + r] = (float)y[dof * (int64_t)direct->order[a] + r];
    return HX_OK;
}

int hx_cpu_direct_factorise(hx_device *dev, const hx_mg_level *level, double added,
                            hx_mg_direct *direct, int *fits)
{
    (void)dev;
    return factorise(level, HX_MG_DOF, added, direct, fits);
}

int hx_cpu_direct_solve(hx_device *dev, const hx_mg_level *level, const hx_mg_direct *direct,
                        const float *d_b, float *d_x)
{
    (void)dev;
    return solve_direct(level, HX_MG_DOF, direct, d_b, d_x);
}

int hx_cpu_direct_factorise_scalar(hx_device *dev, const hx_mg_level *level, double added,
                                   hx_mg_direct *direct, int *fits)
{
    (void)dev;
    return factorise(level, 1, added, direct, fits);
}

int hx_cpu_direct_solve_scalar(hx_device *dev, const hx_mg_level *level, const hx_mg_direct *direct,
                               const float *d_b, float *d_x)
{
    (void)dev;
    return solve_direct(level, 1, direct, d_b, d_x);
}
