/* The material that a mesh file states, in a config. */
#ifndef HX_FILE_MATERIAL_H
#define HX_FILE_MATERIAL_H

#include "../config/config.h"

/* With material.from = "file" the config takes what it does not state itself. HX_EINPUT, with the
 * key's place: the file has none that can be used. Else nothing changes; logs what was taken, and
 * warns of each number in which config and file differ. */
int hx_take_file_material(hx_config *cfg, const hx_file_material *material);

#endif
