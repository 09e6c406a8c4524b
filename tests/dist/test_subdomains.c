/* Operations of several ranks on subdomains, compared with the whole problem on one: products and
 * diagonals of every operator, sums, distribution and collection of vectors and fields, sums of
 * arrays. Run by mpirun with any number of processes, or without it as a single one. */
#include "core/dist/dist.h"
#include "core/operator/operator.h"
#include "tests/lib/curved.h"
#include "tests/lib/fixture.h"

typedef struct job {
    hx_comm comm;
    hx_device device;
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
    hx_dist dist;
    int64_t n;               /* unknowns of the whole */
    double *x, *exact, *got; /* [n] x, the same on all ranks; K x by one rank; K x by all ranks */
    double *modulus;         /* [n_elem] */
    int in_parts;            /* 1: each process has a part of the mesh */
    int direct;              /* 1: values of points go from device to device if possible */
} job;

/* Bends every edge, equally for all cells that share it. */
static void bend(const double x[3], double y[3])
{
    y[0] = x[0] + 0.05 * x[1] * x[1];
    y[1] = x[1] + 0.04 * x[0] * x[2];
    y[2] = x[2] - 0.03 * x[0] * x[1];
}

/* Assigns five elements along the curve to each rank in turn, so that parts consist of many
 * pieces. */
static int put_in_parts(job *j)
{
    int32_t *const part = malloc((size_t)j->mesh.n_elem * sizeof *part);
    for (int64_t e = 0; e < j->mesh.n_elem; e++) part[e] = (int32_t)(e / 5 % j->comm.size);
    const int rc = hx_mesh_part(&j->mesh, j->comm.size, part);
    free(part);
    return rc;
}

static int make_problem(job *j, hx_element element)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y};
    static const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {1.0, 0.5, 0.0}, 1};
    static const hx_spring_spec spring = {"right", "test", {3.0, 0.0, 1.0}, HX_SPRING_AREA};
    const fixture_box box = {{9, 5, 4}, {3.0, 1.0, 1.5}, 0.2, 0};
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.spring = &spring;
    params.n_spring = 1;
    HX_TRY(fixture_box_create(&j->mesh, &box));
    if (element == HX_ELEMENT_QUADRATIC) HX_TRY(curved_bend(&j->mesh, bend));
    HX_TRY(fixture_finish(&j->mesh, FIXTURE_REORDERED));
    if (j->in_parts) HX_TRY(put_in_parts(j));
    HX_TRY(hx_space_create(&j->space, &j->mesh, element));
    params.space = &j->space;
    return hx_problem_create(&j->problem, &j->mesh, &params);
}

static void make_vectors(job *j)
{
    uint64_t state = 99;
    const size_t n = (size_t)(3 * j->space.n_point), n_elem = (size_t)j->mesh.n_elem;
    j->n = (int64_t)n;
    j->x = malloc(n * sizeof(double));
    j->exact = malloc(n * sizeof(double));
    j->got = malloc(n * sizeof(double));
    j->modulus = malloc(n_elem * sizeof(double));
    for (size_t i = 0; i < n; i++) j->x[i] = fixture_uniform(&state, -1.0, 1.0);
    for (size_t e = 0; e < n_elem; e++) j->modulus[e] = fixture_uniform(&state, 1e-3, 1.0);
}

static int leads(const job *j)
{
    return j->comm.rank == HX_DIST_ROOT;
}

/* Sets the moduli of a subdomain. */
static int set_modulus(const job *j, hx_operator *op)
{
    const int64_t first = op->problem->whole ? op->problem->whole_elem[0] : 0;
    return hx_operator_set_modulus(op, j->modulus + first);
}

enum { PRODUCT, DIAGONAL, N_KIND };

static int apply(const hx_operator *op, int kind, const double *d_x, double *d_y)
{
    return kind == PRODUCT ? hx_operator_apply_unmasked(op, d_x, d_y)
                           : hx_operator_diagonal(op, d_y);
}

