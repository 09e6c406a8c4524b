/* The least and the most volume that a design can have: its free elements at rho_min or 1, the
 * passive ones at their densities, which the filter smears into the free ones around them, then
 * projected. A run whose volume_fraction is less stands still or tears; one whose volume_fraction
 * is more never meets it. */
#ifndef HX_LEAST_VOLUME_H
#define HX_LEAST_VOLUME_H

#include "../base/notes.h"
#include "filter.h"
#include "stair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A volume fraction, and the projection's beta at which it holds. */
typedef struct hx_volume_at {
    double fraction, beta;
} hx_volume_at;

/* The projection may take more or less of what is smeared as its beta rises. */
typedef struct hx_least_volume {
    hx_volume_at first, lowest, highest; /* of the first design; over all of the run */
    struct {
        hx_volume_at first, lowest, highest;
    } most; /* with all free elements solid: 1 but for passive elements below 1 */
} hx_least_volume;

/* For all values of a stair of beta (of those that are nearly the same, one). One application of
 * the filter, whose last forward it replaces, and a pass over the elements a value; a sum of
 * the volumes without passive elements or where the filter does not map the design. Cold, waits. */
int hx_least_volume_find(hx_least_volume *least, hx_filter *filter, const hx_stair *beta);

/* HX_EINPUT if problem->volume_fraction is not above the least of the first design by a hundredth
 * of it, without passive elements by 1e-5 at most, since designs would hardly differ, or above the most of the first design. The message says
 * what takes the volume, and the least or largest fraction that works in all of the run, which is
 * accepted as printed. */
int hx_least_volume_check(const hx_least_volume *least, const hx_filter *filter);

/* A fraction of four digits that is not above it: as printed, it is accepted. */
double hx_least_volume_round_down(double fraction);

/* Warnings: little is left to design; no design can have the volume once beta has risen, be it too
 * small or too large. */
int hx_least_volume_note(const hx_least_volume *least, const hx_filter *filter, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
