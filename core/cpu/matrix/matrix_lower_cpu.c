/* The product of a lower bsr matrix on the CPU. Each block is read once; it is used for its row
 * and, transposed, for its column. A thread processes parts, each of consecutive rows.
 * Contributions of a part to rows of earlier parts are stored separately (`aside`) and added at the
 * end, in the order of the parts. The order of the sums therefore does not depend on the number of
 * threads. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../base/vectorised.h"
#include "matrix_cpu.h"

typedef struct lower {
    int64_t n_part, n_each; /* number of rows of a part */
    /* [n_entry] column - first row; for rows of earlier parts, -1 - index in `outer` */
    int32_t *local;
    int64_t *outer_begin;  /* [n_part + 1] first entry of each part in `outer` */
    int32_t *outer;        /* rows of earlier parts that a part adds to */
    double *aside;         /* [outer][c] */
    int64_t n_shared;      /* number of rows to which other parts add */
    int32_t *shared;       /* [n_shared] */
    int64_t *shared_begin; /* [n_shared + 1] */
    int64_t *shared_place; /* indices in `aside`, ascending, and hence by part */
} lower;                   /* (all owned) */

enum { LEAST_PART = 1024, MOST_PARTS = 256 };

static void cut_parts(lower *s, int64_t n_row)
{
    s->n_each = (n_row + MOST_PARTS - 1) / MOST_PARTS;
    if (s->n_each < LEAST_PART) s->n_each = LEAST_PART;
    s->n_part = (n_row + s->n_each - 1) / s->n_each;
}

static int64_t part_end(const lower *s, int64_t n_row, int64_t part)
{
    const int64_t end = (part + 1) * s->n_each;
    return end < n_row ? end : n_row;
}

/* Numbers the outer rows of each part in order of first use, and stores them in s->outer if that is
 * not NULL. stamp and index: [n_row], scratch. */
static int64_t number_outer(lower *s, const hx_device_pattern *p, int32_t *stamp, int32_t *index)
{
    int64_t n = 0;
    for (int64_t r = 0; r < p->n_row; r++) stamp[r] = -1;
    for (int64_t part = 0; part < s->n_part; part++) {
        const int64_t first = part * s->n_each, end = part_end(s, p->n_row, part);
        s->outer_begin[part] = n;
        for (int64_t k = p->d_row_ptr[first]; k < p->d_row_ptr[end]; k++) {
            const int32_t col = p->d_col[k];
            s->local[k] = (int32_t)(col - first);
            if (col >= first) continue;
            if (stamp[col] != part) {
                stamp[col] = (int32_t)part;
                index[col] = (int32_t)(n - s->outer_begin[part]);
                if (s->outer) s->outer[n] = col;
                n++;
            }
            s->local[k] = -1 - index[col];
        }
    }
    s->outer_begin[s->n_part] = n;
    return n;
}

/* Lists for each shared row where its sums are in `aside`. count[n_row]: zeroed scratch. */
static int list_shared(lower *s, int64_t n_row, int32_t *count)
{
    const int64_t n_outer = s->outer_begin[s->n_part];
    int64_t n = 0;
    for (int64_t k = 0; k < n_outer; k++) s->n_shared += count[s->outer[k]]++ == 0;
    HX_TRY(hx_alloc_raw(&s->shared, (size_t)s->n_shared, sizeof *s->shared, "lower product"));
    HX_TRY(hx_alloc(&s->shared_begin, (size_t)s->n_shared + 1, sizeof *s->shared_begin,
                    "lower product"));
    HX_TRY(
        hx_alloc_raw(&s->shared_place, (size_t)n_outer, sizeof *s->shared_place, "lower product"));
    for (int64_t r = 0; r < n_row; r++) {
        if (count[r] == 0) continue;
        s->shared[n] = (int32_t)r;
        s->shared_begin[n + 1] = s->shared_begin[n] + count[r];
        count[r] = (int32_t)n++;
    }
    for (int64_t k = 0; k < n_outer; k++)
        s->shared_place[s->shared_begin[count[s->outer[k]]]++] = k;
    for (int64_t i = s->n_shared; i > 0; i--) s->shared_begin[i] = s->shared_begin[i - 1];
    s->shared_begin[0] = 0;
    return HX_OK;
}

