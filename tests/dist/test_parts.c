/* Products over subdomains are computed in parts: the contributions of elements with interface
 * points are completed either before the other elements are computed or after them. The parts, and
 * the exchange that runs concurrently, must give the whole product, including springs and
 * convection, whatever y held before. Results are bitwise equal if the operator is deterministic;
 * otherwise they differ only by the order of additions. Run by mpirun with any number of processes,
 * or without mpirun as a single process. */
#include <float.h>

#include "core/base/random.h"
#include "core/dist/dist.h"
#include "core/operator/assembled.h"
#include "core/operator/operator_springs.h"
#include "core/operator/patches.h"
#include "core/operator/product.h"
#include "tests/lib/divided.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_model.h"

enum { N_AGAIN = 20 };

/* Unknowns: displacements, with linear or quadratic elements, or temperatures. */
typedef enum { ELASTIC, QUADRATIC, HEAT } model_kind;

typedef struct job {
    hx_comm comm;
    hx_device device;
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
    hx_dist dist;
    model_kind kind;
    int components;
    size_t n;          /* unknowns of the subdomain */
    double *modulus;   /* [n_elem of the subdomain] */
    int n_with_inside; /* number of operators that had elements without interface points */
} job;

/* A vector of the subdomain in double or single precision, on the device, and its bytes on the
 * host. */
typedef struct vector {
    size_t bytes;
    void *d_v;
    unsigned char *v;
} vector;

static vector new_vector(job *j, size_t each)
{
    vector v = {j->n * each, NULL, malloc(j->n * each)};
    CHECK_OK(j->dist.dev.ops->alloc(&j->dist.dev, v.bytes, &v.d_v));
    return v;
}

static void free_vector(job *j, vector *v)
{
    j->dist.dev.ops->release(&j->dist.dev, v->d_v);
    free(v->v);
}

/* Fills a vector with NaN. */
static void poison(job *j, vector *v)
{
    memset(v->v, 0xff, v->bytes);
    CHECK_OK(j->dist.dev.ops->upload(&j->dist.dev, v->d_v, v->v, v->bytes));
}

static void fetch(job *j, vector *v)
{
    CHECK_OK(j->dist.dev.ops->download(&j->dist.dev, v->v, v->d_v, v->bytes));
}

static double number(const vector *v, size_t at)
{
    double x;
    memcpy(&x, v->v + at, sizeof x);
    return x;
}

/* Returns 1 if the numbers at a point differ by more than their bounds; with bound = NULL, if any
 * bit differs. */
static int differ(const vector *a, const vector *b, size_t at, size_t bytes, const vector *bound)
{
    int off = 0;
    if (!bound) return memcmp(a->v + at, b->v + at, bytes) != 0;
    for (size_t i = at; i < at + bytes; i += sizeof(double))
        off |= !(fabs(number(a, i) - number(b, i)) <= number(bound, i));
    return off;
}

/* Counts points that differ, among the interface points or all. */
static int64_t count_off(const job *j, const vector *a, const vector *b, int in_interface,
                         const vector *bound)
{
    const size_t each = a->bytes / j->n * (size_t)j->components;
    const int64_t n =
        in_interface ? j->dist.subdomain.n_interface : j->dist.subdomain.space.n_point;
    int64_t n_off = 0;
    for (int64_t i = 0; i < n; i++) {
        const size_t at = each * (size_t)(in_interface ? j->dist.subdomain.interface[i] : i);
        n_off += differ(a, b, at, each, bound);
    }
    return n_off;
}

/* A product to be tested, in either precision. */
typedef struct product {
    const hx_operator *op;
    size_t each; /* bytes per number */
    vector x, exact, y;
    /* for an operator whose order of additions varies: bounds for the product of the elements, and
     * for the complete product */
    vector own, all;
    const vector *bound; /* of `exact`; NULL: bitwise */
    /* matrix for single precision, as multigrid uses it; NULL: the operator kind multiplies */
    const hx_matrix *rows;
    double *d_work; /* work array of `rows` */
} product;

