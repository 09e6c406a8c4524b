/* Values of a matrix on the CPU. The fill `gather`: each thread owns a few hundred rows and
 * computes the tiles of every cell that touches them, in ascending order. Each number is therefore
 * a single sum in a fixed order for any number of threads and any range of rows. Cells that touch
 * rows of several owners are computed by each of them. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "matrix_cpu.h"

/* number of rows; their values stay in a core's cache until they are complete */
enum { OWNED = 256 };

typedef struct filling {
    hx_fill fill;
    const hx_matrix *m; /* (borrowed) */
    hx_fill_input input;
    int64_t n_owner;
    int64_t *begin; /* [n_owner + 1] first cell of each owner in `cell` (owned) */
    int32_t *cell;
    hx_cpu_sort *sort; /* for the fills `sort` and `triplets` (owned) */
} filling;

static int by_number(const void *a, const void *b)
{
    const int32_t one = *(const int32_t *)a, two = *(const int32_t *)b;
    return (one > two) - (one < two);
}

static int64_t end_of(const hx_matrix *m, int64_t owner)
{
    const int64_t end = (owner + 1) * OWNED;
    return m->pattern.row_first + (end < m->pattern.n_row ? end : m->pattern.n_row);
}

/* Returns 1 if this place holds the lowest of the cell's points in first .. end - 1, and no earlier
 * place of the cell holds that point. */
static int is_first(const hx_incidence *in, uint32_t place, int64_t first, int64_t end)
{
    const int64_t cell = hx_incidence_cell(in, place);
    const int32_t *point = in->point + hx_incidence_first(in, cell), own = in->point[place];
    const int n = hx_incidence_count(in, cell);
    for (int a = 0; a < n; a++)
        if (point[a] >= first && point[a] < end &&
            (point[a] < own || (point[a] == own && hx_incidence_first(in, cell) + a < place)))
            return 0;
    return 1;
}

/* Lists the cells of the owner's rows, ascending, each once. */
static int64_t list_cells(const filling *s, int64_t owner, int32_t *list)
{
    const hx_incidence *in = &s->input.incidence;
    const int64_t first = s->m->pattern.row_first + owner * OWNED, end = end_of(s->m, owner);
    int64_t n = 0;
    for (int64_t k = in->point_ptr[first]; k < in->point_ptr[end]; k++)
        if (is_first(in, in->point_place[k], first, end))
            list[n++] = (int32_t)hx_incidence_cell(in, in->point_place[k]);
    qsort(list, (size_t)n, sizeof *list, by_number);
    return n;
}

/* Lists the cells of every owner, first at the positions of a list with repetitions, then
 * compacted. */
static int list_owners(filling *s)
{
    const hx_incidence *in = &s->input.incidence;
    const int64_t row_first = s->m->pattern.row_first, base = in->point_ptr[row_first];
    const int64_t n_all = in->point_ptr[row_first + s->m->pattern.n_row] - base;
    int32_t *all = NULL;
    int rc;
    s->n_owner = (s->m->pattern.n_row + OWNED - 1) / OWNED;
    HX_TRY_FAIL(hx_alloc_raw(&all, (size_t)n_all, sizeof *all, "cells of rows"));
    HX_TRY_FAIL(hx_alloc(&s->begin, (size_t)s->n_owner + 1, sizeof *s->begin, "cells of rows"));
#pragma omp parallel for schedule(static)
    for (int64_t o = 0; o < s->n_owner; o++)
        s->begin[o + 1] = list_cells(s, o, all + (in->point_ptr[row_first + o * OWNED] - base));
    for (int64_t o = 0; o < s->n_owner; o++) s->begin[o + 1] += s->begin[o];
    HX_TRY_FAIL(
        hx_alloc_raw(&s->cell, (size_t)s->begin[s->n_owner], sizeof *s->cell, "cells of rows"));
#pragma omp parallel for schedule(static)
    for (int64_t o = 0; o < s->n_owner; o++)
        memcpy(s->cell + s->begin[o], all + (in->point_ptr[row_first + o * OWNED] - base),
               (size_t)(s->begin[o + 1] - s->begin[o]) * sizeof *s->cell);
    rc = HX_OK;
fail:
    free(all);
    return rc;
}

/* Adds the tiles of corner a of a cell to its row. */
static void add_corner_row(const hx_matrix *m, int64_t row, int64_t pair, const hx_cpu_tiles *tiles)
{
    const hx_device_pattern *p = &m->pattern;
    const int n = (int)(p->d_row_ptr[row + 1] - p->d_row_ptr[row]), c = m->spec.components;
    for (int b = 0; b < HX_CELL_LANES; b++) {
        const int slot = hx_slot_at(p->d_slot, p->slot_bytes, pair + b);
        int stride;
        if (slot < 0) continue;
        double *const k = (double *)m->d_value + hx_cpu_block(m, row, n, slot, &stride);
        if (c == 1) {
            k[0] += tiles->tile[0][b];
            continue;
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) k[i * stride + j] += tiles->tile[3 * i + j][b];
    }
}

