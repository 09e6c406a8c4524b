/* The device's part of the work: pattern, matrix and values of a range of rows, with timing, and
 * their copy to the host while the next range is made. */
#include <string.h>

#include "core/base/clock.h"
#include "matrix_job.h"

int hx_matrix_stages_open(hx_matrix_stages *st, hx_session *s, const hx_matrix_plan *plan)
{
    const char *const device = s->device.ops->name;
    st->dev = &s->device;
    st->ops = s->device.ops->matrix;
    st->build = plan->build;
    st->form = hx_problem_is_heat(&s->problem)
                   ? (hx_form){.kind = HX_FORM_CONDUCTION}
                   : (hx_form){HX_FORM_ELASTICITY, s->problem.lambda, s->problem.mu};
    st->rule = s->problem.space.rule;
    st->n_cell_point =
        s->problem.space.element == HX_ELEMENT_LINEAR ? 8 : hx_space_most(&s->problem.space);
    if (!st->ops)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' cannot make matrices; solver.device = \"cpu\" or \"auto\" can",
                        device);
    if (s->problem.space.element == HX_ELEMENT_SPLINE && !st->ops->splines)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' cannot make matrices of splines; solver.device = \"cpu\" can",
                        device);
    if (!(st->ops->builds & 1u << st->build))
        return HX_RAISE(HX_EINPUT, "device '%s' has no builder '%s'", st->dev->ops->name,
                        hx_build_name(st->build));
    HX_TRY(hx_fill_find(plan->fill, st->ops->fills, device, &st->fill));
    /* The lower part suffices if only that is written, and no columns are moved to the loads. */
    const int moves = plan->eliminate && plan->rhs && hx_matrix_may_move(&s->problem);
    const int has = (st->ops->lower_formats & 1u << HX_FORMAT_BSR) != 0;
    st->part = has && plan->half == HX_HALF_LOWER && !moves ? HX_PART_LOWER : HX_PART_FULL;
    return HX_OK;
}

/* An array of the range's mesh, and its destination on the device. */
typedef struct mesh_array {
    const void *from; /* NULL: there is no such array */
    size_t bytes;
    void *to;
} mesh_array;

static size_t aligned(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Provides the places of the points. The builder three-stage counts them itself, and sort does not
 * need them, but fills do. */
int hx_matrix_stages_load(hx_matrix_stages *st, const hx_row_range *range, const double *modulus)
{
    const hx_incidence *const in = &range->incidence;
    const size_t n_cell = (size_t)in->n_cell, n_place = (size_t)in->n_place;
    const size_t n_point = (size_t)in->n_point;
    const int places = st->build != HX_BUILD_THREE_STAGE;
    const hx_spline_rule none = {0}, *const rule = in->spline ? in->spline : &none;
    const double begin = hx_clock();
    hx_incidence *const d_in = &st->input.incidence;
    const mesh_array array[] = {
        {in->point, n_place * sizeof(int32_t), &d_in->point},
        {range->xyz, 3 * n_point * sizeof(double), &st->input.d_xyz},
        {modulus, n_cell * sizeof(double), &st->input.d_modulus},
        {places ? in->point_ptr : NULL, (n_point + 1) * sizeof(int64_t), &d_in->point_ptr},
        {places ? in->point_place : NULL, n_place * sizeof(uint32_t), &d_in->point_place},
        {in->kind, n_cell, &d_in->kind},
        {in->cell_ptr, (n_cell + 1) * sizeof(int64_t), &d_in->cell_ptr},
        {in->pair_ptr, (n_cell + 1) * sizeof(int64_t), &d_in->pair_ptr},
        {in->place_cell, n_place * sizeof(int32_t), &d_in->place_cell},
        {rule->patch, (size_t)rule->n_patch * sizeof *rule->patch, &st->spline.patch},
        {rule->table, (size_t)rule->n_table * sizeof(double), &st->spline.table},
        {rule->weight, n_point * sizeof(double), &st->spline.weight},
    };
    st->input = (hx_fill_input){.incidence = *in, .form = st->form, .rule = st->rule};
    st->spline = *rule;
    if (in->spline) d_in->spline = &st->spline;
    /* Copies all of these arrays into memory of their own. */
    const size_t n = sizeof array / sizeof array[0];
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < n; i++) bytes += array[i].from ? aligned(array[i].bytes) : 0;
    HX_TRY(st->dev->ops->alloc(st->dev, bytes, &st->d_mesh));
    for (size_t i = 0; i < n; i++) {
        void *const d_to = array[i].from ? st->d_mesh + at : NULL;
        memcpy(array[i].to, &d_to, sizeof d_to);
        if (!d_to) continue;
        HX_TRY(st->dev->ops->upload(st->dev, d_to, array[i].from, array[i].bytes));
        at += aligned(array[i].bytes);
    }
    st->upload_seconds += hx_clock() - begin;
    return HX_OK;
}

