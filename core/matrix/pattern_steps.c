/* Helpers that the builders of a pattern share: timing of their steps, and offsets from the counts
 * of rows. */
#include "../base/clock.h"
#include "../base/memory.h"
#include "pattern_internal.h"

hx_stepper hx_stepper_begin(hx_steps *steps)
{
    if (steps) steps->n = 0;
    return (hx_stepper){steps, hx_clock()};
}

void hx_stepper_end(hx_stepper *stepper, const char *name)
{
    const double now = hx_clock();
    hx_steps *const steps = stepper->steps;
    if (steps && steps->n < HX_MAX_STEP)
        steps->step[steps->n++] = (hx_step){name, now - stepper->start};
    stepper->start = now;
}

int hx_pattern_offsets(hx_pattern *p, const int32_t *count)
{
    HX_TRY(hx_alloc_raw(&p->row_ptr, (size_t)p->n_row + 1, sizeof *p->row_ptr, "pattern"));
    p->row_ptr[0] = 0;
    p->max_row = 0;
    for (int64_t i = 0; i < p->n_row; i++) {
        p->row_ptr[i + 1] = p->row_ptr[i] + count[i];
        if (count[i] > p->max_row) p->max_row = count[i];
    }
    p->n_entry = p->row_ptr[p->n_row];
    if (p->max_row >= HX_NO_SLOT_16)
        return HX_RAISE(HX_EINPUT,
                        "a node of the mesh has %d neighbours; a matrix supports at most 65534",
                        p->max_row);
    p->slot_bytes = p->max_row <= HX_NO_SLOT_8 ? 1 : 2;
    HX_TRY(hx_alloc_raw(&p->col, (size_t)p->n_entry, sizeof *p->col, "pattern"));
    return hx_alloc_raw(&p->slot, (size_t)p->n_pair, (size_t)p->slot_bytes, "pattern's slots");
}
