/* The device's part: pattern, matrix and values of a range of rows, timed. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "matrix_job.h"

static int check_build(const hx_matrix_stages *st)
{
    if (st->ops->builds & 1u << st->build) return HX_OK;
    return HX_RAISE(HX_EINPUT, "device '%s' has no builder '%s'", st->dev->ops->name,
                    hx_build_name(st->build));
}

/* The lower part is enough where only that is written, and nothing is moved to the other side. */
static hx_part part_wanted(const hx_matrix_ops *ops, const hx_matrix_plan *plan,
                           const hx_problem *problem)
{
    const int moves = plan->eliminate && plan->rhs && problem->supports.prescribed;
    const int has = (ops->lower_formats & 1u << HX_FORMAT_BSR) != 0;
    return has && plan->half == HX_HALF_LOWER && !moves ? HX_PART_LOWER : HX_PART_FULL;
}

int hx_matrix_stages_open(hx_matrix_stages *st, hx_session *s, const hx_matrix_plan *plan)
{
    const char *const device = s->device.ops->name;
    st->dev = &s->device;
    st->ops = s->device.ops->matrix;
    st->build = plan->build;
    st->form = (hx_form){HX_FORM_ELASTICITY, s->problem.lambda, s->problem.mu};
    if (!st->ops)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' makes no matrices; solver.device = \"cpu\" or \"auto\" does",
                        device);
    HX_TRY(check_build(st));
    HX_TRY(hx_fill_find(plan->fill, st->ops->fills, device, &st->fill));
    st->part = part_wanted(st->ops, plan, &s->problem);
    return HX_OK;
}

/* Places of the points: three-stage counts them itself, sort does without, but fills need them. */
static int upload_places(hx_matrix_stages *st, const hx_incidence *in)
{
    const size_t n_place = (size_t)in->n_place, n_ptr = (size_t)in->n_point + 1;
    st->input.incidence.point_ptr = NULL;
    st->input.incidence.point_place = NULL;
    if (st->build == HX_BUILD_THREE_STAGE) return HX_OK;
    HX_TRY(hx_device_put(st->dev, &st->d_point_ptr, in->point_ptr, n_ptr * sizeof(int64_t)));
    HX_TRY(hx_device_put(st->dev, &st->d_point_place, in->point_place, n_place * sizeof(uint32_t)));
    st->input.incidence.point_ptr = st->d_point_ptr;
    st->input.incidence.point_place = st->d_point_place;
    return HX_OK;
}

/* The range's mesh and moduli. */
static int upload(hx_matrix_stages *st, const hx_row_range *range, const double *modulus)
{
    const hx_incidence *const in = &range->incidence;
    hx_device *const dev = st->dev;
    const size_t n_place = (size_t)in->n_place, n_point = (size_t)in->n_point;
    HX_TRY(hx_alloc_raw(&st->modulus, (size_t)in->n_cell, sizeof(double), "moduli"));
    hx_row_range_take(range, modulus, st->modulus);
    HX_TRY(hx_device_put(dev, &st->d_point, in->point, n_place * sizeof(int32_t)));
    HX_TRY(hx_device_put(dev, &st->d_xyz, range->xyz, 3 * n_point * sizeof(double)));
    HX_TRY(hx_device_put(dev, &st->d_modulus, st->modulus, (size_t)in->n_cell * sizeof(double)));
    st->input.incidence = *in;
    st->input.incidence.point = st->d_point;
    st->input.form = st->form;
    st->input.d_xyz = st->d_xyz;
    st->input.d_modulus = st->d_modulus;
    return upload_places(st, in);
}

static void add_steps(hx_steps *sum, const hx_steps *steps)
{
    for (int i = 0; i < steps->n; i++) {
        int k = 0;
        while (k < sum->n && strcmp(sum->step[k].name, steps->step[i].name) != 0) k++;
        if (k == HX_MAX_STEP) continue;
        if (k == sum->n) sum->step[sum->n++] = (hx_step){steps->step[i].name, 0.0};
        sum->step[k].seconds += steps->step[i].seconds;
    }
}

static int make_pattern(hx_matrix_stages *st, const hx_row_range *range)
{
    const hx_pattern_spec spec = {st->build, st->part, range->local_first, range->n};
    hx_steps steps = {0};
    const double begin = hx_clock();
    HX_TRY(st->ops->pattern(st->dev, &st->input.incidence, &spec, &st->pattern, &steps));
    st->pattern_seconds += hx_clock() - begin;
    add_steps(&st->steps, &steps);
    if (!st->input.incidence.point_ptr) {
        st->input.incidence.point_ptr = st->pattern.d_point_ptr;
        st->input.incidence.point_place = st->pattern.d_point_place;
    }
    return HX_OK;
}

