#include "ties.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../mesh/point_grid.h"
#include "ties_images.h"
#include "ties_place.h"
#include "ties_shape.h"

/* Offsets in half-widths of an element: 2 is the next element of a regular mesh. An offset that
 * rounding may have moved over a limit is on the side of REACH and WALL that has an image. */
static const double REACH = 1.5;     /* an image further off is not covered by the element */
static const double WALL = 1.0;      /* an element nearer to its own image is cut by the plane */
static const double EXACT = 2e-3;    /* what is not called shifted */
static const double FOOTPRINT = 0.9; /* of a column: within its first element, seen along it */

typedef struct work {
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
    int32_t run;        /* number of that run; rep is -2 - run for what two columns share */
} work;

/* Into the coordinates that points are compared in. */
static void to_frame(const work *w, const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) y[i] = hx_dot3(w->axis[i], x);
    if (w->is_extruded) y[2] = 0.0;
}

static void shape_of(const work *w, int64_t e, hx_tie_shape *shape)
{
    hx_tie_shape_find(shape, w->mesh, e, 4.0 * w->place.margin);
}

/* A difference of such coordinates, as an offset from the centre of an element. */
static double offset_in(const work *w, const hx_tie_shape *shape, const double from[3],
                        const double to[3])
{
    double d[3] = {0.0};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) d[i] += (to[k] - from[k]) * w->axis[k][i];
    return hx_tie_shape_offset(shape, d);
}

/* 1 if `to` is so near to the element's centre that it is the element's own image. */
static int is_own(const work *w, int64_t e, const double centre[3], const double to[3])
{
    hx_tie_shape shape;
    shape_of(w, e, &shape);
    return offset_in(w, &shape, centre, to) < WALL - shape.slack;
}

/* --- folding --- */

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

static int take_extrusion(work *w, const hx_ties_params *params)
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
            return HX_RAISE(HX_EINPUT,
                            "%s: the plane is oblique to the extrusion; its normal must be along "
                            "it or at right angles to it",
                            params->plane[p].origin);
    }
    return HX_OK;
}

/* Into y the image of x that lies furthest along `toward`, x itself if that is as good as on a
 * mirror; returns which image. */
static int into_chamber(const work *w, const double x[3], double y[3])
{
    double other[3];
    int by = 0;
    memcpy(y, x, 3 * sizeof *y);
    for (int g = 1; g < w->n_image; g++) {
        hx_isometry_apply(&w->image[g], x, other);
        if (hx_dot3(w->toward, other) <= hx_dot3(w->toward, y) + 4.0 * w->place.margin) continue;
        memcpy(y, other, 3 * sizeof *y);
        by = g;
    }
    return by;
}

static void fold(work *w, int64_t e)
{
    double x[3], best[3], own[3];
    hx_place_centroid(&w->place, e, x);
    w->by[e] = (uint8_t)into_chamber(w, x, best);
    to_frame(w, best, w->folded + 3 * e);
    to_frame(w, x, own);
    if (w->by[e] == 0 || !is_own(w, e, own, w->folded + 3 * e)) return;
    memcpy(w->folded + 3 * e, own, sizeof own);
    w->by[e] = 0;
}

/* What tells the chambers of a mesh apart that is not symmetric: sums over the elements in it of
 * the distance to the nearest mirror, of its square, and by volume. An element on a mirror adds
 * nothing to either side, so that rounding decides nothing. */
enum { N_SUM = 3 };
typedef struct chamber {
    double sum[N_SUM];
} chamber;

static void sum_chambers(const work *w, chamber all[HX_TIES_MOST_IMAGES])
{
    hx_mirror mirror[HX_TIES_MOST_IMAGES];
    const int n_mirror = hx_images_mirrors(w->image, w->n_image, mirror);
#pragma omp parallel
    {
        chamber part[HX_TIES_MOST_IMAGES] = {{{0.0}}};
#pragma omp for schedule(static)
        for (int64_t e = 0; e < w->mesh->n_elem; e++) {
            double x[3], y[3], least = INFINITY;
            if (w->is_done[e]) continue;
            hx_place_centroid(&w->place, e, x);
            for (int m = 0; m < n_mirror; m++)
                least = fmin(least, fabs(hx_dot3(mirror[m].normal, x) - mirror[m].level));
            double *const sum = part[into_chamber(w, x, y)].sum;
            sum[0] += least;
            sum[1] += least * least;
            sum[2] += least * w->place.volume[e];
        }
#pragma omp critical
        for (int g = 0; g < w->n_image; g++)
            for (int i = 0; i < N_SUM; i++) all[g].sum[i] += part[g].sum[i];
    }
}

