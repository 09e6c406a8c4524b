/* Optimality criteria (P1, section 2; Bendsoe and Sigmund 2003):
 *
 *     rho_e B_e^eta, B_e = -dc_e / (lambda dv_e), clipped to the move limits and [rho_min, 1].
 *
 * With t_e = rho_e (-dc_e / dv_e)^eta computed once, the volume is a monotone function of the scale
 * s = lambda^-eta, which is bisected. */
#include <math.h>

#include "optimizer.h"
#include "sum.h"

static inline double clipped(double value, double rho, double move, double rho_min)
{
    /* Comparisons, not fmin and fmax: those are calls, for the sake of NaN. */
    const double low = rho - move > rho_min ? rho - move : rho_min;
    const double high = rho + move < 1.0 ? rho + move : 1.0;
    const double raised = value > low ? value : low;
    return raised < high ? raised : high;
}

static inline int is_free(const hx_problem *problem, int64_t e)
{
    return !problem->passive || isnan(problem->passive[e]);
}

/* sum over free elements of dv * density for a scale. */
static double volume_at(const hx_problem *problem, double move, const double *design,
                        const double *t, const double *dv, double scale)
{
    const int64_t n = problem->mesh->n_elem;
    double part[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum = 0.0;
        for (int64_t e = hx_part_begin(n, i); e < hx_part_begin(n, i + 1); e++)
            if (is_free(problem, e))
                sum += dv[e] * clipped(scale * t[e], design[e], move, problem->rho_min);
        part[i] = sum;
    }
    return hx_sum_parts(part);
}

/* The scale at which the free elements take up `target`. */
static double bisect(const hx_problem *problem, double move, const double *design, const double *t,
                     const double *dv, double target, double guess)
{
    double low = 0.0, high = guess;
    /* All densities at one end of their range: more cannot be had, or less. */
    if (volume_at(problem, move, design, t, dv, 1e150) <= target) return 1e150;
    if (volume_at(problem, move, design, t, dv, 0.0) >= target) return 0.0;
    for (int i = 0; i < 200 && volume_at(problem, move, design, t, dv, high) < target; i++) {
        low = high;
        high *= 2.0;
    }
    if (low == 0.0) {
        low = 0.5 * high;
        for (int i = 0; i < 200 && volume_at(problem, move, design, t, dv, low) > target; i++) {
            high = low;
            low *= 0.5;
        }
    }
    for (int i = 0; i < 60 && high - low > 1e-15 * high; i++) {
        const double middle = 0.5 * (low + high);
        const double volume = volume_at(problem, move, design, t, dv, middle);
        if (fabs(volume - target) <= 1e-10 * target) return middle;
        if (volume < target)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double hx_oc_update(const hx_problem *problem, const hx_optimizer_params *params,
                    const double *design, const double *dc, const double *dv, double *proposal)
{
    const int64_t n = problem->mesh->n_elem;
    const double total = hx_sum(n, problem->volume);
    const double target = problem->volume_fraction * total - problem->passive_mass;
    double part_t[HX_N_PART], part_rho[HX_N_PART], change = 0.0;
    double *t = proposal; /* until the scale is known */
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum_t = 0.0, sum_rho = 0.0;
        for (int64_t e = hx_part_begin(n, i); e < hx_part_begin(n, i + 1); e++) {
            const double b = fmax(0.0, -dc[e] / dv[e]);
            t[e] = design[e] * (params->damping == 0.5 ? sqrt(b) : pow(b, params->damping));
            if (!is_free(problem, e)) continue;
            sum_t += dv[e] * t[e];
            sum_rho += dv[e] * design[e];
        }
        part_t[i] = sum_t;
        part_rho[i] = sum_rho;
    }
    const double sum_t = hx_sum_parts(part_t), sum_rho = hx_sum_parts(part_rho);
    const double guess = sum_t > 0.0 ? sum_rho / sum_t : 1.0;
    const double scale = bisect(problem, params->move, design, t, dv, target, guess);
#pragma omp parallel for schedule(static) reduction(max : change)
    for (int64_t e = 0; e < n; e++) {
        proposal[e] = is_free(problem, e)
                          ? clipped(scale * t[e], design[e], params->move, problem->rho_min)
                          : design[e];
        const double step = fabs(proposal[e] - design[e]);
        if (step > change) change = step;
    }
    return change;
}