static int run_whole(const product *p)
{
    const hx_operator_kind *const s = p->op->op_kind;
    hx_device *const dev = p->op->dev;
    if (p->rows)
        return dev->ops->matrix->multiply_single(dev, p->rows, p->x.d_v, p->exact.d_v, p->d_work);
    return p->each == sizeof(float) ? s->apply_single(p->op->state, p->x.d_v, p->exact.d_v)
                                    : s->apply(p->op->state, p->x.d_v, p->exact.d_v);
}

static int run_part(const product *p, hx_product_part part)
{
    const hx_operator_kind *const s = p->op->op_kind;
    hx_device *const dev = p->op->dev;
    if (p->rows)
        return dev->ops->matrix->multiply_part_single(dev, p->rows, part, p->x.d_v, p->y.d_v,
                                                      p->d_work);
    return p->each == sizeof(float) ? s->apply_part_single(p->op->state, part, p->x.d_v, p->y.d_v)
                                    : s->apply_part(p->op->state, part, p->x.d_v, p->y.d_v);
}

/* Adds what is not part of the elements: springs and the contributions of other ranks. */
static int add(const product *p, void *d_x, void *d_y)
{
    const hx_operator *const op = p->op;
    const int components = op->linear.components;
    if (p->each == sizeof(float)) {
        HX_TRY(hx_operator_add_springs_single(op, d_x, d_y));
        return hx_interface_add_single(op->dev, components, d_y);
    }
    HX_TRY(hx_operator_add_springs(op, d_x, d_y));
    return hx_interface_add(op->dev, components, d_y);
}

static int run_rows(const void *context, hx_product_part part)
{
    const product *const p = context;
    hx_device *const dev = p->op->dev;
    if (part == HX_PRODUCT_WHOLE)
        HX_TRY(dev->ops->matrix->multiply_single(dev, p->rows, p->x.d_v, p->y.d_v, p->d_work));
    else
        HX_TRY(run_part(p, part));
    return hx_operator_add_springs_part_single(p->op, part, p->x.d_v, p->y.d_v);
}

static int multiply(const product *p)
{
    const hx_operator *const op = p->op;
    const hx_product_parts parts = {p, run_rows};
    if (p->rows)
        return hx_interface_add_parts_single(op->dev, op->linear.components, &parts, p->y.d_v);
    return p->each == sizeof(float)
               ? hx_operator_multiply_single(op, op->op_kind, op->state, p->x.d_v, p->y.d_v)
               : hx_operator_multiply(op, op->op_kind, op->state, p->x.d_v, p->y.d_v);
}

/* Returns the largest difference, relative to its bound if there is one. */
static double worst_of(const product *p)
{
    double worst = 0.0;
    if (p->each != sizeof worst) return NAN;
    for (size_t i = 0; i < p->exact.bytes; i += sizeof worst) {
        const double off = fabs(number(&p->y, i) - number(&p->exact, i));
        test_worst(&worst, p->bound ? off / number(p->bound, i) : off);
    }
    return worst;
}

static void check_interface(job *j, product *p, const char *when)
{
    fetch(j, &p->y);
    const int64_t n_off = count_off(j, &p->y, &p->exact, 1, p->bound);
    CHECK_MSG(n_off == 0, "%s, %s: %lld of %lld interface points are wrong", p->op->op_kind->name,
              when, (long long)n_off, (long long)j->dist.subdomain.n_interface);
}

static void check_all(job *j, product *p, const char *when)
{
    fetch(j, &p->y);
    const int64_t n_off = count_off(j, &p->y, &p->exact, 0, p->bound);
    CHECK_MSG(n_off == 0, "%s, %s: %lld of %lld points are wrong, by at most %g%s",
              p->op->op_kind->name, when, (long long)n_off,
              (long long)j->dist.subdomain.space.n_point, worst_of(p),
              p->bound ? " of the bound" : "");
}

/* The parts of this rank without the others; boundary and interior may be computed in either
 * order. */
