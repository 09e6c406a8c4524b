/* Reader of Abaqus and CalculiX input files (.inp). */
#ifndef HX_ABAQUS_READ_H
#define HX_ABAQUS_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

/* Reads an input file into a raw mesh; the caller calls hx_mesh_finish. Reads *NODE, *ELEMENT of
 * solids (C3D8 and its variants are the same hexahedron here), *NSET, *ELSET and *SURFACE as sets,
 * and *INCLUDE. *BOUNDARY, *CLOAD, *DLOAD, *DSLOAD, couplings with reference nodes and the material
 * become conditions (may be NULL; the caller frees them). Names of sets are compared without regard
 * to case. Plane and line elements only define sets. *PART and *INSTANCE are placed with their
 * translation and rotation; a set of an instance is called INSTANCE.NAME, or NAME if there is only
 * one instance.
 *
 * Returns HX_EINPUT, with file and line, for solids of other types, generated nodes (*NGEN ...),
 * text that is not a number, and unknown members. Other keywords are skipped; notes (may be NULL)
 * lists them. O(n log n) for the sets, otherwise O(n). */
int hx_abaqus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

/* Like hx_abaqus_read, into a sink (mesh_import.h), for a file that holds only nodes, elements,
 * sets and surfaces. */
struct hx_import_sink;
int hx_abaqus_read_to(const char *path, struct hx_import_sink *sink, hx_notes *notes);

#endif