/* The whole product, computed by each rank for itself. */
static void find_exact(job *j, const hx_operator_kind *op_kind, hx_layout layout, int kind,
                       double *xkx)
{
    hx_operator op;
    hx_device *const dev = &j->device;
    double *const d_x = fixture_put(dev, (size_t)j->n, j->x), *const d_y = fixture_put(
                                                                  dev, (size_t)j->n, j->x);
    CHECK_OK(hx_operator_create(&op, dev, op_kind, layout, &j->problem, 0));
    CHECK_OK(set_modulus(j, &op));
    CHECK_OK(apply(&op, kind, d_x, d_y));
    CHECK_OK(dev->ops->vector->dot(dev, j->n, d_x, d_y, xkx));
    fixture_get(dev, (size_t)j->n, j->exact, d_y);
    hx_operator_free(&op);
    dev->ops->release(dev, d_x);
    dev->ops->release(dev, d_y);
}

static void find_together(job *j, const hx_operator_kind *op_kind, hx_layout layout, int kind,
                          double *xkx)
{
    hx_operator op;
    hx_device *const dev = &j->dist.dev;
    const size_t n = 3 * (size_t)j->dist.subdomain.space.n_point;
    double *const d_x = fixture_put(dev, n, NULL), *const d_y = fixture_put(dev, n, NULL);
    CHECK_OK(hx_operator_create(&op, dev, op_kind, layout, &j->dist.subdomain.problem, 0));
    CHECK_OK(set_modulus(j, &op));
    CHECK_OK(hx_dist_scatter_vector(&j->dist, 3, leads(j) ? j->x : NULL, d_x));
    CHECK_OK(apply(&op, kind, d_x, d_y));
    CHECK_OK(dev->ops->vector->dot(dev, (int64_t)n, d_x, d_y, xkx));
    CHECK_OK(hx_dist_gather_vector(&j->dist, 3, d_y, leads(j) ? j->got : NULL));
    hx_operator_free(&op);
    dev->ops->release(dev, d_x);
    dev->ops->release(dev, d_y);
}

static void test_operators(job *j)
{
    const hx_operator_kind *op_kind;
    size_t i = 0;
    int layout = 0, n = 0;
    hx_layout of;
    while ((op_kind = fixture_next_operator_kind(&j->device, &i, &layout, &of)) != NULL) {
        if (j->space.element != HX_ELEMENT_LINEAR && !op_kind->space_bytes) continue;
        for (int kind = 0; kind < N_KIND; kind++, n++) {
            double alone, together;
            find_exact(j, op_kind, of, kind, &alone);
            find_together(j, op_kind, of, kind, &together);
            const double bound = op_kind->error > 0.0 ? op_kind->error : 1e-13;
            CHECK_REL(together, alone, 10.0 * bound);
            if (!leads(j)) continue;
            double scale = 0.0;
            for (int64_t k = 0; k < j->n; k++) test_worst(&scale, fabs(j->exact[k]));
            const double off = test_max_difference((size_t)j->n, j->exact, j->got);
            CHECK_MSG(off <= bound * scale, "%s, %s: off by %.1e of %.1e", op_kind->name,
                      kind == PRODUCT ? "product" : "diagonal", off, scale);
        }
    }
    CHECK(n >= 2 * 3);
}

/* A result over all ranks must be bitwise the same on each. */
static void check_same(job *j, double value)
{
    double all[64];
    if (j->comm.size > 64) return;
    CHECK_OK(j->comm.ops->all_gather(&j->comm, &value, sizeof value, all));
    for (int r = 0; r < j->comm.size; r++) CHECK(memcmp(&all[r], &value, sizeof value) == 0);
}

