/* The sensitivity filter, and the cells that it searches, against all pairs of elements.
 *
 *     test_filter [cpu | cuda] */
#include "core/design/bins.h"
#include "tests/lib/fixture.h"

static hx_device device;

static int make_mesh(hx_mesh *mesh, const fixture_box *box, fixture_order order)
{
    HX_TRY(fixture_box_create(mesh, box));
    HX_TRY(hx_mesh_distort(mesh, 0.1, 5));
    return fixture_finish(mesh, order);
}

static int make_problem(hx_problem *problem, const hx_mesh *mesh)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    return hx_problem_create(problem, mesh, &params);
}

/* Distance between two centroids (means of the corners). */
static double distance_of(const hx_mesh *mesh, int64_t e, int64_t i)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++) {
        double difference = 0.0;
        for (int a = 0; a < 8; a++)
            difference += mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + d] -
                          mesh->xyz[3 * (int64_t)mesh->conn[8 * i + a] + d];
        square += difference * difference / 64.0;
    }
    return sqrt(square);
}

/* Counts pairs of elements nearer than the radius. */
static int64_t count_pairs(const hx_mesh *mesh, double radius)
{
    double *const x = malloc((size_t)mesh->n_elem * 3 * sizeof *x);
    int64_t n_pair = 0;
    CHECK(x != NULL);
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int d = 0; d < 3; d++) {
            x[3 * e + d] = 0.0;
            for (int a = 0; a < 8; a++)
                x[3 * e + d] += 0.125 * mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + d];
        }
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int64_t i = 0; i < mesh->n_elem; i++) {
            const double dx = x[3 * e] - x[3 * i], dy = x[3 * e + 1] - x[3 * i + 1];
            const double dz = x[3 * e + 2] - x[3 * i + 2];
            n_pair += dx * dx + dy * dy + dz * dz < radius * radius;
        }
    free(x);
    return n_pair;
}

/* Every element has one place, ascending within a cell, and lies within the cell's walls. */
static void check_cells(const hx_mesh *mesh, double radius)
{
    hx_bins cells;
    int64_t n_wrong = 0, n_seen = 0;
    char *const seen = calloc((size_t)mesh->n_elem, 1);
    CHECK_OK(hx_bins_create(&cells, mesh, radius));
    CHECK(seen && cells.n == mesh->n_elem && cells.start[0] == 0);
    const int64_t n_cell = cells.n_cell[0] * cells.n_cell[1] * cells.n_cell[2];
    CHECK(cells.start[n_cell] == mesh->n_elem && n_cell <= mesh->n_elem + 64);
    for (int64_t c = 0; c < n_cell; c++) {
        const int64_t at[3] = {c % cells.n_cell[0], c / cells.n_cell[0] % cells.n_cell[1],
                               c / cells.n_cell[0] / cells.n_cell[1]};
        for (int64_t p = cells.start[c]; p < cells.start[c + 1]; p++) {
            const double x[3] = {cells.x[p], cells.y[p], cells.z[p]};
            for (int d = 0; d < 3; d++) {
                const double low = cells.origin[d] + (double)at[d] * cells.size;
                const double slack = 1e-9 * cells.size;
                n_wrong += !(x[d] >= low - slack && x[d] <= low + cells.size + slack);
            }
            n_wrong += p > cells.start[c] && cells.member[p] <= cells.member[p - 1];
            n_wrong += seen[cells.member[p]]++;
            n_seen++;
        }
    }
    CHECK_MSG(n_wrong == 0 && n_seen == mesh->n_elem, "%lld elements in a wrong cell",
              (long long)n_wrong);
    hx_bins_free(&cells);
    hx_bins_free(&cells);
    free(seen);
}

static void forward(hx_filter *filter, size_t n, const double *rho, double *physical)
{
    double *const d_rho = fixture_put(&device, n, rho), *const d_physical =
                                                            fixture_put(&device, n, rho);
    CHECK_OK(device.ops->zero(&device, d_physical, n * sizeof *d_physical));
    CHECK_OK(hx_filter_forward(filter, d_rho, d_physical));
    fixture_get(&device, n, physical, d_physical);
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_physical);
}

/* dv may be NULL. */
static void backward(hx_filter *filter, size_t n, const double *rho, double *dc, double *dv)
{
    double *const d_rho = fixture_put(&device, n, rho), *const d_dc = fixture_put(&device, n, dc);
    double *const d_dv = fixture_put(&device, n, dv);
    CHECK_OK(hx_filter_backward(filter, d_rho, d_dc, d_dv));
    fixture_get(&device, n, dc, d_dc);
    if (dv) fixture_get(&device, n, dv, d_dv);
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_dc);
    device.ops->release(&device, d_dv);
}

