/* Whether a span is the thickness of a member: a strut, a neck, a wall; and how thick that is. */
#include <math.h>

#include "surface_internal.h"
#include "thickness_finder.h"

enum { LEVELS = 4, DIRECTIONS = 8, HALVINGS = 24, PLANES = 8, MOST_MOVES = 4, MOST_TAPERS = 24 };

/* Radii of the ball, in half lengths of the span: the ball must cover the cross-section of a strut,
 * so a flat one needs a larger ball. The shell is this much larger. */
static const double ball[LEVELS] = {2.0, 3.0, 4.5, 7.0}, shell_thickness = 4.0;

/* The least radii of the ball and the shell, in edges of the triangles at both ends: less cannot be
 * told from the triangles. */
static const double least_inner = 1.0, least_outer = 2.5;

/* A ball that is as thick as the member lies within this many radii of the ball. */
static const double within = 1.2;

/* A ball of this share of the span's length is the largest: the span is in the middle. */
static const double medial = 0.995;

/* Balls move where their radius grows by at least this share of the way: away from a wall, not along
 * a slightly conical member. */
static const double steep = 0.1;

/* Where the thickness falls below this share within the shell, the span is in a wedge. */
static const double taper = 0.75;

/* After a span that is in no member, those that begin near its ends (as a distance from its centre,
 * in half its lengths) and are at most this much longer are not tried, so that few spans are tried
 * in a bulky part. */
static const double beside = 1.2, similar = 1.25;

/* A ball around the middle of a span, and the shell around it. */
typedef struct shell {
    double inner, outer; /* radii */
    double reach;        /* balls that are as thick as the member lie within this of the middle */
} shell;

/* --- balls --- */

static double radius_at(const hx_thickness_finder *f, const double x[3])
{
    return hx_triangle_tree_distance(&f->tree, x, f->is_across, f->far);
}

/* x := centre + a u + b v. */
static void place(const double centre[3], const double u[3], const double v[3], double a, double b,
                  double x[3])
{
    for (int d = 0; d < 3; d++) x[d] = centre[d] + a * u[d] + b * v[d];
}

/* side := the unit vector across the span along which the balls around x grow, away from the nearest
 * of the walls at its sides. */
static void find_side(const hx_thickness_finder *f, const hx_span *s, const double at[3],
                      double side[3])
{
    static const double off = 0.05, origin[3] = {0.0, 0.0, 0.0};
    double u[3] = {0.0, 0.0, 0.0}, v[3], x[3], grow[2] = {1.0, 0.0};
    int least = 0;
    for (int d = 1; d < 3; d++)
        if (fabs(s->along[d]) < fabs(s->along[least])) least = d;
    u[least] = 1.0;
    hx_cross3(s->along, u, v);
    const double size = hx_norm3(v);
    for (int d = 0; d < 3; d++) v[d] /= size;
    hx_cross3(v, s->along, u);
    for (int i = 0; i < 2; i++) {
        double r[2];
        for (int k = 0; k < 2; k++) {
            const double step = (k ? off : -off) * s->length;
            place(at, u, v, i ? 0.0 : step, i ? step : 0.0, x);
            r[k] = radius_at(f, x);
        }
        grow[i] = r[1] - r[0];
    }
    const double rate = hypot(grow[0], grow[1]);
    if (rate > 0.0)
        place(origin, u, v, grow[0] / rate, grow[1] / rate, side);
    else
        place(origin, u, v, 1.0, 0.0, side);
}

/* A ball on its way to the largest one. */
typedef struct growing {
    double at[3], radius, step;
} growing;

