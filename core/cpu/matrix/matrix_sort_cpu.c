/* The fills by triplets on the CPU, for comparison. `sort` (P4) computes the tile of every pair of
 * every cell in the order of rows and columns, which is kept between designs, and sums tiles of
 * equal row and column. `triplets` (P3) computes only the tiles up to the diagonal, sorts them for
 * every design, and mirrors the result. Neither fill uses the slots of pairs; both search the
 * rows. */
#include <stdlib.h>
#include <string.h>

#include "../../base/clock.h"
#include "../../base/memory.h"
#include "../../base/radix_sort.h"
#include "../../mesh/hex8.h"
#include "matrix_cpu.h"

struct hx_cpu_sort {
    const hx_matrix *m; /* (borrowed, like input) */
    const hx_fill_input *input;
    int kept;        /* 1: keep the order of the first run */
    int64_t n;       /* number of triplets */
    int32_t *order;  /* [n] pairs by key (owned); NULL: not sorted yet */
    uint64_t *key;   /* [n] row << 32 | column (owned) */
    double *triplet; /* [n][c][c] (owned) */
    hx_steps steps;  /* steps of the last run */
};

static const uint64_t LEFT_OUT = UINT64_MAX >> 1; /* the largest key, for rows outside the range */

static int sort_keys(hx_cpu_sort *s)
{
    uint64_t *copy = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&copy, (size_t)s->n, sizeof *copy, "keys of triplets"));
    const hx_device_pattern *p = &s->m->pattern;
    const int lower = p->part == HX_PART_LOWER || !s->kept;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < s->n; k++) {
        const int32_t *point = s->input->incidence.point + 8 * (k / 64);
        const int64_t a = point[k / 8 % 8], b = point[k % 8], row = a - p->row_first;
        const int out = row < 0 || row >= p->n_row || (lower && b > a);
        s->key[k] = out ? LEFT_OUT : (uint64_t)row << 32 | (uint64_t)b;
    }
    memcpy(copy, s->key, (size_t)s->n * sizeof *copy);
    HX_TRY_FAIL(hx_radix_sort(copy, s->order, s->n, 63));
    rc = HX_OK;
fail:
    free(copy);
    return rc;
}

int hx_cpu_sort_create(hx_cpu_sort **sort, const hx_matrix *m, const hx_fill_input *input, int kept)
{
    /* NOLINTNEXTLINE(bugprone-misplaced-widening-cast): at most 9 */
    const size_t block = (size_t)(m->spec.components * m->spec.components);
    hx_cpu_sort *s;
    int rc;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "triplets"));
    *sort = NULL;
    s->m = m;
    s->input = input;
    s->kept = kept;
    s->n = 64 * input->incidence.n_cell;
    if (s->n > INT32_MAX) {
        rc = HX_RAISE(HX_EENV,
                      "%lld triplets are more than a 31-bit index can count; use fill 'gather'",
                      (long long)s->n);
        goto fail;
    }
    if (!kept && (m->pattern.n_row != m->pattern.n_point)) {
        rc = HX_RAISE(HX_EINPUT,
                      "fill 'triplets' supports only the whole matrix, not a range of rows");
        goto fail;
    }
    HX_TRY_FAIL(hx_alloc_raw(&s->order, (size_t)s->n, sizeof *s->order, "order of triplets"));
    HX_TRY_FAIL(hx_alloc_raw(&s->key, (size_t)s->n, sizeof *s->key, "keys of triplets"));
    HX_TRY_FAIL(
        hx_alloc_raw(&s->triplet, (size_t)s->n * block, sizeof *s->triplet, "values of triplets"));
    if (kept) HX_TRY_FAIL(sort_keys(s));
    *sort = s;
    return HX_OK;
fail:
    hx_cpu_sort_free(s);
    return rc;
}

static void make_triplets(const hx_cpu_sort *s)
{
    const hx_fill_input *input = s->input;
    const int c = s->m->spec.components, block = c * c;
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < input->incidence.n_cell; cell++) {
        const int32_t *point = input->incidence.point + 8 * cell;
        double x[24], *to = s->triplet + 64 * block * cell;
        hx_cpu_tiles rows[8];
        hx_hex8_gather(point, input->d_xyz, x);
        hx_cpu_cell_tiles(&input->form, x, input->d_modulus[cell], 255, rows);
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++)
                for (int t = 0; t < block; t++) *to++ = rows[a].tile[t][b];
    }
}

/* Index of a column in a row, whose columns ascend. */
static int find_entry(const hx_device_pattern *p, int64_t row, int32_t col)
{
    const int32_t *const list = p->d_col + p->d_row_ptr[row];
    int low = 0, high = (int)(p->d_row_ptr[row + 1] - p->d_row_ptr[row]) - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double *entry_of(const hx_matrix *m, int64_t row, int32_t col, int *stride)
{
    const hx_device_pattern *p = &m->pattern;
    const int n = (int)(p->d_row_ptr[row + 1] - p->d_row_ptr[row]);
    return (double *)m->d_value + hx_cpu_block(m, row, n, find_entry(p, row, col), stride);
}

/* Sums the triplets with the same key, starting from the i-th in order; returns the index after
 * them. */
static int64_t sum_segment(const hx_cpu_sort *s, int64_t i, double sum[9])
{
    const int block = s->m->spec.components * s->m->spec.components;
    const uint64_t key = s->key[s->order[i]];
    for (int t = 0; t < block; t++) sum[t] = 0.0;
    for (; i < s->n && s->key[s->order[i]] == key; i++)
        for (int t = 0; t < block; t++) sum[t] += s->triplet[(int64_t)block * s->order[i] + t];
    return i;
}

static void reduce(const hx_cpu_sort *s)
{
    const hx_matrix *m = s->m;
    const int c = m->spec.components, mirrored = !s->kept && m->pattern.part == HX_PART_FULL;
    for (int64_t i = 0; i < s->n;) {
        const uint64_t key = s->key[s->order[i]];
        const int64_t row = (int64_t)(key >> 32);
        const int32_t col = (int32_t)(key & UINT32_MAX);
        double sum[9];
        int stride;
        if (key == LEFT_OUT) break;
        i = sum_segment(s, i, sum);
        double *k = entry_of(m, row, col, &stride);
        for (int t = 0; t < c * c; t++) k[t / c * stride + t % c] = sum[t];
        if (!mirrored || row == col) continue;
        k = entry_of(m, col, (int32_t)row, &stride);
        for (int t = 0; t < c * c; t++) k[t % c * stride + t / c] = sum[t];
    }
}

int hx_cpu_sort_run(hx_cpu_sort *s)
{
    const double begin = hx_clock();
    make_triplets(s);
    const double made = hx_clock();
    if (!s->kept) HX_TRY(sort_keys(s));
    reduce(s);
    s->steps = (hx_steps){
        2, {{HX_STEP_INTEGRATION, made - begin}, {HX_STEP_CONVERSION, hx_clock() - made}}};
    return HX_OK;
}

void hx_cpu_sort_steps(const hx_cpu_sort *s, hx_steps *steps)
{
    *steps = s->steps;
}

size_t hx_cpu_sort_bytes(const hx_cpu_sort *s)
{
    /* NOLINTNEXTLINE(bugprone-misplaced-widening-cast): at most 9 */
    const size_t block = (size_t)(s->m->spec.components * s->m->spec.components);
    return (size_t)s->n * (sizeof *s->order + sizeof *s->key + block * sizeof *s->triplet);
}

void hx_cpu_sort_free(hx_cpu_sort *s)
{
    if (!s) return;
    free(s->order);
    free(s->key);
    free(s->triplet);
    free(s);
}
