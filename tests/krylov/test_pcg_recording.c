/* Iterations that a device records and replays: they use the right vectors, and devices may fail to
 * record.
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

int main(int argc, char **argv)
{
    static model m;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    CHECK_OK(make_model(&m, 0));
    check_two_vectors(&m, HX_PRECISION_DOUBLE);
    check_two_vectors(&m, HX_PRECISION_MIXED);
    check_no_recording(&m);
    free_model(&m);
    hx_device_close(&device);
    TEST_END();
}