/* By how much rounding may change each sum. */
static void find_tolerances(const work *w, const chamber *all, double tolerance[N_SUM])
{
    double sum[N_SUM] = {0.0};
    for (int g = 0; g < w->n_image; g++)
        for (int i = 0; i < N_SUM; i++) sum[i] += all[g].sum[i];
    const double by_margin[N_SUM] = {(double)w->mesh->n_elem, 2.0 * sum[0], w->mesh->total_volume};
    for (int i = 0; i < N_SUM; i++)
        tolerance[i] = 1e-9 * sum[i] + 8.0 * w->place.margin * by_margin[i];
}

/* The chamber that most of what is left of the part lies in leads, so that as many elements as
 * possible find an image in it; of equal chambers the one to which the planes' normals point. */
static void choose_chamber(work *w)
{
    chamber all[HX_TIES_MOST_IMAGES] = {{{0.0}}};
    int best = 0, is_out[HX_TIES_MOST_IMAGES] = {0};
    double toward[3] = {0.0}, tolerance[N_SUM];
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
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) toward[i] += w->image[best].r[k][i] * w->toward[k];
    memcpy(w->toward, toward, sizeof toward);
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
    return HX_RAISE(HX_EINPUT,
                    "%s: the whole part lies on one side of the plane; its box is %g to %g, %g to "
                    "%g, %g to %g",
                    plane->origin, mesh->box_min[0], mesh->box_max[0], mesh->box_min[1],
                    mesh->box_max[1], mesh->box_min[2], mesh->box_max[2]);
}

static double diagonal_of(const hx_mesh *mesh)
{
    double square = 0.0;
    for (int i = 0; i < 3; i++) square += pow(mesh->box_max[i] - mesh->box_min[i], 2.0);
    return sqrt(square);
}

static int find_images(work *w, const hx_problem *problem, const hx_ties_params *params)
{
    const hx_mesh *mesh = w->mesh;
    hx_place_create(&w->place, problem, params);
    HX_TRY(hx_images_create(params, w->place.origin, diagonal_of(mesh), w->image, &w->n_image,
                            w->toward));
    for (size_t p = 0; p < params->n_plane; p++) HX_TRY(check_plane(&w->place, &params->plane[p]));
    HX_TRY(take_extrusion(w, params));
    w->reach = largest_radius(mesh);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        w->order[mesh->elem_orig ? mesh->elem_orig[e] : e] = (int32_t)e;
        w->rep[e] = -1;
    }
    return HX_OK;
}

static void fold_all(work *w)
{
    choose_chamber(w);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < w->mesh->n_elem; e++)
        if (!w->is_done[e]) fold(w, e);
}

/* --- who belongs to whom --- */

/* The folded points of some elements, in the order of their original numbers. */
typedef struct points {
    int64_t n;
    int32_t *elem; /* [n] (owned) */
    double *xyz;   /* [n][3] (owned) */
    hx_point_grid grid;
} points;

typedef enum { OF_CHAMBER, REPRESENTATIVES, OF_IMAGES } which_points;

static int is_wanted(const work *w, int32_t e, which_points which)
{
    if (w->is_done[e]) return 0;
    if (which == OF_CHAMBER) return w->by[e] == 0;
    if (which == REPRESENTATIVES) return w->rep[e] == e;
    return w->by[e] != 0 && w->rep[e] >= 0;
}

static void points_free(points *p)
{
    hx_point_grid_free(&p->grid);
    free(p->elem);
    free(p->xyz);
    memset(p, 0, sizeof *p);
}

