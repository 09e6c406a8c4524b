/* An operator for tests of PCG: the products of the device's ebe, and functions that only some
 * operators have, computed on the host for any device: a product in single precision (Ke, modulus,
 * x and all sums in float, with differences from an element's first corner, so that it is
 * symmetric) and a product with its dot product. It waits, so its work cannot be recorded. */
#ifndef HX_TEST_WRAPPER_H
#define HX_TEST_WRAPPER_H

#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "fixture.h"

typedef struct wrapper {
    const hx_operator_kind *inner;
    void *inner_state;
    hx_device *dev;
    const hx_device_model *model;
    int64_t n_elem, n_dof;
    int32_t *conn;
    float *ke, *x, *y; /* [n_elem][576], [n_dof] */
    double *modulus;
} wrapper;

static inline void wrapper_teardown(void *state)
{
    wrapper *w = state;
    if (w->inner_state) w->inner->teardown(w->inner_state);
    free(w->conn);
    free(w->ke);
    free(w->x);
    free(w->y);
    free(w->modulus);
    free(w);
}

static inline int wrapper_fill(wrapper *w, const hx_mesh *mesh)
{
    const size_t n_elem = (size_t)mesh->n_elem, n_dof = 3 * (size_t)mesh->n_node;
    HX_TRY(hx_alloc(&w->conn, 8 * n_elem, sizeof *w->conn, "wrapper"));
    HX_TRY(hx_alloc(&w->ke, 576 * n_elem, sizeof *w->ke, "wrapper"));
    HX_TRY(hx_alloc(&w->modulus, n_elem, sizeof *w->modulus, "wrapper"));
    HX_TRY(hx_alloc(&w->x, n_dof, sizeof *w->x, "wrapper"));
    HX_TRY(hx_alloc(&w->y, n_dof, sizeof *w->y, "wrapper"));
    memcpy(w->conn, mesh->conn, 8 * n_elem * sizeof *w->conn);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[24], ke[576];
        for (int a = 0; a < 8; a++)
            memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + a], 3 * sizeof *x);
        hx_hex8_stiffness(x, w->model->lambda, w->model->mu, ke);
        for (int i = 0; i < 576; i++) w->ke[576 * e + i] = (float)ke[i];
    }
    return HX_OK;
}

static inline int wrapper_setup(void **state, hx_device *dev, const hx_device_model *model,
                                const hx_mesh *mesh, hx_layout layout)
{
    wrapper *w;
    int rc;
    HX_TRY(hx_alloc(&w, 1, sizeof *w, "wrapper"));
    w->dev = dev;
    w->model = model;
    w->n_elem = mesh->n_elem;
    w->n_dof = 3 * mesh->n_node;
    w->inner = hx_operator_kind_find(dev->ops->name, "ebe");
    HX_TRY_FAIL(wrapper_fill(w, mesh));
    HX_TRY_FAIL(w->inner->setup(&w->inner_state, dev, model, mesh, layout));
    *state = w;
    return HX_OK;
fail:
    wrapper_teardown(w);
    return rc;
}

static inline int wrapper_apply(void *state, const double *d_x, double *d_y)
{
    const wrapper *w = state;
    return w->inner->apply(w->inner_state, d_x, d_y);
}

static inline int wrapper_apply_dot(void *state, const double *d_x, double *d_y, double *d_sum)
{
    const wrapper *w = state;
    double sum;
    HX_TRY(w->inner->apply(w->inner_state, d_x, d_y));
    HX_TRY(w->dev->ops->vector->dot(w->dev, w->n_dof, d_x, d_y, &sum));
    return w->dev->ops->upload(w->dev, d_sum, &sum, sizeof sum);
}

