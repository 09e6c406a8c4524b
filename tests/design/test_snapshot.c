/* A run that is resumed from an image of another run's state, at any iteration, is bitwise that
 * run: the saved state (optimizer_snapshot.c) is complete. A truncated or damaged image file is
 * refused.
 *
 *     test_snapshot [cpu | cuda] */
#include <sys/stat.h>
#include <unistd.h>

#include "core/multigrid/multigrid_internal.h"
#include "tests/lib/fixture.h"

static hx_device device;

enum { NX = 12, NY = 6, NZ = 6, N_ELEM = NX * NY * NZ, N_DESIGN = 7, N_CASE = 2 };

typedef struct model {
    const hx_filter_kind *filter;
    const hx_precond_kind *precond;
    const hx_update_kind *update; /* NULL: optimality criteria */
    hx_pcg_criterion criterion;
    double beta, penalty_start;
    int gravity, warm, deflation;
    int has_limits;        /* 1: other responses than compliance and volume */
    int has_stresses;      /* 1: limits on stresses by all methods that the update supports */
    const hx_sweep *sweep; /* after the projection; NULL: none */
} model;

/* Every filter meets every preconditioner, in turn with one of these settings; a projection needs
 * a filter with derivatives. */
static const model variants[] = {
    {.criterion = HX_PCG_RELATIVE, .warm = 1},
    {.criterion = HX_PCG_RELATIVE, .beta = 2.0, .penalty_start = 1.0, .warm = 1},
    {.criterion = HX_PCG_RELATIVE, .beta = 1.0, .penalty_start = 1.0, .gravity = 1, .warm = 1},
    {.criterion = HX_PCG_RELATIVE, .gravity = 1, .warm = 1},
    {.criterion = HX_PCG_RELATIVE, .penalty_start = 1.5},
    {.criterion = HX_PCG_COMPLIANCE, .gravity = 1, .warm = 1},
    {.criterion = HX_PCG_COMPLIANCE, .warm = 1}};
enum { N_VARIANT = sizeof variants / sizeof variants[0] };

static const hx_support_spec support = {
    "left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}};
static const hx_load_spec load[3] = {
    {.set = "right",
     .origin = "test",
     .kind = HX_LOAD_TRACTION,
     .value = {0.1, 0.0, -0.3},
     .load_case = 1},
    {.set = "top", .origin = "test", .kind = HX_LOAD_PRESSURE, .value = {0.2}, .load_case = 2},
    {.origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.1, 0.2, -0.4}, .load_case = 2}};

enum { N_LIMIT = 5 };

/* Result of a run: bits of the record and the design. */
typedef struct trace {
    double number[10 + N_LIMIT], kept[2];
    int iterations[N_CASE];
    double density[N_ELEM];
} trace;

static void make_problem(hx_problem *problem, const hx_mesh *mesh, const model *m)
{
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = load;
    params.n_load = m->gravity ? 3 : 2;
    params.density = m->gravity ? 1.5 : 0.0;
    CHECK_OK(hx_problem_create(problem, mesh, &params));
}

/* A deterministic product of the device. */
static const hx_operator_kind *find_deterministic(void)
{
    for (size_t i = 0; hx_operator_kinds[i]; i++)
        if (hx_operator_kinds[i]->deterministic && hx_operator_kinds[i]->apply_single &&
            strcmp(hx_operator_kinds[i]->device, device.ops->name) == 0)
            return hx_operator_kinds[i];
    return NULL;
}

/* Two bars on the support, and floating components between them, which the designs keep for a
 * while. */
static const double *floating_density(const hx_mesh *mesh)
{
    static double rho[N_ELEM];
    for (int e = 0; e < N_ELEM; e++) {
        double x[3];
        hx_cell_centroid(mesh->xyz, mesh->conn + 8 * e, x);
        const int bar = x[2] < 0.2 || x[2] > 0.8,
                  lump = x[2] > 0.35 && x[2] < 0.65 && sin(10.5 * x[0]) * sin(17.0 * x[1]) > 0.3;
        rho[e] = bar || lump ? 1.0 : 0.001;
    }
    return rho;
}

