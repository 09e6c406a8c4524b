#include <math.h>
#include <string.h>

#include "../base/vec3.h"
#include "groups_repeat.h"

/* Vectors whose cosine differs from 0 or 1 by less are perpendicular or parallel. */
static const double SKEWED = 1e-6;

/* A plane may be off the end or the middle of a copy by this: steps. */
static const double OFF_CENTER = 1e-4;

static int add_step(hx_pattern *p, const hx_repetition *r, const hx_groups_params *params)
{
    const double *const t = r->direction, length = hx_norm3(t);
    if (!(length > 0.0 && isfinite(length)))
        return HX_RAISE(HX_EINPUT, "%s: step [%g, %g, %g] has no length", r->origin, t[0], t[1],
                        t[2]);
    if (p->n == 3)
        return HX_RAISE(HX_EINPUT, "%s: a fourth pattern; at most three steps are possible",
                        r->origin);
    if ((int64_t)p->n_copy * r->copies > HX_GROUPS_MOST_REPEATED)
        return HX_RAISE(HX_EINPUT,
                        "%s: together with the earlier patterns there are more than %d copies",
                        r->origin, HX_GROUPS_MOST_REPEATED);
    if (params->is_extruded) {
        const double cosine =
            fabs(hx_dot3(t, params->extrusion)) / (length * hx_norm3(params->extrusion));
        if (!(cosine <= SKEWED))
            return HX_RAISE(HX_EINPUT,
                            "%s: the step must be perpendicular to the extrusion, along which the "
                            "design does not change",
                            r->origin);
    }
    memcpy(p->step[p->n], t, 3 * sizeof *t);
    p->copies[p->n++] = r->copies;
    p->n_copy *= r->copies;
    return HX_OK;
}

/* Completes the steps to three independent vectors and inverts them. */
static int invert_steps(hx_pattern *p, const char *origin)
{
    double v[3][3];
    memcpy(v, p->step, sizeof v);
    if (p->n == 1) {
        int least = 0;
        double axis[3] = {0.0};
        for (int i = 1; i < 3; i++)
            if (fabs(v[0][i]) < fabs(v[0][least])) least = i;
        axis[least] = 1.0;
        hx_cross3(v[0], axis, v[1]);
    }
    if (p->n < 3) hx_cross3(v[0], v[1], v[2]);
    const double volume = hx_triple3(v[0], v[1], v[2]);
    if (!(fabs(volume) > SKEWED * hx_norm3(v[0]) * hx_norm3(v[1]) * hx_norm3(v[2])))
        return HX_RAISE(HX_EINPUT, "%s: the step lies in the line or plane of the earlier steps",
                        origin);
    for (int i = 0; i < p->n; i++) {
        hx_cross3(v[(i + 1) % 3], v[(i + 2) % 3], p->dual[i]);
        for (int k = 0; k < 3; k++) p->dual[i][k] /= volume;
    }
    return HX_OK;
}

/* The least and the largest coordinate of a corner along step i. */
static void find_extent(const hx_pattern *p, int i, const hx_place *place, double *least,
                        double *most)
{
    const hx_mesh *const mesh = place->mesh;
    double low = INFINITY, high = -INFINITY;
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high)
    for (int64_t c = 0; c < 8 * mesh->n_elem; c++) {
        const double *const at = mesh->xyz + 3 * (int64_t)mesh->conn[c];
        const double x[3] = {at[0] - place->origin[0], at[1] - place->origin[1],
                             at[2] - place->origin[2]};
        low = fmin(low, hx_dot3(p->dual[i], x));
        high = fmax(high, hx_dot3(p->dual[i], x));
    }
    *least = low;
    *most = high;
}

/* HX_EINPUT for a number of copies that the part does not have. */
static int check_copies(const hx_pattern *p, int i, const hx_place *place,
                        const hx_repetition *repetition, double most)
{
    uint8_t has_elem[HX_GROUPS_MOST_REPEATED] = {0};
    for (int64_t e = 0; e < place->mesh->n_elem; e++) {
        double x[3];
        hx_place_centroid(place, e, x);
        const double at = floor(hx_dot3(p->dual[i], x) - p->begin[i] + p->slack[i]);
        if (at >= 0.0 && at < p->copies[i]) has_elem[(int)at] = 1;
    }
    for (int k = 0; k < p->copies[i]; k++)
        if (!has_elem[k])
            return HX_RAISE(HX_EINPUT,
                            "%s: copy %d of %d has no element; from where the first copy begins "
                            "the part reaches %.4g steps along [%g, %g, %g]",
                            repetition->origin, k + 1, p->copies[i], most - p->begin[i],
                            p->step[i][0], p->step[i][1], p->step[i][2]);
    return HX_OK;
}

