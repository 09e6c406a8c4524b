/* Random parts have the same groups wherever they lie: boxes of every kind of cell, regular,
 * distorted or with elements removed; up to three symmetry planes through the middle or off it, at
 * right angles, along diagonals, at 60 degrees or in any direction; with and without an extrusion
 * along an axis, along a plane's normal or oblique. Each is renumbered, moved by a million lengths,
 * scaled, rotated, mirrored, all of these together, placed along other axes, and extruded in the
 * opposite direction.
 *
 *     test_groups_sweep [SCENES [FIRST]]     manually: 20000; to repeat one scene: 1 NUMBER */
#include "tests/lib/moved_scene.h"

enum { N_SCENE = 600 };

typedef struct tally {
    int64_t n_scene, n_refused, n_elem, n_linked, n_group;
    int64_t n_within; /* groups that differ far away because the tolerance is larger there */
} tally;

/* Boxes of cubes, of bricks of a few sizes or of any size; a third of them distorted. */
static void draw_box(scene *s, int number, uint64_t *state)
{
    const int sizes = (int)draw_below(state, 3), is_square = draw_below(state, 4) == 0;
    s->box.kind = (mixed_kind)(number % MIXED_N_KIND);
    for (int d = 0; d < 3; d++) {
        s->box.n[d] = d > 0 && is_square ? s->box.n[0] : (int)(1 + draw_below(state, 4));
        if (sizes == 1) s->box.length[d] = (0.5 + 0.25 * (double)draw_below(state, 3));
        if (sizes == 2) s->box.length[d] = draw(state, 0.7, 1.3);
        if (sizes > 0 && d > 0 && is_square) s->box.length[d] = s->box.length[0] / s->box.n[0];
        if (sizes > 0) s->box.length[d] *= s->box.n[d];
    }
    if (s->box.kind == MIXED_LAYERS) s->box.n[2] = 5;
    if (s->box.kind == MIXED_LAYERS && sizes > 0) s->box.length[2] = 4.0;
    if (draw_below(state, 3) == 0) s->box.distort = draw_below(state, 2) ? 0.12 : 0.01;
    if (draw_below(state, 3) == 0) s->holes = draw(state, 0.02, 0.3);
    s->box.seed = hx_random_next(state);
}

static void draw_sweep_planes(scene *s, int which, uint64_t *state)
{
    static const double off[4] = {0.0, 0.0, 0.25, 0.5}; /* relative to a cell */
    double at[3];
    for (int d = 0; d < 3; d++) {
        const double length = s->box.length[d] > 0.0 ? s->box.length[d] : s->box.n[d];
        at[d] = 0.5 * length + off[draw_below(state, 4)] * length / s->box.n[d];
        if (draw_below(state, 8) == 0) at[d] = draw(state, 0.4, 0.6) * length;
    }
    const int first = (int)draw_below(state, 3);
    for (int i = 0; which < 4 && i < which; i++) {
        const int d = (first + i) % 3;
        const double size = draw_below(state, 2) ? 2.0 : -1.0;
        put_plane(s, at, size * (d == 0), size * (d == 1), size * (d == 2));
    }
    if (which == 4 || which == 5) put_plane(s, at, 1.0, -1.0, 0.0);
    if (which == 5) put_plane(s, at, 0.0, 1.0, 0.0);
    if (which == 6) put_plane(s, at, draw(state, 0.2, 1.0), draw(state, 0.2, 1.0), 1.0);
    if (which == 7) {
        put_plane(s, at, 0.0, 1.0, 0.0);
        put_plane(s, at, 0.0, 0.5, sqrt(0.75));
    }
    if (which == 7 && draw_below(state, 2)) put_plane(s, at, 1.0, 0.0, 0.0);
}

/* Perpendicular to all planes' normals, or along one of them. */
static void draw_extrusion(scene *s, uint64_t *state)
{
    static const double along[8][3] = {{0, 0, 1},     {0, -1, 0},  {1, 0, 1},  {0.4, 0, 1},
                                       {0.4, 0.3, 1}, {0, 0.5, 1}, {-1, 1, 1}, {1, 0.25, 0}};
    double v[3];
    const int which = (int)draw_below(state, 10);
    for (int i = 0; i < 3; i++) v[i] = which < 8 ? along[which][i] : draw(state, -1.0, 1.0);
    s->is_extruded = 1;
    memcpy(s->extrusion, v, sizeof v);
    if (s->n_plane == 0) return;
    const double *const n = s->plane[0].normal;
    const double *const m = s->n_plane > 1 ? s->plane[1].normal : v;
    if (which % 3 == 0 && (s->n_plane == 1 || hx_dot3(n, m) == 0.0)) {
        memcpy(s->extrusion, n, sizeof v);
        return;
    }
    hx_cross3(n, m, s->extrusion);
    if (!(hx_norm3(s->extrusion) > 0.1)) memcpy(s->extrusion, n, sizeof v);
}

