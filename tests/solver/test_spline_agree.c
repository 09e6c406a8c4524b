/* Splines on a device against those on the host: pattern and values of K, its estimated bytes,
 * energies, diagonals and body loads, solutions with each operator that stores a matrix and each
 * preconditioner, five designs; bitwise equal results of two runs and for any buffer size. The
 * parts have several patches, of different degrees, glued, with weights.
 *
 *     test_spline_agree [cpu | cuda] [quick]
 *
 * quick: only K and sums, for the first three parts. */
#include "core/operator/assembled.h"
#include "tests/lib/fill_sample.h"
#include "tests/lib/spline_model.h"

static hx_device device, host;

typedef struct part {
    const char *name;
    int n_patch, degree[3], n_span[3], twice[3], is_rational;
    int other;  /* degree of the second patch along the row; 0: the same */
    int solves; /* 0: only K and sums */
} part;

static const part parts[] = {
    {"degree 2, weights", 2, {2, 2, 2}, {3, 2, 3}, {1, 0, 0}, 1, 0, 1},
    {"degrees 2 1 3 and 4 1 3", 2, {2, 1, 3}, {3, 3, 2}, {0, 0, 1}, 0, 4, 1},
    {"degree 1", 2, {1, 1, 1}, {4, 3, 3}, {0, 0, 0}, 0, 0, 1},
    {"degree 3, weights", 2, {3, 3, 3}, {2, 2, 2}, {0, 1, 0}, 1, 0, 1},
    {"degree 4", 1, {4, 4, 4}, {2, 1, 2}, {0, 0, 0}, 0, 0, 0},
    {"degree 2, long", 2, {2, 2, 2}, {3, 2, 11}, {0, 0, 4}, 1, 0, 0},
};

/* A model must not move, because its parts point to each other. */
typedef struct loaded {
    spline_model s;
    hx_problem problem;
    double *rho; /* [n_elem] */
} loaded;

static void bend(const double x[3], double y[3])
{
    y[0] = x[0] + 0.1 * x[1] * x[2] - 0.05 * x[0] * x[1];
    y[1] = 1.2 * x[1] + 0.15 * x[0] * x[2];
    y[2] = 0.8 * x[2] - 0.1 * x[0] * x[1];
}

static int make_row(spline_model *s, const part *p)
{
    const double origin[3] = {1.0, 0.0, 0.0};
    int degree[3];
    memset(s, 0, sizeof *s);
    if (box_row(&s->spline, p->n_patch, p->degree, p->n_span, p->twice) < 0) return HX_EINTERNAL;
    memcpy(degree, p->degree, sizeof degree);
    if (p->other > 0) {
        hx_spline_patch *const last = &s->spline.patch[1];
        degree[0] = p->other;
        for (int d = 0; d < 3; d++) hx_knots_free(&last->axis[d]);
        free(last->point);
        *last = (hx_spline_patch){0};
        if (box_patch(last, degree, p->n_span, p->twice, origin) < 0) return HX_EINTERNAL;
    }
    for (int k = 0; k < p->n_patch; k++)
        for (int64_t i = 0; i < hx_spline_patch_points(&s->spline.patch[k]); i++) {
            double y[3];
            bend(s->spline.patch[k].point + 3 * i, y);
            memcpy(s->spline.patch[k].point + 3 * i, y, sizeof y);
        }
    if (p->is_rational) HX_TRY(spline_model_weigh(&s->spline));
    return spline_model_finish(s);
}

