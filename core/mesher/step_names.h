/* The names that a STEP file gives to faces and solids, as further names of sets. Gmsh does not
 * hand them over: faces and solids of the file are sought in the mesh by their geometry, and what
 * is not found for certain gets no name. */
#ifndef HX_STEP_NAMES_H
#define HX_STEP_NAMES_H

#include "../mesh/point_grid.h"
#include "cad.h"
#include "step_face.h"

typedef struct hx_step_naming {
    const hx_step_file *file;
    double scale;              /* mm of the file's unit */
    hx_mesh *mesh;             /* raw, with sets face-1, ..., solid-1, ... */
    const hx_point_grid *grid; /* of its nodes */
    double tolerance;          /* length */
} hx_step_naming;

/* Of the parameters of a named entity the name, if it can be one of a set: not empty, not NONE, not
 * a number, not begun as those of other sets are. Returns 1 if so. */
int hx_step_take_name(hx_step_text parameters, char name[HX_STEP_NAME]);

/* The node at x, or -1. */
int64_t hx_step_node_at(const hx_step_naming *naming, const double x[3]);

/* Sets of the faces, of the solids that have a name. *n_lost grows by the names that are left out,
 * `lost` is the first. */
int hx_step_name_faces(const hx_step_naming *naming, size_t *n_lost, char lost[HX_STEP_NAME]);
int hx_step_name_solids(const hx_step_naming *naming, size_t *n_lost, char lost[HX_STEP_NAME]);

#endif
