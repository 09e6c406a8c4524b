/* The updates `mma` and `gcmma` on convex problems, whose optima are known to six digits: a box of 12 x 6 x 4
 * unit cubes with two load cases and stiffness proportional to the density. The references are from
 * an independent program (KKT residual 1e-6, constraints 1e-8).
 *
 * With p = 3, the compliance of a cantilever is that of optimality criteria or less.
 *
 *     test_mma_optima [cpu | cuda] [quick] */
#include "tests/lib/fixture.h"

static hx_device device;

enum { NX = 12, NY = 6, NZ = 4, N_ELEM = NX * NY * NZ, MOST = 2 };
enum { AGAIN = 10 }; /* designs that have to stay at the optimum */

static const hx_support_spec support = {
    .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
static const hx_load_spec load[2] = {
    {"right-lower-edge", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1},
    {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.01, 0.0}, 2}};
typedef struct example {
    const char *name;
    const char *objective;
    double volume_fraction; /* 0: no limit */
    int n;                  /* limits of load cases 1 to n; their inverse: weights of the largest */
    double limit[MOST];
    /* value: of the objective, a volume as a fraction; of the cases at the optimum, 0: not tested */
    double value, compliance[2];
} example;

static const example list[] = {
    {"least C1, V <= 0.5", "compliance", 0.5, 0, {0.0}, 1234.72539, {1234.72539, 2.38366}},
    {"least V, C1", "volume", 0.0, 1, {1234.72539}, 0.5, {1234.72539, 0.0}},
    {"least V, C1 and C2",
     "volume",
     0.0,
     2,
     {1829.4231585, 2.2334887342},
     0.35686513,
     {1829.4231585, 2.2334887342}},
    {"least of the larger C, V <= 0.5",
     "worst_compliance",
     0.5,
     2,
     {1829.4231585, 2.2334887342},
     0.74251889,
     {1358.38124, 1.65840756}}};

static int is_worst_case(const example *p)
{
    return strcmp(p->objective, "worst_compliance") == 0;
}

/* Number of designs until the objective has six digits and every limit is met to 1e-6, and stays
 * so; more than n_design: never. */
static int optimise(hx_problem *problem, const char *update, const example *p, double start,
                    int n_design)
{
    double density[N_ELEM];
    hx_constraint_spec limit[MOST];
    fixture_solver s;
    hx_iteration record;
    fixture_settings settings = fixture_defaults();
    int first = n_design + 1;
    for (int e = 0; e < N_ELEM; e++) density[e] = start;
    const int n_limit = is_worst_case(p) ? 0 : p->n;
    for (int i = 0; i < n_limit; i++)
        limit[i] = (hx_constraint_spec){.kind = &hx_response_compliance,
                                        .params = {.load_case = i},
                                        .max = p->limit[i],
                                        .min = NAN};
    settings.design.volume_fraction = p->volume_fraction;
    settings.design.penalty = fixture_constant(1.0);
    settings.density = density;
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.pcg.tolerance = 1e-10;
    settings.optimizer = (hx_optimizer_params){.objective = hx_response_kind_find(p->objective),
                                               .n_constraint = n_limit,
                                               .constraint = limit,
                                               .update = hx_update_find(update)};
    for (int i = 0; i < p->n; i++)
        problem->cases.weight[i] = is_worst_case(p) ? 1.0 / p->limit[i] : 1.0;
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int k = 1; k <= n_design && k < first + AGAIN; k++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        const int is_there =
            fabs(record.objective / p->value - 1.0) <= 1e-6 && record.violation <= 1e-6;
        if (!is_there) first = n_design + 1;
        if (is_there && first > k) first = k;
        hx_optimizer_advance(&s.opt);
    }
    for (int c = 0; c < 2; c++)
        if (p->compliance[c] > 0.0)
            CHECK_REL(record.load_case[c].compliance, p->compliance[c], 1e-3);
    printf("%-5s %-32s from %.1f: %.9g after %d designs, there at %d; change %.1e\n", update,
           p->name, start, record.objective, record.iteration, first, record.change);
    fixture_solver_free(&s);
    for (int c = 0; c < problem->cases.n; c++) problem->cases.weight[c] = 1.0;
    return first;
}

