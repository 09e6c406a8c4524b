/* The solver against a dense K and its Cholesky factors: guarantees of the stopping rules, reasons,
 * and the same solution from every operator.
 *
 *     test_pcg [cpu | cuda] [quick [matrix-free]]
 *
 * quick: a seventh of the solves, for tools that slow them down by a factor of hundreds (checkop
 * then checks the products); matrix-free: without the operators that store a matrix. */
#include <limits.h>

#include "tests/lib/pcg_promises.h"

static int is_matrix_free;

/* Among n alternatives that are tried in turn, selects number k in a quick run, and all
 * otherwise. */
static int is_left_out(int i, int k, int n)
{
    return is_quick && i != k % n;
}

/* A few of the operators suffice, and one of each kind of device memory. */
static int is_operator_left_out(const hx_operator_kind *op_kind, int k)
{
    return is_left_out(2, k, 4) || (is_matrix_free && op_kind->assembled);
}

static int count_preconds(void)
{
    int n = 0;
    while (hx_preconds[n]) n++;
    return n;
}

/* Every operator, layout and preconditioner gives the dense solution. `most`: maximum number of
 * pairs of operator and layout. */
static void check_same_answer(model *m, const char *label, int most)
{
    const int n_precond = count_preconds();
    fixture_settings settings = fixture_defaults();
    size_t next = 0;
    int layout = 0, n_op_kind = 0;
    double first = 0.0;
    for (int k = 0;
         k < most &&
         (settings.op_kind = fixture_next_operator_kind(&device, &next, &layout, &settings.layout));
         k++)
        for (int i = 0; i < n_precond; i++) {
            double compliance = 0.0;
            if (hx_preconds[i]->runs_on && !hx_preconds[i]->runs_on(device.ops)) continue;
            if (is_left_out(i, k / 4, n_precond) || is_operator_left_out(settings.op_kind, k))
                continue;
            settings.precond = hx_preconds[i]->name;
            const hx_pcg_result result = solve(m, &settings, NULL);
            for (int j = 0; j < N_DOF; j++) compliance += m->f[j] * m->u[j];
            if (n_op_kind++ == 0) first = compliance;
            CHECK_MSG(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-10,
                      "%s, %s %s, %s: %s, off by %.3g", label, settings.op_kind->name,
                      hx_layout_name(settings.layout), hx_preconds[i]->name,
                      hx_pcg_reason_name(result.reason), error_of(m));
            CHECK_REL(compliance, first, 1e-9);
            printf("%s, %s, %s: %d iterations\n", label, settings.op_kind->name,
                   hx_preconds[i]->name, result.iterations);
            for (int j = 0; j < N_DOF; j++)
                if (is_fixed(m, j))
                    CHECK(
                        m->u[j] ==
                        (m->problem.supports.prescribed ? m->problem.supports.prescribed[j] : 0.0));
        }
    CHECK(n_op_kind > 0);
}

static void check_warm_start(model *m)
{
    fixture_settings settings = fixture_defaults();
    double before[N_DOF];
    settings.pcg.tolerance = 1e-9;
    set_modulus(m, 10.0, 3);
    const hx_pcg_result cold = solve(m, &settings, NULL);
    memcpy(before, m->u, sizeof before);
    settings.pcg.tolerance =
        1.001e-9; /* the true residual equals that of the recurrence up to rounding */
    const hx_pcg_result again = solve(m, &settings, before);
    CHECK(again.reason == HX_PCG_CONVERGED && again.iterations == 0);
    settings.pcg.tolerance = 1e-9;
    for (int64_t e = 0; e < m->mesh.n_elem; e++) m->modulus[e] *= e % 2 ? 1.000001 : 0.999999;
    assemble(m);
    solve_dense(m);
    const hx_pcg_result fresh = solve(m, &settings, NULL);
    CHECK(error_of(m) <= 1e-8);
    const hx_pcg_result warm = solve(m, &settings, before);
    CHECK(error_of(m) <= 1e-8);
    CHECK_MSG(10 * warm.iterations < 9 * fresh.iterations, "%d against %d", warm.iterations,
              fresh.iterations);
    printf("warm start: %d iterations, %d from zero (first model: %d)\n", warm.iterations,
           fresh.iterations, cold.iterations);
    set_modulus(m, 10.0, 3);
}

