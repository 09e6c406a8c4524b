/* Tetrahedra of a surface made by gmsh, for surface_part.c. */
#ifndef HX_SURFACE_GMSH_H
#define HX_SURFACE_GMSH_H

#include "surface_part.h"

/* Makes *raw, up to hx_mesh_create, *piece and part->cut as hx_cut_mesh_create() does, and sets
 * part->mesher. If gmsh makes no mesh, or one with slivers, *raw stays empty and part->notes has
 * the reason. HX_EENV: gmsh is not installed, and options require it. */
int hx_surface_by_gmsh(hx_surface_part *part, const hx_session *s, const hx_surface *surface,
                       const hx_surface_options *options, const char *path, hx_mesh *raw,
                       int32_t **piece);

#endif