/* Held at its start, on springs below, pulled, with weight and rotation. */
static int make_part(loaded *l, const part *p)
{
    const hx_support_spec support = {"patch1:u-", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load[3] = {
        {p->n_patch > 1 ? "patch2:u+" : "patch1:u+", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
        {NULL, "test", HX_LOAD_GRAVITY, {0.0, 0.1, -0.2}, 1},
        {NULL, "test", HX_LOAD_CENTRIFUGAL, {0.0, 1.0, 0.2}, 1, {0}, {0.3, 0.1, 0.2}, 0.4}};
    const hx_spring_spec spring = {"patch1:w-", "test", {0.2, 0.1, 0.3}, HX_SPRING_AREA};
    hx_problem_params params = fixture_problem();
    uint64_t state = 11;
    HX_TRY(make_row(&l->s, p));
    params.density = 1.0;
    params.support = &support, params.n_support = 1;
    params.load = load, params.n_load = 3;
    params.spring = &spring, params.n_spring = 1;
    params.space = &l->s.space;
    HX_TRY(hx_problem_create(&l->problem, &l->s.mesh, &params));
    HX_TRY(hx_alloc(&l->rho, (size_t)l->s.mesh.n_elem, sizeof *l->rho, "densities"));
    for (int64_t e = 0; e < l->s.mesh.n_elem; e++) l->rho[e] = fixture_uniform(&state, 0.2, 1.0);
    return HX_OK;
}

static void free_part(loaded *l)
{
    free(l->rho);
    hx_problem_free(&l->problem);
    spline_model_free(&l->s);
}

static double difference(size_t n, const double *expected, const double *found)
{
    double largest = 0.0;
    for (size_t k = 0; k < n; k++) test_worst(&largest, fabs(expected[k]));
    return test_max_difference(n, expected, found) / largest;
}

static const hx_operator_kind *find(const hx_device *dev, const char *name)
{
    return hx_operator_kind_find(dev->ops->name, name);
}

/* --- K, energies, diagonals, forces --- */

static void check_bytes(const hx_operator *op, const hx_space *space)
{
    const hx_assembled *const a = op->op_kind->assembled(op->state);
    const size_t expected = op->op_kind->space_bytes(space, op->layout);
    const size_t held = hx_device_pattern_bytes(&a->pattern) +
                        hx_matrix_bytes(&a->matrix, op->dev) +
                        op->dev->ops->matrix->fill_bytes(a->fill);
    const hx_matrix_ops *const ops = op->dev->ops->matrix;
    const int reads = !ops->fill_reads_slots || ops->fill_reads_slots(a->fill);
    CHECK((a->pattern.d_slot != NULL) == reads && (a->matrix.pattern.d_slot != NULL) == reads);
    CHECK_MSG(held <= expected && (double)expected <= 1.05 * (double)held,
              "%s: %zu bytes, %zu were announced", op->op_kind->name, held, expected);
}

/* The rows of K of an operator kind for the densities. */
static void take_rows(const loaded *l, hx_device *dev, const char *op_name, hx_layout layout,
                      hx_matrix_rows *rows)
{
    const hx_operator_kind *const op_kind = find(dev, op_name);
    hx_operator op;
    CHECK_OK(hx_operator_create(&op, dev, op_kind, layout, &l->problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, l->rho));
    check_bytes(&op, &l->s.space);
    const hx_matrix *const m = &op_kind->assembled(op.state)->matrix;
    CHECK_OK(dev->ops->matrix->rows(dev, m, 0, l->s.space.n_point, rows));
    hx_operator_free(&op);
}

static void check_rows(const loaded *l, const char *name, const char *op, hx_layout layout,
                       const char *host_op)
{
    hx_matrix_rows a = {0}, b = {0}, again = {0};
    take_rows(l, &host, host_op, HX_LAYOUT_ROWMAJOR, &a);
    take_rows(l, &device, op, layout, &b);
    take_rows(l, &device, op, layout, &again);
    const size_t n_entry = (size_t)a.ptr[a.n_row], n = 9 * n_entry;
    CHECK(a.n_row == b.n_row && memcmp(a.ptr, b.ptr, (size_t)(a.n_row + 1) * sizeof *a.ptr) == 0 &&
          memcmp(a.col, b.col, n_entry * sizeof *a.col) == 0);
    if (a.ptr[a.n_row] == b.ptr[b.n_row]) {
        const double off = difference(n, a.value, b.value);
        CHECK_MSG(off <= 1e-13, "%s, K of %s %s: %.3g", name, op, hx_layout_name(layout), off);
        CHECK(memcmp(b.value, again.value, n * sizeof *b.value) == 0);
    }
    hx_matrix_rows_free(&a);
    hx_matrix_rows_free(&b);
    hx_matrix_rows_free(&again);
}

/* The rows of the full K for the moduli, with a buffer of the given size. */
static void take_buffer(const loaded *l, int c, size_t bytes, hx_matrix_rows *rows)
{
    const hx_matrix_ops *const ops = device.ops->matrix;
    const hx_pattern_spec pattern_spec = {.part = HX_PART_FULL};
    const hx_matrix_spec spec = {HX_FORMAT_BSR, HX_PART_FULL, 0, c};
    hx_device_pattern pattern = {0};
    hx_matrix m = {0};
    fill_sample sample;
    void *fill = NULL;
    CHECK_OK(fill_sample_create(&sample, &device, &l->s.space, c));
    sample.input.buffer = bytes;
    CHECK_OK(ops->pattern(&device, &sample.input.incidence, &pattern_spec, &pattern, NULL));
    CHECK_OK(hx_matrix_create(&m, &device, &pattern, &spec));
    CHECK_OK(ops->fill_create(&fill, &device, HX_FILL_GATHER, &m, &sample.input));
    CHECK_OK(ops->fill_run(fill));
    CHECK_OK(ops->rows(&device, &m, 0, pattern.n_row, rows));
    ops->fill_free(fill);
    hx_matrix_free(&m, &device);
    hx_device_pattern_free(&pattern, &device);
    fill_sample_free(&sample);
}

/* The results do not depend on how much is computed at a time. */
static void check_buffers(const loaded *l, const char *name, int c)
{
    hx_matrix_rows a = {0}, b = {0};
    take_buffer(l, c, 0, &a);
    CHECK(a.n_row == l->s.space.n_point);
    for (size_t bytes = 1; bytes <= (size_t)1 << 24; bytes <<= 12) {
        take_buffer(l, c, bytes, &b);
        const size_t n = (size_t)(a.ptr[a.n_row] * c * c) * sizeof *a.value;
        CHECK_MSG(b.n_row == a.n_row && memcmp(a.value, b.value, n) == 0,
                  "%s: differs bitwise with a buffer of %zu bytes", name, bytes);
        hx_matrix_rows_free(&b);
    }
    hx_matrix_rows_free(&a);
}

/* The rows of K of heat conduction for the densities. */
static void take_heat(const loaded *l, hx_device *dev, hx_part half, hx_matrix_rows *rows)
{
    const hx_operator_kind *const op_kind = find(dev, "bsr");
    const hx_matrix_spec spec = {HX_FORMAT_BSR, half, 0, 1};
    void *state = NULL;
    hx_operator op;
    CHECK_OK(hx_operator_create(&op, dev, op_kind, hx_layout_first(op_kind), &l->problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, l->rho));
    CHECK_OK(hx_assembled_setup(&state, dev, &op.model, &l->s.mesh, &spec));
    if (state) {
        CHECK_OK(hx_assembled_update(state));
        CHECK_OK(dev->ops->matrix->rows(dev, &hx_assembled_of(state)->matrix, 0, l->s.space.n_point,
                                        rows));
        hx_assembled_teardown(state);
    }
    hx_operator_free(&op);
}

static void check_heat(const loaded *l, const char *name, hx_part half)
{
    hx_matrix_rows a = {0}, b = {0};
    take_heat(l, &host, half, &a);
    take_heat(l, &device, half, &b);
    CHECK(a.n_row == b.n_row && a.n_row > 0 && a.ptr[a.n_row] == b.ptr[b.n_row]);
    const double off = difference((size_t)a.ptr[a.n_row], a.value, b.value);
    CHECK_MSG(off <= 1e-13, "%s, K of heat: %.3g", name, off);
    hx_matrix_rows_free(&a);
    hx_matrix_rows_free(&b);
}

typedef struct sums {
    double *energy, *diagonal, *block, *force, *work;
} sums;

static void free_sums(sums *s)
{
    free(s->energy);
    free(s->diagonal);
    free(s->block);
    free(s->force);
    free(s->work);
}

/* Sums at points and in cells, computed by a device. */
static void take_sums(const loaded *l, hx_device *dev, sums *s)
{
    const size_t n = 3 * (size_t)l->s.space.n_point, n_elem = (size_t)l->s.mesh.n_elem;
    const hx_operator_kind *const op_kind = find(dev, "bsr");
    const hx_body_field *const field = hx_problem_body(&l->problem, 0);
    hx_operator op;
    uint64_t state = 3;
    double *const u = malloc(n * sizeof *u), *const zero = calloc(n_elem, sizeof *zero);
    s->energy = malloc(n_elem * sizeof(double)), s->work = malloc(n_elem * sizeof(double));
    s->diagonal = malloc(n * sizeof(double)), s->force = malloc(n * sizeof(double));
    s->block = malloc(2 * n * sizeof(double));
    if (!u || !zero || !s->energy || !s->diagonal || !s->block || !s->force || !s->work) abort();
    for (size_t k = 0; k < n; k++) u[k] = fixture_uniform(&state, -1.0, 1.0);
    CHECK_OK(hx_operator_create(&op, dev, op_kind, hx_layout_first(op_kind), &l->problem, 0));
    CHECK_OK(hx_operator_set_modulus(&op, l->rho));
    double *const d_u = fixture_put(dev, n, u), *const d_rho = fixture_put(dev, n_elem, l->rho);
    double *const d_elem = fixture_put(dev, n_elem, NULL), *const d_n = fixture_put(dev, n, NULL);
    double *const d_block = fixture_put(dev, 2 * n, NULL);
    double *const d_f = fixture_put(dev, n, l->problem.cases.force[0]);
    CHECK_OK(hx_operator_energy(&op, d_u, d_elem));
    fixture_get(dev, n_elem, s->energy, d_elem);
    CHECK_OK(dev->ops->element->diagonal(dev, &op.model, d_n));
    fixture_get(dev, n, s->diagonal, d_n);
    CHECK_OK(dev->ops->element->block_diagonal(dev, &op.model, d_block));
    fixture_get(dev, 2 * n, s->block, d_block);
    CHECK_OK(dev->ops->body->force(dev, &op.model, field, d_rho, d_f, d_f));
    fixture_get(dev, n, s->force, d_f);
    CHECK_OK(dev->ops->upload(dev, d_elem, zero, n_elem * sizeof *zero));
    CHECK_OK(dev->ops->body->work(dev, &op.model, field, 1.5, d_rho, d_u, d_elem));
    fixture_get(dev, n_elem, s->work, d_elem);
    double *const owned[] = {d_u, d_rho, d_elem, d_n, d_block, d_f};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) dev->ops->release(dev, owned[i]);
    hx_operator_free(&op);
    free(u);
    free(zero);
}

static void check_sums(const loaded *l, const char *name)
{
    const size_t n = 3 * (size_t)l->s.space.n_point, n_elem = (size_t)l->s.mesh.n_elem;
    sums a, b, again;
    take_sums(l, &host, &a);
    take_sums(l, &device, &b);
    take_sums(l, &device, &again);
    const double off[5] = {difference(n_elem, a.energy, b.energy),
                           difference(n, a.diagonal, b.diagonal),
                           difference(2 * n, a.block, b.block), difference(n, a.force, b.force),
                           difference(n_elem, a.work, b.work)};
    for (int i = 0; i < 5; i++) CHECK_MSG(off[i] <= 1e-12, "%s, sums, %d: %.3g", name, i, off[i]);
    CHECK(memcmp(b.energy, again.energy, n_elem * sizeof *b.energy) == 0);
    CHECK(memcmp(b.block, again.block, 2 * n * sizeof *b.block) == 0);
    CHECK(memcmp(b.force, again.force, n * sizeof *b.force) == 0);
    CHECK(memcmp(b.work, again.work, n_elem * sizeof *b.work) == 0);
    free_sums(&a);
    free_sums(&b);
    free_sums(&again);
}

/* --- solutions --- */

static int solve(const loaded *l, hx_device *dev, const hx_operator_kind *op_kind, hx_layout layout,
                 const char *precond, double *u)
{
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    settings.op_kind = op_kind;
    settings.layout = layout;
    settings.precond = precond;
    CHECK_OK(fixture_solver_create(&s, dev, &l->problem, &settings));
    CHECK_OK(hx_analysis_solve_density(&s.analysis, l->rho, 3.0));
    CHECK(s.analysis.record.reason == HX_PCG_CONVERGED);
    CHECK_OK(hx_analysis_point_displacement(&s.analysis, 0, u));
    const int iterations = s.analysis.record.pcg_iterations;
    fixture_solver_free(&s);
    return iterations;
}

static double tolerance_of(const hx_operator_kind *op_kind)
{
    return op_kind->error > 0.0 ? 1e-5 : 1e-10;
}

/* Every preconditioner; u: scratch. */
static void check_preconds(const loaded *l, const hx_operator_kind *op_kind, hx_layout layout,
                           const double *expected, double *u)
{
    const size_t n = 3 * (size_t)l->s.space.n_point;
    const hx_precond_kind *kind;
    for (size_t i = 0; (kind = fixture_next_precond(&device, op_kind, HX_PRECISION_DOUBLE, &i));) {
        solve(l, &device, op_kind, layout, kind->name, u);
        CHECK_MSG(difference(n, expected, u) <= tolerance_of(op_kind), "%s %s, %s: %.3g",
                  op_kind->name, hx_layout_name(layout), kind->name, difference(n, expected, u));
    }
}

/* Each operator of the device with every preconditioner, and with multigrid in as many iterations;
 * rounded operators with a wider tolerance. */
static void check_operators(const loaded *l, const char *name)
{
    const size_t n = 3 * (size_t)l->s.space.n_point;
    double *const u = malloc(3 * n * sizeof *u), *const again = u + n, *const expected = again + n;
    int n_operator = 0;
    if (!u) abort();
    solve(l, &host, find(&host, "csr"), HX_LAYOUT_ROWMAJOR, "jacobi", expected);
    const int on_host = solve(l, &host, find(&host, "bsr"), HX_LAYOUT_ROWMAJOR, "multigrid", u);
    CHECK(difference(n, expected, u) <= 1e-10);
    /* both smooth with blocks of points; a device may solve another level directly */
    const int usual = solve(l, &device, find(&device, "bsr"), HX_LAYOUT_ROWMAJOR, "multigrid", u);
    CHECK_MSG(abs(usual - on_host) <= 2 + on_host / 20, "%s: %d iterations, %d on the host", name,
              usual, on_host);
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *const op_kind = hx_operator_kinds[i];
        if (strcmp(op_kind->device, device.ops->name) != 0 || !op_kind->space_bytes) continue;
        for (int k = 0; k < HX_N_LAYOUT; k++) {
            const hx_layout layout = (hx_layout)k;
            if (!(op_kind->layouts & HX_LAYOUT_BIT(layout))) continue;
            n_operator++;
            const int first = solve(l, &device, op_kind, layout, "multigrid", u);
            const double off = difference(n, expected, u);
            CHECK_MSG(off <= tolerance_of(op_kind), "%s, %s %s: %.3g", name, op_kind->name,
                      hx_layout_name(layout), off);
            CHECK_MSG(abs(first - usual) <= 1 + usual / 50, "%s, %s: %d iterations, %d by bsr",
                      name, op_kind->name, first, usual);
            CHECK(solve(l, &device, op_kind, layout, "multigrid", again) == first);
            CHECK_MSG(memcmp(u, again, n * sizeof *u) == 0, "%s, %s: two runs differ", name,
                      op_kind->name);
            check_preconds(l, op_kind, layout, expected, again);
        }
    }
    printf("%s: %d operators, %lld points, %d iterations of multigrid\n", name, n_operator,
           (long long)l->s.space.n_point, usual);
    CHECK(n_operator >= 3);
    free(u);
}

