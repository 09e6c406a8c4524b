/* Finds sides of patches that coincide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/grow.h"
#include "../base/memory.h"
#include "spline_glue.h"
#include "spline_sides.h"

enum { SIDE_TEXT = 40 };

hx_spline_interface hx_spline_interface_of(hx_spline_side a, hx_spline_side b, int is_crosswise,
                                           const int flip[2])
{
    int from[2], to[2];
    hx_spline_interface interface = {.a = a, .b = b};
    hx_spline_tangents(a.side, from);
    hx_spline_tangents(b.side, to);
    for (int k = 0; k < 2; k++) {
        interface.along[from[k]] = to[is_crosswise ? 1 - k : k];
        interface.flip[from[k]] = flip[k];
    }
    interface.along[a.side / 2] = b.side / 2;
    interface.flip[a.side / 2] = a.side % 2 == b.side % 2;
    return interface;
}

int hx_spline_check_interface(const hx_spline *spline, const hx_spline_interface *interface)
{
    const hx_spline_side side[2] = {interface->a, interface->b};
    unsigned met = 0;
    char a[SIDE_TEXT], b[SIDE_TEXT];
    for (int k = 0; k < 2; k++) {
        if (side[k].patch < 0 || side[k].patch >= spline->n_patch)
            return HX_RAISE(HX_EINPUT,
                            "an interface refers to patch %d, but there are only patches 1 to %d",
                            side[k].patch + 1, spline->n_patch);
        if (side[k].side < 0 || side[k].side > 5)
            return HX_RAISE(HX_EINPUT,
                            "an interface refers to side %d of patch %d, but sides are 1 to 6",
                            side[k].side + 1, side[k].patch + 1);
    }
    hx_spline_side_name(spline, side[0], a, sizeof a);
    hx_spline_side_name(spline, side[1], b, sizeof b);
    if (side[0].patch == side[1].patch && side[0].side == side[1].side)
        return HX_RAISE(HX_EINPUT, "%s is glued to itself; an interface needs two sides", a);
    for (int d = 0; d < 3; d++)
        if (interface->along[d] >= 0 && interface->along[d] < 3) met |= 1u << interface->along[d];
    if (met != 7u || interface->along[side[0].side / 2] != side[1].side / 2)
        return HX_RAISE(
            HX_EINPUT,
            "interface of %s and %s: directions 1, 2, 3 run along %d, %d, %d; each must "
            "occur once, and the direction across the first side must run along the one "
            "across the second",
            a, b, interface->along[0] + 1, interface->along[1] + 1, interface->along[2] + 1);
    return 0;
}

double hx_spline_diagonal(const hx_spline *spline)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, sum = 0.0;
    double high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int k = 0; k < spline->n_patch; k++) {
        const int64_t n = hx_spline_patch_points(&spline->patch[k]);
        for (int64_t i = 0; i < 3 * n; i++) {
            low[i % 3] = fmin(low[i % 3], spline->patch[k].point[i]);
            high[i % 3] = fmax(high[i % 3], spline->patch[k].point[i]);
        }
    }
    for (int i = 0; i < 3; i++) sum += (high[i] - low[i]) * (high[i] - low[i]);
    return sqrt(sum);
}

/* --- coincident sides --- */

typedef struct place {
    hx_spline_side side;
    double corner[2][2][3], middle[3]; /* positions of the corners and of the side's midpoint */
    double key;
} place;

/* A side of an open patch interpolates its corner control points. */
static place place_of_side(const hx_spline *spline, hx_spline_side side)
{
    static const int plain[2] = {0, 0};
    const hx_spline_patch *const patch = &spline->patch[side.patch];
    int along[2];
    double t[3];
    place p = {.side = side};
    hx_spline_tangents(side.side, along);
    const int n[3] = {patch->axis[0].n, patch->axis[1].n, patch->axis[2].n};
    const hx_spline_grid grid = hx_spline_grid_of(n, side.side, along, plain);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const int64_t at = hx_spline_grid_at(&grid, i * (grid.n[0] - 1), j * (grid.n[1] - 1));
            memcpy(p.corner[i][j], patch->point + 3 * at, sizeof p.corner[i][j]);
            for (int c = 0; c < 3; c++) p.key += p.corner[i][j][c];
        }
    for (int d = 0; d < 3; d++) {
        const hx_knots *const axis = &patch->axis[d];
        const double end[2] = {axis->knot[0], axis->knot[axis->n + axis->degree]};
        t[d] = d == side.side / 2 ? end[side.side % 2] : 0.5 * (end[0] + end[1]);
    }
    hx_spline_map(patch, t, p.middle, NULL);
    return p;
}

