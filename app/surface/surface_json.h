/* surface.json: what `hextop surface` found. */
#ifndef HX_SURFACE_JSON_H
#define HX_SURFACE_JSON_H

#include "../config/units.h"
#include "core/surface/surface_members.h"
#include "core/surface/surface_thickness.h"
#include "surface_made.h"

/* Values of the file (all borrowed). */
typedef struct hx_surface_summary {
    const char *result, *file; /* paths of the result and of the surface */
    const hx_units *units;
    double threshold, target; /* target: NAN if a threshold was given */
    const hx_surface_report *report;
    const hx_surface_rims *rims;
    const hx_surface_made *made;
    const hx_surface_repairs *repairs;
    const hx_thickness *thickness, *design_thickness; /* of surface and 0/1 design */
} hx_surface_summary;

int hx_surface_json_write(const hx_surface_summary *summary, const char *path);

#endif
