/* Improves the worst triangles of a surface, with its caps in place and the volume of every shell
 * restored. A surface that is its own mirror image stays so: it is cut at its planes of symmetry,
 * one part is improved, and every edit is mirrored. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_rims.h"

/* Planes whose normals differ by less than this angle, in radians, are one. */
static const double same_plane = 1e-5;

/* Least quality to which smoothed rims may bring triangles: between edits, and at last. */
static const double rough_quality = 0.1, least_quality = 0.4;

enum {
    N_ROUGH = 2, /* times that edits follow smoothed rims */
    MOST_PASSES = 12,
    MOST_ROUNDS =
        4 /* maximum number of attempts, each without edits at intersections of the last */
};

/* --- where vertices may go --- */

/* 1 if a vertex is a node of the mesh at the rim of a cap: a corner of a body of forced-solid
 * elements, since the surface of other elements keeps away from nodes. */
static int is_body_corner(const hx_surface *s, int32_t v, const int32_t *fan, int n)
{
    int any = 0;
    for (int i = 0; i < n; i++) any |= !s->is_cap[fan[i] / 3];
    return any && s->edge[2 * (int64_t)v] >= 0 &&
           s->edge[2 * (int64_t)v] == s->edge[2 * (int64_t)v + 1];
}

/* Sets rank and hold of a vertex from the normals of its caps. */
static void hold_vertex(hx_surface_editor *m, int32_t v, const int32_t *fan, int n_fan)
{
    double normal[HX_FAN_MOST][3], *hold = m->hold + 3 * (int64_t)v, largest = 0.0;
    const hx_surface *const s = m->surface;
    int n = 0, first = 0;
    for (int i = 0; i < n_fan; i++) {
        const double *x[3];
        if (!s->is_cap[fan[i] / 3]) continue;
        hx_triangle_corners(s, s->xyz, fan[i] / 3, x);
        hx_triangle_normal2(x[0], x[1], x[2], normal[n]);
        const double size = hx_norm3(normal[n]);
        if (!(size > 0.0)) continue;
        for (int d = 0; d < 3; d++) normal[n][d] /= size;
        if (size > largest) first = n;
        largest = fmax(largest, size);
        n++;
    }
    m->rank[v] = (uint8_t)(n > 0);
    if (n == 0) return;
    double line[3] = {0.0, 0.0, 0.0}, widest = 0.0;
    for (int i = 0; i < n; i++) {
        double cross[3];
        hx_cross3(normal[first], normal[i], cross);
        const double size = hx_norm3(cross);
        if (size > widest) memcpy(line, cross, sizeof line);
        widest = fmax(widest, size);
        if (hx_dot3(normal[first], normal[i]) < 0.0) m->rank[v] = 3;
    }
    memcpy(hold, normal[first], 3 * sizeof *hold);
    if (widest <= same_plane || m->rank[v] == 3) return;
    m->rank[v] = 2;
    for (int d = 0; d < 3; d++) hold[d] = line[d] / widest;
    for (int i = 0; i < n; i++)
        if (fabs(hx_dot3(hold, normal[i])) > same_plane) m->rank[v] = 3;
}

/* A vertex on an edge of the mesh between curved faces may move along that edge. */
static void hold_on_edge(hx_surface_editor *m, const hx_mesh *mesh, int32_t v)
{
    const int32_t *const edge = m->surface->edge + 2 * (int64_t)v;
    double to[3];
    if (edge[0] < 0 || edge[0] == edge[1]) return;
    for (int d = 0; d < 3; d++)
        to[d] = mesh->xyz[3 * (int64_t)edge[1] + d] - mesh->xyz[3 * (int64_t)edge[0] + d];
    const double size = hx_norm3(to);
    if (!(size > 0.0)) return;
    for (int d = 0; d < 3; d++) m->hold[3 * (int64_t)v + d] = to[d] / size;
    m->rank[v] = 2;
}