static int points_create(points *p, const work *w, which_points which)
{
    int rc;
    memset(p, 0, sizeof *p);
    for (int64_t e = 0; e < w->mesh->n_elem; e++) p->n += is_wanted(w, (int32_t)e, which);
    HX_TRY_FAIL(hx_alloc_raw(&p->elem, (size_t)p->n, sizeof *p->elem, "symmetry"));
    HX_TRY_FAIL(hx_alloc_raw(&p->xyz, 3 * (size_t)p->n, sizeof *p->xyz, "symmetry"));
    int64_t k = 0;
    for (int64_t i = 0; i < w->mesh->n_elem; i++) {
        const int32_t e = w->order[i];
        if (!is_wanted(w, e, which)) continue;
        p->elem[k] = e;
        memcpy(p->xyz + 3 * k++, w->folded + 3 * (int64_t)e, 3 * sizeof *p->xyz);
    }
    HX_TRY_FAIL(hx_point_grid_create(&p->grid, p->n, p->xyz));
    return HX_OK;
fail:
    points_free(p);
    return rc;
}

/* The point nearest to the folded centroid x of an element. */
typedef struct nearest {
    const work *w;
    const points *p;
    const double *x;
    int64_t elem; /* the one that x is of */
    int64_t point;
    double distance;
    int is_equal; /* another point is as near, and nothing tells the two apart */
} nearest;

/* The offset from the element of x of the place where a point's element lies when the image that
 * folded x is undone: small if the element of x covers the image of the other. */
static double offset_back(const nearest *best, int64_t point, double *slack)
{
    const work *const w = best->w;
    double y[3], z[3], own[3], there[3];
    hx_tie_shape shape;
    shape_of(w, best->elem, &shape);
    hx_place_centroid(&w->place, best->elem, z);
    to_frame(w, z, own);
    hx_place_centroid(&w->place, best->p->elem[point], y);
    hx_isometry_undo(&w->image[w->by[best->elem]], y, z);
    to_frame(w, z, there);
    *slack = shape.slack;
    return offset_in(w, &shape, own, there);
}

/* Below 0: nearer. Points that are equally near are told apart by, in this order: how well their
 * element covers x; how well the element of x covers theirs; the distances, volumes and skewness of
 * hx_place_rank. No motion, unit or numbering changes any of these. 0: the two are images of each
 * other under a symmetry that leaves x in its place, as far as these quantities show. */
static int compare_points(const nearest *best, int64_t point, double distance)
{
    const work *const w = best->w;
    const int32_t e = best->p->elem[point], other = best->p->elem[best->point];
    const double *const xyz = best->p->xyz;
    hx_tie_shape a, b;
    double slack;
    if (fabs(distance - best->distance) > 4.0 * w->place.margin)
        return distance < best->distance ? -1 : 1;
    shape_of(w, e, &a);
    shape_of(w, other, &b);
    const double offset = offset_in(w, &a, xyz + 3 * point, best->x);
    const double that = offset_in(w, &b, xyz + 3 * best->point, best->x);
    if (fabs(offset - that) > a.slack + b.slack) return offset < that ? -1 : 1;
    const double back = offset_back(best, point, &slack);
    const double that_back = offset_back(best, best->point, &slack);
    if (fabs(back - that_back) > 2.0 * slack) return back < that_back ? -1 : 1;
    return hx_place_rank(&w->place, e, other);
}

static void look_at(void *context, int64_t point)
{
    nearest *const best = context;
    const double *const y = best->p->xyz + 3 * point;
    const double d[3] = {y[0] - best->x[0], y[1] - best->x[1], y[2] - best->x[2]};
    const double distance = hx_norm3(d);
    if (point == best->point || distance > best->distance + 8.0 * best->w->place.margin) return;
    const int order = compare_points(best, point, distance);
    if (order == 0) best->is_equal = 1;
    if (order >= 0) return;
    best->point = point;
    best->distance = distance;
    best->is_equal = 0;
}

/* -1: none that an element may reach, or several among which only the coordinates would choose:
 * whichever of these x joined, groups would not be the same for the part turned or mirrored, and to
 * join all of them would chain their groups. */