/* 1 if a solve of the last design found floating components. */
static int is_floating(const fixture_solver *s)
{
    return ((const hx_multigrid *)s->pc.impl)->deflation.state.is_on;
}

/* The largest of the compliances, with limits of every kind that keeps something. */
static void set_limits(fixture_settings *settings)
{
    static hx_constraint_spec spec[N_LIMIT];
    spec[0] = (hx_constraint_spec){.kind = hx_response_kind_find("displacement"),
                                   .params = {.set = "right", .of_largest = 1, .load_case = 0},
                                   .max = 20.0,
                                   .min = NAN};
    spec[1] =
        (hx_constraint_spec){.kind = hx_response_kind_find("displacement"),
                             .params = {.set = "top", .direction = {0.0, 0.0, 1.0}, .load_case = 1},
                             .max = 3.0,
                             .min = -3.0};
    spec[2] = (hx_constraint_spec){.kind = hx_response_kind_find("reaction"),
                                   .params = {.set = "left", .load_case = HX_ALL_CASES},
                                   .max = 5.0,
                                   .min = NAN};
    /* by sums and by a Helmholtz equation; an element is a sixth long */
    spec[3] = (hx_constraint_spec){.kind = hx_response_kind_find("local_volume"),
                                   .params = {.radius = 0.4, .load_case = HX_ALL_CASES},
                                   .max = 0.6,
                                   .min = NAN};
    spec[4] = (hx_constraint_spec){.kind = hx_response_kind_find("local_volume"),
                                   .params = {.radius = 1.4, .load_case = HX_ALL_CASES},
                                   .max = 0.5,
                                   .min = NAN};
    settings->optimizer.objective = hx_response_kind_find("worst_compliance");
    settings->optimizer.n_constraint = N_LIMIT;
    settings->optimizer.constraint = spec;
    settings->optimizer.keep_within = 10.0;
}

/* The multipliers change after the fifth design. */
static void set_stresses(fixture_settings *settings)
{
    static hx_constraint_spec spec[2];
    spec[0] = (hx_constraint_spec){.kind = &hx_response_stress,
                                   .params = {.load_case = HX_ALL_CASES, .relaxation = 0.5},
                                   .max = 2.0,
                                   .min = NAN};
    spec[1] = (hx_constraint_spec){
        .kind = &hx_response_stress,
        .params = {.load_case = HX_ALL_CASES, .relaxation = 0.5, .is_lagrangian = 1},
        .max = 1.5,
        .min = NAN};
    settings->optimizer.n_constraint = settings->optimizer.update->judge ? 1 : 2;
    settings->optimizer.constraint = spec;
}

static void open_run(fixture_solver *s, const hx_problem *problem, const model *m)
{
    fixture_settings settings = fixture_defaults();
    settings.design.volume_fraction = 0.4;
    settings.op_kind = find_deterministic();
    CHECK(settings.op_kind != NULL);
    settings.precond = m->precond->name;
    settings.filter = m->filter->name;
    settings.filter_params = (hx_filter_params){.radius = 0.35, .sweep = m->sweep};
    settings.optimizer.update = m->update;
    if (m->has_limits) set_limits(&settings);
    if (m->has_stresses) set_stresses(&settings);
    settings.pcg.criterion = m->criterion;
    settings.pcg.tolerance = hx_pcg_tolerance(m->criterion);
    if (m->deflation) {
        settings.pcg.tolerance = 1e-8;
        settings.density = floating_density(problem->mesh);
    }
    settings.design.beta = fixture_constant(m->beta);
    if (m->penalty_start > 0.0)
        settings.design.penalty = (hx_schedule){
            .value = m->penalty_start, .last = 3.0, .factor = 1.0, .step = 0.5, .every = 2};
    if (m->beta > 0.0)
        settings.design.beta =
            (hx_schedule){.value = m->beta, .last = 16.0, .factor = 2.0, .every = 3};
    CHECK_OK(fixture_solver_create(s, &device, problem, &settings));
    s->analysis.warm_start = m->warm;
    CHECK_OK(hx_analysis_follow(&s->analysis));
    CHECK((s->analysis.d_last != NULL) == m->warm);
}