/* Iterations that are queued after the end of a solve change nothing. Uses an operator with bitwise
 * reproducible results, because rounding could show in the last iterates. */
static void check_queue(model *m)
{
    static const int every[] = {1, 7, 64};
    fixture_settings settings = fixture_defaults();
    double first[N_DOF] = {0.0};
    int n_first = 0;
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    for (int limit = 0; limit < 2; limit++)
        for (int i = 0; i < (is_quick ? 2 : 3); i++) {
            settings.pcg.tolerance = 1e-8;
            settings.pcg.max_iterations = limit ? 11 : 20000;
            settings.pcg.check_every = every[i];
            const hx_pcg_result result = solve(m, &settings, NULL);
            CHECK(result.reason == (limit ? HX_PCG_MAX_ITER : HX_PCG_CONVERGED));
            if (limit) CHECK(result.iterations == 11);
            if (i == 0) n_first = result.iterations;
            if (i == 0) memcpy(first, m->u, sizeof first);
            CHECK(result.iterations == n_first);
            CHECK(memcmp(m->u, first, sizeof first) == 0);
        }
}

/* The operations of a device leave all vectors and the state unchanged once there is a reason. */
static void check_frozen(model *m)
{
    enum { N_VECTOR = 6 }; /* r, z, p, q, u, m */
    const hx_device_ops *ops = device.ops;
    const size_t bytes = N_DOF * sizeof(double);
    const hx_pcg_state before = {.rz = 2.0,
                                 .rr = 3.0,
                                 .alpha = 0.5,
                                 .beta = 0.25,
                                 .iterations = 4,
                                 .max_iterations = 9,
                                 .reason = HX_PCG_CONVERGED};
    hx_pcg_state after;
    double *d[N_VECTOR], found[N_DOF];
    float *s[N_VECTOR]; /* the same memory as floats */
    void *d_state;
    for (int i = 0; i < N_VECTOR; i++) {
        CHECK_OK(ops->alloc(&device, bytes, &d[i]));
        CHECK_OK(ops->upload(&device, d[i], m->f, bytes));
        s[i] = (float *)d[i];
    }
    CHECK_OK(ops->alloc(&device, sizeof before, &d_state));
    CHECK_OK(ops->upload(&device, d_state, &before, sizeof before));
    for (int fused = 0; fused < 2; fused++) {
        const double *d_m = fused ? d[5] : NULL, *d_z = fused ? NULL : d[1];
        CHECK_OK(ops->pcg->alpha(&device, N_DOF, d[2], d[3], d_state));
        CHECK_OK(ops->pcg->update(&device, N_DOF, N_DOF, d_m, d[2], d[3], d[4], d[0], d_state));
        if (!fused) CHECK_OK(ops->pcg->beta(&device, N_DOF, d[0], d[1], NULL, d_state));
        CHECK_OK(ops->pcg->direction(&device, N_DOF, d_m, d_z, d[0], d[2], d_state));
    }
    CHECK_OK(ops->pcg->alpha_from(&device, d[3], d_state));
    CHECK_OK(ops->pcg->direction_single(&device, N_DOF, s[5], s[0], s[2], d_state));
    CHECK_OK(ops->pcg->alpha_single(&device, N_DOF, s[2], s[3], d_state));
    CHECK_OK(ops->pcg->update_single(&device, N_DOF, N_DOF, s[5], s[2], s[3], s[4], s[0], d_state));
    for (int i = 0; i < N_VECTOR; i++) {
        CHECK_OK(ops->download(&device, found, d[i], bytes));
        CHECK_MSG(memcmp(found, m->f, bytes) == 0, "vector %d changed", i);
        ops->release(&device, d[i]);
    }
    CHECK_OK(ops->download(&device, &after, d_state, sizeof after));
    CHECK(after.rz == 2.0 && after.rr == 3.0 && after.alpha == 0.5 && after.beta == 0.25);
    CHECK(after.iterations == 4 && after.reason == HX_PCG_CONVERGED);
    ops->release(&device, d_state);
}

