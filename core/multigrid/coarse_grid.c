#include "coarse_grid.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static const char *const WHAT = "multigrid coarse grids";

/* Width of the margin of cells that are listed around a process' own: own nodes are coupled with
 * nodes one step away, whose parents and cells lie another two steps away. */
enum { MARGIN = 4 };

/* 1 if the rule applies to direction i. */
static int applies(const hx_mg_thin *rule, const hx_coarse_grid *g, int i)
{
    const int64_t n = g->n[i];
    int64_t longest = 0;
    for (int k = 0; k < 3; k++) longest = g->n[k] > longest ? g->n[k] : longest;
    return n >= rule->cells_from && n <= rule->cells_to &&
           (double)longest >= rule->longest * (double)n &&
           (rule->nodes_most == 0 || g->n_all <= rule->nodes_most);
}

/* 1 if the cells of direction i are kept. */
static int stays(const hx_coarse_grid *g, int i)
{
    for (int k = 0; k < g->params->n_thin; k++)
        if (applies(&g->params->thin[k], g, i)) return 1;
    return 0;
}

/* End (exclusive) of the listed nodes: one more than the cells, unless these nodes have
 * collapsed. */
static int64_t node_end(const hx_coarse_grid *g, int i)
{
    return g->layer[i] == 1 ? 1 : g->high[i] + 1;
}

static int64_t n_listed_cell(const hx_coarse_grid *g)
{
    return (g->high[0] - g->low[0]) * (g->high[1] - g->low[1]) * (g->high[2] - g->low[2]);
}

static int64_t n_listed_node(const hx_coarse_grid *g)
{
    return (node_end(g, 0) - g->low[0]) * (node_end(g, 1) - g->low[1]) *
           (node_end(g, 2) - g->low[2]);
}

static int64_t cell_at(const hx_coarse_grid *g, int64_t i, int64_t j, int64_t k)
{
    return ((k - g->low[2]) * (g->high[1] - g->low[1]) + j - g->low[1]) * (g->high[0] - g->low[0]) +
           i - g->low[0];
}

static int64_t node_at(const hx_coarse_grid *g, int64_t i, int64_t j, int64_t k)
{
    return ((k - g->low[2]) * (node_end(g, 1) - g->low[1]) + j - g->low[1]) *
               (node_end(g, 0) - g->low[0]) +
           i - g->low[0];
}

int32_t hx_coarse_grid_cell(const hx_coarse_grid *g, int64_t i, int64_t j, int64_t k)
{
    if (i < g->low[0] || j < g->low[1] || k < g->low[2] || i >= g->high[0] || j >= g->high[1] ||
        k >= g->high[2])
        return -1;
    return g->cell[cell_at(g, i, j, k)];
}

int32_t hx_coarse_grid_node(const hx_coarse_grid *g, int64_t i, int64_t j, int64_t k)
{
    if (i < g->low[0] || j < g->low[1] || k < g->low[2] || i >= node_end(g, 0) ||
        j >= node_end(g, 1) || k >= node_end(g, 2))
        return -1;
    return g->node[node_at(g, i, j, k)];
}

static int alloc_lists(hx_coarse_grid *g)
{
    HX_TRY(hx_alloc(&g->cell, (size_t)n_listed_cell(g), sizeof *g->cell, WHAT));
    return hx_alloc(&g->node, (size_t)n_listed_node(g), sizeof *g->node, WHAT);
}

void hx_coarse_grid_begin(hx_coarse_grid *g, const hx_mg_coarsening_params *params,
                          const int64_t n[3], const int64_t layer[3], uint16_t *rank)
{
    memset(g, 0, sizeof *g);
    g->params = params;
    memcpy(g->n, n, sizeof g->n);
    memcpy(g->layer, layer, sizeof g->layer);
    memcpy(g->high, n, sizeof g->high);
    g->rank = rank;
}

