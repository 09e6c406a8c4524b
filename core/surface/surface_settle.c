#include "surface_settle.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"

/* A triangle below this quality must not get worse. */
static const double THINNEST = 0.05;

static int has_moved(const hx_surface *s, const double *place, int64_t v)
{
    const double *const x = s->xyz + 3 * v, *const y = place + 3 * v;
    return x[0] != y[0] || x[1] != y[1] || x[2] != y[2];
}

/* 1 if triangle t flips or gets thin. */
static int is_spoilt(const hx_surface *s, const double *place, int64_t t)
{
    const double *x[3], *y[3];
    double a[3], b[3];
    int moved = 0;
    for (int k = 0; k < 3; k++) moved |= has_moved(s, place, s->tri[3 * t + k]);
    if (!moved) return 0;
    hx_triangle_corners(s, s->xyz, t, x);
    hx_triangle_corners(s, place, t, y);
    hx_triangle_normal2(x[0], x[1], x[2], a);
    hx_triangle_normal2(y[0], y[1], y[2], b);
    const double now = hx_triangle_quality(y[0], y[1], y[2]);
    return hx_dot3(a, b) <= 0.0 || (now < THINNEST && now < hx_triangle_quality(x[0], x[1], x[2]));
}

static int64_t put_back(const hx_surface *s, double *place, int64_t t, uint8_t *is_back)
{
    int64_t n = 0;
    for (int k = 0; k < 3; k++) {
        const int64_t v = s->tri[3 * t + k];
        if (!has_moved(s, place, v)) continue;
        memcpy(place + 3 * v, s->xyz + 3 * v, 3 * sizeof *place);
        is_back[v] = HX_SETTLE_BACK;
        n++;
    }
    return n;
}

static int64_t put_spoilt_back(const hx_surface *s, double *place, uint8_t *is_back)
{
    int64_t n_all = 0;
    for (int64_t n = 1; n > 0; n_all += n) {
        n = 0;
        for (int64_t t = 0; t < s->n_tri; t++)
            if (is_spoilt(s, place, t)) n += put_back(s, place, t, is_back);
    }
    return n_all;
}

int hx_surface_settle(hx_surface *surface, double *place, uint8_t *is_back, int64_t *n_back)
{
    int rc;
    hx_surface *const s = surface;
    int64_t n_before, n_now;
    uint8_t *crosses = NULL;
    *n_back = put_spoilt_back(s, place, is_back);
    HX_TRY_FAIL(hx_alloc(&crosses, (size_t)s->n_tri, 1, "triangles that cross"));
    HX_TRY_FAIL(hx_surface_find_crossings(s->xyz, s->n_tri, s->tri, NULL, &n_before));
    for (int64_t n = 1; n > 0;) {
        n = 0;
        memset(crosses, 0, (size_t)s->n_tri);
        HX_TRY_FAIL(hx_surface_find_crossings(place, s->n_tri, s->tri, crosses, &n_now));
        if (n_now <= n_before) break;
        for (int64_t t = 0; t < s->n_tri; t++)
            if (crosses[t]) n += put_back(s, place, t, is_back);
        n += put_spoilt_back(s, place, is_back);
        *n_back += n;
    }
    memcpy(s->xyz, place, 3 * (size_t)s->n_vertex * sizeof *place);
fail:
    free(crosses);
    return rc;
}

double hx_surface_enclosed(const hx_surface *surface)
{
    double sum = 0.0;
    for (int64_t t = 0; t < surface->n_tri; t++) {
        const double *x[3];
        double y[3][3];
        hx_triangle_corners(surface, surface->xyz, t, x);
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) y[k][d] = x[k][d] - surface->xyz[d];
        sum += hx_triple3(y[0], y[1], y[2]);
    }
    return sum / 6.0;
}
