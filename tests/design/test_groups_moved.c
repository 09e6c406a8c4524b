/* Groups depend only on the shape. Random meshes of every kind of cell with symmetry planes,
 * repetitions and extrusions have the same groups if renumbered, moved by a million lengths, scaled, rotated or
 * mirrored. Regular meshes, in which images may be equally near to two elements, keep their groups
 * when rotated and mirrored into positions along the axes and others. Further cases are columns
 * that begin with two elements exactly above one another, and a bar of wedges whose images are all
 * half an element off, in closed form.
 *
 *     test_groups_moved [SCENES [REGULAR SCENES]] */
#include "tests/lib/moved_scene.h"

enum { N_MESH = 60, N_MOVE = 9, N_REGULAR = 430 };

/* Planes through the middle or a quarter of a cell off it, a diagonal, three at 60 degrees, or one
 * in any direction; an extrusion along an axis or oblique. */
static void draw_planes(scene *s, int which, uint64_t *state)
{
    double at[3];
    for (int d = 0; d < 3; d++)
        at[d] = 0.5 * (s->box.length[d] > 0.0 ? s->box.length[d] : s->box.n[d]);
    if (which == 3 || which == 8) at[0] += 0.25 * at[0] / s->box.n[0];
    if (which < 4 || which == 7 || which == 8) put_plane(s, at, 2.0, 0.0, 0.0);
    if (which == 1 || which == 2) put_plane(s, at, 0.0, -1.0, 0.0);
    if (which == 2) put_plane(s, at, 0.0, 0.0, 1.0);
    if (which == 4) put_plane(s, at, 1.0, -1.0, 0.0);
    if (which == 5) put_plane(s, at, draw(state, 0.2, 1.0), draw(state, 0.2, 1.0), 1.0);
    if (which == 9) {
        put_plane(s, at, 0.0, 1.0, 0.0);
        put_plane(s, at, 0.0, 0.5, sqrt(0.75));
    }
    s->is_extruded = which == 6 || which == 7 || which == 8;
    s->extrusion[2] = -3.0;
    if (which == 6) s->extrusion[0] = draw(state, 0.0, 1.0) < 0.5 ? 0.0 : 0.4;
}

static void draw_scene(scene *s, int number, uint64_t *state)
{
    static const char *const planes[10] = {
        "one", "two",      "three",         "beside the middle", "diagonal",
        "any", "extruded", "extruded, one", "extruded, beside",  "at 60 degrees"};
    const int which = number % 10;
    memset(s, 0, sizeof *s);
    s->box.kind = (mixed_kind)((number / 10 + number) % MIXED_N_KIND);
    for (int d = 0; d < 3; d++) s->box.n[d] = (int)(2 + draw_below(state, 3));
    if (s->box.kind == MIXED_LAYERS) s->box.n[2] = 5;
    s->box.distort = number % 3 == 0 ? 0.0 : 0.12;
    s->box.seed = hx_random_next(state);
    if (number % 2)
        for (int d = 0; d < 3; d++) s->box.length[d] = draw(state, 0.7, 1.3) * s->box.n[d];
    draw_planes(s, which, state);
    snprintf(s->name, sizeof s->name, "scene %d: %d x %d x %d %s, distorted by %g, planes: %s",
             number, s->box.n[0], s->box.n[1], s->box.n[2], mixed_name[s->box.kind], s->box.distort,
             planes[which]);
}

/* Copies about an axis through or beside the middle, along one or two steps that need not be
 * multiples of the elements, and both; distorted, so that the mesh itself does not repeat. */