/* Moves the ball in the plane of the span and its side, by one step to the best of eight places. */
static void move(const hx_thickness_finder *f, const hx_span *s, const double side[3], double reach,
                 growing *g)
{
    static const double way[DIRECTIONS][2] = {{1, 0}, {-1, 0}, {0, 1},  {0, -1},
                                              {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    const double from[3] = {g->at[0], g->at[1], g->at[2]}, before = g->radius;
    for (int k = 0; k < DIRECTIONS; k++) {
        double x[3], off[3];
        place(from, s->along, side, g->step * way[k][0], g->step * way[k][1], x);
        for (int d = 0; d < 3; d++) off[d] = x[d] - s->centre[d];
        const double left = reach - hx_norm3(off);
        if (!(left > g->radius)) continue;
        const double r = fmin(radius_at(f, x), left);
        if (!(r > g->radius && r > before + steep * g->step)) continue;
        g->radius = r;
        for (int d = 0; d < 3; d++) g->at[d] = x[d];
    }
}

/* The diameter of the largest ball within `reach` of the middle of a span, in the plane through the
 * span in which balls grow most: that of the cross-section of a strut. Near a corner of it, several
 * planes one after the other lead there. From `enough` on it need not be the largest. */
static double find_ball(const hx_thickness_finder *f, const hx_span *s, double reach, double enough)
{
    growing g = {{s->centre[0], s->centre[1], s->centre[2]}, 0.5 * s->ball, 0.0};
    double side[3];
    for (int plane = 0; plane < PLANES && 2.0 * g.radius < medial * s->length; plane++) {
        double first[3];
        find_side(f, s, g.at, plane % 2 ? first : side);
        if (plane % 2) hx_cross3(s->along, first, side); /* steps of elements hide a way */
        g.step = 0.25 * reach;
        for (int halving = 0; halving < HALVINGS && 2.0 * g.radius < enough;) {
            if (isfinite(enough) && plane + 1 == PLANES &&
                2.0 * (g.radius + MOST_MOVES * g.step) < enough)
                break;
            const double before = g.radius;
            move(f, s, side, reach, &g);
            if (g.radius > before * (1.0 + 1e-9)) continue;
            g.step *= 0.5;
            halving++;
        }
    }
    return 2.0 * g.radius;
}

/* --- shells --- */

static double distance_to(const hx_thickness_finder *f, int32_t t, const double c[3])
{
    const double *x[3];
    double share[3], off[3];
    hx_triangle_corners(f->surface, f->surface->xyz, t, x);
    hx_triangle_nearest(x[0], x[1], x[2], c, share);
    for (int d = 0; d < 3; d++)
        off[d] = share[0] * x[0][d] + share[1] * x[1][d] + share[2] * x[2][d] - c[d];
    return hx_norm3(off);
}

static double longest_edge(const hx_thickness_finder *f, int32_t t)
{
    const double *x[3];
    double most = 0.0;
    hx_triangle_corners(f->surface, f->surface->xyz, t, x);
    for (int i = 0; i < 3; i++) {
        double off[3];
        for (int d = 0; d < 3; d++) off[d] = x[(i + 1) % 3][d] - x[i][d];
        most = fmax(most, hx_norm3(off));
    }
    return most;
}

/* The longest edge of a triangle and its three neighbours. */
static double edge_at(const hx_thickness_finder *f, int32_t t)
{
    double most = longest_edge(f, t);
    for (int k = 0; k < 3; k++) {
        const int32_t o = f->opposite[3 * (int64_t)t + k];
        if (o >= 0) most = fmax(most, longest_edge(f, o / 3));
    }
    return most;
}

static shell shell_of(const hx_thickness_finder *f, const hx_span *s, int level)
{
    const double half = 0.5 * s->length, edge = fmax(edge_at(f, s->from), edge_at(f, s->to));
    const double inner = fmax(ball[level] * half, least_inner * edge);
    return (shell){inner, fmax((ball[level] + shell_thickness) * half, least_outer * edge),
                   within * inner};
}

/* Adds a triangle to the surroundings, if it is within the outer ball. */
static void reach(hx_thickness_finder *f, const hx_span *s, const shell *around, int32_t t,
                  int64_t *n)
{
    if (f->seen[t] == f->number) return;
    const double distance = distance_to(f, t, s->centre);
    if (!(distance < around->outer)) return;
    f->seen[t] = f->number;
    f->is_in[t] = distance < around->inner;
    f->queue[(*n)++] = t;
}

/* Visits the triangles of the shell that are connected with t. Returns 1 if they reach its
 * outside. */
static int visit_part(hx_thickness_finder *f, int32_t t)
{
    int reaches = 0;
    int64_t n = 0;
    f->is_in[t] = 2;
    f->stack[n++] = t;
    while (n > 0) {
        const int32_t at = f->stack[--n];
        for (int k = 0; k < 3; k++) {
            const int32_t o = f->opposite[3 * (int64_t)at + k];
            if (o < 0) continue;
            const int32_t other = o / 3;
            if (f->seen[other] != f->number) {
                reaches = 1;
            } else if (!f->is_in[other]) {
                f->is_in[other] = 2;
                f->stack[n++] = other;
            }
        }
    }
    return reaches;
}

/* Number of parts of the surface in a shell that reach its outside, up to two; *n: triangles of the
 * surroundings. */
static int count_parts(hx_thickness_finder *f, const hx_span *s, const shell *around, int64_t *n)
{
    int n_part = 0;
    *n = 0;
    f->number++;
    reach(f, s, around, s->from, n);
    reach(f, s, around, s->to, n);
    for (int64_t i = 0; i < *n; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t o = f->opposite[3 * (int64_t)f->queue[i] + k];
            if (o >= 0) reach(f, s, around, o / 3, n);
        }
    for (int64_t i = 0; i < *n && n_part < 2; i++)
        if (!f->is_in[f->queue[i]]) n_part += visit_part(f, f->queue[i]);
    return n_part;
}

/* 1: the thickness falls from the middle of the span outwards, as in a wedge: at one of the spans
 * that begin in the shell, of the shortest ones. */
static int is_tapered(const hx_thickness_finder *f, const shell *around, int64_t n, double value)
{
    int n_tried = 0;
    for (int64_t i = 0; i < n && n_tried < MOST_TAPERS; i++) {
        const int32_t t = f->queue[i];
        if (f->is_in[t] == 1 || f->at[t] < 0) continue;
        const hx_span *const other = &f->span[f->at[t]];
        if (!(other->ball < taper * value)) continue;
        n_tried++;
        if (find_ball(f, other, around->reach, taper * value) < taper * value) return 1;
    }
    return 0;
}

static void leave_out(hx_thickness_finder *f, const hx_span *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int32_t t = f->queue[i];
        if (f->is_in[t] == 1 && distance_to(f, t, s->centre) < beside * 0.5 * s->length)
            f->tried[t] = fmax(f->tried[t], similar * s->length);
    }
}

double hx_thickness_of_member(hx_thickness_finder *f, const hx_span *s, double least)
{
    int64_t n = 0;
    if (s->ball >= least || s->length <= f->tried[s->from]) return (double)NAN;
    const int n_level = s->is_parallel ? LEVELS : 1;
    for (int level = 0; level < n_level; level++) {
        const shell around = shell_of(f, s, level);
        const double size = find_ball(f, s, around.reach, least);
        if (size >= least) return (double)NAN; /* larger shells have no smaller ball */
        if (count_parts(f, s, &around, &n) < 2) continue;
        const double value = find_ball(f, s, around.reach, HUGE_VAL);
        if (!is_tapered(f, &around, n, value)) return value;
        break;
    }
    leave_out(f, s, n);
    return (double)NAN;
}
