/* Objectives and updates defined by the test: derivatives through adjoint loads against central
 * differences of the analysis, and compliance by adjoint loads against the self-adjoint compliance.
 *
 *     test_objective [cpu | cuda] [quick] */
#include "tests/lib/fixture.h"

static hx_device device;

enum { NX = 4, NY = 3, NZ = 3, N_ELEM = NX * NY * NZ, N_NODE = (NX + 1) * (NY + 1) * (NZ + 1) };
enum { N_CASE = 2, N_DOF = 3 * N_NODE };

static const hx_support_spec support[2] = {
    {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
    {"right-top", "test", HX_FIX_X | HX_FIX_Y, {0.02, -0.03, 0.0}}};
static const hx_load_spec load[3] = {
    {"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
    {"right", "test", HX_LOAD_NODE_FORCE, {0.0, 0.05, 0.0}, 2},
    {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.2, 0.1, -0.7}, .load_case = 2}};
static const hx_spring_spec spring = {"top", "test", {0.3, 0.5, 0.2}, HX_SPRING_TOTAL};
static const double weight[N_CASE] = {0.7, 2.5};
static const double direction[3] = {0.2, 0.4, -1.3};

/* Device data of this test's objectives. */
typedef struct parts {
    double *d_l; /* [N_DOF] weights of the displacements, also at fixed degrees of freedom */
    double *d_q; /* [N_ELEM] weights of the densities */
} parts;

/* l'u of a case. */
static int measure(const hx_response *o, int c, double *result)
{
    const parts *p = o->params.data;
    return device.ops->vector->dot(&device, N_DOF, p->d_l, o->analysis->d_u[c], result);
}

/* sum over the cases of l'u: linear in u. */
static int linear_value(const hx_response *o, double *value)
{
    double part;
    *value = 0.0;
    for (int c = 0; c < N_CASE; c++) {
        HX_TRY(measure(o, c, &part));
        *value += part;
    }
    return HX_OK;
}

static int linear_load(const hx_response *o, int c, double *d_load)
{
    const parts *p = o->params.data;
    (void)c;
    return device.ops->copy(&device, d_load, p->d_l, N_DOF * sizeof(double));
}

static const hx_response_kind linear = {
    .name = "linear", .help = "displacement", .value = linear_value, .adjoint_load = linear_load};

/* sum of (l'u)^2 / 2 over the cases, plus q'rho: nonlinear in u, and dependent on the densities. */
static int square_value(const hx_response *o, double *value)
{
    const parts *p = o->params.data;
    double part;
    HX_TRY(device.ops->vector->dot(&device, N_ELEM, p->d_q, o->analysis->d_rho, value));
    for (int c = 0; c < N_CASE; c++) {
        HX_TRY(measure(o, c, &part));
        *value += 0.5 * part * part;
    }
    return HX_OK;
}

static int square_derivative(const hx_response *o, const double *d_energy, double *d_dc)
{
    const parts *p = o->params.data;
    (void)d_energy;
    return device.ops->copy(&device, d_dc, p->d_q, N_ELEM * sizeof(double));
}

static int square_load(const hx_response *o, int c, double *d_load)
{
    const parts *p = o->params.data;
    double part;
    HX_TRY(measure(o, c, &part));
    HX_TRY(device.ops->zero(&device, d_load, N_DOF * sizeof(double)));
    return device.ops->vector->axpy(&device, N_DOF, part, p->d_l, d_load);
}

static const hx_response_kind square = {.name = "square",
                                        .help = "displacement squared",
                                        .value = square_value,
                                        .derivative = square_derivative,
                                        .adjoint_load = square_load};

/* Compliance without the knowledge that it is self-adjoint. */
static int work_value(const hx_response *o, double *value)
{
    return hx_analysis_compliance(o->analysis, value);
}

static int work_derivative(const hx_response *o, const double *d_energy, double *d_dc)
{
    const hx_analysis *a = o->analysis;
    (void)d_energy;
    HX_TRY(device.ops->zero(&device, d_dc, N_ELEM * sizeof(double)));
    return device.ops->body->work(&device, &a->op->model, hx_problem_body(a->problem, 1), weight[1],
                                  a->d_rho, a->d_u[1], d_dc);
}

static int work_load(const hx_response *o, int c, double *d_load)
{
    HX_TRY(hx_analysis_force(o->analysis, c, d_load));
    return device.ops->vector->axpy(&device, N_DOF, weight[c] - 1.0, d_load, d_load);
}

static const hx_response_kind work = {.name = "work",
                                      .help = "compliance",
                                      .value = work_value,
                                      .derivative = work_derivative,
                                      .adjoint_load = work_load};

static int make_mesh(hx_mesh *mesh)
{
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.2, 1.0}, 0.15, 1};
    const int32_t line[2] = {fixture_node(&box, NX, 1, NZ), fixture_node(&box, NX, 2, NZ)};
    HX_TRY(fixture_box_create(mesh, &box));
    HX_TRY(hx_mesh_distort(mesh, 0.1, 3));
    HX_TRY(hx_mesh_add_node_set(mesh, "right-top", 2, line));
    return fixture_finish(mesh, FIXTURE_REORDERED);
}

