/* Responses of several ranks against those of one: values, and derivatives by each density. Run by
 * mpirun with any number of processes, or without it as a single one. */
#include "core/design/design_dist.h"
#include "core/dist/dist.h"
#include "tests/lib/fixture.h"

enum { MOST = 16 };

typedef struct job {
    hx_comm comm;
    hx_device device;
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
    hx_dist dist;
} job;

static int create_nothing(hx_update *update)
{
    (void)update;
    return HX_OK;
}

static int keep(hx_update *update, hx_update_step *step)
{
    return update->dev->ops->copy(update->dev, step->d_proposal, step->d_design,
                                  (size_t)update->problem->mesh->n_elem * sizeof(double));
}

static void destroy_nothing(hx_update *update)
{
    (void)update;
}

static const hx_update_kind keeper = {.name = "keeper",
                                      .help = "keeps the design",
                                      .most_rows = MOST,
                                      .is_distributed = 1,
                                      .is_upper_limit = 1,
                                      .create = create_nothing,
                                      .propose = keep,
                                      .destroy = destroy_nothing};

static int make_problem(job *j, hx_element element, int is_heat)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_support_spec cold = {"left", "test", HX_FIX_X, {20.0}};
    static const hx_convection_spec film = {"bottom", "test", 0.4, 25.0};
    static const hx_load_spec load[3] = {
        {"right", "test", HX_LOAD_TRACTION, {1.0, 0.5, 0.0}, 1},
        {"top", "test", HX_LOAD_NODE_FORCE, {0.0, 0.02, -0.1}, 2},
        {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.2, 0.1, -0.7}, .load_case = 2}};
    static const hx_load_spec warm[2] = {
        {.origin = "test", .kind = HX_LOAD_SOURCE, .value = {3.0}, .load_case = 1},
        {"top", "test", HX_LOAD_FLUX, {0.5}, 2}};
    static const hx_spring_spec spring = {"right", "test", {3.0, 0.0, 1.0}, HX_SPRING_AREA};
    static const double weight[2] = {0.7, 2.5};
    const fixture_box box = {{9, 5, 4}, {3.0, 1.0, 1.5}, 0.2, 0};
    hx_problem_params params = fixture_problem();
    params.physics = is_heat ? HX_PHYSICS_HEAT : HX_PHYSICS_ELASTICITY;
    params.conductivity = 2.0;
    params.density = 0.5;
    params.support = is_heat ? &cold : &support;
    params.n_support = 1;
    params.convection = &film;
    params.n_convection = is_heat ? 1 : 0;
    params.load = is_heat ? warm : load;
    params.n_load = is_heat ? 2 : 3;
    params.spring = &spring;
    params.n_spring = is_heat ? 0 : 1;
    params.weight = weight;
    params.n_weight = 2;
    HX_TRY(fixture_box_create(&j->mesh, &box));
    HX_TRY(fixture_finish(&j->mesh, FIXTURE_REORDERED));
    HX_TRY(hx_space_create(&j->space, &j->mesh, element));
    params.space = &j->space;
    return hx_problem_create(&j->problem, &j->mesh, &params);
}

/* The specs of a physics; returns their number. */
static int list_specs(int is_heat, hx_constraint_spec *spec)
{
    static const struct {
        const char *kind;
        hx_response_params params;
    } elastic[] = {{"compliance", {.load_case = 1}},
                   {"compliance", {.load_case = HX_ALL_CASES}},
                   {"volume", {.load_case = HX_ALL_CASES}},
                   {"mass", {.load_case = HX_ALL_CASES}},
                   {"displacement", {.set = "right", .direction = {1.0, 0.0, 0.3}, .load_case = 1}},
                   {"displacement", {.set = "right", .load_case = HX_ALL_CASES}},
                   {"displacement", {.set = "top", .of_largest = 1, .load_case = 0}},
                   {"displacement", {.set = "top", .direction = {0.0, 1.0, 1.0}, .of_largest = 1}},
                   {"displacement", {.set = "right", .set_2 = "top", .load_case = 1}},
                   {"reaction", {.set = "left", .direction = {0.3, 0.0, 1.0}, .load_case = 1}},
                   {"reaction", {.set = "left", .load_case = HX_ALL_CASES}},
                   {"stress", {.load_case = 0, .relaxation = 0.5}},
                   {"stress", {.load_case = HX_ALL_CASES}},
                   {"stress", {.load_case = 1, .relaxation = 0.5, .is_lagrangian = 1}}},
      thermal[] = {{"compliance", {.load_case = 1}},
                   {"temperature", {.set = "right", .load_case = 0}},
                   {"temperature", {.set = "right", .of_largest = 1, .load_case = 1}},
                   {"temperature", {.set = "right", .set_2 = "top", .load_case = 1}},
                   {"reaction", {.set = "left", .load_case = HX_ALL_CASES}}};
    const int n = is_heat ? sizeof thermal / sizeof thermal[0] : sizeof elastic / sizeof elastic[0];
    for (int i = 0; i < n; i++)
        spec[i] = (hx_constraint_spec){
            .kind = hx_response_kind_find(is_heat ? thermal[i].kind : elastic[i].kind),
            .params = is_heat ? thermal[i].params : elastic[i].params,
            .max = 1.0,
            .min = NAN};
    return n;
}

