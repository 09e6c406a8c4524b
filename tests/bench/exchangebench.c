/* Measures the exchange between processes with each transport that works here.
 *
 *     mpirun -n P exchange [cpu | cuda] [ELEMENTS_PER_EDGE] [OPERATOR]
 *
 * The mesh is a cube with that many elements per edge (48), partitioned along the space-filling
 * curve. Each of 7 rounds times 200 exchanges of the interface points, 200 reductions of PCG's
 * scalars, and 200 products of the operator (voxels) with their exchange: undivided, and divided if
 * the device supports that (recorded and replayed if it can). Prints medians and spreads. */
#include "core/base/clock.h"
#include "core/dist/dist.h"
#include "core/operator/product.h"
#include "tests/lib/box_part.h"
#include "tests/lib/fixture.h"

enum { ROUNDS = 7, TIMES = 200 };

typedef struct bench {
    hx_comm comm;
    hx_device device;
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
    hx_dist dist;
    void *d_x, *d_y, *d_state;
    const char *name; /* of the operator */
    hx_operator op;
    void *recorded; /* a product, or NULL */
} bench;

static int make_problem(bench *b, int n)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "bench", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "bench", HX_LOAD_TRACTION, {1.0, 0.0, 0.0}, 1};
    const fixture_box box = {{n, n, n}, {1.0, 1.0, 1.0}, 0.0, 0};
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    HX_TRY(fixture_box_create(&b->mesh, &box));
    HX_TRY(fixture_finish(&b->mesh, FIXTURE_REORDERED));
    HX_TRY(hx_space_create(&b->space, &b->mesh, HX_ELEMENT_LINEAR));
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

static int add_double(bench *b)
{
    return hx_interface_add(&b->dist.dev, 3, b->d_y);
}

static int add_single(bench *b)
{
    return hx_interface_add_single(&b->dist.dev, 3, b->d_y);
}

