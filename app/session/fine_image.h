/* The image of a spline in smaller hexahedra: what surfaces are cut from, so that what is curved is
 * curved in them. */
#ifndef HX_FINE_IMAGE_H
#define HX_FINE_IMAGE_H

#include "core/surface/surface.h"
#include "session.h"

/* Most hexahedra along a span. */
#define HX_FINE_MOST 16

typedef struct hx_fine_image {
    int n;        /* hexahedra along a span; 1: the image itself; 0: there is no spline */
    int is_asked; /* 1: n was; else by curvature */
    int wanted;   /* what the curvature asks for; above n: too many, or not valid */
    double turn;  /* most that an edge of a span turns, degrees */
    hx_mesh mesh; /* finished, element n^3 c + i of kept cell c; empty where n is below 2 (owned) */
} hx_fine_image;

/* Of the session's spline; keep: [n_elem] 1: cells that are there, NULL: all. asked: n, 0: such
 * that no hexahedron turns by more than 5 degrees, 8 and 4 million elements at most. HX_EINPUT:
 * asked without a spline, or hexahedra that are not valid. O(n^3 cells). */
int hx_fine_image_create(hx_fine_image *f, const hx_session *s, const uint8_t *keep, int asked);

/* The same of all cells, with the sets of the session's mesh: what its faces and elements became.
 */
int hx_fine_image_with_sets(hx_fine_image *f, const hx_session *s);

/* Of the cells of `mesh`, the session's or without those left out: field as
 * hx_surface_field_create() makes it, on the finer image where there is one. */
int hx_fine_image_field(const hx_fine_image *f, hx_surface_field *field, const hx_mesh *mesh,
                        const double *rho, const uint8_t *is_solid);

/* The target, or all that hexahedra of the field have where that is a little less than the spline.
 */
double hx_fine_image_target(const hx_fine_image *f, const hx_surface_field *field, double target);

/* "2 x 2 x 2 hexahedra a span, whose edges turn by 7.5 degrees"; "" without a spline. Returns text.
 */
const char *hx_fine_image_text(const hx_fine_image *f, char *text, size_t n_text);

/* Accepts a zeroed struct. */
void hx_fine_image_free(hx_fine_image *f);

#endif
