/* Repeated designs: wheels and bars whose elements and groups are known in closed form, in any
 * position and order, with planes and an extrusion; wheels whose mesh does not repeat; designs that
 * stay bitwise equal within a group and their derivative against differences; errors.
 *
 *     test_groups_repeated [cpu | cuda] */
#include "core/base/vec3.h"
#include "tests/lib/fixture.h"

static hx_device device;

static const double PI = 3.14159265358979323846;

/* ---- meshes ---- */

enum { N_R = 3, N_AROUND = 20, N_Z = 2, N_WHEEL = N_R * N_AROUND * N_Z, MOST_ELEM = 256 };

/* A ring of hexahedra about the z axis, moved. */
typedef struct wheel {
    int copies; /* the nodes' displacements repeat as often; 1: not at all */
    double jitter;
    int is_turned; /* 1: by any angles, scaled and far away */
} wheel;

/* Columns of a rotation. */
static const double turned[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0.0}, {0.48, 0.64, 0.6}};

static void place_point(const wheel *w, int is_direction, const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = w->is_turned ? 0.0 : x[i];
        if (!w->is_turned) continue;
        for (int k = 0; k < 3; k++) y[i] += 25.4 * turned[i][k] * x[k];
        if (!is_direction) y[i] += 1000.0 * (i + 1);
    }
}

/* Displacement of a node, equal for its images. */
static double displaced(const wheel *w, int i, int j, int k, int d)
{
    const int per = N_AROUND / w->copies;
    uint64_t state = 1 + (uint64_t)(((i * N_AROUND + j % per) * (N_Z + 1) + k) * 3 + d) * 7919;
    for (int n = 0; n < 8; n++) (void)fixture_uniform(&state, 0.0, 1.0);
    return w->jitter * fixture_uniform(&state, -1.0, 1.0);
}

static int wheel_create(hx_mesh *mesh, const wheel *w, fixture_order order)
{
    static const int32_t some[2] = {0, 5}; /* a passive one with free images */
    enum { N_NODE = (N_R + 1) * N_AROUND * (N_Z + 1) };
    double *const xyz = malloc(3 * (size_t)N_NODE * sizeof *xyz), *x = xyz;
    int32_t *const conn = malloc(8 * (size_t)N_WHEEL * sizeof *conn), *c = conn;
    if (!xyz || !conn) abort();
    for (int k = 0; k <= N_Z; k++)
        for (int j = 0; j < N_AROUND; j++)
            for (int i = 0; i <= N_R; i++, x += 3) {
                const double r = 2.0 + i + (i > 0 && i < N_R ? displaced(w, i, j, k, 0) : 0.0);
                const double angle = 2.0 * PI * (j + displaced(w, i, j, k, 1)) / N_AROUND;
                const double z = k + (k > 0 && k < N_Z ? displaced(w, i, j, k, 2) : 0.0);
                const double own[3] = {r * cos(angle), r * sin(angle), z};
                place_point(w, 0, own, x);
            }
    for (int k = 0; k < N_Z; k++)
        for (int j = 0; j < N_AROUND; j++)
            for (int i = 0; i < N_R; i++)
                for (int a = 0; a < 8; a++) {
                    const int u = i + (a % 4 == 1 || a % 4 == 2);
                    const int v = (j + (a % 4 >= 2)) % N_AROUND;
                    *c++ = ((k + a / 4) * N_AROUND + v) * (N_R + 1) + u;
                }
    HX_TRY(hx_mesh_create(mesh, "wheel", N_NODE, xyz, N_WHEEL, conn));
    for (int32_t node = 0; node < N_NODE; node += N_R + 1)
        HX_TRY(hx_mesh_add_node_set(mesh, "held", 1, &node));
    const int32_t rim = N_R;
    HX_TRY(hx_mesh_add_node_set(mesh, "pull", 1, &rim));
    HX_TRY(hx_mesh_add_elem_set(mesh, "some", 2, some));
    return fixture_finish(mesh, order);
}

enum { NX = 16, NY = 4, NZ = 4, N_BAR = NX * NY * NZ };