static int make_matrix(hx_matrix_stages *st)
{
    const hx_matrix_spec spec = {
        .format = HX_FORMAT_BSR, .part = st->part, .components = hx_form_components(&st->form)};
    const double begin = hx_clock();
    HX_TRY(hx_matrix_create(&st->matrix, st->dev, &st->pattern, &spec));
    HX_TRY(st->ops->fill_create(&st->fill_state, st->dev, st->fill, &st->matrix, &st->input));
    st->prepare_seconds += hx_clock() - begin;
    return HX_OK;
}

/* The last of the repeats counts: the first also touches memory for the first time. */
static int run_fill(hx_matrix_stages *st)
{
    double seconds = 0.0;
    for (int i = 0; i < st->repeats; i++) {
        HX_TRY(st->dev->ops->sync(st->dev));
        const double begin = hx_clock();
        HX_TRY(st->ops->fill_run(st->fill_state));
        HX_TRY(st->dev->ops->sync(st->dev));
        const double now = hx_clock() - begin;
        if (i == 0 || now < seconds) seconds = now;
    }
    st->fill_seconds += seconds;
    st->n_value += st->matrix.n_value;
    return HX_OK;
}

static void note_bytes(hx_matrix_stages *st)
{
    const hx_incidence *const in = &st->input.incidence;
    const size_t mesh = (size_t)in->n_place * 8 + (size_t)in->n_point * 32 + (size_t)in->n_cell * 8;
    const size_t bytes = mesh + hx_device_pattern_bytes(&st->pattern) +
                         hx_matrix_bytes(&st->matrix, st->dev) +
                         st->ops->fill_bytes(st->fill_state);
    if (bytes > st->most_bytes) st->most_bytes = bytes;
}

int hx_matrix_stages_run(hx_matrix_stages *st, const hx_row_range *range, const double *modulus)
{
    HX_TRY(upload(st, range, modulus));
    HX_TRY(make_pattern(st, range));
    HX_TRY(make_matrix(st));
    HX_TRY(run_fill(st));
    note_bytes(st);
    return HX_OK;
}

int hx_matrix_stages_rows(hx_matrix_stages *st, hx_matrix_rows *rows)
{
    const double begin = hx_clock();
    HX_TRY(st->ops->rows(st->dev, &st->matrix, 0, st->pattern.n_row, rows));
    st->download_seconds += hx_clock() - begin;
    return HX_OK;
}

void hx_matrix_stages_drop(hx_matrix_stages *st)
{
    hx_device *const dev = st->dev;
    if (!dev || !st->ops) return;
    st->ops->fill_free(st->fill_state);
    hx_matrix_free(&st->matrix, dev);
    hx_device_pattern_free(&st->pattern, dev);
    void *const memory[] = {st->d_point, st->d_point_ptr, st->d_point_place, st->d_xyz,
                            st->d_modulus};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) dev->ops->release(dev, memory[i]);
    free(st->modulus);
    st->fill_state = NULL;
    st->d_point = NULL;
    st->d_point_ptr = NULL;
    st->d_point_place = NULL;
    st->d_xyz = st->d_modulus = st->modulus = NULL;
}

/* Of a full matrix in blocks; slots of a byte or two. */
void hx_matrix_stages_cost(const hx_matrix_stages *st, int widest, hx_range_cost *cost)
{
    const int c = hx_form_components(&st->form), slot = widest > 255 ? 2 : 1;
    const int per_block = (int)sizeof(int32_t) + c * c * (int)sizeof(double);
    cost->device_cell =
        8 * (int64_t)(sizeof(int32_t) + sizeof(uint32_t)) + 64 * slot + (int64_t)sizeof(double);
    cost->device_point = 3 * (int64_t)sizeof(double) + (int64_t)sizeof(int64_t);
    cost->device_row = (int64_t)sizeof(int64_t);
    cost->device_entry = per_block;
    /* two ranges as blocks, one of them as numbers */
    cost->host_row = (2 + c) * (int64_t)sizeof(int64_t);
    cost->host_entry = 2 * per_block + (int64_t)sizeof(int32_t) +
                       c * c * (int64_t)(sizeof(double) + sizeof(int32_t));
}