static void check_parts(job *j, product *p)
{
    poison(j, &p->y);
    CHECK_OK(run_whole(p));
    fetch(j, &p->exact);
    p->bound = p->op->op_kind->deterministic ? NULL : &p->own;
    CHECK_OK(run_part(p, HX_PRODUCT_BEGIN));
    CHECK_OK(run_part(p, HX_PRODUCT_BOUNDARY));
    check_interface(j, p, "boundary");
    const int64_t n_off = count_off(j, &p->y, &p->exact, 0, p->bound);
    j->n_with_inside += n_off > 0;
    CHECK(j->comm.size > 1 || n_off == j->dist.subdomain.space.n_point);
    CHECK_OK(run_part(p, HX_PRODUCT_INTERIOR));
    check_interface(j, p, "interior after it");
    CHECK_OK(run_part(p, HX_PRODUCT_REST));
    check_all(j, p, "parts");

    poison(j, &p->y);
    CHECK_OK(run_part(p, HX_PRODUCT_BEGIN));
    CHECK_OK(run_part(p, HX_PRODUCT_INTERIOR));
    CHECK_OK(run_part(p, HX_PRODUCT_BOUNDARY));
    check_interface(j, p, "boundary after the interior");
    CHECK_OK(run_part(p, HX_PRODUCT_REST));
    check_all(j, p, "parts, the interior first");
}

/* Operators that compute on the host block. */
static int is_slow(const product *p)
{
    return p->op->op_kind->setup == divided_setup || p->op->op_kind->setup == divided_setup_scalar;
}

/* Recorded and replayed if the device supports it. */
static void multiply_recorded(job *j, product *p)
{
    hx_device *const dev = &j->dist.dev;
    void *recorded = NULL;
    if (!dev->ops->record_begin || is_slow(p)) return;
    poison(j, &p->y);
    CHECK_OK(dev->ops->record_begin(dev));
    CHECK_OK(multiply(p));
    CHECK_OK(dev->ops->record_end(dev, &recorded));
    for (int i = 0; i < N_AGAIN; i++) CHECK_OK(dev->ops->replay(dev, recorded));
    check_all(j, p, "recorded");
    dev->ops->record_free(dev, recorded);
}

/* The parts of all ranks with the concurrent exchange, compared with the whole product followed by
 * the exchange. */
static void check_together(job *j, product *p)
{
    CHECK_OK(run_whole(p));
    CHECK_OK(add(p, p->x.d_v, p->exact.d_v));
    fetch(j, &p->exact);
    p->bound = p->op->op_kind->deterministic ? NULL : &p->all;
    for (int i = 0; i < (is_slow(p) ? 2 : N_AGAIN); i++) {
        poison(j, &p->y);
        CHECK_OK(multiply(p));
        check_all(j, p, "with its exchange");
    }
    multiply_recorded(j, p);
}

static void fill(job *j, product *p)
{
    for (size_t i = 0; i < j->n; i++) { /* equal values at equal points */
        const size_t c = (size_t)j->components, point = (size_t)j->dist.subdomain.node[i / c];
        const double v = 2.0 * hx_random_unit(hx_random_mix(c * point + i % c + 1)) - 1.0;
        const float single = (float)v;
        memcpy(p->x.v + i * p->each, p->each == sizeof v ? (const void *)&v : &single, p->each);
    }
    CHECK_OK(j->dist.dev.ops->upload(&j->dist.dev, p->x.d_v, p->x.v, p->x.bytes));
}

static void put_number(vector *v, size_t i, double x)
{
    memcpy(v->v + i * sizeof x, &x, sizeof x);
}

/* For every sum: the magnitudes of its terms, and their number if each tile of an element's
 * stiffness is added separately. */
