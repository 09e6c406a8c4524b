/* Multigrid as a preconditioner: symmetric, positive definite, few iterations on difficult designs
 * and meshes, and the same solutions as with the diagonal.
 *
 *     test_multigrid_solve [cpu | cuda] [quick] */
#include "core/multigrid/multigrid_internal.h"
#include "tests/lib/hard_models.h"

static hx_device device;
static hx_device host; /* the CPU, for comparison */
static const char *context;

/* ---- models ---- */

/* Three stacks, each of four thick layers and four thin ones, 12:1: stiff sheets with soft layers
 * between them, joined at both ends. */
static double sheets(const double x[3], double noise)
{
    const double period = 3.0 * x[2], at = period - floor(period);
    (void)noise;
    if (x[0] < 0.05 || x[0] > 0.95 || at > 12.0 / 13.0) return 1.0;
    return at > 0.25 && at < 0.7 ? 0.2 : 0.6;
}

/* ---- solves ---- */

static fixture_settings settings_of(hx_device *dev, const char *precond, const char *operator,
                                    double tolerance)
{
    fixture_settings settings = fixture_defaults();
    settings.precond = precond;
    settings.op_kind = hx_operator_kind_find(dev->ops->name, operator);
    settings.pcg.tolerance = tolerance;
    return settings;
}

static void start(fixture_solver *s, hx_device *dev, const model *m,
                  const fixture_settings *settings)
{
    CHECK_OK(fixture_solver_create(s, dev, &m->problem, settings));
    CHECK_OK(hx_operator_set_modulus(&s->op, m->modulus));
    CHECK_OK(hx_precond_setup(&s->pc));
}

/* Solves one load case; u[n] returns the solution. */
static hx_pcg_result solve(fixture_solver *s, const model *m, int load_case, double *u)
{
    hx_device *dev = s->op.dev;
    hx_pcg_result result = {.reason = HX_PCG_RUNNING};
    double *d_f = fixture_put(dev, m->n, m->problem.cases.force[load_case]),
           *zero = new_doubles(m->n),
           *d_u = fixture_put(
               dev, m->n, m->problem.supports.prescribed ? m->problem.supports.prescribed : zero);
    CHECK_OK(hx_pcg_solve(&s->pcg, &s->op.linear, &s->pc, d_f, d_u, &result));
    fixture_get(dev, m->n, u, d_u);
    dev->ops->release(dev, d_f);
    dev->ops->release(dev, d_u);
    free(zero);
    return result;
}

static hx_pcg_result solve_once(hx_device *dev, const model *m, const char *precond,
                                const char *operator, double tolerance, double *u)
{
    const fixture_settings settings = settings_of(dev, precond, operator, tolerance);
    fixture_solver s;
    start(&s, dev, m, &settings);
    const hx_pcg_result result = solve(&s, m, 0, u);
    fixture_solver_free(&s);
    return result;
}

/* x'K x on all degrees of freedom. */
static double energy(const fixture_solver *s, const model *m, const double *x)
{
    hx_device *dev = s->op.dev;
    double *d_x = fixture_put(dev, m->n, x), *d_y = fixture_put(dev, m->n, x), sum = 0.0;
    CHECK_OK(hx_operator_apply_unmasked(&s->op, d_x, d_y));
    CHECK_OK(dev->ops->vector->dot(dev, (int64_t)m->n, d_x, d_y, &sum));
    dev->ops->release(dev, d_x);
    dev->ops->release(dev, d_y);
    return sum;
}

/* ---- M as a matrix ---- */

