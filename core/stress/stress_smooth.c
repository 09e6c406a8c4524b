/* Stresses at nodes as means over the cells, weighted by volume, and quantiles by volume. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "stress.h"

/* Sums at the nodes while cells are visited. */
typedef struct sums {
    const hx_mesh *mesh;
    const double *modulus;
    const uint8_t *counts;
    double *tensor;   /* [n_node][HX_STRESS_COMPONENTS] weighted by volume */
    double *weight;   /* [n_node] volume of the cells in the mean */
    double *stiffest; /* [n_node] largest modulus of the cells that count */
    double *volume;   /* [n_node] share of the volume of the cells that count */
} sums;

static int add_cells(void *context, int64_t first, int64_t n, const hx_cell_stress *cell)
{
    sums *const s = context;
    for (int64_t k = 0; k < n; k++) {
        const hx_cell_stress *const of = &cell[k];
        double volume = 0.0;
        if (s->counts && !s->counts[first + k]) continue;
        for (int q = 0; q < of->n; q++) volume += of->volume[q];
        for (int a = 0; a < of->n_corner; a++) {
            const int64_t node = of->node[a];
            s->volume[node] += volume / of->n_corner;
            if (s->modulus[first + k] < 0.5 * s->stiffest[node]) continue;
            s->weight[node] += volume;
            for (int i = 0; i < HX_STRESS_COMPONENTS; i++)
                s->tensor[HX_STRESS_COMPONENTS * node + i] += volume * of->corner[a][i];
        }
    }
    return HX_OK;
}

static void find_stiffest(sums *s)
{
    const hx_mesh *const mesh = s->mesh;
    for (int64_t k = 0; k < 8 * mesh->n_elem; k++) {
        const int64_t node = mesh->conn[k];
        if (!s->counts || s->counts[k / 8])
            s->stiffest[node] = fmax(s->stiffest[node], s->modulus[k / 8]);
    }
}

int hx_smooth_stress_create(hx_smooth_stress *smooth, const hx_stress *s, const double *modulus,
                            const double *u, const uint8_t *counts)
{
    const hx_mesh *const mesh = s->problem->mesh;
    const size_t n = (size_t)mesh->n_node;
    sums sum = {.mesh = mesh, .modulus = modulus, .counts = counts};
    int rc;
    memset(smooth, 0, sizeof *smooth);
    HX_TRY_FAIL(hx_alloc(&smooth->value, n, sizeof *smooth->value, "stresses at nodes"));
    HX_TRY_FAIL(hx_alloc(&smooth->volume, n, sizeof *smooth->volume, "stresses at nodes"));
    HX_TRY_FAIL(
        hx_alloc(&sum.tensor, n * HX_STRESS_COMPONENTS, sizeof *sum.tensor, "stresses at nodes"));
    HX_TRY_FAIL(hx_alloc(&sum.weight, n, sizeof *sum.weight, "stresses at nodes"));
    HX_TRY_FAIL(hx_alloc(&sum.stiffest, n, sizeof *sum.stiffest, "stresses at nodes"));
    sum.volume = smooth->volume;
    find_stiffest(&sum);
    HX_TRY_FAIL(hx_stress_each(s, modulus, u, add_cells, &sum));
    for (size_t a = 0; a < n; a++) {
        double *const mean = sum.tensor + HX_STRESS_COMPONENTS * a;
        if (!(sum.weight[a] > 0.0)) continue;
        for (int i = 0; i < HX_STRESS_COMPONENTS; i++) mean[i] /= sum.weight[a];
        smooth->value[a] = hx_von_mises(mean);
    }
fail:
    free(sum.tensor);
    free(sum.weight);
    free(sum.stiffest);
    if (rc < 0) hx_smooth_stress_free(smooth);
    return rc;
}

void hx_smooth_stress_free(hx_smooth_stress *smooth)
{
    free(smooth->value);
    free(smooth->volume);
    memset(smooth, 0, sizeof *smooth);
}

/* --- quantiles --- */

typedef struct sample {
    double value, weight;
} sample;

static int compare_samples(const void *a, const void *b)
{
    const sample *const x = a, *const y = b;
    if (x->value < y->value) return -1;
    if (x->value > y->value) return 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

int hx_weighted_quantile(int64_t n, const double *value, const double *weight, double share,
                         double *quantile)
{
    sample *sorted;
    double all = 0.0, sum = 0.0;
    *quantile = 0.0;
    HX_TRY(hx_alloc_raw(&sorted, (size_t)n + 1, sizeof *sorted, "stresses"));
    for (int64_t i = 0; i < n; i++) sorted[i] = (sample){value[i], weight[i]};
    qsort(sorted, (size_t)n, sizeof *sorted, compare_samples);
    for (int64_t i = 0; i < n; i++) all += sorted[i].weight;
    for (int64_t i = 0; i < n && all > 0.0; i++) {
        if (!(sorted[i].weight > 0.0)) continue;
        *quantile = sorted[i].value;
        sum += sorted[i].weight;
        if (sum >= share * all) break;
    }
    free(sorted);
    return HX_OK;
}
