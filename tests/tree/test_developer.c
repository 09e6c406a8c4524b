/* The examples of doc/developer.md, compiled outside of the tree from the page's own text
 * (named_blocks.py): an operator and a preconditioner against those of the library, a filter's
 * transpose, derivatives of an objective and a constraint, an update's volume, a generator's
 * volume, a file of the example's format, the resultant of the load, and the output of the
 * command. */
#include <unistd.h>

#include "app/config/config_schema.h"
#include "app/text/commands.h"
#include "core/mesh/mesh_source.h"
#include "hexes_read.h"
#include "tests/lib/fixture.h"

extern const hx_operator_kind hx_operator_cpu_tile;
extern const hx_precond_kind hx_precond_two_step;
extern const hx_filter_kind hx_filter_nodal;
extern const hx_response_kind hx_response_reach;
extern const hx_response_kind hx_response_share;
extern const hx_update_kind hx_update_careful;
extern const hx_generator hx_generator_taper;
extern const hx_command hx_command_count;
void hx_add_hydrostatic(const hx_space *space, int64_t n_face, const int64_t *face, double slope,
                        double level, double *force);

static hx_device device;
enum { N_ELEM = 5 * 4 * 3, N_DOF = 3 * 6 * 5 * 4 };

static const hx_support_spec support = {
    .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
static const hx_load_spec load[2] = {{"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
                                     {"top", "test", HX_LOAD_NODE_FORCE, {0.0, 0.05, 0.0}, 2}};
static const double weight[2] = {0.7, 2.5};

static void make_problem(hx_problem *problem, hx_mesh *mesh)
{
    const fixture_box box = {{5, 4, 3}, {2.0, 1.2, 1.0}, 0.1, 1};
    hx_problem_params params = fixture_problem();
    CHECK_OK(fixture_box_create(mesh, &box));
    static const int32_t core[2] = {26, 33};
    CHECK_OK(hx_mesh_add_elem_set(mesh, "core", 2, core));
    CHECK_OK(fixture_finish(mesh, FIXTURE_SHUFFLED));
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 2;
    params.weight = weight;
    params.n_weight = 2;
    CHECK_OK(hx_problem_create(problem, mesh, &params));
}

static void fill(double *a, int n, double low, double high)
{
    uint64_t state = 99;
    for (int i = 0; i < n; i++) a[i] = fixture_uniform(&state, low, high);
}

/* ---- operator ---- */

static void check_operator(const hx_problem *problem)
{
    double modulus[N_ELEM], x[N_DOF], y[2][N_DOF], worst = 0.0, largest = 0.0;
    const hx_operator_kind *const op_kind[2] = {&hx_operator_cpu_tile,
                                                hx_operator_kind_find("cpu", "ebe")};
    fill(modulus, N_ELEM, 0.01, 1.0);
    fill(x, N_DOF, -1.0, 1.0);
    for (int i = 0; i < 2; i++) {
        hx_operator op;
        double *const d_x = fixture_put(&device, N_DOF, x), *const d_y =
                                                                fixture_put(&device, N_DOF, x);
        CHECK_OK(
            hx_operator_create(&op, &device, op_kind[i], hx_layout_first(op_kind[i]), problem, 0));
        CHECK_OK(hx_operator_set_modulus(&op, modulus));
        CHECK_OK(op.linear.apply(&op.linear, d_x, d_y));
        fixture_get(&device, N_DOF, y[i], d_y);
        device.ops->release(&device, d_x);
        device.ops->release(&device, d_y);
        hx_operator_free(&op);
    }
    for (int i = 0; i < N_DOF; i++) {
        test_worst(&worst, fabs(y[0][i] - y[1][i]));
        test_worst(&largest, fabs(y[1][i]));
    }
    CHECK_MSG(worst <= 1e-13 * largest, "tile: off ebe by %g of %g", worst, largest);
}

/* ---- preconditioner ---- */

static int solve(const hx_problem *problem, const hx_precond_kind *kind, double u[N_DOF])
{
    const hx_pcg_params params = {
        .criterion = HX_PCG_RELATIVE, .tolerance = 1e-12, .max_iterations = 5000};
    double modulus[N_ELEM];
    hx_operator op;
    hx_precond pc;
    hx_pcg pcg;
    hx_pcg_result result;
    double *const d_f = fixture_put(&device, N_DOF, problem->cases.force[0]), *d_u;
    memset(u, 0, N_DOF * sizeof *u);
    d_u = fixture_put(&device, N_DOF, u);
    fill(modulus, N_ELEM, 0.01, 1.0);
    CHECK_OK(hx_operator_create(&op, &device, hx_operator_kind_find("cpu", "otf"),
                                HX_LAYOUT_INTERLEAVED, problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    CHECK_OK(hx_precond_create(&pc, kind, &op.linear, &op));
    CHECK_OK(hx_precond_setup(&pc));
    CHECK_OK(hx_pcg_create(&pcg, &params, &op.linear, &pc));
    CHECK_OK(hx_pcg_solve(&pcg, &op.linear, &pc, d_f, d_u, &result));
    CHECK_MSG(result.reason == HX_PCG_CONVERGED, "%s: %s", kind->name,
              hx_pcg_reason_name(result.reason));
    fixture_get(&device, N_DOF, u, d_u);
    hx_pcg_free(&pcg);
    hx_precond_free(&pc);
    hx_operator_free(&op);
    device.ops->release(&device, d_f);
    device.ops->release(&device, d_u);
    return result.iterations;
}

static void check_precond(const hx_problem *problem)
{
    double u[2][N_DOF], worst = 0.0, largest = 0.0;
    const int n_two = solve(problem, &hx_precond_two_step, u[0]),
              n_jacobi = solve(problem, hx_precond_find("jacobi"), u[1]);
    for (int i = 0; i < N_DOF; i++) {
        test_worst(&worst, fabs(u[0][i] - u[1][i]));
        test_worst(&largest, fabs(u[1][i]));
    }
    CHECK_MSG(worst <= 1e-9 * largest, "two-step: u off by %g of %g", worst, largest);
    CHECK_MSG(n_two < n_jacobi, "two-step: %d iterations, jacobi %d", n_two, n_jacobi);
}

/* ---- filter ---- */

static void map(hx_filter *filter, int is_backward, const double *from, double *to)
{
    double *const d_a = fixture_put(&device, N_ELEM, from), *const d_b =
                                                                fixture_put(&device, N_ELEM, from);
    if (is_backward)
        CHECK_OK(filter->kind->backward(filter, d_a, d_b, NULL));
    else
        CHECK_OK(filter->kind->forward(filter, d_a, d_b));
    fixture_get(&device, N_ELEM, to, d_b);
    device.ops->release(&device, d_a);
    device.ops->release(&device, d_b);
}

static void check_filter(const hx_problem *problem)
{
    const hx_filter_params params = {0};
    double x[N_ELEM], y[N_ELEM], fx[N_ELEM], fy[N_ELEM], one[N_ELEM], left = 0.0, right = 0.0;
    hx_filter filter;
    fill(x, N_ELEM, 0.1, 1.0);
    for (int e = 0; e < N_ELEM; e++) {
        y[e] = x[(7 * e + 3) % N_ELEM] - 0.4;
        one[e] = 0.3;
    }
    CHECK_OK(hx_filter_create(&filter, &hx_filter_nodal, &device, problem, &params));
    map(&filter, 0, x, fx);
    map(&filter, 1, y, fy);
    map(&filter, 0, one, one);
    hx_filter_free(&filter);
    for (int e = 0; e < N_ELEM; e++) {
        left += y[e] * fx[e];
        right += fy[e] * x[e];
        CHECK(fabs(one[e] - 0.3) < 1e-14); /* constants are kept */
        CHECK(fx[e] > 0.1 && fx[e] < 1.0);
    }
    CHECK_MSG(fabs(left - right) <= 1e-13 * fabs(left), "y'F x = %.17g, x'F'y = %.17g", left,
              right);
}

/* ---- objective and update ---- */

static double objective_at(fixture_solver *s, int64_t e, double rho)
{
    hx_iteration record;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    return record.objective;
}

static void check_objective(const hx_problem *problem)
{
    double density[N_ELEM], dc[N_ELEM];
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    settings.design.volume_fraction = 0.5;
    fill(density, N_ELEM, 0.2, 0.8);
    settings.density = density;
    settings.pcg.tolerance = 1e-14;
    settings.optimizer.objective = &hx_response_reach;
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT,
                "objective 'reach' needs a set");
    settings.optimizer.objective_params = (hx_response_params){
        .set = "nowhere", .direction = {0.3, 0.0, -2.0}, .load_case = HX_ALL_CASES};
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT,
                "a set with nodes, not 'nowhere'");
    settings.optimizer.objective_params.set = "right";
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (int64_t e = 0; e < N_ELEM; e += 7) {
        const double h = 1e-4 * density[e], up = objective_at(&s, e, density[e] + h),
                     down = objective_at(&s, e, density[e] - h), slope = (up - down) / (2.0 * h);
        objective_at(&s, e, density[e]);
        CHECK_MSG(fabs(slope - dc[e]) <= 1e-6 * fabs(dc[e]),
                  "reach, element %d: %.12g by differences, %.12g", (int)e, slope, dc[e]);
    }
    fixture_solver_free(&s);
}

/* An update that keeps the design, and what it receives. */
static hx_limit_row received[2];

static int create_nothing(hx_update *update)
{
    (void)update;
    return HX_OK;
}

static int keep(hx_update *update, hx_update_step *step)
{
    for (int i = 0; i < 2; i++) received[i] = update->row[i];
    return device.ops->copy(&device, step->d_proposal, step->d_design, N_ELEM * sizeof(double));
}

static void destroy_nothing(hx_update *update)
{
    (void)update;
}

static void check_constraint(const hx_problem *problem)
{
    static const hx_update_kind keeper = {.name = "keeper",
                                          .help = "keeps the design",
                                          .most_rows = 2,
                                          .create = create_nothing,
                                          .propose = keep,
                                          .destroy = destroy_nothing};
    hx_constraint_spec spec = {
        .kind = &hx_response_share, .params = {.set = "left"}, .max = 0.1, .min = NAN};
    double density[N_ELEM], dg[N_ELEM], volume = 0.0;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    fill(density, N_ELEM, 0.2, 0.8);
    settings.density = density;
    settings.optimizer.n_constraint = 1;
    settings.optimizer.constraint = &spec;
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT,
                "set 'left' has no elements");
    spec.params.set = "core";
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT,
                "update 'oc' supports 1 limit, that of the volume, but there are 2: volume, "
                "share");
    settings.optimizer.update = &keeper;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    fixture_get(&device, N_ELEM, dg, received[1].response->d_derivative);
    for (int e = 0; e < N_ELEM; e++) {
        const hx_set *const core = hx_mesh_find_set(problem->mesh, "core");
        const int is_in = core->elem[0] == e || core->elem[1] == e;
        CHECK(dg[e] == (is_in ? problem->volume[e] : 0.0));
        volume += dg[e] * density[e];
    }
    CHECK(received[1].bound == 0.1 && fabs(received[1].response->now - volume) <= 1e-14);
    CHECK(received[0].response->kind == &hx_constraint_volume &&
          received[0].bound > received[0].response->now);
    fixture_solver_free(&s);
}

