/* Iterations that a device records and replays: they use the right vectors, devices may fail to
 * record, and on a device of the CPU that records calls they give the same bits as queued ones.
 *
 *     test_pcg_recording [cpu | cuda] [quick] */
#include "tests/lib/dense_model.h"

/* One solver with two vectors in turn: a recording for one is not replayed for the other. */
static void check_two_vectors(model *m, hx_precision precision)
{
    const size_t bytes = N_DOF * sizeof(double);
    fixture_settings settings = fixture_defaults();
    double *d_other, u[N_DOF], zero[N_DOF] = {0.0};
    hx_pcg_result result;
    fixture_solver s;
    settings.op_kind = precision == HX_PRECISION_MIXED ? &wrapper_single : NULL;
    settings.pcg.precision = precision;
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, &settings));
    CHECK_OK(device.ops->alloc(&device, bytes, &d_other));
    for (int i = 0; i < 4; i++) {
        double *d_u = i % 2 ? d_other : m->d_u, *d_rest = i % 2 ? m->d_u : d_other;
        if (i == 2) set_modulus(m, 100.0, 5);
        CHECK_OK(hx_operator_set_modulus(&s.op, m->modulus));
        CHECK_OK(hx_precond_setup(&s.pc));
        CHECK_OK(device.ops->upload(&device, d_u, zero, bytes));
        CHECK_OK(device.ops->upload(&device, d_rest, m->f, bytes));
        CHECK_OK(hx_pcg_solve(&s.pcg, &s.op.linear, &s.pc, m->d_f, d_u, &result));
        CHECK_OK(device.ops->download(&device, m->u, d_u, bytes));
        CHECK_OK(device.ops->download(&device, u, d_rest, bytes));
        CHECK(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-10);
        CHECK(memcmp(u, m->f, bytes) == 0);
    }
    device.ops->release(&device, d_other);
    fixture_solver_free(&s);
    set_modulus(m, 10.0, 3);
}

static int refuse(void)
{
    return HX_RAISE(HX_EDEVICE, "cannot record");
}

static int refuse_begin(hx_device *dev)
{
    (void)dev;
    return refuse();
}

static int accept_begin(hx_device *dev)
{
    (void)dev;
    return HX_OK;
}

static int refuse_end(hx_device *dev, void **recording)
{
    (void)dev;
    *recording = NULL;
    return refuse();
}

/* On a device that fails to record, at the beginning or at the end, iterations run without a
 * recording. */
static void check_no_recording(model *m)
{
    const hx_device_ops *ops = device.ops;
    hx_device_ops failing = *ops;
    fixture_settings settings = fixture_defaults();
    for (int i = 0; i < 2; i++) {
        failing.record_begin = i == 0 ? refuse_begin : accept_begin;
        failing.record_end = refuse_end;
        device.ops = &failing;
        hx_error_clear();
        const hx_pcg_result result = solve(m, &settings, NULL);
        device.ops = ops;
        CHECK(result.reason == HX_PCG_CONVERGED && error_of(m) <= 1e-10);
        CHECK_MSG(hx_error_message()[0] == '\0', "%s", hx_error_message());
    }
}

/* A device that records: it keeps the calls of an iteration instead of doing their work, and replays
 * them. */
typedef struct call {
    int (*run)(const struct call *c);
    const hx_linear *a;
    int64_t n, n_sum; /* entries, or bytes, or a slot */
    uintptr_t v[6];   /* vectors, in the order of the operation */
    hx_pcg_state *state;
} call;

static struct tape {
    const hx_device_ops *plain;
    int (*apply)(const hx_linear *a, const double *d_x, double *d_y);
    int (*apply_single)(const hx_linear *a, const float *d_x, float *d_y);
    call list[64];
    int n, is_recording, n_replay, n_recording;
    int n_kept; /* calls in the last recording */
} tape;

static int keep(call c)
{
    if (!tape.is_recording) return c.run(&c);
    CHECK(tape.n < (int)(sizeof tape.list / sizeof tape.list[0]));
    tape.list[tape.n++] = c;
    return HX_OK;
}

static int record_begin(hx_device *dev)
{
    (void)dev;
    tape.n = 0;
    tape.is_recording = 1;
    return HX_OK;
}

static int record_end(hx_device *dev, void **recording)
{
    (void)dev;
    tape.is_recording = 0;
    tape.n_recording++;
    tape.n_kept = tape.n;
    *recording = &tape;
    return HX_OK;
}

static int replay(hx_device *dev, void *recording)
{
    (void)dev;
    CHECK(recording == &tape && !tape.is_recording);
    tape.n_replay++;
    for (int i = 0; i < tape.n; i++) HX_TRY(tape.list[i].run(&tape.list[i]));
    return HX_OK;
}

static void record_free(hx_device *dev, void *recording)
{
    (void)dev;
    (void)recording;
    tape.n = 0;
}

