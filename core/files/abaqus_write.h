/* Writer of Abaqus and CalculiX input files (.inp): a mesh with its sets, or a complete linear
 * static job that CalculiX solves without changes. */
#ifndef HX_ABAQUS_WRITE_H
#define HX_ABAQUS_WRITE_H

#include "../base/c_linkage.h"
#include "../problem/problem.h"

HX_C_BEGIN

/* For each kind of solid, in the numbering of solid.h: the Abaqus side, S1 to S6, of local face f
 * of hx_hex_face (0: none), and the local face of sides 1 to 6 (-1: none). */
extern const int hx_abaqus_side[HX_CELL_OTHER][6];
extern const int hx_abaqus_face[HX_CELL_OTHER][7];

/* Writes the mesh with *NODE, *ELEMENT of TYPE=C3D8, C3D6 or C3D4 (pyramids as C3D8 with repeated
 * nodes, because CalculiX has no pyramids) and its sets as *NSET, *ELSET and *SURFACE, in the
 * original order, with the numbers of the mesh's file, or from 1 if it has none. Numbers take at
 * most 20 characters, the width that CalculiX reads: all digits of a double if they fit, otherwise
 * 14 or 15.
 *
 * With a problem (of this mesh; may be NULL), the file is a job for the solid part: *ELASTIC, one
 * material per distinct modulus if elements are passive or have several materials, *BOUNDARY,
 * springs to ground as SPRING1 elements, sets that move as one as *RIGID BODY about their centre,
 * one *STEP with *STATIC per load case with the nodal forces as *CLOAD (for rigid sets, their
 * resultants), and requests for displacements and stresses. CalculiX's C3D8 is the hex8 of this
 * program (tests/app/test_calculix.py). A quadratic problem is written with C3D20, C3D15 and C3D10.
 * The nodes at the middles of edges follow all others, and sets do not list them.
 *
 * penalty: SIMP exponent of passive elements. title may be NULL. HX_EINPUT: more than 1000
 * distinct moduli, or pyramids of second order. HX_EIO as for hx_vtk_write. */
int hx_abaqus_write(const char *path, const hx_mesh *mesh, const char *title,
                    const hx_problem *problem, double penalty);

HX_C_END

#endif
