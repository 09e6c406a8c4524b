#include "sweep_stage.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../linalg/vector_ops.h"

/* to[n] := numbers of elements of the whole in the order of the halo: own elements first, then those
 * of all other ranks. */
static int put_numbers(const hx_sweep_stage *stage, const int32_t **d_to, const int32_t *from,
                       size_t n)
{
    hx_device *const dev = stage->dev;
    int32_t *to;
    if (!stage->halo) return hx_device_put(dev, d_to, from, n * sizeof *to);
    HX_TRY(hx_alloc_raw(&to, n, sizeof *to, "elements of a sweep"));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        to[i] = (int32_t)hx_halo_place(stage->halo, stage->first, from[i]);
    }
    const int rc = hx_device_put(dev, d_to, to, n * sizeof *to);
    free(to);
    return rc;
}

static int put_graph(hx_sweep_stage *stage, int i, const hx_sweep_graph *from)
{
    hx_device_sweep *const to = &stage->graph[i];
    hx_device *const dev = stage->dev;
    const size_t n = (size_t)stage->n, n_input = (size_t)from->input_start[n],
                 n_level = (size_t)from->n_level + 1;
    HX_TRY(hx_alloc_raw(&stage->level_start[i], n_level, sizeof(int64_t), "levels"));
    memcpy(stage->level_start[i], from->level_start, n_level * sizeof(int64_t));
    to->n_level = from->n_level;
    to->level_start = stage->level_start[i];
    to->n_base = from->n_base;
    HX_TRY(put_numbers(stage, &to->d_order, from->order, n));
    HX_TRY(hx_device_put(dev, &to->d_input_start, from->input_start, (n + 1) * sizeof(int64_t)));
    HX_TRY(hx_device_put(dev, &to->d_output_start, from->output_start, (n + 1) * sizeof(int64_t)));
    HX_TRY(put_numbers(stage, &to->d_input, from->input, n_input));
    HX_TRY(put_numbers(stage, &to->d_output, from->output, n_input));
    return dev->ops->alloc(dev, n * sizeof(double), &to->d_y);
}

/* Scratch that all directions share belongs to the first. */
static int share_fields(hx_sweep_stage *stage)
{
    const size_t bytes = (size_t)stage->n * sizeof(double);
    hx_device *const dev = stage->dev;
    hx_device_sweep *const first = &stage->graph[0];
    HX_TRY(dev->ops->alloc(dev, (size_t)stage->n_own * sizeof(double), &stage->d_x));
    HX_TRY(dev->ops->alloc(dev, bytes, &first->d_largest));
    HX_TRY(dev->ops->alloc(dev, bytes, &first->d_mean));
    HX_TRY(dev->ops->alloc(dev, bytes, &first->d_share));
    if (stage->n_graph > 1) HX_TRY(dev->ops->alloc(dev, bytes, &stage->d_sum));
    if (stage->n_graph > 1) HX_TRY(dev->ops->alloc(dev, bytes, &stage->d_part));
    for (int i = 0; i < stage->n_graph; i++) {
        stage->graph[i].d_x = stage->halo ? stage->halo->d_value[0] : stage->d_x;
        stage->graph[i].d_largest = first->d_largest;
        stage->graph[i].d_mean = first->d_mean;
        stage->graph[i].d_share = first->d_share;
    }
    return HX_OK;
}

int hx_sweep_stage_create(hx_sweep_stage *stage, hx_device *dev, const hx_sweep *sweep,
                          double floor)
{
    int rc;
    memset(stage, 0, sizeof *stage);
    stage->dev = dev;
    stage->n = stage->n_own = sweep->n;
    if (dev->ops->interface) {
        hx_dist *const dist = hx_dist_of(dev);
        HX_TRY_FAIL(hx_halo_create_all(&stage->halo, dist, 2));
        stage->first = dist->subdomain.first[dist->comm->rank];
        stage->n_own = stage->halo->n_own;
    }
    stage->n_graph = sweep->n_graph;
    for (int i = 0; i < stage->n_graph; i++) {
        stage->graph[i].n = sweep->n;
        stage->graph[i].fills = sweep->params.kind != HX_SWEEP_OVERHANG;
        stage->graph[i].floor = floor;
        HX_TRY_FAIL(put_graph(stage, i, &sweep->graph[i]));
    }
    HX_TRY_FAIL(share_fields(stage));
    return HX_OK;
fail:
    hx_sweep_stage_free(stage);
    return rc;
}

