/* Eigenvalues of boxes A and A2 (reference values of an independent program) by several operators
 * and preconditioners, warm starts, vectors, threads, and what is refused. Bars with closed forms
 * and free parts are in tests/app/test_modes.py.
 *
 *     test_lobpcg [cpu | cuda] [quick] */
#include "core/krylov/lobpcg.h"
#include "tests/lib/fixture.h"

static hx_device device;

/* A solver of vibrations. Its parts point to each other, so it must not move. */
typedef struct part {
    hx_mesh mesh;
    hx_problem problem;
    hx_operator op;
    hx_precond pc;
    hx_mass mass;
    hx_lobpcg solver;
    double *rho, *modulus, *d_rho;
} part;

static void part_free(part *p)
{
    hx_lobpcg_free(&p->solver);
    hx_mass_free(&p->mass);
    hx_precond_free(&p->pc);
    if (p->op.dev) device.ops->release(&device, p->d_rho);
    hx_operator_free(&p->op);
    hx_problem_free(&p->problem);
    hx_mesh_free(&p->mesh);
    free(p->rho);
    free(p->modulus);
    memset(p, 0, sizeof *p);
}

/* With an existing mesh and densities rho. */
static void part_make(part *p, const hx_problem_params *params, const char *op, const char *precond,
                      const hx_lobpcg_params *wanted)
{
    const size_t n = (size_t)p->mesh.n_elem;
    CHECK_OK(hx_problem_create(&p->problem, &p->mesh, params));
    const hx_operator_kind *const kind = hx_operator_kind_find(device.ops->name, op);
    CHECK_OK(hx_operator_create(&p->op, &device, kind, hx_layout_first(kind), &p->problem, 0));
    CHECK_OK(hx_precond_create(&p->pc, hx_precond_find(precond), &p->op.linear, &p->op));
    p->modulus = malloc(n * sizeof *p->modulus);
    hx_problem_modulus(&p->problem, 3.0, p->rho, p->modulus);
    CHECK_OK(hx_operator_set_modulus(&p->op, p->modulus));
    CHECK_OK(hx_precond_setup(&p->pc));
    CHECK_OK(hx_mass_create(&p->mass, &p->op));
    p->d_rho = fixture_put(&device, n, p->rho);
    hx_mass_set_density(&p->mass, p->d_rho);
    CHECK_OK(hx_lobpcg_create(&p->solver, wanted, &p->op.linear, &p->pc, &p->mass));
}

static void box_a_density(part *p)
{
    p->rho = malloc((size_t)p->mesh.n_elem * sizeof *p->rho);
    for (int64_t e = 0; e < p->mesh.n_elem; e++) {
        double x[3];
        hx_cell_centroid(p->mesh.xyz, p->mesh.conn + 8 * e, x);
        p->rho[e] =
            0.45 + 0.42 * sin(1.7 * x[0] + 0.3) * cos(2.3 * x[1] + 0.1) * cos(1.9 * x[2] - 0.2);
    }
}

