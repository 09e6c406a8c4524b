/* Products over shares in parts: what elements with points in common leave there is complete before
 * the others are begun; all parts, and the exchange beside them, are the whole to the bit, whatever
 * stood in y. Run by mpirun with any number of processes; alone it says so. */
#include "core/ranks/ranks.h"
#include "core/solver/operator.h"
#include "core/solver/product.h"
#include "tests/lib/divided.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_model.h"

enum { N_AGAIN = 40, COMPONENTS = 3 };

typedef struct job {
    hx_team team;
    hx_device device;
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
    hx_ranks ranks;
    size_t n;          /* unknowns of the share */
    double *modulus;   /* [n_elem of the share] */
    int n_with_inside; /* operators that had elements without points in common */
} job;

/* A vector of the share, in double or single precision, on the device and its bits on the host. */
typedef struct vector {
    size_t bytes;
    void *d_v;
    unsigned char *v;
} vector;

static vector new_vector(job *j, size_t each)
{
    vector v = {j->n * each, NULL, malloc(j->n * each)};
    CHECK_OK(j->ranks.dev.ops->alloc(&j->ranks.dev, v.bytes, &v.d_v));
    return v;
}

static void free_vector(job *j, vector *v)
{
    j->ranks.dev.ops->release(&j->ranks.dev, v->d_v);
    free(v->v);
}

/* Not a number, everywhere. */
static void poison(job *j, vector *v)
{
    memset(v->v, 0xff, v->bytes);
    CHECK_OK(j->ranks.dev.ops->upload(&j->ranks.dev, v->d_v, v->v, v->bytes));
}

static void fetch(job *j, vector *v)
{
    CHECK_OK(j->ranks.dev.ops->download(&j->ranks.dev, v->v, v->d_v, v->bytes));
}

/* Points whose bits differ; of those in common, or all. */
static int64_t count_off(const job *j, const vector *a, const vector *b, int in_common)
{
    const size_t each = a->bytes / j->n * COMPONENTS;
    const int64_t n = in_common ? j->ranks.share.n_common : j->ranks.share.space.n_point;
    int64_t n_off = 0;
    for (int64_t i = 0; i < n; i++) {
        const size_t at = each * (size_t)(in_common ? j->ranks.share.common[i] : i);
        n_off += memcmp(a->v + at, b->v + at, each) != 0;
    }
    return n_off;
}

/* What the test does in both precisions. */
typedef struct product {
    const hx_operator *op;
    size_t each; /* bytes of a number */
    vector x, exact, y;
} product;

static int run_whole(const product *p)
{
    const hx_strategy *const s = p->op->strategy;
    return p->each == sizeof(float) ? s->apply_single(p->op->state, p->x.d_v, p->exact.d_v)
                                    : s->apply(p->op->state, p->x.d_v, p->exact.d_v);
}

static int run_part(const product *p, hx_product_part part)
{
    const hx_strategy *const s = p->op->strategy;
    return p->each == sizeof(float) ? s->apply_part_single(p->op->state, part, p->x.d_v, p->y.d_v)
                                    : s->apply_part(p->op->state, part, p->x.d_v, p->y.d_v);
}

static int add(const product *p)
{
    hx_device *const dev = p->op->dev;
    return p->each == sizeof(float) ? hx_common_add_single(dev, COMPONENTS, p->exact.d_v)
                                    : hx_common_add(dev, COMPONENTS, p->exact.d_v);
}

static int multiply(const product *p)
{
    const hx_operator *const op = p->op;
    return p->each == sizeof(float)
               ? hx_operator_multiply_single(op, op->strategy, op->state, p->x.d_v, p->y.d_v)
               : hx_operator_multiply(op, op->strategy, op->state, p->x.d_v, p->y.d_v);
}

