/* Sweeps in isolation: derivatives by differences on every kind of cell, direction and constraint;
 * parts whose result is known by hand; uniform designs; the same result for any numbering and
 * number of threads; bad input.
 *
 *     test_sweep [cpu | cuda] */
#include "core/design/sweep_stage.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"

static hx_device device;

static hx_sweep_params overhang(double angle, double x, double y, double z)
{
    return (hx_sweep_params){.kind = HX_SWEEP_OVERHANG,
                             .angle = angle,
                             .n_direction = 1,
                             .direction = {{x, y, z}},
                             .parting = {NAN}};
}

static hx_sweep_params draw(double x, double y, double z, double parting)
{
    return (hx_sweep_params){.kind = HX_SWEEP_DRAW,
                             .n_direction = 1,
                             .direction = {{x, y, z}},
                             .parting = {parting, parting, parting}};
}

static hx_sweep_params milling(int n)
{
    hx_sweep_params params = {.kind = HX_SWEEP_MILLING, .n_direction = n, .parting = {NAN}};
    static const double direction[4][3] = {
        {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.3, -0.5, -1.0}, {0.0, 0.0, -2.0}};
    memcpy(params.direction, direction, sizeof direction);
    return params;
}

typedef struct run {
    hx_sweep sweep;
    hx_sweep_stage stage;
    double *d_y;
    size_t n;
} run;

static void open_run(run *r, const hx_mesh *mesh, const hx_sweep_params *params)
{
    memset(r, 0, sizeof *r);
    r->n = (size_t)mesh->n_elem;
    CHECK_OK(hx_sweep_create(&r->sweep, mesh, params));
    CHECK_OK(hx_sweep_stage_create(&r->stage, &device, &r->sweep, 0.01));
    r->d_y = fixture_put(&device, r->n, NULL);
}

static void close_run(run *r)
{
    hx_sweep_stage_free(&r->stage);
    hx_sweep_free(&r->sweep);
    device.ops->release(&device, r->d_y);
}

static void forward(run *r, const double *x, double *y)
{
    CHECK_OK(device.ops->upload(&device, r->stage.d_x, x, r->n * sizeof *x));
    CHECK_OK(hx_sweep_stage_forward(&r->stage, r->d_y));
    fixture_get(&device, r->n, y, r->d_y);
}

static double *new_field(size_t n, double low, double high)
{
    static uint64_t state = 41;
    double *const x = malloc(n * sizeof *x);
    CHECK(x != NULL);
    for (size_t e = 0; e < n; e++) x[e] = fixture_uniform(&state, low, high);
    return x;
}

/* sum of weight y at the design with x[e] moved by `step`. */
static double moved_sum(run *r, double *x, size_t e, double step, const double *weight, double *y)
{
    const double before = x[e];
    double sum = 0.0;
    x[e] += step;
    forward(r, x, y);
    x[e] = before;
    for (size_t i = 0; i < r->n; i++) sum += weight[i] * y[i];
    return sum;
}

