/* The least and the greatest volume of any design: free elements at rho_min or 1, passive ones at
 * their prescribed densities, filtered (which spreads passive densities to free neighbours) and
 * projected. A run with a smaller volume_fraction stagnates or loses connectivity; a run with a
 * larger one never reaches it. */
#ifndef HX_LEAST_VOLUME_H
#define HX_LEAST_VOLUME_H

#include "../base/notes.h"
#include "filter.h"

HX_C_BEGIN

/* A volume fraction and the beta of the projection at which it occurs. */
typedef struct hx_volume_at {
    double fraction, beta;
} hx_volume_at;

/* The projection may increase or decrease the spread volume as its beta rises. */
typedef struct hx_least_volume {
    hx_volume_at first, lowest, highest; /* values of the first design, and over the whole run */
    struct {
        hx_volume_at first, lowest, highest;
    } most; /* with all free elements solid: 1 unless passive elements are below 1 */
} hx_least_volume;

/* Evaluates all values of the filter's schedule of beta, nearly equal ones once. Costs one filter
 * application, which replaces its last forward, and a pass over the elements per value; only a sum
 * of the volumes if there are no passive elements or the filter does not map the design. Not
 * performance-critical; waits. */
int hx_least_volume_find(hx_least_volume *least, hx_filter *filter);

/* HX_EINPUT if the volume fraction does not exceed the least volume of the first design by 1 %
 * of it (without passive elements by at most 1e-5), since designs would hardly differ, or if it
 * exceeds the greatest volume of the first design. The message names what takes the volume and the
 * least or largest fraction that works in the whole run; that fraction is accepted as printed. */
int hx_least_volume_check(const hx_least_volume *least, const hx_filter *filter);

/* A fraction of four digits that does not exceed the argument, so that it is accepted as
 * printed. */
double hx_least_volume_round_down(double fraction);

/* Warns if little is left to design, or if no design can have the volume once beta has risen
 * because it is too small or too large. */
int hx_least_volume_note(const hx_least_volume *least, const hx_filter *filter, hx_notes *notes);

HX_C_END

#endif