static int bar_create(hx_mesh *mesh, fixture_order order)
{
    static const int32_t some[2] = {0, 5};
    const fixture_box box = {{NX, NY, NZ}, {NX, NY, NZ}, 0.0, 0};
    const int32_t last = fixture_node(&box, NX, NY, NZ);
    HX_TRY(fixture_box_create(mesh, &box));
    for (int j = 0; j <= NY; j++) {
        const int32_t node = fixture_node(&box, 0, j, j % 2 * NZ);
        HX_TRY(hx_mesh_add_node_set(mesh, "held", 1, &node));
    }
    HX_TRY(hx_mesh_add_node_set(mesh, "pull", 1, &last));
    HX_TRY(hx_mesh_add_elem_set(mesh, "some", 2, some));
    return fixture_finish(mesh, order);
}

static int make_problem(hx_problem *problem, const hx_mesh *mesh, int n_passive)
{
    static const hx_support_spec support = {
        "held", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}};
    static const hx_load_spec load = {"pull", "test", HX_LOAD_TOTAL_FORCE, {0.3, 0.4, -1.0}, 1};
    static const hx_passive_spec passive = {"some", "test", 1.0};
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.passive = &passive;
    params.n_passive = (size_t)n_passive;
    return hx_problem_create(problem, mesh, &params);
}

/* group[i] for the element with original number i: the smallest original number in its group. */
static void number_groups(const hx_mesh *mesh, const hx_groups *groups, int64_t *group)
{
    for (int64_t i = 0; i < mesh->n_elem; i++) group[i] = i;
    for (int64_t g = 0; g < groups->n_group; g++) {
        int64_t least = INT64_MAX;
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++) {
            const int64_t i = hx_mesh_elem_number(mesh, groups->member[m]);
            if (i < least) least = i;
        }
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
            group[hx_mesh_elem_number(mesh, groups->member[m])] = least;
    }
}

static void find_groups(const hx_mesh *mesh, const hx_groups_params *params, int64_t *group,
                        hx_groups *counts)
{
    hx_problem problem;
    hx_groups groups;
    CHECK_OK(make_problem(&problem, mesh, 0));
    CHECK_OK(hx_groups_create(&groups, &problem, params));
    number_groups(mesh, &groups, group);
    *counts = groups;
    hx_groups_free(&groups);
    hx_problem_free(&problem);
}

/* ---- wheels ---- */

enum { CONTAINING = 1, ACROSS = 2, EXTRUDED = 4, ALONG = 8 };

typedef struct wheel_groups {
    hx_repetition repetition[2];
    hx_symmetry_plane plane[2];
    hx_groups_params params;
} wheel_groups;

/* Planes y = 0 and z = 1, an extrusion along z, a pattern of two along z. */
static void wheel_params(const wheel *w, int copies, int flags, wheel_groups *of)
{
    static const double at[3] = {0.0, 0.0, 7.0}, up[3] = {0.0, 0.0, -2.0}, y[3] = {0.0, 3.0, 0.0},
                        middle[3] = {4.0, 1.0, 1.0}, step[3] = {0.0, 0.0, 1.0};
    memset(of, 0, sizeof *of);
    of->params.plane = of->plane;
    of->params.repetition = of->repetition;
    of->params.n_repetition = 1;
    of->params.extrusion_origin = "extrusion";
    of->repetition[0].origin = "cyclic";
    of->repetition[0].kind = HX_REPETITION_CYCLIC;
    of->repetition[0].copies = copies;
    place_point(w, 0, at, of->repetition[0].point);
    place_point(w, 1, up, of->repetition[0].direction);
    if (flags & CONTAINING) {
        hx_symmetry_plane *const plane = &of->plane[of->params.n_plane++];
        plane->origin = "plane";
        place_point(w, 0, at, plane->point);
        place_point(w, 1, y, plane->normal);
    }
    if (flags & ACROSS) {
        hx_symmetry_plane *const plane = &of->plane[of->params.n_plane++];
        plane->origin = "across";
        place_point(w, 0, middle, plane->point);
        place_point(w, 1, up, plane->normal);
    }
    of->params.is_extruded = (flags & EXTRUDED) != 0;
    place_point(w, 1, up, of->params.extrusion);
    if (!(flags & ALONG)) return;
    of->repetition[1] = (hx_repetition){"pattern", HX_REPETITION_PATTERN, 2, {NAN, 0, 0}, {0}};
    place_point(w, 1, step, of->repetition[1].direction);
    of->params.n_repetition = 2;
}

