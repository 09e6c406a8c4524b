/* Improves single triangles by the best of three edits: the flip of an edge, a moved vertex, the
 * collapse of an edge. Vertices of caps stay in the planes of their caps. If the surface is its own
 * mirror image, its vertices on the planes of symmetry stay on them, no edge crosses a plane, and
 * all images of an edit are made with it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "surface_edit.h"

/* Largest distance between the surfaces before and after an edit, relative to the edges around a
 * vertex. */
static const double largest_deviation = 0.1;

/* Largest distance for caps that are flat, and for caps along curved faces of the mesh. */
static const double flat = 1e-5, curved = 0.01;

/* Triangles of lower quality have no reliable normal, nor have those with an area below this
 * fraction of the square of the longest edge of the triangle that is improved. */
static const double has_normal = 0.1, tiny = 1e-3;

/* A cluster of vertices may move by this fraction of that edge. */
static const double cluster = 0.04;

/* Least cosine of the angle by which an edit turns a free triangle. */
static const double least_cosine = 0.5;

/* An edit counts only if it improves the worst triangle by this factor, or reduces the sum of what
 * triangles lack by this much. */
static const double least_gain = 1.02, least_lack = 1e-3;

/* Beyond this quality an edit is not preferred to one that changes less. */
static const double good = 0.5;

typedef enum { NOTHING, FLIP, MOVE, COLLAPSE } edit_kind;

/* The best edit so far. */
typedef struct edit {
    edit_kind kind;
    int64_t half_edge; /* FLIP, COLLAPSE: the vertex at its end merges into that at its start */
    int32_t vertex;    /* MOVE */
    uint8_t is_cap;    /* FLIP: of the new triangles */
    double x[3];       /* new position of the vertex that moves or stays, middle of the new edge */
    /* Worst quality afterwards, or `good`; reduction of the lack. In single precision, so that
     * rounding, which depends on the numbering of the mesh, makes no difference. */
    float score, gain;
} edit;

/* Worst quality before and after an edit, and the reduction of the lack: the sum of the squares of
 * what triangles lack of HX_QUALITY_GOAL. */
typedef struct trial {
    double before, after, gain;
} trial;

static const trial untried = {HUGE_VAL, HUGE_VAL, 0.0};

static double lack_of(double quality)
{
    const double lack = fmax(HX_QUALITY_GOAL - quality, 0.0);
    return lack * lack;
}

static void count_before(trial *w, double quality)
{
    w->before = fmin(w->before, quality);
    w->gain += lack_of(quality);
}

static void count_after(trial *w, double quality)
{
    w->after = fmin(w->after, quality);
    w->gain -= lack_of(quality);
}

static const double *place(const hx_surface_editor *m, int32_t v)
{
    return m->surface->xyz + 3 * (int64_t)v;
}

/* Set of the planes of symmetry on which a vertex lies. */
static unsigned planes_of(const hx_surface_editor *m, int32_t v)
{
    return m->mirrors->n > 0 ? m->mirrors->on[v] : 0u;
}

/* Number of different images of something at a vertex that lies on these planes, while it is on
 * none of them itself: 2 to the number of planes. */
static int images_at(unsigned planes)
{
    return 1 << ((planes & 1u) + (planes >> 1 & 1u) + (planes >> 2 & 1u));
}

static int is_beyond(double dot, double limit, const double a[3], const double b[3])
{
    return dot > limit * hx_norm3(a) * hx_norm3(b);
}

static double distance2(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return hx_dot3(d, d);
}

double hx_surface_quality_of(const hx_surface *s, int64_t t)
{
    const double *x[3];
    hx_triangle_corners(s, s->xyz, t, x);
    return hx_triangle_quality(x[0], x[1], x[2]);
}

/* The triangles around a vertex. */
typedef struct fan {
    int n;
    int32_t corner[HX_FAN_MOST];
    double size;      /* root mean square of the edges at the vertex */
    double normal[3]; /* area-weighted sum of the normals of its free triangles */
    double middle[3]; /* mean of its neighbours */
} fan;

static int find_fan(const hx_surface_editor *m, int32_t v, fan *f)
{
    const double *const x = place(m, v);
    f->n = hx_fan_list(&m->edges, v, f->corner);
    f->size = 0.0;
    for (int d = 0; d < 3; d++) f->normal[d] = f->middle[d] = 0.0;
    for (int i = 0; i < f->n; i++) {
        const int64_t c = f->corner[i], next = hx_corner_next(c);
        const double *const p = place(m, m->edges.tri[next]);
        f->size += distance2(x, p) / f->n;
        for (int d = 0; d < 3; d++) f->middle[d] += p[d] / f->n;
        if (m->surface->is_cap[c / 3]) continue;
        double n[3];
        hx_triangle_normal2(x, p, place(m, m->edges.tri[hx_corner_next(next)]), n);
        for (int d = 0; d < 3; d++) f->normal[d] += n[d];
    }
    f->size = sqrt(f->size);
    return f->n >= 3;
}