static void draw_scene(scene *s, int number, uint64_t *state)
{
    static const char *const planes[8] = {
        "none", "one", "two", "three", "diagonal", "diagonal and one", "any", "at 60 degrees"};
    memset(s, 0, sizeof *s);
    draw_box(s, number, state);
    const int which = (int)draw_below(state, 8);
    draw_sweep_planes(s, which, state);
    if (which == 0 || draw_below(state, 5) < 2) draw_extrusion(s, state);
    snprintf(s->name, sizeof s->name,
             "scene %d: %d x %d x %d %s, distort %g, holes %.2g, planes %s, %g %g %g", number,
             s->box.n[0], s->box.n[1], s->box.n[2], mixed_name[s->box.kind], s->box.distort,
             s->holes, planes[which], s->extrusion[0], s->extrusion[1], s->extrusion[2]);
}

/* Rotated or mirrored, in another unit, and a thousand lengths away. */
static motion draw_all_at_once(uint64_t *state)
{
    const double unit = draw(state, 0.1, 10.0);
    motion m = draw_motion(draw_below(state, 2) ? TURNED : MIRRORED, state);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) m.a[i][k] *= unit;
        m.b[i] = 1e3 * unit * draw(state, -4.0, 4.0);
    }
    return m;
}

static int64_t count_other(int64_t n, const int64_t *a, const int64_t *b)
{
    int64_t n_other = 0;
    for (int64_t e = 0; e < n; e++) n_other += a[e] != b[e];
    return n_other;
}

/* The tolerance grows with the largest coordinate, so an image that misses a limit by a millionth
 * is on the limit a million lengths away. Returns 1 if this is the only difference. The first
 * plane's point is moved within its plane as far as m moves the part, which gives the unmoved scene
 * the same tolerance. */
static int is_within_margin(const scene *s, const motion *m)
{
    const motion none = draw_motion(PLAIN, &(uint64_t){1});
    scene far = *s;
    int64_t *here, *there;
    hx_groups counts;
    double along[3];
    if (s->n_plane == 0) return 0;
    const double *const normal = s->plane[0].normal;
    const double axis[3] = {fabs(normal[0]) < 0.5, fabs(normal[0]) >= 0.5, 0.0};
    hx_cross3(normal, axis, along);
    const double most = fmax(fabs(along[0]), fmax(fabs(along[1]), fabs(along[2])));
    const double distance = fmax(fabs(m->b[0]), fmax(fabs(m->b[1]), fabs(m->b[2])));
    for (int i = 0; i < 3; i++) far.plane[0].point[i] += along[i] / most * distance;
    const int64_t n = find_groups(&far, &none, &here, &counts);
    const int is_same = find_groups(s, m, &there, &counts) == n && count_other(n, here, there) == 0;
    free(here);
    free(there);
    return is_same;
}

/* Checks the part a million lengths away. */
static void check_far(const scene *s, const motion *m, int64_t n, const int64_t *first,
                      const hx_groups *counts, tally *sum)
{
    int64_t *group;
    hx_groups found;
    const int is_same = find_groups(s, m, &group, &found) == n && count_other(n, group, first) == 0;
    free(group);
    if (!is_same && is_within_margin(s, m))
        sum->n_within++;
    else
        check_move(s, m, "moved", n, first, counts);
}

static void check_scene(int number, tally *sum)
{
    static const move_kind hows[] = {PLAIN, MOVED, SMALLER, LARGER, TURNED, MIRRORED, FLIPPED};
    static const char *const word[] = {
        "renumbered", "moved",    "in a larger unit", "in a smaller unit",
        "turned",     "mirrored", "flipped"};
    uint64_t state = 54000 + (uint64_t)number;
    int64_t *first;
    hx_groups counts;
    scene s;
    draw_scene(&s, number, &state);
    motion m = draw_motion(PLAIN, &state);
    m.seed = 0;
    memset(&counts, 0, sizeof counts);
    const int64_t n = find_groups(&s, &m, &first, &counts);
    sum->n_scene++;
    sum->n_refused += n == 0;
    sum->n_elem += n;
    sum->n_linked += counts.n_member;
    sum->n_group += counts.n_group;
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        m = draw_motion(hows[i], &state);
        if (hows[i] == MOVED)
            check_far(&s, &m, n, first, &counts, sum);
        else
            check_move(&s, &m, word[hows[i]], n, first, &counts);
    }
    m = draw_all_at_once(&state);
    check_move(&s, &m, "all at once", n, first, &counts);
    for (int i = 0; i < 2; i++) {
        m = move_axes((int)draw_below(&state, N_AXES), &state);
        check_move(&s, &m, "axes moved onto axes", n, first, &counts);
    }
    m = draw_motion(PLAIN, &state);
    for (int i = 0; i < 3; i++) s.extrusion[i] = -s.extrusion[i];
    if (s.is_extruded) check_move(&s, &m, "extruded the other way round", n, first, &counts);
    free(first);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : N_SCENE, begin = argc > 2 ? atoi(argv[2]) : 0;
    tally sum = {0};
    for (int number = begin; number < begin + n; number++) check_scene(number, &sum);
    printf("%lld scenes, %lld refused; %lld elements, %lld tied in %lld groups; %lld at a limit by "
           "the margin "
           "of far coordinates\n",
           (long long)sum.n_scene, (long long)sum.n_refused, (long long)sum.n_elem,
           (long long)sum.n_linked, (long long)sum.n_group, (long long)sum.n_within);
    if (n >= N_SCENE) CHECK(4 * sum.n_refused < sum.n_scene && 2 * sum.n_linked > sum.n_elem);
    CHECK(sum.n_within <= 1 + sum.n_scene / 1000);
    TEST_END();
}
