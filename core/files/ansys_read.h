/* ANSYS archive files (.cdb, of CDWRITE) in. */
#ifndef HX_ANSYS_READ_H
#define HX_ANSYS_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a raw mesh (hx_mesh_finish is the caller's) from the blocks of an archive: NBLOCK, EBLOCK,
 * CMBLOCK (components become sets), ET and ETBLOCK, and D and F on nodes as conditions of one load
 * case (may be NULL; the caller frees them). The fields of a block are cut as its format line says.
 * Bricks of 8 nodes (SOLID185, 45 and their like) are hexahedra; contact, surface, shell and line
 * elements are left out.
 *
 * HX_EINPUT with file and line: other solids, bricks with repeated nodes (prisms, tetrahedra), what
 * is not a number. Other commands are passed over. O(n). Written from the documented format: tested
 * with files made by hand, not by ANSYS. */
int hx_ansys_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