/* Judges vertex v at x. Triangles gone[2] are removed; -1: none. Returns 0 if a triangle turns, if
 * a cap leaves its plane or the surface changes too much. */
static int try_place(const hx_surface_editor *m, int32_t v, const fan *f, const double x[3],
                     const int64_t gone[2], trial *w)
{
    const double *const old = place(m, v);
    for (int i = 0; i < f->n; i++) {
        const int64_t c = f->corner[i], next = hx_corner_next(c), t = c / 3;
        const double *const p = place(m, m->edges.tri[next]);
        const double *const r = place(m, m->edges.tri[hx_corner_next(next)]);
        const double quality = hx_triangle_quality(old, p, r);
        const int is_cap = m->surface->is_cap[t];
        double before[3], after[3], by[3];
        count_before(w, quality);
        if (t == gone[0] || t == gone[1]) continue;
        hx_triangle_normal2(old, p, r, before);
        hx_triangle_normal2(x, p, r, after);
        const int has_side = quality > has_normal && hx_norm3(before) > tiny * m->reach * m->reach;
        const double *const side = is_cap || has_side ? before : f->normal;
        if (!is_beyond(hx_dot3(side, after), is_cap ? 0.9 : least_cosine, side, after)) return 0;
        for (int d = 0; d < 3; d++) by[d] = old[d] - x[d];
        const double most = !is_cap ? fmax(largest_deviation * f->size, cluster * m->reach)
                                    : (m->rank[v] > 1 ? curved : flat) * f->size;
        if (!(fabs(hx_dot3(after, by)) <= most * hx_norm3(after))) return 0;
        count_after(w, hx_triangle_quality(x, p, r));
    }
    return w->after > 0.0;
}

/* 1 if a is preferred to b: by the worst quality, the lack, then by place. */
static int is_preferred(const edit *a, const edit *b)
{
    if (a->score != b->score) return a->score > b->score;
    if (a->gain != b->gain) return a->gain > b->gain;
    if (a->kind != b->kind) return a->kind < b->kind;
    for (int d = 0; d < 3; d++)
        if ((float)a->x[d] != (float)b->x[d]) return (float)a->x[d] < (float)b->x[d];
    return 0;
}

/* Keeps an edit that is good enough and better than the best one so far. A cluster of needles needs
 * several edits, the first of which do not improve the worst of them. */
static void keep_best(edit *best, const trial *w, edit now)
{
    now.score = (float)fmin(w->after, good);
    now.gain = (float)w->gain;
    const int is_enough =
        w->after > least_gain * w->before || (w->after >= w->before && w->gain > least_lack);
    if (is_enough && (best->kind == NOTHING || is_preferred(&now, best))) *best = now;
}

/* --- moves --- */

/* Removes the part of d that would take the vertex out of the planes of its caps or, if it has
 * none, out of the surface. */
static void project(const hx_surface_editor *m, int32_t v, const fan *f, double d[3])
{
    const double *const n = m->rank[v] == 0 ? f->normal : m->hold + 3 * (int64_t)v;
    const double nn = hx_dot3(n, n), part = nn > 0.0 ? hx_dot3(n, d) / nn : 0.0;
    for (int k = 0; k < 3; k++) d[k] = m->rank[v] == 2 ? part * n[k] : d[k] - part * n[k];
    for (int p = 0; p < m->mirrors->n; p++) {
        if (!(planes_of(m, v) >> p & 1u)) continue;
        const double *const normal = m->mirrors->plane[p].normal, height = hx_dot3(normal, d);
        for (int k = 0; k < 3; k++) d[k] -= height * normal[k];
    }
}

static void try_direction(const hx_surface_editor *m, int32_t v, const fan *f, const double to[3],
                          edit *best)
{
    static const int64_t none[2] = {-1, -1};
    const double *const x = place(m, v);
    double d[3] = {to[0], to[1], to[2]};
    project(m, v, f, d);
    for (double step = 1.0; step > 0.2; step *= 0.5) {
        trial w = untried;
        const double y[3] = {x[0] + step * d[0], x[1] + step * d[1], x[2] + step * d[2]};
        if (!try_place(m, v, f, y, none, &w)) continue;
        keep_best(best, &w, (edit){.kind = MOVE, .vertex = v, .x = {y[0], y[1], y[2]}});
    }
}

