/* Shared by the files that lay a lattice; not installed. */
#ifndef HX_LATTICE_SIZE_H
#define HX_LATTICE_SIZE_H

#include "lattice.h"

/* size, unit, origin and what lies across a cell: cells with the proportions of the mean element,
 * so wide that the centroids of a node's elements differ by one cell at most; n[3] of them.
 * O(n_elem). Of a window (mesh.h) collective, as all that is made of it.
 */
/* is_linear: elements are; only then cells may become narrower than asked for. */
int hx_lattice_choose_size(hx_lattice *lattice, const hx_mesh *mesh, double coarsening,
                           int is_linear, int64_t n[3]);

/* Along axis i the cell of n that x lies in; the first or last one where it lies in none. */
int64_t hx_lattice_cell_along(const hx_lattice *lattice, int i, double x, int64_t n);
/* The cell that holds an element's centroid, of n[3]. */
void hx_lattice_find_cell(const hx_lattice *lattice, const hx_mesh *mesh, int64_t e,
                          const int64_t n[3], int64_t at[3]);

#endif
