/* The element-wise assembly of P5 on one core, the baseline of its interaction methods: the matrix
 * of each cell is computed and all its numbers are scattered into a hash table or into a
 * skyline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "interaction_cpu.h"

/* Hash table with open addressing: key 0 marks a free slot. */
typedef struct slot {
    uint64_t key;
    double value;
} slot;

/* Destination of the numbers. */
typedef struct numbers {
    const hx_interaction *in;
    slot *table;   /* hash table: [mask + 1] */
    uint64_t mask; /* a power of 2, minus 1 */
    int shift;
    double *value; /* skyline: row by row, from the first stored number to the diagonal */
    int64_t *ptr;  /* [n_point dim + 1] */
} numbers;

static slot *find_slot(const numbers *to, int64_t row, int64_t column)
{
    const uint64_t key = ((uint64_t)row << 32 | (uint64_t)column) + 1u;
    uint64_t at = key * 0x9e3779b97f4a7c15u >> to->shift;
    while (to->table[at].key != key && to->table[at].key != 0) at = (at + 1) & to->mask;
    to->table[at].key = key;
    return &to->table[at];
}

/* Place of a number; row >= column. */
static double *find_number(const numbers *to, int64_t row, int64_t column)
{
    if (to->table) return &find_slot(to, row, column)->value;
    return &to->value[to->ptr[row + 1] - 1 - (row - column)];
}

static int open_hash(numbers *to)
{
    const hx_interaction *const in = to->in;
    const double wanted = 1.5 * (double)in->n_block * in->dim * in->dim;
    int bits = 4;
    while (ldexp(1.0, bits) < wanted) bits++;
    to->mask = ((uint64_t)1 << bits) - 1u;
    to->shift = 64 - bits;
    return hx_alloc(&to->table, to->mask + 1u, sizeof *to->table, "a hash table of K");
}

static int open_skyline(numbers *to)
{
    const hx_interaction *const in = to->in;
    const int64_t n = in->n_point * in->dim;
    HX_TRY(hx_alloc(&to->ptr, (size_t)n + 1, sizeof *to->ptr, "rows of a skyline"));
    for (int64_t row = 0; row < n; row++) {
        int r[3], at[3];
        hx_interaction_place(in, row / in->dim, r);
        hx_interaction_column(in, r, 0, at);
        const int64_t first = in->dim * hx_interaction_point(in, at);
        to->ptr[row + 1] = to->ptr[row] + row - first + 1;
    }
    return hx_alloc(&to->value, (size_t)to->ptr[n], sizeof *to->value, "a skyline of K");
}

/* The stiffness of a pair of control points in a cell, summed over Gauss points by P5's closed
 * form. */
HX_INLINED void cell_pair(const hx_interaction *in, int n, const double *h, int a, int b,
                          double block[9])
{
    const int dim = in->dim;
    memset(block, 0, 9 * sizeof *block);
    for (int q = 0; q < n; q++) {
        double m[3][3] = {{0.0}}, now[9];
        hx_form_add(h + 3 * (q * n + a), h + 3 * (q * n + b), m);
        hx_interaction_block(in, (const double(*)[3])m, now);
        /* NOLINTNEXTLINE(clang-analyzer-core*): dim * dim are set */
        for (int k = 0; k < dim * dim; k++) block[k] += now[k];
    }
}

static void add_interaction_cell(const numbers *to, const int c[3], double *h)
{
    const hx_interaction *const in = to->in;
    const int n = hx_interaction_cell_points(in), dim = in->dim;
    const int order[2] = {in->axis[0].degree + 1, in->axis[1].degree + 1};
    int64_t point[HX_CELL_MOST];
    hx_cpu_patch_gradients(in, c, &(hx_gradient_layout){3 * n, 3, 1}, h);
    for (int a = 0; a < n; a++) {
        const int r[3] = {in->axis[0].first[c[0]] + a % order[0],
                          in->axis[1].first[c[1]] + a / order[0] % order[1],
                          in->axis[2].first[c[2]] + a / order[0] / order[1]};
        point[a] = hx_interaction_point(in, r);
        for (int b = 0; b <= a; b++) {
            double block[9];
            cell_pair(in, n, h, a, b, block);
            for (int i = 0; i < dim; i++)
                for (int j = 0; j < (a == b ? i + 1 : dim); j++)
                    *find_number(to, dim * point[a] + i, dim * point[b] + j) += block[dim * i + j];
        }
    }
}

/* Copies the numbers to blocks, including both halves of the diagonal blocks. */
static void read_numbers(const numbers *from, double *value)
{
    const hx_interaction *const in = from->in;
    for (int64_t row = 0; row < in->n_point; row++) {
        const int64_t begin = in->row_ptr[row], n = in->row_ptr[row + 1] - begin;
        int r[3], at[3];
        hx_interaction_place(in, row, r);
        for (int k = 0; k < n; k++) {
            hx_interaction_column(in, r, k, at);
            const int64_t column = hx_interaction_point(in, at);
            for (int i = 0; i < in->dim; i++)
                for (int j = 0; j < in->dim; j++) {
                    const int turned = column == row && j > i;
                    *value++ = *find_number(from, in->dim * row + (turned ? j : i),
                                            in->dim * column + (turned ? i : j));
                }
        }
    }
}

int hx_cpu_interaction_cells(const hx_interaction *in, hx_interaction_way way, double *value,
                             hx_interaction_time *time)
{
    int rc, c[3];
    const size_t n = (size_t)hx_interaction_cell_points(in);
    double *h = NULL;
    numbers to = {.in = in};
    /* zeroed, since third components stay 0 for a plane patch */
    HX_TRY_FAIL(hx_alloc(&h, 3 * n * n, sizeof *h, "gradients of a cell"));
    HX_TRY_FAIL(way == HX_WAY_HASH ? open_hash(&to) : open_skyline(&to));
    const double begin = hx_cpu_core_seconds();
    for (c[2] = 0; c[2] < in->axis[2].n_cell; c[2]++)
        for (c[1] = 0; c[1] < in->axis[1].n_cell; c[1]++)
            for (c[0] = 0; c[0] < in->axis[0].n_cell; c[0]++) add_interaction_cell(&to, c, h);
    *time = (hx_interaction_time){.pairs = hx_cpu_core_seconds() - begin};
    read_numbers(&to, value);
fail:
    free(h);
    free(to.table);
    free(to.value);
    free(to.ptr);
    return rc;
}
