/* Line smoothing for stretched meshes, along lines of points, on the host. */
#include <string.h>

#include "../../mesh/hex8.h"
#include "../../multigrid/line_block.h"
#include "../device/cpu_ops.h"

/* k = the block of K that couples point a (row) with point b (column), summed over a's elements in
 * order. */
static void couple(const hx_device_model *model, int32_t a, int32_t b, double k[3][3])
{
    memset(k, 0, 9 * sizeof(double));
    int64_t last = -1;
    for (int64_t p = model->d_node_elem_ptr[a]; p < model->d_node_elem_ptr[a + 1]; p++) {
        const int64_t e = model->d_node_elem[p] >> 3;
        const int32_t *const conn = model->d_conn + 8 * e;
        double x[24];
        if (e == last) continue; /* it names the point twice */
        last = e;
        hx_hex8_gather(conn, model->d_xyz, x);
        hx_line_couple(conn, x, a, b, model->lambda, model->mu, model->d_modulus[e], k);
    }
}

int hx_cpu_lines_couple(hx_device *dev, const hx_device_model *model, const hx_mg_lines *lines)
{
    (void)dev;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t line = 0; line < lines->n; line++)
        for (int32_t p = lines->d_first[line]; p < lines->d_first[line + 1]; p++) {
            float *const factor = lines->d_factor + HX_LINE_NUMBERS * (int64_t)p;
            double k[3][3] = {{0.0}};
            if (p > lines->d_first[line])
                couple(model, lines->d_point[p], lines->d_point[p - 1], k);
            for (int i = 0; i < 9; i++) factor[6 + i] = (float)k[i / 3][i % 3];
        }
    return HX_OK;
}

int hx_cpu_lines_factorise(hx_device *dev, const hx_mg_splitting *splitting)
{
    const hx_mg_lines *const lines = splitting->lines;
    float *const d_m = splitting->d_m;
    (void)dev;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t line = 0; line < lines->n; line++) {
        const int32_t begin = lines->d_first[line], end = lines->d_first[line + 1];
        double before[6] = {0.0};
        for (int32_t p = begin; p < end; p++) {
            const int64_t a = lines->d_point[p], b = p > begin ? lines->d_point[p - 1] : -1;
            float *const factor = lines->d_factor + HX_LINE_NUMBERS * (int64_t)p;
            hx_line_factorise(lines->d_block + 6 * a, d_m + 3 * a, b < 0 ? NULL : d_m + 3 * b,
                              before, factor);
        }
    }
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < 3 * lines->n_point; k++) d_m[k] = d_m[k] > 0.0f ? 1.0f : 0.0f;
    return HX_OK;
}

static void solve_line(const hx_mg_lines *lines, int64_t line, const double *r, float *t)
{
    const int32_t begin = lines->d_first[line], end = lines->d_first[line + 1];
    float before[3] = {0.0f}, carry[3] = {0.0f};
    for (int32_t p = begin; p < end; p++) {
        const int64_t k = 3 * (int64_t)lines->d_point[p];
        for (int i = 0; i < 3; i++) t[k + i] = r ? t[k + i] - (float)r[k + i] : t[k + i];
        hx_line_forward(lines->d_factor + HX_LINE_NUMBERS * (int64_t)p, before, t + k);
        memcpy(before, t + k, sizeof before);
    }
    for (int32_t p = end; p-- > begin;) {
        const int64_t k = 3 * (int64_t)lines->d_point[p];
        float z[3];
        hx_line_backward(lines->d_factor + HX_LINE_NUMBERS * (int64_t)p, t + k, carry, z);
        memcpy(t + k, z, sizeof z);
    }
}

int hx_cpu_lines_solve(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r,
                       float *d_t)
{
    const hx_mg_lines *const lines = splitting->lines;
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t line = 0; line < lines->n; line++) solve_line(lines, line, d_r, d_t);
    return HX_OK;
}
