/* Ten designs of P1's cantilever CB1, plain and distorted, with K stored against the matrix-free
 * product, at contrast 1e3 and 1e9: compliances agree to 1e-10, and so do displacements, whose
 * difference in the energy norm is printed. The first operator and those with a rounded K meet
 * every preconditioner but the identity. The others, which store the same numbers in other formats,
 * meet only those whose iterations do not grow with the mesh, on the hardest problem (distorted,
 * contrast 1e9).
 *
 *     test_assembled_designs [cpu | cuda] [whole]
 *
 * A CPU uses a smaller cantilever of the same proportions unless `whole` is given. */
#include "tests/lib/fixture.h"

static hx_device device;

enum { N_DESIGN = 10, CB1_LAYERS = 25, CPU_LAYERS = 12 };

typedef struct study {
    hx_problem *problem;
    double radius; /* radius of the filter */
    double rho_min;
    const char *precond;
} study;

/* Largest relative differences between the designs of two operators. */
typedef struct difference {
    double compliance, energy;
    double contrast;   /* contrast of the last design's moduli */
    int iterations[2]; /* sum over all designs */
} difference;

/* Tolerance of compliances and displacements for a stored K. A residual of 1e-12 only bounds the
 * difference of displacements by that times the root of the condition number: about 1e-6 at
 * contrast 1e9. Solves with a rounded K are corrected with the exact one. */
static double bound_of(const hx_operator_kind *op_kind)
{
    return op_kind->error > 0.0 ? 1e-8 : 1e-10;
}

static void open_solver(fixture_solver *s, const study *st, const hx_operator_kind *op_kind)
{
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = 0.3;
    settings.design.rho_min = st->rho_min;
    settings.op_kind = op_kind;
    settings.layout = hx_layout_first(settings.op_kind);
    settings.precond = st->precond;
    settings.filter = "sensitivity";
    settings.filter_params.radius = st->radius;
    CHECK_OK(fixture_solver_create(s, &device, st->problem, &settings));
}

/* Computes the k-th design; u receives its displacements. */
static hx_iteration step(fixture_solver *s, int k, double *u)
{
    hx_iteration record;
    if (k > 0) hx_optimizer_advance(&s->opt);
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    CHECK_OK(hx_analysis_point_displacement(&s->analysis, 0, u));
    return record;
}

/* sqrt(x'K x) of the operator's design. */
static double energy_norm(const fixture_solver *s, const double *x)
{
    const size_t n = (size_t)s->op.linear.n;
    double *const d_x = fixture_put(&device, n, x), *const d_y = fixture_put(&device, n, x);
    double *const y = malloc(n * sizeof *y), sum = 0.0;
    if (!y) abort();
    CHECK_OK(hx_operator_apply(&s->op, d_x, d_y));
    fixture_get(&device, n, y, d_y);
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    free(y);
    return sqrt(sum);
}

/* Contrast of the design's moduli. */
static double contrast_of(const fixture_solver *s, const hx_problem *problem)
{
    const size_t n = (size_t)problem->mesh->n_elem;
    double *const rho = malloc(n * sizeof *rho), low = 1.0, high = 0.0;
    if (!rho) abort();
    CHECK_OK(hx_optimizer_density(&s->opt, rho));
    for (size_t e = 0; e < n; e++) {
        low = rho[e] < low ? rho[e] : low;
        high = rho[e] > high ? rho[e] : high;
    }
    free(rho);
    return pow(high / low, 3.0);
}

static difference compare(const study *st, const hx_operator_kind *op_kind)
{
    const size_t n = 3 * (size_t)st->problem->mesh->n_node;
    double *const u = malloc(2 * n * sizeof *u), *const other = u + n;
    difference worst = {0.0, 0.0, 0.0, {0, 0}};
    fixture_solver free_of, stored;
    if (!u) abort();
    open_solver(&free_of, st, hx_operator_kind_find(device.ops->name, "otf"));
    open_solver(&stored, st, op_kind);
    for (int k = 0; k < N_DESIGN; k++) {
        const hx_iteration a = step(&free_of, k, u), b = step(&stored, k, other);
        const double norm = energy_norm(&free_of, u);
        for (size_t i = 0; i < n; i++) other[i] -= u[i];
        test_worst(&worst.compliance, fabs(b.compliance / a.compliance - 1.0));
        test_worst(&worst.energy, energy_norm(&free_of, other) / norm);
        worst.iterations[0] += a.pcg_iterations;
        worst.iterations[1] += b.pcg_iterations;
    }
    worst.contrast = contrast_of(&free_of, st->problem);
    fixture_solver_free(&free_of);
    fixture_solver_free(&stored);
    free(u);
    return worst;
}

