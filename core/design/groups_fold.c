#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "groups_work.h"

/* An element whose image is nearer than this is cut by the plane: half-widths of the element. An
 * offset that is within rounding of the limit counts as an image elsewhere. */
static const double WALL = 1.0;

double hx_groups_column_offset(const hx_groups_work *w, int64_t e, const double centre[3],
                               const double to[3], double *slack)
{
    double least = INFINITY;
    *slack = 0.0;
    for (; e >= 0; e = w->above[e]) {
        hx_group_shape shape;
        hx_groups_shape_of(w, e, &shape);
        least = fmin(least, hx_groups_offset(w, &shape, centre, to));
        *slack = fmax(*slack, shape.slack);
    }
    return least;
}

int hx_groups_is_own(const hx_groups_work *w, int64_t e, const double centre[3], const double to[3])
{
    double slack;
    const double offset = hx_groups_column_offset(w, e, centre, to, &slack);
    return offset < WALL - slack;
}

int hx_groups_is_outside(const hx_groups_work *w, int64_t e)
{
    double x[3];
    if (w->pattern.n == 0) return 0;
    hx_place_centroid(&w->place, e, x);
    return hx_pattern_copy(&w->pattern, x) < 0;
}

int hx_groups_has_image(const hx_groups_work *w, int64_t e)
{
    const hx_pattern *const pattern = &w->pattern;
    hx_group_shape shape;
    double x[3], y[3], own[3], there[3];
    hx_groups_shape_of(w, e, &shape);
    hx_place_centroid(&w->place, e, x);
    hx_groups_to_frame(w, x, own);
    for (int i = 0; i < pattern->n; i++) {
        for (int k = 0; k < 3; k++) y[k] = x[k] + pattern->step[i][k];
        hx_groups_to_frame(w, y, there);
        if (hx_groups_offset(w, &shape, own, there) >= WALL - shape.slack) return 1;
    }
    if (pattern->n > 0) { /* copies no longer than the element */
        const int copy = hx_pattern_copy(pattern, x);
        if (copy < 0) return 0;
        hx_pattern_move(pattern, copy, 0, x, y);
        memcpy(x, y, sizeof x);
        hx_groups_to_frame(w, x, own);
    }
    for (int g = 1; g < w->n_turn; g++) {
        hx_isometry_apply(&w->turn[g], x, y);
        hx_groups_to_frame(w, y, there);
        if (hx_groups_offset(w, &shape, own, there) >= WALL - shape.slack) return 1;
    }
    return 0;
}

/* Orthonormal axes, the last one along v. */
static void make_axes(const double v[3], double axis[3][3])
{
    const double length = sqrt(hx_dot3(v, v));
    int least = 0;
    for (int i = 0; i < 3; i++) {
        axis[2][i] = v[i] / length;
        if (fabs(v[i]) < fabs(v[least])) least = i;
    }
    for (int i = 0; i < 3; i++) axis[0][i] = (i == least) - axis[2][least] * axis[2][i];
    const double norm = sqrt(hx_dot3(axis[0], axis[0]));
    for (int i = 0; i < 3; i++) axis[0][i] /= norm;
    for (int i = 0; i < 3; i++)
        axis[1][i] = axis[2][(i + 1) % 3] * axis[0][(i + 2) % 3] -
                     axis[2][(i + 2) % 3] * axis[0][(i + 1) % 3];
}

