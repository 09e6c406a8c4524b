/* Late designs under stress limits, which are judged as they are made and by their parts: the
 * judgement beside an analysis of these parts, tighter limits after one that is missed, the design
 * that becomes the result, and a run that is resumed.
 *
 *     test_judged_design [cpu | cuda] */
#include "core/design/limit_values.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>

static hx_device device;

enum { JUDGED = 6, N_ELEM = 16 * 2 * 8 }; /* the first judged design; elements */

typedef struct beam {
    hx_mesh mesh;
    hx_problem problem;
    hx_constraint_spec limit;
    fixture_settings settings;
    double start[N_ELEM];
} beam;

/* A cantilever with a force at its end, an eroded design, and beta at its last value. */
static void make_beam(beam *b, double limit, double density)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "test", HX_LOAD_TOTAL_FORCE, {0.0, 0.0, -1.0}, 1};
    const hx_generate_params size = {.nx = 16, .ny = 2, .nz = 8};
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    memset(b, 0, sizeof *b);
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), &b->mesh, &size));
    CHECK_OK(fixture_finish(&b->mesh, FIXTURE_IN_ORDER));
    CHECK_OK(hx_problem_create(&b->problem, &b->mesh, &params));
    b->limit = (hx_constraint_spec){
        .kind = &hx_response_stress,
        .params = {.load_case = HX_ALL_CASES, .relaxation = 0.5, .is_lagrangian = 1},
        .max = limit,
        .min = NAN};
    b->settings = fixture_defaults();
    b->settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    b->settings.precond = "multigrid";
    b->settings.pcg.tolerance = 1e-9;
    for (int e = 0; e < N_ELEM; e++) b->start[e] = density;
    b->settings.density = b->start;
    b->settings.filter = "density";
    b->settings.filter_params.radius = 2.0;
    b->settings.design.volume_fraction = 0.0;
    b->settings.design.move = 0.01;
    b->settings.design.penalty = fixture_constant(3.0);
    b->settings.design.beta = fixture_constant(6.0);
    b->settings.design.erosion = 0.05;
    b->settings.optimizer = (hx_optimizer_params){.objective = &hx_response_volume,
                                                  .objective_params = {.load_case = HX_ALL_CASES},
                                                  .n_constraint = 1,
                                                  .constraint = &b->limit,
                                                  .update = hx_update_find("mma"),
                                                  .keep_within = 1e-3};
}

static void free_beam(beam *b)
{
    hx_problem_free(&b->problem);
    hx_mesh_free(&b->mesh);
}

static double margin_of(const fixture_solver *s)
{
    return ((const hx_stress_limit *)s->opt.lagrangian.list.limit[0]->impl)->margin;
}

static void take_designs(fixture_solver *s, int n, hx_iteration *record)
{
    for (int i = 0; i < n; i++) {
        CHECK_OK(hx_optimizer_step(&s->opt, record));
        if (i + 1 < n) hx_optimizer_advance(&s->opt);
    }
}

/* The largest violation of the densities, 0/1 above a threshold unless that is 0. */
static double violation_of(fixture_solver *s, const beam *b, const double *made, double threshold)
{
    const int64_t n = b->mesh.n_elem;
    double *const rho = malloc((size_t)n * sizeof *rho);
    hx_limit_value value;
    if (!rho) abort();
    for (int64_t e = 0; e < n; e++)
        rho[e] = !(threshold > 0.0) ? made[e] : made[e] >= threshold ? 1.0 : s->design.rho_min;
    CHECK_OK(hx_analysis_solve_density(&s->analysis, rho, 3.0));
    CHECK_OK(hx_limit_values(&s->analysis, 1, &b->limit, rho, NAN, &value));
    free(rho);
    return fmax(0.0, value.value / b->limit.max - 1.0);
}

/* A limit that no part meets: the judgement is the worst of made design and parts, and the augmented
 * Lagrangian gets a smaller limit than the reported one. */
