/* Multigrid from the rows of a matrix: on hexahedra with 8 nodes the first coarse matrix equals
 * that from the elements, and PCG takes as many iterations with it; full and lower matrices give
 * bitwise equal results; quadratic elements take at most twice the iterations of as many linear
 * hexahedra, solid and with void.
 *
 *     test_rows_multigrid [cpu | cuda] */
#include "core/base/random.h"
#include "core/mesh/region.h"
#include "core/multigrid/multigrid_internal.h"
#include "tests/lib/space_box.h"

static hx_device device;

/* A beam held at one end, pulled at the other, and on springs below. */
static int make_beam(space_box *b, const mixed_box *box, hx_element element, int with_springs)
{
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1};
    const hx_spring_spec spring = {"bottom", "test", {0.2, 0.1, 0.3}, HX_SPRING_AREA};
    hx_problem_params params = fixture_problem();
    const hx_region left = {.kind = HX_REGION_PLANE, .axis = {1, 0, 0}, .tolerance = 1e-6};
    const hx_region bottom = {.kind = HX_REGION_PLANE, .axis = {0, 0, 1}, .tolerance = 1e-6};
    hx_region right = left;
    HX_TRY(space_box_mesh(b, box, element));
    right.point[0] = b->mesh.box_max[0];
    HX_TRY(hx_mesh_add_region(&b->mesh, "left", &left));
    HX_TRY(hx_mesh_add_region(&b->mesh, "right", &right));
    HX_TRY(hx_mesh_add_region(&b->mesh, "bottom", &bottom));
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    params.spring = &spring, params.n_spring = with_springs ? 1 : 0;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

/* Void inside a tube, solid elsewhere. */
static void fill_density(const hx_mesh *mesh, int with_void, double *rho)
{
    const double *const top = mesh->box_max;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double c[3];
        hx_mesh_centroid(mesh, e, c);
        const int inside = fabs(c[1] / top[1] - 0.5) < 0.25 && fabs(c[2] / top[2] - 0.5) < 0.25;
        rho[e] = with_void && inside ? 0.01 : 1.0;
    }
}

typedef struct solved {
    int64_t n_cell, n_point;
    int iterations[2]; /* solid, with void */
} solved;

/* The operator whose rows are used for the first coarse matrix instead of elements. */
static const hx_operator *rows_of;

static int coarse_of_rows(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level)
{
    const hx_assembled *rows = rows_of->op_kind->assembled(rows_of->state);
    return device.ops->multigrid->transfer->rows_galerkin(dev, mesh, &rows->matrix, level);
}

static int update_of_rows(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level,
                          hx_mg_update holds)
{
    (void)holds;
    return coarse_of_rows(dev, mesh, level);
}

/* With with_rows, the first coarse matrix of linear elements is computed from rows; everything else
 * is unchanged. */
static solved solve(const mixed_box *box, hx_element element, const char *operator_name,
                    int with_rows, int with_springs)
{
    space_box b;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_mg_transfer_ops transfer = *device.ops->multigrid->transfer;
    hx_multigrid_ops ops = *device.ops->multigrid;
    solved result = {0};
    settings.op_kind = hx_operator_kind_find(device.ops->name, operator_name);
    settings.layout = hx_layout_first(settings.op_kind);
    settings.precond = "multigrid";
    settings.pcg.tolerance = 1e-8;
    CHECK_OK(make_beam(&b, box, element, with_springs));
    result.n_cell = b.mesh.n_elem;
    result.n_point = b.space.n_point;
    double *const rho = malloc((size_t)b.mesh.n_elem * sizeof *rho);
    if (!rho) abort();
    CHECK_OK(fixture_solver_create(&s, &device, &b.problem, &settings));
    s.analysis.warm_start = 0;
    if (with_rows) {
        hx_multigrid *const mg = s.pc.impl;
        rows_of = &s.op;
        transfer.mesh_galerkin = coarse_of_rows;
        transfer.mesh_update = update_of_rows;
        ops.transfer = &transfer;
        mg->ops = &ops;
    }
    for (int i = 0; i < 2; i++) {
        fill_density(&b.mesh, i, rho);
        CHECK_OK(hx_analysis_solve_density(&s.analysis, rho, 3.0));
        CHECK(s.analysis.record.reason == HX_PCG_CONVERGED);
        result.iterations[i] = s.analysis.record.pcg_iterations;
    }
    free(rho);
    fixture_solver_free(&s);
    space_box_free(&b);
    return result;
}

static void print_solved(const char *what, const solved *s)
{
    printf("  %-22s %7lld cells %8lld points  solid %3d  with void %3d iterations\n", what,
           (long long)s->n_cell, (long long)s->n_point, s->iterations[0], s->iterations[1]);
}

/* For as many cells in each direction. */
static void test_iterations(void)
{
    static const struct {
        const char *name;
        mixed_kind kind;
        int n[3];
    } test[3] = {{"hex20", MIXED_HEXAHEDRA, {12, 6, 6}},
                 {"tet10", MIXED_TETRAHEDRA, {8, 4, 4}},
                 {"of all kinds", MIXED_LAYERS, {8, 4, 5}}};
    mixed_box box = {
        .kind = MIXED_HEXAHEDRA, .n = {12, 6, 6}, .length = {2, 1, 1}, .distort = 0.1, .seed = 2};
    const solved hex8 = solve(&box, HX_ELEMENT_LINEAR, "otf", 0, 0);
    print_solved("hex8, otf", &hex8);
    for (int i = 0; i < 3; i++) {
        box.kind = test[i].kind;
        memcpy(box.n, test[i].n, sizeof box.n);
        const solved found = solve(&box, HX_ELEMENT_QUADRATIC, "bsr", 0, 0);
        const solved springs = solve(&box, HX_ELEMENT_QUADRATIC, "bsrsym", 0, 1);
        print_solved(test[i].name, &found);
        print_solved("  bsrsym, on springs", &springs);
        for (int k = 0; k < 2; k++) {
            CHECK_MSG(found.iterations[k] <= 2 * hex8.iterations[k], "%s: %d against %d",
                      test[i].name, found.iterations[k], hex8.iterations[k]);
            CHECK(springs.iterations[k] <= 2 * hex8.iterations[k]);
        }
    }
}

