/* Compares a level set with the 0/1 design: members that it cuts are found and repaired. */
#ifndef HX_SURFACE_MEMBERS_H
#define HX_SURFACE_MEMBERS_H

#include "solid_shape.h"
#include "surface.h"

HX_C_BEGIN

/* A place where solid elements that share a face or an edge are not connected by the surface, nor
 * by way of three rings of elements around it. */
typedef struct hx_lost_member {
    double place[3]; /* mean of the elements' centroids */
    int64_t n_elem;  /* elements at faces and edges where the surface does not connect them */
} hx_lost_member;

typedef struct hx_lost_members {
    size_t n, capacity;
    hx_lost_member *member; /* [n] (owned) */
} hx_lost_members;

/* Appends the cuts at a threshold, in the order of their lowest elements. solid: [n_elem] != 0 for
 * the elements of the 0/1 design. O(n_elem), 17 bytes per element while it runs. */
int hx_surface_find_lost(const hx_surface_field *field, double threshold, const uint8_t *solid,
                         hx_lost_members *cuts);
/* Accepts a zeroed struct. */
void hx_lost_members_free(hx_lost_members *cuts);

typedef struct hx_surface_repairs {
    hx_lost_members found; /* cuts that were repaired, or that were tried */
    hx_lost_members left;  /* cuts that remain */
    hx_solid_shape design; /* of the 0/1 design */
} hx_surface_repairs;

/* Repairs the cuts: the nodes that their elements share get a density just above the threshold,
 * so that the surface follows the elements of the 0/1 design there, and are not smoothed. Then the
 * threshold is chosen for the target volume; NAN: it stays. Repeats until nothing is cut, at most
 * five times. */
int hx_surface_repair(hx_surface_field *field, const uint8_t *solid, double target,
                      double *threshold, hx_surface_repairs *result);
/* Accepts a zeroed struct. */
void hx_surface_repairs_free(hx_surface_repairs *result);

HX_C_END

#endif
