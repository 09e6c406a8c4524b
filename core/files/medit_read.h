/* Reader of Medit's text files (.mesh), used by INRIA's mesh tools, Mmg, TetGen and FreeFem. */
#ifndef HX_MEDIT_READ_H
#define HX_MEDIT_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

/* Reads a raw mesh. Solids with reference N become the set property-N, triangles and quadrangles
 * the faces of surface-N, edges the nodes of curve-N. HX_EINPUT names file and line. */
int hx_medit_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#endif
