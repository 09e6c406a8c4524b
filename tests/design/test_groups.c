/* Linked elements: the groups of symmetric, extruded and other meshes; designs that stay bitwise
 * equal within a group; their derivative against differences; errors.
 *
 *     test_groups [cpu | cuda] */
#include "core/mesh/point_grid.h"
#include "tests/lib/fixture.h"

static hx_device device;

enum { NX = 8, NY = 6, NZ = 4, N_ELEM = NX * NY * NZ };
static const double LENGTH[3] = {8.0, 6.0, 4.0};

static const hx_symmetry_plane middle[3] = {{"plane x", {4.0, 0.0, 9.0}, {-3.0, 0.0, 0.0}},
                                            {"plane y", {0.0, 3.0, 0.0}, {0.0, 1.0, 0.0}},
                                            {"plane z", {1.0, 1.0, 2.0}, {0.0, 0.0, 0.5}}};
static const hx_support_spec support = {
    "left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}};
static const hx_load_spec load = {"pull", "test", HX_LOAD_TOTAL_FORCE, {0.3, 0.4, -1.0}, 1};

/* A box with a load at one corner, so that nothing else is symmetric. */
static int make_mesh(hx_mesh *mesh, double distort, fixture_order order)
{
    static const int32_t core[2] = {0, NX * NY - 1};
    const fixture_box box = {{NX, NY, NZ}, {LENGTH[0], LENGTH[1], LENGTH[2]}, distort, 0};
    const int32_t corner = fixture_node(&box, NX, NY, NZ);
    HX_TRY(fixture_box_create(mesh, &box));
    HX_TRY(hx_mesh_add_node_set(mesh, "pull", 1, &corner));
    HX_TRY(hx_mesh_add_elem_set(mesh, "core", 2, core));
    return fixture_finish(mesh, order);
}

static int make_problem(hx_problem *problem, const hx_mesh *mesh, int n_passive)
{
    static const hx_passive_spec passive = {"core", "test", 1.0};
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
            if (m > groups->start[g]) CHECK(groups->member[m] > groups->member[m - 1]);
            if (i < least) least = i;
        }
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
            group[hx_mesh_elem_number(mesh, groups->member[m])] = least;
    }
}

/* Bits of `flags`: mirrored at x, y, z; 8: extruded along z. */
static int make_groups(hx_groups *groups, const hx_problem *problem, int flags)
{
    hx_symmetry_plane plane[3];
    hx_groups_params params = {.plane = plane,
                               .is_extruded = (flags & 8) != 0,
                               .extrusion_origin = "extrusion",
                               .extrusion = {0.0, 0.0, -7.0}};
    for (int i = 0; i < 3; i++)
        if (flags >> i & 1) plane[params.n_plane++] = middle[i];
    return hx_groups_create(groups, problem, &params);
}

/* The group that element (i, j, k) of the box must be in: its image with the smallest number. */
static int64_t wanted_group(int flags, int i, int j, int k)
{
    if (flags & 1 && i >= NX / 2) i = NX - 1 - i;
    if (flags & 2 && j >= NY / 2) j = NY - 1 - j;
    if (flags & 4 && k >= NZ / 2) k = NZ - 1 - k;
    if (flags & 8) k = 0;
    return (k * NY + j) * NX + i;
}

static void check_groups(const hx_mesh *mesh, int flags)
{
    hx_problem problem;
    hx_groups groups;
    int64_t group[N_ELEM];
    CHECK_OK(make_problem(&problem, mesh, 0));
    CHECK_OK(make_groups(&groups, &problem, flags));
    number_groups(mesh, &groups, group);
    for (int k = 0; k < NZ; k++)
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++) {
                const int e = (k * NY + j) * NX + i;
                CHECK_MSG(group[e] == wanted_group(flags, i, j, k),
                          "flags %d, element %d: group %d, not %d", flags, e, (int)group[e],
                          (int)wanted_group(flags, i, j, k));
            }
    CHECK(groups.n_member == (flags == 0 ? 0 : N_ELEM));
    CHECK(groups.n_alone == 0);
    CHECK_MSG(groups.n_shifted == 0, "%d shifted by %g", (int)groups.n_shifted, groups.shift);
    hx_groups_free(&groups);
    hx_problem_free(&problem);
}

