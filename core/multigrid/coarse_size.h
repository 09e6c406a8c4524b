/* Cell sizes; shared by the files that build coarse grids. Not installed. */
#ifndef HX_COARSE_SIZE_H
#define HX_COARSE_SIZE_H

#include "coarse.h"

/* Sets size, unit, origin and the mean numbers of elements across a cell. Cells have the
 * proportions of the mean element and are large enough that the centroids of a node's elements
 * differ by at most one cell; n[3] returns the number of cells. is_linear: the elements are
 * linear; only then may cells become narrower than `coarsening` states (params, mg_params.h).
 * O(n_elem). Collective on a distributed mesh (mesh.h), like everything derived from it. */
int hx_coarse_choose_size(hx_coarse *coarse, const hx_mesh *mesh, const struct hx_mg_params *params,
                          double coarsening, int is_linear, int64_t n[3]);

/* Index, along axis i, of the cell that contains x; the first or last of the n cells if x lies
 * outside. */
int64_t hx_coarse_cell_along(const hx_coarse *coarse, int i, double x, int64_t n);
/* Cell, among n[3], that contains the centroid of an element. */
void hx_coarse_find_cell(const hx_coarse *coarse, const hx_mesh *mesh, int64_t e,
                         const int64_t n[3], int64_t at[3]);

#endif
