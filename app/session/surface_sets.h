/* Transfers sets of a config to the mesh of a surface, for surface_part.c. */
#ifndef HX_SURFACE_SETS_H
#define HX_SURFACE_SETS_H

#include "surface_part.h"

/* Fills part->set and part->cfg with the parts of the sets of supports, springs and loads that lie
 * on the boundary of `raw` (finished). Supports and springs without any are noted and left out.
 * HX_EINPUT: a load without any. */
int hx_surface_sets_find(hx_surface_part *part, const hx_session *s, const hx_mesh *raw);

/* 1 if a support, spring or rigid coupling of the config uses this set. */
int hx_surface_set_holds(const hx_config *cfg, const char *set);

/* Adds the sets to part->mesh, which is not finished; new_node[] and new_elem[] have its
 * numbers. */
int hx_surface_sets_add(hx_surface_part *part, const int32_t *new_node, const int32_t *new_elem);

/* Finds the boundary faces of `raw` that lie on given faces of the mesh (each element * 6 + local
 * face). The caller frees *found. */
int hx_surface_faces_on(const hx_mesh *mesh, int64_t n_face, const int64_t *face,
                        const hx_mesh *raw, int64_t *n_found, int64_t **found);

/* *n: number of nodes with a support or force of the mesh's file that span no face with others. The
 * finer the mesh, the larger are displacements at such nodes. */
int hx_surface_file_alone(const hx_session *s, int64_t *n);

/* Fills part->conditions with those of the mesh's file, by nodes of raw; the sum of forces is
 * kept. */
int hx_surface_file_find(hx_surface_part *part, const hx_session *s, const hx_mesh *raw);

/* Renumbers them by new_node[] to nodes of part->mesh. */
void hx_surface_file_renumber(hx_surface_part *part, const int32_t *new_node);

/* 1 if a support or load has from = "file". */
int hx_config_is_by_file(const hx_config *cfg);

#endif
