/* Von Mises stresses of all elements on a device (stress_ops.h), for every kind of cell, linear and
 * quadratic, distorted and with its corners in any order: exact for a constant strain, and for any
 * displacements the largest of the stresses that core/stress computes at the Gauss points.
 *
 *     test_stress_patch [cpu | cuda] */
#include "core/design/stress_ops.h"
#include "core/stress/stress.h"
#include "tests/lib/fixture.h"
#include "tests/lib/space_box.h"

static hx_device device;

static int make_problem(space_box *b)
{
    static const hx_load_spec load = {
        .origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.0, 0.0, -1.0}, .load_case = 1};
    hx_problem_params params = fixture_problem();
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.load = &load;
    params.n_load = 1;
    params.young = 2.5;
    params.density = 1.0;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

/* A displacement with a constant strain, and the stress of it. */
static double constant_strain(const space_box *b, double *u)
{
    static const double h[3][3] = {{0.2, -0.1, 0.4}, {0.5, 0.3, 0.1}, {-0.3, 0.2, -0.2}};
    const double shear = b->problem.young / (2.0 * (1.0 + b->problem.poisson));
    double stress[6];
    for (int64_t a = 0; a < b->space.n_point; a++)
        for (int i = 0; i < 3; i++) {
            u[3 * a + i] = 0.1;
            for (int k = 0; k < 3; k++) u[3 * a + i] += h[i][k] * b->space.xyz[3 * a + k];
        }
    for (int i = 0; i < 3; i++) stress[i] = 2.0 * shear * h[i][i]; /* but for the pressure */
    stress[3] = shear * (h[0][1] + h[1][0]);
    stress[4] = shear * (h[1][2] + h[2][1]);
    stress[5] = shear * (h[0][2] + h[2][0]);
    return hx_von_mises(stress);
}

/* s[n_elem] on the device. */
static void find_stresses(fixture_solver *s, int64_t n_elem, int64_t n_point, const double *u,
                          double *stress)
{
    double *d_u = NULL, *d_s = NULL;
    uint8_t *d_at = NULL;
    CHECK_OK(hx_device_put(&device, &d_u, u, 3 * (size_t)n_point * sizeof *u));
    CHECK_OK(device.ops->alloc(&device, (size_t)n_elem * sizeof *d_s, &d_s));
    CHECK_OK(device.ops->alloc(&device, (size_t)n_elem, &d_at));
    CHECK_OK(device.ops->stress->von_mises(&device, &s->op.model, s->opt.problem->young, d_u, d_at,
                                           d_s));
    fixture_get(&device, (size_t)n_elem, stress, d_s);
    device.ops->release(&device, d_u);
    device.ops->release(&device, d_s);
    device.ops->release(&device, d_at);
}

/* The largest at the Gauss points, by the reference. */
static double largest_of(const hx_stress *reference, int64_t e, const double *u)
{
    static hx_cell_stress cell;
    double largest = 0.0;
    hx_stress_cell(reference, e, reference->problem->young, u, &cell);
    for (int q = 0; q < cell.n; q++) test_worst(&largest, hx_von_mises(cell.value[q]));
    return largest;
}

/* 1: a linear hexahedron, whose stress is that of its middle. */
static int is_by_middle(const space_box *b, int64_t e)
{
    int corner[8];
    return b->space.element == HX_ELEMENT_LINEAR &&
           hx_cell_distinct(b->mesh.conn + 8 * e, corner) == 8;
}

static void check_stresses(const char *label, const space_box *b, fixture_solver *s)
{
    const int64_t n_elem = b->mesh.n_elem, n_point = b->space.n_point;
    double *const u = malloc(3 * (size_t)n_point * sizeof *u), *const stress = malloc(
                                                                   (size_t)n_elem * sizeof *stress);
    double worst[2] = {0.0, 0.0};
    int64_t n_by_points = 0;
    hx_stress reference;
    uint64_t state = 5;
    if (!u || !stress) abort();
    const double exact = constant_strain(b, u);
    find_stresses(s, n_elem, n_point, u, stress);
    for (int64_t e = 0; e < n_elem; e++) test_worst(&worst[0], fabs(stress[e] / exact - 1.0));
    hx_stress_create(&reference, &b->problem);
    for (int64_t k = 0; k < 3 * n_point; k++) u[k] = fixture_uniform(&state, -1.0, 1.0);
    find_stresses(s, n_elem, n_point, u, stress);
    for (int64_t e = 0; e < n_elem; e++) {
        if (is_by_middle(b, e)) continue;
        n_by_points++;
        test_worst(&worst[1], fabs(stress[e] / largest_of(&reference, e, u) - 1.0));
    }
    CHECK_MSG(worst[0] < 1e-12, "%s: constant strain, off by %.3g", label, worst[0]);
    CHECK_MSG(worst[1] < 1e-11, "%s: largest at the Gauss points, off by %.3g", label, worst[1]);
    printf("%-28s constant strain %.0e, %lld elements by points %.0e\n", label, worst[0],
           (long long)n_by_points, worst[1]);
    free(u);
    free(stress);
}

static void check(mixed_kind kind, hx_element element)
{
    const mixed_box box = {.kind = kind, .n = {3, 2, 5}, .distort = 0.15, .seed = 3};
    const int is_linear = element == HX_ELEMENT_LINEAR;
    fixture_settings settings = fixture_defaults();
    space_box b;
    fixture_solver s;
    char label[64];
    CHECK_OK(space_box_mesh(&b, &box, element));
    CHECK_OK(make_problem(&b));
    settings.op_kind =
        hx_operator_kind_of(hx_operator_kind_find(device.ops->name, is_linear ? "otf" : "csr"), 3);
    settings.layout = hx_layout_first(settings.op_kind);
    CHECK_OK(fixture_solver_create(&s, &device, &b.problem, &settings));
    snprintf(label, sizeof label, "%s%s", mixed_name[kind], is_linear ? "" : ", quadratic");
    check_stresses(label, &b, &s);
    fixture_solver_free(&s);
    space_box_free(&b);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int q = 0; q < 2; q++)
            check((mixed_kind)kind, q ? HX_ELEMENT_QUADRATIC : HX_ELEMENT_LINEAR);
    hx_device_close(&device);
    TEST_END();
}