static int64_t wheel_group(int copies, int flags, int i, int j, int k)
{
    const int per = N_AROUND / copies;
    j %= per;
    if (flags & CONTAINING && per - 1 - j < j) j = per - 1 - j;
    if (flags & (EXTRUDED | ALONG)) k = 0;
    if (flags & ACROSS && N_Z - 1 - k < k) k = N_Z - 1 - k;
    return (k * N_AROUND + j) * N_R + i;
}

static void check_wheel(const wheel *w, int copies, int flags, fixture_order order)
{
    hx_mesh mesh;
    hx_groups counts;
    wheel_groups of;
    int64_t group[N_WHEEL];
    int64_t n_wrong = 0;
    wheel_params(w, copies, flags, &of);
    CHECK_OK(wheel_create(&mesh, w, order));
    find_groups(&mesh, &of.params, group, &counts);
    for (int e = 0; e < N_WHEEL; e++)
        n_wrong += group[e] !=
                   wheel_group(copies, flags, e % N_R, e / N_R % N_AROUND, e / (N_R * N_AROUND));
    CHECK_MSG(n_wrong == 0, "%d copies, %d, %s: %d elements in other groups", copies, flags,
              w->is_turned ? "turned" : "in place", (int)n_wrong);
    CHECK(counts.n_member == N_WHEEL && counts.n_alone == 0 && counts.n_shifted == 0);
    hx_mesh_free(&mesh);
}

static void check_wheels(void)
{
    static const int copies[] = {2, 4, 5, 10, 20};
    static const int regular[] = {0,
                                  CONTAINING,
                                  ACROSS,
                                  CONTAINING | ACROSS,
                                  EXTRUDED,
                                  EXTRUDED | CONTAINING,
                                  EXTRUDED | ACROSS,
                                  ALONG,
                                  ALONG | CONTAINING,
                                  ALONG | ACROSS};
    for (size_t c = 0; c < sizeof copies / sizeof copies[0]; c++)
        for (int is_turned = 0; is_turned < 2; is_turned++) {
            const wheel irregular = {copies[c], 0.2, is_turned}, even = {copies[c], 0.0, is_turned};
            check_wheel(&irregular, copies[c], 0, FIXTURE_IN_ORDER);
            check_wheel(&irregular, copies[c], 0, FIXTURE_SHUFFLED);
            for (size_t f = 0; f < sizeof regular / sizeof regular[0]; f++)
                check_wheel(&even, copies[c], regular[f],
                            f % 2 ? FIXTURE_SHUFFLED : FIXTURE_REORDERED);
        }
}

/* On a mesh that does not repeat the groups are no chains, nearly every element has an image, and
 * neither order nor position changes a group. */
static void check_uneven_wheels(void)
{
    static const int copies[] = {2, 3, 5, 7};
    for (size_t c = 0; c < sizeof copies / sizeof copies[0]; c++) {
        int64_t first[N_WHEEL], group[N_WHEEL];
        for (int at = 0; at < 4; at++) {
            const wheel w = {1, 0.2, at % 2};
            hx_mesh mesh;
            hx_groups counts;
            wheel_groups of;
            int n_other = 0, size[N_WHEEL] = {0}, most = 0;
            wheel_params(&w, copies[c], 0, &of);
            CHECK_OK(wheel_create(&mesh, &w, at < 2 ? FIXTURE_IN_ORDER : FIXTURE_SHUFFLED));
            find_groups(&mesh, &of.params, group, &counts);
            for (int e = 0; e < N_WHEEL; e++) {
                if (++size[group[e]] > most) most = size[group[e]];
                n_other += at > 0 && group[e] != first[e];
            }
            CHECK_MSG(n_other == 0, "%d copies, %d: %d in other groups", copies[c], at, n_other);
            CHECK_MSG(most <= 2 * copies[c] && counts.n_alone < N_WHEEL / 10,
                      "%d copies: %d in a group, %d alone", copies[c], most, (int)counts.n_alone);
            CHECK(counts.shift <= 0.75 + 1e-9);
            if (at == 0) memcpy(first, group, sizeof first);
            hx_mesh_free(&mesh);
        }
    }
}

