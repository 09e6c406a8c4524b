/* Reader of Nastran bulk data (.bdf, .nas, .fem), as used by MSC, NX and OptiStruct. */
#ifndef HX_NASTRAN_READ_H
#define HX_NASTRAN_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

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

#endif
