/* Members of a part's 0/1 design that its surface would cut. */
#ifndef HX_MEMBERS_H
#define HX_MEMBERS_H

#include "core/surface/surface_members.h"
#include "core/surface/surface_thickness.h"
#include "fine_image.h"

/* Repairs members of the 0/1 design that the field cuts at *threshold (see hx_surface_repair). mesh: the
 * mesh of the densities rho[n_elem] and of is_solid[n_elem], which is NULL or as in
 * hx_surface_field_create; the field is on that mesh or on its finer image. target: volume of the
 * 0/1 design and of the surface; NAN: the 0/1 design has the elements above *threshold, which stays.
 * least: thickness of the members of the 0/1 design; NULL: not needed. O(n_elem). */
int hx_members_repair(hx_surface_field *field, const hx_fine_image *fine, const hx_mesh *mesh,
                      const double *rho, const uint8_t *is_solid, double target, double *threshold,
                      hx_surface_repairs *result, hx_thickness *least);

#endif