static int make_problem(hx_problem *problem, const hx_mesh *mesh, int prescribed)
{
    hx_problem_params params = fixture_problem();
    params.young = 7.0;
    params.density = 0.4;
    params.support = support;
    params.n_support = prescribed ? 2 : 1;
    params.load = load;
    params.n_load = 3;
    params.spring = &spring;
    params.n_spring = 1;
    params.weight = weight;
    params.n_weight = N_CASE;
    return hx_problem_create(problem, mesh, &params);
}

static void make_parts(parts *p)
{
    double l[N_DOF] = {0.0}, q[N_ELEM];
    uint64_t state = 5;
    for (int i = 0; i < N_DOF; i += 7) l[i] = fixture_uniform(&state, -1.0, 1.0);
    for (int e = 0; e < N_ELEM; e++) q[e] = fixture_uniform(&state, -0.02, 0.03);
    p->d_l = fixture_put(&device, N_DOF, l);
    p->d_q = fixture_put(&device, N_ELEM, q);
}

static void fill_density(double density[N_ELEM])
{
    uint64_t state = 99;
    for (int e = 0; e < N_ELEM; e++) density[e] = fixture_uniform(&state, 0.15, 0.95);
}

static fixture_settings settings_of(const hx_response_kind *kind, const parts *p,
                                    const double *density)
{
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = 0.5;
    settings.optimizer.objective = kind;
    settings.optimizer.objective_params.load_case = HX_ALL_CASES;
    if (kind && kind->needs & HX_TAKES_SET) settings.optimizer.objective_params.set = "right-top";
    if (kind && kind->takes & HX_TAKES_DIRECTION)
        memcpy(settings.optimizer.objective_params.direction, direction, sizeof direction);
    settings.optimizer.objective_params.data = p;
    settings.density = density;
    settings.pcg.tolerance = 1e-14;
    return settings;
}

static double objective_at(fixture_solver *s, int64_t e, double rho, double step)
{
    hx_iteration record;
    const double moved = rho + step;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    CHECK_MSG(record.reason == HX_PCG_CONVERGED, "%s", hx_pcg_reason_name(record.reason));
    return record.objective;
}

