/* Matrices on the CPU (matrix.h) in double precision: bsr, full or lower, and full csr. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../operator/assembled.h"
#include "../device/cpu_ops.h"
#include "matrix_cpu.h"

/* The host's pattern, whose memory is also the device's. */
static int cpu_pattern(hx_device *dev, const hx_incidence *d_incidence, const hx_pattern_spec *spec,
                       hx_device_pattern *pattern, hx_steps *steps)
{
    hx_pattern p;
    (void)dev;
    memset(pattern, 0, sizeof *pattern);
    HX_TRY(hx_pattern_build(&p, d_incidence, spec, steps));
    *pattern = (hx_device_pattern){.part = p.part,
                                   .row_first = p.row_first,
                                   .n_row = p.n_row,
                                   .n_point = p.n_point,
                                   .n_entry = p.n_entry,
                                   .d_row_ptr = p.row_ptr,
                                   .d_col = p.col,
                                   .max_row = p.max_row,
                                   .slot_bytes = p.slot_bytes,
                                   .n_pair = p.n_pair,
                                   .d_slot = p.slot,
                                   .d_point_ptr = p.point_ptr,
                                   .d_point_place = p.point_place};
    return HX_OK;
}

size_t hx_cpu_space_expected(const hx_space *space, const hx_matrix_spec *spec)
{
    const hx_incidence in = hx_incidence_of_space(space);
    const size_t plan =
        spec->part == HX_PART_LOWER ? hx_cpu_lower_expected(&in, spec->components) : 0;
    return hx_assembled_space_bytes(space, spec, 1) + hx_cpu_fill_expected(&in) + plan;
}

size_t hx_cpu_matrix_expected(const hx_mesh *mesh, const hx_matrix_spec *spec)
{
    const hx_space space = hx_space_linear(mesh);
    return hx_cpu_space_expected(&space, spec);
}

static int create_csr(hx_matrix *m)
{
    const hx_device_pattern *p = &m->pattern;
    const int c = m->spec.components;
    HX_TRY(hx_alloc_raw(&m->d_ptr, (size_t)(c * p->n_row) + 1, sizeof *m->d_ptr, "csr"));
    HX_TRY(hx_alloc_raw(&m->d_col, (size_t)m->n_value, sizeof *m->d_col, "csr"));
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < p->n_row; r++) {
        const int64_t n = p->d_row_ptr[r + 1] - p->d_row_ptr[r];
        for (int i = 0; i < c; i++) {
            const int64_t first = c * (c * p->d_row_ptr[r] + i * n);
            m->d_ptr[c * r + i] = first;
            for (int64_t k = 0; k < c * n; k++)
                m->d_col[first + k] =
                    (int32_t)(c * p->d_col[p->d_row_ptr[r] + k / c] + (int32_t)(k % c));
        }
    }
    m->d_ptr[c * p->n_row] = m->n_value;
    return HX_OK;
}

static int cpu_create(hx_device *dev, hx_matrix *m)
{
    const int c = m->spec.components;
    m->n_value = m->pattern.n_entry * c * c;
    if (m->spec.format == HX_FORMAT_CSR) HX_TRY(create_csr(m));
    /* a range of rows is never multiplied */
    const int is_whole = m->pattern.n_row == m->pattern.n_point;
    if (is_whole && m->spec.part == HX_PART_LOWER) HX_TRY(hx_cpu_lower_create(m, &m->plan));
    return dev->ops->alloc(dev, (size_t)m->n_value * sizeof(double), &m->d_value);
}

static void cpu_destroy(hx_device *dev, hx_matrix *m)
{
    free(m->d_ptr);
    free(m->d_row);
    free(m->d_col);
    dev->ops->release(dev, m->d_value);
    hx_cpu_lower_free(m->plan);
}

static size_t cpu_plan_bytes(const hx_matrix *m)
{
    return m->plan ? hx_cpu_lower_bytes(m) : 0;
}

static int cpu_matrix_diagonal(hx_device *dev, const hx_matrix *m, double *d_diag)
{
    const hx_device_pattern *p = &m->pattern;
    const int c = m->spec.components;
    (void)dev;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < p->n_row; r++) {
        const int n = (int)(p->d_row_ptr[r + 1] - p->d_row_ptr[r]);
        const int32_t *const col = p->d_col + p->d_row_ptr[r];
        int at = 0, stride;
        while (col[at] != r + p->row_first) at++; /* every row has the diagonal entry */
        const double *const k = (const double *)m->d_value + hx_cpu_block(m, r, n, at, &stride);
        for (int i = 0; i < c; i++) d_diag[c * r + i] = k[i * stride + i];
    }
    return HX_OK;
}

