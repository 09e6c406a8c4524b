/* An operator kind that stores values of K(E) is updated on every change of the modulus, by
 * hx_operator_set_modulus and by the optimizer. The kind defined here stores the moduli and uses
 * the products of nbn, with which it must agree bitwise.
 *
 *     test_update [cpu | cuda] */
#include "core/base/memory.h"
#include "tests/lib/fixture.h"

static hx_device device;

typedef struct stored {
    hx_device *dev;
    const hx_device_model *model;
    hx_device_model own; /* with the moduli of the last update (owned) */
    const hx_operator_kind *inner;
    void *inner_state;
} stored;

static int n_update;

static void stored_teardown(void *state)
{
    stored *s = state;
    if (s->inner_state) s->inner->teardown(s->inner_state);
    s->dev->ops->release(s->dev, s->own.d_modulus);
    free(s);
}

static int stored_setup(void **state, hx_device *dev, const hx_device_model *model,
                        const hx_mesh *mesh, hx_layout layout)
{
    stored *s;
    int rc;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "stored"));
    s->dev = dev;
    s->model = model;
    s->own = *model;
    s->own.d_modulus = NULL;
    s->inner = hx_operator_kind_find(dev->ops->name, "nbn");
    HX_TRY_FAIL(dev->ops->alloc(dev, (size_t)model->n_elem * sizeof(double), &s->own.d_modulus));
    HX_TRY_FAIL(s->inner->setup(&s->inner_state, dev, &s->own, mesh, layout));
    *state = s;
    return HX_OK;
fail:
    stored_teardown(s);
    return rc;
}

static int stored_update(void *state)
{
    const stored *s = state;
    n_update++;
    return s->dev->ops->copy(s->dev, s->own.d_modulus, s->model->d_modulus,
                             (size_t)s->own.n_elem * sizeof(double));
}

static int stored_apply(void *state, const double *d_x, double *d_y)
{
    const stored *s = state;
    return s->inner->apply(s->inner_state, d_x, d_y);
}

static size_t stored_bytes(const hx_mesh *mesh, hx_layout layout)
{
    (void)layout;
    return (size_t)mesh->n_elem * sizeof(double);
}

static const hx_operator_kind stored_kind = {
    .name = "stored",
    .device = "any",
    .help = "for tests",
    .layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),
    .bytes = stored_bytes,
    .setup = stored_setup,
    .update = stored_update,
    .apply = stored_apply,
    .teardown = stored_teardown,
};

/* Products with two fields of moduli, one after the other. */
static void make_products(const hx_problem *problem, const hx_operator_kind *op_kind, double *y[2])
{
    const size_t n = 3 * (size_t)problem->mesh->n_node, n_elem = (size_t)problem->mesh->n_elem;
    double *x = malloc(n * sizeof *x), *modulus = malloc(n_elem * sizeof *modulus);
    uint64_t state = 5;
    hx_operator op;
    CHECK(x && modulus);
    for (size_t k = 0; k < n; k++) x[k] = fixture_uniform(&state, -1.0, 1.0);
    CHECK_OK(hx_operator_create(&op, &device, op_kind, HX_LAYOUT_INTERLEAVED, problem, 0));
    double *d_x = fixture_put(&device, n, x), *d_y = fixture_put(&device, n, x);
    for (int i = 0; i < 2; i++) {
        y[i] = malloc(n * sizeof *y[i]);
        CHECK(y[i] != NULL);
        for (size_t e = 0; e < n_elem; e++) modulus[e] = fixture_uniform(&state, 0.1, 1.0);
        CHECK_OK(hx_operator_set_modulus(&op, modulus));
        CHECK_OK(hx_operator_apply(&op, d_x, d_y));
        fixture_get(&device, n, y[i], d_y);
    }
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    hx_operator_free(&op);
    free(x);
    free(modulus);
}

static void test_products(const hx_problem *problem)
{
    const size_t n = 3 * (size_t)problem->mesh->n_node;
    double *found[2], *expected[2];
    n_update = 0;
    make_products(problem, &stored_kind, found);
    make_products(problem, hx_operator_kind_find(device.ops->name, "nbn"), expected);
    CHECK(n_update == 2);
    for (int i = 0; i < 2; i++) {
        CHECK(memcmp(found[i], expected[i], n * sizeof *found[i]) == 0);
        free(found[i]);
        free(expected[i]);
    }
}

enum { N_DESIGN = 3 };

static void run_designs(const hx_problem *problem, const hx_operator_kind *op_kind,
                        double compliance[N_DESIGN])
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    settings.design.volume_fraction = 0.5;
    settings.op_kind = op_kind;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int i = 0; i < N_DESIGN; i++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        compliance[i] = record.compliance;
        hx_optimizer_advance(&s.opt);
    }
    fixture_solver_free(&s);
}

static void test_designs(const hx_problem *problem)
{
    double found[N_DESIGN], expected[N_DESIGN];
    n_update = 0;
    run_designs(problem, &stored_kind, found);
    CHECK(n_update == N_DESIGN);
    run_designs(problem, hx_operator_kind_find(device.ops->name, "nbn"), expected);
    for (int i = 0; i < N_DESIGN; i++)
        CHECK_MSG(found[i] == expected[i], "design %d: %.17g, not %.17g", i + 1, found[i],
                  expected[i]);
    CHECK(expected[1] < expected[0]);
}

int main(int argc, char **argv)
{
    const fixture_box box = {{6, 3, 3}, {2.0, 1.0, 1.0}, 0.15, 1};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {0.0, 0.1, -1.0}, 1};
    const int status = fixture_open_small(&device, argc, argv);
    hx_problem_params params = fixture_problem();
    hx_mesh mesh;
    hx_problem problem;
    if (status != 0) return status;
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    test_products(&problem);
    test_designs(&problem);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
