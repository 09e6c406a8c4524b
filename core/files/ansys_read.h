/* Reader of ANSYS archive files (.cdb, written by CDWRITE). */
#ifndef HX_ANSYS_READ_H
#define HX_ANSYS_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

/* Reads a raw mesh (the caller calls hx_mesh_finish) and its loads and supports as one load case
 * (conditions may be NULL; the caller frees them). A command is recognized by its first four
 * characters as in ANSYS, without regard to case; "$" separates several on a line. Commands read:
 *
 * - nodes: NBLOCK and N, also unblocked (N,R5.3,LOC). A format line is a Fortran format. -
 * elements: EBLOCK in the forms SOLID, COMPACT and without either, E, EN, also unblocked
 *   (EN,R5.5,ATTR), EMORE; ET, ETBLOCK, TYPE, REAL. Mid-side nodes that are 0 or omitted at the
 *   end of a record lie at the middle of straight edges.
 * - sets: CMBLOCK of nodes and elements; CM of nodes selected by CMSEL. - supports and forces: D
 * and F of nodes, ranges, components and "ALL" after CMSEL, NSEL,ALL or
 *   ALLSEL; DDELE, FDELE, DCUM and FCUM (a later statement replaces an earlier one).
 * - numbers: literals and parameters with a numeric value (*SET, NAME=value).
 *
 * Everything else that carries load, has mass, or acts as a load or support is listed in
 * conditions->unread: elements that are not solids, CE, CP, SFE, BFE, nonzero ACEL, analyses that
 * are not static, load steps after the first. The lines of zeros with which CDWRITE ends a file
 * have no effect.
 *
 * HX_EINPUT with file and line: other solids, bricks whose repeated nodes form no solid, commands
 * that create or change the mesh within ANSYS (VMESH, EGEN, NUMMRG), text that is not a number. O(n
 * log n) in D and F, otherwise O(n). Written from the documented format; tested with public
 * archives of CDWRITE and Workbench and with files made by hand, but not against ANSYS. */
int hx_ansys_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#endif