static int editor_create(hx_surface_editor *m, const hx_surface *s, const hx_mesh *mesh,
                         const hx_mirrors *mirrors, const uint8_t *is_frozen)
{
    const size_t n_vertex = (size_t)s->n_vertex;
    int64_t n_bad;
    m->surface = s;
    m->mirrors = mirrors;
    m->edges.tri = s->tri;
    HX_TRY(hx_alloc_raw(&m->edges.opposite, 3 * (size_t)s->n_tri, sizeof *m->edges.opposite,
                        "half-edges"));
    HX_TRY(hx_alloc_raw(&m->edges.corner, n_vertex, sizeof *m->edges.corner, "vertices"));
    HX_TRY(hx_alloc_raw(&m->rank, n_vertex, 1, "vertices"));
    HX_TRY(hx_alloc(&m->hold, 3 * n_vertex, sizeof *m->hold, "vertices"));
    HX_TRY(hx_surface_pair(s->n_vertex, s->n_tri, s->tri, m->edges.opposite, NULL, &n_bad));
    if (n_bad > 0) return HX_RAISE(HX_EINTERNAL, "the surface to be improved is not manifold");
    for (int64_t v = 0; v < s->n_vertex; v++) m->edges.corner[v] = -1;
    for (int64_t c = 3 * s->n_tri - 1; c >= 0; c--) m->edges.corner[s->tri[c]] = (int32_t)c;
#pragma omp parallel for schedule(static)
    for (int64_t v = 0; v < s->n_vertex; v++) {
        int32_t fan[HX_FAN_MOST];
        m->rank[v] = 3;
        if (m->edges.corner[v] < 0 || is_frozen[v]) continue;
        const int n = hx_fan_list(&m->edges, (int32_t)v, fan);
        if (n == 0 || is_body_corner(s, (int32_t)v, fan, n)) continue;
        hold_vertex(m, (int32_t)v, fan, n);
        if (m->rank[v] == 3) hold_on_edge(m, mesh, (int32_t)v);
    }
    return HX_OK;
}

static void editor_free(hx_surface_editor *m)
{
    free(m->edges.opposite);
    free(m->edges.corner);
    free(m->rank);
    free(m->hold);
}

/* --- the worst triangles --- */

/* In single precision, so that rounding, which depends on the numbering of the mesh, does not
 * change the order. */
typedef struct needle {
    float quality, middle[3];
    int32_t triangle;
} needle;

/* The worst first, equal ones by place. */
static int compare_needles(const void *a, const void *b)
{
    const needle *const x = a, *const y = b;
    if (x->quality != y->quality) return x->quality < y->quality ? -1 : 1;
    for (int d = 0; d < 3; d++)
        if (x->middle[d] != y->middle[d]) return x->middle[d] < y->middle[d] ? -1 : 1;
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

/* 1 if a triangle is a mirror image of another one that is improved with it. */
static int is_copy(const hx_surface_editor *m, int64_t t)
{
    const int32_t *const v = m->surface->tri + 3 * t;
    const int64_t n = m->mirrors->n_own;
    return m->mirrors->n > 0 && (v[0] >= n || v[1] >= n || v[2] >= n);
}

/* list[n_tri], sorted; returns their number. quality: [n_tri] scratch. */
static int64_t list_needles(const hx_surface_editor *m, float *quality, needle **list, int *rc)
{
    const hx_surface *const s = m->surface;
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t t = 0; t < s->n_tri; t++) {
        const int is_skipped = s->tri[3 * t] < 0 || is_copy(m, t);
        quality[t] = is_skipped ? 1.0f : (float)hx_surface_quality_of(s, t);
        n += (double)quality[t] < HX_QUALITY_GOAL;
    }
    *rc = hx_alloc_raw(list, (size_t)n, sizeof **list, "triangles to be improved");
    if (*rc < 0) return 0;
    n = 0;
    for (int64_t t = 0; t < s->n_tri; t++) {
        if (!((double)quality[t] < HX_QUALITY_GOAL)) continue;
        const double *x[3];
        needle *const here = *list + n++;
        hx_triangle_corners(s, s->xyz, t, x);
        here->quality = quality[t];
        for (int d = 0; d < 3; d++) here->middle[d] = (float)((x[0][d] + x[1][d] + x[2][d]) / 3.0);
        here->triangle = (int32_t)t;
    }
    qsort(*list, (size_t)n, sizeof **list, compare_needles);
    return n;
}

/* Edits until no triangle below the goal can be improved. */
static int edit_needles(hx_surface_editor *m)
{
    int rc = HX_OK;
    float *quality;
    const hx_surface *const s = m->surface;
    HX_TRY(hx_alloc_raw(&quality, (size_t)s->n_tri, sizeof *quality, "triangles"));
    for (int pass = 0, n_edit = 1; pass < MOST_PASSES && n_edit > 0 && rc == HX_OK; pass++) {
        needle *list = NULL;
        n_edit = 0;
        const int64_t n = list_needles(m, quality, &list, &rc);
        for (int64_t i = 0; i < n; i++) {
            const int64_t t = list[i].triangle;
            if (s->tri[3 * t] >= 0 && hx_surface_quality_of(s, t) < HX_QUALITY_GOAL)
                n_edit += hx_surface_edit(m, t);
        }
        free(list);
    }
    free(quality);
    return rc;
}

