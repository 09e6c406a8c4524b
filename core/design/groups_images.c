#include "groups_images.h"

#include <math.h>
#include <string.h>

#include "../base/vec3.h"

/* Rotations are equal if no entry differs by more than this. */
static const double SAME = 1e-6;

void hx_isometry_compose(const hx_isometry *a, const hx_isometry *b, hx_isometry *ab)
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

static int reflection(const hx_symmetry_plane *plane, const double origin[3], hx_isometry *g)
{
    const double *const n = plane->normal, length = hx_norm3(n);
    double along = 0.0;
    if (!(length > 0.0 && isfinite(length)))
        return HX_RAISE(HX_EINPUT, "%s: normal [%g, %g, %g] has no direction", plane->origin, n[0],
                        n[1], n[2]);
    for (int i = 0; i < 3; i++) along += (plane->point[i] - origin[i]) * n[i] / length;
    for (int i = 0; i < 3; i++) {
        g->t[i] = 2.0 * along * n[i] / length;
        for (int k = 0; k < 3; k++)
            g->r[i][k] = (i == k ? 1.0 : 0.0) - 2.0 * (n[i] / length) * (n[k] / length);
    }
    return HX_OK;
}

int hx_isometry_add(hx_isometry *image, int *n_image, int most, const hx_isometry *g, double length)
{
    for (int i = 0; i < *n_image; i++)
        if (are_same(&image[i], g, length)) return 1;
    if (*n_image == most) return 0;
    image[(*n_image)++] = *g;
    return 1;
}

static int add_image(hx_isometry *image, int *n_image, const hx_isometry *g, double length,
                     const char *origin)
{
    if (!hx_isometry_add(image, n_image, HX_GROUPS_MOST_IMAGES, g, length))
        return HX_RAISE(HX_EINPUT,
                        "%s: together with the earlier planes an element has more than %d images; "
                        "symmetry planes must meet at 90, 60, 45 or 30 degrees and not be parallel",
                        origin, HX_GROUPS_MOST_IMAGES);
    return HX_OK;
}

/* I - r = 2 n n' for a reflection. */
int hx_images_mirrors(const hx_isometry *image, int n_image,
                      hx_mirror mirror[HX_GROUPS_MOST_IMAGES])
{
    int n = 0;
    for (int g = 0; g < n_image; g++) {
        const double(*const r)[3] = image[g].r;
        double off = fabs(r[0][0] + r[1][1] + r[2][2] - 1.0), *const normal = mirror[n].normal;
        int most = 0;
        for (int i = 0; i < 3; i++) {
            if (r[i][i] < r[most][most]) most = i;
            for (int k = 0; k < 3; k++) /* a rotation is no reflection even if its I - r is large */
                off += fabs(r[i][k] - r[k][i]);
        }
        if (!(off < 100.0 * SAME)) continue;
        for (int i = 0; i < 3; i++) normal[i] = 0.5 * ((i == most ? 1.0 : 0.0) - r[i][most]);
        const double length = hx_norm3(normal);
        for (int i = 0; i < 3; i++) normal[i] /= length;
        mirror[n++].level = 0.5 * hx_dot3(normal, image[g].t);
    }
    return n;
}

/* Smallest |toward . n| over the normals n of all mirrors. */
static double clearance(const hx_mirror *mirror, int n_mirror, const double toward[3])
{
    double least = INFINITY;
    for (int m = 0; m < n_mirror; m++) least = fmin(least, fabs(hx_dot3(mirror[m].normal, toward)));
    return least;
}

/* Combines the first normal with multiples of the others, so that the direction turns with the
 * planes; among several multiples those that keep it furthest from all mirrors. */
static void choose_direction(const hx_groups_params *params, const hx_isometry *image, int n_image,
                             double toward[3])
{
    static const double fraction[] = {0.41, 0.13, 0.23, 0.31, 0.53, 0.67, 0.79, 0.91};
    enum { N_FRACTION = sizeof fraction / sizeof fraction[0] };
    hx_mirror mirror[HX_GROUPS_MOST_IMAGES];
    const int n_mirror = hx_images_mirrors(image, n_image, mirror);
    double best = -1.0;
    for (int trial = 0; trial < N_FRACTION * N_FRACTION; trial++) {
        double v[3] = {0.0};
        for (size_t p = 0; p < params->n_plane; p++) {
            const double *const n = params->plane[p].normal, length = hx_norm3(n);
            const double part = p == 0 ? 1.0
                                : p % 2 == 1
                                    ? fraction[trial % N_FRACTION]
                                    : fraction[trial % N_FRACTION] * fraction[trial / N_FRACTION];
            for (int i = 0; i < 3; i++) v[i] += part * n[i] / length;
        }
        const double length = hx_norm3(v);
        if (!(length > SAME)) continue;
        for (int i = 0; i < 3; i++) v[i] /= length;
        const double found = clearance(mirror, n_mirror, v);
        if (!(found > best + SAME)) continue; /* by more than rounding */
        best = found;
        memcpy(toward, v, 3 * sizeof *v);
    }
}

int hx_images_create(const hx_groups_params *params, const double origin[3], double length,
                     hx_isometry *image, int *n_image, double toward[3])
{
    static const hx_isometry identity = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}},
                                         {0.0}};
    image[0] = identity;
    *n_image = 1;
    for (size_t p = 0; p < params->n_plane; p++) {
        hx_isometry mirror;
        HX_TRY(reflection(&params->plane[p], origin, &mirror));
        HX_TRY(add_image(image, n_image, &mirror, length, params->plane[p].origin));
        for (int a = 0; a < *n_image; a++) /* the list grows until it contains all products */
            for (int b = 0; b < *n_image; b++) {
                hx_isometry product;
                hx_isometry_compose(&image[a], &image[b], &product);
                HX_TRY(add_image(image, n_image, &product, length, params->plane[p].origin));
            }
    }
    choose_direction(params, image, *n_image, toward);
    return HX_OK;
}