int hx_coarse_grid_alloc(hx_coarse_grid *g, const hx_mg_coarsening_params *params,
                         const int64_t n[3], const int64_t layer[3])
{
    hx_coarse_grid_begin(g, params, n, layer, NULL);
    return alloc_lists(g);
}

int hx_coarse_grid_list(hx_coarse_grid *g, const int64_t low[3], const int64_t high[3])
{
    for (int i = 0; low && i < 3; i++) {
        if (low[i] - MARGIN > 0) g->low[i] = low[i] - MARGIN;
        if (high[i] + MARGIN < g->n[i]) g->high[i] = high[i] + MARGIN;
    }
    HX_TRY(alloc_lists(g));
#pragma omp parallel for schedule(static)
    for (int64_t k = g->low[2]; k < g->high[2]; k++)
        for (int64_t j = g->low[1]; j < g->high[1]; j++)
            for (int64_t i = g->low[0]; i < g->high[0]; i++)
                g->cell[cell_at(g, i, j, k)] =
                    g->rank[hx_coarse_grid_place(g, i, j, k)] != HX_COARSE_NO_RANK;
    return HX_OK;
}

static int is_used(const hx_coarse_grid *g, int64_t i, int64_t j, int64_t k)
{
    if (i < 0 || j < 0 || k < 0 || i >= g->n[0] || j >= g->n[1] || k >= g->n[2]) return 0;
    return g->rank ? g->rank[hx_coarse_grid_place(g, i, j, k)] != HX_COARSE_NO_RANK
                   : g->cell[cell_at(g, i, j, k)];
}

/* 1 if a cell around the node is used; for a collapsed direction, cell 0. */
static int is_node(const hx_coarse_grid *g, int64_t i, int64_t j, int64_t k)
{
    int used = 0;
    for (int c = 0; c < 8; c++) used |= is_used(g, i - (c & 1), j - (c >> 1 & 1), k - (c >> 2));
    return used;
}

/* Replaces flags (0 or 1) by consecutive numbers, and 0 by -1; returns how many are set. */
static int64_t number_flags(int32_t *flag, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) flag[i] = flag[i] ? (int32_t)count++ : -1;
    return count;
}

static void flag_nodes(hx_coarse_grid *g)
{
#pragma omp parallel for schedule(static)
    for (int64_t k = g->low[2]; k < node_end(g, 2); k++)
        for (int64_t j = g->low[1]; j < node_end(g, 1); j++)
            for (int64_t i = g->low[0]; i < node_end(g, 0); i++)
                g->node[node_at(g, i, j, k)] = is_node(g, i, j, k);
}

int hx_coarse_grid_number(hx_coarse_grid *g)
{
    flag_nodes(g);
    g->n_cell = number_flags(g->cell, n_listed_cell(g));
    g->n_node = number_flags(g->node, n_listed_node(g));
    if (!g->rank) {
        g->n_all = g->n_node;
        g->n_cell_all = g->n_cell;
    }
    HX_TRY(hx_alloc_raw(&g->place, (size_t)g->n_node, 3 * sizeof *g->place, WHAT));
#pragma omp parallel for schedule(static)
    for (int64_t k = g->low[2]; k < node_end(g, 2); k++)
        for (int64_t j = g->low[1]; j < node_end(g, 1); j++)
            for (int64_t i = g->low[0]; i < node_end(g, 0); i++) {
                const int64_t node = g->node[node_at(g, i, j, k)];
                const int32_t place[3] = {(int32_t)i, (int32_t)j, (int32_t)k};
                if (node >= 0) memcpy(g->place + 3 * node, place, sizeof place);
            }
    return HX_OK;
}