/* Removes unused triangles and vertices. old[n_vertex] := number before. */
static void compact(hx_surface *s, hx_surface_editor *m, int32_t *old)
{
    int64_t n_vertex = 0, n_tri = 0;
    int32_t *const number = m->edges.corner; /* not needed any more */
    for (int64_t v = 0; v < s->n_vertex; v++) {
        if (m->edges.corner[v] < 0) continue;
        old[n_vertex] = (int32_t)v;
        m->rank[n_vertex] = m->rank[v];
        memmove(m->hold + 3 * n_vertex, m->hold + 3 * v, 3 * sizeof *m->hold);
        memmove(s->xyz + 3 * n_vertex, s->xyz + 3 * v, 3 * sizeof *s->xyz);
        memmove(s->edge + 2 * n_vertex, s->edge + 2 * v, 2 * sizeof *s->edge);
        number[v] = (int32_t)n_vertex++;
    }
    for (int64_t t = 0; t < s->n_tri; t++) {
        if (s->tri[3 * t] < 0) continue;
        for (int k = 0; k < 3; k++) s->tri[3 * n_tri + k] = number[s->tri[3 * t + k]];
        s->is_cap[n_tri++] = s->is_cap[t];
    }
    s->n_vertex = n_vertex;
    s->n_tri = n_tri;
}

/* --- rounds --- */

static void surface_copy(hx_surface *to, const hx_surface *from)
{
    const size_t n_vertex = (size_t)from->n_vertex, n_tri = (size_t)from->n_tri;
    memcpy(to->xyz, from->xyz, 3 * n_vertex * sizeof *to->xyz);
    memcpy(to->edge, from->edge, 2 * n_vertex * sizeof *to->edge);
    memcpy(to->tri, from->tri, 3 * n_tri * sizeof *to->tri);
    memcpy(to->is_cap, from->is_cap, n_tri);
    to->n_vertex = from->n_vertex;
    to->n_tri = from->n_tri;
    to->n_split = from->n_split;
}

static int surface_create_like(hx_surface *to, const hx_surface *from)
{
    const size_t n_vertex = (size_t)from->n_vertex, n_tri = (size_t)from->n_tri;
    memset(to, 0, sizeof *to);
    HX_TRY(hx_alloc_raw(&to->xyz, 3 * n_vertex, sizeof *to->xyz, "surface vertices"));
    HX_TRY(hx_alloc_raw(&to->edge, 2 * n_vertex, sizeof *to->edge, "surface vertices"));
    HX_TRY(hx_alloc_raw(&to->tri, 3 * n_tri, sizeof *to->tri, "triangles of the surface"));
    HX_TRY(hx_alloc_raw(&to->is_cap, n_tri, 1, "triangles of the surface"));
    surface_copy(to, from);
    return HX_OK;
}

/* Freezes the vertices of intersecting triangles and their neighbours, by their numbers before.
 * Returns 1 if there is one that was not frozen before. */
static int freeze_crossings(const hx_surface *s, const uint8_t *crosses, const int32_t *old,
                            uint8_t *is_frozen)
{
    enum { FROZEN = 1, FRESH = 2 };
    int any = 0;
    for (int64_t t = 0; t < s->n_tri; t++)
        for (int k = 0; crosses[t] && k < 3; k++) is_frozen[old[s->tri[3 * t + k]]] |= FRESH;
    for (int64_t t = 0; t < s->n_tri; t++) {
        unsigned seen = 0;
        for (int k = 0; k < 3; k++) seen |= is_frozen[old[s->tri[3 * t + k]]] & FRESH;
        for (int k = 0; seen && k < 3; k++) {
            uint8_t *const here = is_frozen + old[s->tri[3 * t + k]];
            any |= !(*here & FROZEN);
            *here |= FROZEN;
        }
    }
    return any;
}

/* Restores volumes with the vertices that are on no cap, and with the others as far as these do not
 * suffice, so that smoothed rims stay where they are. */
static int restore_shells(hx_surface *s, const hx_surface_editor *m, const hx_shells *shells)
{
    static const uint8_t kind_of[] = {HX_VERTEX_FREE, HX_VERTEX_IN_PLANE, HX_VERTEX_ON_LINE,
                                      HX_VERTEX_FIXED};
    int rc;
    int32_t *first = NULL, *corner = NULL;
    uint8_t *kind = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&first, (size_t)s->n_vertex + 1, sizeof *first, "vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&corner, 3 * (size_t)s->n_tri, sizeof *corner, "vertices"));
    HX_TRY_FAIL(hx_alloc_raw(&kind, (size_t)s->n_vertex, 1, "vertices"));
    hx_surface_list_corners(s, first, corner);
    const hx_surface_motion motion = {s, NULL, first, corner, kind, m->hold};
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t v = 0; v < s->n_vertex; v++)
            kind[v] = pass == 0 && m->rank[v] > 0 ? HX_VERTEX_FIXED : kind_of[m->rank[v]];
        HX_TRY_FAIL(hx_surface_restore(&motion, shells));
    }
