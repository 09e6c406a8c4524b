#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"

const char *hx_sweep_name(hx_sweep_kind kind)
{
    static const char *const name[] = {"overhang", "draw", "milling"};
    return name[kind];
}

/* level[e]: 0 without inputs, else one more than the highest of its inputs. Returns the number of
 * levels. */
static int find_levels(int64_t n, const hx_sweep_inputs *inputs, const int32_t *by_key,
                       int32_t *level)
{
    int n_level = 1;
    for (int64_t k = 0; k < n; k++) {
        const int32_t e = by_key[k];
        int32_t above = 0;
        for (int64_t i = inputs->start[e]; i < inputs->start[e + 1]; i++)
            if (level[inputs->input[i]] >= above) above = level[inputs->input[i]] + 1;
        level[e] = above;
        if (above >= n_level) n_level = above + 1;
    }
    return n_level;
}

/* Orders the elements by level, in level 0 those on the base plate first, by number otherwise. */
static int order_by_level(hx_sweep_graph *g, const hx_sweep_inputs *inputs, const int32_t *level)
{
    int64_t *next;
    HX_TRY(hx_alloc(&g->level_start, (size_t)g->n_level + 1, sizeof *g->level_start, "levels"));
    HX_TRY(hx_alloc(&next, (size_t)g->n_level + 1, sizeof *next, "levels"));
    for (int64_t e = 0; e < g->n; e++) {
        g->level_start[level[e] + 1]++;
        g->n_base += inputs->base && inputs->base[e];
    }
    g->n_alone = g->level_start[1] - g->n_base;
    for (int l = 0; l < g->n_level; l++) g->level_start[l + 1] += g->level_start[l];
    memcpy(next, g->level_start, (size_t)g->n_level * sizeof *next);
    int64_t base = 0;
    next[0] = g->n_base;
    for (int64_t e = 0; e < g->n; e++)
        g->order[inputs->base && inputs->base[e] ? base++ : next[level[e]]++] = (int32_t)e;
    free(next);
    return HX_OK;
}

/* Copies the lists in the order of places, and transposes them. place[n]: scratch. */
static void fill_lists(hx_sweep_graph *g, const hx_sweep_inputs *inputs, int32_t *place)
{
    for (int64_t k = 0; k < g->n; k++) {
        const int32_t e = g->order[k];
        place[e] = (int32_t)k;
        g->input_start[k + 1] = g->input_start[k] + inputs->start[e + 1] - inputs->start[e];
    }
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < g->n; k++) {
        const int32_t e = g->order[k];
        memcpy(g->input + g->input_start[k], inputs->input + inputs->start[e],
               (size_t)(inputs->start[e + 1] - inputs->start[e]) * sizeof *g->input);
    }
    for (int64_t i = 0; i < g->input_start[g->n]; i++) g->output_start[place[g->input[i]] + 1]++;
    for (int64_t k = 0; k < g->n; k++) g->output_start[k + 1] += g->output_start[k];
    for (int64_t k = 0; k < g->n; k++) /* by ascending place; each start moves to its end */
        for (int64_t i = g->input_start[k]; i < g->input_start[k + 1]; i++)
            g->output[g->output_start[place[g->input[i]]]++] = g->order[k];
    for (int64_t k = g->n; k > 0; k--) g->output_start[k] = g->output_start[k - 1];
    g->output_start[0] = 0;
}

static int make_graph(hx_sweep_graph *g, int64_t n, const hx_sweep_inputs *inputs)
{
    const size_t n_all = (size_t)n, n_input = (size_t)inputs->start[n];
    int32_t *level;
    int rc;
    g->n = n;
    HX_TRY(hx_alloc_raw(&g->order, n_all, sizeof *g->order, "order of the sweep"));
    HX_TRY(hx_alloc(&g->input_start, n_all + 1, sizeof *g->input_start, "supports"));
    HX_TRY(hx_alloc(&g->output_start, n_all + 1, sizeof *g->output_start, "supports"));
    HX_TRY(hx_alloc_raw(&g->input, n_input, sizeof *g->input, "supports"));
    HX_TRY(hx_alloc_raw(&g->output, n_input, sizeof *g->output, "supports"));
    HX_TRY(hx_alloc_raw(&level, n_all, sizeof *level, "levels"));
    HX_TRY_FAIL(hx_sweep_sort(n, inputs->key, g->order));
    g->n_level = find_levels(n, inputs, g->order, level);
    HX_TRY_FAIL(order_by_level(g, inputs, level));
    fill_lists(g, inputs, level);
fail:
    free(level);
    return rc;
}

