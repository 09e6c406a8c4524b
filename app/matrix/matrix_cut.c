/* Converts blocks over points to scalar rows: the requested half, without eliminated unknowns. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/sort.h"
#include "core/base/vectorised.h"
#include "matrix_job.h"

enum { MOST = 3 }; /* largest number of unknowns per point */

static unsigned fixed_of(const hx_matrix_cut *cut, int64_t a)
{
    return cut->fixed ? cut->fixed[a] : 0u;
}

/* 1 if entry (i, j) of the block of points a and b is in the half; c unknowns per point, a constant
 * when inlined. */
HX_INLINED int in_half(const hx_matrix_cut *cut, int c, int64_t a, int i, int64_t b, int j)
{
    const int64_t row = c * a + i, col = c * b + j;
    return cut->half == HX_HALF_BOTH || (cut->half == HX_HALF_LOWER ? col <= row : col >= row);
}

HX_INLINED int is_kept(const hx_matrix_cut *cut, int c, int64_t a, int i, int64_t b, int j)
{
    const unsigned row = fixed_of(cut, a) >> i & 1u, col = fixed_of(cut, b) >> j & 1u;
    if (row || col) return row && a == b && i == j;
    return in_half(cut, c, a, i, b, j);
}

HX_INLINED void count_numbers(const hx_matrix_cut *cut, int c, int64_t a, int64_t n,
                              const int32_t *col, int64_t *count)
{
    for (int i = 0; i < c; i++) {
        count[i] = 0;
        for (int64_t k = 0; k < n; k++)
            for (int j = 0; j < c; j++) count[i] += is_kept(cut, c, a, i, col[k], j);
    }
}

/* Number of entries in each row of point a, whose blocks are with the points col[n]:
 * count[components]. */
static void count_cut_row(const hx_matrix_cut *cut, int64_t a, int64_t n, const int32_t *col,
                          int64_t *count)
{
    if (cut->components == MOST)
        count_numbers(cut, MOST, a, n, col, count);
    else
        count_numbers(cut, 1, a, n, col, count);
}

/* Lists the points that share a cell with a, ascending, in `near`, which has room for all points of
 * these cells. */
static int list_neighbours(const hx_incidence *in, int64_t a, int32_t *near)
{
    int n = 0;
    for (int64_t k = in->point_ptr[a]; k < in->point_ptr[a + 1]; k++) {
        const int64_t cell = hx_incidence_cell(in, in->point_place[k]);
        const int32_t *const point = in->point + hx_incidence_first(in, cell);
        const int n_point = hx_incidence_count(in, cell);
        for (int c = 0; c < n_point; c++) {
            const int32_t b = point[c];
            int place = n;
            while (place > 0 && near[place - 1] > b) place--;
            if (place > 0 && near[place - 1] == b) continue;
            memmove(near + place + 1, near + place, (size_t)(n - place) * sizeof *near);
            near[place] = b;
            n++;
        }
    }
    return n;
}

/* Number of the ascending points that are at most a. */
static int count_lower(int64_t a, int n, const int32_t *near)
{
    while (n > 0 && near[n - 1] > a) n--;
    return n;
}

static int digits(int64_t value)
{
    int n = 1;
    for (; value >= 10; value /= 10) n++;
    return n;
}

/* Adds the counts of the rows of a point. all: total number of neighbours; n of them, listed in
 * `near`, are in the part. */
static void add_counts(const hx_matrix_cut *cut, int64_t a, int all, int n, const int32_t *near,
                       hx_matrix_counts *sum)
{
    int64_t count[MOST] = {0};
    count_cut_row(cut, a, all, near, count);
    sum->n_block += n;
    if (n > sum->widest) sum->widest = n;
    for (int i = 0; i < cut->components; i++) {
        sum->n_number += count[i];
        /* the bound also serves for the column numbers: if both halves are written, every number
         * occurs equally often as row and as column; in the lower half, columns are not above the
         * row */
        sum->n_digit += 2 * count[i] * digits(cut->components * a + i + 1);
    }
}

