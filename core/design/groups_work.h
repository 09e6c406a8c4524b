/* The state and the steps of the search for groups of linked elements; not installed.
 * groups_fold.c: images and folded centroids; groups_columns.c: columns of an extrusion;
 * groups_nearest.c: the point nearest to an image; groups_match.c: assignment of elements;
 * groups.c: the groups. */
#ifndef HX_GROUPS_WORK_H
#define HX_GROUPS_WORK_H

#include "../base/vec3.h"
#include "../mesh/point_grid.h"
#include "groups.h"
#include "groups_images.h"
#include "groups_place.h"
#include "groups_repeat.h"
#include "groups_shape.h"

typedef struct hx_groups_work {
    const hx_mesh *mesh;
    hx_place place;
    hx_pattern pattern; /* pattern.n = 0: no copies along steps */
    /* [n_turn] reflections, rotations and their products within one copy, the first one of the
     * pattern, relative to place.origin (owned) */
    hx_isometry *turn;
    int n_turn;
    /* [n_image] maps into the copy pattern.base, sorted by hx_pattern_rank of the copy, n_turn for
     * each: relative to place.origin (owned); without a pattern those of `turn` */
    hx_isometry *image;
    int n_image;
    /* The chamber holds what lies furthest along `toward` among its images; across: zero, or decides
     * among images that lie equally far, as on a plane between two copies about an axis. */
    double toward[3], across[3];
    int is_repeated;
    double axis_point[3], axis_along[3]; /* of a cyclic repetition; along: zero without one */
    int is_extruded;
    /* orthonormal, the last one along the extrusion; the mesh's axes if there is no extrusion */
    double axis[3][3];
    double reach; /* largest distance of a corner from its element's centroid */
    /* [n_elem] elements by original number, so that results do not depend on the mesh's order */
    int32_t *order;
    /* [n_elem][3] folded centroid in the frame `axis`; the last component is 0 if extruded */
    double *folded;
    uint16_t *by;       /* [n_elem] index of the image that folded it */
    int32_t *rep;       /* [n_elem] the element it belongs to, possibly itself; -1: none yet */
    uint8_t *has_other; /* [n_elem] 1: an element folded by another image belongs to it */
    double *offset; /* [n_elem] offset of the element from the one it belongs to, in half-widths */
    uint8_t *is_done; /* [n_elem] 1: assigned in an earlier round */
    uint8_t *is_new;  /* [n_elem] 1: its column begins in the present run of equal elements */
    int32_t *above; /* [n_elem] the next first element of its column, exactly above it; -1: none */
    int32_t run;    /* number of that run; rep is -2 - run for an element that two columns share */
} hx_groups_work;

/* Transforms to the frame in which points are compared. */
static inline void hx_groups_to_frame(const hx_groups_work *w, const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) y[i] = hx_dot3(w->axis[i], x);
    if (w->is_extruded) y[2] = 0.0;
}

static inline void hx_groups_shape_of(const hx_groups_work *w, int64_t e, hx_group_shape *shape)
{
    hx_group_shape_find(shape, w->mesh, e, 4.0 * w->place.margin);
}

/* A difference of such coordinates as an offset from the centre of an element. */
static inline double hx_groups_offset(const hx_groups_work *w, const hx_group_shape *shape,
                                      const double from[3], const double to[3])
{
    double d[3] = {0.0};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) d[i] += (to[k] - from[k]) * w->axis[k][i];
    return hx_group_shape_offset(shape, d);
}

/* Offset from the element, or from the column that begins with it: the least offset from any of the
 * column's first elements, which hx_place_rank cannot order. */
double hx_groups_column_offset(const hx_groups_work *w, int64_t e, const double centre[3],
                               const double to[3], double *slack);

/* 1 if `to` is so near to the centre of the element or its column that it is its own image. */
int hx_groups_is_own(const hx_groups_work *w, int64_t e, const double centre[3],
                     const double to[3]);

/* 1 if the element is in no copy of the pattern. */
int hx_groups_is_outside(const hx_groups_work *w, int64_t e);

/* 1 if some image of the element lies elsewhere. */
int hx_groups_has_image(const hx_groups_work *w, int64_t e);

/* Sets images, axes, margin and reach; no element is assigned yet. HX_EINPUT like
 * hx_groups_create. */
int hx_groups_find_images(hx_groups_work *w, const hx_problem *problem,
                          const hx_groups_params *params);

/* Folds the centroids of unassigned elements into the chamber that contains most of them. An element
 * in no copy of the pattern keeps its centroid. */
void hx_groups_fold(hx_groups_work *w);

/* Folds the unassigned elements in no copy of the pattern only. */
void hx_groups_fold_outside(hx_groups_work *w);

/* The folded points of some elements in the order of their original numbers. */
typedef struct hx_groups_points {
    int64_t n;
    int32_t *elem; /* [n] (owned) */
    double *xyz;   /* [n][3] (owned) */
    hx_point_grid grid;
} hx_groups_points;

typedef enum hx_groups_which {
    HX_GROUPS_OF_CHAMBER,
    HX_GROUPS_REPRESENTATIVES,
    HX_GROUPS_OF_IMAGES
} hx_groups_which;

int hx_groups_points_create(hx_groups_points *p, const hx_groups_work *w, hx_groups_which which);
void hx_groups_points_free(hx_groups_points *p);

/* The point nearest to the folded centroid of an element. -1: none within its reach, or several
 * among which only the coordinates could choose. Joining any one of these would make the groups
 * depend on the orientation of the part, and joining all of them would chain their groups. */
int64_t hx_groups_nearest(const hx_groups_work *w, const hx_groups_points *p, int64_t elem);

/* Makes columns of the elements in the chamber, from the middle of the cross-section outwards. */
int hx_groups_make_columns(hx_groups_work *w);

/* Assigns each element outside the chamber to the representative nearest to its folded centroid. */
int hx_groups_match_images(hx_groups_work *w);

/* Each representative without an image joins the group of the image at the position of one of its
 * own. */
int hx_groups_match_representatives(hx_groups_work *w);

#endif