static int make_pattern(hx_matrix_stages *st, const hx_row_range *range)
{
    const hx_pattern_spec spec = {st->build, st->part, range->local_first, range->n};
    hx_device_pattern *const pattern = &st->made.pattern;
    hx_steps steps = {0};
    const double begin = hx_clock();
    HX_TRY(st->ops->pattern(st->dev, &st->input.incidence, &spec, pattern, &steps));
    st->pattern_seconds += hx_clock() - begin;
    for (int i = 0; i < steps.n; i++) {
        int k = 0;
        while (k < st->steps.n && strcmp(st->steps.step[k].name, steps.step[i].name) != 0) k++;
        if (k == HX_MAX_STEP) continue;
        if (k == st->steps.n) st->steps.step[st->steps.n++] = (hx_step){steps.step[i].name, 0.0};
        st->steps.step[k].seconds += steps.step[i].seconds;
    }
    if (!st->input.incidence.point_ptr) {
        st->input.incidence.point_ptr = pattern->d_point_ptr;
        st->input.incidence.point_place = pattern->d_point_place;
    }
    return HX_OK;
}

/* Takes the fastest run, since the first one also touches its memory for the first time. */
static int repeat_fill(hx_matrix_stages *st)
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
    return HX_OK;
}

/* Time stamps for two ranges, separate from those that a builder may use. */
enum { FIRST_MARK = HX_N_MARK - 4, SECOND_MARK = HX_N_MARK - 2 };

/* Does not wait: the time is read when the rows have arrived. */
static int queue_fill(hx_matrix_stages *st)
{
    hx_matrix_made *const made = &st->made;
    const hx_device_ops *const ops = st->dev->ops;
    made->mark = st->old.mark == FIRST_MARK ? SECOND_MARK : FIRST_MARK;
    HX_TRY(ops->mark(st->dev, made->mark));
    HX_TRY(st->ops->fill_run(st->fill_state));
    HX_TRY(ops->mark(st->dev, made->mark + 1));
    made->is_queued = 1;
    return HX_OK;
}

/* Releases the memory of the input, in the order of the queue. */
static void drop_input(hx_matrix_stages *st)
{
    const hx_device_ops *const ops = st->dev->ops;
    hx_device_pattern *const p = &st->made.pattern;
    st->ops->fill_free(st->fill_state);
    ops->release(st->dev, st->d_mesh);
    ops->release(st->dev, p->d_slot);
    ops->release(st->dev, p->d_point_ptr);
    ops->release(st->dev, p->d_point_place);
    st->fill_state = NULL;
    st->d_mesh = NULL;
    p->d_slot = NULL;
    p->d_point_ptr = NULL;
    p->d_point_place = NULL;
    if (st->made.matrix.d_value) st->made.matrix.pattern = *p;
    memset(&st->input, 0, sizeof st->input);
}

int hx_matrix_stages_make(hx_matrix_stages *st, const hx_row_range *range)
{
    HX_TRY(make_pattern(st, range));
    const hx_matrix_spec spec = {
        .format = HX_FORMAT_BSR, .part = st->part, .components = hx_form_components(&st->form)};
    hx_matrix *const matrix = &st->made.matrix;
    const double begin = hx_clock();
    HX_TRY(hx_matrix_create(matrix, st->dev, &st->made.pattern, &spec));
    HX_TRY(st->ops->fill_create(&st->fill_state, st->dev, st->fill, matrix, &st->input));
    st->prepare_seconds += hx_clock() - begin;
    st->n_value += matrix->n_value;
    HX_TRY(st->repeats > 1 ? repeat_fill(st) : queue_fill(st));
    const hx_incidence *const in = &st->input.incidence;
    const size_t own = (in->kind ? (size_t)in->n_cell : 0) +
                       (in->n_per_cell ? 0 : 16 * (size_t)in->n_cell + 4 * (size_t)in->n_place);
    const size_t mesh =
        (size_t)in->n_place * 8 + (size_t)in->n_point * 32 + (size_t)in->n_cell * 8 + own;
    const size_t bytes = mesh + hx_device_pattern_bytes(&st->made.pattern) +
                         hx_matrix_bytes(&st->made.matrix, st->dev) +
                         st->ops->fill_bytes(st->fill_state);
    if (bytes > st->range_bytes) st->range_bytes = bytes;
    if (bytes + st->old.bytes > st->most_bytes) st->most_bytes = bytes + st->old.bytes;
    const hx_device_pattern *const p = &st->made.pattern;
    st->made.bytes = hx_matrix_bytes(&st->made.matrix, st->dev) +
                     ((size_t)p->n_row + 1) * sizeof(int64_t) +
                     (size_t)p->n_entry * sizeof(int32_t);
    drop_input(st);
    return HX_OK;
}

/* Places of the arrays in a buffer of the host. */
typedef struct rows_room {
    size_t value, ptr, col, end;
} rows_room;

static rows_room lay_out(const hx_matrix_stages *st, int64_t n_row, int64_t n_entry)
{
    const size_t c = (size_t)hx_form_components(&st->form), n = (size_t)n_entry;
    rows_room at = {0};
    at.ptr = at.value + (n * c * c * sizeof(double) + 63) / 64 * 64;
    at.col = at.ptr + (((size_t)n_row + 1) * sizeof(int64_t) + 63) / 64 * 64;
    at.end = at.col + (n * sizeof(int32_t) + 63) / 64 * 64;
    return at;
}