static inline int wrapper_apply_single(void *state, const float *d_x, float *d_y)
{
    wrapper *w = state;
    const hx_device_ops *ops = w->dev->ops;
    const size_t bytes = (size_t)w->n_dof * sizeof(float);
    HX_TRY(ops->download(w->dev, w->x, d_x, bytes));
    HX_TRY(ops->download(w->dev, w->modulus, w->model->d_modulus,
                         (size_t)w->n_elem * sizeof *w->modulus));
    memset(w->y, 0, bytes);
    for (int64_t e = 0; e < w->n_elem; e++) {
        const int32_t *conn = w->conn + 8 * e;
        const float *ke = w->ke + 576 * e, modulus = (float)w->modulus[e];
        float x[24], force[24] = {0.0f};
        for (int i = 0; i < 24; i++)
            x[i] = w->x[3 * (int64_t)conn[i / 3] + i % 3] - w->x[3 * (int64_t)conn[0] + i % 3];
        for (int i = 3; i < 24; i++) {
            for (int j = 3; j < 24; j++) force[i] += ke[24 * i + j] * x[j];
            force[i % 3] -= force[i];
        }
        for (int i = 0; i < 24; i++) w->y[3 * (int64_t)conn[i / 3] + i % 3] += modulus * force[i];
    }
    return ops->upload(w->dev, d_y, w->y, bytes);
}

/* A wrong product, 3 K x, that seems to converge but does not. */
static inline int wrapper_apply_wrong(void *state, const float *d_x, float *d_y)
{
    wrapper *w = state;
    HX_TRY(wrapper_apply_single(state, d_x, d_y));
    for (int64_t i = 0; i < w->n_dof; i++) w->y[i] *= 3.0f;
    return w->dev->ops->upload(w->dev, d_y, w->y, (size_t)w->n_dof * sizeof(float));
}

static inline size_t wrapper_bytes(const hx_mesh *mesh, hx_layout layout)
{
    (void)mesh, (void)layout;
    return 0;
}

/* No two products round in the same way, like sums with atomics in any order. It has its own set-up
 * function, by which tests recognise that it is not repeatable. */
static inline int wrapper_apply_noisy(void *state, const double *d_x, double *d_y)
{
    static uint64_t seed = 77;
    const wrapper *w = state;
    const size_t n = (size_t)w->n_dof;
    double *y;
    HX_TRY(hx_alloc(&y, n, sizeof *y, "wrapper"));
    int rc = w->inner->apply(w->inner_state, d_x, d_y);
    if (rc == HX_OK) rc = w->dev->ops->download(w->dev, y, d_y, n * sizeof *y);
    for (size_t k = 0; k < n; k++) y[k] *= 1.0 + fixture_uniform(&seed, -2.0, 2.0) * 0x1p-52;
    if (rc == HX_OK) rc = w->dev->ops->upload(w->dev, d_y, y, n * sizeof *y);
    free(y);
    return rc;
}

static inline int wrapper_setup_noisy(void **state, hx_device *dev, const hx_device_model *model,
                                      const hx_mesh *mesh, hx_layout layout)
{
    return wrapper_setup(state, dev, model, mesh, layout);
}

#define WRAPPER_TABLE(table_name, ...)                                                             \
    {                                                                                              \
        .name = table_name, .device = "any", .help = "for tests", .bytes = wrapper_bytes,          \
        .layouts = HX_LAYOUT_BIT(HX_LAYOUT_ROWMAJOR) | HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED),       \
        .teardown = wrapper_teardown, __VA_ARGS__                                                  \
    }

static const hx_operator_kind wrapper_single = WRAPPER_TABLE(
    "single", .setup = wrapper_setup, .apply = wrapper_apply, .apply_single = wrapper_apply_single);
static const hx_operator_kind wrapper_wrong = WRAPPER_TABLE(
    "wrong", .setup = wrapper_setup, .apply = wrapper_apply, .apply_single = wrapper_apply_wrong);
static const hx_operator_kind wrapper_noisy =
    WRAPPER_TABLE("noisy", .setup = wrapper_setup_noisy, .apply = wrapper_apply_noisy);
static const hx_operator_kind wrapper_dot = WRAPPER_TABLE(
    "dot", .setup = wrapper_setup, .apply = wrapper_apply, .apply_dot = wrapper_apply_dot);

#endif