/* Without load the result is zero at once, whatever u was. */
static void check_no_load(model *m)
{
    fixture_settings settings = fixture_defaults();
    double noise[N_DOF], f[N_DOF];
    uint64_t state = 4;
    for (int k = 0; k < N_DOF; k++) {
        noise[k] = is_fixed(m, k) ? 0.0 : fixture_uniform(&state, -1.0, 1.0);
        f[k] = is_fixed(m, k) ? 3.0 : 0.0; /* loads at supports have no effect */
    }
    CHECK_OK(device.ops->upload(&device, m->d_f, f, sizeof f));
    const hx_pcg_result result = solve(m, &settings, noise);
    CHECK(result.reason == HX_PCG_CONVERGED && result.iterations == 0 && result.residual == 0.0);
    for (int k = 0; k < N_DOF; k++) CHECK(m->u[k] == 0.0);
    CHECK_OK(device.ops->upload(&device, m->d_f, m->f, sizeof f));
}

/* Lists the entries of m->d_f; returns their number. */
static int64_t list_load(const model *m, int64_t at[N_DOF], double value[N_DOF])
{
    int64_t n = 0;
    for (int k = 0; k < N_DOF; k++) {
        if (m->f[k] == 0.0 && !signbit(m->f[k])) continue;
        at[n] = k;
        value[n++] = m->f[k];
    }
    return n;
}

/* A load given by its entries gives bitwise the same result as a vector, from any initial guess. */
static void check_entries(model *m, const char *precond, hx_pcg_criterion criterion)
{
    fixture_settings settings = fixture_defaults();
    double value[N_DOF], guess[N_DOF], dense[N_DOF], sparse[N_DOF];
    int64_t at[N_DOF], *d_at = NULL;
    uint64_t state = 9;
    fixture_solver s;
    hx_pcg_result one, two;
    const int64_t n = list_load(m, at, value);
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf"); /* deterministic */
    settings.precond = precond;
    settings.pcg.criterion = criterion;
    settings.pcg.tolerance = criterion == HX_PCG_ABSOLUTE ? 1e-14 : 1e-8;
    for (int k = 0; k < N_DOF; k++)
        guess[k] = m->problem.supports.prescribed ? m->problem.supports.prescribed[k] : 0.0;
    for (int k = 0; k < N_DOF; k++)
        if (!is_fixed(m, k)) guess[k] = fixture_uniform(&state, -1.0, 1.0);
    CHECK(n > 0 && n < N_DOF);
    double *const d_value = fixture_put(&device, (size_t)n, value);
    CHECK_OK(hx_device_put(&device, &d_at, at, (size_t)n * sizeof *at));
    const hx_load load = {.n_entry = n, .d_at = d_at, .d_value = d_value};
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, &settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, m->modulus));
    CHECK_OK(hx_precond_setup(&s.pc));
    CHECK_OK(device.ops->upload(&device, m->d_u, guess, sizeof guess));
    CHECK_OK(hx_pcg_solve(&s.pcg, &s.op.linear, &s.pc, m->d_f, m->d_u, &one));
    CHECK_OK(device.ops->download(&device, dense, m->d_u, sizeof dense));
    s.pcg.slow = 0.0;
    CHECK_OK(device.ops->upload(&device, m->d_u, guess, sizeof guess));
    CHECK_OK(hx_pcg_solve_load(&s.pcg, &s.op.linear, &s.pc, &load, m->d_u, &two));
    CHECK_OK(device.ops->download(&device, sparse, m->d_u, sizeof sparse));
    fixture_solver_free(&s);
    device.ops->release(&device, d_at);
    device.ops->release(&device, d_value);
    CHECK(one.reason == HX_PCG_CONVERGED && one.iterations > 0);
    CHECK(two.iterations == one.iterations && two.residual == one.residual);
    CHECK(two.energy == one.energy && two.error == one.error);
    CHECK(memcmp(dense, sparse, sizeof dense) == 0);
}

static void compare_bits(model *m, const fixture_settings *settings)
{
    double first[N_DOF];
    const hx_pcg_result one = solve(m, settings, NULL);
    memcpy(first, m->u, sizeof first);
    fixture_set_threads(2);
    const hx_pcg_result two = solve(m, settings, NULL);
    fixture_set_threads(1);
    CHECK_MSG(memcmp(first, m->u, sizeof first) == 0 && one.iterations == two.iterations &&
                  one.residual == two.residual,
              "%s %s, %s, %s: differs bitwise with 2 threads", settings->op_kind->name,
              hx_layout_name(settings->layout), settings->precond,
              hx_precision_name(settings->pcg.precision));
}