/* z = M^-1 r. */
static void apply(fixture_solver *s, const model *m, const double *r, double *z)
{
    hx_device *dev = s->op.dev;
    double *d_r = fixture_put(dev, m->n, r), *d_z = fixture_put(dev, m->n, r);
    CHECK_OK(s->pc.kind->apply(&s->pc, d_r, d_z));
    fixture_get(dev, m->n, z, d_z);
    dev->ops->release(dev, d_r);
    dev->ops->release(dev, d_z);
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* Residuals as in PCG (0 at supports): rough and smooth ones, over the whole mesh or at a single
 * node. */
static void fill_residual(const model *m, int kind, double *r)
{
    uint64_t seed = 31 + (uint64_t)kind;
    size_t one = m->n / 2;
    while (fixed_at(m, one)) one++;
    for (size_t k = 0; k < m->n; k++) {
        const double noise = fixture_uniform(&seed, -1.0, 1.0),
                     x = m->mesh.xyz[k] / m->mesh.elem_size;
        r[k] = kind < 3 ? noise : kind < 5 ? cos(0.4 * x + kind) : k == one;
        if (fixed_at(m, k)) r[k] = 0.0;
    }
}

static void check_form(fixture_solver *s, const model *m, double most)
{
    enum { N = 6 };
    double *r[N], *z[N], skew = 0.0;
    int64_t wrong = 0;
    for (int i = 0; i < N; i++) {
        r[i] = new_doubles(m->n);
        z[i] = new_doubles(m->n);
        fill_residual(m, i, r[i]);
        apply(s, m, r[i], z[i]);
        for (size_t k = 0; k < m->n; k++) wrong += fixed_at(m, k) && z[i][k] != 0.0;
        CHECK_MSG(dot(m->n, r[i], z[i]) > 0.0, "%s: r'z of vector %d", context, i);
    }
    CHECK_MSG(wrong == 0, "%s: %lld supports moved", context, (long long)wrong);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            const double scale = sqrt(dot(m->n, r[i], z[i]) * dot(m->n, r[j], z[j])),
                         off = fabs(dot(m->n, r[i], z[j]) - dot(m->n, r[j], z[i])) / scale;
            test_worst(&skew, off);
        }
    CHECK_MSG(skew <= most, "%s: unsymmetric by %g", context, skew);
    printf("%s: unsymmetric by %.1e\n", context, skew);
    for (int i = 0; i < N; i++) {
        free(r[i]);
        free(z[i]);
    }
}

/* ---- solutions ---- */

/* Compares u with multigrid and with the diagonal, in the norm of K. */
static void check_case(fixture_solver *s, fixture_solver *plain, const model *m, int load_case,
                       int most)
{
    double *u = new_doubles(m->n), *expected = new_doubles(m->n);
    const hx_pcg_result few = solve(s, m, load_case, u),
                        many = solve(plain, m, load_case, expected);
    const double size = energy(plain, m, expected), work = energy(s, m, u);
    CHECK_MSG(few.reason == HX_PCG_CONVERGED, "%s: %s", context, hx_pcg_reason_name(few.reason));
    CHECK(many.reason == HX_PCG_CONVERGED);
    CHECK_MSG(most == 0 || few.iterations <= most, "%s: %d iterations, at most %d", context,
              few.iterations, most);
    for (size_t k = 0; k < m->n; k++) {
        if (fixed_at(m, k)) CHECK(u[k] == expected[k]);
        u[k] -= expected[k];
    }
    const double off = sqrt(energy(plain, m, u) / size);
    CHECK_MSG(off <= 3e-4, "%s: off by %g in the norm of K", context, off);
    CHECK_REL(work, size, 1e-6);
    printf("%s, case %d: %d iterations, with the diagonal %d; off by %.1e\n", context,
           load_case + 1, few.iterations, many.iterations, off);
    free(u);
    free(expected);
}

static int most_of(const sample *of)
{
    return of->direct > 0 ? of->direct : of->most;
}

/* Number of columns for the floating components that a solve has found. */
static int n_deflation(const fixture_solver *s)
{
    return ((const hx_multigrid *)s->pc.impl)->deflation.n_column;
}

static void check_solution(const model *m, const sample *of)
{
    const fixture_settings settings = settings_of(&device, "multigrid", "otf", 1e-8),
                           reference = settings_of(&device, "jacobi", "otf", 1e-9);
    fixture_solver s, plain;
    start(&s, &device, m, &settings);
    start(&plain, &device, m, &reference);
    check_form(&s, m, of->skew);
    for (int c = 0; c < (of->most > 0 ? m->problem.cases.n : 1); c++)
        check_case(&s, &plain, m, c, most_of(of));
    if (n_deflation(&s) > 0) check_form(&s, m, of->skew);
    fixture_solver_free(&plain);
    fixture_solver_free(&s);
}

/* How much iteration counts may differ by rounding: more at high contrast and in slender bodies,
 * whose softest modes are below the resolution of single precision. */
static int allowed(const sample *of, int iterations)
{
    return of->contrast > 1e4 || iterations > 40 ? 2 + iterations / 4 : 1;
}

