/* Parts with planes of symmetry, repetitions and extrusions, moved: tests use them to check that groups of
 * linked elements depend only on the shape. Scenes are drawn at random by the tests; each motion
 * also renumbers elements, nodes and corners. */
#ifndef HX_TEST_MOVED_SCENE_H
#define HX_TEST_MOVED_SCENE_H

#include "core/base/vec3.h"
#include "fixture.h"
#include "mixed_mesh.h"

enum { N_AXES = 48 };

typedef enum { PLAIN, MOVED, SMALLER, LARGER, TURNED, MIRRORED, FLIPPED } move_kind;

/* x -> a x + b, where a has orthogonal columns, and the order of the elements. */
typedef struct motion {
    double a[3][3], b[3];
    int is_mirror;
    uint64_t seed; /* 0: elements, nodes and corners keep their numbers */
} motion;

typedef struct scene {
    mixed_box box;
    /* fraction of the elements that are removed if every node keeps another element */
    double holes;
    size_t n_plane, n_repetition;
    hx_symmetry_plane plane[3];
    hx_repetition repetition[2];
    int is_extruded;
    double extrusion[3];
    char name[128];
} scene;

static inline double draw(uint64_t *state, double low, double high)
{
    return low + (high - low) * hx_random_unit(hx_random_next(state));
}

static inline int64_t draw_below(uint64_t *state, int64_t n)
{
    const int64_t i = (int64_t)((double)n * hx_random_unit(hx_random_next(state)));
    return i < n ? i : n - 1;
}

static inline void apply(const motion *m, int is_direction, const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = is_direction ? 0.0 : m->b[i];
        for (int k = 0; k < 3; k++) y[i] += m->a[i][k] * x[k];
    }
}

/* A rotation by Euler angles of a quaternion drawn at random. */
static inline void draw_rotation(uint64_t *state, double a[3][3])
{
    double q[4], square = 0.0;
    for (int i = 0; i < 4; i++) {
        q[i] = draw(state, -1.0, 1.0);
        square += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++) q[i] /= sqrt(square);
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(a, r, sizeof r);
}

static inline motion draw_motion(move_kind how, uint64_t *state)
{
    motion m = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}, 0, 0};
    const double unit = how == SMALLER ? 1e-3 : how == LARGER ? 25.4 : 1.0;
    if (how == TURNED || how == MIRRORED) draw_rotation(state, m.a);
    m.is_mirror = how == MIRRORED || how == FLIPPED;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            m.a[i][k] *= unit;
            if (m.is_mirror && k == 0) m.a[i][k] = -m.a[i][k];
        }
    for (int i = 0; i < 3; i++)
        if (how == MOVED) m.b[i] = 1e6 * draw(state, 2.0, 6.0);
    m.seed = 1 + hx_random_next(state) / 2;
    return m;
}

/* Number 0 to 47 of the isometries that map the axes onto each other. */
static inline motion move_axes(int number, uint64_t *state)
{
    motion m = {{{0}}, {0, 0, 0}, 0, 0};
    const int first = number % 3, second = (first + 1 + number / 3 % 2) % 3;
    const int to[3] = {first, second, 3 - first - second};
    m.is_mirror = number / 3 % 2;
    for (int d = 0; d < 3; d++) {
        const int is_negative = (number / 6) >> d & 1;
        m.a[to[d]][d] = is_negative ? -1.0 : 1.0;
        m.is_mirror ^= is_negative;
    }
    m.seed = 1 + hx_random_next(state) / 2;
    return m;
}

