/* Operations computed from the coordinates of the elements on the CPU (element_ops.h), node by node
 * in a fixed order. */
#include <string.h>

#include "../../base/vectorised.h"
#include "../../linalg/block3.h"
#include "../../mesh/cell.h"
#include "../../mesh/hex8.h"
#include "../device/cpu_ops.h"
#include "../matrix/points_cpu.h"

static int cpu_element_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    (void)dev;
    if (model->points) return hx_cpu_points_diagonal(model, d_diag);
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t elem = model->d_node_elem[k] >> 3;
            const int a = (int)(model->d_node_elem[k] & 7u);
            const unsigned corners = hx_cell_corners_at(model->d_conn + 8 * elem, a);
            double x[24], d[3], tile[3][3];
            if (!hx_cell_is_first(corners, a)) continue;
            hx_hex8_gather(model->d_conn + 8 * elem, model->d_xyz, x);
            if (corners == 1u << a) {
                hx_hex8_diagonal(x, a, model->lambda, model->mu, d);
            } else {
                hx_hex8_point_tile(x, corners, model->lambda, model->mu, tile);
                for (int i = 0; i < 3; i++) d[i] = tile[i][i];
            }
            for (int i = 0; i < 3; i++) sum[i] += model->d_modulus[elem] * d[i];
        }
        memcpy(d_diag + 3 * node, sum, sizeof sum);
    }
    return HX_OK;
}

static int cpu_block_diagonal(hx_device *dev, const hx_device_model *model, double *d_block)
{
    (void)dev;
    if (model->points) return hx_cpu_points_block_diagonal(model, d_block);
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double sum[6] = {0.0};
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t elem = model->d_node_elem[k] >> 3;
            const int a = (int)(model->d_node_elem[k] & 7u);
            const unsigned corners = hx_cell_corners_at(model->d_conn + 8 * elem, a);
            double x[24], tile[3][3];
            if (!hx_cell_is_first(corners, a)) continue;
            hx_hex8_gather(model->d_conn + 8 * elem, model->d_xyz, x);
            if (corners == 1u << a)
                hx_hex8_tile(x, a, a, model->lambda, model->mu, tile);
            else
                hx_hex8_point_tile(x, corners, model->lambda, model->mu, tile);
            for (int i = 0; i < 3; i++)
                for (int j = i; j < 3; j++)
                    sum[hx_block3_at(i, j)] += model->d_modulus[elem] * tile[i][j];
        }
        memcpy(d_block + 6 * node, sum, sizeof sum);
    }
    return HX_OK;
}

/* --- energies and diagonals: LANES elements at a time, in the modes of cpu_otf_lanes.inc --- */

enum { LANES = 4, CHUNK = 64 * LANES };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* Transforms corner values v[8][3] to modes {r, s, t, rs, rt, st, rst}, times 8 and scaled. */
HX_INLINED void to_modes(const lanes v[24], lanes mode[7][3])
{
    const double g = 0.57735026918962576451, g2 = 1.0 / 3.0;
    for (int i = 0; i < 3; i++) {
        const lanes *const c = v + i;
        const lanes a0 = c[3] + c[0], d0 = c[3] - c[0], a1 = c[6] + c[9], d1 = c[6] - c[9];
        const lanes a2 = c[15] + c[12], d2 = c[15] - c[12];
        const lanes a3 = c[18] + c[21], d3 = c[18] - c[21];
        const lanes r0 = d0 + d1, rs0 = d1 - d0, s0 = a1 - a0, n0 = a1 + a0;
        const lanes r1 = d2 + d3, rs1 = d3 - d2, s1 = a3 - a2, n1 = a3 + a2;
        mode[0][i] = r0 + r1;
        mode[1][i] = s0 + s1;
        mode[2][i] = n1 - n0;
        mode[3][i] = g * (rs0 + rs1);
        mode[4][i] = g * (r1 - r0);
        mode[5][i] = g * (s1 - s0);
        mode[6][i] = g2 * (rs1 - rs0);
    }
}

