/* The part of a distributed mesh that a file holds: elements whose value is large enough, and their
 * nodes, renumbered. Internal to the writer. */
#ifndef HX_VTK_KEPT_H
#define HX_VTK_KEPT_H

#include "../comm/comm.h"
#include "vtk.h"

typedef struct hx_vtk_kept {
    int64_t n_node, n_elem;           /* on all ranks */
    int64_t node_before, elem_before; /* on lower ranks */
    int64_t n_own_node, n_own_elem;
    int32_t *node, *elem; /* [own] indices in the rank's piece, ascending (owned, as is the next) */
    int32_t *conn;        /* [n_own_elem][8] nodes in the new numbering */
} hx_vtk_kept;

/* Keeps the elements of the piece with value >= least; value[n of the piece]; n_node: nodes of the
 * whole mesh. Collective. O(n log n); 100 bytes per kept element. */
int hx_vtk_keep(hx_vtk_kept *kept, const hx_comm *comm, int64_t n_node, const hx_vtk_piece *piece,
                const double *value, double least);

/* Accepts a zeroed struct. */
void hx_vtk_kept_free(hx_vtk_kept *kept);

#endif