static void draw_repeated_scene(scene *s, int number, uint64_t *state)
{
    const int which = number % 6;
    double size[3], at[3];
    memset(s, 0, sizeof *s);
    s->box.kind = (mixed_kind)((number / 6 + number) % MIXED_N_KIND);
    for (int d = 0; d < 3; d++) s->box.n[d] = (int)(2 + draw_below(state, 4));
    if (s->box.kind == MIXED_LAYERS) s->box.n[2] = 5;
    s->box.distort = 0.12;
    s->box.seed = hx_random_next(state);
    for (int d = 0; d < 3; d++) {
        size[d] = s->box.length[d] = draw(state, 0.7, 1.3) * s->box.n[d];
        at[d] = draw(state, 0.4, 0.6) * size[d];
    }
    const int n = 2 + (int)draw_below(state, 4);
    if (which == 0) put_cyclic(s, n, at, 0.0, 0.0, -2.0);
    if (which == 1) put_cyclic(s, n, at, draw(state, 0.2, 1.0), draw(state, 0.2, 1.0), 1.0);
    if (which == 2 || which == 5) put_pattern(s, 2, draw(state, 0.4, 0.5) * size[0], 0.0, 0.0);
    if (which == 3) put_pattern(s, 2, 0.5 * size[0], 0.1 * size[1], 0.0);
    if (which == 3) put_pattern(s, 2, 0.0, 0.0, -0.45 * size[2]);
    if (which == 4) put_cyclic(s, n, at, 0.0, 0.0, 1.0);
    if (which == 4) put_plane(s, at, 0.0, 0.0, 1.0);
    if (which == 5) put_plane(s, at, 0.0, 2.0, 0.0);
    s->is_extruded = number % 4 == 0 && which % 2 == 0;
    s->extrusion[2] = -3.0;
    snprintf(s->name, sizeof s->name, "repeated scene %d: %d x %d x %d %s, %d copies", number,
             s->box.n[0], s->box.n[1], s->box.n[2], mixed_name[s->box.kind], n);
}

static void check_scene(int number, int is_repeated, int64_t *n_linked)
{
    static const move_kind hows[N_MOVE] = {PLAIN,  MOVED,    SMALLER,  LARGER, TURNED,
                                           TURNED, MIRRORED, MIRRORED, FLIPPED};
    static const char *const word[] = {
        "renumbered", "moved",    "in a larger unit", "in a smaller unit",
        "turned",     "mirrored", "flipped"};
    uint64_t state = 1000 + (uint64_t)number;
    int64_t *first;
    hx_groups counts;
    scene s;
    (is_repeated ? draw_repeated_scene : draw_scene)(&s, number, &state);
    motion none = draw_motion(PLAIN, &state);
    none.seed = 0;
    memset(&counts, 0, sizeof counts);
    const int64_t n = find_groups(&s, &none, &first, &counts);
    *n_linked += counts.n_member;
    for (int i = 0; i < N_MOVE; i++) {
        const motion m = draw_motion(hows[i], &state);
        check_move(&s, &m, word[hows[i]], n, first, &counts);
    }
    free(first);
}

/* ---- regular meshes ---- */

/* Undistorted cells with an extrusion along an axis, a diagonal or a direction in between. */
static void draw_regular_scene(scene *s, int number, uint64_t *state)
{
    static const double along[4][3] = {{0, 0, 1}, {1, 0, 1}, {0.4, 0.0, 1.0}, {0.4, 0.3, 1.0}};
    const int which = number % 10;
    memset(s, 0, sizeof *s);
    s->box.kind = (mixed_kind)((number / 10 + number) % MIXED_N_KIND);
    for (int d = 0; d < 3; d++)
        s->box.n[d] = d > 0 && number % 4 == 0 ? s->box.n[0] : (int)(1 + draw_below(state, 4));
    if (s->box.kind == MIXED_LAYERS) s->box.n[2] = 5;
    for (int d = 0; d < 3 && number % 3 == 1; d++)
        s->box.length[d] = (0.5 + 0.25 * (double)draw_below(state, 3)) * s->box.n[d];
    draw_planes(s, which, state);
    if (which == 6) memcpy(s->extrusion, along[draw_below(state, 4)], sizeof s->extrusion);
    snprintf(s->name, sizeof s->name,
             "regular scene %d: %d x %d x %d %s, planes %d, extruded along %g %g %g", number,
             s->box.n[0], s->box.n[1], s->box.n[2], mixed_name[s->box.kind], which, s->extrusion[0],
             s->extrusion[1], s->extrusion[2]);
}

