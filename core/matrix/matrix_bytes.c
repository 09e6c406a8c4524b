/* Predicts the memory of a mesh's matrix before it is made. */
#include <stdlib.h>

#include "../base/memory.h"
#include "matrix.h"
#include "pattern_internal.h"

typedef struct sizes {
    /* n_padded: number of entries if the rows of a slice are padded to equal width */
    int64_t n_row, n_entry, n_padded;
    int max_row;
} sizes;

static sizes sizes_of(int64_t n_row, const int32_t *count)
{
    sizes s = {.n_row = n_row};
    int widest = 0;
    for (int64_t r = 0; r < n_row; r++) {
        s.n_entry += count[r];
        if (count[r] > widest) widest = count[r];
        if (count[r] > s.max_row) s.max_row = count[r];
        if (r % HX_SLICE == HX_SLICE - 1 || r == n_row - 1) {
            s.n_padded += (int64_t)HX_SLICE * widest;
            widest = 0;
        }
    }
    return s;
}

static int count_sizes(const hx_incidence *in, hx_part part, sizes *s)
{
    const hx_pattern_spec spec = {.part = part, .n_row = in->n_point};
    hx_pattern lists = {0};
    hx_incidence with_lists;
    int32_t *count = NULL;
    hx_stepper stepper = hx_stepper_begin(NULL);
    int rc;
    HX_TRY_FAIL(hx_pattern_lists(&lists, in, &with_lists, &stepper));
    HX_TRY_FAIL(hx_alloc_raw(&count, (size_t)in->n_point, sizeof *count, "neighbours"));
    HX_TRY_FAIL(hx_pattern_count_rows(&with_lists, &spec, count));
    *s = sizes_of(in->n_point, count);
    rc = HX_OK;
fail:
    hx_pattern_free(&lists);
    free(count);
    return rc;
}

int hx_pattern_count(const hx_incidence *in, hx_part part, int64_t *n_entry, int *max_row)
{
    sizes s;
    HX_TRY(count_sizes(in, part, &s));
    *n_entry = s.n_entry;
    if (max_row) *max_row = s.max_row;
    return HX_OK;
}

/* Values and indices in addition to the pattern. */
static size_t matrix_bytes(const sizes *s, const hx_matrix_spec *spec)
{
    const size_t c = (size_t)spec->components, n_dof = (size_t)s->n_row * c;
    const size_t value = spec->single ? sizeof(float) : sizeof(double), index = sizeof(int32_t);
    const size_t above = spec->part == HX_PART_LOWER ? (size_t)s->n_row * (c * (c - 1) / 2) : 0;
    const size_t n_number = (size_t)s->n_entry * c * c;
    switch (spec->format) {
    case HX_FORMAT_BSR:
        return n_number * value;
    case HX_FORMAT_BSRS:
        return (size_t)s->n_padded * (c * c * value + index) +
               ((size_t)s->n_row / HX_SLICE + 2) * sizeof(int64_t);
    case HX_FORMAT_ELL:
        return n_dof * (size_t)s->max_row * c * (value + index);
    case HX_FORMAT_CSR:
        return (n_number - above) * (value + index) + (n_dof + 1) * sizeof(int64_t);
    default:
        return (n_number - above) * (value + 2 * index);
    }
}

int hx_matrix_expected_bytes(const hx_incidence *in, const hx_matrix_spec *spec, int has_slots,
                             size_t *bytes)
{
    sizes s;
    HX_TRY(count_sizes(in, spec->part, &s));
    const size_t n_pair = in->n_per_cell
                              ? (size_t)in->n_cell * (size_t)(in->n_per_cell * in->n_per_cell)
                              : (size_t)in->pair_ptr[in->n_cell];
    *bytes = ((size_t)s.n_row + 1) * sizeof(int64_t) + (size_t)s.n_entry * sizeof(int32_t) +
             (has_slots ? n_pair * (s.max_row <= HX_NO_SLOT_8 ? 1 : 2) : 0) +
             matrix_bytes(&s, spec);
    return HX_OK;
}
