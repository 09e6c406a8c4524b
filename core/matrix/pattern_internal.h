/* Internals of the pattern's builders; not installed. */
#ifndef HX_PATTERN_INTERNAL_H
#define HX_PATTERN_INTERNAL_H

#include "pattern.h"

HX_C_BEGIN

/* Times a build: begin starts the clock, end finishes a step. steps may be NULL. */
typedef struct hx_stepper {
    hx_steps *steps; /* NULL: times are not recorded */
    double start;
} hx_stepper;
hx_stepper hx_stepper_begin(hx_steps *steps);
void hx_stepper_end(hx_stepper *stepper, const char *name);

/* Copies the incidence and provides lists of the points' places: the incidence's own if it has
 * them, otherwise lists made in pattern->point_ptr and point_place by counting sort (P2),
 * ascending. */
int hx_pattern_lists(hx_pattern *pattern, const hx_incidence *incidence, hx_incidence *with_lists,
                     hx_stepper *stepper);

/* count[n_row] = entries of each row. The incidence must have lists. */
int hx_pattern_count_rows(const hx_incidence *incidence, const hx_pattern_spec *spec,
                          int32_t *count);

/* Sets row_ptr, n_entry, max_row and slot_bytes from the counts, and allocates col and slot. */
int hx_pattern_offsets(hx_pattern *pattern, const int32_t *count);

/* The sort builder: sets row_ptr and everything below. */
int hx_pattern_build_sort(hx_pattern *pattern, const hx_incidence *incidence,
                          const hx_pattern_spec *spec, hx_stepper *stepper);

/* slot[pair] := slot; a negative value means no slot. */
static inline void hx_pattern_set_slot(hx_pattern *p, int64_t pair, int64_t slot)
{
    if (p->slot_bytes == 1)
        ((uint8_t *)p->slot)[pair] = slot < 0 ? HX_NO_SLOT_8 : (uint8_t)slot;
    else
        ((uint16_t *)p->slot)[pair] = slot < 0 ? HX_NO_SLOT_16 : (uint16_t)slot;
}

HX_C_END

#endif
