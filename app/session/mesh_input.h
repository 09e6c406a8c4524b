/* Mesh files with what is to be said about them. */
#ifndef HX_MESH_INPUT_H
#define HX_MESH_INPUT_H

#include "core/mesh/mesh.h"
#include "core/problem/conditions.h"

/* hx_mesh_read and hx_mesh_check_file of mesh_files.h; logs their notes. */
int hx_input_read(const char *path, double merge, hx_mesh *mesh, hx_conditions *conditions);
int hx_input_check(const hx_mesh *mesh, double merge);

#endif
