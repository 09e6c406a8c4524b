/* Faces of sets in VTK files, in which faces of solids are not cells: a cell array faces_of_NAME of
 * unsigned char, whose bit f is set if the set contains face f of the cell in VTK's numbering. Not
 * installed. */
#ifndef HX_VTK_FACES_H
#define HX_VTK_FACES_H

#include "solid.h"

#define HX_VTK_FACES_OF "faces_of_"
/* The array of the file itself that holds the rules of combined sets, one character per number. */
#define HX_VTK_RULES "hextop_sets"

/* VTK's number of a local face (a row of hx_hex_face) of a cell as it is written; -1: in the
 * written cell it is an edge or a point. */
int hx_vtk_face_number(const int32_t conn[8], int face);

/* Nodes of a face, in VTK's numbering, of a cell as it is read; a triangle repeats its last.
 * Returns 0 if the cell has no such face. */
int hx_vtk_face_nodes(const int32_t conn[8], int number, int32_t node[4]);

/* Row of hx_hex_face for a kind of cell and VTK's face number plus 1, as in hx_import.side_row. */
extern const int hx_vtk_side_row[HX_CELL_OTHER][7];

enum { HX_VTK_CELL_FACES = 6 };

/* Returns NAME of "faces_of_NAME", NULL: the array has another name. */
const char *hx_vtk_faces_of(const char *array);

/* Returns 1 if the array has such a name, and values with no more bits than a cell has faces. */
int hx_vtk_are_faces(const char *array, int64_t n, const int32_t *value);

#endif