/* Renumbers elements, nodes and corners: place[i] is the new index of element i of the scene. */
static inline void renumber(hx_mesh *mesh, const motion *m, int32_t *place)
{
    const int64_t n = mesh->n_elem;
    int32_t *const conn = malloc((size_t)n * 8 * sizeof *conn);
    int32_t *const node = malloc((size_t)mesh->n_node * sizeof *node);
    double *const xyz = malloc((size_t)mesh->n_node * 3 * sizeof *xyz);
    uint64_t state = m->seed;
    if (!conn || !node || !xyz) abort();
    for (int64_t i = 0; i < n; i++) place[i] = (int32_t)i;
    for (int64_t a = 0; a < mesh->n_node; a++) node[a] = (int32_t)a;
    for (int64_t i = n - 1; m->seed && i > 0; i--) {
        const int64_t k = draw_below(&state, i + 1);
        const int32_t kept = place[i];
        place[i] = place[k];
        place[k] = kept;
    }
    for (int64_t a = mesh->n_node - 1; m->seed && a > 0; a--) {
        const int64_t k = draw_below(&state, a + 1);
        const int32_t kept = node[a];
        node[a] = node[k];
        node[k] = kept;
    }
    memcpy(conn, mesh->conn, (size_t)n * 8 * sizeof *conn);
    memcpy(xyz, mesh->xyz, (size_t)mesh->n_node * 3 * sizeof *xyz);
    for (int64_t e = 0; e < n; e++)
        for (int a = 0; a < 8; a++)
            mesh->conn[8 * (int64_t)place[e] + (m->is_mirror ? a ^ 4 : a)] = node[conn[8 * e + a]];
    for (int64_t a = 0; a < mesh->n_node; a++)
        apply(m, 0, xyz + 3 * a, mesh->xyz + 3 * (int64_t)node[a]);
    if (m->seed) mixed_turn(mesh, m->seed);
    free(conn);
    free(node);
    free(xyz);
}

static inline int is_first_corner(const int32_t *conn, int a)
{
    for (int b = 0; b < a; b++)
        if (conn[b] == conn[a]) return 0;
    return 1;
}

static inline void make_holes(hx_mesh *mesh, const scene *s)
{
    uint64_t state = s->box.seed;
    int64_t n = 0;
    int *const use = calloc((size_t)mesh->n_node, sizeof *use);
    if (!use) abort();
    for (int64_t c = 0; c < 8 * mesh->n_elem; c++)
        use[mesh->conn[c]] += is_first_corner(mesh->conn + c / 8 * 8, (int)(c % 8));
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        int is_out = draw(&state, 0.0, 1.0) < s->holes;
        for (int a = 0; a < 8; a++) is_out &= use[conn[a]] > 1;
        for (int a = 0; a < 8 && is_out; a++) use[conn[a]] -= is_first_corner(conn, a);
        if (!is_out) memmove(mesh->conn + 8 * n++, conn, 8 * sizeof *conn);
    }
    mesh->n_elem = n;
    free(use);
}

/* Fixed at all nodes except the last one, which is pulled: groups depend on neither. */
static inline int make_mesh(hx_mesh *mesh, const scene *s, const motion *m, int32_t **place)
{
    HX_TRY(mixed_create(mesh, &s->box));
    if (s->holes > 0.0) make_holes(mesh, s);
    const int32_t last = (int32_t)mesh->n_node - 1;
    int32_t *const node = malloc((size_t)mesh->n_node * sizeof *node);
    *place = malloc((size_t)mesh->n_elem * sizeof **place);
    if (!*place || !node) abort();
    for (int32_t a = 0; a <= last; a++) node[a] = a;
    renumber(mesh, m, *place);
    int rc = hx_mesh_add_node_set(mesh, "held", last, node);
    if (rc == HX_OK) rc = hx_mesh_add_node_set(mesh, "pulled", 1, &last);
    free(node);
    return rc < 0 ? rc : fixture_finish(mesh, m->seed % 2 ? FIXTURE_REORDERED : FIXTURE_IN_ORDER);
}

/* group[i] of the scene's element i: the smallest such number in its group. */
static inline void number_groups(const hx_mesh *mesh, const hx_groups *groups, const int32_t *place,
                                 int64_t *group)
{
    int64_t *const of = malloc((size_t)mesh->n_elem * sizeof *of);
    if (!of) abort();
    for (int64_t i = 0; i < mesh->n_elem; i++) of[place[i]] = group[i] = i;
    for (int64_t g = 0; g < groups->n_group; g++) {
        int64_t least = INT64_MAX;
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++) {
            const int64_t i = of[hx_mesh_elem_number(mesh, groups->member[m])];
            if (i < least) least = i;
        }
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
            group[of[hx_mesh_elem_number(mesh, groups->member[m])]] = least;
    }
    free(of);
}