/* Box A: 12 x 6 x 4 unit hexahedra; A2: the same body with `fine` times as many per side. */
static void make_box_a(part *p, int fine, const char *op, const char *precond,
                       const hx_lobpcg_params *wanted)
{
    static const hx_support_spec left = {
        "left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}};
    static const hx_load_spec force = {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};
    hx_problem_params params = fixture_problem();
    memset(p, 0, sizeof *p);
    params.density = 1.0;
    params.support = &left;
    params.n_support = 1;
    params.load = &force;
    params.n_load = 1;
    CHECK_OK(hx_generate_box(&p->mesh, 12 * fine, 6 * fine, 4 * fine, 12.0, 6.0, 4.0));
    CHECK_OK(fixture_finish(&p->mesh, FIXTURE_REORDERED));
    box_a_density(p);
    part_make(p, &params, op, precond, wanted);
}

static const double box_a[6] = {1.7992621225e-4, 3.1906510782e-4, 1.2168199463e-3,
                                3.7144645593e-3, 4.1323959233e-3, 4.6224398604e-3};

/* Reference values; warm: the second solve starts from the first. */
static void check_box_a(int fine, int n, const double *exact, const char *op, const char *precond)
{
    const hx_lobpcg_params wanted = {.n_wanted = n, .tolerance = 1e-6, .max_iterations = 400};
    hx_lobpcg_result result, again;
    part p;
    make_box_a(&p, fine, op, precond, &wanted);
    CHECK_OK(hx_lobpcg_solve(&p.solver, &result));
    CHECK_MSG(result.n_converged == n, "%s, %s: %d converged after %d iterations", op, precond,
              result.n_converged, result.iterations);
    for (int i = 0; i < n; i++) CHECK_REL(result.value[i], exact[i], 1e-9);
    if (strcmp(precond, "multigrid") == 0)
        CHECK_MSG(result.iterations <= 25, "%d iterations", result.iterations);
    CHECK_OK(hx_lobpcg_solve(&p.solver, &again));
    CHECK_MSG(again.iterations <= 1, "warm start: %d iterations", again.iterations);
    for (int i = 0; i < n; i++) CHECK_REL(again.value[i], result.value[i], 1e-12);
    part_free(&p);
}

/* x'M x = 1, and K x = lambda M x by products of their own. */
static void check_vectors(void)
{
    const hx_lobpcg_params wanted = {.n_wanted = 6, .tolerance = 1e-6, .max_iterations = 300};
    const hx_vector_ops *const vector = device.ops->vector;
    hx_lobpcg_result result;
    part p;
    make_box_a(&p, 1, "ebe", "multigrid", &wanted);
    CHECK_OK(hx_lobpcg_solve(&p.solver, &result));
    const size_t n = (size_t)p.op.linear.n;
    double *d_kx = fixture_put(&device, n, NULL), *d_mx = fixture_put(&device, n, NULL);
    for (int i = 0; i < 6; i++) {
        double *const d_x = p.solver.x.d_v[i], product[2], residual;
        CHECK_OK(hx_operator_apply(&p.op, d_x, d_kx));
        CHECK_OK(hx_mass_apply(&p.mass, 1, (const double *const *)&d_x, &d_mx));
        const double *const d_a[2] = {d_x, d_mx}, *const d_b[2] = {d_mx, d_mx};
        CHECK_OK(vector->dots(&device, (int64_t)n, 2, d_a, d_b, product));
        CHECK_REL(product[0], 1.0, 1e-12);
        CHECK_OK(vector->axpy(&device, (int64_t)n, -result.value[i], d_mx, d_kx));
        CHECK_OK(vector->dot(&device, (int64_t)n, d_kx, d_kx, &residual));
        CHECK(sqrt(residual) <= 1.001e-6 * result.value[i] * sqrt(product[1]));
    }
    device.ops->release(&device, d_kx);
    device.ops->release(&device, d_mx);
    part_free(&p);
}

/* Bits do not depend on the number of threads. */
static void check_threads(void)
{
    const hx_lobpcg_params wanted = {.n_wanted = 4, .tolerance = 1e-6, .max_iterations = 300};
    const int before = fixture_threads();
    hx_lobpcg_result result[3];
    for (int k = 0; k < 3; k++) {
        part p;
        fixture_set_threads(k + 1);
        make_box_a(&p, 1, "otf", "multigrid", &wanted);
        CHECK_OK(hx_lobpcg_solve(&p.solver, &result[k]));
        part_free(&p);
    }
    fixture_set_threads(before);
    for (int k = 1; k < 3; k++)
        CHECK_MSG(memcmp(result[k].value, result[0].value, sizeof result[0].value) == 0,
                  "%d threads", k + 1);
}

static void check_refused(void)
{
    const hx_lobpcg_params many = {.n_wanted = 30}, more = {.n_wanted = 4, .n_block = 33};
    const hx_lobpcg_params wanted = {.n_wanted = 2, .tolerance = 1e-3, .max_iterations = 1};
    hx_lobpcg solver;
    hx_lobpcg_result result;
    part p;
    make_box_a(&p, 1, "otf", "jacobi", &wanted);
    CHECK(hx_lobpcg_create(&solver, &many, &p.op.linear, &p.pc, &p.mass) == HX_EINPUT);
    CHECK(hx_lobpcg_create(&solver, &more, &p.op.linear, &p.pc, &p.mass) == HX_EINPUT);
    CHECK_OK(hx_lobpcg_solve(&p.solver, &result));
    CHECK(result.n_converged < 2 && result.iterations == 1);
    part_free(&p);
}

int main(int argc, char **argv)
{
    static const double box_a2[1] = {1.4287987779e-4};
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    check_box_a(1, 6, box_a, "otf", "multigrid");
    check_box_a(1, 6, box_a, "bsr", "jacobi");
    check_box_a(2, 1, box_a2, "otf", "multigrid");
    check_vectors();
    check_threads();
    check_refused();
    hx_device_close(&device);
    TEST_END();
}
