/* Which stresses colour the part, and what verify found of them. */
#ifndef HX_REPORT_STRESS_H
#define HX_REPORT_STRESS_H

#include "../result/surface_source.h"
#include "report.h"

/* [n_elem of the session's mesh] (owned) */
typedef struct hx_report_stress_values {
    double *value; /* the largest of all cases; NAN: unknown; NULL: there are no stresses */
    double *zone;  /* 1: in a zone without limits, else 0; NULL: there are no zones */
    const char *label;
    /* 1: value is averaged over all elements that have one, not weighted by their density */
    int is_of_surface;
} hx_report_stress_values;

/* Reads the stresses of the surface from the file that verify wrote; otherwise those of the result;
 * otherwise those of the 0/1 design. Fills run->part.stress with bounds, zones and the largest
 * value. If there are none, or if they belong to other densities than the result's, notes that in
 * run->missing. HX_ENOMEM. O(n_elem) per load case. */
int hx_report_find_stress(hx_report_run *run, const hx_surface_source *source,
                          hx_report_stress_values *stress);
/* Accepts a zeroed struct. */
void hx_report_stress_values_free(hx_report_stress_values *stress);

#endif
