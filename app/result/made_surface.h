/* The surface of a result in memory, as `hextop surface` cuts it without options. */
#ifndef HX_MADE_SURFACE_H
#define HX_MADE_SURFACE_H

#include "core/surface/surface.h"

typedef struct hx_made_surface {
    hx_surface surface; /* closed and manifold (owned) */
    double threshold;   /* nodal density at which it is cut */
    int64_t n_cut;      /* members of the 0/1 design that it cuts */
} hx_made_surface;

/* named to preserve: as in hx_surface_source_open_with. threshold: NAN: the one that keeps the
 * volume. HX_EINPUT: no surface can be cut. HX_ENUMERIC: it is not closed and manifold. Reads the
 * result and its mesh again, which it frees on return. */
int hx_made_surface_create(hx_made_surface *made, const char *named, const char *config,
                           size_t n_override, const char *const *override, unsigned preserve,
                           double threshold);

/* Accepts a zeroed struct. */
void hx_made_surface_free(hx_made_surface *made);

#endif