/* A square plate, mirrored at both middles and a diagonal: the group of a square, 8 images. */
static void check_diagonal(void)
{
    enum { N = 6 };
    static const double half = N / 2.0;
    const hx_symmetry_plane plane[3] = {{"x", {half, 0.0, 0.0}, {1.0, 0.0, 0.0}},
                                        {"diagonal", {0.0, 0.0, 0.0}, {1.0, -1.0, 0.0}},
                                        {"y", {0.0, half, 0.0}, {0.0, 2.0, 0.0}}};
    const fixture_box box = {{N, N, 1}, {N, N, 1.0}, 0.0, 0};
    const int32_t corner = fixture_node(&box, N, N, 1), first = 0;
    const hx_groups_params params = {.n_plane = 3, .plane = plane};
    hx_mesh mesh;
    hx_problem problem;
    hx_groups groups;
    int64_t group[N * N];
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "pull", 1, &corner));
    CHECK_OK(hx_mesh_add_elem_set(&mesh, "core", 1, &first));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(make_problem(&problem, &mesh, 0));
    CHECK_OK(hx_groups_create(&groups, &problem, &params));
    number_groups(&mesh, &groups, group);
    CHECK(groups.n_image == 8);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            const int a = i < N / 2 ? i : N - 1 - i, b = j < N / 2 ? j : N - 1 - j;
            CHECK(group[j * N + i] == (a < b ? a * N + b : b * N + a));
        }
    CHECK(groups.n_group == 6 && groups.n_alone == 0 && groups.n_shifted == 0);
    hx_groups_free(&groups);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* A distorted mesh has the same groups, counted as shifted, in any element order. */
static void check_distorted(int flags)
{
    static const fixture_order order[3] = {FIXTURE_IN_ORDER, FIXTURE_SHUFFLED, FIXTURE_REORDERED};
    int64_t group[3][N_ELEM];
    for (int i = 0; i < 3; i++) {
        hx_mesh mesh;
        hx_problem problem;
        hx_groups groups;
        CHECK_OK(make_mesh(&mesh, 0.2, order[i]));
        CHECK_OK(make_problem(&problem, &mesh, 0));
        CHECK_OK(make_groups(&groups, &problem, flags));
        CHECK_MSG(groups.n_alone == 0, "%d alone", (int)groups.n_alone);
        CHECK(groups.n_shifted > N_ELEM / 8);
        CHECK_MSG(groups.shift < 0.5, "shifted by %g", groups.shift);
        number_groups(&mesh, &groups, group[i]);
        for (int k = 0; k < NZ; k++)
            for (int j = 0; j < NY; j++)
                for (int l = 0; l < NX; l++)
                    CHECK(group[i][(k * NY + j) * NX + l] == wanted_group(flags, l, j, k));
        hx_groups_free(&groups);
        hx_problem_free(&problem);
        hx_mesh_free(&mesh);
    }
    CHECK(memcmp(group[0], group[1], sizeof group[0]) == 0);
    CHECK(memcmp(group[0], group[2], sizeof group[0]) == 0);
}

/* Planes off the middle: elements without an image in the part stay free, and so do those that the
 * plane cuts; other elements are linked to the element that covers their image. */
static void check_off_middle(const hx_mesh *mesh)
{
    static const double at[3] = {3.0, 3.5, 3.25};
    hx_problem problem;
    CHECK_OK(make_problem(&problem, mesh, 0));
    for (int c = 0; c < 3; c++) {
        const hx_symmetry_plane plane = {"x", {at[c], 0.0, 0.0}, {1.0, 0.0, 0.0}};
        const hx_groups_params params = {.n_plane = 1, .plane = &plane};
        hx_groups groups;
        int64_t group[N_ELEM];
        CHECK_OK(hx_groups_create(&groups, &problem, &params));
        number_groups(mesh, &groups, group);
        for (int e = 0; e < N_ELEM; e++) {
            const int i = e % NX, image = (int)floor(2.0 * at[c] - (i + 0.5));
            const int first = image >= 0 && image < i ? image : i;
            if (c < 2) CHECK_MSG(group[e] == e - i + first, "column %d at %g", i, at[c]);
        }
        if (c < 2) CHECK(groups.n_alone == (c == 0 ? 2 : 1) * NY * NZ && groups.n_shifted == 0);
        if (c == 2) CHECK(groups.n_shifted > 0 && fabs(groups.shift - 0.5) < 0.01);
        /* The images of columns 0, 1 and 2 lie between 5 and 6, 4 and 5, 3 and 4: if two are
         * equally near, the one nearer to the plane is chosen; 6 has its image at the end of 0. */
        static const int want[NX] = {0, 1, 2, 2, 1, 0, 0, 7};
        for (int e = 0; c == 2 && e < N_ELEM; e++)
            CHECK_MSG(group[e] == e - e % NX + want[e % NX], "column %d: %d", e % NX,
                      (int)(group[e] % NX));
        hx_groups_free(&groups);
    }
    hx_problem_free(&problem);
}

