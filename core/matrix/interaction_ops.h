/* Ways to compute K of a patch by P5, and what a device does of them (hx_device_ops.interaction).
 */
#ifndef HX_INTERACTION_OPS_H
#define HX_INTERACTION_OPS_H

#include "../device/device.h"
#include "interaction.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HX_WAY_HASH,    /* cell after cell on one core, scattered into a hash table of numbers (P5's EW,
                       sparse) */
    HX_WAY_SKYLINE, /* the same, into rows from their first number on (EW, skyline) */
    HX_WAY_POINTS,  /* P5's interaction, stored gradients Gauss point by Gauss point (IW,
                       non-coalesced) */
    HX_WAY_PAIRS,   /* the same, control point by control point (IW, coalesced) */
    HX_WAY_GATHER,  /* nothing stored of a Gauss point */
    HX_N_WAY
} hx_interaction_way;

const char *hx_interaction_way_name(hx_interaction_way way);

/* Seconds: of a GPU by its own clock; of a CPU those of one core, all threads added up. */
typedef struct hx_interaction_time {
    double gradients; /* phase 1 and the transpose; 0 where there is none */
    double pairs;     /* phase 2, or all of it */
} hx_interaction_time;

typedef struct hx_interaction_ops {
    unsigned ways, plane_ways; /* bit (1u << hx_interaction_way), in 3D and in 2D */
    /* Takes what it needs to the device and allocates the values; `in` outlives it. On failure the
     * caller calls `close`, which accepts NULL. HX_ENOMEM. Cold. */
    int (*open)(void **state, hx_device *dev, const hx_interaction *in);
    /* All values. Of stored gradients, and of a GPU's products of lines of cells
     * (interaction_line.h), at most `budget` bytes are there at a time, slab by slab of the last
     * direction, but one slab's at least. Waits. HX_ENOMEM, HX_EINPUT: a way that the device lacks.
     */
    int (*run)(void *state, hx_interaction_way way, size_t budget, hx_interaction_time *time);
    /* Copies values [n_block][dim][dim]. Waits. */
    int (*values)(void *state, double *value);
    void (*close)(void *state);
} hx_interaction_ops;

/* Rows of the last direction first .. *end - 1 whose cells' gradients (bytes of a layer of cells)
 * fit the budget, at least one; *cells: their cells in that direction, first and end. */
void hx_interaction_slab(const hx_interaction *in, size_t layer_bytes, size_t budget, int first,
                         int *end, int cells[2]);

#ifdef __cplusplus
}
#endif

#endif
