/* Taubin smoothing that preserves the mesh's boundary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "surface_internal.h"

/* Taubin 1995: 1 / lambda + 1 / mu = pass band, 0.1. */
static const double lambda = 0.5, mu = -1.0 / 1.9;

enum { MOST_RESTORED = 20 }; /* maximum number of steps that restore the volume */

typedef struct smoother {
    hx_surface *s;
    const hx_mesh *mesh;
    int32_t *opposite; /* [3 n_tri] */
    int32_t *first;    /* [n_vertex + 1] start of a vertex's corners in corner */
    int32_t *corner;   /* [3 n_tri] */
    uint8_t *kind;     /* [n_vertex] */
    double *before;    /* [n_vertex][3] original positions */
    double *next;      /* [n_vertex][3] next positions */
} smoother;

static const double *smoothed_place(const hx_surface *s, int64_t v)
{
    return s->xyz + 3 * v;
}

static void difference(const double a[3], const double b[3], double out[3])
{
    for (int d = 0; d < 3; d++) out[d] = a[d] - b[d];
}

/* 1 if caps that meet at a vertex differ in direction by more than 30 degrees: an edge of the
 * part. */
static int is_sharp(const smoother *m, int64_t v)
{
    double first[3] = {0.0, 0.0, 0.0}, here[3];
    for (int32_t k = m->first[v]; k < m->first[v + 1]; k++) {
        const int64_t t = m->corner[k] / 3;
        const double *x[3];
        if (!m->s->is_cap[t]) continue;
        hx_triangle_corners(m->s, m->s->xyz, t, x);
        hx_triangle_normal2(x[0], x[1], x[2], here);
        if (hx_dot3(first, first) == 0.0) memcpy(first, here, sizeof first);
        if (hx_dot3(first, here) < 0.866 * sqrt(hx_dot3(first, first) * hx_dot3(here, here)))
            return 1;
    }
    return 0;
}

void hx_surface_list_corners(const hx_surface *surface, int32_t *first, int32_t *corner)
{
    memset(first, 0, ((size_t)surface->n_vertex + 1) * sizeof *first);
    for (int64_t c = 0; c < 3 * surface->n_tri; c++) first[surface->tri[c] + 1]++;
    for (int64_t v = 0; v < surface->n_vertex; v++) first[v + 1] += first[v];
    for (int64_t c = 0; c < 3 * surface->n_tri; c++) corner[first[surface->tri[c]]++] = (int32_t)c;
    memmove(first + 1, first, (size_t)surface->n_vertex * sizeof *first);
    first[0] = 0;
}

static int smoother_create(smoother *m, hx_surface *s, const hx_surface_field *field)
{
    const size_t n_corner = 3 * (size_t)s->n_tri, n_vertex = (size_t)s->n_vertex;
    int64_t n_bad;
    memset(m, 0, sizeof *m);
    m->s = s;
    m->mesh = field->mesh;
    HX_TRY(hx_alloc_raw(&m->opposite, n_corner, sizeof *m->opposite, "half-edges"));
    HX_TRY(hx_alloc(&m->first, n_vertex + 1, sizeof *m->first, "corners of vertices"));
    HX_TRY(hx_alloc_raw(&m->corner, n_corner, sizeof *m->corner, "corners of vertices"));
    HX_TRY(hx_alloc_raw(&m->kind, n_vertex, 1, "kinds of vertices"));
    HX_TRY(hx_alloc_raw(&m->before, 3 * n_vertex, sizeof *m->before, "smoothed vertices"));
    HX_TRY(hx_alloc_raw(&m->next, 3 * n_vertex, sizeof *m->next, "smoothed vertices"));
    HX_TRY(hx_surface_pair(s->n_vertex, s->n_tri, s->tri, m->opposite, NULL, &n_bad));
    if (n_bad > 0) return HX_RAISE(HX_EINTERNAL, "the surface to be smoothed is not manifold");
    memcpy(m->before, s->xyz, 3 * n_vertex * sizeof *s->xyz);
    hx_surface_list_corners(s, m->first, m->corner);
    const hx_surface *surface = m->s;
    memset(m->kind, HX_VERTEX_FREE, (size_t)surface->n_vertex);
    for (int64_t c = 0; c < 3 * surface->n_tri; c++)
        if (surface->is_cap[c / 3]) m->kind[surface->tri[c]] = HX_VERTEX_SLIDES;
    for (int64_t v = 0; v < surface->n_vertex; v++)
        if (m->kind[v] == HX_VERTEX_SLIDES &&
            (surface->edge[2 * v] == surface->edge[2 * v + 1] || is_sharp(m, v)))
            m->kind[v] = HX_VERTEX_FIXED;
    for (int64_t v = 0; field->is_repaired && v < s->n_vertex; v++)
        if (s->edge[2 * v] >= 0 && field->is_repaired[s->edge[2 * v]]) m->kind[v] = HX_VERTEX_FIXED;
    return HX_OK;
}

