#include "assembled.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

size_t hx_assembled_space_bytes(const hx_space *space, const hx_matrix_spec *spec, int has_slots)
{
    const hx_incidence incidence = hx_incidence_of_space(space);
    const size_t most = space->element == HX_ELEMENT_LINEAR ? 8 : (size_t)hx_space_most(space);
    size_t bytes;
    if (hx_matrix_expected_bytes(&incidence, spec, has_slots, &bytes) == HX_OK) return bytes;
    /* if memory does not suffice to count: upper bound for an unstructured mesh */
    hx_error_clear();
    return (size_t)incidence.n_cell * most * most * 9 * (sizeof(double) + sizeof(int32_t));
}

/* The incidence of the space, with arrays in device memory. */
static hx_incidence incidence_of(const hx_device_model *model, const hx_mesh *mesh)
{
    if (model->points) return *model->points;
    return (hx_incidence){.is_tetrahedral = hx_incidence_of_mesh(mesh).is_tetrahedral,
                          .n_cell = model->n_elem,
                          .n_point = model->n_node,
                          .n_place = 8 * model->n_elem,
                          .n_per_cell = 8,
                          .point = model->d_conn,
                          .point_ptr = model->d_node_elem_ptr,
                          .point_place = model->d_node_elem};
}

int hx_assembled_setup(void **state, hx_device *dev, const hx_device_model *model,
                       const hx_mesh *mesh, const hx_matrix_spec *spec)
{
    const hx_matrix_ops *ops = dev->ops->matrix;
    const hx_pattern_spec pattern = {.part = spec->part};
    hx_assembled *s;
    int rc;
    if (!ops)
        return HX_RAISE(HX_EINPUT, "device '%s' does not support stored matrices", dev->ops->name);
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "assembled operator"));
    s->dev = dev;
    s->input =
        (hx_fill_input){.incidence = incidence_of(model, mesh),
                        .form = {spec->components == 1 ? HX_FORM_CONDUCTION : HX_FORM_ELASTICITY,
                                 model->lambda, model->mu},
                        .rule = model->rule,
                        .d_xyz = model->d_xyz,
                        .d_modulus = model->d_modulus};
    HX_TRY_FAIL(ops->pattern(dev, &s->input.incidence, &pattern, &s->pattern, &s->steps));
    HX_TRY_FAIL(hx_matrix_create(&s->matrix, dev, &s->pattern, spec));
    if (ops->divide && model->n_interface > 0)
        HX_TRY_FAIL(ops->divide(dev, &s->matrix, model->n_interface, model->interface));
    HX_TRY_FAIL(ops->fill_create(&s->fill, dev, HX_FILL_GATHER, &s->matrix, &s->input));
    if (ops->fill_reads_slots && !ops->fill_reads_slots(s->fill)) {
        hx_device_pattern_release_slots(&s->pattern, dev);
        s->matrix.pattern = s->pattern;
    }
    *state = s;
    return HX_OK;
fail:
    hx_assembled_teardown(s);
    return rc;
}

int hx_assembled_update(void *state)
{
    const hx_assembled *s = state;
    return s->dev->ops->matrix->fill_run(s->fill);
}

int hx_assembled_apply(void *state, const double *d_x, double *d_y)
{
    const hx_assembled *s = state;
    return s->dev->ops->matrix->multiply(s->dev, &s->matrix, d_x, d_y);
}

int hx_assembled_apply_part(void *state, hx_product_part part, const double *d_x, double *d_y)
{
    const hx_assembled *s = state;
    return s->dev->ops->matrix->multiply_part(s->dev, &s->matrix, part, d_x, d_y);
}

int hx_assembled_apply_dot(void *state, const double *d_x, double *d_y, double *d_sum)
{
    const hx_assembled *s = state;
    return s->dev->ops->matrix->multiply_dot(s->dev, &s->matrix, d_x, d_y, d_sum);
}

int hx_assembled_diagonal(void *state, double *d_diag)
{
    const hx_assembled *s = state;
    return s->dev->ops->matrix->diagonal(s->dev, &s->matrix, d_diag);
}

const hx_assembled *hx_assembled_of(const void *state)
{
    return state;
}

void hx_assembled_teardown(void *state)
{
    hx_assembled *s = state;
    s->dev->ops->matrix->fill_free(s->fill);
    hx_matrix_free(&s->matrix, s->dev);
    hx_device_pattern_free(&s->pattern, s->dev);
    free(s);
}

hx_promise hx_assembled_promise(const hx_mesh *mesh)
{
    (void)mesh;
    return HX_PROMISE_NONE;
}
