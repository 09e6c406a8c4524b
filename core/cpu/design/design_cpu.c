/* Element fields on the CPU. Sums run over fixed parts, so results are bitwise independent of the
 * number of threads. */
#include <math.h>
#include <string.h>

#include "../../base/sum.h"
#include "../../design/groups.h"
#include "../../design/oc.h"
#include "../../design/projection.h"
#include "../../problem/simp.h"
#include "../device/cpu_ops.h"

static int cpu_modulus(hx_device *dev, int64_t n, const hx_device_materials *materials,
                       double least, double young, double penalty, const double *d_rho,
                       double *d_modulus)
{
    (void)dev;
    if (materials && materials->d_number) {
#pragma omp parallel for schedule(static)
        for (int64_t e = 0; e < n; e++)
            d_modulus[e] = hx_simp_between(least, hx_stiffness_factor(materials, e) * young,
                                           penalty, d_rho[e]);
        return HX_OK;
    }
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) d_modulus[e] = hx_simp_between(least, young, penalty, d_rho[e]);
    return HX_OK;
}

static int cpu_sensitivity(hx_device *dev, int64_t n, double least, double penalty,
                           const double *d_modulus, const double *d_rho, const double *d_energy,
                           double *d_dc)
{
    (void)dev;
#pragma omp parallel for simd schedule(static)
    for (int64_t e = 0; e < n; e++)
        d_dc[e] = -penalty * (d_modulus[e] - least) / d_rho[e] * d_energy[e];
    return HX_OK;
}

static int is_free(const double *passive, int64_t e)
{
    return !passive || isnan(passive[e]);
}

static int cpu_measure(hx_device *dev, int64_t n, const double *d_rho, const double *d_volume,
                       const double *d_passive, double *mass, double *grey)
{
    double part_mass[HX_N_PART], part_grey[HX_N_PART];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum_mass = 0.0, sum_grey = 0.0;
        for (int64_t e = hx_part_begin(n, i); e < hx_part_begin(n, i + 1); e++) {
            const double rho = d_rho[e], v = d_volume[e];
            sum_mass += v * rho;
            if (is_free(d_passive, e)) sum_grey += v * rho * (1.0 - rho);
        }
        part_mass[i] = sum_mass;
        part_grey[i] = sum_grey;
    }
    *mass = hx_sum_parts(part_mass);
    *grey = hx_sum_parts(part_grey);
    return HX_OK;
}

static int cpu_sum_positive(hx_device *dev, int64_t n, const double *d_dc, const double *d_dv,
                            const double *d_passive, double sum[2])
{
    double part_dc[HX_N_PART], part_dv[HX_N_PART];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum_dc = 0.0, sum_dv = 0.0;
        for (int64_t e = hx_part_begin(n, i); e < hx_part_begin(n, i + 1); e++) {
            if (!is_free(d_passive, e)) continue;
            sum_dc += d_dc[e] > 0.0 ? d_dc[e] : 0.0;
            sum_dv += d_dv[e];
        }
        part_dc[i] = sum_dc;
        part_dv[i] = sum_dv;
    }
    sum[0] = hx_sum_parts(part_dc);
    sum[1] = hx_sum_parts(part_dv);
    return HX_OK;
}

static int cpu_project(hx_device *dev, int64_t n, const hx_projection *law, const double *d_passive,
                       const double *d_filtered, double *d_physical)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        d_physical[e] =
            is_free(d_passive, e) ? hx_projection_value(law, d_filtered[e]) : d_passive[e];
    return HX_OK;
}

static int cpu_project_backward(hx_device *dev, int64_t n, const hx_projection *law,
                                const double *d_passive, const double *d_filtered, double *d_a)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        d_a[e] = is_free(d_passive, e) ? d_a[e] * hx_projection_slope(law, d_filtered[e]) : 0.0;
    return HX_OK;
}

static int cpu_zero_passive(hx_device *dev, int64_t n, const double *d_passive, double *d_a)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        if (!is_free(d_passive, e)) d_a[e] = 0.0;
    return HX_OK;
}

static int cpu_oc_begin(hx_device *dev, const hx_device_oc *oc)
{
    double part_t[HX_N_PART], part_rho[HX_N_PART];
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum_t = 0.0, sum_rho = 0.0;
        for (int64_t e = hx_part_begin(oc->n, i); e < hx_part_begin(oc->n, i + 1); e++) {
            const double b = fmax(0.0, oc->shift - oc->d_dc[e] / oc->d_dv[e]);
            const double t = oc->d_design[e] * (oc->damping == 0.5 ? sqrt(b) : pow(b, oc->damping));
            oc->d_proposal[e] = t;
            if (!is_free(oc->d_passive, e)) continue;
            sum_t += oc->d_dv[e] * t;
            sum_rho += oc->d_dv[e] * oc->d_design[e];
        }
        part_t[i] = sum_t;
        part_rho[i] = sum_rho;
    }
    hx_oc_state_begin(oc->d_state, hx_sum_parts(part_t), hx_sum_parts(part_rho));
    return HX_OK;
}

