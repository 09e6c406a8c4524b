/* A sweep (sweep.h) on a device, as a stage of the filter chain: densities in, densities out, and
 * the exact derivative. It keeps nothing from one design to the next.
 *
 * A sweep goes level by level through the whole part, so with several processes each gathers the
 * densities of all (8 bytes per element of the whole), sweeps all elements and takes its own: the
 * same numbers as those of one process, and none waits for another between levels. */
#ifndef HX_SWEEP_STAGE_H
#define HX_SWEEP_STAGE_H

#include "design_ops.h"
#include "halo.h"
#include "sweep.h"

HX_C_BEGIN

typedef struct hx_sweep_stage {
    hx_device *dev;       /* (borrowed) */
    int64_t n;            /* elements that are swept: all of the mesh, in every process */
    int64_t first, n_own; /* those of this process in the whole, which come first here */
    int n_graph;
    hx_device_sweep graph[HX_SWEEP_DIRECTIONS]; /* (owned) */
    double *d_x;            /* [n_own] densities before the sweep (owned, like the next) */
    double *d_sum, *d_part; /* [n] derivatives of several directions; NULL: there is one */
    hx_halo *halo; /* brings all elements of the other processes; NULL: there is one (owned) */
    int64_t *level_start[HX_SWEEP_DIRECTIONS]; /* (host) */
} hx_sweep_stage;

/* Uploads the graphs; `sweep`, of the whole mesh, is not needed afterwards. floor: the density
 * below elements that nothing supports, above 0. Collective if dev is that of several processes. */
int hx_sweep_stage_create(hx_sweep_stage *stage, hx_device *dev, const hx_sweep *sweep,
                          double floor);
/* d_x -> d_y[n_own], which may not be d_x; NULL: only the fields that the derivatives need. Densities must be above 0. Queued, like the next, unless
 * there are several processes: then both exchange a field (hx_halo_fill). */
int hx_sweep_stage_forward(const hx_sweep_stage *stage, double *d_y);
/* d_a[n_own]: derivative by the result of the last forward on entry, by d_x on return. */
int hx_sweep_stage_backward(const hx_sweep_stage *stage, double *d_a);
/* Accepts a zeroed struct. */
void hx_sweep_stage_free(hx_sweep_stage *stage);

HX_C_END

#endif