/* Densities in [low, 1]: close together, so that all arguments of a mean count, or far apart. */
static void check_slopes(const hx_mesh *mesh, const hx_sweep_params *params, double low,
                         const char *what)
{
    run r;
    open_run(&r, mesh, params);
    double *const x = new_field(r.n, low, 1.0), *const weight = new_field(r.n, -1.0, 1.0);
    double *const y = new_field(r.n, 0.0, 1.0), *const a = malloc(r.n * sizeof *a);
    double largest = 0.0, error = 0.0;
    forward(&r, x, y);
    for (size_t e = 0; e < r.n; e++) CHECK(y[e] >= 0.01 * (1.0 - 1e-12) && y[e] <= 1.0 + 1e-12);
    double *const d_a = fixture_put(&device, r.n, weight);
    CHECK_OK(hx_sweep_stage_backward(&r.stage, d_a));
    fixture_get(&device, r.n, a, d_a);
    for (size_t e = 0; e < r.n; e++) test_worst(&largest, fabs(a[e]));
    for (size_t e = 0; e < r.n; e += 1 + r.n / 40) {
        const double h = 2e-4 * x[e], at[4] = {-2.0, -1.0, 1.0, 2.0};
        double f[4];
        for (int i = 0; i < 4; i++) f[i] = moved_sum(&r, x, e, at[i] * h, weight, y);
        const double slope = (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h);
        test_worst(&error, fabs(slope - a[e]) / largest);
        CHECK_MSG(fabs(slope - a[e]) <= 1e-6 * largest,
                  "%s, %s: element %zu: %.12g, difference %.12g", mesh->name, what, e, a[e], slope);
    }
    printf("%-20s %-34s %4d levels, %.1f inputs, error %.1e\n", mesh->name, what,
           r.sweep.graph[0].n_level, r.sweep.mean_inputs, error);
    device.ops->release(&device, d_a);
    free(x);
    free(y);
    free(a);
    free(weight);
    close_run(&r);
}

/* A uniform design stays uniform, whatever the number of supports and levels. */
static void check_uniform(const hx_mesh *mesh, const hx_sweep_params *params)
{
    run r;
    open_run(&r, mesh, params);
    double *const x = malloc(r.n * sizeof *x), *const y = malloc(r.n * sizeof *y);
    for (int i = 0; i < 3; i++) {
        const double rho = i == 0 ? 0.3 : i == 1 ? 0.01 : 1.0;
        for (size_t e = 0; e < r.n; e++) x[e] = rho;
        forward(&r, x, y);
        for (size_t e = 0; e < r.n && r.sweep.graph[0].n_alone == 0; e++)
            CHECK_REL(y[e], rho, 1e-12);
    }
    free(x);
    free(y);
    close_run(&r);
}

static void check_mesh(const mixed_box *box)
{
    const hx_sweep_params list[] = {overhang(45.0, 0.0, 0.0, 1.0),
                                    overhang(45.0, -1.0, 0.0, 0.0),
                                    overhang(35.0, 0.2, -0.3, 1.0),
                                    overhang(60.0, 0.0, 0.0, -2.0),
                                    draw(0.0, 0.0, 1.0, NAN),
                                    draw(0.1, 1.0, 0.2, 1.3),
                                    milling(1),
                                    milling(3)};
    static const char *const what[] = {
        "overhang 45, z",  "overhang 45, -x", "overhang 35, oblique",
        "overhang 60, -z", "draw z",          "draw oblique, parting",
        "milling z",       "milling of 3"};
    hx_mesh mesh;
    CHECK_OK(mixed_create_shuffled(&mesh, box));
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        check_slopes(&mesh, &list[i], 0.05, what[i]);
        check_slopes(&mesh, &list[i], 0.9, what[i]);
        check_uniform(&mesh, &list[i]);
    }
    hx_mesh_free(&mesh);
}

/* --- by hand, on 7 x 3 x 5 cubes; section(i, k): 1 where the design is solid --- */

enum { NX = 7, NY = 3, NZ = 5, N_CUBE = NX * NY * NZ };

static int is_wide(int i, int k)
{
    return abs(i - 3) <= 2 * k;
}

static int is_steep(int i, int k)
{
    return abs(i - 3) <= k;
}

static int is_tee(int i, int k)
{
    return i == 3 || k == 4;
}

/* The stem supports only what lies beside it: one element at each side. */
static int is_cut_tee(int i, int k)
{
    return i == 3 || (k == 4 && abs(i - 3) <= 1);
}

static int is_all(int i, int k)
{
    (void)i;
    (void)k;
    return 1;
}

static int is_beam(int i, int k)
{
    return k == 2 && i >= 2 && i <= 4;
}

static int is_below_beam(int i, int k)
{
    return k <= 2 && i >= 2 && i <= 4;
}

static int is_above_beam(int i, int k)
{
    return k >= 2 && i >= 2 && i <= 4;
}

