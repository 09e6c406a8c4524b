/* The product of a lower bsr matrix on the CPU: each block is read once, for its row and, turned,
 * for its column. Parts of consecutive rows are a thread's; what a part adds to rows of earlier
 * parts is kept aside and added when all are done, in the order of the parts: one order whatever
 * the number of threads. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "matrix_cpu.h"

typedef struct lower {
    int64_t n_part, n_each; /* rows of a part */
    int32_t *local;         /* [n_entry] column - first row, or -1 - its index among `outer` */
    int64_t *outer_begin;   /* [n_part + 1] */
    int32_t *outer;         /* rows of earlier parts that a part adds to */
    double *aside;          /* [outer][c] */
    int64_t n_shared;       /* rows that others add to */
    int32_t *shared;        /* [n_shared] */
    int64_t *shared_begin;  /* [n_shared + 1] */
    int64_t *shared_place;  /* in `aside`, ascending: by part */
} lower;                    /* (owned, all) */

static int64_t part_end(const lower *s, int64_t n_row, int64_t part)
{
    const int64_t end = (part + 1) * s->n_each;
    return end < n_row ? end : n_row;
}

/* Numbers the outer rows of each part by first use, in s->outer unless that is NULL. stamp and
 * index: [n_row], scratch. */
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

/* For each shared row where its sums lie aside; count[n_row]: zeroed scratch. */
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

static int create(lower *s, const hx_device_pattern *p, int c)
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

enum { LEAST_PART = 1024, MOST_PARTS = 256 };

int hx_cpu_lower_create(const hx_matrix *m, void **plan)
{
    const int64_t n_row = m->pattern.n_row;
    lower *s;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "lower product"));
    *plan = s;
    s->n_each = (n_row + MOST_PARTS - 1) / MOST_PARTS;
    if (s->n_each < LEAST_PART) s->n_each = LEAST_PART;
    s->n_part = (n_row + s->n_each - 1) / s->n_each;
    return create(s, &m->pattern, m->spec.components);
}

/* One row of blocks: what lies in it, and what its blocks turned add to others. */
#define ROW3(k, last)                                                                              \
    for (; k < last; k++) {                                                                        \
        const double *const a = value + 9 * k;                                                     \
        const int32_t at = s->local[k];                                                            \
        const double *const xb = x + 3 * (at >= 0 ? first + at : (int64_t)outer[-1 - at]);         \
        double *const yb = at >= 0 ? own + 3 * (int64_t)at : aside + 3 * (int64_t)(-1 - at);       \
        for (int i = 0; i < 3; i++) {                                                              \
            for (int j = 0; j < 3; j++) sum[i][j] += a[3 * i + j] * xb[j];                         \
            yb[i] += a[i] * xr[0] + a[3 + i] * xr[1] + a[6 + i] * xr[2];                           \
        }                                                                                          \
    }

static void multiply_part3(const hx_matrix *m, const lower *s, int64_t part, const double *x,
                           double *y)
{
    const hx_device_pattern *p = &m->pattern;
    const int64_t first = part * s->n_each, end = part_end(s, p->n_row, part);
    const double *const value = m->d_value;
    const int32_t *const outer = s->outer + s->outer_begin[part];
    double *const aside = s->aside + 3 * s->outer_begin[part], *const own = y + 3 * first;
    memset(own, 0, (size_t)(end - first) * 3 * sizeof *own);
    memset(aside, 0, (size_t)(s->outer_begin[part + 1] - s->outer_begin[part]) * 3 * sizeof *aside);
    for (int64_t r = first; r < end; r++) {
        int64_t k = p->d_row_ptr[r];
        const int64_t last = p->d_row_ptr[r + 1] - 1;
        const double *const xr = x + 3 * r, *const d = value + 9 * last;
        double sum[3][3] = {{0.0}}, *const yr = y + 3 * r;
        ROW3(k, last)
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) sum[i][j] += d[3 * i + j] * xr[j];
            yr[i] += sum[i][0] + sum[i][1] + sum[i][2];
        }
    }
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

size_t hx_cpu_lower_bytes(const hx_matrix *m)
{
    const lower *s = m->plan;
    const size_t n_outer = (size_t)s->outer_begin[s->n_part], c = (size_t)m->spec.components;
    return (size_t)m->pattern.n_entry * sizeof *s->local +
           ((size_t)s->n_part + 1) * sizeof *s->outer_begin +
           n_outer * (sizeof *s->outer + c * sizeof *s->aside + sizeof *s->shared_place) +
           (size_t)s->n_shared * (sizeof *s->shared + sizeof *s->shared_begin);
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