static int add_direction(hx_sweep *sweep, const hx_mesh *mesh, const hx_sweep_params *params, int i)
{
    const hx_sweep_params *const with = &sweep->params;
    hx_sweep_inputs inputs = {0};
    sweep->n_graph = i + 1;
    int rc = params->kind == HX_SWEEP_OVERHANG
                 ? hx_sweep_cones(&inputs, mesh, with)
                 : hx_sweep_columns(&inputs, mesh, with->direction[i],
                                    params->kind == HX_SWEEP_DRAW && !isnan(with->parting[0])
                                        ? with->parting
                                        : NULL);
    if (rc == HX_OK) rc = make_graph(&sweep->graph[i], mesh->n_elem, &inputs);
    free(inputs.start);
    free(inputs.input);
    free(inputs.key);
    free(inputs.base);
    return rc;
}

static int check_params(const hx_mesh *mesh, const hx_sweep_params *params)
{
    const char *const name = hx_sweep_name(params->kind);
    if (mesh->ownership)
        return HX_RAISE(HX_EINPUT, "%s needs the whole mesh in each process", name);
    if (params->n_direction < 1 || params->n_direction > HX_SWEEP_DIRECTIONS)
        return HX_RAISE(HX_EINPUT, "%s has %d directions; 1 to %d can be given", name,
                        params->n_direction, HX_SWEEP_DIRECTIONS);
    if (params->kind == HX_SWEEP_OVERHANG && !(params->angle >= 10.0 && params->angle <= 80.0))
        return HX_RAISE(HX_EINPUT, "angle = %g of overhang must be in [10, 80] degrees",
                        params->angle);
    for (int i = 0; i < params->n_direction; i++) {
        const double length = hx_norm3(params->direction[i]);
        if (!(length > 0.0 && isfinite(length)))
            return HX_RAISE(HX_EINPUT,
                            "direction = [%g, %g, %g] of %s has no length; for example "
                            "[0.0, 0.0, 1.0]",
                            params->direction[i][0], params->direction[i][1],
                            params->direction[i][2], name);
    }
    return HX_OK;
}

/* What `check` prints. HX_EINPUT: no element rests on another. */
static int measure_graph(hx_sweep *sweep, const hx_mesh *mesh)
{
    int64_t n_input = 0, n_fed = 0;
    for (int i = 0; i < sweep->n_graph; i++) {
        n_input += sweep->graph[i].input_start[sweep->n];
        n_fed += sweep->n - sweep->graph[i].level_start[1];
    }
    sweep->mean_inputs = n_fed > 0 ? (double)n_input / (double)n_fed : 0.0;
    if (sweep->params.kind != HX_SWEEP_OVERHANG) return HX_OK;
    const hx_sweep_graph *const g = &sweep->graph[0];
    if (n_fed == 0 && g->n_alone > 0)
        return HX_RAISE(
            HX_EINPUT,
            "no element has a support below it at angle = %g: the elements are too wide "
            "for their height; use a smaller angle or a finer mesh",
            sweep->params.angle);
    double *volume, sum = 0.0;
    HX_TRY(hx_alloc_raw(&volume, (size_t)sweep->n, sizeof *volume, "volumes"));
    hx_mesh_volumes(mesh, volume);
    for (int64_t k = g->n_base; k < g->level_start[1]; k++) sum += volume[g->order[k]];
    sweep->alone_volume = sum / mesh->total_volume;
    free(volume);
    return HX_OK;
}

int hx_sweep_create(hx_sweep *sweep, const hx_mesh *mesh, const hx_sweep_params *params)
{
    int rc;
    memset(sweep, 0, sizeof *sweep);
    HX_TRY(check_params(mesh, params));
    sweep->params = *params;
    sweep->n = mesh->n_elem;
    for (int i = 0; i < params->n_direction; i++) {
        const double length = hx_norm3(params->direction[i]);
        for (int d = 0; d < 3; d++) sweep->params.direction[i][d] /= length;
    }
    for (int i = 0; i < params->n_direction; i++)
        HX_TRY_FAIL(add_direction(sweep, mesh, params, i));
    sweep->params.base = NULL;
    HX_TRY_FAIL(measure_graph(sweep, mesh));
    return HX_OK;
fail:
    hx_sweep_free(sweep);
    return rc;
}

size_t hx_sweep_bytes(const hx_sweep *sweep)
{
    const size_t n = (size_t)sweep->n, n_graph = (size_t)sweep->n_graph;
    size_t bytes = 0;
    for (int i = 0; i < sweep->n_graph; i++)
        bytes += n * sizeof(int32_t) + 2 * (n + 1) * sizeof(int64_t) +
                 2 * (size_t)sweep->graph[i].input_start[n] * sizeof(int32_t);
    /* x, three of scratch, y of each direction, and with several a sum and a product */
    return bytes + (4 + n_graph + (n_graph > 1 ? 2 : 0)) * n * sizeof(double);
}

void hx_sweep_free(hx_sweep *sweep)
{
    for (int i = 0; i < sweep->n_graph; i++) {
        hx_sweep_graph *const g = &sweep->graph[i];
        free(g->level_start);
        free(g->order);
        free(g->input_start);
        free(g->output_start);
        free(g->input);
        free(g->output);
    }
    memset(sweep, 0, sizeof *sweep);
}