static int sum_scalars(bench *b)
{
    return b->dist.dev.ops->pcg->alpha_from(&b->dist.dev, b->d_y, b->d_state);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(bench *b, const char *name, int (*call)(bench *b))
{
    double seconds[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) { /* the first round warms up */
        double begin, nothing = 0.0;
        CHECK_OK(hx_comm_sum(&b->comm, 1, &nothing));
        begin = hx_clock();
        for (int k = 0; k < TIMES; k++) CHECK_OK(call(b));
        CHECK_OK(b->device.ops->sync(&b->device));
        if (round >= 0) seconds[round] = (hx_clock() - begin) / TIMES;
    }
    qsort(seconds, ROUNDS, sizeof *seconds, by_size);
    if (b->comm.rank == 0)
        printf("%-14s %-24s %8.1f us (%.1f to %.1f)\n", hx_dist_transport(&b->dist), name,
               1e6 * seconds[ROUNDS / 2], 1e6 * seconds[0], 1e6 * seconds[ROUNDS - 1]);
}

static int multiply(bench *b)
{
    const hx_operator *const op = &b->op;
    return hx_operator_multiply(op, op->op_kind, op->state, b->d_x, b->d_y);
}

static int multiply_single(bench *b)
{
    const hx_operator *const op = &b->op;
    return hx_operator_multiply_single(op, op->op_kind, op->state, b->d_x, b->d_y);
}

static int replay(bench *b)
{
    return b->dist.dev.ops->replay(&b->dist.dev, b->recorded);
}

static void measure_recorded(bench *b, const char *name, int (*call)(bench *b))
{
    hx_device *const dev = &b->dist.dev;
    if (!dev->ops->record_begin) {
        measure(b, name, call);
        return;
    }
    CHECK_OK(call(b)); /* allocations of the first call */
    CHECK_OK(dev->ops->record_begin(dev));
    CHECK_OK(call(b));
    CHECK_OK(dev->ops->record_end(dev, &b->recorded));
    measure(b, name, replay);
    dev->ops->record_free(dev, b->recorded);
}

/* NULL: the device has no operator of that name that can be divided. */
static const hx_operator_kind *find_divisible(const bench *b)
{
    const hx_operator_kind *const found = hx_operator_kind_find(b->device.ops->name, b->name);
    return found && found->apply_part ? found : NULL;
}

static void measure_products(bench *b, const hx_operator_kind *op_kind)
{
    static const char *const name[2][2] = {{"product", "product, single"},
                                           {"divided", "divided, single"}};
    double *const modulus = malloc((size_t)b->dist.subdomain.mesh.n_elem * sizeof *modulus);
    for (int64_t e = 0; e < b->dist.subdomain.mesh.n_elem; e++) modulus[e] = 1.0;
    for (int k = 0; k < 4; k++) { /* by turns */
        b->dist.divides = k % 2;
        CHECK_OK(hx_operator_create(&b->op, &b->dist.dev, op_kind, hx_layout_first(op_kind),
                                    &b->dist.subdomain.problem, 0));
        CHECK_OK(hx_operator_set_modulus(&b->op, modulus));
        CHECK_OK(op_kind->prepare_single ? op_kind->prepare_single(b->op.state) : HX_OK);
        measure_recorded(b, name[k % 2][0], multiply);
        if (op_kind->apply_single) measure_recorded(b, name[k % 2][1], multiply_single);
        hx_operator_free(&b->op);
    }
    free(modulus);
}

static void measure_all(bench *b, hx_transport_kind way)
{
    const size_t n = 3 * (size_t)b->space.n_point;
    hx_pcg_state state = {.rz = 1.0, .max_iterations = 1};
    CHECK_OK(hx_dist_create(&b->dist, &b->comm, &b->device, &b->problem));
    CHECK_OK(hx_dist_connect(&b->dist, way));
    if (b->comm.rank == 0 && way == HX_TRANSPORT_NONE)
        printf("%d processes, %lld interface points in the first\n", b->comm.size,
               (long long)b->dist.subdomain.n_interface);
    CHECK_OK(b->device.ops->alloc(&b->device, n * sizeof(double), &b->d_y));
    CHECK_OK(b->device.ops->alloc(&b->device, n * sizeof(double), &b->d_x));
    CHECK_OK(b->device.ops->zero(&b->device, b->d_x, n * sizeof(double)));
    CHECK_OK(b->device.ops->zero(&b->device, b->d_y, n * sizeof(double)));
    CHECK_OK(hx_device_put(&b->device, &b->d_state, &state, sizeof state));
    if (way != HX_TRANSPORT_NONE && !b->dist.transport.ops) {
        if (b->comm.rank == 0)
            printf("%s: not to be had here\n", way == HX_TRANSPORT_DIRECT ? "direct" : "a library");
    } else {
        measure(b, "points, double", add_double);
        measure(b, "points, single", add_single);
        measure(b, "scalars", sum_scalars);
        if (find_divisible(b)) measure_products(b, find_divisible(b));
    }
    b->device.ops->release(&b->device, b->d_x);
    b->device.ops->release(&b->device, b->d_y);
    b->device.ops->release(&b->device, b->d_state);
    hx_dist_free(&b->dist);
}

int main(int argc, char **argv)
{
    static bench b;
    const int n = argc > 2 ? atoi(argv[2]) : 48;
    b.name = argc > 3 ? argv[3] : "voxels";
    const int status = fixture_open_small(&b.device, argc < 2 ? argc : 2, argv);
    if (status) return status;
    CHECK_OK(hx_comm_join(&b.comm));
    fixture_move(&b.device, b.comm.host_rank);
    CHECK_OK(make_problem(&b, n));
    if (b.comm.size < 2) printf("one process exchanges nothing: mpirun -n 2 exchange\n");
    for (hx_transport_kind way = HX_TRANSPORT_NONE; b.comm.size > 1 && way > HX_TRANSPORT_ANY;
         way--)
        measure_all(&b, way);
    hx_problem_free(&b.problem);
    hx_space_free(&b.space);
    hx_mesh_free(&b.mesh);
    hx_device_close(&b.device);
    const int rank = b.comm.rank;
    hx_comm_leave(&b.comm);
    if (rank > 0) return test_n_failed > 0;
    TEST_END();
}
