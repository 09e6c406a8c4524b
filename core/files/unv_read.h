/* Reader of I-DEAS universal files (.unv), written by Salome, Siemens NX and Code_Aster. */
#ifndef HX_UNV_READ_H
#define HX_UNV_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

/* Reads a raw mesh: nodes (data sets 2411, 781, 15), elements (2412, 780) and groups (2467, 2477,
 * 2452, 2435, 2432, 2430, 2429, 2417). Groups become sets with their names: sets of nodes, of
 * solids, or of faces given by shells; a group without members is an empty set. Values are taken
 * unchanged: units (data set 164) are noted but convert nothing. *conditions lists what is not
 * read: data sets of restraints, loads and constraints (754 to 758, 782, 790 to 793), springs,
 * rigid elements and point masses, and shells and bars if the file has properties or materials
 * (without them they mark faces and edges). HX_EINPUT names file and line. */
int hx_unv_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#endif
