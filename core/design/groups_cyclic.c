#include <math.h>
#include <string.h>

#include "../base/vec3.h"
#include "groups_repeat.h"

/* Cosines and lengths relative to the part that differ from 0 or 1 by less are 0 or 1. */
static const double SAME = 1e-6;

const hx_repetition *hx_cyclic_of(const hx_groups_params *params)
{
    for (size_t i = 0; i < params->n_repetition; i++)
        if (params->repetition[i].kind == HX_REPETITION_CYCLIC) return &params->repetition[i];
    return NULL;
}

static double cosine_of(const double a[3], const double b[3])
{
    return fabs(hx_dot3(a, b)) / (hx_norm3(a) * hx_norm3(b));
}

static void unit_of(const double v[3], double unit[3])
{
    const double length = hx_norm3(v);
    for (int i = 0; i < 3; i++) unit[i] = v[i] / length;
}

static int check_axis_plane(const hx_repetition *cyclic, const hx_symmetry_plane *plane,
                            double length)
{
    const double cosine = cosine_of(plane->normal, cyclic->direction);
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = plane->point[i] - cyclic->point[i];
    const double away = fabs(hx_dot3(d, plane->normal)) / hx_norm3(plane->normal);
    if (cosine > 1.0 - SAME || (cosine < SAME && away < SAME * length)) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: the plane maps copies about the axis onto none; it must contain the axis "
                    "or be perpendicular to it",
                    plane->origin);
}

int hx_cyclic_check(const hx_repetition *cyclic, const hx_groups_params *params,
                    const hx_place *place)
{
    const hx_mesh *const mesh = place->mesh;
    const double *const a = cyclic->direction, length = hx_norm3(a);
    double box[3];
    for (int i = 0; i < 3; i++) box[i] = mesh->box_max[i] - mesh->box_min[i];
    if (!(length > 0.0 && isfinite(length)))
        return HX_RAISE(HX_EINPUT, "%s: axis [%g, %g, %g] has no direction", cyclic->origin, a[0],
                        a[1], a[2]);
    for (size_t i = 0; i < params->n_repetition; i++) {
        const hx_repetition *const r = &params->repetition[i];
        if (r == cyclic) continue;
        if (r->kind == HX_REPETITION_CYCLIC)
            return HX_RAISE(HX_EINPUT, "%s: a second cyclic repetition; give one, about one axis",
                            r->origin);
        if (!(cosine_of(r->direction, a) > 1.0 - SAME))
            return HX_RAISE(HX_EINPUT,
                            "%s: the step of the pattern must be parallel to the axis of the "
                            "cyclic repetition",
                            r->origin);
    }
    for (size_t p = 0; p < params->n_plane; p++)
        HX_TRY(check_axis_plane(cyclic, &params->plane[p], hx_norm3(box)));
    if (params->is_extruded && !(cosine_of(params->extrusion, a) > 1.0 - SAME))
        return HX_RAISE(HX_EINPUT, "%s: the axis must be parallel to the extrusion",
                        cyclic->origin);
    return HX_OK;
}

