/* Use of the materials that a mesh file states. */
#ifndef HX_FILE_MATERIAL_H
#define HX_FILE_MATERIAL_H

#include "../config/config.h"

/* With material.from = "file" the config takes the values that it does not state itself, and its
 * list `materials`, if empty, the other materials of the file. HX_EINPUT, with the key's place: the
 * file has no usable material. Otherwise nothing changes. Logs what was taken, and warns of each
 * number that differs between config and file; with_defaults = 0: only of numbers that were given.
 * Sets material->fault if the materials cannot be used together by the config's physics. */
int hx_take_file_material(hx_config *cfg, hx_file_material *material, int with_defaults);

#endif
