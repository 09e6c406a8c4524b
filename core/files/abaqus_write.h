/* Abaqus / CalculiX input files (.inp) out: a mesh with its sets, or a complete linear static job
 * that CalculiX solves as it is. */
#ifndef HX_ABAQUS_WRITE_H
#define HX_ABAQUS_WRITE_H

#include "../problem/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of each kind of solid in the numbering of solid.h: the side in Abaqus, S1 to S6, that is local
 * face f of hx_hex_face, 0 for none; and the local face of a side, 1 to 6, -1 for none. */
extern const int hx_abaqus_side[HX_CELL_OTHER][6];
extern const int hx_abaqus_face[HX_CELL_OTHER][7];

/* Writes the mesh with *NODE, *ELEMENT, TYPE=C3D8, C3D6 or C3D4 (pyramids as C3D8 with repeated
 * nodes, since CalculiX has none) and its sets as *NSET, *ELSET and *SURFACE, in
 * the original order, with the numbers of the mesh's file or else from 1. Numbers take 20
 * characters, which is what CalculiX reads of one: all digits of a double where they fit, else 14
 * or 15.
 *
 * With a problem (of this mesh; NULL: none) the file is a job of the solid part: *ELASTIC, one
 * material a distinct modulus where elements are passive, *BOUNDARY, springs to ground as SPRING1
 * elements, sets that move as one as *RIGID BODY about their centre, a *STEP of *STATIC a load case
 * with the nodal forces as *CLOAD (of rigid sets their resultants), and the displacements and
 * stresses asked for. CalculiX's C3D8 is the hex8 of this program (tests/app/test_calculix.py). Of
 * a quadratic problem elements are C3D20, C3D15 and C3D10 with the middles of edges as nodes behind
 * all others, which sets do not list.
 *
 * title may be NULL. HX_EINPUT: more than 1000 distinct moduli, pyramids of second order. HX_EIO as
 * hx_vtk_write. */
int hx_abaqus_write(const char *path, const hx_mesh *mesh, const char *title,
                    const hx_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