static void take_trace(fixture_solver *s, hx_iteration record, trace *t)
{
    memset(t, 0, sizeof *t);
    CHECK_OK(hx_optimizer_density(&s->opt, t->density));
    const double number[10] = {record.iteration, record.compliance,   record.volume,
                               record.change,    record.penalty,      record.beta,
                               record.greyness,  record.pcg_residual, record.objective,
                               record.violation};
    memcpy(t->number, number, sizeof number);
    for (int i = 0; i < record.n_response; i++) t->number[10 + i] = record.response[i].value;
    t->kept[0] = s->opt.kept.iteration;
    t->kept[1] = s->opt.kept.objective;
    for (int c = 0; c < N_CASE; c++) t->iterations[c] = record.load_case[c].pcg.iterations;
}

static void step(fixture_solver *s, trace *t)
{
    hx_iteration record;
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    take_trace(s, record, t);
}

/* After the last design, that which is kept: t[0] is the last design, t[1] becomes the kept one. A
 * second analysis differs by the tolerance of PCG. */
static void return_kept(fixture_solver *s, trace *t)
{
    hx_iteration record;
    memset(&t[1], 0, sizeof t[1]);
    if (!s->opt.kept.d_design) return;
    const hx_kept_design kept = s->opt.kept;
    CHECK(kept.iteration > 0 && kept.beta == t[0].number[5] && kept.penalty == t[0].number[4]);
    record = (hx_iteration){.violation = 0.0, .penalty = kept.penalty, .beta = kept.beta};
    CHECK(!hx_optimizer_keeps_better(&s->opt, &record));
    record.violation = 11.0;
    CHECK(hx_optimizer_keeps_better(&s->opt, &record));
    record.penalty += 0.5;
    CHECK(!hx_optimizer_keeps_better(&s->opt, &record));
    record.penalty = kept.penalty;
    CHECK_OK(hx_optimizer_return_result(&s->opt, &record, &record));
    CHECK(record.iteration == kept.iteration && record.change == kept.change);
    CHECK_REL(record.objective, kept.objective, 1e-3);
    take_trace(s, record, &t[1]);
}

/* Resumes the run from the image and compares each design with the uninterrupted run. */
static void go_on(const hx_problem *problem, const model *m, hx_snapshot *image, int done,
                  const trace *want)
{
    fixture_solver s;
    trace t;
    open_run(&s, problem, m);
    hx_snapshot_begin(image, HX_SNAPSHOT_LOAD);
    CHECK_OK(hx_optimizer_snapshot(&s.opt, image));
    CHECK_OK(hx_snapshot_check_all(image));
    for (int i = done; i < N_DESIGN; i++) {
        step(&s, &t);
        CHECK_MSG(memcmp(&t, &want[i], sizeof t) == 0,
                  "%s, %s: from design %d on, design %d has a compliance of %.17g in %d PCG "
                  "iterations, not %.17g in %d",
                  m->filter->name, m->precond->name, done, i + 1, t.number[1], t.iterations[0],
                  want[i].number[1], want[i].iterations[0]);
        if (i + 1 < N_DESIGN) hx_optimizer_advance(&s.opt);
    }
    if (done < N_DESIGN) {
        trace last[2] = {want[N_DESIGN - 1]};
        return_kept(&s, last);
        CHECK_MSG(memcmp(&last[1], &want[N_DESIGN], sizeof t) == 0,
                  "%s: from design %d on, the kept design is another", m->filter->name, done);
    }
    fixture_solver_free(&s);
}