static void check_regular_scene(int number, int64_t *n_linked, int64_t *n_elem)
{
    uint64_t state = 7000 + (uint64_t)number;
    int64_t *first;
    hx_groups counts;
    scene s;
    char word[40];
    draw_regular_scene(&s, number, &state);
    motion none = draw_motion(PLAIN, &state);
    none.seed = 0;
    memset(&counts, 0, sizeof counts);
    const int64_t n = find_groups(&s, &none, &first, &counts);
    *n_linked += counts.n_member;
    *n_elem += n;
    for (int i = number % 4; i < N_AXES; i += 4) {
        const motion m = move_axes(i, &state);
        snprintf(word, sizeof word, "axes moved onto axes, way %d", i);
        check_move(&s, &m, word, n, first, &counts);
    }
    for (int i = 0; i < 2; i++) {
        const motion m = draw_motion(i % 2 ? MIRRORED : TURNED, &state);
        check_move(&s, &m, i % 2 ? "mirrored" : "turned", n, first, &counts);
    }
    free(first);
}

/* A bar of wedges, two in each cell of 1 x 1 x 1, mirrored in y: the mirrored centroid of each
 * wedge lies on the face between the two, equally far from both. They must be images of each other
 * for any position of the part. */
static void check_wedges(void)
{
    scene s = {.box = {.kind = MIXED_WEDGES, .n = {6, 1, 1}}};
    static const double at[3] = {3.0, 0.5, 0.5};
    uint64_t state = 5;
    put_plane(&s, at, 0.0, 1.0, 0.0);
    for (int i = 0; i < 20; i++) {
        motion m = draw_motion(i % 2 ? MOVED : TURNED, &state);
        int64_t *group;
        hx_groups counts;
        for (int d = 0; d < 3 && i % 4 == 1; d++) m.b[d] *= 1e-5;
        CHECK(find_groups(&s, &m, &group, &counts) == 12);
        CHECK_MSG(counts.n_member == 12 && counts.n_group == 6 && counts.n_alone == 0,
                  "motion %d: %d in %d groups", i, (int)counts.n_member, (int)counts.n_group);
        CHECK_ABS(counts.shift, 0.5, 1e-6);
        for (int e = 0; group && e < 12; e++) CHECK(group[e] == e / 2 * 2);
        free(group);
    }
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : N_MESH;
    const int n_regular = argc > 2 ? atoi(argv[2]) : N_REGULAR;
    /* Oblique columns of pyramids that begin with two elements exactly above one another, which
     * only the coordinates distinguish. */
    static const int above[] = {2326, 3526, 3706,  4126,  4366, 5866,
                                7366, 8986, 10966, 12166, 12886};
    int64_t n_linked = 0, n_repeated = 0, n_regular_tied = 0, n_elem = 0;
    for (int number = 0; number < n; number++) check_scene(number, 0, &n_linked);
    printf("%d elements tied\n", (int)n_linked);
    CHECK(n_linked > 1000);
    for (int number = 0; number < n; number++) check_scene(number, 1, &n_repeated);
    printf("%d elements repeated\n", (int)n_repeated);
    CHECK(n_repeated > 1000);
    for (int number = 0; number < n_regular; number++)
        check_regular_scene(number, &n_regular_tied, &n_elem);
    for (size_t i = 0; i < sizeof above / sizeof *above; i++)
        check_regular_scene(above[i], &n_regular_tied, &n_elem);
    printf("%d of %d elements of regular meshes tied\n", (int)n_regular_tied, (int)n_elem);
    CHECK(10 * n_regular_tied > 8 * n_elem);
    check_wedges();
    TEST_END();
}
