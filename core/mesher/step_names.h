/* Names that a STEP file gives to faces and solids become additional set names. Gmsh does not
 * provide these names, so the file's faces and solids are searched in the mesh by their geometry.
 * If a face or solid cannot be found unambiguously, its name is left out. */
#ifndef HX_STEP_NAMES_H
#define HX_STEP_NAMES_H

#include "../mesh/point_grid.h"
#include "cad.h"
#include "step_face.h"

typedef struct hx_step_naming {
    const hx_step_file *file;
    double scale;              /* length in mm of the file's unit */
    hx_mesh *mesh;             /* raw mesh, with sets face-1, ..., solid-1, ... */
    const hx_point_grid *grid; /* of its nodes */
    double tolerance;          /* length */
} hx_step_naming;

/* Takes the name from the parameters of a named entity if it is suitable for a set: not empty, not
 * NONE, not a number, and without the prefix of other sets. Returns 1 if so. */
int hx_step_take_name(hx_step_text parameters, char name[HX_STEP_NAME]);

/* Returns the node at x, or -1. */
int64_t hx_step_node_at(const hx_step_naming *naming, const double x[3]);

/* Make sets of the named faces, or of the named solids. *n_lost increases by the number of names
 * left out; `lost` is the first of them. */
int hx_step_name_faces(const hx_step_naming *naming, size_t *n_lost, char lost[HX_STEP_NAME]);
int hx_step_name_solids(const hx_step_naming *naming, size_t *n_lost, char lost[HX_STEP_NAME]);

#endif