static int take_extrusion(hx_groups_work *w, const hx_groups_params *params)
{
    static const double unit[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const double *const v = params->extrusion, length = sqrt(hx_dot3(v, v));
    memcpy(w->axis, unit, sizeof unit);
    w->is_extruded = params->is_extruded;
    if (!w->is_extruded) return HX_OK;
    if (!(length > 0.0 && isfinite(length)))
        return HX_RAISE(HX_EINPUT, "%s: [%g, %g, %g] has no direction", params->extrusion_origin,
                        v[0], v[1], v[2]);
    make_axes(v, w->axis);
    for (size_t p = 0; p < params->n_plane; p++) {
        const double *const n = params->plane[p].normal;
        const double cosine = fabs(hx_dot3(n, w->axis[2])) / sqrt(hx_dot3(n, n));
        if (cosine > 1e-6 && cosine < 1.0 - 1e-6)
            return HX_RAISE(
                HX_EINPUT,
                "%s: the plane is oblique to the extrusion; its normal must be parallel "
                "or perpendicular to it",
                params->plane[p].origin);
    }
    return HX_OK;
}

/* 1 if the chamber has `other` rather than its image y. */
static int is_further(const hx_groups_work *w, const double other[3], const double y[3])
{
    const double far = hx_dot3(w->toward, other), at = hx_dot3(w->toward, y);
    const double margin = 4.0 * w->place.margin;
    if (!(far <= at + margin)) return 1;
    return far >= at - margin && hx_dot3(w->across, other) > hx_dot3(w->across, y) + margin;
}

/* y := the image of x that lies furthest along `toward`, or x itself if that ties, as on a mirror.
 * Returns the index of the image. */
static int into_chamber(const hx_groups_work *w, const double x[3], double y[3])
{
    const hx_pattern *const pattern = &w->pattern;
    const int copy = pattern->n > 0 ? hx_pattern_copy(pattern, x) : 0;
    double first[3], other[3];
    int by = 0;
    memcpy(first, x, sizeof first);
    if (pattern->n > 0) hx_pattern_move(pattern, copy, 0, x, first);
    memcpy(y, first, 3 * sizeof *y);
    for (int g = 1; g < w->n_turn; g++) {
        hx_isometry_apply(&w->turn[g], first, other);
        if (!is_further(w, other, y)) continue;
        memcpy(y, other, 3 * sizeof *y);
        by = g;
    }
    if (pattern->n == 0) return by;
    memcpy(first, y, sizeof first);
    hx_pattern_move(pattern, 0, pattern->base, first, y);
    return hx_pattern_rank(pattern, copy) * w->n_turn + by;
}

static void fold(hx_groups_work *w, int64_t e)
{
    double x[3], best[3], own[3];
    hx_place_centroid(&w->place, e, x);
    hx_groups_to_frame(w, x, own);
    if (hx_groups_is_outside(w, e)) {
        memcpy(w->folded + 3 * e, own, sizeof own);
        w->by[e] = 0;
        return;
    }
    w->by[e] = (uint16_t)into_chamber(w, x, best);
    hx_groups_to_frame(w, best, w->folded + 3 * e);
    if (w->by[e] == 0 || !hx_groups_is_own(w, e, own, w->folded + 3 * e)) return;
    memcpy(w->folded + 3 * e, own, sizeof own);
    w->by[e] = 0;
}

/* Quantities that distinguish the chambers of a mesh that is not symmetric: sums over the elements
 * in the chamber of the distance to the nearest mirror, of its square, and of the distance weighted
 * by volume. An element on a mirror adds nothing to either side, so rounding cannot decide. */
enum { N_SUM = 3 };
typedef struct chamber {
    double sum[N_SUM];
} chamber;

/* The mirrors, if there are only mirrors. */
typedef struct walls {
    int n_mirror;
    hx_mirror mirror[HX_GROUPS_MOST_IMAGES];
} walls;

/* Without repetitions the distance to the nearest mirror. With them a measure of the distance to
 * the nearest wall of the chamber: how much further along `toward` y lies than its other images. */
static double wall_distance(const hx_groups_work *w, const walls *at, const double x[3],
                            const double y[3])
{
    double least = INFINITY, first[3], other[3];
    if (!w->is_repeated) {
        for (int m = 0; m < at->n_mirror; m++)
            least = fmin(least, fabs(hx_dot3(at->mirror[m].normal, x) - at->mirror[m].level));
        return least;
    }
    hx_pattern_move(&w->pattern, w->pattern.base, 0, y, first);
    for (int g = 1; g < w->n_turn; g++) {
        hx_isometry_apply(&w->turn[g], first, other);
        least = fmin(least, fabs(hx_dot3(w->toward, first) - hx_dot3(w->toward, other)));
    }
    return fmin(least, hx_pattern_clearance(&w->pattern, x));
}

static void sum_chambers(const hx_groups_work *w, chamber all[HX_GROUPS_MOST_REPEATED])
{
    walls at = {0};
    if (!w->is_repeated) at.n_mirror = hx_images_mirrors(w->turn, w->n_turn, at.mirror);
#pragma omp parallel
    {
        chamber part[HX_GROUPS_MOST_REPEATED] = {{{0.0}}};
#pragma omp for schedule(static)
        for (int64_t e = 0; e < w->mesh->n_elem; e++) {
            double x[3], y[3];
            if (w->is_done[e] || hx_groups_is_outside(w, e)) continue;
            hx_place_centroid(&w->place, e, x);
            const int by = into_chamber(w, x, y);
            const double least = wall_distance(w, &at, x, y);
            double *const sum = part[by].sum;
            sum[0] += least;
            sum[1] += least * least;
            sum[2] += least * w->place.volume[e];
        }
#pragma omp critical
        {
            for (int g = 0; g < w->n_image; g++)
                for (int i = 0; i < N_SUM; i++) all[g].sum[i] += part[g].sum[i];
        }
    }
}

/* Largest change of each sum by rounding. */
static void find_tolerances(const hx_groups_work *w, const chamber *all, double tolerance[N_SUM])
{
    double sum[N_SUM] = {0.0};
    for (int g = 0; g < w->n_image; g++)
        for (int i = 0; i < N_SUM; i++) sum[i] += all[g].sum[i];
    const double by_margin[N_SUM] = {(double)w->mesh->n_elem, 2.0 * sum[0], w->mesh->total_volume};
    for (int i = 0; i < N_SUM; i++)
        tolerance[i] = 1e-9 * sum[i] + 8.0 * w->place.margin * by_margin[i];
}

/* image[] of a pattern from its base and turn[]. */
static void make_images(hx_groups_work *w)
{
    static const double zero[3] = {0.0};
    const hx_pattern *const pattern = &w->pattern;
    for (int rank = 0; rank < pattern->n_copy; rank++) {
        double shift[3], y[3], back[3];
        hx_pattern_move(pattern, hx_pattern_ranked(pattern, rank), 0, zero, shift);
        hx_pattern_move(pattern, 0, pattern->base, zero, back);
        for (int g = 0; g < w->n_turn; g++) {
            hx_isometry *const image = &w->image[rank * w->n_turn + g];
            *image = w->turn[g];
            hx_isometry_apply(&w->turn[g], shift, y);
            for (int i = 0; i < 3; i++) image->t[i] = y[i] + back[i];
        }
    }
}

/* The chamber that contains most of the remaining part is chosen, so that as many elements as
 * possible have an image in it; among equal chambers the one to which the planes' normals point. */
static void choose_chamber(hx_groups_work *w)
{
    chamber all[HX_GROUPS_MOST_REPEATED] = {{{0.0}}};
    int best = 0, is_out[HX_GROUPS_MOST_REPEATED] = {0};
    double toward[3] = {0.0}, across[3] = {0.0}, tolerance[N_SUM];
    if (w->n_image < 2) return;
    sum_chambers(w, all);
    find_tolerances(w, all, tolerance);
    for (int i = 0; i < N_SUM; i++) {
        double most = 0.0;
        for (int g = 0; g < w->n_image; g++)
            if (!is_out[g]) most = fmax(most, all[g].sum[i]);
        for (int g = 0; g < w->n_image; g++) is_out[g] |= all[g].sum[i] < most - tolerance[i];
    }
    while (best + 1 < w->n_image && is_out[best]) best++;
    const hx_isometry *const turn = &w->turn[best % w->n_turn];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            toward[i] += turn->r[k][i] * w->toward[k];
            across[i] += turn->r[k][i] * w->across[k];
        }
    memcpy(w->toward, toward, sizeof toward);
    memcpy(w->across, across, sizeof across);
    if (w->pattern.n == 0) return;
    w->pattern.base = hx_pattern_ranked(&w->pattern, best / w->n_turn);
    make_images(w);
}