/* Results are bitwise equal for the smallest number of threads and for three; on a GPU, in two
 * runs. */
static void check_bits(const model *m)
{
    double *u = new_doubles(m->n), *again = new_doubles(m->n);
    solve_once(&device, m, "multigrid", "otf", 1e-8, u);
    fixture_set_threads(3);
    solve_once(&device, m, "multigrid", "otf", 1e-8, again);
    fixture_set_threads(1);
    CHECK_MSG(memcmp(u, again, m->n * sizeof *u) == 0, "%s: other bits", context);
    free(u);
    free(again);
}

/* The iteration count is that of the host, unless rounding decides in this sample. */
static void check_host(const model *m, const sample *of)
{
    double *u = new_doubles(m->n);
    if (strcmp(device.ops->name, "cpu") != 0) {
        const int here = solve_once(&device, m, "multigrid", "otf", 1e-8, u).iterations,
                  there = solve_once(&host, m, "multigrid", "otf", 1e-8, u).iterations;
        CHECK_MSG(abs(here - there) <= allowed(of, there) ||
                      (of->fewest > 0 && here >= of->fewest && here <= there),
                  "%s: %d iterations, %d on the host", context, here, there);
    }
    free(u);
}

/* An operator without a product in single precision uses that of otf. */
static void check_ebe(const model *m, const sample *of)
{
    double *u = new_doubles(m->n), *v = new_doubles(m->n);
    const hx_pcg_result otf = solve_once(&device, m, "multigrid", "otf", 1e-8, u),
                        ebe = solve_once(&device, m, "multigrid", "ebe", 1e-8, v);
    double off = 0.0, size = 0.0;
    CHECK(hx_operator_kind_find(device.ops->name, "ebe")->apply_single == NULL);
    CHECK(ebe.reason == HX_PCG_CONVERGED);
    CHECK_MSG(abs(otf.iterations - ebe.iterations) <= allowed(of, otf.iterations),
              "%s: otf %d, ebe %d", context, otf.iterations, ebe.iterations);
    for (size_t k = 0; k < m->n; k++) {
        test_worst(&off, fabs(u[k] - v[k]));
        test_worst(&size, fabs(u[k]));
    }
    CHECK_MSG(off <= 1e-4 * size, "%s: ebe off by %g", context, off / size);
    free(u);
    free(v);
}

static void test_samples(void)
{
    for (int i = 0; i < N_SAMPLE; i++) {
        model m;
        context = samples[i].name;
        make_model(&m, &samples[i]);
        check_solution(&m, &samples[i]);
        if (samples[i].most > 0 && samples[i].most <= 110) {
            check_bits(&m);
            check_host(&m, &samples[i]);
            check_ebe(&m, &samples[i]);
        }
        free_model(&m);
    }
}

/* Cells are no wider than the thick layers, which takes 78 iterations; wider cells, chosen only by
 * proportions, would take 134. */
static void test_sheets(void)
{
    const sample of = {.name = "sheets",
                       .part = {.n = {24, 8, 24}, .layers = 12.0},
                       .pattern = sheets,
                       .contrast = 1e9};
    enum { MOST = 100 };
    model m;
    context = of.name;
    make_model(&m, &of);
    double *u = new_doubles(m.n);
    const hx_pcg_result result = solve_once(&device, &m, "multigrid", "otf", 1e-8, u);
    CHECK(result.reason == HX_PCG_CONVERGED);
    CHECK_MSG(result.iterations <= MOST, "%d iterations", result.iterations);
    free(u);
    free_model(&m);
}

/* Units and position change results only by rounding. */
static void test_units(void)
{
    static const struct {
        double scale, offset, young;
    } unit[] = {{1.0, 0.0, 1.0}, {1e-6, 0.0, 2.1e11}, {1e6, 0.0, 1e-3}, {1.0, 1e6, 2.1e5}};
    int first = 0;
    context = "units";
    for (int i = 0; i < 4; i++) {
        const sample s = {.name = "units",
                          .part = {.n = {14, 6, 8},
                                   .distort = 0.15,
                                   .scale = unit[i].scale,
                                   .offset = unit[i].offset},
                          .pattern = beams,
                          .contrast = 1e3,
                          .young = unit[i].young};
        model m;
        make_model(&m, &s);
        double *u = new_doubles(m.n);
        const hx_pcg_result result = solve_once(&device, &m, "multigrid", "otf", 1e-8, u);
        if (i == 0) first = result.iterations;
        CHECK(result.reason == HX_PCG_CONVERGED);
        CHECK_MSG(abs(result.iterations - first) <= allowed(&s, first),
                  "edge %g at %g: %d iterations, not %d", unit[i].scale, unit[i].offset,
                  result.iterations, first);
        printf("edge %g at %g, E = %g: %d iterations\n", unit[i].scale, unit[i].offset,
               unit[i].young, result.iterations);
        free(u);
        free_model(&m);
    }
}