/* The k-th operator and layout, with every preconditioner. */
static void compare_preconds(model *m, fixture_settings *settings, int k)
{
    const int is_mixed = settings->pcg.precision == HX_PRECISION_MIXED, n = count_preconds();
    const hx_precond_kind *kind;
    size_t i = 0;
    if (is_mixed ? !settings->op_kind->apply_single : is_operator_left_out(settings->op_kind, k))
        return;
    while ((kind = fixture_next_precond(&device, settings->op_kind, settings->pcg.precision, &i))) {
        if (is_left_out((int)i - 1, is_mixed ? k : k / 4, n)) continue;
        settings->precond = kind->name;
        compare_bits(m, settings);
    }
}

/* Operators marked as deterministic give bitwise equal results in every run and with any number of
 * threads. */
static void check_same_bits(model *m)
{
    fixture_settings settings = fixture_defaults();
    size_t next = 0;
    int layout = 0;
    settings.pcg.tolerance = 1e-4;
    if (is_quick) settings.pcg.max_iterations = 20;
    for (int k = 0;
         (settings.op_kind = fixture_next_operator_kind(&device, &next, &layout, &settings.layout));
         k++)
        for (int mixed = 0; mixed < 2 && settings.op_kind->deterministic; mixed++) {
            settings.pcg.precision = mixed ? HX_PRECISION_MIXED : HX_PRECISION_DOUBLE;
            compare_preconds(m, &settings, k);
        }
    if (!hx_operator_kind_find(device.ops->name, "ebe")->deterministic) return;
    settings = fixture_defaults();
    settings.op_kind = &wrapper_single;
    settings.pcg.precision = HX_PRECISION_MIXED;
    compare_bits(m, &settings);
}

/* An operator that sums p'K p itself. */
static void check_dot(model *m)
{
    fixture_settings settings = fixture_defaults();
    const int n = solve(m, &settings, NULL).iterations;
    settings.op_kind = &wrapper_dot;
    check_criteria(m, &settings, "p'K p by the operator");
    const hx_pcg_result result = solve(m, &settings, NULL);
    CHECK(abs(result.iterations - n) <= 2 && error_of(m) <= 1e-10);
}

static int n_applied;
static const hx_precond_kind *counted;

static int apply_counted(hx_precond *pc, const double *d_r, double *d_z)
{
    n_applied++;
    return counted->apply(pc, d_r, d_z);
}

/* No z is computed for the residual that ends the solve. The preconditioner is therefore applied as
 * often as there are iterations; once more if the criterion uses r'z; at most once more if it uses
 * an estimate. Not checked on devices that record iterations, where applications cannot be
 * counted. */
static void check_economy(model *m, const char *precond)
{
    static const hx_pcg_criterion criteria[] = {HX_PCG_RELATIVE, HX_PCG_ABSOLUTE,
                                                HX_PCG_COMPLIANCE};
    for (int i = 0; i < 3 && !device.ops->record_begin; i++) {
        fixture_settings settings = fixture_defaults();
        fixture_solver s;
        hx_pcg_result result;
        double *const d_u = fixture_put(&device, N_DOF, NULL);
        settings.precond = precond;
        settings.pcg.criterion = criteria[i];
        settings.pcg.check_every = 1;
        CHECK_OK(fixture_solver_create(&s, &device, &m->problem, &settings));
        CHECK_OK(hx_operator_set_modulus(&s.op, m->modulus));
        CHECK_OK(hx_precond_setup(&s.pc));
        hx_precond_kind kind = *s.pc.kind;
        counted = s.pc.kind;
        kind.apply = apply_counted;
        s.pc.kind = &kind;
        n_applied = 0;
        CHECK_OK(device.ops->zero(&device, d_u, N_DOF * sizeof *d_u));
        CHECK_OK(hx_pcg_solve(&s.pcg, &s.op.linear, &s.pc, m->d_f, d_u, &result));
        const int more = n_applied - result.iterations;
        CHECK_MSG(result.reason == HX_PCG_CONVERGED && result.iterations > 1 &&
                      (criteria[i] == HX_PCG_COMPLIANCE ? more == 0 || more == 1
                                                        : more == (criteria[i] == HX_PCG_ABSOLUTE)),
                  "%s, criterion %d: %d iterations, %d times M^-1", precond, (int)criteria[i],
                  result.iterations, n_applied);
        s.pc.kind = counted;
        fixture_solver_free(&s);
        device.ops->release(&device, d_u);
    }
}