/* Sectors of two elements and a half: images lie exactly between two elements, and each joins one of
 * them, so that sectors of two elements and sectors of three share their groups. The first element
 * of three has an image in sectors of three only, which are every other one. */
static void check_halves(void)
{
    for (int at = 0; at < 4; at++) {
        const wheel w = {1, 0.0, at % 2};
        hx_mesh mesh;
        hx_groups counts;
        wheel_groups of;
        int64_t group[N_WHEEL];
        int has[N_WHEEL][N_AROUND] = {{0}}, n_few = 0;
        wheel_params(&w, 8, at == 3 ? EXTRUDED : 0, &of);
        CHECK_OK(wheel_create(&mesh, &w, at < 2 ? FIXTURE_IN_ORDER : FIXTURE_SHUFFLED));
        find_groups(&mesh, &of.params, group, &counts);
        CHECK_MSG(counts.n_member == N_WHEEL && counts.n_alone == 0 &&
                      counts.n_group == 3 * N_R * (at == 3 ? 1 : N_Z),
                  "halves, %d: %d in %d groups", at, (int)counts.n_member, (int)counts.n_group);
        for (int e = 0; e < N_WHEEL; e++) has[group[e]][e / N_R % N_AROUND] = 1;
        for (int e = 0; e < N_WHEEL; e++) {
            int n = 0;
            for (int j = 0; j < N_AROUND; j++) n += has[e][j];
            n_few += n > 0 && n < 4;
        }
        CHECK_MSG(n_few == 0, "halves, %d: %d groups miss copies", at, n_few);
        hx_mesh_free(&mesh);
    }
}

/* ---- bars ---- */

typedef struct bar_case {
    const char *name;
    size_t n_repetition;
    hx_repetition repetition[3];
    size_t n_plane;
    hx_symmetry_plane plane;
    int is_extruded; /* along z */
    /* the wanted group of element (i, j, k): these remainders of what lies in [from, to) */
    int from, to, per[3];
    int is_mirrored; /* in x within a copy */
} bar_case;

#define PATTERN(n, x, y, z)                                                                        \
    {                                                                                              \
        "pattern", HX_REPETITION_PATTERN, n, {NAN, NAN, NAN},                                      \
        {                                                                                          \
            x, y, z                                                                                \
        }                                                                                          \
    }
static const bar_case bars[] = {
    {"four", 1, {PATTERN(4, 4, 0, 0)}, 0, {0}, 0, 0, 16, {4, NY, NZ}, 0},
    {"backwards", 1, {PATTERN(4, -4, 0, 0)}, 0, {0}, 0, 0, 16, {4, NY, NZ}, 0},
    {"three", 1, {PATTERN(3, 4, 0, 0)}, 0, {0}, 0, 0, 12, {4, NY, NZ}, 0},
    {"later",
     1,
     {{"pattern", HX_REPETITION_PATTERN, 3, {4, 9, 9}, {4, 0, 0}}},
     0,
     {0},
     0,
     4,
     16,
     {4, NY, NZ},
     0},
    {"two ways", 2, {PATTERN(4, 4, 0, 0), PATTERN(2, 0, 2, 0)}, 0, {0}, 0, 0, 16, {4, 2, NZ}, 0},
    {"three ways",
     3,
     {PATTERN(2, 0, 0, 2), PATTERN(4, 4, 0, 0), PATTERN(2, 0, 2, 0)},
     0,
     {0},
     0,
     0,
     16,
     {4, 2, 2},
     0},
    {"extruded", 1, {PATTERN(4, 4, 0, 0)}, 0, {0}, 1, 0, 16, {4, NY, 1}, 0},
    {"extruded, three", 1, {PATTERN(3, 4, 0, 0)}, 0, {0}, 1, 0, 12, {4, NY, 1}, 0},
    {"mirrored at an end",
     1,
     {PATTERN(4, 4, 0, 0)},
     1,
     {"plane", {8.0, 0.0, 0.0}, {2.0, 0.0, 0.0}},
     0,
     0,
     16,
     {4, NY, NZ},
     1},
    {"mirrored in the middle of a copy",
     1,
     {PATTERN(4, 4, 0, 0)},
     1,
     {"plane", {6.0, 0.0, 0.0}, {-2.0, 0.0, 0.0}},
     1,
     0,
     16,
     {4, NY, 1},
     1},
};

