/* Operators that store K as a matrix: ten designs of a distorted cantilever have the compliances of
 * the matrix-free product, with jacobi, block-jacobi and multigrid; springs are included in the
 * products; set-up takes the predicted bytes; `auto` does not choose these operators.
 *
 *     test_assembled [cpu | cuda] [quick]
 *
 * quick: a coarse mesh in one order, three designs and no count of bytes, for tools that slow a
 * device down. */
#include "core/operator/assembled.h"
#include "tests/lib/fixture.h"

static hx_device device;

enum { N_DESIGN = 10 };
static int n_design = N_DESIGN;

static void run_designs(const hx_problem *problem, const hx_operator_kind *op_kind,
                        hx_layout layout, const char *precond, double compliance[N_DESIGN])
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    settings.design.volume_fraction = 0.5;
    settings.design.rho_min = 0.1;
    settings.op_kind = op_kind;
    settings.layout = layout;
    settings.precond = precond;
    settings.filter = "sensitivity";
    settings.filter_params.radius = 0.15;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int i = 0; i < n_design; i++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        compliance[i] = record.compliance;
        hx_optimizer_advance(&s.opt);
    }
    fixture_solver_free(&s);
}

/* The next exact operator of the device that stores a matrix, or NULL. */
static const hx_operator_kind *next_assembled(size_t *i, int *k, hx_layout *layout)
{
    const hx_operator_kind *op_kind;
    while ((op_kind = fixture_next_operator_kind(&device, i, k, layout)) != NULL)
        if (op_kind->assembled) return op_kind;
    return NULL;
}

static void test_designs(const hx_problem *problem)
{
    for (int p = 0; hx_preconds[p]; p++) {
        const char *const precond = hx_preconds[p]->name;
        if (hx_preconds[p]->runs_on && !hx_preconds[p]->runs_on(device.ops)) continue;
        double expected[N_DESIGN], found[N_DESIGN];
        const hx_operator_kind *op_kind;
        size_t i = 0;
        int k = 0, n = 0;
        hx_layout layout;
        run_designs(problem, hx_operator_kind_find(device.ops->name, "otf"), HX_LAYOUT_INTERLEAVED,
                    precond, expected);
        CHECK(expected[n_design - 1] < 0.9 * expected[0]);
        while ((op_kind = next_assembled(&i, &k, &layout)) != NULL) {
            double worst = 0.0;
            run_designs(problem, op_kind, layout, precond, found);
            for (int d = 0; d < n_design; d++)
                test_worst(&worst, fabs(found[d] / expected[d] - 1.0));
            printf("%s, %s: compliance differs by %.1e\n", op_kind->name, precond, worst);
            CHECK_MSG(worst <= 1e-10, "%s, %s: %.3g", op_kind->name, precond, worst);
            n++;
        }
        CHECK(n > 0);
    }
}

/* K x of an operator with supports masked and springs added; threads: on a CPU. */
static void make_product(const hx_problem *problem, const hx_operator_kind *op_kind,
                         hx_layout layout, int threads, double *y)
{
    const size_t n = 3 * (size_t)problem->mesh->n_node, n_elem = (size_t)problem->mesh->n_elem;
    double *const x = malloc(n * sizeof *x), *const modulus = malloc(n_elem * sizeof *modulus);
    uint64_t state = 5;
    hx_operator op;
    if (!x || !modulus) abort();
    fixture_set_threads(threads);
    for (size_t k = 0; k < n; k++) x[k] = fixture_uniform(&state, -1.0, 1.0);
    for (size_t e = 0; e < n_elem; e++) modulus[e] = fixture_uniform(&state, 0.1, 1.0);
    CHECK_OK(hx_operator_create(&op, &device, op_kind, layout, problem, 0));
    double *const d_x = fixture_put(&device, n, x), *const d_y = fixture_put(&device, n, x);
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    CHECK_OK(hx_operator_apply(&op, d_x, d_y));
    fixture_get(&device, n, y, d_y);
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    hx_operator_free(&op);
    fixture_set_threads(1);
    free(x);
    free(modulus);
}