static int is_near_corner(const double a[3], const double b[3], double reach)
{
    double square = 0.0;
    for (int i = 0; i < 3; i++) square += (a[i] - b[i]) * (a[i] - b[i]);
    return square <= reach * reach;
}

/* 1 if all corners (i, j) of a coincide with those of b in that orientation. */
static int fits(const place *a, const place *b, int is_crosswise, const int flip[2], double reach)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const int u = i ^ flip[0], v = j ^ flip[1];
            const double *const there = is_crosswise ? b->corner[v][u] : b->corner[u][v];
            if (!is_near_corner(a->corner[i][j], there, reach)) return 0;
        }
    return is_near_corner(a->middle, b->middle, reach);
}

static int by_key(const void *a, const void *b)
{
    const place *const p = a, *const q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    if (p->side.patch != q->side.patch) return p->side.patch - q->side.patch;
    return p->side.side - q->side.side;
}

static int match(hx_spline *spline, size_t *capacity, place *a, place *b, double reach)
{
    for (int way = 0; way < 8; way++) {
        const int flip[2] = {way & 1, way >> 1 & 1};
        if (!fits(a, b, way >> 2, flip, reach)) continue;
        const int is_later = a->side.patch > b->side.patch ||
                             (a->side.patch == b->side.patch && a->side.side > b->side.side);
        HX_TRY(hx_grow(&spline->interface, (size_t)spline->n_interface, capacity,
                       sizeof *spline->interface, "interfaces"));
        hx_spline_interface found = hx_spline_interface_of(a->side, b->side, way >> 2, flip);
        /* if the directions correspond crosswise, each direction of b takes the flip of the
         * direction of a that it meets */
        if (is_later) {
            const int back[2] = {flip[way >> 2], flip[1 - (way >> 2)]};
            found = hx_spline_interface_of(b->side, a->side, way >> 2, back);
        }
        spline->interface[spline->n_interface++] = found;
        a->side.patch = b->side.patch = -1; /* marked as taken */
        break;
    }
    return 0;
}

static int by_sides(const void *a, const void *b)
{
    const hx_spline_side p = ((const hx_spline_interface *)a)->a;
    const hx_spline_side q = ((const hx_spline_interface *)b)->a;
    return p.patch != q.patch ? p.patch - q.patch : p.side - q.side;
}

int hx_spline_find_interfaces(hx_spline *spline, int *n_found)
{
    const int n_side = 6 * spline->n_patch, n_known = spline->n_interface;
    const double reach = HX_SPLINE_SAME_POINT * hx_spline_diagonal(spline);
    size_t capacity = (size_t)n_known;
    place *list = NULL;
    uint8_t *is_taken = NULL;
    int rc = 0, n = 0;
    HX_TRY_FAIL(hx_alloc(&list, (size_t)n_side, sizeof *list, "sides of patches"));
    HX_TRY_FAIL(hx_alloc(&is_taken, (size_t)n_side, 1, "sides of patches"));
    for (int k = 0; k < n_known; k++) {
        const hx_spline_interface *const known = &spline->interface[k];
        HX_TRY_FAIL(hx_spline_check_interface(spline, known));
        is_taken[6 * known->a.patch + known->a.side] = 1;
        is_taken[6 * known->b.patch + known->b.side] = 1;
    }
    for (int k = 0; k < n_side; k++)
        if (!is_taken[k]) list[n++] = place_of_side(spline, (hx_spline_side){k / 6, k % 6});
    qsort(list, (size_t)n, sizeof *list, by_key);
    for (int i = 0; i < n; i++) /* comparing the sum of 12 coordinates first excludes most pairs */
        for (int j = i + 1; j < n && list[j].key - list[i].key <= 12.0 * reach; j++) {
            if (list[i].side.patch < 0) break;
            if (list[j].side.patch >= 0)
                HX_TRY_FAIL(match(spline, &capacity, &list[i], &list[j], reach));
        }
    if (spline->n_interface > n_known)
        qsort(spline->interface + n_known, (size_t)(spline->n_interface - n_known),
              sizeof *spline->interface, by_sides);
    if (n_found) *n_found = spline->n_interface - n_known;
fail:
    free(list);
    free(is_taken);
    return rc;
}
