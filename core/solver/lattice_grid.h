/* The places of a lattice, which of them are used and how these are numbered. Shared by the files
 * that lay a lattice; not installed. */
#ifndef HX_LATTICE_GRID_H
#define HX_LATTICE_GRID_H

#include "lattice.h"

enum { HX_LATTICE_NO_RANK = UINT16_MAX };

/* Numbers go along x, then y, then z. Under a window (mesh.h) `rank` says of all cells which are
 * used; cells and nodes may be listed of a box alone, in which this process' own are. */
typedef struct hx_lattice_grid {
    int depth;                 /* lattices above */
    int64_t n[3];              /* cells */
    int64_t layer[3];          /* of nodes: one more than cells, or 1 where they have collapsed */
    int64_t low[3], high[3];   /* listed cells: low <= place < high; nodes: those of these cells */
    int32_t *cell;             /* [listed cells] number of the cell, or -1 (owned, like the rest) */
    int32_t *node;             /* [listed nodes] number of the node, or -1 */
    int32_t *place;            /* [n_node][3] */
    int64_t n_cell, n_node;    /* listed */
    int64_t n_all, n_cell_all; /* nodes and cells of all */
    uint16_t *rank;            /* [n[0] n[1] n[2]] lowest process with an element in the cell, or
                                  HX_LATTICE_NO_RANK; NULL: no window */
} hx_lattice_grid;

/* Cells of all. */
static inline int64_t hx_lattice_grid_places(const hx_lattice_grid *g)
{
    return g->n[0] * g->n[1] * g->n[2];
}

static inline int64_t hx_lattice_grid_place(const hx_lattice_grid *g, int64_t i, int64_t j,
                                            int64_t k)
{
    return (k * g->n[1] + j) * g->n[0] + i;
}

/* Number of a cell and of a node, -1: unused, or not listed. */
int32_t hx_lattice_grid_cell(const hx_lattice_grid *g, int64_t i, int64_t j, int64_t k);
int32_t hx_lattice_grid_node(const hx_lattice_grid *g, int64_t i, int64_t j, int64_t k);

/* All of it; cells are flagged (0 or 1 in g->cell) before they are numbered. */
int hx_lattice_grid_alloc(hx_lattice_grid *g, const int64_t n[3], const int64_t layer[3]);

/* The same of a grid whose ranks are known (taken), nothing of which is listed yet. */
void hx_lattice_grid_begin(hx_lattice_grid *g, const int64_t n[3], const int64_t layer[3],
                           uint16_t *rank);
/* What of it is: cells low .. high - 1, each way widened by what levels and shares look at, and
 * flagged; NULL: all of them. */
int hx_lattice_grid_list(hx_lattice_grid *g, const int64_t low[3], const int64_t high[3]);

/* Numbers the flagged cells and their corners. */
int hx_lattice_grid_number(hx_lattice_grid *g);

/* n_all and n_cell_all by the ranks. */
void hx_lattice_grid_count(hx_lattice_grid *g);

/* Two cells become one along each direction that does not stay; used where one of them is: flagged
 * or, of ranks, begun. */
int hx_lattice_grid_coarsen(const hx_lattice_grid *g, hx_lattice_grid *next);

/* What becomes of direction i on the next level: of 3 to 5 cells it stays while another has twice
 * as many (of 4, from the third lattice on of 3, too, not in a short one of few nodes), in a small
 * lattice of 6 to 8 beside three times as many, or twice if it alone is thin. */
hx_lattice_mode hx_lattice_grid_mode(const hx_lattice_grid *g, int i);

void hx_lattice_grid_free(hx_lattice_grid *g);

#endif
