/* Eigenvalues of several ranks against those of one. Run by mpirun with any number of processes, or
 * without it as a single one. */
#include "core/dist/dist.h"
#include "core/krylov/lobpcg.h"
#include "tests/lib/fixture.h"

enum { N = 5 };

typedef struct job {
    hx_comm comm;
    hx_device device;
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
    hx_dist dist;
} job;

static int make_problem(job *j, hx_element element)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {.set = "right",
                                      .origin = "test",
                                      .kind = HX_LOAD_REMOTE_RIGID,
                                      .value = {0.1, 0.0, -0.3},
                                      .load_case = 1,
                                      .point = {3.5, 0.5, 0.5}};
    static const hx_spring_spec spring = {"top", "test", {0.3, 0.0, 0.1}, HX_SPRING_AREA};
    const fixture_box box = {{9, 5, 4}, {3.0, 1.0, 1.5}, 0.2, 0};
    hx_problem_params params = fixture_problem();
    params.density = 0.5;
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.spring = &spring;
    params.n_spring = 1;
    HX_TRY(fixture_box_create(&j->mesh, &box));
    HX_TRY(fixture_finish(&j->mesh, FIXTURE_REORDERED));
    HX_TRY(hx_space_create(&j->space, &j->mesh, element));
    params.space = &j->space;
    return hx_problem_create(&j->problem, &j->mesh, &params);
}

/* Density of an element of the whole mesh. */
static double density_at(int64_t e)
{
    return 0.05 + 0.9 * (double)(e * 37 % 101) / 101.0;
}

/* Eigenvalues on a device, for the problem of a rank (elem: its elements) or the whole one. */
static void solve(hx_device *dev, const hx_problem *problem, const int32_t *elem,
                  hx_lobpcg_result *result)
{
    const hx_lobpcg_params wanted = {.n_wanted = N, .tolerance = 1e-7, .max_iterations = 300};
    const hx_operator_kind *const kind = hx_operator_kind_find(dev->ops->name, "bsr");
    const size_t n = (size_t)problem->mesh->n_elem;
    double *const rho = malloc(n * sizeof *rho), *const modulus = malloc(n * sizeof *modulus);
    hx_operator op;
    hx_precond pc;
    hx_mass mass;
    hx_lobpcg solver;
    for (size_t e = 0; e < n; e++) rho[e] = density_at(elem ? elem[e] : (int64_t)e);
    hx_problem_modulus(problem, 3.0, rho, modulus);
    CHECK_OK(hx_operator_create(&op, dev, kind, hx_layout_first(kind), problem, 0));
    CHECK_OK(hx_precond_create(&pc, hx_precond_find("multigrid"), &op.linear, &op));
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    CHECK_OK(hx_precond_setup(&pc));
    CHECK_OK(hx_mass_create(&mass, &op));
    double *d_rho = fixture_put(dev, n, rho);
    hx_mass_set_density(&mass, d_rho);
    CHECK_OK(hx_lobpcg_create(&solver, &wanted, &op.linear, &pc, &mass));
    CHECK_OK(hx_lobpcg_solve(&solver, result));
    CHECK_MSG(result->n_converged == N, "%d converged", result->n_converged);
    hx_lobpcg_free(&solver);
    hx_mass_free(&mass);
    hx_precond_free(&pc);
    dev->ops->release(dev, d_rho);
    hx_operator_free(&op);
    free(rho);
    free(modulus);
}

static void check_element(job *j, hx_element element)
{
    hx_lobpcg_result whole, ours;
    CHECK_OK(make_problem(j, element));
    solve(&j->device, &j->problem, NULL, &whole);
    CHECK_OK(hx_dist_create(&j->dist, &j->comm, &j->device, &j->problem));
    CHECK_OK(hx_dist_connect(&j->dist, HX_TRANSPORT_ANY));
    solve(&j->dist.dev, &j->dist.subdomain.problem, j->dist.subdomain.elem, &ours);
    for (int i = 0; i < N; i++) CHECK_REL(ours.value[i], whole.value[i], 1e-11);
    CHECK_MSG(ours.iterations <= whole.iterations + 3, "%d iterations, of one process %d",
              ours.iterations, whole.iterations);
    hx_dist_free(&j->dist);
    hx_problem_free(&j->problem);
    hx_space_free(&j->space);
    hx_mesh_free(&j->mesh);
}

int main(int argc, char **argv)
{
    job j;
    memset(&j, 0, sizeof j);
    const int status = fixture_open_small(&j.device, argc, argv);
    if (status) return status;
    CHECK_OK(hx_comm_join(&j.comm));
    fixture_move(&j.device, j.comm.host_rank);
    check_element(&j, HX_ELEMENT_LINEAR);
    check_element(&j, HX_ELEMENT_QUADRATIC);
    hx_device_close(&j.device);
    const int size = j.comm.size;
    hx_comm_leave(&j.comm);
    printf("%d processes: ", size);
    TEST_END();
}