int hx_matrix_count(const hx_space *space, const hx_matrix_cut *cut, hx_part part, int32_t *blocks,
                    hx_matrix_counts *counts)
{
    const hx_incidence in = hx_incidence_of_space(space);
    const size_t most_points =
        space->element == HX_ELEMENT_LINEAR ? 8 : (size_t)hx_space_most(space);
    int64_t most = 0;
    for (int64_t a = 0; a < in.n_point; a++) {
        const int64_t n = in.point_ptr[a + 1] - in.point_ptr[a];
        if (n > most) most = n;
    }
    const size_t room = most_points * (size_t)most;
    int failed = 0;
    memset(counts, 0, sizeof *counts);
#pragma omp parallel reduction(| : failed)
    {
        hx_matrix_counts mine = {0};
        /* NOLINTNEXTLINE(clang-analyzer-optin*): room > 0, since every point has a cell */
        int32_t *const near = malloc(room * sizeof *near);
        failed = !near;
#pragma omp for schedule(static)
        for (int64_t a = 0; a < in.n_point; a++) {
            if (!near) continue;
            const int all = list_neighbours(&in, a, near);
            blocks[a] = part == HX_PART_LOWER ? count_lower(a, all, near) : all;
            add_counts(cut, a, all, blocks[a], near, &mine);
        }
        free(near);
#pragma omp critical
        {
            counts->n_block += mine.n_block;
            counts->n_number += mine.n_number;
            counts->n_digit += mine.n_digit;
            if (mine.widest > counts->widest) counts->widest = mine.widest;
        }
    }
    return failed ? HX_RAISE(HX_ENOMEM, "no memory for the neighbours of a point") : HX_OK;
}

/* Conversion of a range's rows; columns have the numbers of the mesh. */
typedef struct task {
    const hx_matrix_cut *cut;
    const hx_problem *problem;
    const hx_row_range *range;
    const hx_matrix_rows *blocks;
    hx_number_rows *out;
} task;

/* Makes room for n items in *array, whose contents are lost if it grows. */
static int make_room_for_items(void *array, int64_t *room, int64_t n, size_t size, const char *what)
{
    if (n <= *room) return HX_OK;
    free(*(void **)array);
    *(void **)array = NULL;
    *room = 0;
    HX_TRY(hx_alloc_raw(array, (size_t)n, size, what));
    *room = n;
    return HX_OK;
}

static int make_points(const task *t)
{
    hx_number_rows *const out = t->out;
    const int64_t n = t->blocks->ptr[t->range->n];
    HX_TRY(make_room_for_items(&out->point, &out->room_block, n, sizeof *out->point, "columns"));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n; k++)
        out->point[k] = t->range->point ? t->range->point[t->blocks->col[k]] : t->blocks->col[k];
    return HX_OK;
}

static int make_pointers(const task *t)
{
    const int64_t n = t->range->n, *const block = t->blocks->ptr;
    hx_number_rows *const out = t->out;
    const int c = t->cut->components;
    HX_TRY(make_room_for_items(&out->ptr, &out->room_row, c * n + 1, sizeof *out->ptr, "rows"));
    out->ptr[0] = 0;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n; r++)
        count_cut_row(t->cut, t->range->first + r, block[r + 1] - block[r], out->point + block[r],
                      out->ptr + 1 + c * r);
    for (int64_t i = 0; i < c * n; i++) out->ptr[i + 1] += out->ptr[i];
    return HX_OK;
}