/* --- heat --- */

/* Held at its start, heated through a film at its end, with a source. */
static int make_heat(const loaded *l, const part *p, hx_problem *problem)
{
    const hx_support_spec support = {"patch1:u-", "test", HX_FIX_X, {20.0, 0.0, 0.0}};
    const hx_convection_spec film = {.set = p->n_patch > 1 ? "patch2:u+" : "patch1:u+",
                                     .origin = "test",
                                     .coefficient = 0.5,
                                     .ambient = 120.0};
    hx_problem_params params = fixture_problem();
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 2.0;
    params.space = &l->s.space;
    params.support = &support, params.n_support = 1;
    params.convection = &film, params.n_convection = 1;
    return hx_problem_create(problem, &l->s.mesh, &params);
}

typedef struct heated {
    double *t, *diagonal, *energy; /* [n_point], [n_point], [n_elem] */
    int iterations;
} heated;

static heated heat(const loaded *l, const hx_problem *problem, hx_device *dev, const char *op,
                   const char *precond)
{
    const size_t n = (size_t)l->s.space.n_point, n_elem = (size_t)l->s.mesh.n_elem;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    heated h = {malloc(n * sizeof(double)), malloc(n * sizeof(double)),
                malloc(n_elem * sizeof(double)), 0};
    if (!h.t || !h.diagonal || !h.energy) abort();
    settings.op_kind = hx_operator_kind_of(find(dev, op), 1);
    settings.layout = hx_layout_first(settings.op_kind);
    settings.precond = precond;
    settings.pcg.tolerance = 1e-12;
    CHECK_OK(fixture_solver_create(&s, dev, problem, &settings));
    CHECK_OK(hx_analysis_solve_density(&s.analysis, l->rho, 3.0));
    CHECK(s.analysis.record.reason == HX_PCG_CONVERGED);
    h.iterations = s.analysis.record.pcg_iterations;
    CHECK_OK(hx_analysis_point_displacement(&s.analysis, 0, h.t));
    double *const d_t = fixture_put(dev, n, h.t), *const d_diag = fixture_put(dev, n, NULL);
    double *const d_energy = fixture_put(dev, n_elem, NULL);
    CHECK_OK(dev->ops->conduction->diagonal(dev, &s.op.model, d_diag));
    CHECK_OK(dev->ops->conduction->energy(dev, &s.op.model, d_t, d_energy));
    fixture_get(dev, n, h.diagonal, d_diag);
    fixture_get(dev, n_elem, h.energy, d_energy);
    dev->ops->release(dev, d_t);
    dev->ops->release(dev, d_diag);
    dev->ops->release(dev, d_energy);
    fixture_solver_free(&s);
    return h;
}