#define REAL(k) ((double *)c->v[k])
#define FLOAT(k) ((float *)c->v[k])
#define AT(x) ((uintptr_t)(x))

static int run_mark(const call *c)
{
    return tape.plain->mark(&device, (int)c->n);
}
static int record_mark(hx_device *dev, int slot)
{
    (void)dev;
    return keep((call){.run = run_mark, .n = slot});
}

static int run_copy(const call *c)
{
    return tape.plain->copy(&device, (void *)c->v[0], (void *)c->v[1], (size_t)c->n);
}
static int record_copy(hx_device *dev, void *d_to, const void *d_from, size_t bytes)
{
    (void)dev;
    return keep((call){.run = run_copy, .n = (int64_t)bytes, .v = {AT(d_to), AT(d_from)}});
}

static int run_apply(const call *c)
{
    return tape.apply(c->a, REAL(0), REAL(1));
}
static int record_apply(const hx_linear *a, const double *d_x, double *d_y)
{
    return keep((call){.run = run_apply, .a = a, .v = {AT(d_x), AT(d_y)}});
}

static int run_apply_single(const call *c)
{
    return tape.apply_single(c->a, FLOAT(0), FLOAT(1));
}
static int record_apply_single(const hx_linear *a, const float *d_x, float *d_y)
{
    return keep((call){.run = run_apply_single, .a = a, .v = {AT(d_x), AT(d_y)}});
}

static int run_direction(const call *c)
{
    return tape.plain->pcg->direction(&device, c->n, REAL(0), REAL(1), REAL(2), REAL(3), c->state);
}
static int record_direction(hx_device *dev, int64_t n, const double *d_m, const double *d_z,
                            const double *d_r, double *d_p, hx_pcg_state *d_state)
{
    (void)dev;
    return keep((call){
        .run = run_direction, .n = n, .v = {AT(d_m), AT(d_z), AT(d_r), AT(d_p)}, .state = d_state});
}

static int run_direction_single(const call *c)
{
    return tape.plain->pcg->direction_single(&device, c->n, FLOAT(0), FLOAT(1), FLOAT(2), c->state);
}
static int record_direction_single(hx_device *dev, int64_t n, const float *d_m, const float *d_r,
                                   float *d_p, hx_pcg_state *d_state)
{
    (void)dev;
    return keep((call){
        .run = run_direction_single, .n = n, .v = {AT(d_m), AT(d_r), AT(d_p)}, .state = d_state});
}

static int run_alpha(const call *c)
{
    return tape.plain->pcg->alpha(&device, c->n, REAL(0), REAL(1), c->state);
}
static int record_alpha(hx_device *dev, int64_t n, const double *d_p, const double *d_q,
                        hx_pcg_state *d_state)
{
    (void)dev;
    return keep((call){.run = run_alpha, .n = n, .v = {AT(d_p), AT(d_q)}, .state = d_state});
}

static int run_alpha_single(const call *c)
{
    return tape.plain->pcg->alpha_single(&device, c->n, FLOAT(0), FLOAT(1), c->state);
}
static int record_alpha_single(hx_device *dev, int64_t n, const float *d_p, const float *d_q,
                               hx_pcg_state *d_state)
{
    (void)dev;
    return keep((call){.run = run_alpha_single, .n = n, .v = {AT(d_p), AT(d_q)}, .state = d_state});
}

static int run_update(const call *c)
{
    return tape.plain->pcg->update(&device, c->n, c->n_sum, REAL(0), REAL(1), REAL(2), REAL(3),
                                   REAL(4), c->state);
}
static int record_update(hx_device *dev, int64_t n, int64_t n_sum, const double *d_m,
                         const double *d_p, const double *d_q, double *d_u, double *d_r,
                         hx_pcg_state *d_state)
{
    (void)dev;
    return keep((call){.run = run_update,
                       .n = n,
                       .n_sum = n_sum,
                       .v = {AT(d_m), AT(d_p), AT(d_q), AT(d_u), AT(d_r)},
                       .state = d_state});
}

static int run_update_single(const call *c)
{
    return tape.plain->pcg->update_single(&device, c->n, c->n_sum, FLOAT(0), FLOAT(1), FLOAT(2),
                                          FLOAT(3), FLOAT(4), c->state);
}
static int record_update_single(hx_device *dev, int64_t n, int64_t n_sum, const float *d_m,
                                const float *d_p, const float *d_q, float *d_u, float *d_r,
                                hx_pcg_state *d_state)
{
    (void)dev;
    return keep((call){.run = run_update_single,
                       .n = n,
                       .n_sum = n_sum,
                       .v = {AT(d_m), AT(d_p), AT(d_q), AT(d_u), AT(d_r)},
                       .state = d_state});
}

