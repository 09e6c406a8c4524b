/* A sweep (sweep.h) on a device, as a stage of the filter chain: densities in, densities out, and
 * the exact derivative. It keeps nothing from one design to the next. */
#ifndef HX_SWEEP_STAGE_H
#define HX_SWEEP_STAGE_H

#include "design_ops.h"
#include "sweep.h"

HX_C_BEGIN

typedef struct hx_sweep_stage {
    hx_device *dev; /* (borrowed) */
    int64_t n;
    int n_graph;
    hx_device_sweep graph[HX_SWEEP_DIRECTIONS]; /* (owned) */
    double *d_x;            /* [n] densities before the sweep (owned, like the next) */
    double *d_sum, *d_part; /* [n] derivatives of several directions; NULL: there is one */
    int64_t *level_start[HX_SWEEP_DIRECTIONS]; /* (host) */
} hx_sweep_stage;

/* Uploads the graphs; `sweep` is not needed afterwards. floor: the density below elements that
 * nothing supports, above 0. */
int hx_sweep_stage_create(hx_sweep_stage *stage, hx_device *dev, const hx_sweep *sweep,
                          double floor);
/* d_x -> d_y[n], which may not be d_x. Densities must be above 0. Queued, like the next. */
int hx_sweep_stage_forward(const hx_sweep_stage *stage, double *d_y);
/* d_a[n]: derivative by the result of the last forward on entry, by d_x on return. */
int hx_sweep_stage_backward(const hx_sweep_stage *stage, double *d_a);
/* Accepts a zeroed struct. */
void hx_sweep_stage_free(hx_sweep_stage *stage);

HX_C_END

#endif