/* Position on the vertex's mesh edge nearest to the line from a to b, minus its present position; 0
 * if edge and line are nearly parallel. Unlike a step to the mean of the neighbours, this does not
 * move a vertex only because it is nearer to one of them. */
static double share_towards(const double *in, const double *out, const double *x, const double *a,
                            const double *b)
{
    double e[3], c[3], w[3];
    difference(out, in, e);
    difference(b, a, c);
    difference(x, a, w);
    const double ee = hx_dot3(e, e), cc = hx_dot3(c, c), ec = hx_dot3(e, c);
    const double determinant = ee * cc - ec * ec;
    if (!(determinant > 0.1 * ee * cc)) return 0.0;
    return (ec * hx_dot3(w, c) - cc * hx_dot3(w, e)) / determinant;
}

/* Slides a vertex on the rim of a cap along its mesh edge, within the margins, towards the line
 * between its two neighbours on the rim. */
static void slide(const smoother *m, int64_t v, double factor, double to[3])
{
    const hx_surface *s = m->s;
    const double *x = smoothed_place(s, v), *neighbour[2] = {x, x};
    const double *in = m->mesh->xyz + 3 * (int64_t)s->edge[2 * v];
    const double *out = m->mesh->xyz + 3 * (int64_t)s->edge[2 * v + 1];
    double e[3], along[3];
    int n = 0;
    for (int32_t k = m->first[v]; k < m->first[v + 1]; k++) {
        const int64_t c = m->corner[k];
        if (s->is_cap[c / 3] == s->is_cap[m->opposite[c] / 3]) continue;
        if (n < 2) neighbour[n] = smoothed_place(s, s->tri[hx_corner_next(c)]);
        n++;
    }
    if (n != 2) return;
    difference(out, in, e);
    difference(x, in, along);
    const double share = hx_dot3(along, e) / hx_dot3(e, e) +
                         factor * share_towards(in, out, x, neighbour[0], neighbour[1]);
    hx_surface_cut(in, out, fmin(fmax(share, HX_SURFACE_MARGIN), 1.0 - HX_SURFACE_MARGIN), to);
}

static void move_vertex(const smoother *m, int64_t v, double factor)
{
    const hx_surface *s = m->s;
    const double *x = smoothed_place(s, v);
    double sum[3] = {0.0, 0.0, 0.0}, *to = m->next + 3 * v;
    memcpy(to, x, 3 * sizeof *x);
    if (m->kind[v] == HX_VERTEX_FIXED) return;
    if (m->kind[v] == HX_VERTEX_SLIDES) {
        slide(m, v, factor, to);
        return;
    }
    const int n = m->first[v + 1] - m->first[v];
    for (int32_t k = m->first[v]; k < m->first[v + 1]; k++)
        for (int d = 0; d < 3; d++)
            sum[d] += smoothed_place(s, s->tri[hx_corner_next(m->corner[k])])[d];
    for (int d = 0; d < 3; d++) to[d] = x[d] + factor * (sum[d] / n - x[d]);
}

static void take_step(smoother *m, double factor)
{
#pragma omp parallel for schedule(static)
    for (int64_t v = 0; v < m->s->n_vertex; v++) move_vertex(m, v, factor);
    double *const now = m->s->xyz;
    m->s->xyz = m->next;
    m->next = now;
}

/* Volume, and the area without caps. */
static void measure_surface(const hx_surface *s, const hx_mesh *mesh, double *volume,
                            double *free_area)
{
    double part_volume[HX_N_PART], part_area[HX_N_PART], origin[3];
    for (int d = 0; d < 3; d++) origin[d] = 0.5 * (mesh->box_min[d] + mesh->box_max[d]);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        double sum = 0.0, area2 = 0.0;
        for (int64_t t = hx_part_begin(s->n_tri, i); t < hx_part_begin(s->n_tri, i + 1); t++) {
            const double *x[3];
            double y[3][3], n[3];
            hx_triangle_corners(s, s->xyz, t, x);
            for (int k = 0; k < 3; k++)
                for (int d = 0; d < 3; d++) y[k][d] = x[k][d] - origin[d];
            sum += hx_triple3(y[0], y[1], y[2]);
            hx_triangle_normal2(x[0], x[1], x[2], n);
            if (!s->is_cap[t]) area2 += hx_norm3(n);
        }
        part_volume[i] = sum / 6.0;
        part_area[i] = 0.5 * area2;
    }
    *volume = hx_sum_parts(part_volume);
    *free_area = hx_sum_parts(part_area);
}

static hx_surface_motion motion_of(const smoother *m)
{
    return (hx_surface_motion){m->s, m->mesh, m->first, m->corner, m->kind, NULL};
}

/* Moves free vertices along their normals by the missing volume divided by the area. This Newton
 * step is too short if much of the area belongs to fixed vertices. Returns 0 once the volume is
 * restored. */
