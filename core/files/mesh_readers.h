/* Readers of mesh files that hold more than a mesh, each for a row of the table in mesh_files.c. */
#ifndef HX_MESH_READERS_H
#define HX_MESH_READERS_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

/* --- Abaqus and CalculiX input files (.inp) --- */

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

/* --- ANSYS archive files (.cdb, written by CDWRITE) --- */

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

/* --- Exodus II files (.exo, .e, .ex2, .g), written by Cubit, Sierra, MOOSE and ParaView --- */

/* Reads a raw mesh. Blocks of solids become sets of elements, side sets become sets of faces, node
 * sets stay node sets. They keep their names; sets without a name are called "block-1",
 * "sideset-1", "nodeset-1" with the file's numbers. Blocks of triangles and quadrangles become sets
 * of faces. Results are not read. HX_EINPUT: not such a file, damaged, or without solids; HX_EENV:
 * no Exodus library. */
int hx_exodus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

/* --- Medit's text files (.mesh), used by INRIA's mesh tools, Mmg, TetGen and FreeFem --- */

/* Reads a raw mesh. Solids with reference N become the set property-N, triangles and quadrangles
 * the faces of surface-N, edges the nodes of curve-N. HX_EINPUT names file and line. */
int hx_medit_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

/* --- Nastran bulk data (.bdf, .nas, .fem), as used by MSC, NX and OptiStruct --- */

/* Reads a raw mesh: GRID in the basic coordinate system or in one of CORD2R, CORD2C, CORD2S;
 * CTETRA, CPENTA, CPYRAM and CHEXA of first and second order. The solids of property N become the
 * set property-N. Faces of shells are added to property-N, or to surface-N if solids have that
 * property.
 *
 * conditions: SPC, SPC1, SPCADD and the GRIDs' own supports; FORCE, PLOAD, PLOAD4 (a uniform
 * pressure on faces of solids) and LOAD, with one load case per static SUBCASE. Everything else
 * that carries load, has mass, or acts as a load or support is listed in conditions->unread: shells
 * and bars whose property has a card (without one they mark faces and edges), springs, rigid
 * elements, masses, loads that a subcase selects, analyses that are not static, unknown cards.
 *
 * HX_EINPUT names file, line and card. An error in a card of supports or loads is reported and
 * refuses the file's supports or loads, not its mesh. */
int hx_nastran_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

/* --- I-DEAS universal files (.unv), written by Salome, Siemens NX and Code_Aster --- */

/* Reads a raw mesh: nodes (data sets 2411, 781, 15), elements (2412, 780) and groups (2467, 2477,
 * 2452, 2435, 2432, 2430, 2429, 2417). Groups become sets with their names: sets of nodes, of
 * solids, or of faces given by shells; a group without members is an empty set. Values are taken
 * unchanged: units (data set 164) are noted but convert nothing. *conditions lists what is not
 * read: data sets of restraints, loads and constraints (754 to 758, 782, 790 to 793), springs,
 * rigid elements and point masses, and shells and bars if the file has properties or materials
 * (without them they mark faces and edges). HX_EINPUT names file and line. */
int hx_unv_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#endif
