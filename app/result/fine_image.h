/* The image of a spline in smaller hexahedra. Surfaces are cut from it, so that curved faces of the
 * part appear curved. */
#ifndef HX_FINE_IMAGE_H
#define HX_FINE_IMAGE_H

#include "../session/session.h"
#include "core/surface/surface.h"

/* Largest number of hexahedra along a span. */
#define HX_FINE_MOST 16

typedef struct hx_fine_image {
    int n;            /* hexahedra along a span; 1: the image itself; 0: there is no spline */
    int is_requested; /* 1: n was given; 0: it follows from the curvature */
    /* number that the curvature requires; if above n, that would be too many hexahedra, or invalid
     * ones */
    int wanted;
    double turn; /* largest angle by which an edge of a span turns, in degrees */
    /* finished mesh, in which element n^3 c + i belongs to kept cell c; empty if n is below 2
     * (owned) */
    hx_mesh mesh;
} hx_fine_image;

/* Makes the image of the session's spline. keep: [n_elem] 1: cells that are included; NULL: all.
 * requested: n; 0: such that no hexahedron turns by more than 5 degrees, with at most 8 per span
 * and 4 million elements. HX_EINPUT: n is requested without a spline, or invalid hexahedra.
 * O(n^3 cells). */
int hx_fine_image_create(hx_fine_image *f, const hx_session *s, const uint8_t *keep, int requested);

/* Makes the image of all cells, with the sets of the session's mesh on its faces and elements. */
int hx_fine_image_with_sets(hx_fine_image *f, const hx_session *s);

/* The field of hx_surface_field_create() for the cells of `mesh`, which is the session's mesh,
 * possibly without some cells. If there is a finer image, the field is on that. */
int hx_fine_image_field(const hx_fine_image *f, hx_surface_field *field, const hx_mesh *mesh,
                        const double *rho, const uint8_t *is_solid);

/* Returns the target; if the volume of all hexahedra of the field is slightly below the target,
 * because it differs from the spline's volume, returns that volume. */
double hx_fine_image_target(const hx_fine_image *f, const hx_surface_field *field, double target);

/* "2 x 2 x 2 hexahedra per span: ..."; "" without a spline. Returns text. */
const char *hx_fine_image_text(const hx_fine_image *f, char *text, size_t n_text);

/* Accepts a zeroed struct. */
void hx_fine_image_free(hx_fine_image *f);

#endif