static double largest_radius(const hx_mesh *mesh)
{
    double most = 0.0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        for (int a = 0; a < 8; a++) {
            const double *const c = mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + a];
            const double d[3] = {c[0] - x[0], c[1] - x[1], c[2] - x[2]};
            most = fmax(most, hx_dot3(d, d));
        }
    }
    return sqrt(most);
}

/* HX_EINPUT for a plane with the whole part on one side. */
static int check_plane(const hx_place *place, const hx_symmetry_plane *plane)
{
    const hx_mesh *const mesh = place->mesh;
    const double margin = place->margin * hx_norm3(plane->normal);
    int above = 0, below = 0;
#pragma omp parallel for schedule(static) reduction(| : above, below)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        for (int i = 0; i < 3; i++) x[i] -= plane->point[i];
        const double side = hx_dot3(x, plane->normal);
        above |= side > margin;
        below |= side < -margin;
    }
    if (above && below) return HX_OK;
    return HX_RAISE(
        HX_EINPUT,
        "%s: the whole part lies on one side of the plane; its bounding box is %g to %g, %g to "
        "%g, %g to %g",
        plane->origin, mesh->box_min[0], mesh->box_max[0], mesh->box_min[1], mesh->box_max[1],
        mesh->box_min[2], mesh->box_max[2]);
}

