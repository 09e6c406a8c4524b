/* The host as a device: OpenMP over fixed parts, so that the number of threads changes no bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "block3.h"
#include "clock.h"
#include "cpu_ops.h"
#include "design_cpu.h"
#include "device.h"
#include "hex8.h"
#include "memory.h"
#include "multigrid.h"
#include "strategy.h"
#include "sum.h"

extern const hx_multigrid_ops hx_multigrid_ops_cpu;        /* multigrid_cpu.c */
extern const struct hx_helmholtz_ops hx_helmholtz_ops_cpu; /* helmholtz_cpu.c */

typedef struct cpu_device {
    double mark[HX_N_MARK];
} cpu_device;

static int cpu_available(char *why, size_t n_why)
{
    if (n_why > 0) why[0] = '\0';
    return 1;
}

static int cpu_open(hx_device *dev)
{
    cpu_device *impl;
    HX_TRY(hx_alloc(&impl, 1, sizeof *impl, "CPU device"));
    dev->impl = impl;
#ifdef _OPENMP
    snprintf(dev->description, sizeof dev->description, "CPU, OpenMP, %d thread%s",
             omp_get_max_threads(), omp_get_max_threads() == 1 ? "" : "s");
#else
    snprintf(dev->description, sizeof dev->description, "CPU, 1 thread (built without OpenMP)");
#endif
    return HX_OK;
}

static void cpu_close(hx_device *dev)
{
    free(dev->impl);
}

static int cpu_memory(hx_device *dev, size_t *n_free, size_t *n_total)
{
    (void)dev;
    *n_free = *n_total = hx_host_memory_available();
    return HX_OK;
}

static int cpu_alloc(hx_device *dev, size_t bytes, void *d_out)
{
    (void)dev;
    return hx_alloc(d_out, bytes, 1, "device memory");
}

static void cpu_release(hx_device *dev, void *d_p)
{
    (void)dev;
    free(d_p);
}

static int cpu_transfer(hx_device *dev, void *to, const void *from, size_t bytes)
{
    (void)dev;
    memcpy(to, from, bytes);
    return HX_OK;
}

static int cpu_zero(hx_device *dev, void *d_to, size_t bytes)
{
    (void)dev;
    memset(d_to, 0, bytes);
    return HX_OK;
}

static int cpu_sync(hx_device *dev)
{
    (void)dev;
    return HX_OK;
}

static int cpu_mark(hx_device *dev, int slot)
{
    cpu_device *impl = dev->impl;
    impl->mark[slot] = hx_clock();
    return HX_OK;
}

static int cpu_elapsed(hx_device *dev, int from, int to, double *seconds)
{
    const cpu_device *impl = dev->impl;
    *seconds = impl->mark[to] - impl->mark[from];
    return HX_OK;
}

#define REAL double
#define NAME(x) x
#include "device_cpu_real.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_single
#include "device_cpu_real.inc"
#undef REAL
#undef NAME

static int cpu_subtract(hx_device *dev, int64_t n, const double *d_a, const double *d_b,
                        double *d_c)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) d_c[i] = d_a[i] - d_b[i];
    return HX_OK;
}

static int cpu_subtract_single(hx_device *dev, int64_t n, double scale, const double *d_a,
                               const double *d_b, float *d_c)
{
    (void)dev;
    if (d_b) {
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < n; i++) d_c[i] = (float)(scale * (d_a[i] - d_b[i]));
    } else {
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < n; i++) d_c[i] = (float)(scale * d_a[i]);
    }
    return HX_OK;
}

static int cpu_flush_single(hx_device *dev, int64_t n, double scale, float *d_x, double *d_y)
{
    (void)dev;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        d_y[i] += scale * (double)d_x[i];
        d_x[i] = 0.0f;
    }
    return HX_OK;
}

static int cpu_dot(hx_device *dev, int64_t n, const double *d_a, const double *d_b, double *result)
{
    (void)dev;
    *result = hx_dot(n, d_a, d_b);
    return HX_OK;
}

static int cpu_invert(hx_device *dev, int64_t n, double *d_d)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) d_d[i] = d_d[i] > 0.0 ? 1.0 / d_d[i] : 1.0;
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

