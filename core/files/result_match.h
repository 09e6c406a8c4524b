/* Which element of a mesh each cell of a result's file is, by the places of their corners: files
 * are taken in whatever order their points and cells are, and results of other meshes refused. */
#ifndef HX_RESULT_MATCH_H
#define HX_RESULT_MATCH_H

#include "../base/hash.h"
#include "../mesh/mesh.h"
#include "vtk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HX_MATCH_IN_ORDER,   /* cell i is the element of original number i */
    HX_MATCH_BY_NUMBERS, /* vtkOriginalCellIds says which it is */
    HX_MATCH_BY_CORNERS  /* some cells were looked for by their corners */
} hx_match_way;

typedef struct hx_result_match {
    int64_t n_missing; /* elements of the mesh that the file does not have */
    hx_match_way way;
    double tolerance; /* within which coordinates are equal, length */
    char title[256];  /* of the file, and of its values hx_mesh_values_hash (hx_result_read) */
    hx_hash values;
} hx_result_match;

/* cell[mesh->n_elem] := the file's cell that is the element, -1: none.
 *
 * A cell is an element if each corner of either lies on one of the other, in every coordinate up to
 * what writing rounds off (result->precision of the largest coordinate, at least 1e-9 of
 * mesh->elem_size). So neither the order of points, cells or corners counts, nor whether points are
 * shared or doubled. The file's order is tried first, its vtkOriginalCellIds next; only cells that
 * are neither are looked for. HX_EINPUT, naming the first such cell in the file's order: a cell
 * that is no element, or several within the tolerance, or an element that an earlier cell is
 * already. The file may have fewer cells than the mesh. Finished mesh. O(n), in parallel but for
 * the table of centres that looking for cells needs; 8 bytes an element, 44 with the table. */
int hx_result_match_cells(const hx_mesh *mesh, const hx_vtk_result *result, int32_t *cell,
                          hx_result_match *match);

/* Reads a cell array of one component from a VTK file into value[mesh->n_elem], in the mesh's own
 * order, whatever the file's: elements that it lacks get `missing`. least: what a result has at
 * least everywhere (rho_min). A file that lacks elements is taken for a part, written with a
 * threshold. Without vtkOriginalCellIds it is none, but the result of a smaller mesh, if its title
 * says that we wrote it (then it would have them), or if it has cells of that least value (which
 * any threshold leaves out). HX_EINPUT: as hx_vtk_read_result and hx_result_match_cells, with the
 * file's name. Needs the memory of both. */
int hx_result_read(const char *path, const char *name, const hx_mesh *mesh, double least,
                   double missing, double *value, hx_result_match *match);

#ifdef __cplusplus
}
#endif

#endif
