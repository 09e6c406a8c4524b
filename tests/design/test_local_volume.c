/* Means over balls (ball.h) against sums over all pairs of elements, or of their blocks, and what a
 * limit on the local volume makes of them. Derivatives are in test_response_differences.c.
 *
 *     test_local_volume [cpu | cuda] */
#include "core/design/limit_values.h"
#include "core/design/local_volume.h"
#include "tests/lib/mixed_model.h"

static hx_device device;

static double *random_field(int64_t n, uint64_t seed)
{
    double *const value = malloc((size_t)n * sizeof *value);
    if (!value) abort();
    for (int64_t e = 0; e < n; e++) value[e] = fixture_uniform(&seed, 0.01, 1.0);
    return value;
}

/* The centroid of an element, or the middle of its block of `wide` elements along each axis. */
static void place_of(const hx_problem *problem, int wide, int64_t e, double x[3])
{
    const hx_mesh *const mesh = problem->mesh;
    const double edge = wide * cbrt(mesh->total_volume / (double)mesh->n_elem);
    hx_mesh_centroid(mesh, e, x);
    for (int d = 0; d < 3 && wide > 1; d++) {
        const double at = (x[d] - mesh->box_min[d]) / edge;
        x[d] = mesh->box_min[d] + edge * (floor(at) + 0.5);
    }
}

/* The mean about element e by its definition; wide: elements along a block, 1: no blocks. */
static double mean_about(const hx_problem *problem, double radius, int wide, const double *rho,
                         int64_t e)
{
    const hx_mesh *const mesh = problem->mesh;
    const double h = wide * cbrt(mesh->total_volume / (double)mesh->n_elem);
    double x[3], sum = 0.0, total = 0.0;
    radius =
        sqrt(fmax(radius * radius - (1.0 - 1.0 / (wide * wide)) * h * h, 0.25 * radius * radius));
    place_of(problem, wide, e, x);
    for (int64_t i = 0; i < mesh->n_elem; i++) {
        double y[3];
        place_of(problem, wide, i, y);
        const double d = sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                              (x[2] - y[2]) * (x[2] - y[2]));
        const double share = fmin(1.0, fmax(0.0, (radius - d) / h + 0.5));
        sum += share * problem->volume[i] * rho[i];
        total += share * problem->volume[i];
    }
    return sum / total;
}

static void find_means(hx_ball *ball, const double *rho, double *mean)
{
    const size_t n = (size_t)ball->n;
    double *const d_rho = fixture_put(&device, n, rho),
                  *const d_mean = fixture_put(&device, n, rho),
                  *const d_work = fixture_put(&device, n, rho);
    CHECK_OK(hx_ball_mean(ball, d_rho, d_mean, d_work));
    fixture_get(&device, n, mean, d_mean);
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_mean);
    device.ops->release(&device, d_work);
}

static void transpose(hx_ball *ball, double *a)
{
    const size_t n = (size_t)ball->n;
    double *const d_a = fixture_put(&device, n, a), *const d_work = fixture_put(&device, n, a);
    CHECK_OK(hx_ball_transpose(ball, d_a, d_work));
    fixture_get(&device, n, a, d_a);
    device.ops->release(&device, d_a);
    device.ops->release(&device, d_work);
}

/* The means are those by definition if that is known; constants stay, means lie between the extremes, and the transpose is one. */
static void check_ball(const hx_problem *problem, double radius, hx_ball_method method,
                       int is_known)
{
    const int64_t n = problem->mesh->n_elem;
    double *const rho = random_field(n, 3), *const a = random_field(n, 4),
                  *const mean = random_field(n, 5), left = 0.0, right = 0.0, off = 0.0;
    hx_ball ball;
    CHECK_OK(hx_ball_create(&ball, &device, problem, radius, method));
    find_means(&ball, rho, mean);
    for (int64_t e = 0; e < n; e++) left += a[e] * mean[e];
    for (int64_t e = 0; e < n; e += 7)
        if (is_known)
            CHECK_REL(mean[e], mean_about(problem, radius, method == HX_BALL_SUMS ? 1 : 2, rho, e),
                      1e-11);
        else
            CHECK(mean[e] > 0.0099 && mean[e] < 1.0);
    transpose(&ball, a);
    for (int64_t e = 0; e < n; e++) right += a[e] * rho[e];
    CHECK_REL(right, left, 1e-9);
    for (int64_t e = 0; e < n; e++) rho[e] = 0.37;
    find_means(&ball, rho, mean);
    for (int64_t e = 0; e < n; e++) test_worst(&off, fabs(mean[e] - 0.37));
    CHECK_MSG(off <= 1e-9, "a constant by %.2e", off);
    hx_ball_free(&ball);
    free(rho);
    free(a);
    free(mean);
}

static void check_cells(mixed_kind kind)
{
    const mixed_box box = {.kind = kind,
                           .n = {8, 6, kind == MIXED_LAYERS ? 5 : 5},
                           .length = {2.0, 1.5, 1.25},
                           .distort = kind == MIXED_HEXAHEDRA ? 0.0 : 0.1,
                           .seed = 5};
    static const double edges[3] = {1.5, 2.0, 3.7};
    mixed_model m;
    CHECK_OK(mixed_create_cantilever(&m, &box, FIXTURE_REORDERED));
    const double h = hx_ball_edge(&m.problem);
    for (int i = 0; i < 3; i++) {
        check_ball(&m.problem, edges[i] * h, HX_BALL_SUMS, 1);
        check_ball(&m.problem, edges[i] * h, HX_BALL_HELMHOLTZ, 0);
        check_ball(&m.problem, edges[i] * h, HX_BALL_BLOCKS, kind == MIXED_HEXAHEDRA);
    }
    mixed_model_free(&m);
}

