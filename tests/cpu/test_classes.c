/* Multigrid on the CPU: congruent cells of the first coarse grid have the same Galerkin matrix with
 * tables and without, in any numbering of their elements. */
#include "core/cpu/multigrid/multigrid_cpu.h"
#include "core/multigrid/multigrid_internal.h"
#include "tests/lib/fixture.h"

static hx_device device;

static const hx_load_spec load = {.set = "corner-x",
                                  .origin = "test",
                                  .kind = HX_LOAD_NODE_FORCE,
                                  .value = {1.0},
                                  .load_case = 1};

/* Returns a copy of the first coarse grid's matrix, which the caller frees. */
static float *matrix_of(const hx_multigrid *mg, size_t n)
{
    float *const copy = malloc(n * sizeof *copy);
    if (!copy) abort();
    CHECK_OK(mg->ops->transfer->mesh_galerkin(&device, &mg->mesh, &mg->level[0]));
    memcpy(copy, mg->level[0].d_matrix, n * sizeof *copy);
    return copy;
}

static int64_t count_alike(const hx_mg_mesh *mesh)
{
    float share[HX_MG_PAIRS * HX_MG_DOF * HX_MG_DOF];
    int64_t n = 0;
    for (int64_t cell = 0; cell < mesh->n_cell; cell++)
        n += hx_cpu_classes_share(mesh, cell, share);
    return n;
}

/* Computes the matrix with tables and without; n_alike: expected number of cells with tables. */
static void check_matrix(hx_precond *pc, const char *what, int64_t n_alike)
{
    hx_multigrid *const mg = pc->impl;
    const size_t n = 27 * HX_MG_DOF * HX_MG_DOF * (size_t)mg->level[0].n_node;
    void *const own = mg->mesh.own;
    double worst = 0.0, most = 0.0;
    CHECK((own != NULL) == (n_alike > 0));
    CHECK_MSG(count_alike(&mg->mesh) == n_alike, "%s: %lld of %lld cells congruent", what,
              (long long)count_alike(&mg->mesh), (long long)mg->mesh.n_cell);
    float *const by_table = matrix_of(mg, n);
    mg->mesh.own = NULL;
    CHECK(count_alike(&mg->mesh) == 0);
    float *const by_elements = matrix_of(mg, n);
    mg->mesh.own = own;
    for (size_t i = 0; i < n; i++) {
        test_worst(&worst, fabs((double)by_table[i] - (double)by_elements[i]));
        test_worst(&most, fabs((double)by_elements[i]));
    }
    CHECK_MSG(worst < 1e-6 * most, "%s: matrices apart by %g", what, worst / most);
    free(by_table);
    free(by_elements);
}

static void check_box(const char *what, double distort, fixture_order order, int64_t n_alike)
{
    const fixture_box box = {.n = {26, 12, 13}, .length = {2.6, 1.2, 1.3}, .distort = distort};
    hx_problem_params params = fixture_problem();
    hx_mesh mesh;
    hx_problem problem;
    hx_operator op;
    hx_precond pc;
    uint64_t state = 13;
    params.support = fixture_determinate, params.n_support = FIXTURE_N_DETERMINATE;
    params.load = &load, params.n_load = 1;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, order));
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    double *const modulus = malloc((size_t)mesh.n_elem * sizeof *modulus);
    if (!modulus) abort();
    for (int64_t e = 0; e < mesh.n_elem; e++) modulus[e] = fixture_uniform(&state, 1e-3, 1.0);
    CHECK_OK(hx_operator_create(&op, &device, hx_operator_kind_find("cpu", "otf"),
                                HX_LAYOUT_INTERLEAVED, &problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    CHECK_OK(hx_precond_create(&pc, hx_precond_find("multigrid"), &op.linear, &op));
    check_matrix(&pc, what, n_alike);
    hx_precond_free(&pc);
    hx_operator_free(&op);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    free(modulus);
}

int main(void)
{
    CHECK_OK(hx_device_open(&device, hx_device_find("cpu")));
    /* 7 x 3 x 4 cells, minus the three at fixed corners; 6 x 3 x 3 of them have 64 elements, the
     * others 32, 16 or 8, and too few cells have 8 */
    check_box("in order", 0.0, FIXTURE_IN_ORDER, 54 - 2 + 9 + 18 - 1);
    check_box("shuffled", 0.0, FIXTURE_SHUFFLED, 54 - 2 + 9 + 18 - 1);
    check_box("along a curve", 0.0, FIXTURE_REORDERED, 54 - 2 + 9 + 18 - 1);
    check_box("distorted", 0.2, FIXTURE_REORDERED, 0);
    hx_device_close(&device);
    TEST_END();
}