static int64_t find_nearest(const work *w, const points *p, int64_t elem)
{
    const double *const x = w->folded + 3 * elem;
    nearest best = {.w = w, .p = p, .x = x, .elem = elem};
    best.point = hx_point_grid_nearest(&p->grid, x, 2.0 * w->reach + w->place.margin);
    if (best.point < 0) return -1;
    const double *const y = p->xyz + 3 * best.point;
    const double d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    best.distance = hx_norm3(d);
    if (best.distance > w->place.margin) /* else others there would be at the same place */
        hx_point_grid_visit(&p->grid, x, best.distance + 8.0 * w->place.margin, look_at, &best);
    return best.is_equal ? -1 : best.point;
}

typedef struct column {
    work *w;
    const points *p;
    int32_t first;
    const hx_tie_shape *shape; /* of the first */
} column;

/* Takes a point into the column of `first` if it lies within its footprint. If columns of one run
 * contain it, the one that it lies deepest in takes it; if it lies as deep in two, neither does. */
static void join_column(void *context, int64_t point)
{
    const column *const c = context;
    work *const w = c->w;
    const int32_t e = c->p->elem[point], r = w->rep[e], shared = -2 - w->run;
    const double *const middle = w->folded + 3 * (int64_t)c->first;
    if (e == c->first || (r >= 0 && !w->is_new[r])) return;
    const double offset = offset_in(w, c->shape, middle, w->folded + 3 * (int64_t)e);
    if (offset >= FOOTPRINT + c->shape->slack) return;
    if (r == e) { /* the first of another column: one with this only if exactly above */
        if (offset > 2.0 * c->shape->slack) return;
        w->is_new[e] = 0;
        w->rep[e] = c->first;
        return;
    }
    const double deeper = w->offset[e] - offset;
    const int is_taken = r >= 0 || r == shared;
    if (is_taken && deeper < -2.0 * c->shape->slack) return;
    w->rep[e] = is_taken && deeper <= 2.0 * c->shape->slack ? shared : c->first;
    w->offset[e] = offset;
}

static void begin_column(work *w, const points *p, int32_t e)
{
    hx_tie_shape shape;
    column c = {w, p, e, &shape};
    shape_of(w, e, &shape);
    const double reach =
        (FOOTPRINT + shape.slack) * hx_tie_shape_reach(&shape, w->mesh, e) + w->place.margin;
    hx_point_grid_visit(&p->grid, w->folded + 3 * (int64_t)e, reach, join_column, &c);
}

/* Columns of elements between which only the coordinates would choose begin at once, and none takes
 * the first element of another unless they lie exactly above one another: the groups are the same
 * in every order of elem[n]. */
static void begin_columns(work *w, const points *p, const int32_t *elem, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (w->rep[elem[i]] >= 0) continue;
        w->rep[elem[i]] = elem[i];
        w->offset[elem[i]] = 0.0;
        w->is_new[elem[i]] = 1;
    }
    for (int64_t i = 0; i < n; i++)
        if (w->is_new[elem[i]]) begin_column(w, p, elem[i]);
    for (int64_t i = 0; i < n; i++) w->is_new[elem[i]] = 0;
    w->run++;
}

/* The one of elem[n] that lies where e does, seen along the extrusion, among the last few; n: none.
 */
static int64_t find_same(const work *w, const int32_t *elem, int64_t begin, int64_t n, int32_t e)
{
    enum { LAST = 8 };
    const double *const x = w->folded + 3 * (int64_t)e;
    for (int64_t i = n - begin > LAST ? n - LAST : begin; i < n; i++) {
        const double *const y = w->folded + 3 * (int64_t)elem[i];
        const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
        if (hx_norm3(d) <= w->place.margin) return i;
    }
    return n;
}

/* Puts into elem the first by place of elements exactly above one another, and all other elements:
 * the rest join them, so that only few need an order. Returns how many. */
