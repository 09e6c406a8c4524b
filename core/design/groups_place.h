/* An ordering of elements by position that never uses their numbers or coordinates; not installed.
 * Only quantities that are invariant under rotation and reflection of mesh and planes decide.
 * Values that differ by less than rounding count as equal. */
#ifndef HX_GROUPS_PLACE_H
#define HX_GROUPS_PLACE_H

#include "../problem/problem.h"
#include "groups.h"

enum {
    HX_PLACE_PLANES = 3,
    HX_PLACE_VECTORS = 3,
    HX_PLACE_KEYS = HX_PLACE_PLANES + HX_PLACE_VECTORS + 3
};

typedef struct hx_place {
    const hx_mesh *mesh;  /* (borrowed) */
    const double *volume; /* [n_elem] (borrowed) */
    double origin[3];     /* all other coordinates are relative to it */
    double margin;        /* rounding error of a coordinate: length */
    double mean[3];       /* mean of the centroids */
    /* Unit vectors along which the part is not its own mirror image, from its third moments; zero
     * if it is symmetric. */
    double skew[HX_PLACE_VECTORS][3];
    double along[3]; /* unit vector of the extrusion; zero without one */
    int n_plane;     /* the first HX_PLACE_PLANES of the planes */
    double normal[HX_PLACE_PLANES][3], level[HX_PLACE_PLANES];
} hx_place;

void hx_place_create(hx_place *place, const hx_problem *problem, const hx_groups_params *params);

/* The centroid of an element relative to the origin. */
void hx_place_centroid(const hx_place *place, int64_t elem, double x[3]);

/* Negative: a comes first. 0: neither does; they may be images of each other under a symmetry of
 * the part. */
int hx_place_rank(const hx_place *place, int64_t a, int64_t b);

/* Sorts elem[n] by this order, equal ones in any order. O(n log n), 16 bytes per element while it
 * runs. */
int hx_place_sort(const hx_place *place, int64_t n, int32_t *elem);

#endif