static int alloc_rows(hx_matrix_rows *rows, int64_t n_entry, int c)
{
    const size_t n = (size_t)n_entry;
    HX_TRY(hx_alloc_raw(&rows->ptr, (size_t)rows->n_row + 1, sizeof *rows->ptr, "rows"));
    HX_TRY(hx_alloc_raw(&rows->col, n, sizeof *rows->col, "rows"));
    return hx_alloc_raw(&rows->value, n * (size_t)(c * c), sizeof *rows->value, "rows");
}

static int cpu_rows(hx_device *dev, const hx_matrix *m, int64_t first, int64_t n_row,
                    hx_matrix_rows *rows)
{
    const int64_t *ptr = m->pattern.d_row_ptr;
    const int c = m->spec.components;
    (void)dev;
    *rows = (hx_matrix_rows){.first = first, .n_row = n_row};
    const int rc = alloc_rows(rows, ptr[first + n_row] - ptr[first], c);
    if (rc < 0) {
        hx_matrix_rows_free(rows);
        return rc;
    }
    rows->ptr[0] = 0;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n_row; r++) {
        const int64_t begin = ptr[first + r] - ptr[first];
        const int n = (int)(ptr[first + r + 1] - ptr[first + r]);
        rows->ptr[r + 1] = begin + n;
        memcpy(rows->col + begin, m->pattern.d_col + ptr[first + r], (size_t)n * sizeof *rows->col);
        for (int k = 0; k < n; k++) {
            int stride;
            const double *const from =
                (const double *)m->d_value + hx_cpu_block(m, first + r, n, k, &stride);
            for (int t = 0; t < c * c; t++)
                rows->value[(begin + k) * c * c + t] = from[t / c * stride + t % c];
        }
    }
    return HX_OK;
}

static int cpu_host_alloc(hx_device *dev, size_t bytes, void *out)
{
    (void)dev;
    return hx_alloc_raw(out, bytes, 1, "host buffer");
}

static void cpu_host_release(hx_device *dev, void *p)
{
    (void)dev;
    free(p);
}

static int cpu_fetch(hx_device *dev, int slot, void *to, const void *d_from, size_t bytes)
{
    (void)dev;
    (void)slot;
    memcpy(to, d_from, bytes);
    return HX_OK;
}

static int cpu_fetch_wait(hx_device *dev, int slot)
{
    (void)dev;
    (void)slot;
    return HX_OK;
}

const hx_matrix_ops hx_cpu_matrix_ops = {
    .formats = 1u << HX_FORMAT_BSR | 1u << HX_FORMAT_CSR,
    .lower_formats = 1u << HX_FORMAT_BSR,
    .fills = 1u << HX_FILL_GATHER | 1u << HX_FILL_SORT | 1u << HX_FILL_TRIPLETS,
    .builds = 1u << HX_BUILD_THREE_STAGE | 1u << HX_BUILD_SORT,
    .splines = 1,
    .pattern = cpu_pattern,
    .create = cpu_create,
    .destroy = cpu_destroy,
    .fill_create = hx_cpu_fill_create,
    .fill_run = hx_cpu_fill_run,
    .fill_free = hx_cpu_fill_free,
    .fill_bytes = hx_cpu_fill_bytes,
    .fill_steps = hx_cpu_fill_steps,
    .multiply = hx_cpu_matrix_multiply,
    .multiply_dot = hx_cpu_matrix_multiply_dot,
    .multiply_single = hx_cpu_matrix_multiply_single,
    .diagonal = cpu_matrix_diagonal,
    .rows = cpu_rows,
    .plan_bytes = cpu_plan_bytes,
    .cutter_create = hx_cpu_cutter_create,
    .cut = hx_cpu_cut,
    .cutter_free = hx_cpu_cutter_free,
    .shift = hx_cpu_shift,
    .host_alloc = cpu_host_alloc,
    .host_release = cpu_host_release,
    .fetch = cpu_fetch,
    .fetch_wait = cpu_fetch_wait,
};