static int is_nothing(int i, int k)
{
    (void)i;
    (void)k;
    return 0;
}

/* A box closed at the sides along x with a hole inside, whose roof is open or not. */
static int is_shell(int i, int k)
{
    return i == 0 || i == 6 || k == 0 || k == 4;
}

static int is_cup(int i, int k)
{
    return i == 0 || i == 6 || k == 0;
}

static int is_tube(int i, int k)
{
    return k == 0 || k == 4 || (i == 3 && k == 2);
}

static int is_milled_tube(int i, int k)
{
    return k == 0 || k == 4 || (i <= 3 && k == 2);
}

typedef struct by_hand {
    const char *name;
    hx_sweep_params params;
    int (*given)(int i, int k), (*wanted)(int i, int k);
} by_hand;

static void check_by_hand(const hx_mesh *mesh, const by_hand *c)
{
    double x[N_CUBE], y[N_CUBE];
    run r;
    open_run(&r, mesh, &c->params);
    for (int e = 0; e < N_CUBE; e++) x[e] = c->given(e % NX, e / NX / NY) ? 1.0 : 0.01;
    forward(&r, x, y);
    for (int e = 0; e < N_CUBE; e++) {
        const int i = e % NX, k = e / NX / NY;
        CHECK_MSG(fabs(y[e] - (c->wanted(i, k) ? 1.0 : 0.01)) <= 1e-9, "%s: %d %d: %.12g", c->name,
                  i, k, y[e]);
    }
    close_run(&r);
}

static void check_known(void)
{
    const by_hand list[] = {
        {"wedge of 45 degrees", overhang(45.0, 0, 0, 1), is_steep, is_steep},
        {"too wide a wedge", overhang(45.0, 0, 0, 1), is_wide, is_steep},
        {"T", overhang(45.0, 0, 0, 1), is_tee, is_cut_tee},
        {"T upside down", overhang(45.0, 0, 0, -1), is_tee, is_tee},
        {"beam in the air", overhang(45.0, 0, 0, 1), is_beam, is_nothing},
        {"solid", overhang(45.0, 0, 0, 1), is_all, is_all},
        {"beam drawn upwards", draw(0, 0, 3, NAN), is_beam, is_below_beam},
        {"beam drawn downwards", draw(0, 0, -1, NAN), is_beam, is_above_beam},
        {"beam parted in its middle", draw(0, 0, 1, 2.5), is_beam, is_beam},
        {"T drawn", draw(0, 0, 1, NAN), is_tee, is_all},
        {"shell milled from above", milling(1), is_shell, is_all},
        {"cup milled from above", milling(1), is_cup, is_cup},
        {"tube milled from above and the side", milling(2), is_tube, is_milled_tube},
    };
    hx_mesh mesh;
    CHECK_OK(hx_generate_box(&mesh, NX, NY, NZ, NX, NY, NZ));
    CHECK_OK(hx_mesh_finish(&mesh));
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) check_by_hand(&mesh, &list[i]);
    hx_mesh_free(&mesh);
}

/* --- numbering, threads, bad input --- */

/* Result by original element, on a mesh in this order. */
static void sweep_ordered(const mixed_box *box, fixture_order order, const hx_sweep_params *params,
                          const double *x, double *y)
{
    hx_mesh mesh;
    run r;
    CHECK_OK(mixed_create(&mesh, box));
    CHECK_OK(fixture_finish(&mesh, order));
    open_run(&r, &mesh, params);
    double *const at = malloc(r.n * sizeof *at), *const to = malloc(r.n * sizeof *to);
    for (size_t e = 0; e < r.n; e++) at[e] = x[mesh.elem_orig ? mesh.elem_orig[e] : (int32_t)e];
    forward(&r, at, to);
    for (size_t e = 0; e < r.n; e++) y[mesh.elem_orig ? mesh.elem_orig[e] : (int32_t)e] = to[e];
    free(at);
    free(to);
    close_run(&r);
    hx_mesh_free(&mesh);
}

