/* otf on the CPU, without stored Ke. The product of an element is computed from its coordinates
 * (cpu_otf_lanes.inc), for several elements at a time in vector lanes (cpu_otf_any.c,
 * cpu_otf_avx2.c, cpu_otf_avx512.c), in blocks (cpu_otf_blocks.c). */
#include "cpu_otf.h"

#include <string.h>

#include "../../base/vec3.h"
#include "../../mesh/cell.h"
#include "../../mesh/hex8.h"
#include "../device/cpu_ops.h"

static const hx_cpu_otf_kernel *const kernels[] = {
#if defined __x86_64__
    &hx_cpu_otf_avx512,
    &hx_cpu_otf_avx2,
#endif
    &hx_cpu_otf_any,
    NULL,
};

static size_t otf_bytes(const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return hx_cpu_otf_bytes(mesh, 3);
}

/* sum[8][3] = diagonal entries of an element per unit modulus. Computes the Jacobian of each Gauss
 * point once, whereas hx_hex8_diagonal computes it for each corner. */
static void element_diagonal(const double x[24], double lambda, double mu, double sum[8][3])
{
    memset(sum, 0, 8 * sizeof sum[0]);
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        for (int a = 0; a < 8; a++) {
            double g[3];
            hx_hex8_gradient(a, r, s, t, inv, g);
            const double all = mu * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
            for (int i = 0; i < 3; i++) sum[a][i] += det * ((lambda + mu) * g[i] * g[i] + all);
        }
    }
}

/* Like element_diagonal() for a collapsed cell. The gradients of all corners of a point contribute
 * to its entries, which are stored at the first of these corners; the other corners get 0. */
static void collapsed_diagonal(const double x[24], const int32_t conn[8], double lambda, double mu,
                               double sum[8][3])
{
    int corner[8];
    const int n = hx_cell_distinct(conn, corner);
    memset(sum, 0, 8 * sizeof sum[0]);
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        for (int k = 0; k < n; k++) {
            double g[3];
            hx_hex8_point_gradient(hx_cell_corners_at(conn, corner[k]), r, s, t, inv, g);
            const double all = mu * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
            for (int i = 0; i < 3; i++)
                sum[corner[k]][i] += det * ((lambda + mu) * g[i] * g[i] + all);
        }
    }
}

/* Like element_diagonal() for the first four corners of a tetrahedron, computed from its points. */
static void tetrahedron_diagonal(const double x[12], double lambda, double mu, double sum[8][3])
{
    double edge[3][3], g[4][3];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) edge[k][i] = x[3 * (k + 1) + i] - x[i];
    for (int k = 0; k < 3; k++) hx_cross3(edge[(k + 1) % 3], edge[(k + 2) % 3], g[k + 1]);
    for (int i = 0; i < 3; i++) g[0][i] = -(g[1][i] + g[2][i] + g[3][i]);
    const double weight = 1.0 / (6.0 * hx_dot3(edge[0], g[1]));
    memset(sum, 0, 8 * sizeof sum[0]);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++)
            sum[k][i] = weight * ((lambda + mu) * g[k][i] * g[k][i] + mu * hx_dot3(g[k], g[k]));
}

/* Diagonal of element e of a block, at the corners listed for it in s->corner. */
static void corner_diagonal(const hx_cpu_otf *s, int64_t block, int64_t e, double sum[8][3])
{
    const hx_device_model *model = s->model;
    const int32_t *conn = model->d_conn + 8 * e;
    const int32_t *node = s->row_node + s->block[block].row;
    double x[24];
    if (hx_cpu_otf_is_tetrahedral(s, block)) {
        for (int a = 0; a < 4; a++)
            memcpy(x + 3 * a, model->d_xyz + 3 * (int64_t)node[s->corner[8 * e + a] / 4],
                   3 * sizeof *x);
        tetrahedron_diagonal(x, model->lambda, model->mu, sum);
        return;
    }
    hx_hex8_gather(conn, model->d_xyz, x);
    if (hx_cell_is_collapsed(conn))
        collapsed_diagonal(x, conn, model->lambda, model->mu, sum);
    else
        element_diagonal(x, model->lambda, model->mu, sum);
}

static void block_diagonal(const hx_cpu_otf *s, int64_t block, double *d_diag)
{
    const hx_device_model *model = s->model;
    const hx_otf_block *b = s->block + block;
    const int64_t first = block * HX_OTF_BLOCK;
    const int64_t last =
        first + HX_OTF_BLOCK < model->n_elem ? first + HX_OTF_BLOCK : model->n_elem;
    const int32_t n_row = b->n_own + b->n_shared;
    double row[HX_OTF_MAX_ROW][3], sum[HX_OTF_BLOCK][24];
    memset(row, 0, (size_t)n_row * sizeof row[0]);
    if (hx_cpu_otf_has_shape(s, block))
        for (int64_t e = first; e < last; e++)
            memcpy(sum[e - first], s->shape[s->block_shape[block]].diagonal, sizeof *sum);
    else if (s->model->has_collapsed)
        for (int64_t e = first; e < last; e++)
            corner_diagonal(s, block, e, (double(*)[3])sum[e - first]);
    else
        hx_cpu_diagonals(s->model, first, last, sum);
    for (int64_t e = first; e < last; e++)
        for (int a = 0; a < 8; a++)
            for (int i = 0; i < 3; i++)
                row[s->corner[8 * e + a] / 4][i] += model->d_modulus[e] * sum[e - first][3 * a + i];
    for (int32_t k = 0; k < b->n_own; k++)
        memcpy(d_diag + 3 * (int64_t)s->row_node[b->row + k], row[k], sizeof row[k]);
    memcpy((double *)s->partial + 3 * b->slot, row[b->n_own], (size_t)b->n_shared * sizeof row[0]);
}

static int setup_otf(void **state, hx_device *dev, const hx_device_model *model,
                     const hx_mesh *mesh, hx_layout layout)
{
    (void)dev;
    (void)layout;
    return hx_cpu_otf_setup(state, model, mesh, 3, kernels, block_diagonal);
}

const hx_operator_kind hx_operator_cpu_otf = {
    .name = "otf",
    .device = "cpu",
    .help = "no stored Ke: computed on the fly from coordinates, in blocks, with elements in "
            "vector lanes",
    .deterministic = 1,
    .bytes_per_elem = 64,
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = otf_bytes,
    .setup = setup_otf,
    .apply = hx_cpu_otf_apply,
    .apply_dot = hx_cpu_otf_apply_dot,
    .diagonal = hx_cpu_otf_diagonal,
    .apply_single = hx_cpu_otf_apply_single,
    .variant = hx_cpu_otf_variant,
    .teardown = hx_cpu_otf_teardown,
    .scalar = &hx_operator_cpu_otf_scalar,
};
