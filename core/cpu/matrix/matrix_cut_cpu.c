/* The cells of a range of points. This is the CPU's counterpart of what a GPU does with a mesh that
 * it holds completely. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "matrix_cpu.h"

static int is_touched(const hx_incidence *in, int64_t cell, int64_t first, int64_t n)
{
    const int32_t *const p = in->point + cell * in->n_per_cell;
    for (int a = 0; a < in->n_per_cell; a++)
        if (p[a] >= first && p[a] < first + n) return 1;
    return 0;
}

static void find_cells(const hx_incidence *in, int64_t first, int64_t n, hx_device_cut *cut)
{
    int64_t lowest = INT64_MAX, highest = -1;
    for (int64_t e = 0; e < in->n_cell; e++) {
        const int32_t *const p = in->point + e * in->n_per_cell;
        if (!is_touched(in, e, first, n)) continue;
        for (int a = 0; a < in->n_per_cell; a++) {
            if (p[a] < lowest) lowest = p[a];
            if (p[a] > highest) highest = p[a];
        }
        cut->n_cell++;
    }
    if (cut->n_cell == 0) return;
    cut->first_point = lowest;
    cut->n_point = highest + 1 - lowest;
}

static void copy_cells(const hx_fill_input *whole, int64_t first, int64_t n,
                       const hx_device_cut *cut)
{
    const hx_incidence *const in = &whole->incidence;
    int64_t k = 0;
    for (int64_t e = 0; e < in->n_cell; e++) {
        if (!is_touched(in, e, first, n)) continue;
        cut->d_cell[k] = (int32_t)e;
        cut->d_modulus[k] = whole->d_modulus[e];
        for (int a = 0; a < in->n_per_cell; a++)
            cut->d_point[k * in->n_per_cell + a] =
                in->point[e * in->n_per_cell + a] - (int32_t)cut->first_point;
        k++;
    }
}

typedef struct cutter {
    hx_device *dev; /* (borrowed) */
    hx_fill_input whole;
} cutter;

int hx_cpu_cutter_create(void **out, hx_device *dev, const hx_fill_input *whole)
{
    cutter *c;
    *out = NULL;
    if (whole->incidence.n_per_cell == 0)
        return HX_RAISE(HX_EINPUT,
                        "a mesh of mixed cell types must be cut into ranges on the host");
    HX_TRY(hx_alloc(&c, 1, sizeof *c, "ranges of a mesh"));
    *c = (cutter){dev, *whole};
    *out = c;
    return HX_OK;
}

int hx_cpu_cut(void *of_cutter, int64_t first, int64_t n, hx_device_cut *cut)
{
    const cutter *const c = of_cutter;
    const hx_incidence *const in = &c->whole.incidence;
    hx_device *const dev = c->dev;
    memset(cut, 0, sizeof *cut);
    find_cells(in, first, n, cut);
    const size_t n_cell = (size_t)cut->n_cell, per_cell = (size_t)in->n_per_cell;
    HX_TRY(dev->ops->alloc(dev, n_cell * sizeof(int32_t), &cut->d_cell));
    HX_TRY(dev->ops->alloc(dev, n_cell * per_cell * sizeof(int32_t), &cut->d_point));
    HX_TRY(dev->ops->alloc(dev, n_cell * sizeof(double), &cut->d_modulus));
    copy_cells(&c->whole, first, n, cut);
    return HX_OK;
}

void hx_cpu_cutter_free(void *of_cutter)
{
    free(of_cutter);
}

int hx_cpu_shift(hx_device *dev, const hx_device_pattern *pattern, int64_t first_point,
                 int64_t first_entry)
{
    (void)dev;
    for (int64_t k = 0; k < pattern->n_entry; k++) pattern->d_col[k] += (int32_t)first_point;
    for (int64_t r = 0; r <= pattern->n_row; r++) pattern->d_row_ptr[r] += first_entry;
    return HX_OK;
}
