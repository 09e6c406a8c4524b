/* Sparse matrices of the device: patterns of every builder compared with the host's, values of
 * every fill and products in every format compared with a dense K. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/matrix/matrix.h"
#include "selftest.h"
#include "selftest_sample.h"

enum { N_SAMPLE = 4, N_OWNED = 9 };

/* A sample with a dense K, and the input of matrices on the device. */
typedef struct part {
    hx_sample s;
    double *k, *x, *kx, *y, largest; /* k[n][n], its largest entry; [n] (owned, in one) */
    hx_fill_input input;
    hx_device *dev;
    void *d_owned[N_OWNED];
    int n_owned;
} part;

static int put_matrix_part(part *p, const void *d_out, const void *from, int64_t n, size_t size)
{
    if (!from) return HX_OK;
    HX_TRY(hx_device_put(p->dev, &p->d_owned[p->n_owned], from, (size_t)n * size));
    memcpy((void *)d_out, &p->d_owned[p->n_owned++], sizeof(void *));
    return HX_OK;
}

#define PUT(part, to, from, n) HX_TRY(put_matrix_part((part), &(to), (from), (n), sizeof *(from)))

static int make_part(part *p, hx_device *dev, const hx_sample_spec *spec)
{
    p->dev = dev;
    HX_TRY(hx_sample_create(&p->s, spec));
    const size_t n = (size_t)p->s.n;
    HX_TRY(hx_alloc(&p->k, n * n + 3 * n, sizeof *p->k, "a dense matrix"));
    p->x = p->k + n * n;
    p->kx = p->x + n;
    p->y = p->kx + n;
    hx_sample_dense(&p->s, p->k);
    for (size_t i = 0; i < n * n; i++) hx_selftest_worst(&p->largest, fabs(p->k[i]));
    for (int64_t i = 0; i < p->s.n; i++) p->x[i] = hx_sample_random(9, i, -1.0, 1.0);
    for (size_t i = 0; i < n; i++) p->kx[i] = hx_selftest_dot((int64_t)n, p->k + i * n, p->x);
    const hx_space *const space = &p->s.problem.space;
    const hx_incidence from = hx_incidence_of_space(space);
    hx_incidence *const to = &p->input.incidence;
    *to = from;
    PUT(p, to->cell_ptr, from.cell_ptr, from.n_cell + 1);
    PUT(p, to->pair_ptr, from.pair_ptr, from.n_cell + 1);
    PUT(p, to->place_cell, from.place_cell, from.n_place);
    PUT(p, to->kind, from.kind, from.n_cell);
    PUT(p, to->point, from.point, from.n_place);
    PUT(p, to->point_ptr, from.point_ptr, from.n_point + 1);
    PUT(p, to->point_place, from.point_place, from.n_place);
    p->input.form = (hx_form){p->s.c == 3 ? HX_FORM_ELASTICITY : HX_FORM_CONDUCTION,
                              p->s.problem.lambda, p->s.problem.mu};
    p->input.rule = space->rule;
    PUT(p, p->input.d_xyz, space->xyz, 3 * space->n_point);
    PUT(p, p->input.d_modulus, p->s.modulus, p->s.mesh.n_elem);
    return HX_OK;
}

/* --- patterns --- */

static int compare_pattern(part *p, const hx_device_pattern *found, const hx_pattern *expected,
                           double *n_other)
{
    const size_t n_ptr = (size_t)expected->n_row + 1, n_col = (size_t)expected->n_entry;
    int64_t *ptr = NULL;
    int32_t *col = NULL;
    int rc;
    if (found->n_row != expected->n_row || found->n_entry != expected->n_entry)
        return HX_RAISE(HX_ENUMERIC, "%lld %s, not %lld", (long long)found->n_entry,
                        hx_noun(found->n_entry, "entry", "entries"), (long long)expected->n_entry);
    HX_TRY_FAIL(hx_alloc(&ptr, n_ptr, sizeof *ptr, "rows"));
    HX_TRY_FAIL(hx_alloc(&col, n_col, sizeof *col, "columns"));
    HX_TRY_FAIL(p->dev->ops->download(p->dev, ptr, found->d_row_ptr, n_ptr * sizeof *ptr));
    HX_TRY_FAIL(p->dev->ops->download(p->dev, col, found->d_col, n_col * sizeof *col));
    for (size_t i = 0; i < n_ptr; i++) *n_other += ptr[i] != expected->row_ptr[i];
    for (size_t i = 0; i < n_col; i++) *n_other += col[i] != expected->col[i];
fail:
    free(ptr);
    free(col);
    return rc;
}