size_t hx_matrix_stages_room(const hx_matrix_stages *st, int64_t n_row, int64_t n_entry)
{
    return lay_out(st, n_row, n_entry).end;
}

int hx_matrix_stages_fetch(hx_matrix_stages *st, int slot, char *to, hx_matrix_rows *rows)
{
    const hx_device_pattern *const p = &st->made.pattern;
    const hx_matrix *const m = &st->made.matrix;
    const rows_room at = lay_out(st, p->n_row, p->n_entry);
    const size_t n_value = (size_t)m->n_value * sizeof(double);
    const size_t n_ptr = ((size_t)p->n_row + 1) * sizeof(int64_t);
    *rows = (hx_matrix_rows){.n_row = p->n_row,
                             .ptr = (int64_t *)(void *)(to + at.ptr),
                             .col = (int32_t *)(void *)(to + at.col),
                             .value = (double *)(void *)(to + at.value)};
    if (n_value > at.ptr) return HX_RAISE(HX_EINTERNAL, "rows of a matrix with padding");
    HX_TRY(st->ops->fetch(st->dev, slot, rows->value, m->d_value, n_value));
    HX_TRY(st->ops->fetch(st->dev, slot, rows->ptr, p->d_row_ptr, n_ptr));
    return st->ops->fetch(st->dev, slot, rows->col, p->d_col, (size_t)p->n_entry * sizeof(int32_t));
}

static void free_made(hx_matrix_stages *st, hx_matrix_made *made)
{
    hx_matrix_free(&made->matrix, st->dev);
    hx_device_pattern_free(&made->pattern, st->dev);
    memset(made, 0, sizeof *made);
}

int hx_matrix_stages_next(hx_matrix_stages *st)
{
    hx_matrix_made *const old = &st->old;
    double seconds;
    if (old->is_queued) {
        HX_TRY(st->dev->ops->elapsed(st->dev, old->mark, old->mark + 1, &seconds));
        st->fill_seconds += seconds;
    }
    free_made(st, old);
    *old = st->made;
    memset(&st->made, 0, sizeof st->made);
    return HX_OK;
}

void hx_matrix_stages_drop(hx_matrix_stages *st)
{
    if (!st->dev || !st->ops) return;
    drop_input(st);
    free_made(st, &st->made);
    free_made(st, &st->old);
}

/* Bytes per row on a device: kept by the fill, and needed by the builder of the pattern
 * meanwhile. */
enum { FILL_BYTES = 64, BUILD_BYTES = 300 };

static void device_cost(const hx_matrix_stages *st, int widest, int several, hx_range_cost *cost)
{
    const int c = hx_form_components(&st->form), slot = widest > 255 ? 2 : 1;
    const int64_t block = (int64_t)sizeof(int32_t) + c * c * (int64_t)sizeof(double);
    /* the builder's memory is free when the values are made, so at least these bytes per row are
     * counted */
    const int64_t least = FILL_BYTES + (st->part == HX_PART_LOWER ? 1 : 8) * block;
    /* points and pairs of a cell; the largest numbers if there are several kinds */
    const int64_t n_point = st->n_cell_point;
    cost->device_cell = n_point * (int64_t)(sizeof(int32_t) + sizeof(uint32_t)) +
                        n_point * n_point * slot + (int64_t)sizeof(double);
    cost->device_point = 3 * (int64_t)sizeof(double) + (int64_t)sizeof(int64_t);
    cost->device_row =
        (int64_t)sizeof(int64_t) + FILL_BYTES + (BUILD_BYTES > least ? BUILD_BYTES - least : 0);
    cost->device_entry = block;
    if (!several) return;
    /* twice that, plus an eighth for blocks that fit several ranges */
    int64_t *const each[] = {&cost->device_cell, &cost->device_point, &cost->device_row,
                             &cost->device_entry};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) *each[i] = (*each[i] * 9 + 3) / 4;
}

void hx_matrix_stages_cost(const hx_matrix_stages *st, int widest, int several, int is_fetched,
                           int is_written, hx_range_cost *cost)
{
    const int c = hx_form_components(&st->form), n = several ? 2 : 1;
    const int64_t index = sizeof(int32_t), pointer = sizeof(int64_t), number = sizeof(double);
    const int places = st->build != HX_BUILD_THREE_STAGE;
    memset(cost, 0, sizeof *cost);
    device_cost(st, widest, several, cost);
    if (is_fetched) {
        cost->host_row = n * pointer;
        cost->host_entry = n * (index + c * c * number);
    }
    if (is_written) { /* as scalar rows, with their columns as points of the mesh */
        cost->host_row += n * c * pointer;
        cost->host_entry += n * (index + c * c * (number + index));
    }
    /* the mesh of the next range, and the lists of points and cells of that range, this one and the
     * last one */
    if (several) {
        cost->host_cell = 8 * index + number + (places ? 8 * index : 0) + 3 * index;
        cost->host_point = 3 * number + (places ? pointer : 0) + 3 * index;
    }
}