static int restore_volume(smoother *m, double volume)
{
    double now, area;
    measure_surface(m->s, m->mesh, &now, &area);
    if (!(area > 0.0) || fabs(volume - now) <= 1e-6 * volume) return 0;
    const double distance = (volume - now) / area;
    const hx_surface_motion motion = motion_of(m);
#pragma omp parallel for schedule(static)
    for (int64_t v = 0; v < m->s->n_vertex; v++) {
        double *to = m->next + 3 * v, n[3];
        memcpy(to, m->s->xyz + 3 * v, 3 * sizeof *to);
        if (m->kind[v] != HX_VERTEX_FREE) continue;
        hx_surface_vertex_normal(&motion, v, n);
        const double size = hx_norm3(n);
        for (int d = 0; size > 0.0 && d < 3; d++) to[d] += distance * n[d] / size;
    }
    double *const swap = m->s->xyz;
    m->s->xyz = m->next;
    m->next = swap;
    return 1;
}

/* Restores the volume of a single shell with its free vertices as far as possible. Shells are
 * restored one by one, because otherwise one shell would compensate for another. */
static int restore(smoother *m, double volume)
{
    int rc;
    hx_shells shells = {0};
    HX_TRY_FAIL(hx_shells_create(&shells, m->s, m->before));
    for (int i = 0; shells.n == 1 && i < MOST_RESTORED; i++)
        if (!restore_volume(m, volume)) break;
    double now, area;
    measure_surface(m->s, m->mesh, &now, &area);
    if (shells.n == 1 && fabs(volume - now) <= 1e-6 * volume) goto fail;
    const hx_surface_motion motion = motion_of(m);
    rc = hx_surface_restore(&motion, &shells);
fail:
    hx_shells_free(&shells);
    return rc;
}

/* 1 if a triangle has flipped since `before`, or nearly vanished. */
static int has_turned(const smoother *m, int64_t t)
{
    const double *x[3], *y[3];
    double a[3], b[3];
    hx_triangle_corners(m->s, m->before, t, x);
    hx_triangle_corners(m->s, m->s->xyz, t, y);
    hx_triangle_normal2(x[0], x[1], x[2], a);
    hx_triangle_normal2(y[0], y[1], y[2], b);
    return hx_dot3(a, b) <= 0.0 || hx_dot3(b, b) < 1e-6 * hx_dot3(a, a);
}

/* Moves the vertices of triangle t back; returns how many had moved. */
static int put_back(smoother *m, int64_t t)
{
    int n = 0;
    for (int k = 0; k < 3; k++) {
        const int64_t v = m->s->tri[3 * t + k];
        const size_t size = 3 * sizeof *m->before;
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): unmoved means the same bits */
        if (memcmp(m->s->xyz + 3 * v, m->before + 3 * v, size) == 0) continue;
        memcpy(m->s->xyz + 3 * v, m->before + 3 * v, size);
        n++;
    }
    return n;
}

/* Moves vertices of flipped triangles back until there are none; every pass moves at least one. */
static void hold_turned(smoother *m, int64_t *n_held)
{
    for (int64_t n = 1; n > 0;) {
        n = 0;
        for (int64_t t = 0; t < m->s->n_tri; t++)
            if (!m->s->is_cap[t] && has_turned(m, t)) n += put_back(m, t);
        *n_held += n;
    }
}

/* Moves vertices of intersecting triangles back, as long as it helps. */
static int hold_crossing(smoother *m, int64_t *n_held)
{
    int rc = HX_OK;
    uint8_t *crosses = NULL;
    HX_TRY(hx_alloc(&crosses, (size_t)m->s->n_tri, 1, "triangles that cross"));
    for (int64_t n = 1, n_crossing; n > 0;) {
        n = 0;
        hold_turned(m, n_held);
        HX_TRY_FAIL(
            hx_surface_find_crossings(m->s->xyz, m->s->n_tri, m->s->tri, crosses, &n_crossing));
        if (n_crossing == 0) break;
        for (int64_t t = 0; t < m->s->n_tri; t++)
            if (crosses[t]) n += put_back(m, t);
        *n_held += n;
    }
fail:
    free(crosses);
    return rc;
}

int hx_surface_smooth(hx_surface *surface, const hx_surface_field *field, int n_step,
                      hx_surface_smoothing *result)
{
    int rc;
    double area;
    smoother m;
    memset(result, 0, sizeof *result);
    HX_TRY_FAIL(smoother_create(&m, surface, field));
    measure_surface(surface, field->mesh, &result->volume_before, &area);
    for (int i = 0; i < n_step; i++) {
        take_step(&m, lambda);
        take_step(&m, mu);
    }
    if (n_step > 0) HX_TRY_FAIL(restore(&m, result->volume_before));
    if (n_step > 0) HX_TRY_FAIL(hold_crossing(&m, &result->n_held));
    measure_surface(surface, field->mesh, &result->volume_after, &area);
fail:
    free(m.opposite);
    free(m.first);
    free(m.corner);
    free(m.kind);
    free(m.before);
    free(m.next);
    return rc;
}