/* A plate with a hole of one cell in one quarter and of two cells in the others: images of the
 * single hole are linked to each other although the chosen chamber has none there. */
static void check_holes(void)
{
    const hx_symmetry_plane plane[2] = {middle[0], middle[1]};
    const hx_groups_params params = {.n_plane = 2, .plane = plane};
    const fixture_box box = {{NX, NY, 1}, {LENGTH[0], LENGTH[1], 1.0}, 0.0, 0};
    const int32_t corner = fixture_node(&box, NX, NY, 1), first = 0;
    int64_t group[NX * NY], n = 0;
    int cell[NX * NY];
    hx_mesh mesh;
    hx_problem problem;
    hx_groups groups;
    CHECK_OK(fixture_box_create(&mesh, &box));
    for (int e = 0; e < NX * NY; e++) {
        const int i = e % NX, j = e / NX, a = i < NX / 2 ? i : NX - 1 - i;
        const int b = j < NY / 2 ? j : NY - 1 - j, is_first = i < NX / 2 && j < NY / 2;
        if (is_first ? a == 1 && b == 1 : a == 2 && b < 2) continue;
        memmove(mesh.conn + 8 * n, mesh.conn + 8 * e, 8 * sizeof *mesh.conn);
        cell[n++] = e;
    }
    mesh.n_elem = n;
    CHECK_OK(hx_mesh_add_node_set(&mesh, "pull", 1, &corner));
    CHECK_OK(hx_mesh_add_elem_set(&mesh, "core", 1, &first));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    CHECK_OK(make_problem(&problem, &mesh, 0));
    CHECK_OK(hx_groups_create(&groups, &problem, &params));
    number_groups(&mesh, &groups, group);
    for (int64_t k = 0; k < n; k++) {
        const int i = cell[k] % NX, j = cell[k] / NX;
        const int a = i < NX / 2 ? i : NX - 1 - i, b = j < NY / 2 ? j : NY - 1 - j;
        const int is_lone = a == 2 && b < 2; /* only in the first quarter */
        const int want = a == 1 && b == 1 ? b * NX + NX - 1 - a : is_lone ? cell[k] : b * NX + a;
        CHECK_MSG(cell[group[k]] == want, "cell %d, %d: group of %d, not %d", i, j, cell[group[k]],
                  want);
    }
    CHECK_MSG(groups.n_alone == 2 && groups.n_shifted == 0, "%d free, %d shifted",
              (int)groups.n_alone, (int)groups.n_shifted);
    hx_groups_free(&groups);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

static void run_steps(fixture_solver *s, const hx_mesh *mesh, const hx_groups *groups, int n_step)
{
    double design[N_ELEM], dc[N_ELEM], dv[N_ELEM];
    double low = 1.0, high = 0.0;
    for (int step = 0; step < n_step; step++) {
        hx_iteration record;
        CHECK_OK(hx_optimizer_step(&s->opt, &record));
        fixture_get(&device, N_ELEM, design, s->opt.d_design);
        fixture_get(&device, N_ELEM, dv, s->opt.d_dv);
        CHECK_OK(hx_optimizer_sensitivity(&s->opt, dc));
        if (step > 0 || !hx_filter_maps_design(&s->filter))
            CHECK_ABS(record.volume, 0.4, hx_filter_is_linear(&s->filter) ? 1e-9 : 1e-6);
        for (int64_t g = 0; g < groups->n_group; g++) {
            const int32_t head = groups->member[groups->start[g]];
            for (int64_t m = groups->start[g] + 1; m < groups->start[g + 1]; m++) {
                const int32_t e = groups->member[m];
                CHECK_MSG(memcmp(&design[e], &design[head], sizeof *design) == 0,
                          "step %d: element %d: %.17g, not %.17g", step, (int)e, design[e],
                          design[head]);
                CHECK_REL(dc[e] / dv[e], dc[head] / dv[head], 1e-14);
            }
        }
        if (step + 1 < n_step) hx_optimizer_advance(&s->opt);
    }
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        test_least(&low, design[e]);
        test_worst(&high, design[e]);
    }
    CHECK_MSG(high - low > 0.4, "densities from %g to %g", low, high); /* the steps had an effect */
}