static void free_heated(heated *h)
{
    free(h->t);
    free(h->diagonal);
    free(h->energy);
}

/* Temperatures, energies, diagonals and iterations with the device's scalar operators. */
static void check_temperatures(const loaded *l, const part *p)
{
    const size_t n = (size_t)l->s.space.n_point, n_elem = (size_t)l->s.mesh.n_elem;
    hx_problem problem = {0};
    int n_operator = 0;
    CHECK_OK(make_heat(l, p, &problem));
    heated expected = heat(l, &problem, &host, "csr", "multigrid");
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *const scalar = hx_operator_kinds[i]->scalar;
        if (!scalar || !scalar->space_bytes || strcmp(scalar->device, device.ops->name) != 0)
            continue;
        const char *const op = hx_operator_kinds[i]->name;
        n_operator++;
        heated found = heat(l, &problem, &device, op, "multigrid");
        heated plain = heat(l, &problem, &device, op, "jacobi");
        const double off[4] = {difference(n, expected.t, found.t),
                               difference(n, expected.t, plain.t),
                               difference(n, expected.diagonal, found.diagonal),
                               difference(n_elem, expected.energy, found.energy)};
        const double most[4] = {1e-9, 1e-9, 1e-12, 1e-8};
        for (int k = 0; k < 4; k++)
            CHECK_MSG(off[k] <= most[k], "%s, heat by %s, %d: %.3g", p->name, op, k, off[k]);
        CHECK_MSG(abs(found.iterations - expected.iterations) <= 2 + expected.iterations / 20,
                  "%s, heat by %s: %d iterations, %d on the host", p->name, op, found.iterations,
                  expected.iterations);
        free_heated(&found);
        free_heated(&plain);
    }
    CHECK(n_operator > 0);
    printf("%s, heat: %d iterations of multigrid\n", p->name, expected.iterations);
    free_heated(&expected);
    hx_problem_free(&problem);
}

