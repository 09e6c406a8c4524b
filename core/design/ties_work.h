/* The state of the search for groups and its steps; not installed. ties_fold.c: images and folded
 * centroids; ties_columns.c: columns of an extrusion; ties_nearest.c: the point nearest to an
 * image; ties_match.c: which element belongs to which; ties.c: the groups. */
#ifndef HX_TIES_WORK_H
#define HX_TIES_WORK_H

#include "../base/vec3.h"
#include "../mesh/point_grid.h"
#include "ties.h"
#include "ties_images.h"
#include "ties_place.h"
#include "ties_shape.h"

typedef struct hx_ties_work {
    const hx_mesh *mesh;
    hx_place place;
    hx_isometry image[HX_TIES_MOST_IMAGES]; /* as seen from place.origin */
    int n_image;
    double toward[3];
    int is_extruded;
    double axis[3][3]; /* orthonormal, the last one along the extrusion; the mesh's axes without */
    double reach;      /* largest distance of a corner from its element's centroid */
    int32_t *order; /* [n_elem] elements by original number, so that none depends on the mesh's */
    double *folded; /* [n_elem][3] folded centroid, along `axis`; the last one 0 if extruded */
    uint8_t *by;    /* [n_elem] the image that folded it */
    int32_t *rep;   /* [n_elem] the element it belongs to; itself; -1: none yet */
    uint8_t *has_other; /* [n_elem] an element folded by another image belongs to it */
    double *offset;     /* [n_elem] of the element from what it belongs to, in half-widths */
    uint8_t *is_done;   /* [n_elem] it belongs to something since an earlier round */
    uint8_t *is_new;    /* [n_elem] its column begins in the present run of equal elements */
    int32_t *above; /* [n_elem] the next first element of its column, exactly above it; -1: none */
    int32_t run;    /* number of that run; rep is -2 - run for what two columns share */
} hx_ties_work;

/* Into the coordinates that points are compared in. */
static inline void hx_ties_to_frame(const hx_ties_work *w, const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) y[i] = hx_dot3(w->axis[i], x);
    if (w->is_extruded) y[2] = 0.0;
}

static inline void hx_ties_shape_of(const hx_ties_work *w, int64_t e, hx_tie_shape *shape)
{
    hx_tie_shape_find(shape, w->mesh, e, 4.0 * w->place.margin);
}

/* A difference of such coordinates, as an offset from the centre of an element. */
static inline double hx_ties_offset(const hx_ties_work *w, const hx_tie_shape *shape,
                                    const double from[3], const double to[3])
{
    double d[3] = {0.0};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) d[i] += (to[k] - from[k]) * w->axis[k][i];
    return hx_tie_shape_offset(shape, d);
}

/* The offset from the element, or from the column that begins with it: the least one from any of its
 * first elements, between which no quantity of hx_place_rank decides. */
double hx_ties_column_offset(const hx_ties_work *w, int64_t e, const double centre[3],
                             const double to[3], double *slack);

/* 1 if `to` is so near to the centre of the element, or of its column, that it is its own image. */
int hx_ties_is_own(const hx_ties_work *w, int64_t e, const double centre[3], const double to[3]);

/* 1 if some image of the element is another place than its own. */
int hx_ties_has_image(const hx_ties_work *w, int64_t e);

/* Sets images, axes, margin and reach; no element belongs to another yet. HX_EINPUT: as for
 * hx_ties_create. */
int hx_ties_find_images(hx_ties_work *w, const hx_problem *problem, const hx_ties_params *params);

/* Folds the centroids of the elements that are left into the chamber that most of them lie in. */
void hx_ties_fold(hx_ties_work *w);

/* The folded points of some elements, in the order of their original numbers. */
typedef struct hx_ties_points {
    int64_t n;
    int32_t *elem; /* [n] (owned) */
    double *xyz;   /* [n][3] (owned) */
    hx_point_grid grid;
} hx_ties_points;

typedef enum hx_ties_which {
    HX_TIES_OF_CHAMBER,
    HX_TIES_REPRESENTATIVES,
    HX_TIES_OF_IMAGES
} hx_ties_which;

int hx_ties_points_create(hx_ties_points *p, const hx_ties_work *w, hx_ties_which which);
void hx_ties_points_free(hx_ties_points *p);

/* The point nearest to the folded centroid of an element. -1: none within its reach, or several
 * among which only the coordinates would choose: whichever of these the element joined, groups
 * would not be the same for the part turned or mirrored, and to join all of them would chain their
 * groups. */
int64_t hx_ties_nearest(const hx_ties_work *w, const hx_ties_points *p, int64_t elem);

/* In the chamber: columns of elements, from the middle of the cross-section outwards. */
int hx_ties_make_columns(hx_ties_work *w);

/* Each element outside the chamber to the representative nearest to its folded centroid. */
int hx_ties_match_images(hx_ties_work *w);

/* Each representative to which no image came joins the group of the image that lies where one of
 * its own would. */
int hx_ties_match_representatives(hx_ties_work *w);

#endif