/* Five-point differences: the error is of order h^4. */
static void check_differences(fixture_solver *s, const char *label, const double *density,
                              const double *dc, int64_t stride)
{
    /* a filter that may leave the range of the design solves to a tolerance */
    const double rounding = s->filter.kind->keeps_range ? 1e-8 : 3e-7;
    double error = 0.0, largest = 0.0;
    int n_positive = 0;
    for (int e = 0; e < N_ELEM; e++) {
        test_worst(&largest, fabs(dc[e]));
        n_positive += dc[e] > 0.0;
    }
    for (int64_t e = 0; e < N_ELEM; e += stride) {
        static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
        const double h = 1e-3 * density[e];
        double c[4];
        for (int i = 0; i < 4; i++) c[i] = objective_at(s, e, density[e], at[i] * h);
        const double difference = (c[0] - 8.0 * c[1] + 8.0 * c[2] - c[3]) / (12.0 * h);
        test_worst(&error, fabs(difference - dc[e]));
        CHECK_MSG(fabs(difference - dc[e]) <= 1e-7 * fabs(dc[e]) + rounding * largest,
                  "%s: element %d: difference %.12g, derivative %.12g", label, (int)e, difference,
                  dc[e]);
    }
    /* unlike those of compliance without self-weight */
    CHECK(n_positive > 0 && n_positive < N_ELEM);
    printf("%s: largest error %.1e of the largest derivative, %d of %d positive\n", label,
           error / largest, n_positive, N_ELEM);
}

static void check_kind(const hx_mesh *mesh, const hx_response_kind *kind, const char *filter,
                       int prescribed, int64_t stride)
{
    hx_problem problem;
    parts p;
    fixture_solver s;
    hx_iteration record;
    double density[N_ELEM], dc[N_ELEM];
    int n_iteration = 0;
    fill_density(density);
    make_parts(&p);
    fixture_settings settings = settings_of(kind, &p, density);
    settings.filter = filter;
    settings.filter_params.radius = strcmp(filter, "none") == 0 ? 0.0 : 0.7;
    CHECK_OK(make_problem(&problem, mesh, prescribed));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    const int has_adjoint = kind->adjoint_load != NULL;
    if (has_adjoint)
        CHECK(hx_response_bytes(kind, &problem, &settings.optimizer.objective_params) >=
              N_CASE * N_DOF * sizeof(double));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (int c = 0; c < N_CASE; c++) n_iteration += record.load_case[c].pcg.iterations;
    CHECK(!has_adjoint || record.pcg_iterations > n_iteration); /* adjoint solves count */
    check_differences(&s, kind->name, density, dc, stride);
    fixture_solver_free(&s);
    device.ops->release(&device, p.d_l);
    device.ops->release(&device, p.d_q);
    hx_problem_free(&problem);
}

/* The objective and its derivatives for one design. */
static double analyse(const hx_problem *problem, const hx_response_kind *kind, double dc[N_ELEM])
{
    double density[N_ELEM];
    fixture_solver s;
    hx_iteration record;
    fill_density(density);
    const fixture_settings settings = settings_of(kind, NULL, density);
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    CHECK(record.compliance == record.objective);
    fixture_solver_free(&s);
    return record.objective;
}

static void check_compliance(const hx_mesh *mesh)
{
    hx_problem problem;
    double adjoint[N_ELEM], own[N_ELEM], worst = 0.0;
    CHECK_OK(make_problem(&problem, mesh, 0));
    CHECK(hx_response_bytes(&hx_response_compliance, &problem, NULL) == 0);
    CHECK_REL(analyse(&problem, &work, adjoint),
              analyse(&problem, hx_response_kind_find("compliance"), own), 1e-13);
    for (int e = 0; e < N_ELEM; e++) test_worst(&worst, fabs(own[e]));
    CHECK_ABS(test_max_difference(N_ELEM, adjoint, own), 0.0, 1e-11 * worst);
    hx_problem_free(&problem);
}

/* An update that proposes the volume fraction for every element, and counts its calls. */
static int n_created, n_proposed, n_destroyed;

static int level_create(hx_update *update)
{
    (void)update;
    n_created++;
    return HX_OK;
}

static int level_propose(hx_update *update, hx_update_step *step)
{
    double level[N_ELEM];
    n_proposed++;
    for (int e = 0; e < N_ELEM; e++) level[e] = update->design->volume_fraction;
    step->change = 0.25;
    step->trials = 3;
    return device.ops->upload(&device, step->d_proposal, level, sizeof level);
}

static void level_destroy(hx_update *update)
{
    (void)update;
    n_destroyed++;
}