/* One process' parts, without the others. */
static void check_parts(job *j, product *p)
{
    const char *const name = p->op->strategy->name;
    poison(j, &p->y);
    CHECK_OK(run_whole(p));
    fetch(j, &p->exact);
    CHECK_OK(run_part(p, HX_PRODUCT_BOUNDARY));
    fetch(j, &p->y);
    CHECK_MSG(count_off(j, &p->y, &p->exact, 1) == 0, "%s: %lld of %lld points in common", name,
              (long long)count_off(j, &p->y, &p->exact, 1), (long long)j->ranks.share.n_common);
    j->n_with_inside += count_off(j, &p->y, &p->exact, 0) > 0;
    CHECK(j->team.size > 1 || count_off(j, &p->y, &p->exact, 0) == j->ranks.share.space.n_point);
    CHECK_OK(run_part(p, HX_PRODUCT_INTERIOR));
    fetch(j, &p->y);
    CHECK_MSG(count_off(j, &p->y, &p->exact, 1) == 0, "%s: the others change points in common",
              name);
    CHECK_OK(run_part(p, HX_PRODUCT_REST));
    fetch(j, &p->y);
    CHECK_MSG(count_off(j, &p->y, &p->exact, 0) == 0, "%s: parts are not the whole", name);
}

/* Recorded, where the device can, and replayed. */
static void multiply_recorded(job *j, product *p)
{
    hx_device *const dev = &j->ranks.dev;
    void *recorded = NULL;
    if (!dev->ops->record_begin || p->op->strategy == &divided_strategy) return;
    poison(j, &p->y);
    CHECK_OK(dev->ops->record_begin(dev));
    CHECK_OK(multiply(p));
    CHECK_OK(dev->ops->record_end(dev, &recorded));
    for (int i = 0; i < N_AGAIN; i++) CHECK_OK(dev->ops->replay(dev, recorded));
    fetch(j, &p->y);
    CHECK_MSG(count_off(j, &p->y, &p->exact, 0) == 0, "%s, recorded", p->op->strategy->name);
    dev->ops->record_free(dev, recorded);
}

/* All processes' parts and the exchange beside them, against the whole product and the exchange
 * after it. */
static void check_together(job *j, product *p)
{
    CHECK_OK(run_whole(p));
    CHECK_OK(add(p));
    fetch(j, &p->exact);
    for (int i = 0; i < (p->op->strategy == &divided_strategy ? 2 : N_AGAIN); i++) {
        poison(j, &p->y);
        CHECK_OK(multiply(p));
        fetch(j, &p->y);
        CHECK_MSG(count_off(j, &p->y, &p->exact, 0) == 0, "%s, time %d: %lld points",
                  p->op->strategy->name, i, (long long)count_off(j, &p->y, &p->exact, 0));
    }
    multiply_recorded(j, p);
}

static void fill(job *j, product *p)
{
    uint64_t state = 17;
    for (size_t i = 0; i < j->n; i++) { /* the same point, the same value */
        const size_t point = (size_t)j->ranks.share.node[i / COMPONENTS];
        state = 977 * (COMPONENTS * point + i % COMPONENTS) + 5;
        const double v = fixture_uniform(&state, -1.0, 1.0);
        const float single = (float)v;
        memcpy(p->x.v + i * p->each, p->each == sizeof v ? (const void *)&v : &single, p->each);
    }
    CHECK_OK(j->ranks.dev.ops->upload(&j->ranks.dev, p->x.d_v, p->x.v, p->x.bytes));
}

static void check_precision(job *j, const hx_operator *op, size_t each)
{
    product p = {op, each, new_vector(j, each), new_vector(j, each), new_vector(j, each)};
    fill(j, &p);
    check_parts(j, &p);
    check_together(j, &p);
    free_vector(j, &p.x);
    free_vector(j, &p.exact);
    free_vector(j, &p.y);
}

static void check_operator(job *j, const hx_strategy *strategy, hx_layout layout)
{
    hx_operator op;
    CHECK_OK(hx_operator_create(&op, &j->ranks.dev, strategy, layout, &j->ranks.share.problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, j->modulus));
    CHECK_OK(strategy->prepare_single ? strategy->prepare_single(op.state) : HX_OK);
    check_precision(j, &op, sizeof(double));
    check_precision(j, &op, sizeof(float));
    hx_operator_free(&op);
}

