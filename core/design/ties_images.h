/* The images that symmetry planes generate; not installed. */
#ifndef HX_TIES_IMAGES_H
#define HX_TIES_IMAGES_H

#include "ties.h"

/* x -> r x + t */
typedef struct hx_isometry {
    double r[3][3], t[3];
} hx_isometry;

static inline void hx_isometry_apply(const hx_isometry *g, const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = g->r[i][0] * x[0] + g->r[i][1] * x[1] + g->r[i][2] * x[2] + g->t[i];
}

static inline void hx_isometry_undo(const hx_isometry *g, const double y[3], double x[3])
{
    const double d[3] = {y[0] - g->t[0], y[1] - g->t[1], y[2] - g->t[2]};
    for (int i = 0; i < 3; i++) x[i] = g->r[0][i] * d[0] + g->r[1][i] * d[1] + g->r[2][i] * d[2];
}

/* The points with normal . x = level; the normal has length 1. */
typedef struct hx_mirror {
    double normal[3], level;
} hx_mirror;

/* The group that the reflections generate, of points as seen from the origin, image[0] the
 * identity; toward: a direction off all its mirrors that turns with the planes' normals, so that of
 * a point's images one lies furthest along it. length: of the part, for tolerances. HX_EINPUT as
 * hx_ties_create. */
int hx_images_create(const hx_ties_params *params, const double origin[3], double length,
                     hx_isometry image[HX_TIES_MOST_IMAGES], int *n_image, double toward[3]);

/* The reflections among the images; returns how many. */
int hx_images_mirrors(const hx_isometry *image, int n_image, hx_mirror mirror[HX_TIES_MOST_IMAGES]);

#endif
