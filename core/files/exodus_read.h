/* Exodus II files (.exo, .e, .ex2, .g): Cubit, Sierra, MOOSE, ParaView. */
#ifndef HX_EXODUS_READ_H
#define HX_EXODUS_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a raw mesh: blocks of solids as sets of elements, side sets as faces, node sets; by their
 * names, else "block-1", "sideset-1", "nodeset-1" with the file's numbers. Blocks of triangles and
 * quadrangles are sets of faces. Results are not read. HX_EINPUT: no such file, damaged, or no
 * solids; HX_EENV: no Exodus library. */
int hx_exodus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