/* Derivatives with respect to r, s, t at a Gauss point. */
HX_INLINED void derive(lanes m[7][3], double r, double s, double t, lanes d[3][3])
{
    for (int i = 0; i < 3; i++) {
        d[0][i] = m[0][i] + s * m[3][i] + t * m[4][i] + s * t * m[6][i];
        d[1][i] = m[1][i] + r * m[3][i] + t * m[5][i] + r * t * m[6][i];
        d[2][i] = m[2][i] + r * m[4][i] + s * m[5][i] + r * s * m[6][i];
    }
}

HX_INLINED void adjugate(lanes j[3][3], lanes adj[3][3])
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            const int k1 = (k + 1) % 3, k2 = (k + 2) % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            adj[k][i] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
        }
}

/* With h = det J times the displacement gradient, adds det J (lambda tr^2 + ...) over 512 det
 * J^2. */
HX_INLINED void add_point(lanes j[3][3], lanes d[3][3], double lambda, double mu, lanes *energy)
{
    lanes adj[3][3], h[3][3];
    adjugate(j, adj);
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < 3; l++)
            h[i][l] = d[0][i] * adj[0][l] + d[1][i] * adj[1][l] + d[2][i] * adj[2][l];
    const lanes det = j[0][0] * adj[0][0] + j[0][1] * adj[0][1] + j[0][2] * adj[0][2];
    const lanes trace = h[0][0] + h[1][1] + h[2][2];
    const lanes xy = h[0][1] + h[1][0], yz = h[1][2] + h[2][1], xz = h[0][2] + h[2][0];
    *energy += (lambda * trace * trace + mu * (xy * xy + yz * yz + xz * xz) +
                2.0 * mu * (h[0][0] * h[0][0] + h[1][1] * h[1][1] + h[2][2] * h[2][2])) /
               (512.0 * det);
}

/* u' Ke u of elements first .. last - 1. Lanes beyond the end repeat the last element. */
HX_INLINED void energies_lanes(const hx_device_model *model, int64_t first, int64_t last,
                               const double *u, double *energy)
{
    for (int64_t e = first; e < last; e += LANES) {
        lanes at[24], by[24], x_mode[7][3], u_mode[7][3], sum = {0.0};
        for (int l = 0; l < LANES; l++) {
            const int32_t *conn = model->d_conn + 8 * (e + l < last ? e + l : last - 1);
            for (int a = 0; a < 8; a++)
                for (int i = 0; i < 3; i++) {
                    at[3 * a + i][l] = model->d_xyz[3 * (int64_t)conn[a] + i];
                    by[3 * a + i][l] = u[3 * (int64_t)conn[a] + i];
                }
        }
        to_modes(at, x_mode);
        to_modes(by, u_mode);
        for (int q = 0; q < 8; q++) {
            const double r = q & 1 ? 1.0 : -1.0, s = q & 2 ? 1.0 : -1.0, t = q & 4 ? 1.0 : -1.0;
            lanes j[3][3], d[3][3];
            derive(x_mode, r, s, t, j);
            derive(u_mode, r, s, t, d);
            add_point(j, d, model->lambda, model->mu, &sum);
        }
        for (int l = 0; l < LANES && e + l < last; l++) energy[e + l] = sum[l];
    }
}
HX_VERSIONS(energies,
            (const hx_device_model *model, int64_t first, int64_t last, const double *u,
             double *energy),
            (model, first, last, u, energy))