static void check_model(const hx_mesh *mesh, const model *m)
{
    static trace want[N_DESIGN + 1]; /* the last: the kept design */
    hx_snapshot image[N_DESIGN];
    hx_problem problem;
    fixture_solver s;
    int n_deflation = 0;
    memset(image, 0, sizeof image);
    make_problem(&problem, mesh, m);
    open_run(&s, &problem, m);
    for (int i = 0; i < N_DESIGN; i++) {
        step(&s, &want[i]);
        n_deflation += m->deflation && is_floating(&s);
        hx_snapshot_begin(&image[i], HX_SNAPSHOT_SAVE);
        CHECK_OK(hx_optimizer_snapshot(&s.opt, &image[i]));
        if (i + 1 < N_DESIGN) hx_optimizer_advance(&s.opt);
    }
    return_kept(&s, &want[N_DESIGN - 1]);
    fixture_solver_free(&s);
    CHECK_MSG(!m->deflation || n_deflation > 1, "%d designs with floating components", n_deflation);
    CHECK(want[N_DESIGN - 1].number[1] != want[0].number[1]);
    for (int i = 0; i < N_DESIGN; i++) go_on(&problem, m, &image[i], i + 1, want);
    printf("%s, %s, %s: %zu parts, %zu bytes\n", m->filter->name, m->precond->name,
           m->update ? m->update->name : "oc", image[0].n, hx_snapshot_bytes(&image[0]));
    for (int i = 0; i < N_DESIGN; i++) hx_snapshot_free(&image[i]);
    hx_problem_free(&problem);
}

/* --- the file --- */

static long file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

static void flip(const char *path, long at)
{
    FILE *const f = fopen(path, "r+b");
    CHECK(f != NULL);
    if (!f) return;
    fseek(f, at, SEEK_SET);
    const int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 16, f);
    fclose(f);
}

/* Every part of the file is protected: it is refused with any changed byte of head, table or data,
 * and with any shorter length. */
static void check_damage(const char *path, long n)
{
    hx_snapshot image = {0};
    int n_refused = 0, n_try = 0;
    for (long at = 0; at < n; at += at < 248 ? 1 : 53) {
        flip(path, at);
        const int rc = hx_snapshot_read(&image, path);
        n_refused += rc == HX_EINPUT;
        n_try++;
        CHECK_MSG(rc == HX_EINPUT || at >= 248, "byte %ld turned: %d", at, rc);
        flip(path, at);
        hx_snapshot_free(&image);
    }
    /* the padding between the parts is not read */
    CHECK_MSG(n_refused >= n_try * 9 / 10, "%d of %d refused", n_refused, n_try);
    CHECK_OK(hx_snapshot_read(&image, path));
    hx_snapshot_free(&image);
    for (long at = n - 64; at >= 0; at -= 61) {
        CHECK(truncate(path, at) == 0);
        CHECK_MSG(hx_snapshot_read(&image, path) == HX_EINPUT, "cut to %ld bytes", at);
    }
    CHECK_FAILS(hx_snapshot_read(&image, "/nowhere/x"), HX_EINPUT, "/nowhere/x");
}

static void check_file(void)
{
    char path[64];
    double a[100], b = 2.5;
    const char *text = "iteration,compliance\n1,2\n";
    size_t n_text = strlen(text);
    const void *p = text;
    hx_snapshot image = {0};
    for (int i = 0; i < 100; i++) a[i] = 0.1 * i;
    snprintf(path, sizeof path, "snapshot-%ld.state", (long)getpid());
    for (int again = 0; again < 2; again++) {
        hx_snapshot_begin(&image, HX_SNAPSHOT_SAVE);
        CHECK_OK(hx_snapshot_host(&image, "a", a, sizeof a));
        if (again == 0) CHECK_OK(hx_snapshot_host(&image, "gone", &b, sizeof b));
        CHECK_OK(hx_snapshot_host(&image, "b", &b, sizeof b));
        CHECK_OK(hx_snapshot_borrow(&image, "text", &p, &n_text));
    }
    CHECK_FAILS(hx_snapshot_host(&image, "b", &b, sizeof b), HX_EINTERNAL, "twice");
    CHECK_OK(hx_snapshot_write(&image, path));
    CHECK(file_size(path) == (long)hx_snapshot_bytes(&image));
    CHECK_OK(hx_snapshot_read(&image, path));
    CHECK(image.n == 3 && !hx_snapshot_has(&image, "gone"));
    memset(a, 0, sizeof a);
    CHECK_OK(hx_snapshot_host(&image, "a", a, sizeof a));
    for (int i = 0; i < 100; i++) CHECK(a[i] == 0.1 * i);
    CHECK_OK(hx_snapshot_borrow(&image, "text", &p, &n_text));
    CHECK(n_text == strlen(text) && memcmp(p, text, n_text) == 0);
    CHECK_FAILS(hx_snapshot_check_all(&image), HX_EINPUT, "'b'");
    CHECK_FAILS(hx_snapshot_host(&image, "b", a, sizeof a), HX_EINPUT, "800");
    CHECK_FAILS(hx_snapshot_host(&image, "c", a, sizeof a), HX_EINPUT, "no 'c'");
    hx_snapshot_free(&image);
    check_damage(path, file_size(path));
    unlink(path);
}