/* The least volume with a limited displacement, by adjoint solves: of the uniform density 0.5 at
 * first, from which the volume falls. value[n_design], volume[n_design]: of all designs. */
static void limit_displacement(const hx_problem *problem, int n_design, double limit, double *value,
                               double *volume)
{
    static double density[N_ELEM];
    const hx_constraint_spec spec = {.kind = hx_response_kind_find("displacement"),
                                     .params = {.set = "right-lower-edge",
                                                .direction = {0.0, 0.3, -1.0},
                                                .load_case = HX_ALL_CASES},
                                     .max = limit,
                                     .min = NAN};
    fixture_solver s;
    hx_iteration record;
    fixture_settings settings = fixture_defaults();
    for (int e = 0; e < N_ELEM; e++) density[e] = 0.5;
    settings.design.volume_fraction = 0.0;
    settings.design.penalty = fixture_constant(1.0);
    settings.density = density;
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.pcg.tolerance = 1e-10;
    settings.optimizer = (hx_optimizer_params){.objective = hx_response_kind_find("volume"),
                                               .n_constraint = 1,
                                               .constraint = &spec,
                                               .update = hx_update_find("mma")};
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int k = 0; k < n_design; k++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        value[k] = record.response[0].value;
        volume[k] = record.volume;
        hx_optimizer_advance(&s.opt);
    }
    fixture_solver_free(&s);
}

/* The limit is active: steps of a design that still changes a little miss it by far less than 1e-4,
 * and the next ones return to it. */
static void check_displacement(const hx_problem *problem)
{
    enum { N = 150, EARLY = 100, LATE = 120, LAST = 140 };
    double value[N], volume[N], limit, worst = 0.0, best = INFINITY;
    limit_displacement(problem, 1, 1.0, &limit, volume);
    CHECK_REL(volume[0], 0.5, 1e-12);
    limit_displacement(problem, N, limit, value, volume);
    for (int k = EARLY; k < N; k++) test_worst(&worst, fabs(value[k] / limit - 1.0));
    for (int k = LAST; k < N; k++) best = fmin(best, fabs(value[k] / limit - 1.0));
    printf(
        "least V, displacement limited: %.8f, after %d designs %.8f; off by at most %.1e, at last "
        "by %.1e\n",
        volume[N - 1], LATE, volume[LATE - 1], worst, best);
    CHECK(volume[LATE - 1] < 0.4 && fabs(volume[LATE - 1] / volume[N - 1] - 1.0) <= 1e-4);
    CHECK(worst <= 1e-4 && best <= 1e-6);
    CHECK_REL(value[N - 1], limit, 1e-5); /* active */
    CHECK_REL(value[LATE - 1], limit, 1e-5);
}

/* The compliance of a grey cantilever, p = 3, after 100 designs, and its volume. */
static double cantilever(const hx_problem *problem, const char *update, double beta, double *volume)
{
    fixture_solver s;
    hx_iteration record;
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = 0.3;
    settings.design.beta =
        (hx_schedule){.value = beta, .last = 8.0 * beta, .factor = 2.0, .every = 20};
    settings.filter = "density";
    settings.filter_params.radius = 1.5;
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.pcg.tolerance = 1e-6;
    settings.optimizer.update = hx_update_find(update);
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int k = 1; k <= 100; k++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        hx_optimizer_advance(&s.opt);
    }
    fixture_solver_free(&s);
    *volume = record.volume;
    printf("%-5s cantilever, beta %g: compliance %.6g, volume %.6f\n", update, record.beta,
           record.objective, record.volume);
    return record.objective;
}

/* The lightest part with p = 3 and a filter, by several limits at once: two cases, both signs, a
 * largest value, a range. All are met at the end, and some are active. */
