#include "coarse_springs.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

enum { CORNERS = 8, DOF = 6, BLOCK = DOF * DOF, PAIRS = CORNERS * CORNERS };

/* The 8 x 8 blocks of one cell. */
typedef double cell_blocks[PAIRS][BLOCK];

/* Target of a block of a cell. Entries are sorted by target, then by cell, so that sums have a
 * fixed order. */
typedef struct entry {
    int64_t at;
    int64_t from; /* PAIRS * index of the cell + pair */
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Rows of the prolongation P at a node: the values of component i, by corner and degree of
 * freedom. */
static void node_rows(const hx_coarse *coarse, const hx_space *space, int64_t cell, int64_t node,
                      double row[3][CORNERS][DOF])
{
    const int32_t *at = coarse->cell + 3 * cell;
    const double *x = space->xyz + 3 * node;
    memset(row, 0, 3 * sizeof *row);
    for (int c = 0; c < CORNERS; c++) {
        double w = 1.0, d[3];
        for (int i = 0; i < 3; i++) {
            const int bit = c >> i & 1;
            const double s = (double)coarse->position[3 * node + i] - at[i];
            w *= bit ? s : 1.0 - s;
            d[i] = (x[i] - coarse->origin[i] - (at[i] + bit) * coarse->size[i]) / coarse->unit;
        }
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, m = (i + 2) % 3;
            row[i][c][i] = w;
            row[i][c][3 + j] = w * d[m];
            row[i][c][3 + m] = -w * d[j];
        }
    }
}

static void add_spring(double row[CORNERS][DOF], double stiffness, cell_blocks blocks)
{
    for (int a = 0; a < CORNERS; a++)
        for (int b = 0; b < CORNERS; b++)
            for (int r = 0; r < DOF; r++)
                for (int c = 0; c < DOF; c++)
                    blocks[CORNERS * a + b][DOF * r + c] += stiffness * row[a][r] * row[b][c];
}

/* Index of the first spring at this node or a later one. */
static int64_t find_spring(const hx_problem *problem, int64_t node)
{
    int64_t low = 0, high = problem->springs.n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (problem->springs.dof[middle] < 3 * node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the springs of a cell; returns 0 if it has none. */
static int fill_cell(const hx_coarse *coarse, const hx_problem *problem, const uint8_t *held,
                     int64_t cell, cell_blocks blocks)
{
    int n = 0;
    for (int32_t l = coarse->cell_node_at[cell]; l < coarse->cell_node_at[cell + 1]; l++) {
        const int64_t node = coarse->cell_node[l];
        double row[3][CORNERS][DOF];
        int located = 0;
        for (int64_t k = find_spring(problem, node);
             k < problem->springs.n && problem->springs.dof[k] / 3 == node; k++) {
            const int i = (int)(problem->springs.dof[k] % 3);
            if (held[node] >> i & 1) continue;
            if (n++ == 0) memset(blocks, 0, PAIRS * sizeof *blocks);
            if (!located++) node_rows(coarse, &problem->space, cell, node, row);
            add_spring(row[i], problem->springs.stiffness[k], blocks);
        }
    }
    return n > 0;
}

static void fill_entries(const hx_coarse *coarse, int64_t cell, int64_t place, entry *to)
{
    const int32_t *corner = coarse->cell_corner + CORNERS * cell;
    for (int a = 0; a < CORNERS; a++)
        for (int b = 0; b < CORNERS; b++) {
            const int offset = HX_COARSE_CENTRE + ((b & 1) - (a & 1)) +
                               3 * ((b >> 1 & 1) - (a >> 1 & 1)) + 9 * ((b >> 2) - (a >> 2));
            to[CORNERS * a + b] = (entry){HX_COARSE_OFFSETS * (int64_t)corner[a] + offset,
                                          PAIRS * place + CORNERS * a + b};
        }
}

/* Lists the cells that have springs, ascending. */
static int list_cells(const hx_coarse *coarse, const hx_problem *problem, int64_t *n_cell,
                      int64_t **cell)
{
    uint8_t *has = NULL;
    int rc;
    *cell = NULL;
    *n_cell = 0;
    HX_TRY(hx_alloc(&has, (size_t)problem->space.n_point, 1, "springs"));
    for (int64_t k = 0; k < problem->springs.n; k++) has[problem->springs.dof[k] / 3] = 1;
    for (int pass = 0; pass < 2; pass++) {
        int64_t n = 0;
        for (int64_t c = 0; c < coarse->n_cell; c++) {
            int found = 0;
            for (int32_t l = coarse->cell_node_at[c]; l < coarse->cell_node_at[c + 1]; l++)
                found |= has[coarse->cell_node[l]];
            if (!found) continue;
            if (pass == 1) (*cell)[n] = c;
            n++;
        }
        *n_cell = n;
        if (pass == 0) HX_TRY_FAIL(hx_alloc_raw(cell, (size_t)n, sizeof **cell, "springs"));
    }
    rc = HX_OK;
fail:
    free(has);
    return rc;
}

/* Merges entries with the same target into one block. */
static int merge(hx_coarse_springs *springs, int64_t n, const entry *list, cell_blocks *blocks)
{
    int64_t n_target = 0;
    for (int64_t k = 0; k < n; k++) n_target += k == 0 || list[k].at != list[k - 1].at;
    HX_TRY(hx_alloc_raw(&springs->at, (size_t)n_target, sizeof *springs->at, "springs"));
    HX_TRY(hx_alloc_raw(&springs->block, (size_t)n_target, BLOCK * sizeof(float), "springs"));
    for (int64_t k = 0; k < n;) {
        const int64_t at = list[k].at;
        double sum[BLOCK] = {0.0};
        for (; k < n && list[k].at == at; k++)
            for (int i = 0; i < BLOCK; i++)
                sum[i] += blocks[list[k].from / PAIRS][list[k].from % PAIRS][i];
        springs->at[springs->n] = at;
        for (int i = 0; i < BLOCK; i++) springs->block[BLOCK * springs->n + i] = (float)sum[i];
        springs->n++;
    }
    return HX_OK;
}

int hx_coarse_springs_create(hx_coarse_springs *springs, const hx_coarse *coarse,
                             const hx_problem *problem, const uint8_t *held)
{
    int64_t n_cell = 0, *cell = NULL, place = 0;
    cell_blocks *blocks = NULL;
    entry *list = NULL;
    int rc;
    memset(springs, 0, sizeof *springs);
    if (problem->springs.n == 0) return HX_OK;
    HX_TRY_FAIL(list_cells(coarse, problem, &n_cell, &cell));
    HX_TRY_FAIL(hx_alloc_raw(&blocks, (size_t)n_cell, sizeof *blocks, "springs"));
    HX_TRY_FAIL(hx_alloc_raw(&list, (size_t)n_cell * PAIRS, sizeof *list, "springs"));
    for (int64_t k = 0; k < n_cell; k++) {
        if (!fill_cell(coarse, problem, held, cell[k], blocks[place])) continue;
        fill_entries(coarse, cell[k], place, list + PAIRS * place);
        place++;
    }
    qsort(list, (size_t)(PAIRS * place), sizeof *list, compare_entries);
    HX_TRY_FAIL(merge(springs, PAIRS * place, list, blocks));
    rc = HX_OK;
fail:
    free(cell);
    free(blocks);
    free(list);
    if (rc < 0) hx_coarse_springs_free(springs);
    return rc;
}

void hx_coarse_springs_free(hx_coarse_springs *springs)
{
    free(springs->at);
    free(springs->block);
    memset(springs, 0, sizeof *springs);
}
