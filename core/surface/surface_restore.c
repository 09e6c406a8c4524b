/* Restores the volume of every shell: free vertices move along their normals, those on rims of caps
 * along their mesh edges or in their planes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../base/union_find.h"
#include "surface_internal.h"

enum { MOST_STEPS = 20 };

/* Admissible relative volume error of a shell. */
#define EXACT 1e-6

/* Longest step, relative to the edge of a cube of the shell's volume. Without a limit, Newton's
 * step would throw vertices far away if smoothing has shrunk a shell of few triangles to almost
 * nothing, because its volume then grows very little per length. */
#define LONGEST 0.25

typedef struct restorer {
    const hx_surface *surface;  /* (borrowed) */
    const hx_surface_motion *m; /* NULL: only measured (borrowed) */
    int64_t n;
    const int32_t *of;    /* [n_vertex] shell of each vertex (borrowed) */
    const double *volume; /* [n] volumes to restore (borrowed) */
    int64_t *begin;       /* [n + 1] start of each shell's triangles in tri (owned) */
    int32_t *tri;         /* [n_tri] sorted by shell (owned) */
    double *distance;     /* [n] length of a step; before that, the missing volume (owned) */
    double *direction;    /* [n_vertex][3] direction of a step, 0: fixed (owned) */
} restorer;

/* of[] := number of the shell, counting shells in the order of their smallest vertices. Returns the
 * number of shells. */
static int64_t number_shells(const hx_surface *s, int32_t *of)
{
    int32_t n = 0;
    for (int64_t v = 0; v < s->n_vertex; v++) of[v] = (int32_t)v;
    for (int64_t c = 0; c < 3 * s->n_tri; c++) hx_unite(of, s->tri[c], s->tri[hx_corner_next(c)]);
    for (int64_t v = 0; v < s->n_vertex; v++) of[v] = hx_root(of, (int32_t)v);
    /* a root is the smallest vertex of its shell, so it gets its number before the others need
     * it */
    for (int64_t v = 0; v < s->n_vertex; v++) of[v] = of[v] == v ? n++ : of[of[v]];
    return n;
}

/* Six times the volume between a triangle and a point of its shell; with directions, six times its
 * derivative by the step length. */
static double share_of(const restorer *s, const double *xyz, int64_t t, const double origin[3],
                       const double *direction)
{
    const int32_t *const tri = s->surface->tri + 3 * t;
    double x[3][3], n[3], sum[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            x[k][d] = xyz[3 * (int64_t)tri[k] + d] - origin[d];
            if (direction) sum[d] += direction[3 * (int64_t)tri[k] + d];
        }
    if (!direction) return hx_triple3(x[0], x[1], x[2]);
    hx_triangle_normal2(x[0], x[1], x[2], n);
    return hx_dot3(n, sum);
}

/* Volume of shell k; with directions, its derivative by the step length. */
static double measure_shell(const restorer *s, const double *xyz, int64_t k,
                            const double *direction)
{
    double part[HX_N_PART], origin[3];
    const int64_t first = s->begin[k], n = s->begin[k + 1] - first;
    const int32_t *const tri = s->tri + first;
    for (int d = 0; d < 3; d++)
        origin[d] = xyz[3 * (int64_t)s->surface->tri[3 * (int64_t)tri[0]] + d];
#pragma omp parallel for schedule(static) if (n > 10000)
    for (int i = 0; i < HX_N_PART; i++) {
        part[i] = 0.0;
        for (int64_t j = hx_part_begin(n, i); j < hx_part_begin(n, i + 1); j++)
            part[i] += share_of(s, xyz, tri[j], origin, direction);
    }
    return hx_sum_parts(part) / 6.0;
}