static int64_t bar_group(const bar_case *of, int i, int j, int k)
{
    if (of->is_extruded) k = 0;
    if (i >= of->from && i < of->to) {
        i = (i - of->from) % of->per[0];
        if (of->is_mirrored && of->per[0] - 1 - i < i) i = of->per[0] - 1 - i;
        i += of->from;
        j %= of->per[1];
        k %= of->per[2];
    }
    return (k * NY + j) * NX + i;
}

static void check_bar(const hx_mesh *mesh, const bar_case *of)
{
    const hx_groups_params params = {.n_plane = of->n_plane,
                                     .plane = &of->plane,
                                     .n_repetition = of->n_repetition,
                                     .repetition = of->repetition,
                                     .is_extruded = of->is_extruded,
                                     .extrusion_origin = "extrusion",
                                     .extrusion = {0.0, 0.0, 1.0}};
    hx_groups counts;
    int64_t group[N_BAR], n_wrong = 0;
    find_groups(mesh, &params, group, &counts);
    for (int e = 0; e < N_BAR; e++)
        n_wrong += group[e] != bar_group(of, e % NX, e / NX % NY, e / (NX * NY));
    CHECK_MSG(n_wrong == 0, "bar, %s: %d elements in other groups", of->name, (int)n_wrong);
    CHECK_MSG(counts.n_alone == (NX - (of->to - of->from)) * NY * NZ && counts.n_shifted == 0,
              "bar, %s: %d alone", of->name, (int)counts.n_alone);
}

/* A step that is not a multiple of the elements: each copy has the elements nearest to those of
 * another. */
static void check_uneven_bar(const hx_mesh *mesh)
{
    const hx_repetition repetition = PATTERN(3, 5.2, 0, 0);
    const hx_groups_params params = {.n_repetition = 1, .repetition = &repetition};
    hx_groups counts;
    int64_t group[N_BAR];
    int size[N_BAR] = {0};
    find_groups(mesh, &params, group, &counts);
    for (int e = 0; e < N_BAR; e++) {
        size[group[e]]++;
        CHECK(size[group[e]] <= 4);
        CHECK(group[e] / NX == e / NX); /* no element moves across the step */
    }
    CHECK_MSG(counts.n_alone <= 2 * NY * NZ, "%d alone", (int)counts.n_alone);
    CHECK(counts.shift <= 0.75 + 1e-9);
}

/* ---- designs ---- */

/* Random densities become the mean of each group; later designs are bitwise equal within groups. */
static void check_designs(const hx_mesh *mesh, const hx_groups_params *params, const char *filter,
                          double beta)
{
    hx_problem problem;
    hx_groups groups;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    double density[MOST_ELEM], design[MOST_ELEM];
    double low = 1.0, high = 0.0;
    uint64_t state = 7;
    const size_t n = (size_t)mesh->n_elem;
    for (size_t e = 0; e < n; e++) density[e] = fixture_uniform(&state, 0.3, 0.5);
    CHECK_OK(make_problem(&problem, mesh, 1));
    CHECK_OK(hx_groups_create(&groups, &problem, params));
    for (int64_t m = 0; m < groups.n_member; m++)
        CHECK(isnan(problem.passive.density[groups.member[m]]));
    settings.filter = filter;
    settings.filter_params.radius = 1.8;
    settings.design.volume_fraction = 0.4;
    settings.design.beta = fixture_constant(beta);
    settings.design.eta = 0.5;
    settings.density = density;
    settings.pcg.tolerance = 1e-8;
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_link(&s.opt, &groups));
    for (int step = 0; step < 6; step++) {
        hx_iteration record;
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        fixture_get(&device, n, design, s.opt.d_design);
        for (int64_t g = 0; g < groups.n_group; g++)
            for (int64_t m = groups.start[g] + 1; m < groups.start[g + 1]; m++)
                CHECK(memcmp(&design[groups.member[m]], &design[groups.member[groups.start[g]]],
                             sizeof *design) == 0);
        if (step < 5) hx_optimizer_advance(&s.opt);
    }
    for (size_t e = 0; e < n; e++) {
        test_least(&low, design[e]);
        test_worst(&high, design[e]);
    }
    CHECK_MSG(high - low > 0.4, "densities from %g to %g", low, high); /* the steps had an effect */
    fixture_solver_free(&s);
    hx_groups_free(&groups);
    hx_problem_free(&problem);
}

