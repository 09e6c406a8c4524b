/* Methods to compute K of a patch following P5, and the device's operations for them
 * (hx_device_ops.interaction). */
#ifndef HX_INTERACTION_OPS_H
#define HX_INTERACTION_OPS_H

#include "../device/device.h"
#include "interaction.h"

HX_C_BEGIN

typedef enum {
    /* cell by cell on one core, scattered into a hash table of values (P5: EW, sparse) */
    HX_WAY_HASH,
    HX_WAY_SKYLINE, /* the same, into rows that begin at their first value (P5: EW, skyline) */
    /* P5's interaction with stored gradients, ordered by Gauss point (IW, non-coalesced) */
    HX_WAY_POINTS,
    HX_WAY_PAIRS,  /* the same, ordered by control point (IW, coalesced) */
    HX_WAY_GATHER, /* nothing is stored per Gauss point */
    HX_N_WAY
} hx_interaction_way;

const char *hx_interaction_way_name(hx_interaction_way way);

/* Seconds: on a GPU by its own clock; on a CPU the sum over all threads of core time. */
typedef struct hx_interaction_time {
    double gradients; /* phase 1 and the transpose; 0 if there is none */
    double pairs;     /* phase 2; both phases if they are not separate */
} hx_interaction_time;

typedef struct hx_interaction_ops {
    unsigned ways, plane_ways; /* bits (1u << hx_interaction_way) supported in 3D and in 2D */
    /* Uploads its input and allocates the values; `in` must outlive it. After a failure the caller
     * calls `close`, which accepts NULL. HX_ENOMEM. Not performance-critical. */
    int (*open)(void **state, hx_device *dev, const hx_interaction *in);
    /* Computes all values. Stored gradients, and a GPU's products of lines of cells
     * (interaction_line.h), use at most `budget` bytes at a time, slab by slab in the last
     * direction, but at least one slab. Waits. HX_ENOMEM; HX_EINPUT: a method that the device does
     * not support. */
    int (*run)(void *state, hx_interaction_way way, size_t budget, hx_interaction_time *time);
    /* Copies values [n_block][dim][dim]. Waits. */
    int (*values)(void *state, double *value);
    void (*close)(void *state);
} hx_interaction_ops;

/* Rows first .. *end - 1 in the last direction: as many as fit the budget with the gradients of
 * their cells (layer_bytes per layer of cells), but at least one. *cells: first and end of their
 * cells in that direction. */
void hx_interaction_slab(const hx_interaction *in, size_t layer_bytes, size_t budget, int first,
                         int *end, int cells[2]);

HX_C_END

#endif