static const hx_update_kind level = {.name = "level",
                                     .help = "uniform",
                                     .most_rows = 1,
                                     .bytes_per_elem = 8,
                                     .create = level_create,
                                     .propose = level_propose,
                                     .destroy = level_destroy};

static void check_update(const hx_mesh *mesh)
{
    hx_problem problem;
    fixture_solver s;
    hx_iteration record;
    double density[N_ELEM], proposal[N_ELEM];
    fill_density(density);
    fixture_settings settings = settings_of(NULL, NULL, density);
    settings.optimizer.update = &level;
    n_created = n_proposed = n_destroyed = 0;
    CHECK_OK(make_problem(&problem, mesh, 0));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    /* energy, dv, dc; physical; the design that is made is the analysed one */
    const int n_borrowed = 3 + !hx_filter_maps_design(&s.filter) + 1;
    CHECK(s.opt.n_field == HX_OPTIMIZER_FIELDS - n_borrowed);
    CHECK(hx_optimizer_bytes(&problem, &settings.optimizer, s.filter.kind, &s.filter.params,
                             s.pc.kind) == (size_t)(s.opt.n_field + 1) * 8 * N_ELEM);
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK(record.change == 0.25 && record.volume_trials == 3);
    fixture_get(&device, N_ELEM, proposal, s.opt.d_proposal);
    for (int e = 0; e < N_ELEM; e++) CHECK(proposal[e] == settings.design.volume_fraction);
    hx_optimizer_advance(&s.opt);
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_REL(record.volume, settings.design.volume_fraction, 1e-12);
    fixture_solver_free(&s);
    CHECK(n_created == 1 && n_proposed == 2 && n_destroyed == 1);
    hx_problem_free(&problem);
}

/* Every update of the registry proposes designs of the prescribed volume, or less if that is an
 * upper limit, within the limits. */
static void check_volume(const hx_mesh *mesh, const hx_update_kind *kind)
{
    hx_problem problem;
    fixture_solver s;
    hx_iteration record;
    double density[N_ELEM], proposal[N_ELEM];
    fill_density(density);
    fixture_settings settings = settings_of(NULL, NULL, density);
    settings.optimizer.update = kind;
    CHECK_OK(make_problem(&problem, mesh, 0));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        const double excess = record.volume - settings.design.volume_fraction;
        /* an upper limit is active: less material is never stiffer */
        const int is_right =
            kind->is_upper_limit ? excess <= 1e-4 && excess >= -0.03 : fabs(excess) <= 1e-6;
        CHECK_MSG(i == 0 || is_right, "%s: volume %.9g in design %d", kind->name, record.volume, i);
        CHECK(i == 0 || !record.volume_missed);
        CHECK(record.change > 0.0);
        fixture_get(&device, N_ELEM, proposal, s.opt.d_proposal);
        for (int e = 0; e < N_ELEM; e++)
            CHECK(proposal[e] >= settings.design.rho_min && proposal[e] <= 1.0);
        hx_optimizer_advance(&s.opt);
    }
    fixture_solver_free(&s);
    hx_problem_free(&problem);
}

/* ---- tables, parameters, constraints ---- */

static int nothing(hx_response *o)
{
    (void)o;
    return HX_OK;
}