/* add_point for two fields: adds det J (lambda tr tr + ...) of h and k over 512 det J^2. */
HX_INLINED void add_pair(lanes j[3][3], lanes d[3][3], lanes f[3][3], double lambda, double mu,
                         lanes *mutual)
{
    lanes adj[3][3], h[3][3], k[3][3];
    adjugate(j, adj);
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < 3; l++) {
            h[i][l] = d[0][i] * adj[0][l] + d[1][i] * adj[1][l] + d[2][i] * adj[2][l];
            k[i][l] = f[0][i] * adj[0][l] + f[1][i] * adj[1][l] + f[2][i] * adj[2][l];
        }
    const lanes det = j[0][0] * adj[0][0] + j[0][1] * adj[0][1] + j[0][2] * adj[0][2];
    const lanes trace = (h[0][0] + h[1][1] + h[2][2]) * (k[0][0] + k[1][1] + k[2][2]);
    const lanes shear = (h[0][1] + h[1][0]) * (k[0][1] + k[1][0]) +
                        (h[1][2] + h[2][1]) * (k[1][2] + k[2][1]) +
                        (h[0][2] + h[2][0]) * (k[0][2] + k[2][0]);
    *mutual += (lambda * trace + mu * shear +
                2.0 * mu * (h[0][0] * k[0][0] + h[1][1] * k[1][1] + h[2][2] * k[2][2])) /
               (512.0 * det);
}

/* u' Ke v of elements first .. last - 1, like energies_lanes. */
HX_INLINED void mutuals_lanes(const hx_device_model *model, int64_t first, int64_t last,
                              const double *u, const double *v, double *mutual)
{
    const double *const from[3] = {model->d_xyz, u, v};
    for (int64_t e = first; e < last; e += LANES) {
        lanes mode[3][7][3], sum = {0.0};
        for (int k = 0; k < 3; k++) {
            lanes at[24];
            for (int l = 0; l < LANES; l++) {
                const int32_t *conn = model->d_conn + 8 * (e + l < last ? e + l : last - 1);
                for (int a = 0; a < 8; a++)
                    for (int i = 0; i < 3; i++)
                        at[3 * a + i][l] = from[k][3 * (int64_t)conn[a] + i];
            }
            to_modes(at, mode[k]);
        }
        for (int q = 0; q < 8; q++) {
            const double r = q & 1 ? 1.0 : -1.0, s = q & 2 ? 1.0 : -1.0, t = q & 4 ? 1.0 : -1.0;
            lanes j[3][3], d[3][3], f[3][3];
            derive(mode[0], r, s, t, j);
            derive(mode[1], r, s, t, d);
            derive(mode[2], r, s, t, f);
            add_pair(j, d, f, model->lambda, model->mu, &sum);
        }
        for (int l = 0; l < LANES && e + l < last; l++) mutual[e + l] = sum[l];
    }
}
HX_VERSIONS(mutuals,
            (const hx_device_model *model, int64_t first, int64_t last, const double *u,
             const double *v, double *mutual),
            (model, first, last, u, v, mutual))