static void list_fields(const hx_sweep_stage *stage, const double *d_field[HX_SWEEP_DIRECTIONS])
{
    for (int i = 0; i < stage->n_graph; i++) d_field[i] = stage->graph[i].d_y;
}

int hx_sweep_stage_forward(const hx_sweep_stage *stage, double *d_y)
{
    hx_device *const dev = stage->dev;
    const double *d_field[HX_SWEEP_DIRECTIONS];
    if (stage->halo) HX_TRY(hx_halo_fill(stage->halo, 0, stage->d_x));
    for (int i = 0; i < stage->n_graph; i++)
        HX_TRY(dev->ops->design->sweep_forward(dev, &stage->graph[i]));
    if (!d_y) return HX_OK;
    if (stage->n_graph == 1)
        return dev->ops->copy(dev, d_y, stage->graph[0].d_y, (size_t)stage->n_own * sizeof *d_y);
    list_fields(stage, d_field);
    return dev->ops->design->sweep_join(dev, stage->n_own, stage->n_graph, d_field, d_y);
}

/* Derivatives of all elements: d_a[n]. */
static int sweep_back(const hx_sweep_stage *stage, double *d_a)
{
    hx_device *const dev = stage->dev;
    const size_t bytes = (size_t)stage->n * sizeof *d_a;
    const double *d_field[HX_SWEEP_DIRECTIONS];
    if (stage->n_graph == 1) return dev->ops->design->sweep_backward(dev, &stage->graph[0], d_a);
    list_fields(stage, d_field);
    HX_TRY(dev->ops->zero(dev, stage->d_sum, bytes));
    for (int i = 0; i < stage->n_graph; i++) {
        HX_TRY(dev->ops->design->sweep_share(dev, stage->n, stage->n_graph, d_field, i, d_a,
                                             stage->d_part));
        HX_TRY(dev->ops->design->sweep_backward(dev, &stage->graph[i], stage->d_part));
        HX_TRY(dev->ops->vector->axpy(dev, stage->n, 1.0, stage->d_part, stage->d_sum));
    }
    return dev->ops->copy(dev, d_a, stage->d_sum, bytes);
}

int hx_sweep_stage_backward(const hx_sweep_stage *stage, double *d_a)
{
    if (!stage->halo) return sweep_back(stage, d_a);
    double *const d_all = stage->halo->d_value[1];
    HX_TRY(hx_halo_fill(stage->halo, 1, d_a));
    HX_TRY(sweep_back(stage, d_all));
    return stage->dev->ops->copy(stage->dev, d_a, d_all, (size_t)stage->n_own * sizeof *d_a);
}

void hx_sweep_stage_free(hx_sweep_stage *stage)
{
    hx_device *const dev = stage->dev;
    if (!dev) return;
    for (int i = 0; i < stage->n_graph; i++) {
        hx_device_sweep *const g = &stage->graph[i];
        dev->ops->release(dev, (void *)g->d_order);
        dev->ops->release(dev, (void *)g->d_input_start);
        dev->ops->release(dev, (void *)g->d_output_start);
        dev->ops->release(dev, (void *)g->d_input);
        dev->ops->release(dev, (void *)g->d_output);
        dev->ops->release(dev, g->d_y);
        free(stage->level_start[i]);
    }
    dev->ops->release(dev, stage->graph[0].d_largest);
    dev->ops->release(dev, stage->graph[0].d_mean);
    dev->ops->release(dev, stage->graph[0].d_share);
    dev->ops->release(dev, stage->d_x);
    dev->ops->release(dev, stage->d_sum);
    dev->ops->release(dev, stage->d_part);
    hx_halo_free(stage->halo);
    memset(stage, 0, sizeof *stage);
}
