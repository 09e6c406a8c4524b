/* Compliances of the examples of P1 from an independent structured, matrix-free program (double
 * precision, itself checked against a dense model); settings as in P1, with a load on every node of
 * the edge.
 *
 *     test_reference [cpu | cuda] [quick]     quick: only the small boxes */
#include "tests/lib/fixture.h"

static hx_device device;

typedef struct example {
    const char *generator, *fixed, *loaded;
    hx_generate_params mesh;
    double volume_fraction, rho_min;
    double radius; /* of the sensitivity filter; 0: none */
    double tolerance;
    fixture_order order;
} example;

/* Compliances of the first n designs; *design returns the last design (NULL: not needed). */
static void run(const example *ex, const hx_operator_kind *op_kind, hx_layout layout, int n,
                double *compliance, double **design)
{
    const hx_support_spec support = {
        .set = ex->fixed, .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {ex->loaded, "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    hx_problem_params params = fixture_problem();
    fixture_settings settings = fixture_defaults();
    hx_mesh mesh;
    hx_problem problem;
    fixture_solver s;
    settings.design.volume_fraction = ex->volume_fraction;
    settings.design.rho_min = ex->rho_min;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.rho_min = ex->rho_min;
    settings.op_kind = op_kind;
    settings.layout = layout;
    settings.pcg.tolerance = ex->tolerance;
    settings.filter = ex->radius > 0.0 ? "sensitivity" : "none";
    settings.filter_params.radius = ex->radius;
    CHECK_OK(hx_generate(hx_generator_find(ex->generator), &mesh, &ex->mesh));
    CHECK_OK(fixture_finish(&mesh, ex->order));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    for (int i = 0; i < n; i++) {
        hx_iteration record;
        if (i > 0) hx_optimizer_advance(&s.opt);
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
        CHECK_REL(record.volume, ex->volume_fraction, 1e-9);
        CHECK(record.iteration == i + 1);
        compliance[i] = record.compliance;
        if (mesh.n_elem > 1000)
            printf("%-10s %lld elements, design %d: compliance %.9g, %d PCG iterations, %.1f s\n",
                   ex->generator, (long long)mesh.n_elem, i + 1, record.compliance,
                   record.pcg_iterations, record.seconds);
    }
    if (design) {
        const size_t bytes = (size_t)mesh.n_elem * sizeof **design;
        *design = malloc(bytes);
        CHECK(*design != NULL);
        if (*design) fixture_get(&device, (size_t)mesh.n_elem, *design, s.opt.d_design);
    }
    fixture_solver_free(&s);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* The 4 x 2 x 2 box with rho = 0.3 gives the same compliance for every order and operator; the
 * solid box has 0.3^3 times that. */
static void check_small_box(void)
{
    static const fixture_order order[] = {FIXTURE_IN_ORDER, FIXTURE_SHUFFLED, FIXTURE_REORDERED};
    example ex = {"cantilever", "left", "right-lower-edge", {.nx = 4, .ny = 2, .nz = 2}, 0.3, 0.1,
                  0.0,          1e-12,  FIXTURE_IN_ORDER};
    const hx_operator_kind *op_kind;
    hx_layout layout;
    size_t next = 0;
    int next_layout = 0;
    double c;
    while ((op_kind = fixture_next_operator_kind(&device, &next, &next_layout, &layout)))
        for (int i = 0; i < 3; i++) {
            ex.order = order[i];
            ex.volume_fraction = 0.3;
            run(&ex, op_kind, layout, 1, &c, NULL);
            CHECK_REL(c, 5548.982079, 1e-9);
            ex.volume_fraction = 1.0;
            run(&ex, op_kind, layout, 1, &c, NULL);
            CHECK_REL(c, 5548.982079 * 0.027, 1e-9);
        }
}

/* Four design iterations: bitwise equal with one and two threads, and equal compliances from every
 * operator, layout and order of the mesh. */
static void check_agreement(void)
{
    enum { N = 4 };
    example ex = {"cantilever", "left", "right-lower-edge", {.nx = 12, .ny = 6, .nz = 6}, 0.3, 0.1,
                  1.8,          1e-11,  FIXTURE_REORDERED};
    const hx_operator_kind *op_kind;
    hx_layout layout;
    size_t next = 0;
    int next_layout = 0;
    double first[N] = {0.0}, one[N], two[N];
    while ((op_kind = fixture_next_operator_kind(&device, &next, &next_layout, &layout))) {
        double *design_one = NULL, *design_two = NULL;
        run(&ex, op_kind, layout, N, one, &design_one);
        if (first[0] == 0.0) memcpy(first, one, sizeof first);
        for (int i = 0; i < N; i++) CHECK_REL(one[i], first[i], 1e-8);
        CHECK(one[1] < one[0] && one[3] < one[1]);
        if (op_kind->deterministic) {
            fixture_set_threads(2);
            run(&ex, op_kind, layout, N, two, &design_two);
            fixture_set_threads(1);
            CHECK_MSG(memcmp(one, two, sizeof one) == 0, "%s: compliances differ with 2 threads",
                      op_kind->name);
            CHECK_MSG(design_one && design_two &&
                          memcmp(design_one, design_two, 432 * sizeof *design_one) == 0,
                      "%s: designs differ with 2 threads", op_kind->name);
        }
        free(design_one);
        free(design_two);
    }
    ex.order = FIXTURE_SHUFFLED;
    run(&ex, hx_operator_kind_find(device.ops->name, "ebe"), HX_LAYOUT_INTERLEAVED, N, one, NULL);
    for (int i = 0; i < N; i++) CHECK_REL(one[i], first[i], 1e-8);
}

static void check_paper_sizes(void)
{
    const hx_operator_kind *const ebe = hx_operator_kind_find(device.ops->name, "ebe");
    example cb = {"cantilever", "left", "right-lower-edge", {.size = 1}, 0.3, 0.1,
                  3.0,          1e-10,  FIXTURE_REORDERED};
    example lb = {"lbeam", "top", "tip-lower-edge", {.size = 1}, 0.45, 0.001,
                  0.0,     1e-10, FIXTURE_REORDERED};
    double c[3];
    run(&cb, ebe, HX_LAYOUT_INTERLEAVED, 3, c, NULL);
    CHECK_REL(c[0], 43716.711, 1e-7);
    CHECK_REL(c[1], 25200.596, 2e-6);
    CHECK_REL(c[2], 17610.852, 2e-6);
    /* the error of the compliance is the square of the residual, so a larger tolerance suffices */
    cb.tolerance = lb.tolerance = 1e-8;
    cb.radius = 0.0;
    cb.volume_fraction = 1.0;
    run(&cb, ebe, HX_LAYOUT_INTERLEAVED, 1, c, NULL);
    CHECK_REL(c[0], 1180.3512, 1e-7);
    run(&lb, ebe, HX_LAYOUT_INTERLEAVED, 1, c, NULL);
    CHECK_REL(c[0], 13823.264, 1e-7);
    lb.loaded = "tip-upper-edge";
    run(&lb, ebe, HX_LAYOUT_INTERLEAVED, 1, c, NULL);
    CHECK_REL(c[0], 13825.511, 1e-7);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    const int n_thread = fixture_threads();
    fixture_set_threads(1);
    check_small_box();
    check_agreement();
    fixture_set_threads(n_thread);
    if (!quick) check_paper_sizes();
    hx_device_close(&device);
    TEST_END();
}