static void check_tables(const hx_mesh *mesh)
{
    static const hx_response_kind no_value = {.name = "idle", .help = "no value"},
                                  no_derivative = {.name = "idle",
                                                   .help = "no slope",
                                                   .value = linear_value},
                                  no_destroy = {.name = "idle",
                                                .help = "no end",
                                                .value = linear_value,
                                                .adjoint_load = linear_load,
                                                .create = nothing};
    static const hx_update_kind no_propose = {
        .name = "idle", .help = "no step", .create = level_create, .destroy = level_destroy};
    hx_filter_kind no_backward = *hx_filter_find("none");
    hx_filter filter;
    hx_problem problem;
    fixture_solver s;
    double density[N_ELEM];
    fill_density(density);
    fixture_settings settings = settings_of(&no_value, NULL, density);
    const hx_response_kind *const displacement = hx_response_kind_find("displacement");
    const hx_response_params right = {.set = "right", .direction = {0.0, 0.0, 1.0}},
                             no_set = {.direction = {0.0, 0.0, 1.0}},
                             no_direction = {.set = "right"},
                             unknown = {.set = "rihgt", .direction = {0.0, 0.0, 1.0}},
                             held = {.set = "left", .direction = {0.0, 0.0, 1.0}, .origin = "here"};
    CHECK_OK(make_problem(&problem, mesh, 0));
    CHECK_FAILS(fixture_solver_create(&s, &device, &problem, &settings), HX_EINPUT,
                "objective 'idle' has no 'value' in its table");
    settings.optimizer.objective = &no_derivative;
    CHECK_FAILS(fixture_solver_create(&s, &device, &problem, &settings), HX_EINPUT,
                "objective 'idle' has no 'derivative' in its table");
    settings.optimizer.objective = &no_destroy;
    CHECK_FAILS(fixture_solver_create(&s, &device, &problem, &settings), HX_EINPUT,
                "objective 'idle' has no 'bytes' in its table");
    settings.optimizer.objective = NULL;
    settings.optimizer.update = &no_propose;
    CHECK_FAILS(fixture_solver_create(&s, &device, &problem, &settings), HX_EINPUT,
                "update 'idle' has no 'propose' in its table");
    no_backward.backward = NULL;
    CHECK_FAILS(hx_filter_create(&filter, &no_backward, &device, &problem, &(hx_filter_params){0}),
                HX_EINPUT, "filter 'none' has no 'backward' in its table");
    CHECK_OK(hx_response_check(displacement, "objective", &problem, &right));
    CHECK_FAILS(hx_response_check(displacement, "objective", &problem, NULL), HX_EINPUT,
                "objective 'displacement' needs a set");
    CHECK_FAILS(hx_response_check(displacement, "objective", &problem, &no_set), HX_EINPUT,
                "objective 'displacement' needs a set");
    CHECK_OK(hx_response_check(displacement, "objective", &problem, &no_direction)); /* its size */
    CHECK_FAILS(hx_response_check(displacement, "objective", &problem, &unknown), HX_EINPUT,
                "no set 'rihgt'");
    CHECK_FAILS(hx_response_check(displacement, "objective", &problem, &held), HX_EINPUT,
                "here: supports prescribe the displacement of set 'left'");
    CHECK_FAILS(hx_response_check(&hx_response_compliance, "objective", &problem, &right),
                HX_EINPUT,
                "set: objective 'compliance' does not take this key; its keys are kind, case");
    hx_problem_free(&problem);
}

/* Receives the derivative of the second constraint of a test, and keeps the design. */
static double second[N_ELEM], second_now;

static int watch_propose(hx_update *update, hx_update_step *step)
{
    CHECK(update->n_row == 2 && update->row[0].response->kind == &hx_constraint_volume);
    CHECK(update->row[1].bound == 0.25 && update->row[1].sign == 1.0);
    const hx_response *const g = update->row[1].response;
    second_now = g->now;
    HX_TRY(device.ops->download(&device, second, g->d_derivative, sizeof second));
    return device.ops->copy(&device, step->d_proposal, step->d_design, sizeof second);
}

static const hx_update_kind watch = {.name = "watch",
                                     .help = "keeps the design",
                                     .most_rows = 2,
                                     .create = level_create,
                                     .propose = watch_propose,
                                     .destroy = level_destroy};

/* The displacement as a second constraint has the value and the derivative that it has as the
 * objective, through a filter; optimality criteria refuse it by name. */
