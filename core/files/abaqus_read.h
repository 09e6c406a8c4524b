/* Abaqus / CalculiX input files (.inp) in. */
#ifndef HX_ABAQUS_READ_H
#define HX_ABAQUS_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a flat input file as a raw mesh (hx_mesh_finish is the caller's): *NODE, *ELEMENT of the
 * 8-node bricks (C3D8 and its variants are the same hexahedron here), *NSET, *ELSET, *SURFACE as
 * sets, *INCLUDE; *BOUNDARY and *CLOAD of steps as conditions (may be NULL; the caller frees
 * them). Sets of one name are one set, whatever its case. Plane and line elements make sets only.
 * One *PART with one *INSTANCE that does not move it is a flat file too.
 *
 * HX_EINPUT with file and line: other solids, generated nodes (*NGEN ...), what is not a number,
 * unknown members. Other keywords are passed over; notes (may be NULL) says which. O(n log n) in
 * the sets, else O(n). */
int hx_abaqus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
