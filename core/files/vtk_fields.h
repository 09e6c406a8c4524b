/* Fields of a VTK file with the memory behind them. Not installed. */
#ifndef HX_VTK_FIELDS_H
#define HX_VTK_FIELDS_H

#include "vtk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_fields {
    const hx_vtk_piece *piece; /* that the data are of; NULL: all, in the mesh's order (borrowed) */
    size_t n, capacity;
    hx_vtk_field *field; /* [n] (owned, names and data included) */
    int planning;        /* 1: takes no memory for data, which stays NULL; only `bytes` grows */
    size_t bytes;        /* of the data */
} hx_fields;

/* Adds a field with zeroed data for the mesh; *(void **)data is the caller's to fill, owned here.
 */
int hx_fields_add(hx_fields *fields, const hx_mesh *mesh, hx_vtk_where where, hx_vtk_type type,
                  int n_comp, const char *name, void *data);

/* Name of a load case's field, c from 0: "displacement" of the first, "displacement_2" of the
 * second. Returns text. */
const char *hx_fields_case_name(const char *name, int c, char *text, size_t n_text);

/* Adds for all sets: "set_NAME" (0 or 1) on points, and on cells if the set holds elements;
 * "faces_of_NAME" (vtk_faces.h) on cells if it names faces. Points that its elements or faces bring
 * are left out if the points would hold elements that the set does not have. Then "hextop_sets" of
 * the file if sets are made of others. */
int hx_fields_add_sets(hx_fields *fields, const hx_mesh *mesh);

/* Notes the sets whose names these fields cannot have as they are. */
int hx_fields_note_sets(const hx_mesh *mesh, const char *path, hx_notes *notes);

/* Adds "face" on cells where the mesh has sets face-1, face-2, ... with faces of their own, as of a
 * CAD model: the number of the one that has most of the cell's faces on the boundary, of equal ones
 * the lowest, without any of one between two cells; 0 inside. A float, so that readers make no sets
 * of it. Of a finished mesh. */
int hx_fields_add_faces(hx_fields *fields, const hx_mesh *mesh);

/* Accepts a zeroed struct. */
void hx_fields_free(hx_fields *fields);

#ifdef __cplusplus
}
#endif

#endif
