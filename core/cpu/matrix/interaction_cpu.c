/* The stiffness matrix K of a spline patch on the CPU: the table of
 * core/matrix/interaction_ops.h. */
#include "interaction_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../device/cpu_ops.h"

typedef struct patch {
    const hx_interaction *in; /* (borrowed) */
    double *value;
} patch;

static int open_patch(void **state, hx_device *dev, const hx_interaction *in)
{
    patch *p = NULL;
    (void)dev;
    HX_TRY(hx_alloc(&p, 1, sizeof *p, "a patch"));
    *state = p;
    p->in = in;
    return hx_alloc_raw(&p->value, (size_t)in->n_block * (size_t)(in->dim * in->dim),
                        sizeof *p->value, "blocks of K");
}

static int run_patch(void *state, hx_interaction_way way, size_t budget, hx_interaction_time *time)
{
    const patch *const p = state;
    if (way == HX_WAY_HASH || way == HX_WAY_SKYLINE)
        return hx_cpu_interaction_cells(p->in, way, p->value, time);
    if (way == HX_WAY_GATHER) return hx_cpu_interaction_gather(p->in, p->value, time);
    return hx_cpu_interaction_pairs(p->in, way, budget, p->value, time);
}

static int copy_values(void *state, double *value)
{
    const patch *const p = state;
    const size_t n = (size_t)p->in->n_block * (size_t)(p->in->dim * p->in->dim);
    memcpy(value, p->value, n * sizeof *value);
    return HX_OK;
}

static void close_patch(void *state)
{
    patch *const p = state;
    if (p) free(p->value);
    free(p);
}

const hx_interaction_ops hx_cpu_interaction_ops = {
    .ways = (1u << HX_N_WAY) - 1u,
    .plane_ways = (1u << HX_N_WAY) - 1u,
    .open = open_patch,
    .run = run_patch,
    .values = copy_values,
    .close = close_patch,
};
