/* The limited responses of a design that an analysis has solved, without an optimizer: of a result
 * with grey densities, of a 0/1 design, of the solid part, of the inside of a surface. */
#ifndef HX_LIMIT_VALUES_H
#define HX_LIMIT_VALUES_H

#include "optimizer.h"

HX_C_BEGIN

typedef struct hx_limit_value {
    double value;
    /* 1: less material cannot lower the value, which is the work of constant loads or a positive
     * multiple of it; cannot raise it, because it is an amount of material or a negative multiple of
     * that work */
    int is_lowest, is_highest;
} hx_limit_value;

/* value[n] := the values after hx_analysis_solve or hx_analysis_solve_density of the same design;
 * with several ranks all call it. density[n_elem of analysis->fields]: what counts as mass; NULL: all
 * elements are solid. volume: as a fraction, which a limit of the volume takes as it is; NAN: that of
 * the densities. A largest value is exact, not a p-norm. HX_EINPUT: what hx_response_check refuses.
 * O(n_elem) per limit and no solve; uses vectors of PCG, and on the device two fields and the memory
 * of one response, released on return. */
int hx_limit_values(hx_analysis *analysis, int n, const hx_constraint_spec *spec,
                    const double *density, double volume, hx_limit_value *value);

/* hx_limit_values for densities on the device. d_physical, d_volume: fields. */
int hx_limit_values_of(hx_analysis *analysis, int n, const hx_constraint_spec *spec,
                       const double *d_physical, const double *d_volume, double volume,
                       hx_limit_value *value);

HX_C_END

#endif
