/* Maps each cell of a result file to an element of a mesh by the positions of the corners: files
 * are accepted in any order of points and cells, and results of other meshes are refused. */
#ifndef HX_RESULT_MATCH_H
#define HX_RESULT_MATCH_H

#include "../base/c_linkage.h"
#include "../base/hash.h"
#include "../mesh/mesh.h"
#include "vtk.h"

HX_C_BEGIN

typedef enum {
    HX_MATCH_IN_ORDER,   /* cell i is the element with original number i */
    HX_MATCH_BY_NUMBERS, /* vtkOriginalCellIds gives the element */
    HX_MATCH_BY_CORNERS  /* some cells were found by their corners */
} hx_match_way;

typedef struct hx_result_match {
    int64_t n_missing; /* elements of the mesh that the file lacks */
    hx_match_way way;
    double tolerance; /* length within which coordinates count as equal */
    char title[256]; /* title of the file, and hx_mesh_values_hash of its values (hx_result_read) */
    hx_hash values;
} hx_result_match;

/* cell[mesh->n_elem] := the file's cell for the element, -1: none.
 *
 * A cell matches an element if each corner of either lies on a corner of the other. Coordinates may
 * differ by the rounding of the written numbers (result->precision of the largest coordinate, at
 * least 1e-9 of mesh->elem_size). The order of points, cells or corners does not matter, and points
 * may be shared or duplicated. The file's order is tried first, then vtkOriginalCellIds; only cells
 * that match neither are searched. HX_EINPUT, naming the first such cell in the file's order: a
 * cell that matches no element, or several within the tolerance, or an element that an earlier cell
 * matches. The file may have fewer cells than the mesh. Requires a finished mesh. O(n), in parallel
 * except for the table of centres that the search needs; 8 bytes per element, 44 with the table. */
int hx_result_match_cells(const hx_mesh *mesh, const hx_vtk_result *result, int32_t *cell,
                          hx_result_match *match);

/* Reads a cell array of one component from a VTK file into value[mesh->n_elem], in the mesh's own
 * order, whatever the order of the file; elements that the file lacks receive `missing`. least: the
 * smallest value a result can have (rho_min). A file that lacks elements is accepted as a part
 * written with a threshold. A file without vtkOriginalCellIds is taken for the result of a smaller
 * mesh instead if its title shows that hextop wrote it (a part would have the array), or if it has
 * cells of the least value (which any threshold removes). HX_EINPUT: as for hx_vtk_read_result and
 * hx_result_match_cells, with the file's name. Needs the memory of both. */
int hx_result_read(const char *path, const char *name, const hx_mesh *mesh, double least,
                   double missing, double *value, hx_result_match *match);

HX_C_END

#endif