static int sort_by_shell(restorer *s)
{
    const hx_surface *const surface = s->surface;
    HX_TRY(hx_alloc(&s->begin, (size_t)s->n + 1, sizeof *s->begin, "shells"));
    HX_TRY(hx_alloc_raw(&s->tri, (size_t)surface->n_tri, sizeof *s->tri, "shells"));
    for (int64_t t = 0; t < surface->n_tri; t++) s->begin[s->of[surface->tri[3 * t]] + 1]++;
    for (int64_t k = 0; k < s->n; k++) s->begin[k + 1] += s->begin[k];
    for (int64_t t = 0; t < surface->n_tri; t++)
        s->tri[s->begin[s->of[surface->tri[3 * t]]]++] = (int32_t)t;
    for (int64_t k = s->n; k > 0; k--) s->begin[k] = s->begin[k - 1];
    s->begin[0] = 0;
    return HX_OK;
}

int hx_shells_create(hx_shells *shells, const hx_surface *surface, const double *xyz)
{
    int rc;
    restorer s = {.surface = surface};
    HX_TRY_FAIL(hx_alloc_raw(&shells->of, (size_t)surface->n_vertex, sizeof *shells->of, "shells"));
    s.of = shells->of;
    s.n = shells->n = number_shells(surface, shells->of);
    HX_TRY_FAIL(hx_alloc_raw(&shells->volume, (size_t)s.n, sizeof *shells->volume, "shells"));
    HX_TRY_FAIL(sort_by_shell(&s));
    for (int64_t k = 0; k < s.n; k++) shells->volume[k] = measure_shell(&s, xyz, k, NULL);
fail:
    free(s.begin);
    free(s.tri);
    return rc;
}

void hx_shells_free(hx_shells *shells)
{
    free(shells->of);
    free(shells->volume);
    memset(shells, 0, sizeof *shells);
}

/* distance[] := missing volume of each shell, 0 if within tolerance; returns the number of shells
 * out of tolerance. */
static int64_t find_lacking(restorer *s)
{
    int64_t n = 0;
    for (int64_t k = 0; k < s->n; k++) {
        const double lack = s->volume[k] - measure_shell(s, s->surface->xyz, k, NULL);
        s->distance[k] = fabs(lack) > EXACT * fabs(s->volume[k]) ? lack : 0.0;
        n += s->distance[k] != 0.0;
    }
    return n;
}

/* Relative position of a vertex on its mesh edge; e: the edge from inside to outside. */
static double place_on_edge(const hx_surface_motion *m, int64_t v, double e[3])
{
    const hx_surface *s = m->surface;
    const double *const in = m->mesh->xyz + 3 * (int64_t)s->edge[2 * v];
    const double *const out = m->mesh->xyz + 3 * (int64_t)s->edge[2 * v + 1];
    double along[3];
    for (int d = 0; d < 3; d++) {
        e[d] = out[d] - in[d];
        along[d] = s->xyz[3 * v + d] - in[d];
    }
    return hx_dot3(along, e) / hx_dot3(e, e);
}

void hx_surface_vertex_normal(const hx_surface_motion *m, int64_t v, double n[3])
{
    n[0] = n[1] = n[2] = 0.0;
    for (int32_t k = m->first[v]; k < m->first[v + 1]; k++) {
        const double *x[3];
        double here[3];
        hx_triangle_corners(m->surface, m->surface->xyz, m->corner[k] / 3, x);
        hx_triangle_normal2(x[0], x[1], x[2], here);
        for (int d = 0; d < 3; d++) n[d] += here[d];
    }
}

/* Direction of the free triangles' normal in the plane or along the line that holds a vertex; not
 * longer than 1, and short where they are nearly perpendicular. */
static void find_held_direction(const hx_surface_motion *m, int64_t v, double to[3])
{
    const double *const hold = m->hold + 3 * v;
    double n[3] = {0.0, 0.0, 0.0};
    for (int32_t k = m->first[v]; k < m->first[v + 1]; k++) {
        const double *x[3];
        double here[3];
        if (m->surface->is_cap[m->corner[k] / 3]) continue;
        hx_triangle_corners(m->surface, m->surface->xyz, m->corner[k] / 3, x);
        hx_triangle_normal2(x[0], x[1], x[2], here);
        for (int d = 0; d < 3; d++) n[d] += here[d];
    }
    const double size = hx_norm3(n), part = hx_dot3(hold, n);
    for (int d = 0; d < 3; d++) {
        const double along = part * hold[d];
        to[d] = m->kind[v] == HX_VERTEX_ON_LINE ? along : n[d] - along;
        to[d] = size > 0.0 ? to[d] / size : 0.0;
    }
}