static void measure_sums(const job *j, const vector *x, double *size, double *count)
{
    const hx_mesh *const mesh = &j->dist.subdomain.mesh;
    const hx_problem *const problem = &j->dist.subdomain.problem;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        double xyz[24], ke[576];
        for (int a = 0; a < 8; a++)
            memcpy(xyz + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *xyz);
        hx_hex8_stiffness(xyz, problem->lambda, problem->mu, ke);
        for (int row = 0; row < 24; row++) {
            const size_t at = 3 * (size_t)conn[row / 3] + (size_t)row % 3;
            for (int k = 0; k < 24; k++) {
                const size_t from = 3 * (size_t)conn[k / 3] + (size_t)k % 3;
                size[at] +=
                    j->modulus[e] * fabs(ke[24 * row + k] * number(x, from * sizeof(double)));
            }
            count[at] += 8.0;
        }
    }
}

/* Sums of the same n terms t in two orders: each differs from the exact sum by at most (n - 1) u
 * sum |t|, where u is half of DBL_EPSILON (Higham, Accuracy and Stability of Numerical Algorithms,
 * 4.2). The n-th u covers the rounding of the terms themselves, which enlarges sum |t|. */
static void put_bounds(const job *j, vector *bound, const double *size, const double *count)
{
    for (size_t i = 0; i < j->n; i++) put_number(bound, i, count[i] * DBL_EPSILON * size[i]);
}

/* Terms of springs and of other ranks are those of the product with |x|. */
static void add_sums(job *j, const product *p, double *size, double *count)
{
    hx_device *const dev = p->op->dev;
    const size_t bytes = p->x.bytes;
    vector x = new_vector(j, sizeof(double)), y = new_vector(j, sizeof(double));
    for (size_t i = 0; i < j->n; i++) {
        put_number(&x, i, fabs(number(&p->x, i * sizeof(double))));
        count[i] += 1.0;
    }
    CHECK_OK(dev->ops->upload(dev, x.d_v, x.v, bytes));
    CHECK_OK(dev->ops->upload(dev, y.d_v, size, bytes));
    CHECK_OK(add(p, x.d_v, y.d_v));
    CHECK_OK(dev->ops->download(dev, size, y.d_v, bytes));
    CHECK_OK(dev->ops->upload(dev, y.d_v, count, bytes));
    CHECK_OK(hx_interface_add(dev, p->op->linear.components, y.d_v));
    CHECK_OK(dev->ops->download(dev, count, y.d_v, bytes));
    free_vector(j, &x);
    free_vector(j, &y);
}

/* Bounds of the effect of the order of additions. */
static void find_bounds(job *j, product *p)
{
    double *const size = calloc(j->n, sizeof *size), *const count = calloc(j->n, sizeof *count);
    CHECK(p->each == sizeof(double) && j->kind == ELASTIC);
    measure_sums(j, &p->x, size, count);
    put_bounds(j, &p->own, size, count);
    add_sums(j, p, size, count);
    put_bounds(j, &p->all, size, count);
    free(size);
    free(count);
}

/* By the operator kind, or by the rows of its matrix. */
static void check_precision(job *j, const hx_operator *op, size_t each, const hx_matrix *rows)
{
    product p = {.op = op,
                 .each = each,
                 .x = new_vector(j, each),
                 .exact = new_vector(j, each),
                 .y = new_vector(j, each),
                 .own = new_vector(j, each),
                 .all = new_vector(j, each),
                 .rows = rows};
    CHECK_OK(op->dev->ops->alloc(op->dev, rows ? 2 * j->n * sizeof(double) : 0, &p.d_work));
    fill(j, &p);
    if (!op->op_kind->deterministic) find_bounds(j, &p);
    check_parts(j, &p);
    check_together(j, &p);
    free_vector(j, &p.x);
    free_vector(j, &p.exact);
    free_vector(j, &p.y);
    free_vector(j, &p.own);
    free_vector(j, &p.all);
    op->dev->ops->release(op->dev, p.d_work);
}

/* Returns the matrix that a smoother multiplies with in parts, or NULL. */
static const hx_matrix *rows_of(const hx_operator *op)
{
    const hx_matrix_ops *const ops = op->dev->ops->matrix;
    if (!op->op_kind->assembled || !ops || !ops->multiply_part_single) return NULL;
    return &op->op_kind->assembled(op->state)->matrix;
}

