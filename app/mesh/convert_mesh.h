/* hextop mesh IN OUT where IN is a mesh file: no config, the mesh and its sets alone. */
#ifndef HX_CONVERT_MESH_H
#define HX_CONVERT_MESH_H

#include "../text/options.h"

/* Options of the command: the place of each in its table. */
enum { HX_MESH_OPTION_SIZE };

/* 1 if the file is a mesh of a known format, 0: a config. */
int hx_is_mesh_file(const char *path);

/* The arguments of the command: IN, OUT, then mesh.merge=NUMBER and output.format=WORD. */
int hx_convert_mesh(const hx_options *options);

#endif