static void test_sums(job *j)
{
    enum { N = 1000 };
    float sum[N];
    double three[3] = {1.0, j->comm.rank, 0.1 * j->comm.rank}, rank_sum = 0.0;
    for (int i = 0; i < N; i++) sum[i] = (float)((i + 1) * (j->comm.rank + 1));
    CHECK_OK(hx_comm_sum_single(&j->comm, N, sum));
    CHECK_OK(hx_comm_sum(&j->comm, 3, three));
    for (int r = 0; r < j->comm.size; r++) rank_sum += r + 1;
    for (int i = 0; i < N; i++) CHECK_REL(sum[i], (i + 1) * rank_sum, 1e-6);
    CHECK(three[0] == j->comm.size);
    CHECK_REL(three[1] + j->comm.size, rank_sum, 1e-15);
    check_same(j, three[2]);
    check_same(j, sum[N - 1]);
}

static float term(int64_t i, int rank)
{
    return (float)(i % 1001 + 1) / (float)(rank + 3);
}

/* Longer than one block, then shorter, then as long again: bitwise the sum in the order of the
 * ranks. */
static void test_long_sums(job *j)
{
    const int64_t n_most = ((int64_t)1 << 22) + 1003, length[] = {17, n_most, 1, 5000, n_most};
    float *const sum = malloc((size_t)n_most * sizeof *sum);
    for (size_t k = 0; k < sizeof length / sizeof length[0]; k++) {
        int64_t n_off = 0;
        for (int64_t i = 0; i < length[k]; i++) sum[i] = term(i, j->comm.rank);
        CHECK_OK(hx_comm_sum_single(&j->comm, length[k], sum));
        for (int64_t i = 0; i < length[k]; i++) {
            float exact = term(i, 0);
            for (int r = 1; r < j->comm.size; r++) exact += term(i, r);
            if (!(sum[i] == exact)) n_off++;
        }
        CHECK_MSG(n_off == 0, "%lld of %lld sums are wrong", (long long)n_off,
                  (long long)length[k]);
    }
    free(sum);
}

/* Own nodes and points of all subdomains are all nodes and points, each once, and the runs are all
 * elements. */
static void test_shares(job *j)
{
    const hx_subdomain *const subdomain = &j->dist.subdomain;
    double n[3] = {(double)subdomain->n_own, (double)subdomain->mesh.n_elem,
                   (double)(subdomain->space.n_point - subdomain->n_other)};
    CHECK_OK(hx_comm_sum(&j->comm, 3, n));
    CHECK((int64_t)n[0] == j->mesh.n_node && (int64_t)n[1] == j->mesh.n_elem &&
          (int64_t)n[2] == j->space.n_point);
    CHECK(j->comm.size == 1 || subdomain->n_interface > 0);
    for (int64_t a = 0; a < subdomain->space.n_point; a++)
        for (int k = 0; k < 3; k++)
            CHECK(subdomain->space.xyz[3 * a + k] ==
                  j->space.xyz[3 * (int64_t)subdomain->node[a] + k]);
}

/* Several products at once must equal single products. */
static void test_dots(job *j)
{
    hx_device *const dev = &j->dist.dev;
    const hx_vector_ops *const vector = dev->ops->vector;
    const int64_t n = 3 * j->dist.subdomain.space.n_point;
    double *d_v[HX_MOST_DOTS], found[HX_MOST_DOTS];
    uint64_t state = 7; /* different on each rank, since only values of owners count */
    for (int k = 0; k < HX_MOST_DOTS; k++) {
        for (int64_t i = 0; i < n; i++) j->got[i] = fixture_uniform(&state, 0.5, 1.0) * (k + 1);
        d_v[k] = fixture_put(dev, (size_t)n, j->got);
    }
    const double *const left[] = {d_v[0], d_v[1], d_v[2]}, *const right[] = {d_v[1], d_v[2],
                                                                             d_v[2]};
    for (int n_dot = 1; n_dot <= HX_MOST_DOTS; n_dot++) {
        CHECK_OK(vector->dots(dev, n, n_dot, left, right, found));
        for (int k = 0; k < n_dot; k++) {
            double alone;
            CHECK_OK(vector->dot(dev, n, left[k], right[k], &alone));
            CHECK_MSG(found[k] == alone, "product %d of %d: %g, %g", k, n_dot, found[k], alone);
        }
    }
    for (int k = 0; k < HX_MOST_DOTS; k++) dev->ops->release(dev, d_v[k]);
}

