/* How much of a surface misses the overhang, draw or milling limit of its config. */
#ifndef HX_SURFACE_MADE_H
#define HX_SURFACE_MADE_H

#include "../result/surface_source.h"
#include "core/surface/surface_overhang.h"
#include "core/surface/surface_reach.h"

typedef struct hx_surface_made {
    const char *name; /* "overhang", "draw" or "milling"; NULL: the config has none */
    double share;     /* of the area */
    double angle;     /* overhang: the limit, degrees */
} hx_surface_made;

/* HX_ENOMEM. */
int hx_surface_measure_made(hx_surface_made *made, const hx_surface_source *source,
                            const hx_surface *surface);
/* Prints the share and what was raised for it, and warns if it exceeds 1 %. */
void hx_surface_report_made(const hx_surface_made *made, const hx_surface_held *held);

#endif
