/* Solves with a rounded K end at the exact K's solution: a beam on soft springs, where false
 * stiffness against rigid motions matters most. Devices with such operators test those; every
 * device tests bsr with added false springs from almost zero to more than real ones would be. */
#include <float.h>

#include "lib/fixture.h"

enum { N_CASE = 2, N_DESIGN = 2 };

static const hx_operator_kind *stored;
static hx_device device;
static int64_t n_unknown;
static double false_spring;

/* K x plus a false spring at every unknown: the effect of rounding, because rows do not sum to
 * 0. */
static int apply(void *state, const double *d_x, double *d_y)
{
    HX_TRY(stored->apply(state, d_x, d_y));
    return device.ops->vector->axpy(&device, n_unknown, false_spring, d_x, d_y);
}

static const fixture_box box = {{12, 2, 2}, {12.0, 2.0, 2.0}, 0.2, 0};

static int create_problem(hx_problem *problem, const hx_mesh *mesh)
{
    static const hx_spring_spec spring = {"left", "test", {3e-3, 2e-3, 1e-3}, HX_SPRING_NODE};
    static const hx_load_spec load[N_CASE] = {
        {"right", "test", HX_LOAD_TOTAL_FORCE, {0.1, -0.3, 1.0}, 1},
        {"right", "test", HX_LOAD_TOTAL_FORCE, {1.0, 0.2, 0.0}, 2}};
    hx_problem_params params = fixture_problem();
    params.load = load;
    params.n_load = N_CASE;
    params.spring = &spring;
    params.n_spring = 1;
    return hx_problem_create(problem, mesh, &params);
}

typedef struct outcome {
    hx_iteration record[N_DESIGN];
    double compliance[N_DESIGN][N_CASE]; /* f'u */
    double residual;                     /* |f - K u| / |f| of the exact K, worst */
    double rounding;                     /* of K u in double, over |f|, worst */
    double reach; /* |u| |f| / f'u, worst: sensitivity of f'u to a residual */
} outcome;

static double norm(const double *x, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* |diag(K) u| in units in the last place: for rigid motions terms of this size cancel in K u, so
 * two orders of summation differ by that much. */
static double rounding_of(const fixture_solver *exact, const double *u)
{
    const size_t bytes = (size_t)n_unknown * sizeof(double);
    double *const diagonal = malloc(bytes);
    double *d_diagonal;
    CHECK(diagonal);
    CHECK_OK(device.ops->alloc(&device, bytes, &d_diagonal));
    CHECK_OK(hx_operator_diagonal(&exact->op, d_diagonal));
    CHECK_OK(device.ops->download(&device, diagonal, d_diagonal, bytes));
    for (int64_t i = 0; i < n_unknown; i++) diagonal[i] *= u[i];
    const double all = norm(diagonal, n_unknown);
    device.ops->release(&device, d_diagonal);
    free(diagonal);
    return DBL_EPSILON * all;
}

/* No unknown is fixed: every row is free. `exact` has the K of the last solved design. */
static void look_at(fixture_solver *s, fixture_solver *exact, int design, outcome *o)
{
    double *const r = malloc((size_t)n_unknown * sizeof *r), *const u = malloc((size_t)n_unknown *
                                                                               sizeof *u);
    CHECK(r && u);
    for (int c = 0; c < N_CASE; c++) {
        const double *const f = s->analysis.problem->cases.force[c];
        CHECK_OK(hx_analysis_point_displacement(&s->analysis, c, u));
        o->compliance[design][c] = s->analysis.load_case[c].compliance;
        o->reach = fmax(o->reach,
                        norm(u, n_unknown) * norm(f, n_unknown) / fabs(o->compliance[design][c]));
        CHECK_OK(
            device.ops->upload(&device, exact->analysis.d_u[c], u, (size_t)n_unknown * sizeof *u));
        o->rounding = fmax(o->rounding, rounding_of(exact, u) / norm(f, n_unknown));
        CHECK_OK(hx_analysis_residual(&exact->analysis, c, r));
        o->residual = fmax(o->residual, norm(r, n_unknown) / norm(f, n_unknown));
    }
    free(r);
    free(u);
}

/* Solves designs one after the other with warm starts; `exact` gets the same K. */
static outcome run(const hx_problem *problem, const hx_operator_kind *op_kind,
                   const fixture_settings *how)
{
    fixture_settings settings = *how, plain = *how;
    fixture_solver s, exact;
    outcome o = {0};
    settings.op_kind = op_kind;
    settings.layout = hx_layout_first(op_kind);
    plain.op_kind = stored;
    plain.layout = hx_layout_first(stored);
    CHECK_OK(fixture_solver_create(&s, &device, problem, &settings));
    CHECK_OK(fixture_solver_create(&exact, &device, problem, &plain));
    for (int design = 0; design < N_DESIGN; design++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &o.record[design]));
        double *const modulus = malloc((size_t)problem->mesh->n_elem * sizeof *modulus);
        CHECK_OK(hx_analysis_modulus(&s.analysis, modulus));
        CHECK_OK(hx_operator_set_modulus(&exact.op, modulus));
        free(modulus);
        look_at(&s, &exact, design, &o);
    }
    fixture_solver_free(&exact);
    fixture_solver_free(&s);
    return o;
}