/* Distributes and collects a field and a vector; interface points take the value of their owner. */
static void test_transport(job *j)
{
    hx_device *const dev = &j->dist.dev;
    const hx_subdomain *const subdomain = &j->dist.subdomain;
    const size_t n_elem = (size_t)j->mesh.n_elem, n = 3 * (size_t)subdomain->space.n_point;
    double *const d_local = fixture_put(dev, (size_t)subdomain->mesh.n_elem, NULL), *const d_x =
                                                                                        fixture_put(
                                                                                            dev, n,
                                                                                            NULL);
    CHECK_OK(hx_dist_scatter_field(&j->dist, leads(j) ? j->modulus : NULL, d_local));
    CHECK_OK(hx_dist_gather_field(&j->dist, d_local, leads(j) ? j->got : NULL));
    if (leads(j)) CHECK(memcmp(j->got, j->modulus, n_elem * sizeof(double)) == 0);
    for (size_t i = 0; i < n; i++) j->got[i] = j->comm.rank + 1.0;
    CHECK_OK(dev->ops->upload(dev, d_x, j->got, n * sizeof(double)));
    CHECK_OK(dev->ops->interface->make_consistent(dev, 3, d_x));
    fixture_get(dev, n, j->got, d_x);
    for (size_t i = 0, k = 0; i < n; i++) {
        while (k < (size_t)subdomain->n_other && 3 * (size_t)subdomain->other[k] + 2 < i) k++;
        const int is_other = k < (size_t)subdomain->n_other && (size_t)subdomain->other[k] == i / 3;
        CHECK(is_other ? j->got[i] < j->comm.rank + 1.0 : j->got[i] == j->comm.rank + 1.0);
    }
    dev->ops->release(dev, d_local);
    dev->ops->release(dev, d_x);
}

/* The subdomains of a mesh in parts are these parts. */
static void check_parts(const job *j)
{
    const hx_subdomain *const subdomain = &j->dist.subdomain;
    const hx_mesh_parts *const parts = &j->mesh.parts;
    if (!j->in_parts) return;
    CHECK(parts->n == j->comm.size);
    for (int r = 0; r <= j->comm.size; r++) CHECK(subdomain->first[r] == parts->first[r]);
    for (int64_t e = 0; e < subdomain->mesh.n_elem; e++)
        CHECK(parts->before[subdomain->elem[e]] / 5 % j->comm.size == j->comm.rank);
}

static void test_element(job *j, hx_element element)
{
    CHECK_OK(make_problem(j, element));
    make_vectors(j);
    CHECK_OK(hx_dist_create(&j->dist, &j->comm, &j->device, &j->problem));
    if (j->direct) CHECK_OK(hx_dist_connect(&j->dist, 1));
    CHECK(!j->dist.transport.ops || j->comm.size > 1);
    check_parts(j);
    test_shares(j);
    test_operators(j);
    test_transport(j);
    test_dots(j);
    hx_dist_free(&j->dist);
    free(j->x);
    free(j->exact);
    free(j->got);
    free(j->modulus);
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
    test_sums(&j);
    test_long_sums(&j);
    for (j.in_parts = 0; j.in_parts < 2; j.in_parts++)
        for (j.direct = 0; j.direct < 2; j.direct++) {
            test_element(&j, HX_ELEMENT_LINEAR);
            test_element(&j, HX_ELEMENT_QUADRATIC);
        }
    hx_device_close(&j.device);
    const int size = j.comm.size;
    hx_comm_leave(&j.comm);
    printf("%d processes: ", size);
    TEST_END();
}