/* Objective with all members of a group moved by `step`. */
static double objective_at(fixture_solver *s, size_t n, const hx_groups *groups, int64_t g,
                           double step)
{
    hx_iteration record;
    double design[MOST_ELEM], moved[MOST_ELEM];
    fixture_get(&device, n, design, s->opt.d_design);
    memcpy(moved, design, sizeof moved);
    for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
        moved[groups->member[m]] += step;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design, moved, n * sizeof *moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design, design, n * sizeof *design));
    return record.compliance;
}

/* The optimizer's dc, summed over a group, is the derivative by the group's density. */
static void check_derivative(const hx_mesh *mesh, const hx_groups_params *params)
{
    static const double at[4] = {-2.0, -1.0, 1.0, 2.0}, h = 3e-4;
    hx_problem problem;
    hx_groups groups;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    double density[MOST_ELEM], dc[MOST_ELEM], largest = 0.0;
    uint64_t state = 17;
    const size_t n = (size_t)mesh->n_elem;
    for (size_t e = 0; e < n; e++) density[e] = fixture_uniform(&state, 0.2, 0.9);
    settings.design.volume_fraction = 0.4;
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    CHECK_OK(make_problem(&problem, mesh, 1));
    CHECK_OK(hx_groups_create(&groups, &problem, params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_link(&s.opt, &groups));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (size_t e = 0; e < n; e++) test_worst(&largest, fabs(dc[e]));
    for (int64_t g = 0; g < groups.n_group; g += 1 + groups.n_group / 8) {
        double c[4], sum = 0.0;
        for (int i = 0; i < 4; i++) c[i] = objective_at(&s, n, &groups, g, at[i] * h);
        for (int64_t m = groups.start[g]; m < groups.start[g + 1]; m++) sum += dc[groups.member[m]];
        const double difference = (c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h);
        CHECK_MSG(fabs(difference - sum) <= 1e-7 * fabs(sum) + 1e-8 * largest,
                  "group %d: difference %.12g, derivative %.12g", (int)g, difference, sum);
    }
    fixture_solver_free(&s);
    hx_groups_free(&groups);
    hx_problem_free(&problem);
}

/* ---- errors ---- */

typedef struct refusal {
    size_t n_repetition;
    hx_repetition repetition[3];
    size_t n_plane;
    hx_symmetry_plane plane;
    int is_extruded;
    double along[3];
    const char *message;
} refusal;

#define CYCLIC(n, x, y, z)                                                                         \
    {                                                                                              \
        "cyclic", HX_REPETITION_CYCLIC, n, {8, 2, 2},                                              \
        {                                                                                          \
            x, y, z                                                                                \
        }                                                                                          \
    }
static const refusal refused[] = {
    {1, {CYCLIC(4, 0, 0, 0)}, 0, {0}, 0, {0}, "cyclic: axis [0, 0, 0] has no direction"},
    {1, {PATTERN(4, 0, 0, 0)}, 0, {0}, 0, {0}, "pattern: step [0, 0, 0] has no length"},
    {1, {PATTERN(5, 4, 0, 0)}, 0, {0}, 0, {0}, "pattern: copy 5 of 5 has no element"},
    {2,
     {PATTERN(4, 4, 0, 0), PATTERN(2, 2, 0, 0)},
     0,
     {0},
     0,
     {0},
     "pattern: the step lies in the line or plane of the earlier steps"},
    {2,
     {CYCLIC(4, 1, 0, 0), CYCLIC(2, 0, 1, 0)},
     0,
     {0},
     0,
     {0},
     "cyclic: a second cyclic repetition"},
    {2,
     {CYCLIC(2, 0, 1, 0), PATTERN(4, 4, 0, 0)},
     0,
     {0},
     0,
     {0},
     "pattern: the step of the pattern must be parallel to the axis"},
    {1,
     {CYCLIC(4, 1, 0, 0)},
     1,
     {"plane", {8.0, 2.5, 2.0}, {0.0, 1.0, 0.0}},
     0,
     {0},
     "plane: the plane maps copies about the axis onto none"},
    {1,
     {PATTERN(4, 4, 0, 0)},
     1,
     {"plane", {7.0, 2.0, 2.0}, {1.0, 0.0, 0.0}},
     0,
     {0},
     "plane: the plane lies 1.75 steps from where the first copy"},
    {1,
     {PATTERN(4, 4, 0, 0)},
     1,
     {"plane", {8.0, 2.0, 2.0}, {1.0, 1.0, 0.0}},
     0,
     {0},
     "plane: the plane is oblique to the step"},
    {1,
     {CYCLIC(4, 1, 0, 0)},
     0,
     {0},
     1,
     {0.0, 0.0, 1.0},
     "cyclic: the axis must be parallel to the extrusion"},
    {1,
     {PATTERN(4, 4, 0, 0)},
     0,
     {0},
     1,
     {1.0, 0.0, 1.0},
     "pattern: the step must be perpendicular to the extrusion"},
    {1, {PATTERN(4, 0.1, 0, 0)}, 0, {0}, 0, {0}, "pattern: copy 1 of 4 has no element"},
    {2,
     {PATTERN(100, 4, 0, 0), PATTERN(11, 0, 4, 0)},
     0,
     {0},
     0,
     {0},
     "pattern: together with the earlier patterns there are more than 1000 copies"},
    {1,
     {{"cyclic", HX_REPETITION_CYCLIC, 3, {900, 2, 2}, {0, 1, 0}}},
     0,
     {0},
     0,
     {0},
     "cyclic: no two free elements are images of each other"},
};

static void check_refusals(const hx_mesh *mesh)
{
    hx_problem problem;
    hx_groups groups;
    CHECK_OK(make_problem(&problem, mesh, 0));
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const refusal *const r = &refused[i];
        hx_groups_params params = {.n_plane = r->n_plane,
                                   .plane = &r->plane,
                                   .n_repetition = r->n_repetition,
                                   .repetition = r->repetition,
                                   .is_extruded = r->is_extruded,
                                   .extrusion_origin = "extrusion"};
        memcpy(params.extrusion, r->along, sizeof params.extrusion);
        CHECK_FAILS(hx_groups_create(&groups, &problem, &params), HX_EINPUT, r->message);
        CHECK(groups.n_group == 0 && !groups.start);
    }
    hx_problem_free(&problem);
}

