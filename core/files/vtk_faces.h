/* Faces of sets in VTK files, where faces of solids are no cells: a cell array faces_of_NAME of
 * unsigned char, whose bit f is set if face f of the cell, as VTK numbers the faces of a cell, is
 * one of the set's. Not installed. */
#ifndef HX_VTK_FACES_H
#define HX_VTK_FACES_H

#include "solid.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HX_VTK_FACES_OF "faces_of_"
/* The array of the file's own that has the rules of combined sets, a character a number. */
#define HX_VTK_RULES "hextop_sets"

/* VTK's number of the local face (a row of hx_hex_face) of a cell as it is written, -1: it is an
 * edge or a point there. */
int hx_vtk_face_number(const int32_t conn[8], int face);

/* Nodes of that face of VTK's of a cell as it is read, a triangle's last twice. Returns 0 if the
 * cell has no such face. */
int hx_vtk_face_nodes(const int32_t conn[8], int number, int32_t node[4]);

/* The local face by the kind of cell and VTK's number of it and 1, as hx_import.side_row has it. */
extern const int hx_vtk_side_row[HX_CELL_OTHER][7];

enum { HX_VTK_CELL_FACES = 6 };

/* NAME of "faces_of_NAME", NULL: the array has another name. */
const char *hx_vtk_faces_of(const char *array);

/* 1 if the array has such a name, and values of as many bits as a cell has faces. */
int hx_vtk_are_faces(const char *array, int64_t n, const int32_t *value);

#ifdef __cplusplus
}
#endif

#endif