static void test_products(const hx_problem *problem)
{
    const size_t n = 3 * (size_t)problem->mesh->n_node;
    double *const y = malloc(3 * n * sizeof *y), *const expected = y + n, *const again = y + 2 * n;
    const hx_operator_kind *op_kind;
    size_t i = 0;
    int k = 0;
    hx_layout layout;
    if (!y) abort();
    make_product(problem, hx_operator_kind_find(device.ops->name, "otf"), HX_LAYOUT_INTERLEAVED, 1,
                 expected);
    while ((op_kind = next_assembled(&i, &k, &layout)) != NULL) {
        make_product(problem, op_kind, layout, 1, y);
        make_product(problem, op_kind, layout, 2, again);
        CHECK_MSG(test_max_difference(n, y, expected) <= 1e-12, "%s", op_kind->name);
        CHECK_MSG(!op_kind->deterministic || memcmp(y, again, n * sizeof *y) == 0,
                  "%s: other bits by two threads", op_kind->name);
    }
    free(y);
}

static void test_bytes(const hx_problem *problem)
{
    const hx_operator_kind *op_kind;
    size_t i = 0;
    int k = 0;
    hx_layout layout;
    while ((op_kind = next_assembled(&i, &k, &layout)) != NULL) {
        hx_operator op;
        CHECK_OK(hx_operator_create(&op, &device, op_kind, layout, problem, 0));
        const hx_assembled *a = op_kind->assembled(op.state);
        const size_t expected = op_kind->bytes(problem->mesh, layout);
        const size_t held = hx_device_pattern_bytes(&a->pattern) +
                            hx_matrix_bytes(&a->matrix, &device) +
                            device.ops->matrix->fill_bytes(a->fill);
        CHECK_MSG(held <= expected && (double)expected <= 1.05 * (double)held,
                  "%s: %zu bytes, %zu were announced", op_kind->name, held, expected);
        CHECK(a->steps.n >= 3);
        CHECK(op_kind->promise(problem->mesh) == HX_PROMISE_NONE);
        hx_operator_free(&op);
    }
}

/* A distorted cantilever with springs; in a shuffled one neighbouring nodes are far apart. */
static void make_problem(hx_mesh *mesh, hx_problem *problem, fixture_order order, int layers)
{
    const fixture_box box = {{2 * layers, layers, layers}, {2.0, 1.0, 1.0}, 0.15, 1};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {0.0, 0.1, -1.0}, 1};
    const hx_spring_spec spring = {"right", "test", {0.01, 0.0, 0.02}, HX_SPRING_TOTAL};
    hx_problem_params params = fixture_problem();
    params.rho_min = 0.1; /* contrast 1e3 */
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    params.spring = &spring, params.n_spring = 1;
    CHECK_OK(fixture_box_create(mesh, &box));
    CHECK_OK(fixture_finish(mesh, order));
    CHECK_OK(hx_problem_create(problem, mesh, &params));
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    hx_mesh mesh;
    hx_problem problem;
    if (status != 0) return status;
    fixture_set_threads(1);
    if (!device.ops->matrix) TEST_SKIP("device '%s' has no matrices", device.ops->name);
    if (quick) n_design = 3;
    for (int order = quick ? FIXTURE_REORDERED : FIXTURE_SHUFFLED; order <= FIXTURE_REORDERED;
         order++) {
        make_problem(&mesh, &problem, (fixture_order)order, quick ? 4 : 10);
        test_products(&problem);
        if (!quick) test_bytes(&problem);
        if (order == FIXTURE_REORDERED) {
            fixture_set_threads(2);
            test_designs(&problem);
        }
        hx_problem_free(&problem);
        hx_mesh_free(&mesh);
    }
    hx_device_close(&device);
    TEST_END();
}