/* The iteration count is nearly independent of the mesh size. */
static void test_growth(int quick)
{
    int before = 0;
    context = "growth";
    for (int n = 8; n <= (quick ? 16 : 32); n *= 2) {
        const sample s = {
            .name = "growth", .part = {.n = {n, n, n}}, .pattern = solid, .contrast = 1.0};
        model m;
        make_model(&m, &s);
        double *u = new_doubles(m.n);
        const hx_pcg_result result = solve_once(&device, &m, "multigrid", "otf", 1e-8, u);
        CHECK(result.reason == HX_PCG_CONVERGED);
        CHECK_MSG(result.iterations <= 40, "%d^3: %d iterations", n, result.iterations);
        CHECK_MSG(before == 0 || 2 * result.iterations <= 3 * before, "%d^3: %d iterations, %d", n,
                  result.iterations, before);
        printf("%d^3: %d iterations\n", n, result.iterations);
        before = result.iterations;
        free(u);
        free_model(&m);
    }
}

/* Largest difference between the results of two preconditioners for the same residual, relative to
 * the largest entry. */
static double apart(fixture_solver *a, fixture_solver *b, const model *m, int kind)
{
    double *r = new_doubles(m->n), *x = new_doubles(m->n), *y = new_doubles(m->n);
    double off = 0.0, size = 0.0;
    fill_residual(m, kind, r);
    apply(a, m, r, x);
    apply(b, m, r, y);
    for (size_t k = 0; k < m->n; k++) {
        test_worst(&off, fabs(x[k] - y[k]));
        test_worst(&size, fabs(y[k]));
    }
    free(r);
    free(x);
    free(y);
    return off / size;
}

/* Number of cells whose contributions use mean strains. */
static int64_t count_means(const hx_multigrid *mg)
{
    const size_t n_cell = (size_t)mg->mesh.n_cell;
    uint8_t *const of = calloc(n_cell, 1);
    int64_t n = 0;
    if (!of) abort();
    if (mg->mesh.d_mean) CHECK_OK(device.ops->download(&device, of, mg->mesh.d_mean, n_cell));
    for (size_t k = 0; k < n_cell; k++) n += (of[k] & HX_MG_IS_MEAN) != 0;
    free(of);
    return n;
}

/* Nodes of the first coarse grid that are not corrected: those that the restriction reaches from
 * marked nodes, which K couples with a held node, and from springs. Returns the number of marks. */
static int64_t check_marks(const fixture_solver *s, const model *m)
{
    const hx_problem *const p = &m->problem;
    const hx_multigrid *const mg = s->pc.impl;
    const size_t n_row = HX_MG_DOF * (size_t)mg->level[0].n_node;
    double *zero = new_doubles(m->n), *d_zero = fixture_put(&device, m->n, zero);
    float *mark = calloc(m->n, sizeof *mark), *b = calloc(n_row, sizeof *b), *d_mark;
    uint8_t *held = calloc(n_row, 1);
    int64_t n = 0, n_held = 0;
    if (!mark || !b || !held) abort();
    for (int64_t e = 0; e < m->mesh.n_elem; e++) {
        const int32_t *const node = m->mesh.conn + 8 * e;
        int any = 0;
        for (int c = 0; c < 8; c++) any |= p->supports.fixed[node[c]];
        for (int c = 0; any && c < 24; c++) mark[3 * node[c / 3] + c % 3] = 1.0f;
    }
    for (int64_t k = 0; k < p->springs.n; k++) mark[p->springs.dof[k]] = 1.0f;
    for (size_t k = 0; k < m->n; k++) n += mark[k] > 0.0f;
    CHECK_OK(hx_device_put(&device, &d_mark, mark, m->n * sizeof *mark));
    CHECK_OK(mg->ops->transfer->mesh_restrict(&device, &mg->mesh, d_zero, d_mark, &mg->level[0]));
    CHECK_OK(device.ops->download(&device, b, mg->level[0].d_b, n_row * sizeof *b));
    CHECK_OK(device.ops->download(&device, held, mg->level[0].d_held, n_row / HX_MG_DOF));
    for (size_t a = 0; a < n_row / HX_MG_DOF; a++) {
        const float *const of = b + HX_MG_DOF * a;
        n_held += held[a];
        CHECK(held[a] == (of[0] != 0.0f || of[1] != 0.0f || of[2] != 0.0f));
    }
    CHECK_MSG(n_held > 0 && (n_held < mg->level[0].n_node || p->springs.n > 0), "%lld nodes held",
              (long long)n_held);
    device.ops->release(&device, d_mark);
    device.ops->release(&device, d_zero);
    free(zero);
    free(mark);
    free(b);
    free(held);
    return n;
}