static int run_beta(const call *c)
{
    return tape.plain->pcg->beta(&device, c->n, REAL(0), REAL(1), REAL(2), c->state);
}
static int record_beta(hx_device *dev, int64_t n, const double *d_r, const double *d_z,
                       const double *d_q, hx_pcg_state *d_state)
{
    (void)dev;
    return keep(
        (call){.run = run_beta, .n = n, .v = {AT(d_r), AT(d_z), AT(d_q)}, .state = d_state});
}

/* Solves twice with one solver, from zero; u receives the second solution. */
static hx_pcg_result solve_twice(model *m, const fixture_settings *settings, int is_recorded,
                                 double *u)
{
    const double zero[N_DOF] = {0.0};
    hx_pcg_result result = {.reason = HX_PCG_RUNNING};
    fixture_solver s;
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, m->modulus));
    CHECK_OK(hx_precond_setup(&s.pc));
    s.op.linear.apply_dot = NULL;
    if (is_recorded) {
        tape.apply = s.op.linear.apply;
        tape.apply_single = s.op.linear.apply_single;
        s.op.linear.apply = record_apply;
        s.op.linear.apply_single = record_apply_single;
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(device.ops->upload(&device, m->d_u, zero, sizeof zero));
        CHECK_OK(hx_pcg_solve(&s.pcg, &s.op.linear, &s.pc, m->d_f, m->d_u, &result));
    }
    CHECK_OK(device.ops->download(&device, u, m->d_u, sizeof zero));
    fixture_solver_free(&s);
    return result;
}

/* Recorded iterations give the same bits as queued ones. A recording holds `each` calls per
 * iteration, and per batch the marks of its first iteration; it is made once for both solves. */
static void check_same(model *m, const char *precond, hx_pcg_criterion criterion,
                       hx_precision precision, int each, int n_mark)
{
    enum { BATCH = 3 };
    const hx_device_ops *const ops = device.ops;
    hx_device_ops recording = *ops;
    hx_pcg_ops pcg = *ops->pcg;
    fixture_settings settings = fixture_defaults();
    double u[2][N_DOF];
    settings.precond = precond;
    settings.pcg.criterion = criterion;
    settings.pcg.precision = precision;
    settings.pcg.check_every = BATCH;
    settings.op_kind = precision == HX_PRECISION_MIXED ? &wrapper_single : NULL;
    const hx_pcg_result queued = solve_twice(m, &settings, 0, u[0]);
    pcg.direction = record_direction;
    pcg.direction_single = record_direction_single;
    pcg.alpha = record_alpha;
    pcg.alpha_single = record_alpha_single;
    pcg.update = record_update;
    pcg.update_single = record_update_single;
    pcg.beta = record_beta;
    recording.pcg = &pcg;
    recording.mark = record_mark;
    recording.copy = record_copy;
    recording.record_begin = record_begin;
    recording.record_end = record_end;
    recording.replay = replay;
    recording.record_free = record_free;
    memset(&tape, 0, sizeof tape);
    tape.plain = ops;
    device.ops = &recording;
    const hx_pcg_result recorded = solve_twice(m, &settings, 1, u[1]);
    device.ops = ops;
    CHECK_MSG(recorded.reason == queued.reason && recorded.iterations == queued.iterations &&
                  recorded.replacements == queued.replacements &&
                  memcmp(u[0], u[1], sizeof u[0]) == 0,
              "%s: %d iterations, not %d, or other bits", precond, recorded.iterations,
              queued.iterations);
    CHECK_MSG(tape.n_kept == BATCH * each + n_mark, "%s: %d calls in a batch, not %d", precond,
              tape.n_kept, BATCH * each + n_mark);
    CHECK_MSG(tape.n_recording == 1, "%s: %d recordings", precond, tape.n_recording);
    CHECK_MSG(tape.n_replay >= 2 * (queued.iterations / BATCH), "%s: %d replays of %d iterations",
              precond, tape.n_replay, queued.iterations);
}

int main(int argc, char **argv)
{
    static model m;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    CHECK_OK(make_model(&m, 0));
    check_two_vectors(&m, HX_PRECISION_DOUBLE);
    check_two_vectors(&m, HX_PRECISION_MIXED);
    check_no_recording(&m);
    if (!device.ops->record_begin) {
        check_same(&m, "jacobi", HX_PCG_RELATIVE, HX_PRECISION_DOUBLE, 4, 4);
        check_same(&m, "jacobi", HX_PCG_RELATIVE, HX_PRECISION_MIXED, 4, 4);
        check_same(&m, "none", HX_PCG_RELATIVE, HX_PRECISION_DOUBLE, 6, 6);
        check_same(&m, "none", HX_PCG_ABSOLUTE, HX_PRECISION_DOUBLE, 6, 6);
    }
    free_model(&m);
    hx_device_close(&device);
    TEST_END();
}