HX_INLINED void fill_row(const task *t, int c, int64_t r, int i)
{
    const int64_t a = t->range->first + r;
    /* only the diagonal of that row is kept */
    const int is_unit = (int)(fixed_of(t->cut, a) >> i & 1u);
    int64_t to = t->out->ptr[c * r + i];
    for (int64_t k = t->blocks->ptr[r]; k < t->blocks->ptr[r + 1]; k++)
        for (int j = 0; j < c; j++) {
            const int64_t b = t->out->point[k];
            if (!is_kept(t->cut, c, a, i, b, j)) continue;
            t->out->col[to] = (int32_t)(c * b + j);
            t->out->value[to++] = is_unit ? 1.0 : t->blocks->value[c * c * k + c * i + j];
        }
}

static void fill_rows(const task *t)
{
    const int64_t n = t->range->n;
    /* NOLINTNEXTLINE(bugprone-branch-clone): overlooks the loops after the pragmas */
    if (t->cut->components == MOST) {
#pragma omp parallel for schedule(static)
        for (int64_t k = 0; k < MOST * n; k++) fill_row(t, MOST, k / MOST, (int)(k % MOST));
    } else {
#pragma omp parallel for schedule(static)
        for (int64_t k = 0; k < n; k++) fill_row(t, 1, k, 0);
    }
}

/* Adds to the entry of that row and column, if it is kept. */
static void add_to(const task *t, int64_t row, int64_t col, double value)
{
    const hx_number_rows *const out = t->out;
    for (int64_t k = out->ptr[row]; k < out->ptr[row + 1]; k++)
        if (out->col[k] == col) out->value[k] += value;
}

static void add_springs(const task *t)
{
    const int c = t->cut->components;
    const int64_t first = c * t->range->first, end = first + c * t->range->n;
    const hx_springs *const springs = &t->problem->springs;
    for (int64_t s = hx_count_below_i64(springs->dof, springs->n, first);
         s < springs->n && springs->dof[s] < end; s++) {
        const int64_t dof = springs->dof[s];
        if (fixed_of(t->cut, dof / c) >> dof % c & 1u) continue;
        add_to(t, dof - first, dof, springs->stiffness[s]);
    }
}

int64_t hx_matrix_first_film(const hx_films *films, int64_t node)
{
    return hx_count_below_i32(films->node, films->n, node);
}

/* Adds convection; held rows keep only the diagonal, and held columns nothing. */
static void add_films(const task *t)
{
    const hx_films *const films = &t->problem->films;
    const int64_t first = t->range->first, end = first + t->range->n;
    for (int64_t f = hx_matrix_first_film(films, first); f < films->n && films->node[f] < end;
         f++) {
        if (fixed_of(t->cut, films->node[f])) continue;
        for (int64_t k = films->ptr[f]; k < films->ptr[f + 1]; k++)
            add_to(t, films->node[f] - first, films->col[k], films->value[k]);
    }
}

int hx_matrix_cut_rows(const hx_matrix_cut *cut, const hx_problem *problem,
                       const hx_row_range *range, const hx_matrix_rows *blocks, hx_number_rows *out)
{
    const task t = {.cut = cut, .problem = problem, .range = range, .blocks = blocks, .out = out};
    const int c = cut->components;
    HX_TRY(make_points(&t));
    HX_TRY(make_pointers(&t));
    /* Columns and values grow together. */
    const int64_t n = out->ptr[c * range->n];
    int64_t room = out->room_number;
    HX_TRY(make_room_for_items(&out->col, &room, n, sizeof *out->col, "columns"));
    HX_TRY(make_room_for_items(&out->value, &out->room_number, n, sizeof *out->value, "values"));
    fill_rows(&t);
    add_springs(&t);
    add_films(&t);
    out->rows = (hx_csr_rows){.first = c * range->first,
                              .n = c * range->n,
                              .ptr = out->ptr,
                              .col = out->col,
                              .value = out->value};
    return HX_OK;
}

void hx_number_rows_free(hx_number_rows *rows)
{
    free(rows->ptr);
    free(rows->point);
    free(rows->col);
    free(rows->value);
    memset(rows, 0, sizeof *rows);
}