/* Checks few marks, many marks, and few marks on a mesh without node lists. */
static void test_marks(void)
{
    const sample of = {
        .name = "marks", .part = {.n = {36, 36, 36}}, .pattern = solid, .contrast = 1.0};
    const fixture_settings settings = settings_of(&device, "multigrid", "otf", 1e-8);
    model m;
    context = of.name;
    make_model(&m, &of);
    const int64_t n_dof = (int64_t)m.n;
    m.problem.springs.dof = calloc(m.n, sizeof(int64_t));
    m.problem.springs.stiffness = new_doubles(m.n);
    if (!m.problem.springs.dof) abort();
    for (int i = 0; i < 3; i++) {
        fixture_solver s;
        m.problem.springs.n = i == 0 ? 0 : i == 1 ? n_dof : 9;
        for (int64_t k = 0; k < m.problem.springs.n; k++) {
            m.problem.springs.dof[k] = i == 1 ? k : n_dof - 40 + 4 * k;
            m.problem.springs.stiffness[k] = 1.0;
        }
        CHECK_OK(fixture_solver_create(&s, &device, &m.problem, &settings));
        if (i == 2) hx_mesh_free_lists(&m.mesh);
        CHECK_OK(hx_operator_set_modulus(&s.op, m.modulus));
        CHECK_OK(hx_precond_setup(&s.pc));
        const hx_multigrid *const mg = s.pc.impl;
        CHECK(hx_mg_restores(mg));
        const int64_t n = check_marks(&s, &m);
        printf("%lld marks, %lld cells\n", (long long)n, (long long)mg->mesh.n_cell);
        CHECK((12 * n <= 8 * HX_MG_DOF * 4 * mg->mesh.n_cell) == (i != 1));
        fixture_solver_free(&s);
    }
    free_model(&m);
}

/* After a change of the design, the preconditioner is equivalent to one created for it, up to the
 * convergence of the power iterations. Any data left over from the old design on some level would
 * cause errors of the size of the contrast. */
static void test_other_design(double contrast)
{
    const sample s = {.name = "design",
                      .part = {.n = {23, 10, 11}, .distort = 0.1}, /* three coarse grids */
                      .pattern = solid,
                      .contrast = contrast};
    const fixture_settings settings = settings_of(&device, "multigrid", "otf", 1e-8);
    fixture_solver used, fresh;
    model m;
    context = "another design";
    make_model(&m, &s);
    double *u = new_doubles(m.n);
    start(&used, &device, &m, &settings);
    const hx_multigrid *const mg = used.pc.impl;
    CHECK(!mg->mesh.takes_means);
    const int before = solve(&used, &m, 0, u).iterations;
    set_design(&m, beams, contrast);
    CHECK_OK(hx_operator_set_modulus(&used.op, m.modulus));
    CHECK_OK(hx_precond_setup(&used.pc));
    CHECK_MSG(before <= 20, "%d iterations of a solid part", before);
    CHECK(mg->mesh.takes_means == (mg->mesh.d_mean != NULL));
    const int64_t n_mean = count_means(mg);
    printf("%lld cells with mean strains\n", (long long)n_mean);
    CHECK((n_mean > 0) == (mg->mesh.d_mean != NULL)); /* some cells contain a single material */
    start(&fresh, &device, &m, &settings);
    if (mg->mesh.d_mean) CHECK_OK(hx_precond_setup(&fresh.pc)); /* with mean strains too */
    const double rough = apart(&used, &fresh, &m, 1), smooth = apart(&used, &fresh, &m, 4);
    const int here = solve(&used, &m, 0, u).iterations, there = solve(&fresh, &m, 0, u).iterations;
    printf("another design, contrast %g: %d iterations, %d with a new preconditioner; M differs by "
           "%.1e, %.1e\n",
           contrast, here, there, rough, smooth);
    CHECK_MSG(abs(here - there) <= 1 + allowed(&s, there),
              "%d iterations, %d with a new preconditioner", here, there);
    /* one solve with many iterations disables mean strains permanently */
    for (int i = 0; i < 2; i++) {
        CHECK_OK(hx_precond_setup(&used.pc));
        CHECK(mg->mesh.takes_means == (here <= 20 && mg->mesh.d_mean != NULL));
    }
    const double most = contrast > 1e4 ? 5e-2 : 5e-3;
    CHECK_MSG(rough <= most && smooth <= most, "apart by %g, %g", rough, smooth);
    fixture_solver_free(&used);
    fixture_solver_free(&fresh);
    free(u);
    free_model(&m);
}

