/* Sets of a config whose name belongs to sets of several kinds in the mesh file. */
#ifndef HX_APP_MEANT_SETS_H
#define HX_APP_MEANT_SETS_H

#include "../config/config.h"
#include "core/mesh/mesh.h"

/* Replaces each such name in a support, spring, convection, load or passive region by that of the
 * set of the fitting kind (hx_mesh_name_for): supports and forces take nodes, loads on an area take
 * faces, loads on a volume take elements. Names of the mesh's sets do not change. */
int hx_resolve_meant_sets(hx_config *cfg, const hx_mesh *mesh);

#endif