/* Random initial densities become the mean of each group. Later designs are bitwise equal within
 * groups. */
static void check_designs(const hx_mesh *mesh, int flags, int n_passive, double damping,
                          const char *filter, double beta)
{
    hx_problem problem;
    hx_groups groups;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    double density[N_ELEM], mass[2] = {0.0, 0.0};
    uint64_t state = 7;
    settings.design.volume_fraction = 0.4;
    for (int e = 0; e < N_ELEM; e++) density[e] = fixture_uniform(&state, 0.3, 0.5);
    CHECK_OK(make_problem(&problem, mesh, n_passive));
    double sum = 0.0;
    for (int e = 0; e < N_ELEM; e++) { /* so that the volume is met from the beginning */
        if (problem.passive.density && !isnan(problem.passive.density[e])) continue;
        sum += problem.volume[e] * density[e];
    }
    const double scale = (0.4 * mesh->total_volume - problem.passive.mass) / sum;
    for (int e = 0; e < N_ELEM; e++) density[e] *= scale;
    CHECK_OK(make_groups(&groups, &problem, flags));
    if (n_passive) CHECK(groups.n_member < N_ELEM);
    for (int64_t m = 0; m < groups.n_member; m++)
        CHECK(!problem.passive.density || isnan(problem.passive.density[groups.member[m]]));
    settings.filter = filter;
    settings.filter_params.radius = 1.8;
    settings.design.beta = fixture_constant(beta);
    settings.design.eta = 0.5;
    settings.density = density;
    settings.design.damping = damping;
    settings.pcg.tolerance = 1e-8;
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    double design[N_ELEM];
    fixture_get(&device, N_ELEM, design, s.opt.d_design);
    for (int e = 0; e < N_ELEM; e++) mass[0] += problem.volume[e] * design[e];
    CHECK_OK(hx_optimizer_link(&s.opt, &groups));
    fixture_get(&device, N_ELEM, design, s.opt.d_design);
    for (int e = 0; e < N_ELEM; e++) mass[1] += problem.volume[e] * design[e];
    CHECK_REL(mass[1], mass[0], 1e-14);
    run_steps(&s, mesh, &groups, 6);
    fixture_solver_free(&s);
    hx_groups_free(&groups);
    hx_problem_free(&problem);
}

/* Objective with all members of a group moved by `step`. */
static double objective_at(fixture_solver *s, const hx_groups *groups, int64_t g, double step)
{
    hx_iteration record;
    double design[N_ELEM], moved[N_ELEM];
    fixture_get(&device, N_ELEM, design, s->opt.d_design);
    memcpy(moved, design, sizeof moved);
    for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
        moved[groups->member[m]] += step;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design, moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design, design, sizeof design));
    return record.compliance;
}

/* The optimizer's dc, summed over a group, is the derivative by the group's density. */
static void check_derivative(const hx_mesh *mesh, int flags)
{
    hx_problem problem;
    hx_groups groups;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    double density[N_ELEM], dc[N_ELEM], largest = 0.0;
    uint64_t state = 17;
    settings.design.volume_fraction = 0.4;
    for (int e = 0; e < N_ELEM; e++) density[e] = fixture_uniform(&state, 0.2, 0.9);
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    CHECK_OK(make_problem(&problem, mesh, 1));
    CHECK_OK(make_groups(&groups, &problem, flags));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_link(&s.opt, &groups));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (int e = 0; e < N_ELEM; e++) test_worst(&largest, fabs(dc[e]));
    for (int64_t g = 0; g < groups.n_group; g += 1 + groups.n_group / 8) {
        static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
        const double h = 3e-4;
        double c[4], sum = 0.0;
        for (int i = 0; i < 4; i++) c[i] = objective_at(&s, &groups, g, at[i] * h);
        for (int64_t m = groups.start[g]; m < groups.start[g + 1]; m++) sum += dc[groups.member[m]];
        const double difference = (c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h);
        CHECK_MSG(fabs(difference - sum) <= 1e-7 * fabs(sum) + 1e-8 * largest,
                  "group %d: difference %.12g, derivative %.12g", (int)g, difference, sum);
    }
    fixture_solver_free(&s);
    hx_groups_free(&groups);
    hx_problem_free(&problem);
}