/* `enough` eases the bound of the criterion `relative` by its share of it, to at most ten times; 0
 * and less than the bound change nothing. */
static void check_enough(model *m, hx_precision precision)
{
    static const double given[] = {0.0, 0.5, 4.0, 1e3}, applies[] = {1.0, 1.0, 4.0, 10.0};
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    double norm = 0.0, *const d_u = fixture_put(&device, N_DOF, NULL);
    int n_before = INT_MAX, layout = 0;
    size_t next = 0;
    while ((settings.op_kind =
                fixture_next_operator_kind(&device, &next, &layout, &settings.layout)) &&
           !settings.op_kind->apply_single)
        ;
    settings.pcg.tolerance = 1e-6;
    settings.pcg.precision = precision;
    settings.pcg.check_every = 1;
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, &settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, m->modulus));
    CHECK_OK(hx_precond_setup(&s.pc));
    for (int i = 0; i < 4; i++) {
        hx_pcg_result result;
        s.pcg.enough = given[i] * 1e-6 * norm;
        CHECK_OK(device.ops->zero(&device, d_u, N_DOF * sizeof *d_u));
        CHECK_OK(hx_pcg_solve(&s.pcg, &s.op.linear, &s.pc, m->d_f, d_u, &result));
        CHECK(result.reason == HX_PCG_CONVERGED);
        CHECK_REL(result.eased, applies[i], 1e-12);
        CHECK_MSG(result.residual <= 1e-6 * applies[i] * (1.0 + 1e-12) && result.norm > 0.0,
                  "%g times the bound: residual %g", given[i], result.residual);
        CHECK(i < 2 ? i == 0 || result.iterations == n_before : result.iterations < n_before);
        n_before = result.iterations;
        norm = result.norm;
    }
    fixture_solver_free(&s);
    device.ops->release(&device, d_u);
}

/* An operator whose products round differently each time, on any device: the guarantees of a solve
 * hold for every run. */
static void check_noise(model *m, int n)
{
    fixture_settings settings = fixture_defaults();
    settings.op_kind = &wrapper_noisy;
    CHECK(!repeats(&settings));
    for (int i = 0; i < n; i++) check_criteria(m, &settings, "noise");
}

int main(int argc, char **argv)
{
    static model m;
    const int status = fixture_open_small(&device, argc < 3 ? argc : 3, argv);
    is_quick = argc > 2;
    is_matrix_free = argc > 3;
    if (status != 0) return status;
    const fixture_settings settings = fixture_defaults();
    fixture_settings blocks = settings;
    blocks.precond = "block-jacobi";
    CHECK_OK(make_model(&m, 0));
    check_criteria(&m, &settings, "loads");
    check_criteria(&m, &blocks, "loads, blocks");
    check_same_answer(&m, "loads", INT_MAX);
    check_warm_start(&m);
    check_queue(&m);
    check_reasons(&m, &settings);
    check_no_load(&m);
    check_frozen(&m);
    check_contrast(&m, &settings);
    if (!is_quick) check_contrast(&m, &blocks);
    check_same_bits(&m);
    check_entries(&m, "jacobi", HX_PCG_RELATIVE);
    check_entries(&m, "jacobi", HX_PCG_COMPLIANCE);
    check_entries(&m, "block-jacobi", HX_PCG_COMPLIANCE);
    check_entries(&m, "block-jacobi", HX_PCG_RELATIVE);
    check_enough(&m, HX_PRECISION_DOUBLE);
    check_enough(&m, HX_PRECISION_MIXED);
    check_economy(&m, "block-jacobi");
    check_economy(&m, "multigrid");
    check_dot(&m);
    check_noise(&m, is_quick ? 1 : 20);
    free_model(&m);
    CHECK_OK(make_model(&m, 1));
    check_criteria(&m, &settings, "prescribed displacements");
    check_same_answer(&m, "prescribed displacements", is_quick ? 4 : INT_MAX);
    if (!is_quick) {
        check_reasons(&m, &settings);
        check_criteria(&m, &blocks, "prescribed displacements, blocks");
        check_dot(&m);
    }
    check_entries(&m, "block-jacobi", HX_PCG_COMPLIANCE);
    free_model(&m);
    hx_device_close(&device);
    TEST_END();
}