static void check_lightest(const hx_problem *problem, const char *update)
{
    const hx_response_kind *const displacement = hx_response_kind_find("displacement");
    const hx_constraint_spec limit[4] = {
        {.kind = displacement,
         .params = {.set = "right-lower-edge", .direction = {0.0, 0.0, -1.0}},
         .max = 400.0,
         .min = 30.0,
         .name = "sag"},
        {.kind = displacement,
         .params = {.set = "right", .of_largest = 1, .load_case = 1},
         .max = 12.0,
         .min = NAN,
         .name = "sway"},
        {.kind = &hx_response_compliance, .params.load_case = 0, .max = 9e3, .min = NAN},
        {.kind = hx_response_kind_find("reaction"),
         .params = {.set = "left", .direction = {0.0, 0.0, 1.0}},
         .max = 9.0,
         .min = 2.0}};
    fixture_solver s;
    hx_iteration record;
    fixture_settings settings = fixture_defaults();
    double least = INFINITY;
    settings.design.volume_fraction = 0.0;
    settings.design.start = 0.8;
    settings.design.move = 0.1;
    settings.filter = "density";
    settings.filter_params.radius = 1.5;
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.pcg.tolerance = 1e-8;
    settings.optimizer = (hx_optimizer_params){.objective = hx_response_kind_find("volume"),
                                               .objective_params.load_case = HX_ALL_CASES,
                                               .n_constraint = 4,
                                               .constraint = limit,
                                               .update = hx_update_find(update)};
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int k = 1; k <= 120; k++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        if (k == 1) CHECK_REL(record.volume, 0.8, 1e-9);
        hx_optimizer_advance(&s.opt);
    }
    CHECK(record.n_response == 4 && strcmp(record.response[1].name, "sway") == 0 &&
          strcmp(record.response[3].name, "reaction") == 0);
    for (int i = 0; i < record.n_response; i++) {
        const hx_response_record *const r = &record.response[i];
        printf("      %-10s %.6g in [%g, %g]\n", r->name, r->value, r->min, r->max);
        CHECK_MSG(r->violation <= 1e-3, "%s: %.6g is %.1e beyond", r->name, r->value, r->violation);
        if (!isnan(r->max)) least = fmin(least, fabs(r->value / r->max - 1.0));
    }
    printf("%-5s lightest: volume %.5f, KKT %.1e, violation %.1e\n", update, record.volume,
           record.kkt, record.violation);
    CHECK(record.volume < 0.5 && least < 1e-3 && record.kkt < 0.1);
    fixture_solver_free(&s);
}

/* A limit that the solid part misses: the design becomes solid, and the record shows the violation. */
static void check_hopeless(const hx_problem *problem)
{
    const hx_constraint_spec limit = {
        .kind = &hx_response_compliance, .params.load_case = 0, .max = 1.0, .min = NAN};
    fixture_solver s;
    hx_iteration record;
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = 0.0;
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.pcg.tolerance = 1e-8;
    settings.optimizer = (hx_optimizer_params){.objective = hx_response_kind_find("volume"),
                                               .objective_params.load_case = HX_ALL_CASES,
                                               .n_constraint = 1,
                                               .constraint = &limit,
                                               .update = hx_update_find("mma")};
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int k = 1; k <= 20; k++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        if (k == 1) CHECK_REL(record.volume, 0.5, 1e-12); /* the default start */
        hx_optimizer_advance(&s.opt);
    }
    CHECK(record.volume > 0.99 && record.violation > 100.0 && isfinite(record.kkt));
    fixture_solver_free(&s);
}

/* With a steep projection and few elements, steps overshoot: gcmma rejects designs, but the accepted
 * ones have a falling objective and keep the volume. After beta has risen, asymptotes are near, and
 * small changes are no convergence. */
