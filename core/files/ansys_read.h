/* ANSYS archive files (.cdb, of CDWRITE) in. */
#ifndef HX_ANSYS_READ_H
#define HX_ANSYS_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a raw mesh (hx_mesh_finish is the caller's) and what acts on it as one load case (may be
 * NULL; the caller frees it). The commands that are read, by their first four characters as in
 * ANSYS, in any case, several a line with "$":
 *
 * - nodes: NBLOCK and N, also unblocked (N,R5.3,LOC). A format line is a Fortran format.
 * - elements: EBLOCK of the forms SOLID, COMPACT and without either, E, EN, also unblocked
 *   (EN,R5.5,ATTR), EMORE; ET, ETBLOCK, TYPE, REAL. Mid-side nodes that are 0 or left away at the
 *   end of a record lie in the middle of straight edges.
 * - sets: CMBLOCK of nodes and elements; CM of nodes selected by CMSEL.
 * - supports and forces: D and F of nodes, ranges, components and "ALL" behind CMSEL, NSEL,ALL or
 *   ALLSEL; DDELE, FDELE, DCUM and FCUM (a later statement replaces an earlier one).
 * - numbers: literals and parameters that have one (*SET, NAME=value).
 *
 * What else carries, weighs, loads or holds is named in conditions->unread: elements that are no
 * solids, CE, CP, SFE, BFE, ACEL that is not zero, analyses that are not static, load steps behind
 * the first. Lines of zeros, with which CDWRITE ends a file, act on nothing.
 *
 * HX_EINPUT with file and line: other solids, bricks whose repeated nodes make no solid, commands
 * that make or change the mesh within ANSYS (VMESH, EGEN, NUMMRG), what is not a number. O(n log n)
 * in D and F, else O(n). Written from the documented format; tested with public archives of CDWRITE
 * and Workbench and with files made by hand, not beside ANSYS. */
int hx_ansys_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