static int create_lower(lower *s, const hx_device_pattern *p, int c)
{
    int32_t *stamp = NULL, *index = NULL, *count = NULL;
    const size_t n_row = (size_t)p->n_row;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&stamp, n_row, sizeof *stamp, "lower product"));
    HX_TRY_FAIL(hx_alloc_raw(&index, n_row, sizeof *index, "lower product"));
    HX_TRY_FAIL(hx_alloc(&count, n_row, sizeof *count, "lower product"));
    HX_TRY_FAIL(hx_alloc_raw(&s->local, (size_t)p->n_entry, sizeof *s->local, "lower product"));
    HX_TRY_FAIL(
        hx_alloc(&s->outer_begin, (size_t)s->n_part + 1, sizeof *s->outer_begin, "lower product"));
    const size_t n_outer = (size_t)number_outer(s, p, stamp, index);
    HX_TRY_FAIL(hx_alloc_raw(&s->outer, n_outer, sizeof *s->outer, "lower product"));
    HX_TRY_FAIL(hx_alloc(&s->aside, n_outer * (size_t)c, sizeof *s->aside, "lower product"));
    number_outer(s, p, stamp, index);
    HX_TRY_FAIL(list_shared(s, p->n_row, count));
    rc = HX_OK;
fail:
    free(stamp);
    free(index);
    free(count);
    return rc;
}

int hx_cpu_lower_create(const hx_matrix *m, void **plan)
{
    lower *s;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "lower product"));
    *plan = s;
    cut_parts(s, m->pattern.n_row);
    return create_lower(s, &m->pattern, m->spec.components);
}

typedef double eight __attribute__((vector_size(64)));

/* For block a, adds a xb to the row's sum, and a' times the row's x to yb. */
HX_INLINED void block3(const double *a, const double *xb, const double *xr, eight *sum,
                       double *last, double *yb)
{
    const double x0 = xb[0], x1 = xb[1], x2 = xb[2];
    const eight times = {x0, x1, x2, x0, x1, x2, x0, x1};
    eight block;
    memcpy(&block, a, sizeof block);
    *sum += block * times;
    *last += a[8] * x2;
    for (int i = 0; i < 3; i++) yb[i] += a[i] * xr[0] + a[3 + i] * xr[1] + a[6 + i] * xr[2];
}

/* Columns ascend: first those of earlier parts, then those of this part, the diagonal last. */
HX_INLINED void rows3_lanes(const hx_matrix *m, const lower *s, int64_t part, const double *x,
                            double *y)
{
    const hx_device_pattern *const p = &m->pattern;
    const int64_t first = part * s->n_each, end = part_end(s, p->n_row, part);
    const double *a = (const double *)m->d_value + 9 * p->d_row_ptr[first], *const own_x =
                                                                                x + 3 * first;
    const int32_t *const outer = s->outer + s->outer_begin[part], *const local = s->local;
    double *const aside = s->aside + 3 * s->outer_begin[part], *const own_y = y + 3 * first;
    for (int64_t r = first; r < end; r++) {
        const int64_t diagonal = p->d_row_ptr[r + 1] - 1;
        const double xr[3] = {x[3 * r], x[3 * r + 1], x[3 * r + 2]};
        eight sum = {0.0};
        double last = 0.0, none[3] = {0.0};
        int64_t k = p->d_row_ptr[r];
        for (; k < diagonal && local[k] < 0; k++, a += 9) {
            const int64_t at = -1 - (int64_t)local[k];
            block3(a, x + 3 * (int64_t)outer[at], xr, &sum, &last, aside + 3 * at);
        }
        for (; k < diagonal; k++, a += 9)
            block3(a, own_x + 3 * (int64_t)local[k], xr, &sum, &last,
                   own_y + 3 * (int64_t)local[k]);
        block3(a, xr, xr, &sum, &last, none);
        a += 9;
        y[3 * r] += sum[0] + sum[1] + sum[2];
        y[3 * r + 1] += sum[3] + sum[4] + sum[5];
        y[3 * r + 2] += sum[6] + sum[7] + last;
    }
}
HX_VERSIONS(rows3, (const hx_matrix *m, const lower *s, int64_t part, const double *x, double *y),
            (m, s, part, x, y))

static void multiply_part3(const hx_matrix *m, const lower *s, int64_t part, const double *x,
                           double *y)
{
    const int64_t first = part * s->n_each, end = part_end(s, m->pattern.n_row, part);
    const int64_t n_outer = s->outer_begin[part + 1] - s->outer_begin[part];
    memset(y + 3 * first, 0, (size_t)(end - first) * 3 * sizeof *y);
    memset(s->aside + 3 * s->outer_begin[part], 0, (size_t)n_outer * 3 * sizeof *s->aside);
    rows3(m, s, part, x, y);
}

