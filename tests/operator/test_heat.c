/* Heat conduction on a device: every operator with one unknown per node against a dense K computed
 * here, including films (convection) and collapsed cells; closed-form solutions (slab, cylindrical
 * and spherical shell, convection); solution and iterations of multigrid.
 *
 *     test_heat [cpu | cuda] */
#include "core/mesh/hex8.h"
#include "core/mesh/load_faces.h"
#include "core/mesh/region.h"

#include "tests/lib/mixed_model.h"
#include "tests/lib/tube.h"

static hx_device device;

enum { MAX_NODE = 400 };

/* --- a dense K --- */

static void add_dense_element(const hx_mesh *mesh, int64_t e, double k, double *dense)
{
    const int32_t *conn = mesh->conn + 8 * e;
    const int64_t n = mesh->n_node;
    double x[24];
    for (int a = 0; a < 8; a++) memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 24);
    for (int q = 0; q < 8; q++) {
        const double r = hx_hex8_gauss(q, 0), s = hx_hex8_gauss(q, 1), t = hx_hex8_gauss(q, 2);
        double inv[3][3], g[8][3];
        const double det = hx_hex8_jacobian(x, r, s, t, inv);
        for (int a = 0; a < 8; a++) hx_hex8_gradient(a, r, s, t, inv, g[a]);
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++)
                dense[conn[a] * n + conn[b]] +=
                    k * det * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
    }
}

/* h int N N' dA over the faces of a set by Simpson's rule: exact for these products on planar
 * parallelograms, and accurate enough on others to detect swapped points. */
static void add_dense_films(const hx_mesh *mesh, const char *set, double h, double *dense)
{
    int64_t n_face, *face;
    CHECK_OK(hx_load_faces(mesh, hx_mesh_find_set(mesh, set), &n_face, &face));
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        hx_face_point point[4];
        hx_face_points(mesh, face[f], node, point);
        for (int q = 0; q < 4; q++)
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++)
                    dense[node[a] * mesh->n_node + node[b]] +=
                        h * hx_norm3(point[q].normal) * point[q].shape[a] * point[q].shape[b];
    }
    free(face);
}

static double difference(int64_t n, const double *a, const double *b)
{
    double worst = 0.0, size = 0.0;
    for (int64_t i = 0; i < n; i++) {
        test_worst(&worst, fabs(a[i] - b[i]));
        test_worst(&size, fabs(b[i]));
    }
    return worst / size;
}

/* --- problems --- */

static hx_problem_params heat_problem(void)
{
    hx_problem_params params = fixture_problem();
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 2.5;
    return params;
}

static hx_support_spec held(const char *set, double temperature)
{
    return (hx_support_spec){.set = set, .origin = "test", .fix = HX_FIX_X, .value = {temperature}};
}

static hx_load_spec load_of(hx_load_kind kind, const char *set, double value)
{
    return (hx_load_spec){
        .set = set, .origin = "test", .kind = kind, .value = {value}, .load_case = 1};
}

static void check_operator(const hx_problem *problem, const hx_operator_kind *op_kind,
                           hx_layout layout, const double *dense, const double *modulus)
{
    const int64_t n = problem->mesh->n_node;
    double x[MAX_NODE], y[MAX_NODE], want[MAX_NODE];
    uint64_t state = 99;
    hx_operator op;
    CHECK_OK(hx_operator_create(&op, &device, op_kind, layout, problem, 0));
    CHECK(op.linear.n == n && op.linear.components == 1);
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    for (int64_t i = 0; i < n; i++) x[i] = fixture_uniform(&state, -1.0, 1.0);
    for (int64_t i = 0; i < n; i++) {
        want[i] = 0.0;
        for (int64_t j = 0; j < n; j++) want[i] += dense[i * n + j] * x[j];
    }
    double *d_x = fixture_put(&device, (size_t)n, x), *d_y = fixture_put(&device, (size_t)n, NULL);
    for (int v = 0; v == 0 || (op_kind->variant && op_kind->variant(op.state, v)); v++) {
        CHECK_OK(hx_operator_apply_unmasked(&op, d_x, d_y));
        fixture_get(&device, (size_t)n, y, d_y);
        CHECK_MSG(difference(n, y, want) < 1e-13, "%s, variant %d: K x off by %g", op_kind->name, v,
                  difference(n, y, want));
    }
    CHECK_OK(hx_operator_diagonal(&op, d_y));
    fixture_get(&device, (size_t)n, y, d_y);
    for (int64_t i = 0; i < n; i++) want[i] = problem->supports.fixed[i] ? 0.0 : dense[i * n + i];
    CHECK_MSG(difference(n, y, want) < 1e-13, "%s: diagonal off by %g", op_kind->name,
              difference(n, y, want));
    CHECK(op.linear.block_diagonal == NULL);
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    hx_operator_free(&op);
}

