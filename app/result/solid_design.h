/* The 0/1 design of a result, common to `hextop verify`, `analyse` and `mesh`: the elements that
 * would be made. */
#ifndef HX_SOLID_DESIGN_H
#define HX_SOLID_DESIGN_H

#include "part.h"
#include "result_origin.h"
#include "solid_mesh.h"

typedef struct hx_solid_design {
    double *density;   /* [n_elem] of the file (owned) */
    int64_t n_missing; /* elements that the file lacks; their density is taken as rho_min */
    hx_result_origin origin;
    hx_result_part part; /* elements that are forced solid or void (owned) */
    double threshold;    /* elements that are not forced are solid from this density upwards */
    uint8_t *is_solid;   /* [n_elem] (owned) */
    double *black_white; /* [n_elem] 1 or rho_min (owned) */
    int64_t n_solid;
    int64_t n_filled; /* elements below the threshold that only `part` makes solid */
    double volume;    /* volume of the solid elements (length^3) */
} hx_solid_design;

/* Needs mesh and problem of the session. threshold: NaN: the one that keeps the volume. preserve:
 * HX_PRESERVE_*. HX_EINPUT: the result cannot be read, nothing is solid, or see
 * hx_part_threshold. */
int hx_solid_design_create(hx_solid_design *design, hx_session *s, const char *result,
                           double threshold, unsigned preserve);

/* Like hx_solid_design_create, for a design that is zeroed except density[n_elem], which it then
 * owns; messages call the densities `result`. */
int hx_solid_design_make(hx_solid_design *design, const hx_session *s, const char *result,
                         double threshold, unsigned preserve);

/* "12,345 elements are solid: density >= 0.43, the threshold that keeps the volume"; returns
 * text. */
const char *hx_solid_design_text(const hx_solid_design *design, int threshold_given, char *text,
                                 size_t n_text);

/* The largest piece of the solid whose elements share nodes, without void, as a session of its own
 * up to the problem (hx_problem_create_part); to->cfg has been read. first: see
 * hx_solid_mesh_create. Warns of elements, supports, springs and forces that are left out.
 * HX_EINPUT: the piece is not held. */
int hx_solid_session_make(hx_session *to, const hx_session *whole, const hx_solid_design *design,
                          int64_t first);

/* Accepts a zeroed struct. */
void hx_solid_design_free(hx_solid_design *design);

#endif