/* Groups of a scene after a motion; returns the number of elements, 0: refused. */
static inline int64_t find_groups(const scene *s, const motion *m, int64_t **group,
                                  hx_groups *counts)
{
    static const hx_support_spec support = {
        "held", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}};
    static const hx_load_spec load = {"pulled", "test", HX_LOAD_NODE_FORCE, {0.3, 0.4, -1.0}, 1};
    hx_problem_params params = fixture_problem();
    hx_symmetry_plane plane[3];
    hx_repetition repetition[2];
    hx_groups_params groups_params = {.n_plane = s->n_plane,
                                      .plane = plane,
                                      .n_repetition = s->n_repetition,
                                      .repetition = repetition,
                                      .is_extruded = s->is_extruded,
                                      .extrusion_origin = "extrusion"};
    hx_mesh mesh;
    hx_problem problem;
    hx_groups groups;
    int32_t *place = NULL;
    int64_t n = 0;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    for (size_t p = 0; p < s->n_plane; p++) {
        plane[p].origin = "plane";
        apply(m, 0, s->plane[p].point, plane[p].point);
        apply(m, 1, s->plane[p].normal, plane[p].normal);
    }
    for (size_t i = 0; i < s->n_repetition; i++) {
        repetition[i] = s->repetition[i];
        apply(m, 0, s->repetition[i].point, repetition[i].point);
        apply(m, 1, s->repetition[i].direction, repetition[i].direction);
    }
    apply(m, 1, s->extrusion, groups_params.extrusion);
    CHECK_OK(make_mesh(&mesh, s, m, &place));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    *group = NULL;
    if (hx_groups_create(&groups, &problem, &groups_params) == HX_OK) {
        n = mesh.n_elem;
        *group = malloc((size_t)n * sizeof **group);
        if (!*group) abort();
        number_groups(&mesh, &groups, place, *group);
        *counts = groups;
        counts->start = counts->member = NULL;
    }
    hx_error_clear();
    hx_groups_free(&groups);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    free(place);
    return n;
}

static inline void put_plane(scene *s, const double point[3], double x, double y, double z)
{
    hx_symmetry_plane *const plane = &s->plane[s->n_plane++];
    plane->origin = "plane";
    memcpy(plane->point, point, sizeof plane->point);
    plane->normal[0] = x;
    plane->normal[1] = y;
    plane->normal[2] = z;
}

static inline void put_cyclic(scene *s, int copies, const double point[3], double x, double y,
                              double z)
{
    hx_repetition *const r = &s->repetition[s->n_repetition++];
    *r = (hx_repetition){"cyclic", HX_REPETITION_CYCLIC, copies, {0.0}, {x, y, z}};
    memcpy(r->point, point, sizeof r->point);
}

/* A pattern that begins where the part does. */
static inline void put_pattern(scene *s, int copies, double x, double y, double z)
{
    s->repetition[s->n_repetition++] =
        (hx_repetition){"pattern", HX_REPETITION_PATTERN, copies, {NAN, NAN, NAN}, {x, y, z}};
}

/* Groups of a scene do not change with a motion. */
static inline void check_move(const scene *s, const motion *m, const char *word, int64_t n,
                              const int64_t *first, const hx_groups *counts)
{
    hx_groups found;
    int64_t *group, n_other = 0;
    const int64_t n_found = find_groups(s, m, &group, &found);
    CHECK_MSG(n_found == n, "%s, %s: %d elements tied, not %d", s->name, word, (int)n_found,
              (int)n);
    for (int64_t e = 0; n_found == n && e < n; e++) n_other += group[e] != first[e];
    CHECK_MSG(n_other == 0, "%s, %s: %d of %d elements in other groups", s->name, word,
              (int)n_other, (int)n);
    if (n > 0 && n_found == n)
        CHECK_MSG(found.n_alone == counts->n_alone && found.n_shifted == counts->n_shifted &&
                      fabs(found.shift - counts->shift) < 1e-6,
                  "%s, %s: %d free, %d shifted, not %d, %d", s->name, word, (int)found.n_alone,
                  (int)found.n_shifted, (int)counts->n_alone, (int)counts->n_shifted);
    free(group);
}

#endif