/* Products in single precision, including films. */
static void check_single(const hx_problem *problem, const hx_operator_kind *op_kind,
                         hx_layout layout, const double *dense, const double *modulus)
{
    const int64_t n = problem->mesh->n_node;
    float x[MAX_NODE], y[MAX_NODE], *d_x = NULL, *d_y = NULL;
    double want[MAX_NODE], got[MAX_NODE];
    uint64_t state = 98;
    hx_operator op;
    if (!op_kind->apply_single) return;
    CHECK_OK(hx_operator_create(&op, &device, op_kind, layout, problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    if (op.linear.prepare_single) CHECK_OK(op.linear.prepare_single(&op.linear));
    for (int64_t i = 0; i < n; i++) x[i] = (float)fixture_uniform(&state, -1.0, 1.0);
    for (int64_t i = 0; i < n; i++) {
        want[i] = 0.0;
        for (int64_t j = 0; j < n && !problem->supports.fixed[i]; j++)
            want[i] += dense[i * n + j] * (double)x[j];
    }
    CHECK_OK(hx_device_put(&device, &d_x, x, (size_t)n * sizeof *x));
    CHECK_OK(device.ops->alloc(&device, (size_t)n * sizeof *y, &d_y));
    for (int v = 0; v == 0 || (op_kind->variant && op_kind->variant(op.state, v)); v++) {
        CHECK_OK(hx_operator_apply_single(&op, d_x, d_y));
        CHECK_OK(device.ops->download(&device, y, d_y, (size_t)n * sizeof *y));
        for (int64_t i = 0; i < n; i++) got[i] = (double)y[i];
        CHECK_MSG(difference(n, got, want) < 3e-6, "%s, variant %d: K x in single off by %g",
                  op_kind->name, v, difference(n, got, want));
    }
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    hx_operator_free(&op);
}

/* Checks all operators on a mesh with the sets "left" and "right". */
static void check_mesh(const hx_mesh *mesh, const char *name)
{
    const hx_support_spec support = held("left", 20.0);
    const hx_convection_spec film = {"right", "test", 3.5, 20.0};
    const hx_load_spec load = load_of(HX_LOAD_SOURCE, NULL, 1.0);
    hx_problem_params params = heat_problem();
    hx_problem problem;
    const hx_operator_kind *op_kind;
    hx_layout layout;
    size_t next = 0;
    int next_layout = 0, n_found = 0;
    uint64_t state = 5;
    params.n_support = params.n_load = params.n_convection = 1;
    params.support = &support;
    params.load = &load;
    params.convection = &film;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    CHECK_MSG(mesh->n_node <= MAX_NODE, "%s: %lld nodes", name, (long long)mesh->n_node);
    const size_t n = (size_t)mesh->n_node;
    double *dense = calloc(n * n, sizeof *dense);
    double *modulus = malloc((size_t)mesh->n_elem * sizeof *modulus);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        modulus[e] = fixture_uniform(&state, 0.01, 2.0);
        add_dense_element(mesh, e, modulus[e], dense);
    }
    add_dense_films(mesh, "right", 3.5, dense);
    while ((op_kind = fixture_next_operator_kind(&device, &next, &next_layout, &layout))) {
        const hx_operator_kind *scalar = hx_operator_kind_of(op_kind, 1);
        if (!scalar || !(scalar->layouts & HX_LAYOUT_BIT(layout))) continue;
        CHECK(strcmp(scalar->name, op_kind->name) == 0);
        check_operator(&problem, scalar, layout, dense, modulus);
        check_single(&problem, scalar, layout, dense, modulus);
        n_found++;
    }
    CHECK(n_found >= 2);
    free(dense);
    free(modulus);
    hx_problem_free(&problem);
}

static void check_operators(fixture_order order)
{
    const fixture_box box = {{6, 5, 7}, {1.0, 2.0, 1.5}, 0.2, 1};
    hx_mesh mesh;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, order));
    check_mesh(&mesh, "box");
    hx_mesh_free(&mesh);
}