/* The error of f'u is u'r + r'K^-1 r, where each term is at most about |u| |r|, in both solves. The
 * second design also differs through the sensitivities of the first, by an equal amount. Hence the
 * factor of 8. */
static void compare(const char *what, const outcome *is, const outcome *should, double tolerance)
{
    const double bound = 8.0 * tolerance * fmax(is->reach, should->reach) + 1e-12;
    for (int design = 0; design < N_DESIGN; design++)
        for (int c = 0; c < N_CASE; c++) {
            const double one = is->compliance[design][c], two = should->compliance[design][c];
            CHECK_MSG(fabs(one - two) <= bound * fabs(two),
                      "%s: design %d, case %d: %.12g, not %.12g (bound %.1e)", what, design, c, one,
                      two, bound);
        }
    CHECK_MSG(is->residual <= 1.01 * tolerance + is->rounding, "%s: |r|/|f| %.3e, rounding %.1e",
              what, is->residual, is->rounding);
}

/* False springs of up to half the stiffness against the softest motion are corrected by refinement;
 * with larger ones the exact product completes the solve. */
static void check_false_springs(const hx_problem *problem, const fixture_settings *how,
                                const outcome *should)
{
    hx_operator_kind off = *stored;
    char what[64];
    off.error = 1e-6;
    off.exact = stored;
    off.apply = apply;
    off.apply_dot = NULL;
    static const double false_springs[] = {1e-9, -1e-8, 1e-7, -5e-7, 2e-6};
    for (int i = 0; i < 5; i++) {
        false_spring = false_springs[i];
        snprintf(what, sizeof what, "%s, false springs of %g", how->precond, false_spring);
        const outcome o = run(problem, &off, how);
        for (int design = 0; design < N_DESIGN; design++) {
            CHECK(o.record[design].reason == HX_PCG_CONVERGED);
            CHECK_MSG(o.record[design].pcg_took_exact == 0, "%s: took the exact product", what);
        }
        compare(what, &o, should, how->pcg.tolerance);
        if (i >= 2) CHECK_MSG(o.record[0].pcg_refinements > 0, "%s: not refined", what);
    }
    /* far larger than the true ones, or negative: not positive definite */
    static const double wild[] = {1.0, 1e-5, -1e-4, -1e-2};
    for (int i = 0; i < 4; i++) {
        false_spring = wild[i];
        snprintf(what, sizeof what, "%s, false springs of %g", how->precond, false_spring);
        const outcome o = run(problem, &off, how);
        CHECK_MSG(o.record[0].reason == HX_PCG_CONVERGED, "%s: not converged", what);
        CHECK_MSG(o.record[0].pcg_took_exact == N_CASE, "%s: %d solves took the exact product",
                  what, o.record[0].pcg_took_exact);
        compare(what, &o, should, how->pcg.tolerance);
    }
}

static void check_rounded(const hx_problem *problem, const fixture_settings *how,
                          const outcome *should)
{
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *const op_kind = hx_operator_kinds[i];
        if (strcmp(op_kind->device, device.ops->name) != 0 || !(op_kind->error > 0.0)) continue;
        CHECK_MSG(op_kind->exact != NULL, "%s is rounded and has no exact product", op_kind->name);
        const outcome o = run(problem, op_kind, how);
        CHECK(o.record[0].reason == HX_PCG_CONVERGED && o.record[0].pcg_took_exact == 0);
        compare(op_kind->name, &o, should, how->pcg.tolerance);
    }
}

/* With the compliance criterion, which measures the remaining energy, the compliance itself is
 * accurate. */
static void check_compliance(const hx_problem *problem)
{
    fixture_settings how = fixture_defaults();
    how.pcg.criterion = HX_PCG_COMPLIANCE;
    how.pcg.tolerance = 1e-8;
    const outcome should = run(problem, stored, &how);
    hx_operator_kind off = *stored;
    off.error = 1e-6;
    off.exact = stored;
    off.apply = apply;
    off.apply_dot = NULL;
    for (false_spring = 1e-8; false_spring < 1e-5; false_spring *= 100.0) {
        const outcome o = run(problem, &off, &how);
        for (int c = 0; c < N_CASE; c++)
            CHECK_MSG(fabs(o.compliance[0][c] / should.compliance[0][c] - 1.0) <= 2e-8,
                      "false springs of %g, case %d: %.12g, not %.12g", false_spring, c,
                      o.compliance[0][c], should.compliance[0][c]);
    }
}

int main(int argc, char **argv)
{
    hx_mesh mesh = {0};
    hx_problem problem = {0};
    const hx_precond_kind *precond;
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    stored = hx_operator_kind_find(device.ops->name, "bsr");
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(create_problem(&problem, &mesh));
    n_unknown = 3 * mesh.n_node;
    for (size_t i = 0;
         (precond = fixture_next_precond(&device, stored, HX_PRECISION_DOUBLE, &i));) {
        fixture_settings how = fixture_defaults();
        how.precond = precond->name;
        how.pcg.tolerance = 1e-10;
        const outcome should = run(&problem, stored, &how);
        CHECK(should.record[0].pcg_refinements == 0);
        check_false_springs(&problem, &how, &should);
        check_rounded(&problem, &how, &should);
    }
    check_compliance(&problem);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
