/* The 0/1 design of a result, the same to `hextop verify`, `analyse` and `mesh`: which elements
 * would be made. */
#ifndef HX_SOLID_DESIGN_H
#define HX_SOLID_DESIGN_H

#include "part.h"
#include "result_origin.h"
#include "solid_mesh.h"

typedef struct hx_solid_design {
    double *density;   /* [n_elem] of the file (owned) */
    int64_t n_missing; /* elements that the file lacks: taken as rho_min */
    hx_result_origin origin;
    hx_result_part part; /* what is solid or void whatever its density (owned) */
    double threshold;    /* free elements are solid from this density on */
    uint8_t *is_solid;   /* [n_elem] (owned) */
    double *black_white; /* [n_elem] 1 or rho_min (owned) */
    int64_t n_solid;
    int64_t n_filled; /* of those, below the threshold: solid by `part` alone */
    double volume;    /* of the solid elements (length^3) */
} hx_solid_design;

/* Of a session with mesh and problem. threshold: NaN for the one that keeps the volume best;
 * preserve: HX_PRESERVE_*. HX_EINPUT: as above, nothing is solid, hx_part_threshold. */
int hx_solid_design_create(hx_solid_design *design, hx_session *s, const char *result,
                           double threshold, unsigned preserve);

/* The same of a zeroed design but for density[n_elem], which is its own from then on; result: what
 * messages call it. */
int hx_solid_design_make(hx_solid_design *design, const hx_session *s, const char *result,
                         double threshold, unsigned preserve);

/* "12,345 elements are solid: density >= 0.43, which keeps the volume best"; returns text. */
const char *hx_solid_design_text(const hx_solid_design *design, int threshold_given, char *text,
                                 size_t n_text);

/* The largest piece of the solid that common nodes hold together, without void, as a session of its
 * own up to the problem (hx_problem_create_part); solid->cfg is read. first: hx_solid_mesh_create.
 * Warns of elements, supports, springs and forces that it has not. HX_EINPUT: what is left can
 * move.
 */
int hx_solid_session_make(hx_session *solid, const hx_session *whole, const hx_solid_design *design,
                          int64_t first);

/* Accepts a zeroed struct. */
void hx_solid_design_free(hx_solid_design *design);

#endif