/* dc_e <- sum H rho dc / (rho_e sum H) in long double over all pairs. */
static void check_filter(const hx_problem *problem, double radius, int volume_weighted)
{
    const hx_mesh *mesh = problem->mesh;
    const size_t n = (size_t)mesh->n_elem;
    hx_voxels made;
    const hx_filter_params params = {
        .radius = radius, .volume_weighted = volume_weighted, .voxels = &made};
    double *const dc = malloc(n * sizeof *dc), *const dv = malloc(n * sizeof *dv);
    double *const rho = malloc(n * sizeof *rho), *const before = malloc(n * sizeof *before);
    double *const physical = malloc(n * sizeof *physical);
    hx_filter filter;
    uint64_t state = 77;
    double error = 0.0;
    CHECK(dc && dv && rho && before && physical);
    CHECK_OK(hx_voxels_create(&made, mesh, radius));
    const double rounding = made.n[0] > 0 ? 0.0 : device.ops->design->cone_rounding;
    CHECK_OK(hx_filter_create(&filter, hx_filter_find("sensitivity"), &device, problem, &params));
    CHECK(made.n[0] == 0 && !made.elem && !filter.params.voxels);
    for (int repeat = 0; repeat < 2; repeat++) { /* no state may remain */
        for (size_t e = 0; e < n; e++) {
            rho[e] = fixture_uniform(&state, 0.01, 1.0);
            before[e] = dc[e] = -fixture_uniform(&state, 0.1, 10.0);
            dv[e] = problem->volume[e];
        }
        forward(&filter, n, rho, physical);
        CHECK(memcmp(rho, physical, n * sizeof *rho) == 0);
        backward(&filter, n, rho, dc, dv);
        CHECK(memcmp(dv, problem->volume, n * sizeof *dv) == 0);
        for (size_t e = 0; e < n; e++) {
            long double sum = 0.0L, sum_weight = 0.0L, near = 0.0L, near_weight = 0.0L;
            for (size_t i = 0; i < n; i++) {
                long double weight = radius - distance_of(mesh, (int64_t)e, (int64_t)i);
                const double share = volume_weighted ? problem->volume[i] : 1.0;
                if (weight <= -1e-6 * radius) continue;
                near += share * rho[i] * before[i];
                near_weight += share;
                if (weight <= 0.0L) continue;
                sum += weight * share * rho[i] * before[i];
                sum_weight += weight * share;
            }
            const double exact = (double)(sum / (rho[e] * sum_weight));
            const double rounded =
                (double)(near / sum + near_weight / sum_weight) * radius * rounding;
            test_worst(&error, fabs(dc[e] / exact - 1.0) / (1e-13 + rounded));
            CHECK(isfinite(dc[e]));
        }
    }
    CHECK_MSG(error <= 1.0, "radius %g, volume weights %d: off by %.3g of what it may", radius,
              volume_weighted, error);
    hx_filter_free(&filter);
    free(dc);
    free(dv);
    free(rho);
    free(before);
    free(physical);
}

/* Cases that every filter leaves unchanged: a tiny radius, and constant fields. */
static void check_invariants(const hx_problem *problem)
{
    const size_t n = (size_t)problem->mesh->n_elem;
    double *const dc = malloc(n * sizeof *dc), *const rho = malloc(n * sizeof *rho);
    const hx_filter_params tiny = {.radius = 1e-9}, wide = {.radius = 0.9, .volume_weighted = 1};
    hx_filter filter;
    CHECK(dc && rho);
    CHECK_OK(hx_filter_create(&filter, hx_filter_find("sensitivity"), &device, problem, &tiny));
    for (size_t e = 0; e < n; e++) {
        dc[e] = -1.0 - (double)e;
        rho[e] = 0.3 + 0.5 * (double)e / (double)n;
    }
    backward(&filter, n, rho, dc, NULL);
    for (size_t e = 0; e < n; e++) CHECK_REL(dc[e], -1.0 - (double)e, 1e-14);
    hx_filter_free(&filter);
    CHECK_OK(hx_filter_create(&filter, hx_filter_find("sensitivity"), &device, problem, &wide));
    for (size_t e = 0; e < n; e++) {
        dc[e] = -2.5;
        rho[e] = 0.3;
    }
    backward(&filter, n, rho, dc, NULL);
    for (size_t e = 0; e < n; e++) CHECK_REL(dc[e], -2.5, 1e-13);
    hx_filter_free(&filter);
    CHECK_OK(hx_filter_create(&filter, hx_filter_find("none"), &device, problem,
                              &(hx_filter_params){0}));
    for (size_t e = 0; e < n; e++) dc[e] = -1.0 - (double)e;
    backward(&filter, n, rho, dc, NULL);
    for (size_t e = 0; e < n; e++) CHECK(dc[e] == -1.0 - (double)e);
    hx_filter_free(&filter);
    hx_filter_free(&filter);
    free(dc);
    free(rho);
}

/* Number of pairs from the estimated mean, which is exact up to 1000 elements. */
static int64_t estimated_pairs(const hx_mesh *mesh, double radius)
{
    double mean = 0.0;
    CHECK_OK(hx_bins_estimate(mesh, radius, &mean));
    return llround(mean * (double)mesh->n_elem);
}