static void check_missed(void)
{
    beam b;
    fixture_solver s;
    hx_iteration record;
    make_beam(&b, 0.05, 0.5);
    CHECK_OK(fixture_solver_create(&s, &device, &b.problem, &b.settings));
    take_designs(&s, JUDGED - 1, &record);
    CHECK(isnan(s.opt.judged) && isnan(s.opt.kept.judged) && margin_of(&s) == 1.0);
    hx_optimizer_advance(&s.opt);
    take_designs(&s, 1, &record);
    const double judged = s.opt.judged;
    CHECK_REL(margin_of(&s), 0.98, 1e-15);
    CHECK(record.response[0].max == b.limit.max);
    CHECK(s.opt.kept.iteration == JUDGED && s.opt.kept.judged == judged);
    CHECK(!hx_optimizer_keeps_better(&s.opt, &record));
    double *const made = malloc((size_t)b.mesh.n_elem * sizeof *made);
    if (!made) abort();
    CHECK_OK(hx_optimizer_density(&s.opt, made));
    double worst = violation_of(&s, &b, made, 0.0);
    for (int k = 3; k <= 5; k++) test_worst(&worst, violation_of(&s, &b, made, 0.1 * k));
    CHECK_REL(judged, worst, 1e-4);
    CHECK(worst > 0.1);
    free(made);
    fixture_solver_free(&s);
    free_beam(&b);
}

/* A limit that all meet: no tighter one, and the lightest design that was judged is the result. */
static void check_met(void)
{
    beam b;
    fixture_solver s;
    hx_iteration record, last;
    make_beam(&b, 1e3, 0.9);
    CHECK_OK(fixture_solver_create(&s, &device, &b.problem, &b.settings));
    take_designs(&s, 2 * JUDGED + 2, &last);
    CHECK(margin_of(&s) == 1.0 && s.opt.kept.judged == 0.0);
    const int first = s.opt.kept.iteration;
    CHECK(first == JUDGED || first == 2 * JUDGED);
    CHECK(hx_optimizer_keeps_better(&s.opt, &last) && hx_optimizer_has_result(&s.opt, &last));
    CHECK(hx_optimizer_result_iteration(&s.opt, &last) == first);
    const double objective = s.opt.kept.objective;
    CHECK_OK(hx_optimizer_return_result(&s.opt, &last, &record));
    CHECK(record.iteration == first && !record.is_eroded);
    CHECK_REL(record.objective, objective, 1e-12);
    fixture_solver_free(&s);
    free_beam(&b);
}

/* Margin and judgement are in a snapshot: the next judged design is the same bit for bit. */
static void check_resumed(void)
{
    beam b;
    fixture_solver s, again;
    hx_iteration record, same;
    hx_snapshot image = {0};
    make_beam(&b, 0.05, 0.5);
    CHECK_OK(fixture_solver_create(&s, &device, &b.problem, &b.settings));
    take_designs(&s, JUDGED + 1, &record);
    hx_snapshot_begin(&image, HX_SNAPSHOT_SAVE);
    CHECK_OK(hx_optimizer_snapshot(&s.opt, &image));
    hx_optimizer_advance(&s.opt);
    take_designs(&s, JUDGED, &record);
    CHECK_OK(fixture_solver_create(&again, &device, &b.problem, &b.settings));
    hx_snapshot_begin(&image, HX_SNAPSHOT_LOAD);
    CHECK_OK(hx_optimizer_snapshot(&again.opt, &image));
    CHECK_REL(margin_of(&again), 0.98, 1e-15);
    take_designs(&again, JUDGED, &same);
    CHECK(margin_of(&again) == margin_of(&s) && again.opt.kept.judged == s.opt.kept.judged);
    CHECK(same.iteration == record.iteration && same.objective == record.objective);
    CHECK(margin_of(&s) < 0.97);
    hx_snapshot_free(&image);
    fixture_solver_free(&again);
    fixture_solver_free(&s);
    free_beam(&b);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    check_missed();
    check_met();
    check_resumed();
    hx_device_close(&device);
    TEST_END();
}