/* Five designs with a tolerance of 1e-12: compliance and densities. */
static double design(const loaded *l, hx_device *dev, double *rho)
{
    fixture_settings settings = fixture_defaults();
    hx_iteration record = {0};
    fixture_solver s;
    settings.op_kind = find(dev, "bsr");
    settings.layout = hx_layout_first(settings.op_kind);
    settings.precond = "multigrid";
    settings.pcg.tolerance = 1e-12;
    CHECK_OK(fixture_solver_create(&s, dev, &l->problem, &settings));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(hx_optimizer_step(&s.opt, &record));
        hx_optimizer_advance(&s.opt);
    }
    CHECK_OK(hx_optimizer_density(&s.opt, rho));
    fixture_solver_free(&s);
    return record.compliance;
}

static void check_design(const loaded *l, const char *name)
{
    const size_t n = (size_t)l->s.mesh.n_elem;
    double *const a = malloc(3 * n * sizeof *a), *const b = a + n, *const again = b + n;
    if (!a) abort();
    const double expected = design(l, &host, a), found = design(l, &device, b);
    CHECK_MSG(fabs(found - expected) <= 1e-9 * fabs(expected), "%s: compliance %.17g, not %.17g",
              name, found, expected);
    CHECK_MSG(test_max_difference(n, a, b) <= 1e-9, "%s: densities differ by %.3g", name,
              test_max_difference(n, a, b));
    CHECK(design(l, &device, again) == found && memcmp(b, again, n * sizeof *b) == 0);
    free(a);
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1);
    CHECK_OK(hx_device_open(&host, hx_device_find("cpu")));
    for (size_t i = 0; i < (quick ? 3 : sizeof parts / sizeof parts[0]); i++) {
        const char *const name = parts[i].name;
        loaded l = {0};
        CHECK_OK(make_part(&l, &parts[i]));
        check_rows(&l, name, "bsr", HX_LAYOUT_ROWMAJOR, "bsr");
        check_rows(&l, name, "bsrsym", HX_LAYOUT_ROWMAJOR, "bsrsym");
        check_buffers(&l, name, 3);
        check_buffers(&l, name, 1);
        check_heat(&l, name, HX_PART_FULL);
        check_heat(&l, name, HX_PART_LOWER);
        check_sums(&l, name);
        if (parts[i].solves && !quick) {
            check_operators(&l, name);
            check_design(&l, name);
            check_temperatures(&l, &parts[i]);
        }
        free_part(&l);
    }
    hx_device_close(&host);
    hx_device_close(&device);
    TEST_END();
}