static double diagonal_of(const hx_mesh *mesh)
{
    double square = 0.0;
    for (int i = 0; i < 3; i++) square += pow(mesh->box_max[i] - mesh->box_min[i], 2.0);
    return sqrt(square);
}

/* Reflections, rotations and their products. */
static int find_turns(hx_groups_work *w, const hx_groups_params *params)
{
    const hx_repetition *const cyclic = hx_cyclic_of(params);
    const double *const origin = w->place.origin, length = diagonal_of(w->mesh);
    const size_t most = cyclic ? HX_GROUPS_MOST_REPEATED : HX_GROUPS_MOST_IMAGES;
    HX_TRY(hx_alloc(&w->turn, most, sizeof *w->turn, "symmetry"));
    HX_TRY(hx_images_create(params, origin, length, w->turn, &w->n_turn, w->toward));
    if (!cyclic) return HX_OK;
    for (int i = 0; i < 3; i++) {
        w->axis_point[i] = cyclic->point[i] - origin[i];
        w->axis_along[i] = cyclic->direction[i];
    }
    HX_TRY(hx_cyclic_check(cyclic, params, &w->place));
    HX_TRY(hx_cyclic_turn(cyclic, &w->place, length, w->turn, &w->n_turn));
    hx_cyclic_direct(cyclic, params, &w->place, w->turn, w->n_turn, w->toward, w->across);
    return HX_OK;
}

/* All images: each copy of a pattern has those of find_turns. */
static int find_pattern(hx_groups_work *w, const hx_groups_params *params)
{
    hx_symmetry_plane *plane = NULL;
    hx_groups_params moved = *params;
    int rc = HX_OK;
    HX_TRY(hx_pattern_create(&w->pattern, params, &w->place));
    if (w->pattern.n > 0 && params->n_plane > 0) {
        HX_TRY(hx_alloc_raw(&plane, params->n_plane, sizeof *plane, "symmetry"));
        memcpy(plane, params->plane, params->n_plane * sizeof *plane);
        for (size_t p = 0; p < params->n_plane && rc == HX_OK; p++)
            rc = hx_pattern_center(&w->pattern, &w->place, &plane[p]);
        moved.plane = plane;
    }
    if (rc == HX_OK) rc = find_turns(w, &moved);
    free(plane);
    HX_TRY(rc);
    if ((int64_t)w->n_turn * w->pattern.n_copy > HX_GROUPS_MOST_REPEATED)
        return HX_RAISE(
            HX_EINPUT, "%s: %d copies of %d images each; an element has at most %d images",
            params->repetition[0].origin, w->pattern.n_copy, w->n_turn, HX_GROUPS_MOST_REPEATED);
    w->n_image = w->n_turn * w->pattern.n_copy;
    HX_TRY(hx_alloc_raw(&w->image, (size_t)w->n_image, sizeof *w->image, "symmetry"));
    memcpy(w->image, w->turn, (size_t)w->n_turn * sizeof *w->image);
    if (w->pattern.n > 0) make_images(w);
    return HX_OK;
}

int hx_groups_find_images(hx_groups_work *w, const hx_problem *problem,
                          const hx_groups_params *params)
{
    const hx_mesh *mesh = w->mesh;
    hx_place_create(&w->place, problem, params);
    w->is_repeated = params->n_repetition > 0;
    HX_TRY(find_pattern(w, params));
    for (size_t p = 0; p < params->n_plane; p++) HX_TRY(check_plane(&w->place, &params->plane[p]));
    HX_TRY(take_extrusion(w, params));
    w->reach = largest_radius(mesh);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        w->order[mesh->elem_orig ? mesh->elem_orig[e] : e] = (int32_t)e;
        w->rep[e] = w->above[e] = -1;
    }
    return HX_OK;
}

void hx_groups_fold_outside(hx_groups_work *w)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < w->mesh->n_elem; e++)
        if (!w->is_done[e] && hx_groups_is_outside(w, e)) fold(w, e);
}

void hx_groups_fold(hx_groups_work *w)
{
    choose_chamber(w);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < w->mesh->n_elem; e++)
        if (!w->is_done[e]) fold(w, e);
}