static void check_operator(job *j, const hx_operator_kind *op_kind, hx_layout layout)
{
    hx_operator op;
    if (j->kind == QUADRATIC && !op_kind->space_bytes) return;
    CHECK_OK(hx_operator_create(&op, &j->dist.dev, op_kind, layout, &j->dist.subdomain.problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, j->modulus));
    CHECK_OK(op_kind->prepare_single ? op_kind->prepare_single(op.state) : HX_OK);
    check_precision(j, &op, sizeof(double), NULL);
    if (op_kind->apply_part_single) check_precision(j, &op, sizeof(float), NULL);
    if (rows_of(&op)) check_precision(j, &op, sizeof(float), rows_of(&op));
    hx_operator_free(&op);
}

/* In all layouts; all operators of a GPU must support parts. */
static void check_layouts(job *j, const hx_operator_kind *op_kind)
{
    const int is_cpu = strcmp(op_kind->device, "cpu") == 0;
    CHECK_MSG(is_cpu || op_kind->apply_part, "%s does not support products in parts",
              op_kind->name);
    for (int layout = 0; op_kind->apply_part && layout < HX_N_LAYOUT; layout++)
        if (op_kind->layouts & HX_LAYOUT_BIT(layout)) check_operator(j, op_kind, (hx_layout)layout);
}

/* The operators of the device, rounded ones included, and one that belongs to the tests. */
static void check_operators(job *j)
{
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *const of = hx_operator_kind_of(hx_operator_kinds[i], j->components);
        if (of && strcmp(of->device, j->device.ops->name) == 0) check_layouts(j, of);
    }
    check_layouts(j, hx_operator_kind_of(&divided_kind, j->components));
}

/* With springs or convection on the whole surface. */
static int make_problem(job *j)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_support_spec cold = {.set = "left", .origin = "test", .fix = HX_FIX_X};
    static const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {1.0, 0.5, 0.0}, 1};
    static const hx_load_spec source = {NULL, "test", HX_LOAD_SOURCE, {1.0, 0.0, 0.0}, 1};
    static const hx_spring_spec spring = {"surface", "test", {3.0, 0.5, 1.0}, HX_SPRING_AREA};
    static const hx_convection_spec film = {"surface", "test", 3.5, 20.0};
    const int is_heat = j->kind == HEAT;
    hx_problem_params params = fixture_problem();
    params.support = is_heat ? &cold : &support;
    params.n_support = 1;
    params.load = is_heat ? &source : &load;
    params.n_load = 1;
    params.spring = &spring;
    params.n_spring = !is_heat;
    params.convection = &film;
    params.n_convection = is_heat;
    if (is_heat) params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 2.5;
    HX_TRY(hx_space_create(&j->space, &j->mesh,
                           j->kind == QUADRATIC ? HX_ELEMENT_QUADRATIC : HX_ELEMENT_LINEAR));
    params.space = &j->space;
    return hx_problem_create(&j->problem, &j->mesh, &params);
}

static void make_moduli(job *j)
{
    uint64_t state = 7 + (uint64_t)j->comm.rank;
    const size_t n = (size_t)j->dist.subdomain.mesh.n_elem;
    j->n = (size_t)j->components * (size_t)j->dist.subdomain.space.n_point;
    j->modulus = malloc(n * sizeof *j->modulus);
    for (size_t e = 0; e < n; e++) j->modulus[e] = fixture_uniform(&state, 1e-3, 1.0);
}