/* The designs of a run, the later ones by warm starts: as many as the augmented Lagrangian needs
 * for multipliers that are not 0. */
enum { DESIGNS = 7 };

/* value[n], and the derivatives by own elements dg[n][n_elem], of the last one of several equal
 * designs; for a limit by the augmented Lagrangian the value and the derivative of that. */
static int solve(hx_device *dev, const hx_problem *problem, const double *density, int is_heat,
                 double *value, double *dg)
{
    const int64_t n_elem = problem->mesh->n_elem;
    hx_constraint_spec spec[MOST];
    const int n = list_specs(is_heat, spec);
    fixture_solver s;
    hx_iteration record;
    fixture_settings settings = fixture_defaults();
    settings.op_kind = hx_operator_kind_of(
        hx_operator_kind_find(dev->ops->name,
                              problem->space.element == HX_ELEMENT_LINEAR ? "otf" : "csr"),
        problem->components);
    settings.layout = hx_layout_first(settings.op_kind);
    settings.design.volume_fraction = 0.0;
    settings.filter = "density";
    settings.filter_params.radius = 0.5;
    settings.density = density;
    settings.pcg.tolerance = 1e-12;
    settings.optimizer =
        (hx_optimizer_params){.n_constraint = n, .constraint = spec, .update = &keeper};
    CHECK_OK(fixture_solver_create(&s, dev, problem, &settings));
    for (int k = 0; k < (is_heat ? 2 : DESIGNS); k++) CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK(record.reason == HX_PCG_CONVERGED);
    for (int i = 0; i < n; i++) {
        const int is_joined = spec[i].params.is_lagrangian;
        value[i] = is_joined ? s.opt.lagrangian.sum.now : record.response[i].value;
        fixture_get(dev, (size_t)n_elem, dg + i * n_elem,
                    is_joined ? s.opt.lagrangian.d_derivative : s.opt.constraint[i].d_derivative);
        if (is_joined) CHECK(value[i] > 0.0 && record.response[i].value > spec[i].max);
    }
    fixture_solver_free(&s);
    return n;
}

static void compare(job *j, hx_element element, int is_heat)
{
    const int64_t n_all = j->mesh.n_elem, n_own = j->dist.subdomain.mesh.n_elem;
    const int32_t *const elem = j->dist.subdomain.elem;
    double value[2][MOST], worst = 0.0, off = 0.0;
    double *const density = malloc((size_t)n_all * sizeof *density),
                  *const own = malloc((size_t)n_own * sizeof *own),
                  *const dg = malloc(MOST * (size_t)n_all * sizeof *dg),
                  *const dg_own = malloc(MOST * (size_t)n_own * sizeof *dg_own);
    uint64_t state = 99;
    for (int64_t e = 0; e < n_all; e++) density[e] = fixture_uniform(&state, 0.2, 0.9);
    for (int64_t e = 0; e < n_own; e++) own[e] = density[elem[e]];
    const int n = solve(&j->device, &j->problem, density, is_heat, value[0], dg);
    solve(&j->dist.dev, &j->dist.subdomain.problem, own, is_heat, value[1], dg_own);
    for (int i = 0; i < n; i++) {
        double largest = 0.0, error = 0.0;
        for (int64_t e = 0; e < n_all; e++) test_worst(&largest, fabs(dg[i * n_all + e]));
        for (int64_t e = 0; e < n_own; e++)
            test_worst(&error, fabs(dg_own[i * n_own + e] - dg[i * n_all + elem[e]]));
        /* a reaction may depend on the design by less than its rounding */
        test_worst(&largest, 1e-4 * fabs(value[0][i]));
        CHECK_MSG(error <= 1e-8 * largest, "response %d: derivatives differ by %.3g of %.3g", i,
                  error, largest);
        CHECK_REL(value[1][i], value[0][i], 1e-9);
        test_worst(&worst, error / largest);
        test_worst(&off, fabs(value[1][i] / value[0][i] - 1.0));
    }
    if (hx_dist_is_root(&j->dist))
        printf("%s%s: %d responses, values to %.0e, derivatives to %.0e\n",
               element == HX_ELEMENT_LINEAR ? "linear" : "quadratic", is_heat ? ", heat" : "", n,
               off, worst);
    free(density);
    free(own);
    free(dg);
    free(dg_own);
}

static void check(job *j, hx_element element, int is_heat)
{
    CHECK_OK(make_problem(j, element, is_heat));
    CHECK_OK(hx_dist_create(&j->dist, &j->comm, &j->device, &j->problem));
    CHECK_OK(hx_dist_connect(&j->dist, HX_TRANSPORT_ANY));
    CHECK_OK(hx_design_distribute(&j->dist));
    compare(j, element, is_heat);
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
    for (int is_heat = 0; is_heat < 2; is_heat++) {
        check(&j, HX_ELEMENT_LINEAR, is_heat);
        if (!is_heat || fixture_has_heat(&j.device, HX_ELEMENT_QUADRATIC))
            check(&j, HX_ELEMENT_QUADRATIC, is_heat);
    }
    hx_device_close(&j.device);
    const int size = j.comm.size;
    hx_comm_leave(&j.comm);
    printf("%d processes: ", size);
    TEST_END();
}
