/* Shared by mesh_import.c and mesh_import_sets.c; not installed. */
#ifndef HX_MESH_IMPORT_INTERNAL_H
#define HX_MESH_IMPORT_INTERNAL_H

#include "mesh_import.h"

/* Adds the set to the raw mesh. */
int hx_import_make_set(const hx_import *import, const hx_import_set *set, hx_mesh *mesh);

/* Frees the lists, keeps the name. */
void hx_import_set_clear(hx_import_set *set);

#endif