/* Unit cubes: elements at exactly the radius are outside, diagonal neighbours inside. */
static void check_counts(void)
{
    const fixture_box box = {{5, 5, 5}, {5.0, 5.0, 5.0}, 0.0, 0};
    hx_mesh mesh;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    check_cells(&mesh, 1.0);
    CHECK(estimated_pairs(&mesh, 1.0) == 125);
    CHECK(estimated_pairs(&mesh, 1.01) == 125 + 6 * 100);
    /* (3 * 5 - 2)^3: a cube of 27 around each */
    CHECK(estimated_pairs(&mesh, 2.0) == 13 * 13 * 13);
    CHECK(estimated_pairs(&mesh, 7.0) == 125 * 125); /* the diagonal is 4 sqrt(3) */
    CHECK(estimated_pairs(&mesh, 1e12) == 125 * 125);
    CHECK(estimated_pairs(&mesh, 1e-12) == 125);
    hx_mesh_free(&mesh);
}

/* The estimate is exact up to 1000 elements and accurate beyond. */
static void check_estimate(fixture_order order)
{
    const fixture_box small = {{10, 10, 9}, {10.0, 10.0, 9.0}, 0.2, 0};
    const fixture_box large = {{22, 18, 20}, {22.0, 18.0, 20.0}, 0.2, 0};
    const double radius[3] = {0.5, 1.7, 3.5};
    hx_mesh mesh;
    double mean;
    CHECK_OK(make_mesh(&mesh, &small, order));
    check_cells(&mesh, 1.0);
    for (int i = 0; i < 3; i++)
        CHECK(estimated_pairs(&mesh, radius[i]) == count_pairs(&mesh, radius[i]));
    hx_mesh_free(&mesh);
    CHECK_OK(make_mesh(&mesh, &large, order));
    check_cells(&mesh, 1.0);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(hx_bins_estimate(&mesh, radius[i], &mean));
        CHECK_REL(mean, (double)count_pairs(&mesh, radius[i]) / (double)mesh.n_elem, 0.05);
    }
    hx_mesh_free(&mesh);
}

/* A thin tube in a large bounding box: cells are enlarged until there are no more of them than
 * elements. */
static void check_sparse(void)
{
    const fixture_box box = {{40, 2, 2}, {40.0, 2.0, 2.0}, 0.2, 0};
    const double radius[3] = {0.7, 2.5, 30.0};
    hx_mesh mesh;
    CHECK_OK(fixture_box_create(&mesh, &box));
    for (int64_t i = 0; i < mesh.n_node; i++) { /* along the diagonal of a cube */
        double *const x = mesh.xyz + 3 * i;
        x[1] += 20.0 * x[0];
        x[2] += 20.0 * x[0];
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    check_cells(&mesh, 1.0);
    for (int i = 0; i < 3; i++)
        CHECK(estimated_pairs(&mesh, radius[i]) == count_pairs(&mesh, radius[i]));
    hx_mesh_free(&mesh);
}

static void check_bad_radius(const hx_problem *problem)
{
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    const hx_filter_kind *const kind = hx_filter_find("sensitivity");
    const hx_mesh unfinished = {.n_elem = 1};
    hx_filter filter;
    hx_bins cells;
    CHECK_FAILS(hx_bins_create(&cells, &unfinished, 1.0), HX_EINPUT,
                "a mesh with a positive volume");
    CHECK_FAILS(hx_bins_create(&cells, problem->mesh, 1e-200), HX_EINPUT,
                "it must be above 1e-150");
    CHECK(kind != NULL && hx_filter_find("sensitivty") == NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const hx_filter_params params = {.radius = bad[i]};
        CHECK_FAILS(hx_filter_create(&filter, kind, &device, problem, &params), HX_EINPUT,
                    "filter 'sensitivity' needs a radius above 0");
        hx_filter_free(&filter);
    }
}

int main(int argc, char **argv)
{
    const fixture_box box = {{7, 6, 5}, {3.5, 2.4, 2.0}, 0.2, 1};
    /* none, a few, 30, most, all; elements are about 0.45 long */
    const double radius[] = {1e-6, 0.45, 0.9, 2.1, 1e3};
    hx_mesh mesh;
    hx_problem problem;
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(2);
    CHECK_OK(make_mesh(&mesh, &box, FIXTURE_SHUFFLED));
    CHECK_OK(make_problem(&problem, &mesh));
    for (size_t i = 0; i < sizeof radius / sizeof radius[0]; i++) {
        const int64_t n_pair = estimated_pairs(&mesh, radius[i]);
        CHECK(n_pair == count_pairs(&mesh, radius[i]));
        printf("radius %-6g %.1f neighbours an element\n", radius[i],
               (double)n_pair / (double)mesh.n_elem);
        check_filter(&problem, radius[i], 0);
        check_filter(&problem, radius[i], 1);
    }
    check_invariants(&problem);
    check_bad_radius(&problem);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    check_counts();
    check_sparse();
    check_estimate(FIXTURE_IN_ORDER);
    check_estimate(FIXTURE_SHUFFLED);
    check_estimate(FIXTURE_REORDERED);
    hx_device_close(&device);
    TEST_END();
}