static int cpu_pcg_start(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                         const double *d_r, hx_pcg_state *state)
{
    double rz, rr;
    (void)dev;
    if (d_m) {
        sum_residual(n, d_m, d_r, &rz, &rr);
    } else {
        rz = hx_dot(n, d_r, d_z);
        rr = hx_dot(n, d_r, d_r);
    }
    hx_pcg_state_start(state, rz, rr);
    return HX_OK;
}

static int cpu_pcg_start_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                                hx_pcg_state *state)
{
    double rz, rr;
    (void)dev;
    sum_residual_single(n, d_m, d_r, &rz, &rr);
    hx_pcg_state_start(state, rz, rr);
    return HX_OK;
}

static int cpu_pcg_direction(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                             const double *d_r, double *d_p, hx_pcg_state *state)
{
    const double beta = state->beta;
    (void)dev;
    if (state->reason != HX_PCG_RUNNING) return HX_OK;
    if (d_m) {
        add_direction(n, beta, d_m, d_r, d_p);
    } else {
#pragma omp parallel for simd schedule(static)
        for (int64_t k = 0; k < n; k++) d_p[k] = d_z[k] + beta * d_p[k];
    }
    return HX_OK;
}

static int cpu_pcg_direction_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                                    float *d_p, hx_pcg_state *state)
{
    (void)dev;
    if (state->reason == HX_PCG_RUNNING) add_direction_single(n, (float)state->beta, d_m, d_r, d_p);
    return HX_OK;
}

static int cpu_pcg_alpha_from(hx_device *dev, const double *d_sum, hx_pcg_state *state)
{
    (void)dev;
    if (state->reason == HX_PCG_RUNNING) hx_pcg_state_alpha(state, *d_sum);
    return HX_OK;
}

static int cpu_pcg_beta(hx_device *dev, int64_t n, const double *d_r, const double *d_z,
                        const double *d_q, hx_pcg_state *state)
{
    (void)dev;
    if (state->reason != HX_PCG_RUNNING) return HX_OK;
    const double rz = hx_dot(n, d_r, d_z);
    if (d_q)
        hx_pcg_state_beta_flexible(state, rz, hx_dot(n, d_z, d_q));
    else
        hx_pcg_state_beta(state, rz);
    return HX_OK;
}

static void gather_coordinates(const hx_device_model *model, int64_t elem, double x[24])
{
    const int32_t *conn = model->d_conn + 8 * elem;
    for (int a = 0; a < 8; a++)
        memcpy(x + 3 * a, model->d_xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
}

static int cpu_diagonal(hx_device *dev, const hx_device_model *model, double *d_diag)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t elem = model->d_node_elem[k] >> 3;
            double x[24], d[3];
            gather_coordinates(model, elem, x);
            hx_hex8_diagonal(x, (int)(model->d_node_elem[k] & 7u), model->lambda, model->mu, d);
            for (int i = 0; i < 3; i++) sum[i] += model->d_modulus[elem] * d[i];
        }
        memcpy(d_diag + 3 * node, sum, sizeof sum);
    }
    return HX_OK;
}

static int cpu_block_diagonal(hx_device *dev, const hx_device_model *model, double *d_block)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t node = 0; node < model->n_node; node++) {
        double sum[6] = {0.0};
        for (int64_t k = model->d_node_elem_ptr[node]; k < model->d_node_elem_ptr[node + 1]; k++) {
            const int64_t elem = model->d_node_elem[k] >> 3;
            const int a = (int)(model->d_node_elem[k] & 7u);
            double x[24], tile[3][3];
            gather_coordinates(model, elem, x);
            hx_hex8_tile(x, a, a, model->lambda, model->mu, tile);
            for (int i = 0; i < 3; i++)
                for (int j = i; j < 3; j++)
                    sum[hx_block3_at(i, j)] += model->d_modulus[elem] * tile[i][j];
        }
        memcpy(d_block + 6 * node, sum, sizeof sum);
    }
    return HX_OK;
}

static int cpu_element_energy(hx_device *dev, const hx_device_model *model, const double *d_u,
                              double *d_energy)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t elem = 0; elem < model->n_elem; elem++) {
        const int32_t *conn = model->d_conn + 8 * elem;
        double x[24], u[24];
        gather_coordinates(model, elem, x);
        for (int a = 0; a < 8; a++) memcpy(u + 3 * a, d_u + 3 * (int64_t)conn[a], 3 * sizeof *u);
        d_energy[elem] = hx_hex8_energy(x, u, model->lambda, model->mu);
    }
    return HX_OK;
}

