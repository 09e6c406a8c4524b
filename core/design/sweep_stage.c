#include "sweep_stage.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../linalg/vector_ops.h"

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
    HX_TRY(hx_device_put(dev, &to->d_order, from->order, n * sizeof(int32_t)));
    HX_TRY(hx_device_put(dev, &to->d_input_start, from->input_start, (n + 1) * sizeof(int64_t)));
    HX_TRY(hx_device_put(dev, &to->d_output_start, from->output_start, (n + 1) * sizeof(int64_t)));
    HX_TRY(hx_device_put(dev, &to->d_input, from->input, n_input * sizeof(int32_t)));
    HX_TRY(hx_device_put(dev, &to->d_output, from->output, n_input * sizeof(int32_t)));
    return dev->ops->alloc(dev, n * sizeof(double), &to->d_y);
}

/* Scratch that all directions share belongs to the first. */
static int share_fields(hx_sweep_stage *stage)
{
    const size_t bytes = (size_t)stage->n * sizeof(double);
    hx_device *const dev = stage->dev;
    hx_device_sweep *const first = &stage->graph[0];
    HX_TRY(dev->ops->alloc(dev, bytes, &stage->d_x));
    HX_TRY(dev->ops->alloc(dev, bytes, &first->d_largest));
    HX_TRY(dev->ops->alloc(dev, bytes, &first->d_mean));
    HX_TRY(dev->ops->alloc(dev, bytes, &first->d_share));
    if (stage->n_graph > 1) HX_TRY(dev->ops->alloc(dev, bytes, &stage->d_sum));
    if (stage->n_graph > 1) HX_TRY(dev->ops->alloc(dev, bytes, &stage->d_part));
    for (int i = 0; i < stage->n_graph; i++) {
        stage->graph[i].d_x = stage->d_x;
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
    stage->n = sweep->n;
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
    for (int i = 0; i < stage->n_graph; i++)
        HX_TRY(dev->ops->design->sweep_forward(dev, &stage->graph[i]));
    if (stage->n_graph == 1)
        return dev->ops->copy(dev, d_y, stage->graph[0].d_y, (size_t)stage->n * sizeof *d_y);
    list_fields(stage, d_field);
    return dev->ops->design->sweep_join(dev, stage->n, stage->n_graph, d_field, d_y);
}

int hx_sweep_stage_backward(const hx_sweep_stage *stage, double *d_a)
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
    memset(stage, 0, sizeof *stage);
}