static void check_constraints(const hx_mesh *mesh)
{
    const hx_response_kind *const displacement = hx_response_kind_find("displacement");
    double density[N_ELEM], dc[N_ELEM];
    hx_problem problem;
    fixture_solver s;
    hx_iteration record;
    fill_density(density);
    fixture_settings settings = settings_of(displacement, NULL, density);
    hx_constraint_spec spec = {.kind = displacement,
                               .params = settings.optimizer.objective_params,
                               .max = 0.25,
                               .min = NAN};
    settings.filter = "density";
    settings.filter_params.radius = 0.7;
    CHECK_OK(make_problem(&problem, mesh, 0));
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    CHECK(s.opt.constraint[0].now == record.volume * problem.total_volume);
    fixture_solver_free(&s);
    settings.optimizer = (hx_optimizer_params){.n_constraint = 1, .constraint = &spec};
    CHECK_FAILS(fixture_solver_create(&s, &device, &problem, &settings), HX_EINPUT,
                "update 'oc' supports 1 limit, that of the volume, but there are 2: volume, "
                "displacement");
    settings.optimizer.update = &watch;
    const double value = record.objective;
    CHECK_OK(fixture_solver_create(&s, &device, &problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK(record.compliance == record.objective);
    CHECK_REL(second_now, value, 1e-12);
    double largest = 0.0;
    for (int e = 0; e < N_ELEM; e++) test_worst(&largest, fabs(dc[e]));
    CHECK_ABS(test_max_difference(N_ELEM, second, dc), 0.0, 1e-11 * largest);
    fixture_solver_free(&s);
    hx_problem_free(&problem);
}

/* ---- the mean of a set ---- */

static double mean_of(const hx_problem *problem, const char *set, const double *along, double rho)
{
    double density[N_ELEM];
    fixture_solver s;
    hx_iteration record;
    for (int e = 0; e < N_ELEM; e++) density[e] = rho;
    fixture_settings settings = settings_of(hx_response_kind_find("displacement"), NULL, density);
    settings.optimizer.objective_params.set = set;
    memcpy(settings.optimizer.objective_params.direction, along, 3 * sizeof *along);
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    fixture_solver_free(&s);
    return record.objective;
}

/* A bar of graded elements in tension, u = stress x / (E rho^3): the mean over faces along it is
 * half that of its end, since it is weighted by area; the nodes of any other set count equally, like
 * the shares of a total force. */
static void check_means(void)
{
    const fixture_box box = {{NX, NY, NZ}, {2.0, 1.2, 1.0}, 0.0, 0};
    const hx_support_spec held[3] = {{"left", "test", HX_FIX_X, {0.0}},
                                     {"front", "test", HX_FIX_Y, {0.0}},
                                     {"bottom", "test", HX_FIX_Z, {0.0}}};
    const hx_load_spec pull = {"right", "test", HX_LOAD_TRACTION, {0.7, 0.0, 0.0}, 1};
    const double along[3] = {-3.0, 0.0, 0.0}, rho = 0.6, end = 0.7 * 2.0 / (7.0 * 0.216);
    int32_t edge[NX + 1], pair[2];
    const int32_t row[2] = {1 + NX * (1 + NY), 2 + NX * (1 + NY)}; /* inside the bar */
    hx_problem_params params = fixture_problem();
    hx_problem problem;
    hx_mesh mesh;
    for (int i = 0; i <= NX; i++) edge[i] = fixture_node(&box, i, 1, 1);
    pair[0] = edge[1];
    pair[1] = edge[NX];
    CHECK_OK(fixture_box_create(&mesh, &box));
    for (int64_t i = 0; i < mesh.n_node; i++) {
        double *const x = mesh.xyz + 3 * i;
        x[0] = 0.5 * x[0] * (1.0 + 0.5 * x[0]);
        x[1] = x[1] * x[1] / 1.2;
    }
    double at[NX + 1], sum = 0.0;
    for (int i = 0; i <= NX; i++) sum += at[i] = mesh.xyz[3 * (int64_t)edge[i]] / 2.0;
    CHECK_OK(hx_mesh_add_node_set(&mesh, "edge", NX + 1, edge));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "pair", 2, pair));
    CHECK_OK(hx_mesh_add_elem_set(&mesh, "row", 2, row));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    params.young = 7.0;
    params.poisson = 0.0;
    params.support = held;
    params.n_support = 3;
    params.load = &pull;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK_REL(mean_of(&problem, "right", along, rho), -end, 1e-10);
    CHECK_REL(mean_of(&problem, "top", along, rho), -0.5 * end, 1e-10);
    CHECK_REL(mean_of(&problem, "row", along, rho), -(at[1] + at[2] + at[3]) / 3.0 * end, 1e-10);
    CHECK_REL(mean_of(&problem, "edge", along, rho), -sum / (NX + 1) * end, 1e-10);
    CHECK_REL(mean_of(&problem, "pair", along, rho), -0.5 * (1.0 + at[1]) * end, 1e-10);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

/* The mean depends neither on the numbering nor on the first corner of the elements. */
static void check_numbering(void)
{
    const char *const set[3] = {"right", "right-top", "core"};
    double found[4][3];
    for (int order = 0; order < 4; order++) {
        const fixture_box box = {{NX, NY, NZ}, {2.0, 1.2, 1.0}, 0.15, 1};
        const int32_t line[3] = {fixture_node(&box, NX, 1, NZ), fixture_node(&box, NX, 2, NZ),
                                 fixture_node(&box, NX, 3, NZ)};
        const int32_t core[2] = {17, 18};
        hx_mesh mesh;
        hx_problem problem;
        CHECK_OK(fixture_box_create(&mesh, &box));
        for (int64_t i = 0; i < mesh.n_node; i++) mesh.xyz[3 * i + 1] *= 1.0 + mesh.xyz[3 * i + 1];
        for (int64_t e = 0; order == 3 && e < mesh.n_elem; e++) {
            int32_t *const conn = mesh.conn + 8 * e, first = conn[0], fifth = conn[4];
            memmove(conn, conn + 1, 3 * sizeof *conn);
            memmove(conn + 4, conn + 5, 3 * sizeof *conn);
            conn[3] = first;
            conn[7] = fifth;
        }
        CHECK_OK(hx_mesh_add_node_set(&mesh, "right-top", 3, line));
        CHECK_OK(hx_mesh_add_elem_set(&mesh, "core", 2, core));
        CHECK_OK(fixture_finish(&mesh, (fixture_order)(order % 3)));
        CHECK_OK(make_problem(&problem, &mesh, 0));
        for (int i = 0; i < 3; i++) found[order][i] = mean_of(&problem, set[i], direction, 0.7);
        for (int i = 0; i < 3; i++) CHECK_REL(found[order][i], found[0][i], 1e-10);
        hx_problem_free(&problem);
        hx_mesh_free(&mesh);
    }
}

/* ---- words ---- */

static void check_words(void)
{
    CHECK(hx_response_kind_find("compliance") == &hx_response_compliance);
    CHECK(hx_update_find("oc") == &hx_update_oc);
    CHECK(!hx_response_kind_find("linear") && !hx_update_find("level"));
}

int main(int argc, char **argv)
{
    int quick;
    hx_mesh mesh;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    const int64_t stride = quick ? 7 : 1;
    CHECK_OK(make_mesh(&mesh));
    CHECK(mesh.n_elem == N_ELEM && mesh.n_node == N_NODE);
    for (int prescribed = 0; prescribed < 2; prescribed++) {
        check_kind(&mesh, &linear, "none", prescribed, stride);
        check_kind(&mesh, &square, "none", prescribed, stride);
        for (size_t k = 0; hx_filters[k]; k++)
            if (!hx_filters[k]->is_heuristic)
                check_kind(&mesh, hx_response_kind_find("displacement"), hx_filters[k]->name,
                           prescribed, stride);
        check_kind(&mesh, &hx_response_compliance, "none", prescribed, stride);
    }
    check_tables(&mesh);
    check_constraints(&mesh);
    check_means();
    check_numbering();
    check_compliance(&mesh);
    check_update(&mesh);
    for (size_t i = 0; hx_updates[i]; i++) check_volume(&mesh, hx_updates[i]);
    check_words();
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