/* Moves the vertex at corner c towards the mean of its neighbours, or away from the opposite
 * edge. */
static void try_moves(const hx_surface_editor *m, int64_t c, edit *best)
{
    const int32_t v = m->edges.tri[c];
    const double *const x = place(m, v);
    const double *const a = place(m, m->edges.tri[hx_corner_next(c)]);
    const double *const b = place(m, m->edges.tri[hx_corner_next(hx_corner_next(c))]);
    double d[3], e[3], away[3];
    fan f;
    if (m->rank[v] > 2 || !find_fan(m, v, &f)) return;
    for (int k = 0; k < 3; k++) {
        d[k] = f.middle[k] - x[k];
        e[k] = b[k] - a[k];
        away[k] = x[k] - a[k];
    }
    try_direction(m, v, &f, d, best);
    const double ee = hx_dot3(e, e), along = ee > 0.0 ? hx_dot3(away, e) / ee : 0.0;
    for (int k = 0; k < 3; k++) away[k] -= along * e[k];
    const double height = hx_norm3(away);
    if (!(height > 0.0) || height > 0.4 * sqrt(ee)) return;
    for (int k = 0; k < 3; k++) away[k] *= 0.4 * sqrt(ee) / height - 1.0;
    try_direction(m, v, &f, away, best);
}

/* --- collapses --- */

/* 1 if vertex v may move by d. */
static int may_go(const hx_surface_editor *m, int32_t v, const double d[3])
{
    const double *const hold = m->hold + 3 * (int64_t)v;
    const double part = hx_dot3(hold, d), dd = hx_dot3(d, d);
    if (m->rank[v] == 0 || dd == 0.0) return 1;
    if (m->rank[v] == 1) return part * part <= 1e-8 * dd;
    return m->rank[v] == 2 && dd - part * part <= 1e-8 * dd;
}

/* 1 if the surface stays a closed manifold when a vertex with fan b and all its images merge into
 * one with fan a and its images. */
static int may_merge(const hx_surface_editor *m, const fan *a, const fan *b)
{
    if (!hx_fan_may_merge(&m->edges, a->corner, a->n, b->corner, b->n)) return 0;
    const int32_t stays = m->edges.tri[a->corner[0]], goes = m->edges.tri[b->corner[0]];
    const unsigned on = planes_of(m, stays), fewer = planes_of(m, goes), more = on & ~fewer;
    if (fewer & ~on) return 0;
    if (more == 0) return 1;
    const int n = a->n + images_at(more) * (b->n - 4);
    if (n < 3 || n > HX_FAN_MOST) return 0;
    /* an edge to a neighbour on the same plane would be made by several images */
    for (int i = 0; i < b->n; i++) {
        const int32_t w = m->edges.tri[hx_corner_next(b->corner[i])];
        if (w != stays && planes_of(m, w) & more && hx_fan_find(&m->edges, a->corner, a->n, w) < 0)
            return 0;
    }
    return 1;
}

static void try_collapse(const hx_surface_editor *m, int64_t c, edit *best)
{
    const int64_t g = m->edges.opposite[c], gone[2] = {c / 3, g / 3};
    const int32_t v[2] = {m->edges.tri[c], m->edges.tri[g]};
    fan f[2];
    if (!find_fan(m, v[0], &f[0]) || !find_fan(m, v[1], &f[1])) return;
    const int may[2] = {may_merge(m, &f[0], &f[1]), may_merge(m, &f[1], &f[0])};
    if (!may[0] && !may[1]) return;
    /* where they merge: in the middle, or at one of them */
    for (int i = 2; i >= 0; i--) {
        trial w = untried;
        double x[3], by[2][3];
        if (i == 2 && (m->rank[v[0]] != m->rank[v[1]] || m->rank[v[0]] > 1)) continue;
        if (i == 2 ? !may[0] || !may[1] : !may[i]) continue;
        for (int d = 0; d < 3; d++) {
            const double a = place(m, v[0])[d], b = place(m, v[1])[d];
            x[d] = i == 0 ? a : i == 1 ? b : 0.5 * (a + b);
            by[0][d] = x[d] - a;
            by[1][d] = x[d] - b;
        }
        if (i < 2 && m->rank[v[i]] < m->rank[v[!i]]) continue;
        if (!may_go(m, v[0], by[0]) || !may_go(m, v[1], by[1])) continue;
        if (!try_place(m, v[0], &f[0], x, gone, &w) || !try_place(m, v[1], &f[1], x, gone, &w))
            continue;
        const int64_t stays = i == 1 ? g : c;
        keep_best(best, &w, (edit){.kind = COLLAPSE, .half_edge = stays, .x = {x[0], x[1], x[2]}});
    }
}

