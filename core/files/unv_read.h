/* I-DEAS' universal files (.unv): Salome, Siemens NX, Code_Aster. */
#ifndef HX_UNV_READ_H
#define HX_UNV_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a raw mesh: nodes (data sets 2411, 781, 15), elements (2412, 780) and groups (2467, 2477,
 * 2452, 2435, 2432, 2430, 2429, 2417) as sets by their names: of nodes, of solids, of faces that
 * shells give; a group without members is an empty set. Numbers are taken as they stand: units
 * (data set 164) are noted and convert nothing. *conditions gets what is named and not read: data
 * sets of restraints, loads and constraints (754 to 758, 782, 790 to 793), springs, rigid elements
 * and point masses, and shells and bars if the file has properties or materials (without them they
 * mark faces and edges). HX_EINPUT names file and line. */
int hx_unv_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