static void fill_owner(const filling *s, int64_t owner)
{
    const hx_matrix *m = s->m;
    const hx_incidence *in = &s->input.incidence;
    const int64_t base = m->pattern.row_first, first = base + owner * OWNED, end = end_of(m, owner);
    const int64_t *ptr = m->pattern.d_row_ptr;
    /* NOLINTNEXTLINE(bugprone-misplaced-widening-cast): at most 9 */
    const size_t block = (size_t)(m->spec.components * m->spec.components);
    memset((double *)m->d_value + ptr[first - base] * (int64_t)block, 0,
           (size_t)(ptr[end - base] - ptr[first - base]) * block * sizeof(double));
    if (in->spline) {
        for (int64_t k = s->begin[owner]; k < s->begin[owner + 1]; k++)
            hx_cpu_add_spline(m, &s->input, s->cell[k], first, end);
        return;
    }
    if (in->kind) {
        for (int64_t k = s->begin[owner]; k < s->begin[owner + 1]; k++)
            hx_cpu_add_points(m, &s->input, s->cell[k], first, end);
        return;
    }
    for (int64_t k = s->begin[owner]; k < s->begin[owner + 1]; k++) {
        const int64_t cell = s->cell[k];
        const int32_t *point = in->point + 8 * cell;
        unsigned corners = 0;
        double x[24];
        hx_cpu_tiles rows[8];
        for (int a = 0; a < 8; a++) {
            corners |= (unsigned)(point[a] >= first && point[a] < end) << a;
            memcpy(x + 3 * a, s->input.d_xyz + 3 * (int64_t)point[a], 3 * sizeof *x);
        }
        hx_cpu_cell_tiles(&s->input.form, x, s->input.d_modulus[cell], corners, rows);
        for (int a = 0; a < 8; a++)
            if (corners >> a & 1) add_corner_row(m, point[a] - base, 64 * cell + 8 * a, &rows[a]);
    }
}

size_t hx_cpu_fill_expected(const hx_incidence *in)
{
    const int64_t n_owner = (in->n_point + OWNED - 1) / OWNED;
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t o = 0; o < n_owner; o++) {
        const int64_t first = o * OWNED;
        const int64_t end = first + OWNED < in->n_point ? first + OWNED : in->n_point;
        for (int64_t k = in->point_ptr[first]; k < in->point_ptr[end]; k++)
            n += is_first(in, in->point_place[k], first, end);
    }
    return ((size_t)n_owner + 1) * sizeof(int64_t) + (size_t)n * sizeof(int32_t);
}

int hx_cpu_fill_create(void **state, hx_device *dev, hx_fill fill, const hx_matrix *m,
                       const hx_fill_input *input)
{
    filling *s;
    int rc;
    (void)dev;
    *state = NULL;
    if (input->incidence.spline && fill != HX_FILL_GATHER)
        return HX_RAISE(HX_EINPUT, "device 'cpu' supports only fill 'gather' for splines, not '%s'",
                        hx_fill_kinds[fill].name);
    if (input->incidence.kind && (fill != HX_FILL_GATHER || !input->rule))
        return HX_RAISE(HX_EINPUT,
                        "device 'cpu' supports only fill 'gather' for quadratic elements, not '%s'",
                        hx_fill_kinds[fill].name);
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "fill"));
    s->fill = fill;
    s->m = m;
    s->input = *input;
    if (fill == HX_FILL_GATHER)
        HX_TRY_FAIL(list_owners(s));
    else
        HX_TRY_FAIL(hx_cpu_sort_create(&s->sort, m, &s->input, fill == HX_FILL_SORT));
    *state = s;
    return HX_OK;
fail:
    hx_cpu_fill_free(s);
    return rc;
}

int hx_cpu_fill_run(void *state)
{
    const filling *s = state;
    if (s->sort) return hx_cpu_sort_run(s->sort);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t o = 0; o < s->n_owner; o++) fill_owner(s, o);
    return HX_OK;
}

size_t hx_cpu_fill_bytes(const void *state)
{
    const filling *s = state;
    if (s->sort) return hx_cpu_sort_bytes(s->sort);
    return ((size_t)s->n_owner + 1) * sizeof(int64_t) +
           (size_t)s->begin[s->n_owner] * sizeof(int32_t);
}

void hx_cpu_fill_steps(const void *state, hx_steps *steps)
{
    const filling *s = state;
    steps->n = 0;
    if (s->sort) hx_cpu_sort_steps(s->sort, steps);
}

void hx_cpu_fill_free(void *state)
{
    filling *s = state;
    if (!s) return;
    free(s->begin);
    free(s->cell);
    hx_cpu_sort_free(s->sort);
    free(s);
}
