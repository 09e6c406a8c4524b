#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "groups_work.h"

static int is_wanted(const hx_groups_work *w, int32_t e, hx_groups_which which)
{
    if (w->is_done[e]) return 0;
    if (which == HX_GROUPS_OF_CHAMBER) return w->by[e] == 0;
    if (which == HX_GROUPS_REPRESENTATIVES) return w->rep[e] == e;
    return w->by[e] != 0 && w->rep[e] >= 0;
}

void hx_groups_points_free(hx_groups_points *p)
{
    hx_point_grid_free(&p->grid);
    free(p->elem);
    free(p->xyz);
    memset(p, 0, sizeof *p);
}

int hx_groups_points_create(hx_groups_points *p, const hx_groups_work *w, hx_groups_which which)
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
    hx_groups_points_free(p);
    return rc;
}

/* Search for the point nearest to the folded centroid x of an element. */
typedef struct nearest {
    const hx_groups_work *w;
    const hx_groups_points *p;
    const double *x;
    int64_t elem; /* the element of x */
    int64_t point;
    double distance;
    int is_equal; /* 1: another point is equally near and indistinguishable */
} nearest;

/* Maps the element of a point back by the image that folded x, and returns the offset of its centre
 * from the element of x: small if the element of x covers that image. */
static double offset_back(const nearest *best, int64_t point, double *slack)
{
    const hx_groups_work *const w = best->w;
    double y[3], z[3], own[3], there[3];
    hx_place_centroid(&w->place, best->elem, z);
    hx_groups_to_frame(w, z, own);
    hx_place_centroid(&w->place, best->p->elem[point], y);
    hx_isometry_undo(&w->image[w->by[best->elem]], y, z);
    hx_groups_to_frame(w, z, there);
    return hx_groups_column_offset(w, best->elem, own, there, slack);
}

/* Negative: d points along the rotation of a cyclic repetition at x, or along a step of a pattern.
 * Copies have an order, so that a point between two equal elements, as on a regular mesh with half
 * an element too many per copy, has one image. */
static int compare_along(const hx_groups_work *w, const double x[3], const double d[3])
{
    const double margin = 4.0 * w->place.margin;
    double from_axis[3] = {0.0}, ahead[3], way[3] = {0.0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            from_axis[i] += w->axis[k][i] * x[k];
            way[i] += w->axis[k][i] * d[k];
        }
    for (int i = 0; i < 3; i++) from_axis[i] -= w->axis_point[i];
    hx_cross3(w->axis_along, from_axis, ahead);
    for (int i = -1; i < w->pattern.n; i++) {
        const double *const v = i < 0 ? ahead : w->pattern.step[i];
        const double along = hx_dot3(v, way);
        if (fabs(along) > margin * hx_norm3(v)) return along > 0.0 ? -1 : 1;
    }
    return 0;
}

/* Negative: nearer. Equally near points are compared by, in this order: how well their element
 * covers x; how well the element of x covers theirs; the distances, volumes and skewness of
 * hx_place_rank. All of these are invariant under motions, units and numbering. Then repetitions
 * take the one ahead. 0: as far as they
 * show, the two are images of each other under a symmetry that maps x to itself. */
static int compare_points(const nearest *best, int64_t point, double distance)
{
    const hx_groups_work *const w = best->w;
    const int32_t e = best->p->elem[point], other = best->p->elem[best->point];
    const double *const xyz = best->p->xyz;
    double slack, that_slack;
    if (fabs(distance - best->distance) > 4.0 * w->place.margin)
        return distance < best->distance ? -1 : 1;
    const double offset = hx_groups_column_offset(w, e, xyz + 3 * point, best->x, &slack);
    const double that =
        hx_groups_column_offset(w, other, xyz + 3 * best->point, best->x, &that_slack);
    if (fabs(offset - that) > slack + that_slack) return offset < that ? -1 : 1;
    const double back = offset_back(best, point, &slack);
    const double that_back = offset_back(best, best->point, &slack);
    if (fabs(back - that_back) > 2.0 * slack) return back < that_back ? -1 : 1;
    const int rank = hx_place_rank(&w->place, e, other);
    if (rank != 0 || !w->is_repeated) return rank;
    const double *const a = xyz + 3 * point, *const b = xyz + 3 * best->point;
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return compare_along(w, best->x, d);
}

static void look_at_point(void *context, int64_t point)
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

int64_t hx_groups_nearest(const hx_groups_work *w, const hx_groups_points *p, int64_t elem)
{
    const double *const x = w->folded + 3 * elem;
    nearest best = {.w = w, .p = p, .x = x, .elem = elem};
    best.point = hx_point_grid_nearest(&p->grid, x, 2.0 * w->reach + w->place.margin);
    if (best.point < 0) return -1;
    const double *const y = p->xyz + 3 * best.point;
    const double d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    best.distance = hx_norm3(d);
    if (best.distance > w->place.margin) /* otherwise other points would be at the same position */
        hx_point_grid_visit(&p->grid, x, best.distance + 8.0 * w->place.margin, look_at_point,
                            &best);
    return best.is_equal ? -1 : best.point;
}