/* Collapsed cells, more of each kind than one block of otf has. */
static void check_collapsed(mixed_kind kind)
{
    const mixed_box box = {.kind = kind, .n = {3, 3, 5}, .distort = 0.12, .seed = 4};
    const hx_region left = {.kind = HX_REGION_PLANE, .axis = {1, 0, 0}, .tolerance = 1e-6};
    hx_region right = left;
    hx_mesh mesh;
    CHECK_OK(mixed_create(&mesh, &box));
    mixed_turn(&mesh, 11);
    CHECK_OK(hx_mesh_finish(&mesh));
    right.point[0] = mesh.box_max[0];
    CHECK_OK(hx_mesh_add_region(&mesh, "left", &left));
    CHECK_OK(hx_mesh_add_region(&mesh, "right", &right));
    check_mesh(&mesh, mixed_name[kind]);
    hx_mesh_free(&mesh);
}

/* --- solutions --- */

static double last_compliance; /* of solve() */

/* Absolute temperature T of the solid design; freed by the caller. *n_iteration: iterations of
 * PCG. */
static double *solve(const hx_problem *problem, const char *op_kind, const char *precond,
                     const double *rho, double tolerance, int *n_iteration)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    double *t = calloc((size_t)problem->mesh->n_node, sizeof *t);
    settings.op_kind = hx_operator_kind_of(hx_operator_kind_find(device.ops->name, op_kind), 1);
    CHECK(settings.op_kind != NULL);
    if (!settings.op_kind) return t;
    settings.layout = hx_layout_first(settings.op_kind);
    settings.precond = precond;
    settings.pcg.tolerance = tolerance;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(hx_analysis_solve_density(&s.analysis, rho, 3.0));
    CHECK(s.analysis.record.reason == HX_PCG_CONVERGED);
    CHECK_OK(hx_analysis_compliance(&s.analysis, &last_compliance));
    if (n_iteration) *n_iteration = s.analysis.record.pcg_iterations;
    CHECK_OK(hx_analysis_displacement(&s.analysis, 0, t));
    for (int64_t i = 0; i < problem->mesh->n_node; i++) t[i] += problem->reference;
    fixture_solver_free(&s);
    return t;
}

/* A slab of length 2 with T = 300 at x = 0 and, at x = 2, a flux of 7 (mode 0), T = 350 (mode 1),
 * or a film with h = 3 and ambient temperature 280 (mode 2). Temperatures are linear, so they are
 * exact on distorted elements too. */
