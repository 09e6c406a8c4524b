/* Line smoothing on coarse grids, on the host. */
#include <string.h>

#include "../../multigrid/level_line.h"
#include "multigrid_cpu.h"

enum { DOF = HX_MG_DOF, BLOCK = HX_LEVEL_BLOCK, ROW = 27 * BLOCK };

typedef struct block {
    double v[DOF][DOF];
} block;

/* A := A^-1 of a symmetric matrix, by sweeps. Unknowns are left out by the rules of level_line.h;
 * diagonal[] is the diagonal before other blocks of the line were eliminated. */
static void invert_line_block(block *a, const double diagonal[DOF])
{
    int is_in[DOF];
    double most = 0.0;
    for (int p = 0; p < DOF; p++) most = diagonal[p] > most ? diagonal[p] : most;
    for (int p = 0; p < DOF; p++) {
        const double pivot = a->v[p][p];
        is_in[p] =
            diagonal[p] > HX_LEVEL_LINE_LEAST * most && pivot > HX_LEVEL_LINE_PIVOT * diagonal[p];
        if (!is_in[p]) continue;
        for (int i = 0; i < DOF; i++) {
            const double factor = a->v[i][p] / pivot;
            if (i == p) continue;
            for (int j = 0; j < DOF; j++)
                if (j != p) a->v[i][j] -= factor * a->v[p][j];
            a->v[i][p] = factor;
        }
        for (int j = 0; j < DOF; j++) a->v[p][j] = j == p ? -1.0 / pivot : a->v[j][p];
    }
    for (int i = 0; i < DOF; i++)
        for (int j = 0; j < DOF; j++) a->v[i][j] = is_in[i] && is_in[j] ? -a->v[i][j] : 0.0;
}

/* Computes the factors at a place. before: on input, D^-1 of the preceding place, with node b, or
 * -1 if there is none; on output, D^-1 of this place. */
static void factorise_place(const hx_mg_level *level, int64_t a, int64_t b, block *before,
                            float *factor)
{
    const float *const centre = level->d_matrix + ROW * a + BLOCK * HX_COARSE_CENTRE;
    double diagonal[DOF];
    block d, l;
    for (int i = 0; i < DOF; i++)
        for (int j = 0; j < DOF; j++)
            d.v[i][j] =
                /* stored by columns */
                0.5 * ((double)centre[DOF * j + i] + (double)centre[DOF * i + j]);
    for (int i = 0; i < DOF; i++) {
        diagonal[i] = d.v[i][i];
        d.v[i][i] *= 1.0 + HX_LEVEL_LINE_ADDED;
    }
    memset(&l, 0, sizeof l);
    if (b >= 0) {
        const float *const c =
            level->d_matrix + ROW * a + BLOCK * (HX_COARSE_OFFSETS - 1 - level->lines.next);
        for (int i = 0; i < DOF; i++)
            for (int k = 0; k < DOF; k++)
                for (int j = 0; j < DOF; j++) l.v[i][j] += (double)c[DOF * k + i] * before->v[k][j];
        for (int i = 0; i < DOF; i++)
            for (int j = 0; j <= i; j++) {
                for (int k = 0; k < DOF; k++) d.v[i][j] -= l.v[i][k] * (double)c[DOF * k + j];
                d.v[j][i] = d.v[i][j];
            }
    }
    invert_line_block(&d, diagonal);
    *before = d;
    for (int i = 0; i < BLOCK; i++) {
        factor[i] = (float)d.v[i / DOF][i % DOF];
        factor[BLOCK + i] = (float)l.v[i / DOF][i % DOF];
    }
}

int hx_cpu_level_factorise(hx_device *dev, const hx_mg_level *level)
{
    const hx_mg_level_lines *const lines = &level->lines;
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t line = 0; line < lines->n; line++) {
        block before = {{{0.0}}};
        int64_t b = -1;
        for (int32_t p = lines->d_first[line]; p < lines->d_first[line + 1]; p++) {
            const int64_t a = lines->d_node[p];
            factorise_place(level, a, b, &before,
                            lines->d_factor + HX_LEVEL_LINE_NUMBERS * (int64_t)p);
            b = a;
        }
    }
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < DOF * level->n_node; k++)
        level->d_m[k] = level->d_m[k] > 0.0f ? 1.0f : 0.0f;
    return HX_OK;
}

/* y -= L before, where `before` is the vector at the preceding place. */
static void go_forward(const float *factor, const float *before, float *y)
{
    const float *const l = factor + BLOCK;
    for (int i = 0; i < DOF; i++)
        for (int k = 0; k < DOF; k++) y[i] -= l[DOF * i + k] * before[k];
}

/* y := z = D^-1 y - carry; carry := L'z. */
static void go_backward(const float *factor, float *y, float *carry)
{
    const float *const l = factor + BLOCK;
    float z[DOF];
    for (int i = 0; i < DOF; i++) {
        z[i] = -carry[i];
        for (int k = 0; k < DOF; k++) z[i] += factor[DOF * k + i] * y[k];
    }
    for (int i = 0; i < DOF; i++) {
        y[i] = z[i];
        carry[i] = 0.0f;
        for (int k = 0; k < DOF; k++) carry[i] += l[DOF * k + i] * z[k];
    }
}

static void solve_line(const hx_mg_level *level, int64_t line, float *t)
{
    const hx_mg_level_lines *const lines = &level->lines;
    const int32_t begin = lines->d_first[line], end = lines->d_first[line + 1];
    float carry[DOF] = {0.0f};
    for (int32_t p = begin + 1; p < end; p++)
        go_forward(lines->d_factor + HX_LEVEL_LINE_NUMBERS * (int64_t)p,
                   t + DOF * (int64_t)lines->d_node[p - 1], t + DOF * (int64_t)lines->d_node[p]);
    for (int32_t p = end; p-- > begin;)
        go_backward(lines->d_factor + HX_LEVEL_LINE_NUMBERS * (int64_t)p,
                    t + DOF * (int64_t)lines->d_node[p], carry);
}

int hx_cpu_level_solve(hx_device *dev, const hx_mg_level *level, float *d_t)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t line = 0; line < level->lines.n; line++) solve_line(level, line, d_t);
    return HX_OK;
}

int hx_cpu_level_step(const hx_mg_level *level, int i, const float *d_x, float *d_y)
{
    const float alpha = i > 0 ? level->d_smoother->a[i] : 0.0f, beta = level->d_smoother->b[i];
    const int64_t n = DOF * level->n_own;
    if (!d_x) memcpy(d_y, level->d_b, (size_t)n * sizeof *d_y);
    hx_cpu_level_solve(NULL, level, d_y);
#pragma omp parallel for simd schedule(static)
    for (int64_t k = 0; k < n; k++) {
        const float d = beta * d_y[k] + (alpha != 0.0f ? alpha * level->d_d[k] : 0.0f);
        level->d_d[k] = d;
        d_y[k] = (d_x ? d_x[k] : 0.0f) + d;
    }
    return HX_OK;
}
