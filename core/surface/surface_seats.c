/* Moves vertices of caps from the chords of curved faces onto the faces. */
#include <math.h>
#include <string.h>

#include "surface_edit.h"

/* Least cosine between the normal of a facet and that of its seat. */
static const double along = 0.8;

/* Longest move relative to the edges at a vertex: that of a chord which turns by 60 degrees. */
static const double longest = 0.15;

enum { MOST_STEPS = 50 };

/* The caps around a vertex: which lie along the seat, and the planes of the others. */
typedef struct caps {
    int n_along, n_plane;
    double plane[HX_FAN_MOST][3]; /* unit normals */
    double size;                  /* longest edge at the vertex */
} caps;

static void sort_caps(const hx_surface_editor *m, const hx_surface_seat *seat, int32_t v,
                      const int32_t *fan, int n, caps *c)
{
    const hx_surface *const s = m->surface;
    const double *const x = s->xyz + 3 * (int64_t)v;
    double radial[3];
    c->n_along = c->n_plane = 0;
    c->size = 0.0;
    hx_seat_radial(seat, x, radial);
    for (int i = 0; i < n; i++) {
        const double *y[3];
        double normal[3], edge[3];
        hx_triangle_corners(s, s->xyz, fan[i] / 3, y);
        for (int d = 0; d < 3; d++) edge[d] = y[(fan[i] + 1) % 3][d] - x[d];
        c->size = fmax(c->size, hx_norm3(edge));
        if (!s->is_cap[fan[i] / 3]) continue;
        hx_triangle_normal2(y[0], y[1], y[2], normal);
        const double size = hx_norm3(normal);
        if (fabs(hx_dot3(normal, radial)) > along * size * hx_norm3(radial)) {
            c->n_along++;
            continue;
        }
        for (int d = 0; d < 3 && size > 0.0; d++) c->plane[c->n_plane][d] = normal[d] / size;
        c->n_plane += size > 0.0;
    }
}

/* Moves the vertex onto the seat within the planes of its other caps. Returns 0 if that would be
 * too far. */
static int move_onto(const hx_surface_seat *seat, const caps *c, double x[3])
{
    double to[3] = {x[0], x[1], x[2]}, by[3];
    for (int i = 0; i < MOST_STEPS; i++) {
        double radial[3], off = 0.0;
        hx_seat_radial(seat, to, radial);
        const double r = hx_norm3(radial);
        if (!(r > 0.5 * seat->radius)) return 0;
        for (int d = 0; d < 3; d++) to[d] += (seat->radius / r - 1.0) * radial[d];
        for (int k = 0; k < c->n_plane; k++) {
            for (int d = 0; d < 3; d++) by[d] = to[d] - x[d];
            const double height = hx_dot3(by, c->plane[k]);
            for (int d = 0; d < 3; d++) to[d] -= height * c->plane[k][d];
            off = fmax(off, fabs(height));
        }
        if (!(off > 1e-12 * seat->radius)) break;
    }
    for (int d = 0; d < 3; d++) by[d] = to[d] - x[d];
    if (!(hx_norm3(by) <= longest * c->size) || !hx_seat_has(seat, to)) return 0;
    memcpy(x, to, sizeof to);
    return 1;
}

/* 1 if the vertex lies on an edge of the mesh between two nodes of the seat or, at the middle of a
 * curved face, between vertices that are on it. */
static int belongs(const hx_surface_editor *m, const hx_mesh *mesh, const hx_surface_seat *seat,
                   int32_t v, const int32_t *fan, int n)
{
    const hx_surface *const s = m->surface;
    const int32_t *const edge = s->edge + 2 * (int64_t)v;
    if (edge[0] >= 0)
        return edge[0] != edge[1] && hx_seat_has(seat, mesh->xyz + 3 * (int64_t)edge[0]) &&
               hx_seat_has(seat, mesh->xyz + 3 * (int64_t)edge[1]);
    for (int i = 0; i < n; i++)
        if (!s->is_cap[fan[i] / 3] ||
            !hx_seat_has(seat, s->xyz + 3 * (int64_t)s->tri[hx_corner_next(fan[i])]))
            return 0;
    return 1;
}

void hx_surface_seat_vertices(hx_surface_editor *m, const hx_mesh *mesh, int64_t n_seat,
                              const hx_surface_seat *seat)
{
    const hx_surface *const s = m->surface;
    /* vertices on edges first, then those in the middle of faces, which lie between them */
    for (int is_middle = 0; is_middle < 2; is_middle++)
        for (int64_t v = 0; v < s->n_vertex && n_seat > 0; v++) {
            int32_t fan[HX_FAN_MOST];
            int n_cap = 0;
            if (m->edges.corner[v] < 0 || m->rank[v] == 0) continue;
            if (is_middle != (s->edge[2 * v] < 0)) continue;
            const int n = hx_fan_list(&m->edges, (int32_t)v, fan);
            for (int i = 0; i < n; i++) n_cap += s->is_cap[fan[i] / 3];
            for (int64_t k = 0; k < n_seat && n_cap > 0; k++) {
                caps c;
                if (!belongs(m, mesh, &seat[k], (int32_t)v, fan, n)) continue;
                sort_caps(m, &seat[k], (int32_t)v, fan, n, &c);
                if (c.n_along == 0 || !move_onto(&seat[k], &c, s->xyz + 3 * v)) continue;
                m->rank[v] = 3;
                break;
            }
        }
}