static int64_t list_firsts(const work *w, const points *p, int32_t *elem)
{
    const hx_point_grid *const grid = &p->grid;
    const int64_t n_cell = grid->n_cell[0] * grid->n_cell[1] * grid->n_cell[2];
    int64_t n = 0;
    for (int64_t c = 0; c < n_cell; c++) {
        const int64_t begin = n;
        for (int64_t m = grid->start[c]; m < grid->start[c + 1]; m++) {
            const int32_t e = p->elem[grid->member[m]];
            const int64_t i = find_same(w, elem, begin, n, e);
            if (i == n)
                elem[n++] = e;
            else if (hx_place_compare(&w->place, e, elem[i]) < 0)
                elem[i] = e;
        }
    }
    return n;
}

/* In the chamber: columns of elements, from the middle of the cross-section outwards. */
static int make_columns(work *w)
{
    points p;
    int32_t *elem = NULL;
    int rc;
    HX_TRY(points_create(&p, w, OF_CHAMBER));
    HX_TRY_FAIL(hx_alloc_raw(&elem, (size_t)p.n, sizeof *elem, "symmetry"));
    const int64_t n = list_firsts(w, &p, elem);
    HX_TRY_FAIL(hx_place_sort(&w->place, n, elem));
    for (int64_t k = 0, end; k < n; k = end) {
        for (end = k + 1; end < n; end++)
            if (hx_place_rank(&w->place, elem[k], elem[end]) != 0) break;
        begin_columns(w, &p, elem + k, end - k);
    }
fail:
    free(elem);
    points_free(&p);
    return rc;
}

/* Each element outside the chamber to the representative nearest to its folded centroid. */
static int match_images(work *w)
{
    points p;
    HX_TRY(points_create(&p, w, REPRESENTATIVES));
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t e = 0; e < w->mesh->n_elem; e++) {
        hx_tie_shape shape;
        if (w->by[e] == 0 || w->is_done[e]) continue;
        const double *const x = w->folded + 3 * e;
        const int64_t k = find_nearest(w, &p, e);
        if (k < 0) continue;
        shape_of(w, p.elem[k], &shape);
        const double offset = offset_in(w, &shape, p.xyz + 3 * k, x);
        if (offset > REACH + shape.slack) continue;
        w->offset[e] = offset;
        w->rep[e] = p.elem[k];
    }
    points_free(&p);
    return HX_OK;
}

/* A representative to which no image came joins, on a mesh that is not symmetric, the group of the
 * image that lies where one of its own would. */
static void match_lone(work *w, const points *p, int32_t e, int32_t *joins, double *offset)
{
    const int64_t k = find_nearest(w, p, e);
    hx_tie_shape shape;
    double own[3], there[3], middle[3], y[3], z[3];
    *joins = -1;
    if (k < 0) return;
    const int32_t s = p->elem[k];
    hx_place_centroid(&w->place, e, y);
    to_frame(w, y, own);
    hx_isometry_undo(&w->image[w->by[s]], y, z);
    to_frame(w, z, there);
    if (is_own(w, e, own, there)) return;
    hx_place_centroid(&w->place, s, y);
    to_frame(w, y, middle);
    shape_of(w, s, &shape);
    const double found = offset_in(w, &shape, middle, there);
    if (found > REACH + shape.slack) return;
    *offset = found;
    *joins = w->rep[s];
}

static int match_representatives(work *w)
{
    int rc;
    points p = {0}, lone = {0};
    int32_t *joins = NULL;
    const int64_t n = w->mesh->n_elem;
    for (int64_t e = 0; e < n; e++)
        if (w->by[e] != 0 && w->rep[e] >= 0) w->has_other[w->rep[e]] = 1;
    HX_TRY_FAIL(points_create(&p, w, OF_IMAGES));
    HX_TRY_FAIL(points_create(&lone, w, REPRESENTATIVES));
    HX_TRY_FAIL(hx_alloc(&joins, (size_t)lone.n, sizeof *joins, "symmetry"));
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t k = 0; k < lone.n; k++) {
        joins[k] = -1;
        if (!w->has_other[lone.elem[k]])
            match_lone(w, &p, lone.elem[k], &joins[k], &w->offset[lone.elem[k]]);
    }
    for (int64_t k = 0; k < lone.n; k++) {
        if (joins[k] < 0) continue;
        w->rep[lone.elem[k]] = joins[k];
        w->has_other[lone.elem[k]] = 1;
    }
    for (int64_t e = 0; e < n; e++) /* the columns of those that joined */
        if (w->rep[e] >= 0) w->rep[e] = w->rep[w->rep[e]];
