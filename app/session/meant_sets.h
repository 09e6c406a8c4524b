/* Sets of the config by names that a mesh file gives to sets of several kinds. */
#ifndef HX_APP_MEANT_SETS_H
#define HX_APP_MEANT_SETS_H

#include "../config/config.h"
#include "core/mesh/mesh.h"

/* Replaces each such name in a support, spring, convection, load or passive region by that of the
 * set that it means there (hx_mesh_name_for): supports and forces take nodes, what acts on an area
 * takes faces, what fills a volume takes elements. Names of the mesh's sets stay as they are. */
int hx_settle_meant_sets(hx_config *cfg, const hx_mesh *mesh);

#endif
