/* hextop mesh IN OUT, where IN is a mesh file: converts the mesh and its sets, without a config. */
#ifndef HX_CONVERT_MESH_H
#define HX_CONVERT_MESH_H

#include "../text/options.h"

/* Indices of the command's options in its table. */
enum { HX_MESH_OPTION_SIZE };

/* 1 if the file is a mesh in a known format; 0: it is taken for a config. */
int hx_is_mesh_file(const char *path);

/* Arguments of the command: IN, OUT, and then KEY=VALUE such as mesh.merge=NUMBER and
 * output.format=WORD. */
int hx_convert_mesh(const hx_options *options);

#endif
