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

/* The group that the reflections generate, image[0] the identity; toward: a direction off all its
 * mirrors, so that of a point's images one lies furthest along it. length: of the part, for
 * tolerances. HX_EINPUT as hx_ties_create. */
int hx_images_create(const hx_ties_params *params, double length,
                     hx_isometry image[HX_TIES_MOST_IMAGES], int *n_image, double toward[3]);

#endif