/* The device's two operations are bitwise equal to the formulas. */
static void check_operations(void)
{
    enum { N = 1000 };
    int32_t start[] = {0, 2, 5, 9, 9 + 600}, member[9 + 600];
    hx_groups host = {.n_group = 4, .n_member = 9 + 600, .start = start, .member = member};
    hx_device_groups groups;
    double dv[N], dc[N], want[N], found[N];
    uint64_t state = 3;
    for (int m = 0; m < host.n_member; m++) member[m] = (int32_t)(7 * m % N);
    for (int e = 0; e < N; e++) {
        dv[e] = fixture_uniform(&state, 0.5, 2.0);
        dc[e] = want[e] = -fixture_uniform(&state, 0.0, 1.0);
    }
    for (int g = 0; g < 4; g++) {
        long double sum_dc = 0.0L, sum_dv = 0.0L;
        for (int m = start[g]; m < start[g + 1]; m++) {
            sum_dc += dc[member[m]];
            sum_dv += dv[member[m]];
        }
        for (int m = start[g]; m < start[g + 1]; m++)
            want[member[m]] = (double)(dv[member[m]] * sum_dc / sum_dv);
    }
    double *const d_dv = fixture_put(&device, N, dv), *const d_dc = fixture_put(&device, N, dc);
    CHECK_OK(hx_device_groups_create(&groups, &device, &host));
    CHECK_OK(device.ops->design->link(&device, &groups, d_dv, d_dc));
    fixture_get(&device, N, found, d_dc);
    for (int e = 0; e < N; e++) CHECK_REL(found[e], want[e], 1e-13);
    CHECK_OK(device.ops->design->copy_largest(&device, &groups, d_dv));
    fixture_get(&device, N, found, d_dv);
    for (int g = 0; g < 4; g++) {
        double largest = 0.0;
        for (int m = start[g]; m < start[g + 1]; m++) test_worst(&largest, dv[member[m]]);
        for (int m = start[g]; m < start[g + 1]; m++) CHECK(found[member[m]] == largest);
    }
    for (int m = (int)host.n_member; m < N; m++) /* elements in no group keep their value */
        CHECK(found[7 * m % N] == dv[7 * m % N]);
    CHECK_OK(device.ops->zero(&device, d_dv, sizeof dv));
    CHECK_OK(device.ops->design->link(&device, &groups, d_dv, d_dc));
    fixture_get(&device, N, found, d_dc);
    for (int m = 0; m < host.n_member; m++) CHECK(found[member[m]] == 0.0);
    hx_device_groups_free(&groups, &device);
    hx_device_groups_free(&groups, &device);
    device.ops->release(&device, d_dv);
    device.ops->release(&device, d_dc);
}

/* Nearest points against all distances: in space, in a plane, on a line, for one point and none. */
static void check_point_grid(int n, int n_dim, double reach)
{
    double *const xyz = calloc(3 * (size_t)n + 1, sizeof *xyz), x[3] = {0.0};
    uint64_t state = 41;
    hx_point_grid grid;
    for (int p = 0; p < n; p++)
        for (int i = 0; i < n_dim; i++)
            xyz[3 * p + i] = floor(fixture_uniform(&state, 0.0, 30.0)) / (i + 1);
    CHECK_OK(hx_point_grid_create(&grid, n, xyz));
    for (int trial = 0; trial < 200; trial++) {
        int best = -1;
        double least = reach * reach;
        for (int i = 0; i < n_dim; i++) x[i] = floor(fixture_uniform(&state, -5.0, 40.0)) / (i + 1);
        for (int p = 0; p < n; p++) {
            double square = 0.0;
            for (int i = 0; i < 3; i++) square += (xyz[3 * p + i] - x[i]) * (xyz[3 * p + i] - x[i]);
            if (square > least || (best >= 0 && square == least)) continue;
            best = p;
            least = square;
        }
        const int found = (int)hx_point_grid_nearest(&grid, x, reach);
        CHECK_MSG(found == best, "%d points, %d dimensions: %d, not %d", n, n_dim, found, best);
    }
    hx_point_grid_free(&grid);
    free(xyz);
}