/* Those of the device that have parts, and one of the tests' own. */
static void check_operators(job *j)
{
    const hx_strategy *strategy;
    size_t i = 0;
    int layout = 0;
    hx_layout of;
    while ((strategy = fixture_next_strategy(&j->device, &i, &layout, &of)) != NULL)
        if (strategy->apply_part) check_operator(j, strategy, of);
    check_operator(j, &divided_strategy, HX_LAYOUT_INTERLEAVED);
}

static int make_problem(job *j)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {1.0, 0.5, 0.0}, 1};
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    HX_TRY(hx_space_create(&j->space, &j->mesh, HX_ELEMENT_LINEAR));
    params.space = &j->space;
    return hx_problem_create(&j->problem, &j->mesh, &params);
}

static void make_moduli(job *j)
{
    uint64_t state = 7 + (uint64_t)j->team.rank;
    const size_t n = (size_t)j->ranks.share.mesh.n_elem;
    j->n = COMPONENTS * (size_t)j->ranks.share.space.n_point;
    j->modulus = malloc(n * sizeof *j->modulus);
    for (size_t e = 0; e < n; e++) j->modulus[e] = fixture_uniform(&state, 1e-3, 1.0);
}

/* Of a finished mesh; every few elements in turn to each process, if not 0. */
static void check_mesh(job *j, hx_mail_way way, int in_turn)
{
    if (in_turn > 0) {
        int32_t *const part = malloc((size_t)j->mesh.n_elem * sizeof *part);
        for (int64_t e = 0; e < j->mesh.n_elem; e++)
            part[e] = (int32_t)(e / in_turn % j->team.size);
        CHECK_OK(hx_mesh_part(&j->mesh, j->team.size, part));
        free(part);
    }
    CHECK_OK(make_problem(j));
    CHECK_OK(hx_ranks_create(&j->ranks, &j->team, &j->device, &j->problem));
    CHECK_OK(hx_ranks_connect(&j->ranks, way));
    j->ranks.divides = 1;
    make_moduli(j);
    check_operators(j);
    free(j->modulus);
    hx_ranks_free(&j->ranks);
    hx_problem_free(&j->problem);
    hx_space_free(&j->space);
    hx_mesh_free(&j->mesh);
}

static void check_box(job *j, hx_mail_way way, double distort, int in_turn)
{
    const fixture_box box = {{33, 22, 18}, {3.3, 2.2, 1.8}, distort, 0};
    CHECK_OK(fixture_box_create(&j->mesh, &box));
    CHECK_OK(fixture_finish(&j->mesh, FIXTURE_REORDERED));
    check_mesh(j, way, in_turn);
}

/* Elements of all kinds. */
static void check_mixed(job *j, hx_mail_way way)
{
    const mixed_box box = {.kind = MIXED_LAYERS, .n = {12, 11, 10}, .distort = 0.1, .seed = 3};
    CHECK_OK(mixed_create_part(&j->mesh, &box, FIXTURE_REORDERED));
    check_mesh(j, way, 0);
}

int main(int argc, char **argv)
{
    static const hx_mail_way way[] = {HX_MAIL_NONE, HX_MAIL_LIBRARY, HX_MAIL_DIRECT};
    job j;
    memset(&j, 0, sizeof j);
    const int status = fixture_open_small(&j.device, argc, argv);
    if (status) return status;
    CHECK_OK(hx_team_join(&j.team));
    fixture_move(&j.device, j.team.host_rank);
    for (size_t k = 0; k < sizeof way / sizeof way[0]; k++) {
        check_box(&j, way[k], 0.0, 0);
        check_box(&j, way[k], 0.2, 0);
        CHECK(j.n_with_inside > 0);
        check_mixed(&j, way[k]);
        check_box(&j, way[k], 0.0, 5); /* nearly all elements have points in common */
    }
    hx_device_close(&j.device);
    const int size = j.team.size;
    hx_team_leave(&j.team);
    printf("%d processes: ", size);
    TEST_END();
}
