/* Repetitions of a design: copies about an axis and copies along steps; not installed. */
#ifndef HX_GROUPS_REPEAT_H
#define HX_GROUPS_REPEAT_H

#include "groups_images.h"
#include "groups_place.h"

/* Copies along up to three independent steps: translations of the first copy, in which the
 * coordinates (dual . x - begin) of all steps lie in [0, 1). */
typedef struct hx_pattern {
    int n; /* steps */
    int copies[3], n_copy;
    int base;                      /* the copy into which all others are mapped */
    double step[3][3], dual[3][3]; /* dual[i] . step[k] = 1 if i = k, else 0 */
    double begin[3], slack[3];     /* slack: rounding error of a coordinate */
} hx_pattern;

/* No steps without a pattern among the repetitions. HX_EINPUT like hx_groups_create. */
int hx_pattern_create(hx_pattern *pattern, const hx_groups_params *params, const hx_place *place);

/* The copy that contains a point; -1: none. */
int hx_pattern_copy(const hx_pattern *pattern, const double x[3]);

/* y := x moved from one copy to another. */
void hx_pattern_move(const hx_pattern *pattern, int from, int to, const double x[3], double y[3]);

/* 0 for the base, 1, 2, ... for the other copies; and the copy of such a number. */
int hx_pattern_rank(const hx_pattern *pattern, int copy);
int hx_pattern_ranked(const hx_pattern *pattern, int rank);

/* Distance from the faces of the copy that contains the point; INFINITY without steps. */
double hx_pattern_clearance(const hx_pattern *pattern, const double x[3]);

/* Moves a plane across a step to the middle of the first copy, which is a mirror if the plane is
 * one. HX_EINPUT: the plane maps some copy onto no other. */
int hx_pattern_center(const hx_pattern *pattern, const hx_place *place, hx_symmetry_plane *plane);

/* The cyclic one among the repetitions; NULL: none. */
const hx_repetition *hx_cyclic_of(const hx_groups_params *params);

/* HX_EINPUT: the axis has no direction, a plane neither contains it nor is perpendicular to it, or
 * a step or the extrusion is not parallel to it. */
int hx_cyclic_check(const hx_repetition *cyclic, const hx_groups_params *params,
                    const hx_place *place);

/* Adds to the reflections all their products with the rotations. HX_EINPUT: more than
 * HX_GROUPS_MOST_REPEATED. */
int hx_cyclic_turn(const hx_repetition *cyclic, const hx_place *place, double length,
                   hx_isometry *image, int *n_image);

/* The directions that define a chamber, as in hx_groups_work. */
void hx_cyclic_direct(const hx_repetition *cyclic, const hx_groups_params *params,
                      const hx_place *place, const hx_isometry *image, int n_image,
                      double toward[3], double across[3]);

#endif