static void check_operator(const study *st, const hx_operator_kind *op_kind, const char *mesh)
{
    const double contrast = pow(st->rho_min, -3.0);
    const difference d = compare(st, op_kind);
    printf("%s, contrast %.0e, %s, %s: compliance differs by %.1e, displacements by %.1e in the "
           "energy norm; %d PCG iterations, otf %d\n",
           mesh, d.contrast, st->precond, op_kind->name, d.compliance, d.energy, d.iterations[1],
           d.iterations[0]);
    CHECK_MSG(d.contrast >= 0.9 * contrast, "contrast %.3g", d.contrast);
    CHECK_MSG(d.compliance <= bound_of(op_kind), "%s: %.3g", op_kind->name, d.compliance);
    CHECK_MSG(d.energy <= bound_of(op_kind), "%s: %.3g", op_kind->name, d.energy);
}

static void make_problem(hx_mesh *mesh, hx_problem *problem, int layers, double distort,
                         double rho_min)
{
    const hx_generate_params box = {
        .nx = 2 * layers, .ny = layers, .nz = layers, .distort = distort, .seed = 1};
    const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {"right-lower-edge", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    hx_problem_params params = fixture_problem();
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    params.rho_min = rho_min;
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), mesh, &box));
    CHECK_OK(fixture_finish(mesh, FIXTURE_REORDERED));
    CHECK_OK(hx_problem_create(problem, mesh, &params));
}

static void check_mesh(int layers, double distort, double rho_min)
{
    const int is_hardest = distort > 0.0 && rho_min < 0.01;
    char name[64];
    hx_mesh mesh;
    hx_problem problem;
    make_problem(&mesh, &problem, layers, distort, rho_min);
    snprintf(name, sizeof name, "%s%lld elements", distort > 0.0 ? "distorted, " : "",
             (long long)mesh.n_elem);
    /* P1 uses 3 elements for CB1 */
    int n_operator = 0;
    study st = {&problem, 3.0 * layers / CB1_LAYERS, rho_min, NULL};
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *const op_kind = hx_operator_kinds[i];
        const hx_precond_kind *precond;
        if (strcmp(op_kind->device, device.ops->name) != 0 || !op_kind->assembled) continue;
        for (size_t p = 0;
             (precond = fixture_next_precond(&device, op_kind, HX_PRECISION_DOUBLE, &p));) {
            st.precond = precond->name;
            if (n_operator > 0 && op_kind->error == 0.0 &&
                (!is_hardest || precond->iterations == 0))
                continue;
            if (precond->identity)
                printf("skipped: '%s' takes too many iterations at high contrast\n", precond->name);
            else
                check_operator(&st, op_kind, name);
        }
        n_operator++;
    }
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    const int whole = argc > 1 && strcmp(argv[argc - 1], "whole") == 0;
    int quick;
    const int status = fixture_open(&device, argc - whole, argv, &quick);
    if (status != 0) return status;
    if (!device.ops->matrix) TEST_SKIP("device '%s' has no matrices", device.ops->name);
    const int is_cpu = strcmp(device.ops->name, "cpu") == 0;
    const int layers = is_cpu && !whole ? CPU_LAYERS : CB1_LAYERS;
    fixture_set_threads(2);
    for (int distorted = 0; distorted < 2; distorted++) {
        check_mesh(layers, distorted ? 0.2 : 0.0, 0.1); /* contrast 1e3 */
        check_mesh(layers, distorted ? 0.2 : 0.0, 0.001);
    }
    hx_device_close(&device);
    TEST_END();
}