static int cpu_copy_bandwidth(hx_device *dev, double *bytes_per_second)
{
    const int64_t n = (int64_t)1 << 24;
    double *a = NULL, *b = NULL, best = 0.0;
    int rc;
    (void)dev;
    HX_TRY_FAIL(hx_alloc(&a, (size_t)n, sizeof *a, "bandwidth test"));
    HX_TRY_FAIL(hx_alloc(&b, (size_t)n, sizeof *b, "bandwidth test"));
    for (int repeat = 0; repeat < 5; repeat++) {
        const double start = hx_clock();
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < n; i++) b[i] = a[i];
        const double rate = 2.0 * (double)n * sizeof *a / (hx_clock() - start);
        if (rate > best) best = rate;
    }
    *bytes_per_second = best;
    rc = HX_OK;
fail:
    free(a);
    free(b);
    return rc;
}

extern const hx_strategy hx_strategy_cpu_otf;

const hx_device_ops hx_device_ops_cpu = {
    .name = "cpu",
    .help = "the host's cores through OpenMP",
    .matrix_free = &hx_strategy_cpu_otf,
    .look_every = 1,
    .available = cpu_available,
    .open = cpu_open,
    .close = cpu_close,
    .memory = cpu_memory,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .upload = cpu_transfer,
    .download = cpu_transfer,
    .copy = cpu_transfer,
    .zero = cpu_zero,
    .sync = cpu_sync,
    .mark = cpu_mark,
    .elapsed = cpu_elapsed,
    .zero_entries = cpu_zero_entries,
    .zero_entries_single = cpu_zero_entries_single,
    .spring_add = cpu_spring_add,
    .spring_add_single = cpu_spring_add_single,
    .rigid_sum = hx_cpu_rigid_sum,
    .rigid_spread = hx_cpu_rigid_spread,
    .rigid_project = hx_cpu_rigid_project,
    .subtract = cpu_subtract,
    .subtract_single = cpu_subtract_single,
    .flush_single = cpu_flush_single,
    .dot = cpu_dot,
    .invert = cpu_invert,
    .block_fix = cpu_block_fix,
    .block_add = cpu_block_add,
    .block_invert = cpu_block_invert,
    .block_apply = cpu_block_apply,
    .pcg_start = cpu_pcg_start,
    .pcg_direction = cpu_pcg_direction,
    .pcg_alpha = cpu_pcg_alpha,
    .pcg_alpha_from = cpu_pcg_alpha_from,
    .pcg_update = cpu_pcg_update,
    .pcg_beta = cpu_pcg_beta,
    .pcg_start_single = cpu_pcg_start_single,
    .pcg_direction_single = cpu_pcg_direction_single,
    .pcg_alpha_single = cpu_pcg_alpha_single,
    .pcg_update_single = cpu_pcg_update_single,
    .diagonal = cpu_diagonal,
    .block_diagonal = cpu_block_diagonal,
    .element_energy = cpu_element_energy,
    .body_force = hx_cpu_body_force,
    .body_work = hx_cpu_body_work,
    .multigrid = &hx_multigrid_ops_cpu,
    .helmholtz = &hx_helmholtz_ops_cpu,
    .multiply = hx_cpu_multiply,
    .divide = hx_cpu_divide,
    .axpy = hx_cpu_axpy,
    .sum = hx_cpu_sum,
    .modulus = hx_cpu_modulus,
    .sensitivity = hx_cpu_sensitivity,
    .measure = hx_cpu_measure,
    .mean_positive = hx_cpu_mean_positive,
    .project = hx_cpu_project,
    .project_backward = hx_cpu_project_backward,
    .zero_passive = hx_cpu_zero_passive,
    .oc_begin = hx_cpu_oc_begin,
    .oc_pass = hx_cpu_oc_pass,
    .oc_end = hx_cpu_oc_end,
    .tie = hx_cpu_tie,
    .copy_largest = hx_cpu_copy_largest,
    .cone_sum = hx_cpu_cone_sum,
    .copy_bandwidth = cpu_copy_bandwidth,
};