static void check_steep(const hx_problem *problem, const char *update)
{
    const int is_global = strcmp(update, "gcmma") == 0;
    fixture_solver s;
    hx_iteration record;
    fixture_settings settings = fixture_defaults();
    double before = INFINITY;
    int n_rejected = 0, n_held = 0, has_risen = 0;
    settings.design.volume_fraction = 0.3;
    settings.design.beta = (hx_schedule){.value = 1.0, .last = 16.0, .factor = 4.0, .every = 12};
    settings.design.change_tolerance = 0.09;
    settings.design.move = 0.1;
    settings.filter = "density";
    settings.filter_params.radius = 1.5;
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    settings.pcg.tolerance = 1e-9;
    settings.optimizer.update = hx_update_find(update);
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    for (int k = 1; k <= 40; k++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        n_rejected += record.is_rejected;
        /* 0.9 * 0.5 / (1 + beta) is the most that the first asymptotes permit */
        if (has_risen && record.beta == 16.0) {
            CHECK(record.change <= 0.45 / 17.0 + 1e-12 && record.is_held_back);
            n_held++;
        }
        if (is_global && k > 1 && !has_risen)
            CHECK_MSG(record.objective <= before * (1.0 + 1e-5), "design %d: %.9g after %.9g", k,
                      record.objective, before);
        before = record.objective;
        has_risen = record.raised;
        hx_optimizer_advance(&s.opt);
    }
    printf("%-5s steep: compliance %.6g, volume %.6f, %d rejected\n", update, record.objective,
           record.volume, n_rejected);
    CHECK(n_held == 1);
    CHECK(is_global ? n_rejected > 0 : n_rejected == 0);
    CHECK_REL(record.volume, 0.3, 2e-3);
    fixture_solver_free(&s);
}

/* The method of moving asymptotes is at most 1 % worse than optimality criteria, with and without a
 * projection, within the volume. */
static void check_cantilever(void)
{
    hx_mesh mesh;
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    double volume;
    CHECK_OK(hx_generate_box(&mesh, 24, 12, 12, 24.0, 12.0, 12.0));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    for (int k = 0; k < 2; k++) {
        const double oc = cantilever(&problem, "oc", k, &volume);
        const double mma = cantilever(&problem, "mma", k, &volume);
        CHECK_MSG(mma <= 1.01 * oc, "compliance %g, by optimality criteria %g", mma, oc);
        CHECK_REL(volume, 0.3, 1e-4);
    }
    check_steep(&problem, "mma");
    check_steep(&problem, "gcmma");
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* A limit of 0, to which no value can be related; a filter without derivatives. */
static void check_refused(const hx_problem *problem)
{
    const hx_constraint_spec zero = {.kind = &hx_response_compliance, .max = NAN, .min = 0.0};
    fixture_solver s;
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = 0.5;
    settings.optimizer = (hx_optimizer_params){
        .n_constraint = 1, .constraint = &zero, .update = hx_update_find("mma")};
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT,
                "constraint: the limit of compliance is 0");
    settings.optimizer = (hx_optimizer_params){.update = hx_update_find("gcmma")};
    settings.filter = "sensitivity";
    settings.filter_params.radius = 1.5;
    CHECK_FAILS(fixture_solver_create(&s, &device, problem, &settings), HX_EINPUT,
                "optimization.filter.kind = \"density\"");
}

int main(int argc, char **argv)
{
    static const double start[3] = {0.5, 0.3, 0.9};
    hx_mesh mesh;
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    CHECK_OK(hx_generate_box(&mesh, NX, NY, NZ, NX, NY, NZ));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = 2;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        for (int k = 0; k < (quick ? 1 : 3); k++)
            CHECK(optimise(&problem, "mma", &list[i], start[k], 120) <=
                  (is_worst_case(&list[i]) ? 50 : 100)); /* z is the objective, not a violation */
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        for (int k = 0; k < (quick ? 1 : 3); k++)
            CHECK(optimise(&problem, "gcmma", &list[i], start[k], 200) <= 200);
    check_displacement(&problem);
    check_lightest(&problem, "mma");
    check_lightest(&problem, "gcmma");
    check_hopeless(&problem);
    check_refused(&problem);
    check_cantilever();
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