static void check_update(const hx_problem *problem)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    double first = 0.0;
    settings.design.volume_fraction = 0.5;
    settings.optimizer.update = &hx_update_careful;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int i = 0; i < 10; i++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        if (i == 0) first = record.objective;
        CHECK_MSG(fabs(record.volume - 0.5) <= 1e-9, "careful: volume %.12g", record.volume);
        CHECK(record.change > 0.0 && record.change <= 0.2 + 1e-12);
        hx_optimizer_advance(&s.opt);
    }
    CHECK(record.objective < 0.8 * first);
    fixture_solver_free(&s);
}

/* ---- meshes ---- */

static void check_generator(void)
{
    const hx_generate_params params = {.nx = 6, .ny = 3, .nz = 4};
    hx_mesh mesh;
    CHECK_OK(hx_generate(&hx_generator_taper, &mesh, &params));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK(mesh.n_elem == 72);
    CHECK(fabs(mesh.total_volume - 0.75 * 72.0) < 1e-12);
    CHECK(hx_mesh_find_set(&mesh, "tip") && hx_mesh_find_set(&mesh, "tip")->n_node == 20);
    hx_mesh_free(&mesh);
}

static void write_hexes(const char *last)
{
    FILE *const f = fopen("two.hexes", "w");
    CHECK(f != NULL);
    if (!f) return;
    fprintf(
        f,
        "hexes\n12\n0 0 0 1 0 0 2 0 0\n0 1 0 1 1 0 2 1 0\n0 0 1 1 0 1 2 0 1\n0 1 1 1 1 1 2 1 1\n"
        "2\n1 2 5 4 7 8 11 10\n2 3 6 5 8 9 12 %s\n",
        last);
    fclose(f);
}

