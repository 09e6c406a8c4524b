#include "ties_images.h"

#include <math.h>
#include <string.h>

#include "../base/vec3.h"

/* Rotations differ by more than this in some entry, or are the same. */
static const double SAME = 1e-6;

static void compose(const hx_isometry *a, const hx_isometry *b, hx_isometry *ab)
{
    for (int i = 0; i < 3; i++) {
        ab->t[i] = a->t[i];
        for (int k = 0; k < 3; k++) {
            ab->t[i] += a->r[i][k] * b->t[k];
            ab->r[i][k] = 0.0;
            for (int j = 0; j < 3; j++) ab->r[i][k] += a->r[i][j] * b->r[j][k];
        }
    }
}

static int are_same(const hx_isometry *a, const hx_isometry *b, double length)
{
    for (int i = 0; i < 3; i++) {
        if (fabs(a->t[i] - b->t[i]) > SAME * length) return 0;
        for (int k = 0; k < 3; k++)
            if (fabs(a->r[i][k] - b->r[i][k]) > SAME) return 0;
    }
    return 1;
}

static int reflection(const hx_symmetry_plane *plane, hx_isometry *g)
{
    const double *const n = plane->normal, length = hx_norm3(n);
    double along = 0.0;
    if (!(length > 0.0 && isfinite(length)))
        return HX_RAISE(HX_EINPUT, "%s: normal [%g, %g, %g] has no direction", plane->origin, n[0],
                        n[1], n[2]);
    for (int i = 0; i < 3; i++) along += plane->point[i] * n[i] / length;
    for (int i = 0; i < 3; i++) {
        g->t[i] = 2.0 * along * n[i] / length;
        for (int k = 0; k < 3; k++)
            g->r[i][k] = (i == k ? 1.0 : 0.0) - 2.0 * (n[i] / length) * (n[k] / length);
    }
    return HX_OK;
}

static int add_image(hx_isometry *image, int *n_image, const hx_isometry *g, double length,
                     const char *origin)
{
    for (int i = 0; i < *n_image; i++)
        if (are_same(&image[i], g, length)) return HX_OK;
    if (*n_image == HX_TIES_MOST_IMAGES)
        return HX_RAISE(HX_EINPUT,
                        "%s: with the planes before it an element has more than %d images; planes "
                        "of symmetry meet at 90, 60, 45 or 30 degrees and are not parallel",
                        origin, HX_TIES_MOST_IMAGES);
    image[(*n_image)++] = *g;
    return HX_OK;
}

/* |toward . n| at the least, over the normals n of all mirrors: I - r = 2 n n' for those. */
static double clearance(const hx_isometry *image, int n_image, const double toward[3])
{
    double least = INFINITY;
    for (int g = 0; g < n_image; g++) {
        const double(*const r)[3] = image[g].r;
        double square = 0.0, is_mirror = fabs(r[0][0] + r[1][1] + r[2][2] - 1.0);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                square += toward[i] * ((i == k ? 1.0 : 0.0) - r[i][k]) * toward[k];
                is_mirror +=
                    fabs(r[i][k] - r[k][i]); /* a symmetric rotation by 90 degrees is none */
            }
        if (is_mirror < 100.0 * SAME) least = fmin(least, sqrt(0.5 * fmax(0.0, square)));
    }
    return least;
}

/* The best of directions spread over the sphere (a Fibonacci lattice). */
static void choose_direction(const hx_isometry *image, int n_image, double toward[3])
{
    enum { N_TRIAL = 400 };
    double best = -1.0;
    for (int i = 0; i < N_TRIAL; i++) {
        const double z = 1.0 - (2.0 * i + 1.0) / N_TRIAL, r = sqrt(1.0 - z * z);
        const double trial[3] = {r * cos(2.39996322972865332 * i), r * sin(2.39996322972865332 * i),
                                 z};
        const double found = clearance(image, n_image, trial);
        if (!(found > best)) continue;
        best = found;
        memcpy(toward, trial, sizeof trial);
    }
}

int hx_images_create(const hx_ties_params *params, double length,
                     hx_isometry image[HX_TIES_MOST_IMAGES], int *n_image, double toward[3])
{
    static const hx_isometry identity = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}},
                                         {0.0}};
    image[0] = identity;
    *n_image = 1;
    for (size_t p = 0; p < params->n_plane; p++) {
        hx_isometry mirror;
        HX_TRY(reflection(&params->plane[p], &mirror));
        HX_TRY(add_image(image, n_image, &mirror, length, params->plane[p].origin));
        for (int a = 0; a < *n_image; a++) /* grows: until all products are there */
            for (int b = 0; b < *n_image; b++) {
                hx_isometry product;
                compose(&image[a], &image[b], &product);
                HX_TRY(add_image(image, n_image, &product, length, params->plane[p].origin));
            }
    }
    choose_direction(image, *n_image, toward);
    return HX_OK;
}
