/* Reads and checks mesh files, and logs notes about them. */
#ifndef HX_MESH_INPUT_H
#define HX_MESH_INPUT_H

#include "core/mesher/model_files.h"

/* hx_model_read of model_files.h and hx_mesh_check_file of mesh_files.h; logs their notes. */
int hx_input_read(const char *path, const hx_model_options *options, hx_mesh *mesh,
                  hx_conditions *conditions);
int hx_input_check(const hx_mesh *mesh, double merge);

#endif