void hx_coarse_grid_count(hx_coarse_grid *g)
{
    int64_t n_node = 0, n_cell = 0;
#pragma omp parallel for schedule(static) reduction(+ : n_node)
    for (int64_t k = 0; k < g->layer[2]; k++)
        for (int64_t j = 0; j < g->layer[1]; j++)
            for (int64_t i = 0; i < g->layer[0]; i++) n_node += is_node(g, i, j, k);
#pragma omp parallel for schedule(static) reduction(+ : n_cell)
    for (int64_t i = 0; i < hx_coarse_grid_places(g); i++)
        n_cell += g->rank[i] != HX_COARSE_NO_RANK;
    g->n_all = n_node;
    g->n_cell_all = n_cell;
}

hx_coarse_mode hx_coarse_grid_mode(const hx_coarse_grid *g, int i)
{
    if (stays(g, i)) return HX_COARSE_KEEP;
    if (g->n[i] > 1) return HX_COARSE_HALVE;
    return g->layer[i] > 1 ? HX_COARSE_COLLAPSE : HX_COARSE_SINGLE;
}

/* Number of cells that are merged along each direction. */
static void find_widths(const hx_coarse_grid *g, int64_t width[3])
{
    for (int i = 0; i < 3; i++) width[i] = hx_coarse_grid_mode(g, i) == HX_COARSE_KEEP ? 1 : 2;
}

/* Lowest rank of the cells within a coarse cell. */
static uint16_t least_rank(const hx_coarse_grid *g, const int64_t width[3], const int64_t at[3])
{
    uint16_t least = HX_COARSE_NO_RANK;
    for (int64_t z = width[2] * at[2]; z < width[2] * (at[2] + 1) && z < g->n[2]; z++)
        for (int64_t y = width[1] * at[1]; y < width[1] * (at[1] + 1) && y < g->n[1]; y++)
            for (int64_t x = width[0] * at[0]; x < width[0] * (at[0] + 1) && x < g->n[0]; x++) {
                const uint16_t rank = g->rank[hx_coarse_grid_place(g, x, y, z)];
                least = rank < least ? rank : least;
            }
    return least;
}

static int has_cell(const hx_coarse_grid *g, const int64_t width[3], const int64_t at[3])
{
    int used = 0;
    for (int64_t z = width[2] * at[2]; z < width[2] * (at[2] + 1); z++)
        for (int64_t y = width[1] * at[1]; y < width[1] * (at[1] + 1); y++)
            for (int64_t x = width[0] * at[0]; x < width[0] * (at[0] + 1); x++)
                used |= hx_coarse_grid_cell(g, x, y, z) >= 0;
    return used;
}

static int alloc_coarse(const hx_coarse_grid *g, const int64_t width[3], hx_coarse_grid *next)
{
    int64_t n[3], layer[3];
    uint16_t *rank;
    for (int i = 0; i < 3; i++) {
        n[i] = (g->n[i] + width[i] - 1) / width[i];
        layer[i] = g->n[i] > 1 ? n[i] + 1 : 1;
    }
    if (!g->rank) return hx_coarse_grid_alloc(next, g->params, n, layer);
    HX_TRY(hx_alloc_raw(&rank, (size_t)(n[0] * n[1] * n[2]), sizeof *rank, WHAT));
    hx_coarse_grid_begin(next, g->params, n, layer, rank);
    return HX_OK;
}

int hx_coarse_grid_coarsen(const hx_coarse_grid *g, hx_coarse_grid *next)
{
    int64_t width[3];
    find_widths(g, width);
    HX_TRY(alloc_coarse(g, width, next));
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < next->n[2]; k++)
        for (int64_t j = 0; j < next->n[1]; j++)
            for (int64_t i = 0; i < next->n[0]; i++) {
                const int64_t at[3] = {i, j, k};
                if (next->rank)
                    next->rank[hx_coarse_grid_place(next, i, j, k)] = least_rank(g, width, at);
                else
                    next->cell[cell_at(next, i, j, k)] = has_cell(g, width, at);
            }
    return HX_OK;
}

void hx_coarse_grid_free(hx_coarse_grid *g)
{
    free(g->cell);
    free(g->node);
    free(g->place);
    free(g->rank);
    memset(g, 0, sizeof *g);
}