static int build(part *p, const hx_pattern_spec *spec, double *n_other)
{
    const hx_pattern_spec plain = {.part = spec->part};
    const hx_incidence incidence = hx_incidence_of_space(&p->s.problem.space);
    hx_device_pattern found;
    hx_pattern expected;
    memset(&found, 0, sizeof found);
    memset(&expected, 0, sizeof expected);
    int rc = hx_pattern_build(&expected, &incidence, &plain, NULL);
    if (rc >= 0) rc = p->dev->ops->matrix->pattern(p->dev, &p->input.incidence, spec, &found, NULL);
    if (rc >= 0) rc = compare_pattern(p, &found, &expected, n_other);
    hx_device_pattern_free(&found, p->dev);
    hx_pattern_free(&expected);
    return rc;
}

static int check_patterns(hx_selftest *t, part *parts)
{
    for (int b = 0; b < HX_N_BUILD; b++) {
        double n_other = 0.0;
        int rc = HX_OK;
        if (!(t->parts.device->matrix->builds & 1u << b)) continue;
        hx_selftest_begin(t, "pattern, %s", hx_build_name((hx_build)b));
        for (int i = 0; i < N_SAMPLE && rc >= 0; i++)
            for (int half = 0; half < 2 && rc >= 0; half++) {
                const hx_pattern_spec spec = {.build = (hx_build)b, .part = (hx_part)half};
                rc = build(&parts[i], &spec, &n_other);
            }
        HX_TRY(hx_selftest_end(t, rc, n_other, 0.0, "the host's pattern"));
    }
    return HX_OK;
}

/* --- values and products --- */

/* Compares all values of the rows, and their number; for a lower matrix both triangles. */
static int compare_values(part *p, const hx_matrix *m, double *worst)
{
    const int c = p->s.c;
    const size_t n = (size_t)p->s.n;
    hx_matrix_rows rows;
    double *left;
    HX_TRY(hx_alloc_raw(&left, n * n, sizeof *left, "a dense matrix"));
    const int rc = p->dev->ops->matrix->rows(p->dev, m, 0, m->pattern.n_row, &rows);
    if (rc < 0) {
        free(left);
        return rc;
    }
    memcpy(left, p->k, n * n * sizeof *left);
    for (int64_t r = 0; r < m->pattern.n_row; r++)
        for (int64_t e = rows.ptr[r]; e < rows.ptr[r + 1]; e++)
            for (int i = 0; i < c * c; i++) {
                const size_t row = (size_t)(c * r + i / c);
                const size_t col = (size_t)(c * (int64_t)rows.col[e] + i % c);
                const double v = rows.value[e * c * c + i];
                left[row * n + col] -= v;
                if (m->spec.part == HX_PART_LOWER && rows.col[e] < r) left[col * n + row] -= v;
            }
    for (size_t i = 0; i < n * n; i++) hx_selftest_worst(worst, fabs(left[i]) / p->largest);
    hx_matrix_rows_free(&rows);
    free(left);
    return HX_OK;
}

static int compare_product(part *p, const hx_matrix *m, double *worst)
{
    hx_device *const dev = p->dev;
    const size_t bytes = (size_t)p->s.n * sizeof(double);
    double *d_x = NULL, *d_y = NULL;
    int rc;
    HX_TRY_FAIL(hx_device_put(dev, &d_x, p->x, bytes));
    HX_TRY_FAIL(hx_selftest_poisoned(dev, p->s.n, &d_y));
    HX_TRY_FAIL(dev->ops->matrix->multiply(dev, m, d_x, d_y));
    HX_TRY_FAIL(dev->ops->download(dev, p->y, d_y, bytes));
    hx_selftest_worst(worst, hx_selftest_difference(p->s.n, p->y, p->kx));
fail:
    dev->ops->release(dev, d_x);
    dev->ops->release(dev, d_y);
    return rc;
}

typedef int compare(part *p, const hx_matrix *m, double *worst);

static int fill_and_compare(part *p, const hx_device_pattern *pattern, const hx_matrix_spec *spec,
                            hx_fill fill, compare *how, double *worst)
{
    const hx_matrix_ops *const ops = p->dev->ops->matrix;
    hx_matrix m;
    void *state = NULL;
    int rc;
    memset(&m, 0, sizeof m);
    HX_TRY_FAIL(hx_matrix_create(&m, p->dev, pattern, spec));
    HX_TRY_FAIL(ops->fill_create(&state, p->dev, fill, &m, &p->input));
    for (int again = 0; again < 2; again++) { /* a second design follows */
        HX_TRY_FAIL(ops->fill_run(state));
        HX_TRY_FAIL(how(p, &m, worst));
    }
fail:
    ops->fill_free(state);
    hx_matrix_free(&m, p->dev);
    return rc;
}