static void check_format(void)
{
    hx_mesh mesh;
    write_hexes("11");
    CHECK_OK(hx_hexes_read("two.hexes", &mesh, NULL, NULL));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK(mesh.n_elem == 2 && fabs(mesh.total_volume - 2.0) < 1e-14);
    hx_mesh_free(&mesh);
    write_hexes("13");
    CHECK(hx_hexes_read("two.hexes", &mesh, NULL, NULL) == HX_EINPUT);
    CHECK_MSG(strstr(hx_error_message(), "two.hexes:9: element 2 names node 13"), "%s",
              hx_error_message());
    hx_mesh_free(&mesh);
    remove("two.hexes");
}

/* ---- load ---- */

/* On the end of an undistorted box, 4 wide: half of slope times width times depth squared. The
 * level is that of the top of the box. */
static void check_load(void)
{
    const fixture_box box = {{5, 4, 3}, {5.0, 4.0, 3.0}, 0.0, 1};
    hx_mesh mesh;
    hx_space space;
    int64_t n_face, *face;
    double force[N_DOF] = {0.0}, sum[3] = {0.0, 0.0, 0.0};
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_LINEAR));
    uint8_t *const flag = calloc((size_t)mesh.n_node, 1);
    CHECK(flag != NULL);
    for (int64_t i = 0; flag && i < mesh.n_node; i++) flag[i] = mesh.xyz[3 * i] > 5.0 - 1e-9;
    CHECK_OK(hx_mesh_boundary_faces(&mesh, flag, &n_face, &face));
    CHECK(n_face == 12);
    hx_add_hydrostatic(&space, n_face, face, 2.0, 3.0, force);
    for (int i = 0; i < N_DOF; i++) sum[i % 3] += force[i];
    CHECK_MSG(fabs(sum[0] + 0.5 * 2.0 * 4.0 * 9.0) < 1e-12, "hydrostatic: %.17g along x", sum[0]);
    CHECK(fabs(sum[1]) < 1e-14 && fabs(sum[2]) < 1e-14);
    free(flag);
    free(face);
    hx_space_free(&space);
    hx_mesh_free(&mesh);
}