fail:
    points_free(&p);
    points_free(&lone);
    free(joins);
    return rc;
}

/* --- the groups --- */

/* 1 if some image of the element is another place than its own. */
static int has_image(const work *w, int64_t e)
{
    hx_tie_shape shape;
    double x[3], y[3], own[3], there[3];
    shape_of(w, e, &shape);
    hx_place_centroid(&w->place, e, x);
    to_frame(w, x, own);
    for (int g = 1; g < w->n_image; g++) {
        hx_isometry_apply(&w->image[g], x, y);
        to_frame(w, y, there);
        if (offset_in(w, &shape, own, there) >= WALL - shape.slack) return 1;
    }
    return 0;
}

static int is_free(const hx_problem *problem, int64_t e)
{
    return !problem->passive.density || isnan(problem->passive.density[e]);
}

static void count_members(hx_ties *ties, const work *w, const hx_problem *problem)
{
    int64_t alone = 0, shifted = 0;
    double shift = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : alone, shifted) reduction(max : shift)
    for (int64_t e = 0; e < w->mesh->n_elem; e++) {
        if (!is_free(problem, e)) continue;
        const int32_t r = w->rep[e];
        alone += r < 0 || (w->n_image > 1 && !w->has_other[r] && has_image(w, e));
        if (r < 0) continue;
        shifted += w->offset[e] > EXACT;
        shift = fmax(shift, 0.5 * w->offset[e]);
    }
    ties->n_alone = alone;
    ties->n_shifted = shifted;
    ties->shift = shift;
}

/* Lists of the groups of two or more free elements, in the order of their first members. */
static int list_groups(hx_ties *ties, const work *w, const hx_problem *problem)
{
    int rc;
    const int64_t n = w->mesh->n_elem;
    int32_t *size = NULL, *place = NULL; /* [n] of the group of a representative */
    HX_TRY_FAIL(hx_alloc(&size, (size_t)n, sizeof *size, "symmetry"));
    HX_TRY_FAIL(hx_alloc_raw(&place, (size_t)n, sizeof *place, "symmetry"));
    for (int64_t e = 0; e < n; e++)
        if (w->rep[e] >= 0 && is_free(problem, e)) size[w->rep[e]]++;
    for (int64_t e = 0; e < n; e++) {
        place[e] = -1;
        if (size[e] < 2) continue;
        ties->n_group++;
        ties->n_member += size[e];
    }
    HX_TRY_FAIL(hx_alloc(&ties->start, (size_t)ties->n_group + 1, sizeof *ties->start, "ties"));
    HX_TRY_FAIL(hx_alloc_raw(&ties->member, (size_t)ties->n_member, sizeof *ties->member, "ties"));
    int64_t group = 0;
    for (int64_t e = 0; e < n; e++) {
        const int32_t r = w->rep[e];
        if (r < 0 || !is_free(problem, e) || size[r] < 2) continue;
        if (place[r] < 0) {
            place[r] = ties->start[group];
            ties->start[group + 1] = ties->start[group] + size[r];
            group++;
        }
        ties->member[place[r]++] = (int32_t)e;
    }
fail:
    free(size);
    free(place);
    return rc;
}

static int alloc_work(work *w, size_t n)
{
    HX_TRY(hx_alloc_raw(&w->order, n, sizeof *w->order, "symmetry"));
    HX_TRY(hx_alloc_raw(&w->folded, 3 * n, sizeof *w->folded, "symmetry"));
    HX_TRY(hx_alloc(&w->by, n, sizeof *w->by, "symmetry"));
    HX_TRY(hx_alloc_raw(&w->rep, n, sizeof *w->rep, "symmetry"));
    HX_TRY(hx_alloc(&w->has_other, n, sizeof *w->has_other, "symmetry"));
    HX_TRY(hx_alloc(&w->is_done, n, sizeof *w->is_done, "symmetry"));
    HX_TRY(hx_alloc(&w->is_new, n, sizeof *w->is_new, "symmetry"));
    return hx_alloc(&w->offset, n, sizeof *w->offset, "symmetry");
}