/* For a finished mesh; in_turn > 0: assigns that many elements to each rank in turn. */
static void check_mesh(job *j, model_kind kind, hx_transport_kind way, int in_turn)
{
    j->kind = kind;
    j->components = kind == HEAT ? 1 : 3;
    if (in_turn > 0) {
        int32_t *const part = malloc((size_t)j->mesh.n_elem * sizeof *part);
        for (int64_t e = 0; e < j->mesh.n_elem; e++)
            part[e] = (int32_t)(e / in_turn % j->comm.size);
        CHECK_OK(hx_mesh_part(&j->mesh, j->comm.size, part));
        free(part);
    }
    CHECK_OK(make_problem(j));
    CHECK_OK(hx_dist_create(&j->dist, &j->comm, &j->device, &j->problem));
    CHECK_OK(hx_dist_connect(&j->dist, way));
    j->dist.divides = 1;
    make_moduli(j);
    check_operators(j);
    free(j->modulus);
    hx_dist_free(&j->dist);
    hx_problem_free(&j->problem);
    hx_space_free(&j->space);
    hx_mesh_free(&j->mesh);
}

/* Makes a set of the nodes of all faces. */
static int name_surface(hx_mesh *mesh, const fixture_box *box)
{
    const int *const n = box->n;
    int32_t *const node = malloc((size_t)mesh->n_node * sizeof *node);
    int64_t n_found = 0;
    for (int k = 0; k <= n[2]; k++)
        for (int j = 0; j <= n[1]; j++)
            for (int i = 0; i <= n[0]; i++)
                if (i % n[0] == 0 || j % n[1] == 0 || k % n[2] == 0)
                    node[n_found++] = fixture_node(box, i, j, k);
    const int rc = hx_mesh_add_node_set(mesh, "surface", n_found, node);
    free(node);
    return rc;
}

static void check_box(job *j, model_kind kind, hx_transport_kind way, double distort, int in_turn)
{
    const fixture_box large = {{33, 22, 18}, {3.3, 2.2, 1.8}, distort, 0},
                      small = {{13, 9, 8}, {1.3, 0.9, 0.8}, distort, 0};
    const fixture_box *const box = kind == QUADRATIC ? &small : &large;
    CHECK_OK(fixture_box_create(&j->mesh, box));
    CHECK_OK(name_surface(&j->mesh, box));
    CHECK_OK(fixture_finish(&j->mesh, FIXTURE_REORDERED));
    check_mesh(j, kind, way, in_turn);
}

/* Elements of all kinds. */
static void check_mixed(job *j, model_kind kind, hx_transport_kind way)
{
    const mixed_box box = {.kind = MIXED_LAYERS, .n = {12, 11, 10}, .distort = 0.1, .seed = 3};
    CHECK_OK(mixed_create_part(&j->mesh, &box, FIXTURE_REORDERED));
    check_mesh(j, kind, way, 0);
}

static void check_way(job *j, hx_transport_kind way)
{
    check_box(j, ELASTIC, way, 0.0, 0);
    check_box(j, ELASTIC, way, 0.2, 0);
    CHECK(j->n_with_inside > 0);
    check_mixed(j, ELASTIC, way);
    check_box(j, ELASTIC, way, 0.0, 5); /* nearly all elements have interface points */
    check_box(j, HEAT, way, 0.2, 0);
    check_mixed(j, HEAT, way);
    check_box(j, QUADRATIC, way, 0.2, 0);
    check_box(j, QUADRATIC, way, 0.2, 5);
}

int main(int argc, char **argv)
{
    static const hx_transport_kind way[] = {HX_TRANSPORT_NONE, HX_TRANSPORT_LIBRARY,
                                            HX_TRANSPORT_DIRECT};
    job j;
    memset(&j, 0, sizeof j);
    const int status = fixture_open_small(&j.device, argc, argv);
    if (status) return status;
    CHECK_OK(hx_comm_join(&j.comm));
    fixture_move(&j.device, j.comm.host_rank);
    for (size_t k = 0; k < sizeof way / sizeof way[0]; k++) check_way(&j, way[k]);
    if (strcmp(j.device.ops->name, "cpu") != 0) {
        hx_patches_set_wide_from(1); /* patches like those of large meshes */
        check_way(&j, HX_TRANSPORT_LIBRARY);
    }
    hx_device_close(&j.device);
    const int size = j.comm.size;
    hx_comm_leave(&j.comm);
    printf("%d processes: ", size);
    TEST_END();
}
