#include "matrix.h"

#include <stdlib.h>
#include <string.h>

const char *hx_format_name(hx_format format)
{
    static const char *const name[HX_N_FORMAT] = {"bsr", "sliced bsr", "csr", "ell", "coo"};
    return name[format];
}

static int check_spec(const hx_device *dev, const hx_device_pattern *pattern,
                      const hx_matrix_spec *spec)
{
    const hx_matrix_ops *ops = dev->ops->matrix;
    if (!ops) return HX_RAISE(HX_EINPUT, "device '%s' does not support matrices", dev->ops->name);
    const unsigned formats = spec->part == HX_PART_LOWER ? ops->lower_formats : ops->formats;
    if (!(formats & 1u << spec->format))
        return HX_RAISE(HX_EINPUT, "device '%s' does not support a %s matrix in format %s",
                        dev->ops->name, spec->part == HX_PART_LOWER ? "lower" : "full",
                        hx_format_name(spec->format));
    if (spec->single && !(ops->single_formats & 1u << spec->format))
        return HX_RAISE(HX_EINPUT, "device '%s' does not support a %s matrix in single precision",
                        dev->ops->name, hx_format_name(spec->format));
    if (spec->part != pattern->part)
        return HX_RAISE(HX_EINTERNAL, "the matrix and its pattern have different parts");
    if (spec->format >= HX_FORMAT_CSR && pattern->n_point * spec->components > INT32_MAX)
        return HX_RAISE(
            HX_EENV, "format %s counts unknowns in 32 bits, but there are %lld; use bsr",
            hx_format_name(spec->format), (long long)(pattern->n_point * spec->components));
    return HX_OK;
}

int hx_matrix_create(hx_matrix *m, hx_device *dev, const hx_device_pattern *pattern,
                     const hx_matrix_spec *spec)
{
    memset(m, 0, sizeof *m);
    HX_TRY(check_spec(dev, pattern, spec));
    m->spec = *spec;
    m->pattern = *pattern;
    const int rc = dev->ops->matrix->create(dev, m);
    if (rc < 0) hx_matrix_free(m, dev);
    return rc;
}

static size_t index_bytes(const hx_matrix *m)
{
    const size_t n_row = (size_t)m->pattern.n_row, n_value = (size_t)m->n_value;
    const size_t c = (size_t)m->spec.components;
    switch (m->spec.format) {
    case HX_FORMAT_BSRS:
        return ((n_row + HX_SLICE - 1) / HX_SLICE + 1) * sizeof(int64_t) +
               n_value / (c * c) * sizeof(int32_t);
    case HX_FORMAT_CSR:
        return (n_row * c + 1) * sizeof(int64_t) + n_value * sizeof(int32_t);
    case HX_FORMAT_ELL:
        return n_value * sizeof(int32_t);
    case HX_FORMAT_COO:
        return n_value * 2 * sizeof(int32_t);
    default:
        return 0;
    }
}

size_t hx_matrix_bytes(const hx_matrix *m, const hx_device *dev)
{
    const size_t value = m->spec.single ? sizeof(float) : sizeof(double);
    return index_bytes(m) + (size_t)m->n_value * value + dev->ops->matrix->plan_bytes(m);
}

void hx_matrix_free(hx_matrix *m, hx_device *dev)
{
    if (dev && dev->ops && dev->ops->matrix) dev->ops->matrix->destroy(dev, m);
    memset(m, 0, sizeof *m);
}

void hx_device_cut_free(hx_device_cut *cut, hx_device *dev)
{
    void *const owned[] = {cut->d_cell, cut->d_point, cut->d_modulus};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        if (owned[i]) dev->ops->release(dev, owned[i]);
    memset(cut, 0, sizeof *cut);
}

void hx_matrix_rows_free(hx_matrix_rows *rows)
{
    free(rows->ptr);
    free(rows->col);
    free(rows->value);
    memset(rows, 0, sizeof *rows);
}
