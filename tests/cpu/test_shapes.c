/* On the CPU, the operator otf has a shorter path for blocks of congruent parallelepipeds. The test
 * checks that this path gives the products and diagonals of `nbn` for every kind of vector, and
 * that it is used only for such blocks. */
#include "core/cpu/operator/cpu_otf.h"
#include "tests/lib/fixture.h"

static hx_device device;

typedef struct grid {
    const char *name;
    double slope;         /* x += slope * y: the mesh is no longer a box */
    double stretch;       /* of the upper half in z, which then has another shape */
    double moved;         /* displacement of one inner node, relative to the element size */
    int n_shape, n_other; /* expected numbers of shapes, and of blocks without one */
} grid;

enum { NX = 20, NY = 16, NZ = 8, BLOCKS = NX * NY * NZ / HX_OTF_BLOCK };

static void make_mesh(const grid *g, hx_mesh *mesh)
{
    const fixture_box box = {.n = {NX, NY, NZ}, .length = {2.0, 1.28, 1.6}};
    CHECK_OK(fixture_box_create(mesh, &box));
    for (int64_t a = 0; a < mesh->n_node; a++) {
        double *const x = mesh->xyz + 3 * a;
        if (x[2] > 0.8) x[2] += g->stretch * (x[2] - 0.8);
        x[0] += g->slope * x[1];
    }
    mesh->xyz[3 * fixture_node(&box, 1, 1, 1)] += g->moved * 0.1;
    CHECK_OK(hx_mesh_finish(mesh));
}

static double apart(int64_t n, const double *a, const double *b)
{
    double worst = 0.0, most = 0.0;
    for (int64_t i = 0; i < n; i++) {
        test_worst(&worst, fabs(a[i] - b[i]));
        test_worst(&most, fabs(b[i]));
    }
    return worst / most;
}

static void check_single(const grid *g, const hx_operator *op, int64_t n, const double *x,
                         const double *want)
{
    float *const x_single = malloc((size_t)n * sizeof *x_single), *d_x = NULL, *d_y = NULL;
    double *const y = malloc((size_t)n * sizeof *y);
    if (!x_single || !y) abort();
    for (int64_t i = 0; i < n; i++) x_single[i] = (float)x[i];
    CHECK_OK(hx_device_put(&device, &d_x, x_single, (size_t)n * sizeof *x_single));
    CHECK_OK(device.ops->alloc(&device, (size_t)n * sizeof *d_y, &d_y));
    CHECK_OK(op->op_kind->apply_single(op->state, d_x, d_y));
    for (int64_t i = 0; i < n; i++) y[i] = (double)d_y[i];
    CHECK_MSG(apart(n, y, want) < 3e-6, "%s: single off by %g", g->name, apart(n, y, want));
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    free(x_single);
    free(y);
}

static void check_shapes(const grid *g, const hx_operator *op)
{
    const hx_cpu_otf *const s = op->state;
    int n_other = 0;
    CHECK(s->n_block == BLOCKS);
    for (int64_t b = 0; b < s->n_block; b++) n_other += s->block_shape[b] == HX_OTF_NO_SHAPE;
    CHECK_MSG(s->n_shape == g->n_shape && n_other == g->n_other, "%s: %d shapes, %d blocks without",
              g->name, s->n_shape, n_other);
    for (int n = 0; n < s->n_shape; n++) CHECK(s->shape[n].is_box == (g->slope == 0.0));
}

static void check_grid(const grid *g)
{
    hx_mesh mesh;
    hx_problem problem;
    hx_operator op, reference;
    hx_problem_params params = fixture_problem();
    const hx_load_spec load = {.set = "corner-x",
                               .origin = "test",
                               .kind = HX_LOAD_NODE_FORCE,
                               .value = {1.0},
                               .load_case = 1};
    uint64_t state = 77;
    params.support = fixture_determinate, params.n_support = FIXTURE_N_DETERMINATE;
    params.load = &load, params.n_load = 1;
    make_mesh(g, &mesh);
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    const int64_t n = 3 * mesh.n_node;
    double *const modulus = malloc((size_t)mesh.n_elem * sizeof *modulus),
                  *const x = malloc((size_t)n * sizeof *x),
                  *const y = malloc((size_t)n * sizeof *y),
                  *const want = malloc((size_t)n * sizeof *want);
    if (!modulus || !x || !y || !want) abort();
    for (int64_t e = 0; e < mesh.n_elem; e++) modulus[e] = fixture_uniform(&state, 1e-3, 1.0);
    for (int64_t i = 0; i < n; i++) x[i] = fixture_uniform(&state, -1.0, 1.0);
    CHECK_OK(hx_operator_create(&op, &device, hx_operator_kind_find("cpu", "otf"),
                                HX_LAYOUT_INTERLEAVED, &problem, 0));
    CHECK_OK(hx_operator_create(&reference, &device, hx_operator_kind_find("cpu", "nbn"),
                                HX_LAYOUT_INTERLEAVED, &problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, modulus));
    CHECK_OK(hx_operator_set_modulus(&reference, modulus));
    double *const d_x = fixture_put(&device, (size_t)n, x), *const d_y = fixture_put(
                                                                &device, (size_t)n, NULL);
    check_shapes(g, &op);
    CHECK_OK(hx_operator_diagonal(&reference, d_y));
    fixture_get(&device, (size_t)n, want, d_y);
    CHECK_OK(hx_operator_diagonal(&op, d_y));
    fixture_get(&device, (size_t)n, y, d_y);
    CHECK_MSG(apart(n, y, want) < 1e-13, "%s: diagonal off by %g", g->name, apart(n, y, want));
    CHECK_OK(hx_operator_apply_unmasked(&reference, d_x, d_y));
    fixture_get(&device, (size_t)n, want, d_y);
    for (int v = 0; op.op_kind->variant(op.state, v); v++) {
        CHECK_OK(hx_operator_apply_unmasked(&op, d_x, d_y));
        fixture_get(&device, (size_t)n, y, d_y);
        CHECK_MSG(apart(n, y, want) < 2e-13, "%s, variant %d: off by %g", g->name, v,
                  apart(n, y, want));
        check_single(g, &op, n, x, want);
    }
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
    hx_operator_free(&reference);
    hx_operator_free(&op);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    free(modulus);
    free(x);
    free(y);
    free(want);
}

int main(void)
{
    static const grid grids[] = {
        {.name = "cubes", .n_shape = 1},
        {.name = "sheared", .slope = 0.4, .n_shape = 1},
        {.name = "two heights", .stretch = 0.5, .n_shape = 2},
        {.name = "a node moved a little", .moved = 1e-11, .n_shape = 1, .n_other = 2},
        {.name = "a node moved", .slope = 0.4, .moved = 0.1, .n_shape = 1, .n_other = 2},
    };
    CHECK_OK(hx_device_open(&device, hx_device_find("cpu")));
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) check_grid(&grids[i]);
    hx_device_close(&device);
    TEST_END();
}