static void check_order(const hx_sweep_params *params)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = {
            .kind = (mixed_kind)kind, .n = {9, 8, 10}, .distort = 0.1, .seed = 3};
        enum { MOST = 9 * 8 * 10 * MIXED_MOST };
        double *const x = new_field(MOST, 0.01, 1.0), *const y = new_field(MOST, 0.0, 0.0);
        double *const other = new_field(MOST, 0.0, 0.0), *const same = new_field(MOST, 0.0, 0.0);
        fixture_set_threads(1);
        sweep_ordered(&box, FIXTURE_IN_ORDER, params, x, y);
        sweep_ordered(&box, FIXTURE_REORDERED, params, x, other);
        fixture_set_threads(3);
        sweep_ordered(&box, FIXTURE_REORDERED, params, x, same);
        fixture_set_threads(1);
        CHECK(memcmp(other, same, MOST * sizeof *same) == 0);
        for (int e = 0; e < MOST; e++) CHECK_ABS(other[e], y[e], 1e-13);
        free(x);
        free(y);
        free(other);
        free(same);
    }
}

static void check_bad_input(void)
{
    const int32_t inner = 1 * 16 + 5;
    hx_mesh mesh;
    hx_sweep sweep;
    hx_sweep_params params = overhang(45.0, 0, 0, 1);
    CHECK_OK(hx_generate_box(&mesh, 3, 3, 3, 3, 3, 3));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "none", 0, NULL));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "node", 1, &inner));
    CHECK_OK(hx_mesh_finish(&mesh));
    params.direction[0][2] = 0.0;
    CHECK_FAILS(hx_sweep_create(&sweep, &mesh, &params), HX_EINPUT, "direction = [0, 0, 0]");
    params = overhang(5.0, 0, 0, 1);
    CHECK_FAILS(hx_sweep_create(&sweep, &mesh, &params), HX_EINPUT, "angle = 5");
    params = overhang(NAN, 0, 0, 1);
    CHECK_FAILS(hx_sweep_create(&sweep, &mesh, &params), HX_EINPUT, "[10, 80]");
    params = overhang(45.0, 0, 0, 1);
    params.base = "none";
    CHECK_FAILS(hx_sweep_create(&sweep, &mesh, &params), HX_EINPUT, "base = \"none\"");
    params.base = "absent";
    CHECK_FAILS(hx_sweep_create(&sweep, &mesh, &params), HX_EINPUT, "base = \"absent\"");
    params.base = "node"; /* without it the lowest nine */
    CHECK_OK(hx_sweep_create(&sweep, &mesh, &params));
    CHECK(sweep.graph[0].n_base == 8);
    hx_sweep_free(&sweep);
    params.base = NULL;
    CHECK_OK(hx_sweep_create(&sweep, &mesh, &params));
    CHECK(sweep.graph[0].n_base == 9 && sweep.graph[0].n_alone == 0);
    CHECK(sweep.graph[0].n_level == 3);
    hx_sweep_free(&sweep);
    params = milling(3);
    params.n_direction = 0;
    CHECK_FAILS(hx_sweep_create(&sweep, &mesh, &params), HX_EINPUT, "1 to 8");
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int bent = 0; bent < 2; bent++) {
            const mixed_box box = {.kind = (mixed_kind)kind,
                                   .n = {4, 3, 5},
                                   .length = {4.0, 3.0, 5.5},
                                   .distort = bent ? 0.1 : 0.0,
                                   .seed = 7};
            check_mesh(&box);
        }
    check_known();
    const hx_sweep_params one = overhang(45.0, 0.0, 0.0, 1.0), two = draw(0.2, 1.0, 0.1, 2.0),
                          three = milling(4);
    check_order(&one);
    check_order(&two);
    check_order(&three);
    check_bad_input();
    hx_device_close(&device);
    TEST_END();
}