/* Adds the volumes of the elements [begin, end) for each trial value. */
static void add_volumes(const hx_device_oc *oc, int64_t begin, int64_t end,
                        double volume[HX_OC_TRIALS])
{
    double trial[HX_OC_TRIALS], sum[HX_OC_TRIALS] = {0.0};
    memcpy(trial, oc->d_state->trial, sizeof trial);
    for (int64_t e = begin; e < end; e++) {
        const double rho = oc->d_design[e], t = oc->d_proposal[e], dv = oc->d_dv[e];
        if (!is_free(oc->d_passive, e)) continue;
#pragma omp simd
        for (int k = 0; k < HX_OC_TRIALS; k++)
            sum[k] += dv * hx_oc_clipped(trial[k] * t, rho, oc->move, oc->rho_min);
    }
    memcpy(volume, sum, sizeof sum);
}

static int cpu_oc_pass(hx_device *dev, const hx_device_oc *oc)
{
    double part[HX_N_PART][HX_OC_TRIALS], volume[HX_OC_TRIALS] = {0.0};
    (void)dev;
    if (oc->d_state->done) return HX_OK;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++)
        add_volumes(oc, hx_part_begin(oc->n, i), hx_part_begin(oc->n, i + 1), part[i]);
    for (int i = 0; i < HX_N_PART; i++)
        for (int k = 0; k < HX_OC_TRIALS; k++) volume[k] += part[i][k];
    hx_oc_state_step(oc->d_state, volume);
    return HX_OK;
}

static int cpu_oc_take(hx_device *dev, int is_begin, const hx_oc_state *d_sums,
                       hx_oc_state *d_state)
{
    (void)dev;
    hx_oc_state_take(d_state, is_begin, d_sums);
    return HX_OK;
}

static int cpu_oc_end(hx_device *dev, const hx_device_oc *oc)
{
    const double scale = oc->d_state->scale;
    double change = 0.0;
    (void)dev;
#pragma omp parallel for schedule(static) reduction(max : change)
    for (int64_t e = 0; e < oc->n; e++) {
        const double rho = oc->d_design[e];
        const double next = is_free(oc->d_passive, e) ? hx_oc_clipped(scale * oc->d_proposal[e],
                                                                      rho, oc->move, oc->rho_min)
                                                      : rho;
        oc->d_proposal[e] = next;
        const double step = fabs(next - rho);
        if (step > change) change = step;
    }
    oc->d_state->change = change;
    return HX_OK;
}

static int cpu_tie(hx_device *dev, const hx_device_groups *groups, const double *d_dv, double *d_dc)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < groups->n_group; g++)
        hx_groups_spread(groups->d_member, groups->d_start[g], groups->d_start[g + 1], d_dv, d_dc);
    return HX_OK;
}

static int cpu_copy_largest(hx_device *dev, const hx_device_groups *groups, double *d_x)
{
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < groups->n_group; g++)
        hx_groups_copy_largest(groups->d_member, groups->d_start[g], groups->d_start[g + 1], d_x);
    return HX_OK;
}

const hx_design_ops hx_cpu_design_ops = {
    .modulus = cpu_modulus,
    .sensitivity = cpu_sensitivity,
    .measure = cpu_measure,
    .sum_positive = cpu_sum_positive,
    .project = cpu_project,
    .project_backward = cpu_project_backward,
    .zero_passive = cpu_zero_passive,
    .oc_begin = cpu_oc_begin,
    .oc_pass = cpu_oc_pass,
    .oc_end = cpu_oc_end,
    .oc_take = cpu_oc_take,
    .mma_begin = hx_cpu_mma_begin,
    .mma_dual = hx_cpu_mma_dual,
    .mma_end = hx_cpu_mma_end,
    .mma_measure = hx_cpu_mma_measure,
    .mma_settle = hx_cpu_mma_settle,
    .link = cpu_tie,
    .copy_largest = cpu_copy_largest,
    .sweep_forward = hx_cpu_sweep_forward,
    .sweep_backward = hx_cpu_sweep_backward,
    .sweep_join = hx_cpu_sweep_join,
    .sweep_share = hx_cpu_sweep_share,
    .cone_sum = hx_cpu_cone_sum,
};