/* sum[3 a + i] += the contribution of a point, from h = 512 det J times the spatial gradients. */
HX_INLINED void add_squares(lanes j[3][3], const double at[3], double lambda, double mu,
                            lanes sum[24])
{
    const double g = 0.57735026918962576451;
    lanes adj[3][3];
    adjugate(j, adj);
    const lanes over =
        1.0 / (512.0 * (j[0][0] * adj[0][0] + j[0][1] * adj[0][1] + j[0][2] * adj[0][2]));
    for (int a = 0; a < 8; a++) {
        double sign[3], n[3];
        lanes h[3];
        for (int k = 0; k < 3; k++) {
            sign[k] = hx_hex8_sign(a, k);
            n[k] = 1.0 + g * sign[k] * at[k];
        }
        for (int i = 0; i < 3; i++)
            h[i] = (sign[0] * n[1] * n[2]) * adj[0][i] + (sign[1] * n[0] * n[2]) * adj[1][i] +
                   (sign[2] * n[0] * n[1]) * adj[2][i];
        const lanes all = mu * (h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
        for (int i = 0; i < 3; i++) sum[3 * a + i] += over * ((lambda + mu) * h[i] * h[i] + all);
    }
}

HX_INLINED void diagonals_lanes(const hx_device_model *model, int64_t first, int64_t last,
                                double (*diagonal)[24])
{
    for (int64_t e = first; e < last; e += LANES) {
        lanes x[24], mode[7][3], sum[24];
        memset(sum, 0, sizeof sum);
        for (int l = 0; l < LANES; l++) {
            const int32_t *conn = model->d_conn + 8 * (e + l < last ? e + l : last - 1);
            for (int a = 0; a < 8; a++)
                for (int i = 0; i < 3; i++)
                    x[3 * a + i][l] = model->d_xyz[3 * (int64_t)conn[a] + i];
        }
        to_modes(x, mode);
        for (int q = 0; q < 8; q++) {
            const double at[3] = {q & 1 ? 1.0 : -1.0, q & 2 ? 1.0 : -1.0, q & 4 ? 1.0 : -1.0};
            lanes j[3][3];
            derive(mode, at[0], at[1], at[2], j);
            add_squares(j, at, model->lambda, model->mu, sum);
        }
        for (int l = 0; l < LANES && e + l < last; l++)
            for (int k = 0; k < 24; k++) diagonal[e + l - first][k] = sum[k][l];
    }
}
HX_VERSIONS(diagonals,
            (const hx_device_model *model, int64_t first, int64_t last, double (*diagonal)[24]),
            (model, first, last, diagonal))

void hx_cpu_diagonals(const hx_device_model *model, int64_t first, int64_t last,
                      double (*diagonal)[24])
{
    diagonals(model, first, last, diagonal);
}

static int cpu_energy(hx_device *dev, const hx_device_model *model, const double *d_u,
                      double *d_energy)
{
    (void)dev;
    if (model->points) return hx_cpu_points_energy(model, d_u, d_energy);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < model->n_elem; e += CHUNK)
        energies(model, e, e + CHUNK < model->n_elem ? e + CHUNK : model->n_elem, d_u, d_energy);
    return HX_OK;
}

static int cpu_mutual(hx_device *dev, const hx_device_model *model, const double *d_u,
                      const double *d_v, double *d_mutual)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < model->n_elem; e += CHUNK)
        mutuals(model, e, e + CHUNK < model->n_elem ? e + CHUNK : model->n_elem, d_u, d_v,
                d_mutual);
    return HX_OK;
}

static int cpu_block_fix(hx_device *dev, int64_t n, const int64_t *d_dof, double *d_block)
{
    (void)dev;
    for (int64_t i = 0; i < n; i++)
        hx_block3_fix(d_block + 6 * (d_dof[i] / 3), (int)(d_dof[i] % 3));
    return HX_OK;
}

static int cpu_block_add(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_k,
                         double *d_block)
{
    (void)dev;
    for (int64_t i = 0; i < n; i++) {
        const int c = (int)(d_dof[i] % 3);
        d_block[6 * (d_dof[i] / 3) + hx_block3_at(c, c)] += d_k[i];
    }
    return HX_OK;
}

static int cpu_block_invert(hx_device *dev, int64_t n_node, double *d_block)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < n_node; node++) hx_block3_invert(d_block + 6 * node);
    return HX_OK;
}

static int cpu_block_apply(hx_device *dev, int64_t n_node, const double *d_block, const double *d_r,
                           double *d_z)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < n_node; node++)
        hx_block3_apply(d_block + 6 * node, d_r + 3 * node, d_z + 3 * node);
    return HX_OK;
}

const hx_element_ops hx_cpu_element_ops = {
    .diagonal = cpu_element_diagonal,
    .energy = cpu_energy,
    .mutual = cpu_mutual,
    .block_diagonal = cpu_block_diagonal,
    .block_fix = cpu_block_fix,
    .block_add = cpu_block_add,
    .block_invert = cpu_block_invert,
    .block_apply = cpu_block_apply,
};