static void check_refusals(const hx_mesh *mesh)
{
    static const double slope = 0.02;
    const hx_symmetry_plane zero = {"place", {4.0, 3.0, 2.0}, {0.0, 0.0, 0.0}},
                            outside = {"place", {4.0, 3.0, 4.1}, {0.0, 0.0, 1.0}},
                            parallel[2] = {middle[0], {"place", {3.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}},
                            odd[2] = {middle[0], {"place", {4.0, 3.0, 0.0}, {slope, 1.0, 0.0}}},
                            oblique = {"place", {4.0, 3.0, 2.0}, {0.0, 1.0, 1.0}};
    const struct {
        size_t n_plane;
        const hx_symmetry_plane *plane;
        int is_extruded;
        double along;
        const char *message;
    } list[] = {
        {1, &zero, 0, 0.0, "place: normal [0, 0, 0] has no direction"},
        {1, &outside, 0, 0.0, "place: the whole part lies on one side of the plane"},
        {2, parallel, 0, 0.0,
         "place: together with the earlier planes an element has more than 48"},
        {2, odd, 0, 0.0, "place: together with the earlier planes an element has more than 48"},
        {1, &oblique, 1, 1.0, "place: the plane is oblique to the extrusion"},
        {0, NULL, 1, 0.0, "extrusion: [0, 0, 0] has no direction"},
    };
    hx_problem problem;
    hx_groups groups;
    CHECK_OK(make_problem(&problem, mesh, 0));
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const hx_groups_params params = {.n_plane = list[i].n_plane,
                                         .plane = list[i].plane,
                                         .is_extruded = list[i].is_extruded,
                                         .extrusion_origin = "extrusion",
                                         .extrusion = {0.0, 0.0, list[i].along}};
        CHECK_FAILS(hx_groups_create(&groups, &problem, &params), HX_EINPUT, list[i].message);
        CHECK(groups.n_group == 0 && !groups.start);
    }
    hx_problem_free(&problem);
}

int main(int argc, char **argv)
{
    hx_mesh mesh, distorted;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    CHECK_OK(make_mesh(&mesh, 0.0, FIXTURE_SHUFFLED));
    CHECK_OK(make_mesh(&distorted, 0.2, FIXTURE_REORDERED));
    for (int n_dim = 0; n_dim <= 3; n_dim++) {
        check_point_grid(400, n_dim, 4.0);
        check_point_grid(400, n_dim, 100.0);
        check_point_grid(n_dim, n_dim, 10.0);
    }
    for (int flags = 0; flags < 16; flags++) check_groups(&mesh, flags);
    check_diagonal();
    for (int flags = 1; flags < 16; flags++) check_distorted(flags);
    check_off_middle(&mesh);
    check_holes();
    check_operations();
    static const int designs[] = {2, 6, 7, 8, 11};
    for (size_t i = 0; i < sizeof designs / sizeof designs[0]; i++) {
        check_designs(&mesh, designs[i], (int)(i % 2), i == 3 ? 0.3 : 0.5, "sensitivity", 0.0);
        check_designs(&distorted, designs[i], (int)(i % 2), 0.5, "sensitivity", 0.0);
        check_designs(&distorted, designs[i], (int)(i % 2), 0.5, "density", 0.0);
        check_designs(&mesh, designs[i], (int)(i % 2), 0.5, "helmholtz", i < 2 ? 0.0 : 6.0);
    }
    check_derivative(&distorted, 2);
    check_derivative(&distorted, 9);
    check_refusals(&mesh);
    hx_mesh_free(&mesh);
    hx_mesh_free(&distorted);
    hx_device_close(&device);
    TEST_END();
}