/* Rodrigues' formula. */
static void rotation_about(const hx_repetition *cyclic, const hx_place *place, int turn,
                           hx_isometry *g)
{
    const double angle = 2.0 * acos(-1.0) * turn / cyclic->copies, s = sin(angle), c = cos(angle);
    double a[3];
    unit_of(cyclic->direction, a);
    const double cross[3][3] = {{0.0, -a[2], a[1]}, {a[2], 0.0, -a[0]}, {-a[1], a[0], 0.0}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            g->r[i][k] = (i == k ? c : 0.0) + s * cross[i][k] + (1.0 - c) * a[i] * a[k];
    for (int i = 0; i < 3; i++) {
        g->t[i] = cyclic->point[i] - place->origin[i];
        for (int k = 0; k < 3; k++) g->t[i] -= g->r[i][k] * (cyclic->point[k] - place->origin[k]);
    }
}

int hx_cyclic_turn(const hx_repetition *cyclic, const hx_place *place, double length,
                   hx_isometry *image, int *n_image)
{
    const int n_mirrored = *n_image;
    for (int turn = 1; turn < cyclic->copies; turn++) {
        hx_isometry rotation, product;
        rotation_about(cyclic, place, turn, &rotation);
        for (int g = 0; g < n_mirrored; g++) {
            hx_isometry_compose(&rotation, &image[g], &product);
            if (!hx_isometry_add(image, n_image, HX_GROUPS_MOST_REPEATED, &product, length))
                return HX_RAISE(HX_EINPUT,
                                "%s: with %d copies and the symmetry planes an element has more "
                                "than %d images",
                                cyclic->origin, cyclic->copies, HX_GROUPS_MOST_REPEATED);
        }
    }
    return HX_OK;
}

/* A direction perpendicular to the axis that turns with the part: that of the first moment of order
 * copies, 2 copies, ... of the centroids' angles, weighted by their distances from the axis, that
 * does not vanish. If all vanish, the copies divide into equal parts and any direction gives the
 * same groups. */
static void find_moment_direction(const hx_repetition *cyclic, const hx_place *place,
                                  const double a[3], double forward[3])
{
    enum { N_MOMENT = 8 };
    double real[N_MOMENT] = {0.0}, imaginary[N_MOMENT] = {0.0}, all = 0.0;
    double e1[3], e2[3], angle = 0.0, some[3] = {0.0}, centre[3];
    int least = 0;
    for (int i = 0; i < 3; i++) {
        if (fabs(a[i]) < fabs(a[least])) least = i;
        centre[i] = cyclic->point[i] - place->origin[i];
    }
    some[least] = 1.0;
    hx_cross3(a, some, e2);
    unit_of(e2, e2);
    hx_cross3(e2, a, e1);
#pragma omp parallel for schedule(static) reduction(+ : real[:N_MOMENT], imaginary[:N_MOMENT], all)
    for (int64_t e = 0; e < place->mesh->n_elem; e++) {
        double x[3];
        hx_place_centroid(place, e, x);
        for (int i = 0; i < 3; i++) x[i] -= centre[i];
        const double along = hx_dot3(e1, x), across = hx_dot3(e2, x), r = hypot(along, across);
        const double at = cyclic->copies * atan2(across, along);
        for (int m = 0; m < N_MOMENT; m++) {
            real[m] += r * cos((m + 1) * at);
            imaginary[m] += r * sin((m + 1) * at);
        }
        all += r;
    }
    for (int m = 0; m < N_MOMENT; m++) {
        if (!(hypot(real[m], imaginary[m]) > 1e-3 * all)) continue;
        angle = atan2(imaginary[m], real[m]) / ((m + 1) * cyclic->copies);
        break;
    }
    for (int i = 0; i < 3; i++) forward[i] = cos(angle) * e1[i] + sin(angle) * e2[i];
}

/* Halfway between a plane that contains the axis and the next one of its images. */
static void find_mirror_direction(const hx_symmetry_plane *plane, const hx_isometry *image,
                                  int n_image, const double a[3], double forward[3])
{
    double n[3], in_plane[3], turned[3];
    int n_rotation = 0;
    for (int g = 0; g < n_image; g++) {
        const double(*const r)[3] = image[g].r;
        for (int i = 0; i < 3; i++) turned[i] = hx_dot3(r[i], a);
        n_rotation += hx_dot3(turned, a) > 0.0 && hx_triple3(r[0], r[1], r[2]) > 0.0;
    }
    const double angle = 0.5 * acos(-1.0) / n_rotation;
    unit_of(plane->normal, n);
    hx_cross3(a, n, in_plane);
    for (int i = 0; i < 3; i++) forward[i] = cos(angle) * in_plane[i] + sin(angle) * n[i];
}

void hx_cyclic_direct(const hx_repetition *cyclic, const hx_groups_params *params,
                      const hx_place *place, const hx_isometry *image, int n_image,
                      double toward[3], double across[3])
{
    const hx_symmetry_plane *containing = NULL, *perpendicular = NULL;
    double a[3], forward[3], n[3] = {0.0};
    unit_of(cyclic->direction, a);
    for (size_t p = 0; p < params->n_plane; p++) {
        if (cosine_of(params->plane[p].normal, a) < 0.5)
            containing = &params->plane[p];
        else
            perpendicular = &params->plane[p];
    }
    memset(across, 0, 3 * sizeof *across);
    if (containing) {
        find_mirror_direction(containing, image, n_image, a, forward);
    } else {
        find_moment_direction(cyclic, place, a, forward);
        hx_cross3(a, forward, across);
    }
    if (perpendicular) unit_of(perpendicular->normal, n);
    for (int i = 0; i < 3; i++) toward[i] = forward[i] + 0.5 * n[i];
    unit_of(toward, toward);
}