/* All methods have the mean of x^2 about a place in the middle of a body, x^2 + R^2 / 5; the third
 * about the middle of a block, with the variance 1/4 of x in it. */
static void test_second_moment(void)
{
    const mixed_box box = {
        .kind = MIXED_HEXAHEDRA, .n = {40, 24, 24}, .length = {40.0, 24.0, 24.0}};
    mixed_model m;
    CHECK_OK(mixed_create_cantilever(&m, &box, FIXTURE_REORDERED));
    const hx_mesh *const mesh = &m.mesh;
    double *const rho = random_field(mesh->n_elem, 1), *const mean = random_field(mesh->n_elem, 2);
    static const double radius[3] = {5.0, 5.0, 8.0}, at[3] = {0.25, 0.25, 1.25};
    int64_t middle = 0;
    double nearest = INFINITY;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        rho[e] = (x[0] - 20.0) * (x[0] - 20.0);
        const double d = fabs(x[0] - 20.5) + fabs(x[1] - 12.5) + fabs(x[2] - 12.5);
        if (d < nearest) middle = e;
        nearest = fmin(nearest, d);
    }
    for (int k = 0; k < 3; k++) {
        hx_ball ball;
        CHECK_OK(hx_ball_create(&ball, &device, &m.problem, radius[k], (hx_ball_method)k));
        find_means(&ball, rho, mean);
        const double share = radius[k] * radius[k] / 5.0;
        CHECK_MSG(fabs(mean[middle] - (at[k] + share)) <= 0.03 * share, "method %d: %g", k,
                  mean[middle]);
        hx_ball_free(&ball);
    }
    free(rho);
    free(mean);
    mixed_model_free(&m);
}

/* The value of a limit for given densities. */
static int measure(hx_analysis *analysis, const double *rho, const hx_response_params *params,
                   double *value)
{
    const hx_constraint_spec spec = {
        .kind = &hx_response_local_volume, .params = *params, .max = 0.5, .min = NAN};
    hx_limit_value found = {0};
    HX_TRY(hx_limit_values(analysis, 1, &spec, rho, NAN, &found));
    CHECK(found.is_highest && !found.is_lowest);
    *value = found.value;
    return HX_OK;
}

/* The largest mean of the free elements, of all or of those of a set, and what is refused. */
static void test_limits(void)
{
    static const hx_passive_spec passive = {"core", "test", 1.0};
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    const fixture_box box = {.n = {8, 6, 5}, .length = {4.0, 3.0, 2.5}};
    const int32_t core[3] = {40, 41, 42}, ends[4] = {3, 40, 99, 200};
    hx_problem_params params = fixture_problem();
    hx_mesh mesh = {0};
    hx_problem problem;
    fixture_solver s;
    fixture_settings settings = fixture_defaults();
    double value, all = 0.0, of_set = 0.0;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(hx_mesh_add_elem_set(&mesh, "core", 3, core));
    CHECK_OK(hx_mesh_add_elem_set(&mesh, "ends", 4, ends));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    params.support = &support;
    params.load = &load;
    params.n_support = params.n_load = 1;
    params.passive = &passive;
    params.n_passive = 1;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    settings.filter = "none";
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    double *const rho = random_field(mesh.n_elem, 8);
    const hx_set *const set = hx_mesh_find_set(&mesh, "ends");
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        const double mean = mean_about(&problem, 1.1, 1, rho, e);
        if (!isnan(problem.passive.density[e])) continue;
        test_worst(&all, mean);
        for (int64_t k = 0; k < set->n_elem; k++)
            if (set->elem[k] == e) test_worst(&of_set, mean);
    }
    CHECK(of_set > 0.0 && of_set < all);
    CHECK_OK(
        measure(&s.analysis, rho, &(hx_response_params){.radius = 1.1, .load_case = -1}, &value));
    CHECK_REL(value, all, 1e-11);
    CHECK_OK(measure(&s.analysis, rho,
                     &(hx_response_params){.radius = 1.1, .load_case = -1, .set = "ends"}, &value));
    CHECK_REL(value, of_set, 1e-11);
    CHECK_FAILS(measure(&s.analysis, rho,
                        &(hx_response_params){.radius = 1.1, .load_case = -1, .set = "core"},
                        &value),
                HX_EINPUT, "all of its elements are passive");
    CHECK_FAILS(
        measure(&s.analysis, rho, &(hx_response_params){.radius = 0.7, .load_case = -1}, &value),
        HX_EINPUT, "radius = 0.7 is below 0.75");
    CHECK_FAILS(measure(&s.analysis, rho, &(hx_response_params){.load_case = -1}, &value),
                HX_EINPUT, "needs a radius");
    CHECK_FAILS(measure(&s.analysis, rho,
                        &(hx_response_params){.radius = 1.1, .load_case = -1, .set = "left"},
                        &value),
                HX_EINPUT, "set 'left' has no elements");
    free(rho);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(2);
    for (int k = 0; k < MIXED_N_KIND; k++) check_cells((mixed_kind)k);
    test_second_moment();
    test_limits();
    hx_device_close(&device);
    TEST_END();
}
