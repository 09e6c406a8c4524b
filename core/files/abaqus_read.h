/* Abaqus / CalculiX input files (.inp) in. */
#ifndef HX_ABAQUS_READ_H
#define HX_ABAQUS_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads an input file as a raw mesh (hx_mesh_finish is the caller's): *NODE, *ELEMENT of the
 * 8-node bricks (C3D8 and its variants are the same hexahedron here), *NSET, *ELSET, *SURFACE as
 * sets, *INCLUDE; *BOUNDARY, *CLOAD, *DLOAD, *DSLOAD, couplings with reference nodes and the
 * material as conditions (may be NULL; the caller frees them). Sets of one name are one set,
 * whatever its case. Plane and line elements make sets only. *PART and *INSTANCE with translation
 * and rotation; sets of an instance are INSTANCE.NAME, of the only one NAME.
 *
 * HX_EINPUT with file and line: other solids, generated nodes (*NGEN ...), what is not a number,
 * unknown members. Other keywords are passed over; notes (may be NULL) says which. O(n log n) in
 * the sets, else O(n). */
int hx_abaqus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

/* The same into a sink (mesh_import.h), of a file that holds nodes, elements, sets and surfaces. */
struct hx_import_sink;
int hx_abaqus_read_to(const char *path, struct hx_import_sink *sink, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
