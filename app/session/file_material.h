/* Use of the material that a mesh file states. */
#ifndef HX_FILE_MATERIAL_H
#define HX_FILE_MATERIAL_H

#include "../config/config.h"

/* With material.from = "file" the config takes the values that it does not state itself. HX_EINPUT,
 * with the key's place: the file has no usable material. Otherwise nothing changes. Logs what was
 * taken, and warns of each number that differs between config and file; with_defaults = 0: only of
 * numbers that were given. */
int hx_take_file_material(hx_config *cfg, const hx_file_material *material, int with_defaults);

#endif