int main(int argc, char **argv)
{
    static const wheel irregular = {5, 0.2, 0}, uneven = {1, 0.2, 0};
    const int status = fixture_open_small(&device, argc, argv);
    const hx_groups_params four = {.n_repetition = 1, .repetition = bars[0].repetition};
    wheel_groups of;
    hx_mesh mesh;
    if (status != 0) return status;
    check_wheels();
    check_uneven_wheels();
    check_halves();
    wheel_params(&irregular, 5, 0, &of);
    CHECK_OK(wheel_create(&mesh, &irregular, FIXTURE_REORDERED));
    check_designs(&mesh, &of.params, "sensitivity", 0.0);
    check_designs(&mesh, &of.params, "density", 6.0);
    check_designs(&mesh, &of.params, "helmholtz", 0.0);
    check_derivative(&mesh, &of.params);
    hx_mesh_free(&mesh);
    CHECK_OK(wheel_create(&mesh, &uneven, FIXTURE_SHUFFLED));
    check_designs(&mesh, &of.params, "density", 0.0);
    check_derivative(&mesh, &of.params);
    hx_mesh_free(&mesh);
    CHECK_OK(bar_create(&mesh, FIXTURE_SHUFFLED));
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++) check_bar(&mesh, &bars[i]);
    check_uneven_bar(&mesh);
    check_designs(&mesh, &four, "density", 0.0);
    check_derivative(&mesh, &four);
    check_refusals(&mesh);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