/* Linear hexahedra: within 1 iteration of the counts with the coarse matrix from elements, with the
 * operator that stores K and with the one that stores nothing. */
static void test_hexahedra(void)
{
    static const int n[2][3] = {{12, 6, 6}, {24, 12, 12}};
    for (int i = 0; i < 2; i++) {
        mixed_box box = {.kind = MIXED_HEXAHEDRA, .length = {2, 1, 1}, .distort = 0.1, .seed = 2};
        memcpy(box.n, n[i], sizeof box.n);
        const solved otf = solve(&box, HX_ELEMENT_LINEAR, "otf", 0, i);
        const solved elements = solve(&box, HX_ELEMENT_LINEAR, "bsr", 0, i);
        const solved rows = solve(&box, HX_ELEMENT_LINEAR, "bsr", 1, i);
        const solved lower = solve(&box, HX_ELEMENT_LINEAR, "bsrsym", 1, i);
        print_solved("hex8, otf", &otf);
        print_solved("hex8, bsr", &elements);
        print_solved("  coarse matrix from rows", &rows);
        print_solved("  of bsrsym", &lower);
        for (int k = 0; k < 2; k++) {
            CHECK(abs(rows.iterations[k] - elements.iterations[k]) <= 1);
            CHECK(abs(rows.iterations[k] - otf.iterations[k]) <= 1);
            CHECK(abs(lower.iterations[k] - otf.iterations[k]) <= 1);
        }
    }
}

/* The first coarse matrix from the rows of an operator. */
static void make_rows(const hx_problem *problem, const char *operator_name, const double *modulus,
                      float *from_rows, float *from_elements, size_t n_most, size_t *n)
{
    const hx_operator_kind *op_kind = hx_operator_kind_find(device.ops->name, operator_name);
    hx_operator op;
    hx_precond pc;
    CHECK_OK(hx_operator_create(&op, &device, op_kind, hx_layout_first(op_kind), problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    CHECK_OK(hx_precond_create(&pc, hx_precond_find("multigrid"), &op.linear, &op));
    hx_multigrid *mg = pc.impl;
    const hx_mg_level *level = &mg->level[0];
    *n = 27 * 36 * (size_t)level->n_node;
    CHECK(*n <= n_most);
    const hx_assembled *rows = op_kind->assembled(op.state);
    CHECK_OK(mg->ops->transfer->rows_galerkin(&device, &mg->mesh, &rows->matrix, level));
    CHECK_OK(device.ops->download(&device, from_rows, level->d_matrix, *n * sizeof *from_rows));
    if (from_elements) {
        CHECK_OK(mg->ops->transfer->mesh_galerkin(&device, &mg->mesh, level));
        CHECK_OK(device.ops->download(&device, from_elements, level->d_matrix,
                                      *n * sizeof *from_elements));
    }
    hx_precond_free(&pc);
    hx_operator_free(&op);
}

/* Linear hexahedra: two methods give the same matrix, up to single precision rounding. */
static void test_matrix(void)
{
    enum { MOST = 27 * 36 * 1000 };
    const mixed_box box = {
        .kind = MIXED_HEXAHEDRA, .n = {14, 9, 10}, .length = {2, 1, 1}, .distort = 0.12, .seed = 2};
    space_box b;
    uint64_t state = 5;
    size_t n = 0, n_sym = 0;
    double largest = 0.0, worst = 0.0;
    float *const rows = malloc(3 * MOST * sizeof *rows), *const elements = rows + MOST;
    float *const lower = elements + MOST;
    CHECK_OK(make_beam(&b, &box, HX_ELEMENT_LINEAR, 0));
    double *const modulus = malloc((size_t)b.mesh.n_elem * sizeof *modulus);
    if (!rows || !modulus) abort();
    for (int64_t e = 0; e < b.mesh.n_elem; e++) modulus[e] = fixture_uniform(&state, 0.01, 1.0);
    make_rows(&b.problem, "bsr", modulus, rows, elements, MOST, &n);
    make_rows(&b.problem, "bsrsym", modulus, lower, NULL, MOST, &n_sym);
    CHECK(n > 0 && n_sym == n);
    CHECK_MSG(memcmp(rows, lower, n * sizeof *rows) == 0, "bsr and bsrsym differ");
    for (size_t k = 0; k < n; k++) test_worst(&largest, fabs((double)elements[k]));
    for (size_t k = 0; k < n; k++)
        test_worst(&worst, fabs((double)rows[k] - (double)elements[k]) / largest);
    printf(
        "first coarse matrices from rows and from elements differ by %.1e of the largest entry\n",
        worst);
    CHECK_MSG(worst <= 2e-6, "%.3g", worst);
    free(rows);
    free(modulus);
    space_box_free(&b);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    test_matrix();
    test_hexahedra();
    test_iterations();
    hx_device_close(&device);
    TEST_END();
}
