/* Fields of a VTK file and the memory that they own. Not installed. */
#ifndef HX_VTK_FIELDS_H
#define HX_VTK_FIELDS_H

#include "vtk.h"

typedef struct hx_fields {
    /* the piece that the data cover; NULL: all, in the mesh's order (borrowed) */
    const hx_vtk_piece *piece;
    size_t n, capacity;
    hx_vtk_field *field; /* [n] (owned, names and data included) */
    int planning;        /* 1: allocates no data, which stays NULL; only `bytes` grows */
    size_t bytes;        /* size of the data */
} hx_fields;

/* Adds a field with zeroed data for the mesh; the caller fills *(void **)data, which `fields`
 * owns. */
int hx_fields_add(hx_fields *fields, const hx_mesh *mesh, hx_vtk_where where, hx_vtk_type type,
                  int n_comp, const char *name, void *data);

/* Name of the field of `hextop verify --vtk` with stresses of the surface that is made: on each
 * cell the largest that the surface's tetrahedra in it have at a node; 0 without them. */
#define HX_FIELDS_SURFACE_STRESS "von_mises_surface"

/* Name of the field of load case c, from 0: "displacement" for the first, "displacement_2" for the
 * second. Returns text. */
const char *hx_fields_case_name(const char *name, int c, char *text, size_t n_text);

/* For all sets, adds "set_NAME" (0 or 1) on points, and on cells if the set holds elements;
 * "faces_of_NAME" (vtk_faces.h) on cells if it holds faces. Points that belong to the set only
 * through its elements or faces are left out if they would enclose elements that are not in the
 * set. Finally adds "hextop_sets" of the file if sets are made of others. */
int hx_fields_add_sets(hx_fields *fields, const hx_mesh *mesh);

/* Notes the sets whose names these fields have to change. */
int hx_fields_note_sets(const hx_mesh *mesh, const char *path, hx_notes *notes);

/* Adds "face" on cells if the mesh has sets face-1, face-2, ... with faces, like those of a CAD
 * model: the number of the face that has most of the cell's faces on the boundary (the lowest among
 * equals), without those between two cells; 0 inside. A float, so that readers make no sets of it.
 * Requires a finished mesh. */
int hx_fields_add_faces(hx_fields *fields, const hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_fields_free(hx_fields *fields);

#endif