/* Direction in which a vertex moves outwards, mostly of length 1; 0 if it is fixed or at the end of
 * its edge. */
static void find_direction(const restorer *s, int64_t v, double to[3])
{
    const hx_surface_motion *const m = s->m;
    const double lack = s->distance[s->of[v]];
    double n[3] = {0.0, 0.0, 0.0};
    if (lack != 0.0 && (m->kind[v] == HX_VERTEX_IN_PLANE || m->kind[v] == HX_VERTEX_ON_LINE)) {
        find_held_direction(m, v, to);
        return;
    }
    if (m->kind[v] == HX_VERTEX_SLIDES && lack != 0.0) {
        const double share = place_on_edge(m, v, n);
        const int is_stuck =
            lack > 0.0 ? share >= 1.0 - HX_SURFACE_MARGIN : share <= HX_SURFACE_MARGIN;
        if (is_stuck) n[0] = n[1] = n[2] = 0.0;
    } else if (m->kind[v] == HX_VERTEX_FREE && lack != 0.0) {
        hx_surface_vertex_normal(m, v, n);
    }
    const double size = hx_norm3(n);
    for (int d = 0; d < 3; d++) to[d] = size > 0.0 ? n[d] / size : 0.0;
}

static void move_vertex(const restorer *s, int64_t v)
{
    const hx_surface_motion *const m = s->m;
    const double *const to = s->direction + 3 * v, step = s->distance[s->of[v]];
    double *const x = m->surface->xyz + 3 * v, e[3];
    for (int d = 0; d < 3; d++) x[d] += step * to[d];
    if (m->kind[v] != HX_VERTEX_SLIDES || hx_dot3(to, to) == 0.0) return;
    const double share = place_on_edge(m, v, e);
    hx_surface_cut(m->mesh->xyz + 3 * (int64_t)m->surface->edge[2 * v],
                   m->mesh->xyz + 3 * (int64_t)m->surface->edge[2 * v + 1],
                   fmin(fmax(share, HX_SURFACE_MARGIN), 1.0 - HX_SURFACE_MARGIN), x);
}

/* Length of shell k's step: Newton's, within the limit; 0 if the volume is exact or cannot
 * change. */
static double step_of(const restorer *s, int64_t k)
{
    const double longest = LONGEST * cbrt(fabs(s->volume[k]));
    if (s->distance[k] == 0.0) return 0.0;
    const double gain = measure_shell(s, s->surface->xyz, k, s->direction);
    return gain > 0.0 ? fmin(fmax(s->distance[k] / gain, -longest), longest) : 0.0;
}

int hx_surface_restore(const hx_surface_motion *motion, const hx_shells *shells)
{
    int rc;
    const int64_t n_vertex = motion->surface->n_vertex;
    restorer s = {.surface = motion->surface, .m = motion, .n = shells->n, .of = shells->of};
    s.volume = shells->volume;
    HX_TRY_FAIL(sort_by_shell(&s));
    HX_TRY_FAIL(hx_alloc_raw(&s.distance, (size_t)s.n, sizeof *s.distance, "shells"));
    HX_TRY_FAIL(hx_alloc_raw(&s.direction, 3 * (size_t)n_vertex, sizeof *s.direction, "shells"));
    /* Newton steps, shell by shell. */
    for (int i = 0; i < MOST_STEPS && find_lacking(&s) > 0; i++) {
#pragma omp parallel for schedule(static)
        for (int64_t v = 0; v < n_vertex; v++) find_direction(&s, v, s.direction + 3 * v);
        for (int64_t k = 0; k < s.n; k++) s.distance[k] = step_of(&s, k);
#pragma omp parallel for schedule(static)
        for (int64_t v = 0; v < n_vertex; v++) move_vertex(&s, v);
    }
fail:
    free(s.begin);
    free(s.tri);
    free(s.distance);
    free(s.direction);
    return rc;
}