fail:
    free(first);
    free(corner);
    free(kind);
    return rc;
}

/* A surface to be improved and what it is cut from (borrowed). */
typedef struct shape {
    const hx_surface *before;
    const hx_mirrors *mirrors;
    const double *volume; /* of the shells of `before` */
    const hx_surface_field *field;
    int n_step; /* steps of smoothing of the rims */
    int64_t n_seat;
    const hx_surface_seat *seat; /* [n_seat] */
} shape;

/* Moves the images of vertices to the images of their places. old[n_vertex]: numbers before;
 * number[old[v]] = v. */
static void mirror_places(const hx_mirrors *mirrors, hx_surface *s, const int32_t *old,
                          const int32_t *number)
{
    for (int64_t v = 0; v < s->n_vertex && mirrors->n > 0; v++) {
        if (old[v] >= mirrors->n_own) continue;
        const double *const x = s->xyz + 3 * v;
        const unsigned on = mirrors->on[old[v]];
        double y[3] = {x[0], x[1], x[2]};
        hx_mirror_project(mirrors, on, y);
        for (unsigned set = 0; set < 1u << mirrors->n; set++) {
            double z[3] = {y[0], y[1], y[2]};
            if (set & on) continue;
            hx_mirror_reflect_by(mirrors, set, z);
            const int64_t w = number[hx_mirror_image(mirrors, old[v], set)];
            memcpy(s->xyz + 3 * w, z, sizeof z);
        }
    }
}

/* Edits triangles and smooths rims in turn: smoothing brings rims close to other vertices, edits
 * remove these, and make room to go on. */
static int edit_and_smooth(hx_surface_editor *m, const shape *of)
{
    HX_TRY(edit_needles(m));
    for (int i = 0; i < N_ROUGH && of->n_step > 0; i++) {
        HX_TRY(hx_surface_smooth_rims(m, of->field, of->before, of->n_step, rough_quality));
        HX_TRY(edit_needles(m));
    }
    return hx_surface_smooth_rims(m, of->field, of->before, of->n_step, least_quality);
}

/* One attempt; *n_crossing: intersections afterwards, in crosses[]. */
static int improve_once(hx_surface *s, const shape *of, const uint8_t *is_frozen, int32_t *old,
                        uint8_t *crosses, int64_t *n_crossing)
{
    int rc;
    hx_surface_editor m = {0};
    hx_shells shells = {0};
    HX_TRY_FAIL(hx_shells_create(&shells, s, s->xyz));
    memcpy(shells.volume, of->volume, (size_t)shells.n * sizeof *shells.volume);
    HX_TRY_FAIL(editor_create(&m, s, of->field->mesh, of->mirrors, is_frozen));
    HX_TRY_FAIL(edit_and_smooth(&m, of));
    hx_surface_seat_vertices(&m, of->field->mesh, of->n_seat, of->seat);
    compact(s, &m, old);
    for (int64_t v = 0; v < s->n_vertex; v++) shells.of[v] = shells.of[old[v]];
    mirror_places(of->mirrors, s, old, m.edges.corner);
    HX_TRY_FAIL(restore_shells(s, &m, &shells));
    mirror_places(of->mirrors, s, old, m.edges.corner);
    memset(crosses, 0, (size_t)s->n_tri);
    rc = hx_surface_find_crossings(s->xyz, s->n_tri, s->tri, crosses, n_crossing);
fail:
    editor_free(&m);
    hx_shells_free(&shells);
    return rc;
}

/* A vertex is frozen with its images. */
static void freeze_images(const hx_mirrors *mirrors, uint8_t *is_frozen)
{
    for (int64_t v = 0; v < mirrors->n_own && mirrors->n > 0; v++)
        for (unsigned set = 1; set < 1u << mirrors->n; set++)
            is_frozen[v] |= is_frozen[hx_mirror_image(mirrors, (int32_t)v, set)];
}

/* Improves s, which begins as a copy of of->before, in several attempts. *is_done := 0, and s is
 * of->before, if all of them leave more intersections than the surface `whole` has; *n_most: their
 * number, -1: not counted yet. */