/* A part that is printed, and one that is milled. */
static void check_sweeps(const hx_mesh *mesh)
{
    const hx_sweep_params list[2] = {{.kind = HX_SWEEP_OVERHANG,
                                      .angle = 45.0,
                                      .n_direction = 1,
                                      .direction = {{1.0, 0.0, 0.0}},
                                      .parting = {NAN}},
                                     {.kind = HX_SWEEP_MILLING,
                                      .n_direction = 2,
                                      .direction = {{0.0, 0.0, 1.0}, {0.0, 0.0, -1.0}},
                                      .parting = {NAN}}};
    for (int i = 0; i < 2; i++) {
        hx_sweep sweep;
        model m = variants[1 + i];
        CHECK_OK(hx_sweep_create(&sweep, mesh, &list[i]));
        m.filter = hx_filter_find("density");
        m.precond = hx_precond_find("jacobi");
        m.update = hx_update_find("mma");
        m.sweep = &sweep;
        check_model(mesh, &m);
        hx_sweep_free(&sweep);
    }
}

static void check_models(const hx_mesh *mesh)
{
    const hx_operator_kind *const op_kind = find_deterministic();
    const hx_precond_kind *precond;
    size_t n = 0;
    if (!op_kind) return;
    for (size_t p = 0; (precond = fixture_next_precond(&device, op_kind, HX_PRECISION_DOUBLE, &p));)
        for (size_t i = 0; hx_filters[i]; i++) {
            model m = variants[n++ % N_VARIANT];
            m.filter = hx_filters[i];
            m.precond = precond;
            if (m.filter->is_heuristic) m.beta = 0.0;
            check_model(mesh, &m);
        }
    for (size_t i = 0; hx_updates[i]; i++)
        for (size_t k = 0; k < 2 && hx_updates[i] != &hx_update_oc; k++) {
            model m = variants[k]; /* the second has a projection */
            m.filter = hx_filter_find(k == 0 ? "none" : "density");
            m.precond = hx_precond_find("jacobi");
            m.update = hx_updates[i];
            check_model(mesh, &m);
            m.has_limits = 1;
            check_model(mesh, &m);
            m.has_limits = 0;
            m.has_stresses = 1;
            check_model(mesh, &m);
        }
    check_sweeps(mesh);
    /* is_floating reads the state of multigrid */
    const model floating = {.filter = hx_filter_find("none"),
                            .precond = hx_precond_find("multigrid"),
                            .criterion = HX_PCG_RELATIVE,
                            .warm = 1,
                            .deflation = 1};
    check_model(mesh, &floating);
}

int main(int argc, char **argv)
{
    static const fixture_box box = {{NX, NY, NZ}, {2.0, 1.0, 1.0}, 0.1, 1};
    hx_mesh mesh;
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    check_file();
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    check_models(&mesh);
    hx_mesh_free(&mesh);
    hx_device_close(&device);
    TEST_END();
}