static void multiply_part1(const hx_matrix *m, const lower *s, int64_t part, const double *x,
                           double *y)
{
    const hx_device_pattern *p = &m->pattern;
    const int64_t first = part * s->n_each, end = part_end(s, p->n_row, part);
    const double *const value = m->d_value;
    const int32_t *const outer = s->outer + s->outer_begin[part];
    double *const aside = s->aside + s->outer_begin[part], *const own = y + first;
    memset(own, 0, (size_t)(end - first) * sizeof *own);
    memset(aside, 0, (size_t)(s->outer_begin[part + 1] - s->outer_begin[part]) * sizeof *aside);
    for (int64_t r = first; r < end; r++) {
        const int64_t last = p->d_row_ptr[r + 1] - 1;
        double sum = value[last] * x[r];
        for (int64_t k = p->d_row_ptr[r]; k < last; k++) {
            const int32_t at = s->local[k];
            sum += value[k] * x[at >= 0 ? first + at : (int64_t)outer[-1 - at]];
            *(at >= 0 ? own + at : aside + (-1 - at)) += value[k] * x[r];
        }
        y[r] += sum;
    }
}

void hx_cpu_lower_multiply(const hx_matrix *m, const double *x, double *y)
{
    const lower *s = m->plan;
    const int c = m->spec.components;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 1)
        for (int64_t part = 0; part < s->n_part; part++) {
            if (c == 3)
                multiply_part3(m, s, part, x, y);
            else
                multiply_part1(m, s, part, x, y);
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < s->n_shared; i++)
            for (int64_t k = s->shared_begin[i]; k < s->shared_begin[i + 1]; k++)
                for (int t = 0; t < c; t++)
                    y[c * (int64_t)s->shared[i] + t] += s->aside[c * s->shared_place[k] + t];
    }
}

static size_t bytes_of(size_t n_entry, size_t n_part, size_t n_outer, size_t n_shared, size_t c)
{
    return n_entry * sizeof(int32_t) + (n_part + 1) * sizeof(int64_t) +
           n_outer * (sizeof(int32_t) + c * sizeof(double) + sizeof(int64_t)) +
           n_shared * (sizeof(int32_t) + sizeof(int64_t)) + sizeof(int64_t);
}

size_t hx_cpu_lower_bytes(const hx_matrix *m)
{
    const lower *s = m->plan;
    return bytes_of((size_t)m->pattern.n_entry, (size_t)s->n_part,
                    (size_t)s->outer_begin[s->n_part], (size_t)s->n_shared,
                    (size_t)m->spec.components);
}

/* Counts rows before `first` that the cells of a point contain and no earlier point of the part
 * had. */
static int64_t count_outer(const hx_incidence *in, int64_t point, int64_t first, int32_t *stamp,
                           int64_t *n_shared)
{
    int64_t n = 0;
    for (int64_t k = in->point_ptr[point]; k < in->point_ptr[point + 1]; k++) {
        const int64_t cell = hx_incidence_cell(in, in->point_place[k]);
        const int32_t *const other = in->point + hx_incidence_first(in, cell);
        for (int b = 0; b < hx_incidence_count(in, cell); b++) {
            if (other[b] >= first || stamp[other[b]] == (int32_t)first) continue;
            *n_shared += stamp[other[b]] < 0;
            stamp[other[b]] = (int32_t)first;
            n++;
        }
    }
    return n;
}

size_t hx_cpu_lower_expected(const hx_incidence *in, int components)
{
    lower s = {0};
    int32_t *stamp = NULL;
    int64_t n_outer = 0, n_shared = 0, n_entry = 0;
    cut_parts(&s, in->n_point);
    if (hx_pattern_count(in, HX_PART_LOWER, &n_entry, NULL) < 0 ||
        hx_alloc_raw(&stamp, (size_t)in->n_point, sizeof *stamp, "lower product") < 0) {
        hx_error_clear();
        return 0;
    }
    for (int64_t a = 0; a < in->n_point; a++) stamp[a] = -1;
    for (int64_t a = 0; a < in->n_point; a++)
        n_outer += count_outer(in, a, a / s.n_each * s.n_each, stamp, &n_shared);
    free(stamp);
    return bytes_of((size_t)n_entry, (size_t)s.n_part, (size_t)n_outer, (size_t)n_shared,
                    (size_t)components);
}

void hx_cpu_lower_free(void *plan)
{
    lower *s = plan;
    if (!s) return;
    void *const owned[] = {s->local,  s->outer_begin,  s->outer,       s->aside,
                           s->shared, s->shared_begin, s->shared_place};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    free(s);
}
