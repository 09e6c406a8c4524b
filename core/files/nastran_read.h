/* Nastran's bulk data (.bdf, .nas, .fem): MSC, NX, OptiStruct. */
#ifndef HX_NASTRAN_READ_H
#define HX_NASTRAN_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a raw mesh: GRID in the basic coordinate system or one of CORD2R, CORD2C, CORD2S; CTETRA,
 * CPENTA, CPYRAM and CHEXA of first and second order, those of a property as the set property-N.
 * Shells give their faces to property-N, or to surface-N if solids have that property.
 *
 * conditions: SPC, SPC1, SPCADD and the GRIDs' own supports; FORCE, PLOAD, PLOAD4 (a uniform
 * pressure on faces of solids) and LOAD, a load case for each static SUBCASE. What else carries,
 * weighs, loads or supports is named in conditions->unread: shells and bars whose property has a
 * card (without one they mark faces and edges), springs, rigid elements, masses, loads that a
 * subcase chooses, analyses that are not static, cards that are not known.
 *
 * HX_EINPUT names file, line and card. An error in a card of supports or loads is reported and
 * refuses the supports or loads of the file, not its mesh. */
int hx_nastran_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