static int place_copies(hx_pattern *p, int i, const hx_place *place,
                        const hx_repetition *repetition)
{
    double least, most;
    find_extent(p, i, place, &least, &most);
    p->slack[i] = 4.0 * place->margin * hx_norm3(p->dual[i]);
    p->begin[i] = least;
    if (!isnan(repetition->point[0])) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = repetition->point[k] - place->origin[k];
        p->begin[i] = hx_dot3(p->dual[i], x);
    }
    return check_copies(p, i, place, repetition, most);
}

int hx_pattern_create(hx_pattern *pattern, const hx_groups_params *params, const hx_place *place)
{
    const hx_repetition *of[3] = {NULL};
    memset(pattern, 0, sizeof *pattern);
    pattern->n_copy = 1;
    for (size_t i = 0; i < params->n_repetition; i++) {
        const hx_repetition *const r = &params->repetition[i];
        if (r->kind != HX_REPETITION_PATTERN) continue;
        HX_TRY(add_step(pattern, r, params));
        of[pattern->n - 1] = r;
        HX_TRY(invert_steps(pattern, r->origin));
    }
    for (int i = 0; i < pattern->n; i++) HX_TRY(place_copies(pattern, i, place, of[i]));
    return HX_OK;
}

int hx_pattern_copy(const hx_pattern *pattern, const double x[3])
{
    int copy = 0;
    for (int i = pattern->n - 1; i >= 0; i--) {
        const double at =
            floor(hx_dot3(pattern->dual[i], x) - pattern->begin[i] + pattern->slack[i]);
        if (!(at >= 0.0 && at < pattern->copies[i])) return -1;
        copy = copy * pattern->copies[i] + (int)at;
    }
    return copy;
}

void hx_pattern_move(const hx_pattern *pattern, int from, int to, const double x[3], double y[3])
{
    memcpy(y, x, 3 * sizeof *y);
    for (int i = 0; i < pattern->n; i++) {
        const int n = pattern->copies[i], steps = to % n - from % n;
        for (int k = 0; k < 3; k++) y[k] += steps * pattern->step[i][k];
        from /= n;
        to /= n;
    }
}

int hx_pattern_rank(const hx_pattern *pattern, int copy)
{
    return copy == pattern->base ? 0 : copy < pattern->base ? copy + 1 : copy;
}

int hx_pattern_ranked(const hx_pattern *pattern, int rank)
{
    return rank == 0 ? pattern->base : rank <= pattern->base ? rank - 1 : rank;
}

double hx_pattern_clearance(const hx_pattern *pattern, const double x[3])
{
    double least = INFINITY;
    for (int i = 0; i < pattern->n; i++) {
        const double at = hx_dot3(pattern->dual[i], x) - pattern->begin[i],
                     off = fabs(at - nearbyint(at));
        least = fmin(least, off / hx_norm3(pattern->dual[i]));
    }
    return least;
}

int hx_pattern_center(const hx_pattern *pattern, const hx_place *place, hx_symmetry_plane *plane)
{
    for (int i = 0; i < pattern->n; i++) {
        const double *const t = pattern->step[i], *const n = plane->normal;
        const double cosine = fabs(hx_dot3(n, t)) / (hx_norm3(n) * hx_norm3(t));
        double x[3];
        if (!(cosine > SKEWED)) continue; /* also a normal of length 0, refused later */
        if (cosine < 1.0 - SKEWED)
            return HX_RAISE(HX_EINPUT,
                            "%s: the plane is oblique to the step of a pattern; its normal must be "
                            "parallel or perpendicular to it",
                            plane->origin);
        for (int k = 0; k < 3; k++) x[k] = plane->point[k] - place->origin[k];
        const double at = hx_dot3(pattern->dual[i], x) - pattern->begin[i];
        if (fabs(2.0 * at - nearbyint(2.0 * at)) > 2.0 * OFF_CENTER)
            return HX_RAISE(HX_EINPUT,
                            "%s: the plane lies %.4g steps from where the first copy of the "
                            "pattern begins; copies are mirrored onto copies only by planes at "
                            "their ends and in their middle: 0, 0.5, 1, ... steps",
                            plane->origin, at);
        for (int k = 0; k < 3; k++) plane->point[k] += (0.5 - at) * t[k];
    }
    return HX_OK;
}