/* Finds the collapse of the vertex opposite half-edge c into a neighbour, if it has three triangles
 * only. It may lie between needles that its neighbours cannot leave because of it. */
static void try_removal(const hx_surface_editor *m, int64_t c, edit *best)
{
    const int64_t far = hx_corner_next(hx_corner_next(m->edges.opposite[c]));
    const int32_t v = m->edges.tri[far];
    fan f, g;
    if (!find_fan(m, v, &f) || f.n != 3) return;
    for (int i = 0; i < 3; i++) {
        const int64_t h = f.corner[i], back = m->edges.opposite[h], gone[2] = {h / 3, back / 3};
        const int32_t b = m->edges.tri[back];
        const double *const x = place(m, v), *const y = place(m, b);
        const double by[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        trial w = untried;
        if (m->rank[b] < m->rank[v] || !may_go(m, v, by) || !find_fan(m, b, &g)) continue;
        if (!may_merge(m, &g, &f)) continue;
        if (!try_place(m, v, &f, y, gone, &w)) continue;
        if (w.after < fmin(w.before, HX_QUALITY_GOAL)) continue;
        const edit now = {
            .kind = COLLAPSE, .half_edge = back, .x = {y[0], y[1], y[2]}, .score = (float)w.after};
        if (best->kind == NOTHING || is_preferred(&now, best)) *best = now;
    }
}

/* --- flips --- */

/* Distance between the lines through a, b and c, d. */
static double line_distance(const double *a, const double *b, const double *c, const double *d)
{
    double e[3], f[3], n[3], to[3];
    for (int k = 0; k < 3; k++) {
        e[k] = b[k] - a[k];
        f[k] = d[k] - c[k];
        to[k] = c[k] - a[k];
    }
    hx_cross3(e, f, n);
    const double size = hx_norm3(n);
    return size > 0.0 ? fabs(hx_dot3(n, to)) / size : HUGE_VAL;
}

/* 1 if the two triangles of an edge may become one kind; *is_cap: which. At the rim of a cap, a
 * triangle of almost no area takes the kind of its neighbour. */
static int choose_kind(const hx_surface_editor *m, int64_t c, const double quality[2],
                       uint8_t *is_cap)
{
    const int64_t t[2] = {c / 3, m->edges.opposite[c] / 3};
    const int worse = quality[1] < quality[0];
    *is_cap = m->surface->is_cap[t[!worse]];
    if (m->surface->is_cap[t[0]] == m->surface->is_cap[t[1]]) return 1;
    if (quality[worse] > has_normal) return 0;
    /* a free vertex must not become one of a cap */
    const int64_t far = hx_corner_next(hx_corner_next(worse ? m->edges.opposite[c] : c));
    return !*is_cap || m->rank[m->edges.tri[far]] > 0;
}

static void try_flip(const hx_surface_editor *m, int64_t c, edit *best)
{
    const int64_t g = m->edges.opposite[c];
    const int64_t c2 = hx_corner_next(hx_corner_next(c)), g2 = hx_corner_next(hx_corner_next(g));
    const int32_t v[4] = {m->edges.tri[c], m->edges.tri[g], m->edges.tri[c2], m->edges.tri[g2]};
    const double *const x[4] = {place(m, v[0]), place(m, v[1]), place(m, v[2]), place(m, v[3])};
    const double quality[2] = {hx_triangle_quality(x[0], x[1], x[2]),
                               hx_triangle_quality(x[1], x[0], x[3])};
    fan f;
    uint8_t is_cap;
    double side[2][3], n[2][3];
    if (!choose_kind(m, c, quality, &is_cap)) return;
    unsigned on[4];
    for (int i = 0; i < 4; i++) on[i] = planes_of(m, v[i]);
    /* along a plane of symmetry, or to become so in several images */
    if (on[0] & on[1] || on[2] & on[3]) return;
    if (!find_fan(m, v[0], &f) || f.n < 3 + images_at(on[0])) return;
    if (!find_fan(m, v[1], &f) || f.n < 3 + images_at(on[1])) return;
    if (!find_fan(m, v[2], &f) || f.n + images_at(on[2]) > HX_FAN_MOST) return;
    if (hx_fan_find(&m->edges, f.corner, f.n, v[3]) >= 0) return;
    if (!find_fan(m, v[3], &f) || f.n + images_at(on[3]) > HX_FAN_MOST) return;
    hx_triangle_normal2(x[0], x[1], x[2], side[0]);
    hx_triangle_normal2(x[1], x[0], x[3], side[1]);
    hx_triangle_normal2(x[2], x[0], x[3], n[0]);
    hx_triangle_normal2(x[3], x[1], x[2], n[1]);
    for (int i = 0; i < 2; i++) {
        const double *const by = quality[i] > has_normal ? side[i] : side[!i];
        for (int k = 0; k < 2; k++)
            if (!is_beyond(hx_dot3(by, n[k]), is_cap ? 0.999 : least_cosine, by, n[k])) return;
    }
    const double size = sqrt(distance2(x[0], x[1]));
    if (!(line_distance(x[0], x[1], x[2], x[3]) <= (is_cap ? flat : largest_deviation) * size))
        return;
    trial w = untried;
    for (int i = 0; i < 2; i++) count_before(&w, quality[i]);
    count_after(&w, hx_triangle_quality(x[2], x[0], x[3]));
    count_after(&w, hx_triangle_quality(x[3], x[1], x[2]));
    edit now = {.kind = FLIP, .half_edge = c, .is_cap = is_cap};
    for (int d = 0; d < 3; d++) now.x[d] = 0.5 * (x[2][d] + x[3][d]);
    keep_best(best, &w, now);
}

/* --- edits --- */

/* The half-edge from vertex a to vertex b. */
static int32_t find_half_edge(const hx_surface_editor *m, int32_t a, int32_t b)
{
    int32_t corner[HX_FAN_MOST];
    return hx_fan_find(&m->edges, corner, hx_fan_list(&m->edges, a, corner), b);
}

/* Makes an edit at the image of its vertices. a, b: ends of the half-edge; MOVE: both the vertex.
 */
static void make_one(const hx_surface_editor *m, const edit *e, int32_t a, int32_t b,
                     const double x[3])
{
    int32_t fan_b[HX_FAN_MOST];
    if (e->kind != MOVE) {
        const int64_t c = find_half_edge(m, a, b);
        if (e->kind == FLIP) {
            m->surface->is_cap[c / 3] = e->is_cap;
            m->surface->is_cap[m->edges.opposite[c] / 3] = e->is_cap;
            hx_half_edge_flip(&m->edges, c);
            return;
        }
        hx_half_edge_collapse(&m->edges, c, fan_b, hx_fan_list(&m->edges, b, fan_b));
    }
    memcpy(m->surface->xyz + 3 * (int64_t)a, x, 3 * sizeof *x);
}

/* Makes an edit and all its images. */
static void make_edit(const hx_surface_editor *m, const edit *e)
{
    const hx_mirrors *const mirrors = m->mirrors;
    const int32_t a = e->kind == MOVE ? e->vertex : m->edges.tri[e->half_edge];
    const int32_t b = e->kind == MOVE ? a : m->edges.tri[m->edges.opposite[e->half_edge]];
    const unsigned on = planes_of(m, a);
    double x[3] = {e->x[0], e->x[1], e->x[2]};
    hx_mirror_project(mirrors, on, x);
    const unsigned same = on & planes_of(m, b);
    for (unsigned set = 0; set < 1u << mirrors->n; set++) {
        double y[3] = {x[0], x[1], x[2]};
        if (set & same) continue;
        hx_mirror_reflect_by(mirrors, set & ~on, y);
        make_one(m, e, hx_mirror_image(mirrors, a, set), hx_mirror_image(mirrors, b, set), y);
    }
}

int hx_surface_edit(hx_surface_editor *m, int64_t t)
{
    edit best = {.kind = NOTHING};
    m->reach = 0.0;
    for (int64_t c = 3 * t; c < 3 * t + 3; c++)
        m->reach = fmax(m->reach, distance2(place(m, m->edges.tri[c]),
                                            place(m, m->edges.tri[hx_corner_next(c)])));
    m->reach = sqrt(m->reach);
    for (int64_t c = 3 * t; c < 3 * t + 3; c++) try_flip(m, c, &best);
    for (int64_t c = 3 * t; c < 3 * t + 3; c++) try_moves(m, c, &best);
    for (int64_t c = 3 * t; c < 3 * t + 3; c++) try_collapse(m, c, &best);
    if (best.kind == NOTHING)
        for (int64_t c = 3 * t; c < 3 * t + 3; c++) try_removal(m, c, &best);
    if (best.kind == NOTHING) return 0;
    make_edit(m, &best);
    return 1;
}