static int improve(hx_surface *s, const shape *of, const hx_surface *whole, int64_t *n_most,
                   int *is_done)
{
    int rc;
    const hx_surface *const before = of->before;
    uint8_t *is_frozen = NULL, *crosses = NULL;
    int32_t *old = NULL;
    int64_t n_after = 0;
    *is_done = 0;
    HX_TRY_FAIL(hx_alloc(&is_frozen, (size_t)before->n_vertex, 1, "vertices"));
    HX_TRY_FAIL(hx_alloc(&crosses, (size_t)before->n_tri, 1, "triangles that cross"));
    HX_TRY_FAIL(hx_alloc_raw(&old, (size_t)before->n_vertex, sizeof *old, "vertices"));
    for (int round = 0; round < MOST_ROUNDS && !*is_done; round++) {
        if (round > 0) surface_copy(s, before);
        HX_TRY_FAIL(improve_once(s, of, is_frozen, old, crosses, &n_after));
        if (n_after > 0 && *n_most < 0)
            HX_TRY_FAIL(
                hx_surface_find_crossings(whole->xyz, whole->n_tri, whole->tri, NULL, n_most));
        *is_done = n_after == 0 || n_after <= *n_most;
        if (*is_done) break;
        if (!freeze_crossings(s, crosses, old, is_frozen)) break;
        freeze_images(of->mirrors, is_frozen);
    }
    if (!*is_done) surface_copy(s, before);
fail:
    free(is_frozen);
    free(crosses);
    free(old);
    return rc;
}

/* volume[] of the shells of `made` := those of the surface from which it was made, `shells`. from:
 * as in hx_mirrors_make. */
static int list_volumes(const hx_surface *made, const int32_t *from, const hx_shells *shells,
                        double **volume)
{
    int rc;
    hx_shells now = {0};
    HX_TRY_FAIL(hx_shells_create(&now, made, made->xyz));
    for (int64_t v = made->n_vertex; v-- > 0;)
        if (from[v] >= 0) now.volume[now.of[v]] = shells->volume[shells->of[from[v]]];
    *volume = now.volume;
    now.volume = NULL;
fail:
    hx_shells_free(&now);
    return rc;
}

/* Improves a surface that is its own mirror image. *is_done := 0, and s is unchanged, if it is not,
 * or cannot be improved like that. */
static int improve_symmetric(hx_surface *s, const hx_surface_field *field, const shape *whole,
                             const hx_shells *shells, int64_t *n_most, int *is_done)
{
    int rc;
    hx_mirrors mirrors = {0};
    hx_surface made = {0}, now = {0};
    int32_t *twin = NULL, *from = NULL;
    double *volume = NULL;
    *is_done = 0;
    HX_TRY_FAIL(hx_mirrors_find(&mirrors, s, field, &twin));
    if (mirrors.n == 0) goto fail;
    HX_TRY_FAIL(hx_mirrors_make(&mirrors, s, twin, &made, &from));
    if (mirrors.n == 0) goto fail;
    HX_TRY_FAIL(list_volumes(&made, from, shells, &volume));
    HX_TRY_FAIL(surface_create_like(&now, &made));
    shape of = *whole;
    of.before = &made;
    of.mirrors = &mirrors;
    of.volume = volume;
    HX_TRY_FAIL(improve(&now, &of, s, n_most, is_done));
    if (!*is_done) goto fail;
    hx_surface_free(s);
    *s = now;
    memset(&now, 0, sizeof now);
fail:
    hx_surface_free(&made);
    hx_surface_free(&now);
    hx_mirrors_free(&mirrors);
    free(twin);
    free(from);
    free(volume);
    return rc;
}

int hx_surface_improve(hx_surface *s, const hx_surface_field *field, int n_step, int64_t n_seat,
                       const hx_surface_seat *seat)
{
    static const hx_mirrors none = {0};
    int rc, is_done;
    int64_t n_most = -1;
    hx_surface before = {0};
    hx_shells shells = {0};
    shape of = {&before, &none, NULL, field, n_step, n_seat, seat};
    HX_TRY_FAIL(hx_shells_create(&shells, s, s->xyz));
    HX_TRY_FAIL(improve_symmetric(s, field, &of, &shells, &n_most, &is_done));
    if (is_done) goto fail;
    HX_TRY_FAIL(surface_create_like(&before, s));
    of.volume = shells.volume;
    rc = improve(s, &of, &before, &n_most, &is_done);
fail:
    hx_surface_free(&before);
    hx_shells_free(&shells);
    return rc;
}
