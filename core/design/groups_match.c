#include <stdlib.h>

#include "../base/memory.h"
#include "groups_work.h"

/* An image further away than this is not covered by the element: half-widths of the element; 2 is
 * the next element of a regular mesh. An offset that is within rounding of the limit counts as
 * covered. */
static const double REACH = 1.5;

int hx_groups_match_images(hx_groups_work *w)
{
    hx_groups_points p;
    HX_TRY(hx_groups_points_create(&p, w, HX_GROUPS_REPRESENTATIVES));
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t e = 0; e < w->mesh->n_elem; e++) {
        double slack;
        if (w->by[e] == 0 || w->is_done[e]) continue;
        const double *const x = w->folded + 3 * e;
        const int64_t k = hx_groups_nearest(w, &p, e);
        if (k < 0) continue;
        const double offset = hx_groups_column_offset(w, p.elem[k], p.xyz + 3 * k, x, &slack);
        if (offset > REACH + slack) continue;
        w->offset[e] = offset;
        w->rep[e] = p.elem[k];
    }
    hx_groups_points_free(&p);
    return HX_OK;
}

/* On a mesh that is not symmetric, a representative without an image joins the group of the image
 * at the position of one of its own images. */
static void match_lone(hx_groups_work *w, const hx_groups_points *p, int32_t e, int32_t *joins,
                       double *offset)
{
    const int64_t k = hx_groups_nearest(w, p, e);
    hx_group_shape shape;
    double own[3], there[3], middle[3], y[3], z[3];
    *joins = -1;
    if (k < 0) return;
    const int32_t s = p->elem[k];
    hx_place_centroid(&w->place, e, y);
    hx_groups_to_frame(w, y, own);
    hx_isometry_undo(&w->image[w->by[s]], y, z);
    hx_groups_to_frame(w, z, there);
    if (hx_groups_is_own(w, e, own, there)) return;
    hx_place_centroid(&w->place, s, y);
    hx_groups_to_frame(w, y, middle);
    hx_groups_shape_of(w, s, &shape);
    const double found = hx_groups_offset(w, &shape, middle, there);
    if (found > REACH + shape.slack) return;
    *offset = found;
    *joins = w->rep[s];
}

int hx_groups_match_representatives(hx_groups_work *w)
{
    int rc;
    hx_groups_points p = {0}, lone = {0};
    int32_t *joins = NULL;
    const int64_t n = w->mesh->n_elem;
    for (int64_t e = 0; e < n; e++)
        if (w->by[e] != 0 && w->rep[e] >= 0) w->has_other[w->rep[e]] = 1;
    HX_TRY_FAIL(hx_groups_points_create(&p, w, HX_GROUPS_OF_IMAGES));
    HX_TRY_FAIL(hx_groups_points_create(&lone, w, HX_GROUPS_REPRESENTATIVES));
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
    hx_groups_points_free(&p);
    hx_groups_points_free(&lone);
    free(joins);
    return rc;
}
