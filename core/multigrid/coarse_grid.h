/* Places of a coarse grid: which are used, and their numbers. Shared by the files that build coarse
 * grids; not installed. */
#ifndef HX_COARSE_GRID_H
#define HX_COARSE_GRID_H

#include "coarse.h"
#include "mg_params.h"

enum { HX_COARSE_NO_RANK = UINT16_MAX };

/* Numbers increase along x, then y, then z. On a distributed mesh (mesh.h), `rank` states which
 * cells of the whole grid are used, and cells and nodes may be listed only in a box around those of
 * this process. */
typedef struct hx_coarse_grid {
    const hx_mg_coarsening_params *params; /* rules of the next level (borrowed) */
    int64_t n[3];                          /* number of cells */
    int64_t layer[3]; /* layers of nodes: one more than cells, or 1 if they have collapsed */
    /* listed cells: low <= place < high; the nodes of these cells are listed too */
    int64_t low[3], high[3];
    int32_t *cell;             /* [listed cells] number of the cell, or -1 (owned, like the rest) */
    int32_t *node;             /* [listed nodes] number of the node, or -1 */
    int32_t *place;            /* [n_node][3] */
    int64_t n_cell, n_node;    /* numbers of listed cells and nodes */
    int64_t n_all, n_cell_all; /* numbers of nodes and cells of the whole grid */
    /* [n[0] n[1] n[2]] lowest rank with an element in the cell, or HX_COARSE_NO_RANK; NULL: the
     * mesh is not distributed */
    uint16_t *rank;
} hx_coarse_grid;

/* Number of cell places of the whole grid. */
static inline int64_t hx_coarse_grid_places(const hx_coarse_grid *g)
{
    return g->n[0] * g->n[1] * g->n[2];
}

static inline int64_t hx_coarse_grid_place(const hx_coarse_grid *g, int64_t i, int64_t j, int64_t k)
{
    return (k * g->n[1] + j) * g->n[0] + i;
}

/* Number of a cell or node; -1: unused or not listed. */
int32_t hx_coarse_grid_cell(const hx_coarse_grid *g, int64_t i, int64_t j, int64_t k);
int32_t hx_coarse_grid_node(const hx_coarse_grid *g, int64_t i, int64_t j, int64_t k);

/* Allocates lists of the whole grid; the caller flags cells (0 or 1 in g->cell) before they are
 * numbered. */
int hx_coarse_grid_alloc(hx_coarse_grid *g, const hx_mg_coarsening_params *params,
                         const int64_t n[3], const int64_t layer[3]);

/* Prepares a grid with given ranks (ownership passes to the grid) and without lists. */
void hx_coarse_grid_begin(hx_coarse_grid *g, const hx_mg_coarsening_params *params,
                          const int64_t n[3], const int64_t layer[3], uint16_t *rank);
/* Allocates the lists of a grid with ranks and flags its used cells: the cells low .. high - 1,
 * widened on each side by the margin that coarser levels and halo exchanges need; NULL: all
 * cells. */
int hx_coarse_grid_list(hx_coarse_grid *g, const int64_t low[3], const int64_t high[3]);

/* Numbers the flagged cells and their corners. */
int hx_coarse_grid_number(hx_coarse_grid *g);

/* Sets n_all and n_cell_all from the ranks. */
void hx_coarse_grid_count(hx_coarse_grid *g);

/* Merges pairs of cells along each direction that is coarsened. A coarse cell is used if one of its
 * cells is: it is flagged, or has a rank if the mesh is distributed. */
int hx_coarse_grid_coarsen(const hx_coarse_grid *g, hx_coarse_grid *next);

/* How direction i changes on the next level; hx_mg_coarsening_params.thin decides whether few cells
 * are kept. */
hx_coarse_mode hx_coarse_grid_mode(const hx_coarse_grid *g, int i);

void hx_coarse_grid_free(hx_coarse_grid *g);

#endif