static void free_work(work *w)
{
    free(w->order);
    free(w->folded);
    free(w->by);
    free(w->rep);
    free(w->has_other);
    free(w->is_done);
    free(w->is_new);
    free(w->offset);
}

/* What belongs to elements of one chamber. *n_left: elements that have no image in it. */
static int match_chamber(work *w, int64_t *n_left)
{
    fold_all(w);
    if (w->is_extruded) {
        HX_TRY(make_columns(w));
    } else {
        for (int64_t e = 0; e < w->mesh->n_elem; e++)
            if (w->by[e] == 0 && !w->is_done[e]) w->rep[e] = (int32_t)e;
    }
    HX_TRY(match_images(w));
    HX_TRY(match_representatives(w));
    *n_left = 0;
    for (int64_t e = 0; e < w->mesh->n_elem; e++) {
        w->is_done[e] = w->rep[e] >= 0;
        *n_left += w->rep[e] < 0;
    }
    return HX_OK;
}

static int make_groups(hx_ties *ties, work *w, const hx_problem *problem,
                       const hx_ties_params *params)
{
    int64_t n_left = w->mesh->n_elem, n_before;
    HX_TRY(alloc_work(w, (size_t)n_left));
    HX_TRY(find_images(w, problem, params));
    ties->n_image = w->n_image;
    do { /* images of each other may lie in chambers other than the first that leads */
        n_before = n_left;
        HX_TRY(match_chamber(w, &n_left));
    } while (n_left > 0 && n_left < n_before);
    count_members(ties, w, problem);
    return list_groups(ties, w, problem);
}

int hx_ties_create(hx_ties *ties, const hx_problem *problem, const hx_ties_params *params)
{
    work w;
    memset(ties, 0, sizeof *ties);
    memset(&w, 0, sizeof w);
    ties->n_image = 1;
    if (params->n_plane == 0 && !params->is_extruded) return HX_OK;
    w.mesh = problem->mesh;
    int rc = make_groups(ties, &w, problem, params);
    free_work(&w);
    if (rc == HX_OK && ties->n_group == 0)
        rc = HX_RAISE(HX_EINPUT, "%s: no two free elements are images of each other",
                      params->n_plane ? params->plane[0].origin : params->extrusion_origin);
    if (rc < 0) hx_ties_free(ties);
    return rc;
}

void hx_ties_average(const hx_ties *ties, const double *volume, double *density)
{
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < ties->n_group; g++) {
        double mass = 0.0, sum = 0.0;
        for (int64_t m = ties->start[g]; m < ties->start[g + 1]; m++) {
            mass += volume[ties->member[m]] * density[ties->member[m]];
            sum += volume[ties->member[m]];
        }
        for (int64_t m = ties->start[g]; m < ties->start[g + 1]; m++)
            density[ties->member[m]] = fmin(1.0, mass / sum);
    }
}

size_t hx_ties_bytes(const hx_ties *ties)
{
    if (ties->n_group == 0) return 0;
    return ((size_t)ties->n_group + 1 + (size_t)ties->n_member) * sizeof(int32_t);
}

void hx_ties_free(hx_ties *ties)
{
    free(ties->start);
    free(ties->member);
    memset(ties, 0, sizeof *ties);
}

int hx_device_ties_create(hx_device_ties *ties, hx_device *dev, const hx_ties *host)
{
    memset(ties, 0, sizeof *ties);
    if (host->n_group == 0) return HX_OK;
    int rc = hx_device_put(dev, &ties->d_start, host->start,
                           ((size_t)host->n_group + 1) * sizeof *host->start);
    if (rc == HX_OK)
        rc = hx_device_put(dev, &ties->d_member, host->member,
                           (size_t)host->n_member * sizeof *host->member);
    ties->n_group = host->n_group;
    if (rc < 0) hx_device_ties_free(ties, dev);
    return rc;
}

void hx_device_ties_free(hx_device_ties *ties, hx_device *dev)
{
    if (!dev) return;
    dev->ops->release(dev, ties->d_start);
    dev->ops->release(dev, ties->d_member);
    memset(ties, 0, sizeof *ties);
}