/* ---- key ---- */

/* hx_keys is that of the scratch tree, with one more row. */
static void check_key(void)
{
    const hx_key *key = NULL;
    int same_offset = 0;
    for (size_t i = 0; i < hx_n_key; i++)
        if (strcmp(hx_keys[i].path, "output.announce") == 0) key = &hx_keys[i];
    CHECK(key != NULL);
    if (!key) return;
    CHECK(key->type == HX_KEY_TEXT && key->is_free && strcmp(key->note, "nothing") == 0);
    for (size_t i = 0; i < hx_n_key; i++)
        same_offset +=
            strncmp(hx_keys[i].path, "output.", 7) == 0 && hx_keys[i].offset == key->offset;
    CHECK(same_offset == 1);
}

/* ---- command ---- */

/* One tetrahedron, so that the noun of one element is checked too. */
static void write_tetrahedron(void)
{
    FILE *const f = fopen("one.vtk", "w");
    CHECK(f != NULL);
    if (!f) return;
    fputs("# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
          "0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n",
          f);
    fclose(f);
}

static void check_command(void)
{
    char line[80] = "";
    const char *const file = "one.vtk";
    const hx_options options = {.argument = &file, .n_argument = 1};
    write_tetrahedron();
    fflush(stdout);
    const int saved = dup(1);
    CHECK(saved >= 0 && freopen("count.txt", "w", stdout) != NULL);
    CHECK_OK(hx_command_count.run(&options));
    fflush(stdout);
    CHECK(dup2(saved, 1) == 1);
    close(saved);
    FILE *const f = fopen("count.txt", "r");
    CHECK(f && fgets(line, sizeof line, f));
    if (f) fclose(f);
    CHECK_MSG(strcmp(line, "4 nodes, 1 element\n") == 0, "hextop count: %s", line);
    remove("count.txt");
    remove("one.vtk");
}

int main(int argc, char **argv)
{
    hx_mesh mesh;
    hx_problem problem;
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    make_problem(&problem, &mesh);
    check_operator(&problem);
    check_precond(&problem);
    check_filter(&problem);
    check_objective(&problem);
    check_constraint(&problem);
    check_update(&problem);
    check_generator();
    check_format();
    check_load();
    check_key();
    check_command();
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