static void check_slab(mixed_kind kind, int mode, const char *op_kind, const char *precond)
{
    const fixture_box box = {{6, 4, 3}, {2.0, 1.0, 1.5}, 0.2, 0};
    const mixed_box mixed = {
        .kind = kind, .n = {4, 3, 5}, .length = {2.0, 1.0, 1.5}, .distort = 0.15, .seed = 6};
    const hx_support_spec support[2] = {held("left", 300.0), held("right", 350.0)};
    const hx_convection_spec film = {"right", "test", 3.0, 280.0};
    const hx_load_spec load = load_of(HX_LOAD_FLUX, "right", 7.0);
    hx_problem_params params = heat_problem();
    hx_mesh mesh;
    hx_problem problem;
    if (kind == MIXED_HEXAHEDRA) {
        CHECK_OK(fixture_box_create(&mesh, &box));
        CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    } else {
        CHECK_OK(mixed_create_part(&mesh, &mixed, FIXTURE_REORDERED));
    }
    params.support = support;
    params.n_support = mode == 1 ? 2 : 1;
    params.load = &load;
    params.n_load = mode == 0;
    params.convection = &film;
    params.n_convection = mode == 2;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK(problem.is_mixed == (mode > 0) && problem.reference == (mode == 2 ? 280.0 : 300.0));
    const double k = 2.5, h = 3.0;
    const double slope = mode == 0 ? 7.0 / k : mode == 1 ? 25.0 : h * -20.0 / (k + 2.0 * h);
    double *t = solve(&problem, op_kind, precond, NULL, 1e-13, NULL), worst = 0.0;
    for (int64_t i = 0; i < mesh.n_node; i++)
        test_worst(&worst, fabs(t[i] - 300.0 - slope * mesh.xyz[3 * i]));
    /* incoming heat times (T - 300), or minus the heat flow times the temperature difference that
     * drives it */
    const double area = 1.0 * 1.5, drop = mode == 0 ? 2.0 * slope : mode == 1 ? -50.0 : 20.0;
    CHECK_REL(last_compliance, k * slope * area * drop, 1e-9);
    CHECK_MSG(worst < 1e-8, "slab of %s, %d, %s, %s: off by %g", mixed_name[kind], mode, op_kind,
              precond, worst);
    free(t);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

typedef struct shell_error {
    double largest, mean; /* mean: root mean square */
} shell_error;

/* Errors of T = a + b f(r), relative to the temperature drop, between T = 400 inside (r = 1) and a
 * film with h = 2 and ambient temperature 100 outside (r = 2). f = ln r for the shell of a
 * cylinder, f = -1 / r for that of a sphere. */
static shell_error shell_errors(const hx_mesh *mesh, int is_sphere)
{
    const hx_support_spec support = held("bore", 400.0);
    const hx_convection_spec film = {"outside", "test", 2.0, 100.0};
    hx_problem_params params = heat_problem();
    hx_problem problem;
    params.support = &support;
    params.convection = &film;
    params.n_support = params.n_convection = 1;
    CHECK_OK(hx_problem_create(&problem, mesh, &params));
    double *t = solve(&problem, "otf", "jacobi", NULL, 1e-12, NULL);
    shell_error error = {0.0, 0.0};
    /* k b f'(2) = -h (T(2) - 100) */
    const double k = 2.5, h = 2.0, f1 = is_sphere ? -1.0 : 0.0, f2 = is_sphere ? -0.5 : log(2.0);
    const double slope = is_sphere ? 0.25 : 0.5, b = -h * 300.0 / (k * slope + h * (f2 - f1));
    for (int64_t i = 0; i < mesh->n_node; i++) {
        const double *x = mesh->xyz + 3 * i;
        const double r = sqrt(x[0] * x[0] + x[1] * x[1] + (is_sphere ? x[2] * x[2] : 0.0));
        const double off = (t[i] - 400.0 - b * ((is_sphere ? -1.0 / r : log(r)) - f1)) / 300.0;
        test_worst(&error.largest, fabs(off));
        error.mean += off * off / (double)mesh->n_node;
    }
    error.mean = sqrt(error.mean);
    free(t);
    hx_problem_free(&problem);
    return error;
}

/* Bends a box with layers along z into a quarter of a cylindrical shell around z, or a sixth of a
 * spherical shell. */
static void bend(hx_mesh *mesh, int is_sphere)
{
    for (int64_t i = 0; i < mesh->n_node; i++) {
        double *x = mesh->xyz + 3 * i;
        const double u = tan(0.25 * TUBE_PI * (x[0] - 1.0));
        const double v = is_sphere ? tan(0.25 * TUBE_PI * (x[1] - 1.0)) : 0.0;
        const double r = 1.0 + x[2], length = sqrt(1.0 + u * u + v * v), along = 0.2 * x[1];
        const int32_t node = (int32_t)i;
        if (x[2] < 1e-9) CHECK_OK(hx_mesh_add_node_set(mesh, "bore", 1, &node));
        if (x[2] > 1.0 - 1e-9) CHECK_OK(hx_mesh_add_node_set(mesh, "outside", 1, &node));
        x[0] = (is_sphere ? r * u : r) / length;
        x[1] = r * (is_sphere ? v : u) / length;
        x[2] = is_sphere ? r / length : along;
    }
}

static void shell_create(hx_mesh *mesh, mixed_kind kind, int is_sphere, int n)
{
    const tube shell = {1.0, 2.0, 0.4, 2.0 * TUBE_PI, {n, 8 * n, 1}, 0.0, {0}, {{0}}};
    const mixed_box box = {
        .kind = kind, .n = {2 * n, is_sphere ? 2 * n : n / 2, n}, .length = {2.0, 2.0, 1.0}};
    if (kind == MIXED_HEXAHEDRA && !is_sphere) {
        CHECK_OK(tube_create(mesh, &shell));
    } else {
        CHECK_OK(mixed_create(mesh, &box));
        bend(mesh, is_sphere);
    }
    CHECK_OK(fixture_finish(mesh, FIXTURE_REORDERED));
}

/* Convergence of second order: halving the element size divides the error by four. At single nodes
 * where few tetrahedra meet, such as along the edges of the shell, this holds only on finer
 * meshes. */
static void check_shells(mixed_kind kind)
{
    for (int is_sphere = 0; is_sphere < 2; is_sphere++) {
        shell_error error[2];
        for (int i = 0; i < 2; i++) {
            hx_mesh mesh;
            shell_create(&mesh, kind, is_sphere, i ? 8 : 4);
            error[i] = shell_errors(&mesh, is_sphere);
            hx_mesh_free(&mesh);
        }
        const double ratio = error[0].mean / error[1].mean;
        printf("%s shell of %s: errors %.3e, %.3e of the drop, in the mean %.3e, %.3e\n",
               is_sphere ? "sphere" : "cylinder", mixed_name[kind], error[0].largest,
               error[1].largest, error[0].mean, error[1].mean);
        CHECK(error[1].mean < 1.5e-3 && ratio > 3.5 && ratio < 4.5);
        CHECK(error[1].largest < 6e-3 && error[0].largest > 2.0 * error[1].largest);
        if (kind == MIXED_HEXAHEDRA)
            CHECK(error[1].largest < 3e-3 && error[0].largest > 3.5 * error[1].largest);
    }
}

/* Densities of a half-empty box: all solvers find the same temperatures, and multigrid needs few
 * iterations at any contrast. */
static void check_multigrid(void)
{
    const fixture_box box = {{24, 20, 16}, {1.2, 1.0, 0.8}, 0.15, 0};
    const hx_support_spec support = held("left", 20.0);
    const hx_convection_spec film = {"right", "test", 0.7, 20.0};
    const hx_load_spec load = load_of(HX_LOAD_SOURCE, NULL, 1.0);
    hx_problem_params params = heat_problem();
    hx_mesh mesh;
    hx_problem problem;
    int n_diagonal = 0, n_multigrid[2] = {0, 0};
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    params.n_support = params.n_load = params.n_convection = 1;
    params.support = &support;
    params.load = &load;
    params.convection = &film;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    double *rho = malloc((size_t)mesh.n_elem * sizeof *rho);
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        double c[3];
        hx_mesh_centroid(&mesh, e, c);
        rho[e] = sin(15.0 * c[0]) + cos(13.0 * c[1]) * sin(17.0 * c[2]) > 0.0 ? 1.0 : 0.001;
    }
    double *one = solve(&problem, "otf", "jacobi", rho, 1e-11, &n_diagonal);
    double *two = solve(&problem, "otf", "multigrid", rho, 1e-11, &n_multigrid[0]);
    double *three = solve(&problem, "csr", "multigrid", rho, 1e-11, NULL);
    CHECK(difference(mesh.n_node, two, one) < 1e-8);
    CHECK(difference(mesh.n_node, three, one) < 1e-8);
    free(two);
    free(three);
    for (size_t i = 0; hx_operator_kinds[i]; i++) { /* all operators of this build */
        const hx_operator_kind *scalar = hx_operator_kinds[i]->scalar;
        if (!scalar || strcmp(scalar->device, device.ops->name) != 0) continue;
        two = solve(&problem, scalar->name, "jacobi", rho, 1e-11, NULL);
        CHECK(difference(mesh.n_node, two, one) < 1e-8);
        free(two);
    }
    two = solve(&problem, "otf", "multigrid", rho, 1e-5, &n_multigrid[1]);
    printf("iterations to 1e-11: jacobi %d, multigrid %d; to 1e-5 %d\n", n_diagonal, n_multigrid[0],
           n_multigrid[1]);
    CHECK(n_multigrid[1] <= 14 && n_multigrid[0] <= 27 && n_diagonal > 3 * n_multigrid[0]);
    free(one);
    free(two);
    free(rho);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    if (!device.ops->conduction) {
        hx_device_close(&device);
        TEST_SKIP("the device does not support heat conduction");
    }
    check_operators(FIXTURE_IN_ORDER);
    check_operators(FIXTURE_SHUFFLED);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) check_collapsed((mixed_kind)kind);
    for (int mode = 0; mode < 3; mode++) {
        check_slab(MIXED_HEXAHEDRA, mode, "csr", "none");
        for (int kind = 0; kind < MIXED_N_KIND; kind++) {
            check_slab((mixed_kind)kind, mode, "otf", "jacobi");
            check_slab((mixed_kind)kind, mode, "otf", "multigrid");
        }
    }
    for (int kind = 0; kind < MIXED_N_KIND; kind++) check_shells((mixed_kind)kind);
    check_multigrid();
    hx_device_close(&device);
    TEST_END();
}
