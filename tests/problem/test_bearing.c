/* The pressure of a pin on a bore: resultant, moments, cosine distribution; sets that are not a
 * bore. */
#include "tests/lib/curved.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/numbered_cell.h"
#include "tests/lib/tube.h"

#include "core/problem/bearing.h"

static hx_mesh mesh;

/* A frame in general position. */
static const double frame[3][3] = {{2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0},
                                   {-2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0},
                                   {1.0 / 3.0, -2.0 / 3.0, 2.0 / 3.0}};

static tube make_tube(int n_around, double distort)
{
    tube t = {.inner = 8.0,
              .outer = 12.0,
              .length = 20.0,
              .arc = 2.0 * TUBE_PI,
              .n = {1, n_around, 6},
              .distort = distort,
              .origin = {30.0, -7.0, 11.0}};
    memcpy(t.axis, frame, sizeof t.axis);
    return t;
}

static void make_mesh(const tube *t)
{
    CHECK_OK(tube_create(&mesh, t));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
}

/* The vector with these coordinates in the frame. */
static void of_frame(double x, double y, double z, double v[3])
{
    for (int i = 0; i < 3; i++) v[i] = x * frame[0][i] + y * frame[1][i] + z * frame[2][i];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static int create(hx_problem *problem, const char *set, const double force[3])
{
    const hx_support_spec support = {"outside", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    hx_load_spec load = {.set = set, .origin = "here", .kind = HX_LOAD_BEARING, .load_case = 1};
    hx_problem_params params = fixture_problem();
    memcpy(load.value, force, sizeof load.value);
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    return hx_problem_create(problem, &mesh, &params);
}

/* Force of the nodal forces, and their moment about a point. */
static void resultant(const hx_problem *problem, const double about[3], double force[3],
                      double moment[3])
{
    memset(force, 0, 3 * sizeof *force);
    memset(moment, 0, 3 * sizeof *moment);
    for (int64_t node = 0; node < mesh.n_node; node++) {
        const double *x = mesh.xyz + 3 * node, *f = problem->cases.force[0] + 3 * node;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            force[i] += f[i];
            moment[i] += (x[j] - about[j]) * f[k] - (x[k] - about[k]) * f[j];
        }
    }
}

/* The resultant is exact on any mesh; there is no force on the other half, and no moment about the
 * axis or about the centre of the bore. */
static void check_resultant(double distort, double moment_error)
{
    const tube t = make_tube(24, distort);
    double force[3], sum[3], moment[3], middle[3];
    hx_problem problem;
    make_mesh(&t);
    of_frame(300.0, -150.0, 70.0, force);
    tube_place(&t, 0.0, 0.0, 0.5 * t.length, middle);
    CHECK_OK(create(&problem, "bore", force));
    resultant(&problem, middle, sum, moment);
    for (int i = 0; i < 3; i++) {
        CHECK_ABS(sum[i], force[i], 1e-12 * 342.0);
        CHECK_ABS(moment[i], 0.0, moment_error * 342.0 * t.inner);
    }
    /* on the side away from the force there is no pressure */
    for (int64_t node = 0; node < mesh.n_node; node++) {
        double d[3], lateral[3];
        of_frame(300.0, -150.0, 0.0, lateral);
        for (int i = 0; i < 3; i++) d[i] = mesh.xyz[3 * node + i] - middle[i];
        const double cosine = dot(d, lateral) / (sqrt(dot(lateral, lateral)) * t.inner);
        if (cosine > -0.35) continue; /* more than an element from the edge */
        CHECK_ABS(dot(problem.cases.force[0] + 3 * node, lateral), 0.0,
                  /* relative to 3000 below the load: the fitted axis tilts */
                  distort > 0.0 ? 0.05 : 1e-9);
    }
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* p0 = 2 F / (pi r L) to second order; axis, centre and radius of the bore; a uniform traction F /
 * A for the force along the axis. */
static void check_peak(void)
{
    const double size = 500.0, exact = 2.0 * size / (TUBE_PI * 8.0 * 20.0);
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
        const tube t = make_tube(fine ? 48 : 24, 0.0);
        double force[3], axis[3];
        hx_bearing fit;
        make_mesh(&t);
        of_frame(0.6 * size, 0.8 * size, 40.0, force);
        of_frame(0.0, 0.0, 1.0, axis);
        CHECK_OK(hx_bearing_fit(&mesh, "bore", "here", force, &fit));
        error[fine] = sqrt(dot(fit.peak, fit.peak)) / exact - 1.0;
        CHECK_REL(fabs(dot(fit.axis, axis)), 1.0, 1e-12);
        CHECK_REL(dot(fit.uniform, axis), 40.0 / fit.area, 1e-12);
        CHECK_ABS(dot(fit.peak, axis), 0.0, 1e-9);
        CHECK_REL(fit.covered, 1.0, 1e-12);
        double d[3];
        for (int i = 0; i < 3; i++) d[i] = fit.centre[i] - t.origin[i] - 10.0 * axis[i];
        CHECK_ABS(sqrt(dot(d, d)), 0.0, 1e-11);
        CHECK_REL(fit.radius, 8.0, 0.01);
        CHECK_REL(fit.area, 2.0 * TUBE_PI * 8.0 * 20.0, 0.01);
        hx_mesh_free(&mesh);
    }
    printf("peak pressure: off by %.2e and %.2e\n", error[0], error[1]);
    CHECK(fabs(error[0]) < 0.02);
    CHECK_REL(error[0] / error[1], 4.0, 0.05);
}

/* The force on a node is that of p0 cos(angle) on the area around it. */
static void check_cosine(void)
{
    const tube t = make_tube(72, 0.0);
    const double size = 500.0, exact = 2.0 * size / (TUBE_PI * 8.0 * 20.0);
    const double area = 8.0 * 2.0 * TUBE_PI / 72.0 * 20.0 / 6.0;
    double force[3], x[3], worst = 0.0;
    hx_problem problem;
    make_mesh(&t);
    of_frame(size, 0.0, 0.0, force);
    CHECK_OK(create(&problem, "bore", force));
    const hx_set *const bore = hx_mesh_find_set(&mesh, "bore");
    for (int64_t k = 0; k < bore->n_node; k++) {
        const int64_t node = bore->node[k];
        for (int i = 0; i < 3; i++) x[i] = mesh.xyz[3 * node + i] - t.origin[i];
        const double cosine = dot(x, frame[0]) / 8.0, height = dot(x, frame[2]);
        const double share = height < 1e-9 || height > 20.0 - 1e-9 ? 0.5 : 1.0;
        double wanted[3];
        for (int i = 0; i < 3; i++) {
            wanted[i] =
                share * area * exact * fmax(0.0, cosine) * (x[i] - height * frame[2][i]) / 8.0;
            test_worst(&worst, fabs(problem.cases.force[0][3 * node + i] - wanted[i]));
        }
    }
    printf("nodal forces: off by %.2e of the largest\n", worst / (area * exact));
    CHECK(worst < 0.015 * area * exact);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* Half of a bore can carry a force that presses into it. */
static void check_saddle(void)
{
    tube t = make_tube(18, 0.1);
    double force[3], sum[3], moment[3];
    hx_problem problem;
    t.arc = TUBE_PI;
    make_mesh(&t);
    of_frame(-20.0, 500.0, 0.0, force);
    CHECK_OK(create(&problem, "bore", force));
    resultant(&problem, t.origin, sum, moment);
    for (int i = 0; i < 3; i++) CHECK_ABS(sum[i], force[i], 1e-12 * 500.0);
    hx_problem_free(&problem);
    of_frame(0.0, -500.0, 0.0, force);
    CHECK_FAILS(create(&problem, "bore", force), HX_EINPUT, "take only 0 % of the pressure");
    of_frame(500.0, 0.0, 0.0, force);
    CHECK_FAILS(create(&problem, "bore", force), HX_EINPUT, "take only 50 % of the pressure");
    of_frame(-500.0 * tan(17.0 * TUBE_PI / 180.0), 500.0, 0.0, force);
    CHECK_FAILS(create(&problem, "bore", force), HX_EINPUT,
                "lack 17 degrees of the half that the force presses against, and take only 98 %");
    CHECK_FAILS(create(&problem, "outside", force), HX_EINPUT,
                "here: set 'outside' is not a bore: its faces point away from the axis along (");
    CHECK_FAILS(
        create(&problem, "low", force), HX_EINPUT,
        "here: set 'low' is not a bore: its 18 faces are nearly flat, with a normal along (");
    hx_mesh_free(&mesh);
}

/* Tilts of the force on half a bore, up to what an element spans, or 10 degrees. */
static void check_tilt(int n_around, double tilt, int is_right)
{
    tube t = make_tube(n_around, 0.0);
    const double angle = tilt * TUBE_PI / 180.0;
    double force[3];
    hx_bearing fit;
    t.arc = TUBE_PI;
    make_mesh(&t);
    of_frame(500.0 * sin(angle), 500.0 * cos(angle), 30.0, force);
    const int rc = hx_bearing_fit(&mesh, "bore", "here", force, &fit);
    CHECK_MSG(rc == (is_right ? HX_OK : HX_EINPUT), "%d faces, tilt %g: %d", n_around, tilt, rc);
    hx_error_clear();
    hx_mesh_free(&mesh);
}

/* Sets that contain more than a bore, or none. */
static void check_no_bore(void)
{
    tube t = make_tube(24, 0.0);
    double force[3];
    hx_problem problem;
    of_frame(500.0, 0.0, 0.0, force);
    CHECK_OK(tube_create(&mesh, &t));
    for (int32_t node = 0; node < (int32_t)mesh.n_node; node++)
        CHECK_OK(hx_mesh_add_node_set(&mesh, "everything", 1, &node));
    const int32_t one = 0;
    CHECK_OK(hx_mesh_add_node_set(&mesh, "one", 1, &one));
    for (int64_t e = 0; e < mesh.n_elem; e++) { /* both sides of the wall: r- and r+ */
        const int64_t face[2] = {6 * e, 6 * e + 1};
        CHECK_OK(hx_mesh_add_face_set(&mesh, "wall", 2, face));
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_FAILS(create(&problem, "everything", force), HX_EINPUT,
                "are not perpendicular to a common axis (they deviate by");
    CHECK_FAILS(create(&problem, "one", force), HX_EINPUT, "spans no boundary face (1 node)");
    CHECK_FAILS(create(&problem, "wall", force), HX_EINPUT, "is not a bore: its faces lie 7.9");
    CHECK_FAILS(create(&problem, "boer", force), HX_EINPUT, "here: the mesh has no set 'boer'");
    hx_mesh_free(&mesh);
}

/* Maps the box [0, 1]^3 to half a ring with radii 1 and 2 and length 1. */
static void half_ring(const double x[3], double y[3])
{
    const double angle = TUBE_PI * x[0], r = 2.0 - x[1];
    y[0] = r * cos(angle);
    y[1] = r * sin(angle);
    y[2] = x[2];
}

/* That box with its sets bore and outside. */
static void bend_half(void)
{
    for (int32_t a = 0; a < (int32_t)mesh.n_node; a++) {
        const double y = mesh.xyz[3 * (int64_t)a + 1];
        if (y == 1.0) CHECK_OK(hx_mesh_add_node_set(&mesh, "bore", 1, &a));
        if (y == 0.0) CHECK_OK(hx_mesh_add_node_set(&mesh, "outside", 1, &a));
    }
    CHECK_OK(curved_bend(&mesh, half_ring));
}

/* A half bore of quadratic elements, fixed outside; *work: sum of force times coordinate. */
static void make_half(mixed_kind kind, int curved, const double force[3], double sum[3],
                      double moment[3], double *work)
{
    const mixed_box box = {.kind = kind, .n = {6, 1, 2}, .length = {1.0, 1.0, 1.0}};
    const hx_support_spec support = {"outside", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    hx_load_spec load = {.set = "bore", .origin = "here", .kind = HX_LOAD_BEARING, .load_case = 1};
    hx_problem_params params = fixture_problem();
    hx_problem problem;
    hx_space space;
    CHECK_OK(mixed_create(&mesh, &box));
    bend_half();
    if (!curved) hx_middles_free(&mesh.middles);
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC));
    memcpy(load.value, force, sizeof load.value);
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    params.space = &space;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    memset(sum, 0, 3 * sizeof *sum);
    memset(moment, 0, 3 * sizeof *moment);
    *work = 0.0;
    for (int64_t a = 0; a < space.n_point; a++) {
        const double *const f = problem.cases.force[0] + 3 * a, *const x = space.xyz + 3 * a;
        const double arm[3] = {x[0], x[1], x[2] - 0.5};
        double m[3];
        hx_cross3(arm, f, m);
        for (int i = 0; i < 3; i++) {
            sum[i] += f[i];
            moment[i] += m[i];
        }
        *work += f[0] * x[0] + f[1] * x[1];
    }
    hx_problem_free(&problem);
    hx_space_free(&space);
    hx_mesh_free(&mesh);
}

/* On quad8 and tri6: the resultant, no moment about the axis and, for the cosine's pressure, the
 * sum of f . x = 4 F r / pi. */
static void check_points(mixed_kind kind)
{
    const double force[3] = {-20.0, 500.0, 30.0}, lateral = hypot(20.0, 500.0);
    double error[2];
    for (int curved = 0; curved < 2; curved++) {
        double sum[3], moment[3], work;
        make_half(kind, curved, force, sum, moment, &work);
        for (int i = 0; i < 3; i++) CHECK_ABS(sum[i], force[i], 1e-11 * 500.0);
        if (curved) CHECK_ABS(moment[2], 0.0, 2e-4 * 500.0);
        error[curved] = work / (4.0 * lateral / TUBE_PI) - 1.0;
    }
    printf("%s: f . x off by %.2e, by %.2e with straight edges\n", mixed_name[kind], error[1],
           error[0]);
    CHECK(fabs(error[1]) < 2e-3);
    CHECK(fabs(error[1]) < 0.2 * fabs(error[0]));
}

/* Forces of a pin on a half bore with straight edges, with corners renumbered by the seed. */
static double *renamed_forces(mixed_kind kind, hx_element element, uint64_t seed, size_t *n)
{
    const mixed_box box = {.kind = kind, .n = {6, 1, 2}, .length = {1.0, 1.0, 1.0}};
    const hx_support_spec support = {"outside", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load = {"bore", "here", HX_LOAD_BEARING, {-20.0, 500.0, 30.0}, 1};
    hx_problem_params params = fixture_problem();
    hx_problem problem;
    hx_space space;
    CHECK_OK(mixed_create(&mesh, &box));
    numbered_mesh(&mesh, seed);
    bend_half();
    hx_middles_free(&mesh.middles);
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_space_create(&space, &mesh, element));
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    params.space = &space;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    *n = 3 * (size_t)space.n_point;
    double *const force = malloc(*n * sizeof *force);
    if (!force) abort();
    memcpy(force, problem.cases.force[0], *n * sizeof *force);
    hx_problem_free(&problem);
    hx_space_free(&space);
    hx_mesh_free(&mesh);
    return force;
}

/* The pressure is not a polynomial, so forces are independent of a triangle's first corner only if
 * the integration points are symmetric. */
static void check_renamed(mixed_kind kind, hx_element element)
{
    size_t n;
    double *const first = renamed_forces(kind, element, 0, &n);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        double *const now = renamed_forces(kind, element, seed, &n);
        double largest = 0.0;
        for (size_t k = 0; k < n; k++) test_worst(&largest, fabs(first[k]));
        const double worst = test_max_difference(n, first, now) / largest;
        CHECK_MSG(worst <= 1e-12, "%s %s: forces off by %.3g", hx_element_name(element),
                  mixed_name[kind], worst);
        free(now);
    }
    free(first);
}

int main(void)
{
    fixture_set_threads(1);
    check_resultant(0.0, 1e-12);
    check_resultant(0.2, 0.02);
    check_peak();
    check_cosine();
    check_saddle();
    for (int sign = -1; sign <= 1; sign += 2) {
        check_tilt(5, 24.0 * sign, 1); /* an element spans 36 degrees; 96 % of the pressure */
        check_tilt(5, 27.0 * sign, 0); /* less than 95 % */
        check_tilt(12, 14.5 * sign, 1);
        check_tilt(12, 15.5 * sign, 0);
        check_tilt(90, 9.5 * sign, 1);
        check_tilt(90, 10.5 * sign, 0);
    }
    for (int n = 3; n < 40; n += 4) check_tilt(n, 0.0, 1);
    check_no_bore();
    for (int kind = 0; kind < MIXED_TETRAHEDRA_5; kind++) check_points((mixed_kind)kind);
    for (int kind = 0; kind < MIXED_TETRAHEDRA_5; kind++)
        for (int element = 0; element < HX_ELEMENT_SPLINE; element++)
            check_renamed((mixed_kind)kind, (hx_element)element);
    TEST_END();
}