static int of_part(part *p, hx_matrix_spec spec, hx_fill fill, compare *how, double *worst)
{
    const hx_pattern_spec pattern_spec = {.part = spec.part};
    hx_device_pattern pattern;
    memset(&pattern, 0, sizeof pattern);
    spec.components = p->s.c;
    int rc =
        p->dev->ops->matrix->pattern(p->dev, &p->input.incidence, &pattern_spec, &pattern, NULL);
    if (rc >= 0) rc = fill_and_compare(p, &pattern, &spec, fill, how, worst);
    hx_device_pattern_free(&pattern, p->dev);
    return rc;
}

/* Checks hexahedra with all fills, and other cells with those that support them. */
static int check_fills(hx_selftest *t, part *parts)
{
    for (int fill = 0; fill < HX_N_FILL; fill++) {
        const hx_matrix_spec spec = {.format = HX_FORMAT_BSR};
        double worst = 0.0;
        int rc = HX_OK;
        if (!(t->parts.device->matrix->fills & 1u << fill)) continue;
        hx_selftest_begin(t, "fill %s", hx_fill_kinds[fill].name);
        for (int i = 0; i < N_SAMPLE && rc >= 0; i++) {
            rc = of_part(&parts[i], spec, (hx_fill)fill, compare_values, &worst);
            if (rc == HX_EINPUT && parts[i].s.spec.cells != HX_SAMPLE_HEXAHEDRA) rc = HX_OK;
        }
        HX_TRY(hx_selftest_end(t, rc, worst, 1e-13, "dense K"));
    }
    return HX_OK;
}

static int check_format(hx_selftest *t, part *parts, const hx_matrix_spec *spec)
{
    double worst = 0.0;
    int rc = HX_OK;
    hx_selftest_begin(t, "%s%s%s", hx_format_name(spec->format),
                      spec->part == HX_PART_LOWER ? ", lower half" : "",
                      spec->single ? ", single precision" : "");
    for (int i = 0; i < N_SAMPLE && rc >= 0; i++)
        rc = of_part(&parts[i], *spec, HX_FILL_GATHER, compare_product, &worst);
    return hx_selftest_end(t, rc, worst, spec->single ? 1e-6 : 1e-12, "K u by dense K");
}

int hx_selftest_matrices(hx_selftest *t)
{
    hx_sample_spec specs[N_SAMPLE] = {
        hx_sample_box(HX_SAMPLE_HEXAHEDRA, 4, 3, 5), hx_sample_box(HX_SAMPLE_HEXAHEDRA, 6, 5, 7),
        hx_sample_box(HX_SAMPLE_MIXED, 3, 2, 4), hx_sample_box(HX_SAMPLE_MIXED, 2, 1, 4)};
    part parts[N_SAMPLE];
    int rc = HX_OK;
    if (!t->parts.device->matrix) return HX_OK;
    memset(parts, 0, sizeof parts);
    specs[1].physics = HX_PHYSICS_HEAT;
    specs[3].element = HX_ELEMENT_QUADRATIC;
    for (int i = 0; i < N_SAMPLE; i++) {
        specs[i].contrast = 1e9;
        HX_TRY_FAIL(make_part(&parts[i], &t->device, &specs[i]));
    }
    HX_TRY_FAIL(check_patterns(t, parts));
    HX_TRY_FAIL(check_fills(t, parts));
    const hx_matrix_ops *const ops = t->parts.device->matrix;
    for (int half = 0; half < 2; half++)
        for (int format = 0; format < HX_N_FORMAT; format++)
            for (int single = 0; single < 2; single++) {
                const hx_matrix_spec spec = {(hx_format)format, (hx_part)half, single, 0};
                if (!((half ? ops->lower_formats : ops->formats) & 1u << format)) continue;
                if (single && !(ops->single_formats & 1u << format)) continue;
                HX_TRY_FAIL(check_format(t, parts, &spec));
            }
fail:
    for (int i = 0; i < N_SAMPLE; i++) {
        part *p = &parts[i];
        while (p->n_owned > 0) p->dev->ops->release(p->dev, p->d_owned[--p->n_owned]);
        free(p->k);
        hx_sample_free(&p->s);
    }
    return rc;
}