/* A mesh of fewer than 32 cells does not use mean strains; a longer one does. */
static void test_few_cells(void)
{
    const fixture_settings settings = settings_of(&device, "multigrid", "otf", 1e-8);
    for (int i = 0; i < 2; i++) {
        const sample s = {.name = "few cells",
                          .part = {.n = {i == 0 ? 12 : 20, 16, 8}, .distort = 0.1},
                          .pattern = solid,
                          .contrast = 10.0};
        fixture_solver used;
        model m;
        context = s.name;
        make_model(&m, &s);
        double *u = new_doubles(m.n);
        start(&used, &device, &m, &settings);
        const hx_multigrid *const mg = used.pc.impl;
        const int64_t n_cell = mg->mesh.n_cell;
        CHECK_MSG((n_cell >= 32) == (i == 1), "%lld cells", (long long)n_cell);
        const int count = solve(&used, &m, 0, u).iterations;
        CHECK_MSG(count <= 20, "%d iterations", count);
        CHECK_OK(hx_precond_setup(&used.pc));
        CHECK(mg->mesh.takes_means == (i == 1 && mg->mesh.d_mean != NULL));
        CHECK((count_means(mg) > 0) == (i == 1 && mg->mesh.d_mean != NULL));
        fixture_solver_free(&used);
        free(u);
        free_model(&m);
    }
}

/* If a design has floating components, the next design is searched for them; the search ends with a
 * design that has none. */
static void test_floating_components(void)
{
    const sample s = {.name = "floating components",
                      .part = {.n = {12, 3, 9}},
                      .pattern = islands,
                      .contrast = 1e9};
    const fixture_settings settings = settings_of(&device, "multigrid", "otf", 1e-8);
    static const pattern design[] = {islands, islands, solid, solid};
    static const int most[] = {96, 60, 16, 16};
    fixture_solver used;
    model m;
    context = "floating components";
    make_model(&m, &s);
    double *u = new_doubles(m.n);
    start(&used, &device, &m, &settings);
    for (int i = 0; i < 4; i++) {
        set_design(&m, design[i], 1e9);
        CHECK_OK(hx_operator_set_modulus(&used.op, m.modulus));
        CHECK_OK(hx_precond_setup(&used.pc));
        CHECK((n_deflation(&used) > 0) == (i == 1));
        const hx_pcg_result result = solve(&used, &m, 0, u);
        CHECK(result.reason == HX_PCG_CONVERGED);
        CHECK_MSG(result.iterations <= most[i], "design %d: %d iterations", i, result.iterations);
        CHECK((n_deflation(&used) > 0) == (i < 2));
        printf("floating components, design %d: %d iterations, %d columns\n", i + 1,
               result.iterations, n_deflation(&used));
    }
    fixture_solver_free(&used);
    free(u);
    free_model(&m);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    CHECK_OK(hx_device_open(&host, hx_device_find("cpu")));
    test_sheets();
    test_samples();
    test_units();
    test_growth(quick);
    test_floating_components();
    test_marks();
    test_other_design(10.0);
    test_other_design(1e9);
    test_few_cells();
    hx_device_close(&host);
    hx_device_close(&device);
    TEST_END();
}
