/* The 0/1 design of a result, as used by `hextop verify`, `analyse` and `mesh`: the elements that
 * would be manufactured. */
#ifndef HX_SOLID_DESIGN_H
#define HX_SOLID_DESIGN_H

#include "part.h"
#include "result_origin.h"
#include "solid_mesh.h"

typedef struct hx_solid_design {
    double *density; /* [n_elem] of the file (owned) */
    /* number of elements that the file lacks; their density is assumed to be rho_min */
    int64_t n_missing;
    hx_result_origin origin;
    hx_result_part part; /* elements that are forced solid or void (owned) */
    double threshold;    /* density from which on free elements are solid */
    uint8_t *is_solid;   /* [n_elem] (owned) */
    double *black_white; /* [n_elem] 1 or rho_min (owned) */
    int64_t n_solid;
    /* number of elements below the threshold that are solid only because of `part` */
    int64_t n_filled;
    double volume; /* volume of the solid elements (length^3) */
} hx_solid_design;

/* Needs mesh and problem of the session. threshold = NaN: the one that keeps the volume. preserve:
 * HX_PRESERVE_*. HX_EINPUT: the result cannot be read, nothing is solid, or hx_part_threshold
 * fails. */
int hx_solid_design_create(hx_solid_design *design, hx_session *s, const char *result,
                           double threshold, unsigned preserve);

/* Like hx_solid_design_create, but for densities that the caller provides: design is zeroed except
 * for density[n_elem], which it then owns. Messages call the densities `result`. */
int hx_solid_design_make(hx_solid_design *design, const hx_session *s, const char *result,
                         double threshold, unsigned preserve);

/* "12,345 elements are solid: density >= 0.43, the threshold that keeps the volume"; returns
 * text. */
const char *hx_solid_design_text(const hx_solid_design *design, int threshold_given, char *text,
                                 size_t n_text);

/* Makes the largest piece of the solid (elements that share nodes), without void, as a session of
 * its own up to the problem (hx_problem_create_part); to->cfg must have been read. first: see
 * hx_solid_mesh_create. Warns of elements, supports, springs and forces that are left out.
 * HX_EINPUT: the piece is not held. */
int hx_solid_session_make(hx_session *to, const hx_session *whole, const hx_solid_design *design,
                          int64_t first);

/* Accepts a zeroed struct. */
void hx_solid_design_free(hx_solid_design *design);

#endif
